//! Recording of executions.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::access::Access;
use super::objects::SECOND;
use super::threads::Phase;
use super::{Kernel, NONE, Pick};
use crate::bits;
use crate::execution::{Choice, End, Execution, ObjectRecord, Step, ThreadRecord};
use crate::operation::{Kind, Object, ObjectId, Site, ThreadId};
use crate::plan::Detail;

impl Kernel {
    /// Clears the record of the last execution.
    pub(super) fn clear_record(&mut self) {
        self.steps.clear();
        self.choices.clear();
        self.last_choices = None;
        self.predicted.clear();
        self.findings.clear();
        self.names.clear();
        self.enabled_sum = 0;
        self.messages = 0;
        self.assertions = 0;
        self.branches = 0;
        self.incomplete = false;
        self.timeouts_left_out = false;
    }

    /// Records a choice.
    #[inline]
    pub(super) fn record_choices(&mut self, count: u32, pick: Pick) {
        let first_choice = self.choices.len() as u32;
        let mut fingerprint = 0;
        if self.detail >= Detail::Steps {
            if self.detail >= Detail::Full {
                self.list_choices();
            }
            if self.sketches.on {
                fingerprint = self.sketch().into();
            }
        }
        let choice = Choice {
            thread: ThreadId(pick.thread),
            alternative: pick.alternative,
            kind: Kind::Yield,
            object: ObjectId::NONE,
            second: ObjectId::NONE,
            within: [ObjectId::NONE; 2],
            gives_up: false,
            exclusive: false,
            argument: 0,
            site: Site(0),
        };
        self.steps.push(Step { taken: pick.position, count, first_choice, choice, fingerprint });
    }

    /// Appends the choices of the current state.
    fn list_choices(&mut self) {
        let mut choices = core::mem::take(&mut self.choices);
        self.each_choice(|t, alternative| choices.push(self.choice(t, alternative)));
        self.choices = choices;
    }

    /// Records the operation of the step that is about to happen.
    pub(super) fn record_operation(&mut self, t: u32, alternative: u32, access: &Access) {
        let choice = self.choice_of(t, alternative, access);
        if self.sketches.on {
            self.sketch_step(&choice);
        }
        if let Some(step) = self.steps.last_mut() {
            step.choice = choice;
        }
    }

    /// Records the fingerprint after the step.
    pub(super) fn record_fingerprint(&mut self) {
        if self.sketches.on {
            return;
        }
        let fingerprint = self.fingerprint();
        if let Some(step) = self.steps.last_mut() {
            step.fingerprint = fingerprint;
        }
    }

    /// Lists the choices of the state in which the execution stops.
    pub(super) fn record_last(&mut self) {
        self.last_choices = Some(self.choices.len());
        self.list_choices();
        if self.predict {
            let mut predicted = core::mem::take(&mut self.predicted);
            let mut position = 0;
            self.each_choice(|t, alternative| {
                let pick = Pick { position, thread: t, alternative };
                let besides = self.sleep_after(pick).wrapping_add(self.bounds_after(pick));
                predicted.push(self.predict(t, alternative).wrapping_add(besides));
                position += 1;
            });
            self.predicted = predicted;
        }
    }

    /// Moves the record to `out`, and keeps its buffers for the next execution.
    pub(super) fn hand_out(&mut self, out: &mut Execution) {
        core::mem::swap(&mut self.steps, &mut out.steps);
        core::mem::swap(&mut self.choices, &mut out.choices);
        core::mem::swap(&mut self.predicted, &mut out.predicted);
        core::mem::swap(&mut self.findings, &mut out.findings);
        out.last_choices = self.last_choices.unwrap_or(out.choices.len());
        out.fingerprint = self.fingerprint();
        out.end = self.end.clone().unwrap_or_default();
        out.enabled_sum = self.enabled_sum;
        out.messages = self.messages;
        out.assertions = self.assertions;
        out.branches = self.branches;
        out.incomplete = self.incomplete;
        out.timeouts_left_out = self.timeouts_left_out;
        out.bounded = self.allowance.left_out;
        out.entered = self.allowance.entered;
        out.output.clear();
        self.hand_out_genes(out);
        out.threads.clear();
        out.objects.clear();
        out.stacks.clear();
        out.notes.clear();
        out.values.clear();
        if self.detail >= Detail::Full {
            self.describe(out);
        }
        self.clear_record();
        self.end = Some(End::Finished);
    }

    /// Records the names, and what threads wait for.
    fn describe(&self, out: &mut Execution) {
        for t in 0..self.count {
            let thread = self.thread(t);
            let pending = thread.phase == Phase::Pending;
            let waits = pending.then(|| (self.choice(t, 0), self.holder(t)));
            out.threads.push(ThreadRecord {
                name: self.name_of(t),
                name_hash: thread.name,
                waits,
                holds: thread.reading.clone(),
                ended: thread.phase == Phase::Ended,
                born: thread.born,
                site: thread.site,
            });
        }
        let mut before = [0; 10];
        for (thing, id) in self.objects.iter().zip(0..) {
            let holder = out.threads.get_mut(thing.owner as usize);
            if let Some(holder) = holder.filter(|_| !matches!(thing.object, Object::Once)) {
                holder.holds.push((ObjectId(id), thing.held));
            }
            out.objects.push(ObjectRecord {
                name: self.object_name(id, &mut before),
                name_hash: thing.name,
                object: thing.object,
                site: thing.site,
                created: thing.created,
            });
        }
    }

    /// The thread that blocks a pending thread, if it is a single one.
    fn holder(&self, t: u32) -> Option<ThreadId> {
        let operation = &self.thread(t).pending;
        let object = match operation.kind {
            Kind::Join => return self.named_thread(operation.argument),
            Kind::Lock | Kind::ReadLock | Kind::WriteLock | Kind::OnceBegin => operation.object,
            Kind::Reacquire if self.thread(t).woken => operation.second,
            _ => return None,
        };
        let thing = self.objects.get(object.0 as usize)?;
        if thing.owner != NONE {
            return Some(ThreadId(thing.owner));
        }
        if self.thread(t).behind {
            let writer = bits::ones(self.channel(object, SECOND)).next();
            return writer.map(|rank| ThreadId(self.at_rank(rank)));
        }
        let reads = |reader: &u32| self.thread(*reader).reading.iter().any(|&(held, _)| held == object);
        (0..self.count).find(reads).filter(|_| operation.kind == Kind::WriteLock).map(ThreadId)
    }

    fn given_name(&self, thread: bool, id: u32) -> Option<&str> {
        let mut given = self.names.iter().rev();
        given.find(|entry| entry.0 == thread && entry.1 == id).map(|entry| entry.2.as_str())
    }

    pub(super) fn name_of(&self, t: u32) -> String {
        let mut name = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_name(t, &mut name);
        name
    }

    /// Writes the name of a thread without allocating.
    pub(super) fn write_name(&self, t: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        if let Some(name) = self.given_name(true, t) {
            return out.write_str(name);
        }
        self.write_path(t, out)
    }

    fn write_path(&self, t: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        let thread = self.thread(t);
        if thread.parent == NONE {
            return out.write_str("main");
        }
        self.write_path(thread.parent, out)?;
        write!(out, ".{}", thread.index)
    }

    /// The name of an object: its kind, and its number among objects of that kind.
    fn object_name(&self, id: u32, before: &mut [u32; 10]) -> String {
        let (what, kind) = match self.objects[id as usize].object {
            Object::Mutex { .. } => ("mutex", 0),
            Object::RwLock => ("rwlock", 1),
            Object::Condvar => ("condvar", 2),
            Object::Semaphore { .. } => ("semaphore", 3),
            Object::Barrier { .. } => ("barrier", 4),
            Object::Once => ("once", 5),
            Object::Queue { .. } => ("queue", 6),
            Object::Memory => ("memory", 7),
            Object::Futex => ("futex", 8),
            Object::Region => ("region", 9),
        };
        let number = before[kind];
        before[kind] += 1;
        match self.given_name(false, id) {
            Some(name) => name.into(),
            None => format!("{what} {number}"),
        }
    }
}
