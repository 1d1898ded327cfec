//! Which steps of other threads made a step possible: which one released the lock that it takes,
//! sent the message, woke the thread or created it.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use turnpike_model::{Handover, Participant, Role};
use turnpike_scheduler::{Choice, Execution, Kind, Object, ObjectId, StepValue, ThreadId};

use crate::incident::path;
use crate::texts;

/// The names of all threads of an execution with full detail, and the participants of each of its
/// steps.
pub(crate) fn participants(execution: &Execution) -> (Vec<String>, Vec<Vec<Participant>>) {
    let mut threads: Vec<String> =
        (0..execution.threads.len()).map(|id| texts::thread(execution, ThreadId(id as u32))).collect();
    threads.sort_by(|one, other| path(one).cmp(&path(other)));
    // The number of each step among those of its thread.
    let mut counts: FxHashMap<ThreadId, usize> = FxHashMap::default();
    let mut ranks = Vec::with_capacity(execution.steps.len());
    for step in &execution.steps {
        let count = counts.entry(step.choice.thread).or_default();
        *count += 1;
        ranks.push(*count);
    }
    let mut ledger = Ledger::default();
    let mut parts = Vec::with_capacity(execution.steps.len());
    for (index, step) in execution.steps.iter().enumerate() {
        let choice = &step.choice;
        let givers = ledger.take(execution, index, choice);
        let after = givers.into_iter().filter(|&giver| thread_of(execution, giver) != choice.thread);
        let after = after.map(|giver| Handover {
            component: texts::thread(execution, thread_of(execution, giver)),
            step: ranks[giver],
            action: texts::deed(execution, &execution.steps[giver].choice),
        });
        let creation = (ranks[index] == 1).then(|| creation(execution, &ranks, choice.thread)).flatten();
        parts.push(vec![Participant {
            component: texts::thread(execution, choice.thread),
            action: texts::deed(execution, choice),
            role: Role::TakesPart,
            value: value_behind(execution, index),
            after: creation.into_iter().chain(after).collect(),
        }]);
    }
    (threads, parts)
}

/// The value in the memory that a step accesses, after the step. The types of variables are not
/// known: bytes are shown unsigned, other small numbers signed, and large ones as addresses.
fn value_behind(execution: &Execution, step: usize) -> Option<String> {
    let at = execution.values.binary_search_by_key(&step, |seen| seen.step as usize).ok()?;
    let StepValue { value, bytes, .. } = execution.values[at];
    if bytes == 1 {
        return Some(value.to_string());
    }
    let unused = 64_u32.saturating_sub(u32::from(bytes) * 8);
    let signed = ((value << unused) as i64) >> unused;
    let small = i32::try_from(signed).is_ok();
    Some(if small { signed.to_string() } else { format!("{value:#x}") })
}

fn thread_of(execution: &Execution, step: usize) -> ThreadId {
    execution.steps[step].choice.thread
}

/// The step after which a thread was created, by the thread that took it.
fn creation(execution: &Execution, ranks: &[usize], thread: ThreadId) -> Option<Handover> {
    let born = execution.threads.get(thread.0 as usize)?.born as usize;
    let action = format!("create {}", texts::thread(execution, thread));
    let (parent, step) = match born.checked_sub(1).filter(|&last| last < ranks.len()) {
        Some(last) => (thread_of(execution, last), ranks[last]),
        None => (ThreadId(0), 0),
    };
    (parent != thread).then(|| Handover { component: texts::thread(execution, parent), step, action })
}

/// What steps made available to others.
#[derive(Default)]
struct Ledger {
    /// The last release of a lock.
    released: FxHashMap<ObjectId, usize>,
    /// The tokens in a semaphore: `None` for those that it began with, then the posts.
    tokens: FxHashMap<ObjectId, VecDeque<Option<usize>>>,
    messages: FxHashMap<ObjectId, VecDeque<usize>>,
    closed: FxHashMap<ObjectId, usize>,
    /// The last step that released threads that wait at a barrier, a futex or a rendezvous.
    opened: FxHashMap<ObjectId, usize>,
    /// By waiting thread: its condition variable, and the notification.
    waiting: BTreeMap<ThreadId, (ObjectId, Option<usize>)>,
    unparked: FxHashMap<ThreadId, usize>,
    last: FxHashMap<ThreadId, usize>,
}

impl Ledger {
    /// Records a step, and returns the steps that made it possible.
    fn take(&mut self, execution: &Execution, index: usize, step: &Choice) -> Vec<usize> {
        let (object, own) = (step.object, step.thread);
        self.last.insert(own, index);
        if step.alternative >= Choice::STAY {
            // It timed out or woke up spuriously: no other step enabled it.
            return Vec::new();
        }
        let target = ThreadId(step.argument as u32);
        let released = |ledger: &Ledger, lock: ObjectId| ledger.released.get(&lock).copied();
        let given = match step.kind {
            Kind::Lock | Kind::ReadLock | Kind::WriteLock => released(self, object),
            Kind::TryLock | Kind::TryWriteLock if step.exclusive => released(self, object),
            Kind::TryReadLock if step.argument & 1 == 1 => released(self, object),
            Kind::Unlock | Kind::ReadUnlock | Kind::WriteUnlock | Kind::OnceEnd => {
                self.released.insert(object, index);
                None
            }
            Kind::OnceBegin => released(self, object),
            Kind::Wait => {
                self.released.insert(step.second, index);
                self.waiting.insert(own, (object, None));
                None
            }
            Kind::NotifyOne => {
                self.notify(index, |thread, _| thread == target);
                None
            }
            Kind::NotifyAll => {
                self.notify(index, |_, condvar| condvar == object);
                None
            }
            Kind::Reacquire => {
                let notified = self.waiting.remove(&own).and_then(|(_, notification)| notification);
                let lock = released(self, step.second).filter(|&lock| Some(lock) != notified);
                return notified.into_iter().chain(lock).collect();
            }
            Kind::SemPost => {
                self.tokens(execution, object).push_back(Some(index));
                None
            }
            Kind::SemWait => self.tokens(execution, object).pop_front().flatten(),
            Kind::SemTryWait => self.tokens(execution, object).pop_front().flatten(),
            Kind::Send => {
                self.messages.entry(object).or_default().push_back(index);
                None
            }
            Kind::TrySend if step.exclusive => {
                self.messages.entry(object).or_default().push_back(index);
                None
            }
            Kind::Receive | Kind::TryReceive => {
                self.opened.insert(object, index);
                let message = self.messages.get_mut(&object).and_then(VecDeque::pop_front);
                let closed = self.closed.get(&object).copied().filter(|_| step.kind == Kind::Receive);
                message.or(closed)
            }
            Kind::Close => {
                self.closed.insert(object, index);
                self.opened.insert(object, index);
                None
            }
            Kind::Arrive | Kind::FutexWake => {
                self.opened.insert(object, index);
                None
            }
            Kind::Leave => self.opened.get(&object).copied(),
            Kind::Join => self.last.get(&target).copied(),
            Kind::Unpark => {
                self.unparked.insert(target, index);
                None
            }
            Kind::Park => self.unparked.remove(&own),
            _ => None,
        };
        given.into_iter().collect()
    }

    fn notify(&mut self, index: usize, wakes: impl Fn(ThreadId, ObjectId) -> bool) {
        for (&thread, (condvar, notification)) in &mut self.waiting {
            if notification.is_none() && wakes(thread, *condvar) {
                *notification = Some(index);
            }
        }
    }

    fn tokens(&mut self, execution: &Execution, semaphore: ObjectId) -> &mut VecDeque<Option<usize>> {
        self.tokens.entry(semaphore).or_insert_with(|| {
            let record = execution.objects.get(semaphore.0 as usize).map(|record| record.object);
            let Some(Object::Semaphore { value }) = record else { return VecDeque::new() };
            // More than an execution can take need not be counted.
            vec![None; (value as usize).min(execution.steps.len())].into()
        })
    }
}
