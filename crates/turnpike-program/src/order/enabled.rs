//! Whether a blocking operation is enabled after some steps. Two steps race only if each is enabled
//! without the other.

use turnpike_scheduler::{Choice, Kind, Object, ObjectId};

fn object_of(objects: &[Object], id: ObjectId) -> Option<Object> {
    objects.get(id.0 as usize).copied()
}

/// Whether the operation could go on after these steps, which are executed from the beginning
/// without the step `left_out`; `None` when it is not known.
pub(super) fn enabled_after<'s>(
    objects: &[Object],
    before: impl Iterator<Item = &'s Choice> + Clone,
    left_out: &Choice,
    operation: &Choice,
) -> Option<bool> {
    if operation.alternative >= Choice::STAY {
        // It is enabled because nothing else is, which depends on all earlier steps.
        return (operation.alternative == Choice::STAY).then_some(false);
    }
    let initialises = |step: &Choice| {
        step.kind == Kind::Initialise && [operation.object, operation.second].contains(&step.object)
    };
    if initialises(left_out) || before.clone().any(initialises) {
        return None;
    }
    // An operation that can give up counts as enabled: where it has to wait it gives up instead,
    // and the order in which it waits must be tried. One that is in a queue already is exempt,
    // because every execution shows it waiting, so it has given up wherever it could.
    if operation.gives_up && !matches!(operation.kind, Kind::Reacquire | Kind::Leave) {
        return Some(true);
    }
    match operation.kind {
        Kind::Lock => {
            Some(lock_is_free(before, operation.object, operation.thread.0, is_recursive(objects, operation)))
        }
        Kind::Reacquire => {
            let free = lock_is_free(before.clone(), operation.second, operation.thread.0, false);
            Some(free && was_notified(before, operation))
        }
        Kind::ReadLock => Some(!readers_and_writer(before, operation.object).1),
        Kind::WriteLock => Some(readers_and_writer(before, operation.object) == (0, false)),
        Kind::SemWait => semaphore(objects, before, operation.object).map(|value| value > 0),
        Kind::Send | Kind::Receive => queue(objects, before, operation),
        Kind::OnceBegin => Some(once_is_free(before, operation)),
        Kind::Park => Some(has_token(before, operation.thread.0)),
        Kind::Leave if left_out.kind == Kind::Close => None,
        // A thread does not wait for threads that ask whether it has ended.
        Kind::Leave | Kind::Join if left_out.kind == Kind::TryJoin => None,
        Kind::Leave | Kind::Join => Some(false),
        _ => Some(true),
    }
}

fn is_recursive(objects: &[Object], operation: &Choice) -> bool {
    matches!(object_of(objects, operation.object), Some(Object::Mutex { recursive: true }))
}

fn acts(step: &Choice) -> bool {
    step.alternative < Choice::SPURIOUS
}

/// Whether a mutex is free for a thread.
fn lock_is_free<'s>(
    before: impl Iterator<Item = &'s Choice>,
    mutex: ObjectId,
    thread: u32,
    recursive: bool,
) -> bool {
    let (mut owner, mut depth) = (None, 0u32);
    // The depths that waiters released and will acquire again.
    let mut saved: Vec<(u32, u32)> = Vec::new();
    for step in before {
        let by = step.thread.0;
        if step.object == mutex && acts(step) {
            match step.kind {
                Kind::Lock => (owner, depth) = (Some(by), depth + 1),
                Kind::TryLock if step.exclusive => (owner, depth) = (Some(by), depth + 1),
                Kind::Unlock => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        owner = None;
                    }
                }
                _ => {}
            }
        } else if step.second == mutex {
            match step.kind {
                Kind::Wait => {
                    saved.push((by, depth.max(1)));
                    (owner, depth) = (None, 0);
                }
                // A waiter that gives up only leaves the queue; it takes the mutex by a step of its
                // own.
                Kind::Reacquire if acts(step) => {
                    let at = saved.iter().position(|&(waiter, _)| waiter == by);
                    depth = at.map_or(1, |at| saved.swap_remove(at).1);
                    owner = Some(by);
                }
                _ => {}
            }
        }
    }
    owner.is_none() || recursive && owner == Some(thread)
}

/// Whether the waiter was notified, or gave up.
fn was_notified<'s>(before: impl Iterator<Item = &'s Choice>, operation: &Choice) -> bool {
    let (mut waits, mut notified) = (false, false);
    for step in before.filter(|step| step.object == operation.object) {
        let own = step.thread == operation.thread;
        match step.kind {
            Kind::Wait if own => (waits, notified) = (true, false),
            Kind::Reacquire if own && !acts(step) => notified = true,
            Kind::NotifyOne if step.argument == u64::from(operation.thread.0) => notified |= waits,
            Kind::NotifyAll => notified |= waits,
            _ => {}
        }
    }
    notified
}

fn readers_and_writer<'s>(before: impl Iterator<Item = &'s Choice>, lock: ObjectId) -> (u32, bool) {
    let (mut readers, mut writer) = (0u32, false);
    for step in before.filter(|step| step.object == lock && acts(step)) {
        match step.kind {
            // With the other alternative it does not get the lock.
            Kind::ReadLock | Kind::TryReadLock if step.alternative != 0 => {}
            Kind::ReadLock => readers += 1,
            Kind::TryReadLock if !writer => readers += 1,
            Kind::ReadUnlock => readers = readers.saturating_sub(1),
            Kind::WriteLock => writer = true,
            Kind::TryWriteLock if readers == 0 && !writer => writer = true,
            Kind::WriteUnlock => {
                writer = false;
                // The writer becomes a reader.
                readers += u32::from(step.argument == 1);
            }
            _ => {}
        }
    }
    (readers, writer)
}

fn semaphore<'s>(
    objects: &[Object],
    before: impl Iterator<Item = &'s Choice>,
    semaphore: ObjectId,
) -> Option<u64> {
    let Some(Object::Semaphore { value }) = object_of(objects, semaphore) else { return None };
    let mut value = u64::from(value);
    for step in before.filter(|step| step.object == semaphore && acts(step)) {
        match step.kind {
            Kind::SemWait | Kind::SemTryWait => value = value.saturating_sub(1),
            Kind::SemPost => value += 1,
            _ => {}
        }
    }
    Some(value)
}

fn queue<'s>(
    objects: &[Object],
    before: impl Iterator<Item = &'s Choice>,
    operation: &Choice,
) -> Option<bool> {
    let Some(Object::Queue { capacity }) = object_of(objects, operation.object) else { return None };
    if capacity == 0 && operation.kind == Kind::Send {
        return Some(true);
    }
    let (mut length, mut no_sender, mut no_receiver) = (0u32, false, false);
    for step in before.filter(|step| step.object == operation.object && acts(step)) {
        match step.kind {
            Kind::Send if !no_receiver => length += 1,
            Kind::TrySend if step.exclusive && !no_receiver => length += 1,
            Kind::Receive | Kind::TryReceive => length = length.saturating_sub(1),
            Kind::Close if step.argument == 0 => no_sender = true,
            Kind::Close if step.argument == 1 => no_receiver = true,
            _ => {}
        }
    }
    Some(match operation.kind {
        Kind::Send => length < capacity || no_receiver,
        _ => length > 0 || no_sender,
    })
}

fn once_is_free<'s>(before: impl Iterator<Item = &'s Choice>, operation: &Choice) -> bool {
    let (mut inside, mut done) = (None, false);
    for step in before.filter(|step| step.object == operation.object) {
        match step.kind {
            Kind::OnceBegin if !done && inside.is_none() => inside = Some(step.thread),
            Kind::OnceEnd => {
                done |= step.argument == 1;
                inside = None;
            }
            _ => {}
        }
    }
    inside.is_none_or(|thread| thread == operation.thread)
}

fn has_token<'s>(before: impl Iterator<Item = &'s Choice>, thread: u32) -> bool {
    let mut token = false;
    for step in before.filter(|step| acts(step)) {
        match step.kind {
            Kind::Unpark if step.argument == u64::from(thread) => token = true,
            Kind::Park if step.thread.0 == thread => token = false,
            _ => {}
        }
    }
    token
}
