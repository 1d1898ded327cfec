//! Ctrl-C: a partial report first, the end at once when it comes again later.
#![cfg(unix)]

use crate::common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use common::command;
use serde_json::Value;

/// A search that would take very long.
const LONG: [&str; 8] =
    ["search", "builtin:bakery", "--set", "n=5", "--find", "deadlock", "--strategy", "bfs"];

/// Starts it and waits for an event of this kind.
fn started(arguments: &[&str], event: &str) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = command(arguments)
        .args(["--progress", "json", "--max-time", "120s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains(&format!("\"{event}\"")) {
        line.clear();
        assert!(err.read_line(&mut line).expect("text") > 0, "ended before the first sign of life");
    }
    (child, err)
}

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

/// Waits for the end; standard error is read meanwhile, so that the program never waits for its reader.
fn ended(mut child: Child, mut err: BufReader<std::process::ChildStderr>) -> (Option<i32>, String) {
    let reader = std::thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = err.read_to_end(&mut rest);
    });
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    let code = child.wait().expect("ends").code();
    reader.join().expect("the reader ends");
    (code, out)
}

#[test]
fn the_first_one_gives_a_partial_report() {
    let (child, err) = started(&[&LONG[..], &["--format", "json"]].concat(), "progress");
    interrupt(&child);
    let (code, out) = ended(child, err);
    assert_eq!(code, Some(3), "{out}");
    let report: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!((&report["verdict"], &report["stop"]), (&"inconclusive".into(), &"interrupted".into()));
    assert!(report["states"].as_u64().is_some_and(|states| states > 0));
}

#[test]
fn a_second_signal_at_once_is_the_same_one() {
    let (child, err) = started(&[&LONG[..], &["--format", "json"]].concat(), "progress");
    // As `timeout` does: to the program, and to its group.
    let twice = format!("kill -TERM {0}; kill -TERM {0}; kill -INT {0}", child.id());
    assert!(Command::new("sh").args(["-c", &twice]).status().expect("a shell").success());
    let (code, out) = ended(child, err);
    assert_eq!(code, Some(3), "{out}");
    let report: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(report["stop"], "interrupted");
}

#[test]
fn many_runs_report_those_that_ended() {
    let arguments = ["search", "builtin:bakery", "--find", "deadlock", "--strategy", "random"];
    let more = ["--runs", "1000000", "--max-states", "300000", "--format", "json", "--no-witness"];
    let (child, err) = started(&[&arguments[..], &more].concat(), "run-finished");
    interrupt(&child);
    let (code, out) = ended(child, err);
    assert_eq!(code, Some(3), "{out}");
    let report: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(report["stop"], "interrupted");
    assert!(report["runs"].as_array().is_some_and(|runs| runs.len() < 1_000_000));
}

#[test]
fn generate_leaves_a_valid_partial_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("part.aut").display().to_string();
    let (child, err) =
        started(&["generate", "builtin:bakery", "--set", "n=5", "-o", &file, "--format", "json"], "progress");
    interrupt(&child);
    let (code, out) = ended(child, err);
    assert_eq!(code, Some(3), "{out}");
    let report: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!((&report["stop"], &report["complete"]), (&"interrupted".into(), &false.into()));
    common::turnpike(&["check", &file]).exits(0);
}

#[test]
fn the_second_one_ends_the_program() {
    // A report of many runs is larger than a pipe: without a reader the program is still writing it when the second
    // signal comes.
    let mut child = command(&["search", "builtin:philosophers", "--strategy", "bfs", "--runs", "1000000000"])
        .args(["--progress", "json", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let (mut line, mut finished) = (String::new(), 0);
    while finished < 200 {
        line.clear();
        assert!(err.read_line(&mut line).expect("text") > 0, "ended too early");
        finished += u32::from(line.contains("run-finished"));
    }
    interrupt(&child);
    let drain = std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
    let mut out = child.stdout.take().expect("a pipe");
    out.read_exact(&mut [0]).expect("the report begins");
    // Within a second it would be the same request.
    std::thread::sleep(std::time::Duration::from_millis(1200));
    interrupt(&child);
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    drain.join().expect("the reader ends").expect("standard error is read");
    drop(out);
}
