//! Programs and the options for their execution.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use turnpike_model::{Diagnostic, hash};
#[cfg(target_os = "linux")]
pub use turnpike_program::native::Held;
use turnpike_program::native::{Isolation, Limits, NativeProgram, Prefixes, Threads, Visibility};
use turnpike_program::{
    DEFAULT_MAX_STEPS, Executable, LIBRARY, Launch, ProgramModel, ProgramOptions, check_signature,
};
use turnpike_scheduler::{
    Bounds, Execution, Executor, Frame, GuestError, MayAccess, Memory, Plan, Site, Timeouts,
};

use crate::choice::{Choice, choice, unusual};
use crate::options::{OptionRow, Section, Takes, option, parse, text_of};
use crate::problem::Problem;
use crate::values;

/// The number of executions recorded to learn accesses for persistent sets.
const RECORDED_EXECUTIONS: u64 = 200;

/// Used in place of a function for the part between `tp_begin` and `tp_end`.
const MARKS: &str = "marks";

/// Receives what a program prints.
pub type Output = fn(&str);

/// A program and the options for its execution. Absent options have defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramSource {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    #[serde(with = "values::words")]
    pub arguments: Vec<OsString>,
    /// The number of steps after which executions are cut.
    pub max_steps: Option<u32>,
    /// When operations with a time limit time out.
    pub timeouts: GiveUp,
    /// The number of spurious wake-ups of condition variables in an execution.
    pub spurious: Option<u32>,
    /// What atomic operations may see.
    pub memory: MemoryModel,
    /// How often an execution may preempt a thread.
    pub preemptions: Option<u32>,
    /// How many threads an execution may pass over.
    pub delays: Option<u32>,
    /// The function to schedule threads in, or `marks`.
    pub around: Option<String>,
    /// Signatures of errors to ignore.
    pub suppress: Vec<String>,
    /// Which memory accesses are steps.
    pub visible: Visible,
    /// The implementation of the program's threads.
    pub threads_as: Option<ThreadsAs>,
    /// How to keep executions from influencing each other.
    pub isolation: Apart,
    /// What becomes of the steps that executions of a systematic search share.
    pub prefixes: Shared,
    /// The memory limit of an execution, in bytes.
    pub guest_memory: Option<u64>,
    /// The time without a visible operation after which an execution counts as hung.
    #[serde(with = "values::time")]
    pub guest_timeout: Option<Duration>,
    /// How to prune redundant choices.
    pub reduction: Option<Reduction>,
    /// One in this many executions is repeated.
    pub check_every: Option<u64>,
}

choice! {
    /// When operations with a time limit give up.
    GiveUp = WhenStuck {
        /// Never
        Never = "never",
        /// When nothing else can happen
        WhenStuck = "when-stuck",
        /// At any time
        Always = "always",
    }
}

impl From<GiveUp> for Timeouts {
    fn from(choice: GiveUp) -> Self {
        match choice {
            GiveUp::Never => Timeouts::Never,
            GiveUp::WhenStuck => Timeouts::WhenStuck,
            GiveUp::Always => Timeouts::Always,
        }
    }
}

choice! {
    /// What atomic operations may see.
    MemoryModel = Sc {
        /// The last value that was written, whatever order the program asks for
        Sc = "sc",
        /// Stores wait in a buffer of their thread, as on x86
        Tso = "tso",
        /// What C, C++ and Rust allow, by the model RC11
        Rc11 = "rc11",
    }
}

impl From<MemoryModel> for Memory {
    fn from(choice: MemoryModel) -> Self {
        match choice {
            MemoryModel::Sc => Memory::Sc,
            MemoryModel::Tso => Memory::Tso,
            MemoryModel::Rc11 => Memory::Rc11,
        }
    }
}

choice! {
    /// Which memory accesses are steps.
    Visible = Racy {
        /// None: only synchronisation and atomics
        Sync = "sync",
        /// Those at code locations that race
        Racy = "racy",
        /// All accesses to shared memory
        All = "all",
    }
}

choice! {
    /// What the threads of a program become; fibers where the processor allows it when absent.
    ThreadsAs {
        /// Fibers in one system thread: fast
        Fibers = "fibers",
        /// System threads, one of which runs at a time: works everywhere
        System = "os",
    }
}

choice! {
    /// How executions are kept from influencing each other.
    Apart = Reset {
        /// Restore the memory of the process after each one, or fork where that is not enough
        Reset = "reset",
        /// A new process for each one: slower
        Fork = "fork",
    }
}

choice! {
    /// What happens with steps that an execution shares with the previous one.
    Shared = Auto {
        /// Continue from copies of processes where that is faster
        Auto = "auto",
        /// Execute them again
        Repeat = "repeat",
        /// Continue from copies of processes wherever that is possible
        Copy = "copy",
    }
}

choice! {
    /// Which choices are left out.
    Reduction {
        /// None
        None = "none",
        /// Sleep sets, for any strategy
        Sleep = "sleep",
        /// Persistent sets, for any strategy; from the program's declarations, or else from recorded executions, which do not prove anything
        Persistent = "persistent",
        /// Sleep and persistent sets
        Both = "both",
        /// Source-DPOR, for exhaustive
        SourceDpor = "source-dpor",
    }
}

impl Section for ProgramSource {
    const TITLE: &'static str = "Programs";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "max-steps",
            Takes::Small { least: 1 },
            "N",
            "Cut executions after this many steps [default: 20000]",
            |program| text_of(program.max_steps.as_ref()),
            |program, text| parse(text, values::positive).map(|steps| program.max_steps = Some(steps)),
        ),
        option(
            "timeouts",
            Takes::Word(GiveUp::WORDS),
            "WHEN",
            "When operations with a time limit time out [default: when-stuck]",
            |program| unusual(program.timeouts),
            |program, text| GiveUp::from_word(text).map(|when| program.timeouts = when),
        ),
        option(
            "spurious",
            Takes::Small { least: 0 },
            "N",
            "The number of spurious wake-ups of condition variables in an execution [default: 0]",
            |program| text_of(program.spurious.as_ref()),
            |program, text| parse(text, values::count).map(|number| program.spurious = Some(number)),
        ),
        option(
            "memory",
            Takes::Word(MemoryModel::WORDS),
            "MODEL",
            "What atomic operations may see [default: sc]",
            |program| unusual(program.memory),
            |program, text| MemoryModel::from_word(text).map(|model| program.memory = model),
        ),
        option(
            "preemptions",
            Takes::Small { least: 0 },
            "N",
            "Try only schedules with at most N switches away from a thread that could continue",
            |program| text_of(program.preemptions.as_ref()),
            |program, text| parse(text, values::count).map(|number| program.preemptions = Some(number)),
        ),
        option(
            "delays",
            Takes::Small { least: 0 },
            "N",
            "Try only schedules in which threads run in turn, and which skip a thread at most N times",
            |program| text_of(program.delays.as_ref()),
            |program, text| parse(text, values::count).map(|number| program.delays = Some(number)),
        ),
        option(
            "around",
            Takes::Text,
            "FUNCTION",
            "Schedule threads only while one of them is in this function, or with `marks` between tp_begin() \
             and tp_end(); otherwise each thread runs until it waits",
            |program| text_of(program.around.as_ref()),
            |program, text| {
                program.around = Some(text.to_owned());
                Ok(())
            },
        ),
        option(
            "suppress",
            Takes::Texts,
            "SIGNATURE",
            "Ignore errors with this signature, which reports print, such as \
             deadlock@bank.c:31+bank.c:44 (repeatable)",
            |program| program.suppress.clone(),
            |program, text| {
                check_signature(text)?;
                program.suppress.push(text.to_owned());
                Ok(())
            },
        ),
        option(
            "visible",
            Takes::Word(Visible::WORDS),
            "LEVEL",
            "Which memory accesses are steps, in programs compiled with -fsanitize=thread [default: racy]",
            |program| unusual(program.visible),
            |program, text| Visible::from_word(text).map(|visible| program.visible = visible),
        ),
        option(
            "threads-as",
            Takes::Word(ThreadsAs::WORDS),
            "KIND",
            "How to run the threads of the program [default: fibers if the processor allows it]",
            |program| program.threads_as.map(|kind| kind.word().to_owned()).into_iter().collect(),
            |program, text| ThreadsAs::from_word(text).map(|kind| program.threads_as = Some(kind)),
        ),
        option(
            "isolation",
            Takes::Word(Apart::WORDS),
            "HOW",
            "How to keep executions from influencing each other [default: reset]",
            |program| unusual(program.isolation),
            |program, text| Apart::from_word(text).map(|how| program.isolation = how),
        ),
        option(
            "prefixes",
            Takes::Word(Shared::WORDS),
            "HOW",
            "What to do with steps that executions of a systematic search share [default: auto]",
            |program| unusual(program.prefixes),
            |program, text| Shared::from_word(text).map(|how| program.prefixes = how),
        ),
        option(
            "guest-memory",
            Takes::Size,
            "SIZE",
            "The memory limit of an execution, such as 512M [default: 1G]",
            |program| text_of(program.guest_memory.as_ref()),
            |program, text| parse(text, values::size).map(|bytes| program.guest_memory = Some(bytes)),
        ),
        option(
            "guest-timeout",
            Takes::Time,
            "TIME",
            "The time without a visible operation after which an execution counts as hung [default: 1s]",
            |program| program.guest_timeout.map(values::write_duration).into_iter().collect(),
            |program, text| parse(text, values::duration).map(|time| program.guest_timeout = Some(time)),
        ),
        option(
            "reduction",
            Takes::Word(Reduction::WORDS),
            "HOW",
            "How to prune redundant choices \
             [default: source-dpor for exhaustive, none for others]",
            |program| program.reduction.map(|how| how.word().to_owned()).into_iter().collect(),
            |program, text| Reduction::from_word(text).map(|how| program.reduction = Some(how)),
        ),
        option(
            "check-every",
            Takes::Count,
            "N",
            "Repeat one in N executions to check that the program is deterministic; 0 = never \
             [default: 100]",
            |program| text_of(program.check_every.as_ref()),
            |program, text| parse(text, values::count).map(|number| program.check_every = Some(number)),
        ),
    ];
}

impl ProgramSource {
    /// Whether exhaustive search must or must not use source-DPOR, if requested.
    pub fn source_dpor(&self) -> Option<bool> {
        self.reduction.map(|reduction| reduction == Reduction::SourceDpor)
    }

    fn bounds(&self) -> Bounds {
        Bounds { preemptions: self.preemptions, delays: self.delays, around: self.around.is_some() }
    }

    /// Refuses reductions that would be unsound with a bound: the representative order of
    /// independent steps may need more preemptions than another one.
    fn check_bounds(&self) -> Result<(), Problem> {
        let bounds = [
            ("preemptions", self.preemptions.is_some()),
            ("delays", self.delays.is_some()),
            ("around", self.around.is_some()),
        ];
        let bound = bounds.iter().find(|(_, given)| *given);
        match (bound, self.reduction) {
            (Some((name, _)), Some(reduction)) if reduction != Reduction::None => {
                let word = reduction.word();
                let message = format!(
                    "the option `{name}` cannot be given together with the reduction {word}: \
                     pruning would leave out schedules within the bound"
                );
                Err(Diagnostic::error(message).help("leave out the option `reduction`").into())
            }
            _ => Ok(()),
        }
    }

    fn options(&self) -> ProgramOptions {
        let usual = ProgramOptions::default();
        ProgramOptions {
            max_steps: self.max_steps.unwrap_or(DEFAULT_MAX_STEPS),
            sleep: matches!(self.reduction, Some(Reduction::Sleep | Reduction::Both)),
            timeouts: self.timeouts.into(),
            spurious: self.spurious.unwrap_or(usual.spurious),
            memory: self.memory.into(),
            bounds: self.bounds(),
            around: self.around.as_deref().map(|name| match name {
                MARKS => "the marked part".to_owned(),
                function => format!("calls of {function}"),
            }),
            suppress: self.suppress.clone(),
            check_every: self.check_every.unwrap_or(usual.check_every),
            ..usual
        }
    }
}

/// Reads the properties of a program's file.
pub fn read_executable(path: &Path) -> Result<Executable, Problem> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Problem::file(&name, "read", &error))?;
    Ok(Executable::read(&bytes, LIBRARY))
}

/// Warnings about a program because of which a search may miss something.
pub fn describe_doubts(executable: &Executable) -> Vec<Diagnostic> {
    let mut doubts = Vec::new();
    if !executable.threads {
        doubts.push(Diagnostic::warning("the program itself does not create threads"));
    }
    if !executable.hooks {
        let doubt =
            Diagnostic::warning("memory accesses of the program are not visible, only synchronisation");
        doubts.push(doubt.help("compile and link with -fsanitize=thread"));
    }
    if !executable.uncontrolled.is_empty() {
        let calls = executable.uncontrolled.join(", ");
        doubts.push(Diagnostic::warning(format!("these calls are not under control: {calls}")));
    }
    doubts
}

/// Reads the program and executes it for the first time.
pub(crate) fn open(source: &ProgramSource, output: Option<Output>) -> Result<ProgramModel, Problem> {
    source.check_bounds()?;
    let path = &source.path;
    let name = path.display().to_string();
    let failed = |error: GuestError| Problem::new(error.to_string()).in_file(&name);
    let around = find_around(source)?;
    let (hash, launch) = launch(source, around, output).map_err(failed)?;
    let executable = read_executable(path)?;
    if source.around.as_ref().is_some_and(|name| name != MARKS) && !executable.hooks {
        let message = "the option `around` with a function needs a program compiled with -fsanitize=thread";
        let help = "compile and link with -fsanitize=thread, or mark the part by tp_begin() and tp_end(): --around marks";
        return Err(Diagnostic::error(message).help(help).into());
    }
    let unseen = match (executable.hooks, source.visible) {
        (false, _) => Some("memory accesses are not visible without -fsanitize=thread"),
        (true, Visible::Sync) => Some("memory accesses are not steps: only synchronisation is visible"),
        (true, _) => None,
    };
    let tabled = matches!(source.reduction, Some(Reduction::Persistent | Reduction::Both));
    if tabled && source.memory != MemoryModel::Sc {
        let why = "persistent sets cannot be used under weak memory; use --reduction source-dpor or sleep";
        return Err(Problem::new(why));
    }
    // Annotations by the program's author count. Without them, executions must show the accesses.
    let persistent = if tabled { declared(source).map_err(failed)? } else { None };
    let learn = tabled && persistent.is_none();
    let invisible = source.memory != MemoryModel::Sc && !executable.hooks;
    let unexplored = invisible.then(|| {
        let memory = source.memory.word();
        format!(
            "--memory {memory} has no effect: atomic operations are not visible without -fsanitize=thread"
        )
    });
    let unseen = unseen.map(str::to_owned);
    let options = ProgramOptions { unseen, unexplored, persistent, ..source.options() };
    let model = ProgramModel::new(&name, hash, launch, options).map_err(failed)?;
    if learn { model.with_recorded_accesses(RECORDED_EXECUTIONS).map_err(failed) } else { Ok(model) }
}

/// The program with the options of the source.
#[cfg(target_os = "linux")]
fn native(source: &ProgramSource) -> NativeProgram {
    let usual = Limits::default();
    NativeProgram {
        arguments: source.arguments.clone(),
        limits: Limits {
            memory: source.guest_memory.unwrap_or(usual.memory),
            hang: source.guest_timeout.unwrap_or(usual.hang),
            ..usual
        },
        threads: match source.threads_as {
            None => Threads::Auto,
            Some(ThreadsAs::Fibers) => Threads::Fibers,
            Some(ThreadsAs::System) => Threads::System,
        },
        isolation: match source.isolation {
            Apart::Reset => Isolation::Reset,
            Apart::Fork => Isolation::Fork,
        },
        prefixes: match source.prefixes {
            Shared::Auto => Prefixes::Auto,
            Shared::Repeat => Prefixes::Repeat,
            Shared::Copy => Prefixes::Copy,
        },
        visibility: match source.visible {
            Visible::Sync => Visibility::Sync,
            Visible::Racy => Visibility::Racy,
            Visible::All => Visibility::All,
        },
        output: true,
        ..NativeProgram::new(&source.path)
    }
}

/// Executes a schedule with system threads, so that a debugger sees them, and stops at its end
/// until `look` returns.
#[cfg(target_os = "linux")]
pub fn hold_at_end(
    source: &ProgramSource,
    model: &ProgramModel,
    schedule: &[u32],
    look: impl FnOnce(&NativeProgram, Held),
) -> Result<(), GuestError> {
    let around = find_around(source).map_err(|problem| GuestError::new(problem.to_string()))?;
    let program = NativeProgram { threads: Threads::System, around, ..native(source) };
    let plan = Plan { prefix: schedule, ..model.options().plan() };
    program.launch()?.hold(&plan, |held| look(&program, held))
}

/// The address range of the function to schedule threads in.
#[cfg(target_os = "linux")]
fn find_around(source: &ProgramSource) -> Result<Option<[u64; 2]>, Problem> {
    match source.around.as_deref() {
        None | Some(MARKS) => Ok(None),
        Some(name) => {
            let program = native(source);
            program.check().map_err(|error| Problem::new(error.to_string()))?;
            Ok(Some(program.find_function(name)?))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn find_around(_: &ProgramSource) -> Result<Option<[u64; 2]>, Problem> {
    Ok(None)
}

/// The accesses that the program's threads declare.
#[cfg(target_os = "linux")]
fn declared(source: &ProgramSource) -> Result<Option<MayAccess>, GuestError> {
    native(source).declared_accesses()
}

#[cfg(not(target_os = "linux"))]
fn declared(_: &ProgramSource) -> Result<Option<MayAccess>, GuestError> {
    Ok(None)
}

/// The hash of the program, and the way to start it.
#[cfg(target_os = "linux")]
fn launch(
    source: &ProgramSource,
    around: Option<[u64; 2]>,
    show: Option<Output>,
) -> Result<(u64, Box<Launch>), GuestError> {
    let program = NativeProgram { around, ..native(source) };
    program.check()?;
    // Visibility determines the meaning of the positions in a schedule.
    let hash = hash::mix(program.hash()?, source.visible as u64);
    let launch = move || {
        let executor: Box<dyn Executor> = Box::new(program.launch()?);
        Ok(match show {
            Some(show) => Box::new(Showing { executor, show }) as Box<dyn Executor>,
            None => executor,
        })
    };
    Ok((hash, Box::new(launch)))
}

#[cfg(not(target_os = "linux"))]
fn launch(
    _: &ProgramSource,
    _: Option<[u64; 2]>,
    _: Option<Output>,
) -> Result<(u64, Box<Launch>), GuestError> {
    Err(GuestError::new("programs can be executed on Linux only"))
}

/// Forwards the program's output after each execution.
#[cfg(target_os = "linux")]
struct Showing {
    executor: Box<dyn Executor>,
    show: Output,
}

#[cfg(target_os = "linux")]
impl Executor for Showing {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.executor.run(plan, out)?;
        if !out.output.is_empty() {
            (self.show)(String::from_utf8_lossy(&out.output).trim_end());
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.executor.site(site)
    }

    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        self.executor.frames(address)
    }

    fn unseen(&self) -> Vec<String> {
        self.executor.unseen()
    }

    fn asks_for_weaker_orders(&self) -> bool {
        self.executor.asks_for_weaker_orders()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_says_how_a_program_is_executed() {
        let source =
            ProgramSource { reduction: Some(Reduction::Both), spurious: Some(2), ..ProgramSource::default() };
        let options = source.options();
        assert!(options.sleep && options.spurious == 2 && options.timeouts == Timeouts::WhenStuck);
        assert_eq!(source.source_dpor(), Some(false));
        assert_eq!(ProgramSource::default().source_dpor(), None);
    }

    #[test]
    fn no_reduction_under_a_bound() {
        let source = ProgramSource { preemptions: Some(2), ..ProgramSource::default() };
        assert!(source.check_bounds().is_ok() && source.options().bounds.preemptions == Some(2));
        let plain = ProgramSource { reduction: Some(Reduction::None), ..source.clone() };
        assert!(plain.check_bounds().is_ok());
        let reduced = ProgramSource { reduction: Some(Reduction::SourceDpor), ..source };
        assert!(reduced.check_bounds().is_err_and(|problem| problem.to_string().contains("preemptions")));
    }
}
