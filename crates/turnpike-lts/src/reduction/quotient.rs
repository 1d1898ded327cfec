//! The smallest equivalent system, in a numbering that only depends on its behaviour.

use std::iter::once;

use crate::{Lts, Transition};
use turnpike_model::hash;
use turnpike_model::label::LabelId;

use crate::reduction::determinise::determinise;
use crate::reduction::equivalence::{Equivalence, Refined, refine};
use crate::reduction::graph::{Alphabet, Edge, Graph, NONE};
use crate::reduction::limit::Explosion;
use crate::reduction::saturate::{desaturate, saturate};

/// The smallest system equivalent to the reachable part of `lts`.
///
/// State 0 is the initial one. The others are numbered breadth-first along transitions sorted by
/// label text. Transitions are sorted by source, label text and target, without duplicates. Labels
/// are sorted and all used. Inert `tau` steps are removed; a divergent class keeps one `tau` loop
/// if the equivalence preserves divergence.
///
/// If a state has several transitions with the same label, their targets are numbered by a hash of
/// their behaviour up to 64 steps deep (less deep above 300,000 transitions, at least 4).
/// Equivalent systems therefore have *identical* results, unless two such targets only differ at
/// greater depth.
///
/// For weak bisimilarity, steps that follow from others by `tau` steps are removed as well. For the
/// trace equivalences, the result is deterministic.
///
/// # Errors
/// As [`partition`](crate::partition).
///
/// # Panics
/// As [`partition`](crate::partition).
pub fn reduce(lts: &Lts, equivalence: Equivalence, limit: usize) -> Result<Lts, Explosion> {
    let alphabet = Alphabet::of(&[lts]);
    let graph = Graph::of(lts, &alphabet).reachable(lts.initial);
    let hidden = alphabet.tau.filter(|_| equivalence.hides_tau());
    let fold = |graph: &Graph, equivalence, initial: u32| {
        let refined = refine(graph, &alphabet, equivalence, limit)?;
        let initial = refined.partition.block_of[initial as usize];
        Ok((quotient(graph, &alphabet, equivalence, &refined), initial))
    };
    let (classes, initial) = match (equivalence, hidden) {
        (Equivalence::Trace | Equivalence::WeakTrace, _) => {
            let (classes, initial) = fold(&graph, equivalence.finer(), 0)?;
            let (deterministic, starts) = determinise(&classes, hidden, once(initial), limit)?;
            fold(&deterministic, Equivalence::Strong, starts[0])?
        }
        (Equivalence::Weak, Some(tau)) => {
            let (classes, initial) = fold(&graph, equivalence, 0)?;
            (desaturate(&saturate(&classes, tau, limit)?, tau), initial)
        }
        _ => fold(&graph, equivalence, 0)?,
    };
    Ok(number(&classes, &alphabet, initial))
}

/// The graph of classes.
pub(crate) fn quotient(
    graph: &Graph,
    alphabet: &Alphabet,
    equivalence: Equivalence,
    refined: &Refined,
) -> Graph {
    let (block_of, blocks) = (&refined.partition.block_of, refined.partition.blocks as usize);
    let lift = |edge: &Edge| Edge { label: edge.label, target: block_of[edge.target as usize] };
    let Some(tau) = alphabet.tau.filter(|_| equivalence.hides_tau()) else {
        // All states of a class reach the same classes, so one of them represents it.
        let mut representative = vec![NONE; blocks];
        for (state, &block) in block_of.iter().enumerate().rev() {
            representative[block as usize] = state as u32;
        }
        return Graph::from_rows(blocks, |block, edges| {
            edges.extend(graph.edges(representative[block]).iter().map(lift));
        });
    };
    let loops = refined.divergent.iter().map(|&block| (block, Edge { label: tau, target: block }));
    let visible = graph.iter().filter_map(|(from, edge)| {
        let (from, edge) = (block_of[from as usize], lift(&edge));
        (edge.label != tau || edge.target != from).then_some((from, edge))
    });
    Graph::new(blocks, visible.chain(loops))
}

/// Numbers the reachable states breadth-first and returns them as a system.
fn number(graph: &Graph, alphabet: &Alphabet, initial: u32) -> Lts {
    let behaviour = behaviour(graph, alphabet);
    let mut number = vec![NONE; graph.states()];
    let mut order = vec![initial];
    number[initial as usize] = 0;
    let mut next = 0;
    let mut sorted: Vec<Edge> = Vec::new();
    while next < order.len() {
        sorted.clear();
        sorted.extend_from_slice(graph.edges(order[next]));
        if let Some(behaviour) = &behaviour {
            sorted.sort_by_key(|edge| (edge.label, behaviour[edge.target as usize]));
        }
        for edge in &sorted {
            let slot = &mut number[edge.target as usize];
            if *slot == NONE {
                *slot = order.len() as u32;
                order.push(edge.target);
            }
        }
        next += 1;
    }
    let mut used = vec![false; alphabet.texts.len()];
    let mut transitions = Vec::with_capacity(graph.edge_count());
    for (from, &state) in order.iter().enumerate() {
        let first = transitions.len();
        transitions.extend(graph.edges(state).iter().map(|edge| {
            used[edge.label as usize] = true;
            Transition { from: from as u32, label: LabelId(edge.label), to: number[edge.target as usize] }
        }));
        transitions[first..].sort_unstable();
    }
    let mut compact = vec![0; used.len()];
    let mut labels = Vec::new();
    for (label, text) in alphabet.texts.iter().enumerate().filter(|&(label, _)| used[label]) {
        compact[label] = labels.len() as u32;
        labels.push(text.clone());
    }
    for transition in &mut transitions {
        transition.label = LabelId(compact[transition.label.index()]);
    }
    Lts { initial: 0, states: order.len() as u32, labels, transitions }
}

/// The largest depth of [`behaviour`].
const DEPTH: usize = 64;

/// The most edges that [`behaviour`] visits. The limit depends on the quotient alone, so it is the
/// same for equivalent systems.
const VISITS: usize = 20_000_000;

/// A hash of the behaviour of each state up to a depth, equal for bisimilar states of any two
/// systems. `None` if no state has two edges with the same label, since targets need no order then.
fn behaviour(graph: &Graph, alphabet: &Alphabet) -> Option<Vec<u64>> {
    let states = 0..graph.states() as u32;
    let ambiguous = |state: u32| graph.edges(state).windows(2).any(|two| two[0].label == two[1].label);
    if !states.clone().any(ambiguous) {
        return None;
    }
    let labels: Vec<u64> = alphabet.texts.iter().map(|text| hash::bytes(text.as_bytes())).collect();
    let mut now = vec![0; graph.states()];
    let mut scratch: Vec<u64> = Vec::new();
    for _ in 0..(VISITS / graph.edge_count()).clamp(4, DEPTH) {
        if !tied(graph, &now) {
            break;
        }
        let deeper = |state: u32| {
            scratch.clear();
            let edges = graph.edges(state).iter();
            scratch
                .extend(edges.map(|edge| hash::mix(labels[edge.label as usize], now[edge.target as usize])));
            // A set, not a list: two targets may have equal hashes so far.
            scratch.sort_unstable();
            scratch.dedup();
            scratch.iter().fold(scratch.len() as u64, |all, &one| hash::mix(all, one))
        };
        let next = states.clone().map(deeper).collect();
        now = next;
    }
    Some(now)
}

/// Whether some state has two edges with the same label and target hash.
fn tied(graph: &Graph, behaviour: &[u64]) -> bool {
    let mut seen: Vec<u64> = Vec::new();
    (0..graph.states() as u32).any(|state| {
        graph.edges(state).chunk_by(|a, b| a.label == b.label).any(|group| {
            seen.clear();
            seen.extend(group.iter().map(|edge| behaviour[edge.target as usize]));
            seen.sort_unstable();
            seen.windows(2).any(|two| two[0] == two[1])
        })
    })
}
