//! Calls that wait for something outside: sockets, terminals, other processes. What stays in the
//! program is in [`crate::descriptors`].
//!
//! Pipes, sockets and their like are one object for the kernel, "descriptors": reading and writing
//! them are steps. A thread that would block looks and yields instead, so that the kernel lets it
//! sleep until another thread has written to a descriptor. If none will, the execution ends as
//! hung, and says what was waited for. Files never block: see [`crate::shared`].

use alloc::format;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use turnpike_scheduler::{Detail, Kind, Object, ObjectId, Operation, Site};

use crate::descriptors::{self, IN};
use crate::global::Global;
use crate::hook::{hook, real};
use crate::sys::{self, PollFd, fail_with};
use crate::{cancel, control, memory, protocol, shared, signals, sites, time, timers};

static DESCRIPTORS: Global<Option<ObjectId>> = Global::new(None);

/// The name that stands for all descriptors.
const NAME: u64 = 0x6465_7363_7269_7074;

pub(crate) fn descriptors(site: Site) -> ObjectId {
    let register = || {
        control::kernel(|kernel| {
            let object = kernel.register(Object::Memory, NAME, site);
            if control::DETAIL.get() >= Detail::Full {
                kernel.name_object(object, "descriptors");
            }
            object
        })
    };
    DESCRIPTORS.with(|known| *known.get_or_insert_with(register))
}

/// Whether calls on the descriptor may wait for others: pipes, sockets, terminals, and what has no
/// file type at all.
fn may_block(fd: c_int) -> bool {
    if protocol::is_own(fd) {
        return false;
    }
    let mut status = [0u64; 32];
    if sys::syscall(sys::number::FSTAT, fd as usize, status.as_mut_ptr() as usize, 0, 0, 0, 0) != 0 {
        return false;
    }
    // SAFETY: the operating system filled it, and its interface fixes the offset of the mode.
    let mode = unsafe {
        let bytes = status.as_ptr() as *const u8;
        #[cfg(target_arch = "x86_64")]
        let at = 24;
        #[cfg(target_arch = "aarch64")]
        let at = 16;
        *(bytes.add(at) as *const u32)
    };
    const KIND: u32 = 0o170000;
    const FIFO: u32 = 0o010000;
    const CHARACTER: u32 = 0o020000;
    const SOCKET: u32 = 0o140000;
    match mode & KIND {
        FIFO | SOCKET | 0 => true,
        // Reading from a terminal may wait; reading from /dev/null never does.
        CHARACTER => {
            sys::syscall(sys::number::IOCTL, fd as usize, 0x5401, status.as_mut_ptr() as usize, 0, 0, 0) == 0
        }
        _ => false,
    }
}

pub(crate) fn ready(fd: c_int, events: i16) -> bool {
    let mut poll = PollFd { fd, events, revents: 0 };
    let now = sys::Timespec { seconds: 0, nanoseconds: 0 };
    sys::syscall(sys::number::PPOLL, &raw mut poll as usize, 1, &raw const now as usize, 0, 0, 0) != 0
}

/// Lets other threads run until `done` is true.
fn until(what: &str, site: Site, mut done: impl FnMut() -> bool) {
    if done() {
        return;
    }
    let site = sites::user(site);
    let object = descriptors(site);
    outside(what, site);
    loop {
        control::simple(Kind::Load, object, site);
        if done() {
            break;
        }
        cancel::step(Operation::new(Kind::Yield, ObjectId::NONE, site));
    }
    control::WAITING_OUTSIDE.fetch_sub(1, Ordering::Relaxed);
}

fn outside(what: &str, site: Site) {
    let place = format!("{{site:{:#x}}}", site.0);
    control::uncontrolled(&format!("{what} at {place}, which waits for something outside the program,"));
    control::WAITING_OUTSIDE.fetch_add(1, Ordering::Relaxed);
}

/// A step that reads from a descriptor, once there is something to read. Only then does its order
/// among other operations on descriptors matter; before, it only looks. False when the time limit
/// of the descriptor has passed.
pub(crate) fn readable(what: &str, fd: c_int, site: Site) -> bool {
    if !may_block(fd) || nonblocking(fd) {
        reads_stream(site);
        return true;
    }
    if descriptors::is_inside(fd) {
        return descriptors::readable(fd, site);
    }
    let site = sites::user(site);
    let object = descriptors(site);
    let mut waits = false;
    loop {
        let take = Operation {
            argument: fd as u32 as u64,
            writes: Some(|fd| ready(fd as c_int, IN)),
            ..Operation::new(Kind::Update, object, site)
        };
        if control::step(take).ok || ready(fd, IN) {
            break;
        }
        if !waits {
            waits = true;
            outside(what, site);
        }
        cancel::step(Operation::new(Kind::Yield, ObjectId::NONE, site));
    }
    if waits {
        control::WAITING_OUTSIDE.fetch_sub(1, Ordering::Relaxed);
    }
    true
}

pub(crate) fn nonblocking(fd: c_int) -> bool {
    const GET_FLAGS: usize = 3;
    const NONBLOCK: isize = 0o4000;
    let flags = sys::syscall(sys::number::FCNTL, fd as usize, GET_FLAGS, 0, 0, 0, 0);
    flags < 0 || flags & NONBLOCK != 0
}

/// A step before reading from a file or a stream: which thread gets what depends on the order.
pub(crate) fn reads_stream(site: Site) {
    timers::expire(site);
    if control::threads(|threads| threads.len()) > 1 {
        let site = sites::user(site);
        control::simple(Kind::Store, descriptors(site), site);
    }
}

/// A step before something is written, which wakes threads that wait for it.
pub(crate) fn writes(fd: c_int, site: Site) {
    if may_block(fd) {
        let site = sites::user(site);
        control::simple(Kind::Store, descriptors(site), site);
    } else if fd > STANDARD_ERROR {
        shared::files(site);
    }
}

/// Whether a thread that writes there may have to wait for another thread to read.
fn waits_for_room(fd: c_int) -> bool {
    descriptors::is_inside(fd) && !nonblocking(fd)
}

/// Of `send` and `recv`: do not wait.
pub(crate) const DONT_WAIT: c_int = 0x40;

/// The program cannot read what it writes to descriptors up to this one.
const STANDARD_ERROR: c_int = 2;

/// `poll` and its kin: looks without blocking, and lets virtual time pass instead of waiting.
fn wait(what: &str, milliseconds: i64, site: Site, mut look: impl FnMut() -> c_int) -> c_int {
    let mut answer = look();
    if answer != 0 || milliseconds == 0 {
        return answer;
    }
    if milliseconds > 0 {
        time::sleep(milliseconds as u64 * 1_000_000, site);
        return look();
    }
    until(what, site, || {
        answer = look();
        answer != 0
    });
    answer
}

/// A limit in milliseconds as one in nanoseconds; none if it is negative.
fn limit_of(milliseconds: i64) -> Option<u64> {
    u64::try_from(milliseconds).ok().map(|limit| limit.saturating_mul(1_000_000))
}

/// Like [`wait`], for descriptors that are all inside. `look` has no side effect. `timed` says
/// whether there is a timer among them.
fn wait_inside(milliseconds: i64, timed: bool, site: Site, look: impl Fn() -> c_int) -> c_int {
    descriptors::wait(limit_of(milliseconds), timed, site, &|| look() != 0);
    look()
}

/// Waits for descriptors of a list. Looking stores what was found, so it uses a copy: the caller's
/// list changes once, at the end.
///
/// # Safety
/// `polls` points to `count` entries.
unsafe fn poll_copy(what: &str, polls: *mut c_void, count: u64, milliseconds: i64, site: Site) -> c_int {
    let poll = real!(poll: fn(*mut c_void, u64, c_int) -> c_int);
    memory::tell_operand(what, polls, count as usize * size_of::<PollFd>(), false, site);
    // SAFETY: promised by the caller; the copy has as many entries.
    unsafe {
        let mut copy = descriptors::list(polls, count).to_vec();
        let list = copy.as_mut_ptr() as *mut c_void;
        let answer = if descriptors::all_inside(list, count) {
            let timed = descriptors::any_timed(list, count);
            wait_inside(milliseconds, timed, site, || poll(list, count, 0))
        } else {
            wait(what, milliseconds, site, || poll(list, count, 0))
        };
        if answer >= 0 {
            for (at, found) in copy.iter().enumerate() {
                memory::put(&raw mut (*(polls as *mut PollFd).add(at)).revents, found.revents, site);
            }
        }
        answer
    }
}

/// Bytes of `struct epoll_event`.
pub(crate) const EVENT: usize = if cfg!(target_arch = "x86_64") { 12 } else { 16 };

/// Waits for events of a set that is inside, and takes them.
///
/// # Safety
/// `events` has room for `count` events.
unsafe fn epoll_inside(
    fd: c_int,
    events: *mut c_void,
    count: c_int,
    milliseconds: c_int,
    site: Site,
) -> c_int {
    // `epoll_wait` would consume events, so `poll` says whether there are any.
    descriptors::wait(limit_of(milliseconds.into()), timers::is_timed(fd), site, &|| ready(fd, IN));
    memory::tell_operand("epoll_wait", events, count.max(0) as usize * EVENT, true, site);
    // SAFETY: promised by the caller.
    unsafe { real!(epoll_wait: fn(c_int, *mut c_void, c_int, c_int) -> c_int)(fd, events, count, 0) }
}

/// Sends to a socket.
///
/// # Safety
/// `bytes` points to `length` bytes.
pub(crate) unsafe fn send_bytes(
    fd: c_int,
    bytes: *const c_void,
    length: usize,
    flags: c_int,
    site: Site,
) -> isize {
    let send = real!(send: fn(c_int, *const c_void, usize, c_int) -> isize);
    memory::tell_bytes(bytes, length, false, site);
    // SAFETY: promised by the caller.
    unsafe {
        if waits_for_room(fd) && flags & DONT_WAIT == 0 {
            return descriptors::write_all(fd, length, site, |done| {
                send(fd, bytes.add(done), length - done, flags | DONT_WAIT)
            });
        }
        writes(fd, site);
        send(fd, bytes, length, flags)
    }
}

static SIGNALS: AtomicU32 = AtomicU32::new(0);

/// Sends a signal from one thread to another, or to the process: its handler runs at once, in the
/// sender's place.
pub(crate) fn signal(signal: c_int, site: Site) -> c_int {
    announce_signal(site);
    crate::signals::raise(signal)
}

/// A step that sends a signal: threads that wait for one look again.
pub(crate) fn announce_signal(site: Site) {
    control::uncontrolled("the moment at which a signal arrives");
    let site = sites::user(site);
    control::simple(Kind::Store, descriptors(site), site);
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// A step after which threads that wait for something outside look again.
pub(crate) fn look_again(site: Site) {
    if control::WAITING_OUTSIDE.load(Ordering::Relaxed) > 0 {
        control::simple(Kind::Store, descriptors(site), site);
    }
}

/// Waits until some signal was sent.
fn any_signal(what: &str, site: Site) -> c_int {
    if !time::wait_for_alarm(site) {
        let before = SIGNALS.load(Ordering::Relaxed);
        until(what, site, || SIGNALS.load(Ordering::Relaxed) != before);
    }
    fail_with(sys::EINTR)
}

/// Waits for one of a set of blocked signals, and takes it.
fn take_signal(what: &str, set: *const c_void, info: *mut c_void, site: Site) -> c_int {
    let look = real!(sigtimedwait: fn(*const c_void, *mut c_void, *const sys::Timespec) -> c_int);
    let now = sys::Timespec { seconds: 0, nanoseconds: 0 };
    let mut taken = -1;
    until(what, site, || {
        signals::arrive();
        // SAFETY: the caller's set and record.
        taken = unsafe { look(set, info, &now) };
        taken > 0
    });
    taken
}

/// Reports the accesses of a call that fills or writes out several parts of memory. `vector` holds
/// the address and size of each.
unsafe fn tell_parts(vector: *const c_void, count: usize, write: bool, site: Site) {
    const PART: usize = 2 * size_of::<usize>();
    memory::tell_operand("a list of parts", vector, count * PART, false, site);
    // SAFETY: the caller's list, `count` long.
    let parts = unsafe { core::slice::from_raw_parts(vector as *const (*const c_void, usize), count) };
    for &(address, size) in parts {
        memory::tell_bytes(address, size, write, site);
    }
}

/// Reports the accesses to a `struct msghdr` and to what it points to.
unsafe fn tell_message(message: *const c_void, write: bool, site: Site) {
    const MESSAGE: usize = 56;
    memory::tell_operand("a message", message, MESSAGE, write, site);
    // SAFETY: the caller's message: name and its length, then parts and their number.
    unsafe {
        let words = message as *const usize;
        let name_length = *words.add(1) as u32 as usize;
        memory::tell_operand("a message", *words as *const c_void, name_length, write, site);
        memory::tell_operand("a message", *words.add(4) as *const c_void, *words.add(5), write, site);
        tell_parts(*words.add(2) as *const c_void, *words.add(3), write, site);
    }
}

hook! {
    fn read(fd: c_int, buffer: *mut c_void, length: usize; site) -> isize {
        if !readable("read", fd, site) {
            return fail_with(sys::EAGAIN) as isize;
        }
        memory::tell_bytes(buffer, length, true, site);
        real!(read: fn(c_int, *mut c_void, usize) -> isize)(fd, buffer, length)
    }
    fn readv(fd: c_int, vector: *const c_void, count: c_int; site) -> isize {
        if !readable("readv", fd, site) {
            return fail_with(sys::EAGAIN) as isize;
        }
        tell_parts(vector, count.max(0) as usize, true, site);
        real!(readv: fn(c_int, *const c_void, c_int) -> isize)(fd, vector, count)
    }
    fn recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int; site) -> isize {
        if flags & DONT_WAIT != 0 {
            reads_stream(site);
        } else if !readable("recv", fd, site) {
            return fail_with(sys::EAGAIN) as isize;
        }
        memory::tell_bytes(buffer, length, true, site);
        real!(recv: fn(c_int, *mut c_void, usize, c_int) -> isize)(fd, buffer, length, flags)
    }
    fn recvmsg(fd: c_int, message: *mut c_void, flags: c_int; site) -> isize {
        if !readable("recvmsg", fd, site) {
            return fail_with(sys::EAGAIN) as isize;
        }
        tell_message(message, true, site);
        real!(recvmsg: fn(c_int, *mut c_void, c_int) -> isize)(fd, message, flags)
    }
    fn write(fd: c_int, bytes: *const c_void, length: usize; site) -> isize {
        let write = real!(write: fn(c_int, *const c_void, usize) -> isize);
        memory::tell_bytes(bytes, length, false, site);
        if waits_for_room(fd) {
            return descriptors::write_all(fd, length, site, |done| {
                descriptors::without_blocking(fd, || write(fd, bytes.add(done), length - done))
            });
        }
        writes(fd, site);
        write(fd, bytes, length)
    }
    fn pwrite(fd: c_int, bytes: *const c_void, length: usize, offset: i64; site) -> isize {
        shared::files(site);
        memory::tell_bytes(bytes, length, false, site);
        real!(pwrite: fn(c_int, *const c_void, usize, i64) -> isize)(fd, bytes, length, offset)
    }
    fn pwrite64(fd: c_int, bytes: *const c_void, length: usize, offset: i64; site) -> isize {
        shared::files(site);
        memory::tell_bytes(bytes, length, false, site);
        real!(pwrite64: fn(c_int, *const c_void, usize, i64) -> isize)(fd, bytes, length, offset)
    }
    fn pread(fd: c_int, buffer: *mut c_void, length: usize, offset: i64; site) -> isize {
        shared::files(site);
        memory::tell_bytes(buffer, length, true, site);
        real!(pread: fn(c_int, *mut c_void, usize, i64) -> isize)(fd, buffer, length, offset)
    }
    fn pread64(fd: c_int, buffer: *mut c_void, length: usize, offset: i64; site) -> isize {
        shared::files(site);
        memory::tell_bytes(buffer, length, true, site);
        real!(pread64: fn(c_int, *mut c_void, usize, i64) -> isize)(fd, buffer, length, offset)
    }
    fn send(fd: c_int, bytes: *const c_void, length: usize, flags: c_int; site) -> isize {
        send_bytes(fd, bytes, length, flags, site)
    }
    fn sendmsg(fd: c_int, message: *const c_void, flags: c_int; site) -> isize {
        writes(fd, site);
        tell_message(message, false, site);
        real!(sendmsg: fn(c_int, *const c_void, c_int) -> isize)(fd, message, flags)
    }
    fn eventfd_read(fd: c_int, value: *mut u64; site) -> c_int {
        let _: bool = readable("eventfd_read", fd, site);
        memory::tell_bytes(value as *const c_void, 8, true, site);
        real!(eventfd_read: fn(c_int, *mut u64) -> c_int)(fd, value)
    }
    fn eventfd_write(fd: c_int, value: u64; site) -> c_int {
        let write = real!(eventfd_write: fn(c_int, u64) -> c_int);
        if waits_for_room(fd) {
            let all = size_of::<u64>() as isize;
            let attempt = || if write(fd, value) == 0 { all } else { -1 };
            let written = descriptors::write_all(fd, size_of::<u64>(), site, |_| {
                descriptors::without_blocking(fd, attempt)
            });
            return if written == all { 0 } else { -1 };
        }
        writes(fd, site);
        write(fd, value)
    }
    fn close(fd: c_int; site) -> c_int {
        // A thread that waits at the other end sees it.
        writes(fd, site);
        descriptors::closed(fd);
        real!(close: fn(c_int) -> c_int)(fd)
    }
    fn poll(polls: *mut c_void, count: u64, milliseconds: c_int; site) -> c_int {
        poll_copy("poll", polls, count, milliseconds.into(), site)
    }
    fn ppoll(polls: *mut c_void, count: u64, limit: *const sys::Timespec, mask: *const c_void; site) -> c_int {
        memory::tell_operand("ppoll", limit as *const c_void, size_of::<sys::Timespec>(), false, site);
        memory::tell_operand("ppoll", mask, size_of::<u64>(), false, site);
        let milliseconds = limit.as_ref().map_or(-1, |t| t.seconds.saturating_mul(1000).saturating_add(t.nanoseconds.saturating_add(999_999) / 1_000_000));
        poll_copy("ppoll", polls, count, milliseconds, site)
    }
    fn epoll_wait(fd: c_int, events: *mut c_void, count: c_int, milliseconds: c_int; site) -> c_int {
        let epoll = real!(epoll_wait: fn(c_int, *mut c_void, c_int, c_int) -> c_int);
        if descriptors::is_inside(fd) {
            return epoll_inside(fd, events, count, milliseconds, site);
        }
        memory::tell_operand("epoll_wait", events, count.max(0) as usize * EVENT, true, site);
        wait("epoll_wait", milliseconds.into(), site, || epoll(fd, events, count, 0))
    }
    fn pause(; site) -> c_int { any_signal("pause", site) }
    fn sigsuspend(mask: *const c_void; site) -> c_int {
        const SET: c_int = 2;
        memory::tell_operand("sigsuspend", mask, size_of::<u64>(), false, site);
        signals::arrive();
        let change = real!(pthread_sigmask: fn(c_int, *const c_void, *mut c_void) -> c_int);
        let mut old = [0u64; 16];
        change(SET, mask, old.as_mut_ptr() as *mut c_void);
        let answer = any_signal("sigsuspend", site);
        change(SET, old.as_ptr() as *const c_void, core::ptr::null_mut());
        answer
    }
    fn sigwait(set: *const c_void, signal: *mut c_int; site) -> c_int {
        memory::tell_operand("sigwait", set, size_of::<u64>(), false, site);
        let taken = take_signal("sigwait", set, core::ptr::null_mut(), site);
        memory::put(signal, taken, site);
        0
    }
    fn sigwaitinfo(set: *const c_void, info: *mut c_void; site) -> c_int {
        const INFO: usize = 128;
        memory::tell_operand("sigwaitinfo", set, size_of::<u64>(), false, site);
        memory::tell_operand("sigwaitinfo", info, INFO, true, site);
        take_signal("sigwaitinfo", set, info, site)
    }
    fn wait(_status: *mut c_int; site) -> c_int { fail_with(sys::ECHILD) }
    fn waitpid(_pid: c_int, _status: *mut c_int, _options: c_int; site) -> c_int { fail_with(sys::ECHILD) }
    fn setitimer(_which: c_int, _new: *const c_void, _old: *mut c_void; site) -> c_int {
        timers::expect("setitimer");
        0
    }
}

/// `select` takes five arguments, too many for a stub that adds two: it has no site.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut c_void,
    write: *mut c_void,
    except: *mut c_void,
    limit: *mut sys::Timeval,
) -> c_int {
    const SET: usize = 128;
    let select = real!(select: fn(c_int, *mut c_void, *mut c_void, *mut c_void, *mut sys::Timeval) -> c_int);
    if !control::active() {
        // SAFETY: the caller's arguments.
        return unsafe { select(count, read, write, except, limit) };
    }
    if count > 8 * SET as c_int {
        control::uncontrolled("select on more than 1024 descriptors");
    }
    let count = count.min(8 * SET as c_int);
    let sets = [read, write, except];
    let bytes = (count.max(0) as usize).div_ceil(64) * 8;
    let site = Site::default();
    for set in sets {
        memory::tell_operand("select", set, bytes, false, site);
    }
    memory::tell_operand("select", limit as *const c_void, size_of::<sys::Timeval>(), false, site);
    let mut saved = [[0u8; SET]; 3];
    // SAFETY: the caller's sets, of which this many bytes are used. `select` overwrites its sets,
    // so it gets copies.
    unsafe {
        for (set, copy) in sets.iter().zip(&mut saved) {
            if !set.is_null() {
                core::ptr::copy_nonoverlapping(*set as *const u8, copy.as_mut_ptr(), bytes);
            }
        }
        let milliseconds = limit.as_ref().map_or(-1, |t| {
            t.seconds.saturating_mul(1000).saturating_add(t.microseconds.saturating_add(999) / 1000)
        });
        let watched = |fd: c_int| saved.iter().any(|set| set[fd as usize / 8] >> (fd % 8) & 1 == 1);
        let inside = (0..count).all(|fd| !watched(fd) || descriptors::is_inside(fd));
        let found = Cell::new(saved);
        let look = || {
            let mut copies = saved;
            let at = |set: usize, copies: &mut [[u8; SET]; 3]| {
                if sets[set].is_null() {
                    core::ptr::null_mut()
                } else {
                    copies[set].as_mut_ptr() as *mut c_void
                }
            };
            let (read, write, except) = (at(0, &mut copies), at(1, &mut copies), at(2, &mut copies));
            let mut zero = sys::Timeval { seconds: 0, microseconds: 0 };
            let answer = select(count, read, write, except, &mut zero);
            found.set(copies);
            answer
        };
        let timed = (0..count).any(|fd| watched(fd) && timers::is_timed(fd));
        let answer = if inside {
            wait_inside(milliseconds, timed, site, look)
        } else {
            wait("select", milliseconds, site, look)
        };
        if answer >= 0 {
            for (set, copy) in sets.iter().zip(&found.get()) {
                memory::tell_operand("select", *set, bytes, true, site);
                if !set.is_null() {
                    core::ptr::copy_nonoverlapping(copy.as_ptr(), *set as *mut u8, bytes);
                }
            }
        }
        answer
    }
}

/// Like `select`, it has no site. A signal does not end the wait.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn epoll_pwait(
    fd: c_int,
    events: *mut c_void,
    count: c_int,
    milliseconds: c_int,
    mask: *const c_void,
) -> c_int {
    let epoll = real!(epoll_pwait: fn(c_int, *mut c_void, c_int, c_int, *const c_void) -> c_int);
    // SAFETY: the caller's arguments.
    unsafe {
        if !control::active() {
            return epoll(fd, events, count, milliseconds, mask);
        }
        if !mask.is_null() {
            control::uncontrolled("epoll_pwait with a mask of signals");
        }
        let site = Site::default();
        if descriptors::is_inside(fd) {
            return epoll_inside(fd, events, count, milliseconds, site);
        }
        memory::tell_operand("epoll_pwait", events, count.max(0) as usize * EVENT, true, site);
        wait("epoll_pwait", milliseconds.into(), site, || epoll(fd, events, count, 0, mask))
    }
}
