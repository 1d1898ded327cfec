//! Attributes of threads and synchronisation objects: memory of the program that functions of the C
//! library fill in and look at.

use core::ffi::{c_int, c_void};

use super::call::export;
use super::library_calls::{reads, reports_accesses, tell, writes};
use crate::hook::real;

/// Bytes of the attributes of a mutex, condition variable or barrier.
pub(crate) const SMALL: usize = 4;
/// Bytes of the attributes of a reader-writer lock.
pub(crate) const LOCK: usize = 8;
/// Bytes of the attributes of a thread.
pub(crate) const THREAD: usize = 56;

/// Functions that initialise or destroy attributes, set a number in them, or get one.
macro_rules! attributes {
    ($size:ident: begin $($begin:ident)*; set $($set:ident)*; get $($get:ident)*;) => { tell! {
        $(fn $begin(of: *mut c_void; site) -> c_int { writes(of, $size, site); })*
        $(fn $set(of: *mut c_void, value: c_int; site) -> c_int { writes(of, $size, site); })*
        $(fn $get(of: *const c_void, out: *mut c_int; site) -> c_int {
            reads(of, $size, site);
            writes(out as *const c_void, size_of::<c_int>(), site);
        })*
    } };
}

attributes! { SMALL:
    begin pthread_mutexattr_init pthread_mutexattr_destroy pthread_condattr_init pthread_condattr_destroy
        pthread_barrierattr_init pthread_barrierattr_destroy;
    set pthread_mutexattr_settype pthread_mutexattr_setpshared pthread_mutexattr_setprotocol
        pthread_mutexattr_setprioceiling pthread_mutexattr_setrobust
        pthread_condattr_setclock pthread_condattr_setpshared
        pthread_barrierattr_setpshared;
    get pthread_mutexattr_gettype pthread_mutexattr_getpshared pthread_mutexattr_getprotocol
        pthread_mutexattr_getprioceiling pthread_mutexattr_getrobust
        pthread_condattr_getclock pthread_condattr_getpshared
        pthread_barrierattr_getpshared;
}

attributes! { LOCK:
    begin pthread_rwlockattr_init pthread_rwlockattr_destroy;
    set pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared;
    get pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared;
}

attributes! { THREAD:
    begin pthread_attr_init pthread_attr_destroy;
    set pthread_attr_setdetachstate pthread_attr_setinheritsched pthread_attr_setschedpolicy
        pthread_attr_setscope;
    get pthread_attr_getdetachstate pthread_attr_getinheritsched pthread_attr_getschedpolicy
        pthread_attr_getscope;
}

/// Bytes of a `struct utsname`.
const NAMES: usize = 390;
/// Bytes of a `Dl_info`.
const DL_INFO: usize = 32;
/// Bytes of a set of signals.
const SIGNALS: usize = 128;

tell! {
    fn sigemptyset(set: *mut c_void; site) -> c_int { writes(set, SIGNALS, site); }
    fn sigfillset(set: *mut c_void; site) -> c_int { writes(set, SIGNALS, site); }
    fn sigaddset(set: *mut c_void, _signal: c_int; site) -> c_int { writes(set, SIGNALS, site); }
    fn sigdelset(set: *mut c_void, _signal: c_int; site) -> c_int { writes(set, SIGNALS, site); }
    fn sigismember(set: *const c_void, _signal: c_int; site) -> c_int { reads(set, SIGNALS, site); }
    fn uname(into: *mut c_void; site) -> c_int { writes(into, NAMES, site); }
    fn dladdr(_address: *const c_void, into: *mut c_void; site) -> c_int { writes(into, DL_INFO, site); }
    fn pthread_attr_setstacksize(of: *mut c_void, size: usize; site) -> c_int { writes(of, THREAD, site); }
    fn pthread_attr_setguardsize(of: *mut c_void, size: usize; site) -> c_int { writes(of, THREAD, site); }
    fn pthread_attr_getstacksize(of: *const c_void, out: *mut usize; site) -> c_int {
        reads(of, THREAD, site);
        writes(out as *const c_void, size_of::<usize>(), site);
    }
    fn pthread_attr_getguardsize(of: *const c_void, out: *mut usize; site) -> c_int {
        reads(of, THREAD, site);
        writes(out as *const c_void, size_of::<usize>(), site);
    }
}
