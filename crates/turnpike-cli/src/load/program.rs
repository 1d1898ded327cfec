//! Programs named on the command line: `--program ./a.out -- arguments`, and how they are executed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use turnpike_model::{Diagnostic, hash};
#[cfg(target_os = "linux")]
use turnpike_program::native::{Limits, NativeProgram, Threads, Visibility};
use turnpike_program::{DEFAULT_MAX_STEPS, Executable, LIBRARY, Launch, ProgramModel, ProgramOptions};
use turnpike_scheduler::{Execution, Executor, GuestError, MayAccess, Plan, Site, Timeouts};

use super::Named;
use crate::commands::search::values;
use crate::failure::Failure;
use crate::output::{self, repeat};

/// Executions from which accesses are learned for persistent sets.
const RECORDED_EXECUTIONS: u64 = 200;

/// How programs are executed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Programs")]
pub(crate) struct ProgramArgs {
    /// Execute this program under a controlled scheduler; its arguments come after `--`
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    /// Cut executions after this many steps [default: 20000]
    #[arg(long, value_name = "N", value_parser = values::positive::<u32>)]
    pub(crate) max_steps: Option<u32>,
    /// When operations with a time limit give up [default: when-stuck]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) timeouts: Option<TimeoutsArg>,
    /// Spurious wake-ups of condition variables that an execution may have [default: 0]
    #[arg(long, value_name = "N", value_parser = values::count::<u32>)]
    pub(crate) spurious: Option<u32>,
    /// Which memory accesses are steps, in programs compiled with -fsanitize=thread [default: racy]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) visible: Option<VisibleArg>,
    /// What the threads of the program become [default: fibers where the processor allows it]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) threads_as: Option<ThreadsAsArg>,
    /// Memory that an execution may use, such as 512M [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) guest_memory: Option<u64>,
    /// Time without a visible operation after which an execution hangs [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) guest_timeout: Option<Duration>,
    /// Show what the program prints as it is executed
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Choices that are left out because others stand for them [default: source-dpor for exhaustive, none for others]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) reduction: Option<ReductionArg>,
    /// Of this many executions one is executed again, to see whether the program is deterministic; 0 = none [default: 100]
    #[arg(long, value_name = "N", value_parser = values::count::<u64>)]
    pub(crate) check_every: Option<u64>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGUMENT", requires = "program")]
    pub(crate) arguments: Vec<OsString>,
}

/// When operations with a time limit give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeoutsArg {
    /// Never.
    Never,
    /// When nothing else can happen.
    WhenStuck,
    /// Whenever the scheduler likes.
    Always,
}

/// Which memory accesses are steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VisibleArg {
    /// None: only synchronisation and atomics.
    Sync,
    /// Those at places that were seen to race.
    Racy,
    /// All accesses to shared memory.
    All,
}

/// What the threads of a program become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThreadsAsArg {
    /// Fibers in one thread of the system: fast.
    Fibers,
    /// Threads of the system, of which one runs at a time: works everywhere.
    Os,
}

/// Which choices are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReductionArg {
    /// None.
    None,
    /// Sleep sets, for any strategy.
    Sleep,
    /// Persistent sets, for any strategy; from what the program declares, else from recorded executions, which prove nothing.
    Persistent,
    /// Sleep and persistent sets.
    Both,
    /// Source-DPOR, for exhaustive.
    SourceDpor,
}

impl ProgramArgs {
    /// The first flag that was given, for models it means nothing for.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--max-steps", self.max_steps.is_some()),
            ("--timeouts", self.timeouts.is_some()),
            ("--spurious", self.spurious.is_some()),
            ("--visible", self.visible.is_some()),
            ("--threads-as", self.threads_as.is_some()),
            ("--guest-memory", self.guest_memory.is_some()),
            ("--guest-timeout", self.guest_timeout.is_some()),
            ("--show-output", self.show_output),
            ("--reduction", self.reduction.is_some()),
            ("--check-every", self.check_every.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// The program as it is named on a command line: `--program ./a.out -- 1 2`.
    pub(crate) fn repeated(&self) -> Option<String> {
        let mut words =
            vec!["--program".to_owned(), repeat::quote(&self.program.as_ref()?.to_string_lossy())];
        if !self.arguments.is_empty() {
            words.push("--".to_owned());
            words.extend(self.arguments.iter().map(|argument| repeat::quote(&argument.to_string_lossy())));
        }
        Some(words.join(" "))
    }

    /// Whether `exhaustive` is asked to use source-DPOR, or not to.
    pub(crate) fn source_dpor(&self) -> Option<bool> {
        self.reduction.map(|reduction| reduction == ReductionArg::SourceDpor)
    }

    fn options(&self) -> ProgramOptions {
        let usual = ProgramOptions::default();
        ProgramOptions {
            max_steps: self.max_steps.unwrap_or(DEFAULT_MAX_STEPS),
            sleep: matches!(self.reduction, Some(ReductionArg::Sleep | ReductionArg::Both)),
            timeouts: match self.timeouts {
                Some(TimeoutsArg::Never) => Timeouts::Never,
                Some(TimeoutsArg::Always) => Timeouts::Always,
                Some(TimeoutsArg::WhenStuck) | None => Timeouts::WhenStuck,
            },
            spurious: self.spurious.unwrap_or(usual.spurious),
            check_every: self.check_every.unwrap_or(usual.check_every),
            ..usual
        }
    }
}

/// The program that the user named, ready to be executed; `None` when a model was named.
pub(super) fn named(args: &ProgramArgs, model: &str) -> Result<Option<Named>, Failure> {
    let Some(path) = &args.program else {
        return match args.given() {
            Some(flag) => {
                let message = format!("{flag} is for programs, but {model} is a model");
                Err(Diagnostic::error(message).help("programs are named by --program").into())
            }
            None => Ok(None),
        };
    };
    if !model.is_empty() {
        let message = format!("--program and the model {model} cannot be given together");
        let help = "arguments of the program come after `--`";
        return Err(Diagnostic::error(message).help(help).into());
    }
    let program = Arc::new(open(path, args)?);
    Ok(Some(Named {
        model: Box::new(Arc::clone(&program)),
        size: None,
        warnings: 0,
        zeno: None,
        program: Some(program),
    }))
}

/// What the file of a program tells.
pub(crate) fn executable(path: &Path) -> Result<Executable, Failure> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::file(&name, "read", &error))?;
    Ok(Executable::read(&bytes, LIBRARY))
}

/// What is doubtful about a program: a search of it may miss something.
pub(crate) fn doubts(executable: &Executable) -> Vec<Diagnostic> {
    let mut doubts = Vec::new();
    if !executable.threads {
        doubts.push(Diagnostic::warning("it does not create threads itself"));
    }
    if !executable.hooks {
        let doubt = Diagnostic::warning("its memory accesses are not visible: only synchronisation is");
        doubts.push(doubt.help("compile with -fsanitize=thread, and link without it"));
    }
    if !executable.uncontrolled.is_empty() {
        let calls = executable.uncontrolled.join(", ");
        doubts.push(Diagnostic::warning(format!("these calls are not under control: {calls}")));
    }
    doubts
}

/// Reads the program and executes it for the first time.
fn open(path: &Path, args: &ProgramArgs) -> Result<ProgramModel, Failure> {
    let name = path.display().to_string();
    let failed = |error: GuestError| Failure::usage(error.to_string()).in_file(&name);
    let (hash, launch) = launch(path, args).map_err(failed)?;
    let executable = executable(path)?;
    let unseen = match (executable.hooks, args.visible) {
        (false, _) => Some("memory accesses are not visible without -fsanitize=thread"),
        (true, Some(VisibleArg::Sync)) => Some("memory accesses are no steps with --visible sync"),
        (true, _) => None,
    };
    let tabled = matches!(args.reduction, Some(ReductionArg::Persistent | ReductionArg::Both));
    // What the program's author says counts; where nothing is said, executions have to tell.
    let persistent = if tabled { declared(path, args).map_err(failed)? } else { None };
    let learn = tabled && persistent.is_none();
    let options = ProgramOptions { unseen: unseen.map(str::to_owned), persistent, ..args.options() };
    let model = ProgramModel::new(&name, hash, launch, options).map_err(failed)?;
    if learn { model.with_recorded_accesses(RECORDED_EXECUTIONS).map_err(failed) } else { Ok(model) }
}

/// The program with the settings that the command line gives it.
#[cfg(target_os = "linux")]
fn native(path: &Path, args: &ProgramArgs) -> NativeProgram {
    let usual = Limits::default();
    NativeProgram {
        arguments: args.arguments.clone(),
        limits: Limits {
            memory: args.guest_memory.unwrap_or(usual.memory),
            hang: args.guest_timeout.unwrap_or(usual.hang),
            ..usual
        },
        threads: match args.threads_as {
            Some(ThreadsAsArg::Fibers) => Threads::Fibers,
            Some(ThreadsAsArg::Os) => Threads::System,
            None => Threads::Auto,
        },
        visibility: match args.visible {
            Some(VisibleArg::Sync) => Visibility::Sync,
            Some(VisibleArg::All) => Visibility::All,
            Some(VisibleArg::Racy) | None => Visibility::Racy,
        },
        output: true,
        ..NativeProgram::new(path)
    }
}

/// What the program's threads declare that they may touch.
#[cfg(target_os = "linux")]
fn declared(path: &Path, args: &ProgramArgs) -> Result<Option<MayAccess>, GuestError> {
    native(path, args).declared_accesses()
}

#[cfg(not(target_os = "linux"))]
fn declared(_: &Path, _: &ProgramArgs) -> Result<Option<MayAccess>, GuestError> {
    Ok(None)
}

/// The program's hash, and how it is started.
#[cfg(target_os = "linux")]
fn launch(path: &Path, args: &ProgramArgs) -> Result<(u64, Box<Launch>), GuestError> {
    let program = native(path, args);
    program.check()?;
    // What is visible decides what the positions in a schedule mean.
    let hash = hash::mix(program.hash()?, args.visible.unwrap_or(VisibleArg::Racy) as u64);
    let show = args.show_output;
    let launch = move || {
        let executor: Box<dyn Executor> = Box::new(program.launch()?);
        Ok(if show { Box::new(Showing(executor)) as Box<dyn Executor> } else { executor })
    };
    Ok((hash, Box::new(launch)))
}

#[cfg(not(target_os = "linux"))]
fn launch(_: &Path, _: &ProgramArgs) -> Result<(u64, Box<Launch>), GuestError> {
    Err(GuestError::new("programs can be executed on Linux only"))
}

/// Passes on what the program prints, once an execution is over.
#[cfg(target_os = "linux")]
struct Showing(Box<dyn Executor>);

#[cfg(target_os = "linux")]
impl Executor for Showing {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.0.run(plan, out)?;
        if !out.output.is_empty() {
            output::note(String::from_utf8_lossy(&out.output).trim_end());
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.0.site(site)
    }

    fn unseen(&self) -> Vec<String> {
        self.0.unseen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_how_a_program_is_executed() {
        let args =
            ProgramArgs { reduction: Some(ReductionArg::Both), spurious: Some(2), ..ProgramArgs::default() };
        let options = args.options();
        assert!(options.sleep && options.spurious == 2 && options.timeouts == Timeouts::WhenStuck);
        assert_eq!(args.source_dpor(), Some(false));
        assert_eq!(ProgramArgs::default().source_dpor(), None);
        assert_eq!(args.given(), Some("--spurious"));
        assert_eq!(ProgramArgs::default().given(), None);
    }
}
