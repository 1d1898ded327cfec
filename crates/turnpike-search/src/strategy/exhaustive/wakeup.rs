//! Wakeup trees: the orders that are to be tried from a state.
//!
//! A node is a step that is to be taken after those above it. A leaf stands for all executions that
//! begin with the steps down to it.

use turnpike_model::paths::{Cause, Choice, Known, StepOrder};

/// A step to be taken, and what is to be tried after it.
#[derive(Debug)]
pub(super) struct Node {
    /// The step as it was elsewhere.
    pub(super) choice: Choice,
    /// The alternative, or [`Cause::ANY`].
    pub(super) alternative: u32,
    /// Whether the step was taken after the same steps as on this path, except independent ones.
    sure: bool,
    /// Whether its actor may have had other alternatives.
    several: bool,
    /// Whether something else is to be tried after it that has no place in the tree.
    pub(super) lacks: bool,
    pub(super) children: Vec<Node>,
}

impl Node {
    pub(super) fn is(&self, actor: u32, alternative: u32) -> bool {
        self.choice.actor == actor && (self.alternative == alternative || self.alternative == Cause::ANY)
    }
}

/// A sequence of events that reverses a race. The last one happens without the step that it was after, so
/// what it does may be something else.
pub(super) struct Reversal<'a> {
    pub(super) order: &'a dyn StepOrder,
    /// What is left of it.
    pub(super) rest: Vec<usize>,
    later: usize,
    known: Known,
}

impl<'a> Reversal<'a> {
    pub(super) fn new(order: &'a dyn StepOrder, earlier: usize, later: usize) -> Self {
        Reversal { order, rest: order.reversal(earlier, later), later, known: order.known_at(earlier) }
    }

    /// The position of the first event of an actor, and whether it may come before all others.
    fn first_of(&self, actor: u32) -> Option<(usize, bool)> {
        let at = self.rest.iter().position(|&event| self.order.event(event).0 == actor)?;
        let event = self.rest[at];
        let precedes = |&other: &usize| {
            self.order.before(other, event)
                || event == self.later
                    && self.order.may_conflict(&self.order.choice(event), other, false, Known::ALL)
        };
        Some((at, !self.rest[..at].iter().any(precedes)))
    }

    /// Whether a choice commutes with all events.
    fn commutes(&self, choice: &Choice, sure: bool, known: Known) -> bool {
        let conflicts =
            |&event: &usize| self.order.may_conflict(choice, event, sure && event != self.later, known);
        !self.rest.iter().any(conflicts)
    }

    /// Whether executions that begin with this reversal also exist with these choices of an actor as the first
    /// step. `all`: these are all that it has.
    pub(super) fn may_begin_with(&self, choices: &[Choice], all: bool, commuting: bool) -> bool {
        let Some(actor) = choices.first().map(|choice| choice.actor) else { return false };
        match self.first_of(actor) {
            Some((_, false)) => false,
            // What an alternative means may be a matter of what others are about to do.
            Some((_, true)) => all,
            None => {
                let commutes = |choice| self.commutes(choice, true, Known::ALL);
                commuting && all && choices.iter().all(commutes)
            }
        }
    }

    /// Adds it to a tree, unless it is there. `several` tells whether the actor of an event had other alternatives,
    /// `at_root` how many an actor has in the state of the tree, `commuting` whether steps
    /// that commute with it count.
    pub(super) fn insert(
        mut self,
        tree: &mut Vec<Node>,
        several: &dyn Fn(usize) -> bool,
        at_root: &dyn Fn(u32) -> usize,
        commuting: bool,
    ) {
        let (mut way, mut nodes) = (Vec::new(), &*tree);
        while let Some(at) = nodes.iter().position(|node| {
            let known = if way.is_empty() { Known::ALL } else { self.known };
            self.continues(node, known, commuting)
        }) {
            let node = &nodes[at];
            if node.children.is_empty() {
                return;
            }
            if let Some((at, _)) = self.first_of(node.choice.actor) {
                self.rest.remove(at);
            }
            if self.rest.is_empty() {
                return;
            }
            way.push(at);
            nodes = &node.children;
        }
        if way.is_empty() {
            // What cannot begin here waits for something. A leaf for it would stand for nothing.
            let may_begin = |&at: &usize| {
                let (actor, _) = self.order.event(self.rest[at]);
                at_root(actor) > 0 && self.first_of(actor) == Some((at, true))
            };
            let Some(at) = (0..self.rest.len()).find(may_begin) else { return };
            self.rest[..=at].rotate_right(1);
        }
        // Actors that came later may have another number on the way that is to be tried.
        let is_known = |event: usize| self.order.event(event).0 < self.known.actors;
        let mut nodes = tree;
        for (depth, &at) in way.iter().enumerate() {
            let node = &mut nodes[at];
            node.lacks |= depth + 1 == way.len() && !is_known(self.rest[0]);
            nodes = &mut node.children;
        }
        for &event in self.rest.iter().take_while(|&&event| is_known(event)) {
            let (actor, alternative) = self.order.event(event);
            let sure = event != self.later;
            nodes.push(Node {
                choice: self.order.choice(event),
                alternative: if sure { alternative } else { Cause::ANY },
                sure,
                several: several(event) || way.is_empty() && at_root(actor) > 1,
                lacks: false,
                children: Vec::new(),
            });
            let last = nodes.len() - 1;
            nodes = &mut nodes[last].children;
        }
    }

    /// Whether what is left may begin with the step of a node.
    fn continues(&self, node: &Node, known: Known, commuting: bool) -> bool {
        match self.first_of(node.choice.actor) {
            Some((_, false)) => false,
            Some((at, true)) => {
                let (_, alternative) = self.order.event(self.rest[at]);
                self.rest[at] == self.later || [alternative, Cause::ANY].contains(&node.alternative)
            }
            None => commuting && !node.several && self.commutes(&node.choice, node.sure, known),
        }
    }
}

/// The way to the first leaf.
pub(super) fn first_way(mut tree: &[Node], way: &mut Vec<(u32, u32)>) {
    way.clear();
    while let Some(node) = tree.first() {
        way.push((node.choice.actor, node.alternative));
        tree = &node.children;
    }
}
