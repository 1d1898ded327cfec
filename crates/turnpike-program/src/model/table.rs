//! The schedules that lead to the states met so far, as a tree: each node is a choice after another
//! schedule.
//!
//! A state is known by a fingerprint that does not say how to get there, so the first schedule that
//! reached it is kept. Any other would do as well: what can happen next is the same.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::{LabelId, Violation};

/// The parent of the initial state, which is not a node.
const NONE: u32 = u32::MAX;
const SHARDS: usize = 64;

/// What is known of a state that some explorer expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) deadlock: bool,
    pub(super) violation: Option<Violation>,
}

/// How a state was reached.
#[derive(Debug)]
pub(super) struct Node {
    /// The predicted fingerprint of the happens-before order.
    pub(super) fingerprint: u128,
    parent: u32,
    choice: u32,
    label: LabelId,
    /// Whether it was expanded, and whether that showed something.
    known: AtomicU8,
}

/// Values of [`Node::known`].
const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const SPECIAL: u8 = 2;

/// One step of a schedule, as it was when it was first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) fingerprint: u128,
    pub(super) label: LabelId,
}

/// States by their keys, shared by all explorers of a model.
pub(super) struct Table {
    shards: Vec<Mutex<FxHashMap<u128, u32>>>,
    nodes: boxcar::Vec<Node>,
    /// Outcomes of the few states that showed something, by node.
    outcomes: Mutex<FxHashMap<u32, Outcome>>,
}

impl Table {
    pub(super) fn new() -> Self {
        Table {
            shards: (0..SHARDS).map(|_| Mutex::new(FxHashMap::default())).collect(),
            nodes: boxcar::Vec::new(),
            outcomes: Mutex::default(),
        }
    }

    fn shard(&self, key: u128) -> &Mutex<FxHashMap<u128, u32>> {
        &self.shards[(key >> 64) as usize % SHARDS]
    }

    /// The node of a state, if it was ever met.
    pub(super) fn find(&self, key: u128) -> Option<u32> {
        self.shard(key).lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }

    /// Inserts the initial state.
    pub(super) fn insert_root(&self, key: u128, fingerprint: u128) {
        self.insert(
            key,
            Node { fingerprint, parent: NONE, choice: 0, label: LabelId(0), known: AtomicU8::new(UNKNOWN) },
        );
    }

    /// Inserts the state that a choice leads to, unless it is known already.
    pub(super) fn insert_child(&self, key: u128, parent: u32, choice: u32, expected: Expected) {
        let Expected { fingerprint, label } = expected;
        self.insert(key, Node { fingerprint, parent, choice, label, known: AtomicU8::new(UNKNOWN) });
    }

    fn insert(&self, key: u128, node: Node) {
        let mut shard = self.shard(key).lock().unwrap_or_else(PoisonError::into_inner);
        shard.entry(key).or_insert_with(|| self.nodes.push(node) as u32);
    }

    pub(super) fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// The choices that lead to a node.
    pub(super) fn schedule(&self, id: u32, out: &mut Vec<u32>) {
        out.clear();
        let mut node = self.node(id);
        while node.parent != NONE {
            out.push(node.choice);
            node = self.node(node.parent);
        }
        out.reverse();
    }

    /// What was seen along the schedule of a node, step by step.
    pub(super) fn expected(&self, id: u32) -> Vec<Expected> {
        let mut steps = Vec::new();
        let mut node = self.node(id);
        while node.parent != NONE {
            steps.push(Expected { fingerprint: node.fingerprint, label: node.label });
            node = self.node(node.parent);
        }
        steps.reverse();
        steps
    }

    /// Remembers what the expansion of a state showed.
    pub(super) fn set_outcome(&self, id: u32, outcome: &Outcome) {
        let plain = *outcome == Outcome::default();
        if !plain {
            let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.entry(id).or_insert_with(|| outcome.clone());
        }
        self.node(id).known.store(if plain { PLAIN } else { SPECIAL }, Ordering::Release);
    }

    /// What the expansion of a state showed, if it was expanded.
    pub(super) fn outcome(&self, id: u32) -> Option<Outcome> {
        match self.node(id).known.load(Ordering::Acquire) {
            UNKNOWN => None,
            PLAIN => Some(Outcome::default()),
            _ => self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned(),
        }
    }

    /// The number of known states.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_schedule_is_kept() {
        let table = Table::new();
        let step = |fingerprint| Expected { fingerprint, label: LabelId(7) };
        table.insert_root(1, 1);
        let root = table.find(1).expect("known");
        table.insert_child(2, root, 3, step(2));
        let child = table.find(2).expect("known");
        table.insert_child(5 << 70, child, 0, step(5));
        table.insert_child(5 << 70, root, 9, step(5));
        let mut schedule = vec![4];
        table.schedule(table.find(5 << 70).expect("known"), &mut schedule);
        assert_eq!(schedule, [3, 0]);
        assert_eq!(table.expected(child), [step(2)]);
        table.schedule(root, &mut schedule);
        assert!(schedule.is_empty());
        assert_eq!(table.outcome(child), None);
        table.set_outcome(child, &Outcome::default());
        table.set_outcome(root, &Outcome { deadlock: true, violation: None });
        assert_eq!(table.outcome(child), Some(Outcome::default()));
        assert!(table.outcome(root).is_some_and(|outcome| outcome.deadlock));
        assert_eq!((table.find(77), table.len()), (None, 3));
    }
}
