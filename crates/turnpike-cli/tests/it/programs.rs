//! C programs from the command line: found, explained, replayed, stepped through.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{Ran, timeless, turnpike_in};
use crate::json_schema::mistakes;
use serde_json::Value;

/// Two locks, taken in two orders; with the argument `same`, in one.
const INVERSION: &str = r#"#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int same;
static void *work(void *swap) {
    pthread_mutex_t *first = swap && !same ? &two : &one, *second = swap && !same ? &one : &two;
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return 0;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    (void)argv;
    same = argc > 1;
    printf("starting\n");
    fflush(stdout);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, &b);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// The same one line further down, and with something before the first lock.
fn moved() -> String {
    INVERSION.replace("static int same;", "static int same;\n").replace(
        "    pthread_mutex_lock(first);\n",
        "    static pthread_mutex_t extra = PTHREAD_MUTEX_INITIALIZER;\n    pthread_mutex_lock(&extra);\n    \
         pthread_mutex_unlock(&extra);\n    pthread_mutex_lock(first);\n",
    )
}

/// A counter without a lock: only programs whose memory accesses are visible lose an update.
const COUNTER: &str = r#"#include <assert.h>
#include <pthread.h>
static int count;
static void *work(void *unused) { count++; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(count == 2);
    return 0;
}
"#;

/// Depends on random numbers of the processor: never the same.
const MOODY: &str = r#"#include <pthread.h>
#include <stdint.h>
static pthread_mutex_t locks[64];
int main(void) {
    uint64_t ticks;
#ifdef __x86_64__
    __asm__ volatile("rdrand %0" : "=r"(ticks));
#else
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
    for (unsigned i = 0; i < 8; i++, ticks >>= 3) {
        if (ticks & 1) {
            pthread_mutex_lock(&locks[i]);
            pthread_mutex_unlock(&locks[i]);
        } else {
            pthread_mutex_trylock(&locks[i + 8]);
        }
    }
    return 0;
}
"#;

/// The folder with the compiled programs; `None` without a compiler.
pub(crate) fn programs() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let moved = moved();
        for (name, source) in
            [("inversion", INVERSION), ("moved", &moved), ("counter", COUNTER), ("moody", MOODY)]
        {
            let file = format!("{name}.c");
            std::fs::write(folder.path().join(&file), source).expect("writes");
            let plain = ["-g", "-O1", "-pthread", &file, "-o", name];
            if !compile(folder.path(), &plain) {
                eprintln!("skipped: no C compiler");
                return None;
            }
        }
        let object = ["-g", "-O1", "-fsanitize=thread", "-c", "counter.c", "-o", "counter.o"];
        let linked = [
            "counter.o",
            "-pthread",
            "-rdynamic",
            "-Wl,--unresolved-symbols=ignore-in-object-files",
            "-o",
            "counter.hooks",
        ];
        assert!(compile(folder.path(), &object) && compile(folder.path(), &linked));
        Some(folder)
    });
    folder.as_ref().map(tempfile::TempDir::path)
}

fn compile(folder: &Path, arguments: &[&str]) -> bool {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    Command::new(compiler).args(arguments).current_dir(folder).status().is_ok_and(|status| status.success())
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    turnpike_in(folder, arguments, "")
}

fn json(folder: &Path, code: i32, arguments: &[&str]) -> Value {
    run(folder, &[&["--format", "json"], arguments].concat()).exits(code).json()
}

#[test]
fn every_strategy_finds_the_deadlock_and_says_the_same_twice() {
    let Some(folder) = programs() else { return };
    for strategy in [
        "auto",
        "random",
        "pct",
        "pos",
        "weighted",
        "frontier",
        "bfs",
        "dfs",
        "rdfs",
        "highway",
        "drs",
        "genetic",
        "mutation",
        "exhaustive",
    ] {
        let search = || json(folder, 1, &["search", "--program", "./inversion", "--strategy", strategy]);
        let report = search();
        assert_eq!(report["program"]["incident"]["kind"], "deadlock", "{strategy}: {report:#}");
        let waiting = report["program"]["incident"]["waiting"].as_array().expect("a list");
        assert_eq!(waiting.len(), 3, "{strategy}: {report:#}");
        assert_eq!(timeless(search()), timeless(report), "{strategy}");
    }
}

#[test]
fn a_deadlock_is_explained_and_replayed() {
    let Some(folder) = programs() else { return };
    let search = ["search", "--program", "./inversion", "--trace", "explained.json"];
    run(folder, &search).expect(
        1,
        &[
            "found: deadlock: no thread can go on (in 2 steps)",
            "main.0 waits to lock two at inversion.c:8, held by main.1 since inversion.c:7",
            "main.1 waits to lock one at inversion.c:8, held by main.0 since inversion.c:7",
            "each waits for the next: main.0 -> main.1 -> main.0",
            "schedule: 2 steps of 2 threads, 1 context switch (1 preemption)",
            "lock one  inversion.c:7",
            "starting",
            "replay: turnpike replay --program ./inversion explained.json",
        ],
    );
    let replay = ["replay", "--program", "./inversion", "explained.json"];
    run(folder, &replay).expect(0, &["all 2 steps were executed", "objective met: any-error"]);
    let report = json(folder, 0, &replay);
    assert_eq!((&report["fits"], &report["met"]), (&true.into(), &true.into()));
    run(folder, &["show", "explained.json"]).expect(0, &["main.0", "lock two  inversion.c:7", "> another"]);
    run(folder, &["show", "explained.json", "--chart", "chart.svg"]).exits(0);
    let chart = std::fs::read_to_string(folder.join("chart.svg")).expect("a chart");
    assert!(chart.contains("main.1") && chart.contains("lock two"), "{chart}");
}

#[test]
fn what_is_told_of_programs_keeps_to_the_schema() {
    let Some(folder) = programs() else { return };
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/search.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is published"))
            .expect("JSON");
    for (code, arguments) in [
        (1, &["search", "--program", "./inversion"][..]),
        (1, &["search", "--program", "./inversion", "--strategy", "pos", "--runs", "3"]),
        (
            1,
            &[
                "search",
                "--program",
                "./counter.hooks",
                "--find",
                "race",
                "--find",
                "assertion",
                "--all",
                "--max-executions",
                "50",
            ],
        ),
        (0, &["search", "--program", "./inversion", "--max-executions", "5", "--", "same"]),
        (2, &["search", "--program", "./nosuch"]),
    ] {
        let report = json(folder, code, arguments);
        let errors = mistakes(&schema, &report);
        assert!(errors.is_empty(), "{arguments:?}: {errors:#?}\n{report:#}");
    }
}

#[test]
fn another_program_parts_and_tolerance_helps() {
    let Some(folder) = programs() else { return };
    run(folder, &["search", "--program", "./inversion", "--trace", "old.json", "-q"]).exits(1);
    let words =
        ["was written for ./inversion", "does not fit at step 1", "the program has lock(main.0, extra"];
    run(folder, &["replay", "--program", "./moved", "old.json"]).expect(1, &words);
    let tolerant = ["replay", "--program", "./moved", "old.json", "--tolerant"];
    run(folder, &tolerant)
        .expect(0, &["2 of 2 steps were executed, and 4 on the way to them", "objective met"]);
    // From the first step on, told by its label alone.
    std::fs::write(folder.join("first.txt"), "lock(main.0, one, inversion.c:7)\n").expect("writes");
    let on = ["--continue", "random", "--trace", "new.json", "--max-executions", "1000"];
    let on = [&["replay", "--program", "./inversion", "first.txt"], &on[..]].concat();
    run(folder, &on).expect(1, &["continuing with random: found something", "each waits for the next"]);
    run(folder, &["replay", "--program", "./inversion", "new.json"])
        .expect(0, &["all", "steps were executed"]);
    // With its argument the program is another one, which has no deadlock to go on to.
    let same = ["replay", "--program", "./inversion", "old.json", "--", "same"];
    run(folder, &same).expect(1, &["does not fit at step 2"]);
    let on = ["replay", "--program", "./inversion", "old.json", "--continue", "dfs", "--", "same"];
    run(folder, &on).expect(0, &["continuing with dfs: found nothing in any order"]);
}

#[test]
fn memory_must_be_visible_to_be_searched() {
    let Some(folder) = programs() else { return };
    let plain = ["search", "--program", "./counter", "--strategy", "exhaustive"];
    // Only synchronisation was searched, and nobody may take that for everything.
    let words = [
        "none: no error found in 2 states (synchronisation only)",
        "compile and link with -fsanitize=thread",
    ];
    let ran = run(folder, &plain).expect(0, &words);
    assert!(!ran.stdout.contains("complete") && !ran.stdout.contains("every reachable"), "{}", ran.stdout);
    run(folder, &[&plain[..], &["--strict"]].concat()).exits(3);
    let report = json(folder, 0, &plain);
    assert_eq!((&report["verdict"], &report["scope"]), (&"none".into(), &"synchronisation".into()));
    // What only memory shows is not known to be absent.
    for objective in ["race", "heap"] {
        let report = json(folder, 3, &[&plain[..], &["--find", objective]].concat());
        assert_eq!(
            (&report["verdict"], report["scope"].is_null()),
            (&"inconclusive".into(), true),
            "{objective}"
        );
    }
    let hooks = ["search", "--program", "./counter.hooks", "--visible", "sync", "--find", "deadlock"];
    let ran = run(folder, &hooks);
    assert!(!ran.stdout.contains("(complete)"), "{}", ran.stdout);
    let words = ["found: assertion failed: count == 2", "counter.c", "context switch"];
    run(folder, &["search", "--program", "./counter.hooks"]).expect(1, &words);
    let race = json(folder, 1, &["search", "--program", "./counter.hooks", "--find", "race"]);
    assert_eq!(race["verdict"], "found");
    run(folder, &["check", "--program", "./counter.hooks"]).expect(0, &["memory accesses visible"]);
    run(folder, &["check", "--program", "./counter"]).expect(0, &["compile and link with -fsanitize=thread"]);
}

#[test]
fn what_is_correct_is_covered() {
    let Some(folder) = programs() else { return };
    for strategy in ["exhaustive", "bfs", "dfs", "drs"] {
        let report =
            json(folder, 0, &["search", "--program", "./inversion", "--strategy", strategy, "--", "same"]);
        assert_eq!(report["stop"], "exhausted", "{strategy}: {report:#}");
        assert_eq!(report["program"]["arguments"][0], "same");
        assert_eq!((&report["verdict"], &report["scope"]), (&"none".into(), &"synchronisation".into()));
        assert!(report["program"]["left_out"].is_null());
    }
    run(folder, &["search", "--program", "./inversion", "--find", "action unlock", "--strategy", "bfs"])
        .expect(1, &["in 3 steps"]);
    run(folder, &["search", "--program", "./inversion", "--find", "action unlok", "--max-executions", "10"])
        .expect(2, &["has no action `unlok`", "did you mean `unlock`?"]);
}

#[test]
fn programs_are_described_and_stepped_through() {
    let Some(folder) = programs() else { return };
    let words = [
        "main.0=lock one at inversion.c:7",
        "enabled",
        "turnpike search --program ./inversion --find any-error -- same",
    ];
    run(folder, &["info", "--program", "./inversion", "--", "same"]).expect(0, &words);
    let words = ["lock(main.1, two, inversion.c:7)", "deadlock: no transition is enabled"];
    turnpike_in(folder, &["simulate", "--program", "./inversion"], "1\n2\nq\n").expect(0, &words);
    let report = json(folder, 0, &["generate", "--program", "./inversion", "-o", "space.aut"]);
    assert!(report["states"].as_u64() > Some(10), "{report}");
    // Ends of the program are states without transitions, too, but no deadlocks.
    assert_eq!(report["deadlocks"], 1, "{report}");
    let report = json(folder, 0, &["generate", "--program", "./inversion", "--", "same"]);
    assert_eq!(report["deadlocks"], 0, "{report}");
}

#[test]
fn programs_that_are_never_the_same_are_refused() {
    let Some(folder) = programs() else { return };
    let search = ["search", "--program", "./moody", "--check-every", "1", "--max-executions", "200"];
    run(folder, &search).expect(2, &["the program is not deterministic: with the same schedule, "]);
}

#[test]
fn mistakes_are_explained() {
    let Some(folder) = programs() else { return };
    for (arguments, words) in [
        (&["search", "--program", "./nosuch"][..], "nosuch"),
        (&["search", "--program", "counter.c"], "counter.c is the source of a program"),
        (&["search", "--program", "counter.o"], "counter.o"),
        (&["search", "--program", "./inversion", "model.aut"], "cannot use --program together"),
        (&["search", "builtin:philosophers", "--spurious", "1"], "--spurious is for programs"),
        (&["search", "--program", "./inversion", "--set", "n=3"], "--set is for models"),
        (&["search", "--program", "./inversion", "--query", "A[] true"], "--query is for timed automata"),
        (&["search", "builtin:philosophers", "--strategy", "pct"], "pct"),
        (&["replay", "--program", "./inversion"], "replay needs a trace"),
        (&["search", "builtin:philosophers", "--", "1"], "--program"),
    ] {
        run(folder, arguments).expect(2, &[words]);
    }
}

/// Nothing stays behind: neither processes nor files.
#[test]
fn nothing_is_left_behind() {
    let Some(folder) = programs() else { return };
    let before = files(folder);
    run(
        folder,
        &[
            "search",
            "--program",
            "./inversion",
            "--strategy",
            "random",
            "--max-executions",
            "50",
            "--",
            "same",
        ],
    )
    .exits(3);
    assert_eq!(files(folder), before);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(folder).expect("a folder").filter_map(|entry| Some(entry.ok()?.path()));
    // Other tests write their traces meanwhile.
    let kept = |path: &PathBuf| {
        path.extension().is_none_or(|end| !["json", "svg", "aut", "txt"].iter().any(|e| end == *e))
    };
    let mut names: Vec<PathBuf> = names.filter(kept).collect();
    names.sort();
    names
}
