//! Code that was not compiled with `-fsanitize=thread`: what a program links with, loads, or is made of is looked into or named, and
//! nothing is proved about a program that has some. GLib's locks are steps; the runtime that clang puts into programs is taken over.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, folder, turnpike_in};

/// A counter behind two functions, each of which is atomic whatever the scheduler sees of it.
const COUNTER: &str = "static int n;\nint get(void) { return n; }\nvoid set(int v) { n = v; }\n";

/// Two threads add one to the library's counter: an update is lost between `get` and `set`.
const ADDERS: &str = r#"#include <assert.h>
#include <pthread.h>
int get(void);
void set(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int careful;
static void *add(void *unused) {
    if (careful) pthread_mutex_lock(&lock);
    set(get() + 1);
    if (careful) pthread_mutex_unlock(&lock);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    (void)argv;
    careful = argc > 1;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(get() == 2);
    return 0;
}
"#;

/// The same with a library that the program loads itself, and unloads with an argument.
const LOADER: &str = r#"#include <dlfcn.h>
#include <pthread.h>
static void *work(void *unused) { return unused; }
int main(int argc, char **argv) {
    pthread_t a;
    (void)argv;
    void *library = dlopen("./libcounter.so", RTLD_NOW);
    if (!library) return 1;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    if (argc > 1) dlclose(library);
    return 0;
}
"#;

fn compile(folder: &Path, compiler: &str, arguments: &[&str]) {
    let output = Command::new(compiler).args(arguments).current_dir(folder).output().expect("a compiler");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether a tool is there.
fn have(tool: &str, arguments: &[&str]) -> bool {
    let there = Command::new(tool).args(arguments).output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: there is no {tool} {}", arguments.join(" "));
    }
    there
}

/// Everything that matters is tried.
fn exhaust(folder: &Path, program: &str, arguments: &[&str]) -> Ran {
    let mut all = vec!["search", "--program", program, "--strategy", "exhaustive", "--quiet"];
    all.extend(arguments);
    turnpike_in(folder, &all, "")
}

const VISIBLE: &str = "-fsanitize=thread";

#[test]
fn a_library_that_cannot_be_looked_into_is_named() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("counter.c", COUNTER), ("adders.c", ADDERS), ("loader.c", LOADER)]);
    let folder = folder.path();
    let link = ["adders.c", "-L.", "-lcounter", "-Wl,-rpath,.", VISIBLE, "-g"];
    compile(folder, "gcc", &["-shared", "-fPIC", "-O1", "counter.c", "-o", "libcounter.so"]);
    compile(folder, "gcc", &[&link[..], &["-o", "adders"]].concat());
    let reason =
        "what threads share in libcounter.so is not visible (it was not compiled with -fsanitize=thread)";
    exhaust(folder, "./adders", &[]).expect(3, &["inconclusive", reason]);
    exhaust(folder, "./adders", &["--", "careful"]).expect(3, &["inconclusive", reason]);

    // Loaded by the program itself, in libraries' own time.
    compile(folder, "gcc", &["loader.c", VISIBLE, "-g", "-ldl", "-o", "loader"]);
    let words = ["inconclusive", "libcounter.so, which the program loads itself"];
    exhaust(folder, "./loader", &[]).expect(3, &words);
    exhaust(folder, "./loader", &["--", "close"]).expect(3, &words);

    // With the flag, the library is as visible as the program.
    compile(folder, "gcc", &["-shared", "-fPIC", "-O1", "-g", VISIBLE, "counter.c", "-o", "libcounter.so"]);
    exhaust(folder, "./adders", &[]).expect(1, &["found: assertion failed: get() == 2"]);
    exhaust(folder, "./adders", &["--", "careful"]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./loader", &[]).expect(0, &["none", "(complete)"]);
}

#[test]
fn a_source_that_was_compiled_otherwise_is_named() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("counter.c", COUNTER), ("adders.c", ADDERS)]);
    let folder = folder.path();
    compile(folder, "gcc", &["-g", "-O1", "-c", "counter.c", "-o", "counter.o"]);
    compile(folder, "gcc", &["-g", "-O1", VISIBLE, "adders.c", "counter.o", "-o", "mixed"]);
    compile(folder, "gcc", &["-g", "-O1", VISIBLE, "adders.c", "counter.c", "-o", "visible"]);
    let reason =
        "what threads share in counter.c is not visible (it was not compiled with -fsanitize=thread)";
    exhaust(folder, "./mixed", &[]).expect(3, &["inconclusive", reason]);
    exhaust(folder, "./visible", &["--", "careful"]).expect(0, &["none", "(complete)"]);
}

/// Copies by functions of the C library: updates are lost, unless there is a lock.
const COPIES: &str = r#"#include <assert.h>
#include <pthread.h>
#include <string.h>
struct big { int n; char rest[1020]; };
static struct big shared;
static char text[64];
static const char *how, *volatile more = "x";
static volatile size_t size = sizeof shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    if (strcmp(how, "locked") == 0) pthread_mutex_lock(&lock);
    if (strcmp(how, "text") == 0) {
        strcat(text, more);
    } else {
        struct big own;
        memcpy(&own, &shared, size);
        own.n++;
        memmove(&shared, &own, size);
    }
    if (strcmp(how, "locked") == 0) pthread_mutex_unlock(&lock);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    how = argc > 1 ? argv[1] : "";
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(strcmp(how, "text") == 0 ? strlen(text) == 2 : shared.n == 2);
    return 0;
}
"#;

#[test]
fn accesses_in_functions_of_the_c_library_are_seen() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("copies.c", COPIES)]);
    let folder = folder.path();
    compile(folder, "gcc", &["-g", "-O1", VISIBLE, "copies.c", "-o", "copies"]);
    exhaust(folder, "./copies", &[]).expect(1, &["found: assertion failed"]);
    exhaust(folder, "./copies", &["--find", "race", "--", "text"]).expect(1, &["found: race", "copies.c:13"]);
    exhaust(folder, "./copies", &["--", "locked"]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./copies", &["--find", "race", "--", "locked"]).expect(0, &["none", "(complete)"]);
}

/// A lock that waits by the instruction itself; with `wrong`, nobody is woken.
#[cfg(target_arch = "x86_64")]
const RAW: &str = r#"#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
static long raw(long n, long a, long b, long c, long d) {
    long answer;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return answer;
}
static atomic_int word;
static int wrong;
static void lock(void) {
    int free = 0;
    if (atomic_compare_exchange_strong(&word, &free, 1)) return;
    while (atomic_exchange(&word, 2) != 0) raw(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 2, 0);
}
static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2 && !wrong) raw(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
}
static int n;
static void *add(void *unused) {
    double kept = n + 0.5;
    lock();
    n++;
    raw(SYS_sched_yield, 0, 0, 0, 0);
    unlock();
    assert(kept < 2);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    if (argc > 1 && strcmp(argv[1], "error") == 0)
        return raw(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 7, 0) != -11;
    if (argc > 1 && strcmp(argv[1], "read") == 0) {
        char byte;
        raw(SYS_read, 0, (long)&byte, 1, 0);
    }
    if (argc > 1 && strcmp(argv[1], "fork") == 0) return raw(SYS_fork, 0, 0, 0, 0) == 0;
    wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn system_calls_by_the_instruction_are_under_control() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("raw.c", RAW)]);
    let folder = folder.path();
    compile(folder, "gcc", &["-g", "-O1", VISIBLE, "raw.c", "-o", "raw"]);
    compile(folder, "gcc", &["-g", "-O1", "raw.c", "-pthread", "-o", "plain"]);
    exhaust(folder, "./raw", &[]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./raw", &["--threads-as", "os"]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./raw", &["--", "wrong"]).expect(1, &["found: deadlock"]);
    exhaust(folder, "./raw", &["--", "error"]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./raw", &["--", "read"]).expect(3, &["system call 0 at raw.c:10 is not under control"]);
    exhaust(folder, "./raw", &["--", "fork"]).expect(2, &["the program starts another process"]);
    exhaust(folder, "./plain", &[]).expect(3, &["a lock of the program that waits by futex"]);
}

/// A lock as runtimes have it: atomics while nobody waits, a futex otherwise.
const FUTEX: &str = r#"#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static void lock(void) {
    int free = 0;
    if (atomic_compare_exchange_strong(&word, &free, 1)) return;
    while (atomic_exchange(&word, 2) != 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}
static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *add(void *unused) {
    lock();
    /* Here the other thread may come, and has to wait. */
    pthread_mutex_lock(&inner);
    n++;
    pthread_mutex_unlock(&inner);
    unlock();
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
"#;

#[test]
fn locks_that_wait_by_futex_are_seen_only_where_they_wait() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("futex.c", FUTEX)]);
    let folder = folder.path();
    compile(folder, "gcc", &["-g", "-O1", "futex.c", "-pthread", "-o", "plain"]);
    compile(folder, "gcc", &["-g", "-O1", VISIBLE, "futex.c", "-o", "visible"]);
    let words = ["a lock of the program that waits by futex", "memory accesses are not visible"];
    exhaust(folder, "./plain", &[]).expect(3, &words);
    let ran = exhaust(folder, "./visible", &[]);
    assert!(!ran.text().contains("that waits by futex"), "{}", ran.text());
    assert!(matches!(ran.code, 0 | 3), "{}", ran.text());
}

/// Parts of one program, by its argument; `WRONG` is how each of them fails.
const GLIB: &str = r#"#include <glib.h>
#include <string.h>
static GMutex one, two;
static GRecMutex again;
static GRWLock shared;
static GCond changed;
static GOnce once = G_ONCE_INIT;
static GAsyncQueue *queue;
static int n, wrong, full, calls;
static const char *part;
static int is(const char *name) { return strcmp(part, name) == 0; }
static gpointer call(gpointer unused) { calls++; return unused; }
static gsize *value(void) {
    static gsize made;
    if (g_once_init_enter(&made)) { calls++; g_once_init_leave(&made, 1); }
    return &made;
}
static gpointer work(gpointer number) {
    int me = GPOINTER_TO_INT(number);
    if (is("order")) {
        GMutex *first = me && wrong ? &two : &one, *second = me && wrong ? &one : &two;
        g_mutex_lock(first); g_mutex_lock(second);
        g_mutex_unlock(second); g_mutex_unlock(first);
    } else if (is("update")) {
        g_mutex_lock(&one);
        int v = n;
        if (wrong) { g_mutex_unlock(&one); g_mutex_lock(&one); }
        n = v + 1;
        g_mutex_unlock(&one);
    } else if (is("recursive")) {
        g_rec_mutex_lock(&again); g_rec_mutex_lock(&again);
        int v = n;
        g_rec_mutex_unlock(&again);
        if (wrong) { g_rec_mutex_unlock(&again); g_rec_mutex_lock(&again); }
        n = v + 1;
        g_rec_mutex_unlock(&again);
    } else if (is("shared")) {
        if (wrong) g_rw_lock_reader_lock(&shared); else g_rw_lock_writer_lock(&shared);
        int v = n;
        g_rw_lock_reader_trylock(&shared) ? g_rw_lock_reader_unlock(&shared) : (void)0;
        n = v + 1;
        if (wrong) g_rw_lock_reader_unlock(&shared); else g_rw_lock_writer_unlock(&shared);
    } else if (is("wait")) {
        g_mutex_lock(&one);
        if (me) { full = 1; if (!wrong) g_cond_signal(&changed); }
        else while (!full) g_cond_wait(&changed, &one);
        n++;
        g_mutex_unlock(&one);
    } else if (is("once")) {
        g_once(&once, call, &n);
        value();
        g_mutex_lock(&one); n++; g_mutex_unlock(&one);
    } else if (is("queue")) {
        if (wrong ? g_async_queue_length(queue) > 0 && g_async_queue_pop(queue) : !!g_async_queue_try_pop(queue)) full = 1;
    }
    return NULL;
}
int main(int argc, char **argv) {
    part = argv[1];
    wrong = argc > 2;
    queue = g_async_queue_new();
    g_async_queue_push(queue, &n);
    GThread *a = g_thread_new("a", work, GINT_TO_POINTER(0)), *b = g_thread_new("b", work, GINT_TO_POINTER(1));
    g_thread_join(a);
    g_thread_join(b);
    g_assert(n == 2 || is("order") || is("queue"));
    g_assert(!is("once") || calls == 2);
    g_assert(!is("queue") || full);
    return 0;
}
"#;

#[test]
fn locks_of_glib_are_steps_and_the_library_is_named() {
    if !have("gcc", &["--version"]) || !have("pkg-config", &["--exists", "glib-2.0"]) {
        return;
    }
    let folder = folder(&[("glib.c", GLIB)]);
    let folder = folder.path();
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "glib-2.0"]).output().expect("flags");
    let flags = String::from_utf8(flags.stdout).expect("text");
    let flags: Vec<&str> = flags.split_ascii_whitespace().collect();
    compile(folder, "gcc", &[&["-g", "-O1", VISIBLE, "glib.c"], &flags[..], &["-o", "glib"]].concat());
    for (part, found) in [
        ("order", "found: deadlock"),
        ("update", "found: crash: aborted"),
        ("recursive", "found: crash: aborted"),
        ("shared", "found: crash: aborted"),
        ("wait", "found: deadlock"),
        ("queue", "found: deadlock"),
    ] {
        let limit = ["--max-executions", "20000"];
        exhaust(folder, "./glib", &[&limit[..], &["--", part, "wrong"]].concat()).expect(1, &[found]);
    }
    // Nothing is wrong with the others, but GLib has atomics of its own.
    for part in ["order", "update", "recursive", "shared", "wait", "once", "queue"] {
        let arguments = ["--max-executions", "300", "--", part];
        let ran = exhaust(folder, "./glib", &arguments).expect(3, &["inconclusive"]);
        let named = ran.text().contains("what threads share in libglib-2.0.so.0");
        assert!(named || ran.text().contains("limit on executions"), "{part}: {}", ran.text());
    }
}

#[test]
fn the_runtime_that_clang_links_is_taken_over() {
    let folder = folder(&[("adders.c", ADDERS), ("counter.c", COUNTER), ("new.cpp", NEW)]);
    let folder = folder.path();
    let make = |compiler: &str, arguments: &[&str]| {
        let made = Command::new(compiler).args(arguments).current_dir(folder).output();
        made.is_ok_and(|output| output.status.success())
    };
    if !have("clang", &["--version"]) {
        return;
    }
    let sources = ["-g", "-O1", VISIBLE, "adders.c", "counter.c"];
    let kinds: [(&str, &[&str]); 2] = [("static", &[]), ("shared", &["-shared-libsan"])];
    for (name, more) in kinds {
        if !make("clang", &[&sources[..], more, &["-o", name]].concat()) {
            eprintln!("skipped: clang has no runtime for -fsanitize=thread ({name})");
            continue;
        }
        let program = format!("./{name}");
        exhaust(folder, &program, &[]).expect(1, &["found: assertion failed: get() == 2"]);
        exhaust(folder, &program, &["--", "careful"]).expect(0, &["none", "(complete)"]);
    }
    if make("clang++", &["-g", "-O1", VISIBLE, "new.cpp", "-o", "new"]) {
        exhaust(folder, "./new", &[]).expect(0, &["none", "(complete)"]);
        exhaust(folder, "./new", &["--", "twice"]).expect(1, &["double free"]);
    }
}

/// Blocks, texts and streams by the runtime's own versions of the C library's functions.
const NEW: &str = r#"#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
static std::mutex lock;
static std::string text;
int main(int argc, char **) {
    std::thread other([] { std::lock_guard<std::mutex> held(lock); text += "a longer text than fits into a string"; });
    { std::lock_guard<std::mutex> held(lock); text += "another one that does not fit, either"; }
    other.join();
    char *block = new char[100];
    std::strcpy(block, text.c_str());
    std::printf("%zu %s\n", std::strlen(block), block);
    delete[] block;
    if (argc > 1) delete[] block;
    return text.size() != 75 - 1;
}
"#;

/// Functions of the C library that are given memory which two threads share. With an `L` before their name there is a lock.
const FUNCTIONS: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
static char text[64], number[8] = "12";
static int numbers[4] = {3, 1, 2, 0}, sum;
static const char *how;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int is(const char *name) { return strcmp(how + (how[0] == 'L'), name) == 0; }
static void *work(void *first) {
    if (how[0] == 'L') pthread_mutex_lock(&lock);
    if (is("sprintf")) sprintf(text, "%d %.1f %Lg %s", 1, 2.5, 1.5L, first ? "yes" : "no");
    if (is("argument")) { if (first) { char own[64]; snprintf(own, sizeof own, "%d%g%5s", 1, 0.5, text); sum += own[2]; } else text[0] = 'q'; }
    if (is("qsort")) qsort(numbers, 3, sizeof *numbers, less);
    if (is("strncpy")) strncpy(text, first ? "a" : "b", 8);
    if (is("fwrite")) { if (first) fwrite(text, 1, 4, stderr); else text[0] = 'z'; }
    if (is("fread")) { FILE *zero = fopen("/dev/zero", "r"); sum += fread(text, 1, 4, zero); fclose(zero); }
    if (is("atoi")) { if (first) sum += atoi(number); else number[1] = 0; }
#ifdef UNKNOWN
    if (is("strtok")) sum += strtok(text, " ") != 0;
    /* Of this one, the C library has several, and chooses by the processor. */
    if (is("wcsrchr")) sum += wcsrchr((wchar_t *)text, L' ') != 0;
#endif
    if (how[0] == 'L') pthread_mutex_unlock(&lock);
    return 0;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    how = argc > 1 ? argv[1] : "";
    pthread_create(&a, 0, work, &a);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%s %ld %g %Lg %c %p\n", text, 3L, 0.5, 1.5L, 'c', (void *)0);
    return 0;
}
"#;

#[test]
fn functions_of_the_c_library_tell_their_accesses_or_are_named() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("functions.c", FUNCTIONS)]);
    let folder = folder.path();
    let build = ["functions.c", VISIBLE, "-g", "-fno-builtin"];
    compile(folder, "gcc", &[&build[..], &["-O1", "-o", "plain"]].concat());
    compile(folder, "gcc", &[&build[..], &["-O2", "-D_FORTIFY_SOURCE=2", "-o", "checked"]].concat());
    compile(folder, "gcc", &[&build[..], &["-DUNKNOWN", "-o", "unknown"]].concat());
    for program in ["./plain", "./checked"] {
        for function in ["sprintf", "argument", "qsort", "strncpy", "fwrite", "fread", "atoi"] {
            let race = ["--find", "race", "--", function];
            exhaust(folder, program, &race).expect(1, &["found: race"]);
            let locked = format!("L{function}");
            exhaust(folder, program, &["--", &locked]).expect(0, &["none", "(complete)"]);
        }
    }
    // What is done as a whole proves nothing where it races.
    let whole = "the order of qsort and other threads' accesses";
    exhaust(folder, "./plain", &["--", "qsort"]).expect(3, &["inconclusive", whole]);
    let reason = "what strtok and wcsrchr do with memory that threads share is not visible";
    exhaust(folder, "./unknown", &["--", "Lstrtok"]).expect(3, &["inconclusive", reason]);
}

/// Strings, trees and lists of C++, used by two threads.
const CONTAINERS: &str = r#"#include <cstring>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
static std::string text;
static std::map<int, int> tree;
static std::list<int> items;
static std::mutex lock;
static void work(const char *how, int first) {
    std::unique_lock<std::mutex> guard(lock, std::defer_lock);
    if (how[0] == 'L') { guard.lock(); how++; }
    if (!strcmp(how, "append")) text += first ? "a" : "b";
    if (!strcmp(how, "push")) text.push_back('c');
    if (!strcmp(how, "read")) { std::string copy = text; if (text.find("x") != std::string::npos) abort(); }
    if (!strcmp(how, "tree")) tree[first] = 1;
    if (!strcmp(how, "list")) items.push_back(first);
    if (!strcmp(how, "print")) std::cout << "hello " << first << std::string("x") << std::endl;
}
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    // Threads in memory that joining them changes.
    std::vector<std::thread> threads;
    threads.emplace_back(work, how, 1);
    threads.emplace_back(work, how, 0);
    for (std::thread &thread : threads) thread.join();
    try { threads[0].join(); } catch (const std::system_error &error) { return error.code() != std::errc::invalid_argument; }
    return 2;
}
"#;

#[test]
fn containers_of_cxx_tell_their_accesses() {
    if !have("g++", &["--version"]) {
        return;
    }
    let folder = folder(&[("containers.cpp", CONTAINERS)]);
    let folder = folder.path();
    compile(folder, "g++", &["containers.cpp", VISIBLE, "-g", "-o", "slow"]);
    compile(folder, "g++", &["containers.cpp", VISIBLE, "-g", "-O2", "-o", "fast"]);
    for program in ["./slow", "./fast"] {
        for what in ["append", "push", "tree", "list"] {
            exhaust(folder, program, &["--find", "race", "--", what]).expect(1, &["found: race"]);
        }
        // Reading together, and writing to a standard stream, is allowed.
        for what in ["Lappend", "Ltree", "Llist", "read", "print"] {
            exhaust(folder, program, &["--find", "race", "--", what]).expect(0, &["none", "(complete)"]);
        }
    }
}

/// Forbids filters of system calls, as some containers do, and executes a command.
#[cfg(target_arch = "x86_64")]
const FORBID: &str = r#"#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, code};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 99;
    execv(argv[1], argv + 1);
    return 98;
}
"#;

/// A thread, and perhaps a system call by the instruction itself, or code that the program makes.
#[cfg(target_arch = "x86_64")]
const CALLER: &str = r#"#include <pthread.h>
#include <sys/mman.h>
static void *work(void *unused) {
#ifdef RAW
    long user;
    __asm__ volatile("syscall" : "=a"(user) : "a"(102) : "rcx", "r11", "memory");
#endif
#ifdef CODE
    if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 0;
#endif
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn system_calls_that_cannot_be_watched_are_told() {
    if !have("gcc", &["--version"]) {
        return;
    }
    let folder = folder(&[("forbid.c", FORBID), ("caller.c", CALLER)]);
    let folder = folder.path();
    compile(folder, "gcc", &["forbid.c", "-o", "forbid"]);
    compile(folder, "gcc", &["caller.c", VISIBLE, "-g", "-o", "calm"]);
    compile(folder, "gcc", &["caller.c", VISIBLE, "-g", "-DRAW", "-o", "raw"]);
    compile(folder, "gcc", &["caller.c", VISIBLE, "-g", "-DCODE", "-o", "code"]);
    for program in ["./calm", "./raw"] {
        exhaust(folder, program, &[]).expect(0, &["none", "(complete)"]);
    }
    exhaust(folder, "./code", &[]).expect(3, &["inconclusive", "code that the program makes itself"]);
    // Where no filter is possible, only code without the instruction is known not to make such calls.
    let forbidden = |program: &str| {
        let arguments = ["search", "--program", program, "--strategy", "exhaustive", "--quiet"];
        let command = Command::new("./forbid")
            .arg(env!("CARGO_BIN_EXE_turnpike"))
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("it can be executed");
        (command.status.code(), String::from_utf8_lossy(&command.stdout).into_owned())
    };
    let (code, said) = forbidden("./calm");
    if code == Some(99) {
        eprintln!("skipped: no filters at all");
        return;
    }
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = forbidden("./raw");
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("system calls that the program may make by the instruction itself are not visible"),
        "{said}"
    );
}
