//! Streams and sorting: functions of the C library that fill, write out or sort memory.
//!
//! Which thread gets which part of a file depends on which one reads first, so reading is a step
//! when there are several threads.

use core::ffi::{c_char, c_int, c_void};

use super::call::export;
use super::library_calls::{ALL, as_a_whole, reads, reads_text, reports_accesses, tell, writes};
use crate::hook::real;
use crate::{blocking, control, shared};

/// Compares two elements; the last argument is the caller's.
type Compare = unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> c_int;

export! {
    fn fread(to: *mut c_void, size: usize, count: usize, stream: *mut c_void; site) -> usize {
        if control::active() {
            blocking::reads_stream(site);
            super::used(stream as usize, site);
        }
        if reports_accesses() {
            writes(to, size.saturating_mul(count), site);
        }
        real!(fread: fn(*mut c_void, usize, usize, *mut c_void) -> usize)(to, size, count, stream)
    }
    fn fgets(to: *mut c_char, size: c_int, stream: *mut c_void; site) -> *mut c_char {
        if control::active() {
            blocking::reads_stream(site);
            super::used(stream as usize, site);
        }
        if reports_accesses() {
            writes(to as *const c_void, size.max(0) as usize, site);
        }
        real!(fgets: fn(*mut c_char, c_int, *mut c_void) -> *mut c_char)(to, size, stream)
    }
    fn qsort(array: *mut c_void, count: usize, size: usize, compare: *const c_void; site) -> () {
        let sort = real!(qsort: fn(*mut c_void, usize, usize, *const c_void));
        sorted(array, count.saturating_mul(size), site, || sort(array, count, size, compare))
    }
    fn qsort_r(array: *mut c_void, count: usize, size: usize, compare: Compare, own: *mut c_void; site) -> () {
        let sort = real!(qsort_r: fn(*mut c_void, usize, usize, Compare, *mut c_void));
        sorted(array, count.saturating_mul(size), site, || sort(array, count, size, compare, own))
    }
}

/// Sorts. Elements are moved before, between and after calls of the program's own function, so the
/// array counts as accessed at the beginning and at the end.
fn sorted(array: *mut c_void, size: usize, site: turnpike_scheduler::Site, sort: impl FnOnce()) {
    let reported = reports_accesses();
    if reported {
        as_a_whole("qsort", array, size, true, site);
    }
    sort();
    if reported {
        as_a_whole("qsort", array, size, true, site);
    }
}

tell! {
    fn fwrite(from: *const c_void, size: usize, count: usize, stream: *mut c_void; site) -> usize {
        shared::stream(stream, site);
        reads(from, size.saturating_mul(count), site);
    }
    fn fputs(text: *const c_char, stream: *mut c_void; site) -> c_int {
        shared::stream(stream, site);
        reads_text(text, ALL, site);
    }
    fn puts(text: *const c_char; site) -> c_int { reads_text(text, ALL, site); }
}
