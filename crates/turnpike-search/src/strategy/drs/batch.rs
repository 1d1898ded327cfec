//! Walks in batches, followed ahead by several threads with the result of one.
//!
//! The walks of a batch begin at nodes drawn from the fringe at once, and each draws from a generator
//! of its own. So helpers can guess where a walk will go: they follow it as far as the states known at
//! the beginning of the batch tell, and keep the transitions that they compute. Then one thread makes
//! the walks in their order, as it would without helpers, and looks up what they kept. A wrong guess
//! costs time, and changes nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use turnpike_model::{Explorer, Successors};

use super::completed::Completed;
use super::walks::Walks;
use crate::error::Halt;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::store::ExactStore;
use crate::strategy::level_set::distinct_targets;
use crate::witness::Path;

/// States that a helper expands for one walk: twice as many as were of use before, within these bounds.
const REACH: std::ops::RangeInclusive<usize> = 64..=4096;

/// Batches of walks from the fringe.
pub(super) struct Batches<'m> {
    /// Walks in a batch.
    size: usize,
    /// The number of the next walk.
    next: u64,
    /// Who follows walks ahead; nobody if the run has one thread.
    helpers: Vec<Box<dyn Explorer + 'm>>,
    reach: usize,
    /// States that the last one expanded.
    states: u64,
}

/// Expanding, with what a helper kept for the walk under way. Whether helpers pay is measured, not guessed:
/// only the speed depends on the answer.
#[derive(Default)]
pub(super) struct Expansions {
    ahead: Option<Ahead>,
    /// Whether expansions are timed, how many there were, and what those took that were timed.
    timed: bool,
    count: u64,
    time: Duration,
    samples: u32,
}

/// One in this many expansions is timed.
const SAMPLE: u64 = 16;
const MIN_SAMPLES: u32 = 16;
/// What expanding the states of a batch must take so that starting threads for it pays.
const WORTHWHILE: Duration = Duration::from_millis(1);

/// What a helper computed for a walk.
pub(super) struct Ahead {
    /// The states that it expanded, in order.
    states: ExactStore,
    all: Successors,
    /// Where the transitions of each end in `all`.
    ends: Vec<usize>,
    /// How many were looked up.
    used: usize,
}

/// A walk about to begin.
struct Start {
    node: u32,
    untried: Vec<u32>,
    seed: u64,
}

impl<'m> Batches<'m> {
    pub(super) fn new(run: &Run<'m>, size: u32) -> Self {
        let helpers = if size > 1 && run.team.threads > 1 { run.team.threads } else { 0 };
        let helpers = (0..helpers).map(|_| run.model.explorer()).collect();
        Batches { size: size as usize, next: 0, helpers, reach: *REACH.start(), states: 0 }
    }

    /// A batch of walks from random nodes of the fringe; false if there is none.
    pub(super) fn walk(&mut self, run: &mut Run<'m>, walks: &mut Walks<Completed>) -> Result<bool, Halt> {
        if self.size == 1 {
            return walks.walk_from_fringe(run);
        }
        walks.terrain.expansions.timed = !self.helpers.is_empty();
        let pays = || run.options.eager_threads || walks.terrain.expansions.are_worth(self.states);
        let with_helpers = !self.helpers.is_empty() && pays();
        let before = run.counters.states;
        let nodes = walks.fringe.sample(self.size, &mut run.rng);
        if nodes.is_empty() {
            return Ok(false);
        }
        let starts: Vec<Start> = (self.next..)
            .zip(nodes)
            .map(|(number, node)| Start {
                node,
                untried: walks.fringe.get(node).cloned().unwrap_or_default(),
                seed: derive(run.seed, Purpose::Walk, number),
            })
            .collect();
        self.next += starts.len() as u64;
        let mut guesses: Vec<Option<Ahead>> = starts.iter().map(|_| None).collect();
        if with_helpers {
            self.guess(run, &walks.terrain, &starts, &mut guesses);
        }
        let mut used = 0;
        for (start, guess) in starts.into_iter().zip(guesses) {
            // What a walk found may change where others begin.
            if walks.terrain.depth_begins_to_matter() {
                break;
            }
            // An earlier walk of the batch may have taken the node.
            let Some(untried) = walks.fringe.remove(start.node) else { continue };
            walks.terrain.expansions.ahead = guess;
            let rng = std::mem::replace(&mut run.rng, Rng::new(start.seed));
            let outcome = walks.walk_from(run, start.node, untried);
            run.rng = rng;
            used = used.max(walks.terrain.expansions.ahead.take().map_or(0, |ahead| ahead.used));
            outcome?;
        }
        if with_helpers {
            self.reach = (2 * used).clamp(*REACH.start(), *REACH.end());
        }
        self.states = run.counters.states - before;
        Ok(true)
    }

    /// Lets helpers compute what they can for these walks.
    fn guess(&mut self, run: &Run<'_>, known: &Completed, starts: &[Start], guesses: &mut [Option<Ahead>]) {
        // The limits say how much can be needed.
        let most = usize::try_from(run.states_left()).unwrap_or(usize::MAX).min(self.reach);
        let (next, made) = (AtomicUsize::new(0), Mutex::new(guesses));
        let interrupt = run.control.interrupt;
        std::thread::scope(|scope| {
            for explorer in &mut self.helpers {
                let (next, made) = (&next, &made);
                scope.spawn(move || {
                    while let Some((index, start)) = {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        starts.get(index).map(|start| (index, start))
                    } {
                        if interrupt.load(Ordering::Relaxed) {
                            return;
                        }
                        let guess = Guess::new(&mut **explorer, known).follow(start, most);
                        made.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(guess);
                    }
                });
            }
        });
    }
}

/// A helper's way along a walk. States have numbers of its own.
struct Guess<'g> {
    explorer: &'g mut dyn Explorer,
    known: &'g Completed,
    states: ExactStore,
    /// By state: whether a walk may enter it, as far as the helper knows.
    open: Vec<bool>,
    one: Successors,
    distinct: Vec<u32>,
    ahead: Ahead,
}

impl<'g> Guess<'g> {
    fn new(explorer: &'g mut dyn Explorer, known: &'g Completed) -> Self {
        let width = known.width();
        Guess {
            explorer,
            known,
            states: ExactStore::new(width),
            open: Vec::new(),
            one: Successors::new(width),
            distinct: Vec::new(),
            ahead: Ahead {
                states: ExactStore::new(width),
                all: Successors::new(width),
                ends: Vec::new(),
                used: 0,
            },
        }
    }

    /// Makes the draws of [`Walks::walk_from`], and expands what they lead to.
    fn follow(mut self, start: &Start, most: usize) -> Ahead {
        let mut rng = Rng::new(start.seed);
        let mut state = Vec::new();
        let mut load = |guess: &mut Self, node: u32| {
            guess.known.load(node, &mut state);
            guess.meet(&state)
        };
        let from = load(&mut self, start.node);
        self.open[from as usize] = false;
        let mut untried: Vec<u32> = start.untried.iter().map(|&child| load(&mut self, child)).collect();
        if !self.known.is_expanded(start.node) {
            let Some(below) = self.expand(from) else { return self.ahead };
            untried = below;
        }
        let mut depth = self.known.depth(start.node);
        while !untried.is_empty() && self.ahead.ends.len() < most {
            let child = untried.swap_remove(rng.index(untried.len()));
            if !std::mem::take(&mut self.open[child as usize]) {
                continue;
            }
            if depth + 1 >= self.known.bound() {
                break;
            }
            let Some(below) = self.expand(child) else { break };
            if !self.one.is_empty() {
                untried = below;
                depth += 1;
            }
        }
        self.ahead
    }

    /// The number of a state.
    fn meet(&mut self, state: &[u32]) -> u32 {
        let (id, new) = self.states.insert(state);
        if new {
            self.open.push(self.known.may_enter(state));
        }
        id
    }

    /// Expands a state and returns its distinct children that may be entered; `None` if that is an error.
    fn expand(&mut self, id: u32) -> Option<Vec<u32>> {
        let mut one = std::mem::take(&mut self.one);
        let state = self.states.get(id);
        let outcome = self.explorer.successors(state, &mut one);
        if outcome.is_ok() {
            let (_, new) = self.ahead.states.insert(state);
            debug_assert!(new, "a walk expands a state once");
            self.ahead.all.append(&one);
            self.ahead.ends.push(self.ahead.all.len());
            distinct_targets(&one, &mut self.distinct);
        }
        let mut below = Vec::new();
        if outcome.is_ok() {
            for at in 0..self.distinct.len() {
                let child = self.meet(one.state(self.distinct[at] as usize));
                if self.open[child as usize] {
                    below.push(child);
                }
            }
        }
        self.one = one;
        outcome.ok().map(|()| below)
    }
}

impl Expansions {
    /// Whether it takes long enough to expand so many states.
    fn are_worth(&self, states: u64) -> bool {
        let all = self.time.as_secs_f64() / f64::from(self.samples.max(1)) * states as f64;
        self.samples >= MIN_SAMPLES && all > WORTHWHILE.as_secs_f64()
    }

    /// Expands a state as [`Run::expand`] does, without computing what a helper kept.
    pub(super) fn expand(
        &mut self,
        run: &mut Run<'_>,
        (state, depth): (&[u32], u32),
        out: &mut Successors,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        let find = |ahead: &Ahead| ahead.states.find(state).map(|index| index as usize);
        if let Some((ahead, index)) = self.ahead.as_mut().and_then(|ahead| find(ahead).map(|at| (ahead, at)))
        {
            let first = index.checked_sub(1).map_or(0, |before| ahead.ends[before]);
            ahead.used += 1;
            run.admit()?;
            run.accept(state, depth, path)?;
            out.clear();
            out.append_range(&ahead.all, first..ahead.ends[index]);
            return run.count(depth, out.len(), Ok(()), path);
        }
        self.count += 1;
        let start = (self.timed && self.count.is_multiple_of(SAMPLE)).then(Instant::now);
        run.expand(state, depth, out, path)?;
        if let Some(start) = start {
            self.time += start.elapsed();
            self.samples += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use turnpike_model::{Label, LabelId, Model, ModelInfo, StepError};

    use super::*;
    use crate::options::SearchOptions;
    use crate::search;
    use crate::strategy::{Drs, Strategy};

    /// A ternary tree of numbers, which counts what the explorer that was made first expands.
    struct Tree {
        info: ModelInfo,
        explorers: AtomicU64,
        by_first: AtomicU64,
    }

    impl Model for Tree {
        fn info(&self) -> &ModelInfo {
            &self.info
        }
        fn explorer(&self) -> Box<dyn Explorer + '_> {
            Box::new(Climber { tree: self, first: self.explorers.fetch_add(1, Ordering::Relaxed) == 0 })
        }
        fn left_out(&self) -> Option<String> {
            None
        }
    }

    struct Climber<'t> {
        tree: &'t Tree,
        first: bool,
    }

    impl Explorer for Climber<'_> {
        fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
            *out = vec![0];
            Ok(())
        }
        fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
            self.tree.by_first.fetch_add(self.first.into(), Ordering::Relaxed);
            out.clear();
            if state[0] < 9_841 {
                (1..=3).for_each(|child| out.push(LabelId(0), &[3 * state[0] + child]));
            }
            Ok(())
        }
        fn label(&mut self, _: LabelId) -> Label {
            Label::parse("down")
        }
        fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
            *out = vec![state[0].to_string()];
        }
    }

    #[test]
    fn what_helpers_expand_is_not_expanded_again() {
        let by_first = |threads| {
            let mut info = ModelInfo::new("tree", 1);
            info.parameters = vec!["number".to_owned()];
            let tree = Tree { info, explorers: AtomicU64::new(0), by_first: AtomicU64::new(0) };
            let drs = Drs { walks: Some(1), batch: Some(16), ..Drs::default() };
            let options = SearchOptions {
                objectives: vec!["action up".parse().expect("an objective")],
                threads,
                eager_threads: true,
                ..SearchOptions::new(Strategy::from(drs))
            };
            let report = search(&tree, &options, &|_| {}, &false.into()).expect("a report").runs.remove(0);
            assert_eq!(report.states, 29_524);
            tree.by_first.into_inner()
        };
        assert_eq!(by_first(1), 29_524);
        // What is left to the first: the first walk, and walks that another one of the batch led astray.
        let left = by_first(2);
        assert!(left < 3_000, "{left} of 29524 states are expanded by the first explorer");
    }
}
