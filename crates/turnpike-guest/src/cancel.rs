//! Deferred cancellation of threads: a request takes effect where the thread waits, or is about to.
//!
//! A thread that is already waiting stops as if its time limit had passed, which by default happens
//! only when no other thread can run. So not every moment at which a request could arrive is tried,
//! and the report says so.

use core::ffi::c_int;

use turnpike_scheduler::{Operation, Outcome, Site};

use crate::hook::hook;
use crate::sys::{EINVAL, ESRCH};
use crate::{blocking, control, cxx, sites, threads};

/// What a cancelled thread returns.
const CANCELED: usize = usize::MAX;

/// Ends the running thread if it was cancelled and allows that.
pub(crate) fn point() {
    let ends = control::thread(|thread| {
        let ends = thread.cancelled && !thread.keeps_on;
        // Clean-up handlers may wait without being cancelled again.
        thread.keeps_on |= ends;
        ends
    });
    if ends {
        cxx::unwind_and_end(CANCELED)
    }
}

/// An operation in which the thread may be cancelled while it waits.
pub(crate) fn step(operation: Operation) -> Outcome {
    point();
    control::thread(|thread| thread.cancellable = true);
    let outcome = control::step(operation);
    control::thread(|thread| thread.cancellable = false);
    outcome
}

fn cancel(handle: usize, site: Site) -> c_int {
    let Some(id) = threads::by_handle(handle) else { return ESRCH };
    let (ended, waits) = control::thread_of(id, |thread| {
        thread.cancelled |= !thread.ended;
        (thread.ended, thread.cancellable && !thread.keeps_on)
    });
    if ended {
        return 0;
    }
    control::uncontrolled("the moment at which pthread_cancel takes effect");
    if id == control::me() {
        return 0;
    }
    if waits {
        control::kernel(|kernel| kernel.interrupt(id));
        blocking::look_again(sites::user(site));
    }
    0
}

hook! {
    fn pthread_cancel(handle: usize; site) -> c_int { cancel(handle, site) }
    fn pthread_testcancel(; site) { point() }
    fn pthread_setcancelstate(state: c_int, old: *mut c_int; site) -> c_int {
        if !matches!(state, 0 | 1) {
            return EINVAL;
        }
        let before = control::thread(|thread| core::mem::replace(&mut thread.keeps_on, state == 1));
        crate::memory::put(old, before.into(), site);
        0
    }
}
