//! A portfolio.

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

pub(crate) fn search(run: &mut Run<'_>) -> Result<StopReason, Halt> {
    super::bfs::search(run)
}
