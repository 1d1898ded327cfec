//! Choices of the environment, and marks that guide a search.

use std::panic::Location;

use turnpike_scheduler::{Kind, ObjectId, Operation};

use crate::context;
use crate::runtime::Turn;
use crate::site;

/// A number below `count`: a check tries all of them. Outside a check, or if `count` is 0 or 1, it
/// is 0.
///
/// ```
/// assert_eq!(turnpike_runtime::choose(10), 0);
/// ```
#[track_caller]
pub fn choose(count: usize) -> usize {
    let Some(runtime) = context::active() else { return 0 };
    if count <= 1 {
        return 0;
    }
    // The kernel counts alternatives in 32 bits.
    let last = u32::try_from(count - 1).unwrap_or(u32::MAX - 1);
    let operation = Operation::new(Kind::Toss, ObjectId::NONE, site::of(Location::caller()));
    match runtime.turn(Operation { argument: u64::from(last), ..operation }) {
        Turn::Step(outcome) => outcome.value as usize,
        Turn::Quiet => 0,
    }
}

/// Marks that an assertion is evaluated: genetic search can prefer executions that evaluate many.
/// It is a step. [`check_that!`](crate::check_that!) includes it.
#[track_caller]
pub fn mark_assertion() {
    mark(Kind::Assert, Location::caller());
}

/// Marks that threads exchanged a message by other means than a channel: genetic search can prefer
/// executions that exchange many. It is a step.
#[track_caller]
pub fn mark_message() {
    mark(Kind::Message, Location::caller());
}

fn mark(kind: Kind, place: site::Place) {
    if let Some(runtime) = context::active() {
        let operation = Operation::new(kind, ObjectId::NONE, site::of(place));
        let _ = runtime.turn(Operation { argument: 1, ..operation });
    }
}

/// `assert!` that is visible to the search: evaluating it is a step, and counts towards the fitness
/// in genetic search.
///
/// ```
/// turnpike_runtime::check_that!(1 + 1 == 2, "arithmetic works");
/// ```
#[macro_export]
macro_rules! check_that {
    ($condition:expr $(, $($message:tt)+)?) => {{
        let holds = $condition;
        $crate::mark_assertion();
        if !holds {
            $crate::__failed!($condition $(, $($message)+)?);
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __failed {
    ($condition:expr) => {
        ::std::panic!("assertion failed: {}", ::std::stringify!($condition))
    };
    ($condition:expr, $($message:tt)+) => {
        ::std::panic!("assertion failed: {}", ::std::format_args!($($message)+))
    };
}
