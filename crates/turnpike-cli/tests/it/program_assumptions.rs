//! Assumptions of a program leave out executions, and nothing else.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::{folder, root, turnpike_in};
use crate::program_system::compile;

/// A thread sets `set`; another assumes that it is set, or not (the argument), and then that it sees `seen`.
const ASSUMES: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "turnpike.h"
static atomic_int set;
static int wanted, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *setter(void *unused) {
    atomic_store(&set, 1);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *reader(void *unused) {
    pthread_mutex_lock(&lock);
    int found = atomic_load(&set);
    turnpike_assume(found == wanted);
    assert(found == seen);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t one, two;
    (void)argc;
    wanted = atoi(argv[1]);
    seen = atoi(argv[2]);
    pthread_create(&two, 0, reader, 0);
    pthread_create(&one, 0, setter, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

#[test]
fn executions_against_an_assumption_are_left_out() {
    let folder = folder(&[("assumes.c", ASSUMES)]);
    let folder = folder.path();
    let include = format!("-I{}", root().join("crates/turnpike-preload/include").display());
    let flags = ["-g", "-O1", "-fsanitize=thread", &include, "assumes.c", "-o", "assumes"];
    if !compile(folder, "gcc", &flags) {
        return;
    }
    let search = |strategy: &str, wanted: &str, seen: &str| {
        let search = ["search", "--program", "./assumes", "--strategy", strategy, "--", wanted, seen];
        turnpike_in(folder, &search, "")
    };
    for strategy in ["auto", "exhaustive", "bfs"] {
        for value in ["0", "1"] {
            // The thread that stops holds a lock, but nobody else is stuck by mistake.
            search(strategy, value, value).expect(0, &["none", "(complete)"]);
        }
        // What happens under the assumption is searched, whichever thread comes first.
        search(strategy, "0", "1").expect(1, &["found: assertion failed"]);
        search(strategy, "1", "0").expect(1, &["found: assertion failed"]);
        // Nothing is left.
        search(strategy, "2", "2").expect(0, &["none"]);
    }
}
