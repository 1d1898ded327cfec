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
