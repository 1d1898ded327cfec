//! What threads share in the system and in the C library, without sharing memory: the order of
//! calls that look at it or change it is explored, or nothing is proved.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, folder, turnpike_in};

/// One thread changes what another looks at. With a second argument the second begins after the first ended, and nothing is wrong.
const SHARED: &str = r#"#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
static const char *what;
static int fd;
static FILE *stream;
static char *page;
static int rung, first, order, reaper;
static void *end;
static void one(void) { order = order * 10 + 1; }
static void two(void) { order = order * 10 + 2; }
static void check_order(void) { assert(order != 12); }
static void ignore(int signal) { (void)signal; }
static void ring(int signal) { rung = signal; }
static int is(const char *name) { return !strcmp(what, name); }
static void *look(void *unused) {
    if (is("environment")) assert(!getenv("SHARED"));
    if (is("descriptor")) assert(lseek(fd, 0, SEEK_CUR) == 0);
    if (is("offset")) assert(lseek(fd, 0, SEEK_CUR) == 0);
    if (is("file")) assert(access("shared.tmp", F_OK) == 0);
    if (is("mask")) assert(umask(0) != 077);
    if (is("stream")) assert(ftell(stream) == 0);
    if (is("printed")) assert(ftell(stream) == 0);
    if (is("handler")) assert(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
    if (is("signal")) assert(raise(SIGUSR1) == 0 && !rung);
    if (is("rand") || is("srand")) assert(rand() == first);
    if (is("random")) assert(random() == first);
    if (is("lrand48")) assert(lrand48() == first);
    if (is("atexit")) atexit(one);
    if (is("fsync")) assert(fsync(fd) == 0);
    if (is("fileno")) assert(fileno(stream) >= 0);
    if (is("sbrk")) assert(sbrk(0) == end);
    if (is("locale")) assert(MB_CUR_MAX == 1);
    if (is("blocked")) assert(raise(SIGUSR1) == 0 && rung);
    if (is("quick")) at_quick_exit(one);
    if (is("process")) assert(prctl(PR_GET_CHILD_SUBREAPER, &reaper) == 0 && !reaper);
    if (is("rights") || is("advice") || is("mapping")) assert(*(volatile char *)page == 1);
    if (is("output")) puts("hello");
    return unused;
}
static void *change(void *unused) {
    if (is("environment")) setenv("SHARED", "1", 1);
    if (is("descriptor")) close(fd);
    if (is("offset")) { long wrote = write(fd, "x", 1); (void)wrote; }
    if (is("file")) unlink("shared.tmp");
    if (is("mask")) umask(077);
    if (is("stream")) fseek(stream, 3, SEEK_SET);
    if (is("printed")) fprintf(stream, "%d", 1);
    if (is("handler")) signal(SIGUSR1, ignore);
    if (is("signal")) signal(SIGUSR1, ring);
    if (is("rand")) rand();
    if (is("srand")) srand(7);
    if (is("random")) random();
    if (is("lrand48")) lrand48();
    if (is("atexit")) atexit(two);
    if (is("fsync")) close(fd);
    if (is("fileno")) fclose(stream);
    if (is("sbrk")) sbrk(4096);
    if (is("locale")) setlocale(LC_ALL, "C.UTF-8");
    if (is("blocked")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, 0);
    }
    if (is("quick")) at_quick_exit(two);
    if (is("process")) prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (is("rights")) mprotect(page, 4096, PROT_NONE);
    if (is("advice")) madvise(page, 4096, MADV_DONTNEED);
    if (is("mapping"))
        mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (is("output")) puts("hello");
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    what = argv[1];
    umask(0);
    if (is("signal")) signal(SIGUSR1, SIG_IGN);
    fd = open("shared.tmp", O_CREAT | O_RDWR | O_TRUNC, 0600);
    stream = tmpfile();
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    if (is("rand") || is("srand") || is("setup")) { srand(42); first = rand(); srand(42); }
    if (is("random")) { srandom(42); first = random(); srandom(42); }
    if (is("lrand48")) { srand48(42); first = lrand48(); srand48(42); }
    if (is("atexit")) atexit(check_order);
    if (is("blocked")) signal(SIGUSR1, ring);
    if (is("quick")) at_quick_exit(check_order);
    end = sbrk(0);
    pthread_create(&a, 0, look, 0);
    if (argc > 2) pthread_join(a, 0);
    pthread_create(&b, 0, change, 0);
    if (argc <= 2) pthread_join(a, 0);
    pthread_join(b, 0);
    if (is("quick")) quick_exit(0);
    return 0;
}
"#;

/// What one thread changes and another looks at, in the system and hidden in the C library.
const ORDERED: [&str; 17] = [
    "environment",
    "descriptor",
    "offset",
    "file",
    "mask",
    "stream",
    "printed",
    "handler",
    "signal",
    "rand",
    "srand",
    "random",
    "lrand48",
    "atexit",
    "fsync",
    "fileno",
    "sbrk",
];

/// Standard synchronisation of C++20 that threads use correctly.
const STANDARD: &str = r#"#include <barrier>
#include <cassert>
#include <mutex>
#include <thread>
static std::barrier<> both(2);
static std::once_flag flag;
static int at[2], count;
static void work(int me) {
    std::call_once(flag, [] { count++; });
    assert(count == 1);
    at[me] = 1;
    both.arrive_and_wait();
    assert(at[1 - me] == 1);
}
int main() {
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
}
"#;

pub(crate) fn compile(folder: &Path, compiler: &str, arguments: &[&str]) -> bool {
    let Ok(output) = Command::new(compiler).args(arguments).current_dir(folder).output() else {
        eprintln!("skipped: there is no {compiler}");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn search(folder: &Path, strategy: &str, arguments: &[&str]) -> Ran {
    let search = ["search", "--program", "./shared", "--strategy", strategy, "--no-shorten", "--"];
    turnpike_in(folder, &[&search[..], arguments].concat(), "")
}

/// How the wrong order shows; asking a stream that was closed for its number is an error by itself.
fn failure(what: &str) -> &'static str {
    if what == "fileno" { "use after free" } else { "found: assertion failed" }
}

#[test]
fn state_of_the_system_that_threads_share_is_ordered() {
    let folder = folder(&[("shared.c", SHARED)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "shared.c", "-o", "shared"]) {
        return;
    }
    for what in ORDERED {
        for strategy in ["auto", "exhaustive", "bfs", "pos"] {
            search(folder, strategy, &[what]).expect(1, &[failure(what)]);
        }
        search(folder, "exhaustive", &[what, "later"]).expect(0, &["none", "(complete)"]);
    }
    // What is printed can be read by nobody in the program.
    search(folder, "exhaustive", &["output"]).expect(0, &["none", "(complete)"]);
    // Nobody else is there when the first thread seeds a generator and draws from it.
    search(folder, "exhaustive", &["setup"]).expect(0, &["none: no error found in 2 states (complete)"]);
}

#[test]
fn hidden_state_is_ordered_without_instrumentation() {
    let folder = folder(&[("shared.c", SHARED)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "shared.c", "-o", "shared"]) {
        return;
    }
    for what in ["rand", "srand", "random", "lrand48", "atexit", "fsync", "fileno", "sbrk"] {
        search(folder, "auto", &[what]).expect(1, &[failure(what)]);
    }
    search(folder, "auto", &["atexit", "later"]).expect(0, &["none", "(synchronisation only)"]);
}

#[test]
fn changes_that_are_not_ordered_are_named() {
    let folder = folder(&[("shared.c", SHARED)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "shared.c", "-o", "shared"]) {
        return;
    }
    for (what, reason) in [
        ("rights", "the order of mprotect and other threads' accesses to the same memory"),
        ("advice", "the order of madvise and other threads' accesses to the same memory"),
        ("mapping", "the order of mmap and other threads' accesses to the same memory"),
        ("locale", "the moment at which setlocale changes what other threads' calls do"),
    ] {
        for strategy in ["auto", "exhaustive", "bfs"] {
            search(folder, strategy, &[what]).expect(3, &["inconclusive", reason]);
        }
    }
}

#[test]
fn each_thread_has_a_mask_of_signals_of_its_own() {
    let folder = folder(&[("shared.c", SHARED)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "shared.c", "-o", "shared"]) {
        return;
    }
    for strategy in ["auto", "exhaustive"] {
        search(folder, strategy, &["blocked"]).expect(0, &["none", "(complete)"]);
        search(folder, strategy, &["quick"]).expect(1, &["found: assertion failed"]);
        search(folder, strategy, &["process"]).expect(1, &["found: assertion failed"]);
    }
}

#[test]
fn barriers_and_single_calls_of_cxx_are_proved() {
    let folder = folder(&[("standard.cpp", STANDARD)]);
    let folder = folder.path();
    let build = ["-std=c++20", "-g", "-O1", "-fsanitize=thread", "standard.cpp", "-o", "shared"];
    if compile(folder, "g++", &build) {
        search(folder, "exhaustive", &[]).expect(0, &["none", "(complete)"]);
    }
}

/// Two locks in two orders, which the standard library takes without calling anything.
#[test]
fn nothing_is_proved_about_locks_of_rust() {
    let source = "use std::sync::{Arc, Mutex};
fn take(a: &Mutex<i32>, b: &Mutex<i32>) { let _a = a.lock().unwrap(); let _b = b.lock().unwrap(); }
fn main() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let own = locks.clone();
    let thread = std::thread::spawn(move || take(&own.0, &own.1));
    take(&locks.1, &locks.0);
    thread.join().unwrap();
}
";
    let folder = folder(&[("locks.rs", source)]);
    for flags in [&["-g"][..], &["-Copt-level=2", "-Cstrip=symbols"]] {
        if !compile(folder.path(), "rustc", &[flags, &["locks.rs"]].concat()) {
            return;
        }
        let search = turnpike_in(folder.path(), &["search", "--program", "./locks"], "");
        search.expect(3, &["inconclusive", "locks of Rust's standard library", "turnpike::check"]);
    }
}
