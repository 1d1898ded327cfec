//! Independent random paths: what `random`, `pct`, `pos` and `weighted` share.
//!
//! **Guarantee**: `pct` finds a bug that needs d ordering constraints with probability at least
//! 1/(n·k^(d-1)) in each path of n actors and k steps; the others have no guarantee.
//! **Memory**: constant; of walks with a witness, the loop-erased walk or every state considered.
//!
//! Paths come in batches of growing size. A system that follows them itself gets a seed for each,
//! and PCT and weighted sampling estimate the length of paths from earlier batches, whose sizes do
//! not depend on the number of threads; so no result does either. Other systems are walked. There, too,
//! each walk has a seed of its own, and threads make numbered portions of walks ahead.

use rustc_hash::FxHashMap;
use turnpike_model::Successors;
use turnpike_model::paths::{Chooser, PathsInfo, Request};

use super::first_met::FirstMet;
use super::level_set::distinct_targets;
use crate::c_rand::CRand;
use crate::error::Halt;
use crate::follow;
use crate::follow::ahead;
use crate::follow::pool::Batch;
use crate::follow::summary::{Ending, Summarise, Summary};
use crate::follow::walk::{Bounds, Steps, Walked, Walker};
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::witness::Path;

/// How paths are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// Each choice equally likely.
    Uniform(Over),
    /// Random priorities with change points: bugs of this depth.
    Pct { depth: u32 },
    /// Random priorities of operations.
    Pos,
    /// The same among few of the threads.
    Few,
    /// All threads in turn: one path.
    Turns,
    /// Each interleaving about equally likely.
    Weighted,
}

/// What a walk over states draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Distinct successor states, all equally likely.
    #[default]
    States,
    /// Transitions, all equally likely: a state reached by two is twice as likely.
    Transitions,
}

/// Where draws come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draws {
    /// A good generator, exactly uniform.
    #[default]
    Uniform,
    /// `rand()` of the C library of Linux, modulo the number of choices, which are counted from the last one: as in the tool of 2008.
    CRand,
}

/// Which way from the initial state a walk reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// The walk itself, without its loops.
    #[default]
    LoopErased,
    /// Back from each state to the one from which it was met first, also as a successor not taken.
    FirstMet,
}

/// How many paths, how long they may be, and what is reported of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// One path, not as many as the limits allow.
    pub(crate) once: bool,
    pub(crate) length: Length,
    pub(crate) way: Way,
    pub(crate) draws: Draws,
}

/// How long paths may be, the limit on depth aside.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Length {
    /// As long as they go on.
    #[default]
    Whole,
    /// So many steps; the state behind the last one is looked at.
    Steps(u32),
    /// So many steps for each path by its number, from 1 on; the state behind the last one is not looked at.
    Varied(fn(u32) -> u32),
}

/// The largest batch: estimates are renewed at least this often.
const LARGEST: usize = 1024;

/// Follows paths until a limit is reached or the objective is met.
pub(crate) fn search(run: &mut Run<'_>, sampler: Sampler, extent: Extent) -> Result<StopReason, Halt> {
    let mut source = Source::new(run, sampler, extent)?;
    let (mut first, mut count) = (0u64, 1);
    loop {
        let walked = source.follow(run, first, count)?;
        if first == 0 && source.is_only(run, walked) {
            let whole = walked.ending == Ending::Completed && source.proves(run);
            return Ok(if whole { StopReason::Exhausted } else { source.stop(run, walked.ending) });
        }
        if extent.once {
            return Ok(source.stop(run, walked.ending));
        }
        first += count as u64;
        count = (count * 2).min(LARGEST);
    }
}

/// Where paths come from.
enum Source<'m> {
    Paths(NativePaths),
    Walks(Box<Walks<'m>>),
}

impl<'m> Source<'m> {
    fn new(run: &mut Run<'m>, sampler: Sampler, extent: Extent) -> Result<Self, Halt> {
        match run.paths_info() {
            Some(info) if follow::natively(run) => {
                Ok(Source::Paths(NativePaths::new(run, info, sampler, extent.length)?))
            }
            _ => Ok(Source::Walks(Box::new(Walks::new(run, sampler, extent)?))),
        }
    }

    /// Follows paths, and returns how the first of them went.
    fn follow(&mut self, run: &mut Run<'m>, first: u64, count: usize) -> Result<Walked, Halt> {
        match self {
            Source::Paths(paths) => paths.follow(run, first, count),
            Source::Walks(walks) => walks.follow(run, first, count),
        }
    }

    /// Whether there is no other path than the first: nothing was ever to be chosen, and none may be longer.
    fn is_only(&self, run: &Run<'_>, first: Walked) -> bool {
        let grows = matches!(self, Source::Walks(walks) if matches!(walks.extent.length, Length::Varied(_)));
        let nothing_chosen = first.contested == 0 && (first.ending != Ending::Cut || !grows);
        nothing_chosen || run.view.max_depth <= run.uncounted_levels()
    }

    /// Whether the only path shows everything.
    fn proves(&self, run: &Run<'_>) -> bool {
        match self {
            Source::Paths(paths) => paths.reduction_is_proved && !run.counters.executions.incomplete,
            // Single states stand for nothing but themselves.
            Source::Walks(_) => !run.is_concrete(),
        }
    }

    /// Why the search is over after a path that ended like this.
    fn stop(&self, run: &Run<'_>, ending: Ending) -> StopReason {
        let steps = match self {
            Source::Paths(paths) => paths.max_steps,
            Source::Walks(walks) => walks.own.last,
        };
        if ending == Ending::Cut && steps >= run.view.max_depth {
            StopReason::MaxDepth
        } else {
            StopReason::Finished
        }
    }
}

/// Paths that the system follows itself.
struct NativePaths {
    sampler: Sampler,
    max_steps: u32,
    /// Where the choices that the system offers leave out others, that these do not matter.
    reduction_is_proved: bool,
    summarise: Summarise,
    estimate: Estimate,
}

/// What earlier paths show about the system.
#[derive(Debug, Default)]
struct Estimate {
    /// Steps with more than one choice, at most.
    contested: u32,
    /// Steps of each actor in the first path.
    events: Vec<u32>,
    known: bool,
}

impl Sampler {
    /// How one path is drawn. Without an estimate it is uniform.
    fn chooser<'e>(self, seed: u64, estimate: &'e Estimate) -> Chooser<'e> {
        match self {
            Sampler::Pos => Chooser::Pos { seed },
            Sampler::Few => Chooser::Few { seed },
            Sampler::Turns => Chooser::Turns,
            Sampler::Pct { depth } if estimate.known => {
                Chooser::Pct { seed, depth, length: estimate.contested.max(1) }
            }
            Sampler::Weighted if estimate.known => Chooser::Weighted { seed, steps: &estimate.events },
            _ => Chooser::Uniform { seed },
        }
    }
}

impl NativePaths {
    fn new(run: &Run<'_>, info: PathsInfo, sampler: Sampler, length: Length) -> Result<Self, Halt> {
        let length = if let Length::Steps(steps) = length { steps } else { u32::MAX };
        let max_steps = info.max_steps.min(run.view.max_depth).min(length);
        let summarise = Summarise::new(run)?;
        let reduction_is_proved = info.reduction_is_proved;
        Ok(NativePaths { sampler, max_steps, reduction_is_proved, summarise, estimate: Estimate::default() })
    }

    fn follow(&mut self, run: &mut Run<'_>, first: u64, count: usize) -> Result<Walked, Halt> {
        self.summarise.refresh(run);
        let (seed, sampler, max_steps) = (run.seed, self.sampler, self.max_steps);
        let (estimate, summarise) = (&self.estimate, &self.summarise);
        let request = |index: usize| {
            let seed = derive(seed, Purpose::Execution, first + index as u64);
            let (chooser, detail) = (sampler.chooser(seed, estimate), summarise.detail());
            Request { prefix: &[], chooser, max_steps, detail, reduced: true }
        };
        let batch = Batch {
            count,
            request: &request,
            digest: &|paths| summarise.of(paths),
            last: &|summary: &Summary| !summary.hits.is_empty(),
        };
        let mut contested = estimate.contested;
        let (mut events, mut walked) = (None, None);
        batch.follow(run, &mut |run, _, summary| {
            run.book_execution(&summary)?;
            contested = contested.max(summary.contested);
            walked.get_or_insert(Walked { ending: summary.ending, contested: summary.contested });
            events.get_or_insert(summary.events);
            Ok(())
        })?;
        self.estimate.contested = contested;
        if first == 0 {
            self.estimate.events = events.unwrap_or_default();
        }
        self.estimate.known = true;
        Ok(walked.unwrap_or(Walked { ending: Ending::Cut, contested: 0 }))
    }
}

/// Walks that a helper makes at once.
const PORTION: u64 = 16;
/// Portions for each helper before the caller looks at the limits again.
const ROUND: u64 = 8;

/// Walks over states.
struct Walks<'m> {
    over: Over,
    extent: Extent,
    own: Stride,
    /// What the seeds of all walks but the first are derived from; drawn behind the first.
    seed: Option<u64>,
    /// Made when walks turn out to be many.
    helpers: Option<Vec<ahead::Helper<'m, Stride>>>,
}

impl<'m> Walks<'m> {
    fn new(run: &mut Run<'m>, sampler: Sampler, extent: Extent) -> Result<Self, Halt> {
        let over = if let Sampler::Uniform(over) = sampler { over } else { Over::default() };
        let trail = match () {
            // What is met on single states is confirmed by the choices that led there.
            () if run.is_concrete() => Trail::Choices(Vec::new()),
            () if !run.options.witness => Trail::None,
            () if extent.way == Way::FirstMet => Trail::FirstMet(Box::new(FirstMet::new(run))),
            () => Trail::States(LoopErased::default()),
        };
        let own = Stride::new(run, over, extent, trail)?;
        Ok(Walks { over, extent, own, seed: None, helpers: None })
    }

    fn follow(&mut self, run: &mut Run<'m>, first: u64, count: usize) -> Result<Walked, Halt> {
        if first == 0 && count == 1 {
            return self.own.walk(run, 1, None);
        }
        if self.has_numbered_walks(run) {
            // Only now: a search that is one walk draws nothing else.
            self.seed.get_or_insert_with(|| run.rng.next());
        }
        let (mut number, end, seed) = (first + 1, first + 1 + count as u64, self.seed);
        while number < end {
            let whole = (end - number) / PORTION;
            let portions = if whole < 2 { Vec::new() } else { self.walk_ahead(run, number, whole)? };
            let made = portions.len() as u64 * PORTION;
            for portion in portions {
                if !portion.map_or(Ok(false), |portion| portion.book(run))? {
                    (number..number + PORTION)
                        .try_for_each(|one| self.own.walk(run, one, seed).map(|_| ()))?;
                }
                number += PORTION;
            }
            if made == 0 {
                self.own.walk(run, number, seed)?;
                number += 1;
            }
        }
        Ok(Walked { ending: Ending::Cut, contested: 0 })
    }

    /// Whether walks have seeds of their own, so that none has to wait for another.
    fn has_numbered_walks(&self, run: &Run<'_>) -> bool {
        self.extent.draws == Draws::Uniform && !run.is_concrete()
    }

    /// Makes up to `whole` portions of walks from `number` on, as far as there are helpers.
    fn walk_ahead(
        &mut self,
        run: &Run<'m>,
        number: u64,
        whole: u64,
    ) -> Result<Vec<Option<ahead::Portion>>, Halt> {
        let (over, extent, seed) = (self.over, self.extent, self.seed);
        // The states considered by one walk are remembered for the next.
        if seed.is_none() || matches!(self.own.drawing.trail, Trail::FirstMet(_)) {
            return Ok(Vec::new());
        }
        let helpers = match &mut self.helpers {
            Some(helpers) => helpers,
            none => none.insert(ahead::helpers(run, |own| Stride::new(own, over, extent, Trail::None))?),
        };
        let count = whole.min(ROUND * helpers.len() as u64);
        Ok(ahead::portions(helpers, 0..count, &|run, stride, portion| {
            let first = number + portion * PORTION;
            (first..first + PORTION).try_for_each(|one| stride.walk(run, one, seed).map(|_| ()))
        }))
    }
}

/// What one thread needs to make walks.
struct Stride {
    walker: Walker,
    drawing: Drawing,
    length: Length,
    /// States at this depth are the last that are expanded.
    last: u32,
}

impl Stride {
    fn new(run: &mut Run<'_>, over: Over, extent: Extent, trail: Trail) -> Result<Self, Halt> {
        let length = extent.length;
        let last = if let Length::Steps(steps) = length { steps } else { u32::MAX };
        let walker = Walker::new(run)?;
        let old = (extent.draws == Draws::CRand).then(|| Box::new(CRand::new(run.seed as u32)));
        let drawing = Drawing { over, old, distinct: Vec::new(), trail };
        Ok(Stride { walker, drawing, length, last: last.saturating_add(run.uncounted_levels()) })
    }

    /// One walk, by its number from 1 on.
    fn walk(&mut self, run: &mut Run<'_>, number: u64, seed: Option<u64>) -> Result<Walked, Halt> {
        if let Some(seed) = seed {
            run.rng = Rng::new(derive(seed, Purpose::Walk, number));
        }
        let mut unexpanded = run.view.max_depth;
        if let Length::Varied(length) = self.length {
            let steps = length(u32::try_from(number).unwrap_or(u32::MAX));
            unexpanded = unexpanded.min(steps.saturating_add(run.uncounted_levels()));
        }
        self.walker.walk(run, Bounds { unexpanded, last: self.last }, &mut self.drawing)
    }
}

/// A walk that is drawn uniformly.
struct Drawing {
    over: Over,
    /// Instead of the generator of the run.
    old: Option<Box<CRand>>,
    distinct: Vec<u32>,
    trail: Trail,
}

impl Drawing {
    #[inline]
    fn draw(&mut self, run: &mut Run<'_>, choices: usize) -> usize {
        match &mut self.old {
            None => run.rng.index(choices),
            Some(old) => choices - 1 - old.below(choices as u64) as usize,
        }
    }
}

impl Steps for Drawing {
    fn begin(&mut self, run: &mut Run<'_>, initial: &[u32]) {
        match &mut self.trail {
            Trail::None => {}
            Trail::Choices(choices) => choices.clear(),
            Trail::States(states) => states.begin(run, initial),
            Trail::FirstMet(pointers) => pointers.begin(initial),
        }
    }

    #[inline]
    fn see(&mut self, _: &mut Run<'_>, _: &[u32], successors: &Successors) {
        if let Trail::FirstMet(pointers) = &mut self.trail {
            pointers.consider(successors);
        }
    }

    #[inline]
    fn choose(&mut self, run: &mut Run<'_>, successors: &Successors) -> usize {
        match self.over {
            Over::Transitions => self.draw(run, successors.len()),
            Over::States => {
                distinct_targets(successors, &mut self.distinct);
                let drawn = self.draw(run, self.distinct.len());
                self.distinct[drawn] as usize
            }
        }
    }

    #[inline]
    fn enter(&mut self, run: &mut Run<'_>, choice: usize, state: &[u32]) {
        match &mut self.trail {
            Trail::None => {}
            Trail::Choices(choices) => choices.push(choice as u32),
            Trail::States(states) => states.step(run, state),
            Trail::FirstMet(pointers) => pointers.enter(choice),
        }
    }

    fn path(&self) -> Path {
        match &self.trail {
            Trail::None => Path::States(Vec::new()),
            Trail::Choices(choices) => Path::Choices(choices.clone()),
            Trail::States(states) => Path::States(states.states.clone()),
            Trail::FirstMet(pointers) => pointers.path(),
        }
    }
}

/// What is remembered of a walk.
enum Trail {
    None,
    Choices(Vec<u32>),
    States(LoopErased),
    FirstMet(Box<FirstMet>),
}

/// The walk so far with its loops erased: the states still on it, and where each one is.
#[derive(Default)]
struct LoopErased {
    width: usize,
    states: Vec<u32>,
    hashes: Vec<u64>,
    position: FxHashMap<u64, usize>,
}

impl LoopErased {
    fn begin(&mut self, run: &mut Run<'_>, initial: &[u32]) {
        self.width = initial.len();
        self.states.clear();
        self.hashes.clear();
        self.position.clear();
        self.step(run, initial);
    }

    fn step(&mut self, run: &mut Run<'_>, state: &[u32]) {
        let hash = run.view.explorer.content_hash(state);
        if let Some(&at) = self.position.get(&hash)
            && &self.states[at * self.width..(at + 1) * self.width] == state
        {
            for dropped in self.hashes.drain(at + 1..) {
                self.position.remove(&dropped);
            }
            self.states.truncate((at + 1) * self.width);
            return;
        }
        self.position.insert(hash, self.hashes.len());
        self.hashes.push(hash);
        self.states.extend_from_slice(state);
    }
}
