//! Calm executions: all accesses so far are sequentially consistent, so each sees the newest value.
//!
//! No graph is built for them. The steps are noted, and the first step that is not calm builds the
//! graph from the notes. Why nothing is lost is in decision 0601; [`super::pure`] has what follows for
//! the rest of an execution that was calm.

use alloc::vec::Vec;

use super::super::access::Access;
use super::super::objects::Class;
use super::super::{Kernel, NONE};
use super::location::pair;
use super::{Effect, Event, slot};
use crate::execution::Choice;
use crate::fingerprint::Fingerprint;
use crate::operation::{AtomicValues, Kind, MemoryOrder, ObjectId, Operation, Outcome};
use crate::plan::Memory;

/// What happened.
#[derive(Clone, Copy, Debug)]
enum What {
    /// An access of weak memory: what it does, and whether it writes.
    Access(Kind, bool),
    /// Another step.
    Step(Kind),
    Spawned,
    Ended,
    Fence(MemoryOrder),
    /// The variable has a value that no atomic operation wrote.
    Reset,
}

#[derive(Clone, Copy, Debug)]
struct Note {
    what: What,
    thread: u32,
    /// The object, or the new thread.
    object: u32,
    /// What a write leaves, or the argument of a step.
    value: u64,
    /// The name of a write.
    name: Fingerprint,
}

/// A variable of a calm execution: its newest write.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// Its number among the writes of the variable.
    number: u32,
    /// Where it is noted.
    note: u32,
    value: u64,
    name: Fingerprint,
}

/// The notes of an execution that is calm so far.
#[derive(Debug)]
pub(super) struct Calm {
    pub(super) on: bool,
    notes: Vec<Note>,
    /// By object; variables that were not used have no note.
    newest: Vec<Newest>,
}

impl Calm {
    pub(super) const fn new() -> Calm {
        Calm { on: false, notes: Vec::new(), newest: Vec::new() }
    }

    pub(super) fn begin(&mut self, on: bool) {
        self.on = on;
        self.notes.clear();
        self.newest.clear();
    }

    fn note(&mut self, what: What, thread: u32, object: u32, value: u64, name: Fingerprint) {
        self.notes.push(Note { what, thread, object, value, name });
    }

    fn variable(&self, object: ObjectId) -> Option<&Newest> {
        self.newest.get(object.0 as usize).filter(|newest| newest.note != NONE)
    }

    /// The newest write of a variable: its number, value and name.
    pub(super) fn newest(&self, object: ObjectId) -> Option<(u32, u64, Fingerprint)> {
        self.variable(object).map(|newest| (newest.number, newest.value, newest.name))
    }

    /// A thread is about to use the variable, which has this value in memory.
    pub(super) fn meet(&mut self, object: ObjectId, present: u64) {
        let at = object.0 as usize;
        if at >= self.newest.len() {
            let unknown = Newest { number: 0, note: NONE, value: 0, name: Fingerprint::ZERO };
            self.newest.resize(at + 1, unknown);
        }
        let newest = &mut self.newest[at];
        if newest.note == NONE || newest.value != present {
            let (name, note) = (super::location::initial_name(), self.notes.len() as u32);
            *newest = Newest { number: 0, note, value: present, name };
            self.note(What::Reset, NONE, object.0, present, name);
        }
    }

    /// The thread's read-modify-write, which was the last access of the variable, leaves this value.
    pub(super) fn set_result(&mut self, thread: u32, object: ObjectId, value: u64) {
        let Some(newest) = self.newest.get_mut(object.0 as usize) else { return };
        let Some(note) = self.notes.get_mut(newest.note as usize) else { return };
        if note.thread == thread {
            (newest.value, note.value) = (value, value);
        }
    }

    /// A thread created another one.
    pub(super) fn spawned(&mut self, parent: u32, child: u32) {
        self.note(What::Spawned, parent, child, 0, Fingerprint::ZERO);
    }

    pub(super) fn ended(&mut self, thread: u32) {
        self.note(What::Ended, thread, NONE, 0, Fingerprint::ZERO);
    }

    pub(super) fn fence(&mut self, thread: u32, order: MemoryOrder) {
        self.note(What::Fence(order), thread, NONE, 0, Fingerprint::ZERO);
    }
}

/// Whether an access is sequentially consistent, whatever it finds.
pub(super) fn is_sequential(operation: &Operation, values: &AtomicValues) -> bool {
    let may_only_read = values.expected.is_some() || values.awaits_change_of.is_some();
    operation.order.is_sequential() && (!may_only_read || operation.unchanged.is_sequential())
}

impl Kernel {
    /// Whether each step on which this one depends happens before it, as far as objects other than
    /// variables are concerned. Destroying an object that others still use is an error, whichever
    /// comes first.
    pub(super) fn follows_what_happened(&self, t: u32, alternative: u32, access: &Access) -> bool {
        let operation = &self.thread(t).pending;
        let exclusive = access.first.is_exclusive();
        if alternative >= Choice::SPURIOUS {
            return false;
        }
        match operation.kind {
            Kind::Load | Kind::Store | Kind::Update => self.is_weak(t),
            Kind::Lock | Kind::Unlock | Kind::ReadUnlock | Kind::WriteLock | Kind::WriteUnlock => true,
            Kind::TryLock | Kind::TryWriteLock => exclusive,
            Kind::ReadLock => alternative == 0,
            Kind::TryReadLock => alternative == 0 && access.first.class() == Class::Share,
            Kind::OnceBegin | Kind::OnceEnd | Kind::Join => true,
            Kind::Destroy | Kind::Free => true,
            Kind::Initialise => self.live == 1,
            Kind::Yield | Kind::Sleep | Kind::Assert | Kind::Message | Kind::Exit | Kind::End => true,
            Kind::Toss => operation.object == ObjectId::NONE,
            _ => false,
        }
    }

    /// Notes a calm step.
    #[inline]
    pub(super) fn note_step(&mut self, t: u32, access: &Access) {
        let operation = &self.thread(t).pending;
        let (kind, object, argument) = (operation.kind, operation.object, operation.argument);
        let Some(values) = slot(&mut self.weak.pending, t).take() else {
            return self.weak.calm.note(What::Step(kind), t, object.0, argument, Fingerprint::ZERO);
        };
        let (writes, name) = (access.first.is_exclusive(), self.thread(t).past);
        let calm = &mut self.weak.calm;
        let note = calm.notes.len() as u32;
        let newest = &mut calm.newest[object.0 as usize];
        let value = newest.value;
        if writes {
            self.sum = self.sum.wrapping_add(pair(newest.name, name));
            *newest = Newest { number: newest.number + 1, note, value: values.stores, name };
        }
        calm.note(What::Access(kind, writes), t, object.0, values.stores, name);
        *slot(&mut self.weak.outcomes, t) = Outcome { value, ok: writes, timed_out: false };
        if writes {
            self.modified(object);
        }
    }

    /// Something happens that is not calm: builds the graph of what happened so far.
    #[cold]
    pub(in super::super) fn end_calm(&mut self) {
        let notes = core::mem::take(&mut self.weak.calm.notes);
        self.weak.calm.on = false;
        // From now on the list of choices is not plain.
        self.odd += 1;
        #[cfg(debug_assertions)]
        let kept: Option<Vec<Vec<u32>>> =
            self.clocks.is_on().then(|| (0..self.count).map(|t| self.clocks.of(t).0.to_vec()).collect());
        self.clocks.restart();
        for note in &notes {
            self.replay(note);
        }
        #[cfg(debug_assertions)]
        if let Some(kept) = kept {
            for (t, clock) in (0..).zip(&kept) {
                debug_assert_eq!(self.clocks.of(t).0, clock, "the clock of thread {t}");
            }
        }
        self.weak.calm.notes = notes;
    }

    fn replay(&mut self, note: &Note) {
        let Note { thread: t, object, value, .. } = *note;
        match note.what {
            What::Reset => self.weak.location_mut(ObjectId(object)).reset(value),
            What::Spawned => {
                self.clocks.spawned(t, object);
                self.add_mark(t, false);
                self.add_mark(object, false);
            }
            What::Ended => {
                self.clocks.ended(t);
                self.add_mark(t, false);
            }
            What::Fence(order) => {
                self.clocks.fence(t, order);
                if order.is_sequential() {
                    self.add_mark(t, true);
                }
            }
            What::Access(kind, writes) => {
                self.weak.note_before(self.clocks.of(t).0);
                self.clocks.step(t);
                let alternative = self.weak.location_mut(ObjectId(object)).newest();
                let newest = Some(alternative);
                self.add_event(&Event {
                    thread: t,
                    object: ObjectId(object),
                    alternative,
                    effect: Effect {
                        reads: newest.filter(|_| kind != Kind::Store),
                        writes: newest.filter(|_| writes),
                        order: MemoryOrder::SEQUENTIAL,
                    },
                    drains: kind == Kind::Update,
                    pure: true,
                    stores: value,
                    name: note.name,
                });
            }
            What::Step(kind) => {
                self.weak.note_before(self.clocks.of(t).0);
                self.clocks.step(t);
                self.clocks.synchronise_calmly(t, kind, object as usize, value as u32);
                self.add_step(t, kind, object);
            }
        }
    }
}

/// Steps and threads under weak memory.
impl Kernel {
    /// Notes the step if the execution is calm and stays so; otherwise the graph is built.
    #[inline]
    pub(in super::super) fn take_calm_step(&mut self, t: u32, alternative: u32, access: &Access) -> bool {
        if !self.weak.calm.on {
            return false;
        }
        if !self.follows_what_happened(t, alternative, access) {
            self.end_calm();
            return false;
        }
        if self.clocks.is_on() {
            self.learn(t, alternative, access);
        }
        self.note_step(t, access);
        true
    }

    /// Adds a step to the graph.
    pub(in super::super) fn add_to_graph(&mut self, t: u32, alternative: u32, access: &Access) {
        if self.weak.model == Memory::Rc11 {
            self.spread_impurity(t, alternative, access);
        }
        let operation = &self.thread(t).pending;
        let (kind, object) = (operation.kind, operation.object.0);
        if self.is_weak(t) { self.add_access(t, alternative) } else { self.add_step(t, kind, object) }
    }

    /// A thread created another one.
    pub(in super::super) fn weak_spawned(&mut self, parent: u32, child: u32) {
        if self.weak.calm.on {
            self.weak.calm.spawned(parent, child);
        } else if self.weak.on {
            self.weak.impure.spawned(parent, child);
            self.add_mark(parent, false);
            self.add_mark(child, false);
        }
    }

    /// A thread ended.
    pub(in super::super) fn weak_ended(&mut self, t: u32) {
        if self.weak.calm.on {
            self.weak.calm.ended(t);
        } else if self.weak.on {
            self.add_mark(t, false);
        }
    }
}
