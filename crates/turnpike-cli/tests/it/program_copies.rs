//! Executions that go on from copies of earlier ones: the same reports.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{folder, timeless, turnpike_in};

/// Threads with locks in two orders, or in one, after steps without a choice.
const PROGRAM: &str = r#"#include <pthread.h>
#include <string.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int rounds = 2, crossed, count;
static void *thread(void *number) {
    pthread_mutex_t *first = number && crossed ? &other : &one, *second = first == &one ? &other : &one;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(first);
        pthread_mutex_lock(second);
        count++;
        pthread_mutex_unlock(second);
        pthread_mutex_unlock(first);
    }
    return number;
}
int main(int arguments, char **argument) {
    pthread_t threads[3];
    crossed = arguments > 1 && strcmp(argument[1], "crossed") == 0;
    for (int i = 0; i < 20; i++) { pthread_mutex_lock(&one); pthread_mutex_unlock(&one); }
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, thread, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return count != 3 * rounds;
}
"#;

/// Compiles the program; false, with a message, if there is no compiler.
fn compile(folder: &Path) -> bool {
    let Ok(output) =
        Command::new("gcc").args(["-g", "-O1", "-pthread", "p.c", "-o", "p"]).current_dir(folder).output()
    else {
        eprintln!("skipped: there is no gcc");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// The report without what tells how it was made.
fn report(folder: &Path, strategy: &str, threads: &str, way: &str, prefixes: &str) -> Value {
    let mut arguments = vec!["search", "--format", "json", "--program", "./p", "--strategy", strategy];
    arguments.extend(["--threads", threads, "--prefixes", prefixes, "--max-states", "1000", "--", way]);
    let mut report = timeless(turnpike_in(folder, &arguments, "").json());
    if let Some(fields) = report.as_object_mut() {
        fields.retain(|name, _| !["command", "repeat", "request"].contains(&name.as_str()));
    }
    report
}

#[test]
fn reports_are_the_same() {
    let folder = folder(&[("p.c", PROGRAM)]);
    if !compile(folder.path()) {
        return;
    }
    for way in ["crossed", "straight"] {
        for (strategy, threads) in [("exhaustive", "1"), ("exhaustive", "2"), ("dfs", "1"), ("bfs", "1")] {
            let [repeated, copied] =
                ["repeat", "copy"].map(|prefixes| report(folder.path(), strategy, threads, way, prefixes));
            assert_eq!(copied, repeated, "{way} with {strategy}, {threads} threads");
        }
    }
}
