//! Threads that poll futures: what they wait for when a future is not ready, and what should have
//! woken them in a deadlock.

use std::sync::Arc;

use turnpike_scheduler::{End, Execution, Kind, MemoryOrder, ObjectId, Operation, Site, ThreadId};

use super::{Runtime, Turn};
use crate::future::{Baton, Wakeup};
use crate::site::{self, Place};

/// What a pending future waits for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited {
    /// The task that it joins.
    pub(crate) joins: Option<ThreadId>,
    /// The object that stores its waker.
    pub(crate) object: ObjectId,
    /// Where the future was created.
    pub(crate) place: Place,
    /// The holder of what it waits for, and where it was acquired.
    pub(crate) holder: Option<(ThreadId, Place)>,
    pub(crate) why: Option<Why>,
}

/// Why a future is not ready.
#[derive(Clone, Copy)]
pub(crate) enum Why {
    /// The channel is empty, and has so many senders.
    Empty { senders: usize },
    /// The channel is full.
    Full,
    /// So many permits are wanted, and so many are free.
    Permits { wanted: usize, free: usize },
    /// The notification that was given there came when another one was stored, and was lost.
    Merged(Place),
    /// When all were notified there, nobody waited.
    Nobody(Place),
}

impl Why {
    fn text(self) -> String {
        let plural = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        match self {
            Why::Empty { senders } => format!("it is empty and has {}", plural(senders, "sender")),
            Why::Full => "it is full".to_owned(),
            Why::Permits { wanted, free } => format!("{} wanted, {free} free", plural(wanted, "permit")),
            Why::Merged(place) => {
                format!("the notification{} was lost: another one was stored", at(site::of(place)))
            }
            Why::Nobody(place) => format!("nobody waited for the notification{}", at(site::of(place))),
        }
    }
}

/// The state of a thread that polls a future.
#[derive(Default)]
pub(crate) struct Polling {
    /// How other threads wake it.
    wakeup: Option<Arc<Wakeup>>,
    /// The number of the task that it runs.
    task: Option<u64>,
    /// Held while polling, if the task takes turns with others.
    baton: Option<Baton>,
    /// The future wants to be polled again after other threads had their turn.
    yields: bool,
    /// The earliest moment for which a timer was set.
    deadline: Option<u64>,
    awaits: Vec<Awaited>,
}

/// Why a future is polled again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// It was woken, or its timer expired while other threads could still have woken it.
    Woken,
    /// It yielded, or slept.
    Rested,
}

impl Runtime {
    /// The running thread starts polling another future. Returns the state of the previous one.
    pub(crate) fn begin_polling(&self, wakeup: Arc<Wakeup>, baton: Option<&Baton>) -> Polling {
        self.with_polling(|polling| {
            let baton = baton.or(polling.baton.as_ref()).cloned();
            std::mem::replace(
                polling,
                Polling { wakeup: Some(wakeup), baton, task: polling.task, ..Polling::default() },
            )
        })
        .unwrap_or_default()
    }

    /// The number of the task that the running thread runs, if it is one.
    pub(crate) fn task(&self) -> Option<u64> {
        self.with_polling(|polling| polling.task).flatten()
    }

    /// The running thread runs this task.
    pub(crate) fn set_task(&self, task: u64) {
        self.with_polling(|polling| polling.task = Some(task));
    }

    /// The baton of the task that the running thread polls.
    pub(crate) fn baton(&self) -> Option<Baton> {
        self.with_polling(|polling| polling.baton.clone()).flatten()
    }

    /// Sets it, and returns the previous one.
    pub(crate) fn set_baton(&self, baton: Option<Baton>) -> Option<Baton> {
        self.with_polling(|polling| std::mem::replace(&mut polling.baton, baton)).flatten()
    }

    /// Restores the previous state.
    pub(crate) fn end_polling(&self, before: Polling) {
        self.with_polling(|polling| *polling = before);
    }

    /// Clears what the last poll recorded, before the future is polled again.
    pub(crate) fn clear_polling(&self) {
        self.with_polling(|polling| {
            polling.yields = false;
            polling.deadline = None;
            polling.awaits.clear();
            if let Some(wakeup) = &polling.wakeup {
                wakeup.forget_clones();
            }
        });
    }

    /// Records that the future wants to be polled again after other threads had their turn.
    pub(crate) fn poll_again(&self) {
        self.with_polling(|polling| polling.yields = true);
    }

    /// Whether the running thread polls the future of this waker.
    pub(crate) fn polls(&self, wakeup: &Wakeup) -> bool {
        let own =
            |polling: &mut Polling| polling.wakeup.as_deref().is_some_and(|own| std::ptr::eq(own, wakeup));
        self.with_polling(own) == Some(true)
    }

    /// Records that the future wants to be polled again at this moment at the latest.
    pub(crate) fn poll_at(&self, deadline: u64) {
        self.with_polling(|polling| {
            polling.deadline = Some(polling.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        });
    }

    /// Records that the future stored its waker in an object.
    pub(crate) fn awaits(&self, awaited: Awaited) {
        self.with_polling(|polling| polling.awaits.push(awaited));
    }

    fn with_polling<R>(&self, f: impl FnOnce(&mut Polling) -> R) -> Option<R> {
        let mut threads = self.threads.borrow_mut();
        threads.get_mut(self.current.get().0 as usize).map(|thread| f(&mut thread.polling))
    }

    /// The number of the next task.
    pub(crate) fn next_task(&self) -> u64 {
        self.tasks.replace(self.tasks.get() + 1)
    }

    /// The running thread.
    pub(crate) fn current(&self) -> ThreadId {
        self.current.get()
    }

    /// Waits until the running thread's future should be polled again. `state` identifies the state
    /// of the future.
    pub(crate) fn rest(&self, state: u64, place: Place) -> Resumed {
        let (yields, deadline, awaited, shared) = self
            .with_polling(|polling| {
                // What this thread did itself, not which thread holds the waker now: that may
                // depend on the order of independent steps.
                let shared = !polling.awaits.is_empty()
                    || polling.wakeup.as_ref().is_some_and(|wakeup| wakeup.was_cloned());
                (polling.yields, polling.deadline, polling.awaits.first().map(|first| first.place), shared)
            })
            .unwrap_or((false, None, None, false));
        let site = site::of(awaited.unwrap_or(place));
        if yields {
            let operation = Operation::new(Kind::Yield, ObjectId::NONE, site);
            let _ = self.turn(Operation { argument: self.state_of_thread(state), ..operation });
            return Resumed::Rested;
        }
        if let Some(deadline) = deadline.filter(|_| !shared) {
            // Nothing else can wake it, so it sleeps.
            let argument = deadline.saturating_sub(self.now());
            let operation = Operation::new(Kind::Sleep, ObjectId::NONE, site);
            let _ = self.turn(Operation { argument, ..operation });
            return Resumed::Rested;
        }
        let park = Operation::new(Kind::Park, ObjectId::NONE, site);
        let park = match deadline {
            Some(deadline) => Operation { timed: true, deadline, ..park },
            None => park,
        };
        if let Turn::Quiet = self.turn(park) {
            // It unwinds, so nothing wakes it: what it waits for must be available already.
            self.stall();
        }
        Resumed::Woken
    }

    /// A step on an object that is managed here: it conflicts with every other operation on the
    /// object, except that reads commute.
    pub(crate) fn touch(&self, object: ObjectId, writes: bool, place: Place) {
        let kind = if writes { Kind::Update } else { Kind::Load };
        let order = MemoryOrder::SEQUENTIAL;
        let _ = self.turn(Operation { order, ..Operation::new(kind, object, site::of(place)) });
    }

    /// Assigns the name of the next object of this kind: `notify 2`.
    pub(crate) fn number_object(&self, object: ObjectId, kind: &'static str) {
        let mut counts = self.kinds.borrow_mut();
        let number = match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                counts.push((kind, 1));
                0
            }
        };
        self.kernel.borrow_mut().name_object(object, &format!("{kind} {number}"));
    }

    /// Explains the futures that waiting threads wait for, and names the threads that should have
    /// woken them.
    pub(super) fn explain_waits(&self, out: &mut Execution) {
        if out.end != End::Deadlock || out.threads.is_empty() {
            return;
        }
        let threads = self.threads.borrow();
        for (thread, id) in threads.iter().zip(0..) {
            let polling = &thread.polling;
            let Some(record) = out.threads.get_mut(id as usize) else { continue };
            let Some((choice, holder)) = record.waits.as_mut().filter(|waits| waits.0.kind == Kind::Park)
            else {
                continue;
            };
            let Some(wakeup) = polling.wakeup.as_ref().filter(|_| !record.ended) else { continue };
            let first = polling.awaits.first();
            if let Some(joined) = first.and_then(|awaited| awaited.joins) {
                (choice.kind, choice.argument, *holder) = (Kind::Join, u64::from(joined.0), Some(joined));
                continue;
            }
            let mut objects = polling.awaits.iter().map(|awaited| awaited.object);
            choice.object = objects.next().unwrap_or(ObjectId::NONE);
            choice.second = objects.find(|other| *other != choice.object).unwrap_or(ObjectId::NONE);
            let held = first.and_then(|awaited| awaited.holder);
            *holder = held.map(|(thread, _)| thread);
            let object = choice.object;
            if let Some((holder, since)) = held
                && let Some(record) = out.threads.get_mut(holder.0 as usize)
            {
                record.holds.push((object, site::of(since)));
            }
            let why = first.and_then(|awaited| awaited.why).map(Why::text);
            let note = match object {
                ObjectId::NONE => note_on_waker(out, ThreadId(id), Arc::strong_count(wakeup)),
                // The holder is sufficient explanation.
                _ if held.is_some() => continue,
                object => note_on_users(out, ThreadId(id), object),
            };
            let note = why.into_iter().chain([note]).collect::<Vec<_>>().join("; ");
            out.notes.push((ThreadId(id), note));
        }
    }
}

/// Describes the thread that last used an object, other than the one that waits for it.
fn note_on_users(out: &Execution, waiter: ThreadId, object: ObjectId) -> String {
    let mut steps = out.steps.iter().rev().map(|step| &step.choice);
    match steps.find(|choice| choice.object == object && choice.thread != waiter) {
        Some(choice) => {
            format!("last used by {}{}", name(out, choice.thread), at(choice.site))
        }
        None => "no other task ever used it".to_owned(),
    }
}

/// Describes the waker of a thread whose future does not report what it waits for.
fn note_on_waker(out: &Execution, waiter: ThreadId, references: usize) -> String {
    // One reference belongs to the waker that the future is polled with, one to the thread.
    if references <= 2 {
        return "its waker is gone: the future did not store it, or it was dropped".to_owned();
    }
    let mut steps = out.steps.iter().rev().map(|step| &step.choice);
    match steps.find(|choice| choice.thread == waiter && choice.kind != Kind::Park) {
        Some(choice) => format!("its waker was stored after the step{}", at(choice.site)),
        None => "its waker is stored, but was never used".to_owned(),
    }
}

fn name(out: &Execution, thread: ThreadId) -> String {
    out.threads.get(thread.0 as usize).map_or_else(String::new, |record| record.name.clone())
}

/// ` at lib.rs:12:5`.
fn at(site: Site) -> String {
    site::remember(site);
    let place = site::explain(site).unwrap_or_default();
    match place.rsplit('/').next().filter(|place| !place.is_empty()) {
        Some(place) => format!(" at {place}"),
        None => String::new(),
    }
}
