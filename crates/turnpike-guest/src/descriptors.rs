//! Descriptors whose other ends are in the program itself: pipes, pairs of sockets, event counters,
//! and sets of such descriptors that are watched.
//!
//! The system keeps the data, the scheduler the order. Everything that looks at a descriptor or
//! changes one is a step on one object ([`crate::blocking::descriptors`]). A thread that has to
//! wait waits there for a change, and looks again. So a program whose threads communicate by such
//! descriptors is deterministic, all orders are tried, and waiting for ever is a deadlock.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use turnpike_scheduler::{Kind, Operation, Site};

use crate::blocking::{EVENT, descriptors, ready, writes};
use crate::global::Global;
use crate::hook::{hook, real};
use crate::sys::{self, PollFd};
use crate::{cancel, control, memory, shared, sites, sockets, time, timers};

pub(crate) const IN: i16 = 1;
const OUT: i16 = 4;

/// For each descriptor, by number, whether all its ends are in the program.
static INSIDE: Global<Vec<bool>> = Global::new(Vec::new());

/// Whether nothing outside the program can change what a descriptor is ready for.
pub(crate) fn is_inside(fd: c_int) -> bool {
    fd >= 0 && INSIDE.with(|inside| inside.get(fd as usize).copied().unwrap_or(false))
}

/// Sets whether a descriptor is inside. A closed one is not.
pub(crate) fn set_inside(fd: c_int, yes: bool) {
    if fd < 0 || !control::active() {
        return;
    }
    INSIDE.with(|inside| {
        if fd as usize >= inside.len() {
            inside.resize(fd as usize + 1, false);
        }
        inside[fd as usize] = yes;
    });
}

/// What a call waits for. The scheduler evaluates it right before the step.
struct Condition<'a> {
    holds: &'a dyn Fn() -> bool,
}

fn holds(condition: u64) -> bool {
    // SAFETY: on the stack of the thread that waits for its turn.
    (unsafe { &*(condition as *const Condition<'_>) }.holds)()
}

/// Waits until the condition holds, and returns true after a step that changes descriptors. False
/// when the limit has passed, in nanoseconds of virtual time from now; 0 = do not wait.
///
/// `timed` says that a timer may make the condition hold.
pub(crate) fn wait(limit: Option<u64>, timed: bool, site: Site, condition: &dyn Fn() -> bool) -> bool {
    let site = sites::user(site);
    let object = descriptors(site);
    let deadline = limit.map(|limit| time::passed().saturating_add(limit));
    loop {
        timers::expire(site);
        let condition = Condition { holds: condition };
        let look = Operation {
            argument: &raw const condition as u64,
            writes: Some(holds),
            ..Operation::new(Kind::Update, object, site)
        };
        control::step(look);
        if holds(look.argument) {
            return true;
        }
        if limit == Some(0) {
            return false;
        }
        let timer = timers::next().filter(|_| timed);
        let first = [deadline, timer].into_iter().flatten().min();
        let change = control::limited(Operation::new(Kind::Yield, object, site), first);
        if cancel::step(change).timed_out {
            cancel::point();
            if deadline.is_some() && deadline == first {
                return false;
            }
        }
    }
}

/// Time limits for receiving, in nanoseconds.
static LIMITS: Global<Vec<(c_int, u64)>> = Global::new(Vec::new());

/// Sets the time limit for receiving from a descriptor; 0 = none.
pub(crate) fn limit_receiving(fd: c_int, limit: u64) {
    if control::active() {
        LIMITS.with(|limits| {
            limits.retain(|&(known, _)| known != fd);
            limits.extend((limit > 0).then_some((fd, limit)));
        });
    }
}

/// Waits until something can be read; false when the time limit has passed.
pub(crate) fn readable(fd: c_int, site: Site) -> bool {
    let limit = LIMITS.with(|limits| limits.iter().find(|&&(known, _)| known == fd).map(|&(_, limit)| limit));
    wait(limit, timers::is_timed(fd), site, &|| ready(fd, IN))
}

/// Forgets all about a descriptor that is closed.
pub(crate) fn closed(fd: c_int) {
    if !control::active() {
        return;
    }
    set_inside(fd, false);
    limit_receiving(fd, 0);
    sockets::forget(fd);
    timers::forget(fd);
}

/// Writes everything, in parts as room becomes available. `write` is passed how much is written
/// already, writes what has room now, and returns what the system call does.
pub(crate) fn write_all(
    fd: c_int,
    length: usize,
    site: Site,
    mut write: impl FnMut(usize) -> isize,
) -> isize {
    let mut done = 0;
    loop {
        wait(None, false, site, &|| ready(fd, OUT));
        let written = write(done);
        if written < 0 {
            // SAFETY: the C library's own.
            let again = unsafe { *sys::__errno_location() } == sys::EAGAIN;
            if again {
                // `poll` reports it as ready, but this write needs more room.
                continue;
            }
            return if done > 0 { done as isize } else { written };
        }
        done += written as usize;
        if done >= length {
            return done as isize;
        }
    }
}

/// Runs `work` while a descriptor is non-blocking.
pub(crate) fn without_blocking<R>(fd: c_int, work: impl FnOnce() -> R) -> R {
    const GET_FLAGS: usize = 3;
    const SET_FLAGS: usize = 4;
    const NONBLOCK: usize = 0o4000;
    let flags = sys::syscall(sys::number::FCNTL, fd as usize, GET_FLAGS, 0, 0, 0, 0).max(0) as usize;
    let set = |flags| sys::syscall(sys::number::FCNTL, fd as usize, SET_FLAGS, flags, 0, 0, 0);
    set(flags | NONBLOCK);
    let result = work();
    // SAFETY: the C library's own.
    let errno = unsafe { *sys::__errno_location() };
    set(flags);
    // SAFETY: the C library's own.
    unsafe { *sys::__errno_location() = errno };
    result
}

/// # Safety
/// `polls` points to `count` entries.
pub(crate) unsafe fn list<'a>(polls: *const c_void, count: u64) -> &'a [PollFd] {
    // SAFETY: promised by the caller; nothing has to be there if there are none.
    unsafe {
        if count == 0 { &[][..] } else { core::slice::from_raw_parts(polls as *const PollFd, count as usize) }
    }
}

/// Whether all descriptors of a list are inside; negative ones are ignored.
///
/// # Safety
/// `polls` points to `count` entries.
pub(crate) unsafe fn all_inside(polls: *const c_void, count: u64) -> bool {
    // SAFETY: promised by the caller.
    unsafe { list(polls, count) }.iter().all(|poll| poll.fd < 0 || is_inside(poll.fd))
}

/// Whether there is a timer among the descriptors of a list.
///
/// # Safety
/// `polls` points to `count` entries.
pub(crate) unsafe fn any_timed(polls: *const c_void, count: u64) -> bool {
    // SAFETY: promised by the caller.
    unsafe { list(polls, count) }.iter().any(|poll| poll.fd >= 0 && timers::is_timed(poll.fd))
}

/// Notes that a new descriptor is inside. Passes an error through.
fn made(fd: c_int) -> c_int {
    set_inside(fd, true);
    fd
}

/// Whether there is such a descriptor.
fn is_open(fd: c_int) -> bool {
    const GET_DESCRIPTOR_FLAGS: usize = 1;
    sys::syscall(sys::number::FCNTL, fd as usize, GET_DESCRIPTOR_FLAGS, 0, 0, 0, 0) >= 0
}

/// A step before a descriptor becomes a copy of another one, which closes what it was.
fn replaces(from: c_int, to: c_int, site: Site) {
    shared::files(site);
    if from != to && is_open(from) && is_open(to) {
        // A thread that waits at the other end sees it.
        writes(to, site);
        closed(to);
    }
}

/// Notes that `to` refers to the same thing as `from`. Passes an error through.
pub(crate) fn copied(from: c_int, to: c_int) -> c_int {
    set_inside(to, is_inside(from));
    if to >= 0 && control::active() {
        sockets::copied(from, to);
        timers::copied(from);
    }
    to
}

unsafe fn made_two(answer: c_int, fds: *const c_int) -> c_int {
    if answer == 0 {
        // SAFETY: the caller's two descriptors.
        let (one, other) = unsafe { (*fds, *fds.add(1)) };
        made(one);
        made(other);
    }
    answer
}

/// Bytes of two descriptors.
const PAIR: usize = 8;

hook! {
    fn pipe(fds: *mut c_int; site) -> c_int {
        shared::files(site);
        memory::tell_bytes(fds as *const c_void, PAIR, true, site);
        made_two(real!(pipe: fn(*mut c_int) -> c_int)(fds), fds)
    }
    fn pipe2(fds: *mut c_int, flags: c_int; site) -> c_int {
        shared::files(site);
        memory::tell_bytes(fds as *const c_void, PAIR, true, site);
        made_two(real!(pipe2: fn(*mut c_int, c_int) -> c_int)(fds, flags), fds)
    }
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: *mut c_int; site) -> c_int {
        shared::files(site);
        memory::tell_bytes(fds as *const c_void, PAIR, true, site);
        made_two(real!(socketpair: fn(c_int, c_int, c_int, *mut c_int) -> c_int)(domain, kind, protocol, fds), fds)
    }
    fn eventfd(count: u32, flags: c_int; site) -> c_int {
        shared::files(site);
        made(real!(eventfd: fn(u32, c_int) -> c_int)(count, flags))
    }
    fn epoll_create(size: c_int; site) -> c_int {
        shared::files(site);
        made(real!(epoll_create: fn(c_int) -> c_int)(size))
    }
    fn epoll_create1(flags: c_int; site) -> c_int {
        shared::files(site);
        made(real!(epoll_create1: fn(c_int) -> c_int)(flags))
    }
    fn epoll_ctl(set: c_int, what: c_int, fd: c_int, event: *mut c_void; site) -> c_int {
        const REMOVE: c_int = 2;
        shared::files(site);
        memory::tell_operand("epoll_ctl", event, EVENT, false, site);
        let answer = real!(epoll_ctl: fn(c_int, c_int, c_int, *mut c_void) -> c_int)(set, what, fd, event);
        if answer == 0 && what != REMOVE && !is_inside(fd) {
            set_inside(set, false);
        }
        if answer == 0 && what != REMOVE {
            timers::watched(set, fd);
        }
        answer
    }
    fn dup(fd: c_int; site) -> c_int {
        shared::files(site);
        copied(fd, real!(dup: fn(c_int) -> c_int)(fd))
    }
    fn dup2(fd: c_int, to: c_int; site) -> c_int {
        replaces(fd, to, site);
        copied(fd, real!(dup2: fn(c_int, c_int) -> c_int)(fd, to))
    }
    fn dup3(fd: c_int, to: c_int, flags: c_int; site) -> c_int {
        replaces(fd, to, site);
        copied(fd, real!(dup3: fn(c_int, c_int, c_int) -> c_int)(fd, to, flags))
    }
}
