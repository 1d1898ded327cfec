//! Which steps commute: the dependency relation that reductions rest on.
//!
//! It is a function of two [`Choice`]s, and consistent with fingerprints: executions that differ
//! only in the order of adjacent independent steps have the same fingerprint. Choices contain
//! enough for that: which message, which round of a barrier, which notification.

use crate::execution::Choice;
use crate::kernel::{NO_WRITE, PURE, WEAK};
use crate::operation::{Kind, ObjectId};

/// How a step accesses an object: accesses of one class commute, except exclusive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Commutes with nothing.
    Exclusive,
    /// Does not modify.
    Read,
    /// Acquires or releases for reading.
    Share,
    /// Increments.
    Post,
}

/// Whether the order of two steps matters: one enables or disables the other, or they do not
/// commute. Steps of the same thread always depend on each other.
pub fn dependent(one: &Choice, other: &Choice) -> bool {
    if one.thread == other.thread || global(one) || global(other) {
        return true;
    }
    if enables(one, other) || enables(other, one) {
        return true;
    }
    if is_queue(one.kind) && is_queue(other.kind) {
        return one.object == other.object && queue_dependent(one, other);
    }
    if frees(one, other) || frees(other, one) {
        return true;
    }
    if one.object == other.object && is_anonymous(one) && is_anonymous(other) {
        return round(one) != round(other) || (completes(one) && completes(other));
    }
    if one.is_weak() && other.is_weak() {
        return reads_from(one, other) || reads_from(other, one) || follow_each_other(one, other);
    }
    let touched = accesses(other);
    accesses(one).iter().any(|&(object, class)| {
        object != ObjectId::NONE
            && touched
                .iter()
                .any(|&(same, with)| same == object && (class != with || class == Class::Exclusive))
    })
}

/// Whether two dependent steps, executed in this order, could have been executed in the other
/// order: whether they race. An unlock and a later lock depend on each other, but are never both
/// enabled.
pub fn reversible(first: &Choice, second: &Choice) -> bool {
    dependent(first, second) && first.thread != second.thread && !excludes(first, second)
}

/// Whether the order of two steps of different threads may matter if they find other things in the
/// objects that they access than they found here.
pub fn may_depend(one: &Choice, other: &Choice) -> bool {
    let only_read = |choice: &Choice| choice.kind == Kind::Load;
    let objects = |choice: &Choice| [choice.object, choice.second].into_iter().chain(choice.within);
    let touches = |object: ObjectId| object != ObjectId::NONE && objects(other).any(|same| same == object);
    dependent(one, other) || !(only_read(one) && only_read(other)) && objects(one).any(touches)
}

/// Steps of weak memory.
impl Choice {
    /// Whether it is an access of weak memory: its alternative is the number of the write that it
    /// reads, or that its own write follows.
    pub fn is_weak(&self) -> bool {
        matches!(self.kind, Kind::Load | Kind::Store | Kind::Update)
            && self.argument & WEAK != 0
            && self.alternative < Choice::SPURIOUS
    }

    /// Whether it is one of those that see each other in the order in which they are executed.
    fn is_pure(&self) -> bool {
        self.is_weak() && self.argument & PURE != 0
    }

    /// The number of its own write, if it writes. The initial value has the number 0.
    pub fn number_of_write(&self) -> Option<u32> {
        let number = self.argument & NO_WRITE;
        (self.is_weak() && number != NO_WRITE).then_some(number as u32)
    }

    /// The number of writes newer than the one that its alternative denotes.
    pub fn newer_writes(&self) -> u32 {
        if self.is_weak() { (self.argument >> 32) as u32 & 0x3fff_ffff } else { 0 }
    }
}

/// Whether one step of weak memory reads the write of the other.
fn reads_from(one: &Choice, other: &Choice) -> bool {
    one.object == other.object && one.kind != Kind::Store && other.number_of_write() == Some(one.alternative)
}

/// Whether two steps of weak memory must be executed in the order in which they see each other.
fn follow_each_other(one: &Choice, other: &Choice) -> bool {
    let writes = one.number_of_write().or(other.number_of_write()).is_some();
    one.object == other.object && one.is_pure() && other.is_pure() && writes
}

/// Whether two steps of weak memory are a read and a later write of the same variable: in the other
/// order, the read could have seen the write. They need not depend on each other. An update that
/// only reads here may write in the other order. `None` if either is not a step of weak memory, or if both
/// are pure: those race as other steps do.
pub fn contend(first: &Choice, second: &Choice) -> Option<bool> {
    (first.is_weak() && second.is_weak() && !(first.is_pure() && second.is_pure()))
        .then(|| first.object == second.object && first.kind != Kind::Store && second.kind != Kind::Load)
}

/// What remains asleep of a choice after a step of another thread: nothing if they depend on each
/// other, otherwise the choice itself. If that thread inserted a write after the same write, there
/// are now two positions to write to, or only the second one if its write was a read-modify-write.
pub fn asleep_after(sleeper: &Choice, step: &Choice) -> [Option<Choice>; 2] {
    if dependent(sleeper, step) {
        return [None, None];
    }
    let same = sleeper.is_weak() && step.is_weak() && sleeper.object == step.object;
    match step.number_of_write() {
        Some(number) if same && sleeper.kind == Kind::Store && sleeper.alternative == step.alternative => {
            let behind = Some(Choice { alternative: number, ..*sleeper });
            if step.kind == Kind::Store { [Some(*sleeper), behind] } else { [behind, None] }
        }
        _ => [Some(*sleeper), None],
    }
}

/// Steps that depend on all others: the end of the process, timeouts that fire because nothing else
/// can happen, spurious wake-ups (which a thread need not take even then), offers that succeed only
/// if another thread is about to take them, and repeated reads of what another thread may be about
/// to write.
fn global(choice: &Choice) -> bool {
    choice.kind == Kind::Exit
        || choice.alternative >= Choice::STAY
        || (choice.kind == Kind::TrySend && capacity(choice) == 0)
        || (matches!(choice.kind, Kind::ReadLock | Kind::TryReadLock) && choice.argument & 2 != 0)
}

/// Marks an arrival that would be the last one of a barrier's round.
pub(crate) const COMPLETES: u64 = 1 << 63;

/// Whether it is an arrival of a thread that ignores which thread arrives last.
fn is_anonymous(choice: &Choice) -> bool {
    choice.kind == Kind::Arrive && !choice.exclusive
}

/// The round of a barrier in which a thread arrives.
fn round(choice: &Choice) -> u64 {
    choice.argument & !COMPLETES
}

/// Whether an arrival completes its round. If two threads could complete it, only one of them does.
fn completes(choice: &Choice) -> bool {
    choice.argument & COMPLETES != 0
}

/// Whether `one` is a step that the other thread waits for, other than through the state of an
/// object.
fn enables(one: &Choice, other: &Choice) -> bool {
    let same = one.object == other.object;
    match (one.kind, other.kind) {
        (_, Kind::Join | Kind::TryJoin) if other.argument == u64::from(one.thread.0) => true,
        (Kind::Unpark, Kind::Park) => one.argument == u64::from(other.thread.0),
        (Kind::NotifyOne, Kind::Reacquire) => one.argument == u64::from(other.thread.0),
        (Kind::Arrive, Kind::Leave) => {
            same && round(one) == other.argument && other.alternative < Choice::SPURIOUS
        }
        (Kind::NotifyAll, Kind::Reacquire) | (Kind::FutexWake, Kind::Leave) => {
            same && one.argument == other.argument && other.alternative < Choice::SPURIOUS
        }
        _ => false,
    }
}

/// Whether `one` frees the region of an object that the other accesses.
fn frees(one: &Choice, other: &Choice) -> bool {
    one.kind == Kind::Free && other.within.contains(&one.object)
}

/// The objects that a step accesses, and how. Queues are analysed separately.
///
/// What a step does to one object may depend on the state of another: a futex is joined if its word
/// has a value, a value that spans two objects is exchanged if both match. Reversing a race on the
/// other object then changes how the step accesses this one, so it must not commute with more than
/// it would then.
fn accesses(choice: &Choice) -> [(ObjectId, Class); 2] {
    let (object, second) = (choice.object, choice.second);
    let nothing = (ObjectId::NONE, Class::Read);
    let class = if choice.exclusive { Class::Exclusive } else { Class::Read };
    if choice.alternative >= Choice::SPURIOUS {
        return match choice.kind {
            Kind::Reacquire | Kind::Leave => [(object, Class::Exclusive), nothing],
            _ => [(object, Class::Read), nothing],
        };
    }
    match choice.kind {
        Kind::ReadLock | Kind::ReadUnlock => [(object, Class::Share), nothing],
        Kind::TryReadLock if choice.argument & 1 == 1 => [(object, Class::Share), nothing],
        Kind::SemPost => [(object, Class::Post), nothing],
        Kind::Arrive if !choice.exclusive => [(object, Class::Post), nothing],
        Kind::Reacquire => [(second, Class::Exclusive), nothing],
        Kind::Leave | Kind::Yield => [nothing, nothing],
        // In the other order, this wait might find another value. All such waits have read the
        // word, too.
        Kind::FutexWait if !choice.exclusive => [(object, Class::Share), (second, Class::Read)],
        Kind::FutexWait => [(object, class), (second, Class::Read)],
        Kind::Update if second != ObjectId::NONE => [(object, Class::Exclusive), (second, Class::Exclusive)],
        _ => [(object, class), (second, class)],
    }
}

fn is_queue(kind: Kind) -> bool {
    matches!(kind, Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive | Kind::Close | Kind::Leave)
}

/// The effect of a step on a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traffic {
    /// Appends the message with this number.
    In(u32),
    /// Takes the message with this number.
    Out(u32),
    /// Finds the queue empty, or full.
    Look,
    /// Observes that its message was taken.
    Taken(u32),
    /// One of this many senders closes.
    Gone(u32),
    Close,
}

fn traffic(choice: &Choice) -> Traffic {
    let number = choice.argument as u32;
    match choice.kind {
        Kind::Send | Kind::TrySend if choice.exclusive => Traffic::In(number),
        Kind::Receive | Kind::TryReceive if choice.exclusive => Traffic::Out(number),
        Kind::Close if number > 1 => Traffic::Gone(number),
        Kind::Close => Traffic::Close,
        Kind::Leave => Traffic::Taken(number),
        _ => Traffic::Look,
    }
}

fn capacity(choice: &Choice) -> u32 {
    (choice.argument >> 32) as u32
}

/// A message must be sent before it is taken, and a bounded queue has room for it only after an
/// older one was taken.
fn queue_dependent(one: &Choice, other: &Choice) -> bool {
    match (traffic(one), traffic(other)) {
        (Traffic::In(sent), Traffic::Out(taken)) => meets(sent, taken, capacity(one)),
        (Traffic::Out(taken), Traffic::In(sent)) => meets(sent, taken, capacity(other)),
        (Traffic::Taken(number), Traffic::Out(taken)) | (Traffic::Out(taken), Traffic::Taken(number)) => {
            number == taken
        }
        // Of the last two senders, either may be the last.
        (Traffic::Gone(one), Traffic::Gone(other)) => one == 2 && other == 2,
        (Traffic::Taken(_) | Traffic::Gone(_), other) | (other, Traffic::Taken(_) | Traffic::Gone(_)) => {
            other == Traffic::Close
        }
        (Traffic::Look, Traffic::Look) => false,
        _ => true,
    }
}

fn meets(sent: u32, taken: u32, capacity: u32) -> bool {
    sent == taken || (capacity != 0 && taken.checked_add(capacity) == Some(sent))
}

/// Whether the second step was not enabled before the first one, because it waited for it.
fn excludes(first: &Choice, second: &Choice) -> bool {
    use Kind::*;
    if second.alternative == Choice::STAY {
        return true;
    }
    if first.alternative >= Choice::SPURIOUS || second.alternative >= Choice::SPURIOUS {
        return false;
    }
    // Only through the object on which they conflict: two steps may share two objects.
    let mutex =
        |choice: &Choice| if matches!(choice.kind, Wait | Reacquire) { choice.second } else { choice.object };
    let same_mutex = mutex(first) == mutex(second);
    let same = first.object == second.object;
    match (first.kind, second.kind) {
        (_, Join) => second.argument == u64::from(first.thread.0),
        (NotifyOne | NotifyAll, Reacquire) => true,
        (Arrive | FutexWake, Leave) => true,
        (Wait, Wait) => same_mutex,
        (Unlock | Wait, Lock | Unlock | Reacquire | Wait) => same_mutex,
        (WriteUnlock | ReadUnlock, WriteLock | WriteUnlock) => same,
        (WriteUnlock, ReadLock | ReadUnlock) => same,
        // The semaphore was zero before.
        (SemPost, SemWait) => first.argument == 0,
        (OnceEnd, OnceBegin) => same,
        (Send | TrySend, Receive) => traffic(first) == Traffic::In(second.argument as u32),
        (Receive | TryReceive, Send) => first.exclusive && second.exclusive,
        (Receive | TryReceive, Leave) => true,
        (Close, Receive) => first.argument == 0 && !second.exclusive,
        _ => false,
    }
}
