//! What a test may return.

use std::fmt::Debug;
use std::process::ExitCode;

/// What a test may return: nothing, or something that can tell that it failed.
pub trait TestResult {
    /// Panics if the test failed.
    fn expect_success(self);
}

impl TestResult for () {
    fn expect_success(self) {}
}

impl<T: TestResult, E: Debug> TestResult for Result<T, E> {
    #[track_caller]
    fn expect_success(self) {
        match self {
            Ok(value) => value.expect_success(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

impl TestResult for ExitCode {
    #[track_caller]
    fn expect_success(self) {
        assert!(self == ExitCode::SUCCESS, "the test returned {self:?}");
    }
}

/// The type of a test that never returns, which has no name of its own yet.
type Never = <fn() -> ! as Returns>::Type;

trait Returns {
    type Type;
}

impl<T> Returns for fn() -> T {
    type Type = T;
}

impl TestResult for Never {
    #[allow(private_interfaces, reason = "the type is `!`, which nobody has to name")]
    fn expect_success(self) {}
}
