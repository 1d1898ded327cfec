//! Memory locations that the program itself points at: marked accesses, and what threads may ever touch.

use turnpike_scheduler::{ObjectId, Site};

use crate::{control, memory};

/// The kernel's object of a memory location.
pub fn location(address: usize, site: Site) -> ObjectId {
    memory::object_at(address, site)
}

/// The running thread may touch this address, some time: a line for the host, in the record of executions with full detail.
pub fn may(address: usize, writes: bool) {
    let state = control::state();
    let thread = state.kernel.current();
    state.declared.push((thread, address, writes));
}
