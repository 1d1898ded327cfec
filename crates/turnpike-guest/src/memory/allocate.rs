//! `malloc` and its family.

use core::ffi::{c_char, c_int, c_void};

use super::call::export;
use super::heap;
use crate::sys;
use turnpike_scheduler::Site;

const ENOMEM: c_int = 12;

fn block(size: usize, align: usize, site: Site) -> *mut c_void {
    let address = heap::allocate(size as u64, align as u64, site);
    if address == 0 {
        sys::fail_with(ENOMEM);
    }
    address as *mut c_void
}

/// A new block with the contents of the old one, which is freed.
unsafe fn resize(old: *mut c_void, size: usize, site: Site) -> *mut c_void {
    if old.is_null() {
        return block(size, 16, site);
    }
    if size == 0 {
        heap::free(old as u64, site);
        return core::ptr::null_mut();
    }
    heap::announce_free(old as u64, site);
    let Some(before) = heap::size_of(old as u64) else {
        // Not a live block: freeing it reports what is wrong.
        heap::take_back(old as u64, site);
        return core::ptr::null_mut();
    };
    let new = block(size, 16, site);
    if !new.is_null() {
        // SAFETY: both blocks are at least that long.
        unsafe {
            core::ptr::copy_nonoverlapping(old as *const u8, new as *mut u8, size.min(before as usize))
        };
        heap::take_back(old as u64, site);
    }
    new
}

/// A copy of the first `length` bytes of a text.
unsafe fn copy_text(text: *const c_char, length: usize, site: Site) -> *mut c_char {
    let new = block(length + 1, 16, site) as *mut u8;
    if !new.is_null() {
        // SAFETY: the block has one byte more; blocks are zero.
        unsafe { core::ptr::copy_nonoverlapping(text as *const u8, new, length) };
    }
    new as *mut c_char
}

export! {
    fn malloc(size: usize; site) -> *mut c_void { block(size, 16, site) }
    fn calloc(count: usize, size: usize; site) -> *mut c_void {
        match count.checked_mul(size) {
            Some(bytes) => block(bytes, 16, site),
            None => block(usize::MAX, 16, site),
        }
    }
    fn realloc(old: *mut c_void, size: usize; site) -> *mut c_void { resize(old, size, site) }
    fn reallocarray(old: *mut c_void, count: usize, size: usize; site) -> *mut c_void {
        match count.checked_mul(size) {
            Some(bytes) => resize(old, bytes, site),
            None => block(usize::MAX, 16, site),
        }
    }
    fn free(address: *mut c_void; site) { heap::free(address as u64, site) }
    fn cfree(address: *mut c_void; site) { heap::free(address as u64, site) }
    fn aligned_alloc(align: usize, size: usize; site) -> *mut c_void { block(size, align.next_power_of_two(), site) }
    fn memalign(align: usize, size: usize; site) -> *mut c_void { block(size, align.next_power_of_two(), site) }
    fn valloc(size: usize; site) -> *mut c_void { block(size, 4096, site) }
    fn pvalloc(size: usize; site) -> *mut c_void { block(size.next_multiple_of(4096), 4096, site) }
    fn posix_memalign(into: *mut *mut c_void, align: usize, size: usize; site) -> c_int {
        if !align.is_power_of_two() || align < 8 {
            return sys::EINVAL;
        }
        let new = heap::allocate(size as u64, align as u64, site);
        if new == 0 {
            return ENOMEM;
        }
        super::put(into, new as *mut c_void, site);
        0
    }
    fn malloc_usable_size(address: *mut c_void; _site) -> usize {
        heap::size_of(address as u64).unwrap_or(0) as usize
    }
    fn strdup(text: *const c_char; site) -> *mut c_char {
        super::tell_bytes(text as *const c_void, sys::strlen(text) + 1, false, site);
        copy_text(text, sys::strlen(text), site)
    }
    fn strndup(text: *const c_char, most: usize; site) -> *mut c_char {
        let mut length = 0;
        while length < most && *text.add(length) != 0 {
            length += 1;
        }
        super::tell_bytes(text as *const c_void, (length + 1).min(most), false, site);
        copy_text(text, length, site)
    }
}
