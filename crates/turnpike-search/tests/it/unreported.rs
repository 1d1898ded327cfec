//! Writes to shared memory that compilers do not report: what functions answer through a pointer is explored, and for
//! everything else nothing is proved.

#![cfg(target_os = "linux")]

use std::path::Path;

use crate::native::{end, guest, model, search};
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Bfs, Exhaustive};
use turnpike_search::{Strategy, Verdict};

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

/// Functions that write through a pointer of their caller.
const RESULTS: [&str; 18] = [
    "semaphore",
    "clock",
    "moment",
    "time",
    "create",
    "join",
    "key",
    "cancel",
    "pipe",
    "stat",
    "read",
    "random",
    "set",
    "mask",
    "handler",
    "names",
    "address",
    "memalign",
];

/// Functions that read what their caller points at.
const OPERANDS: [&str; 15] = [
    "open",
    "access",
    "stat",
    "folder",
    "variable",
    "processors",
    "event",
    "exchange",
    "sleep",
    "clock",
    "mode",
    "name",
    "attributes",
    "poll",
    "part",
];

/// Time limits that one thread changes while another one passes them to a function that waits.
const TIME_LIMITS: [&str; 3] = ["semaphore", "lock", "condition"];

/// Writes that only a comparison of memory shows.
const UNSEEN: [&str; 5] = ["assembler", "hidden", "expanded", "call", "overwritten"];

#[test]
fn what_functions_answer_through_pointers_is_explored() {
    let Some(path) = guest("unreported.c") else { return };
    for way in RESULTS {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let report = search(&model(&path, &[way], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{way}");
            assert!(end(&report).starts_with("assertion failed"), "{way}: {}", end(&report));
        }
    }
}

#[test]
fn what_functions_read_through_pointers_is_explored() {
    let verdict = |path: &Path, arguments: &[&str], strategy: Strategy| {
        let report = search(&model(path, arguments, ProgramOptions::default()), strategy, 20_000);
        (report.verdict, end(&report))
    };
    let (Some(operands), Some(hashes)) = (guest("operands.c"), guest("hashes.cpp")) else { return };
    let ways = OPERANDS.map(|way| (&operands, vec![way], vec![way, "ordered"]));
    for (path, wrong, right) in ways.into_iter().chain([(&hashes, vec![], vec!["right"])]) {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let (found, end) = verdict(path, &wrong, strategy.clone());
            assert_eq!(found, Verdict::Found, "{wrong:?}");
            assert!(end.starts_with("assertion failed"), "{wrong:?}: {end}");
            assert_eq!(verdict(path, &right, strategy), (Verdict::None, String::new()), "{right:?}");
        }
    }
}

#[test]
fn time_limits_that_others_change_are_explored() {
    let Some(path) = guest("operands.c") else { return };
    for way in TIME_LIMITS {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let report = search(&model(&path, &[way], ProgramOptions::default()), strategy.clone(), 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{way}");
            // Limits could also run out earlier.
            let report =
                search(&model(&path, &[way, "ordered"], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Inconclusive, "{way}: {}", end(&report));
        }
    }
}

/// Where turnpike keeps what it knows of an object, a program would find something else without it.
#[test]
fn bytes_of_objects_that_threads_look_at_prove_nothing() {
    let Some(path) = guest("raw_locks.c") else { return };
    for way in ["mutex", "lock", "condition", "barrier", "spin", "semaphore"] {
        for when in ["initialised", "used", "atomically"] {
            for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
                let verdict = |arguments: &[&str]| {
                    let report =
                        search(&model(&path, arguments, ProgramOptions::default()), strategy.clone(), 20_000);
                    (report.verdict, end(&report))
                };
                assert_eq!(verdict(&[way, when]).0, Verdict::Inconclusive, "{way} {when}");
                assert_eq!(verdict(&[way, when, "ordered"]), (Verdict::None, String::new()), "{way} {when}");
            }
        }
    }
}

/// Looking for something to read must not count as a write to the list of what is watched.
#[test]
fn waiting_for_descriptors_of_a_shared_list_is_proved() {
    let Some(path) = guest("operands.c") else { return };
    for way in ["polls", "selects"] {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let report = search(&model(&path, &[way], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::None, "{way}: {}", end(&report));
        }
    }
}

/// Even where nothing goes wrong in the explored orders.
#[test]
fn writes_that_only_memory_shows_prove_nothing() {
    let Some(path) = guest("unreported.c") else { return };
    for way in UNSEEN {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let model = model(&path, &[way, "ordered"], ProgramOptions::default());
            let report = search(&model, strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Inconclusive, "{way}: {}", end(&report));
        }
    }
}

/// Reported writes must not be taken for unreported ones.
#[test]
fn writes_that_are_reported_and_ordered_are_proved() {
    let Some(path) = guest("unreported.c") else { return };
    for way in RESULTS.into_iter().chain(["none of them"]) {
        let report =
            search(&model(&path, &[way, "ordered"], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
        assert_eq!(report.verdict, Verdict::None, "{way}: {} {:?}", end(&report), report.stop);
    }
}
