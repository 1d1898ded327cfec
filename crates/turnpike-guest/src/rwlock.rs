//! Reader-writer locks.

use core::ffi::{c_int, c_void};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::hook::hook;
use crate::sys::{EBUSY, EDEADLK, ETIMEDOUT, Timespec};
use crate::{control, memory, objects, sites};

/// Bytes of a `pthread_rwlock_t`.
const BYTES: usize = 56;

unsafe fn of(lock: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a reader-writer lock has fourteen words.
    unsafe { objects::of(lock, BYTES, site, || Object::RwLock) }
}

/// The word that says which threads go first.
const PREFERENCE: usize = 12;
/// Its value for locks that let writers go first and are not recursive for readers.
const WRITERS: u32 = 2;

unsafe fn acquire(lock: *mut u32, kind: Kind, deadline: Option<u64>, site: Site) -> c_int {
    // SAFETY: a reader-writer lock.
    let id = unsafe { of(lock, site) };
    let me = control::me().0 + 1;
    if objects::entry(id, |entry| entry.owner) == me && matches!(kind, Kind::ReadLock | Kind::WriteLock) {
        return EDEADLK;
    }
    let mut operation = Operation::new(kind, id, sites::user(site));
    // SAFETY: a reader-writer lock has fourteen words.
    if unsafe { *lock.add(PREFERENCE) } == WRITERS {
        control::uncontrolled("which readers a waiting writer keeps out of a lock that prefers writers");
        operation.argument = matches!(kind, Kind::ReadLock | Kind::TryReadLock).into();
    }
    let outcome = control::step(control::limited(operation, deadline));
    if outcome.timed_out {
        return ETIMEDOUT;
    }
    match kind {
        Kind::TryReadLock | Kind::TryWriteLock if !outcome.ok => return EBUSY,
        Kind::WriteLock | Kind::TryWriteLock => objects::entry(id, |entry| entry.owner = me),
        _ => {}
    }
    0
}

hook! {
    fn pthread_rwlock_init(lock: *mut u32, attributes: *const c_void; site) -> c_int {
        memory::tell_operand("pthread_rwlock_init", attributes, memory::LOCK_ATTRIBUTES, false, site);
        let preference = (attributes as *const u32).as_ref().copied().unwrap_or(0);
        objects::initialise(lock, BYTES, site, Object::RwLock, || {
            core::ptr::write_bytes(lock, 0, 14);
            *lock.add(PREFERENCE) = preference;
        });
        0
    }
    fn pthread_rwlock_destroy(lock: *mut u32; site) -> c_int {
        objects::destroy(of(lock, site), site);
        0
    }
    fn pthread_rwlock_rdlock(lock: *mut u32; site) -> c_int {
        acquire(lock, Kind::ReadLock, None, site)
    }
    fn pthread_rwlock_wrlock(lock: *mut u32; site) -> c_int {
        acquire(lock, Kind::WriteLock, None, site)
    }
    fn pthread_rwlock_tryrdlock(lock: *mut u32; site) -> c_int {
        acquire(lock, Kind::TryReadLock, None, site)
    }
    fn pthread_rwlock_trywrlock(lock: *mut u32; site) -> c_int {
        acquire(lock, Kind::TryWriteLock, None, site)
    }
    fn pthread_rwlock_timedrdlock(lock: *mut u32, limit: *const Timespec; site) -> c_int {
        acquire(lock, Kind::ReadLock, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site)
    }
    fn pthread_rwlock_timedwrlock(lock: *mut u32, limit: *const Timespec; site) -> c_int {
        acquire(lock, Kind::WriteLock, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site)
    }
    fn pthread_rwlock_clockrdlock(lock: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        acquire(lock, Kind::ReadLock, Some(crate::time::deadline(clock, limit, site)), site)
    }
    fn pthread_rwlock_clockwrlock(lock: *mut u32, clock: c_int, limit: *const Timespec; site) -> c_int {
        acquire(lock, Kind::WriteLock, Some(crate::time::deadline(clock, limit, site)), site)
    }
    fn pthread_rwlock_unlock(lock: *mut u32; site) -> c_int {
        let id = of(lock, site);
        let me = control::me().0 + 1;
        let mine = objects::entry(id, |entry| entry.owner) == me;
        control::simple(if mine { Kind::WriteUnlock } else { Kind::ReadUnlock }, id, sites::user(site));
        if mine {
            // The step is done, so another writer may own it already.
            objects::entry(id, |entry| {
                if entry.owner == me {
                    entry.owner = 0;
                }
            });
        }
        0
    }
}
