//! The flags of `turnpike search`, grouped as its help shows them.

use std::path::PathBuf;

use clap::ValueEnum;

use super::limits::LimitArgs;
use super::strategy::StrategyArgs;
use super::values;
use crate::exit;
use crate::output::progress::ProgressArgs;
use crate::source::ModelArgs;

/// What `turnpike search --help` ends with.
pub(crate) fn after_help() -> String {
    format!(
        "\
Examples:
  turnpike search builtin:philosophers
  turnpike search builtin:philosophers --set n=9 --strategy highway --width 8 --runs 20 --seed 7
  turnpike search system.aut --find 'action error' --strategy bfs --trace error.json
  turnpike search lift.mcrl2 --set floors=4 --find 'state door == open && speed > 0'
  turnpike search builtin:buffers --find 'max report.1' --strategy random --restart --max-time 10s
  turnpike search builtin:sliding-puzzle --find 'action solved' --strategy beam --guide manhattan
  turnpike search train.xta --find 'accepting Train(0).crossing' --non-zeno
  turnpike search train.xta --query 'A[] not deadlock' --query 'E<> Gate.closed && x > 5'
  turnpike search --program ./bank --trace bug.json -- 3 accounts
  turnpike search --program ./bank --find deadlock --strategy pct --bug-depth 3 --max-executions 10000
  turnpike search --program ./bank --strategy exhaustive --reduction source-dpor

Objectives (--find):
  deadlock, livelock, nondeterminism, action NAME[,NAME...], label PATTERN, state EXPRESSION,
  accepting [STATES[; STATES...]], any-error, assertion, panic, crash, heap, race, leak, hang; only measured: min X, max X, cover PATTERN

Queries (--query, --queries, or those of the model; timed automata only), each answered by a search of its own:
  E<> p  some reachable state meets p          A[] p  all reachable states meet p
  E[] p  some run never leaves p               A<> p  every run gets to p
  p --> q  whenever p holds, q will
  Runs in which infinitely much happens in finite time (Zeno) count, unless --non-zeno is given.

Limits hold for each run. A random walk ends after 1,000,000 states unless --max-states or --max-time
says otherwise; every search ends before memory does.

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
    pub(crate) goal: GoalArgs,
    #[command(flatten)]
    pub(crate) strategy: StrategyArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) running: RunningArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// What to look for.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "What to find")]
pub(crate) struct GoalArgs {
    /// What to look for, such as deadlock or 'action error' (repeatable) [default: the model's own queries, any-error for programs, or deadlock]
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) find: Vec<String>,
    /// Answer a query about timed automata, such as 'A[] not deadlock' (repeatable)
    #[arg(long, value_name = "QUERY", conflicts_with = "find")]
    pub(crate) query: Vec<String>,
    /// Answer the queries of a file, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "find")]
    pub(crate) queries: Option<String>,
    /// Count only cycles and runs of timed automata along which time passes all bounds: no Zeno runs
    #[arg(long)]
    pub(crate) non_zeno: bool,
    /// Go on until every objective was met, not just one
    #[arg(long)]
    pub(crate) all: bool,
    /// Test deadlock on states that were only met, too, not only on expanded ones
    #[arg(long)]
    pub(crate) lookahead: bool,
    /// When states are tested: as soon as a transition leads to them, or when they are expanded
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = AcceptArg::Generation)]
    pub(crate) accept: AcceptArg,
    /// Actions that count as internal besides tau
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tau: Vec<String>,
}

/// How the search is carried out.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunningArgs {
    /// Search this many times, each with a seed of its own
    #[arg(long, value_name = "N", value_parser = values::positive::<u64>)]
    pub(crate) runs: Option<u64>,
    /// Where chance begins, decimal or 0x hexadecimal; the same seed gives the same result
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = values::seed)]
    pub(crate) seed: u64,
    /// Threads; results do not depend on it [default: all cores where they help]
    #[arg(long, value_name = "N", value_parser = values::positive::<usize>)]
    pub(crate) threads: Option<usize>,
    /// How visited states are remembered: auto (exact, or tree for wide states), exact, tree (exact, compressed), compact or bitstate (lossy)
    #[arg(long, value_name = "STORE", default_value = "auto")]
    pub(crate) store: String,
    /// Size of the bit table of --store bitstate [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) bitstate_size: Option<u64>,
}

/// What to do with what was found.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArgs {
    /// Write the witness to a file: .json (everything), .txt (labels) or .aut (a path)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Report witnesses as they were found
    #[arg(long)]
    pub(crate) no_shorten: bool,
    /// Expansions that shortening a witness may take [default: about as many as the search took; with --max-states
    /// more for long, wasteful witnesses: what the search left of it, up to 40000]
    #[arg(long, value_name = "N", conflicts_with = "no_shorten")]
    pub(crate) shorten_budget: Option<u64>,
    /// Tell only whether there is a witness; random walks then need constant memory
    #[arg(long, conflicts_with = "trace")]
    pub(crate) no_witness: bool,
}

/// When states are tested against objectives on states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AcceptArg {
    /// As soon as a transition leads to them.
    #[default]
    Generation,
    /// When they are expanded.
    Pop,
}
