//! Unnamed semaphores. Named ones live in a file system that other processes see, and are refused.

use core::ffi::{c_char, c_int};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::hook::hook;
use crate::sys::{EAGAIN, EINVAL, ETIMEDOUT, Timespec, fail_with};
use crate::{control, objects, sites};

unsafe fn of(semaphore: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a semaphore has eight words; the first is the value of one that was made before control started.
    unsafe {
        let value = *semaphore;
        objects::of(semaphore, site, || Object::Semaphore { value })
    }
}

unsafe fn wait(semaphore: *mut u32, deadline: Option<u64>, site: Site) -> c_int {
    // SAFETY: a semaphore.
    let id = unsafe { of(semaphore, site) };
    let outcome =
        control::step(control::limited(Operation::new(Kind::SemWait, id, sites::user(site)), deadline));
    if outcome.timed_out { fail_with(ETIMEDOUT) } else { 0 }
}

hook! {
    fn sem_init(semaphore: *mut u32, _shared: c_int, value: u32; site) -> c_int {
        if value > i32::MAX as u32 {
            return fail_with(EINVAL);
        }
        core::ptr::write_bytes(semaphore, 0, 8);
        objects::register(semaphore, site, Object::Semaphore { value });
        0
    }
    fn sem_destroy(semaphore: *mut u32; site) -> c_int {
        objects::forget(semaphore);
        0
    }
    fn sem_wait(semaphore: *mut u32; site) -> c_int {
        wait(semaphore, None, site)
    }
    fn sem_timedwait(semaphore: *mut u32, limit: *const Timespec; site) -> c_int {
        wait(semaphore, Some(crate::time::deadline(crate::time::REALTIME, limit)), site)
    }
    fn sem_clockwait(semaphore: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        wait(semaphore, Some(crate::time::deadline(clock, limit)), site)
    }
    fn sem_trywait(semaphore: *mut u32; site) -> c_int {
        let id = of(semaphore, site);
        if control::simple(Kind::SemTryWait, id, sites::user(site)).ok { 0 } else { fail_with(EAGAIN) }
    }
    fn sem_post(semaphore: *mut u32; site) -> c_int {
        let id = of(semaphore, site);
        control::simple(Kind::SemPost, id, sites::user(site));
        0
    }
    fn sem_getvalue(semaphore: *mut u32, out: *mut c_int; site) -> c_int {
        let id = of(semaphore, site);
        *out = control::simple(Kind::SemGet, id, sites::user(site)).value as c_int;
        0
    }
    fn sem_open(_name: *const c_char, _flags: c_int, _mode: u32, _value: u32; site) -> *mut u32 {
        control::refuse("the program opens a named semaphore (sem_open), which other processes could use; only unnamed ones are controlled", sites::user(site))
    }
}
