//! What ends conflicts with every use of it: freed blocks, mappings, stacks of threads, destroyed objects. Searches with
//! and without reductions find the same.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use crate::native::{compile, end, guest, model, search};
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Auto, Bfs, Exhaustive};
use turnpike_search::{Strategy, Verdict};

/// What is wrong in each case.
const CASES: [(&str, &str); 17] = [
    ("write", "use after free: write of 4 bytes"),
    ("read", "use after free: read of 4 bytes"),
    ("own mutex", "use after free"),
    ("atomic", "use after free: write of 4 bytes"),
    ("resize", "use after free: read of 4 bytes"),
    ("path", "use after free: read of 1 byte"),
    ("log", "use after free: read of 1 byte"),
    ("exchange", "use after free: read of 4 bytes"),
    ("unmap", "segmentation fault"),
    ("twice", "double free"),
    ("stack", "use after the end of a thread"),
    ("mutex", "uses a mutex that was destroyed"),
    ("rwlock", "uses a reader-writer lock that was destroyed"),
    ("cond", "uses a condition variable that was destroyed"),
    ("semaphore", "uses a semaphore that was destroyed"),
    ("barrier", "uses a barrier that was destroyed"),
    ("spin", "uses a mutex that was destroyed"),
];

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

#[test]
fn every_strategy_finds_what_is_used_after_its_end() {
    let Some(path) = guest("lifetimes.c") else { return };
    for (case, message) in CASES {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
            let name = strategy.name();
            let report = search(&model(&path, &[case], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{case} by {name}");
            assert!(end(&report).contains(message), "{case} by {name}: {}", end(&report));
        }
        // Sleep sets by themselves, and with persistent sets by what executions showed.
        let sleeping = ProgramOptions { sleep: true, ..ProgramOptions::default() };
        let report = search(&model(&path, &[case], sleeping.clone()), Strategy::from(Bfs::default()), 20_000);
        assert_eq!(report.verdict, Verdict::Found, "{case} with sleep sets");
        let both = model(&path, &[case], sleeping).with_recorded_accesses(20).unwrap();
        let report = search(&both, Strategy::from(Bfs::default()), 20_000);
        assert_eq!(report.verdict, Verdict::Found, "{case} with sleep sets and persistent sets");
    }
}

#[test]
fn what_is_done_right_is_proved() {
    let Some(path) = guest("lifetimes.c") else { return };
    for (case, _) in CASES.into_iter().filter(|(case, _)| !["unmap", "stack"].contains(case)) {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default())] {
            let name = strategy.name();
            let report = search(&model(&path, &[case, "right"], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::None, "{case} by {name}: {}", end(&report));
        }
    }
    for case in ["unmap", "stack"] {
        let model = model(&path, &[case, "right"], ProgramOptions::default());
        let report = search(&model, EXHAUSTIVE.into(), 2_000);
        assert_ne!(report.verdict, Verdict::Found, "{case}: {}", end(&report));
    }
}

#[test]
fn deleting_conflicts_with_virtual_calls() {
    let Some(path) = guest("deletes.cpp") else { return };
    for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
        let report = search(&model(&path, &[], ProgramOptions::default()), strategy, 20_000);
        assert!(end(&report).contains("use after free"), "{:?} {}", report.verdict, end(&report));
    }
    let report = search(&model(&path, &["right"], ProgramOptions::default()), EXHAUSTIVE.into(), 20_000);
    assert_eq!(report.verdict, Verdict::None, "{}", end(&report));
}

#[test]
fn the_cases_that_were_missed_are_found() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let folder = corpus.path("cases/programs");
    for name in [
        "uaf2.c",
        "uaf3.c",
        "uaf_missed.c",
        "df_missed.c",
        "delete.cpp",
        "munmap.c",
        "thrstack.c",
        "destroyed.c",
    ] {
        let Some(path) = compile(&folder.join(name), &[]) else { return };
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
            let told = strategy.name();
            let report = search(&model(&path, &[], ProgramOptions::default()), strategy, 20_000);
            assert_eq!(report.verdict, Verdict::Found, "{name} by {told}");
        }
    }
}
