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

use super::walks::{Entered, Terrain, Walks};
use super::{Drs, Fringe, cutoff};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{CoverStore, ROOT};
use crate::strategy::level_set::distinct_targets;

/// Refuses variants that would merge states at different depths, or mean something else.
pub(super) fn validate(options: &Drs) -> Result<(), Diagnostic> {
    match options.variants().next() {
        Some(name) => Err(Diagnostic::error(format!("{name} does not go with covering"))
            .help("leave it out, or use the covering `none`")),
        None => Ok(()),
    }
}

struct Covered {
    store: CoverStore,
    entered: Vec<bool>,
    /// States at this many transitions are not expanded.
    deepest: u32,
    cut: bool,
    leaves: u64,
    state: Vec<u32>,
    successors: Successors,
    distinct: Vec<u32>,
}

pub(super) fn search(run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
    let covered = Covered {
        store: CoverStore::new(run.width(), &mut *run.view.explorer),
        entered: Vec::new(),
        deepest: cutoff(run, options) - 1,
        cut: false,
        leaves: 0,
        state: Vec::new(),
        successors: run.buffer(),
        distinct: Vec::new(),
    };
    let mut walks = Walks::new(covered, Fringe::Node);
    let outcome = until_closed(run, &mut walks, options.walks);
    let covered = walks.terrain;
    run.counters.stored = Some((covered.store.alive() as u64).saturating_sub(run.uncounted_levels().into()));
    let entered = covered.entered.iter().filter(|&&entered| entered).count() as u64;
    run.counters.generated = Some(entered - covered.leaves);
    outcome
}

fn until_closed(
    run: &mut Run<'_>,
    walks: &mut Walks<Covered>,
    first: Option<u32>,
) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    let (root, _) = walks.terrain.store.insert(&mut *run.view.explorer, &initial, ROOT);
    walks.terrain.entered.push(true);
    if walks.terrain.deepest == 0 {
        return Ok(StopReason::MaxDepth);
    }
    walks.walk_from_initial(run, root, first)?;
    while walks.walk_from_fringe(run)? {}
    Ok(if walks.terrain.cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}

impl Covered {
    /// Whether no walk has entered a state, and nothing covers it.
    fn is_new(&self, node: u32) -> bool {
        !self.entered[node as usize] && self.store.is_alive(node)
    }
}

impl Terrain for Covered {
    fn is_open(&self, child: u32, _: u32) -> bool {
        self.is_new(child)
    }

    fn enter(&mut self, run: &mut Run<'_>, child: u32, _: u32) -> Result<Entered, Halt> {
        self.entered[child as usize] = true;
        if self.store.depth(child) >= self.deepest {
            // Siblings were met on other paths, and may be less deep.
            self.cut = true;
            return Ok(Entered::Leaf);
        }
        let below = self.expand(run, child)?;
        Ok(if self.successors.is_empty() { Entered::Leaf } else { Entered::Interior(below) })
    }

    /// Instead of a child that is covered, what covers it.
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
            let (child, _) = self.store.insert(&mut *run.view.explorer, target, node);
            if !untried.contains(&child) {
                untried.push(child);
            }
        }
        self.entered.resize(self.store.len(), false);
        for new in first..self.store.len() as u32 {
            self.store.leave_out_covered(&mut *run.view.explorer, new);
        }
        untried.retain(|&child| self.is_new(child));
        Ok(untried)
    }
}
