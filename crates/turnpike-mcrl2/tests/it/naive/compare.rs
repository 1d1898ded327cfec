//! Strong probabilistic bisimilarity of the explored parts of two systems.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dashu_ratio::RBig;

use super::system::System;

/// The relation of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The systems are bisimilar and completely explored.
    Same,
    /// The systems do not differ within this many steps, and one of them is not explored further.
    SameTo(usize),
    /// The systems differ within this many steps.
    Different(usize),
}

/// A set of labels with distributions over classes, and whether the state is a deadlock.
type Signature<'s> = (bool, BTreeSet<(&'s str, Vec<(usize, RBig)>)>);

/// Compares the initial states. After round k, two states are in the same class if they do not
/// differ within k steps. States that were not expanded are too far away to influence the result of
/// a round.
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
        // Classes are only split, so if their number is the same, they are the same.
        if complete && known.len() == count {
            return Verdict::Same;
        }
        count = known.len();
    }
    Verdict::SameTo(rounds)
}
