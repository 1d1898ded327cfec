//! Threads that talk by pipes, sockets and counters of events, and wait for them with `poll`, `select` and `epoll`: all
//! orders are tried, lost events are found, and what is correct is proved.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::{Ran, folder, turnpike_in};
use crate::program_system::compile;

/// Two threads with descriptors between them; the argument tells what they do.
const EVENTS: &str = r#"#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
static const char *what;
static int ends[2], event, set;
static char room[70000];
static int is(const char *name) { return !strcmp(what, name); }
static void put(void) { assert(write(ends[1], "x", 1) == 1); }
static void get(void) { char byte; assert(read(ends[0], &byte, 1) == 1 && byte == 'x'); }
static int wait_for_event(void) {
    struct epoll_event found;
    return epoll_wait(set, &found, 1, -1);
}
static void *other(void *unused) {
    if (is("read") || is("again") || is("poll") || is("select") || is("level") || is("timeout")) put();
    if (is("two")) get();
    if (is("full")) for (long got = 0; got < 70000;) got += read(ends[0], room, sizeof room);
    if (is("end")) close(ends[1]);
    if (is("shutdown")) shutdown(ends[1], SHUT_WR);
    if (is("broken")) close(ends[0]);
    if (is("edge") || is("edge-bug") || is("once") || is("once-bug")) { put(); put(); }
    if (is("count") || is("count-bug")) { eventfd_write(event, 1); eventfd_write(event, 1); }
    if (is("copy")) { int copy = dup(ends[1]); close(ends[1]); assert(write(copy, "x", 1) == 1); close(copy); }
    return unused;
}
int main(int argc, char **argv) {
    pthread_t thread;
    eventfd_t number;
    char bytes[10];
    (void)argc;
    what = argv[1];
    signal(SIGPIPE, SIG_IGN);
    int made = is("shutdown") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends);
    event = eventfd(0, is("count") ? EFD_SEMAPHORE : 0);
    set = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLIN};
    if (!strncmp(what, "edge", 4)) wanted.events |= EPOLLET;
    if (!strncmp(what, "once", 4)) wanted.events |= EPOLLONESHOT;
    assert(made == 0 && epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted) == 0);
    if (is("again") || is("edge")) fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (is("two")) put();
    pthread_create(&thread, 0, other, 0);
    if (is("read")) get();
    if (is("two")) get();
    if (is("again")) assert(read(ends[0], bytes, 1) == 1 || errno == EAGAIN);
    if (is("full") || is("full-bug")) assert(write(ends[1], room, sizeof room) == sizeof room);
    if (is("end") || is("shutdown")) assert(read(ends[0], bytes, 1) == 0);
    if (is("copy")) { get(); assert(read(ends[0], bytes, 1) == 0); }
    if (is("broken")) assert(write(ends[1], "x", 1) == 1 || errno == EPIPE);
    if (is("poll") || is("timeout")) {
        struct pollfd both[] = {{ends[0], POLLIN, 0}, {event, POLLIN, 0}};
        int ready = poll(both, 2, is("poll") ? -1 : 1000);
        if (is("poll")) assert(ready == 1 && both[0].revents == POLLIN && both[1].revents == 0);
        else assert(ready == 1);
    }
    if (is("select")) {
        fd_set read_from;
        FD_ZERO(&read_from);
        FD_SET(ends[0], &read_from);
        assert(select(ends[0] + 1, &read_from, 0, 0, 0) == 1 && FD_ISSET(ends[0], &read_from));
    }
    if (is("level")) { assert(wait_for_event() == 1 && wait_for_event() == 1); get(); }
    if (is("edge")) { int got = 0; while (got < 2 && wait_for_event() == 1) while (read(ends[0], bytes, 1) == 1) got++; }
    if (is("edge-bug")) { wait_for_event(); get(); wait_for_event(); get(); }
    if (is("once")) {
        wait_for_event(); get();
        assert(epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &wanted) == 0);
        wait_for_event(); get();
    }
    if (is("once-bug")) { wait_for_event(); get(); wait_for_event(); get(); }
    if (is("count") || is("count-bug")) { eventfd_read(event, &number); assert(number == 1); eventfd_read(event, &number); assert(number == 1); }
    pthread_join(thread, 0);
    return 0;
}
"#;

fn search(folder: &std::path::Path, strategy: &str, more: &[&str]) -> Ran {
    let search = ["search", "--program", "./events", "--strategy", strategy, "--no-shorten"];
    turnpike_in(folder, &[&search[..], more].concat(), "")
}

#[test]
fn waiting_for_descriptors_is_explored() {
    let folder = folder(&[("events.c", EVENTS)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "events.c", "-o", "events"]) {
        return;
    }
    let correct = [
        "read", "again", "full", "end", "shutdown", "copy", "broken", "poll", "select", "level", "edge",
        "once", "count",
    ];
    for what in correct {
        for strategy in ["auto", "exhaustive", "bfs"] {
            search(folder, strategy, &["--", what]).expect(0, &["none", "(complete)"]);
        }
    }
    for (what, error) in [
        ("two", "deadlock"),
        ("full-bug", "deadlock"),
        ("edge-bug", "deadlock"),
        ("once-bug", "deadlock"),
        ("count-bug", "assertion failed"),
    ] {
        for strategy in ["auto", "exhaustive", "bfs"] {
            search(folder, strategy, &["--", what]).expect(1, &[&format!("found: {error}")]);
        }
    }
}

/// A limit of time is over when nothing else can happen, or at any time.
#[test]
fn waiting_for_descriptors_has_a_limit() {
    let folder = folder(&[("events.c", EVENTS)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-fsanitize=thread", "events.c", "-o", "events"]) {
        return;
    }
    search(folder, "exhaustive", &["--", "timeout"]).expect(3, &["inconclusive"]);
    search(folder, "exhaustive", &["--timeouts", "always", "--", "timeout"])
        .expect(1, &["found: assertion failed"]);
}
