//! Memory that the program itself names: marked accesses, and declarations of what a thread may
//! ever touch.

use turnpike_scheduler::{ObjectId, Site};

use crate::{control, memory, objects, sites};

/// The kernel's object of a memory location.
pub(crate) fn location(address: usize, site: Site) -> ObjectId {
    memory::object_at(address, site)
}

/// Declares that the running thread may touch this address at some time.
pub(crate) fn may(address: usize, writes: bool) {
    let object = objects::at(address);
    let name = match object {
        Some(id) => {
            declare_whole(id);
            control::kernel(|kernel| kernel.object_name_hash(id))
        }
        None => sites::stable(address),
    };
    declare(name, writes);
}

/// Declares that the running thread may use this object.
pub(crate) fn may_use(object: ObjectId, writes: bool) {
    declare_whole(object);
    declare(control::kernel(|kernel| kernel.object_name_hash(object)), writes);
}

/// Declares the region of an object, too: using the object needs the memory that it lies in.
fn declare_whole(object: ObjectId) {
    let name = control::kernel(|kernel| kernel.region(object).map(|region| kernel.object_name_hash(region)));
    if let Some(name) = name {
        declare(name, false);
    }
}

/// Records a declaration for the host. The name 0 (not known yet) means that the thread may touch
/// anything.
fn declare(name: u64, writes: bool) {
    let thread = control::kernel(|kernel| kernel.thread_name_hash(kernel.current()));
    control::DECLARED.with(|declared| declared.push((thread, name, writes)));
}
