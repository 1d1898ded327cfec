//! Owner computes: several threads expand the levels of one search, with the result of one thread.
//!
//! Every worker owns the states whose hash falls to it. It expands those of the level, tests them,
//! and sends their successors to the owners in batches; owners deduplicate. Nothing depends on who
//! owns what or on the order of arrival ([decision 0105](../docs/decisions/0105-owner-computes.md)):
//!
//! - A state of a level has a *rank*, its place in the order of a sequential search. It is derived at
//!   the end of a level from the least discoveries of the states ([`order`]).
//! - The hit, or the error, of least rank is the one that counts. If it ends the search, the level is
//!   rolled back and the states up to that rank are counted again: what a sequential search counts.
//! - A limit on states admits the ranks below what is left of it.
//! - Who only counts needs no ranks ([`Run::any_order`]): states are then expanded as they come.
//!
//! Workers may also be threads of several processes ([`peers`]). Every process then goes through the same
//! levels; what it knows of the others it has gathered from them.

mod breadth;
mod highway;
mod mail;
mod order;
mod owners;
mod parcel;
mod part;
mod peers;
mod save;
mod sent;
mod worker;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use turnpike_model::Explorer;

pub(crate) use self::breadth::{Explored, breadth_first, has_names};
pub(crate) use self::highway::{Start, highway};
use self::mail::{Mailbox, Post, mailboxes};
pub(crate) use self::order::{key, source_of};
use self::owners::Owners;
use self::peers::{Peers, decode, garbled};
pub(crate) use self::peers::{agree, code as stop_code, outside as outside_stop};
pub(crate) use self::save::Standing;
use self::worker::{Desk, Incident, Keeper, Moment, Place, Tally, Worker};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::Sightings;
use crate::run::{Run, View};
use crate::store::{ROOT, Visited};
use crate::wire::{Reader, Writer};
use crate::witness::Path;

/// Threads make a search faster from this many states in a level on, and so many visited before.
const WORTH_LEVEL: usize = 1024;
const WORTH_VISITED: usize = 4096;
/// A level of fewer states is expanded by one thread, which takes the place of every worker in turn.
const WORTH_TOGETHER: u32 = 256;
/// The same where threads are used even if they do not pay.
const EAGER_TOGETHER: u32 = 4;
/// Workers of a process at most; the number of a worker takes two bytes.
const MOST_WORKERS: usize = 255;

/// Whether several threads should go on with a search whose next level has so many states.
pub(crate) fn is_worth(run: &Run<'_>, level: usize, visited: usize) -> bool {
    let large = level >= WORTH_LEVEL && visited >= WORTH_VISITED;
    let saved = run.options.checkpoints.are_wanted();
    (run.team.threads > 1 || run.options.processes.is_some() || saved)
        && (large || run.options.eager_threads || saved)
        && !run.is_concrete()
        && run.options.store.is_exact()
        && run.view.monitor.can_be_shared()
}

/// How a level is expanded.
#[derive(Clone, Copy)]
struct Pass {
    /// Only to count.
    again: bool,
    /// Whether successors are sent to their owners.
    sends: bool,
}

/// Where a search ended.
struct End {
    halt: Halt,
    rank: u32,
    moment: Moment,
    place: Place,
}

fn sum_up(tallies: impl Iterator<Item = Tally>) -> Tally {
    tallies.fold(Tally::default(), |sum, tally| Tally {
        states: sum.states + tally.states,
        transitions: sum.transitions + tally.transitions,
        deadlocks: sum.deadlocks + tally.deadlocks,
    })
}

/// All workers of a search.
pub(crate) struct Crew<'m, K> {
    /// Those of this process.
    pub(crate) workers: Vec<Worker<'m, K>>,
    /// States of the level under way.
    pub(crate) size: u32,
    /// By rank, where the states of the level are; empty when nobody asks for paths.
    pub(crate) places: Vec<AtomicU64>,
    /// States of the level that count: those of lesser rank.
    pub(crate) counted: u32,
    /// What [`Desk::deadlocks`] says.
    pub(crate) deadlocks: Option<bool>,
    /// The other processes, if there are any.
    pub(crate) peers: Option<Peers>,
    /// Who owns what.
    pub(crate) owners: Owners,
    /// What all workers of all processes counted in the level.
    tally: Tally,
    eager: bool,
    /// Whether the states of a level have ranks: see [`Run::any_order`].
    pub(crate) ordered: bool,
}

impl<'m, K: Keeper> Crew<'m, K> {
    /// As many workers as the run has threads, each with an empty keeper.
    pub(crate) fn new(run: &Run<'m>, paths: bool, keeper: impl Fn() -> K) -> Result<Self, Halt> {
        let count = run.team.threads.min(MOST_WORKERS);
        let peers = run.options.processes.as_ref().map(|all| Peers::meet(all, count)).transpose()?;
        let first = peers.as_ref().map_or(0, Peers::first);
        let all = peers.as_ref().map_or(count, Peers::workers);
        let make_view = || View::for_worker(&run.view, run.model, run.options, run.objectives);
        let mut view = make_view()?;
        let (width, far) = (view.width(), peers.is_some());
        let owners = Owners::new(&mut *view.explorer, width, all, K::BY_CONTENT, far, |part| match &peers {
            Some(peers) => peers.agree_on_part(&part, width),
            None => Ok(part),
        })?;
        let worker = |index| -> Result<_, Halt> {
            let owners = owners.clone();
            let kept = (!run.any_order, paths);
            Ok(Worker::new(first + index, make_view()?, keeper(), kept, owners, all))
        };
        Ok(Crew {
            workers: (0..count).map(worker).collect::<Result<_, _>>()?,
            size: 0,
            places: Vec::new(),
            counted: u32::MAX,
            deadlocks: None,
            peers,
            owners,
            tally: Tally::default(),
            eager: run.options.eager_threads,
            ordered: !run.any_order,
        })
    }

    /// Workers of all processes.
    pub(crate) fn all_workers(&self) -> usize {
        self.peers.as_ref().map_or(self.workers.len(), Peers::workers)
    }

    /// The worker with this number, if this process has it.
    fn own(&self, number: u32) -> Option<&Worker<'m, K>> {
        let first = self.workers[0].number;
        self.workers.get((number as usize).checked_sub(first)?)
    }

    /// Shares out the states that were visited; those numbered `level` are next. Every process does the
    /// same, and keeps what it owns.
    fn adopt(&mut self, visited: &Visited, level: Range<u32>, explorer: &mut dyn Explorer) {
        let (mut state, mut places) = (Vec::new(), Vec::with_capacity(visited.len()));
        let (first, count) = (self.workers[0].number, self.all_workers());
        let mut next = vec![0; count];
        for id in 0..visited.len() as u32 {
            visited.load(id, &mut state);
            let number = self.owners.of(explorer, &state);
            let place = Place { worker: number as u32, id: next[number] };
            next[number] += 1;
            let own = number.checked_sub(first).and_then(|index| self.workers.get_mut(index));
            let Some(worker) = own else {
                places.push(place);
                continue;
            };
            let inserted = worker.keeper.insert(&state);
            debug_assert_eq!(inserted, place.id);
            if let Some(parents) = &mut worker.parents {
                let parent = visited.parent(id);
                parents.push(if parent == ROOT { Place::NOWHERE } else { places[parent as usize] });
            }
            if level.contains(&id) {
                worker.ids.push(place.id);
                worker.ranks.push(id - level.start);
            }
            places.push(place);
        }
        self.begin(level.len() as u32);
    }

    /// Makes ready for a level of so many states.
    fn begin(&mut self, size: u32) {
        self.size = size;
        self.places.clear();
        if self.workers.iter().any(|worker| worker.parents.is_some()) {
            self.places.resize_with(size as usize, AtomicU64::default);
        }
    }

    /// Whether the level is large enough for several threads.
    pub(crate) fn is_large(&self) -> bool {
        self.size >= if self.eager { EAGER_TOGETHER } else { WORTH_TOGETHER }
    }

    /// Expands the level and tests it, as a sequential search would. Leaves when the search ends.
    pub(crate) fn expand(&mut self, run: &mut Run<'m>, depth: u32) -> Result<(), Halt> {
        let left = u32::try_from(run.states_left()).unwrap_or(u32::MAX);
        let limit = self.size.min(left);
        let halt = self.pass(run, depth, limit, Pass { again: false, sends: true });
        if let Err(end) = self.replay(run) {
            if matches!(end.halt, Halt::Stop(StopReason::ProcessLost)) || !self.ordered {
                return Err(end.halt);
            }
            return Err(self.end(run, depth, end, halt.is_ok()));
        }
        self.book(run, depth);
        halt?;
        if limit < self.size { Err(Halt::Stop(StopReason::MaxStates)) } else { Ok(()) }
    }

    /// Counts what a sequential search has counted when it comes to its end. `complete`: the level was
    /// not cut short.
    fn end(&mut self, run: &mut Run<'m>, depth: u32, end: End, complete: bool) -> Halt {
        let prefix = end.rank + u32::from(end.moment == Moment::Checked);
        let expanded = self.tally.states;
        if complete && expanded != u64::from(prefix) {
            let mut sends = false;
            for worker in &mut self.workers {
                sends |= worker.keeper.roll_back();
            }
            // Only a limit on time could end it early, and then the counts are free.
            let _ = self.pass(run, depth, prefix, Pass { again: true, sends });
        }
        self.counted = prefix;
        self.book(run, depth);
        if end.moment == Moment::Popped {
            // It counts as expanded, without transitions, and its measures were looked at.
            run.count_level(depth, 1, 0);
            match self.state(run, end.place) {
                Ok(state) => {
                    let View { explorer, monitor, .. } = &mut run.view;
                    let _ = monitor.examine_popped(&mut **explorer, &state, &mut Vec::new());
                }
                Err(halt) => return halt,
            }
        }
        end.halt
    }

    /// The words of a state that is kept somewhere.
    fn state(&mut self, run: &mut Run<'m>, place: Place) -> Result<Vec<u32>, Halt> {
        let mut state = Vec::new();
        if let Some(worker) = self.own(place.worker) {
            worker.keeper.visited().load(place.id, &mut state);
        }
        let Some(peers) = &self.peers else { return Ok(state) };
        let explorer = &mut *run.view.explorer;
        let bytes = peers.hear(place.worker as usize, || {
            let mut out = Vec::new();
            explorer.encode(&state, &mut out);
            out
        })?;
        state.clear();
        decode(explorer, &bytes, &mut state).ok_or_else(garbled)?;
        Ok(state)
    }

    /// Expands the states of a rank below `limit`.
    fn pass(&mut self, run: &mut Run<'m>, depth: u32, limit: u32, pass: Pass) -> Result<(), Halt> {
        let hits_are_real = run.model.approximation().is_none();
        let desk = Desk {
            depth,
            limit,
            last: AtomicU32::new(u32::MAX),
            places: std::mem::take(&mut self.places),
            garbled: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            interrupt: run.control.interrupt,
            deadline: run.deadline(),
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            accept: run.options.accept,
            met: run.findings.met(),
            hits_are_real,
            first_ends: hits_are_real && !run.options.all,
            deadlocks: self.deadlocks,
            recount: pass.again,
            sends: pass.sends,
            ordered: self.ordered,
            together: self.is_large(),
        };
        let far = self.peers.is_some();
        self.workers.iter_mut().for_each(|worker| worker.begin(pass.again, far));
        let waiting: Vec<AtomicUsize> = self.workers.iter().map(|_| AtomicUsize::new(0)).collect();
        let post = self.peers.as_ref().map(|peers| Post::new(peers, waiting.len()));
        let (mut mail, slots) = mailboxes(&waiting, post.as_ref());
        let mut outcome = Ok(());
        let before = (run.counters.states, run.counters.transitions);
        let mut pulse = || {
            let states = before.0 + desk.states.load(Ordering::Relaxed);
            let transitions = before.1 + desk.transitions.load(Ordering::Relaxed);
            if outcome.is_ok() {
                outcome = run.show_life(states, transitions, depth);
            }
            outcome.is_ok()
        };
        std::thread::scope(|scope| {
            if let Some(post) = &post {
                scope.spawn(|| post.deliver(slots, &waiting));
            } else {
                drop(slots);
            }
            expand_all(&mut self.workers, &mut mail, &desk, &mut pulse);
        });
        let stopped = desk.stop.into_inner();
        let lost = desk.garbled.into_inner() || post.is_some_and(|post| post.lost.into_inner());
        self.places = desk.places;
        // Another worker may have looked at the clock, or seen that the user interrupted.
        let outcome = outcome.and(match () {
            () if run.control.interrupt.load(Ordering::Relaxed) => Err(Halt::Stop(StopReason::Interrupted)),
            () if stopped => Err(Halt::Stop(StopReason::MaxTime)),
            () => Ok(()),
        });
        let own = self.own_tally();
        let (outcome, tally) = match &self.peers {
            Some(_) if lost => (Err(garbled()), own),
            Some(peers) => {
                let (outcome, tallies) = peers.agree_on_pass(outcome, own);
                if !pass.again {
                    run.shares.resize(tallies.len(), 0);
                    run.shares.iter_mut().zip(&tallies).for_each(|(share, tally)| *share += tally.states);
                }
                (outcome, sum_up(tallies.into_iter()))
            }
            None => (outcome, own),
        };
        self.tally = tally;
        outcome
    }

    /// Books what happened in the level, in the order of a sequential search, until the search ends.
    fn replay(&mut self, run: &mut Run<'m>) -> Result<(), End> {
        let mut incidents: Vec<Incident> =
            self.workers.iter_mut().flat_map(|worker| std::mem::take(&mut worker.incidents)).collect();
        if let Some(peers) = &self.peers {
            let nowhere = |halt| End { halt, rank: 0, moment: Moment::Expanded, place: Place::NOWHERE };
            incidents = peers.share_incidents(incidents).map_err(nowhere)?;
        }
        incidents.sort_by_key(|incident| (incident.rank, incident.moment));
        for Incident { rank, moment, place, outcome } in incidents {
            // All processes come here, and follow the path together.
            let path = match run.options.witness {
                true => self.path(run, place).map_err(|halt| End { halt, rank, moment, place })?,
                false => Vec::new(),
            };
            let path = || Path::States(path.clone());
            let settled = match outcome {
                Ok(hits) => run.meet(&hits, &path),
                Err(error) => Err(run.step_error(error, &path)),
            };
            settled.map_err(|halt| End { halt, rank, moment, place })?;
        }
        Ok(())
    }

    /// Adds what the workers counted to what the run counted.
    fn book(&mut self, run: &mut Run<'m>, depth: u32) {
        run.count_level(depth, self.tally.states, self.tally.transitions);
    }

    /// What all workers of all processes counted in the level.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// What the workers of this process counted in the level.
    fn own_tally(&self) -> Tally {
        sum_up(self.workers.iter().map(|worker| worker.tally))
    }

    /// The states from the initial one to one that is kept, flat.
    fn path(&mut self, run: &mut Run<'m>, place: Place) -> Result<Vec<u32>, Halt> {
        let (mut at, mut path) = (place, Vec::new());
        while at != Place::NOWHERE {
            at = self.walk_back(run, at, &mut path)?;
        }
        path.reverse();
        Ok(path.concat())
    }

    /// Follows parents from `at` as long as they are in one process, and gives the place where that ends.
    fn walk_back(&mut self, run: &mut Run<'m>, at: Place, path: &mut Vec<Vec<u32>>) -> Result<Place, Halt> {
        let (mut place, mut states) = (at, Vec::new());
        while let Some(worker) = self.own(place.worker).filter(|_| place != Place::NOWHERE) {
            let mut state = Vec::new();
            worker.keeper.visited().load(place.id, &mut state);
            states.push(state);
            place = worker.parents.as_ref().expect("paths need parents").get(place.id);
        }
        let Some(peers) = &self.peers else {
            path.append(&mut states);
            return Ok(place);
        };
        let explorer = &mut *run.view.explorer;
        let part = peers.hear(at.worker as usize, || {
            let mut out = Writer::default();
            out.long(place.pack());
            out.count(states.len());
            states.iter().for_each(|state| out.block(|out| explorer.encode(state, out)));
            out.finish()
        })?;
        let mut reader = Reader::new(&part);
        let place = Place::unpack(reader.long().ok_or_else(garbled)?);
        for _ in 0..reader.word().ok_or_else(garbled)? {
            let mut state = Vec::new();
            let bytes = reader.bytes().ok_or_else(garbled)?;
            decode(explorer, bytes, &mut state).ok_or_else(garbled)?;
            path.push(state);
        }
        Ok(place)
    }

    /// Hands what the workers learnt back to the run. What the search came to counts only if all
    /// processes are still there to say what they learnt.
    pub(crate) fn disband<T>(mut self, run: &mut Run<'m>, outcome: Result<T, Halt>) -> Result<T, Halt> {
        let heard = self.hear_sightings(run);
        for worker in &self.workers {
            run.view.monitor.absorb(&worker.view.monitor);
        }
        match (outcome, heard) {
            (Ok(_) | Err(Halt::Stop(_)), Err(lost)) => Err(lost),
            (outcome, _) => outcome,
        }
    }

    /// Adds what the workers of other processes learnt.
    fn hear_sightings(&mut self, run: &mut Run<'m>) -> Result<(), Halt> {
        let Some(peers) = &self.peers else { return Ok(()) };
        let mut out = Writer::default();
        out.count(self.workers.len());
        for Worker { view: View { explorer, monitor, .. }, .. } in &mut self.workers {
            monitor.sightings(&mut **explorer).write(&mut out);
        }
        let parts = peers.gather(out.as_slice())?;
        for (_, part) in parts.iter().enumerate().filter(|(from, _)| *from != peers.processes.index()) {
            let mut reader = Reader::new(part);
            for _ in 0..reader.word().ok_or_else(garbled)? {
                run.view.monitor.add_sightings(&Sightings::read(&mut reader).ok_or_else(garbled)?);
            }
        }
        Ok(())
    }
}

/// All workers of this process expand their states and take in what others send them, at the same time
/// or one after the other.
fn expand_all<'m, K: Keeper>(
    workers: &mut [Worker<'m, K>],
    mail: &mut [Mailbox<'_>],
    desk: &Desk<'_>,
    pulse: &mut dyn FnMut() -> bool,
) {
    if !desk.together {
        for (worker, mail) in workers.iter_mut().zip(mail.iter_mut()) {
            worker.expand(desk, mail, pulse);
            worker.close(desk, mail);
        }
        for (worker, mail) in workers.iter_mut().zip(mail) {
            worker.drain(desk, mail);
        }
        return;
    }
    let work = |worker: &mut Worker<'m, K>, mail: &mut Mailbox<'_>, pulse: &mut dyn FnMut() -> bool| {
        worker.expand(desk, mail, pulse);
        worker.close(desk, mail);
        worker.drain(desk, mail);
    };
    let (first, others) = workers.split_first_mut().expect("there is a worker");
    let (own, mail) = mail.split_first_mut().expect("there is a mailbox for each");
    std::thread::scope(|scope| {
        for (worker, mail) in others.iter_mut().zip(mail) {
            scope.spawn(|| work(worker, mail, &mut || true));
        }
        work(first, own, pulse);
    });
}

/// Runs `work` for each item, on threads of their own if they are to go on together.
pub(crate) fn for_each<I: Send, T: Send>(
    mut items: impl Iterator<Item = I>,
    together: bool,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    if !together {
        return items.map(work).collect();
    }
    let Some(first) = items.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        // This thread has nothing else to do.
        let mut results = vec![work(first)];
        let others = threads.into_iter().map(|thread| thread.join());
        results.extend(others.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
        results
    })
}
