//! A shortest trace that one side has and the other lacks.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::reduction::compare::{Difference, Side};
use crate::reduction::graph::{Alphabet, Graph, NONE};

/// How many states, over all sets, the search may hold before it gives up: sets can grow
/// exponentially in number.
const BUDGET: usize = 4_000_000;

/// Follows all traces breadth-first, in the order of label texts. `None`: same traces, or too many.
pub(crate) fn difference(
    graph: &Graph,
    alphabet: &Alphabet,
    start: [u32; 2],
    hidden: Option<u32>,
) -> Option<Difference> {
    let mut closure = Closure { seen: vec![false; graph.states()], hidden };
    // Where a trace can lead in each system: sorted sets of states, closed under hidden steps.
    let first = start.map(|state| closure.of(graph, vec![state]));
    let mut held = first[0].len() + first[1].len();
    let mut seen = FxHashSet::from_iter([first.clone()]);
    // How each queued pair was reached: the entry before it, and the label.
    let mut history: Vec<(u32, u32)> = vec![(NONE, NONE)];
    let mut queue = VecDeque::from([(0u32, first)]);
    while let Some((entry, reached)) = queue.pop_front() {
        let sorted = reached.each_ref().map(|states| moves(graph, states, hidden));
        let labels = |side: usize| sorted[side].chunk_by(|a, b| a.0 == b.0);
        let (mut left, mut right) = (labels(0).peekable(), labels(1).peekable());
        loop {
            let pair = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(l), Some(r)) if l[0].0 == r[0].0 => [left.next(), right.next()],
                (Some(l), Some(r)) if l[0].0 < r[0].0 => [Some(*l), None],
                (Some(l), None) => [Some(*l), None],
                (_, Some(r)) => [None, Some(*r)],
            };
            let [Some(l), Some(r)] = pair else {
                let (side, only) = match pair {
                    [Some(only), _] => (Side::Left, only),
                    [_, only] => (Side::Right, only.expect("one side has the label")),
                };
                let trace = trace_to(&history, entry, alphabet);
                let label = alphabet.texts[only[0].0 as usize].clone();
                return Some(Difference::Trace { trace, label, offered_by: side });
            };
            let next =
                [l, r].map(|group| closure.of(graph, group.iter().map(|&(_, target)| target).collect()));
            // Equal sets have equal futures; after bisimulation reduction that is the common case.
            if next[0] == next[1] || seen.contains(&next) {
                continue;
            }
            held += next[0].len() + next[1].len();
            if held > BUDGET {
                return None;
            }
            seen.insert(next.clone());
            history.push((entry, l[0].0));
            queue.push_back((history.len() as u32 - 1, next));
        }
    }
    None
}

/// All visible moves of a set, by label, then target.
fn moves(graph: &Graph, states: &[u32], hidden: Option<u32>) -> Vec<(u32, u32)> {
    let edges = states.iter().flat_map(|&state| graph.edges(state));
    let visible = edges.filter(|edge| Some(edge.label) != hidden);
    let mut moves: Vec<(u32, u32)> = visible.map(|edge| (edge.label, edge.target)).collect();
    moves.sort_unstable();
    moves.dedup();
    moves
}

fn trace_to(history: &[(u32, u32)], mut entry: u32, alphabet: &Alphabet) -> Vec<String> {
    let mut trace = Vec::new();
    while let (before, label) = history[entry as usize]
        && label != NONE
    {
        trace.push(alphabet.texts[label as usize].clone());
        entry = before;
    }
    trace.reverse();
    trace
}

struct Closure {
    seen: Vec<bool>,
    hidden: Option<u32>,
}

impl Closure {
    /// All states reachable by hidden steps, sorted.
    fn of(&mut self, graph: &Graph, mut states: Vec<u32>) -> Vec<u32> {
        if let Some(hidden) = self.hidden {
            states.iter().for_each(|&state| self.seen[state as usize] = true);
            let mut next = 0;
            while next < states.len() {
                for edge in graph.edges_with(states[next], hidden) {
                    if !std::mem::replace(&mut self.seen[edge.target as usize], true) {
                        states.push(edge.target);
                    }
                }
                next += 1;
            }
            states.iter().for_each(|&state| self.seen[state as usize] = false);
        }
        states.sort_unstable();
        states.dedup();
        states
    }
}
