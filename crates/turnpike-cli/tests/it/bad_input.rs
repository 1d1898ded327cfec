//! Wrong input of every kind: a clear message, exit code 2, never a panic.

use crate::common;

use std::io::Write;
use std::path::Path;

use common::{Ran, json, turnpike};

const MODEL: &str = "builtin:philosophers";

/// Refused with exit code 2, nothing on standard output, and these words on standard error.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) -> Ran {
    let ran = turnpike(arguments);
    assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{arguments:?}: results and errors must not mix");
    assert!(ran.stderr.starts_with("error: "), "{arguments:?}: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    // Long lines are broken to the width of a terminal.
    let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(text.contains(word), "{arguments:?}: '{word}' is not in\n{}", ran.stderr);
    }
    ran
}

/// Refused by `search`.
#[track_caller]
fn search(flags: &[&str], words: &[&str]) {
    refused(&[&["search", MODEL], flags].concat(), words);
}

/// A file with this content.
fn file(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("writes");
    path.display().to_string()
}

#[test]
fn malformed_transition_systems() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("empty.aut", b"", &["empty.aut", "empty"]),
        ("header.aut", b"des (0,1,x)\n", &["header.aut:1:", "header", "help:"]),
        ("words.aut", b"hello world\n", &["words.aut:1:", "header"]),
        ("aborted.aut", b"des                      \n(0,\"a\",1)\n", &["aborted.aut:1:", "interrupted"]),
        ("range.aut", b"des (0,1,2)\n(0,\"a\",7)\n", &["range.aut:2:", "target state is 7", "0 to 1"]),
        ("source.aut", b"des (0,1,2)\n(9,\"a\",1)\n", &["source.aut:2:", "source state is 9"]),
        ("initial.aut", b"des (5,1,2)\n(0,\"a\",1)\n", &["initial.aut", "initial state is 5"]),
        ("quote.aut", b"des (0,1,2)\n(0,\"a,1)\n", &["quote.aut:2:", "not closed"]),
        ("few.aut", b"des (0,5,2)\n(0,\"a\",1)\n", &["few.aut", "promises 5 transitions"]),
        ("many.aut", b"des (0,1,2)\n(0,\"a\",1)\n(1,\"b\",0)\n", &["many.aut", "transition"]),
        ("none.aut", b"des (0,0,0)\n", &["none.aut", "at least one state"]),
        ("huge.aut", b"des (0,99999999999999999999,2)\n", &["huge.aut:1:"]),
        ("bytes.aut", b"\xff\xfe\x00\x01", &["bytes.aut"]),
        ("gzip.aut.gz", b"\x1f\x8b\x08\x00\x00", &["gzip.aut.gz"]),
    ];
    for (name, content, words) in cases {
        let path = file(folder.path(), name, content);
        for command in ["check", "search", "generate", "info"] {
            refused(&[command, &path], words);
        }
    }
}

#[test]
fn a_compressed_file_that_was_cut_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("whole.aut.gz").display().to_string();
    turnpike(&["generate", MODEL, "-o", &whole]).exits(0);
    let bytes = std::fs::read(&whole).expect("reads");
    for length in [10, bytes.len() / 2, bytes.len() - 1] {
        let path = file(folder.path(), "cut.aut.gz", &bytes[..length]);
        refused(&["search", &path], &["cut.aut.gz", "help:"]);
    }
}

#[test]
fn files_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().join("d.aut");
    std::fs::create_dir(&directory).expect("creates");
    let directory = directory.display().to_string();
    refused(&["search", &directory], &["is a directory, not a model file"]);
    refused(&["search", "--as", "aut", &directory], &["is a directory"]);
    refused(&["search", "no-such.aut"], &["no-such.aut: there is no such file"]);
    refused(&["search", "philosophers"], &["no such file", "builtin:philosophers"]);
    let text = file(folder.path(), "notes.txt", b"x");
    refused(&["search", &text], &["extension", ".aut", "--as"]);
    refused(&["search", MODEL, "--trace", &directory], &["cannot write"]);
    refused(&["search", MODEL, "--trace", "no/such/folder/w.json"], &["cannot write no/such/folder/w.json"]);
    refused(&["search", MODEL, "--trace", "w.trc"], &["no trace format", ".json"]);
    refused(&["generate", MODEL, "-o", "no/such/p.aut"], &["cannot write no/such/p.aut"]);
    refused(&["generate", MODEL, "-o", &directory], &["cannot write"]);
    refused(&["generate", MODEL, "-o", "p.lts"], &["extension", ".aut.gz"]);
    // A file that opens but cannot be read.
    #[cfg(target_os = "linux")]
    {
        let memory = folder.path().join("memory.aut");
        std::os::unix::fs::symlink("/proc/self/mem", &memory).expect("links");
        refused(&["search", &memory.display().to_string()], &["cannot read"]);
    }
    // A full device.
    #[cfg(target_os = "linux")]
    {
        let full = folder.path().join("full.aut");
        std::os::unix::fs::symlink("/dev/full", &full).expect("links");
        refused(&["generate", MODEL, "-o", &full.display().to_string()], &["cannot write"]);
        let full = folder.path().join("full.json");
        std::os::unix::fs::symlink("/dev/full", &full).expect("links");
        let ran = turnpike(&["search", MODEL, "--trace", &full.display().to_string()]);
        let ran = ran.expect(2, &["found: deadlock in 5 steps", "cannot write"]);
        assert!(!ran.stdout.contains("wrote"), "{}", ran.stdout);
    }
}

#[test]
fn an_extension_is_refused_before_the_search() {
    // This search would not end within the patience of anybody.
    refused(&["search", "builtin:bakery", "--set", "n=5", "--trace", "w.foo"], &["no trace format"]);
}

#[test]
fn unknown_names_are_corrected() {
    search(&["--strategy", "higway"], &["no strategy `higway`", "did you mean `highway`?"]);
    search(&["--strategy", ""], &["no strategy ``"]);
    search(&["--find", "deadlok"], &["no objective `deadlok`", "did you mean `deadlock`?"]);
    search(&["--store", "exakt"], &["invalid value 'exakt' for '--store <STORE>'", "'exact'"]);
    search(&["--set", "m=3"], &["no parameter `m`"]);
    search(&["--set", "n"], &["NAME=VALUE"]);
    search(&["--set", "n=0"], &["out of range", "2 to 10000"]);
    search(&["--set", "n=many"], &["not a number"]);
    search(&["--strategy", "beam", "--guide", "wating"], &["no measure `wating`", "did you mean `waiting`?"]);
    search(&["--strategy", "beam", "--guide", "most waiting"], &["not a guide"]);
    search(&["--strategy", "genetic", "--fitness", "fit"], &["no fitness `fit`"]);
    search(&["--strategy", "random", "--over", "state"], &["--over", "states"]);
    search(&["--progress", "lines"], &["--progress", "line"]);
    search(&["--wdith", "3"], &["--wdith", "--width"]);
    refused(&["search", "builtin:philosopher"], &["no built-in model `philosopher`", "`philosophers`"]);
    refused(&["serach", MODEL], &["serach", "search"]);
    refused(&["strategies", "higway"], &["did you mean `highway`?"]);
    refused(&["search", "m.aut", "--set", "n=1"], &["m.aut has no parameters to set"]);
    refused(&["search"], &["MODEL"]);
    let unknown = ["search", MODEL, "--find", "action eatt", "--strategy", "bfs"];
    refused(&unknown, &["has no action `eatt`", "did you mean `eat`?"]);
    let warned = turnpike(&[&unknown[..], &["--allow-unknown"]].concat()).exits(0);
    assert!(warned.stderr.starts_with("warning: "), "{}", warned.stderr);
}

#[test]
fn empty_and_wrong_objectives() {
    search(&["--find", ""], &["--find needs an objective"]);
    search(&["--find", "   "], &["--find needs an objective"]);
    search(&["--find", "action"], &["`action` needs", "for example"]);
    search(&["--find", "action a,,b"], &["empty action name"]);
    search(&["--find", "deadlock now"], &["takes no argument"]);
    search(&["--find", "max"], &["`max` needs"]);
    search(&["--find", "max nothing"], &["nothing"]);
}

#[test]
fn flags_of_other_strategies_are_contradictions() {
    for (strategy, flags, owner) in [
        ("bfs", &["--width", "3"][..], "highway, highway-ideal, highway-approx, beam"),
        ("auto", &["--width", "3"], "highway"),
        ("highway", &["--guide", "waiting"], "beam, best-first"),
        ("beam", &["--queue", "3"], "best-first"),
        ("bfs", &["--over", "states"], "random"),
        ("dfs", &["--restart"], "random"),
        ("dfs", &["--restart-depth", "3"], "random"),
        ("random", &["--walks", "3"], "drs"),
        ("random", &["--cutoff", "3"], "drs"),
        ("random", &["--increment", "3"], "drs"),
        ("random", &["--literal"], "drs"),
        ("random", &["--fringe", "node"], "drs"),
        ("random", &["--depth-aware"], "drs"),
        ("random", &["--anytime"], "drs"),
        ("bfs", &["--population", "3"], "genetic, mutation"),
        ("bfs", &["--parents", "3"], "genetic, mutation"),
        ("bfs", &["--mutation", "0.1"], "genetic, mutation"),
        ("bfs", &["--generations", "3"], "genetic, mutation"),
        ("bfs", &["--fitness", "enabled"], "genetic, mutation"),
        ("bfs", &["--stagnation", "3"], "genetic, mutation"),
        ("bfs", &["--depth", "3"], "genetic, mutation, exhaustive"),
    ] {
        let arguments = [&["--strategy", strategy], flags].concat();
        search(&arguments, &[flags[0], owner, &format!("the strategy is {strategy}"), "help:"]);
    }
}

#[test]
fn other_contradictions() {
    search(&["--strategy", "exhaustive"], &["exhaustive needs a depth"]);
    for strategy in ["beam", "best-first"] {
        search(&["--strategy", strategy], &["needs a guide", "waiting, holding-one, eating"]);
    }
    for flag in [&["--depth-aware"][..], &["--anytime"], &["--fringe", "children"], &["--batch", "4"]] {
        search(&[&["--strategy", "drs", "--literal"], flag].concat(), &["--literal", flag[0]]);
    }
    search(&["--no-witness", "--trace", "w.json"], &["--no-witness", "--trace"]);
    search(&["--bitstate-size", "1M"], &["--bitstate-size needs the store bitstate"]);
    search(&["--store", "tree", "--strategy", "random"], &["random does not store states"]);
    search(&["--seed", "1", "--seed", "2"], &["--seed"]);
    refused(&["generate", MODEL, "--store", "compact"], &["lossy", "tree"]);
    refused(&["info", MODEL, "--schema", "search"], &["--schema"]);
}

#[test]
fn numbers_out_of_bounds() {
    search(&["--strategy", "highway", "--width", "0"], &["--width", "at least 1"]);
    search(&["--strategy", "highway", "--width", "-3"], &["-3"]);
    search(&["--strategy", "highway", "--width", "many"], &["--width", "whole number"]);
    search(&["--runs", "0"], &["--runs", "at least 1"]);
    search(&["--threads", "0"], &["--threads", "at least 1"]);
    search(&["--strategy", "drs", "--walks", "0"], &["--walks", "at least 1"]);
    search(&["--strategy", "drs", "--batch", "0"], &["--batch", "at least 1"]);
    search(
        &["--strategy", "drs", "--batch", "2", "--find", "accepting waiting == 1"],
        &["one at a time", "leave out", "batch"],
    );
    search(&["--strategy", "exhaustive", "--depth", "0"], &["--depth", "at least 1"]);
    search(&["--strategy", "exhaustive", "--depth", "5000000000"], &["--depth", "too large"]);
    search(&["--strategy", "genetic", "--mutation", "2"], &["--mutation", "from 0 to 1"]);
    search(&["--max-states", "99999999999999999999"], &["--max-states", "too large"]);
    search(&["--max-memory", "100T"], &["--max-memory is 100.0 TiB", "this machine has"]);
    search(&["--max-memory", "4Q"], &["--max-memory", "such as 4G"]);
    search(&["--store", "bitstate", "--bitstate-size", "100T"], &["--bitstate-size is 100.0 TiB"]);
    search(&["--store", "bitstate", "--bitstate-size", "0"], &["--bitstate-size"]);
    for time in ["", "ten", "30", "-3s", "3 parsecs"] {
        search(&[&format!("--max-time={time}")], &["--max-time", "such as 500ms, 30s"]);
    }
    for seed in ["", "x", "0x", "-1", "0x10000000000000000"] {
        search(&[&format!("--seed={seed}")], &["--seed", "hexadecimal"]);
    }
    refused(&["generate", MODEL, "--threads", "0"], &["--threads", "at least 1"]);
    refused(&["generate", MODEL, "--max-memory", "100T"], &["--max-memory is"]);
}

#[test]
fn errors_are_json_when_json_was_asked_for() {
    for (arguments, words) in [
        (&["search", MODEL, "--strategy", "higway"][..], "higway"),
        (&["search", MODEL, "--wat"], "--wat"),
        (&["search", MODEL, "--runs", "0"], "--runs"),
        (&["search"], "MODEL"),
        (&["generate", "no-such.aut"], "no-such.aut"),
        (&["generate", MODEL, "-o", "-"], "standard output"),
        (&["check", "no-such.aut"], "no-such.aut"),
        (&["info", "builtin:nothing"], "nothing"),
        (&["strategies", "higway"], "higway"),
    ] {
        let value = json(2, arguments);
        assert_eq!(value["command"], arguments[0]);
        assert!(value["turnpike"].is_string());
        assert!(value["error"].as_str().is_some_and(|text| text.contains(words)), "{value:#}");
        assert_eq!(value["errors"][0]["message"], value["error"]);
    }
    let value = json(2, &["search", MODEL, "--strategy", "higway"]);
    assert_eq!(value["errors"][0]["help"], "did you mean `highway`?");
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(folder.path(), "range.aut", b"des (0,1,2)\n(0,\"a\",7)\n");
    let value = json(2, &["check", &path]);
    assert_eq!((&value["model"], &value["errors"][0]["line"]), (&path.as_str().into(), &2.into()));
    let value = json(2, &["serach", MODEL]);
    assert_eq!(value["command"], serde_json::Value::Null);
}

#[test]
fn standard_input_can_be_wrong_too() {
    let mut child = common::command(&["check", "-"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("a pipe").write_all(b"des (0,1\n").expect("writes");
    let ran: Ran = child.wait_with_output().expect("ends").into();
    assert!(ran.stderr.contains("header"), "{}", ran.stderr);
    ran.exits(2);
}
