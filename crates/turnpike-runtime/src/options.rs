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
    /// What a panic in a thread means.
    pub panics: Panics,
    /// Whether the main function's return ends the other threads, as it does in a process.
    /// Otherwise, the default, an execution goes on until all threads end.
    pub exit_with_main: bool,
    /// Whether panics are printed as usual: for replaying.
    pub show_panics: bool,
    /// Whether changes of a count of references are steps: for programs that look at it. See
    /// [`crate::Guest::counts_matter`].
    pub counts: bool,
    /// Whether accesses of cells are judged, and references order what they protect: for programs that
    /// use them. See [`crate::Guest::uses_cells`].
    pub races: bool,
    /// Whether panics are recorded with a backtrace: slow.
    pub backtraces: bool,
    /// Where the check was called, and the file whose panics are shown there instead: turnpike's own,
    /// for a test that returns an error.
    pub caller: Option<(&'static Location<'static>, &'static str)>,
    /// Notices executions that block outside control.
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
            races: false,
            backtraces: false,
            caller: None,
            watch: None,
        }
    }
}

/// What a panic that leaves a thread's function means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panics {
    /// The program is wrong.
    #[default]
    Fail,
    /// As in the standard library: joining the thread returns the panic. Only panics of the main
    /// function are failures.
    Join,
}
