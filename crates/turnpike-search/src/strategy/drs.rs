//! Deep Random Search.

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// What the fringe holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fringe {
    /// Nodes that may still have unexplored children.
    #[default]
    Node,
    /// The unexplored children themselves.
    Children,
}

/// Parameters of Deep Random Search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrsOptions {
    /// Initial walks from distinct children of the initial state; all of them when absent.
    pub walks: Option<u32>,
    /// Largest depth ever explored (the initial state has depth 1); none when absent.
    pub cutoff: Option<u32>,
    /// Step of iterative deepening; one pass when absent.
    pub increment: Option<u32>,
    /// The printed algorithm, holes included.
    pub literal: bool,
    /// What the fringe holds.
    pub fringe: Fringe,
    /// Re-open a state met again at a smaller depth.
    pub depth_aware: bool,
    /// First any counter-example, then ever shorter ones until the last is proved shortest (implies depth-aware).
    pub anytime: bool,
}

pub(crate) fn search(run: &mut Run<'_>, options: &DrsOptions) -> Result<StopReason, Halt> {
    let _ = (run, options);
    Ok(StopReason::Finished)
}
