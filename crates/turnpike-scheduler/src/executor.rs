//! What a search needs of a program.

use alloc::string::String;
use alloc::vec::Vec;

use crate::execution::Execution;
use crate::frame::Frame;
use crate::operation::Site;
use crate::plan::Plan;

/// A program that can be executed under control, again and again. Same plan, same execution.
pub trait Executor: Send {
    /// Executes the program once. Failures of the program are ends of the execution; an error means
    /// that it could not be executed at all.
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError>;

    /// Source position for the user: `src/bank.rs:31`.
    fn site(&mut self, site: Site) -> String;

    /// The functions at an address of [`crate::ThreadStack`], inlined ones first; `None` if it is an
    /// address of this process.
    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        let _ = address;
        None
    }

    /// What no execution shows, because the program has code that cannot be looked into; empty when
    /// everything is seen.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether an atomic operation so far asked for a weaker order than sequential consistency.
    fn asks_for_weaker_orders(&self) -> bool {
        false
    }
}

/// The program could not be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestError {
    /// What kind of trouble.
    pub kind: GuestErrorKind,
    /// Why, for the user.
    pub message: String,
}

/// Why a program could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestErrorKind {
    /// It cannot be started, or not be controlled.
    Unavailable,
    /// It does something else when it is executed in the same way.
    Nondeterministic,
}

impl GuestError {
    /// The program cannot be started, or not be controlled.
    pub fn new(message: impl Into<String>) -> Self {
        GuestError { kind: GuestErrorKind::Unavailable, message: message.into() }
    }

    /// The program does something else when it is executed in the same way.
    pub fn nondeterministic(message: impl Into<String>) -> Self {
        GuestError { kind: GuestErrorKind::Nondeterministic, message: message.into() }
    }
}

impl core::fmt::Display for GuestError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.kind == GuestErrorKind::Nondeterministic {
            f.write_str("the program is not deterministic: ")?;
        }
        f.write_str(&self.message)
    }
}

impl core::error::Error for GuestError {}
