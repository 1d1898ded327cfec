//! Preorders by their definitions: the greatest relation over all pairs, and sets of states without
//! antichains.

use std::collections::{BTreeSet, HashSet};

use turnpike_lts::{Lts, Preorder};

type States = BTreeSet<u32>;

fn steps_of(lts: &Lts, state: u32) -> impl Iterator<Item = (&str, u32)> {
    lts.transitions
        .iter()
        .filter(move |t| t.from == state)
        .map(|t| (lts.labels[t.label.index()].as_str(), t.to))
}

fn offers(lts: &Lts, state: u32) -> BTreeSet<&str> {
    steps_of(lts, state).map(|(label, _)| label).collect()
}

/// All states that are reachable from a set by hidden steps.
fn close(lts: &Lts, set: States, hide: bool) -> States {
    let mut closed = set;
    loop {
        let further: States = closed
            .iter()
            .flat_map(|&state| steps_of(lts, state).filter(|&(label, _)| hide && label == "tau"))
            .map(|(_, to)| to)
            .filter(|to| !closed.contains(to))
            .collect();
        if further.is_empty() {
            return closed;
        }
        closed.extend(further);
    }
}

fn after(lts: &Lts, set: &States, wanted: &str, hide: bool) -> States {
    let steps = set.iter().flat_map(|&state| steps_of(lts, state));
    close(lts, steps.filter(|&(label, _)| label == wanted).map(|(_, to)| to).collect(), hide)
}

/// Whether `right` has all traces (or failures) of `left`, which are states of the same system.
/// Visits all pairs of sets that some trace leads to.
fn includes(lts: &Lts, left: u32, right: u32, hide: bool, failures: bool) -> bool {
    let start = (close(lts, States::from([left]), hide), close(lts, States::from([right]), hide));
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = vec![start];
    while let Some((left, right)) = queue.pop() {
        let labels: BTreeSet<&str> = left.iter().flat_map(|&state| offers(lts, state)).collect();
        if right.is_empty() {
            return false;
        }
        let rests = |&&state: &&u32| !hide || !offers(lts, state).contains("tau");
        let refuses_as_much = |&state: &u32| {
            right.iter().filter(rests).any(|&other| offers(lts, other).is_subset(&offers(lts, state)))
        };
        if failures && !left.iter().filter(rests).all(refuses_as_much) {
            return false;
        }
        for label in labels.into_iter().filter(|&label| !hide || label != "tau") {
            let next = (after(lts, &left, label, hide), after(lts, &right, label, hide));
            if seen.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    true
}

pub(crate) fn includes_traces(lts: &Lts, left: u32, right: u32, hide: bool) -> bool {
    includes(lts, left, right, hide, false)
}

/// The greatest simulation: starts with all pairs, and removes those that fail until none does.
fn simulates(lts: &Lts, left: u32, right: u32, ready: bool) -> bool {
    let all = 0..lts.states;
    let mut related: HashSet<(u32, u32)> =
        all.clone().flat_map(|s| all.clone().map(move |t| (s, t))).collect();
    if ready {
        related.retain(|&(s, t)| offers(lts, s) == offers(lts, t));
    }
    loop {
        let answered = |s: u32, t: u32| {
            steps_of(lts, s).all(|(label, to)| {
                steps_of(lts, t).any(|(other, answer)| other == label && related.contains(&(to, answer)))
            })
        };
        let kept: HashSet<(u32, u32)> = related.iter().copied().filter(|&(s, t)| answered(s, t)).collect();
        if kept.len() == related.len() {
            return related.contains(&(left, right));
        }
        related = kept;
    }
}

/// Whether `left` is included in `right`, which are states of the same system.
pub(crate) fn included(lts: &Lts, left: u32, right: u32, preorder: Preorder) -> bool {
    match preorder {
        Preorder::Simulation => simulates(lts, left, right, false),
        Preorder::ReadySimulation => simulates(lts, left, right, true),
        Preorder::Trace => includes(lts, left, right, false, false),
        Preorder::WeakTrace => includes(lts, left, right, true, false),
        Preorder::Failures => includes(lts, left, right, false, true),
        Preorder::WeakFailures => includes(lts, left, right, true, true),
        other => panic!("no definition of {other}"),
    }
}

/// All traces up to a length, optionally without hidden steps.
pub(crate) fn traces(lts: &Lts, length: usize, hide: bool) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut level = vec![(Vec::new(), close(lts, States::from([lts.initial]), hide))];
    for _ in 0..=length {
        let mut next = Vec::new();
        for (trace, set) in level {
            let labels: BTreeSet<&str> = set.iter().flat_map(|&state| offers(lts, state)).collect();
            for label in labels.into_iter().filter(|&label| !hide || label != "tau") {
                let mut longer = trace.clone();
                longer.push(label.to_owned());
                next.push((longer, after(lts, &set, label, hide)));
            }
            found.insert(trace);
        }
        level = next;
    }
    found
}
