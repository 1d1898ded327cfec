//! Where steps, threads and objects of C and C++ programs are: always in the user's code, whatever the compiler did.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{folder, turnpike_in};

/// Compiles a program; false, with a message, if there is no compiler.
fn compile(folder: &Path, compiler: &str, arguments: &[&str]) -> bool {
    match Command::new(compiler).args(["-g", "-pthread"]).args(arguments).current_dir(folder).output() {
        Err(_) => {
            eprintln!("skipped: there is no {compiler}");
            false
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
    }
}

/// What a search found, as JSON.
fn incident(folder: &Path, arguments: &[&str]) -> Value {
    let mut all = vec!["search", "--format", "json"];
    all.extend(arguments);
    let report = turnpike_in(folder, &all, "").exits(1).json();
    report["program"]["incident"].clone()
}

/// The functions of the user on a thread's stack, innermost first, and their places.
fn user_frames(incident: &Value, thread: &str) -> Vec<(String, String)> {
    let stacks = incident["stacks"].as_array().expect("stacks");
    let stack = stacks.iter().find(|stack| stack["thread"] == thread).unwrap_or_else(|| panic!("{stacks:?}"));
    let frames = stack["frames"].as_array().expect("frames").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    frames
        .filter(|frame| frame["user"] == true)
        .map(|frame| (text(&frame["function"]), text(&frame["place"])))
        .collect()
}

const LOCKS: &str = "#include <memory>
#include <mutex>
#include <thread>

struct Account { std::mutex lock; int balance = 100; };

static void move_money(Account &from, Account &to) {
    std::lock_guard<std::mutex> first(from.lock);
    std::lock_guard<std::mutex> second(to.lock);
    from.balance -= 10;
    to.balance += 10;
}

__attribute__((noinline)) void transfer(Account &from, Account &to) {
    move_money(from, to);
    asm volatile(\"\");
}

int main() {
    auto one = std::make_unique<Account>();
    auto two = std::make_unique<Account>();
    std::thread other([&] { transfer(*two, *one); });
    transfer(*one, *two);
    other.join();
}
";

#[test]
fn steps_and_stacks_of_cpp_are_in_the_users_code() {
    let folder = folder(&[("locks.cpp", LOCKS)]);
    for level in ["-O0", "-O2"] {
        if !compile(folder.path(), "g++", &[level, "locks.cpp", "-o", "locks"]) {
            return;
        }
        let found = incident(folder.path(), &["--program", "./locks"]);
        assert_eq!(found["kind"], "deadlock", "{level}: {found}");
        for row in found["schedule"].as_array().expect("steps") {
            assert_eq!(row["place"], "locks.cpp:8", "{level}: {row}");
        }
        for waiting in found["waiting"].as_array().expect("threads that wait") {
            assert_eq!(waiting["place"], "locks.cpp:9", "{level}: {waiting}");
            assert_eq!(waiting["since"], "locks.cpp:8", "{level}: {waiting}");
        }
        let main = user_frames(&found, "main");
        let names: Vec<&str> = main.iter().map(|(name, _)| name.split('(').next().unwrap_or(name)).collect();
        assert_eq!(names, ["move_money", "transfer", "main"], "{level}: an inlined function too");
        assert_eq!(main[0].1, "locks.cpp:9", "{level}");
        assert_eq!(main[2].1, "locks.cpp:23", "{level}");
        let other = user_frames(&found, "main.0");
        assert_eq!(other[0].1, "locks.cpp:9", "{level}");
        assert!(other[1].0.starts_with("transfer"), "{level}: {other:?}");
        // They are on the heap, and nothing but their first use is seen.
        for object in found["objects"].as_array().expect("objects") {
            assert_eq!(
                (&object["place"], &object["created"]),
                (&"locks.cpp:8".into(), &false.into()),
                "{level}"
            );
        }
    }
}

const COUNTS: &str = "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int value;
static pthread_mutex_t *lock;
static inline __attribute__((always_inline)) int take(void) {
    pthread_mutex_lock(lock);
    int seen = value;
    pthread_mutex_unlock(lock);
    return seen;
}
__attribute__((noinline)) static void bump(void) {
    int seen = take();
    pthread_mutex_lock(lock);
    value = seen + 1;
    pthread_mutex_unlock(lock);
    __asm__ volatile(\"\");
}
static void *run(void *unused) { bump(); return unused; }
__attribute__((noinline)) static void verify(void) { assert(take() == 2); }
int main(int argc, char **argv) {
    pthread_mutex_t own;
    lock = argc > 1 ? &own : malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, run, argv);
    bump();
    pthread_join(thread, NULL);
    verify();
    return 0;
}
";

#[test]
fn stacks_of_c_have_inlined_functions_and_locks_know_where_they_were_created() {
    let folder = folder(&[("counts.c", COUNTS)]);
    for level in ["-O0", "-O2"] {
        if !compile(folder.path(), "gcc", &[level, "counts.c", "-o", "counts"]) {
            return;
        }
        for arguments in [&["--program", "./counts"][..], &["--program", "./counts", "--", "stack"]] {
            let found = incident(folder.path(), arguments);
            assert_eq!(found["kind"], "assertion", "{level}: {found}");
            assert_eq!(found["place"], "counts.c:20", "{level}: not in the C library");
            let frames = user_frames(&found, "main");
            let expected = [("verify", "counts.c:20"), ("main", "counts.c:29")];
            let frames: Vec<_> = frames.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
            assert_eq!(frames, expected, "{level}");
            assert_eq!(found["objects"][0]["place"], "counts.c:24", "{level}: {found}");
            assert_eq!(found["objects"][0]["created"], true, "{level}");
            let places: Vec<&str> = found["schedule"]
                .as_array()
                .expect("steps")
                .iter()
                .filter_map(|row| row["place"].as_str())
                .collect();
            assert!(places.contains(&"counts.c:7"), "{level}: inside the inlined function: {places:?}");
            assert!(places.iter().all(|place| place.starts_with("counts.c:")), "{level}: {places:?}");
        }
    }
}

const CRASH: &str = "#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared;
static int number;
__attribute__((noipa)) static int look(int *at) { return *at + 1; }
static void *run(void *unused) {
    pthread_mutex_lock(&lock);
    shared = &number;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_mutex_lock(&lock);
    int seen = look(shared);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return seen == 7;
}
";

#[test]
fn a_crash_has_the_stack_that_the_signal_met() {
    let folder = folder(&[("crash.c", CRASH)]);
    for level in ["-O0", "-O2"] {
        if !compile(folder.path(), "gcc", &[level, "crash.c", "-o", "crash"]) {
            return;
        }
        let found = incident(folder.path(), &["--program", "./crash"]);
        assert_eq!(
            (&found["kind"], &found["place"]),
            (&"crash".into(), &"crash.c:6".into()),
            "{level}: {found}"
        );
        let frames = user_frames(&found, "main");
        assert_eq!(frames[0].1, "crash.c:6", "{level}: {frames:?}");
        assert_eq!(frames.last().map(|frame| frame.0.as_str()), Some("main"), "{level}: {frames:?}");
    }
}

#[test]
fn more_frames_are_shown_when_asked_for() {
    let folder = folder(&[("counts.c", COUNTS)]);
    if !compile(folder.path(), "gcc", &["-O1", "counts.c", "-o", "counts"]) {
        return;
    }
    let plain = turnpike_in(folder.path(), &["search", "--program", "./counts"], "").exits(1).stdout;
    assert!(plain.contains("stack of main:\n  #0 verify  counts.c:20\n  #1 main  counts.c:29\n"), "{plain}");
    assert!(plain.contains("mutex 0 was created at counts.c:24"), "{plain}");
    let all = turnpike_in(folder.path(), &["search", "--program", "./counts", "-v"], "").exits(1).stdout;
    assert!(all.contains("libc.so.6+0x") && all.contains("verify  counts.c:20"), "{all}");
    assert!(!all.contains("memfd:") && all.contains("turnpike+0x"), "frames of turnpike by its name: {all}");
    assert!(all.lines().last().is_some_and(|line| line.contains("--verbose")), "the repeat line: {all}");
    let trace = ["search", "--program", "./counts", "--trace", "t.json"];
    turnpike_in(folder.path(), &trace, "").exits(1);
    let replay = turnpike_in(folder.path(), &["replay", "--program", "./counts", "t.json"], "").stdout;
    assert!(replay.contains("  #0 verify  counts.c:20\n"), "{replay}");
    let replay = turnpike_in(folder.path(), &["replay", "-v", "--program", "./counts", "t.json"], "").stdout;
    assert!(replay.contains("libc.so.6+0x"), "{replay}");
}

const WAKES: &str = "#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
static std::mutex lock;
static std::condition_variable changed;
static bool ready;
static void wait_for_it() {
    std::unique_lock<std::mutex> held(lock);
    if (!ready) {
        held.unlock();
        held.lock();
        changed.wait(held);
    }
}
static void wake() {
    { std::lock_guard<std::mutex> held(lock); ready = true; }
    changed.notify_one();
}
int main() {
    auto waits = std::async(std::launch::async, wait_for_it);
    std::thread wakes(wake);
    wakes.join();
    waits.get();
}
";

/// A library starts the thread of `std::async` and does something in it before the user's code, and the last
/// call of a function may be a jump.
#[test]
fn steps_below_no_function_of_the_user_are_where_their_thread_was_created() {
    let folder = folder(&[("wakes.cpp", WAKES)]);
    for level in ["-O0", "-O2"] {
        if !compile(folder.path(), "g++", &[level, "wakes.cpp", "-o", "wakes"]) {
            return;
        }
        let found = incident(folder.path(), &["--program", "./wakes", "--trace", "wakes.json"]);
        assert_eq!(found["kind"], "deadlock", "{level}: {found}");
        let places = |rows: &Value| -> Vec<String> {
            let rows = rows.as_array().expect("a list").iter();
            rows.map(|row| row["place"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let all = [places(&found["schedule"]), places(&found["objects"])].concat();
        let own = |place: &String| place.trim_start_matches("thread of ").starts_with("wakes.cpp:");
        assert!(all.iter().all(own), "{level}: {all:?}");
        assert!(all.contains(&"thread of wakes.cpp:21".to_owned()), "{level}: std::async: {all:?}");
        let notified = if level == "-O0" { "wakes.cpp:18" } else { "thread of wakes.cpp:22" };
        assert!(all.contains(&notified.to_owned()), "{level}: {all:?}");
        // What is found is where a thread waits for what nobody does, not where others wait for its end.
        let words = ["search", "--program", "./wakes", "--format", "sarif"];
        let log = turnpike_in(folder.path(), &words, "").exits(1).json();
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 13, "{level}: {log}");
        let drawn = ["show", "wakes.json", "--timeline", "o*", "values.svg"];
        turnpike_in(folder.path(), &drawn, "").expect(0, &["wrote values.svg"]);
    }
}

const BLOCKS: &str = "#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
extern int socket(int, int, int); static int ends[1], files[2];
static volatile int never;
__attribute__((noinline)) static void wait_for_it(const char *how) {
    char byte;
    if (strcmp(how, \"loop\") == 0) { while (!never) { } }
    else if (strcmp(how, \"read\") == 0) { if (read(ends[0], &byte, 1) < 0) puts(\"nothing\"); }
    else if (flock(files[1], LOCK_EX) != 0) puts(\"nothing\");
}
static void *run(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t thread;
    if (argc != 2 || (ends[0] = socket(1, 2, 0)) < 0) return 1;
    files[0] = open(argv[0], O_RDONLY);
    files[1] = open(argv[0], O_RDONLY);
    if (flock(files[0], LOCK_EX) != 0) return 1;
    pthread_create(&thread, NULL, run, argv);
    pthread_mutex_lock(&lock);
    wait_for_it(argv[1]);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
";

#[test]
fn a_call_that_does_not_return_is_named_and_is_not_a_verdict() {
    let folder = folder(&[("blocks.c", BLOCKS)]);
    if !compile(folder.path(), "gcc", &["-O1", "blocks.c", "-o", "blocks"]) {
        return;
    }
    let search = |how: &str, more: &[&str], code| {
        let start =
            ["search", "--guest-timeout", "300ms", "--strategy", "exhaustive", "--program", "./blocks"];
        let arguments = [&start[..], more, &["--", how]].concat();
        turnpike_in(folder.path(), &arguments, "").exits(code).stdout
    };
    let text = search("lock", &[], 3);
    assert!(text.starts_with("inconclusive"), "{text}");
    for part in [
        "an execution hung",
        "`flock`, which does not return (wait_for_it  blocks.c:14 <- main  blocks.c:29),",
        "is not under control",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    // A call that is known to wait, and a loop, in which there is no call to name.
    let text = search("read", &[], 3);
    assert!(text.contains("read at blocks.c:13, which waits for something outside the program,"), "{text}");
    let text = search("loop", &[], 3);
    assert!(text.contains("what main does at blocks.c:12"), "{text}");
    // A search that would wait for the watchdog again and again gives up.
    let many =
        ["search", "--guest-timeout", "50ms", "--program", "./blocks", "--strategy", "pos", "--", "lock"];
    let text = turnpike_in(folder.path(), &many, "").exits(2).stderr;
    assert!(text.contains("30 executions hung; `flock`, which does not return"), "{text}");
    // Whoever asks for hangs gets the schedule and the stacks.
    for (how, line) in [("lock", 14), ("read", 13), ("loop", 12)] {
        let text = search(how, &["--find", "hang"], 1);
        let stack = format!("stack of main:\n  #0 wait_for_it  blocks.c:{line}\n  #1 main  blocks.c:29\n");
        assert!(text.contains(&stack), "{how}: {text}");
    }
}
