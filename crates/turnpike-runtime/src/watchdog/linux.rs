//! What Linux reports about a thread, and what the thread reports itself in a signal handler.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Blocked;
use crate::context;
use crate::runtime::Runtime;
use crate::stack::{DEEPEST, walk};

/// A signal that is ignored by default.
const SIGNAL: i32 = libc::SIGURG;

/// How long a thread may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes of an answer for the thread's name.
const NAME: usize = 128;
/// The most steps of the schedule in an answer.
const STEPS: usize = 16 << 10;

/// What a thread is doing.
pub(super) struct State {
    /// Whether it waits in a system call.
    pub(super) sleeps: bool,
    /// Processor time used.
    pub(super) used: Duration,
}

pub(super) fn current_thread() -> u64 {
    thread_local! {
        static ID: u64 = {
            // SAFETY: it has no arguments.
            let id = unsafe { libc::gettid() };
            u64::try_from(id).unwrap_or(0)
        };
    }
    ID.with(|id| *id)
}

pub(super) fn state(thread: u64) -> Option<State> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let sleeps = words.next()? != "R";
    let ticks = words.nth(10)?.parse::<u64>().ok()? + words.next()?.parse::<u64>().ok()?;
    // SAFETY: takes a number.
    let second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).unwrap_or(100).max(1);
    Some(State { sleeps, used: Duration::from_millis(ticks * 1000 / second) })
}

/// Whether a debugger has stopped or may stop the process.
pub(super) fn is_traced() -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = text.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// What a thread reports about itself: the only data that the handler writes.
struct Answer {
    state: AtomicU32,
    frames: AtomicUsize,
    stack: [AtomicUsize; DEEPEST],
    letters: AtomicUsize,
    name: [AtomicU8; NAME],
    /// Number of steps; if more than fit, they are not reported.
    steps: AtomicUsize,
    schedule: [AtomicU32; STEPS],
}

const ASKED: u32 = 1;
const ANSWERED: u32 = 2;

static ANSWER: Answer = Answer {
    state: AtomicU32::new(0),
    frames: AtomicUsize::new(0),
    stack: [const { AtomicUsize::new(0) }; DEEPEST],
    letters: AtomicUsize::new(0),
    name: [const { AtomicU8::new(0) }; NAME],
    steps: AtomicUsize::new(0),
    schedule: [const { AtomicU32::new(0) }; STEPS],
};

/// Only one thread is queried at a time.
static ASKING: Mutex<()> = Mutex::new(());

/// Queries a thread for its state.
pub(super) fn ask(thread: u64) -> Blocked {
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    ANSWER.state.store(ASKED, Ordering::Release);
    let answered = with_handler(|| {
        // SAFETY: the arguments are numbers. If the thread is gone, the call fails and no answer
        // comes.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread as libc::pid_t, SIGNAL) };
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if ANSWER.state.load(Ordering::Acquire) == ANSWERED {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    });
    let mut blocked =
        Blocked { thread: String::new(), stack: Vec::new(), schedule: None, waits: false, slow: false };
    if answered {
        let name: Vec<u8> = loaded(&ANSWER.name, &ANSWER.letters, AtomicU8::load);
        blocked.thread = String::from_utf8_lossy(&name).into_owned();
        let stack = loaded(&ANSWER.stack, &ANSWER.frames, AtomicUsize::load);
        blocked.stack = stack.into_iter().map(|address| address as u64).collect();
        blocked.schedule = (ANSWER.steps.load(Ordering::Relaxed) <= STEPS)
            .then(|| loaded(&ANSWER.schedule, &ANSWER.steps, AtomicU32::load));
    }
    blocked
}

/// The first `count` values.
fn loaded<T, U>(values: &[T], count: &AtomicUsize, load: fn(&T, Ordering) -> U) -> Vec<U> {
    let count = count.load(Ordering::Relaxed);
    values.iter().take(count).map(|value| load(value, Ordering::Relaxed)).collect()
}

/// Calls `f` while the signal handler is installed.
fn with_handler<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = answer as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
    // SAFETY: the handler allocates nothing, takes no lock and returns.
    let installed = unsafe { libc::sigaction(SIGNAL, &action, &mut before) } == 0;
    let result = f();
    if installed {
        // SAFETY: what was there before.
        unsafe { libc::sigaction(SIGNAL, &before, std::ptr::null_mut()) };
    }
    result
}

/// The handler: runs on the queried thread, interrupting whatever it was doing.
extern "C" fn answer(_signal: i32, _info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    if ANSWER.state.load(Ordering::Acquire) != ASKED {
        return;
    }
    // SAFETY: the thread's own variable, which the interrupted code may be about to read.
    let error = unsafe { *libc::__errno_location() };
    let mut frames = 0;
    let mut inside = false;
    let high = context::active().map_or(usize::MAX, Runtime::stack_end);
    walk(high, |address, interrupted| {
        inside |= interrupted;
        if inside {
            ANSWER.stack[frames].store(address, Ordering::Relaxed);
            frames += 1;
        }
        frames < DEEPEST
    });
    ANSWER.frames.store(frames, Ordering::Relaxed);
    ANSWER.letters.store(0, Ordering::Relaxed);
    ANSWER.steps.store(usize::MAX, Ordering::Relaxed);
    if let Some(runtime) = context::active() {
        let mut steps = 0;
        let described = runtime.describe_running(&mut Name, |step| {
            if let Some(place) = ANSWER.schedule.get(steps) {
                place.store(step, Ordering::Relaxed);
            }
            steps += 1;
        });
        if described {
            ANSWER.steps.store(steps, Ordering::Relaxed);
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
    ANSWER.state.store(ANSWERED, Ordering::Release);
}

/// Writes the name in the answer.
struct Name;

impl std::fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let start = ANSWER.letters.load(Ordering::Relaxed);
        for (place, byte) in ANSWER.name.iter().skip(start).zip(text.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        ANSWER.letters.store((start + text.len()).min(NAME), Ordering::Relaxed);
        Ok(())
    }
}
