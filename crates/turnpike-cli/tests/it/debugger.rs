//! `turnpike replay --gdb`: a real debugger looks at the end of a schedule.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{folder, turnpike_in};

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
    let replayed = turnpike_in(folder, &["replay", "--program", "./guest", "found.json", "--gdb"], commands);
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
