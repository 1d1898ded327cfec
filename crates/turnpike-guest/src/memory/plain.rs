//! What code compiled with `-fsanitize=thread` calls before each plain access.
//!
//! Compilers fix the names and arguments. Accesses to volatile variables are accesses like others
//! (C gives them no meaning between threads). gcc calls functions of the C library, such as
//! `memcpy`, without reporting their accesses; clang calls the wrappers below instead.

use core::ffi::{c_int, c_void};

use super::access;
use super::call::export;
use super::library_calls::deliver;

macro_rules! accesses {
    ($($read:ident $write:ident $size:literal)*) => { $(
        export! {
            fn $read(address: u64; site) { access(address, $size, false, site) }
            fn $write(address: u64; site) { access(address, $size, true, site) }
        }
    )* };
}

accesses! {
    __tsan_read1 __tsan_write1 1
    __tsan_read2 __tsan_write2 2
    __tsan_read4 __tsan_write4 4
    __tsan_read8 __tsan_write8 8
    __tsan_read16 __tsan_write16 16
    __tsan_unaligned_read2 __tsan_unaligned_write2 2
    __tsan_unaligned_read4 __tsan_unaligned_write4 4
    __tsan_unaligned_read8 __tsan_unaligned_write8 8
    __tsan_unaligned_read16 __tsan_unaligned_write16 16
    __tsan_volatile_read1 __tsan_volatile_write1 1
    __tsan_volatile_read2 __tsan_volatile_write2 2
    __tsan_volatile_read4 __tsan_volatile_write4 4
    __tsan_volatile_read8 __tsan_volatile_write8 8
    __tsan_volatile_read16 __tsan_volatile_write16 16
    __tsan_unaligned_volatile_read2 __tsan_unaligned_volatile_write2 2
    __tsan_unaligned_volatile_read4 __tsan_unaligned_volatile_write4 4
    __tsan_unaligned_volatile_read8 __tsan_unaligned_volatile_write8 8
    __tsan_unaligned_volatile_read16 __tsan_unaligned_volatile_write16 16
}

macro_rules! both {
    ($($name:ident $size:literal)*) => { $(
        export! {
            fn $name(address: u64; site) {
                access(address, $size, false, site);
                access(address, $size, true, site)
            }
        }
    )* };
}

both! {
    __tsan_read_write1 1
    __tsan_read_write2 2
    __tsan_read_write4 4
    __tsan_read_write8 8
    __tsan_read_write16 16
    __tsan_unaligned_read_write2 2
    __tsan_unaligned_read_write4 4
    __tsan_unaligned_read_write8 8
    __tsan_unaligned_read_write16 16
}

/// The same accesses, reported with a code location by other sanitizers and language runtimes.
macro_rules! located {
    ($($read:ident $write:ident $size:literal)*) => { $(
        export! {
            fn $read(address: u64, _at: u64; site) { access(address, $size, false, site) }
            fn $write(address: u64, _at: u64; site) { access(address, $size, true, site) }
        }
    )* };
}

located! {
    __tsan_read1_pc __tsan_write1_pc 1
    __tsan_read2_pc __tsan_write2_pc 2
    __tsan_read4_pc __tsan_write4_pc 4
    __tsan_read8_pc __tsan_write8_pc 8
    __tsan_read16_pc __tsan_write16_pc 16
}

export! {
    fn __tsan_read_range(address: u64, size: u64; site) { access(address, size, false, site) }
    fn __tsan_write_range(address: u64, size: u64; site) { access(address, size, true, site) }
    fn __tsan_read_range_pc(address: u64, size: u64, _at: u64; site) { access(address, size, false, site) }
    fn __tsan_write_range_pc(address: u64, size: u64, _at: u64; site) { access(address, size, true, site) }

    // A virtual call, and a constructor or destructor that sets the table of virtual functions.
    fn __tsan_vptr_read(address: u64; site) { access(address, 8, false, site) }
    fn __tsan_vptr_update(address: *mut u64, new: u64; site) {
        // Writing the value that is already there is harmless to readers.
        if *address != new {
            access(address as u64, 8, true, site)
        }
    }

    fn __tsan_memcpy(to: *mut c_void, from: *const c_void, size: usize; site) -> *mut c_void {
        access(from as u64, size as u64, false, site);
        deliver(to, from, size, site);
        to
    }
    fn __tsan_memmove(to: *mut c_void, from: *const c_void, size: usize; site) -> *mut c_void {
        access(from as u64, size as u64, false, site);
        deliver(to, from, size, site);
        to
    }
    fn __tsan_memset(to: *mut c_void, value: c_int, size: usize; site) -> *mut c_void {
        access(to as u64, size as u64, true, site);
        core::ptr::write_bytes(to as *mut u8, value as u8, size);
        to
    }

    fn __tsan_init(; _site) { super::instrumented() }
    fn __tsan_func_entry(_caller: u64; site) { crate::parts::enter(site) }
    fn __tsan_func_exit(; _site) {
        crate::parts::leave();
        super::recycle::confirm()
    }
}

/// Calls that need no action: annotations for the sanitizer's own detector.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[cfg_attr(embedded, unsafe(no_mangle))]
        extern "C" fn $name() {}
    )* };
}

nothing! {
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    __tsan_acquire __tsan_release
    __tsan_flush_memory
    __tsan_mutex_create __tsan_mutex_destroy
    __tsan_mutex_pre_lock __tsan_mutex_post_lock
    __tsan_mutex_pre_signal __tsan_mutex_post_signal
    __tsan_mutex_pre_divert __tsan_mutex_post_divert
    __tsan_switch_to_fiber __tsan_destroy_fiber __tsan_set_fiber_name
    AnnotateBenignRace AnnotateBenignRaceSized AnnotateEnableRaceDetection AnnotateExpectRace
    AnnotateFlushExpectedRaces AnnotateFlushState AnnotateHappensAfter AnnotateHappensBefore
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd
    AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd AnnotateMemoryIsInitialized
    AnnotateMemoryIsUninitialized AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar AnnotateNewMemory
    AnnotateNoOp AnnotatePCQCreate AnnotatePCQDestroy AnnotatePCQGet AnnotatePCQPut
    AnnotatePublishMemoryRange AnnotateRWLockAcquired AnnotateRWLockCreate AnnotateRWLockCreateStatic
    AnnotateRWLockDestroy AnnotateRWLockReleased AnnotateThreadName AnnotateTraceMemory
    AnnotateUnpublishMemoryRange AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait
    WTFAnnotateBenignRaceSized WTFAnnotateHappensAfter WTFAnnotateHappensBefore
}

/// Fibers that the program itself switches are not controlled.
#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_create_fiber() -> usize {
    0
}

#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_get_current_fiber() -> usize {
    0
}

#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn RunningOnValgrind() -> c_int {
    0
}

/// How often the sanitizer counts the lock as held.
#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_mutex_pre_unlock() -> c_int {
    0
}

#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_mutex_post_unlock() {}
