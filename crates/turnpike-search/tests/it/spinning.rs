//! Loops that wait: those that end by themselves are no livelocks, those that wait for others are proved, and those that
//! nobody ends are found.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use crate::native::{compile, end, guest, model, search};
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Auto, Bfs, Exhaustive};
use turnpike_search::{Strategy, Verdict};

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

fn options() -> ProgramOptions {
    ProgramOptions { max_steps: 6_000, ..ProgramOptions::default() }
}

#[test]
fn locks_that_spin_are_proved() {
    let Some(path) = guest("spins.c") else { return };
    for case in ["flag", "exchange", "looking", "ticket", "peterson", "signal", "yielding signal"] {
        let report = search(&model(&path, &[case], options()), EXHAUSTIVE.into(), 20_000);
        assert_eq!(report.verdict, Verdict::None, "{case}: {} {:?}", end(&report), report.executions);
    }
    let report = search(&model(&path, &["signal"], options()), Strategy::from(Bfs::default()), 20_000);
    assert_eq!(report.verdict, Verdict::None, "by states");
}

#[test]
fn spinning_that_ends_is_no_livelock() {
    let Some(path) = guest("spins.c") else { return };
    for tries in ["1", "2", "10", "20", "1000"] {
        for case in ["gives up", "gives up elsewhere"] {
            let report = search(&model(&path, &[case, tries], options()), EXHAUSTIVE.into(), 20_000);
            assert_eq!(report.verdict, Verdict::None, "{case} after {tries}: {}", end(&report));
        }
    }
}

#[test]
fn what_comes_after_spinning_is_seen() {
    let Some(path) = guest("spins.c") else { return };
    for tries in ["1", "8", "16", "17", "20", "100"] {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let report = search(&model(&path, &["parks", tries], options()), strategy, 20_000);
            assert_eq!(end(&report), "deadlock", "after {tries}: {:?}", report.verdict);
        }
    }
}

#[test]
fn loops_that_nobody_ends_are_livelocks() {
    let Some(path) = guest("spins.c") else { return };
    for case in ["endless", "endless plainly", "endless yielding"] {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let report = search(&model(&path, &[case], options()), strategy, 20_000);
            assert!(end(&report).starts_with("livelock"), "{case}: {:?} {}", report.verdict, end(&report));
        }
    }
}

#[test]
fn endless_loops_that_count_are_cut_and_prove_nothing() {
    let Some(path) = guest("spins.c") else { return };
    for case in ["counting", "counting signal"] {
        let report = search(&model(&path, &[case], options()), EXHAUSTIVE.into(), 60);
        assert_eq!(report.verdict, Verdict::Inconclusive, "{case}: {}", end(&report));
    }
}

#[test]
fn the_cases_that_were_wrong_are_right() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let folder = corpus.path("cases/programs");
    let Some(path) = compile(&folder.join("bounded_yield.c"), &[]) else { return };
    let report = search(&model(&path, &[], options()), EXHAUSTIVE.into(), 20_000);
    assert_eq!(report.verdict, Verdict::None, "bounded_yield.c: {}", end(&report));
    for (name, expected) in [("spinpark_bug.c", "deadlock"), ("atomicwait_bug.cpp", "deadlock")] {
        let Some(path) = compile(&folder.join(name), &[]) else { return };
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let report = search(&model(&path, &[], options()), strategy, 20_000);
            assert_eq!(end(&report), expected, "{name}: {:?}", report.verdict);
        }
    }
}

/// Assembler, functions without the sanitizer and calls that are expanded in place change memory unseen.
#[test]
fn loops_that_count_unseen_may_give_up() {
    let Some(path) = guest("unseen.c") else { return };
    let ways =
        ["hidden", "assembler", "strcat", "fill", "malloc", "block", "yielding", "local", "kept", "clock"];
    for way in ways {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let report = search(&model(&path, &[way], options()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{way}: giving up is not explored");
        }
    }
    for way in ["hidden", "assembler", "block", "yielding", "local", "clock"] {
        let report = search(&model(&path, &[way, "right"], options()), EXHAUSTIVE.into(), 2_000);
        assert_ne!(report.verdict, Verdict::Found, "{way}: {}", end(&report));
    }
}
