//! Shortest experiments that distinguish two classes: the side that moves, the label, and why no
//! answer helps.
//!
//! Refinement in rounds gives every pair of classes a depth, the round that separates them. In a
//! pair of depth `k` one side has a move such that every answer leads to a pair of a smaller depth.
//! The experiment makes that move, follows the best answer, and ends when there is no answer.

use rustc_hash::FxHashSet;

use crate::reduction::difference::{Move, Reason, Side};
use crate::reduction::graph::{Alphabet, Edge, Graph};
use crate::reduction::lists::Lists;
use crate::reduction::signature::pair;

/// The most entries of the table of rounds, and the most edges visited to build it.
const TABLE_BUDGET: usize = 16_000_000;
const WORK_BUDGET: usize = 40_000_000;

/// The most attacks compared in one exchange: a hub may have a million.
const ATTACKS: usize = 64;

/// A shortest experiment. `graph` has one state per class.
pub(crate) fn follow(
    rounds: &Rounds,
    graph: &Graph,
    alphabet: &Alphabet,
    start: [u32; 2],
    hidden: Option<u32>,
) -> Reason {
    let mut pair = start;
    let mut moves = Vec::new();
    loop {
        let depth = rounds.depth(pair[0], pair[1]).expect("the pair was separated");
        let block_of = rounds.before(depth);
        let offers = pair.map(|state| offers(graph, hidden, state, block_of));
        let attack = best_attack(rounds, pair, &offers, block_of, hidden);
        let label = alphabet.texts[attack.edge.label as usize].clone();
        let Some(answer) = attack.answer else {
            return Reason::Experiment { moves, label, offered_by: attack.side };
        };
        moves.push(Move { side: attack.side, label, answers: attack.answers });
        pair = match attack.side {
            Side::Left => [attack.edge.target, answer],
            Side::Right => [answer, attack.edge.target],
        };
    }
}

pub(crate) struct Attack {
    pub(crate) side: Side,
    pub(crate) edge: Edge,
    /// The answer that survives longest, and the number of answers.
    answer: Option<u32>,
    answers: usize,
}

/// The attack whose best answer survives shortest. Ties go to the attack with the fewest answers.
pub(crate) fn best_attack(
    rounds: &Rounds,
    pair: [u32; 2],
    offers: &[Vec<Edge>; 2],
    block_of: &[u32],
    hidden: Option<u32>,
) -> Attack {
    let class = |edge: &Edge| (edge.label, block_of[edge.target as usize]);
    let mut best: Option<((usize, usize), Attack)> = None;
    for (side, own, other) in [(Side::Left, 0, 1), (Side::Right, 1, 0)] {
        let answered: FxHashSet<(u32, u32)> = offers[other].iter().map(class).collect();
        // Not moving answers a hidden move within the other side's block.
        let stays =
            |edge: &Edge| Some(edge.label) == hidden && class(edge).1 == block_of[pair[other] as usize];
        let unanswered = |edge: &&Edge| !answered.contains(&class(edge)) && !stays(edge);
        for &edge in offers[own].iter().filter(unanswered).take(ATTACKS) {
            let first = offers[other].partition_point(|answer| answer.label < edge.label);
            let same_label = offers[other][first..].iter().take_while(|answer| answer.label == edge.label);
            let mut answers: Vec<u32> = same_label.map(|answer| answer.target).collect();
            if Some(edge.label) == hidden {
                answers.push(pair[other]);
            }
            answers.sort_unstable();
            answers.dedup();
            let depth = |&target: &u32| rounds.depth(edge.target, target).expect("in different blocks");
            let answer = answers.iter().copied().max_by_key(depth);
            let cost = (answer.map_or(0, |target| depth(&target)), answers.len());
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, Attack { side, edge, answer, answers: answers.len() }));
            }
        }
    }
    best.expect("a pair separated in this round differs in its offers").1
}

/// The offers of a state in a round: the relevant edges after inert steps, given the partition.
pub(crate) fn offers(graph: &Graph, hidden: Option<u32>, state: u32, block_of: &[u32]) -> Vec<Edge> {
    let mut offers = Vec::new();
    let mut reached = vec![state];
    let mut seen = FxHashSet::from_iter([state]);
    let mut next = 0;
    while next < reached.len() {
        let state = reached[next];
        next += 1;
        for &edge in graph.edges(state) {
            let inert =
                Some(edge.label) == hidden && block_of[edge.target as usize] == block_of[state as usize];
            if !inert {
                offers.push(edge);
            } else if seen.insert(edge.target) {
                reached.push(edge.target);
            }
        }
    }
    offers.sort_unstable();
    offers.dedup();
    offers
}

/// The partitions after 0, 1, 2, … rounds.
pub(crate) struct Rounds {
    table: Vec<Vec<u32>>,
}

impl Rounds {
    /// Refines until two states are separated. `None` if that exceeds the budget.
    pub(crate) fn until_separated(graph: &Graph, hidden: Option<u32>, start: [u32; 2]) -> Option<Rounds> {
        let states = graph.states();
        let mut rounds = Rounds { table: vec![vec![0; states]] };
        let mut signatures = Lists::default();
        let mut work = 0;
        // Hidden edges of a quotient form no cycles except self-loops, so signatures can be built
        // targets first.
        let order = targets_first(graph, hidden);
        loop {
            let block_of = rounds.table.last().expect("starts with one");
            if block_of[start[0] as usize] != block_of[start[1] as usize] {
                return Some(rounds);
            }
            if (rounds.table.len() + 1) * states > TABLE_BUDGET {
                return None;
            }
            signatures.clear();
            let mut next = vec![0; states];
            let mut of_state: Vec<Vec<u64>> = vec![Vec::new(); if hidden.is_some() { states } else { 0 }];
            for &state in &order {
                let own = block_of[state as usize];
                // The own block comes first: it is smaller than the word of any edge, whose label
                // is shifted by one.
                let mut signature = vec![u64::from(own)];
                for edge in graph.edges(state) {
                    let block = block_of[edge.target as usize];
                    if Some(edge.label) == hidden && block == own {
                        signature.extend_from_slice(&of_state[edge.target as usize]);
                    } else {
                        signature.push(pair(edge.label + 1, block));
                    }
                }
                signature.sort_unstable();
                signature.dedup();
                work += signature.len();
                if work > WORK_BUDGET {
                    return None;
                }
                next[state as usize] = signatures.intern(&signature);
                if hidden.is_some() {
                    of_state[state as usize] = signature;
                }
            }
            rounds.table.push(next);
        }
    }

    /// The partition before this round.
    pub(crate) fn before(&self, round: usize) -> &[u32] {
        &self.table[round - 1]
    }

    /// The round that separates two states.
    pub(crate) fn depth(&self, a: u32, b: u32) -> Option<usize> {
        let depth = self.table.partition_point(|block_of| block_of[a as usize] == block_of[b as usize]);
        (depth < self.table.len()).then_some(depth)
    }
}

/// The states in an order in which hidden edges lead to earlier ones.
fn targets_first(graph: &Graph, hidden: Option<u32>) -> Vec<u32> {
    let states = graph.states();
    let Some(hidden) = hidden else { return (0..states as u32).collect() };
    let mut order = Vec::with_capacity(states);
    let mut seen = vec![false; states];
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..states as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (state, ref mut next)) = path.last_mut() {
            if let Some(edge) = graph.edges_with(state, hidden).get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[edge.target as usize], true) {
                    path.push((edge.target, 0));
                }
            } else {
                order.push(state);
                path.pop();
            }
        }
    }
    order
}
