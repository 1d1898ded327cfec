//! One run: what all strategies share.
//!
//! A strategy does three things with a state: it calls [`Run::expand`], stores what it needs of the
//! successors, and calls [`Run::check`]. Both calls leave the strategy by `?` when a limit is
//! reached or an objective is met.
//!
//! A run has parts: what it explores ([`view`]), what it may take ([`budget`]), what it has counted
//! ([`counters`]) and what it has found ([`findings`]).

mod budget;
mod counters;
mod findings;
mod view;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use turnpike_model::paths::{Paths, PathsInfo, Request};
use turnpike_model::{Model, StepError, Successors, Trace};

use self::budget::Budget;
pub(crate) use self::counters::Counters;
pub(crate) use self::findings::Findings;
pub(crate) use self::view::View;
use crate::error::{Halt, SearchError};
use crate::event::{Event, EventSink, Progress};
use crate::exchange::Processes;
use crate::level::Team;
use crate::limits::StopReason;
use crate::objective::{Hit, HitKind, Objective};
use crate::options::{Accept, SearchOptions};
use crate::rng::{Purpose, Rng, derive};
use crate::store::Visited;
use crate::witness::{Path, Witness, is_real};

/// What the whole search shares: who listens, and whether to stop.
#[derive(Clone, Copy)]
pub(crate) struct Control<'a> {
    pub(crate) events: &'a EventSink<'a>,
    pub(crate) interrupt: &'a AtomicBool,
}

/// Expansions between two looks at the clock.
const CLOCK_INTERVAL: u64 = 64;

/// One run of a search, as strategies see it.
pub struct Run<'m> {
    pub(crate) model: &'m dyn Model,
    pub(crate) options: &'m SearchOptions,
    pub(crate) objectives: &'m [Objective],
    pub(crate) number: u64,
    pub(crate) seed: u64,
    pub(crate) rng: Rng,
    pub(crate) control: Control<'m>,
    /// What is explored.
    pub(crate) view: View<'m>,
    /// The system as whole paths, where it offers them.
    pub(crate) paths: Option<Box<dyn Paths + 'm>>,
    /// Who helps.
    pub(crate) team: Team<'m>,
    pub(crate) counters: Counters,
    pub(crate) findings: Findings,
    /// In a portfolio: the strategy that is at work.
    pub(crate) member: Option<&'static str>,
    /// What [`Progress::shares`] says.
    pub(crate) shares: Vec<u64>,
    /// Whatever order the states of a level come in: only numbers are asked for, which are the same for all orders.
    /// After an error nothing is, because the first error counts.
    pub(crate) any_order: bool,
    /// It only walks ahead: what it meets is left to the run that it helps.
    pub(crate) looks_ahead: bool,
    budget: Budget<'m>,
    /// What the last check found.
    hits: Vec<Hit>,
    /// What tests observe: for every expansion its depth, then the words of the state.
    #[cfg(test)]
    pub(crate) trail: Option<Vec<u32>>,
}

impl<'m> Run<'m> {
    pub(crate) fn new(
        model: &'m dyn Model,
        options: &'m SearchOptions,
        objectives: &'m [Objective],
        number: u64,
        seed: u64,
        control: Control<'m>,
    ) -> Result<Self, SearchError> {
        Ok(Run {
            model,
            options,
            objectives,
            number,
            seed,
            rng: Rng::new(derive(seed, Purpose::Strategy, 0)),
            control,
            view: View::of_model(model, options, objectives)?,
            paths: model.paths(),
            team: Team::default(),
            counters: Counters::default(),
            member: None,
            shares: Vec::new(),
            any_order: false,
            looks_ahead: false,
            findings: Findings::new(objectives.len()),
            budget: Budget::new(&options.limits, options.processes.as_ref().map_or(1, Processes::neighbours)),
            hits: Vec::new(),
            #[cfg(test)]
            trail: None,
        })
    }

    pub(crate) fn width(&self) -> usize {
        self.view.width
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.budget.seconds()
    }

    /// Levels above the proper initial states, which do not count: 0 or 1.
    pub(crate) fn uncounted_levels(&self) -> u32 {
        self.view.virtual_root.into()
    }

    /// Counts the initial state like any other, whatever it stands for.
    pub(crate) fn count_root(&mut self) {
        self.view.virtual_root = false;
        self.view.max_depth = self.options.limits.depth.unwrap_or(u32::MAX);
        self.view.monitor.count_root();
    }

    /// Bounds the number of expansions further, for a portfolio's share.
    pub(crate) fn cap_states(&mut self, states: u64) {
        self.budget.cap_states(states);
    }

    /// The same for executions of a program.
    pub(crate) fn cap_executions(&mut self, executions: u64) {
        self.budget.cap_executions(executions);
    }

    pub(crate) fn state_limit(&self) -> u64 {
        self.budget.states
    }

    /// How many expansions the limits still admit.
    pub(crate) fn states_left(&self) -> u64 {
        self.budget.states.saturating_sub(self.counters.states)
    }

    /// A uniform number below `bound`, which the seed of the run decides; 0 when the bound is 0.
    pub fn draw(&mut self, bound: u64) -> u64 {
        self.rng.below(bound.max(1))
    }

    /// An empty buffer for successors.
    pub fn buffer(&self) -> Successors {
        Successors::new(self.width())
    }

    /// An empty set of visited states, with parents when a witness is wanted.
    pub(crate) fn visited(&self) -> Visited {
        Visited::new(self.options.store, self.width(), self.options.witness)
    }

    /// The initial state, tested against the objectives that concern states.
    pub fn initial(&mut self) -> Result<Vec<u32>, Halt> {
        let nowhere = || Path::Choices(Vec::new());
        let mut state = Vec::new();
        let outcome = self.view.explorer.initial(&mut state);
        outcome.map_err(|error| self.step_error(error, &nowhere))?;
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let outcome = self.view.monitor.examine_initial(&mut *self.view.explorer, &state, &mut hits);
        self.settle(outcome, &hits, &nowhere)?;
        self.hits = hits;
        Ok(state)
    }

    /// Expands a state: counts it and writes its transitions into `out`.
    #[inline]
    pub fn expand(
        &mut self,
        state: &[u32],
        depth: u32,
        out: &mut Successors,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        self.admit()?;
        self.accept(state, depth, path)?;
        #[cfg(test)]
        if let Some(trail) = &mut self.trail {
            trail.push(depth);
            trail.extend_from_slice(state);
        }
        let outcome = self.view.explorer.successors(state, out);
        self.count(depth, out.len(), outcome, path)
    }

    /// Stops when a limit forbids one more expansion.
    #[inline]
    pub(crate) fn admit(&mut self) -> Result<(), Halt> {
        if self.counters.states >= self.budget.states {
            return Err(Halt::Stop(StopReason::MaxStates));
        }
        if self.control.interrupt.load(Ordering::Relaxed) {
            return Err(Halt::Stop(StopReason::Interrupted));
        }
        if self.counters.states.is_multiple_of(CLOCK_INTERVAL) {
            self.look_at_the_clock()?;
        }
        Ok(())
    }

    /// Stops when a limit forbids one more execution.
    pub(crate) fn admit_execution(&mut self) -> Result<(), Halt> {
        self.admit_counted_execution()?;
        self.look_for_interrupt()?;
        self.look_at_the_clock()
    }

    /// The same for limits on what is counted, which are the same in all processes.
    pub(crate) fn admit_counted_execution(&self) -> Result<(), Halt> {
        if self.counters.states >= self.budget.states {
            return Err(Halt::Stop(StopReason::MaxStates));
        }
        if self.counters.executions.total >= self.budget.executions {
            return Err(Halt::Stop(StopReason::MaxExecutions));
        }
        Ok(())
    }

    /// Stops when the user wants to.
    pub(crate) fn look_for_interrupt(&self) -> Result<(), Halt> {
        match self.control.interrupt.load(Ordering::Relaxed) {
            true => Err(Halt::Stop(StopReason::Interrupted)),
            false => Ok(()),
        }
    }

    /// What all paths have in common, where the system offers paths.
    pub(crate) fn paths_info(&self) -> Option<PathsInfo> {
        self.paths.as_ref().map(|paths| paths.info())
    }

    /// Follows a path of a system that offers paths.
    pub(crate) fn follow(&mut self, request: &Request<'_>) -> Result<&mut dyn Paths, Halt> {
        let outcome = match &mut self.paths {
            Some(paths) => paths.follow(request),
            None => Err(StepError::new("this model is not a program that can be executed")),
        };
        outcome.map_err(|error| self.execution_error(error))?;
        self.followed()
    }

    /// The path followed last.
    pub(crate) fn followed(&mut self) -> Result<&mut dyn Paths, Halt> {
        match &mut self.paths {
            Some(paths) => Ok(&mut **paths),
            None => Err(Halt::Stop(StopReason::Finished)),
        }
    }

    /// When the time limit is reached.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.budget.deadline()
    }

    /// The program could not be executed.
    pub(crate) fn execution_error(&mut self, error: StepError) -> Halt {
        let trace =
            Trace { model: self.model.info().name.clone(), seed: Some(self.seed), ..Trace::default() };
        Halt::from(SearchError::Step { error, seed: self.seed, trace: Box::new(trace) })
    }

    /// Books an expansion that was computed, here or by a helper thread.
    #[inline]
    pub(crate) fn count(
        &mut self,
        depth: u32,
        transitions: usize,
        outcome: Result<(), StepError>,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        outcome.map_err(|error| self.step_error(error, path))?;
        if self.view.virtual_root {
            // Only the initial state is at depth 0.
            let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
            self.counters.expand(depth, transitions);
        } else {
            self.counters.expand(depth, transitions);
        }
        Ok(())
    }

    /// Books expansions of states at `depth`.
    pub(crate) fn count_level(&mut self, depth: u32, states: u64, transitions: u64) {
        let depth = if self.view.virtual_root { depth.checked_sub(1) } else { Some(depth) };
        if let Some(depth) = depth.filter(|_| states > 0) {
            self.counters.states += states;
            self.counters.transitions += transitions;
            self.counters.depth = self.counters.depth.max(depth);
        }
    }

    /// Tests a state that is about to be expanded, if that is when states are tested. One that ends the search counts as
    /// expanded, without transitions.
    #[inline]
    pub(crate) fn accept(&mut self, state: &[u32], depth: u32, path: &dyn Fn() -> Path) -> Result<(), Halt> {
        if self.options.accept == Accept::Pop { self.accept_popped(state, depth, path) } else { Ok(()) }
    }

    fn accept_popped(&mut self, state: &[u32], depth: u32, path: &dyn Fn() -> Path) -> Result<(), Halt> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let outcome = self.view.monitor.examine_popped(&mut *self.view.explorer, state, &mut hits);
        if outcome.is_err() || !hits.is_empty() {
            let settled = self.settle(outcome, &hits, path);
            if settled.is_err() {
                self.count(depth, 0, Ok(()), path)?;
            }
            settled?;
        }
        self.hits = hits;
        Ok(())
    }

    /// Tests an expanded state and its transitions against the objectives.
    #[inline]
    pub fn check(
        &mut self,
        state: &[u32],
        successors: &Successors,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let outcome = self.view.monitor.examine(&mut *self.view.explorer, state, successors, &mut hits);
        if outcome.is_err() || !hits.is_empty() {
            self.settle(outcome, &hits, path)?;
        }
        self.hits = hits;
        Ok(())
    }

    /// Books objectives that the strategy saw itself to be met.
    pub(crate) fn meet(&mut self, hits: &[Hit], path: &dyn Fn() -> Path) -> Result<(), Halt> {
        self.settle(Ok(()), hits, path)
    }

    /// The accepting sets that a state is in, by bit.
    pub(crate) fn marks(&mut self, state: &[u32], path: &dyn Fn() -> Path) -> Result<u64, Halt> {
        let marks = self.view.monitor.marks(&mut *self.view.explorer, state);
        marks.map_err(|error| self.step_error(error, path))
    }

    /// What the last call of [`check`](Self::check) found, met for the first time or again.
    #[inline]
    pub(crate) fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// Writes witnesses for objectives met for the first time, and stops when enough were met.
    #[cold]
    fn settle(
        &mut self,
        outcome: Result<(), StepError>,
        hits: &[Hit],
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        if self.looks_ahead {
            return Err(Halt::Stop(StopReason::Found));
        }
        outcome.map_err(|error| self.step_error(error, path))?;
        for hit in hits {
            if self.findings.has(hit.objective) {
                continue;
            }
            let witness = if self.is_concrete() {
                match self.follow_concrete(path(), hit)? {
                    Some(witness) => witness,
                    // Zones have the last word.
                    None => continue,
                }
            } else if self.options.witness && self.paths.is_some() {
                Witness::of_program(&mut *self.view.explorer, path(), hit.objective, &hit.kind)
                    .map_err(SearchError::from_replay_failure)?
            } else if self.options.witness {
                Witness::new(&mut *self.view.explorer, path(), hit.objective, &hit.kind)
                    .map_err(|error| SearchError::Replay(error.message))?
            } else {
                let (objective, kind) = (hit.objective, HitKind::Here);
                Witness { objective, choices: Vec::new(), loop_start: None, kind, stem: 0 }
            };
            if !is_real(self.model, &witness, &self.objectives[hit.objective])
                .map_err(|error| SearchError::Replay(error.message))?
            {
                continue;
            }
            self.findings.keep(witness, self.options.all)?;
        }
        self.findings.stop_when_complete(self.objectives)
    }

    #[cold]
    pub(crate) fn step_error(&mut self, error: StepError, path: &dyn Fn() -> Path) -> Halt {
        let info = self.model.info();
        let mut trace = Trace { model: info.name.clone(), seed: Some(self.seed), ..Trace::default() };
        if self.is_concrete() {
            // The error is reported with a path of the model itself.
            if self.options.witness
                && let Path::Choices(choices) = path()
                && let Some(concrete) = self.model.concrete()
                && let Some(way) = concrete.follow(&choices).unwrap_or_default().first()
            {
                trace = crate::witness::trace_of(self.model, way, true).unwrap_or(trace);
            }
        } else if self.options.witness
            && let Ok(witness) = Witness::new(&mut *self.view.explorer, path(), 0, &HitKind::Here)
        {
            trace = crate::witness::trace_of(self.model, &witness.choices, true).unwrap_or(trace);
        }
        Halt::from(SearchError::Step { error, seed: self.seed, trace: Box::new(trace) })
    }

    #[cold]
    pub(crate) fn look_at_the_clock(&mut self) -> Result<(), Halt> {
        let Counters { states, transitions, depth, .. } = self.counters;
        self.show_life(states, transitions, depth)
    }

    /// Stops when time or memory is used up, and shows now and then how far the search is.
    pub(crate) fn show_life(&mut self, states: u64, transitions: u64, depth: u32) -> Result<(), Halt> {
        let (run, control, member, shares) = (self.number, self.control, self.member, &self.shares);
        self.budget.look_at_the_clock(|seconds, bytes| {
            let shares = shares.clone();
            let progress = Progress { run, states, transitions, depth, seconds, bytes, member, shares };
            (control.events)(&Event::Progress(progress));
        })
    }
}
