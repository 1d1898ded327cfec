//! Mutexes of all types, and spin locks.
//!
//! A robust mutex is unlocked when its owner ends, and locking it next returns `EOWNERDEAD`. An
//! owner that locks a mutex of the default type again waits for ever, as in the C library, and is
//! part of a deadlock then.

use core::ffi::{c_int, c_void};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::hook::{hook, real};
use crate::objects::{self, Robust};
use crate::sys::{EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM, ETIMEDOUT, Timespec};
use crate::{control, memory, sites};

const RECURSIVE: u32 = 1;
const ERRORCHECK: u32 = 2;
/// The C library's bit for robust mutexes.
const ROBUST: u32 = 16;

/// Where the C library keeps a mutex's type, in words; static initialisers set it.
const KIND_WORD: usize = 4;

/// Bytes of a `pthread_mutex_t`.
const BYTES: usize = 40;
/// Its first bytes, which locking and unlocking change in the C library.
const CHANGED: usize = 16;

/// The kernel's object of a mutex.
///
/// # Safety
/// `mutex` is a mutex.
pub(crate) unsafe fn of(mutex: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a mutex has at least ten words.
    unsafe {
        let word = *mutex.add(KIND_WORD);
        let flavour = word & 3;
        let id = objects::of(mutex, CHANGED, site, || Object::Mutex { recursive: flavour == RECURSIVE });
        objects::entry(id, |entry| {
            entry.flavour = flavour;
            if word & ROBUST != 0 && entry.robust == Robust::No {
                entry.robust = Robust::Yes;
            }
        });
        id
    }
}

/// Initialises a mutex of a type.
///
/// # Safety
/// `mutex` is memory for a mutex.
pub(crate) unsafe fn initialise(mutex: *mut u32, flavour: u32, site: Site) {
    // SAFETY: ten words.
    unsafe {
        objects::initialise(
            mutex,
            BYTES,
            site,
            Object::Mutex { recursive: flavour & 3 == RECURSIVE },
            || {
                core::ptr::write_bytes(mutex, 0, 10);
                *mutex.add(KIND_WORD) = flavour;
            },
        );
    }
}

/// Destroys a mutex, unless a thread holds it.
///
/// # Safety
/// `mutex` is a mutex.
pub(crate) unsafe fn destroy(mutex: *mut u32, site: Site) -> c_int {
    // SAFETY: the caller promises a mutex.
    let id = unsafe { of(mutex, site) };
    if objects::destroy(id, site) { 0 } else { EBUSY }
}

/// Locks, tries to lock, or locks with a time limit.
///
/// # Safety
/// `mutex` is a mutex.
pub(crate) unsafe fn lock(mutex: *mut u32, kind: Kind, deadline: Option<u64>, site: Site) -> c_int {
    // SAFETY: the caller promises a mutex.
    let id = unsafe { of(mutex, site) };
    let me = control::me().0 + 1;
    let again = objects::entry(id, |entry| entry.flavour == ERRORCHECK && entry.owner == me);
    if kind == Kind::Lock && again {
        return EDEADLK;
    }
    let outcome = control::step(control::limited(Operation::new(kind, id, sites::user(site)), deadline));
    if outcome.timed_out {
        return ETIMEDOUT;
    }
    if kind == Kind::TryLock && !outcome.ok {
        return EBUSY;
    }
    let robust = objects::entry(id, |entry| {
        entry.depth = if entry.owner == me { entry.depth + 1 } else { 1 };
        entry.owner = me;
        let robust = entry.robust;
        if robust == Robust::Abandoned {
            entry.robust = Robust::Inconsistent;
        }
        robust
    });
    match robust {
        Robust::Abandoned => EOWNERDEAD,
        Robust::Lost => {
            // SAFETY: the caller promises a mutex, which the running thread now holds.
            unsafe { unlock(mutex, site) };
            ENOTRECOVERABLE
        }
        _ => 0,
    }
}

/// Whether the running thread has locked a recursive mutex more than once.
pub(crate) fn stays_locked(id: ObjectId) -> bool {
    let me = control::me().0 + 1;
    objects::entry(id, |entry| entry.flavour == RECURSIVE && entry.owner == me && entry.depth > 1)
}

/// Releases the robust mutexes of the running thread, which ends.
pub(crate) fn abandon() {
    let me = control::me().0 + 1;
    while let Some(id) = objects::find(|entry| entry.owner == me && entry.robust != Robust::No) {
        let depth = objects::entry(id, |entry| {
            (entry.owner, entry.robust) = (0, Robust::Abandoned);
            core::mem::take(&mut entry.depth)
        });
        for _ in 0..depth {
            control::simple(Kind::Unlock, id, Site::default());
        }
    }
}

/// # Safety
/// `mutex` is a mutex.
pub(crate) unsafe fn unlock(mutex: *mut u32, site: Site) -> c_int {
    // SAFETY: the caller promises a mutex.
    let id = unsafe { of(mutex, site) };
    let me = control::me().0 + 1;
    let foreign = objects::entry(id, |entry| {
        if entry.owner == me && entry.depth == 1 && entry.robust == Robust::Inconsistent {
            entry.robust = Robust::Lost;
        }
        entry.owner != me && matches!(entry.flavour, RECURSIVE | ERRORCHECK)
    });
    if foreign {
        return EPERM;
    }
    control::simple(Kind::Unlock, id, sites::user(site));
    objects::entry(id, |entry| {
        if entry.owner == me {
            entry.depth = entry.depth.saturating_sub(1);
            if entry.depth == 0 {
                entry.owner = 0;
            }
        }
    });
    0
}

hook! {
    fn pthread_mutex_init(mutex: *mut u32, attributes: *const c_void; site) -> c_int {
        memory::tell_operand("pthread_mutex_init", attributes, memory::SMALL_ATTRIBUTES, false, site);
        let (mut flavour, mut robust): (c_int, c_int) = (0, 0);
        if !attributes.is_null() {
            real!(pthread_mutexattr_gettype: fn(*const c_void, *mut c_int) -> c_int)(attributes, &mut flavour);
            real!(pthread_mutexattr_getrobust: fn(*const c_void, *mut c_int) -> c_int)(attributes, &mut robust);
        }
        initialise(mutex, flavour as u32 & 3 | if robust == 0 { 0 } else { ROBUST }, site);
        0
    }
    fn pthread_mutex_destroy(mutex: *mut u32; site) -> c_int {
        destroy(mutex, site)
    }
    fn pthread_mutex_lock(mutex: *mut u32; site) -> c_int {
        lock(mutex, Kind::Lock, None, site)
    }
    fn pthread_mutex_trylock(mutex: *mut u32; site) -> c_int {
        lock(mutex, Kind::TryLock, None, site)
    }
    fn pthread_mutex_timedlock(mutex: *mut u32, limit: *const Timespec; site) -> c_int {
        lock(mutex, Kind::Lock, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site)
    }
    fn pthread_mutex_clocklock(mutex: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        lock(mutex, Kind::Lock, Some(crate::time::deadline(clock, limit, site)), site)
    }
    fn pthread_mutex_unlock(mutex: *mut u32; site) -> c_int {
        unlock(mutex, site)
    }
    fn pthread_mutex_consistent(mutex: *mut u32; site) -> c_int {
        objects::entry(of(mutex, site), |entry| {
            if entry.robust != Robust::Inconsistent {
                return EINVAL;
            }
            entry.robust = Robust::Yes;
            0
        })
    }

    fn pthread_spin_init(spin: *mut u32, _shared: c_int; site) -> c_int {
        objects::initialise(spin, objects::SMALL, site, Object::Mutex { recursive: false }, || ());
        0
    }
    fn pthread_spin_destroy(spin: *mut u32; site) -> c_int {
        let id = objects::of_small(spin, site, || Object::Mutex { recursive: false });
        if objects::destroy(id, site) { 0 } else { EBUSY }
    }
    fn pthread_spin_lock(spin: *mut u32; site) -> c_int {
        let id = objects::of_small(spin, site, || Object::Mutex { recursive: false });
        control::simple(Kind::Lock, id, sites::user(site));
        0
    }
    fn pthread_spin_trylock(spin: *mut u32; site) -> c_int {
        let id = objects::of_small(spin, site, || Object::Mutex { recursive: false });
        if control::simple(Kind::TryLock, id, sites::user(site)).ok { 0 } else { EBUSY }
    }
    fn pthread_spin_unlock(spin: *mut u32; site) -> c_int {
        let id = objects::of_small(spin, site, || Object::Mutex { recursive: false });
        control::simple(Kind::Unlock, id, sites::user(site));
        0
    }
}
