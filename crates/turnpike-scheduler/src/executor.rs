//! The interface between a search and a program.

use alloc::string::String;
use alloc::vec::Vec;

use crate::execution::Execution;
use crate::frame::Frame;
use crate::operation::Site;
use crate::plan::Plan;

/// A program that can be executed repeatedly under control. Equal plans yield equal executions.
pub trait Executor: Send {
    /// Executes the program once. Failures of the program are recorded as the end of the execution;
    /// an error means that it could not be executed.
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError>;

    /// The source position for display: `src/bank.rs:31`.
    fn site(&mut self, site: Site) -> String;

    /// The functions at an address of a [`crate::ThreadStack`], inlined ones first; `None` if the
    /// address is one of this process.
    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        let _ = address;
        None
    }

    /// What no execution shows because some code cannot be instrumented; empty if everything is
    /// covered.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether some atomic operation so far requested an order weaker than sequential consistency.
    fn asks_for_weaker_orders(&self) -> bool {
        false
    }
}

/// The program could not be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestError {
    /// The kind of error.
    pub kind: GuestErrorKind,
    /// The reason, for the user.
    pub message: String,
}

/// Why a program could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestErrorKind {
    /// It cannot be started or controlled.
    Unavailable,
    /// It behaves differently when executed in the same way.
    Nondeterministic,
}

impl GuestError {
    /// The program cannot be started or controlled.
    pub fn new(message: impl Into<String>) -> Self {
        GuestError { kind: GuestErrorKind::Unavailable, message: message.into() }
    }

    /// The program behaves differently when executed in the same way.
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
