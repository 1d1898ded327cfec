//! Fingerprints identify traces: they are equal exactly if two executions differ only in the order
//! of independent steps.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{all, increments, last_zero, readers, run, script, threads, trace};
use proptest::prelude::*;
use turnpike_scheduler::script::Script;
use turnpike_scheduler::{
    Choice, Detail, End, Execution, Kind, Plan, Policy, Reduction, Timeouts, dependent, reversible,
};

const NOTHING: Reduction<'static> = Reduction { sleep: false, persistent: None };
const SLEEP: Reduction<'static> = Reduction { sleep: true, persistent: None };

/// Distinct fingerprints of final states, and of all states.
fn classes(script: &mut Script) -> (usize, usize) {
    // Plain enumeration, but no state is expanded twice: there would be too many executions
    // otherwise.
    let (mut last, mut states) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Vec<u32>> = vec![vec![]];
    let out = run(script, &Plan::new(&[]));
    states.insert(out.fingerprint);
    while let Some(prefix) = open.pop() {
        let out = run(script, &Plan { predict: true, ..Plan::new(&prefix) });
        if out.end != End::Stopped {
            last.insert(out.fingerprint);
            continue;
        }
        for (i, fingerprint) in out.predicted.iter().enumerate() {
            if states.insert(*fingerprint) {
                let mut next = prefix.clone();
                next.push(i as u32);
                open.push(next);
            }
        }
    }
    (last.len(), states.len())
}

#[test]
fn numbers_of_classes() {
    // Final and all; the initial state counts.
    assert_eq!(classes(&mut increments(3, 2)), (90, 271));
    assert_eq!(classes(&mut readers(8)), (256, 6817));
    assert_eq!(classes(&mut last_zero(5)), (64, 1890));
}

#[test]
fn plain_enumeration_agrees() {
    for (mut script, traces) in [
        (increments(2, 2), 6),
        (increments(2, 3), 20),
        (increments(3, 2), 90),
        (readers(4), 16),
        (last_zero(2), 5),
        (last_zero(3), 12),
    ] {
        let mut seen = BTreeSet::new();
        assert!(all(&mut script, NOTHING, 200_000, |out| {
            assert_eq!(out.end, End::Finished);
            seen.insert(out.fingerprint);
        }));
        assert_eq!(seen.len(), traces);
    }
}

#[test]
fn sleep_sets_complete_one_execution_per_trace() {
    for (mut script, complete, blocked) in
        [(last_zero(5), 64, 354), (readers(8), 256, 3025), (increments(3, 2), 90, 0)]
    {
        let mut ends = BTreeMap::new();
        assert!(all(&mut script, SLEEP, 100_000, |out| {
            *ends.entry(format!("{:?}", out.end)).or_insert(0) += 1;
        }));
        assert_eq!(ends.get("Finished"), Some(&complete));
        assert_eq!(ends.get("Asleep").copied().unwrap_or(0), blocked);
    }
}

fn steps(out: &Execution) -> Vec<Choice> {
    out.steps.iter().map(|step| step.choice).collect()
}

/// A plan that may do everything.
fn wild(seed: u64, max_steps: u32) -> Plan<'static> {
    Plan {
        policy: Policy::Uniform { seed },
        max_steps,
        detail: Detail::Full,
        timeouts: Timeouts::Always,
        spurious: 1,
        ..Plan::new(&[])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn independent_steps_commute(threads in threads(3, 4), seed in 0u64..1 << 40) {
        let (mut script, log) = script(threads);
        let plan = wild(seed, 40);
        let out = run(&mut script, &plan);
        let seen = log.lock().unwrap().clone();
        let mut steps = steps(&out);
        if matches!(out.end, End::Failed(_)) {
            // Nothing comes after the step that failed.
            steps.pop();
        }
        for i in 1..steps.len() {
            let (first, second) = (steps[i - 1], steps[i]);
            if dependent(&first, &second) {
                continue;
            }
            // An independent step was possible before, unless it had to spin first.
            let before = &out.choices[out.steps[i - 1].first_choice as usize..][..out.steps[i - 1].count as usize];
            let same = |choice: &&Choice| (choice.thread, choice.alternative) == (second.thread, second.alternative);
            if before.iter().find(same).is_none() {
                prop_assert!(matches!(second.kind, Kind::Yield | Kind::Sleep), "{first:?} enabled {second:?}");
                continue;
            }
            let mut order: Vec<_> = steps.iter().map(|step| (step.thread, step.alternative)).collect();
            order.swap(i - 1, i);
            let max_steps = order.len() as u32;
            let other = run(&mut script, &Plan { policy: Policy::Follow { order: &order }, max_steps, ..plan });
            prop_assert_eq!(other.steps.len(), steps.len());
            for (j, step) in other.steps.iter().enumerate() {
                prop_assert_eq!((step.choice.thread, step.choice.alternative), order[j]);
                if j >= i {
                    prop_assert_eq!(step.fingerprint, out.steps[j].fingerprint, "{:?} {:?}", first, second);
                }
                if j > i {
                    prop_assert_eq!(step.count, out.steps[j].count, "{:?} {:?}", first, second);
                }
            }
            if !matches!(out.end, End::Failed(_)) {
                prop_assert_eq!(&other.end, &out.end);
            }
            prop_assert_eq!(&*log.lock().unwrap(), &seen, "{:?} {:?}", first, second);
        }
    }

    #[test]
    fn what_is_not_reversible_was_not_possible_before(threads in threads(3, 4), seed in 0u64..1 << 40) {
        let (mut script, _) = script(threads);
        let out = run(&mut script, &wild(seed, 40));
        let steps = steps(&out);
        for i in 1..steps.len() {
            let (first, second) = (steps[i - 1], steps[i]);
            prop_assert!(dependent(&first, &second) || !reversible(&first, &second));
            prop_assert_eq!(dependent(&first, &second), dependent(&second, &first));
            // A program cannot send after all senders are dropped: what is received then was
            // possible before, as the end of the queue.
            let gone = |step: &Choice| step.kind == Kind::Close && step.object == second.object && step.argument == 0;
            if first.kind == Kind::Send && steps[..i - 1].iter().any(gone) {
                continue;
            }
            if first.thread != second.thread && dependent(&first, &second) && !reversible(&first, &second) {
                let before = &out.choices[out.steps[i - 1].first_choice as usize..];
                let mut before = before[..out.steps[i - 1].count as usize].iter();
                let same = |choice: &Choice| (choice.thread, choice.kind) == (second.thread, second.kind);
                let possible = before.any(|choice| same(choice) && choice.alternative < Choice::SPURIOUS);
                prop_assert!(!possible, "{:?} {:?}", first, second);
            }
        }
    }

    #[test]
    fn predictions_come_true(threads in threads(3, 4), seed in 0u64..1 << 40, sleep: bool, length in 0u32..20) {
        let (mut script, _) = script(threads);
        let reduction = Reduction { sleep, persistent: None };
        let walk = run(&mut script, &Plan { reduction, ..wild(seed, length) });
        let mut prefix: Vec<u32> = walk.steps.iter().map(|step| step.taken).collect();
        let plan = Plan { policy: Policy::Stop, max_steps: 100, predict: true, reduction, ..wild(seed, 0) };
        let here = run(&mut script, &Plan { prefix: &prefix, ..plan });
        if let Some(last) = walk.steps.last() {
            prop_assert_eq!(last.fingerprint, here.fingerprint);
        }
        for (i, predicted) in here.predicted.iter().enumerate() {
            prefix.push(i as u32);
            let there = run(&mut script, &Plan { prefix: &prefix, ..plan });
            prop_assert_eq!(there.fingerprint, *predicted);
            prop_assert_eq!(there.steps.last().map(|step| step.fingerprint), Some(*predicted));
            prefix.pop();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn fingerprints_are_traces(mut threads in threads(3, 2)) {
        // A test whether a thread has ended depends only on its last step, which is not known in
        // advance: the dependency relation is coarser there, as it is for timeouts when nothing
        // else can happen.
        for pieces in &mut threads {
            // Using a destroyed object ends the execution: what other threads would have done then
            // is missing.
            pieces.retain(|(operation, _)| !matches!(operation.kind, Kind::TryJoin | Kind::Destroy));
            for (operation, then) in pieces {
                operation.timed = false;
                then.iter_mut().for_each(|operation| operation.timed = false);
            }
        }
        let (mut script, _) = script(threads);
        let (mut by_fingerprint, mut traces, mut ends) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let complete = all(&mut script, NOTHING, 3_000, |out| {
            let trace = trace(&steps(out));
            let end = format!("{:?}", out.end);
            let old = by_fingerprint.insert(out.fingerprint, (trace.clone(), end.clone()));
            assert!(old.is_none_or(|old| old == (trace.clone(), end.clone())), "one fingerprint for two traces");
            traces.insert(trace);
            ends.insert((out.fingerprint, end));
        });
        if complete {
            prop_assert_eq!(by_fingerprint.len(), traces.len());
            // Sleep sets find each of them once, and nothing else.
            let mut found = Vec::new();
            let all_found = all(&mut script, SLEEP, 3_000, |out| {
                if out.end != End::Asleep {
                    found.push(trace(&steps(out)));
                }
            });
            prop_assert!(all_found);
            let count = found.len();
            let found: BTreeSet<_> = found.into_iter().collect();
            prop_assert_eq!(found.len(), count, "a trace was executed twice");
            prop_assert_eq!(found, traces);
        }
    }
}
