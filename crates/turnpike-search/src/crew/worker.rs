//! One worker: the states that it owns, its view on the model, and what it counts.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use turnpike_model::{Explorer, StepError, Successors};

use super::mail::{Batch, Mailbox};
use super::order;
use super::owners::Owners;
use super::parcel::{Discovery, Form, Inbound, Outbound};
use super::sent::Sent;
use crate::objective::Hit;
use crate::options::Accept;
use crate::run::View;
use crate::store::{ROOT, Visited, push_words, quick_hash};

/// States between two looks at the mailbox and at the clock.
const BLOCK: usize = 64;

/// Successors of other processes that are looked up together, so that their cache misses overlap.
const LEAVING: usize = 48;

/// States between one that is loaded and one whose memory is asked for: neighbours in rank are far apart
/// in memory.
const AHEAD: usize = 6;

/// What a worker does with states that it owns.
pub(crate) trait Keeper: Send {
    /// Whether content hashes decide who owns a state, and travel with it. Otherwise any hash does
    /// that is the same in all processes.
    const BY_CONTENT: bool;
    /// Whether a state that was sent once, in this level or an earlier one, need not be sent again by the same
    /// worker.
    const KEEPS_ALL: bool;

    /// Keeps a visited state, and gives its number.
    fn insert(&mut self, state: &[u32]) -> u32;

    /// Takes in states that were met in the level under way.
    fn take(&mut self, explorer: &mut dyn Explorer, depth: u32, batch: &Batch);

    /// The states that are visited.
    fn visited(&self) -> &Visited;

    /// Forgets what was met in the level under way, if that is not known from the discoveries. Whether
    /// the successors of those states that count have to be sent again.
    fn roll_back(&mut self) -> bool;

    /// The hashes of states that were met, each with whether the state was visited, where they are kept.
    fn prints(&self) -> Option<Vec<(u64, bool)>> {
        None
    }

    /// Makes room for about so many such hashes.
    fn expect_prints(&mut self, count: usize) {
        let _ = count;
    }

    /// Adds such a hash.
    fn add_print(&mut self, print: u64, visited: bool) {
        let _ = (print, visited);
    }

    /// Stops keeping them.
    fn give_up_prints(&mut self) {}

    /// All states that were visited before the level are there.
    fn end_restoring(&mut self);
}

/// Where a state is kept: by whom, and under which number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) worker: u32,
    pub(crate) id: u32,
}

impl Place {
    /// The parent of the initial state.
    pub(crate) const NOWHERE: Place = Place { worker: 0, id: ROOT };

    pub(crate) fn pack(self) -> u64 {
        u64::from(self.worker) << 32 | u64::from(self.id)
    }

    pub(crate) fn unpack(packed: u64) -> Self {
        Place { worker: (packed >> 32) as u32, id: packed as u32 }
    }
}

/// The parents of a worker's states, in five bytes each, or six where there are more than 256 workers.
#[derive(Default)]
pub(crate) struct Parents {
    workers: Vec<u8>,
    /// The upper bytes of the workers' numbers, from the first that is not zero on.
    upper: Vec<u8>,
    ids: Vec<u32>,
}

impl Parents {
    pub(crate) fn push(&mut self, parent: Place) {
        let upper = (parent.worker >> 8) as u8;
        if upper > 0 || !self.upper.is_empty() {
            self.upper.resize(self.workers.len(), 0);
            self.upper.push(upper);
        }
        self.workers.push(parent.worker as u8);
        self.ids.push(parent.id);
    }

    pub(crate) fn get(&self, id: u32) -> Place {
        let index = id as usize;
        let upper = self.upper.get(index).copied().unwrap_or_default();
        Place { worker: u32::from(upper) << 8 | u32::from(self.workers[index]), id: self.ids[index] }
    }
}

/// At what point of an expansion something happened, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    /// Before the successors were computed.
    Popped,
    /// While they were.
    Expanded,
    /// When they were tested.
    Checked,
}

/// Objectives that were met, or an error.
pub(crate) struct Incident {
    pub(crate) rank: u32,
    pub(crate) moment: Moment,
    pub(crate) place: Place,
    pub(crate) outcome: Result<Vec<Hit>, StepError>,
}

/// What workers count in a level.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) deadlocks: u64,
}

/// What all workers share while they expand a level.
pub(crate) struct Desk<'a> {
    pub(crate) depth: u32,
    /// States of lesser rank are expanded.
    pub(crate) limit: u32,
    /// The least rank known to end the search: what comes after it is not needed.
    pub(crate) last: AtomicU32,
    /// By rank, where the states of the level are; empty when nobody asks for paths.
    pub(crate) places: Vec<AtomicU64>,
    /// Another process sent what is no state.
    pub(crate) garbled: AtomicBool,
    /// A limit on time or memory was reached.
    pub(crate) stop: AtomicBool,
    pub(crate) interrupt: &'a AtomicBool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) states: AtomicU64,
    pub(crate) transitions: AtomicU64,
    pub(crate) accept: Accept,
    /// Objectives, by bit, that are of no interest any more.
    pub(crate) met: u64,
    /// Whether every hit counts, so that of each objective only the first in order is needed.
    pub(crate) hits_are_real: bool,
    /// Whether the first hit in order ends the search for certain.
    pub(crate) first_ends: bool,
    /// Whether states without outgoing transitions are counted, and if so whether some are proper ends.
    pub(crate) deadlocks: Option<bool>,
    /// The level was expanded before: only counts are wanted.
    pub(crate) recount: bool,
    /// Whether successors are sent to their owners.
    pub(crate) sends: bool,
    /// Whether states have ranks, and so discoveries keys.
    pub(crate) ordered: bool,
    /// Whether workers go on at the same time, so that one can wait for another.
    pub(crate) together: bool,
}

/// One worker.
pub(crate) struct Worker<'m, K> {
    pub(crate) number: usize,
    pub(crate) view: View<'m>,
    pub(crate) keeper: K,
    /// Its states of this level in order: their numbers, and their ranks unless nobody asks for the order.
    pub(crate) ids: Vec<u32>,
    pub(crate) ranks: Vec<u32>,
    /// `None` when nobody asks for paths.
    pub(crate) parents: Option<Parents>,
    pub(crate) tally: Tally,
    pub(crate) incidents: Vec<Incident>,
    /// Objectives, by bit, that this worker met in this level.
    met: u64,
    hits: Vec<Hit>,
    successors: Successors,
    sent: Sent,
    /// Successors that belong to other processes, which are looked up together: their states, who owns them, and
    /// how they were discovered, with the hash that is sent or remembered.
    leaving: Vec<u32>,
    routes: Vec<(usize, Discovery)>,
    owners: Owners,
    /// How successors travel to other processes.
    form: Form,
    /// The ways to and from all workers; those of this process need none.
    outbound: Vec<Outbound>,
    inbound: Vec<Inbound>,
}

impl<'m, K: Keeper> Worker<'m, K> {
    /// `all`: the workers of all processes. Whether states are put in order, and their parents are noted.
    pub(crate) fn new(
        number: usize,
        mut view: View<'m>,
        keeper: K,
        (ordered, parents): (bool, bool),
        owners: Owners,
        all: usize,
    ) -> Self {
        let (successors, sent) = (Successors::new(view.width()), Sent::new(view.width()));
        let width = view.width();
        let form = Form::new(&mut *view.explorer, width, all, [ordered, parents, K::BY_CONTENT]);
        Worker {
            number,
            view,
            keeper,
            ids: Vec::new(),
            ranks: Vec::new(),
            parents: parents.then(Parents::default),
            tally: Tally::default(),
            incidents: Vec::new(),
            met: 0,
            hits: Vec::new(),
            successors,
            sent,
            leaving: Vec::new(),
            routes: Vec::new(),
            owners,
            form,
            outbound: (0..all).map(|_| Outbound::default()).collect(),
            inbound: (0..all).map(|_| Inbound::default()).collect(),
        }
    }

    /// Makes ready to expand a level, for the first time or again. `far`: there are other processes.
    pub(crate) fn begin(&mut self, again: bool, far: bool) {
        if far && K::KEEPS_ALL {
            self.sent.fit(self.keeper.visited().len());
        }
        if again {
            self.view.monitor.roll_back();
        } else {
            self.view.monitor.begin_level();
        }
        self.tally = Tally::default();
        self.incidents.clear();
        self.met = 0;
    }

    /// Expands its states, sends successors to their owners and takes in what arrives. `pulse` is
    /// called now and then; the worker stops when it says no.
    pub(crate) fn expand(
        &mut self,
        desk: &Desk<'_>,
        mail: &mut Mailbox<'_>,
        pulse: &mut dyn FnMut() -> bool,
    ) {
        let mut state = Vec::new();
        let mut told = Tally::default();
        for index in 0..self.ids.len() {
            let rank = self.ranks.get(index).map_or(index as u32, |&rank| rank);
            if rank >= desk.limit || rank > desk.last.load(Ordering::Relaxed) {
                continue;
            }
            if index % BLOCK == 0 {
                desk.states.fetch_add(self.tally.states - told.states, Ordering::Relaxed);
                desk.transitions.fetch_add(self.tally.transitions - told.transitions, Ordering::Relaxed);
                told = self.tally;
                if !pulse() || desk.deadline.is_some_and(|at| Instant::now() >= at) {
                    desk.stop.store(true, Ordering::Relaxed);
                }
                if desk.together {
                    self.take_arrived(desk, mail);
                }
            }
            if desk.stop.load(Ordering::Relaxed) || desk.interrupt.load(Ordering::Relaxed) {
                break;
            }
            let id = self.ids[index];
            if let Some(&soon) = self.ids.get(index + AHEAD) {
                self.keeper.visited().prefetch_state(soon);
            }
            self.keeper.visited().load(id, &mut state);
            if let Some(place) = desk.places.get(rank as usize) {
                let here = Place { worker: self.number as u32, id };
                place.store(here.pack(), Ordering::Relaxed);
            }
            if self.expand_one(desk, &state, rank, id) && desk.sends {
                self.send_successors(desk, mail, &state, rank, id);
            }
        }
    }

    /// Expands one state; whether it has successors to send.
    #[inline]
    fn expand_one(&mut self, desk: &Desk<'_>, state: &[u32], rank: u32, id: u32) -> bool {
        let View { explorer, monitor, .. } = &mut self.view;
        if desk.accept == Accept::Pop {
            self.hits.clear();
            let outcome = monitor.examine_popped(&mut **explorer, state, &mut self.hits);
            if (outcome.is_err() || !self.hits.is_empty())
                && self.note(desk, rank, id, Moment::Popped, outcome)
            {
                return false;
            }
        }
        let View { explorer, monitor, .. } = &mut self.view;
        if let Err(error) = explorer.successors(state, &mut self.successors) {
            self.note(desk, rank, id, Moment::Expanded, Err(error));
            return false;
        }
        self.tally.states += 1;
        self.tally.transitions += self.successors.len() as u64;
        if let Some(some_are_ends) = desk.deadlocks
            && self.successors.is_empty()
        {
            let stuck = !some_are_ends || explorer.is_deadlock(state, &self.successors);
            self.tally.deadlocks += u64::from(stuck);
        }
        self.hits.clear();
        let outcome = monitor.examine(&mut **explorer, state, &self.successors, &mut self.hits);
        if outcome.is_err() || !self.hits.is_empty() {
            self.note(desk, rank, id, Moment::Checked, outcome);
        }
        true
    }

    /// Notes what happened when a state was expanded; whether that ends the search for certain.
    #[cold]
    fn note(
        &mut self,
        desk: &Desk<'_>,
        rank: u32,
        id: u32,
        moment: Moment,
        outcome: Result<(), StepError>,
    ) -> bool {
        if desk.recount {
            return false;
        }
        let place = Place { worker: self.number as u32, id };
        let is_error = outcome.is_err();
        let (known, met) = (desk.met | self.met, &mut self.met);
        let outcome = outcome.map(|()| {
            self.hits.retain(|hit| known >> hit.objective & 1 == 0);
            if desk.hits_are_real {
                self.hits.iter().for_each(|hit| *met |= 1 << hit.objective);
            }
            std::mem::take(&mut self.hits)
        });
        if matches!(&outcome, Ok(hits) if hits.is_empty()) {
            return false;
        }
        self.incidents.push(Incident { rank, moment, place, outcome });
        let ends = is_error || desk.first_ends;
        if ends {
            desk.last.fetch_min(rank, Ordering::Relaxed);
        }
        ends
    }

    #[inline]
    fn send_successors(
        &mut self,
        desk: &Desk<'_>,
        mail: &mut Mailbox<'_>,
        state: &[u32],
        rank: u32,
        id: u32,
    ) {
        let mut origin = None;
        for position in 0..self.successors.len() {
            let target = self.successors.state(position);
            let explorer = &mut *self.view.explorer;
            let (owner, hash) = match self.owners.is_kept(state, target) {
                true => (self.number, 0),
                false => {
                    let origin = *origin.get_or_insert_with(|| self.owners.origin(explorer, state));
                    self.owners.after(explorer, state, origin, target)
                }
            };
            let Some(index) = mail.local(owner) else {
                let hash = if K::KEEPS_ALL { quick_hash(target) } else { hash };
                self.sent.prefetch(hash);
                push_words(&mut self.leaving, target);
                self.routes.push((owner, Discovery { rank, source: id, position: position as u32, hash }));
                continue;
            };
            let batch = mail.to(index);
            batch.push_state(target);
            if desk.ordered {
                batch.keys.push(order::key(rank, position as u32));
            }
            if K::BY_CONTENT {
                batch.hashes.push(hash);
            }
            if batch.is_full() {
                self.deliver(desk, mail, owner, index);
            }
        }
        if self.routes.len() >= LEAVING {
            self.let_leave(desk, mail);
        }
    }

    /// Sends the successors that belong to other processes, unless they were sent before.
    fn let_leave(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>) {
        let (leaving, routes) = (std::mem::take(&mut self.leaving), std::mem::take(&mut self.routes));
        let width = leaving.len() / routes.len().max(1);
        for (index, &(owner, found)) in routes.iter().enumerate() {
            let target = &leaving[index * width..(index + 1) * width];
            let known = K::KEEPS_ALL && self.sent.is_known(found.hash, target);
            if !known && self.outbound[owner].add(&self.form, &mut *self.view.explorer, found, target) {
                self.deliver_far(desk, mail, owner);
            }
        }
        (self.leaving, self.routes) = (leaving, routes);
        self.leaving.clear();
        self.routes.clear();
    }

    /// Sends a full batch, or takes it in if it is for this worker.
    fn deliver(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>, owner: usize, index: usize) {
        if owner == self.number {
            let batch = mail.to(index);
            self.keeper.take(&mut *self.view.explorer, desk.depth, batch);
            batch.clear();
            return;
        }
        self.wait_for(desk, mail, owner);
        mail.send(index);
    }

    /// Sends what was collected for a worker of another process.
    fn deliver_far(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>, owner: usize) {
        self.wait_for(desk, mail, owner);
        mail.send_far(owner, self.outbound[owner].finish(self.number, owner));
    }

    /// Waits until a worker may get more.
    fn wait_for(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>, owner: usize) {
        while desk.together && mail.is_crowded(owner) {
            // Whoever waits takes in what arrives, so that nobody waits for ever.
            self.take_arrived(desk, mail);
            std::thread::yield_now();
        }
    }

    fn take_arrived(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>) {
        while let Some(batch) = mail.try_receive() {
            self.take(desk, mail, batch);
        }
    }

    fn take(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>, mut batch: Batch) {
        if batch.is_encoded() {
            let worker = batch.from;
            // Where the states came from is known here from now on.
            let tell = |rank: u32, id| {
                if let Some(place) = desk.places.get(rank as usize) {
                    place.store(Place { worker, id }.pack(), Ordering::Relaxed);
                }
            };
            let inbound = &mut self.inbound[worker as usize];
            if inbound.read(&self.form, &mut *self.view.explorer, &mut batch, tell).is_none() {
                return desk.garbled.store(true, Ordering::Relaxed);
            }
        }
        self.keeper.take(&mut *self.view.explorer, desk.depth, &batch);
        mail.reuse(batch);
    }

    /// Sends the rest.
    pub(crate) fn close(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>) {
        self.let_leave(desk, mail);
        for owner in 0..self.outbound.len() {
            if !self.outbound[owner].is_empty() {
                self.deliver_far(desk, mail, owner);
            }
        }
        let own = mail.close();
        self.keeper.take(&mut *self.view.explorer, desk.depth, &own);
    }

    /// Takes in everything that others send, until they have closed their mailboxes.
    pub(crate) fn drain(&mut self, desk: &Desk<'_>, mail: &mut Mailbox<'_>) {
        while let Some(batch) = mail.receive() {
            self.take(desk, mail, batch);
        }
    }
}
