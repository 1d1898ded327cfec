//! The strategies, one file each: what it is, its descriptor and its search.

mod auto;
mod beam;
mod best_first;
mod bfs;
mod candidates;
mod concrete;
mod covering;
mod descriptor;
mod dfs;
mod drs;
mod exhaustive;
mod first_met;
mod frontier;
mod genetic;
mod guide;
mod highway;
mod highway_approx;
mod highway_ideal;
mod lasso;
mod level_set;
mod random;
mod registry;
mod sampling;
mod schedules;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

pub use auto::Auto;
pub use beam::Beam;
pub use best_first::BestFirst;
pub use bfs::Bfs;
pub(crate) use candidates::{Candidates, Draw, Preference, Priority};
pub(crate) use covering::validate as validate_cover;
pub use descriptor::{Descriptor, Given, OptionInfo, Options, Parallel, Setting, ValueKind, find, owners};
pub use dfs::{Dfs, Rdfs, Seen};
pub use drs::{Drs, Fringe};
pub use exhaustive::Exhaustive;
pub use frontier::Frontier;
pub use genetic::{Fitness, Genetic};
pub use guide::Guide;
pub(crate) use guide::unknown_measure;
pub use highway::Highway;
pub use highway_approx::HighwayApprox;
pub use highway_ideal::HighwayIdeal;
pub use lasso::LassoAlgorithm;
pub(crate) use lasso::validate as validate_lasso;
pub(crate) use level_set::Considered;
pub use random::RandomWalk;
pub use registry::{all, is_registered, register};
pub use sampling::{Draws, Over, Way};
pub use schedules::{Pct, Pos, Weighted};
use turnpike_model::{Diagnostic, ModelInfo};

use self::lasso::Cycles;
pub use crate::error::Halt;
use crate::error::SearchError;
use crate::follow;
pub use crate::limits::StopReason;
use crate::options::SearchOptions;
pub use crate::run::Run;
pub use crate::witness::Path;

/// The built-in strategies, the default first. A new one needs a line here, and nothing else outside its file.
pub static STRATEGIES: &[&Descriptor] = &[
    &auto::DESCRIPTOR,
    &random::DESCRIPTOR,
    &schedules::PCT,
    &schedules::POS,
    &schedules::WEIGHTED,
    &frontier::DESCRIPTOR,
    &bfs::DESCRIPTOR,
    &dfs::DFS,
    &dfs::RDFS,
    &highway::DESCRIPTOR,
    &highway_ideal::DESCRIPTOR,
    &highway_approx::DESCRIPTOR,
    &drs::DESCRIPTOR,
    &genetic::GENETIC,
    &genetic::MUTATION,
    &exhaustive::DESCRIPTOR,
    &beam::DESCRIPTOR,
    &best_first::DESCRIPTOR,
];

/// What every strategy is made of.
pub trait Search: fmt::Debug + Send + Sync {
    /// How users know it.
    fn descriptor(&self) -> &'static Descriptor;

    /// Runs to the end. `Exhausted` claims that every reachable state was expanded.
    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt>;

    /// Refuses parameters and requests that cannot mean anything.
    fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        let _ = request;
        Ok(())
    }

    /// How it looks for accepting cycles; `None` when it cannot.
    #[doc(hidden)]
    fn cycles(&self) -> Option<Cycles> {
        None
    }

    /// Refuses to leave out covered states, unless it can.
    fn check_covering(&self) -> Result<(), Diagnostic> {
        let name = self.descriptor().name;
        let message = format!("covered states are left out by bfs, dfs and drs, but the strategy is {name}");
        Err(Diagnostic::error(message).help("use the strategy bfs, or the covering `none`"))
    }

    /// Whether a witness may be longer than need be when it stopped for this reason, and whether or not it left out
    /// covered states.
    fn wants_shortening(&self, stop: StopReason, covering: bool) -> bool {
        let _ = (stop, covering);
        true
    }

    /// Whether the first witness that it finds is a shortest one, given that it looks for one objective, keeps states
    /// exactly and leaves out none.
    fn finds_shortest(&self) -> bool {
        false
    }

    /// Whether workers, also those of other processes, can own its states.
    fn shares_out_states(&self) -> bool {
        false
    }

    /// Whether several threads help within one run on a program, or on a model.
    fn shares_work(&self, program: bool) -> bool {
        self.descriptor().parallel.helps(program)
    }

    /// Whether several processes can follow the paths of a program for it.
    fn shares_out_paths(&self) -> bool {
        false
    }

    /// Whether its states can move to files when memory is short.
    fn spills_states(&self) -> bool {
        false
    }

    /// Whether it goes on for ever unless a limit ends it.
    fn is_endless(&self) -> bool {
        false
    }
}

/// A strategy with its parameters.
#[derive(Clone, Debug)]
pub struct Strategy(Arc<dyn Search>);

impl Strategy {
    /// A strategy with the parameters of this search.
    pub fn new(search: impl Search + 'static) -> Self {
        Strategy(Arc::new(search))
    }

    /// The strategy of this name with default parameters; those that cannot do without a parameter say so.
    pub fn by_name(name: &str) -> Result<Strategy, Diagnostic> {
        find(name)?.build(&Options::new(), &ModelInfo::new("the model", 0))
    }

    /// The name used in requests and reports.
    pub fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// How users know it.
    pub fn descriptor(&self) -> &'static Descriptor {
        self.0.descriptor()
    }

    pub(crate) fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        self.0.check(request)
    }

    pub(crate) fn check_covering(&self) -> Result<(), Diagnostic> {
        self.0.check_covering()
    }

    pub(crate) fn cycles(&self) -> Option<Cycles> {
        self.0.cycles()
    }

    pub(crate) fn wants_shortening(&self, stop: StopReason, covering: bool) -> bool {
        self.0.wants_shortening(stop, covering)
    }

    pub(crate) fn finds_shortest(&self) -> bool {
        self.0.finds_shortest()
    }

    pub(crate) fn spills_states(&self) -> bool {
        self.0.spills_states()
    }

    /// Whether several threads help within one run on a program, or on a model.
    pub fn shares_work(&self, program: bool) -> bool {
        self.0.shares_work(program)
    }

    pub(crate) fn shares_out_states(&self) -> bool {
        self.0.shares_out_states()
    }

    pub(crate) fn shares_out_paths(&self) -> bool {
        self.0.shares_out_paths()
    }

    pub(crate) fn is_endless(&self) -> bool {
        self.0.is_endless()
    }

    /// Runs to the end. `Exhausted` claims that every reachable state was expanded.
    pub(crate) fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if run.view.monitor.seeks_lasso() {
            return lasso::search(run, self);
        }
        if self.descriptor().programs_only && run.paths.is_none() {
            return Err(SearchError::from(follow::needs_program(self.name(), run.model.info())).into());
        }
        self.0.search(run)
    }
}

impl<S: Search + 'static> From<S> for Strategy {
    fn from(search: S) -> Self {
        Strategy::new(search)
    }
}
