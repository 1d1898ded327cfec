//! Breadth-first search by owners: all successors are kept.

use turnpike_model::Explorer;

use super::mail::Batch;
use super::order::{Entry, Ranges, source_of};
use super::worker::{Place, Worker};
use super::{Crew, Keeper, Standing, for_each};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};

/// Keeps all states that arrive, and how the new ones were discovered first.
pub(crate) struct Breadth {
    visited: Visited,
    /// The number of the first state that this level brought.
    first_new: u32,
    /// The least discovery of each new state.
    keys: Vec<u64>,
    /// Whether they are noted.
    ordered: bool,
    scratch: Vec<u32>,
}

impl Breadth {
    pub(crate) fn new(visited: Visited, ordered: bool) -> Self {
        Breadth { visited, first_new: 0, keys: Vec::new(), ordered, scratch: Vec::new() }
    }
}

impl Keeper for Breadth {
    const BY_CONTENT: bool = false;
    const KEEPS_ALL: bool = true;

    fn insert(&mut self, state: &[u32]) -> u32 {
        self.visited.insert_exact(state, ROOT).0
    }

    fn take(&mut self, _: &mut dyn Explorer, _: u32, batch: &Batch) {
        self.visited.insert_words(&batch.words, batch.count, &mut self.scratch);
        if !self.ordered {
            return;
        }
        for (&id, &key) in self.scratch.iter().zip(&batch.keys) {
            // States of earlier levels are none of the new ones.
            let Some(slot) = id.checked_sub(self.first_new) else { continue };
            match self.keys.get_mut(slot as usize) {
                Some(least) => *least = key.min(*least),
                None => self.keys.push(key),
            }
        }
    }

    fn visited(&self) -> &Visited {
        &self.visited
    }

    fn end_restoring(&mut self) {
        self.first_new = self.visited.len() as u32;
    }

    /// Nothing: whoever counts the new states counts those that were discovered early enough.
    fn roll_back(&mut self) -> bool {
        false
    }
}

/// What came of a search by owners, besides what the run counted.
pub(crate) struct Explored {
    pub(crate) outcome: Result<StopReason, Halt>,
    /// States that were met.
    pub(crate) states: u64,
    pub(crate) deadlocks: u64,
    pub(crate) levels: u64,
    /// Bytes of all stores.
    pub(crate) bytes: u64,
}

/// Goes on with a breadth-first search that has `visited` so many states and now comes to those
/// numbered `level`, at `depth`. `deadlocks` as in [`Desk`](super::Desk).
pub(crate) fn breadth_first(
    run: &mut Run<'_>,
    visited: Visited,
    level: std::ops::Range<u32>,
    depth: u32,
    deadlocks: Option<bool>,
) -> Result<Explored, Halt> {
    let (store, width, paths) = (run.options.store, run.width(), visited.has_parents());
    let mut crew = Crew::new(run, paths, || Breadth::new(Visited::new(store, width, false), !run.any_order))?;
    crew.deadlocks = deadlocks;
    let mut standing = Standing { depth, ..Standing::default() };
    match crew.restore(run)? {
        Some(restored) => standing = restored,
        None => crew.adopt(&visited, level, &mut *run.view.explorer),
    }
    drop(visited);
    crew.workers.iter_mut().for_each(|worker| worker.keeper.end_restoring());
    let mut schedule = crew.schedule(run)?;
    let mut known = crew.sum_states()?;
    let outcome = loop {
        let depth = standing.depth;
        if crew.size == 0 {
            break Ok(StopReason::Exhausted);
        }
        if depth == run.view.max_depth {
            break Ok(StopReason::MaxDepth);
        }
        let expanded = crew.expand(run, depth);
        standing.deadlocks += crew.tally().deadlocks;
        if let Err(halt) = expanded {
            break Err(halt);
        }
        if let Err(halt) = crew.advance() {
            break Err(halt);
        }
        standing.depth += 1;
        known += u64::from(crew.size);
        if let Err(halt) = crew.save(run, &mut schedule, standing) {
            break Err(halt);
        }
    };
    let Standing { depth, deadlocks, .. } = standing;
    let bytes = crew.workers.iter().map(|worker| worker.keeper.visited.bytes() as u64).sum();
    let mut explored = Explored { outcome, states: crew.states(), deadlocks, levels: depth.into(), bytes };
    if let Some(peers) = &crew.peers {
        // Of a level in which a process was lost, only what was agreed on before counts.
        explored.states = known;
        if let Ok(sums) = peers.sum(&[crew.states(), bytes]) {
            (explored.states, explored.bytes) = (sums[0], sums[1]);
        }
    }
    explored.outcome = crew.disband(run, explored.outcome);
    Ok(explored)
}

impl<'m> Crew<'m, Breadth> {
    /// States that workers of this process met, of those in the level under way what counts.
    fn states(&self) -> u64 {
        let counted = |worker: &Worker<'m, Breadth>| {
            let Breadth { visited, first_new, keys, ordered, .. } = &worker.keeper;
            if !ordered {
                return visited.len() as u64;
            }
            let new = keys.iter().filter(|&&key| source_of(key) < self.counted).count();
            u64::from(*first_new) + new as u64
        };
        self.workers.iter().map(counted).sum()
    }

    /// States that workers of all processes met.
    fn sum_states(&self) -> Result<u64, Halt> {
        let own = self.states();
        self.peers.as_ref().map_or(Ok(own), |peers| Ok(peers.sum(&[own])?[0]))
    }

    /// Goes to the next level, and notes how its states were reached.
    fn advance(&mut self) -> Result<(), Halt> {
        if self.ordered { self.rank_level() } else { self.take_level() }
    }

    /// Goes to the next level, whose states come in the order in which their owners met them, or in that of words.
    fn take_level(&mut self) -> Result<(), Halt> {
        let together = self.is_large();
        for_each(self.workers.iter_mut(), together, |Worker { keeper, ids, ranks, view, .. }| {
            let all = keeper.visited.len() as u32;
            ids.clear();
            ranks.clear();
            ids.extend(keeper.first_new..all);
            // What an explorer keeps for a value serves the states that have it, if they come one after the other.
            if has_names(&mut *view.explorer) {
                sort_by_words(&keeper.visited, ids);
            }
            keeper.first_new = all;
        });
        let own: u64 = self.workers.iter().map(|worker| worker.ids.len() as u64).sum();
        let size = match &self.peers {
            Some(peers) => peers.sum(&[own])?[0],
            None => own,
        };
        self.begin(u32::try_from(size).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Goes to the next level, in the order of a sequential search.
    fn rank_level(&mut self) -> Result<(), Halt> {
        let together = self.is_large();
        let ranges = Ranges::new(self.size, self.all_workers());
        let split = for_each(self.workers.iter().map(|worker| &worker.keeper.keys), together, |keys| {
            ranges.split(keys)
        });
        let (standings, sizes) = match &self.peers {
            Some(peers) => peers.rank(ranges, &split, together)?,
            None => {
                let standings = for_each(0..self.workers.len(), together, |range| {
                    let lists: Vec<&[Entry]> = split.iter().map(|lists| lists[range].as_slice()).collect();
                    ranges.sort(range, &lists)
                });
                let size = |range: &Vec<Vec<_>>| range.iter().map(Vec::len).sum::<usize>() as u32;
                let sizes = standings.iter().map(size).collect();
                (standings, sizes)
            }
        };
        drop(split);
        let mut bases = Vec::with_capacity(standings.len());
        let mut size = 0;
        for range in sizes {
            bases.push(size);
            size += range;
        }
        let places = &self.places;
        for_each(self.workers.iter_mut().enumerate(), together, |(index, worker)| {
            let Worker { keeper, ids, ranks, parents, .. } = worker;
            ids.clear();
            ranks.clear();
            for (standings, base) in standings.iter().zip(&bases) {
                for &(index, place) in &standings[index] {
                    ids.push(keeper.first_new + index);
                    ranks.push(base + place);
                }
            }
            if let Some(parents) = parents {
                for &key in &keeper.keys {
                    let place = places[source_of(key) as usize].load(std::sync::atomic::Ordering::Relaxed);
                    parents.push(Place::unpack(place));
                }
            }
            keeper.keys.clear();
            keeper.first_new = keeper.visited.len() as u32;
        });
        self.begin(size);
        Ok(())
    }
}

/// Whether words of states stand for interned values.
pub(crate) fn has_names(explorer: &mut dyn Explorer) -> bool {
    let names = explorer.portable_states().and_then(|states| Some(states.words()?.names()));
    names.is_some_and(|names| !names.positions.is_empty())
}

/// Puts states in the order of their first two words.
fn sort_by_words(visited: &Visited, ids: &mut [u32]) {
    let mut state = Vec::new();
    let mut key = |id: u32| {
        visited.load(id, &mut state);
        let word = |at: usize| u64::from(state.get(at).copied().unwrap_or_default());
        word(0) << 32 | word(1)
    };
    let mut order: Vec<(u64, u32)> = ids.iter().map(|&id| (key(id), id)).collect();
    order.sort_unstable();
    ids.iter_mut().zip(order).for_each(|(id, (_, sorted))| *id = sorted);
}
