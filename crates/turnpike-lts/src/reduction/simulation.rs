//! Simulation: pairs of states that are related until the opposite is proved.
//!
//! Only pairs that the initial pair depends on are created. For each step of its left state, a pair
//! relies on one answer. If the pair of the two targets turns out to be unrelated, it tries the
//! next answer, and without one it is unrelated itself. The remaining pairs rely on each other, so
//! they form a simulation.

use rustc_hash::FxHashMap;

use crate::reduction::difference::{Move, Reason, Side};
use crate::reduction::distinguish::Workbench;
use crate::reduction::formula::Formula;
use crate::reduction::graph::{Alphabet, Edge, Graph, NONE};
use crate::reduction::limit::Explosion;

/// Formulas are not nested deeper than this.
const MAX_DEPTH: usize = 150;

/// Why a pair is not related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// The left has this step (by number), and no answer suffices.
    Step(u32),
    /// Only the left offers this label.
    OnlyLeft(u32),
    /// Only the right offers this label, which is not allowed.
    OnlyRight(u32),
}

/// A pair of states.
struct Pair {
    left: u32,
    right: u32,
    /// The index of its answers: one for each step of the left state.
    answers: u32,
    /// Once it is unrelated: why, and when.
    failure: Option<(Failure, u32)>,
    /// The pairs that rely on it, as the first entry of a list in `reliances`.
    relied_on: u32,
}

/// `pair` relies on another pair for its step `step`.
struct Reliance {
    pair: u32,
    step: u32,
    next: u32,
}

/// The simulation game from a pair.
pub(crate) struct Simulation<'a> {
    graph: &'a Graph,
    /// Whether both sides must offer the same labels.
    ready: bool,
    limit: usize,
    numbers: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
    /// For each step of each pair, the number of answers tried.
    tried: Vec<u32>,
    reliances: Vec<Reliance>,
    /// Steps that need an answer, in order of arrival.
    queue: std::collections::VecDeque<(u32, u32)>,
    failures: u32,
}

impl<'a> Simulation<'a> {
    /// Decides whether `start[1]` simulates `start[0]`.
    pub(crate) fn decide(
        graph: &'a Graph,
        start: [u32; 2],
        ready: bool,
        limit: usize,
    ) -> Result<Simulation<'a>, Explosion> {
        let mut simulation = Simulation {
            graph,
            ready,
            limit,
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
            tried: Vec::new(),
            reliances: Vec::new(),
            queue: std::collections::VecDeque::new(),
            failures: 0,
        };
        let root = simulation.number(start[0], start[1])?;
        while let Some((pair, step)) = simulation.queue.pop_front() {
            if simulation.pairs[root as usize].failure.is_some() {
                break;
            }
            if simulation.pairs[pair as usize].failure.is_none() {
                simulation.answer(pair, step)?;
            }
        }
        Ok(simulation)
    }

    /// Whether the initial pair is related.
    pub(crate) fn is_related(&self) -> bool {
        self.pairs[0].failure.is_none()
    }

    /// The number of a pair, which is added if it is new.
    fn number(&mut self, left: u32, right: u32) -> Result<u32, Explosion> {
        let next = self.pairs.len() as u32;
        let number = *self.numbers.entry((left, right)).or_insert(next);
        if number == next {
            let steps = self.graph.edges(left).len();
            let used = self.pairs.len() + self.tried.len() + steps + self.reliances.len();
            Explosion::check(used, self.limit, Explosion::Pairing)?;
            let failure = self.labels_differ(left, right).map(|failure| {
                self.failures += 1;
                (failure, self.failures)
            });
            let answers = self.tried.len() as u32;
            if failure.is_none() {
                self.tried.resize(self.tried.len() + steps, 0);
                self.queue.extend((0..steps as u32).map(|step| (number, step)));
            }
            self.pairs.push(Pair { left, right, answers, failure, relied_on: NONE });
        }
        Ok(number)
    }

    /// A label that only one side offers, if that matters.
    fn labels_differ(&self, left: u32, right: u32) -> Option<Failure> {
        let first_of = |own: &[Edge], other: &[Edge]| {
            let mut rest = other.iter().map(|edge| edge.label).peekable();
            own.iter().map(|edge| edge.label).find(|&label| {
                while rest.next_if(|&offered| offered < label).is_some() {}
                rest.peek() != Some(&label)
            })
        };
        let (own, other) = (self.graph.edges(left), self.graph.edges(right));
        let only_left = first_of(own, other).map(Failure::OnlyLeft);
        only_left.or_else(|| first_of(other, own).filter(|_| self.ready).map(Failure::OnlyRight))
    }

    /// Finds an answer for a step. Without one, the pair is unrelated, and the pairs that rely on
    /// it need new answers.
    fn answer(&mut self, pair: u32, step: u32) -> Result<(), Explosion> {
        let Pair { left, right, answers, .. } = self.pairs[pair as usize];
        let graph = self.graph;
        let Edge { label, target } = graph.edges(left)[step as usize];
        let options = graph.edges_with(right, label);
        // A state simulates itself.
        if options.binary_search(&Edge { label, target }).is_ok() {
            return Ok(());
        }
        let slot = (answers + step) as usize;
        while let Some(option) = options.get(self.tried[slot] as usize) {
            let next = self.number(target, option.target)?;
            let relied = &mut self.pairs[next as usize];
            if relied.failure.is_none() {
                let reliance = Reliance { pair, step, next: relied.relied_on };
                relied.relied_on = self.reliances.len() as u32;
                self.reliances.push(reliance);
                return Ok(());
            }
            self.tried[slot] += 1;
        }
        self.failures += 1;
        self.pairs[pair as usize].failure = Some((Failure::Step(step), self.failures));
        let mut at = std::mem::replace(&mut self.pairs[pair as usize].relied_on, NONE);
        while at != NONE {
            let Reliance { pair, step, next } = self.reliances[at as usize];
            self.queue.push_back((pair, step));
            at = next;
        }
        Ok(())
    }

    /// The answers to the failing step of a pair.
    fn answers(&self, pair: &Pair, step: u32) -> (Edge, &'a [Edge]) {
        let edge = self.graph.edges(pair.left)[step as usize];
        (edge, self.graph.edges_with(pair.right, edge.label))
    }

    fn failure(&self, left: u32, right: u32) -> (&Pair, Failure, u32) {
        let pair = &self.pairs[self.numbers[&(left, right)] as usize];
        let (failure, time) = pair.failure.expect("only unrelated pairs are explained");
        (pair, failure, time)
    }

    /// The steps that show that the initial pair is not related.
    pub(crate) fn experiment(&self, alphabet: &Alphabet) -> Reason {
        let text = |label: u32| alphabet.texts[label as usize].clone();
        let mut moves = Vec::new();
        let (mut left, mut right) = (self.pairs[0].left, self.pairs[0].right);
        loop {
            let (pair, failure, _) = self.failure(left, right);
            match failure {
                Failure::OnlyLeft(label) => {
                    return Reason::Experiment { moves, label: text(label), offered_by: Side::Left };
                }
                Failure::OnlyRight(label) => {
                    return Reason::Experiment { moves, label: text(label), offered_by: Side::Right };
                }
                Failure::Step(step) => {
                    let (edge, answers) = self.answers(pair, step);
                    moves.push(Move { side: Side::Left, label: text(edge.label), answers: answers.len() });
                    // The answer that was believed longest.
                    let time = |answer: &&Edge| self.failure(edge.target, answer.target).2;
                    let best = answers.iter().max_by_key(time).expect("both offer the label");
                    (left, right) = (edge.target, best.target);
                }
            }
        }
    }

    /// A formula that holds for the left state of the initial pair and not for the right one.
    pub(crate) fn formula(&self, alphabet: &'a Alphabet) -> Option<Formula> {
        let mut bench = Workbench::new(self.graph, alphabet);
        let (left, right) = (self.pairs[0].left, self.pairs[0].right);
        let mut known = FxHashMap::default();
        let root = self.separate(&mut bench, alphabet, left, right, 0, &mut known)?;
        bench.finish(root, left, right)
    }

    fn separate(
        &self,
        bench: &mut Workbench<'_>,
        alphabet: &Alphabet,
        left: u32,
        right: u32,
        depth: usize,
        known: &mut FxHashMap<(u32, u32), u32>,
    ) -> Option<u32> {
        if let Some(&part) = known.get(&(left, right)) {
            return Some(part);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let text = |label: u32| alphabet.texts[label as usize].as_str();
        let anything = bench.builder.truth();
        let (pair, failure, _) = self.failure(left, right);
        let part = match failure {
            Failure::OnlyLeft(label) => bench.builder.can(text(label), false, anything),
            Failure::OnlyRight(label) => {
                let offer = bench.builder.can(text(label), false, anything);
                bench.builder.not(offer)
            }
            Failure::Step(step) => {
                let (edge, answers) = self.answers(pair, step);
                let answers = answers.iter().map(|answer| answer.target);
                let then = bench.exclude(answers, |bench, answer| {
                    self.separate(bench, alphabet, edge.target, answer, depth + 1, known)
                })?;
                bench.builder.can(text(edge.label), false, then)
            }
        };
        known.insert((left, right), part);
        Some(part)
    }
}
