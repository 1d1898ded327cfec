//! Locks of streams that the program takes itself. Inside the C library they are never held across a switch; a program
//! that holds one (`flockfile`) may well be, so its lock is another one, which the scheduler sees.

use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;
use core::ffi::c_int;

use turnpike_scheduler::{Kind, Object, ObjectId, Site};

use crate::hook::hook;
use crate::{control, sites};

struct Global(UnsafeCell<BTreeMap<usize, ObjectId>>);

// SAFETY: one controlled thread runs at a time.
unsafe impl Sync for Global {}

static STREAMS: Global = Global(UnsafeCell::new(BTreeMap::new()));

fn of(stream: usize, site: Site) -> ObjectId {
    // SAFETY: one thread at a time.
    let streams = unsafe { &mut *STREAMS.0.get() };
    *streams.entry(stream).or_insert_with(|| {
        control::state().kernel.register(Object::Mutex { recursive: true }, sites::stable(stream), site)
    })
}

hook! {
    fn flockfile(stream: usize; site) {
        let site = sites::user(site);
        control::simple(Kind::Lock, of(stream, site), site);
    }
    fn ftrylockfile(stream: usize; site) -> c_int {
        let site = sites::user(site);
        (!control::simple(Kind::TryLock, of(stream, site), site).ok).into()
    }
    fn funlockfile(stream: usize; site) {
        let site = sites::user(site);
        control::simple(Kind::Unlock, of(stream, site), site);
    }
}
