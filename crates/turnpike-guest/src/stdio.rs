//! Locks of streams that the program takes itself. The C library never holds them across a switch,
//! but a program that holds one (`flockfile`) may be switched. So its lock is another one, which
//! the scheduler sees.

use alloc::collections::BTreeMap;
use core::ffi::c_int;

use turnpike_scheduler::{Kind, Object, ObjectId, Site};

use crate::global::Global;
use crate::hook::hook;
use crate::{control, sites};

static STREAMS: Global<BTreeMap<usize, ObjectId>> = Global::new(BTreeMap::new());

fn of(stream: usize, site: Site) -> ObjectId {
    let register = || {
        let name = sites::stable(stream);
        control::kernel(|kernel| kernel.register(Object::Mutex { recursive: true }, name, site))
    };
    STREAMS.with(|streams| *streams.entry(stream).or_insert_with(register))
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
