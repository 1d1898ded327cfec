//! A search that is ready to begin: the system, and the settings of the engine.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use turnpike_model::{Diagnostic, Model, ModelInfo};
use turnpike_search::checkpoint::Checkpoints;
use turnpike_search::exchange::Processes;
use turnpike_search::{
    Accept, EventSink, Objective, RunReport, SearchError, SearchOptions, SearchReport, Spill, Strategy,
    run_seed,
};

use crate::impossible;
use crate::problem::Problem;
use crate::request::{AcceptAt, Search};
use crate::warnings;

/// A search that is ready to begin. It can be made any number of times.
pub struct Plan {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) options: SearchOptions,
    /// What is odd about the goals, to be read before the search rather than hours later.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Whether objectives may name what the system does not have.
    allow_unknown: bool,
}

/// What the engine must know of a source besides its system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Whether it is a program.
    pub(crate) program: bool,
    /// Whether states that another one covers are left out.
    pub(crate) cover: bool,
    /// Whether exhaustive search is asked to use source-DPOR, or not to.
    pub(crate) source_dpor: Option<bool>,
}

impl Plan {
    /// A search of a system that the client made itself. Without objectives it looks for any error of
    /// a program, or for a deadlock.
    pub fn of_model(model: Arc<dyn Model>, search: &Search) -> Result<Plan, Problem> {
        search.check()?;
        let strategy = build_strategy(search, model.info())?;
        let traits = Traits { program: model.paths().is_some(), ..Traits::default() };
        Plan::new(model, strategy, search, search.goals.find.clone(), traits)
    }

    pub(crate) fn new(
        model: Arc<dyn Model>,
        strategy: Strategy,
        search: &Search,
        objectives: Vec<Objective>,
        traits: Traits,
    ) -> Result<Plan, Problem> {
        let Search { goals, running, witness, limits, .. } = search;
        let mut warnings = impossible::check(&*model, &objectives, goals)?;
        let objectives = impossible::normalise(&*model, objectives);
        warnings.extend(warnings::of_goals(&objectives, goals));
        let runs = running.runs.unwrap_or(1);
        let mut options = SearchOptions::new(strategy);
        options.threads = running.threads.unwrap_or_else(|| {
            let helps = options.strategy.descriptor().parallel.helps(traits.program);
            if runs > 1 || helps { all_cores() } else { 1 }
        });
        let parallel = options.strategy.descriptor().parallel;
        if running.threads.is_some_and(|threads| threads > 1) && runs == 1 && !parallel.helps(traits.program)
        {
            warnings.push(warnings::of_threads(options.strategy.name(), parallel));
        }
        options.objectives = objectives;
        options.all = goals.all;
        options.lookahead = goals.lookahead;
        options.accept = match goals.accept {
            AcceptAt::Generation => Accept::Generation,
            AcceptAt::Pop => Accept::Pop,
        };
        options.cover = traits.cover;
        options.source_dpor = traits.source_dpor;
        options.internal = goals.internal.clone();
        options.limits = limits.clone();
        options.seed = running.seed;
        options.runs = runs;
        options.store = search.store()?;
        options.witness = witness.keep;
        options.states_in_witness = witness.states;
        options.shorten = witness.shorten;
        options.shorten_budget = witness.shorten_budget;
        // Asked for by number, even one run is one of many, and gives what it gives among them.
        options.thorough = running.runs.is_none();
        Ok(Plan { model, options, warnings, allow_unknown: goals.allow_unknown })
    }

    /// The same search, with checkpoints.
    pub(crate) fn with_checkpoints(mut self, checkpoints: &Checkpoints) -> Self {
        self.options.checkpoints = checkpoints.clone();
        self
    }

    /// The same search, whose states move to files when memory is short.
    pub(crate) fn with_spill(mut self, spill: Option<&Spill>) -> Self {
        self.options.spill = spill.cloned();
        self
    }

    /// The same search, made together with other processes.
    pub(crate) fn shared_out(mut self, processes: Option<&(Processes, usize)>, search: &Search) -> Self {
        if let Some((processes, threads)) = processes {
            self.options.processes = Some(processes.clone());
            self.options.threads = search.running.threads.unwrap_or(*threads);
        }
        self
    }

    /// The same search with a strategy that the client made itself.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.options.strategy = strategy;
        self
    }

    /// The same search, in which states that others cover are left out or not.
    #[must_use]
    pub fn leave_out_covered(mut self, cover: bool) -> Self {
        self.options.cover = cover;
        self
    }

    /// The same search, which reports the states of each level that it chooses.
    #[must_use]
    pub fn tell_levels(mut self) -> Self {
        self.options.tell_levels = true;
        self
    }

    /// The name of the strategy.
    pub(crate) fn strategy(&self) -> &'static str {
        self.options.strategy.name()
    }

    /// What is searched.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Refuses a search that cannot begin, such as one for a condition that the model does not know.
    pub fn check(&self) -> Result<(), Problem> {
        turnpike_search::check(&*self.model, &self.options)
            .map_err(|error| crate::run::explain(error, &self.options.objectives, &*self.model))
    }

    /// Makes the search. A name that nothing in the whole system has is an error, as
    /// it is before the search in models that know their names.
    pub fn run(&self, events: &EventSink<'_>, interrupt: &AtomicBool) -> Result<SearchReport, SearchError> {
        let report = turnpike_search::search(&*self.model, &self.options, events, interrupt)?;
        self.refuse_unseen(&report.runs)?;
        Ok(report)
    }

    fn refuse_unseen(&self, runs: &[RunReport]) -> Result<(), Diagnostic> {
        let options = &self.options;
        match self.allow_unknown {
            true => Ok(()),
            false => impossible::refuse_unseen(&*self.model, &options.objectives, &options.internal, runs),
        }
    }

    /// Makes the run of this number alone: what it gives is what it gives among all runs. `None` when it
    /// was interrupted before it could begin.
    pub fn run_alone(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<RunReport>, SearchError> {
        let mut options = self.options.clone();
        options.seed = run_seed(self.options.seed, number);
        // It must cost the same as among all runs.
        options.thorough = false;
        let report = turnpike_search::search(&*self.model, &options, &|_| {}, interrupt)?;
        self.refuse_unseen(&report.runs)?;
        Ok(report.runs.into_iter().next())
    }
}

/// The strategy that a search names, for this model.
pub(crate) fn build_strategy(search: &Search, model: &ModelInfo) -> Result<Strategy, Problem> {
    Ok(search.strategy.descriptor()?.build(&search.strategy.options(), model)?)
}

/// Threads when none are asked for.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
