//! Weak memory from the command line: what is said of the memory that a program was given.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::{folder, root, turnpike_in};
use crate::program_system::compile;

#[test]
fn the_memory_of_a_search_is_named() {
    let folder = folder(&[]);
    let folder = folder.path();
    let source = root().join("models/programs/dekker_bug.c");
    let source = source.to_str().expect("text");
    let hooks = ["-g", "-O1", "-fsanitize=thread", source, "-o", "dekker"];
    if !compile(folder, "gcc", &hooks) || !compile(folder, "gcc", &["-pthread", source, "-o", "plain"]) {
        return;
    }
    let run = |arguments: &[&str]| turnpike_in(folder, arguments, "");
    let note = "the program uses weaker memory orders, which this search treats as sequentially consistent";
    let search = ["search", "--program", "./dekker"];
    run(&search).expect(0, &["none", "(complete)", note, "--memory rc11"]);
    let found = run(&[&search[..], &["--memory", "rc11", "--trace", "found.json"]].concat());
    let found = found.expect(1, &["found: assertion failed", "under sc: no", "under tso: yes"]);
    assert!(!found.text().contains(note), "{}", found.text());
    // The trace remembers the memory: what is executed is said.
    let replay = ["replay", "--program", "./dekker", "--memory", "sc", "found.json"];
    run(&replay).expect(0, &["on ./dekker with --memory rc11"]);
    // Operations that are not visible were not explored.
    let unseen = ["search", "--program", "./plain", "--memory", "rc11"];
    run(&unseen).expect(3, &["inconclusive", "--memory rc11 has no effect"]);
}

const COUNTS: &str = "#include <assert.h>
#include <pthread.h>
static long count = 40;
static volatile unsigned char level;
static _Atomic int turns = 5;
static void *run(void *unused) {
    turns -= 7;
    level = 200;
    count = count + 1;
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, run, 0);
    pthread_create(&other, 0, run, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(count == 42);
}
";

/// An update is lost: both threads read 40 and leave 41, also the one that ends right behind its access.
#[test]
fn timelines_show_the_values_of_memory() {
    let folder = folder(&[("counts.c", COUNTS)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "counts.c", "-o", "counts"]) {
        return;
    }
    let search = ["search", "--program", "./counts", "--trace", "counts.json"];
    turnpike_in(folder, &search, "").expect(1, &["assertion failed: count == 42"]);
    let trace = std::fs::read_to_string(folder.join("counts.json")).expect("written");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let steps = trace["steps"].as_array().expect("steps");
    let values = |action: &str| -> Vec<&str> {
        let parts = steps.iter().map(|step| &step["parts"][0]).filter(|part| part["action"] == action);
        parts.map(|part| part["value"].as_str().unwrap_or("unknown")).collect()
    };
    assert_eq!(values("read count"), ["40", "40"], "{trace}");
    assert_eq!(values("write count"), ["41", "41"], "{trace}");
    assert_eq!(values("write level"), ["200", "200"], "{trace}");
    assert_eq!(values("update turns"), ["-2", "-9"], "{trace}");
    let show = ["show", "counts.json", "--timeline", "c*", "count.svg", "--html", "counts.html"];
    turnpike_in(folder, &show, "").exits(0);
    for file in ["count.svg", "counts.html"] {
        let drawn = std::fs::read_to_string(folder.join(file)).expect("drawn");
        assert!(drawn.contains("count = 41 (write by main.0)"), "{file}: {drawn}");
    }
}
