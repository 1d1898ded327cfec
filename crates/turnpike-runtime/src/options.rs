//! How Rust programs are executed.

use std::panic::Location;

use crate::fiber::DEFAULT_STACK;
use crate::watchdog::Watch;

/// How a Rust program is executed. Options of the search (steps, timeouts, …) are in the
/// scheduler's plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GuestOptions {
    /// Bytes of stack for each thread; 256 KiB by default. Only touched pages take memory.
    pub stack_size: usize,
    /// How a panic in a thread is treated.
    pub panics: Panics,
    /// Whether the return of the main function ends the other threads, as it does in a process. By
    /// default an execution continues until all threads have ended.
    pub exit_with_main: bool,
    /// Whether panics are printed as usual; for replays.
    pub show_panics: bool,
    /// Whether changes of reference counts are steps; for programs that depend on them. See
    /// [`crate::Guest::counts_matter`].
    pub counts: bool,
    /// Whether a thread's end is a step of its own: for programs that ask whether threads have
    /// ended. See [`crate::Guest::ends_matter`].
    pub ends: bool,
    /// Whether accesses of cells are checked for races, and reference counts order what they
    /// protect; for programs that use cells. See [`crate::Guest::uses_cells`].
    pub races: bool,
    /// Whether panics are recorded with a backtrace, which is slow.
    pub backtraces: bool,
    /// The position of the check's call, and a source file whose panics are reported there instead:
    /// turnpike's own, for a test that returns an error.
    pub caller: Option<(&'static Location<'static>, &'static str)>,
    /// Detects executions that block outside control.
    pub watch: Option<Watch>,
}

impl Default for GuestOptions {
    fn default() -> Self {
        GuestOptions {
            stack_size: DEFAULT_STACK,
            panics: Panics::Fail,
            exit_with_main: false,
            show_panics: false,
            counts: false,
            ends: false,
            races: false,
            backtraces: false,
            caller: None,
            watch: None,
        }
    }
}

/// How a panic that leaves a thread's function is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panics {
    /// As a failure of the program.
    #[default]
    Fail,
    /// As in the standard library: joining the thread returns the panic. Only panics of the main
    /// function are failures.
    Join,
}
