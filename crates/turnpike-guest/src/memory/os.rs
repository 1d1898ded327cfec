//! What the heap asks of the operating system.

use crate::sys;

#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const PROTECT: i64 = 10;
    pub(super) const ADVISE: i64 = 28;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const PROTECT: i64 = 226;
    pub(super) const ADVISE: i64 = 233;
}

/// Addresses for `size` bytes of zeros, at `wanted` if that is free; 0 on failure. Untouched pages
/// cost nothing.
pub(super) fn reserve(wanted: usize, size: usize) -> usize {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;
    const NO_REPLACE: usize = 0x10_0000;
    const NO_HUGE_PAGES: usize = 15;
    let map = |address: usize, flags: usize| {
        let flags = PRIVATE_ANONYMOUS_NORESERVE | flags;
        let answer = sys::syscall(sys::number::MMAP, address, size, READ_WRITE, flags, usize::MAX, 0);
        if answer < 0 && answer > -4096 { 0 } else { answer as usize }
    };
    let mut address = map(wanted, NO_REPLACE);
    if address == 0 {
        address = map(0, 0);
    }
    if address != 0 {
        // A small program would pay for zeroing megabytes.
        sys::syscall(number::ADVISE, address, size, NO_HUGE_PAGES, 0, 0, 0);
    }
    address
}

/// Returns the memory of pages to the system; they are zero afterwards.
pub(super) fn discard(address: usize, size: usize) {
    const DONT_NEED: usize = 4;
    sys::note_change();
    sys::syscall(number::ADVISE, address, size, DONT_NEED, 0, 0, 0);
}

/// Makes pages accessible or not.
pub(super) fn protect(address: usize, size: usize, accessible: bool) {
    let rights = if accessible { 3 } else { 0 };
    sys::note_change();
    sys::syscall(number::PROTECT, address, size, rights, 0, 0, 0);
}
