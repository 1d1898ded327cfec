//! The core of Deep Random Search: walks from the fringe that go as deep as they can.
//!
//! From the current node, a walk enters a child drawn uniformly from those that may be entered,
//! until there is none or a bound stops it. Nodes that may still have such children wait in the
//! fringe; the next walk begins at one of them, all equally likely. The [`Terrain`] says what may
//! be entered, and what entering means: states to test, states up to covering, or states with
//! cycles among them.

use super::Fringe;
use super::fringe::OpenSet;
use crate::error::Halt;
use crate::run::Run;

/// What walks go through: nodes, known by numbers.
pub(in crate::strategy) trait Terrain {
    /// Whether a walk at `parent` may enter `child`. Once false it stays false until `parent` is expanded again.
    fn is_open(&self, child: u32, parent: u32) -> bool;

    /// A walk enters `child` from `parent`, and expands it unless it is too deep.
    fn enter(&mut self, run: &mut Run<'_>, child: u32, parent: u32) -> Result<Entered, Halt>;

    /// Expands a node, and returns its distinct children that may be entered.
    fn expand(&mut self, run: &mut Run<'_>, node: u32) -> Result<Vec<u32>, Halt>;

    /// `child` joins the fringe by itself, left behind at `parent`.
    fn leave(&mut self, child: u32, parent: u32) {
        let _ = (child, parent);
    }

    /// A node of the fringe is drawn, which had these children left. What a walk from it tries; `None` when there is no
    /// walk.
    fn resume(&mut self, run: &mut Run<'_>, node: u32, untried: Vec<u32>) -> Result<Option<Vec<u32>>, Halt> {
        let _ = (run, node);
        Ok(Some(untried))
    }
}

/// What a walk found in a child.
pub(in crate::strategy) enum Entered {
    /// It was expanded, and has these children that may be entered.
    Interior(Vec<u32>),
    /// Nothing lies behind it: one of its siblings is drawn instead. So the draw stays uniform over interior children
    /// without a separate test.
    Leaf,
    /// The bound on depth stops the walk.
    Cut,
}

/// Walks, and the fringe in which they begin.
pub(in crate::strategy) struct Walks<T> {
    pub(in crate::strategy) terrain: T,
    /// Nodes to begin walks at, each with its untried children once it was expanded.
    pub(super) fringe: OpenSet<Vec<u32>>,
    children_wait: bool,
}

/// What became of a step.
enum Step {
    /// The walk is in this interior child, which has these children to enter.
    Into(u32, Vec<u32>),
    Cut,
    /// No child is left to enter.
    Closed,
}

impl<T: Terrain> Walks<T> {
    pub(in crate::strategy) fn new(terrain: T, fringe: Fringe) -> Self {
        Walks { terrain, fringe: OpenSet::new(), children_wait: fringe == Fringe::Children }
    }

    /// Walks from distinct children of the initial node; it joins the fringe if some remain.
    pub(in crate::strategy) fn walk_from_initial(
        &mut self,
        run: &mut Run<'_>,
        initial: u32,
        walks: Option<u32>,
    ) -> Result<(), Halt> {
        let mut untried = self.terrain.expand(run, initial)?;
        for _ in 0..walks.unwrap_or(u32::MAX) {
            match self.step(run, initial, &mut untried)? {
                Step::Into(child, below) => self.walk(run, child, below)?,
                Step::Cut => {}
                Step::Closed => break,
            }
        }
        self.keep(initial, untried);
        Ok(())
    }

    /// A walk from a random node of the fringe; false if there is none.
    pub(in crate::strategy) fn walk_from_fringe(&mut self, run: &mut Run<'_>) -> Result<bool, Halt> {
        let Some(node) = self.fringe.pick(&mut run.rng) else { return Ok(false) };
        let untried = self.fringe.remove(node).unwrap_or_default();
        self.walk_from(run, node, untried)?;
        Ok(true)
    }

    /// A walk from a node that the fringe had with these children left.
    pub(super) fn walk_from(&mut self, run: &mut Run<'_>, node: u32, untried: Vec<u32>) -> Result<(), Halt> {
        match self.terrain.resume(run, node, untried)? {
            Some(untried) => self.walk(run, node, untried),
            None => Ok(()),
        }
    }

    /// A deep random walk from an expanded node.
    fn walk(&mut self, run: &mut Run<'_>, start: u32, untried: Vec<u32>) -> Result<(), Halt> {
        let (mut at, mut untried) = (start, untried);
        while let Step::Into(child, below) = self.step(run, at, &mut untried)? {
            self.keep(at, std::mem::replace(&mut untried, below));
            at = child;
        }
        self.keep(at, untried);
        Ok(())
    }

    /// One step of a walk: into an interior child, drawn uniformly from those that may be entered.
    fn step(&mut self, run: &mut Run<'_>, at: u32, untried: &mut Vec<u32>) -> Result<Step, Halt> {
        while !untried.is_empty() {
            let child = untried.swap_remove(run.rng.index(untried.len()));
            if !self.terrain.is_open(child, at) {
                continue;
            }
            // Its list, if it has one, belongs to the depth it had.
            self.fringe.remove(child);
            match self.terrain.enter(run, child, at)? {
                Entered::Interior(below) => return Ok(Step::Into(child, below)),
                Entered::Leaf => {}
                Entered::Cut => return Ok(Step::Cut),
            }
        }
        Ok(Step::Closed)
    }

    /// Puts what a walk leaves behind into the fringe: the node with its untried children, or those themselves.
    fn keep(&mut self, node: u32, mut untried: Vec<u32>) {
        if self.children_wait {
            for child in untried {
                if self.terrain.is_open(child, node) {
                    self.terrain.leave(child, node);
                    self.fringe.insert(child, Vec::new());
                }
            }
            return;
        }
        // As in the paper, a node is in the fringe only if it has something left when the walk passes on.
        while untried.pop_if(|child| !self.terrain.is_open(*child, node)).is_some() {}
        if !untried.is_empty() {
            self.fringe.insert(node, untried);
        }
    }
}
