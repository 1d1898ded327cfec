//! What a search needs of a program.

use alloc::string::String;
use alloc::vec::Vec;

use crate::execution::Execution;
use crate::operation::Site;
use crate::plan::Plan;

/// A program that can be executed under control, again and again. Same plan, same execution.
pub trait Executor: Send {
    /// Executes the program once. Failures of the program are ends of the execution; an error means that it could not be
    /// executed at all.
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError>;

    /// Source position for the user: `src/bank.rs:31`.
    fn site(&mut self, site: Site) -> String;

    /// What no execution shows, because the program has code that cannot be looked into; empty when everything is seen.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The program could not be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestError {
    /// Why, for the user.
    pub message: String,
}

impl core::fmt::Display for GuestError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for GuestError {}
