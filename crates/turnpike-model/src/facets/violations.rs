//! Errors that a state shows by itself: a broken invariant, a failed assertion, a crash.

/// Returns the error that a state shows.
///
/// **Contract.** The error depends on the state alone, and its kind is one of
/// [`ModelInfo::violations`](crate::ModelInfo::violations). With
/// [`Capabilities::violations_on_expansion`](crate::Capabilities::violations_on_expansion) it is
/// requested only after some explorer of the model has expanded the state.
pub trait Violations {
    /// The error that `state` shows, if any.
    fn violation(&mut self, state: &[u32]) -> Option<Violation>;
}

/// The kind of an error that a state shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A failed assertion or a broken invariant.
    Assertion,
    /// A Rust panic.
    Panic,
    /// An abort or a fatal signal.
    Crash,
    /// Use after free, double free.
    Heap,
    /// A data race.
    Race,
    /// A leaked thread.
    Leak,
    /// All threads spin on values that no thread will change.
    Livelock,
    /// A thread of a program does nothing visible for too long.
    Hang,
}

impl ViolationKind {
    /// All kinds.
    pub const ALL: &'static [ViolationKind] = &[
        ViolationKind::Assertion,
        ViolationKind::Panic,
        ViolationKind::Crash,
        ViolationKind::Heap,
        ViolationKind::Race,
        ViolationKind::Leak,
        ViolationKind::Livelock,
        ViolationKind::Hang,
    ];

    /// The word used in `--find`.
    pub fn keyword(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "assertion",
            ViolationKind::Panic => "panic",
            ViolationKind::Crash => "crash",
            ViolationKind::Heap => "heap",
            ViolationKind::Race => "race",
            ViolationKind::Leak => "leak",
            ViolationKind::Livelock => "livelock",
            ViolationKind::Hang => "hang",
        }
    }
}

/// An error that a state shows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kind of error.
    pub kind: ViolationKind,
    /// The message for the user.
    pub message: String,
}
