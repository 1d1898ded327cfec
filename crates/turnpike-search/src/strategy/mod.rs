//! The strategies, one file each, and the table that describes them.

mod auto;
mod beam;
mod best_first;
mod bfs;
mod candidates;
mod concrete;
mod covering;
mod dfs;
mod drs;
mod executions;
mod exhaustive;
mod genetic;
mod highway;
mod highway_approx;
mod highway_ideal;
mod lasso;
mod level_set;
mod random;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use covering::validate as validate_cover;
pub use drs::{DrsOptions, Fringe};
pub(crate) use executions::{Ending, Order, execute};
pub use genetic::{Fitness, GeneticOptions};
pub use lasso::LassoAlgorithm;
pub(crate) use lasso::validate as validate_lasso;
pub use random::{Over, RandomOptions};
pub use table::{StrategyInfo, TABLE, find};
use turnpike_model::{Diagnostic, ModelInfo};

use self::executions::{Extent, Sampler};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;

/// States kept per level unless a width is given.
pub const DEFAULT_WIDTH: u64 = 32;

/// The bug depth of PCT unless one is given.
pub const DEFAULT_BUG_DEPTH: u32 = 3;

/// A strategy with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Strategy {
    /// Random walks.
    Random(RandomOptions),
    /// Programs: random priorities of threads with `depth - 1` change points.
    Pct {
        /// How many ordering constraints the bug has.
        depth: u32,
    },
    /// Programs: random priorities of operations.
    Pos,
    /// Programs: every interleaving about equally likely.
    Weighted,
    /// Breadth first.
    Bfs,
    /// Depth first, in the front-end's order.
    Dfs,
    /// Depth first, the next unvisited successor at random.
    Rdfs,
    /// Highway search by definition: draw from all eligible successors.
    HighwayIdeal {
        /// States kept per level.
        width: u64,
    },
    /// Highway search by reservoir, duplicates re-considered.
    HighwayApprox {
        /// States kept per level.
        width: u64,
    },
    /// Exact highway search in a stream.
    Highway {
        /// States kept per level.
        width: u64,
    },
    /// Deep Random Search.
    Drs(DrsOptions),
    /// Genetic search (also mutation only).
    Genetic(GeneticOptions),
    /// All paths up to a depth.
    Exhaustive {
        /// Longest path, in transitions.
        depth: u32,
    },
    /// Highway with a guide instead of chance.
    Beam {
        /// States kept per level.
        width: u64,
        /// What to prefer.
        guide: Guide,
    },
    /// The most promising state first.
    BestFirst {
        /// What to prefer.
        guide: Guide,
        /// Longest queue; the least promising states fall out.
        queue: Option<u64>,
    },
    /// A portfolio with growing budgets.
    Auto,
}

/// A measure to be made small or large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guide {
    /// Name of the measure.
    pub measure: String,
    /// Larger is better.
    pub maximise: bool,
}

impl Guide {
    /// The guide's rank of a state: smaller is better, whatever the direction.
    pub(crate) fn rank(&self, run: &mut Run<'_>, index: usize, state: &[u32]) -> f64 {
        let value = run.explorer.measure(state, index);
        if self.maximise { -value } else { value }
    }

    /// The index of the measure in the model.
    pub(crate) fn resolve(&self, info: &ModelInfo) -> Result<usize, Diagnostic> {
        info.measure(&self.measure).ok_or_else(|| unknown_measure(&self.measure, info))
    }
}

impl std::str::FromStr for Guide {
    type Err = Diagnostic;

    /// `NAME` and `min NAME` make the measure small, `max NAME` makes it large.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let (maximise, measure) = match text.trim().split_once(char::is_whitespace) {
            Some(("max", name)) => (true, name.trim()),
            Some(("min", name)) => (false, name.trim()),
            Some(_) => {
                return Err(Diagnostic::error(format!("'{text}' is not a guide"))
                    .help("write a measure's name, 'min NAME' or 'max NAME'"));
            }
            None => (false, text.trim()),
        };
        if measure.is_empty() {
            return Err(Diagnostic::error("a guide needs the name of a measure"));
        }
        Ok(Guide { measure: measure.to_owned(), maximise })
    }
}

impl std::fmt::Display for Guide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.maximise { "max" } else { "min" }, self.measure)
    }
}

/// The error for a measure the model does not have.
pub(crate) fn unknown_measure(name: &str, info: &ModelInfo) -> Diagnostic {
    let names: Vec<&str> = info.measures.iter().map(|measure| measure.name.as_str()).collect();
    let error = Diagnostic::error(format!("{} has no measure '{name}'", info.name));
    match turnpike_model::diagnostic::nearest(name, names.iter().copied()) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None if names.is_empty() => error.help("this model has no measures"),
        None => error.help(format!("its measures are {}", names.join(", "))),
    }
}

impl Strategy {
    /// The strategy of this name with default parameters; those that cannot do without a parameter say so.
    pub fn by_name(name: &str) -> Result<Strategy, Diagnostic> {
        Ok(match find(name)?.name {
            "random" => Strategy::Random(RandomOptions::default()),
            "pct" => Strategy::Pct { depth: DEFAULT_BUG_DEPTH },
            "pos" => Strategy::Pos,
            "weighted" => Strategy::Weighted,
            "bfs" => Strategy::Bfs,
            "dfs" => Strategy::Dfs,
            "rdfs" => Strategy::Rdfs,
            "highway-ideal" => Strategy::HighwayIdeal { width: DEFAULT_WIDTH },
            "highway-approx" => Strategy::HighwayApprox { width: DEFAULT_WIDTH },
            "highway" => Strategy::Highway { width: DEFAULT_WIDTH },
            "drs" => Strategy::Drs(DrsOptions::default()),
            "genetic" => Strategy::Genetic(GeneticOptions::default()),
            "mutation" => Strategy::Genetic(GeneticOptions { crossover: false, ..GeneticOptions::default() }),
            "auto" => Strategy::Auto,
            "exhaustive" => return Err(Diagnostic::error("'exhaustive' needs a depth")),
            other => return Err(Diagnostic::error(format!("'{other}' needs a guide"))),
        })
    }

    /// The name used in flags and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Random(_) => "random",
            Strategy::Pct { .. } => "pct",
            Strategy::Pos => "pos",
            Strategy::Weighted => "weighted",
            Strategy::Bfs => "bfs",
            Strategy::Dfs => "dfs",
            Strategy::Rdfs => "rdfs",
            Strategy::HighwayIdeal { .. } => "highway-ideal",
            Strategy::HighwayApprox { .. } => "highway-approx",
            Strategy::Highway { .. } => "highway",
            Strategy::Drs(_) => "drs",
            Strategy::Genetic(options) if options.crossover => "genetic",
            Strategy::Genetic(_) => "mutation",
            Strategy::Exhaustive { .. } => "exhaustive",
            Strategy::Beam { .. } => "beam",
            Strategy::BestFirst { .. } => "best-first",
            Strategy::Auto => "auto",
        }
    }

    /// Whether it can only schedule the threads of a program.
    pub fn needs_program(&self) -> bool {
        matches!(self, Strategy::Pct { .. } | Strategy::Pos | Strategy::Weighted)
    }

    /// Whether one run on a program can share out its executions among several threads, with the same result as one.
    pub fn shares_executions(&self) -> bool {
        matches!(self, Strategy::Random(_) | Strategy::Genetic(_) | Strategy::Auto) || self.needs_program()
    }

    /// Whether one run can use several threads with the same result as one.
    pub fn is_level_synchronous(&self) -> bool {
        matches!(
            self,
            Strategy::Bfs
                | Strategy::HighwayIdeal { .. }
                | Strategy::HighwayApprox { .. }
                | Strategy::Highway { .. }
                | Strategy::Beam { .. }
                | Strategy::Auto
        )
    }

    /// Whether a witness may be longer than need be when the strategy stopped for this reason, and whether or not it left
    /// out covered states.
    pub(crate) fn wants_shortening(&self, stop: StopReason, covering: bool) -> bool {
        match self {
            Strategy::Bfs => covering,
            Strategy::Drs(options) => !options.proves_shortest() || stop != StopReason::Found,
            _ => true,
        }
    }

    /// Runs to the end. `Exhausted` claims that every reachable state was expanded.
    pub(crate) fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if matches!(self, Strategy::Random(options) if options.concrete)
            && run.objectives.iter().any(|objective| objective.is_about_cycles())
        {
            let error = turnpike_model::Diagnostic::error("walks on single states do not find cycles");
            return Err(SearchError::from(error.help("leave out --concrete")).into());
        }
        if run.monitor.seeks_lasso() {
            return lasso::search(run, self);
        }
        if self.needs_program() && run.plan.is_none() {
            return Err(SearchError::from(executions::needs_program(self.name(), run.model.info())).into());
        }
        match self {
            Strategy::Random(options) if executions::applies(run) => {
                let once = !options.restart && options.restart_depth.is_none();
                let extent = Extent { once, steps: options.restart_depth };
                executions::sample(run, Sampler::Uniform, extent)
            }
            Strategy::Pct { depth } => {
                executions::sample(run, Sampler::Pct { depth: *depth }, Extent::default())
            }
            Strategy::Pos => executions::sample(run, Sampler::Pos, Extent::default()),
            Strategy::Weighted => executions::sample(run, Sampler::Weighted, Extent::default()),
            Strategy::Random(options) if options.concrete => concrete::search(run, options),
            Strategy::Random(options) => random::search(run, options),
            Strategy::Bfs if run.options.cover => covering::search(run, covering::Order::FirstIn),
            Strategy::Dfs if run.options.cover => covering::search(run, covering::Order::LastIn),
            Strategy::Bfs => bfs::search(run),
            Strategy::Dfs => dfs::search(run, dfs::Order::Given),
            Strategy::Rdfs => dfs::search(run, dfs::Order::Random),
            Strategy::HighwayIdeal { width } => highway_ideal::search(run, *width),
            Strategy::HighwayApprox { width } => highway_approx::search(run, *width),
            Strategy::Highway { width } => highway::search(run, *width),
            Strategy::Drs(options) => drs::search(run, options),
            Strategy::Genetic(options)
                if executions::applies(run) && executions::judges(&options.fitness) =>
            {
                executions::breed(run, options)
            }
            Strategy::Genetic(options) => genetic::search(run, options),
            Strategy::Exhaustive { depth } if executions::applies(run) => {
                let reduced =
                    run.plan.is_some_and(|plan| plan.reduction.sleep || plan.reduction.persistent.is_some());
                if run.options.source_dpor.unwrap_or(!reduced) {
                    executions::explore(run, *depth)
                } else {
                    executions::enumerate(run, *depth)
                }
            }
            Strategy::Exhaustive { depth } => exhaustive::search(run, *depth),
            Strategy::Beam { width, guide } => beam::search(run, *width, guide),
            Strategy::BestFirst { guide, queue } => best_first::search(run, guide, *queue),
            Strategy::Auto if executions::applies(run) => executions::portfolio(run),
            Strategy::Auto => auto::search(run),
        }
    }
}
