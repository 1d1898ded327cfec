//! C++ `new` and `delete`, so that reports say where in the program a block was allocated. They
//! have the names that compilers give them.

use core::ffi::c_void;

use super::call::export;
use super::heap;
use crate::hook::real;

/// When there is no room, the C++ library's own operator is called, which throws.
macro_rules! news {
    ($($plain:ident $nothrow:ident $aligned:ident $aligned_nothrow:ident)*) => { $(
        export! {
            fn $plain(size: usize; site) -> *mut c_void {
                match heap::allocate(size as u64, 16, site) {
                    0 => real!($plain: fn(usize) -> *mut c_void)(size),
                    new => new as *mut c_void,
                }
            }
            fn $nothrow(size: usize, _tag: *const c_void; site) -> *mut c_void {
                heap::allocate(size as u64, 16, site) as *mut c_void
            }
            fn $aligned(size: usize, align: usize; site) -> *mut c_void {
                match heap::allocate(size as u64, align as u64, site) {
                    0 => real!($aligned: fn(usize, usize) -> *mut c_void)(size, align),
                    new => new as *mut c_void,
                }
            }
            fn $aligned_nothrow(size: usize, align: usize, _tag: *const c_void; site) -> *mut c_void {
                heap::allocate(size as u64, align as u64, site) as *mut c_void
            }
        }
    )* };
}

news! {
    _Znwm _ZnwmRKSt9nothrow_t _ZnwmSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t
    _Znam _ZnamRKSt9nothrow_t _ZnamSt11align_val_t _ZnamSt11align_val_tRKSt9nothrow_t
}

macro_rules! deletes {
    ($($one:ident $two:ident $three:ident)*) => { $(
        export! {
            fn $one(address: *mut c_void; site) { heap::free(address as u64, site) }
            fn $two(address: *mut c_void, _size: usize; site) { heap::free(address as u64, site) }
            fn $three(address: *mut c_void, _size: usize, _align: usize; site) { heap::free(address as u64, site) }
        }
    )* };
}

// Plain, with the size, and with the size and an alignment.
deletes! {
    _ZdlPv _ZdlPvm _ZdlPvmSt11align_val_t
    _ZdaPv _ZdaPvm _ZdaPvmSt11align_val_t
}

macro_rules! tagged_deletes {
    ($($name:ident)*) => { $(
        export! {
            fn $name(address: *mut c_void, _tag: usize; site) { heap::free(address as u64, site) }
        }
    )* };
}

tagged_deletes! {
    _ZdlPvRKSt9nothrow_t _ZdlPvSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t
    _ZdaPvRKSt9nothrow_t _ZdaPvSt11align_val_t _ZdaPvSt11align_val_tRKSt9nothrow_t
}
