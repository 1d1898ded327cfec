//! Objects that are initialised again, deleted, closed or joined conflict with every use of them. What cannot be
//! explored is named, and nothing is proved.

#![cfg(target_os = "linux")]

use crate::native::{end, guest, model, search};
use crate::scripts::one;
use turnpike_program::ProgramOptions;
use turnpike_scheduler::Timeouts;
use turnpike_search::strategy::{Auto, Bfs, Dfs, Drs, Exhaustive, Highway, Rdfs};
use turnpike_search::{SearchOptions, Strategy, Verdict};

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

/// What is wrong in each case: one of these.
const CASES: [(&str, &[&str]); 10] = [
    ("mutex", &["assertion failed", "unlocks a mutex that it does not hold"]),
    ("c11", &["assertion failed", "unlocks a mutex that it does not hold"]),
    ("spin", &["assertion failed", "unlocks a mutex that it does not hold"]),
    ("rwlock", &["assertion failed", "releases a read lock that it does not hold", "write lock that"]),
    ("semaphore", &["assertion failed"]),
    ("cond", &["initialises a condition variable that another thread waits for"]),
    ("barrier", &["initialises a barrier that another thread waits for"]),
    ("key", &["assertion failed"]),
    ("join", &["joins a thread that was joined already"]),
    ("stream", &["use after free"]),
];

#[test]
fn beginning_anew_conflicts_with_every_use() {
    let Some(path) = guest("renewals.c") else { return };
    for (case, messages) in CASES {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
            let name = strategy.name();
            let report = search(&model(&path, &[case], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{case} by {name}");
            let why = end(&report);
            assert!(messages.iter().any(|message| why.contains(message)), "{case} by {name}: {why}");
        }
    }
}

#[test]
fn what_begins_once_is_proved() {
    let Some(path) = guest("renewals.c") else { return };
    for (case, _) in CASES {
        let model = model(&path, &[case, "right"], ProgramOptions::default());
        let report = search(&model, EXHAUSTIVE.into(), 20_000);
        assert_eq!(report.verdict, Verdict::None, "{case}: {}", end(&report));
    }
}

#[test]
fn mappings_with_two_addresses_and_a_smaller_heap_prove_nothing() {
    let Some(path) = guest("renewals.c") else { return };
    for case in ["break", "alias"] {
        let report = search(&model(&path, &[case], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
        assert_ne!(report.verdict, Verdict::None, "{case}");
    }
    let report =
        search(&model(&path, &["break", "right"], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
    assert_eq!(report.verdict, Verdict::None, "{}", end(&report));
}

/// A state shows a race although the program goes on from there.
#[test]
fn searches_of_states_find_races() {
    let Some(path) = guest("renewals.c") else { return };
    let strategies: [Strategy; 5] = [
        Bfs::default().into(),
        Dfs::default().into(),
        Rdfs::default().into(),
        Drs::default().into(),
        Highway { width: 100 }.into(),
    ];
    for strategy in strategies {
        let name = strategy.name();
        for shorten in [false, true] {
            let mut options = SearchOptions::new(strategy.clone());
            options.objectives.push("race".parse().unwrap());
            options.limits.executions = Some(2_000);
            options.shorten = shorten;
            let report = one(&model(&path, &["race"], ProgramOptions::default()), &options);
            assert_eq!(report.verdict, Verdict::Found, "by {name}");
            assert!(report.witness.is_some_and(|witness| !witness.trace.steps.is_empty()), "by {name}");
        }
    }
}

/// That a thread may wake up for no reason hides no deadlock.
#[test]
fn who_may_wake_for_no_reason_may_also_not_wake() {
    let Some(path) = guest("renewals.c") else { return };
    for spurious in [0, 1, 2] {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
            let name = strategy.name();
            let options = ProgramOptions { spurious, ..ProgramOptions::default() };
            let report = search(&model(&path, &["nobody"], options), strategy, 20_000);
            assert_eq!(end(&report), "deadlock", "{spurious} by {name}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_without_the_sanitizer_prove_nothing() {
    let Some(path) = guest("hidden.c") else { return };
    let report = search(&model(&path, &[], ProgramOptions::default()), EXHAUSTIVE.into(), 1_000);
    assert_eq!(report.verdict, Verdict::Inconclusive);
}

#[test]
fn locks_that_prefer_writers_keep_readers_out() {
    let Some(path) = guest("preference.c") else { return };
    for case in ["lock", "static"] {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
            let name = strategy.name();
            let report = search(&model(&path, &[case], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(end(&report), "deadlock", "{case} by {name}: {:?}", report.verdict);
        }
        let once = model(&path, &[case, "once"], ProgramOptions::default());
        let report = search(&once, EXHAUSTIVE.into(), 20_000);
        assert_eq!(report.verdict, Verdict::Inconclusive, "{case}: {}", end(&report));
    }
}

#[test]
fn waiters_that_are_moved_wake_up() {
    let Some(path) = guest("preference.c") else { return };
    let report = search(&model(&path, &["moved"], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
    assert_eq!(report.verdict, Verdict::Inconclusive, "{}", end(&report));
}

#[test]
fn conditions_measure_time_limits_by_their_clock() {
    let Some(path) = guest("sleepers.c") else { return };
    let options = ProgramOptions { timeouts: Timeouts::Always, ..ProgramOptions::default() };
    let report = search(&model(&path, &["monotonic"], options), EXHAUSTIVE.into(), 20_000);
    assert_eq!(report.verdict, Verdict::None, "{}", end(&report));
}

#[test]
fn wake_ups_that_are_not_explored_are_neither_proofs_nor_errors() {
    let Some(path) = guest("sleepers.c") else { return };
    for way in ["bits", "changes", "rings"] {
        let report = search(&model(&path, &[way], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
        assert_eq!(report.verdict, Verdict::Inconclusive, "{way}: {}", end(&report));
    }
}
