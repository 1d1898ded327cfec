//! Lets the kernel ask a pending compare-and-exchange whether it will succeed: by a function
//! pointer and an address.
#![allow(unsafe_code)]

/// Calls `f` with a number, and a function that evaluates `question` when called with that number.
/// Both are valid only until `f` returns or unwinds; the kernel calls the function right before the
/// step at the latest, and drops the operation with the step.
pub(super) fn with<Q: Fn() -> bool, R>(question: &Q, f: impl FnOnce(u64, fn(u64) -> bool) -> R) -> R {
    f(std::ptr::from_ref(question).expose_provenance() as u64, ask::<Q>)
}

fn ask<Q: Fn() -> bool>(argument: u64) -> bool {
    let address = std::ptr::with_exposed_provenance::<Q>(argument as usize);
    // SAFETY: `with` made the number of a `Q` that lives on the stack of the thread whose operation
    // is pending: the thread is suspended below that frame as long as the operation is pending.
    // Deferred operations have no question.
    let question = unsafe { &*address };
    question()
}
