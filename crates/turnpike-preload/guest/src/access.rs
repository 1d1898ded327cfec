//! Memory locations that the program itself points at: marked accesses, and what threads may ever touch.

use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;

use turnpike_scheduler::{Object, ObjectId, Site};

use crate::{control, sites};

struct Global(UnsafeCell<BTreeMap<usize, ObjectId>>);

// SAFETY: one controlled thread runs at a time.
unsafe impl Sync for Global {}

static LOCATIONS: Global = Global(UnsafeCell::new(BTreeMap::new()));

/// The kernel's object of a memory location.
pub fn location(address: usize, site: Site) -> ObjectId {
    // SAFETY: one thread at a time.
    let locations = unsafe { &mut *LOCATIONS.0.get() };
    *locations.entry(address).or_insert_with(|| {
        control::state().kernel.register(Object::Memory, sites::stable(address), site)
    })
}

/// The running thread may touch this address, some time: a line for the host, in the record of executions with full detail.
pub fn may(address: usize, writes: bool) {
    let state = control::state();
    let thread = state.kernel.current();
    state.declared.push((thread, address, writes));
}
