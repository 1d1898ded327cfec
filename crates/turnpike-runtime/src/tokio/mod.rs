//! Replacements for tokio's synchronisation of tasks, under control of the scheduler: the names and
//! signatures of `tokio::{sync, task, time}`.
//!
//! The types need no executor: they also work outside checks, with tokio's runtime or any other.
//! They guarantee what tokio documents: queues are fair, permits are not lost when a future is
//! dropped, messages that were sent are received.

pub mod runtime;
pub mod sync;
pub mod task;
pub mod time;

pub use task::spawn;

use std::sync::atomic::{AtomicUsize, Ordering};

/// The branch that `select!` polls first, of those that are not `disabled`: a check tries each of
/// them.
#[doc(hidden)]
#[track_caller]
pub fn first_branch(count: usize, disabled: u64) -> usize {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let enabled = || (0..count).filter(|branch| disabled >> branch & 1 == 0);
    let number = enabled().count();
    let choice = match number {
        0 | 1 => 0,
        _ if crate::is_checking() => crate::choose(number),
        _ => TURN.fetch_add(1, Ordering::Relaxed) % number,
    };
    enabled().nth(choice).unwrap_or(0)
}

/// `tokio::pin!`: replaces variables by pinned ones.
#[doc(hidden)]
#[macro_export]
macro_rules! __pin {
    ($($variable:ident),* $(,)?) => {
        $(let mut $variable = ::core::pin::pin!($variable);)*
    };
    ($(let $variable:ident = $value:expr;)*) => {
        $(let mut $variable = ::core::pin::pin!($value);)*
    };
}
pub use crate::{__pin as pin, __task_local as task_local};
