//! C11 threads: the same objects under other names and with other results.

use core::ffi::{c_int, c_void};

use turnpike_scheduler::Kind;

use crate::control::Start;
use crate::hook::hook;
use crate::sys::{EBUSY, ETIMEDOUT, Timespec};
use crate::{cond, cxx, keys, memory, mutex, threads};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// The C11 result for an error number.
fn answer(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

hook! {
    fn thrd_create(out: *mut usize, function: usize, argument: usize; site) -> c_int {
        answer(threads::create(core::ptr::null(), Start { function, argument, int: true }, site, out))
    }
    fn thrd_join(handle: usize, result: *mut c_int; site) -> c_int {
        match threads::join_plain(handle, site) {
            Ok(value) => {
                memory::put(result, value as c_int, site);
                SUCCESS
            }
            Err(error) => answer(error),
        }
    }
    fn thrd_detach(handle: usize; site) -> c_int { answer(threads::detach(handle, site)) }
    fn thrd_exit(result: c_int; site) { cxx::unwind_and_end(result as isize as usize) }

    fn mtx_init(mutex: *mut u32, kind: c_int; site) -> c_int {
        const RECURSIVE: c_int = 1;
        mutex::initialise(mutex, (kind & RECURSIVE) as u32, site);
        SUCCESS
    }
    fn mtx_destroy(mutex: *mut u32; site) { mutex::destroy(mutex, site); }
    fn mtx_lock(mutex: *mut u32; site) -> c_int { answer(mutex::lock(mutex, Kind::Lock, None, site)) }
    fn mtx_trylock(mutex: *mut u32; site) -> c_int { answer(mutex::lock(mutex, Kind::TryLock, None, site)) }
    fn mtx_timedlock(mutex: *mut u32, limit: *const Timespec; site) -> c_int {
        answer(mutex::lock(mutex, Kind::Lock, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site))
    }
    fn mtx_unlock(mutex: *mut u32; site) -> c_int { answer(mutex::unlock(mutex, site)) }

    fn cnd_init(cond: *mut u32; site) -> c_int {
        cond::initialise(cond, crate::time::REALTIME, site);
        SUCCESS
    }
    fn cnd_destroy(cond: *mut u32; site) { cond::destroy(cond, site); }
    fn cnd_wait(cond: *mut u32, lock: *mut u32; site) -> c_int { answer(cond::wait(cond, lock, None, site)) }
    fn cnd_timedwait(cond: *mut u32, lock: *mut u32, limit: *const Timespec; site) -> c_int {
        answer(cond::wait(cond, lock, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site))
    }
    fn cnd_signal(cond: *mut u32; site) -> c_int { answer(cond::notify(cond, Kind::NotifyOne, site)) }
    fn cnd_broadcast(cond: *mut u32; site) -> c_int { answer(cond::notify(cond, Kind::NotifyAll, site)) }

    fn tss_create(out: *mut u32, destructor: Option<unsafe extern "C" fn(usize)>; site) -> c_int {
        memory::put(out, keys::create(destructor, site), site);
        SUCCESS
    }
    fn tss_delete(key: u32; site) { keys::delete(key, site); }
    fn tss_get(key: u32; site) -> *mut c_void { keys::get(key, site) as *mut c_void }
    fn tss_set(key: u32, value: usize; site) -> c_int { answer(keys::set(key, value, site)) }
}
