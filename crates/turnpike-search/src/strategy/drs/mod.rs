//! Deep Random Search (Grosu, Huang, Smolka, Tan and Tripakis): random walks that go as deep as
//! they can, each from a random node of the fringe, until nothing is left.
//!
//! **Guarantee.** Complete on finite systems without a cutoff: an empty fringe proves absence. With
//! a cutoff, or if the engine's limit on depth cut a walk off, a search without a hit is
//! inconclusive. Witnesses are real and usually long. They are shortest with `increment` 1 and with
//! `anytime`, and at most `increment - 1` longer than the shortest with `depth_aware`.
//!
//! **Memory.** Linear in the states met. Nodes are expanded long after they were met, so
//! fingerprints are not enough, and lossy stores are rejected.
//!
//! **Options.** See [`Drs`]. Depth is counted as in the paper, where the initial state has depth 1.
//! A state at depth d is d - 1 transitions away, and `cutoff` c means that states at depth c or
//! more are not expanded, as with a limit of c - 1 on depth.
//!
//! **Variants.** `walks.rs` is what they share: the walks. `completed.rs` corrects the errors of the
//! published code and has the depth-aware variant; `anytime.rs` continues after a hit; `covered.rs`
//! prunes covered states; `batch.rs` makes walks in batches, on several threads; `lasso/walks.rs` looks for cycles. `literal.rs` is figure 3 as printed,
//! with a list of its errors, and shares only the set that nodes are drawn from, `fringe.rs`.

mod anytime;
mod batch;
mod completed;
mod covered;
mod fringe;
mod literal;
mod walks;

use turnpike_model::Diagnostic;
pub(in crate::strategy) use walks::{Entered, Terrain, Walks};

use super::Search;
use super::descriptor::{Descriptor, OptionInfo, Parallel, Setting, ValueKind};
use super::lasso::Cycles;
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::options::{Accept, SearchOptions};
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

/// Deep Random Search. Depths count the initial state as 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drs {
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
    /// Walks that begin at nodes drawn at once, so that threads can follow them ahead; one at a time when absent.
    pub batch: Option<u32>,
}

impl Drs {
    /// Whether witnesses are shortest without further work.
    ///
    /// With increment 1 every walk is one step from the nodes of the level before, whose depths are exact. The printed
    /// code is not shortest even then. Where an objective can be met both in an expanded state and on a step from
    /// one (`any-error`, or several objectives), increment 1 may be one transition off, like breadth-first search.
    pub(crate) fn proves_shortest(&self) -> bool {
        !self.literal && (self.anytime || self.increment == Some(1))
    }

    fn has_batches(&self) -> bool {
        self.batch.is_some_and(|batch| batch > 1)
    }

    /// Refuses combinations that cannot mean anything.
    fn validate(&self) -> Result<(), Diagnostic> {
        if self.cutoff == Some(0) {
            return Err(Diagnostic::error("the cutoff must be at least 1")
                .help("depths are counted as in the paper: the initial state has depth 1"));
        }
        let more = [
            (self.depth_aware, DEPTH_AWARE.name),
            (self.anytime, ANYTIME.name),
            (self.fringe == Fringe::Children, FRINGE.name),
            (self.has_batches(), BATCH.name),
        ];
        match more.into_iter().find(|(given, _)| self.literal && *given) {
            Some((_, name)) => Err(Diagnostic::error(format!(
                "the option `literal` and the option `{name}` exclude each other"
            ))
            .help("`literal` runs the printed algorithm, which has no such variant")),
            None => Ok(()),
        }
    }

    /// The options given that make it another algorithm, as messages name them.
    pub(super) fn variants(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.literal, "the option `literal`"),
            (self.increment.is_some(), "the option `increment`"),
            (self.depth_aware, "the option `depth-aware`"),
            (self.anytime, "the option `anytime`"),
            (self.fringe == Fringe::Children, "the option `fringe children`"),
            (self.has_batches(), "the option `batch`"),
        ];
        all.into_iter().filter(|(given, _)| *given).map(|(_, name)| name)
    }
}

const WALKS: OptionInfo = OptionInfo {
    name: "walks",
    value: ValueKind::POSITIVE,
    default: "one for every child of the initial state",
    doc: "initial walks",
};
const CUTOFF: OptionInfo = OptionInfo {
    name: "cutoff",
    value: ValueKind::POSITIVE,
    default: "none",
    doc: "do not expand states at this depth; the initial state is at depth 1",
};
const INCREMENT: OptionInfo = OptionInfo {
    name: "increment",
    value: ValueKind::POSITIVE,
    default: "one pass",
    doc: "step of iterative deepening",
};
const FRINGE: OptionInfo = OptionInfo {
    name: "fringe",
    value: ValueKind::Word(&[
        ("node", "Nodes that may still have unexplored children"),
        ("children", "The unexplored children themselves"),
    ]),
    default: "node",
    doc: "what the fringe holds",
};
const LITERAL: OptionInfo = OptionInfo {
    name: "literal",
    value: ValueKind::Switch,
    default: "",
    doc: "the algorithm as printed in the paper, including its errors",
};
const DEPTH_AWARE: OptionInfo = OptionInfo {
    name: "depth-aware",
    value: ValueKind::Switch,
    default: "",
    doc: "re-open a state when it is met again at a smaller depth",
};
const ANYTIME: OptionInfo = OptionInfo {
    name: "anytime",
    value: ValueKind::Switch,
    default: "",
    doc: "find any witness first, then shorter ones until one is proved shortest",
};
const BATCH: OptionInfo = OptionInfo {
    name: "batch",
    value: ValueKind::POSITIVE,
    default: "1",
    doc: "walks that begin at nodes drawn at once; threads follow them ahead",
};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "drs",
    summary: "Deep Random Search: random walks to the end, each from a random state of the fringe",
    guarantee: "complete without a cutoff; shortest witness with depth-aware and increment 1, or with anytime",
    memory: "all states met",
    when: "very deep bugs, or a proof if there are none",
    options: &[WALKS, CUTOFF, INCREMENT, FRINGE, LITERAL, DEPTH_AWARE, ANYTIME, BATCH],
    settings: &[Setting::Cover],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Batches,
    build: |given| {
        let fringe = match given.text(&FRINGE) {
            Some("children") => Fringe::Children,
            _ => Fringe::Node,
        };
        Ok(Drs {
            walks: given.count(&WALKS)?,
            cutoff: given.count(&CUTOFF)?,
            increment: given.count(&INCREMENT)?,
            literal: given.is_set(&LITERAL),
            fringe,
            depth_aware: given.is_set(&DEPTH_AWARE),
            anytime: given.is_set(&ANYTIME),
            batch: given.count(&BATCH)?,
        }
        .into())
    },
};

impl Search for Drs {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, self)
    }

    fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        let zero = |what: &str| Err(Diagnostic::error(format!("{what} must be at least 1")));
        if self.walks == Some(0) {
            return zero("the number of walks");
        }
        if self.increment == Some(0) {
            return zero("the increment");
        }
        if self.batch == Some(0) {
            return zero("the batch");
        }
        let about_cycles = request.objectives.iter().any(|objective| objective.is_about_cycles());
        if self.has_batches() && about_cycles {
            return Err(Diagnostic::error("walks that look for cycles are made one at a time")
                .help("leave out the option `batch`"));
        }
        if request.accept == Accept::Pop && self.anytime && !self.literal {
            return Err(Diagnostic::error(
                "the option `anytime` tests states as soon as they are met, not when they are expanded",
            )
            .help("accept states on generation, or leave out `anytime`"));
        }
        self.validate()
    }

    fn shares_work(&self, _: bool) -> bool {
        self.has_batches()
    }

    fn cycles(&self) -> Option<Cycles> {
        Some(Cycles::Walks(self.clone()))
    }

    fn check_covering(&self) -> Result<(), Diagnostic> {
        covered::validate(self)
    }

    fn wants_shortening(&self, stop: StopReason, _: bool) -> bool {
        !self.proves_shortest() || stop != StopReason::Found
    }
}

pub(crate) fn search(run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
    options.validate().map_err(SearchError::from)?;
    if !run.options.store.is_exact() {
        let error = Diagnostic::error(format!("drs cannot work with the {} store", run.options.store)).help(
            "it returns to states long after it met them, so they must be kept in full: use the exact or the tree store",
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
pub(in crate::strategy) fn cutoff(run: &Run<'_>, options: &Drs) -> u32 {
    let cutoff = options.cutoff.unwrap_or(u32::MAX).saturating_add(run.uncounted_levels());
    cutoff.min(run.view.max_depth.saturating_add(1))
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
        let message = |options: Drs| options.validate().expect_err("contradictory").to_string();
        let literal = Drs { literal: true, ..Drs::default() };
        assert!(literal.validate().is_ok());
        assert!(message(Drs { anytime: true, ..literal.clone() }).contains("`anytime`"));
        assert!(message(Drs { depth_aware: true, ..literal.clone() }).contains("`depth-aware`"));
        assert!(message(Drs { fringe: Fringe::Children, ..literal }).contains("`fringe`"));
        assert!(message(Drs { cutoff: Some(0), ..Drs::default() }).contains("at least 1"));
    }
}
