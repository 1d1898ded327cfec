//! Compares all equivalences and preorders with their definitions, on thousands of random pairs,
//! and checks all explanations with an independent evaluator.

use proptest::prelude::*;
use turnpike_lts::{
    Comparison, DEFAULT_LIMIT, Difference, Equivalence, Explosion, Lts, Preorder, Reason, Side, refines,
};

use crate::definitions::{
    classes, compare, included, mcf, partition, random_system, reduce, renamed, same_partition, system,
    traces, union,
};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The formula holds for one system only, as its description says.
fn check_difference(
    left: &Lts,
    right: &Lts,
    difference: &Difference,
    hide: bool,
) -> Result<(), TestCaseError> {
    let distinction = difference.formula.as_ref();
    let Some(distinction) = distinction else {
        return Err(TestCaseError::fail(format!("no formula: {difference}")));
    };
    // Labels of the other system count as well.
    let both = [left, right].map(|lts| {
        let mut lts = lts.clone();
        lts.labels.extend(left.labels.iter().chain(&right.labels).cloned());
        lts
    });
    let text = distinction.formula.to_string();
    prop_assert_eq!(mcf::holds(&both[0], &text), distinction.holds_for == Side::Left, "{} in left", &text);
    prop_assert_eq!(mcf::holds(&both[1], &text), distinction.holds_for == Side::Right, "{} in right", &text);
    if let Reason::Trace { trace, label, offered_by } = &difference.reason {
        let sets = [left, right].map(|lts| traces(lts, trace.len() + 1, hide));
        let mut longer = trace.clone();
        longer.push(label.clone());
        prop_assert!(sets[0].contains(trace) && sets[1].contains(trace));
        prop_assert_eq!(sets[0].contains(&longer), *offered_by == Side::Left);
        prop_assert_eq!(sets[1].contains(&longer), *offered_by == Side::Right);
        // The trace is a shortest one.
        let shorter = |set: &std::collections::BTreeSet<Vec<String>>| {
            set.iter().filter(|one| one.len() <= trace.len()).cloned().collect::<Vec<_>>()
        };
        if *offered_by == Side::Left {
            prop_assert!(shorter(&sets[0]).iter().all(|one| sets[1].contains(one)));
        } else {
            prop_assert!(shorter(&sets[1]).iter().all(|one| sets[0].contains(one)));
        }
    }
    Ok(())
}

/// A pair in which one system is often a variant of the other, since most random systems are
/// unrelated.
fn random_pair(states: u32, labels: u32) -> impl Strategy<Value = (Lts, Lts)> {
    let one = move || random_system(1..=states, labels);
    let step = (any::<u32>(), 0..labels, any::<u32>());
    (one(), one(), 0..4u32, any::<u64>(), prop::collection::vec(step, 1..4)).prop_map(
        |(left, other, kind, seed, steps)| {
            let mut right = match kind {
                0 => other,
                _ => renamed(&left, seed),
            };
            for (from, label, to) in steps.into_iter().take(kind.saturating_sub(1) as usize) {
                let label = turnpike_model::LabelId(label);
                let (from, to) = (from % right.states, to % right.states);
                right.transitions.push(turnpike_lts::Transition { from, label, to });
            }
            if seed % 2 == 0 { (left, right) } else { (right, left) }
        },
    )
}

fn is_equal(left: &Lts, right: &Lts, equivalence: Equivalence) -> bool {
    compare(left, right, equivalence).is_related()
}

fn is_included(left: &Lts, right: &Lts, preorder: Preorder) -> bool {
    refines(left, right, preorder, DEFAULT_LIMIT).expect("small").is_related()
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn equivalences_are_those_of_the_definition((left, right) in random_pair(6, 3)) {
        let both = union(&left, &right);
        for equivalence in Equivalence::ALL {
            let expected = classes(&both, equivalence);
            let equal = expected[left.initial as usize] == expected[(left.states + right.initial) as usize];
            match compare(&left, &right, equivalence) {
                Comparison::Related => prop_assert!(equal, "{}", equivalence),
                Comparison::Different(difference) => {
                    prop_assert!(!equal, "{}: {}", equivalence, difference);
                    check_difference(&left, &right, &difference, equivalence.hides_tau())?;
                }
            }
        }
    }

    #[test]
    fn preorders_are_those_of_the_definition((left, right) in random_pair(6, 3)) {
        let both = union(&left, &right);
        for preorder in Preorder::ALL {
            let expected = included(&both, left.initial, left.states + right.initial, preorder);
            match refines(&left, &right, preorder, DEFAULT_LIMIT).expect("small") {
                Comparison::Related => prop_assert!(expected, "{}", preorder),
                Comparison::Different(difference) => {
                    prop_assert!(!expected, "{}: {}", preorder, difference);
                    prop_assert_eq!(difference.formula.as_ref().map(|found| found.holds_for), Some(Side::Left));
                    check_difference(&left, &right, &difference, preorder.hides_tau())?;
                }
            }
        }
    }

    #[test]
    fn classes_of_traces_are_those_of_the_definition(lts in random_system(1..=7, 3)) {
        for equivalence in [Equivalence::Trace, Equivalence::WeakTrace] {
            let found = partition(&lts, equivalence);
            prop_assert!(same_partition(&found.block_of, &classes(&lts, equivalence)), "{}", equivalence);
        }
    }

    /// A finer relation never relates more systems.
    #[test]
    fn finer_relations_relate_less((left, right) in random_pair(7, 3)) {
        use Equivalence as E;
        use Preorder as P;
        let equal = |equivalence| is_equal(&left, &right, equivalence);
        let below = |preorder| is_included(&left, &right, preorder);
        for (finer, coarser) in [
            (E::Strong, E::DivergencePreservingBranching),
            (E::DivergencePreservingBranching, E::Branching),
            (E::Branching, E::Weak),
            (E::Weak, E::WeakTrace),
            (E::Strong, E::Trace),
            (E::Trace, E::WeakTrace),
        ] {
            prop_assert!(!equal(finer) || equal(coarser), "{finer} without {coarser}");
        }
        for (finer, coarser) in [
            (P::ReadySimulation, P::Simulation),
            (P::Simulation, P::Trace),
            (P::ReadySimulation, P::Failures),
            (P::Failures, P::Trace),
            (P::Trace, P::WeakTrace),
            (P::WeakFailures, P::WeakTrace),
        ] {
            prop_assert!(!below(finer) || below(coarser), "{finer} without {coarser}");
        }
        for preorder in P::ALL {
            prop_assert!(!equal(E::Strong) || below(preorder), "strong without {preorder}");
            prop_assert!(is_included(&left, &left, preorder));
        }
        for (equivalence, preorder) in [(E::Trace, P::Trace), (E::WeakTrace, P::WeakTrace)] {
            let mutual = below(preorder) && is_included(&right, &left, preorder);
            prop_assert_eq!(equal(equivalence), mutual, "{}", equivalence);
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The minimal result is equivalent, cannot be reduced further, and is the same for all
    /// equivalent systems.
    #[test]
    fn reductions_are_least_and_canonical(lts in random_system(1..=7, 3), seed in any::<u64>()) {
        for equivalence in [Equivalence::Weak, Equivalence::Trace, Equivalence::WeakTrace] {
            let small = reduce(&lts, equivalence);
            let both = union(&lts, &small);
            let expected = classes(&both, equivalence);
            prop_assert_eq!(expected[lts.initial as usize], expected[lts.states as usize], "{}", equivalence);
            let own = classes(&small, equivalence);
            prop_assert_eq!(own.iter().max().unwrap() + 1, small.states, "{}: two states are equal", equivalence);
            prop_assert_eq!(&reduce(&small, equivalence), &small);
            let other = reduce(&renamed(&lts, seed), equivalence);
            prop_assert_eq!(&other, &small);
            // No transition can be removed.
            for at in 0..small.transitions.len() {
                let mut less = small.clone();
                less.transitions.remove(at);
                prop_assert!(!is_equal(&less, &small, equivalence), "{}: {} is not needed", equivalence, at);
            }
        }
    }

    #[test]
    fn larger_pairs_agree_with_the_definition((left, right) in random_pair(25, 4)) {
        let both = union(&left, &right);
        for preorder in [Preorder::Simulation, Preorder::ReadySimulation] {
            let expected = included(&both, left.initial, left.states + right.initial, preorder);
            prop_assert_eq!(is_included(&left, &right, preorder), expected, "{}", preorder);
        }
        let expected = classes(&both, Equivalence::Weak);
        let equal = expected[left.initial as usize] == expected[(left.states + right.initial) as usize];
        prop_assert_eq!(is_equal(&left, &right, Equivalence::Weak), equal);
    }
}

fn explain(left: &Lts, right: &Lts, preorder: Preorder) -> (String, String) {
    match refines(left, right, preorder, DEFAULT_LIMIT).expect("small") {
        Comparison::Related => ("included".to_owned(), String::new()),
        Comparison::Different(difference) => {
            (difference.to_string(), difference.formula.expect("small").formula.to_string())
        }
    }
}

#[test]
fn preorders_are_explained_in_words_and_formulas() {
    let late = system(3, &[(0, "a", 1), (1, "b", 2), (1, "c", 2)]);
    let early = system(4, &[(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "c", 3)]);
    for preorder in Preorder::ALL {
        assert_eq!(explain(&late, &late, preorder).0, "included");
    }
    assert_eq!(explain(&early, &late, Preorder::Simulation).0, "included");
    assert_eq!(explain(&late, &early, Preorder::Trace).0, "included");
    let (words, formula) = explain(&late, &early, Preorder::Simulation);
    assert_eq!(formula, "<a>(<c>true && <b>true)");
    assert_eq!(
        words,
        "the systems choose at different moments: left does `a`, right has 2 answers, take the best; \
         then left can do `b` and right cannot"
    );
    let (words, formula) = explain(&early, &late, Preorder::ReadySimulation);
    assert_eq!(formula, "<a>[c]false");
    assert_eq!(
        words,
        "the systems choose at different moments: left does `a`, right has one answer; \
         then right can do `c` and left cannot"
    );
    let (words, formula) = explain(&early, &late, Preorder::Failures);
    assert_eq!(formula, "<a>[c]false");
    assert_eq!(words, "after `a`, which both can do, left can refuse `c` and right cannot");
    let spinning = system(1, &[(0, "tau", 0)]);
    let resting = system(1, &[]);
    let (words, formula) = explain(&resting, &spinning, Preorder::WeakFailures);
    assert_eq!(
        (words.as_str(), formula.as_str()),
        ("at the start, left can come to rest and right cannot", "<tau*>[tau]false")
    );
    assert_eq!(explain(&spinning, &resting, Preorder::WeakFailures).0, "included");
    let (words, formula) = explain(&late, &spinning, Preorder::WeakTrace);
    assert_eq!(
        (words.as_str(), formula.as_str()),
        ("at the start, left can do `a` and right cannot", "<tau*.a.tau*>true")
    );
}

#[test]
fn milners_third_tau_law_is_one_of_weak_bisimilarity() {
    let with = system(5, &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 3), (0, "a", 2)]);
    let without = system(4, &[(0, "a", 1), (1, "tau", 2), (2, "b", 3), (1, "c", 3)]);
    assert!(is_equal(&with, &without, Equivalence::Weak));
    assert_eq!(reduce(&with, Equivalence::Weak), reduce(&without, Equivalence::Weak));
    let Comparison::Different(difference) = compare(&with, &without, Equivalence::Branching) else {
        panic!("not branching bisimilar");
    };
    check_difference(&with, &without, &difference, true).expect("a formula that tells them apart");
}

/// The n-th last step is `a`: a deterministic system needs 2^n states.
fn nth_last(n: u32) -> Lts {
    let mut steps = vec![(0, "a", 0), (0, "b", 0), (0, "a", 1)];
    steps.extend((1..n).flat_map(|state| [(state, "a", state + 1), (state, "b", state + 1)]));
    steps.push((n, "end", n + 1));
    system(n + 2, &steps)
}

#[test]
fn explosions_are_reported() {
    let small = reduce(&nth_last(10), Equivalence::Trace);
    assert_eq!(small.states, 1025);
    let error = turnpike_lts::reduce(&nth_last(40), Equivalence::WeakTrace, 100_000).unwrap_err();
    assert_eq!(error, Explosion::Determinising(100_000));
    assert_eq!(error.to_string(), "the sets of states that traces lead to have more than 100000 members");
    // On the fly, inclusion in a system with all traces is immediate.
    let all = system(2, &[(0, "a", 0), (0, "b", 0), (0, "end", 1)]);
    assert!(refines(&nth_last(40), &all, Preorder::Trace, 10_000).expect("few pairs").is_related());
    assert!(!refines(&all, &nth_last(40), Preorder::Trace, 10_000).expect("few pairs").is_related());
    let chain: Vec<(u32, &str, u32)> =
        (0..2000).flat_map(|s| [(s, "tau", s + 1), (s, if s % 2 == 0 { "a" } else { "b" }, 0)]).collect();
    let chain = system(2001, &chain);
    assert_eq!(
        turnpike_lts::reduce(&chain, Equivalence::Weak, 10_000).unwrap_err(),
        Explosion::Saturating(10_000)
    );
    let pairs = refines(&nth_last(40), &nth_last(41), Preorder::Simulation, 10);
    assert_eq!(pairs.unwrap_err(), Explosion::Pairing(10));
}
