//! Deep Random Search as printed: figure 3 of the paper, errors included.
//!
//! **Guarantee.** Every hit is real. The search claims absence only if the printed code proves it:
//! no walk was cut off, and every child of the initial state was generated. The printed code
//! reports "no counter-example" in the other cases too; here they are inconclusive, as `finished`
//! if children of the initial state were forgotten, or as `max-depth` if a walk was cut off.
//!
//! **Memory.** Every state met, and the nodes of the current pass.
//!
//! **Errors of the printed code** that this file repeats:
//! - The initial state never joins the fringe: children left over after `walks` walks are
//!   forgotten.
//! - `generated` ignores depth: a state first met on a detour may be cut off and never entered on
//!   the shorter path, so increment 1 does *not* give a shortest counterexample (theorem 5).
//! - A child of the initial state that an earlier walk generated is inserted again, as a second
//!   node.
//! - A node's successors are computed again whenever the fringe returns it, and each child's for
//!   the leaf test.
//! - Every pass forgets all previous passes, and a model without errors needs as many passes as its
//!   longest walk.
//! - The initial state is expanded whatever the cutoff; a cutoff that is not a multiple of the
//!   increment is not fully used.
//!
//! **Mapping to the engine.** *Acc* is the run's objectives. `NonacceptingInteriorChildren` expands
//! its node, and the engine tests the transitions and the states they lead to. It also tests edges
//! into `generated`, which changes nothing for states (an accepting one is never generated) and is
//! what transition objectives need. With `--all`, walks pass through an accepting child like any
//! other. A deadlock is a property of expanded states, and *Leaf* drops a child before it could be
//! expanded. So a leaf test that succeeds *is* the expansion of that leaf, counted and checked. A
//! leaf test that fails is a lookahead, neither counted nor checked, as with `--lookahead`;
//! checking it would see one step further than the paper. Both outcomes are cached, so each state
//! is tested once per run, and `states` is the number of enumerations plus the number of distinct
//! leaves. Leaf tests look at children of the deepest nodes expanded, so a leaf may be met at the
//! cutoff itself.

use turnpike_model::Successors;

use super::fringe::OpenSet;
use super::{Drs, cutoff};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::strategy::level_set::distinct_targets;
use crate::witness::Path;

/// What the leaf test said about a state.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Untested,
    Interior,
    Leaf,
}

/// The nodes of one pass. A state may have two: see the third point above.
#[derive(Default)]
struct Nodes {
    state: Vec<u32>,
    parent: Vec<u32>,
    depth: Vec<u32>,
}

struct Literal {
    met: Visited,
    /// By state: the result of the leaf test.
    kind: Vec<Kind>,
    /// By state: the last pass that generated it.
    generated: Vec<u32>,
    pass: u32,
    /// Size of the set `generated`.
    size: u64,
    nodes: Nodes,
    fringe: OpenSet<()>,
    done: bool,
    forgotten: bool,
    state: Vec<u32>,
    successors: Successors,
    ahead: Successors,
    distinct: Vec<u32>,
}

pub(super) fn search(run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
    let mut drs = Literal {
        met: Visited::new(run.options.store, run.width(), false),
        kind: Vec::new(),
        generated: Vec::new(),
        pass: 0,
        size: 0,
        nodes: Nodes::default(),
        fringe: OpenSet::new(),
        done: false,
        forgotten: false,
        state: Vec::new(),
        successors: run.buffer(),
        ahead: run.buffer(),
        distinct: Vec::new(),
    };
    let outcome = drs.deepen(run, options);
    run.counters.considered = Some(drs.met.len() as u64);
    run.counters.generated = Some(drs.size);
    outcome
}

impl Literal {
    /// `DRS`.
    fn deepen(&mut self, run: &mut Run<'_>, options: &Drs) -> Result<StopReason, Halt> {
        // Acc(initState) is the same in every pass.
        let initial = run.initial()?;
        self.meet(&initial);
        if run.view.max_depth == 0 {
            return Ok(StopReason::MaxDepth);
        }
        let cutoff = cutoff(run, options);
        let increment = options.increment.unwrap_or(cutoff);
        let first = options.increment.map(|increment| increment.saturating_add(run.uncounted_levels()));
        let mut co = first.unwrap_or(cutoff);
        while !self.done && co <= cutoff {
            self.done = true;
            self.pass += 1;
            self.size = 0;
            self.nodes.clear();
            self.fringe.clear();
            self.bounded(run, co, options.walks.unwrap_or(u32::MAX))?;
            let Some(next) = co.checked_add(increment) else { break };
            co = next;
        }
        Ok(match (self.forgotten, self.done) {
            (true, _) => StopReason::Finished,
            (_, false) => StopReason::MaxDepth,
            _ => StopReason::Exhausted,
        })
    }

    /// `Bounded-DRS`.
    fn bounded(&mut self, run: &mut Run<'_>, co: u32, walks: u32) -> Result<(), Halt> {
        let root = self.nodes.push(0, ROOT, 1);
        self.insert_generated(0);
        let mut children = Vec::new();
        self.interior_children(run, root, &mut children)?;
        let mut i = 1;
        while !children.is_empty() && i <= walks {
            let state = children.swap_remove(run.rng.index(children.len()));
            let node = self.generate(state, root);
            self.random_walk(run, node, co)?;
            i += 1;
        }
        while let Some(node) = self.fringe.pick(&mut run.rng) {
            self.random_walk(run, node, co)?;
        }
        self.forgotten = children.iter().any(|&state| !self.in_generated(state));
        Ok(())
    }

    /// `Random-Walk`.
    fn random_walk(&mut self, run: &mut Run<'_>, node: u32, co: u32) -> Result<(), Halt> {
        let mut next = node;
        let mut children = Vec::new();
        while self.nodes.depth[next as usize] < co {
            self.interior_children(run, next, &mut children)?;
            if children.len() <= 1 {
                self.fringe.remove(next);
                if children.is_empty() {
                    return Ok(());
                }
            }
            next = self.generate(children[run.rng.index(children.len())], next);
        }
        self.fringe.remove(next);
        self.done = false;
        Ok(())
    }

    /// `Nonaccepting-Interior-Children`: the states of the children, distinct.
    fn interior_children(
        &mut self,
        run: &mut Run<'_>,
        node: u32,
        children: &mut Vec<u32>,
    ) -> Result<(), Halt> {
        children.clear();
        let transitions = self.nodes.depth[node as usize] - 1;
        self.met.load(self.nodes.state[node as usize], &mut self.state);
        let path = || self.nodes.path(node, &self.met);
        run.expand(&self.state, transitions, &mut self.successors, &path)?;
        run.check(&self.state, &self.successors, &path)?;
        distinct_targets(&self.successors, &mut self.distinct);
        for at in 0..self.distinct.len() {
            let index = self.distinct[at] as usize;
            let (state, new) = self.met.insert_exact(self.successors.state(index), ROOT);
            if new {
                self.kind.push(Kind::Untested);
                self.generated.push(0);
            }
            if !self.in_generated(state) && !self.is_leaf(run, state, index, node)? {
                children.push(state);
            }
        }
        Ok(())
    }

    /// `Leaf`, for a child that is transition `index` of the node just expanded.
    fn is_leaf(&mut self, run: &mut Run<'_>, state: u32, index: usize, parent: u32) -> Result<bool, Halt> {
        if self.kind[state as usize] == Kind::Untested {
            run.admit()?;
            let child = self.successors.state(index);
            let outcome = run.view.explorer.successors(child, &mut self.ahead);
            let path = || self.nodes.path_below(parent, &self.met, child);
            if outcome.is_err() || self.ahead.is_empty() {
                // The leaf's only expansion. A step that fails is reported in the same way.
                let transitions = self.nodes.depth[parent as usize];
                run.accept(child, transitions, &path)?;
                run.count(transitions, 0, outcome, &path)?;
                run.check(child, &self.ahead, &path)?;
                self.kind[state as usize] = Kind::Leaf;
            } else {
                self.kind[state as usize] = Kind::Interior;
            }
        }
        Ok(self.kind[state as usize] == Kind::Leaf)
    }

    /// `Insert(generated, …); Insert(fringe, …)`: a new node for a child of `parent`.
    fn generate(&mut self, state: u32, parent: u32) -> u32 {
        self.insert_generated(state);
        let node = self.nodes.push(state, parent, self.nodes.depth[parent as usize] + 1);
        self.fringe.insert(node, ());
        node
    }

    fn insert_generated(&mut self, state: u32) {
        if !self.in_generated(state) {
            self.generated[state as usize] = self.pass;
            self.size += 1;
        }
    }

    fn in_generated(&self, state: u32) -> bool {
        self.generated[state as usize] == self.pass
    }

    fn meet(&mut self, state: &[u32]) {
        self.met.insert_exact(state, ROOT);
        self.kind.push(Kind::Untested);
        self.generated.push(0);
    }
}

impl Nodes {
    fn clear(&mut self) {
        self.state.clear();
        self.parent.clear();
        self.depth.clear();
    }

    fn push(&mut self, state: u32, parent: u32, depth: u32) -> u32 {
        self.state.push(state);
        self.parent.push(parent);
        self.depth.push(depth);
        self.state.len() as u32 - 1
    }

    /// The states on the way to a node.
    fn path(&self, node: u32, met: &Visited) -> Path {
        self.path_below(node, met, &[])
    }

    /// The states on the way to a node, and one more.
    fn path_below(&self, node: u32, met: &Visited, last: &[u32]) -> Path {
        let ids = super::ancestors(node, &self.parent).map(|node| self.state[node as usize]);
        super::path_of(ids.collect(), met, last)
    }
}
