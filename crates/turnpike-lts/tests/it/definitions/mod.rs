//! Equivalences by their definitions, and systems to test them.

pub(crate) mod mcf;
mod preorders;

pub(crate) use preorders::{included, includes_traces, traces};

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use proptest::prelude::*;
use turnpike_lts::{Comparison, DEFAULT_LIMIT, Equivalence, Lts, Partition, Transition};
use turnpike_model::LabelId;

/// Like in the library, for systems below the limit.
pub(crate) fn partition(lts: &Lts, equivalence: Equivalence) -> Partition {
    turnpike_lts::partition(lts, equivalence, DEFAULT_LIMIT).expect("small")
}

/// See [`partition`].
pub(crate) fn reduce(lts: &Lts, equivalence: Equivalence) -> Lts {
    turnpike_lts::reduce(lts, equivalence, DEFAULT_LIMIT).expect("small")
}

/// See [`partition`].
pub(crate) fn compare(left: &Lts, right: &Lts, equivalence: Equivalence) -> Comparison {
    turnpike_lts::compare(left, right, equivalence, DEFAULT_LIMIT).expect("small")
}

/// A system from `(source, label text, target)`; state 0 is initial.
pub(crate) fn system(states: u32, transitions: &[(u32, &str, u32)]) -> Lts {
    let mut labels: Vec<String> = Vec::new();
    let transitions = transitions
        .iter()
        .map(|&(from, text, to)| {
            let at = labels.iter().position(|label| label == text).unwrap_or_else(|| {
                labels.push(text.to_owned());
                labels.len() - 1
            });
            Transition { from, label: LabelId(at as u32), to }
        })
        .collect();
    Lts { initial: 0, states, labels, transitions }
}

/// Random systems, half of whose transitions are internal; the number of labels includes `tau`. Sparse and dense
/// ones, with duplicates, self-loops and unreachable parts.
pub(crate) fn random_system(states: RangeInclusive<u32>, labels: u32) -> impl Strategy<Value = Lts> {
    (states, 1..=3u32, 0..8u32).prop_flat_map(move |(states, density, shape)| {
        let label = prop_oneof![Just(0), 0..labels];
        let step = (0..states, label, 0..states);
        let count = 0..=(states * density) as usize;
        (prop::collection::vec(step, count), 0..states).prop_map(move |(steps, initial)| Lts {
            initial,
            states,
            labels: (0..labels).map(|l| if l == 0 { "tau".to_owned() } else { format!("a{l}") }).collect(),
            transitions: steps
                .into_iter()
                .map(|(from, label, to)| {
                    // Some shapes have no internal cycles, or only short steps, so that more depths
                    // are tested.
                    let to = match shape {
                        0..3 if label == 0 => to % (from + 1),
                        3..5 => (from + to % 3) % states,
                        _ => to,
                    };
                    Transition { from, label: LabelId(label), to }
                })
                .collect(),
        })
    })
}

/// The same system with other states, labels and order of transitions, and with duplicates.
pub(crate) fn renamed(lts: &Lts, mut seed: u64) -> Lts {
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut shuffled: Vec<u32> = (0..lts.states).collect();
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, random(i + 1));
    }
    let labels: Vec<String> = lts.labels.iter().rev().chain(&lts.labels).cloned().collect();
    let mut transitions = Vec::new();
    for t in &lts.transitions {
        let copies = [lts.labels.len() - 1 - t.label.index(), lts.labels.len() + t.label.index()];
        for _ in 0..=random(2) {
            let label = LabelId(copies[random(2)] as u32);
            let at = random(transitions.len() + 1);
            let (from, to) = (shuffled[t.from as usize], shuffled[t.to as usize]);
            transitions.insert(at, Transition { from, label, to });
        }
    }
    Lts { initial: shuffled[lts.initial as usize], states: lts.states, labels, transitions }
}

/// Two systems side by side, with the initial state of the left one.
pub(crate) fn union(left: &Lts, right: &Lts) -> Lts {
    let shift = left.labels.len() as u32;
    let moved = right.transitions.iter().map(|t| Transition {
        from: t.from + left.states,
        label: LabelId(t.label.0 + shift),
        to: t.to + left.states,
    });
    Lts {
        initial: left.initial,
        states: left.states + right.states,
        labels: left.labels.iter().chain(&right.labels).cloned().collect(),
        transitions: left.transitions.iter().copied().chain(moved).collect(),
    }
}

/// The greatest relation with the transfer property: starts with all pairs, and removes those that
/// fail until none does.
pub(crate) fn bisimilar(lts: &Lts, equivalence: Equivalence) -> Vec<Vec<bool>> {
    let states = lts.states as usize;
    let text = |t: &Transition| lts.labels[t.label.index()].as_str();
    let steps_of = |s: usize| lts.transitions.iter().filter(move |t| t.from as usize == s);
    let internal = |s: usize| {
        let mut reached = vec![s];
        let mut next = 0;
        while equivalence != Equivalence::Strong && next < reached.len() {
            for t in steps_of(reached[next]).filter(|t| text(t) == "tau") {
                if !reached.contains(&(t.to as usize)) {
                    reached.push(t.to as usize);
                }
            }
            next += 1;
        }
        reached
    };
    let closure: Vec<Vec<usize>> = (0..states).map(internal).collect();
    // Weakly: internal steps, the label, internal steps. For an internal step, any number of them.
    let weakly = |s: usize, label: &str| -> Vec<usize> {
        let targets = closure[s].iter().flat_map(|&via| steps_of(via)).filter(|t| text(t) == label);
        let after: Vec<usize> = targets.flat_map(|t| closure[t.to as usize].clone()).collect();
        if label == "tau" { closure[s].clone() } else { after }
    };
    let mut related = vec![vec![true; states]; states];
    loop {
        let transfers = |s: usize, t: usize| {
            steps_of(s).all(|step| {
                if equivalence == Equivalence::Weak {
                    return weakly(t, text(step)).iter().any(|&answer| related[step.to as usize][answer]);
                }
                let stays =
                    equivalence != Equivalence::Strong && text(step) == "tau" && related[step.to as usize][t];
                stays
                    || closure[t].iter().any(|&via| {
                        related[s][via]
                            && steps_of(via).any(|answer| {
                                text(answer) == text(step) && related[step.to as usize][answer.to as usize]
                            })
                    })
            })
        };
        let failing: Vec<(usize, usize)> = (0..states)
            .flat_map(|s| (0..states).map(move |t| (s, t)))
            .filter(|&(s, t)| related[s][t] && !(transfers(s, t) && transfers(t, s)))
            .collect();
        if failing.is_empty() {
            return related;
        }
        for (s, t) in failing {
            related[s][t] = false;
        }
    }
}

/// Slow refinement from a single block: computes the signature of a state by following its inert
/// steps each time.
pub(crate) fn classes(lts: &Lts, equivalence: Equivalence) -> Vec<u32> {
    let mut steps = vec![Vec::new(); lts.states as usize];
    for t in &lts.transitions {
        steps[t.from as usize].push((lts.labels[t.label.index()].as_str(), t.to as usize));
    }
    if let Equivalence::Trace | Equivalence::WeakTrace = equivalence {
        let same = |s: u32, t: u32| {
            includes_traces(lts, s, t, equivalence.hides_tau())
                && includes_traces(lts, t, s, equivalence.hides_tau())
        };
        // The class is the first state with these traces.
        let first: Vec<u32> = (0..lts.states).map(|s| (0..s).find(|&t| same(s, t)).unwrap_or(s)).collect();
        let mut names: Vec<u32> = first.clone();
        names.sort_unstable();
        names.dedup();
        return first.iter().map(|class| names.binary_search(class).expect("listed") as u32).collect();
    }
    let mut block_of = vec![0u32; steps.len()];
    loop {
        let mut numbers = HashMap::new();
        let next: Vec<u32> = (0..steps.len())
            .map(|s| {
                let count = numbers.len() as u32;
                *numbers.entry((block_of[s], signature(&steps, equivalence, &block_of, s))).or_insert(count)
            })
            .collect();
        if numbers.len() as u32 == block_of.iter().max().map_or(0, |max| max + 1) {
            return next;
        }
        block_of = next;
    }
}

fn signature<'a>(
    steps: &[Vec<(&'a str, usize)>],
    equivalence: Equivalence,
    block_of: &[u32],
    state: usize,
) -> BTreeSet<(&'a str, u32)> {
    if equivalence == Equivalence::Weak {
        return weak_signature(steps, block_of, state);
    }
    // Inert steps stay in the block of `state`.
    let inert = |label: &str, to: usize| {
        equivalence != Equivalence::Strong && label == "tau" && block_of[to] == block_of[state]
    };
    // States after at least one inert step.
    let walk = |from: usize| {
        let (mut reached, mut seen) = (Vec::new(), HashSet::new());
        let (mut current, mut next) = (from, 0);
        loop {
            let targets = steps[current].iter().filter(|&&(label, to)| inert(label, to)).map(|&(_, to)| to);
            reached.extend(targets.filter(|&to| seen.insert(to)));
            if next == reached.len() {
                return reached;
            }
            current = reached[next];
            next += 1;
        }
    };
    let mut reached = walk(state);
    reached.push(state);
    let all = reached.iter().flat_map(|&s| &steps[s]);
    let mut signature: BTreeSet<(&str, u32)> =
        all.filter(|&&(label, to)| !inert(label, to)).map(|&(label, to)| (label, block_of[to])).collect();
    if equivalence == Equivalence::DivergencePreservingBranching
        && reached.iter().any(|&s| walk(s).contains(&s))
    {
        signature.insert(("endless tau", 0));
    }
    signature
}

/// The blocks that each label reaches, with internal steps before and after it.
fn weak_signature<'a>(
    steps: &[Vec<(&'a str, usize)>],
    block_of: &[u32],
    state: usize,
) -> BTreeSet<(&'a str, u32)> {
    let close = |from: usize| {
        let mut reached = vec![from];
        let mut next = 0;
        while next < reached.len() {
            for &(label, to) in &steps[reached[next]] {
                if label == "tau" && !reached.contains(&to) {
                    reached.push(to);
                }
            }
            next += 1;
        }
        reached
    };
    let mut signature: BTreeSet<(&str, u32)> = BTreeSet::new();
    for via in close(state) {
        signature.insert(("tau", block_of[via]));
        for &(label, to) in steps[via].iter().filter(|(label, _)| *label != "tau") {
            signature.extend(close(to).into_iter().map(|after| (label, block_of[after])));
        }
    }
    signature
}

/// Whether the partitions are the same except for block numbers.
pub(crate) fn same_partition(a: &[u32], b: &[u32]) -> bool {
    let (mut to, mut from) = (HashMap::new(), HashMap::new());
    a.len() == b.len()
        && a.iter().zip(b).all(|(&x, &y)| *to.entry(x).or_insert(y) == y && *from.entry(y).or_insert(x) == x)
}
