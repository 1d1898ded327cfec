//! The part of an execution in which threads are scheduled, where that is not all of it: calls of
//! one function, or what lies between `tp_begin` and `tp_end`.
//!
//! Instrumented code reports when it enters and leaves a function. Which function it leaves cannot
//! be seen from the call, which may be the last jump of the function. So a thread that entered the
//! function counts the functions that it enters from there on, until it has left as many.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use turnpike_scheduler::Site;

use crate::control;
use crate::global::Global;

/// Where the function begins and ends; 0 = there is none.
static FIRST: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// By thread: how many functions it is in, from the first call of the function on.
static DEPTHS: Global<Vec<u32>> = Global::new(Vec::new());

/// Learns from the host which function it is, of the program that was loaded at `base`.
pub(crate) fn learn(base: usize) {
    let [first, end] = control::header().around;
    if first != 0 {
        FIRST.store(base.wrapping_add(first as usize), Ordering::Relaxed);
        END.store(base.wrapping_add(end as usize), Ordering::Relaxed);
    }
}

/// Notes that the running thread entered the function that calls from `site`.
#[inline]
pub(crate) fn enter(site: Site) {
    let first = FIRST.load(Ordering::Relaxed);
    if first != 0 {
        let called = (first..=END.load(Ordering::Relaxed)).contains(&(site.0 as usize));
        change(|depth| match *depth {
            0 if !called => false,
            _ => {
                *depth += 1;
                *depth == 1
            }
        });
    }
}

/// Notes that the running thread leaves a function.
#[inline]
pub(crate) fn leave() {
    if FIRST.load(Ordering::Relaxed) != 0 {
        change(|depth| {
            let last = *depth == 1;
            *depth = depth.saturating_sub(1);
            last
        });
    }
}

/// Changes the running thread's depth. If `work` returns true, a part begins or ends with that.
fn change(work: impl FnOnce(&mut u32) -> bool) {
    let current = control::kernel(|kernel| kernel.current().0) as usize;
    let (turns, open) = DEPTHS.with(|depths| {
        if depths.len() <= current {
            depths.resize(current + 1, 0);
        }
        let turns = work(&mut depths[current]);
        (turns, depths[current] > 0)
    });
    if turns {
        control::kernel(|kernel| if open { kernel.open_part() } else { kernel.close_part() });
    }
}

/// Begins or ends a part at a mark in the source, unless the part is a function.
pub(crate) fn mark(begins: bool) {
    if FIRST.load(Ordering::Relaxed) == 0 {
        control::kernel(|kernel| if begins { kernel.open_part() } else { kernel.close_part() });
    }
}
