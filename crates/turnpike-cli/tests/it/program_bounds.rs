//! Long tests of C programs: bounds on schedules, errors by their signatures, advice, and a part of
//! the program that is scheduled.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::path::Path;

use crate::common::{folder, root, turnpike_in};
use crate::program_system::compile;

/// The assertion fails only where the writer is left between its stores, and the reader between its
/// second and third load.
const TWICE: &str = r"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a, b;
static void *writer(void *unused) {
    atomic_store(&a, 1);
    atomic_store(&b, 1);
    return unused;
}
static void *reader(void *unused) {
    int one = atomic_load(&a), two = atomic_load(&b), three = atomic_load(&b);
    assert(!(one == 1 && two == 0 && three == 1));
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";

/// Two readers, each with an assertion of its own that the writer may break.
const TWO: &str = r"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a, b;
static void *writer(void *unused) {
    atomic_store(&a, 1);
    atomic_store(&b, 1);
    return unused;
}
static void *first(void *unused) {
    assert(atomic_load(&a) == 0);
    return unused;
}
static void *second(void *unused) {
    assert(atomic_load(&b) == 0);
    return unused;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, first, 0);
    pthread_create(&threads[2], 0, second, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";

/// Threads count for long, and then call `critical`, which loses an update if `LOSES`.
const LONG: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include "turnpike.h"
static atomic_int counter, value;
static void warm_up(void) {
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&counter, 1);
}
__attribute__((noinline)) static void critical(void) {
#ifdef LOSES
    atomic_store(&value, atomic_load(&value) + 1);
#else
    atomic_fetch_add(&value, 1);
#endif
}
__attribute__((noinline)) void unused_function(void) { atomic_store(&value, 7); }
static void *work(void *unused) {
    warm_up();
    tp_begin();
    critical();
    tp_end();
    warm_up();
    return unused;
}
int main(int argc, char **argv) {
    pthread_t threads[2];
    (void)argv;
    if (argc > 9)
        unused_function();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(value == 2);
    return 0;
}
"#;

fn build(folder: &Path, source: &str, program: &str, more: &[&str]) -> bool {
    let include = format!("-I{}", root().join("crates/turnpike-preload/include").display());
    let flags = ["-g", "-O1", "-fsanitize=thread", &include, source, "-o", program];
    compile(folder, "gcc", &[&flags[..], more].concat())
}

#[test]
fn an_error_is_found_within_the_bound_that_it_needs() {
    let folder = folder(&[("twice.c", TWICE)]);
    let folder = folder.path();
    if !build(folder, "twice.c", "twice", &[]) {
        return;
    }
    let search = |strategy: &str, more: &[&str]| {
        let search = ["search", "--program", "./twice", "--strategy", strategy, "--max-executions", "3000"];
        turnpike_in(folder, &[&search[..], more].concat(), "")
    };
    for strategy in ["exhaustive", "bfs", "dfs", "auto"] {
        search(strategy, &["--preemptions", "1"])
            .expect(3, &["inconclusive: no error found within 1 preemption in", "complete within the bound"]);
        search(strategy, &["--preemptions", "2"]).expect(1, &["found: assertion"]);
        search(strategy, &["--delays", "1"]).expect(3, &["within 1 delay in"]);
        search(strategy, &["--delays", "2"]).expect(1, &["found: assertion"]);
    }
    for strategy in ["random", "pos", "pct", "weighted"] {
        search(strategy, &["--preemptions", "1"]).expect(3, &["within 1 preemption in"]);
        search(strategy, &["--preemptions", "2"]).expect(1, &["found: assertion"]);
    }
    // A trace knows its bound.
    search("exhaustive", &["--preemptions", "2", "--trace", "bug.json", "-q"]).expect(1, &["found"]);
    turnpike_in(folder, &["replay", "bug.json", "--program", "./twice", "--preemptions", "2"], "")
        .expect(0, &["objective met"]);
    // A bound that no execution reaches hides nothing.
    search("exhaustive", &["--find", "deadlock", "--preemptions", "50"])
        .expect(0, &["none: no deadlock", "(complete)"]);
    let json = search("exhaustive", &["--preemptions", "1", "--format", "json"]);
    json.expect(3, &[r#""bound": "1 preemption""#]);
    for reduction in ["sleep", "persistent", "source-dpor"] {
        search("exhaustive", &["--preemptions", "1", "--reduction", reduction])
            .expect(2, &["--preemptions cannot be given together with the reduction"]);
    }
    search("exhaustive", &["--preemptions", "-1"]).expect(2, &["preemptions"]);
}

#[test]
fn errors_are_grouped_and_passed_over_by_their_signatures() {
    let folder = folder(&[("two.c", TWO)]);
    let folder = folder.path();
    if !build(folder, "two.c", "two", &[]) {
        return;
    }
    let search =
        |more: &[&str]| turnpike_in(folder, &[&["search", "--program", "./two"][..], more].concat(), "");
    let (first, second) = ("assertion@two.c:11", "assertion@two.c:15");
    for strategy in ["exhaustive", "auto", "random"] {
        let limited = ["--strategy", strategy, "--max-executions", "300"];
        let all = [&limited[..], &["--all", "--seed", "3"]].concat();
        search(&all).expect(1, &[&format!("signature: {first} (in "), &format!("signature: {second} (in ")]);
        search(&[&limited[..], &["--suppress", first]].concat())
            .expect(1, &[&format!("signature: {second}"), &format!("suppressed: {first} (")]);
        search(&[&limited[..], &["--suppress", second]].concat())
            .expect(1, &[&format!("signature: {first}"), &format!("suppressed: {second} (")]);
    }
    for strategy in ["exhaustive", "bfs", "dfs"] {
        search(&["--strategy", strategy, "--suppress", first, "--suppress", second]).expect(
            0,
            &["none: no error found but 2 suppressed in", &format!("suppressed: {first} ("), "(complete)"],
        );
        search(&["--strategy", strategy, "--suppress", first]).expect(1, &["found: assertion"]);
    }
    let json =
        search(&["--strategy", "exhaustive", "--suppress", first, "--suppress", second, "--format", "json"]);
    json.expect(0, &[&format!(r#""signature": "{second}""#), r#""suppressed": true"#]);
    search(&["--find", "deadlock", "--strategy", "exhaustive", "--suppress", "race@two.c:1+two.c:2"])
        .expect(0, &["suppressed: race@two.c:1+two.c:2 (not met)"]);
    search(&["--suppress", "assertion"]).expect(2, &["`assertion` is not a signature"]);
    search(&["--suppress", "deadlok@two.c:1"]).expect(2, &["did you mean `deadlock`?"]);
}

#[test]
fn a_search_that_cuts_executions_says_what_to_do() {
    let folder = folder(&[("long.c", LONG)]);
    let folder = folder.path();
    if !build(folder, "long.c", "long", &["-DROUNDS=60"]) {
        return;
    }
    let search = ["search", "--program", "./long", "--strategy", "random", "--max-executions", "20"];
    let cut = turnpike_in(folder, &[&search[..], &["--max-steps", "100"]].concat(), "");
    cut.expect(
        3,
        &[
            "% of the 100 steps of an execution that was cut are in",
            "long.c:8",
            "set --max-steps to 2",
            "with --around: calls of a function",
        ],
    );
    let whole = turnpike_in(folder, &[&search[..], &["--max-steps", "1000"]].concat(), "");
    assert!(whole.code == 3 && !whole.stdout.contains("advice:"), "{}", whole.stdout);
}

#[test]
fn threads_are_scheduled_around_a_function_only() {
    let folder = folder(&[("long.c", LONG)]);
    let folder = folder.path();
    if !build(folder, "long.c", "long", &["-DROUNDS=12"])
        || !build(folder, "long.c", "loses", &["-DROUNDS=12", "-DLOSES"])
    {
        return;
    }
    let search = |program: &str, more: &[&str]| {
        let search = ["search", "--program", program, "--max-executions", "2000"];
        turnpike_in(folder, &[&search[..], more].concat(), "")
    };
    for strategy in ["exhaustive", "bfs", "auto"] {
        for (around, within) in [("critical", "calls of critical"), ("marks", "the marked part")] {
            let more = ["--strategy", strategy, "--around", around];
            search("./loses", &more).expect(1, &["found: assertion"]);
            search("./long", &more).expect(3, &["inconclusive: no error found within", within]);
        }
    }
    search("./long", &["--strategy", "exhaustive", "--around", "critical"])
        .expect(3, &["every schedule within calls of critical was tried, none beyond"]);
    search("./loses", &["--strategy", "random", "--around", "unused_function"])
        .expect(3, &["no execution came to calls of unused_function"]);
    search("./loses", &["--around", "critcal"]).expect(2, &["no function called `critcal`"]);
    search("./loses", &["--around", "critical", "--reduction", "sleep"])
        .expect(2, &["--around cannot be given together"]);
    if compile(
        folder,
        "gcc",
        &[
            "-g",
            "-O1",
            "-DROUNDS=6",
            &format!("-I{}", root().join("crates/turnpike-preload/include").display()),
            "long.c",
            "-pthread",
            "-o",
            "plain",
        ],
    ) {
        search("./plain", &["--around", "critical"])
            .expect(2, &["needs a program compiled with -fsanitize=thread"]);
    }
}
