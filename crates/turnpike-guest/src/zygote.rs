//! The fork server: a process in which the program is loaded and has not begun. For each request it
//! forks a child, which returns from the constructor and runs the program once under control.
//!
//! When threads are parked, it forks by the raw system call: all their stacks and thread-local
//! storage are copied, and the C library still believes that they exist. Without parked threads, it
//! forks by the C library's own function.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use crate::control::{self, Start, Thread};
use crate::hook::real;
use crate::protocol::{self, Header, THREADS_FIBERS, THREADS_SYSTEM};
use crate::sys::{self, Rlimit};
use crate::{fiber, modules, record, signals};

unsafe extern "C" {
    static __libc_stack_end: *mut u8;
    fn malloc(size: usize) -> *mut u8;
    fn free(block: *mut u8);
}

/// Serves until the host is gone; returns in each child, under control.
pub(crate) fn serve() {
    let header = control::header();
    let fibers = match header.threads_wanted {
        THREADS_SYSTEM => false,
        THREADS_FIBERS => true,
        _ => fiber::possible(),
    };
    control::FIBERS.store(fibers, Ordering::Relaxed);
    header.threads.store(if fibers { THREADS_FIBERS } else { THREADS_SYSTEM }, Ordering::Relaxed);
    // The heap reserves its addresses now, before memory is limited.
    // SAFETY: a block and its end.
    unsafe { free(core::hint::black_box(malloc(1))) };
    crate::cxx::prepare();
    signals::alternate_stack();
    signals::install();
    // Only if needed: while the counter faults, the system switches between processes more slowly.
    #[cfg(target_arch = "x86_64")]
    if modules::read_counter() {
        crate::tsc::trap();
    }
    if fibers && !fiber::park_until(header.pool as usize, header.stack as usize) {
        sys::exit_group(125);
    }
    record::prepare();
    #[cfg(target_arch = "x86_64")]
    crate::copies::prepare();
    #[cfg(target_arch = "x86_64")]
    let watched = crate::raw::watch();
    // Serving a system call from its instruction is not supported on this processor.
    #[cfg(target_arch = "aarch64")]
    let watched = false;
    if !watched {
        modules::tell_callers();
    }
    let mut reuse = Reuse { wanted: fibers && header.reuse != 0 && open_vault(), failures: 0 };
    limit_memory(header);
    sys::write(protocol::FD_ANSWER, b"R");
    loop {
        if !await_request() {
            sys::exit_group(0);
        }
        match execute(header, &mut reuse) {
            Executed::Child => return,
            Executed::Answer => {
                sys::write(protocol::FD_ANSWER, b"D");
            }
            Executed::Idle => {}
        }
    }
}

/// Waits for a request; false if the host is gone.
pub(crate) fn await_request() -> bool {
    const INTERRUPTED: isize = -4;
    let mut byte = [0u8];
    loop {
        match sys::read(protocol::FD_REQUEST, &mut byte) {
            1 => return true,
            INTERRUPTED => {}
            _ => return false,
        }
    }
}

/// Whether one process is used for many executions, and how well that works.
struct Reuse {
    wanted: bool,
    /// Processes in a row that could not be reused.
    failures: u32,
}

/// Processes in a row that could not be reused, after which there is one for each execution.
const MOST_FAILURES: u32 = 4;

impl Reuse {
    /// Notes that a process ended that was meant to be reused.
    fn note_end(&mut self) {
        let executions = executions_of_process();
        self.failures = if executions > 1 { 0 } else { self.failures + 1 };
        self.wanted = self.failures < MOST_FAILURES;
    }
}

#[cfg(target_arch = "x86_64")]
fn open_vault() -> bool {
    crate::image::open()
}

#[cfg(target_arch = "x86_64")]
fn executions_of_process() -> u32 {
    crate::image::flags().map_or(0, |flags| flags.executions.load(Ordering::Relaxed))
}

/// Interrupting system calls is not supported on this processor.
#[cfg(target_arch = "aarch64")]
fn open_vault() -> bool {
    false
}

#[cfg(target_arch = "aarch64")]
fn executions_of_process() -> u32 {
    0
}

/// Clears what the shared memory says of an execution.
pub(crate) fn clear(header: &Header) {
    header.end.store(protocol::END_NONE, Ordering::Relaxed);
    header.text_length.store(0, Ordering::Relaxed);
    header.thread.store(0, Ordering::Relaxed);
    header.site.store(0, Ordering::Relaxed);
}

/// The result of a request.
enum Executed {
    /// This is the child, in which the program begins.
    Child,
    /// The child is gone, and the host waits.
    Answer,
    /// The child is gone, after it answered.
    Idle,
}

/// Runs the program once, or as often as one child can.
fn execute(header: &Header, reuse: &mut Reuse) -> Executed {
    loop {
        clear(header);
        header.kept.store(0, Ordering::Relaxed);
        header.serving.store(1, Ordering::Release);
        let many = reuse.wanted && may_reuse(header);
        let own = sys::syscall(sys::number::GETPID, 0, 0, 0, 0, 0, 0);
        let pid = if control::FIBERS.load(Ordering::Relaxed) {
            sys::fork() as i32
        } else {
            // SAFETY: there is one thread, so the C library can fork as usual.
            unsafe { real!(fork: fn() -> c_int)() }
        };
        if pid == 0 {
            die_with(own);
            prepare_child(header, many);
            begin();
            return Executed::Child;
        }
        if pid < 0 {
            header.status.store(-1, Ordering::Relaxed);
            return Executed::Answer;
        }
        attend(header, pid);
        header.kept.store(0, Ordering::Relaxed);
        let end = header.end.load(Ordering::Acquire);
        if many {
            if end != protocol::END_PASSED_ON {
                reuse.note_end();
            }
            if header.serving.load(Ordering::Acquire) == 0 {
                return Executed::Idle;
            }
        }
        match end {
            protocol::END_PASSED_ON => continue,
            protocol::END_MORE_THREADS => {}
            _ => return Executed::Answer,
        }
        let parked = fiber::parked();
        let wanted = (parked * 2).max(8).min(header.pool_limit as usize);
        lift_memory();
        let grown = wanted > parked && fiber::park_until(wanted, header.stack as usize);
        limit_memory(header);
        if !grown {
            return Executed::Answer;
        }
    }
}

/// Whether the process that executes what the host asks for may be reused.
pub(crate) fn may_reuse(header: &Header) -> bool {
    header.fresh == 0 && header.hold == 0 && header.copies == 0
}

/// Waits for a child that executes the program, and stores how it ended.
pub(crate) fn attend(header: &Header, pid: i32) {
    header.children.store(header.children.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    header.child.store(pid, Ordering::Release);
    let (status, spent) = sys::wait_for(pid);
    header.child.store(0, Ordering::Release);
    header.status.store(status, Ordering::Relaxed);
    header.cost.store(spent, Ordering::Relaxed);
}

/// In a new child: ends when its parent does.
pub(crate) fn die_with(parent: isize) {
    const DEATH_SIGNAL: usize = 1;
    const KILL: usize = 9;
    sys::syscall(sys::number::PRCTL, DEATH_SIGNAL, KILL, 0, 0, 0, 0);
    // The parent may be gone already.
    if sys::syscall(sys::number::GETPPID, 0, 0, 0, 0, 0, 0) != parent {
        sys::exit_group(0);
    }
}

/// In the child, before the program begins: returns once, or for each execution if there are
/// `many`.
fn prepare_child(header: &Header, many: bool) {
    // Every execution reads its input from the beginning.
    sys::syscall(sys::number::LSEEK, 0, 0, 0, 0, 0, 0);
    limit_time(header);
    #[cfg(target_arch = "x86_64")]
    if many && crate::reuse::begin() {
        return;
    }
    #[cfg(target_arch = "aarch64")]
    let _ = many;
    if header.copies != 0 {
        return;
    }
    for fd in [protocol::FD_REQUEST, protocol::FD_ANSWER, protocol::FD_PAGES] {
        sys::close(fd);
    }
}

/// Processor time of this process, in nanoseconds.
pub(crate) fn processor_time() -> u64 {
    const PROCESS_TIME: usize = 2;
    let mut used = sys::Timespec { seconds: 0, nanoseconds: 0 };
    sys::syscall(sys::number::CLOCK_GETTIME, PROCESS_TIME, &raw mut used as usize, 0, 0, 0, 0);
    used.seconds as u64 * 1_000_000_000 + used.nanoseconds as u64
}

/// Gives the next execution its processor time.
pub(crate) fn limit_time(header: &Header) {
    const CPU: usize = 0;
    if header.seconds != 0 {
        limit(CPU, header.seconds + processor_time() / 1_000_000_000);
    }
}

/// In the child: starts control.
fn begin() {
    // SAFETY: the loader's variable.
    let high = unsafe { __libc_stack_end } as usize;
    let start = Start { function: 0, argument: 0, int: false };
    let mut main = Thread::new(crate::threads::real_self(), 0x9e37_79b9_7f4a_7c15, start);
    main.high = high;
    main.fiber.base = fiber::base();
    control::threads(|threads| threads.push(main));
    control::ALIVE.store(1, Ordering::Relaxed);
    record::begin();
    control::activate();
}

fn limit(resource: usize, soft: u64) {
    let mut old = Rlimit { soft: 0, hard: 0 };
    sys::syscall(sys::number::PRLIMIT64, 0, resource, 0, &raw mut old as usize, 0, 0);
    let new = Rlimit { soft: soft.min(old.hard), hard: old.hard };
    sys::syscall(sys::number::PRLIMIT64, 0, resource, &raw const new as usize, 0, 0, 0);
}

const ADDRESS_SPACE: usize = 9;
/// Bytes of a thread's stack, with its guard, as most systems have it.
const STACK: u64 = (8 << 20) + 4096;

/// Limits the memory that children may map beyond what the program has now.
fn limit_memory(header: &Header) {
    if header.memory == 0 {
        return;
    }
    let mut text = [0u8; 64];
    const AT_CWD: isize = -100;
    let fd =
        sys::syscall(sys::number::OPENAT, AT_CWD as usize, c"/proc/self/statm".as_ptr() as usize, 0, 0, 0, 0);
    if fd < 0 {
        return;
    }
    let length = sys::read(fd as i32, &mut text).max(0) as usize;
    sys::close(fd as i32);
    let pages = text[..length]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .fold(0u64, |n, b| n * 10 + u64::from(b - b'0'));
    // Stacks of threads of the system do not count.
    let stacks =
        if control::FIBERS.load(Ordering::Relaxed) { 0 } else { u64::from(header.pool_limit) * STACK };
    limit(ADDRESS_SPACE, pages.saturating_mul(4096).saturating_add(header.memory).saturating_add(stacks));
}

/// Allows the process to map `bytes` bytes more than before.
pub(crate) fn allow(bytes: u64) {
    let mut old = Rlimit { soft: 0, hard: 0 };
    sys::syscall(sys::number::PRLIMIT64, 0, ADDRESS_SPACE, 0, &raw mut old as usize, 0, 0);
    if old.soft != u64::MAX {
        limit(ADDRESS_SPACE, old.soft.saturating_add(bytes));
    }
}

fn lift_memory() {
    limit(ADDRESS_SPACE, u64::MAX);
}
