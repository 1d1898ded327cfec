//! C and C++ programs: native executables, unmodified, under the library of `turnpike-preload`.
//!
//! The program is started once and becomes a fork server before its `main`; executions take place
//! in forks of it, see [`Isolation`]. Host and guest share memory: the plan goes in, the record
//! comes out, and one byte goes over a pipe each way. The host watches a counter in that memory,
//! and ends executions that make no visible operation for too long.
//!
//! **Failures.** A failed `assert` or `tp_assert` is an assertion; a fatal signal, an abort and an
//! exit status other than 0 are crashes (VeriSoft, too, counts a process that leaves with an error
//! as one). What cannot be controlled at all (another process is started, a named semaphore is
//! opened) is an error, not an execution.

mod check;
mod executor;
mod headers;
mod hidden;
mod launch;
mod library;
mod names;
mod opaque;
mod prefixes;
mod racy;
mod runtime;
mod symbols;
mod system;
mod types;
mod unwind;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use turnpike_model::Diagnostic;
use turnpike_scheduler::{Execution, Executor, GuestError, MayAccess, Plan, Policy};

pub use executor::{Held, NativeExecutor};
pub use racy::RacySites;
pub(crate) use symbols::Symbols;

/// How threads of the program are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Fibers where the processor allows it.
    #[default]
    Auto,
    /// Fibers: switched in user space.
    Fibers,
    /// Threads of the operating system, of which one runs at a time.
    System,
}

/// How executions are isolated from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// One process for many executions, whose memory is restored after each, as long as they change
    /// nothing else; otherwise like [`Isolation::Fork`].
    #[default]
    Reset,
    /// A process for each execution.
    Fork,
}

/// How to handle the steps that an execution shares with the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefixes {
    /// Executions go on from copies of processes where that is faster.
    #[default]
    Auto,
    /// The steps are executed again.
    Repeat,
    /// Executions go on from copies of processes wherever that is possible.
    Copy,
}

/// What an execution may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory beyond what the program has at its start; 0 = any number.
    pub memory: u64,
    /// Processor seconds of one execution; 0 = any number.
    pub seconds: u64,
    /// The most threads that live at the same time.
    pub threads: u32,
    /// Time without a visible operation after which an execution has hung.
    pub hang: Duration,
    /// Bytes of a thread's stack; 0 = as many as the program's threads have by default.
    pub stack: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { memory: 1 << 30, seconds: 0, threads: 1024, hang: Duration::from_secs(1), stack: 0 }
    }
}

/// Which plain memory accesses are steps, in code compiled with `-fsanitize=thread`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// None.
    Sync,
    /// Those at code locations that were found to race.
    #[default]
    Racy,
    /// All to memory that several threads use.
    All,
}

/// A native executable with its arguments and settings.
#[derive(Clone, Debug)]
pub struct NativeProgram {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Variables that are added to the host's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What an execution may use.
    pub limits: Limits,
    /// How its threads are run.
    pub threads: Threads,
    /// How its executions are isolated from each other.
    pub isolation: Isolation,
    /// How to handle the steps that executions share.
    pub prefixes: Prefixes,
    /// Which plain accesses are steps.
    pub visibility: Visibility,
    /// Whether executions return what they print.
    pub output: bool,
    /// The function during whose calls threads are scheduled: where it begins and ends in the file.
    pub around: Option<[u64; 2]>,
    /// Code locations that were found to race, for all executors of this program.
    pub racy: RacySites,
}

impl NativeProgram {
    /// An executable without arguments, with default settings.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        NativeProgram {
            path: path.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            limits: Limits::default(),
            threads: Threads::default(),
            isolation: Isolation::default(),
            prefixes: Prefixes::default(),
            visibility: Visibility::default(),
            output: false,
            around: None,
            racy: RacySites::default(),
        }
    }

    /// Whether the program can be put under control; the error says why not.
    pub fn check(&self) -> Result<(), GuestError> {
        check::program(&self.path).map(|_| ())
    }

    /// Where a function of the program is, for [`NativeProgram::around`].
    pub fn find_function(&self, name: &str) -> Result<[u64; 2], Diagnostic> {
        let path = self.path.display();
        let bytes = check::read(&self.path).map_err(|error| Diagnostic::error(error.to_string()))?;
        match headers::functions(&bytes, name).as_deref() {
            Ok([function]) => Ok(*function),
            Ok(several) => {
                let message = format!("{path} has {} functions called `{name}`", several.len());
                Err(Diagnostic::error(message)
                    .help("mark the part by tp_begin() and tp_end(), and ask for `marks`"))
            }
            Err(others) => {
                let message = format!("{path} has no function called `{name}`");
                let known = others.iter().map(String::as_str);
                Err(Diagnostic::error(message)
                    .suggest(name, known)
                    .help("a function that is always inlined is not there: declare it noinline"))
            }
        }
    }

    /// Hash of the executable and its arguments, which a schedule belongs to.
    pub fn hash(&self) -> Result<u64, GuestError> {
        let mut bytes = check::read(&self.path)?;
        for argument in &self.arguments {
            bytes.push(0);
            bytes.extend_from_slice(argument.as_encoded_bytes());
        }
        Ok(xxhash_rust::xxh3::xxh3_64(&bytes))
    }

    /// What its threads declare that they may touch, by `tp_may_access`, in a few executions;
    /// `None` if nothing. The author asserts it, so it counts as proved.
    pub fn declared_accesses(&self) -> Result<Option<MayAccess>, GuestError> {
        let mut executor = self.launch()?;
        let mut out = Execution::default();
        for seed in 0..DECLARING {
            executor.run(&Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) }, &mut out)?;
        }
        let entries = executor.declared();
        Ok((!entries.is_empty()).then_some(MayAccess { entries, proved: true }))
    }

    /// How to start a debugger that can look at executions of the program: see
    /// [`NativeExecutor::hold`].
    pub fn debugger(&self, name: &str) -> std::io::Result<std::process::Command> {
        launch::debugger(name, &self.path)
    }

    /// Starts the program, up to its first instruction. The first time, if it reports its memory
    /// accesses, trial executions find those that race.
    pub fn launch(&self) -> Result<NativeExecutor, GuestError> {
        check::program(&self.path)?;
        let mut executor = NativeExecutor::new(self)?;
        if executor.instrumented() && self.visibility != Visibility::Sync {
            racy::find(self, &mut executor)?;
        }
        Ok(executor)
    }
}

/// Executions in which threads can declare what they may touch.
const DECLARING: u64 = 8;

fn error(message: impl Into<String>) -> GuestError {
    GuestError::new(message)
}
