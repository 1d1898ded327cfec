//! Semaphores. Named ones live in a file system that other processes see. Those that the program
//! creates itself are kept here; one that it expects to exist already is refused.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::ffi::{c_char, c_int};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::global::Global;
use crate::hook::hook;
use crate::sys::{EAGAIN, EEXIST, EINVAL, ENOENT, ETIMEDOUT, Timespec, fail_with};
use crate::{cancel, control, memory, objects, process, sites};

/// Bytes of a `sem_t`.
const BYTES: usize = 32;

unsafe fn of(semaphore: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a semaphore has eight words; the first is the value of one that was made before
    // control started.
    unsafe {
        let value = *semaphore;
        objects::of(semaphore, BYTES, site, || Object::Semaphore { value })
    }
}

unsafe fn wait(semaphore: *mut u32, deadline: Option<u64>, site: Site) -> c_int {
    // SAFETY: a semaphore.
    let id = unsafe { of(semaphore, site) };
    let operation = Operation::new(Kind::SemWait, id, sites::user(site));
    if cancel::step(control::limited(operation, deadline)).timed_out {
        cancel::point();
        return fail_with(ETIMEDOUT);
    }
    0
}

static NAMED: Global<BTreeMap<String, usize>> = Global::new(BTreeMap::new());

fn open(name: &str, flags: c_int, value: u32, site: Site) -> *mut u32 {
    const CREATE: c_int = 0o100;
    const EXCLUSIVE: c_int = 0o200;
    if let Some(known) = NAMED.with(|named| named.get(name).copied()) {
        if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
            fail_with(EEXIST);
            return core::ptr::null_mut();
        }
        return known as *mut u32;
    }
    if flags & CREATE == 0 {
        control::refuse(
            "the program opens a named semaphore (sem_open) that it did not create, which other processes could use",
            sites::user(site),
        )
    }
    let semaphore = Box::leak(Box::new([0u32; 8])).as_mut_ptr();
    NAMED.with(|named| named.insert(name.into(), semaphore as usize));
    // SAFETY: eight words.
    unsafe { objects::register(semaphore, site, Object::Semaphore { value }) };
    semaphore
}

hook! {
    fn sem_init(semaphore: *mut u32, _shared: c_int, value: u32; site) -> c_int {
        if value > i32::MAX as u32 {
            return fail_with(EINVAL);
        }
        objects::initialise(semaphore, BYTES, site, Object::Semaphore { value }, || {
            core::ptr::write_bytes(semaphore, 0, 8);
        });
        0
    }
    fn sem_destroy(semaphore: *mut u32; site) -> c_int {
        objects::destroy(of(semaphore, site), site);
        0
    }
    fn sem_wait(semaphore: *mut u32; site) -> c_int {
        wait(semaphore, None, site)
    }
    fn sem_timedwait(semaphore: *mut u32, limit: *const Timespec; site) -> c_int {
        wait(semaphore, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site)
    }
    fn sem_clockwait(semaphore: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        wait(semaphore, Some(crate::time::deadline(clock, limit, site)), site)
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
        let value = control::simple(Kind::SemGet, id, sites::user(site)).value as c_int;
        memory::put(out, value, site);
        0
    }
    fn sem_open(name: *const c_char, flags: c_int, _mode: u32, value: u32; site) -> *mut u32 {
        memory::tell_text("sem_open", name, site);
        open(&process::text(name), flags, value, site)
    }
    fn sem_close(_semaphore: *mut u32; site) -> c_int { 0 }
    fn sem_unlink(name: *const c_char; site) -> c_int {
        memory::tell_text("sem_unlink", name, site);
        match NAMED.with(|named| named.remove(&*process::text(name))) {
            Some(_) => 0,
            None => fail_with(ENOENT),
        }
    }
}
