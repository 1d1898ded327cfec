//! How a check is carried out.

use std::time::Duration;

use turnpike_runtime::{GuestOptions, Panics};
use turnpike_scheduler::{Bounds, Memory, Timeouts};
use turnpike_session::Strategy;

/// How many executions a check makes at most, when nothing else is said.
const EXECUTIONS: u64 = 10_000;

/// How long it takes at most, when nothing else is said.
const TIME: Duration = Duration::from_secs(20);

/// How long an execution may do nothing visible, when nothing else is said.
const IDLE: Duration = Duration::from_secs(5);

/// A check that is to be carried out, setting by setting.
///
/// ```
/// use turnpike::sync::{Arc, Mutex};
///
/// turnpike::Config::new().strategy("pct").executions(200).check(|| {
///     let shared = Arc::new(Mutex::new(0));
///     let other = shared.clone();
///     let handle = turnpike::thread::spawn(move || *other.lock().unwrap() += 1);
///     *shared.lock().unwrap() += 1;
///     handle.join().unwrap();
///     assert_eq!(*shared.lock().unwrap(), 2);
/// });
/// ```
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until it is carried out by `check` or `run`"]
pub struct Config {
    pub(crate) strategy: String,
    pub(crate) chosen: Option<Strategy>,
    pub(crate) objective: String,
    pub(crate) executions: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) steps: u32,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) timeouts: Timeouts,
    pub(crate) spurious: u32,
    pub(crate) memory: Memory,
    pub(crate) bounds: Bounds,
    pub(crate) replay: Option<String>,
    pub(crate) idle: Duration,
    pub(crate) guest: GuestOptions,
    /// Path of the test, if it is known.
    pub(crate) test: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            strategy: "auto".to_owned(),
            chosen: None,
            objective: "any-error".to_owned(),
            executions: EXECUTIONS,
            time: Some(TIME),
            steps: turnpike_program::DEFAULT_MAX_STEPS,
            seed: 0,
            threads: 1,
            timeouts: Timeouts::default(),
            spurious: 0,
            memory: Memory::default(),
            bounds: Bounds::default(),
            replay: None,
            idle: IDLE,
            guest: GuestOptions::default(),
            test: None,
        }
    }
}

impl Config {
    /// The default: the strategy `auto`, at most 10,000 executions and 20 seconds.
    pub fn new() -> Self {
        Config::default()
    }

    /// The strategy by its name: `auto`, `random`, `pct`, `pos`, `weighted`, `exhaustive`, `genetic`, `mutation`, `highway`,
    /// `drs`, `rdfs`, `dfs`, `bfs`. The environment variable `TURNPIKE_STRATEGY` overrides it.
    pub fn strategy(mut self, name: impl Into<String>) -> Self {
        self.strategy = name.into();
        self.chosen = None;
        self
    }

    /// The strategy with its parameters.
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.chosen = Some(strategy);
        self
    }

    /// What to look for, in the words of the command line: `any-error` (the default), `deadlock`, `assertion`, …
    pub fn find(mut self, objective: impl Into<String>) -> Self {
        self.objective = objective.into();
        self
    }

    /// The number of executions, at most. `TURNPIKE_EXECUTIONS` overrides it.
    pub fn executions(mut self, executions: u64) -> Self {
        self.executions = executions;
        self
    }

    /// The same as [`executions`](Self::executions).
    pub fn max_executions(self, executions: u64) -> Self {
        self.executions(executions)
    }

    /// The time the search takes at most; zero = as long as it takes.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = (!time.is_zero()).then_some(time);
        self
    }

    /// The same in seconds, for `#[turnpike::test(seconds = 60)]`.
    pub fn seconds(self, seconds: u64) -> Self {
        self.time(Duration::from_secs(seconds))
    }

    /// The time without a visible operation after which an execution counts as blocked outside
    /// control, and the check fails: 5 seconds by default; zero = never. Not counted under a
    /// debugger.
    pub fn guest_timeout(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Steps after which an execution is cut. A check in which that happened proves nothing about what comes later.
    pub fn steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// The same as [`steps`](Self::steps).
    pub fn max_steps(self, steps: u32) -> Self {
        self.steps(steps)
    }

    /// The seed: the same seed gives the same result. `TURNPIKE_SEED` overrides it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// OS threads that search at once, each executing the program on its own; the result is the same. Not for programs
    /// with `static`s.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// When operations with a time limit give up: by default when nothing else can happen.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How many spurious wake-ups of condition variables an execution may have: 0 by default.
    pub fn spurious(mut self, wakeups: u32) -> Self {
        self.spurious = wakeups;
        self
    }

    /// What atomic operations may see: by default the last value that was written, whatever ordering
    /// the program asks for. [`Memory::Rc11`] is what Rust allows, [`Memory::Tso`] what x86 does.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Tries only schedules that leave a thread which could go on at most this many times. Such a
    /// check is never complete beyond the bound.
    pub fn preemptions(mut self, most: u32) -> Self {
        self.bounds.preemptions = Some(most);
        self
    }

    /// Tries only schedules that pass over a thread at most this many times, in the round of those that
    /// can go on. Such a check is never complete beyond the bound.
    pub fn delays(mut self, most: u32) -> Self {
        self.bounds.delays = Some(most);
        self
    }

    /// Bytes of stack for each thread.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.guest.stack_size = bytes;
        self
    }

    /// What a panic in a thread means: by default, that the program is wrong.
    pub fn panics(mut self, panics: Panics) -> Self {
        self.guest.panics = panics;
        self
    }

    /// Whether the end of the main function ends the other threads. By default an execution lasts until all threads end.
    pub fn exit_with_main(mut self, exit: bool) -> Self {
        self.guest.exit_with_main = exit;
        self
    }

    /// The check is that of a test with this name. For `#[turnpike::test]`.
    #[doc(hidden)]
    pub fn named(mut self, module: &str, name: &str) -> Self {
        // The harness calls tests by their path inside the crate.
        let inside = module.split_once("::").map_or(String::new(), |(_, path)| format!("{path}::"));
        self.test = Some(format!("{inside}{name}"));
        self
    }

    /// Executes one schedule, the text that a failing check printed or a file with it, instead of searching. The
    /// environment variable `TURNPIKE_REPLAY` does the same.
    pub fn replay(mut self, schedule: impl Into<String>) -> Self {
        self.replay = Some(schedule.into());
        self
    }
}
