//! Deep Random Search that prunes covered states.
//!
//! A walk does not enter a child that a known state covers. It may enter the covering state
//! instead, if no walk has done so yet. A state that a new one covers is dropped when it is drawn.
//! The children of a dropped state stay, because they may cover other states. So when the fringe is
//! empty, every stored state was expanded, which proves absence for the objectives that covering
//! preserves (see the strategies `bfs` and `dfs` with covering).
//!
//! Depths are those of the path on which a state was first met. Only the cutoff depends on them,
//! and it makes the verdict inconclusive, so states can be merged whatever their depths.

use turnpike_model::{Diagnostic, Successors};

use super::fringe::OpenSet;
use super::{Drs, Fringe, cutoff};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{CoverStore, ROOT};
use crate::strategy::level_set::distinct_targets;

/// Refuses variants that would merge states at different depths, or mean something else.
pub(super) fn validate(options: &Drs) -> Result<(), Diagnostic> {
    let variants = [
        (options.literal, "--literal"),
        (options.increment.is_some(), "--increment"),
        (options.depth_aware, "--depth-aware"),
        (options.anytime, "--anytime"),
        (options.fringe == Fringe::Children, "--fringe children"),
    ];
    match variants.into_iter().find(|(given, _)| *given) {
        Some((_, flag)) => Err(Diagnostic::error(format!("{flag} does not go with covering"))
            .help("leave it out, or use --cover none")),
        None => Ok(()),
    }
}

struct Covered {
    store: CoverStore,
    entered: Vec<bool>,
    fringe: OpenSet<Vec<u32>>,
    /// States at this many transitions are not expanded.
    deepest: u32,
    cut: bool,
    leaves: u64,
    state: Vec<u32>,
    successors: Successors,
    distinct: Vec<u32>,
}

pub(super) fn search(run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
    let mut drs = Covered {
        store: CoverStore::new(run.width(), &mut *run.explorer),
        entered: Vec::new(),
        fringe: OpenSet::new(),
        deepest: cutoff(run, options) - 1,
        cut: false,
        leaves: 0,
        state: Vec::new(),
        successors: run.buffer(),
        distinct: Vec::new(),
    };
    let outcome = drs.until_closed(run, options.walks.unwrap_or(u32::MAX));
    run.counters.stored = Some((drs.store.alive() as u64).saturating_sub(run.uncounted_levels().into()));
    let entered = drs.entered.iter().filter(|&&entered| entered).count() as u64;
    run.counters.generated = Some(entered - drs.leaves);
    outcome
}

impl Covered {
    fn until_closed(&mut self, run: &mut Run<'_>, walks: u32) -> Result<StopReason, Halt> {
        let initial = run.initial()?;
        let (root, _) = self.store.insert(&mut *run.explorer, &initial, ROOT);
        self.entered.push(true);
        if self.deepest == 0 {
            return Ok(StopReason::MaxDepth);
        }
        let mut untried = self.expand(run, root)?;
        for _ in 0..walks {
            let Some((child, below)) = self.step(run, &mut untried)? else { break };
            self.walk(run, child, below)?;
        }
        self.keep(root, untried);
        while let Some(node) = self.fringe.pick(&mut run.rng) {
            let untried = self.fringe.remove(node).unwrap_or_default();
            self.walk(run, node, untried)?;
        }
        Ok(if self.cut { StopReason::MaxDepth } else { StopReason::Exhausted })
    }

    /// A deep random walk from an expanded node.
    fn walk(&mut self, run: &mut Run<'_>, start: u32, untried: Vec<u32>) -> Result<(), Halt> {
        let (mut at, mut untried) = (start, untried);
        while let Some((child, below)) = self.step(run, &mut untried)? {
            self.keep(at, std::mem::replace(&mut untried, below));
            at = child;
        }
        self.keep(at, untried);
        Ok(())
    }

    /// Into a child, drawn uniformly from those worth entering, that has successors worth entering.
    fn step(&mut self, run: &mut Run<'_>, untried: &mut Vec<u32>) -> Result<Option<(u32, Vec<u32>)>, Halt> {
        while !untried.is_empty() {
            let child = untried.swap_remove(run.rng.index(untried.len()));
            if !self.is_worth_entering(child) {
                continue;
            }
            self.entered[child as usize] = true;
            if self.store.depth(child) >= self.deepest {
                self.cut = true;
                continue;
            }
            let below = self.expand(run, child)?;
            if !self.successors.is_empty() {
                return Ok(Some((child, below)));
            }
        }
        Ok(None)
    }

    fn is_worth_entering(&self, node: u32) -> bool {
        !self.entered[node as usize] && self.store.is_alive(node)
    }

    fn keep(&mut self, node: u32, mut untried: Vec<u32>) {
        while untried.pop_if(|child| !self.is_worth_entering(*child)).is_some() {}
        if !untried.is_empty() {
            self.fringe.insert(node, untried);
        }
    }

    /// Expands and tests a node; tells its successors worth entering, or what covers them.
    fn expand(&mut self, run: &mut Run<'_>, node: u32) -> Result<Vec<u32>, Halt> {
        self.state.clear();
        self.state.extend_from_slice(self.store.get(node));
        let depth = self.store.depth(node);
        run.expand(&self.state, depth, &mut self.successors, &|| self.store.path(node))?;
        run.check(&self.state, &self.successors, &|| self.store.path(node))?;
        self.leaves += u64::from(self.successors.is_empty());
        distinct_targets(&self.successors, &mut self.distinct);
        let first = self.store.len() as u32;
        let mut untried = Vec::with_capacity(self.distinct.len());
        for &index in &self.distinct {
            let target = self.successors.state(index as usize);
            let (child, _) = self.store.insert(&mut *run.explorer, target, node);
            if !untried.contains(&child) {
                untried.push(child);
            }
        }
        self.entered.resize(self.store.len(), false);
        for new in first..self.store.len() as u32 {
            self.store.leave_out_covered(&mut *run.explorer, new);
        }
        untried.retain(|&child| self.is_worth_entering(child));
        Ok(untried)
    }
}
