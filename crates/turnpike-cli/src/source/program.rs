//! Flags for programs: `--program ./a.out -- arguments`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use turnpike_scheduler::Timeouts;
use turnpike_session::{ProgramSource, Reduction, ThreadsAs, Visible};

use crate::commands::search::values;
use crate::output::{self, repeat};

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

    /// The program that is named, if one is.
    pub(super) fn source(&self) -> Option<ProgramSource> {
        Some(ProgramSource {
            path: self.program.clone()?,
            arguments: self.arguments.clone(),
            max_steps: self.max_steps,
            timeouts: match self.timeouts {
                Some(TimeoutsArg::Never) => Timeouts::Never,
                Some(TimeoutsArg::Always) => Timeouts::Always,
                Some(TimeoutsArg::WhenStuck) | None => Timeouts::WhenStuck,
            },
            spurious: self.spurious,
            visible: match self.visible {
                Some(VisibleArg::Sync) => Visible::Sync,
                Some(VisibleArg::All) => Visible::All,
                Some(VisibleArg::Racy) | None => Visible::Racy,
            },
            threads_as: match self.threads_as {
                Some(ThreadsAsArg::Fibers) => ThreadsAs::Fibers,
                Some(ThreadsAsArg::Os) => ThreadsAs::System,
                None => ThreadsAs::Auto,
            },
            guest_memory: self.guest_memory,
            guest_timeout: self.guest_timeout,
            output: self.show_output.then_some(output::note as turnpike_session::Output),
            reduction: self.reduction.map(Reduction::from),
            check_every: self.check_every,
        })
    }

    /// Whether `exhaustive` is asked to use source-DPOR, or not to.
    pub(crate) fn source_dpor(&self) -> Option<bool> {
        self.source()?.source_dpor()
    }
}

impl From<ReductionArg> for Reduction {
    fn from(reduction: ReductionArg) -> Self {
        match reduction {
            ReductionArg::None => Reduction::None,
            ReductionArg::Sleep => Reduction::Sleep,
            ReductionArg::Persistent => Reduction::Persistent,
            ReductionArg::Both => Reduction::Both,
            ReductionArg::SourceDpor => Reduction::SourceDpor,
        }
    }
}
