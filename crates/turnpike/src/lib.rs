#![doc = include_str!("../README.md")]

mod check;
mod config;
mod debugger;
mod replay;
mod result;
mod search;
mod watch;

pub use check::{CheckError, Checked, Failed, check};
pub use config::Config;
pub use result::TestResult;
pub use search::Search;
/// ```compile_fail
/// #[turnpike::test]
/// fn takes_something(x: u32) {}
/// ```
/// ```compile_fail
/// #[turnpike::test(strategy)]
/// fn no_value() {}
/// ```
/// ```compile_fail
/// #[turnpike::test]
/// struct NoFunction;
/// ```
#[doc(inline)]
pub use turnpike_macros::test;
pub use turnpike_model::native::{Measure, Native, NativeModel};
pub use turnpike_model::{Diagnostic, Model, Trace};
pub use turnpike_runtime::{
    Panics, cell, check_that, choose, collections, future, hint, is_checking, lazy_static, mark_assertion,
    mark_message, once_cell, parking_lot, sync, thread, thread_local, time,
};
pub use turnpike_scheduler::{Memory, Timeouts};
pub use turnpike_session::{
    Evidence, FormulaReply, Fragment, Limits, Objective, RunReport, Search as SearchRequest, SearchError,
    SearchReport, Shape, StopReason, Strategy, Verdict, WitnessReport, strategy,
};
pub use watch::Stuck;

/// What crossbeam offers besides its data structures, under control of the scheduler.
pub mod crossbeam {
    pub use turnpike_runtime::crossbeam::*;

    /// Channels with many senders and many receivers.
    pub mod channel {
        pub use turnpike_macros::{select_biased_channel as select_biased, select_channel as select};
        pub use turnpike_runtime::crossbeam::channel::*;
    }
}

/// What the crate `lazy_static` offers besides its macro.
pub mod lazy_static {
    pub use turnpike_runtime::lazy_static;
    pub use turnpike_runtime::once_cell::initialize;
}

/// What tokio offers for synchronising tasks, under control of the scheduler.
pub mod tokio {
    pub use turnpike_macros::{join, select, tokio_main as main, tokio_test as test, try_join};
    pub use turnpike_runtime::tokio::*;
}

/// Executes the examples of the book's chapter.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/async.md")]
mod async_chapter {}
