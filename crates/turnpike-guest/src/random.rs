//! Random numbers of the system: each thread has its own, fixed ones, so that what a thread does
//! depends on nothing but the order of its synchronisation with others. The generators of the C
//! library, which a program can seed and whose sequence threads share, are in `shared`.

use core::ffi::{c_int, c_void};

use crate::control;
use crate::hook::hook;
use crate::memory::tell_bytes;

/// A mixing function of 64 bits.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn next() -> u64 {
    mix(control::thread(|thread| {
        thread.random = thread.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        thread.random
    }))
}

/// Notes that the running thread draws a number elsewhere: its own state changes, too.
pub(crate) fn note_draw() {
    next();
}

/// # Safety
/// `buffer` has room for `length` bytes.
pub(crate) unsafe fn fill(buffer: *mut u8, length: usize) {
    for index in 0..length {
        // SAFETY: the caller's buffer.
        unsafe { *buffer.add(index) = (next() >> 32) as u8 };
    }
}

hook! {
    fn arc4random(; site) -> u32 { (next() >> 32) as u32 }
    fn arc4random_uniform(bound: u32; site) -> u32 {
        if bound == 0 { 0 } else { ((next() >> 32) % u64::from(bound)) as u32 }
    }
    fn arc4random_buf(buffer: *mut u8, length: usize; site) {
        tell_bytes(buffer as *const c_void, length, true, site);
        fill(buffer, length)
    }
    fn getrandom(buffer: *mut u8, length: usize, _flags: u32; site) -> isize {
        tell_bytes(buffer as *const c_void, length, true, site);
        fill(buffer, length);
        length as isize
    }
    fn getentropy(buffer: *mut c_void, length: usize; site) -> c_int {
        tell_bytes(buffer, length, true, site);
        fill(buffer as *mut u8, length);
        0
    }
}
