//! Compares the fast algorithms with literal definitions, on small random systems.

use crate::definitions::{
    bisimilar, classes, compare, partition, random_system, reduce, renamed, same_partition, union,
};
use proptest::prelude::*;
use turnpike_lts::Lts;
use turnpike_lts::{Comparison, Equivalence, Reason, Side};

/// The equivalences whose oracle is fast for larger systems.
const CHEAP: [Equivalence; 3] =
    [Equivalence::Strong, Equivalence::Branching, Equivalence::DivergencePreservingBranching];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The states that a set reaches by a label, with any hidden steps before and after.
fn after(lts: &Lts, states: &[u32], label: Option<&str>, hide: bool) -> Vec<u32> {
    let close = |mut set: Vec<u32>| {
        let mut next = 0;
        while hide && next < set.len() {
            let from = set[next];
            for t in lts.transitions.iter().filter(|t| t.from == from && lts.labels[t.label.index()] == "tau")
            {
                if !set.contains(&t.to) {
                    set.push(t.to);
                }
            }
            next += 1;
        }
        set
    };
    let states = close(states.to_vec());
    let Some(label) = label else { return states };
    let steps =
        lts.transitions.iter().filter(|t| states.contains(&t.from) && lts.labels[t.label.index()] == label);
    close(steps.map(|t| t.to).collect())
}

/// Whether a trace exists from the initial state.
fn can_do(lts: &Lts, trace: &[String], hide: bool) -> bool {
    let start = after(lts, &[lts.initial], None, hide);
    !trace.iter().fold(start, |states, label| after(lts, &states, Some(label), hide)).is_empty()
}

fn check_partition(lts: &Lts, equivalences: &[Equivalence]) -> Result<(), TestCaseError> {
    for &equivalence in equivalences {
        let found = partition(lts, equivalence);
        let expected = classes(lts, equivalence);
        prop_assert!(
            same_partition(&found.block_of, &expected),
            "{equivalence}: found {:?}, expected {expected:?}",
            found.block_of
        );
        let distinct = found.block_of.iter().max().map_or(0, |max| max + 1);
        prop_assert_eq!(found.blocks, distinct);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn classes_are_those_of_the_literal_definition(lts in random_system(1..=12, 3)) {
        for equivalence in [Equivalence::Strong, Equivalence::Branching, Equivalence::Weak] {
            let related = bisimilar(&lts, equivalence);
            let found = partition(&lts, equivalence).block_of;
            for s in 0..found.len() {
                for t in 0..found.len() {
                    prop_assert_eq!(found[s] == found[t], related[s][t], "{}: {} and {}", equivalence, s, t);
                }
            }
            // The slow refinement is the oracle for larger systems, so it must be correct here.
            prop_assert!(same_partition(&classes(&lts, equivalence), &found));
        }
    }

    #[test]
    fn classes_are_those_of_slow_refinement(lts in random_system(1..=12, 3)) {
        check_partition(&lts, &Equivalence::ALL[..4])?;
    }

    #[test]
    fn reduction_is_minimal_equivalent_and_stable(lts in random_system(1..=12, 3)) {
        for equivalence in CHEAP {
            let small = reduce(&lts, equivalence);
            prop_assert!(compare(&lts, &small, equivalence).is_related());
            prop_assert_eq!(&reduce(&small, equivalence), &small);
            let own = classes(&small, equivalence);
            prop_assert_eq!(own.iter().max().unwrap() + 1, small.states, "two states of the result are equal");
            // Equivalent according to the oracle, independently of the tested code.
            let both = union(&lts, &small);
            let expected = classes(&both, equivalence);
            prop_assert_eq!(expected[lts.initial as usize], expected[lts.states as usize]);
        }
    }

    #[test]
    fn reduction_does_not_depend_on_names(lts in random_system(1..=12, 3), seed in any::<u64>()) {
        let other = renamed(&lts, seed);
        for equivalence in CHEAP {
            prop_assert_eq!(reduce(&lts, equivalence), reduce(&other, equivalence));
        }
    }

    #[test]
    fn comparison_agrees_with_the_definition(left in random_system(1..=5, 2), right in random_system(1..=5, 2)) {
        for equivalence in CHEAP {
            let expected = classes(&union(&left, &right), equivalence);
            let equal = expected[left.initial as usize] == expected[(left.states + right.initial) as usize];
            let hide = equivalence != Equivalence::Strong;
            match compare(&left, &right, equivalence) {
                Comparison::Related => prop_assert!(equal),
                Comparison::Different(difference) => match difference.reason { Reason::Trace { mut trace, label, offered_by } => {
                    prop_assert!(!equal);
                    prop_assert!(can_do(&left, &trace, hide) && can_do(&right, &trace, hide));
                    trace.push(label);
                    prop_assert_eq!(can_do(&left, &trace, hide), offered_by == Side::Left);
                    prop_assert_eq!(can_do(&right, &trace, hide), offered_by == Side::Right);
                }
                Reason::Experiment { moves, label, offered_by } => {
                    prop_assert!(!equal);
                    // The sides follow the labels of the moves, and the side that moves must be
                    // able to do so.
                    let system = if offered_by == Side::Left { &left } else { &right };
                    let mut trace: Vec<String> = moves.into_iter().map(|m| m.label).collect();
                    if hide {
                        trace.retain(|label| label != "tau");
                    }
                    if label != turnpike_lts::DIVERGENCE {
                        trace.push(label);
                    }
                    prop_assert!(can_do(system, &trace, hide));
                }
                other => prop_assert!(false, "no explanation: {other}"),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn larger_systems_agree_with_slow_refinement(lts in random_system(20..=120, 3)) {
        check_partition(&lts, &CHEAP)?;
    }

    #[test]
    fn many_labels_agree_with_slow_refinement(lts in random_system(10..=60, 12)) {
        check_partition(&lts, &Equivalence::ALL[..4])?;
    }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn systems_of_thousands_of_states_agree_with_slow_refinement(lts in random_system(1000..=3000, 4)) {
        check_partition(&lts, &CHEAP)?;
    }
}
