//! How executions of C programs end: by several threads at once, with handlers, and within limits that are told by their names.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, folder, turnpike_in};

/// Compiles a program with visible memory; false, with a message, if there is no compiler.
fn compile(folder: &Path, name: &str) -> bool {
    let file = format!("{name}.c");
    let arguments = ["-g", "-O1", "-fsanitize=thread", &file, "-o", name];
    match Command::new("gcc").args(arguments).current_dir(folder).output() {
        Err(_) => {
            eprintln!("skipped: there is no gcc");
            false
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
    }
}

fn exhaust(folder: &Path, arguments: &[&str]) -> Ran {
    let mut all = vec!["search", "--strategy", "exhaustive", "--program"];
    all.extend(arguments);
    turnpike_in(folder, &all, "")
}

/// Two threads end the process, by the means that the argument tells; the main thread ends itself, or returns.
const EXITS: &str = r#"#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static atomic_int x, handlers;
static const char *how;
static void handler(void) { if (atomic_fetch_add(&handlers, 1) != 0) abort(); }
static void leave(int status) { if (strcmp(how, "quick") == 0) quick_exit(status); else exit(status); }
static void *first(void *unused) { if (atomic_fetch_add(&x, 1) == 0) leave(0); return unused; }
static void *second(void *unused) {
    if (atomic_fetch_add(&x, 1) == 1 || strcmp(how, "both") == 0) leave(strcmp(how, "status") == 0 ? 3 : 0);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    how = argc > 1 ? argv[1] : "";
    atexit(handler);
    at_quick_exit(handler);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    if (strcmp(how, "return") == 0) return 0;
    pthread_exit(0);
}
"#;

#[test]
fn several_threads_end_the_process() {
    let folder = folder(&[("exits.c", EXITS)]);
    let folder = folder.path();
    if !compile(folder, "exits") {
        return;
    }
    for how in ["exit", "both", "quick", "return"] {
        exhaust(folder, &["./exits", "--", how]).expect(0, &["none", "(complete)"]);
        let system = ["./exits", "--threads-as", "os", "--", how];
        exhaust(folder, &system).expect(0, &["none", "(complete)"]);
    }
    // The second one is first.
    exhaust(folder, &["./exits", "--", "status"]).expect(1, &["exited with status 3"]);
}

/// Two threads race, and the process ends with a status of its own.
const RACES: &str = r#"#include <pthread.h>
int x;
static void *write_it(void *unused) { x = 1; return unused; }
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, write_it, 0);
    x = 2;
    pthread_join(other, 0);
    return 1;
}
"#;

#[test]
fn what_was_looked_for_is_the_headline() {
    let folder = folder(&[("races.c", RACES)]);
    let folder = folder.path();
    if compile(folder, "races") {
        let race = exhaust(folder, &["./races", "--find", "race"]);
        race.expect(1, &["found: race in ", "races.c:3", "races.c:7"]);
        exhaust(folder, &["./races"]).expect(1, &["found: crash: exited with status 1"]);
    }
}

/// Nine thousand steps of one thread, and as much memory as the argument says, by two.
const LONG: &str = r#"#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *block;
static size_t size;
static void *count(void *unused) {
    for (int i = 0; i < 4500; i++) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
    return unused;
}
static void *fill(void *unused) {
    for (size_t i = 0; i < size; i += 4096) block[i] = 1;
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a;
    size = argc > 1 ? (size_t)atoi(argv[1]) << 20 : 0;
    block = malloc(size + 1);
    pthread_create(&a, 0, size ? fill : count, 0);
    pthread_join(a, 0);
    return !block;
}
"#;

#[test]
fn limits_are_told_by_their_names_and_only_when_they_were_met() {
    let folder = folder(&[("long.c", LONG)]);
    let folder = folder.path();
    if !compile(folder, "long") {
        return;
    }
    // Longer than the executions by which turnpike gets acquainted with a program.
    exhaust(folder, &["./long"]).expect(0, &["none", "(complete)"]);
    exhaust(folder, &["./long", "--max-steps", "6000"]).expect(3, &["executions were cut after 6000 steps"]);
    // What turnpike remembers is not the program's memory.
    exhaust(folder, &["./long", "--guest-memory", "1M"]).expect(0, &["none", "(complete)"]);
    let ran = exhaust(folder, &["./long", "--guest-memory", "64M", "--", "48"]);
    ran.expect(2, &["takes more memory than the option guest-memory allows"]);
}
