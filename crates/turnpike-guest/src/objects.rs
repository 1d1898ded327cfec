//! From the program's synchronisation objects to the kernel's.
//!
//! The memory of a `pthread_mutex_t` belongs to this library while control lasts, so it holds the
//! kernel's number for the object, with a mark. Zeroed or initialised memory has no mark and
//! becomes a new object at its first use, even where an old one has been. Copies and garbage are
//! recognised because the address in the entry differs.

use alloc::vec::Vec;

use turnpike_scheduler::{Kind, Object, ObjectId, Site};

use crate::global::Global;
use crate::{audit, control, sites};

/// What the library remembers of an object.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    address: usize,
    /// Whether its memory may be freed while it is in use.
    guarded: bool,
    /// Thread + 1 that owns it, for answers such as `EDEADLK`.
    pub owner: u32,
    /// How often the owner has locked it.
    pub depth: u32,
    /// The type of a mutex, or the clock of a condition variable.
    pub flavour: u32,
    /// Whether it survives its owner.
    pub robust: Robust,
}

/// What is known of a robust mutex.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Robust {
    /// It is an ordinary one.
    #[default]
    No,
    Yes,
    /// Its owner ended.
    Abandoned,
    /// It has a new owner, which has not yet made it consistent.
    Inconsistent,
    /// Not made consistent again.
    Lost,
}

/// All objects of the execution, by the kernel's numbers.
struct Objects {
    entries: Vec<Entry>,
}

static OBJECTS: Global<Objects> = Global::new(Objects::new());

const MARK: u32 = 0x7470_6f62;
const SMALL_MARK: u32 = 0xa500_0000;
/// Bytes of a spin lock or a `pthread_once_t`.
pub(crate) const SMALL: usize = 4;
/// The most bytes that a mark takes.
const MARKED: usize = 8;

impl Objects {
    const fn new() -> Self {
        Objects { entries: Vec::new() }
    }

    /// The entry of an object.
    fn entry(&mut self, id: ObjectId) -> &mut Entry {
        let index = id.0 as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry::default());
        }
        &mut self.entries[index]
    }

    /// The first object for which something holds.
    fn find(&self, holds: impl Fn(&Entry) -> bool) -> Option<ObjectId> {
        self.entries.iter().position(holds).map(|index| ObjectId(index as u32))
    }

    fn known(&self, id: u32, address: usize) -> bool {
        self.entries.get(id as usize).is_some_and(|entry| entry.address == address)
    }
}

/// The object in memory of at least eight bytes, of which operations change `bytes`. If it is new, `make` says what it is.
///
/// # Safety
/// The memory belongs to a synchronisation object.
pub(crate) unsafe fn of(
    memory: *mut u32,
    bytes: usize,
    site: Site,
    make: impl FnOnce() -> Object,
) -> ObjectId {
    crate::memory::used(memory as usize, site);
    crate::memory::uses_object(memory as usize, bytes, site);
    // SAFETY: at least two words.
    let (mark, id) = unsafe { (*memory, *memory.add(1)) };
    if mark == MARK && OBJECTS.with(|objects| objects.known(id, memory as usize)) {
        return ObjectId(id);
    }
    // SAFETY: the caller promises that the memory belongs to a synchronisation object.
    let id = unsafe { register(memory, site, make()) };
    control::kernel(|kernel| kernel.mark_found(id));
    id
}

/// The object at an address, if there is one.
pub(crate) fn at(address: usize) -> Option<ObjectId> {
    let memory = address as *const u32;
    // SAFETY: the program says that it uses this address.
    let first = unsafe { *memory };
    let small = first & 0x00ff_ffff;
    OBJECTS.with(|objects| {
        if first == MARK {
            // SAFETY: an object with this mark has two words.
            let second = unsafe { *memory.add(1) };
            objects.known(second, address).then_some(ObjectId(second))
        } else if first & 0xff00_0000 == SMALL_MARK && objects.known(small, address) {
            Some(ObjectId(small))
        } else {
            None
        }
    })
}

/// Makes a new object of the memory.
///
/// # Safety
/// The memory belongs to a synchronisation object, of eight bytes or more.
pub(crate) unsafe fn register(memory: *mut u32, site: Site, object: Object) -> ObjectId {
    let id = enter(memory as usize, site, object);
    // SAFETY: at least two words.
    unsafe {
        *memory = MARK;
        *memory.add(1) = id.0;
    }
    id
}

/// Registers a new object at an address.
fn enter(address: usize, site: Site, object: Object) -> ObjectId {
    let (name, place) = (sites::stable(address), sites::user(site));
    let id = control::kernel(|kernel| kernel.register(object, name, place));
    let guarded = crate::memory::place(id, address, site);
    audit::reported(address, MARKED);
    entry(id, |entry| *entry = Entry { address, guarded, ..Entry::default() });
    id
}

/// The object in memory of four bytes: a spin lock, a `pthread_once_t`.
///
/// # Safety
/// The memory belongs to a synchronisation object.
pub(crate) unsafe fn of_small(memory: *mut u32, site: Site, make: impl FnOnce() -> Object) -> ObjectId {
    crate::memory::used(memory as usize, site);
    crate::memory::uses_object(memory as usize, SMALL, site);
    // SAFETY: one word.
    let word = unsafe { *memory };
    let id = word & 0x00ff_ffff;
    if word & 0xff00_0000 == SMALL_MARK && OBJECTS.with(|objects| objects.known(id, memory as usize)) {
        return ObjectId(id);
    }
    let id = enter(memory as usize, site, make());
    control::kernel(|kernel| kernel.mark_found(id));
    // SAFETY: one word.
    unsafe { *memory = SMALL_MARK | id.0 };
    id
}

/// Makes a new object of memory, whatever it was before. `clear` writes what the C library would.
/// Where other threads could observe it, that is a step: one may use the object before it is
/// initialised, or lose what it did to it.
///
/// # Safety
/// The memory belongs to a synchronisation object of `bytes` bytes.
pub(crate) unsafe fn initialise(
    memory: *mut u32,
    bytes: usize,
    site: Site,
    object: Object,
    clear: impl FnOnce(),
) -> ObjectId {
    let small = bytes == SMALL;
    // SAFETY: one word, or two.
    let mark = |id: ObjectId| unsafe {
        *memory = if small { SMALL_MARK | id.0 } else { MARK };
        if !small {
            *memory.add(1) = id.0;
        }
    };
    let address = memory as usize;
    crate::memory::uses_object(address, bytes, site);
    if !crate::memory::others_may_see() {
        audit::reported(address, bytes);
        clear();
        let id = enter(address, site, object);
        mark(id);
        return id;
    }
    let old = at(address).filter(|&id| crate::memory::lies_there(id, address, site));
    let same = old.filter(|&id| control::kernel(|kernel| kernel.is_like(id, object)));
    if let Some(old) = old.filter(|_| same.is_none()) {
        destroy(old, site);
    }
    let id = same.unwrap_or_else(|| enter(address, site, object));
    // From now on others find the object that the step is about.
    mark(id);
    control::simple(Kind::Initialise, id, sites::user(site));
    audit::reported(address, bytes);
    clear();
    mark(id);
    control::kernel(|kernel| kernel.initialise(id, object));
    entry(id, |entry| *entry = Entry { address, guarded: entry.guarded, ..Entry::default() });
    id
}

/// Destroys an object: using it is an error until its memory is initialised again. Returns whether
/// it could be destroyed; a mutex that is held cannot.
pub(crate) fn destroy(id: ObjectId, site: Site) -> bool {
    if crate::memory::others_may_see() {
        control::simple(Kind::Destroy, id, sites::user(site)).ok
    } else {
        control::kernel(|kernel| kernel.destroy(id))
    }
}

/// Notes that the running thread has used an object, if its memory may end.
#[inline]
pub(crate) fn used(id: ObjectId, site: Site) {
    let entry = OBJECTS.with(|objects| objects.entries.get(id.0 as usize).copied());
    if let Some(entry) = entry.filter(|entry| entry.guarded) {
        crate::memory::touched(entry.address, site);
    }
}

/// The entry of an object, for as long as `work` takes.
pub(crate) fn entry<R>(id: ObjectId, work: impl FnOnce(&mut Entry) -> R) -> R {
    OBJECTS.with(|objects| work(objects.entry(id)))
}

/// The address of an object between two addresses that was not destroyed.
pub(crate) fn in_use(start: usize, end: usize) -> Option<usize> {
    let inside = |entry: &Entry| (start..end).contains(&entry.address);
    let id = OBJECTS.with(|objects| {
        let ids = objects.entries.iter().enumerate().filter(|(_, entry)| inside(entry));
        ids.map(|(id, entry)| (ObjectId(id as u32), entry.address)).next_back()
    })?;
    let alive = at(id.1) == Some(id.0) && control::kernel(|kernel| !kernel.is_destroyed(id.0));
    alive.then_some(id.1)
}

/// The first object for which something holds.
pub(crate) fn find(holds: impl Fn(&Entry) -> bool) -> Option<ObjectId> {
    OBJECTS.with(|objects| objects.find(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_appear_when_they_are_asked_for() {
        let mut objects = Objects::new();
        objects.entry(ObjectId(3)).address = 0x1000;
        assert!(objects.known(3, 0x1000));
        assert!(!objects.known(3, 0x1008), "a copy at another address");
        assert!(!objects.known(2, 0x1000) && !objects.known(4, 0x1000));
        assert!(!objects.known(u32::MAX, 0x1000), "garbage");
    }

    #[test]
    fn the_first_entry_that_fits_is_found() {
        let mut objects = Objects::new();
        for (id, owner) in [(0, 1), (1, 2), (2, 2)] {
            objects.entry(ObjectId(id)).owner = owner;
        }
        assert_eq!(objects.find(|entry| entry.owner == 2), Some(ObjectId(1)));
        assert_eq!(objects.find(|entry| entry.owner == 3), None);
    }
}
