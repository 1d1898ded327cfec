//! Calls that take several steps, or during which other threads run: functions that compare and measure
//! texts, initialisations that fail, handlers of signals.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::path::Path;

use crate::common::{Ran, folder, turnpike_in};
use crate::program_system::compile;

/// One thread writes two bytes, and another one calls a function that reads both. With another argument there
/// is a lock.
const TEXTS: &str = r#"#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile char one[4], other[4];
static volatile size_t size = 1;
static int careful, seen, longer;
static const char *how;
#define IS(name) !strcmp(how, name)
static void *write_both(void *unused) {
    if (careful) pthread_mutex_lock(&lock);
    if (longer) { one[0] = 'a'; one[1] = 'b'; }
    else { one[0] = 'x'; other[0] = 'a'; }
    if (careful) pthread_mutex_unlock(&lock);
    return unused;
}
static void *read_both(void *unused) {
    char *a = (char *)one, *b = (char *)other;
    if (careful) pthread_mutex_lock(&lock);
    /* Between the two writes, the text has one letter. */
    if (IS("strlen")) seen = strlen(a) == 1;
    if (IS("strspn")) seen = strspn(a, "ab") == 1;
    /* The first operand is read before both writes, the second one after them. */
    if (IS("memcmp")) seen = memcmp(a, b, size) == 0;
    if (IS("strcmp")) seen = strcmp(a, b) == 0;
    if (IS("strncmp")) seen = strncmp(a, b, size) == 0;
    if (IS("strcasecmp")) seen = strcasecmp(a, b) == 0;
    if (IS("strstr")) seen = strstr(a, b) == a;
    if (IS("strpbrk")) seen = strpbrk(a, b) == a;
    if (IS("strcspn")) seen = strcspn(a, b) == 0;
    if (careful) pthread_mutex_unlock(&lock);
    return unused;
}
int main(int count, char **words) {
    pthread_t threads[2];
    how = words[1];
    careful = count > 2;
    longer = IS("strlen") || IS("strspn");
    if (!longer) { one[0] = 'a'; other[0] = 'b'; }
    pthread_create(&threads[0], 0, write_both, 0);
    pthread_create(&threads[1], 0, read_both, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(!seen);
    return 0;
}
"#;

/// A call fails in one thread, and succeeds in another one before the first has looked at it. With an argument,
/// nothing depends on that.
const FAILING: &str = r#"#include <cassert>
#include <mutex>
#include <thread>
static std::once_flag flag;
static int tries, done;
int main(int count, char **) {
    bool looks = count == 1;
    auto work = [looks] {
        try {
            std::call_once(flag, [] { if (tries++ == 0) throw 1; done++; });
        } catch (int) {
            if (looks) assert(done == 0);
        }
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(tries == 2 && done == 1);
}
"#;

/// Two threads send a signal to themselves; while one of them handles it, the other one may, too.
const HANDLERS: &str = r#"#include <assert.h>
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number, careful;
static void add(int signal) {
    (void)signal;
    if (careful) pthread_mutex_lock(&lock);
    number++;
    if (careful) pthread_mutex_unlock(&lock);
}
static void *work(void *unused) {
    raise(SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    return unused;
}
int main(int count, char **words) {
    (void)words;
    pthread_t a, b;
    careful = count > 1;
    signal(SIGUSR1, add);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(number == 4);
    return 0;
}
"#;

fn search(folder: &Path, strategy: &str, arguments: &[&str]) -> Ran {
    let search = ["search", "--program", "./program", "--strategy", strategy, "--quiet", "--"];
    turnpike_in(folder, &[&search[..], arguments].concat(), "")
}

#[test]
fn functions_read_texts_as_they_are_at_their_turn() {
    let folder = folder(&[("texts.c", TEXTS)]);
    let folder = folder.path();
    let build = ["-g", "-O1", "-fno-builtin", "-fsanitize=thread", "texts.c", "-o", "program"];
    if !compile(folder, "gcc", &build) {
        return;
    }
    for how in
        ["strlen", "strspn", "memcmp", "strcmp", "strncmp", "strcasecmp", "strstr", "strpbrk", "strcspn"]
    {
        search(folder, "exhaustive", &[how]).expect(1, &["found: assertion failed: !seen"]);
        search(folder, "exhaustive", &[how, "lock"]).expect(0, &["none", "(complete)"]);
    }
    for strategy in ["auto", "bfs"] {
        search(folder, strategy, &["strlen"]).expect(1, &["found: assertion failed: !seen"]);
        search(folder, strategy, &["memcmp"]).expect(1, &["found: assertion failed: !seen"]);
    }
}

#[test]
fn others_go_on_with_an_initialisation_as_soon_as_it_has_failed() {
    let folder = folder(&[("failing.cpp", FAILING)]);
    let folder = folder.path();
    if !compile(folder, "g++", &["-g", "-O1", "-fsanitize=thread", "failing.cpp", "-o", "program"]) {
        return;
    }
    for strategy in ["auto", "exhaustive", "bfs"] {
        search(folder, strategy, &[]).expect(1, &["found: assertion failed: done == 0"]);
    }
    search(folder, "exhaustive", &["blind"]).expect(0, &["none", "(complete)"]);
}

#[test]
fn threads_handle_signals_of_their_own_at_the_same_time() {
    let folder = folder(&[("handlers.c", HANDLERS)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "handlers.c", "-o", "program"]) {
        return;
    }
    for strategy in ["auto", "exhaustive", "bfs"] {
        search(folder, strategy, &[]).expect(1, &["found: assertion failed: number == 4"]);
    }
    search(folder, "exhaustive", &["lock"]).expect(0, &["none", "(complete)"]);
}

/// One thread replaces a structure that another one copies: it may see a part of each value.
const STRUCTURES: &str = r#"#include <assert.h>
#include <pthread.h>
struct three { long first, second, third; };
static struct three shared;
static int careful;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *replace(void *unused) {
    struct three own = {1, 1, 1};
    if (careful) pthread_mutex_lock(&lock);
    shared = own;
    if (careful) pthread_mutex_unlock(&lock);
    return unused;
}
static void *copy(void *unused) {
    struct three own;
    if (careful) pthread_mutex_lock(&lock);
    own = shared;
    if (careful) pthread_mutex_unlock(&lock);
    assert(own.first == own.third);
    return unused;
}
int main(int count, char **words) {
    (void)words;
    pthread_t a, b;
    careful = count > 1;
    pthread_create(&a, 0, replace, 0);
    pthread_create(&b, 0, copy, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn structures_are_not_replaced_in_one_step() {
    let folder = folder(&[("structures.c", STRUCTURES)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O0", "-fsanitize=thread", "structures.c", "-o", "program"]) {
        return;
    }
    for strategy in ["auto", "exhaustive", "bfs"] {
        search(folder, strategy, &[])
            .expect(3, &["inconclusive", "the order of the parts of a large assignment"]);
        search(folder, strategy, &["lock"]).expect(0, &["none", "(complete)"]);
    }
}
