//! Highway and beam search by owners: of all successors the N best form the next level.
//!
//! Each worker keeps the N best of those that it owns. The N best of all are among them: the sorted
//! lists are merged, and the place of a state in the merged list is its rank.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use turnpike_model::Explorer;

use super::mail::Batch;
use super::order::source_of;
use super::owners::owner;
use super::peers::garbled;
use super::worker::{Place, Worker};
use super::{Crew, Keeper, Standing, for_each};
use crate::error::Halt;
use crate::event::Event;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::strategy::{Candidates, Considered, Draw, Preference, Priority};
use crate::wire::{Reader, Writer};

/// Where a search on one thread has come to.
pub(crate) struct Start {
    pub(crate) visited: Visited,
    pub(crate) considered: Considered,
    /// The numbers of the states that are next, and their depth.
    pub(crate) level: Range<u32>,
    pub(crate) depth: u32,
    /// Something was left behind.
    pub(crate) passed_over: bool,
}

/// Keeps the N best states that arrive.
struct Drawn<'p> {
    visited: Visited,
    considered: Considered,
    next: Candidates,
    preference: &'p Preference,
    width: usize,
}

impl Keeper for Drawn<'_> {
    const BY_CONTENT: bool = true;
    const KEEPS_ALL: bool = false;

    fn insert(&mut self, state: &[u32]) -> u32 {
        self.visited.insert_exact(state, ROOT).0
    }

    fn take(&mut self, explorer: &mut dyn Explorer, depth: u32, batch: &Batch) {
        let draw = Draw { preference: self.preference, key: self.preference.key(depth) };
        for (index, (&hash, &origin)) in batch.hashes.iter().zip(&batch.keys).enumerate() {
            let state = &batch.words[index * self.width..(index + 1) * self.width];
            self.next.offer(explorer, draw, hash, state, origin);
            if self.next.is_pressed() {
                self.next.settle(explorer, draw, &self.visited, &mut self.considered);
            }
        }
        self.next.settle(explorer, draw, &self.visited, &mut self.considered);
    }

    fn visited(&self) -> &Visited {
        &self.visited
    }

    fn prints(&self) -> Option<Vec<(u64, bool)>> {
        self.considered.prints()
    }

    fn expect_prints(&mut self, count: usize) {
        self.considered.reserve(count);
    }

    fn add_print(&mut self, print: u64, visited: bool) {
        self.considered.add(print);
        if visited {
            self.considered.visit(print);
        }
    }

    fn give_up_prints(&mut self) {
        self.considered.give_up();
    }

    fn end_restoring(&mut self) {
        self.considered.end_level(0);
    }

    fn roll_back(&mut self) -> bool {
        self.considered.roll_back();
        self.next.clear();
        true
    }
}

/// Goes on with a search that keeps `limit` states a level.
pub(crate) fn highway(
    run: &mut Run<'_>,
    preference: &Preference,
    limit: u64,
    mut start: Start,
) -> Result<StopReason, Halt> {
    let (store, width) = (run.options.store, run.width());
    let mut crew = Crew::new(run, start.visited.has_parents(), || Drawn {
        visited: Visited::new(store, width, false),
        considered: Considered::of_levels(),
        next: Candidates::new(limit, width),
        preference,
        width,
    })?;
    let standing = match crew.restore(run)? {
        Some(restored) => restored,
        None => {
            crew.adopt(&start.visited, start.level, &mut *run.view.explorer);
            start.considered.begin(&mut *run.view.explorer, &start.visited, &[]);
            crew.adopt_considered(start.considered);
            Standing { depth: start.depth, passed_over: start.passed_over, ..Standing::default() }
        }
    };
    drop(start.visited);
    let outcome = crew.go_on(run, standing, limit);
    // What the workers of a lost process met is not known.
    run.counters.considered = crew.count_considered().unwrap_or(None);
    crew.disband(run, outcome)
}

impl<'m> Crew<'m, Drawn<'_>> {
    /// Shares out the hashes of states that were met.
    fn adopt_considered(&mut self, considered: Considered) {
        let workers = self.all_workers() as u64;
        let first = self.workers[0].number;
        match considered.into_prints() {
            Some(prints) => {
                let share = prints.len() / workers as usize;
                self.workers.iter_mut().for_each(|worker| worker.keeper.considered.reserve(share));
                for (print, visited) in prints {
                    let index = owner(print, workers).checked_sub(first);
                    let Some(worker) = index.and_then(|index| self.workers.get_mut(index)) else { continue };
                    let considered = &mut worker.keeper.considered;
                    considered.add(print);
                    if visited {
                        considered.visit(print);
                    }
                }
            }
            None => self.workers.iter_mut().for_each(|worker| worker.keeper.considered.give_up()),
        }
        self.workers.iter_mut().for_each(|worker| worker.keeper.considered.end_level(0));
    }

    fn go_on(&mut self, run: &mut Run<'m>, mut standing: Standing, limit: u64) -> Result<StopReason, Halt> {
        let mut schedule = self.schedule(run)?;
        while self.size > 0 {
            let depth = standing.depth;
            if depth == run.view.max_depth {
                return Ok(StopReason::MaxDepth);
            }
            let expanded = self.expand(run, depth);
            let held = self.workers.iter().map(|worker| worker.keeper.next.held() as u64).sum();
            let held = self.sum(held).unwrap_or(held);
            run.counters.held = run.counters.held.max(Some(held.min(limit.saturating_mul(2))));
            expanded?;
            standing.passed_over |= self.choose(run, limit)?;
            standing.depth += 1;
            if run.options.tell_levels {
                self.tell(run, standing.depth)?;
            }
            self.save(run, &mut schedule, standing)?;
        }
        // While nothing was passed over, every reachable state was expanded.
        Ok(if standing.passed_over { StopReason::Finished } else { StopReason::Exhausted })
    }

    /// The sum of a number over all processes.
    fn sum(&self, own: u64) -> Result<u64, Halt> {
        self.peers.as_ref().map_or(Ok(own), |peers| Ok(peers.sum(&[own])?[0]))
    }

    /// The number of distinct states that all workers met, if they were few enough to be counted.
    fn count_considered(&self) -> Result<Option<u64>, Halt> {
        let own = Considered::count_all(self.workers.iter().map(|worker| &worker.keeper.considered));
        let Some(peers) = &self.peers else { return Ok(own) };
        let sums = peers.sum(&[own.unwrap_or_default(), own.is_none().into()])?;
        Ok((sums[1] == 0 && Considered::can_count(sums[0])).then_some(sums[0]))
    }

    /// The best states that all workers have become the next level; whether there were others.
    fn choose(&mut self, run: &mut Run<'m>, limit: u64) -> Result<bool, Halt> {
        let together = self.is_large();
        for_each(self.workers.iter_mut(), together, |worker| {
            let Drawn { visited, considered, next, .. } = &mut worker.keeper;
            next.sort_best(&mut *worker.view.explorer, visited, considered);
        });
        let (ranks, size) = self.merge(run, usize::try_from(limit).unwrap_or(usize::MAX))?;
        let left = |worker: &Worker<'m, Drawn<'_>>, ranks: &[u32]| {
            worker.keeper.next.passed_over() || worker.keeper.next.entries().len() > ranks.len()
        };
        let passed_over = self.workers.iter().zip(&ranks).any(|(worker, ranks)| left(worker, ranks));
        let passed_over = self.sum(passed_over.into())? > 0;
        let all = self.count_considered()?;
        let places = &self.places;
        for_each(self.workers.iter_mut().zip(ranks), together, |(worker, ranks)| {
            let Worker { keeper, ids, parents, view, .. } = worker;
            let Drawn { visited, considered, next, .. } = keeper;
            considered.end_level(all.unwrap_or(u64::MAX));
            ids.clear();
            let explorer = &mut *view.explorer;
            next.enter_best(ranks.len(), explorer, visited, considered, |_, visited, state, origin| {
                ids.push(visited.insert_exact(state, ROOT).0);
                if let Some(parents) = parents {
                    parents.push(Place::unpack(places[source_of(origin) as usize].load(Relaxed)));
                }
            });
            next.clear();
            worker.ranks = ranks;
        });
        self.begin(size);
        Ok(passed_over)
    }

    /// The ranks of the best candidates of the workers here, at most `limit` over all processes, and how
    /// many these are. The ranks of each worker ascend, like its candidates.
    fn merge(&mut self, run: &mut Run<'m>, limit: usize) -> Result<(Vec<Vec<u32>>, u32), Halt> {
        let lists = self.priorities(limit)?;
        let mut ranks = vec![Vec::new(); lists.len()];
        let size = lists.iter().map(Vec::len).sum::<usize>().min(limit);
        for rank in 0..size {
            let mut best: Option<(usize, Priority)> = None;
            for (worker, list) in lists.iter().enumerate() {
                let Some(&next) = list.get(ranks[worker].len()) else { continue };
                let better = match best {
                    None => true,
                    Some((other, least)) => match next.cmp(&least) {
                        Ordering::Equal => {
                            let places = [(worker, ranks[worker].len()), (other, ranks[other].len())];
                            self.break_tie(run, places)?.is_lt()
                        }
                        order => order.is_lt(),
                    },
                };
                if better {
                    best = Some((worker, next));
                }
            }
            let (worker, _) = best.expect("a candidate is left");
            ranks[worker].push(rank as u32);
        }
        let first = self.workers[0].number;
        Ok((ranks.drain(first..first + self.workers.len()).collect(), size as u32))
    }

    /// The priorities of the candidates of all workers of all processes, each in ascending order.
    fn priorities(&self, limit: usize) -> Result<Vec<Vec<Priority>>, Halt> {
        let own = |worker: &Worker<'m, Drawn<'_>>| -> Vec<Priority> {
            worker.keeper.next.entries().iter().take(limit).map(|entry| entry.priority).collect()
        };
        let own: Vec<Vec<Priority>> = self.workers.iter().map(own).collect();
        let Some(peers) = &self.peers else { return Ok(own) };
        let mut out = Writer::default();
        for list in &own {
            out.count(list.len());
            list.iter().flat_map(|priority| priority.to_longs()).for_each(|half| out.long(half));
        }
        let mut lists = Vec::with_capacity(peers.workers());
        for part in peers.gather(out.as_slice())? {
            let mut reader = Reader::new(&part);
            while let Some(count) = reader.word() {
                let next = |_| Some(Priority::from_longs([reader.long()?, reader.long()?]));
                let list: Option<Vec<Priority>> = (0..count).map(next).collect();
                lists.push(list.ok_or_else(garbled)?);
            }
        }
        Ok(lists)
    }

    /// Compares the portable bytes of candidates, each given by its worker and its place there.
    #[cold]
    fn break_tie(&mut self, run: &mut Run<'m>, places: [(usize, usize); 2]) -> Result<Ordering, Halt> {
        let explorer = &mut *run.view.explorer;
        let mut bytes = |(worker, place): (usize, usize)| {
            let own = self.own(worker as u32).map(|worker| &worker.keeper.next);
            let mut say = || {
                let mut out = Vec::new();
                let next = own.expect("candidates of this process");
                explorer.encode(next.state(&next.entries()[place]), &mut out);
                out
            };
            match &self.peers {
                Some(peers) => peers.hear(worker, say),
                None => Ok(say()),
            }
        };
        Ok(bytes(places[0])?.cmp(&bytes(places[1])?))
    }

    /// Tells which states the level holds, in order.
    fn tell(&mut self, run: &Run<'m>, depth: u32) -> Result<(), Halt> {
        let (mut out, mut state) = (Writer::default(), Vec::new());
        for worker in &mut self.workers {
            for (&id, &rank) in worker.ids.iter().zip(&worker.ranks) {
                worker.keeper.visited.load(id, &mut state);
                out.word(rank);
                out.long(worker.view.explorer.content_hash(&state));
            }
        }
        let parts = match &self.peers {
            Some(peers) => peers.gather(out.as_slice())?,
            None => vec![out.finish()],
        };
        let mut states = vec![0; self.size as usize];
        for part in &parts {
            let mut reader = Reader::new(part);
            while let (Some(rank), Some(hash)) = (reader.word(), reader.long()) {
                *states.get_mut(rank as usize).ok_or_else(garbled)? = hash;
            }
        }
        (run.control.events)(&Event::Level { run: run.number, depth, states });
        Ok(())
    }
}
