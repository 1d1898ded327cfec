//! Inclusion of traces and failures, with the subset construction on the fly.
//!
//! A state of the left and the set of states where the right can be after the same trace form a
//! pair. All pairs are visited breadth-first. A pair whose set includes that of a visited pair for
//! the same state cannot show anything new: visited pairs form an antichain.

use rustc_hash::FxHashMap;

use crate::reduction::determinise::Subsets;
use crate::reduction::graph::{Graph, NONE};
use crate::reduction::limit::Explosion;
use crate::reduction::lists::Lists;

/// Something that the left can do after a trace, but the right cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offence {
    /// This label.
    Label(u32),
    /// Refusing all of these labels.
    Refusal(Vec<u32>),
}

/// A shortest common trace with an offence after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counterexample {
    pub(crate) trace: Vec<u32>,
    pub(crate) offence: Offence,
}

/// The kind of inclusion to decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The label that traces omit.
    pub(crate) hidden: Option<u32>,
    /// Whether refusals are compared as well.
    pub(crate) failures: bool,
    pub(crate) limit: usize,
    /// Longer traces are ignored.
    pub(crate) longest: usize,
}

/// Searches for a trace of `left`, and a refusal after it if requested, that `right` lacks.
pub(crate) fn find_counterexample(
    graph: &Graph,
    left: u32,
    right: u32,
    question: Question,
) -> Result<Option<Counterexample>, Explosion> {
    let mut search = Search::new(graph, question);
    let start = search.subsets.add([right])?;
    search.visit(left, start, (NONE, NONE))?;
    for length in 0.. {
        if search.queue.is_empty() || length > question.longest {
            break;
        }
        if let Some(found) = search.finish_level(length == question.longest)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A queued pair.
#[derive(Clone, Copy)]
struct Entry {
    number: u32,
    state: u32,
    set: u32,
}

struct Search<'a> {
    graph: &'a Graph,
    question: Question,
    subsets: Subsets<'a>,
    /// For each set, a word with a bit for each of its members, to refute most inclusions quickly.
    masks: Vec<u64>,
    /// For each state of the left, the minimal sets it was visited with.
    antichain: Vec<Vec<u32>>,
    /// The set that a label leads to from a set.
    after: FxHashMap<(u32, u32), u32>,
    /// The predecessor of each pair, and the label.
    history: Vec<(u32, u32)>,
    /// The pairs that traces of the current length lead to.
    queue: Vec<Entry>,
    /// The labels that each state offers, by number, if failures are compared.
    offers: Lists<u32>,
    offer_of: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, question: Question) -> Search<'a> {
        let mut offers = Lists::default();
        let mut labels = Vec::new();
        let offered = (0..graph.states() as u32).map(|state| {
            labels.clear();
            labels.extend(graph.edges(state).iter().map(|edge| edge.label));
            labels.dedup();
            offers.intern(&labels)
        });
        let offer_of = if question.failures { offered.collect() } else { Vec::new() };
        Search {
            graph,
            question,
            subsets: Subsets::new(graph, question.hidden, question.limit),
            masks: Vec::new(),
            antichain: vec![Vec::new(); graph.states()],
            after: FxHashMap::default(),
            history: Vec::new(),
            queue: Vec::new(),
            offers,
            offer_of,
        }
    }

    /// Processes all pairs of the current trace length, and moves on to the next length.
    fn finish_level(&mut self, last: bool) -> Result<Option<Counterexample>, Explosion> {
        let graph = self.graph;
        // Complete this length first, so that a longer trace does not replace a shorter one.
        if let Some(hidden) = self.question.hidden {
            let mut next = 0;
            while let Some(&Entry { number, state, set }) = self.queue.get(next) {
                for edge in graph.edges_with(state, hidden) {
                    self.visit(edge.target, set, (number, NONE))?;
                }
                next += 1;
            }
        }
        for entry in std::mem::take(&mut self.queue) {
            if let Some(offence) = self.expand(entry, last)? {
                return Ok(Some(Counterexample { trace: self.trace_to(entry.number), offence }));
            }
        }
        Ok(None)
    }

    /// Follows the visible steps of a pair, unless this is the last length. Returns what the right
    /// cannot do.
    fn expand(&mut self, entry: Entry, last: bool) -> Result<Option<Offence>, Explosion> {
        let Entry { state, set, number } = entry;
        if let Some(refusal) = self.refusal(state, set) {
            return Ok(Some(Offence::Refusal(refusal)));
        }
        let graph = self.graph;
        for group in graph.edges(state).chunk_by(|a, b| a.label == b.label) {
            let label = group[0].label;
            if last || Some(label) == self.question.hidden {
                continue;
            }
            let next = self.after(set, label)?;
            if self.subsets.get(next).is_empty() {
                return Ok(Some(Offence::Label(label)));
            }
            for edge in group {
                self.visit(edge.target, next, (number, label))?;
            }
        }
        Ok(None)
    }

    fn after(&mut self, set: u32, label: u32) -> Result<u32, Explosion> {
        if let Some(&known) = self.after.get(&(set, label)) {
            return Ok(known);
        }
        let next = self.subsets.after(set, label)?;
        self.after.insert((set, label), next);
        Ok(next)
    }

    /// Queues a pair, unless it cannot show anything new.
    fn visit(&mut self, state: u32, set: u32, from: (u32, u32)) -> Result<(), Explosion> {
        while self.masks.len() <= set as usize {
            let members = self.subsets.get(self.masks.len() as u32);
            self.masks.push(members.iter().fold(0, |mask, &member| mask | 1 << (member % 64)));
        }
        // A set that contains the state itself includes everything that it can do.
        if self.subsets.get(set).binary_search(&state).is_ok() {
            return Ok(());
        }
        let mut known = std::mem::take(&mut self.antichain[state as usize]);
        let new = !known.iter().any(|&smaller| self.is_subset(smaller, set));
        if new {
            known.retain(|&larger| !self.is_subset(set, larger));
            known.push(set);
            let number = self.history.len() as u32;
            self.history.push(from);
            self.queue.push(Entry { number, state, set });
            let used = self.subsets.members() + self.history.len();
            Explosion::check(used, self.question.limit, Explosion::Determinising)?;
        }
        self.antichain[state as usize] = known;
        Ok(())
    }

    fn is_subset(&self, small: u32, large: u32) -> bool {
        let masks = (self.masks[small as usize], self.masks[large as usize]);
        masks.0 & !masks.1 == 0 && is_sorted_subset(self.subsets.get(small), self.subsets.get(large))
    }

    /// Labels that the state refuses such that each state of the set offers one of them.
    fn refusal(&self, state: u32, set: u32) -> Option<Vec<u32>> {
        let rests = |state: u32| {
            self.question.hidden.is_none_or(|hidden| self.graph.edges_with(state, hidden).is_empty())
        };
        if !self.question.failures || !rests(state) {
            return None;
        }
        let offer = |state: u32| self.offers.get(self.offer_of[state as usize]);
        let own = offer(state);
        let mut refused = Vec::new();
        for &other in self.subsets.get(set).iter().filter(|&&other| rests(other)) {
            let label = offer(other).iter().find(|label| own.binary_search(label).is_err());
            refused.push(*label?);
        }
        refused.sort_unstable();
        refused.dedup();
        Some(refused)
    }

    fn trace_to(&self, mut number: u32) -> Vec<u32> {
        let mut trace = Vec::new();
        while number != NONE {
            let (before, label) = self.history[number as usize];
            trace.extend((label != NONE).then_some(label));
            number = before;
        }
        trace.reverse();
        trace
    }
}

fn is_sorted_subset(small: &[u32], large: &[u32]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len()
        && small.iter().all(|one| rest.by_ref().find(|&other| other >= one) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_of_sorted_lists() {
        for (small, large, expected) in [
            (&[][..], &[][..], true),
            (&[], &[1], true),
            (&[1], &[], false),
            (&[1, 3], &[1, 2, 3], true),
            (&[1, 4], &[1, 2, 3], false),
            (&[0, 3], &[1, 2, 3], false),
        ] {
            assert_eq!(is_sorted_subset(small, large), expected, "{small:?} {large:?}");
        }
    }
}
