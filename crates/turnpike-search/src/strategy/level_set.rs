//! Shared by the level-based strategies: the loop over levels, the states of a level, and a count
//! of the states met.

use turnpike_model::Successors;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{Fingerprints, ROOT, Visited, quick_hash};

/// How a strategy chooses the next level among the successors of this one.
pub(crate) trait Selection {
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

    /// Enters the chosen states into the empty `level`, forgets the others, and tells whether there were any.
    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        considered: &mut Considered,
    ) -> bool;
}

/// Goes from level to level: Q₀ is the initial state, Q_{j+1} what the selection makes of the successors of Q_j.
pub(crate) fn by_levels(run: &mut Run<'_>, selection: &mut impl Selection) -> Result<StopReason, Halt> {
    let (mut visited, mut considered) = (run.visited(), Considered::new());
    let outcome = levels(run, selection, &mut visited, &mut considered);
    run.counters.considered = considered.count();
    run.counters.odds = visited.odds();
    outcome
}

fn levels(
    run: &mut Run<'_>,
    selection: &mut impl Selection,
    visited: &mut Visited,
    considered: &mut Considered,
) -> Result<StopReason, Halt> {
    let mut level = Level::first(run, visited)?;
    let initial = run.view.explorer.content_hash(&level.states);
    considered.add(initial);
    considered.visit(initial);
    let (mut depth, mut passed_over) = (0, false);
    while !level.is_empty() {
        if depth == run.view.max_depth {
            return Ok(StopReason::MaxDepth);
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
    }
    // While nothing was passed over, every reachable state was expanded.
    Ok(if passed_over { StopReason::Finished } else { StopReason::Exhausted })
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
        level.enter(run, visited, &state, ROOT, 0);
        Ok(level)
    }

    /// Adds a state to the level and to the visited, unless it was visited before.
    pub(crate) fn enter(
        &mut self,
        run: &mut Run<'_>,
        visited: &mut Visited,
        state: &[u32],
        parent: u32,
        choice: u32,
    ) {
        if let Some(id) = visited.insert(&mut *run.view.explorer, state, parent, choice) {
            self.ids.push(id);
            self.states.extend_from_slice(state);
        }
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

/// Counts distinct states by their content hash, up to a bound beyond which it is not worth the memory.
pub(crate) struct Considered {
    prints: Option<Fingerprints>,
}

impl Considered {
    const MOST: usize = 1 << 24;

    pub(crate) fn new() -> Self {
        Considered { prints: Some(Fingerprints::default()) }
    }

    /// Counts a state, and tells what is known of it.
    #[inline]
    pub(crate) fn add(&mut self, content_hash: u64) -> Acquaintance {
        let Some(prints) = &mut self.prints else { return Acquaintance::Unknown };
        match prints.meet(content_hash) {
            None if prints.len() > Self::MOST => {
                self.prints = None;
                Acquaintance::Never
            }
            None => Acquaintance::Never,
            Some(false) => Acquaintance::Unvisited,
            Some(true) => Acquaintance::Unknown,
        }
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

    /// The number of distinct states, if they were few enough to be counted.
    pub(crate) fn count(&self) -> Option<u64> {
        self.prints.as_ref().map(|prints| prints.len() as u64)
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
