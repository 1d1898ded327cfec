//! Shared by the level-based strategies: the loop over levels, the states of a level, and a count
//! of the states met.

use std::ops::Range;

use turnpike_model::{Explorer, Successors};

use crate::crew::{self, Start};
use crate::error::Halt;
use crate::event::Event;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{Fingerprints, ROOT, Visited, quick_hash};

/// How a strategy chooses the next level among the successors of this one.
pub(crate) trait Selection {
    /// Whether several threads can go on with it.
    const CAN_BE_SHARED: bool = false;
    /// Whether it counts states by their hashes only once it [begins](Considered::begin) to leave some behind. Up to then
    /// all that were met are visited or held.
    const COUNTS_LATE: bool = false;

    /// Takes note of the successors of a state of the level at `depth`; the second of `from` is the state's id.
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        depth: u32,
        from: (&Successors, u32),
    );

    /// Decides on what was put off. Called once a level, also when a limit ended it.
    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        let _ = (run, visited, considered);
    }

    /// How many candidates are held for the next level.
    fn held(&self) -> usize;

    /// Enters the chosen states into the empty `level`, forgets the others, and returns whether
    /// there were any.
    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        considered: &mut Considered,
    ) -> bool;

    /// Goes on with several threads, if it [can](Self::CAN_BE_SHARED).
    fn share_out(&mut self, run: &mut Run<'_>, start: Start) -> Result<StopReason, Halt> {
        let _ = (run, start);
        unreachable!("this selection stays on one thread")
    }
}

/// Goes from level to level: Q₀ is the initial state, Q_{j+1} what the selection makes of the successors of Q_j.
pub(crate) fn by_levels<S: Selection>(run: &mut Run<'_>, selection: &mut S) -> Result<StopReason, Halt> {
    let late = S::COUNTS_LATE && run.options.store.is_exact();
    let (mut visited, mut considered) = (run.visited(), Considered { late, ..Considered::new() });
    let ended = levels(run, selection, &mut visited, &mut considered);
    let outcome = match crew::agree(run, ended) {
        Ok(Ended::Stop(stop)) => Ok(stop),
        Ok(Ended::WorthThreads { level, depth, passed_over }) => {
            return selection.share_out(run, Start { visited, considered, level, depth, passed_over });
        }
        Err(halt) => Err(halt),
    };
    run.counters.considered = considered.count((visited.len() + selection.held()) as u64);
    run.counters.odds = visited.odds();
    outcome
}

/// How the part of a search on one thread ended.
enum Ended {
    Stop(StopReason),
    /// Several threads should go on with this level.
    WorthThreads {
        level: Range<u32>,
        depth: u32,
        passed_over: bool,
    },
}

fn levels<S: Selection>(
    run: &mut Run<'_>,
    selection: &mut S,
    visited: &mut Visited,
    considered: &mut Considered,
) -> Result<Ended, Halt> {
    let mut level = Level::first(run, visited)?;
    let initial = run.view.explorer.content_hash(&level.states);
    considered.add(initial);
    considered.visit(initial);
    let (mut depth, mut passed_over) = (0, false);
    while !level.is_empty() {
        if depth == run.view.max_depth {
            return Ok(Ended::Stop(StopReason::MaxDepth));
        }
        if S::CAN_BE_SHARED && crew::is_worth(run, level.ids.len(), visited.len()) {
            // Whatever enters a level gets the next number.
            let end = visited.len() as u32;
            let level = end - level.ids.len() as u32..end;
            return Ok(Ended::WorthThreads { level, depth, passed_over });
        }
        let ids = &level.ids;
        let outcome = run.expand_level(
            &level.states,
            depth,
            visited,
            |visited, index| visited.path(ids[index]),
            |run, visited, index, state, successors| {
                selection.offer(run, visited, considered, depth, (successors, ids[index]));
                run.check(state, successors, &|| visited.path(ids[index]))
            },
        );
        selection.settle(run, visited, considered);
        run.counters.held = run.counters.held.max(Some(selection.held() as u64));
        outcome?;
        level.leave(visited);
        level.clear();
        passed_over |= selection.choose(run, &mut level, visited, considered);
        depth += 1;
        if run.options.tell_levels {
            level.tell(run, depth);
        }
    }
    // While nothing was passed over, every reachable state was expanded.
    Ok(Ended::Stop(if passed_over { StopReason::Finished } else { StopReason::Exhausted }))
}

/// The states of one level, flat, with their ids among the visited.
#[derive(Default)]
pub(crate) struct Level {
    pub(crate) states: Vec<u32>,
    pub(crate) ids: Vec<u32>,
}

impl Level {
    /// The level that holds the initial state alone; it is visited.
    pub(crate) fn first(run: &mut Run<'_>, visited: &mut Visited) -> Result<Self, Halt> {
        let mut level = Level::default();
        let state = run.initial()?;
        level.enter(&mut *run.view.explorer, visited, &state, ROOT, 0);
        Ok(level)
    }

    /// Adds a state to the level and to the visited, unless it was visited before.
    pub(crate) fn enter(
        &mut self,
        explorer: &mut dyn Explorer,
        visited: &mut Visited,
        state: &[u32],
        parent: u32,
        choice: u32,
    ) {
        if let Some(id) = visited.insert(explorer, state, parent, choice) {
            self.ids.push(id);
            self.states.extend_from_slice(state);
        }
    }

    /// Reports which states it holds.
    fn tell(&self, run: &mut Run<'_>, depth: u32) {
        let hash = |state| run.view.explorer.content_hash(state);
        let states = self.states.chunks(run.model.info().width.max(1)).map(hash).collect();
        (run.control.events)(&Event::Level { run: run.number, depth, states });
    }

    /// Forgets the states, keeping the memory: ready for another level.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.ids.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Lets a lossy store give back what only this level needed.
    pub(crate) fn leave(&self, visited: &mut Visited) {
        for &id in &self.ids {
            visited.forget(id);
        }
    }
}

/// What the hashes of states met before tell about a state, for certain: a state that was met, or visited, always has its
/// hash noted so. The reverse may fail when hashes collide, and is never concluded.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Acquaintance {
    /// Never met.
    Never,
    /// Met perhaps, but never visited.
    Unvisited,
    /// Nothing is certain.
    Unknown,
}

/// Hashes that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 128;

/// Counts distinct states by their content hash, up to a bound beyond which it is not worth the memory.
pub(crate) struct Considered {
    prints: Option<Fingerprints>,
    /// It did not begin yet, because nothing was left behind.
    late: bool,
    /// Where levels can be rolled back: the hashes that this one brought.
    fresh: Option<Vec<u64>>,
}

impl Considered {
    const MOST: usize = 1 << 24;

    pub(crate) fn new() -> Self {
        Considered { prints: Some(Fingerprints::default()), late: false, fresh: None }
    }

    /// Begins to count, if it did not yet: all that were met are visited, or have these hashes.
    pub(crate) fn begin(&mut self, explorer: &mut dyn Explorer, visited: &Visited, hashes: &[u64]) {
        if !std::mem::take(&mut self.late) {
            return;
        }
        let count = visited.len() + hashes.len();
        if count > Self::MOST {
            return self.give_up();
        }
        self.reserve(count);
        let mut state = Vec::new();
        let mut together = [0; TOGETHER];
        for start in (0..visited.len()).step_by(TOGETHER) {
            let ids = start as u32..visited.len().min(start + TOGETHER) as u32;
            for (hash, id) in together.iter_mut().zip(ids.clone()) {
                visited.load(id, &mut state);
                *hash = explorer.content_hash(&state);
                self.prefetch(*hash);
            }
            for &hash in &together[..ids.len()] {
                self.add(hash);
                self.visit(hash);
            }
        }
        for hashes in hashes.chunks(TOGETHER) {
            hashes.iter().for_each(|&hash| self.prefetch(hash));
            hashes.iter().for_each(|&hash| _ = self.add(hash));
        }
    }

    /// One whose levels can be rolled back. It forgets to count only when it is told to.
    pub(crate) fn of_levels() -> Self {
        Considered { fresh: Some(Vec::new()), ..Self::new() }
    }

    /// Whether it did not begin yet.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// Counts a state, and returns what is known of it.
    #[inline]
    pub(crate) fn add(&mut self, content_hash: u64) -> Acquaintance {
        let Some(prints) = self.prints.as_mut().filter(|_| !self.late) else { return Acquaintance::Unknown };
        match prints.meet(content_hash) {
            None => {
                match &mut self.fresh {
                    Some(fresh) => fresh.push(content_hash),
                    None if prints.len() > Self::MOST => self.prints = None,
                    None => {}
                }
                Acquaintance::Never
            }
            Some(false) => Acquaintance::Unvisited,
            Some(true) => Acquaintance::Unknown,
        }
    }

    /// Ends a level, so that it is not rolled back any more. All parts together count so many states.
    pub(crate) fn end_level(&mut self, all: u64) {
        self.fresh.iter_mut().for_each(Vec::clear);
        if all > Self::MOST as u64 {
            self.prints = None;
        }
    }

    /// Forgets what the level brought.
    pub(crate) fn roll_back(&mut self) {
        let (Some(prints), Some(fresh)) = (&mut self.prints, &mut self.fresh) else { return };
        fresh.drain(..).for_each(|content_hash| prints.remove(content_hash));
    }

    /// Gives the hashes away, each with whether its state was visited; `None` when they are not counted any more.
    pub(crate) fn into_prints(self) -> Option<Vec<(u64, bool)>> {
        self.prints.map(|prints| prints.iter().collect())
    }

    /// The hashes, each with whether its state was visited; `None` when they are not counted any more.
    pub(crate) fn prints(&self) -> Option<Vec<(u64, bool)>> {
        self.prints.as_ref().map(|prints| prints.iter().collect())
    }

    /// Makes room for so many more hashes, if they can be counted.
    pub(crate) fn reserve(&mut self, more: usize) {
        if let Some(prints) = &mut self.prints {
            prints.reserve(more.min(Self::MOST));
        }
    }

    /// Stops counting.
    pub(crate) fn give_up(&mut self) {
        self.prints = None;
        self.late = false;
    }

    /// Notes that a state was visited.
    #[inline]
    pub(crate) fn visit(&mut self, content_hash: u64) {
        if let Some(prints) = &mut self.prints {
            prints.mark(content_hash);
        }
    }

    /// Asks for the memory where the look-up of a hash will begin.
    #[inline]
    pub(crate) fn prefetch(&self, content_hash: u64) {
        if let Some(prints) = &self.prints {
            prints.prefetch(content_hash);
        }
    }

    /// The number of distinct states, if they were few enough to be counted. So many are visited or held.
    pub(crate) fn count(&self, kept: u64) -> Option<u64> {
        if self.late { Some(kept).filter(|&kept| Self::can_count(kept)) } else { self.count_prints() }
    }

    fn count_prints(&self) -> Option<u64> {
        self.prints.as_ref().map(|prints| prints.len() as u64)
    }

    /// The number of distinct states in several parts, if they were few enough to be counted.
    pub(crate) fn count_all<'c>(parts: impl Iterator<Item = &'c Considered>) -> Option<u64> {
        let all: u64 = parts.map(Considered::count_prints).sum::<Option<u64>>()?;
        Self::can_count(all).then_some(all)
    }

    /// Whether so many are few enough to be counted.
    pub(crate) fn can_count(all: u64) -> bool {
        all <= Self::MOST as u64
    }
}

/// Positions of the transitions that lead to distinct states: `succ(s)` as a set, in the front-end's order.
pub(crate) fn distinct_targets(successors: &Successors, out: &mut Vec<u32>) {
    out.clear();
    if successors.len() <= 32 {
        for index in 0..successors.len() {
            let state = successors.state(index);
            if out.iter().all(|&earlier| successors.state(earlier as usize) != state) {
                out.push(index as u32);
            }
        }
    } else {
        // The first with each target, by a hash that only this table knows.
        let slots = (2 * successors.len()).next_power_of_two();
        let mut firsts = vec![u32::MAX; slots];
        for index in 0..successors.len() {
            let state = successors.state(index);
            let mut slot = quick_hash(state) as usize & (slots - 1);
            while firsts[slot] != u32::MAX && successors.state(firsts[slot] as usize) != state {
                slot = (slot + 1) & (slots - 1);
            }
            if firsts[slot] == u32::MAX {
                firsts[slot] = index as u32;
                out.push(index as u32);
            }
        }
    }
}
