//! The recipe of the book: a failing schedule, replayed under a real debugger.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::process::{Command, Stdio};
use std::sync::Arc;

use turnpike::sync::Mutex;
use turnpike::thread;

/// Fails: the two read the balance before either changes it.
fn withdraw_twice() {
    turnpike::check(|| {
        let balance = Arc::new(Mutex::new(10));
        let withdraw = |balance: &Mutex<i32>| {
            let enough = *balance.lock().unwrap() >= 10;
            if enough {
                *balance.lock().unwrap() -= 10;
            }
        };
        let other = Arc::clone(&balance);
        let thread = thread::spawn(move || withdraw(&other));
        withdraw(&balance);
        thread.join().unwrap();
        let rest = *balance.lock().unwrap();
        assert!(rest >= 0, "overdrawn");
    });
}

const CHILD: &str = "TURNPIKE_CHILD";

/// The test below as a process of its own, in which it is the program that fails.
fn child() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a binary"));
    let test = "debugger::a_failing_schedule_stops_in_gdb";
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    command
}

#[test]
fn a_failing_schedule_stops_in_gdb() {
    if std::env::var_os(CHILD).is_some() {
        return withdraw_twice();
    }
    if Command::new("gdb").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gdb");
        return;
    }
    let failed = child().output().expect("runs");
    assert!(!failed.status.success(), "the check finds the error");
    let report = String::from_utf8_lossy(&failed.stderr).into_owned();
    let is_frame = |line: &str| line.trim_start().starts_with('#') && line.contains("debugger.rs:");
    if !report.lines().any(is_frame) {
        eprintln!("skipped: this binary has no debug information");
        return;
    }
    let schedule = report.split("TURNPIKE_REPLAY=").nth(1).expect("a schedule");
    let schedule = schedule.split([' ', ',']).next().expect("a word");
    let looked = child()
        .env("TURNPIKE_REPLAY", schedule)
        .env("TURNPIKE_GDB", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            use std::io::Write;
            child.stdin.take().expect("a pipe").write_all(b"info line\nkill\nquit\n")?;
            child.wait_with_output()
        })
        .expect("a debugger");
    let seen = String::from_utf8_lossy(&looked.stdout).into_owned();
    assert!(looked.status.success(), "{seen}");
    assert!(seen.contains("assert!(rest >= 0"), "the failing line is selected: {seen}");
}
