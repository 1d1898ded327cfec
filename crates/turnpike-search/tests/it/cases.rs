//! The programs of the public cases that are not about lifetimes or spinning, each with the verdict that it must get.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::native::{compile, end, model, search};
use crate::scripts::one;
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Auto, Bfs, Exhaustive};
use turnpike_search::{SearchOptions, Strategy, Verdict};

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

fn case(name: &str) -> Option<PathBuf> {
    Some(turnpike_corpus::open()?.path("cases/programs").join(name))
}

/// The verdict of a search for errors that covers everything if it can.
fn verdict(path: &Path, strategy: Strategy) -> (Verdict, String) {
    let report = search(&model(path, &[], ProgramOptions::default()), strategy, 20_000);
    (report.verdict, end(&report))
}

#[test]
fn locks_of_glib_are_explored() {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "glib-2.0"]).output();
    let Some(flags) = flags.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: GLib is not installed");
        return;
    };
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    let flags: Vec<&str> = ["-Wl,--no-as-needed"].into_iter().chain(flags.split_whitespace()).collect();
    for name in ["gmutex_av.c", "gmutex_dl.c", "gqueue_av.c"] {
        let Some(path) = case(name).and_then(|source| compile(&source, &flags)) else { return };
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let by = strategy.name();
            let (verdict, end) = verdict(&path, strategy);
            assert_eq!(verdict, Verdict::Found, "{name} by {by}: {end}");
        }
    }
}

#[test]
fn a_relaxed_flag_orders_nothing() {
    let Some(path) = case("rlx_race.c").and_then(|source| compile(&source, &[])) else { return };
    for strategy in [EXHAUSTIVE.into(), Strategy::from(Bfs::default()), Strategy::from(Auto)] {
        let name = strategy.name();
        let mut options = SearchOptions::new(strategy);
        options.objectives.push("race".parse().unwrap());
        options.limits.executions = Some(2_000);
        let report = one(&model(&path, &[], ProgramOptions::default()), &options);
        assert_eq!(report.verdict, Verdict::Found, "by {name}");
    }
}

#[test]
fn programs_that_end_in_odd_ways_are_proved() {
    for name in ["atexit_tsan.c", "two_exit.c"] {
        let Some(path) = case(name).and_then(|source| compile(&source, &[])) else { return };
        assert_eq!(verdict(&path, EXHAUSTIVE.into()), (Verdict::None, String::new()), "{name}");
    }
}

#[test]
fn programs_of_clang_are_proved() {
    let Some(source) = case("clang_min.c") else { return };
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("clang_min-{}", std::process::id()));
    let compiled = Command::new("clang")
        .args(["-g", "-O1", "-w", "-pthread", "-fsanitize=thread", "-o"])
        .args([&output, &source])
        .output();
    if !compiled.is_ok_and(|result| result.status.success()) {
        eprintln!("skipped: clang cannot compile it");
        return;
    }
    assert_eq!(verdict(&output, EXHAUSTIVE.into()), (Verdict::None, String::new()));
}

#[test]
fn an_atomic_operation_of_a_header_may_come_first() {
    let Some(path) = crate::native::guest("task.cpp") else { return };
    let strategy = Exhaustive { depth: u32::MAX }.into();
    let report = search(&model(&path, &[], ProgramOptions::default()), strategy, 20_000);
    assert_ne!(report.verdict, turnpike_search::Verdict::Found, "{}", end(&report));
}
