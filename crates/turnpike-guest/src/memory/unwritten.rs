//! Reads of what no thread has written, on the stacks of other threads.
//!
//! Under weak memory that is an error by itself: a thread may see where a variable is before it sees
//! what is in it. The uppermost part of a new thread's stack is filled with a number that no program is
//! likely to write. Who finds it there in a variable of another thread reads what was never written. A thread that reads
//! its own variables is a matter for the compiler's warnings, and copies of larger objects may have gaps.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::Site;

use super::{heap, is_instrumented, is_weak, report};
use crate::control;

const NUMBER: u64 = 0x9b1d_f2a6_c35e_7b49;
/// Words that are filled.
const WORDS: usize = 256;

/// Whether any stack was filled in this execution.
static FILLED: AtomicBool = AtomicBool::new(false);

/// Whether such reads are looked for.
pub(crate) fn looks_for_unwritten() -> bool {
    is_instrumented() && is_weak()
}

/// Fills the stack below the caller's frame, which must call the thread's function next.
#[inline(never)]
pub(crate) fn mark_unwritten() {
    FILLED.store(true, Ordering::Relaxed);
    let mut words = [const { MaybeUninit::<u64>::uninit() }; WORDS];
    for word in &mut words {
        // SAFETY: a word of this frame.
        unsafe { core::ptr::write_volatile(word.as_mut_ptr(), NUMBER) };
    }
    core::hint::black_box(&words);
}

/// The running thread reads a variable that is not on the heap.
#[inline]
pub(super) fn check(address: u64, size: u64, site: Site) {
    if matches!(size, 4 | 8) && FILLED.load(Ordering::Relaxed) {
        look(address, size, site);
    }
}

fn look(address: u64, size: u64, site: Site) {
    let place = address as usize;
    let owner = control::threads(|threads| {
        let own = |thread: &control::Thread| thread.extent.0 <= place && place < thread.extent.1;
        threads.iter().rposition(own)
    });
    let me = control::me().0;
    let Some(owner) = owner.map(|owner| owner as u32).filter(|owner| *owner != me) else { return };
    // SAFETY: the program is about to read it; the stack of a thread that has not ended.
    let unwritten = unsafe {
        match size {
            8 => core::ptr::read_unaligned(place as *const u64) == NUMBER,
            _ => core::ptr::read_unaligned(place as *const u32) == (NUMBER >> (8 * (place & 4))) as u32,
        }
    };
    if unwritten {
        heap::fail(&report::unwritten(owner, size), site);
    }
}
