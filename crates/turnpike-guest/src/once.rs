//! One-time initialisation.
//!
//! An initialiser that leaves by an exception is abandoned. Nothing here catches exceptions. But a
//! thread has left an initialisation if its stack pointer is not below the call, which is noticed
//! at its next operation.

use alloc::vec::Vec;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::global::Global;
use crate::hook::hook;
use crate::{control, cxx, objects, sites, state};

/// Flags of libraries that were initialised without a step, and those that took one.
static QUIET: Global<(Vec<usize>, Vec<usize>)> = Global::new((Vec::new(), Vec::new()));

/// Initialises without a step what the unwinder needs while a thread ends, because no program can
/// observe that. True if nothing is left to do.
///
/// # Safety
/// As for [`run`].
unsafe fn initialise_quietly(flag: usize, function: unsafe extern "C" fn(), site: Site) -> bool {
    if sites::in_program(site.0 as usize) {
        return false;
    }
    let unwinding = cxx::is_unwinding(site.0 as usize);
    let (done, first) = QUIET.with(|(quiet, loud)| {
        let done = quiet.contains(&flag);
        let first = !done && unwinding && !loud.contains(&flag);
        if first {
            quiet.push(flag);
        } else if !done && !loud.contains(&flag) {
            loud.push(flag);
        }
        (done, first)
    });
    if first {
        // SAFETY: promised by the caller.
        unsafe { function() };
    }
    done || first
}

/// Whether some thread began an initialisation.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// # Safety
/// `flag` is a `pthread_once_t` and `function` can be called.
#[inline(never)]
pub(crate) unsafe fn run(flag: *mut u32, function: unsafe extern "C" fn(), site: Site) {
    // SAFETY: promised by the caller.
    if unsafe { initialise_quietly(flag as usize, function, site) } {
        return;
    }
    // SAFETY: four bytes.
    let id = unsafe { objects::of_small(flag, site, || Object::Once) };
    let frame = control::frame();
    let site = sites::user(site);
    if !control::simple(Kind::OnceBegin, id, site).ok {
        return;
    }
    ENTERED.store(true, Ordering::Relaxed);
    control::thread(|thread| thread.onces.push((id, frame)));
    // SAFETY: the program's function.
    unsafe { function() };
    control::thread(|thread| thread.onces.pop());
    control::enter(site.0, frame);
    finish(id, true, site);
}

/// Ends an initialisation, which is complete or abandoned.
pub(crate) fn finish(id: ObjectId, complete: bool, site: Site) {
    control::step(Operation { argument: complete.into(), ..Operation::new(Kind::OnceEnd, id, site) });
}

/// Before an access to memory: abandons an initialisation that the running thread has left, because
/// others may begin it anew before this access.
#[inline]
pub(crate) fn before_access(site: Site) {
    if ENTERED.load(Ordering::Relaxed) && control::thread(|thread| !thread.onces.is_empty()) {
        let frame = state::caller();
        if frame != 0 {
            control::enter(site.0, frame);
            if forget_unwound() {
                state::forget();
            }
        }
    }
}

/// Abandons initialisations that the running thread has left by an exception. Returns whether there
/// were any.
pub(crate) fn forget_unwound() -> bool {
    let mut any = false;
    while let Some((id, frame)) = control::thread(|thread| thread.onces.last().copied()) {
        if control::frame() < frame {
            break;
        }
        control::thread(|thread| thread.onces.pop());
        finish(id, false, Site::default());
        any = true;
    }
    any
}

/// Abandons all initialisations of the running thread, which ends.
pub(crate) fn forget_all() {
    while let Some((id, _)) = control::thread(|thread| thread.onces.pop()) {
        finish(id, false, Site::default());
    }
}

hook! {
    fn pthread_once(flag: *mut u32, function: unsafe extern "C" fn(); site) -> c_int {
        run(flag, function, site);
        0
    }
    fn call_once(flag: *mut u32, function: unsafe extern "C" fn(); site) {
        run(flag, function, site);
    }
}
