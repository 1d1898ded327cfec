//! Plans: searches that are ready to run, with the system and the settings of the engine.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use turnpike_model::{Diagnostic, Model, ModelInfo};
use turnpike_search::checkpoint::Checkpoints;
use turnpike_search::exchange::Processes;
use turnpike_search::{
    Accept, EventSink, Objective, RunReport, SearchError, SearchOptions, SearchReport, Spill, Strategy,
    run_seed,
};

use turnpike_program::ProgramModel;

use crate::impossible;
use crate::problem::Problem;
use crate::request::{AcceptAt, Search};
use crate::warnings;

/// A search that is ready to run, any number of times.
pub struct Plan {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) options: SearchOptions,
    /// Warnings about the goals, to be shown before the search rather than hours later.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Whether objectives may have unknown names.
    allow_unknown: bool,
    /// The system as a program, if it is one.
    program: Option<Arc<ProgramModel>>,
}

/// Properties of a source that the engine needs in addition to its system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Whether it is a program.
    pub(crate) program: bool,
    /// Whether covered states are pruned.
    pub(crate) cover: bool,
    /// Whether exhaustive search must or must not use source-DPOR, if requested.
    pub(crate) source_dpor: Option<bool>,
}

impl Plan {
    /// A search of a system that the client built. Without objectives it looks for any error of a
    /// program, or for a deadlock.
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
        let mut warnings = impossible::check(&*model, &objectives, search)?;
        let objectives = impossible::normalise(&*model, objectives);
        warnings.extend(warnings::of_goals(&objectives, goals));
        warnings.extend(warnings::of_conditions(&*model, &objectives));
        let runs = running.runs.unwrap_or(1);
        let mut options = SearchOptions::new(strategy);
        options.threads = running.threads.unwrap_or_else(|| {
            if runs > 1 || options.strategy.shares_work(traits.program) { all_cores() } else { 1 }
        });
        let helps = options.strategy.shares_work(traits.program);
        if running.threads.is_some_and(|threads| threads > 1) && runs == 1 && !helps {
            let parallel = options.strategy.descriptor().parallel;
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
        // With an explicit number of runs, even a single run gives the same result as one of many.
        options.thorough = running.runs.is_none();
        Ok(Plan { model, options, warnings, allow_unknown: goals.allow_unknown, program: None })
    }

    /// Refuses names that no step of this program has, if it is one.
    pub(crate) fn of_program(mut self, program: Option<&Arc<ProgramModel>>) -> Self {
        self.program = program.cloned();
        self
    }

    /// Adds checkpoints.
    pub(crate) fn with_checkpoints(mut self, checkpoints: &Checkpoints) -> Self {
        self.options.checkpoints = checkpoints.clone();
        self
    }

    /// Moves states to files when memory is short.
    pub(crate) fn with_spill(mut self, spill: Option<&Spill>) -> Self {
        self.options.spill = spill.cloned();
        self
    }

    /// Searches together with other processes.
    pub(crate) fn shared_out(mut self, processes: Option<&(Processes, usize)>, search: &Search) -> Self {
        if let Some((processes, threads)) = processes {
            self.options.processes = Some(processes.clone());
            self.options.threads = search.running.threads.unwrap_or(*threads);
        }
        self
    }

    /// Replaces the strategy by one that the client built.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.options.strategy = strategy;
        self
    }

    /// Sets whether covered states are pruned.
    #[must_use]
    pub fn leave_out_covered(mut self, cover: bool) -> Self {
        self.options.cover = cover;
        self
    }

    /// Reports the states that are selected for each level.
    #[must_use]
    pub fn tell_levels(mut self) -> Self {
        self.options.tell_levels = true;
        self
    }

    /// The name of the strategy.
    pub(crate) fn strategy(&self) -> &'static str {
        self.options.strategy.name()
    }

    /// The system to search.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Refuses a search that cannot start, for example because of a condition that is invalid for
    /// the model.
    pub fn check(&self) -> Result<(), Problem> {
        turnpike_search::check(&*self.model, &self.options)
            .map_err(|error| crate::run::explain(error, &self.options.objectives, &*self.model))
    }

    /// Runs the search. A name that does not occur anywhere in the system is an error, as it is
    /// before the search in models that know their names.
    pub fn run(&self, events: &EventSink<'_>, interrupt: &AtomicBool) -> Result<SearchReport, SearchError> {
        let report = turnpike_search::search(&*self.model, &self.options, events, interrupt)?;
        self.refuse_unseen(&report.runs)?;
        Ok(report)
    }

    fn refuse_unseen(&self, runs: &[RunReport]) -> Result<(), Diagnostic> {
        if self.allow_unknown {
            return Ok(());
        }
        let options = &self.options;
        impossible::refuse_unseen(&*self.model, &options.objectives, &options.internal, runs)?;
        let program = self.program.as_ref();
        program.map_or(Ok(()), |program| impossible::refuse_missing(program, &options.objectives, runs))
    }

    /// Makes only the run with this number, with the same result as among all runs. `None` if it
    /// was interrupted before it started.
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

/// Builds the requested strategy for this model.
pub(crate) fn build_strategy(search: &Search, model: &ModelInfo) -> Result<Strategy, Problem> {
    Ok(search.strategy.descriptor()?.build(&search.strategy.options(), model)?)
}

/// The default number of threads.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
