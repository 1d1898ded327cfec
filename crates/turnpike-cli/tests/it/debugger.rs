//! `turnpike replay --gdb` and `--rr`: a real debugger looks at the end of a schedule, and a recorder is
//! asked to record it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{command, folder, turnpike_in};

const DEADLOCK: &str = r#"#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *forwards(void *unused) { both(&left, &right); return unused; }
static void *backwards(void *unused) { both(&right, &left); return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, forwards, 0);
    pthread_create(&b, 0, backwards, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"#;

const ASSERTION: &str = r#"#include <cassert>
#include <mutex>
#include <thread>
struct Account {
    std::mutex lock;
    int balance = 10;
    int read() { std::lock_guard<std::mutex> held(lock); return balance; }
    void write(int value) { std::lock_guard<std::mutex> held(lock); balance = value; }
};
int main() {
    Account account;
    std::thread other([&] { account.write(account.read() + 1); });
    account.write(account.read() + 1);
    other.join();
    assert(account.read() == 12);
}
"#;

/// Whether these programs are here; otherwise says what is missing.
fn installed(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        eprintln!("skipped: there is no {tool}");
    }
    missing.is_none()
}

/// Compiles a program, finds its error, and gives commands to the debugger where it ends.
fn debug(folder: &Path, compiler: &[&str], commands: &str) -> String {
    let compiled =
        Command::new(compiler[0]).args(&compiler[1..]).current_dir(folder).output().expect("a compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let found = turnpike_in(folder, &["search", "--program", "./guest", "--trace", "found.json"], "");
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    // The trace says which program it belongs to.
    let replayed = turnpike_in(folder, &["replay", "found.json", "--gdb"], commands);
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    replayed.stdout
}

#[test]
fn all_threads_of_a_deadlock_are_in_place() {
    if !installed(&["gcc", "gdb"]) {
        return;
    }
    for level in ["-O0", "-O2"] {
        let folder = folder(&[("guest.c", DEADLOCK)]);
        let compiler = ["gcc", "-g", level, "-pthread", "guest.c", "-o", "guest"];
        let seen = debug(folder.path(), &compiler, "thread apply all bt\nquit\n");
        assert!(seen.contains("pthread_mutex_lock(second)"), "the line that was reached is shown: {seen}");
        for frame in ["forwards", "backwards", "main ()"] {
            assert!(seen.contains(frame), "{frame} is on no stack at {level}: {seen}");
        }
    }
}

#[test]
fn the_failing_line_is_selected_and_its_values_can_be_read() {
    if !installed(&["g++", "gdb"]) {
        return;
    }
    let folder = folder(&[("guest.cpp", ASSERTION)]);
    let compiler = ["g++", "-g", "-O0", "-pthread", "guest.cpp", "-o", "guest"];
    let seen = debug(folder.path(), &compiler, "print account.balance\nquit\n");
    assert!(seen.contains("assert(account.read() == 12)"), "{seen}");
    assert!(seen.contains("$1 = 11"), "{seen}");
}

/// Replays with this `rr`.
fn record(folder: &Path, script: &str) -> (Option<i32>, String) {
    let tools = tempfile::tempdir().expect("a folder");
    let rr = tools.path().join("rr");
    std::fs::write(&rr, format!("#!/bin/sh\n{script}\n")).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&rr, mode).expect("executable");
    let path = std::env::var("PATH").unwrap_or_default();
    std::fs::write(folder.join("found.txt"), "lock\n").expect("written");
    let done = command(&["replay", "--rr", "--program", "./guest", "found.txt", "--", "--rr"])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", tools.path().display()))
        .output()
        .expect("starts");
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_recorder_gets_the_same_command() {
    let folder = folder(&[]);
    let script = r#"[ "$2" = -o ] && exit 0; shift 2; echo "recorded: $*""#;
    let (code, text) = record(folder.path(), script);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("recorded: replay --program ./guest found.txt -- --rr\n"), "{text}");
    assert!(text.contains("rr replay -f PID"), "{text}");
}

#[test]
fn a_recorder_that_cannot_record_is_no_riddle() {
    let folder = folder(&[]);
    let script =
        "echo '[FATAL ./src/PerfCounters.cc:306:start_counter()] Unable to open counter' >&2; exit 1";
    let (code, text) = record(folder.path(), script);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("rr cannot record here: Unable to open counter"), "{text}");
    assert!(text.contains("--gdb works without"), "{text}");
    let (code, text) = record(folder.path(), "exec /no/such/program");
    assert_eq!(code, Some(2), "{text}");
}

/// The real one, where it can record.
#[test]
fn a_replay_is_recorded() {
    let folder = folder(&[("guest.c", DEADLOCK)]);
    let traces = folder.path().join("rr");
    let usable = Command::new("rr")
        .args(["record", "true"])
        .env("_RR_TRACE_DIR", &traces)
        .output()
        .is_ok_and(|tried| tried.status.success());
    if !usable {
        eprintln!("skipped: there is no rr that can record");
        return;
    }
    let compiler = ["-g", "-O0", "-pthread", "guest.c", "-o", "guest"];
    assert!(
        Command::new("cc").args(compiler).current_dir(folder.path()).status().expect("a compiler").success()
    );
    turnpike_in(folder.path(), &["search", "--program", "./guest", "--trace", "found.json"], "").exits(1);
    let done = command(&["replay", "found.json", "--rr"])
        .current_dir(folder.path())
        .env("_RR_TRACE_DIR", &traces)
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && text.contains("objective met"), "{text}");
}

#[test]
fn models_have_nothing_for_a_debugger() {
    let folder = folder(&[]);
    let found = turnpike_in(folder.path(), &["search", "builtin:philosophers", "--trace", "found.json"], "");
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    for flags in [&["--gdb"][..], &["--rr"], &["--tolerant"], &["--continue", "pos"], &["--verbose"]] {
        let refused = turnpike_in(folder.path(), &[&["replay", "found.json"], flags].concat(), "");
        assert_eq!(refused.code, 2, "{flags:?}: {}{}", refused.stdout, refused.stderr);
        let words = format!("{} is for programs, and builtin:philosophers is a model", flags[0]);
        assert!(refused.stderr.contains(&words), "{flags:?}: {}", refused.stderr);
    }
}
