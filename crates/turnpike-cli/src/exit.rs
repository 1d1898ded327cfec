//! Exit codes, one table for help, manual and tests.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The result is the expected one, or the command simply succeeded.
    Clean = 0,
    /// The result is not the expected one; the systems differ; the trace does not fit the model.
    Found = 1,
    /// Wrong usage, or an error in the model.
    Usage = 2,
    /// Nothing was found, but not everything was covered.
    Inconclusive = 3,
    /// A defect of turnpike.
    Internal = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The table as shown by `--help`.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  the expected result: nothing found and everything covered; every query
     satisfied and every formula true; or success
  1  not the expected result: a trace was found, a query is not satisfied, or a
     formula is violated; compare: different; replay: the trace does not fit
  2  wrong usage, unreadable input, or an error in the model
  3  not known: a limit, a lossy store, a partial strategy; a query or formula
     that is not decided or not supported
  4  internal error";
