//! The flags of `turnpike search`, grouped as its help shows them.

use std::path::PathBuf;

use turnpike_session::Limits;
use turnpike_session::{Goals, Running, Search, WitnessSettings};

use super::strategy::StrategyArgs;
use crate::checkpoints::CheckpointArgs;
use crate::exit;
use crate::failure::Outcome;
use crate::options::Options;
use crate::output::ci;
use crate::output::progress::ProgressArgs;
use crate::source::ModelArgs;

/// What `turnpike search --help` ends with.
pub(crate) fn after_help() -> String {
    format!(
        "\
Examples:
  turnpike search builtin:philosophers --set n=9 --strategy highway --runs 20
  turnpike search system.aut --find 'action error' --trace error.json
  turnpike search lift.mcrl2 --set floors=4 --find 'state door == open'
  turnpike search train.xta --find 'accepting Train(0).crossing' --non-zeno
  turnpike search train.xta --query 'A[] not deadlock' --query 'E<> x > 5'
  turnpike search --program ./bank --trace bug.json -- 3 accounts
  turnpike search --program ./bank --strategy pct --max-executions 10000

Objectives (--find):
  deadlock, livelock, nondeterminism, action NAME[,NAME...], label PATTERN, state EXPRESSION,
  accepting [STATES[; STATES...]], any-error, assertion, panic, crash, heap, race, leak, hang;
  to measure only: min X, max X, cover PATTERN

Queries about timed automata (--query, --queries, or those of the model):
  E<> p  some reachable state satisfies p      A[] p  all reachable states satisfy p
  E[] p  p always holds on some run            A<> p  every run reaches p
  p --> q  whenever p holds, q eventually holds
  Runs with infinitely many steps in finite time (Zeno) count, unless you pass --non-zeno.

Limits apply to each run. A random walk stops after 1,000,000 states unless you pass --max-states or
--max-time. Every search stops before the machine runs out of memory.

{}",
        exit::TABLE
    )
}

/// Flags of `turnpike search`.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    goals: Options<Goals>,
    #[command(flatten)]
    strategy: StrategyArgs,
    #[command(flatten)]
    limits: Options<Limits>,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointArgs,
    #[command(flatten)]
    running: Options<Running>,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    #[command(flatten)]
    witness: Options<WitnessSettings>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// The format for continuous integration.
    #[arg(skip)]
    pub(crate) ci: Option<ci::Kind>,
}

/// What to do with what was found.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArgs {
    /// Write the witness to a file: .json (everything), .txt (labels) or .aut (a path)
    #[arg(long, value_name = "FILE", conflicts_with = "no-witness")]
    pub(crate) trace: Option<PathBuf>,
    /// Show everything: all steps and counts; of timed automata how zones were abstracted; of programs all
    /// frames of call stacks, also those of libraries
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

impl Args {
    /// Chooses a strategy unless one is named. Whether it did.
    pub(crate) fn default_to(&mut self, strategy: &str) -> bool {
        self.strategy.default_to(strategy)
    }

    /// What to search for, how, and within which bounds.
    pub(crate) fn search(&self) -> Outcome<Search> {
        Ok(Search {
            strategy: self.strategy.choice(),
            goals: self.goals.section()?,
            limits: self.limits.section()?,
            running: self.running.section()?,
            witness: self.witness.section()?,
        })
    }
}
