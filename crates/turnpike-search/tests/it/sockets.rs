//! Sockets with addresses and timers, between threads of one C program: connections are under control, and time is virtual.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

use turnpike_program::native::NativeProgram;
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::Executor;
use turnpike_search::{RunReport, Verdict};

use crate::scripts::one;
use crate::scripts::outcomes::exhaustive;

/// A server and a client in one program; the argument tells what they do.
const SOCKETS: &str = r#"#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>
static const char *what;
static int listener, set, timer;
static struct sockaddr_in address;
static int is(const char *name) { return !strcmp(what, name); }
static void start_listening(void) {
    int yes = 1;
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    assert(setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 5) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    assert(address.sin_family == AF_INET && address.sin_port != 0);
}
static int connect_to_server(int flags) {
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    int answer = connect(fd, (struct sockaddr *)&address, sizeof address);
    assert(answer == 0 || (flags && errno == EINPROGRESS));
    return fd;
}
static void *client(void *unused) {
    char byte = 'x';
    if (is("silent")) { close(connect_to_server(0)); return unused; }
    if (is("timer") || is("timer-bug")) return unused;
    int fd = connect_to_server(is("epoll") ? SOCK_NONBLOCK : 0);
    if (is("epoll")) {
        struct epoll_event wanted = {.events = EPOLLOUT}, found;
        int own = epoll_create1(0), error = -1;
        socklen_t length = sizeof error;
        assert(epoll_ctl(own, EPOLL_CTL_ADD, fd, &wanted) == 0);
        assert(epoll_wait(own, &found, 1, -1) == 1);
        assert(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
        fcntl(fd, F_SETFL, 0);
        close(own);
    }
    if (!is("limit")) assert(send(fd, &byte, 1, 0) == 1);
    if (!is("lost")) assert(recv(fd, &byte, 1, 0) == (is("limit") ? 0 : 1));
    close(fd);
    return unused;
}
static void serve(void) {
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    char byte;
    int fd = accept(listener, (struct sockaddr *)&peer, &length);
    assert(fd >= 0 && length == sizeof peer && peer.sin_family == AF_INET);
    assert(peer.sin_port != address.sin_port && peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    if (is("limit")) {
        struct timeval limit = {.tv_sec = 3};
        assert(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
        assert(recv(fd, &byte, 1, 0) == -1 && errno == EAGAIN);
    } else if (is("silent")) {
        assert(recv(fd, &byte, 1, 0) == 0);
    } else {
        assert(recvfrom(fd, &byte, 1, 0, 0, 0) == 1 && sendto(fd, &byte, 1, 0, 0, 0) == 1);
    }
    if (is("lost")) assert(recv(fd, &byte, 1, 0) == 1);
    close(fd);
}
static void wait_for_timer(void) {
    struct itimerspec setting = {.it_value = {.tv_sec = 5}, .it_interval = {.tv_sec = 2}}, left;
    struct epoll_event wanted = {.events = EPOLLIN}, found;
    struct timespec before, after;
    uint64_t times = 0;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert(epoll_ctl(set, EPOLL_CTL_ADD, timer, &wanted) == 0);
    if (is("timer")) assert(timerfd_settime(timer, 0, &setting, 0) == 0);
    assert(epoll_wait(set, &found, 1, -1) == 1 && read(timer, &times, 8) == 8 && times == 1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec >= 5 && after.tv_sec - before.tv_sec < 7);
    assert(timerfd_gettime(timer, &left) == 0 && left.it_interval.tv_sec == 2);
    usleep(4500000);
    assert(read(timer, &times, 8) == 8 && times == 2);
}
int main(int argc, char **argv) {
    pthread_t thread;
    (void)argc;
    what = argv[1];
    listener = socket(AF_INET, SOCK_STREAM, 0);
    set = epoll_create1(0);
    if (is("timer") || is("timer-bug")) timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (!is("early")) start_listening();
    pthread_create(&thread, 0, client, 0);
    if (is("early")) start_listening();
    if (is("timer") || is("timer-bug")) wait_for_timer();
    else serve();
    pthread_join(thread, 0);
    return 0;
}
"#;

/// Compiles the program; `None` if there is no compiler.
fn compile() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("sockets-{}", std::process::id());
    let (source, output) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&source, SOCKETS).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O1", "-fsanitize=thread", "-pthread"]).arg(&source).arg("-o").arg(&output);
    match gcc.status() {
        Ok(done) => {
            assert!(done.success(), "the program cannot be compiled");
            Some(output)
        }
        Err(_) => {
            eprintln!("skipped: there is no gcc");
            None
        }
    }
}

fn search(program: &Path, what: &str) -> RunReport {
    let mut program = NativeProgram::new(program);
    program.arguments = vec![what.into()];
    let launch = move || Ok(Box::new(program.launch()?) as Box<dyn Executor>);
    let options = ProgramOptions { check_every: 3, ..ProgramOptions::default() };
    let model =
        ProgramModel::new("sockets", 1, Box::new(launch), options).unwrap_or_else(|why| panic!("{why}"));
    let mut options = exhaustive(true);
    options.limits.executions = Some(300);
    one(&model, &options)
}

#[test]
fn connections_inside_the_program_are_explored() {
    let Some(program) = compile() else { return };
    for (what, verdict, end) in [
        ("echo", Verdict::None, ""),
        ("silent", Verdict::None, ""),
        // It has more orders than are tried here.
        ("epoll", Verdict::Inconclusive, ""),
        // A limit of time is over only when nothing else can happen.
        ("limit", Verdict::Inconclusive, ""),
        ("early", Verdict::Found, "assertion"),
        ("lost", Verdict::Found, "assertion"),
        // Whether a timer expires while threads do something else is not tried.
        ("timer", Verdict::Inconclusive, ""),
        ("timer-bug", Verdict::Found, "deadlock"),
    ] {
        let report = search(&program, what);
        let found = report
            .witness
            .and_then(|witness| witness.schedule)
            .map_or(String::new(), |schedule| schedule.end);
        assert_eq!(report.verdict, verdict, "{what}: {found} {:?} {:?}", report.stop, report.executions);
        assert!(found.contains(end), "{what}: {found}");
    }
    drop(std::fs::remove_file(program));
}
