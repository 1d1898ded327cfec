//! Condition variables.

use core::ffi::{c_int, c_void};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::hook::{hook, real};
use crate::sys::{ETIMEDOUT, Timespec};
use crate::time::REALTIME;
use crate::{cancel, control, memory, mutex, objects, sites};

/// Bytes of a `pthread_cond_t`.
const BYTES: usize = 48;

unsafe fn of(cond: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a condition variable has twelve words.
    unsafe { objects::of(cond, BYTES, site, || Object::Condvar) }
}

/// Waits, with the mutex released meanwhile. A mutex that the thread has locked several times is
/// unlocked only once, as in the C library, and so stays locked.
///
/// # Safety
/// `cond` is a condition variable and `lock` a mutex.
pub(crate) unsafe fn wait(cond: *mut u32, lock: *mut u32, deadline: Option<u64>, site: Site) -> c_int {
    // SAFETY: the caller promises a condition variable and a mutex.
    let (object, mutex) = unsafe { (of(cond, site), mutex::of(lock, site)) };
    let second = if mutex::stays_locked(mutex) { ObjectId::NONE } else { mutex };
    let operation = Operation { second, ..Operation::new(Kind::Wait, object, sites::user(site)) };
    let outcome = cancel::step(control::limited(operation, deadline));
    // Others have owned the mutex meanwhile.
    let owner = control::me().0 + 1;
    objects::entry(mutex, |entry| {
        entry.owner = owner;
        entry.depth = entry.depth.max(1);
    });
    if outcome.timed_out {
        cancel::point();
        return ETIMEDOUT;
    }
    0
}

/// # Safety
/// `cond` is a condition variable.
pub(crate) unsafe fn notify(cond: *mut u32, kind: Kind, site: Site) -> c_int {
    // SAFETY: the caller promises a condition variable.
    let id = unsafe { of(cond, site) };
    control::simple(kind, id, sites::user(site));
    0
}

/// # Safety
/// `cond` is a condition variable.
pub(crate) unsafe fn destroy(cond: *mut u32, site: Site) {
    // SAFETY: the caller promises a condition variable.
    objects::destroy(unsafe { of(cond, site) }, site);
}

/// Initialises a condition variable whose time limits `clock` measures.
///
/// # Safety
/// `cond` is memory for a condition variable.
pub(crate) unsafe fn initialise(cond: *mut u32, clock: c_int, site: Site) {
    let clear = || {
        // SAFETY: twelve words.
        unsafe { core::ptr::write_bytes(cond, 0, 12) }
    };
    // SAFETY: promised by the caller.
    let id = unsafe { objects::initialise(cond, BYTES, site, Object::Condvar, clear) };
    objects::entry(id, |entry| entry.flavour = clock.cast_unsigned());
}

hook! {
    fn pthread_cond_init(cond: *mut u32, attributes: *const c_void; site) -> c_int {
        memory::tell_operand("pthread_cond_init", attributes, memory::SMALL_ATTRIBUTES, false, site);
        let mut clock = REALTIME;
        if !attributes.is_null() {
            real!(pthread_condattr_getclock: fn(*const c_void, *mut c_int) -> c_int)(attributes, &mut clock);
        }
        initialise(cond, clock, site);
        0
    }
    fn pthread_cond_destroy(cond: *mut u32; site) -> c_int {
        destroy(cond, site);
        0
    }
    fn pthread_cond_wait(cond: *mut u32, lock: *mut u32; site) -> c_int {
        wait(cond, lock, None, site)
    }
    fn pthread_cond_timedwait(cond: *mut u32, lock: *mut u32, limit: *const Timespec; site) -> c_int {
        let clock = objects::entry(of(cond, site), |entry| entry.flavour.cast_signed());
        wait(cond, lock, Some(crate::time::deadline(clock, limit, site)), site)
    }
    fn pthread_cond_clockwait(cond: *mut u32, lock: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        wait(cond, lock, Some(crate::time::deadline(clock, limit, site)), site)
    }
    fn pthread_cond_signal(cond: *mut u32; site) -> c_int {
        notify(cond, Kind::NotifyOne, site)
    }
    fn pthread_cond_broadcast(cond: *mut u32; site) -> c_int {
        notify(cond, Kind::NotifyAll, site)
    }
}
