//! One run: the explorer, the counters, the limits and the objectives that all strategies share.
//!
//! A strategy does three things with a state: it calls [`Run::expand`], stores what it needs of the
//! successors, and calls [`Run::check`]. Both calls leave the strategy by `?` when a limit is
//! reached or an objective is met.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use turnpike_model::paths::{Paths, PathsInfo, Request};
use turnpike_model::{Explorer, Model, StepError, Successors, Trace};

use crate::error::{Halt, SearchError};
use crate::event::{Event, EventSink, Progress};
use crate::follow::summary::Ending;
use crate::limits::StopReason;
use crate::objective::{Hit, HitKind, Monitor, Objective};
use crate::options::{Accept, SearchOptions};
use crate::report::Generation;
use crate::resources;
use crate::rng::{Purpose, Rng, derive};
use crate::store::{Fingerprints, Visited};
use crate::witness::{Path, Witness, confirm, is_real};

/// What the whole search shares: who listens, and whether to stop.
#[derive(Clone, Copy)]
pub(crate) struct Control<'a> {
    pub(crate) events: &'a EventSink<'a>,
    pub(crate) interrupt: &'a AtomicBool,
}

/// Expansions between two looks at the clock.
const CLOCK_INTERVAL: u64 = 64;
const PROGRESS_SECONDS: f64 = 0.2;

/// Counters of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) depth: u32,
    pub(crate) considered: Option<u64>,
    pub(crate) generated: Option<u64>,
    /// Most candidates held for a level, by strategies that go by levels.
    pub(crate) held: Option<u64>,
    pub(crate) generations: Vec<Generation>,
    /// States that no other covers, when such states are left out.
    pub(crate) stored: Option<u64>,
    pub(crate) odds: Option<String>,
    /// Transitions of the witness as it was found, when the strategy itself made it shorter.
    pub(crate) original_length: Option<usize>,
    pub(crate) executions: Executions,
}

impl Counters {
    /// Forgets the sizes of sets that only one member of a portfolio knew.
    pub(crate) fn forget_sets(&mut self) {
        (self.considered, self.generated, self.held) = (None, None, None);
    }
}

/// Counters of executions of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executions {
    pub(crate) total: u64,
    /// Came to an end by themselves.
    pub(crate) completed: u64,
    /// Given up because others stand for them.
    pub(crate) blocked: u64,
    /// Cut at the limit on steps.
    pub(crate) cut: u64,
    /// Something was bounded or outside control.
    pub(crate) incomplete: bool,
    /// Threads of an execution, at most.
    pub(crate) threads: u32,
    /// Steps whose fingerprints were compared, and how many of these were new.
    pub(crate) sampled: u64,
    pub(crate) distinct: u64,
}

impl Executions {
    pub(crate) fn count(&mut self, ending: Ending, incomplete: bool) {
        self.total += 1;
        self.incomplete |= incomplete;
        match ending {
            Ending::Completed => self.completed += 1,
            Ending::Asleep => self.blocked += 1,
            Ending::Cut => self.cut += 1,
            Ending::Diverged(_) => {}
        }
    }
}

pub(crate) struct Run<'m> {
    pub(crate) model: &'m dyn Model,
    pub(crate) explorer: Box<dyn Explorer + 'm>,
    /// Explorers of helper threads, kept between levels.
    pub(crate) helpers: Vec<Box<dyn Explorer + 'm>>,
    pub(crate) options: &'m SearchOptions,
    pub(crate) objectives: &'m [Objective],
    pub(crate) number: u64,
    pub(crate) seed: u64,
    pub(crate) rng: Rng,
    pub(crate) threads: usize,
    pub(crate) costs: crate::level::Costs,
    pub(crate) counters: Counters,
    pub(crate) monitor: Monitor,
    /// Witnesses by objective.
    pub(crate) found: Vec<Option<Witness>>,
    /// The objective met first.
    pub(crate) first: Option<usize>,
    /// The system as whole paths, where it offers them.
    pub(crate) paths: Option<Box<dyn Paths + 'm>>,
    /// The same for helper threads, kept between batches.
    pub(crate) path_helpers: Vec<Box<dyn Paths + 'm>>,
    /// With `all`, for programs: further errors that meet objectives already met, in the order in which they were found.
    pub(crate) more: Vec<Witness>,
    /// The errors found so far, told apart by these.
    signatures: Vec<u64>,
    /// Fingerprints of states that executions went through, as far as they are counted.
    pub(crate) seen: Fingerprints,
    pub(crate) control: Control<'m>,
    max_states: u64,
    max_executions: u64,
    /// States so many transitions from the initial state are not expanded. An initial state that is none counts here.
    pub(crate) max_depth: u32,
    /// The initial state is only a place from which the proper ones are reached.
    virtual_root: bool,
    /// Words of a state, when single states of the model are explored instead of its own.
    concrete: Option<usize>,
    max_memory: u64,
    started: Instant,
    last_progress: f64,
    hits: Vec<Hit>,
    /// What tests observe: for every expansion its depth, then the words of the state.
    #[cfg(test)]
    pub(crate) trail: Option<Vec<u32>>,
}

/// What a run explores besides single states.
pub(crate) struct Outside<'m> {
    explorer: Box<dyn Explorer + 'm>,
    monitor: Monitor,
    virtual_root: bool,
    max_depth: u32,
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
        let mut explorer = model.explorer();
        let mut monitor =
            Monitor::new(objectives, &options.internal, options.lookahead, &mut *explorer, model.info())?;
        monitor.accept_at(options.accept);
        let virtual_root = model.info().virtual_root;
        Ok(Run {
            model,
            explorer,
            helpers: Vec::new(),
            options,
            objectives,
            number,
            seed,
            rng: Rng::new(derive(seed, Purpose::Strategy, 0)),
            threads: 1,
            costs: crate::level::Costs::default(),
            counters: Counters::default(),
            monitor,
            found: vec![None; objectives.len()],
            first: None,
            paths: model.paths(),
            path_helpers: Vec::new(),
            more: Vec::new(),
            signatures: Vec::new(),
            seen: Fingerprints::default(),
            control,
            max_states: options.limits.states.unwrap_or(u64::MAX),
            max_executions: options.limits.executions.unwrap_or(u64::MAX),
            max_depth: options.limits.depth.unwrap_or(u32::MAX).saturating_add(virtual_root.into()),
            virtual_root,
            concrete: None,
            max_memory: options
                .limits
                .memory
                .or_else(|| resources::machine_bytes().map(|bytes| bytes / 4 * 3))
                .unwrap_or(u64::MAX),
            started: Instant::now(),
            last_progress: 0.0,
            hits: Vec::new(),
            #[cfg(test)]
            trail: None,
        })
    }

    pub(crate) fn width(&self) -> usize {
        self.concrete.unwrap_or(self.model.info().width)
    }

    /// Whether single states are explored instead of the model's own.
    pub(crate) fn is_concrete(&self) -> bool {
        self.concrete.is_some()
    }

    /// Whether a portfolio can walk on single states: these show neither cycles nor extremes, and not every condition.
    pub(crate) fn offers_concrete(&self) -> bool {
        let (options, info) = (self.options, self.model.info());
        let unsuitable = |objective: &Objective| objective.is_about_cycles() || objective.is_measure();
        !self.objectives.iter().any(unsuitable)
            && self.model.concrete().is_some_and(|concrete| {
                let mut explorer = concrete.explorer();
                Monitor::new(self.objectives, &options.internal, options.lookahead, &mut *explorer, info)
                    .is_ok()
            })
    }

    /// From now on single states of the model are explored. Gives what is needed to go back; `None` when the model has
    /// none.
    pub(crate) fn enter_concrete(&mut self) -> Result<Option<Outside<'m>>, SearchError> {
        let Some(concrete) = self.model.concrete() else { return Ok(None) };
        let (mut explorer, width) = (concrete.explorer(), concrete.width());
        let options = self.options;
        // Such an explorer has a virtual root, whether the model has one or not.
        let mut info = self.model.info().clone();
        info.virtual_root = true;
        let mut monitor =
            Monitor::new(self.objectives, &options.internal, options.lookahead, &mut *explorer, &info)?;
        monitor.accept_at(options.accept);
        self.concrete = Some(width);
        let outside = Outside {
            explorer: std::mem::replace(&mut self.explorer, explorer),
            monitor: std::mem::replace(&mut self.monitor, monitor),
            virtual_root: std::mem::replace(&mut self.virtual_root, true),
            max_depth: self.max_depth,
        };
        self.max_depth = options.limits.depth.unwrap_or(u32::MAX).saturating_add(1);
        Ok(Some(outside))
    }

    /// Goes back to the model's own states. The counters go on.
    pub(crate) fn leave_concrete(&mut self, outside: Outside<'m>) {
        self.concrete = None;
        self.explorer = outside.explorer;
        let walked = std::mem::replace(&mut self.monitor, outside.monitor);
        self.monitor.absorb(&walked);
        self.virtual_root = outside.virtual_root;
        self.max_depth = outside.max_depth;
    }

    /// The witness of the model itself that a walk on single states stands for; `None` when there is none.
    fn follow_concrete(&self, path: Path, hit: &Hit) -> Result<Option<Witness>, SearchError> {
        let failed = |error: StepError| SearchError::Replay(error.message);
        let (Path::Choices(mut choices), Some(concrete)) = (path, self.model.concrete()) else {
            return Ok(None);
        };
        if let HitKind::Step(choice) = hit.kind {
            choices.push(choice);
        }
        let objective = &self.objectives[hit.objective];
        for mut way in concrete.follow(&choices).map_err(failed)? {
            let kind = match hit.kind {
                HitKind::Step(_) => way.pop().map_or(HitKind::Here, HitKind::Step),
                _ => HitKind::Here,
            };
            let mut explorer = self.model.explorer();
            let witness = Witness::new(&mut *explorer, Path::Choices(way), hit.objective, &kind);
            if let Ok(witness) = witness
                && confirm(self.model, &witness, objective, self.options, false).is_ok()
            {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Levels above the proper initial states, which do not count: 0 or 1.
    pub(crate) fn uncounted_levels(&self) -> u32 {
        self.virtual_root.into()
    }

    /// Counts the initial state like any other, whatever it stands for.
    pub(crate) fn count_root(&mut self) {
        self.virtual_root = false;
        self.max_depth = self.options.limits.depth.unwrap_or(u32::MAX);
        self.monitor.count_root();
    }

    /// Bounds the number of expansions further, for a portfolio's share.
    pub(crate) fn cap_states(&mut self, states: u64) {
        self.max_states = self.options.limits.states.unwrap_or(u64::MAX).min(states);
    }

    /// The same for executions of a program.
    pub(crate) fn cap_executions(&mut self, executions: u64) {
        self.max_executions = self.options.limits.executions.unwrap_or(u64::MAX).min(executions);
    }

    pub(crate) fn state_limit(&self) -> u64 {
        self.max_states
    }

    /// An empty buffer for successors.
    pub(crate) fn buffer(&self) -> Successors {
        Successors::new(self.width())
    }

    /// An empty set of visited states, with parents when a witness is wanted.
    pub(crate) fn visited(&self) -> Visited {
        Visited::new(self.options.store, self.width(), self.options.witness)
    }

    /// The initial state, tested against the objectives that concern states.
    pub(crate) fn initial(&mut self) -> Result<Vec<u32>, Halt> {
        let nowhere = || Path::Choices(Vec::new());
        let mut state = Vec::new();
        let outcome = self.explorer.initial(&mut state);
        outcome.map_err(|error| self.step_error(error, &nowhere))?;
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let outcome = self.monitor.examine_initial(&mut *self.explorer, &state, &mut hits);
        self.settle(outcome, &hits, &nowhere)?;
        self.hits = hits;
        Ok(state)
    }

    /// Expands a state: counts it and writes its transitions into `out`.
    #[inline]
    pub(crate) fn expand(
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
        let outcome = self.explorer.successors(state, out);
        self.count(depth, out.len(), outcome, path)
    }

    /// Stops when a limit forbids one more expansion.
    #[inline]
    pub(crate) fn admit(&mut self) -> Result<(), Halt> {
        if self.counters.states >= self.max_states {
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
        if self.counters.states >= self.max_states {
            return Err(Halt::Stop(StopReason::MaxStates));
        }
        if self.counters.executions.total >= self.max_executions {
            return Err(Halt::Stop(StopReason::MaxExecutions));
        }
        if self.control.interrupt.load(Ordering::Relaxed) {
            return Err(Halt::Stop(StopReason::Interrupted));
        }
        self.look_at_the_clock()
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
        self.options.limits.time.and_then(|limit| self.started.checked_add(limit))
    }

    /// The program could not be executed.
    pub(crate) fn execution_error(&mut self, error: StepError) -> Halt {
        let trace =
            Trace { model: self.model.info().name.clone(), seed: Some(self.seed), ..Trace::default() };
        Halt::from(SearchError::Step { error, seed: self.seed, trace: Box::new(trace) })
    }

    /// Keeps the witnesses of an execution's error, and stops unless others are looked for. Errors are told apart by
    /// their signature.
    pub(crate) fn meet_by_execution(&mut self, witnesses: Vec<Witness>, signature: u64) -> Result<(), Halt> {
        let known = self.signatures.contains(&signature);
        for witness in witnesses {
            let objective = witness.objective;
            if self.found[objective].is_none() {
                self.found[objective] = Some(witness);
                self.first.get_or_insert(objective);
                if !self.options.all {
                    return Err(Halt::Stop(StopReason::Found));
                }
            } else if !known && self.objectives[objective].is_error() {
                self.more.push(witness);
            }
        }
        if !known {
            self.signatures.push(signature);
        }
        // A program may have any number of errors: there is no telling when all were found.
        let endless = self.objectives.iter().any(Objective::is_error);
        if !endless && self.found.iter().all(Option::is_some) {
            return Err(Halt::Stop(StopReason::Found));
        }
        Ok(())
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
        if self.virtual_root {
            // Only the initial state is at depth 0.
            let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
            self.book(depth, transitions);
        } else {
            self.book(depth, transitions);
        }
        Ok(())
    }

    #[inline]
    fn book(&mut self, depth: u32, transitions: usize) {
        self.counters.states += 1;
        self.counters.transitions += transitions as u64;
        self.counters.depth = self.counters.depth.max(depth);
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
        let outcome = self.monitor.examine_popped(&mut *self.explorer, state, &mut hits);
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
    pub(crate) fn check(
        &mut self,
        state: &[u32],
        successors: &Successors,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let outcome = self.monitor.examine(&mut *self.explorer, state, successors, &mut hits);
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
        let marks = self.monitor.marks(&mut *self.explorer, state);
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
        outcome.map_err(|error| self.step_error(error, path))?;
        for hit in hits {
            if self.found[hit.objective].is_some() {
                continue;
            }
            let witness = if self.concrete.is_some() {
                match self.follow_concrete(path(), hit)? {
                    Some(witness) => witness,
                    // Zones have the last word.
                    None => continue,
                }
            } else if self.options.witness && self.paths.is_some() {
                Witness::of_program(&mut *self.explorer, path(), hit.objective, &hit.kind)
                    .map_err(SearchError::from_replay_failure)?
            } else if self.options.witness {
                Witness::new(&mut *self.explorer, path(), hit.objective, &hit.kind)
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
            self.found[hit.objective] = Some(witness);
            self.first.get_or_insert(hit.objective);
            if !self.options.all {
                return Err(Halt::Stop(StopReason::Found));
            }
        }
        let sought = self.objectives.iter().enumerate().filter(|(_, objective)| !objective.is_measure());
        if self.first.is_some() && sought.into_iter().all(|(index, _)| self.found[index].is_some()) {
            return Err(Halt::Stop(StopReason::Found));
        }
        Ok(())
    }

    #[cold]
    fn step_error(&mut self, error: StepError, path: &dyn Fn() -> Path) -> Halt {
        let info = self.model.info();
        let mut trace = Trace { model: info.name.clone(), seed: Some(self.seed), ..Trace::default() };
        if self.concrete.is_some() {
            // The error is reported with a path of the model itself.
            if self.options.witness
                && let Path::Choices(choices) = path()
                && let Some(concrete) = self.model.concrete()
                && let Some(way) = concrete.follow(&choices).unwrap_or_default().first()
            {
                trace = crate::witness::trace_of(self.model, way, true).unwrap_or(trace);
            }
        } else if self.options.witness
            && let Ok(witness) = Witness::new(&mut *self.explorer, path(), 0, &HitKind::Here)
        {
            trace = crate::witness::trace_of(self.model, &witness.choices, true).unwrap_or(trace);
        }
        Halt::from(SearchError::Step { error, seed: self.seed, trace: Box::new(trace) })
    }

    #[cold]
    fn look_at_the_clock(&mut self) -> Result<(), Halt> {
        let seconds = self.seconds();
        if self.options.limits.time.is_some_and(|limit| seconds >= limit.as_secs_f64()) {
            return Err(Halt::Stop(StopReason::MaxTime));
        }
        if seconds - self.last_progress >= PROGRESS_SECONDS {
            self.last_progress = seconds;
            let bytes = resources::resident_bytes();
            (self.control.events)(&Event::Progress(Progress {
                run: self.number,
                states: self.counters.states,
                transitions: self.counters.transitions,
                depth: self.counters.depth,
                seconds,
                bytes,
            }));
            if bytes > self.max_memory {
                return Err(Halt::Stop(StopReason::MaxMemory));
            }
        }
        Ok(())
    }
}
