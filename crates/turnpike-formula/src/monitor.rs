//! What has to hold along a path, as a deterministic automaton that is made while it is walked.
//!
//! For a formula that a path refutes, the automaton is in a set of obligations: pairs of a place in the
//! formula and the values that matter there, all of which must hold. A step turns each obligation into
//! those after the step. Once one of them is false, the path refutes the formula. For formulas that a
//! path proves it is the same with hopes, one of which must come true.
//!
//! Conditions on what is enabled are settled when a state is expanded, before its steps are taken.

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::formula::{DataError, Formula, Judge, Node, NodeId};
use turnpike_model::{LabelId, hash};

use crate::kinds::Kinds;
use crate::numbers::{DECIDED, Numbers};
use crate::reader::Reader;

/// Remembered steps before a monitor starts again.
const MOST_STEPS: usize = 1 << 20;

/// What all monitors of a formula share.
pub(crate) struct Rules {
    kinds: Kinds,
    guarded: Box<[bool]>,
    /// Whether a path refutes the formula; otherwise one proves it.
    all: bool,
    sets: Numbers,
}

impl Rules {
    pub(crate) fn new(formula: &Formula, all: bool) -> Rules {
        let kinds = Kinds::new(formula);
        let guarded = kinds.guarded(formula, all);
        Rules { kinds, guarded, all, sets: Numbers::new() }
    }

    /// Whether some obligation depends on what is enabled, or is decided only then.
    pub(crate) fn needs_enabled(&self, formula: &Formula) -> bool {
        let waits = |at: usize| match &formula.nodes[at] {
            Node::Constant(_) | Node::Condition { .. } | Node::Call { .. } => false,
            Node::Junction { all, .. } => *all != self.all && !self.kinds.data[at],
            Node::Quantifier { .. } | Node::Modality { .. } => true,
        };
        (0..formula.nodes.len()).any(|at| waits(at) && !self.guarded[at])
    }
}

/// One thread's view of the automaton.
pub(crate) struct Monitor<'a> {
    reader: Reader<'a>,
    rules: &'a Rules,
    /// Steps that depend on the label alone.
    steps: FxHashMap<(u32, LabelId), u32>,
    hashes: FxHashMap<u32, u64>,
}

/// What follows from obligations: more of them, or that the formula is decided.
#[derive(Default)]
struct Next {
    entries: FxHashSet<Box<[u32]>>,
    decided: bool,
    /// The fixed points that were looked at before the step, and after it: once is enough.
    before: Entered,
    after: Entered,
}

/// Fixed points with their values.
type Entered = FxHashSet<(u32, Vec<u32>)>;

impl<'a> Monitor<'a> {
    pub(crate) fn new(formula: &'a Formula, judge: Box<dyn Judge + 'a>, rules: &'a Rules) -> Self {
        let reader = Reader { formula, judge };
        Monitor { reader, rules, steps: FxHashMap::default(), hashes: FxHashMap::default() }
    }

    pub(crate) fn judge(&mut self) -> &mut dyn Judge {
        &mut *self.reader.judge
    }

    /// Where the automaton begins.
    pub(crate) fn initial(&mut self) -> Result<u32, DataError> {
        let (root, values) = (self.reader.formula.root, vec![0; self.reader.formula.slots]);
        let mut next = Next::default();
        self.add(root, &values, &mut next)?;
        Ok(self.finish(next))
    }

    fn finish(&self, next: Next) -> u32 {
        if next.decided {
            return DECIDED;
        }
        let mut entries: Vec<Box<[u32]>> = next.entries.into_iter().collect();
        entries.sort_unstable();
        self.rules.sets.number(entries.concat())
    }

    /// A hash of what a set means.
    pub(crate) fn content_hash(&mut self, set: u32) -> u64 {
        if let Some(&known) = self.hashes.get(&set) {
            return known;
        }
        let words = self.rules.sets.get(set);
        let entries = words.chunks_exact(1 + self.reader.formula.slots);
        let mut hashes: Vec<u64> =
            entries.map(|entry| self.reader.content_hash(entry[0], &entry[1..])).collect();
        hashes.sort_unstable();
        let hash = hashes.into_iter().fold(u64::from(set == DECIDED), hash::mix);
        self.hashes.insert(set, hash);
        hash
    }

    /// What is left of a set in a state with these steps: obligations that only a step decides.
    pub(crate) fn settle(&mut self, set: u32, enabled: &[LabelId]) -> Result<u32, DataError> {
        let words = self.rules.sets.get(set);
        let size = 1 + self.reader.formula.slots;
        if words.chunks_exact(size).all(|entry| self.rules.guarded[entry[0] as usize]) {
            return Ok(set);
        }
        let mut next = Next::default();
        for entry in words.chunks_exact(size) {
            self.settle_node(entry[0], &entry[1..], enabled, &mut next)?;
        }
        Ok(self.finish(next))
    }

    fn settle_node(
        &mut self,
        node: NodeId,
        values: &[u32],
        enabled: &[LabelId],
        next: &mut Next,
    ) -> Result<(), DataError> {
        let (formula, rules) = (self.reader.formula, self.rules);
        match &formula.nodes[node as usize] {
            Node::Call { point, arguments } => {
                let inside = self.reader.enter(*point, *arguments, values)?;
                if next.before.insert((*point, inside.clone())) {
                    let body = formula.points[*point as usize].body;
                    self.settle_node(body, &inside, enabled, next)?;
                }
            }
            _ if rules.kinds.data[node as usize] => {
                next.decided |= self.reader.value(node, values, &[])? != rules.all;
            }
            _ if rules.guarded[node as usize] => self.insert(node, values, next),
            Node::Junction { all, parts } if *all == rules.all => {
                for &part in parts {
                    self.settle_node(part, values, enabled, next)?;
                }
            }
            Node::Quantifier { all, quantifier, body } if *all == rules.all => {
                for bound in self.reader.bind(*quantifier, enabled, values)? {
                    self.settle_node(*body, &bound, enabled, next)?;
                }
            }
            Node::Junction { parts, .. } if !rules.kinds.local[node as usize] => {
                let (here, later): (Vec<NodeId>, Vec<NodeId>) =
                    parts.iter().partition(|&&part| rules.kinds.local[part as usize]);
                for part in here {
                    if self.reader.value(part, values, enabled)? == rules.all {
                        return Ok(());
                    }
                }
                // One player alone has choices, so there is one.
                for part in later {
                    self.settle_node(part, values, enabled, next)?;
                }
            }
            _ => next.decided |= self.reader.value(node, values, enabled)? != rules.all,
        }
        Ok(())
    }

    /// Where a step leads from a set that was settled.
    pub(crate) fn step(&mut self, set: u32, label: LabelId) -> Result<u32, DataError> {
        if let Some(&known) = self.steps.get(&(set, label)) {
            return Ok(known);
        }
        let words = self.rules.sets.get(set);
        let mut next = Next::default();
        for entry in words.chunks_exact(1 + self.reader.formula.slots) {
            self.advance(entry[0], &entry[1..], label, &mut next)?;
        }
        let next = self.finish(next);
        if self.steps.len() >= MOST_STEPS {
            self.steps.clear();
        }
        self.steps.insert((set, label), next);
        Ok(next)
    }

    fn insert(&self, node: NodeId, values: &[u32], next: &mut Next) {
        let mut entry = vec![node];
        entry.extend(self.reader.live_values(node, values));
        next.entries.insert(entry.into());
    }

    /// Adds what a place requires, as far as data tells.
    fn add(&mut self, node: NodeId, values: &[u32], next: &mut Next) -> Result<(), DataError> {
        let (formula, rules) = (self.reader.formula, self.rules);
        match &formula.nodes[node as usize] {
            _ if rules.kinds.data[node as usize] => {
                next.decided |= self.reader.value(node, values, &[])? != rules.all;
            }
            Node::Junction { all, parts } if *all == rules.all => {
                for &part in parts {
                    self.add(part, values, next)?;
                }
            }
            Node::Call { point, arguments } => {
                let inside = self.reader.enter(*point, *arguments, values)?;
                if next.after.insert((*point, inside.clone())) {
                    self.add(formula.points[*point as usize].body, &inside, next)?;
                }
            }
            _ => self.insert(node, values, next),
        }
        Ok(())
    }

    /// Adds what a place that only a step decides requires after a step.
    fn advance(
        &mut self,
        node: NodeId,
        values: &[u32],
        label: LabelId,
        next: &mut Next,
    ) -> Result<(), DataError> {
        let (formula, rules) = (self.reader.formula, self.rules);
        match &formula.nodes[node as usize] {
            Node::Modality { action, body, .. } => {
                if self.reader.matches(*action, label, values)? {
                    self.add(*body, values, next)?;
                }
            }
            Node::Junction { all, parts } => {
                // Data decides all parts of an exception but one.
                for &part in parts.iter().filter(|&&part| rules.kinds.data[part as usize]) {
                    if *all != rules.all && self.reader.value(part, values, &[])? == rules.all {
                        return Ok(());
                    }
                }
                for &part in parts.iter().filter(|&&part| !rules.kinds.data[part as usize]) {
                    self.advance(part, values, label, next)?;
                }
            }
            Node::Quantifier { quantifier, body, .. } => {
                for bound in self.reader.bind(*quantifier, &[label], values)? {
                    self.advance(*body, &bound, label, next)?;
                }
            }
            Node::Call { point, arguments } => {
                let inside = self.reader.enter(*point, *arguments, values)?;
                if next.before.insert((*point, inside.clone())) {
                    self.advance(formula.points[*point as usize].body, &inside, label, next)?;
                }
            }
            Node::Constant(_) | Node::Condition { .. } => {}
        }
        Ok(())
    }
}
