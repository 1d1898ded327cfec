//! Deep Random Search (Grosu, Huang, Smolka, Tan and Tripakis, seed paper 003): random walks that go as deep as they
//! can, then again from a random node of the fringe, until nothing is left.
//!
//! **Guarantee.** Complete on finite systems without a cutoff: absence is proved when the fringe runs empty. With a
//! cutoff, or when the engine's limit on depth cut a walk off, a search that found nothing is inconclusive. Witnesses
//! are real and usually long; they are shortest with `increment` 1 and with `anytime`, and at most `increment - 1`
//! longer than the shortest with `depth_aware`.
//!
//! **Memory.** Linear in the states met. Fingerprints are not enough, as nodes are expanded long after they were met:
//! lossy stores are refused.
//!
//! **Knobs.** See [`DrsOptions`]. Depth is counted as in the paper, where the initial state has depth 1: a state at
//! depth d is d - 1 transitions away, and `cutoff` c means that states at depth c or more are not expanded, as with a
//! limit of c - 1 on depth.
//!
//! **Variants.** `literal.rs` is figure 3 as printed, and lists what is wrong with it; `completed.rs` closes the holes
//! and has the depth-aware variant; `anytime.rs` goes on after a hit; `covered.rs` leaves out covered states; `fringe.rs` is the set they draw from.

mod anytime;
mod completed;
mod covered;
mod fringe;
mod literal;

pub(in crate::strategy) use covered::validate as validate_cover;
pub(in crate::strategy) use fringe::OpenSet;
use turnpike_model::Diagnostic;

use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::witness::Path;

/// What the fringe holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fringe {
    /// Nodes that may still have unexplored children.
    #[default]
    Node,
    /// The unexplored children themselves (section 6 of the paper, which found it worse for finding bugs).
    Children,
}

/// Parameters of Deep Random Search. Depths count the initial state as 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrsOptions {
    /// Initial walks from distinct children of the initial state; all of them when absent.
    pub walks: Option<u32>,
    /// States at this depth (the initial state has depth 1) are not expanded; none when absent.
    pub cutoff: Option<u32>,
    /// Step of iterative deepening; one pass when absent.
    pub increment: Option<u32>,
    /// The printed algorithm, holes included. Not with any of the options below.
    pub literal: bool,
    /// What the fringe holds.
    pub fringe: Fringe,
    /// Re-open a state met again at a smaller depth: witnesses are less than `increment` longer than the shortest.
    pub depth_aware: bool,
    /// First any counter-example, then ever shorter ones until the last is proved shortest (implies depth-aware). The
    /// proof is complete when the search ends before a limit or an interrupt does; the best witness so far is
    /// reported in any case. A lasso is as long as it was found, and with witnesses turned off the first hit ends the
    /// search.
    pub anytime: bool,
}

impl DrsOptions {
    /// Whether witnesses are shortest without further work.
    ///
    /// With increment 1 every walk is one step from the nodes of the level before, whose depths are exact. The printed
    /// code is not shortest even then. Where an objective can be met both in an expanded state and on a step from
    /// one (`any-error`, or several objectives), increment 1 may be one transition off, like breadth-first search.
    pub(crate) fn proves_shortest(&self) -> bool {
        !self.literal && (self.anytime || self.increment == Some(1))
    }

    /// Refuses combinations that cannot mean anything.
    fn validate(&self) -> Result<(), Diagnostic> {
        if self.cutoff == Some(0) {
            return Err(Diagnostic::error("the cutoff must be at least 1")
                .help("depths are counted as in the paper: the initial state has depth 1"));
        }
        let more = [
            (self.fringe == Fringe::Children, "--fringe children"),
            (self.depth_aware, "--depth-aware"),
            (self.anytime, "--anytime"),
        ];
        match more.into_iter().find(|(given, _)| self.literal && *given) {
            Some((_, flag)) => Err(Diagnostic::error(format!("--literal and {flag} exclude each other"))
                .help("--literal runs the printed algorithm, which has no such variant")),
            None => Ok(()),
        }
    }
}

pub(crate) fn search(run: &mut Run<'_>, options: &DrsOptions) -> Result<StopReason, Halt> {
    options.validate().map_err(SearchError::from)?;
    if !run.options.store.is_exact() {
        let error = Diagnostic::error(format!("drs cannot work with the {} store", run.options.store)).help(
            "it returns to states long after it met them, so they must be kept in full: use --store exact or tree",
        );
        return Err(SearchError::from(error).into());
    }
    match () {
        () if run.options.cover => covered::search(run, options),
        () if options.literal => literal::search(run, options),
        () => completed::search(run, options),
    }
}

/// The depth whose states are never expanded: the cutoff or the engine's limit, whichever is smaller.
pub(in crate::strategy) fn cutoff(run: &Run<'_>, options: &DrsOptions) -> u32 {
    let cutoff = options.cutoff.unwrap_or(u32::MAX).saturating_add(run.uncounted_levels());
    cutoff.min(run.max_depth.saturating_add(1))
}

/// A node and those it was reached through, the initial one last.
fn ancestors(node: u32, parents: &[u32]) -> impl Iterator<Item = u32> + '_ {
    std::iter::successors(Some(node), |&node| Some(parents[node as usize]).filter(|&parent| parent != ROOT))
}

/// The path through these states, given last to first, and to `end` if it is not empty.
fn path_of(backwards: Vec<u32>, met: &Visited, end: &[u32]) -> Path {
    let (mut flat, mut state) = (Vec::new(), Vec::new());
    for id in backwards.into_iter().rev() {
        met.load(id, &mut state);
        flat.extend_from_slice(&state);
    }
    flat.extend_from_slice(end);
    Path::States(flat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused() {
        let message = |options: DrsOptions| options.validate().expect_err("contradictory").to_string();
        let literal = DrsOptions { literal: true, ..DrsOptions::default() };
        assert!(literal.validate().is_ok());
        assert!(message(DrsOptions { anytime: true, ..literal.clone() }).contains("--anytime"));
        assert!(message(DrsOptions { depth_aware: true, ..literal.clone() }).contains("--depth-aware"));
        assert!(message(DrsOptions { fringe: Fringe::Children, ..literal }).contains("--fringe children"));
        assert!(message(DrsOptions { cutoff: Some(0), ..DrsOptions::default() }).contains("at least 1"));
    }
}
