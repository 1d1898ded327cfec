//! The call stack of the running code, as code addresses.
//!
//! Walking does not allocate, so a signal handler may do it. Addresses are resolved later, outside
//! the execution.
#![allow(unsafe_code)]

/// Limit on recorded frames, innermost first.
pub(crate) const DEEPEST: usize = 128;

/// Calls `visit` for each frame on this stack up to the address `high`, innermost first, until it
/// returns false. An address is the return address; if `interrupted`, a signal interrupted the
/// frame, and the address is that of the interrupted instruction plus one.
#[cfg(target_os = "linux")]
pub(crate) fn walk(high: usize, mut visit: impl FnMut(usize, bool) -> bool) {
    use std::ffi::{c_int, c_void};

    const CONTINUE: c_int = 0;
    const END: c_int = 5;

    // The unwinder that the standard library uses for panics.
    unsafe extern "C-unwind" {
        fn _Unwind_Backtrace(
            trace: extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int,
            argument: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
        fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    }

    extern "C-unwind" fn frame<F: FnMut(usize, bool, usize) -> bool>(
        context: *mut c_void,
        argument: *mut c_void,
    ) -> c_int {
        let mut before = 0;
        // SAFETY: the unwinder's own context.
        let (address, stack) = unsafe { (_Unwind_GetIPInfo(context, &mut before), _Unwind_GetCFA(context)) };
        // SAFETY: `walk` passes its closure, which outlives the walk and is not used meanwhile.
        let visit = unsafe { &mut *argument.cast::<F>() };
        let interrupted = before != 0;
        // Beyond the outermost function.
        if address == 0 {
            return END;
        }
        let behind = address.wrapping_add(usize::from(interrupted));
        if visit(behind, interrupted, stack) { CONTINUE } else { END }
    }

    fn trampoline<F: FnMut(usize, bool, usize) -> bool>(
        _: &F,
    ) -> extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int {
        frame::<F>
    }

    // The frame of this function starts somewhat below its variables.
    const BELOW: usize = 64 << 10;
    let low = (&raw const high).addr().saturating_sub(BELOW);
    // The first function of a coroutine is called from another stack.
    let mut visit =
        |address, interrupted, stack| (low..=high).contains(&stack) && visit(address, interrupted);
    let trace = trampoline(&visit);
    // SAFETY: `trace` takes what it is given here, and does not keep it.
    unsafe { _Unwind_Backtrace(trace, (&raw mut visit).cast()) };
}

/// On other platforms stacks are not walked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn walk(_high: usize, _visit: impl FnMut(usize, bool) -> bool) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[inline(never)]
    fn depth(calls: u32) -> usize {
        if calls > 0 {
            return std::hint::black_box(depth(calls - 1) + usize::from(calls > 1_000));
        }
        let mut frames = 0;
        walk(usize::MAX, |address, interrupted| {
            assert!(address != 0 && !interrupted);
            frames += 1;
            true
        });
        frames
    }

    #[test]
    fn every_call_is_a_frame() {
        let few = depth(3);
        assert_eq!(depth(13), few + 10);
    }
}
