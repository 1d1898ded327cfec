#![doc = include_str!("../README.md")]

mod check;
mod config;
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
/// async fn is_async() {}
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
    Panics, check_that, choose, collections, hint, is_checking, mark_assertion, mark_message, sync, thread,
    thread_local, time,
};
pub use turnpike_scheduler::Timeouts;
pub use turnpike_session::{
    Limits, Objective, RunReport, Search as SearchRequest, SearchError, SearchReport, StopReason, Strategy,
    Verdict, WitnessReport, strategy,
};
pub use watch::Stuck;
