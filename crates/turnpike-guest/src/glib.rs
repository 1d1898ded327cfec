//! GLib's locks, conditions and one-time initialisation, which it builds from atomics and futexes
//! of its own. Here they are objects of the same kinds as the C library's.
//!
//! Its recursive and reader-writer locks are built on the C library's; replacing them as well
//! saves steps. What GLib does with atomics alone stays unseen, so a program that uses it is never
//! proved.

use alloc::collections::BTreeMap;
use core::ffi::{CStr, c_int, c_void};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::global::Global;
use crate::hook::hook;
use crate::sys::Timespec;
use crate::{control, memory, objects, once, sites, time};

/// What is replaced, also in calls from inside GLib (see `patch`).
pub(crate) const NAMES: [&CStr; 30] = [
    c"g_mutex_init",
    c"g_mutex_clear",
    c"g_mutex_lock",
    c"g_mutex_trylock",
    c"g_mutex_unlock",
    c"g_rec_mutex_init",
    c"g_rec_mutex_clear",
    c"g_rec_mutex_lock",
    c"g_rec_mutex_trylock",
    c"g_rec_mutex_unlock",
    c"g_rw_lock_init",
    c"g_rw_lock_clear",
    c"g_rw_lock_writer_lock",
    c"g_rw_lock_writer_trylock",
    c"g_rw_lock_writer_unlock",
    c"g_rw_lock_reader_lock",
    c"g_rw_lock_reader_trylock",
    c"g_rw_lock_reader_unlock",
    c"g_cond_init",
    c"g_cond_clear",
    c"g_cond_wait",
    c"g_cond_wait_until",
    c"g_cond_signal",
    c"g_cond_broadcast",
    c"g_once_impl",
    c"g_once_init_enter",
    c"g_once_init_enter_impl",
    c"g_once_init_enter_pointer",
    c"g_once_init_leave",
    c"g_once_init_leave_pointer",
];

/// The size of the smallest of these objects, in bytes.
const BYTES: usize = 8;

/// The kernel's object for one of GLib's, all of which are zero when they are new.
///
/// # Safety
/// `memory` is one of GLib's synchronisation objects, as in all functions that follow.
unsafe fn of(memory: *mut u32, site: Site, object: Object) -> ObjectId {
    // SAFETY: the caller promises an object of GLib, which has eight bytes.
    unsafe { objects::of(memory, BYTES, site, || object) }
}

unsafe fn renew(memory: *mut u32, site: Site, object: Object) {
    // SAFETY: the caller promises memory for an object of GLib, which has eight bytes.
    unsafe { objects::initialise(memory, BYTES, site, object, || ()) };
}

unsafe fn clear(memory: *mut u32, object: Object, site: Site) {
    // SAFETY: the caller promises an object of GLib.
    objects::destroy(unsafe { of(memory, site, object) }, site);
}

unsafe fn perform(memory: *mut u32, kind: Kind, object: Object, site: Site) -> bool {
    // SAFETY: the caller promises an object of GLib.
    let id = unsafe { of(memory, site, object) };
    control::simple(kind, id, sites::user(site)).ok
}

const MUTEX: Object = Object::Mutex { recursive: false };
const RECURSIVE: Object = Object::Mutex { recursive: true };

/// Waits for a condition; false if the time limit passed first.
unsafe fn wait(cond: *mut u32, lock: *mut u32, deadline: Option<u64>, site: Site) -> bool {
    // SAFETY: the caller promises a `GCond` and a `GMutex`.
    let (object, second) = unsafe { (of(cond, site, Object::Condvar), of(lock, site, MUTEX)) };
    let operation = Operation { second, ..Operation::new(Kind::Wait, object, sites::user(site)) };
    !control::step(control::limited(operation, deadline)).timed_out
}

static ONCES: Global<BTreeMap<usize, ObjectId>> = Global::new(BTreeMap::new());

/// The program reads these words itself, so their objects are found by address.
fn once_of(address: usize, site: Site) -> ObjectId {
    let register = || {
        let (name, site) = (sites::stable(address), sites::user(site));
        control::kernel(|kernel| kernel.register(Object::Once, name, site))
    };
    ONCES.with(|onces| *onces.entry(address).or_insert_with(register))
}

/// Whether the running thread must initialise what belongs to a word. The word is zero until then.
unsafe fn begin(word: *const usize, site: Site) -> bool {
    let address = word as usize;
    loop {
        if control::simple(Kind::OnceBegin, once_of(address, site), sites::user(site)).ok {
            return true;
        }
        // SAFETY: the program's word.
        if unsafe { *word } != 0 {
            return false;
        }
        // What was initialised there is gone: this is a new one at the same address.
        ONCES.with(|onces| onces.remove(&address));
    }
}

fn end(word: *mut usize, value: usize, site: Site) {
    memory::set_word(word, value, site);
    once::finish(once_of(word as usize, site), true, sites::user(site));
}

/// `GOnce`.
#[repr(C)]
struct Once {
    status: c_int,
    value: usize,
}
const READY: c_int = 2;

hook! {
    fn g_mutex_init(lock: *mut u32; site) { renew(lock, site, MUTEX) }
    fn g_mutex_clear(lock: *mut u32; site) { clear(lock, MUTEX, site) }
    fn g_mutex_lock(lock: *mut u32; site) { perform(lock, Kind::Lock, MUTEX, site); }
    fn g_mutex_trylock(lock: *mut u32; site) -> c_int { perform(lock, Kind::TryLock, MUTEX, site).into() }
    fn g_mutex_unlock(lock: *mut u32; site) { perform(lock, Kind::Unlock, MUTEX, site); }

    fn g_rec_mutex_init(lock: *mut u32; site) { renew(lock, site, RECURSIVE) }
    fn g_rec_mutex_clear(lock: *mut u32; site) { clear(lock, RECURSIVE, site) }
    fn g_rec_mutex_lock(lock: *mut u32; site) { perform(lock, Kind::Lock, RECURSIVE, site); }
    fn g_rec_mutex_trylock(lock: *mut u32; site) -> c_int { perform(lock, Kind::TryLock, RECURSIVE, site).into() }
    fn g_rec_mutex_unlock(lock: *mut u32; site) { perform(lock, Kind::Unlock, RECURSIVE, site); }

    fn g_rw_lock_init(lock: *mut u32; site) { renew(lock, site, Object::RwLock) }
    fn g_rw_lock_clear(lock: *mut u32; site) { clear(lock, Object::RwLock, site) }
    fn g_rw_lock_writer_lock(lock: *mut u32; site) { perform(lock, Kind::WriteLock, Object::RwLock, site); }
    fn g_rw_lock_writer_trylock(lock: *mut u32; site) -> c_int {
        perform(lock, Kind::TryWriteLock, Object::RwLock, site).into()
    }
    fn g_rw_lock_writer_unlock(lock: *mut u32; site) { perform(lock, Kind::WriteUnlock, Object::RwLock, site); }
    fn g_rw_lock_reader_lock(lock: *mut u32; site) { perform(lock, Kind::ReadLock, Object::RwLock, site); }
    fn g_rw_lock_reader_trylock(lock: *mut u32; site) -> c_int {
        perform(lock, Kind::TryReadLock, Object::RwLock, site).into()
    }
    fn g_rw_lock_reader_unlock(lock: *mut u32; site) { perform(lock, Kind::ReadUnlock, Object::RwLock, site); }

    fn g_cond_init(cond: *mut u32; site) { renew(cond, site, Object::Condvar) }
    fn g_cond_clear(cond: *mut u32; site) { clear(cond, Object::Condvar, site) }
    fn g_cond_wait(cond: *mut u32, lock: *mut u32; site) { wait(cond, lock, None, site); }
    fn g_cond_wait_until(cond: *mut u32, lock: *mut u32, microseconds: i64; site) -> c_int {
        const MONOTONIC: c_int = 1;
        let limit = Timespec {
            seconds: microseconds.max(0) / 1_000_000,
            nanoseconds: microseconds.max(0) % 1_000_000 * 1_000,
        };
        wait(cond, lock, Some(time::deadline(MONOTONIC, &limit, site)), site).into()
    }
    fn g_cond_signal(cond: *mut u32; site) { perform(cond, Kind::NotifyOne, Object::Condvar, site); }
    fn g_cond_broadcast(cond: *mut u32; site) { perform(cond, Kind::NotifyAll, Object::Condvar, site); }

    fn g_once_impl(once: *mut Once, function: unsafe extern "C" fn(*mut c_void) -> usize, argument: *mut c_void; site) -> usize {
        let id = once_of(once as usize, site);
        let at = sites::user(site);
        let frame = control::frame();
        if control::simple(Kind::OnceBegin, id, at).ok {
            let value = function(argument);
            control::enter(at.0, frame);
            (*once).value = value;
            memory::set_int(&raw mut (*once).status, READY, at);
            once::finish(id, true, at);
        }
        (*once).value
    }
    fn g_once_init_enter(word: *mut usize; site) -> c_int { begin(word, site).into() }
    fn g_once_init_enter_impl(word: *mut usize; site) -> c_int { begin(word, site).into() }
    fn g_once_init_enter_pointer(word: *mut usize; site) -> c_int { begin(word, site).into() }
    fn g_once_init_leave(word: *mut usize, value: usize; site) { end(word, value, site) }
    fn g_once_init_leave_pointer(word: *mut usize, value: usize; site) { end(word, value, site) }
}
