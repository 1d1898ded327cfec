//! Programs with the sanitizer's runtime inside, as clang links it: what is checked of other programs is
//! checked of these, and the runtime itself is not taken for a part of them.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::path::Path;

use crate::common::{Ran, folder, turnpike_in};
use crate::program_system::compile;

/// Two threads add one, each in its own way. With another argument there is a lock.
const HIDDEN: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number, *volatile pointer = &number, careful;
static char *volatile digit = "1";
static const char *how;
static void add_through(int *to) {
#ifdef __x86_64__
    int value;
    __asm__ volatile("movl (%1), %0; addl $1, %0; movl %0, (%1)" : "=&r"(value) : "r"(to) : "memory");
#else
    ++*(volatile int *)to;
#endif
}
__attribute__((no_sanitize("thread"), noinline)) static void add_unseen(void) { number++; }
static void *work(void *unused) {
    int one = 1;
    if (careful) pthread_mutex_lock(&lock);
    if (!strcmp(how, "pointer")) add_through(pointer);
    else if (!strcmp(how, "function")) add_unseen();
    else if (!strcmp(how, "call") && sscanf(digit, "%d", &one) == 1) *pointer += one;
    else ++*pointer;
    if (careful) pthread_mutex_unlock(&lock);
    return unused;
}
int main(int count, char **words) {
    pthread_t a, b;
    how = count > 1 ? words[1] : "";
    careful = count > 2;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(number == 2);
    return 0;
}
"#;

/// A flag that is waited for, and one that is set only with an argument.
const SPINNING: &str = r#"#include <pthread.h>
#include <stdatomic.h>
static atomic_int taken, set;
static int number;
static void *work(void *unused) {
    while (atomic_exchange(&taken, 1)) {}
    number++;
    atomic_store(&taken, 0);
    while (!atomic_load(&set)) {}
    return unused;
}
int main(int count, char **words) {
    (void)words;
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    if (count == 1) atomic_store(&set, 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return number != 2;
}
"#;

/// A variable of a function is made by one thread. With an argument, making it fails the first time.
const STATICS: &str = r#"#include <cassert>
#include <thread>
static int made, failures;
struct Single {
    int value;
    explicit Single(int failing) : value(7) { if (made++ == 0 && failing) throw 1; }
};
static Single &single(int failing) { static Single it(failing); return it; }
int main(int count, char **) {
    int failing = count > 1;
    auto work = [&] {
        try { assert(single(failing).value == 7); } catch (int) { failures++; }
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(made == 1 + failing && failures == failing);
}
"#;

fn exhaust(folder: &Path, program: &str, arguments: &[&str]) -> Ran {
    let search = ["search", "--program", program, "--strategy", "exhaustive", "--quiet", "--"];
    turnpike_in(folder, &[&search[..], arguments].concat(), "")
}

#[test]
fn what_is_not_visible_in_programs_of_clang_is_named() {
    let folder = folder(&[("hidden.c", HIDDEN)]);
    let folder = folder.path();
    for level in ["-O1", "-O2"] {
        if !compile(folder, "clang", &["-g", level, "-fsanitize=thread", "hidden.c", "-o", "hidden"]) {
            return;
        }
        // The program has both, whichever of them it uses.
        let function = "accesses to memory in add_unseen are not visible";
        let call = "what sscanf does with memory that threads share is not visible";
        exhaust(folder, "./hidden", &["function", "lock"]).expect(3, &["inconclusive", function, call]);
        exhaust(folder, "./hidden", &["seen"]).expect(1, &["found: assertion failed: number == 2"]);
        if cfg!(target_arch = "x86_64") {
            exhaust(folder, "./hidden", &["pointer"]).expect(3, &["inconclusive", "a write to"]);
        }
    }
}

#[test]
fn programs_of_clang_that_spin_are_proved() {
    let folder = folder(&[("spinning.c", SPINNING)]);
    let folder = folder.path();
    if !compile(folder, "clang", &["-g", "-O1", "-fsanitize=thread", "spinning.c", "-o", "spinning"]) {
        return;
    }
    exhaust(folder, "./spinning", &[]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./spinning", &["never"]).expect(1, &["found: livelock"]);
    if compile(folder, "strip", &["spinning"]) {
        exhaust(folder, "./spinning", &[]).expect(3, &["inconclusive", "it has no symbols"]);
    }
}

#[test]
fn variables_of_functions_are_made_once_in_programs_of_clang() {
    let folder = folder(&[("statics.cpp", STATICS)]);
    let folder = folder.path();
    if !compile(folder, "clang++", &["-g", "-O1", "-fsanitize=thread", "statics.cpp", "-o", "statics"]) {
        return;
    }
    exhaust(folder, "./statics", &[]).expect(0, &["none", "(complete)"]);
    exhaust(folder, "./statics", &["failing"]).expect(0, &["none", "(complete)"]);
}
