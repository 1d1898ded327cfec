//! One-time initialisation.
//!
//! An initialiser that leaves by an exception is abandoned. Nothing here catches exceptions; but a
//! thread whose stack pointer is not below the call of an initialisation that it is in has left it,
//! which is noticed at its next operation.

use core::ffi::c_int;

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::hook::hook;
use crate::{control, objects, sites};

/// # Safety
/// `flag` is a `pthread_once_t` and `function` can be called.
#[inline(never)]
pub(crate) unsafe fn run(flag: *mut u32, function: unsafe extern "C" fn(), site: Site) {
    // SAFETY: four bytes.
    let id = unsafe { objects::of_small(flag, site, || Object::Once) };
    let frame = control::frame();
    let site = sites::user(site);
    if !control::simple(Kind::OnceBegin, id, site).ok {
        return;
    }
    control::thread(|thread| thread.onces.push((id, frame)));
    // SAFETY: the program's function.
    unsafe { function() };
    control::thread(|thread| thread.onces.pop());
    control::enter(site.0, frame);
    finish(id, true, site);
}

/// Initialisation is complete, or abandoned.
pub(crate) fn finish(id: ObjectId, complete: bool, site: Site) {
    control::step(Operation { argument: complete.into(), ..Operation::new(Kind::OnceEnd, id, site) });
}

/// Abandons initialisations that the running thread has left by an exception.
pub(crate) fn forget_unwound() {
    while let Some((id, frame)) = control::thread(|thread| thread.onces.last().copied()) {
        if control::frame() < frame {
            return;
        }
        control::thread(|thread| thread.onces.pop());
        finish(id, false, Site::default());
    }
}

/// The running thread ends: it has left all of them.
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
