//! Systems with known classes.

use crate::definitions::{compare, partition, reduce, system};
use turnpike_lts::{Comparison, DIVERGENCE, Equivalence, Move, Reason, Side};
use turnpike_lts::{Lts, Transition};
use turnpike_model::LabelId;

use Equivalence::{Branching, DivergencePreservingBranching, Strong};

fn explain(left: &Lts, right: &Lts, equivalence: Equivalence) -> String {
    match compare(left, right, equivalence) {
        Comparison::Related => "equal".to_owned(),
        Comparison::Different(difference) => difference.to_string(),
    }
}

/// `n` binary counters that step in any order and restart, so their order does not matter.
fn interleaved(n: u32) -> Lts {
    let states = 1 << n;
    let flips = (0..states).flat_map(|s| (0..n).map(move |bit| (s, s ^ (1 << bit))));
    let transitions =
        flips.map(|(from, to)| Transition { from, label: LabelId(u32::from(to > from)), to }).collect();
    Lts { initial: 0, states, labels: vec!["down".into(), "up".into()], transitions }
}

#[test]
fn symmetric_counters_fold_to_their_sum() {
    for n in 1..12 {
        let small = reduce(&interleaved(n), Strong);
        assert_eq!((small.states, small.transitions.len() as u32), (n + 1, 2 * n));
    }
}

#[test]
fn milners_third_tau_law_separates_branching_from_weak() {
    // a.(tau.b + c) + a.b is weakly but not branching bisimilar to a.(tau.b + c).
    let with = system(5, &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 3), (0, "a", 2)]);
    let without = system(4, &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 3)]);
    assert!(!compare(&with, &without, Branching).is_related());
    // tau.(tau.(a + b) + a): the first law removes the outer tau, and branching bisimilarity the
    // inner one as well.
    let nested = system(5, &[(0, "tau", 1), (1, "tau", 2), (1, "a", 3), (2, "a", 3), (2, "b", 3)]);
    let flat = system(2, &[(0, "a", 1), (0, "b", 1)]);
    assert!(compare(&nested, &flat, Branching).is_related());
    assert_eq!(reduce(&nested, Branching), reduce(&flat, Branching));
    assert_eq!(reduce(&nested, Strong).states, 4);
}

#[test]
fn an_inert_step_is_not_any_internal_step() {
    // tau.a + b: the tau excludes b, so it remains.
    let choice = system(3, &[(0, "tau", 1), (1, "a", 2), (0, "b", 2)]);
    assert_eq!(reduce(&choice, Branching).states, 3);
    assert_eq!(reduce(&choice, Branching).transitions.len(), 3);
}

#[test]
fn divergence_is_kept_on_request() {
    let spinning = system(2, &[(0, "tau", 0), (0, "a", 1)]);
    let resting = system(2, &[(0, "a", 1)]);
    assert!(compare(&spinning, &resting, Branching).is_related());
    let Comparison::Different(difference) = compare(&spinning, &resting, DivergencePreservingBranching)
    else {
        panic!("divergence was not seen");
    };
    let expected = Reason::Experiment { moves: vec![], label: DIVERGENCE.to_owned(), offered_by: Side::Left };
    assert_eq!(difference.reason, expected);
    assert_eq!(difference.formula.expect("small").formula.to_string(), "(nu X0. <tau>X0)");
    // A longer cycle is reduced to the loop.
    let cycle = system(4, &[(0, "tau", 1), (1, "tau", 2), (2, "tau", 0), (1, "a", 3)]);
    assert_eq!(
        reduce(&cycle, DivergencePreservingBranching),
        reduce(&spinning, DivergencePreservingBranching)
    );
    assert_eq!(reduce(&cycle, Branching), reduce(&resting, Branching));
}

#[test]
fn differences_are_explained_in_words() {
    let one = system(3, &[(0, "a", 1), (1, "b", 2)]);
    let two = system(3, &[(0, "a", 1), (1, "c", 2)]);
    assert_eq!(explain(&one, &one, Strong), "equal");
    assert_eq!(explain(&one, &two, Strong), "after `a`, which both can do, left can do `b` and right cannot");
    let none = system(1, &[]);
    assert_eq!(explain(&none, &one, Strong), "at the start, right can do `a` and left cannot");
    let late = system(3, &[(0, "a", 1), (1, "b", 2), (1, "c", 2)]);
    let early = system(4, &[(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "c", 3)]);
    for equivalence in [Strong, Branching, DivergencePreservingBranching, Equivalence::Weak] {
        let Comparison::Different(difference) = compare(&late, &early, equivalence) else {
            panic!("same traces, different choices");
        };
        let Reason::Experiment { moves, offered_by, .. } = difference.reason else {
            panic!("a trace does not show it: {difference}");
        };
        assert_eq!(moves, [Move { side: Side::Right, label: "a".into(), answers: 1 }]);
        assert_eq!(offered_by, Side::Left);
    }
    // The same with internal steps, which only strong bisimilarity observes.
    let slow = system(4, &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (2, "c", 3)]);
    assert_eq!(explain(&late, &slow, Branching), "equal");
    assert_eq!(
        explain(&late, &slow, Strong),
        "after `a`, which both can do, left can do `b` and right cannot"
    );
}

#[test]
fn labels_are_matched_by_text() {
    let lts = |labels: &[&str], first: u32, second: u32| Lts {
        initial: 0,
        states: 3,
        labels: labels.iter().map(|&text| text.to_owned()).collect(),
        transitions: vec![
            Transition { from: 0, label: LabelId(first), to: 1 },
            Transition { from: 1, label: LabelId(second), to: 2 },
        ],
    };
    let (one, two) = (lts(&["x", "y", "unused"], 0, 1), lts(&["y", "x", "y"], 1, 2));
    for equivalence in Equivalence::ALL {
        assert!(compare(&one, &two, equivalence).is_related());
        assert_eq!(reduce(&one, equivalence), reduce(&two, equivalence));
        assert_eq!(reduce(&one, equivalence).labels, ["x", "y"]);
    }
}

#[test]
fn only_the_reachable_part_is_kept() {
    let mut lts = system(4, &[(0, "a", 1), (2, "b", 3)]);
    assert_eq!(reduce(&lts, Strong).states, 2);
    lts.initial = 3;
    assert_eq!(reduce(&lts, Strong), system(1, &[]));
    // Classes are those of all states, including unreachable ones.
    assert_eq!(partition(&lts, Strong).block_of, [0, 1, 2, 1]);
}

/// Shapes for which naive algorithms are quadratic. With time proportional to m log n they are
/// fast.
#[test]
fn deep_systems_are_quick() {
    let n = 40_000;
    let numbered = |steps: &mut dyn Iterator<Item = (u32, u32, u32)>, states| Lts {
        initial: 0,
        states,
        labels: vec!["tau".into(), "a".into(), "b".into()],
        transitions: steps.map(|(from, label, to)| Transition { from, label: LabelId(label), to }).collect(),
    };
    let chain = numbered(&mut (0..n).map(|s| (s, 1, s + 1)), n + 1);
    assert_eq!(reduce(&chain, Strong).states, n + 1);
    assert_eq!(reduce(&chain, Branching).states, n + 1);
    let internal = numbered(&mut (0..n).map(|s| (s, 0, s + 1)), n + 1);
    assert_eq!(reduce(&internal, Branching).states, 1);
    // Each state of an internal chain has its own visible exit, so all states differ.
    let exits = (0..n).flat_map(|s| [(s, 0, s + 1), (s, 1, n + s), (n + s, 2, n + s + 1)]);
    assert_eq!(reduce(&numbered(&mut { exits }, 2 * n + 1), Branching).states, 2 * n + 1);
    // An internal chain that can restart in two ways: its states leave the block one after another,
    // from the end.
    let peel = (0..n).flat_map(|s| [(s, 0, s + 1), (s, 1 + s % 2, 0)]);
    assert_eq!(reduce(&numbered(&mut { peel }, n + 1), Branching).states, n + 1);
}
