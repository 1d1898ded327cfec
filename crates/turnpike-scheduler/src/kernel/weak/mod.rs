//! Weak memory: what a read sees is a choice of the schedule.
//!
//! An execution is a graph of events: program order, reads-from, and modification order, which is
//! total for each variable. Steps build it event by event, in an order consistent with program
//! order and reads-from. A read has an alternative for each write that it may see, a write one for
//! each position in modification order, a read-modify-write one for each write that it may follow.
//! An alternative is the number of that write, so that it keeps its meaning when other threads
//! write. The newest comes first.
//!
//! Removing the last events of a consistent graph leaves a consistent one. So each graph is built
//! along every order consistent with program order and reads-from, and two steps commute unless one
//! reads the write of the other.

mod calm;
mod graph;
mod location;
mod psc;
mod pure;
mod tso;

use alloc::vec::Vec;

use super::access::{Access, Touch};
use super::knowledge::Clock;
use super::objects::Class;
use super::{Kernel, NONE};
use crate::fingerprint::Fingerprint;
use crate::operation::{AtomicValues, Kind, MemoryOrder, ObjectId, Operation, Outcome};
use crate::plan::Memory;
use calm::Calm;
use graph::Graph;
use location::{Location, Write};
use psc::Psc;
use pure::Impure;
use tso::Tso;

/// Marks a step of weak memory in the argument of a [`crate::Choice`]. The lower half is the number
/// of its write, or [`NO_WRITE`]; above it is the number of writes newer than the one that its
/// alternative denotes. [`PURE`] marks pure accesses.
pub(crate) const WEAK: u64 = 1 << 63;
pub(crate) const PURE: u64 = 1 << 62;
pub(crate) const NO_WRITE: u64 = 0xffff_ffff;

/// An access that is about to become an event.
struct Draft<'a> {
    thread: u32,
    object: u32,
    /// The write that it reads.
    reads: Option<u32>,
    /// The write that its own write follows.
    writes: Option<u32>,
    sc: bool,
    /// Whether it drains the store buffer first: a read-modify-write, even one that only reads.
    drains: bool,
    /// The clock of its thread before and after it.
    before: &'a [u32],
    clock: &'a [u32],
}

/// The graph of an execution, and the pending accesses of threads.
#[derive(Debug)]
pub(super) struct Weak {
    pub(super) on: bool,
    model: Memory,
    /// By object.
    locations: Vec<Location>,
    graph: Graph,
    psc: Psc,
    tso: Tso,
    /// Instead of the graph, as long as the execution is calm.
    calm: Calm,
    impure: Impure,
    /// By thread: the values of its pending operation, if it is an access of weak memory.
    pending: Vec<Option<AtomicValues>>,
    /// By thread: the result of its last access.
    outcomes: Vec<Outcome>,
    /// By thread: variables of which it must see something newer than this write, because otherwise
    /// it would repeat itself.
    demands: Vec<Vec<(ObjectId, u32)>>,
    /// The clock of the stepping thread before the step.
    before: Clock,
}

impl Weak {
    pub(super) const fn new() -> Weak {
        Weak {
            on: false,
            model: Memory::Sc,
            locations: Vec::new(),
            graph: Graph::new(),
            psc: Psc::new(),
            tso: Tso::new(),
            calm: Calm::new(),
            impure: Impure::new(),
            pending: Vec::new(),
            outcomes: Vec::new(),
            demands: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Starts an execution.
    pub(super) fn begin(&mut self, model: Memory) {
        self.model = model;
        self.on = model != Memory::Sc;
        self.locations.iter_mut().for_each(|location| location.writes.clear());
        self.graph.clear();
        self.psc.clear();
        self.tso.clear();
        self.calm.begin(model == Memory::Rc11);
        self.impure.clear();
        self.pending.clear();
        self.outcomes.clear();
        self.demands.clear();
    }

    /// Whether no graph is built, because all accesses so far are sequentially consistent.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.calm.on
    }

    /// A fence of a calm execution.
    pub(super) fn note_fence(&mut self, t: u32, order: MemoryOrder) {
        self.calm.fence(t, order);
    }

    fn values(&self, t: u32) -> Option<&AtomicValues> {
        self.pending.get(t as usize)?.as_ref()
    }

    fn location(&self, object: ObjectId) -> Option<&Location> {
        self.locations.get(object.0 as usize).filter(|location| !location.writes.is_empty())
    }

    fn location_mut(&mut self, object: ObjectId) -> &mut Location {
        slot(&mut self.locations, object.0)
    }

    /// A thread is about to use the variable, which has this value in memory. If that is not the
    /// newest value, a plain access wrote it, which races with every thread that does not know of
    /// it.
    fn meet(&mut self, object: ObjectId, present: u64) {
        if self.calm.on {
            return self.calm.meet(object, present);
        }
        let location = self.location_mut(object);
        let newest = location.writes.get(location.newest() as usize).map(|write| write.value);
        if newest != Some(present) {
            location.reset(present);
            // The demands refer to writes that no longer exist.
            self.demands.iter_mut().for_each(|demands| demands.retain(|(on, _)| *on != object));
        }
    }

    /// Whether the model allows the access. The newest write is always allowed.
    fn allows(&self, location: &Location, draft: &Draft<'_>) -> bool {
        match self.model {
            Memory::Tso => self.tso.allows(&self.graph, location, draft),
            _ => self.psc.allows(&self.graph, location, draft),
        }
    }

    /// Adds an event that is not an access of weak memory.
    fn add_other(
        &mut self,
        t: u32,
        object: u32,
        before: &[u32],
        clock: &[u32],
        sc_fence: bool,
        drains: bool,
    ) {
        match self.model {
            Memory::Tso => self.tso.add_other(&self.graph, t, clock, drains),
            _ => self.psc.add_other(&self.graph, t, object, (before, clock), sc_fence),
        }
        self.graph.add(t, object, clock);
    }

    /// Stores the clock of a thread before its step.
    pub(super) fn note_before(&mut self, clock: &[u32]) {
        self.before.clear();
        self.before.extend_from_slice(clock);
    }
}

fn slot<T: Default>(slots: &mut Vec<T>, t: u32) -> &mut T {
    if t as usize >= slots.len() {
        slots.resize_with(t as usize + 1, T::default);
    }
    &mut slots[t as usize]
}

/// The effect of an access, by alternative.
#[derive(Clone, Copy)]
struct Effect {
    reads: Option<u32>,
    writes: Option<u32>,
    order: MemoryOrder,
}

/// An access that is added to the graph.
struct Event {
    thread: u32,
    object: ObjectId,
    alternative: u32,
    effect: Effect,
    drains: bool,
    pure: bool,
    /// The value and the name of its write.
    stores: u64,
    name: Fingerprint,
}

/// The interface for guests.
impl Kernel {
    /// The memory model of this execution. Unless it is sequential consistency, the guest calls
    /// [`Kernel::set_values`] before it announces an operation on an atomic variable, and takes the
    /// value from the outcome.
    pub fn memory(&self) -> Memory {
        self.weak.model
    }

    /// The current thread is about to announce an atomic operation with these values.
    pub fn set_values(&mut self, object: ObjectId, values: AtomicValues) {
        if self.weak.on {
            self.weak.meet(object, values.present);
            *slot(&mut self.weak.pending, self.current) = Some(values);
        }
    }

    /// Sets the value that the current thread's read-modify-write leaves.
    pub fn set_result(&mut self, object: ObjectId, value: u64) {
        let current = self.current;
        if self.weak.calm.on {
            return self.weak.calm.set_result(current, object, value);
        }
        if let Some(location) = self.weak.locations.get_mut(object.0 as usize)
            && let Some(number) = location.last_seen(current)
            && let Some(write) = location.writes.get_mut(number as usize)
        {
            write.value = value;
        }
    }

    /// From now on, operations on the variable see the value in memory, because parts of it are
    /// accessed separately. Such an execution does not show all possible behaviour.
    ///
    /// The current thread learns everything that the writes publish, so that it sees nothing older
    /// afterwards.
    pub fn join_writes(&mut self, object: ObjectId) {
        self.incomplete = true;
        if self.weak.calm.on {
            self.end_calm();
        }
        let current = self.current;
        let Some(location) = self.weak.location(object) else { return };
        for write in &location.writes {
            self.clocks.hear(current, &write.message, true);
        }
    }

    /// The newest value of a variable, which its memory holds.
    pub fn newest_value(&self, object: ObjectId) -> Option<u64> {
        if self.weak.calm.on {
            return self.weak.calm.newest(object).map(|(_, value, _)| value);
        }
        let location = self.weak.location(object)?;
        Some(location.writes[location.newest() as usize].value)
    }
}

impl Kernel {
    /// Whether the pending operation of a thread is an access of weak memory.
    pub(super) fn is_weak(&self, t: u32) -> bool {
        self.weak.values(t).is_some()
    }

    /// The current thread is about to announce an operation: a calm execution ends with an access
    /// that is not sequentially consistent.
    #[inline]
    pub(super) fn stay_calm(&mut self, operation: &Operation) {
        let values = self.weak.values(self.current);
        if values.is_some_and(|values| !calm::is_sequential(operation, values)) {
            self.end_calm();
        }
    }

    /// The alternative of a thread that has only one.
    #[inline]
    pub(super) fn only_alternative(&self, t: u32) -> u32 {
        if !self.weak.on || !self.is_weak(t) {
            return 0;
        }
        let newest = self.weak.calm.newest(self.thread(t).pending.object);
        newest.map_or(0, |(number, ..)| number)
    }

    /// The value and the name of a write.
    fn source(&self, object: ObjectId, number: u32) -> Option<(u64, Fingerprint)> {
        if self.weak.calm.on {
            return self.weak.calm.newest(object).map(|(_, value, name)| (value, name));
        }
        let write = self.weak.location(object)?.writes.get(number as usize)?;
        Some((write.value, write.name))
    }

    fn effect(&self, t: u32, alternative: u32) -> Effect {
        let operation = &self.thread(t).pending;
        let (order, number) = (operation.order, Some(alternative));
        match operation.kind {
            Kind::Load => Effect { reads: number, writes: None, order },
            Kind::Store => Effect { reads: None, writes: number, order },
            _ => {
                let found = self.source(operation.object, alternative).map(|(value, _)| value);
                let fails = self.weak.values(t).is_some_and(|values| {
                    values.expected.is_some_and(|expected| found != Some(expected))
                        || values.awaits_change_of.is_some_and(|awaited| found == Some(awaited))
                });
                if fails {
                    return Effect { reads: number, writes: None, order: operation.unchanged };
                }
                Effect { reads: number, writes: number, order }
            }
        }
    }

    /// The access of a step of weak memory.
    pub(super) fn weak_access(&self, t: u32, alternative: u32) -> Access {
        let object = self.thread(t).pending.object;
        let effect = self.effect(t, alternative);
        let source = effect.reads.and_then(|number| self.source(object, number));
        let class = if effect.writes.is_some() { Class::Exclusive } else { Class::Read };
        let also = source.map_or(Fingerprint::ZERO, |(_, name)| name);
        Access::weak(Touch::weak(object, class), also)
    }

    /// The part of an alternative that enters the fingerprint separately: the number of a write
    /// depends on the schedule.
    pub(super) fn hashed_alternative(&self, t: u32, alternative: u32) -> u32 {
        if self.weak.on && self.is_weak(t) { 0 } else { alternative }
    }

    /// A name of an alternative that does not depend on the schedule.
    pub(super) fn alternative_name(&self, t: u32, alternative: u32) -> u64 {
        let object = self.thread(t).pending.object;
        match self.source(object, alternative) {
            Some((_, name)) if self.is_weak(t) => name.bits() as u64,
            _ => u64::from(alternative),
        }
    }

    /// The contribution of a step of weak memory to the fingerprint, besides its thread's past.
    pub(super) fn order_change(&self, t: u32, alternative: u32, hash: Fingerprint) -> u128 {
        if self.weak.calm.on {
            let newest = self.weak.calm.newest(self.thread(t).pending.object);
            let writes = self.is_weak(t) && self.effect(t, alternative).writes.is_some();
            return newest.filter(|_| writes).map_or(0, |(.., name)| location::pair(name, hash));
        }
        let Some(location) = self.weak.location(self.thread(t).pending.object) else { return 0 };
        match self.effect(t, alternative).writes {
            Some(after) if self.is_weak(t) && (after as usize) < location.writes.len() => {
                location.order_change(after, hash)
            }
            _ => 0,
        }
    }

    /// The argument of a choice of weak memory.
    pub(super) fn weak_argument(&self, t: u32, alternative: u32) -> u64 {
        let (object, effect) = (self.thread(t).pending.object, self.effect(t, alternative));
        let writes = effect.writes.is_some();
        if let Some((newest, ..)) = self.weak.calm.newest(object).filter(|_| self.weak.calm.on) {
            return WEAK | PURE | if writes { u64::from(newest) + 1 } else { NO_WRITE };
        }
        let Some(location) = self.weak.location(object) else { return WEAK | NO_WRITE };
        let number = if writes { location.writes.len() as u64 } else { NO_WRITE };
        let newer =
            location.writes.get(alternative as usize).map_or(0, |_| location.behind(alternative).count());
        let pure = if self.is_pure(t, &effect) { PURE } else { 0 };
        WEAK | pure | (newer as u64) << 32 | number
    }

    /// Calls `visit` with the alternatives of a pending operation, the newest first.
    pub(super) fn each_alternative(&self, t: u32, mut visit: impl FnMut(u32)) {
        let object = self.thread(t).pending.object;
        if let Some((newest, ..)) = self.weak.calm.newest(object).filter(|_| self.weak.calm.on) {
            return visit(newest);
        }
        let Some(location) = self.weak.location(object) else { return };
        let before = self.clocks.of(t).0;
        let known = (self.weak.model != Memory::Tso).then_some(before);
        let floor = location.floor(t, known).max(self.demanded(t, object, location));
        let last_pure = location.last_pure() as usize;
        let mut clock = Clock::new();
        for position in (floor as usize..location.order.len()).rev() {
            let number = location.order[position];
            let write = &location.writes[number as usize];
            let effect = self.effect(t, number);
            if effect.writes.is_some() && write.taken {
                continue;
            }
            if position < last_pure && self.is_pure(t, &effect) {
                continue;
            }
            if position + 1 < location.order.len() {
                clock.clear();
                clock.extend_from_slice(before);
                if effect.reads.is_some() && effect.order.acquires() {
                    super::knowledge::join(&mut clock, &write.message);
                }
                let draft = Draft {
                    thread: t,
                    object: object.0,
                    reads: effect.reads,
                    writes: effect.writes,
                    sc: effect.order.is_sequential(),
                    drains: self.thread(t).pending.kind == Kind::Update,
                    before,
                    clock: &clock,
                };
                if !self.weak.allows(location, &draft) {
                    continue;
                }
            }
            visit(number);
        }
    }

    /// The first position that a thread must read to avoid repeating itself.
    fn demanded(&self, t: u32, object: ObjectId, location: &Location) -> u32 {
        let demands = self.weak.demands.get(t as usize).map_or(&[][..], Vec::as_slice);
        let demand = demands.iter().find(|(on, _)| *on == object);
        let last = location.order.len() as u32 - 1;
        let position = |&(_, write): &(ObjectId, u32)| Some(location.writes.get(write as usize)?.position);
        demand.and_then(position).map_or(0, |position| (position + 1).min(last))
    }

    /// Adds a step of weak memory to the graph. Its thread's past and time are already updated.
    pub(super) fn add_access(&mut self, t: u32, alternative: u32) {
        let object = self.thread(t).pending.object;
        // A plain access may have reset the location since the alternative was offered.
        let known = |location: &Location| (alternative as usize) < location.writes.len();
        let pure = self.is_pure(t, &self.effect(t, alternative));
        let alternative = match self.weak.location(object) {
            Some(location) if !known(location) => location.newest(),
            _ => alternative,
        };
        let name = self.thread(t).past;
        let change = self.order_change(t, alternative, name);
        let effect = self.effect(t, alternative);
        let Some(values) = slot(&mut self.weak.pending, t).take() else { return };
        self.sum = self.sum.wrapping_add(change);
        let value = self.source(object, alternative).map_or(0, |(value, _)| value);
        self.add_event(&Event {
            thread: t,
            object,
            alternative,
            effect,
            drains: self.thread(t).pending.kind == Kind::Update,
            pure,
            stores: values.stores,
            name,
        });
        slot(&mut self.weak.demands, t).retain(|(on, _)| *on != object);
        let writes = effect.writes.is_some();
        *slot(&mut self.weak.outcomes, t) = Outcome { value, ok: writes, timed_out: false };
        if writes {
            self.modified(object);
        }
    }

    /// Adds an access to the graph.
    fn add_event(&mut self, new: &Event) {
        let Event { thread: t, object, alternative, drains, .. } = *new;
        let Effect { reads, writes, order } = new.effect;
        let at = object.0 as usize;
        let mut message = Clock::new();
        if reads.is_some() {
            message.clone_from(&self.weak.locations[at].writes[alternative as usize].message);
            self.clocks.hear(t, &message, order.acquires());
        }
        let clock = self.clocks.of(t).0;
        let event = self.weak.graph.events.len() as u32;
        let sc = order.is_sequential();
        let before = core::mem::take(&mut self.weak.before);
        let draft = Draft { thread: t, object: object.0, reads, writes, sc, drains, before: &before, clock };
        let location = &self.weak.locations[at];
        match self.weak.model {
            Memory::Tso => self.weak.tso.add_access(&self.weak.graph, location, &draft),
            _ => self.weak.psc.add_access(&self.weak.graph, location, &draft),
        }
        self.weak.graph.add(t, object.0, clock);
        self.weak.before = before;
        let time = clock.get(t as usize).copied().unwrap_or(0);
        let location = &mut self.weak.locations[at];
        let mut seen = alternative;
        if reads.is_some() {
            location.writes[alternative as usize].readers.push(event);
        }
        if let Some(after) = writes {
            location.writes[after as usize].taken |= reads.is_some();
            self.clocks.tell(t, order.releases(), &mut message);
            let Event { name, stores: value, pure, .. } = *new;
            let readers = Vec::new();
            let write = Write { name, value, message, position: 0, taken: false, event, readers, pure };
            seen = location.insert(after, write);
        }
        location.see(t, time, seen);
    }

    /// The result of a step of weak memory.
    pub(super) fn weak_outcome(&self, t: u32) -> Outcome {
        self.weak.outcomes.get(t as usize).copied().unwrap_or_default()
    }

    /// Adds a step that is not an access of weak memory.
    pub(super) fn add_step(&mut self, t: u32, kind: Kind, object: u32) {
        let drains = match kind {
            Kind::Yield
            | Kind::Sleep
            | Kind::Toss
            | Kind::Assert
            | Kind::Message
            | Kind::Exit
            | Kind::End => return,
            Kind::Read | Kind::Write => false,
            _ => true,
        };
        let before = core::mem::take(&mut self.weak.before);
        self.weak.add_other(t, object, &before, self.clocks.of(t).0, false, drains);
        self.weak.before = before;
    }

    /// Adds a fence, or the start or end of a thread.
    pub(super) fn add_mark(&mut self, t: u32, sc_fence: bool) {
        let clock = self.clocks.of(t).0;
        self.weak.add_other(t, NONE, clock, clock, sc_fence, true);
    }

    /// Demands that a thread that is about to repeat itself, because it reads the same old values,
    /// sees something newer. Returns false if there is nothing newer.
    pub(super) fn demand_newer(&mut self, t: u32) -> bool {
        if self.weak.calm.on {
            return false;
        }
        let seen = &self.threads[t as usize].seen;
        let stale = |object: ObjectId| {
            let location = self.weak.location(object)?;
            let last = location.last_seen(t)?;
            (last != location.newest()).then_some((object, last))
        };
        let demands: Vec<(ObjectId, u32)> = seen.iter().filter_map(|&(object, _)| stale(object)).collect();
        if demands.is_empty() {
            return false;
        }
        // Something newer of a single variable would be enough.
        self.incomplete |= seen.len() > 1;
        *slot(&mut self.weak.demands, t) = demands;
        true
    }
}
