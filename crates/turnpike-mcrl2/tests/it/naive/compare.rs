//! Strong probabilistic bisimilarity of two systems, as far as both were explored.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dashu_ratio::RBig;

use super::system::System;

/// How two systems relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Bisimilar, and nothing is missing from either.
    Same,
    /// Nothing within this many steps tells them apart; beyond, one of them was not explored.
    SameTo(usize),
    /// Something within this many steps tells them apart.
    Different(usize),
}

/// A set of labels with distributions over classes, and whether the state is a deadlock.
type Signature<'s> = (bool, BTreeSet<(&'s str, Vec<(usize, RBig)>)>);

/// Compares the initial states. In round k two states are in one class when nothing within k steps
/// tells them apart; a state that was not expanded is never asked about in a round that could tell.
pub(crate) fn compare(one: &System, other: &System) -> Verdict {
    let complete = one.is_complete() && other.is_complete();
    let rounds = one.depth().min(other.depth());
    let shift = one.depths.len();
    let mut classes = vec![0; shift + other.depths.len()];
    let mut count = 1;
    let mut round = 0;
    while complete || round < rounds {
        let mut known: HashMap<Signature<'_>, usize> = HashMap::new();
        let mut next = classes.clone();
        for (system, base) in [(one, 0), (other, shift)] {
            for (state, transitions) in system.transitions.iter().enumerate() {
                let signature = transitions
                    .iter()
                    .map(|(label, targets)| {
                        let mut masses: BTreeMap<usize, RBig> = BTreeMap::new();
                        for (target, weight) in targets {
                            *masses.entry(classes[base + target]).or_insert(RBig::ZERO) += weight;
                        }
                        (label.as_str(), masses.into_iter().collect())
                    })
                    .collect();
                let number = known.len();
                let class = *known.entry((system.deadlocks[state], signature)).or_insert(number);
                next[base + state] = class;
            }
        }
        round += 1;
        classes = next;
        if classes[0] != classes[shift] {
            return Verdict::Different(round);
        }
        // Classes only ever split: as many as before are the same as before.
        if complete && known.len() == count {
            return Verdict::Same;
        }
        count = known.len();
    }
    Verdict::SameTo(rounds)
}
