//! Deep Random Search with the errors of the published code corrected, and its depth-aware variant.
//!
//! Walks ([`super::walks`]) enter distinct unvisited children. A child without successors is a dead
//! end: it was expanded, and tested for deadlock.
//!
//! **Differences from figure 3.**
//! - The initial state joins the fringe if unvisited children remain after the first `walks` walks.
//!   So the search is complete for every number of walks. Children generated meanwhile are skipped,
//!   not inserted twice.
//! - A fringe node keeps the list of its untried children, so nothing is enumerated twice. Dropping
//!   visited children when they are met keeps the draw uniform over the others.
//! - A higher bound continues from the nodes that the lower one cut off instead of starting again.
//!   All bounds together expand each state once, and end after as many steps as the cut-off nodes
//!   need, not after the longest walk. With increment 1 a walk is one step and the search is a
//!   randomised breadth-first search, whose witnesses are shortest.
//!
//! **Depth-aware.** Every state carries the smallest depth at which it was entered. A walk enters a
//! child if it is unvisited *or* its depth decreases; the child is then expanded again. When the
//! fringe is empty, no node above the bound can improve a successor. So every depth below the bound
//! is the true distance, and the search has met everything up to the bound. With increment k a
//! witness is at most k - 1 longer than the shortest. Each state is expanded at most once for every
//! depth it had. Without a bound, depth does not matter and no state is re-opened: proving absence
//! costs one expansion per state. When `anytime` finds its first witness, and with it a bound, it
//! re-opens the states expanded so far once.
//!
//! **Memory.** Every state met, nine more bytes for each, and the lists of fringe nodes.

use turnpike_model::Successors;

use super::anytime::Anytime;
use super::batch::{Batches, Expansions};
use super::fringe::OpenSet;
use super::walks::{Entered, Terrain, Walks};
use super::{Drs, cutoff};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::strategy::level_set::distinct_targets;
use crate::witness::Path;

/// The depth of a state that has no label yet.
const UNKNOWN: u32 = u32::MAX;

/// The initial state's node.
const INITIAL: u32 = 0;

#[derive(Clone, Copy, PartialEq)]
enum Status {
    /// A successor of something, no more.
    Met,
    /// In the fringe as an unexplored child; a walk may enter it from anywhere.
    Waiting,
    /// Entered by a walk, not expanded at its present depth: cut off, or about to be expanded.
    Entered,
    Interior,
    Leaf,
}

/// The nodes, by the id of their state.
#[derive(Default)]
struct Nodes {
    parent: Vec<u32>,
    depth: Vec<u32>,
    status: Vec<Status>,
}

pub(super) struct Completed {
    met: Visited,
    nodes: Nodes,
    /// Nodes that the depth bound stopped. Those entered again at a smaller depth are skipped when the bound rises.
    cut: Vec<u32>,
    /// States at this depth are not expanded, for now; `u32::MAX` means that there is no bound.
    bound: u32,
    /// Nor ever: the cutoff, or `useful`.
    last_bound: u32,
    /// From this depth on, no witness shorter than the best known can be met. Infinite until one is known.
    useful: u32,
    depth_aware: bool,
    anytime: Option<Anytime>,
    /// The first witness has just set a bound.
    depth_begins_to_matter: bool,
    pub(super) expansions: Expansions,
    state: Vec<u32>,
    successors: Successors,
    distinct: Vec<u32>,
}

pub(super) fn search(run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
    // Without witnesses there is no length to improve.
    let anytime = (options.anytime && run.options.witness).then(|| Anytime::new(run));
    let last_bound = cutoff(run, options);
    let completed = Completed {
        met: Visited::new(run.options.store, run.width(), false),
        nodes: Nodes::default(),
        cut: Vec::new(),
        bound: options
            .increment
            .map_or(last_bound, |increment| increment.saturating_add(run.uncounted_levels()).min(last_bound)),
        last_bound,
        useful: u32::MAX,
        depth_aware: options.depth_aware || options.anytime,
        anytime,
        depth_begins_to_matter: false,
        expansions: Expansions::default(),
        state: Vec::new(),
        successors: run.buffer(),
        distinct: Vec::new(),
    };
    let mut walks = Walks::new(completed, options.fringe);
    let outcome = deepen(run, &mut walks, options);
    let completed = walks.terrain;
    run.counters.considered = Some(completed.met.len() as u64);
    run.counters.generated = Some(completed.nodes.generated());
    match outcome {
        // Nothing shorter is left. When a limit ended the search instead, its reason stays: the best witness so far
        // is reported all the same, but it is not proved shortest.
        Ok(_) if completed.useful < u32::MAX => Ok(StopReason::Found),
        outcome => outcome,
    }
}

/// Walks until the fringe is empty, then raises the bound, until nothing was cut off.
fn deepen<'m>(run: &mut Run<'m>, walks: &mut Walks<Completed>, options: &Drs) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    let Completed { met, nodes, .. } = &mut walks.terrain;
    met.insert_exact(&initial, ROOT);
    nodes.push();
    nodes.depth[INITIAL as usize] = 1;
    walks.terrain.cut_off(INITIAL);
    let mut batches = Batches::new(run, options.batch.unwrap_or(1));
    loop {
        walks.terrain.release(&mut walks.fringe);
        if walks.fringe.remove(INITIAL).is_some() {
            walks.walk_from_initial(run, INITIAL, options.walks)?;
        }
        loop {
            if std::mem::take(&mut walks.terrain.depth_begins_to_matter) {
                walks.terrain.reopen(&mut walks.fringe);
            }
            if !batches.walk(run, walks)? {
                break;
            }
        }
        let terrain = &mut walks.terrain;
        if terrain.cut.is_empty() || terrain.bound == terrain.last_bound {
            break;
        }
        let increment = options.increment.unwrap_or(u32::MAX);
        terrain.bound = terrain.bound.saturating_add(increment).min(terrain.last_bound);
    }
    let complete = !walks.terrain.nodes.status.contains(&Status::Entered);
    Ok(if complete { StopReason::Exhausted } else { StopReason::MaxDepth })
}

impl Completed {
    /// Moves the nodes that a lower bound cut off into the fringe.
    fn release(&mut self, fringe: &mut OpenSet<Vec<u32>>) {
        for node in std::mem::take(&mut self.cut) {
            // Entered again at a smaller depth and expanded meanwhile: the entry is out of date.
            if self.nodes.status[node as usize] != Status::Entered {
                continue;
            }
            if self.nodes.depth[node as usize] < self.bound {
                fringe.insert(node, Vec::new());
            } else {
                self.cut_off(node);
            }
        }
    }

    /// Depths were not repaired while there was no bound: lets every state expanded so far do so.
    fn reopen(&mut self, fringe: &mut OpenSet<Vec<u32>>) {
        for node in 0..self.met.len() as u32 {
            let interior = self.nodes.status[node as usize] == Status::Interior;
            if interior && self.nodes.depth[node as usize] < self.useful {
                self.nodes.status[node as usize] = Status::Entered;
                fringe.insert(node, Vec::new());
            }
        }
    }

    /// Whether the first witness has just set a bound.
    pub(super) fn depth_begins_to_matter(&self) -> bool {
        self.depth_begins_to_matter
    }

    pub(super) fn width(&self) -> usize {
        self.successors.width()
    }

    pub(super) fn bound(&self) -> u32 {
        self.bound
    }

    pub(super) fn load(&self, node: u32, out: &mut Vec<u32>) {
        self.met.load(node, out);
    }

    pub(super) fn depth(&self, node: u32) -> u32 {
        self.nodes.depth[node as usize]
    }

    pub(super) fn is_expanded(&self, node: u32) -> bool {
        self.nodes.status[node as usize] == Status::Interior
    }

    /// Whether a walk may enter a state, depths aside.
    pub(super) fn may_enter(&self, state: &[u32]) -> bool {
        let is_open = |node: u32| matches!(self.nodes.status[node as usize], Status::Met | Status::Waiting);
        self.met.find_exact(state).is_none_or(is_open)
    }

    fn cut_off(&mut self, node: u32) {
        self.nodes.status[node as usize] = Status::Entered;
        if self.nodes.depth[node as usize] < self.useful {
            self.cut.push(node);
        }
    }
}

impl Terrain for Completed {
    /// Once false it stays false, as depths only get smaller, until the parent's own depth gets smaller; the parent is
    /// then expanded again.
    fn is_open(&self, child: u32, parent: u32) -> bool {
        let nearer = || {
            self.bound < u32::MAX && self.nodes.depth[child as usize] > self.nodes.depth[parent as usize] + 1
        };
        match self.nodes.status[child as usize] {
            Status::Met | Status::Waiting => true,
            Status::Entered | Status::Interior => self.depth_aware && nearer(),
            // Nothing lies behind a leaf; only a deadlock's own distance can still matter.
            Status::Leaf => self.anytime.is_some() && nearer(),
        }
    }

    fn enter(&mut self, run: &mut Run<'_>, child: u32, parent: u32) -> Result<Entered, Halt> {
        self.nodes.label(child, parent);
        if self.nodes.depth[child as usize] >= self.bound {
            self.cut_off(child);
            return Ok(Entered::Cut);
        }
        let below = self.expand(run, child)?;
        let is_interior = self.nodes.status[child as usize] == Status::Interior;
        Ok(if is_interior { Entered::Interior(below) } else { Entered::Leaf })
    }

    fn expand(&mut self, run: &mut Run<'_>, node: u32) -> Result<Vec<u32>, Halt> {
        self.met.load(node, &mut self.state);
        let transitions = self.nodes.depth[node as usize] - 1;
        let path = || self.nodes.path(node, &self.met);
        let state = (&self.state[..], transitions);
        self.expansions.expand(run, state, &mut self.successors, &path)?;
        let is_leaf = self.successors.is_empty();
        self.nodes.status[node as usize] = if is_leaf { Status::Leaf } else { Status::Interior };
        distinct_targets(&self.successors, &mut self.distinct);
        let mut untried = Vec::with_capacity(self.distinct.len());
        for at in 0..self.distinct.len() {
            let target = self.successors.state(self.distinct[at] as usize);
            let (child, new) = self.met.insert_exact(target, ROOT);
            if new {
                self.nodes.push();
            }
            if self.is_open(child, node) {
                untried.push(child);
            }
        }
        let path = || self.nodes.path(node, &self.met);
        if let Some(anytime) = &self.anytime {
            Anytime::check(run, transitions, &self.state, &self.successors, &path)?;
            if let Some(bound) = anytime.bound(run) {
                self.depth_begins_to_matter |= self.bound == u32::MAX;
                self.useful = bound;
                self.last_bound = self.last_bound.min(bound);
                self.bound = self.bound.min(bound);
            }
        } else {
            run.check(&self.state, &self.successors, &path)?;
        }
        Ok(untried)
    }

    fn leave(&mut self, child: u32, parent: u32) {
        let fresh = matches!(self.nodes.status[child as usize], Status::Met | Status::Waiting);
        self.nodes.label(child, parent);
        if fresh {
            self.nodes.status[child as usize] = Status::Waiting;
        }
    }

    fn resume(
        &mut self,
        run: &mut Run<'_>,
        node: u32,
        mut untried: Vec<u32>,
    ) -> Result<Option<Vec<u32>>, Halt> {
        let depth = self.nodes.depth[node as usize];
        if matches!(self.nodes.status[node as usize], Status::Waiting | Status::Entered) {
            if depth >= self.bound {
                self.cut_off(node);
                return Ok(None);
            }
            untried = self.expand(run, node)?;
        }
        Ok((depth + 1 < self.useful).then_some(untried))
    }
}

impl Nodes {
    /// A node for a state just met.
    fn push(&mut self) {
        self.parent.push(ROOT);
        self.depth.push(UNKNOWN);
        self.status.push(Status::Met);
    }

    /// A walk enters `node` from `parent`; the smaller depth counts.
    fn label(&mut self, node: u32, parent: u32) {
        let depth = self.depth[parent as usize] + 1;
        if depth < self.depth[node as usize] {
            self.depth[node as usize] = depth;
            self.parent[node as usize] = parent;
        }
        self.status[node as usize] = Status::Entered;
    }

    /// Size of the set `generated`: states that walks entered, leaves left out as in the paper.
    fn generated(&self) -> u64 {
        let entered = |status: &&Status| matches!(status, Status::Entered | Status::Interior);
        self.status.iter().filter(entered).count() as u64
    }

    /// The states on the way to a node. A parent's depth may have got smaller since, so it can be shorter than the
    /// node's depth says.
    fn path(&self, node: u32, met: &Visited) -> Path {
        super::path_of(super::ancestors(node, &self.parent).collect(), met, &[])
    }
}
