//! Steps of a program as labels: `lock(main.0, mutex 2)`.

use turnpike_scheduler::{Choice, Execution, Kind, ObjectId, ThreadId};

use turnpike_model::label::{Action, Label};

/// The word for an operation, as an action's name.
pub fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Lock => "lock",
        Kind::TryLock => "try_lock",
        Kind::Unlock => "unlock",
        Kind::ReadLock => "read_lock",
        Kind::TryReadLock => "try_read_lock",
        Kind::WriteLock => "write_lock",
        Kind::TryWriteLock => "try_write_lock",
        Kind::ReadUnlock => "read_unlock",
        Kind::WriteUnlock => "write_unlock",
        Kind::Wait => "wait",
        Kind::Reacquire => "reacquire",
        Kind::NotifyOne => "notify_one",
        Kind::NotifyAll => "notify_all",
        Kind::SemWait => "sem_wait",
        Kind::SemTryWait => "sem_try_wait",
        Kind::SemPost => "sem_post",
        Kind::SemGet => "sem_get",
        Kind::Arrive => "arrive",
        Kind::Leave => "leave",
        Kind::OnceBegin => "once_begin",
        Kind::OnceEnd => "once_end",
        Kind::Send => "send",
        Kind::TrySend => "try_send",
        Kind::Receive => "receive",
        Kind::TryReceive => "try_receive",
        Kind::Close => "close",
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Update => "update",
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Join => "join",
        Kind::TryJoin => "try_join",
        Kind::Park => "park",
        Kind::Unpark => "unpark",
        Kind::Yield => "yield",
        Kind::Sleep => "sleep",
        Kind::Toss => "toss",
        Kind::Assert => "assert",
        Kind::Message => "message",
        Kind::Exit => "exit",
        Kind::FutexWait => "futex_wait",
        Kind::FutexWake => "futex_wake",
        Kind::Destroy => "destroy",
        Kind::Initialise => "initialise",
        Kind::End => "end",
        Kind::Free => "free",
    }
}

/// What a thread is about to do at the end of an execution recorded with full detail.
pub(crate) fn pending(execution: &Execution, thread: ThreadId) -> String {
    let waits = execution.threads.get(thread.0 as usize).and_then(|thread| thread.waits.as_ref());
    waits.map_or_else(String::new, |(choice, _)| label_of(execution, choice).text)
}

fn label_of(execution: &Execution, choice: &Choice) -> Label {
    let thread = |id: u32| match execution.threads.get(id as usize) {
        Some(thread) if !thread.name.is_empty() => thread.name.clone(),
        _ => format!("thread {id}"),
    };
    let object = |id: ObjectId| match execution.objects.get(id.0 as usize) {
        Some(object) if !object.name.is_empty() => object.name.clone(),
        _ => format!("object {}", id.0),
    };
    let mut arguments = vec![thread(choice.thread.0)];
    for id in [choice.object, choice.second] {
        if id != ObjectId::NONE {
            arguments.push(object(id));
        }
    }
    match choice.kind {
        Kind::Join | Kind::TryJoin | Kind::Unpark => {
            arguments.push(u32::try_from(choice.argument).map_or_else(|_| String::from("?"), thread));
        }
        Kind::Toss => arguments.push(choice.alternative.to_string()),
        _ if choice.alternative > 0 => arguments.push(format!("#{}", choice.alternative)),
        _ => {}
    }
    let name = verb(choice.kind).to_owned();
    let text = format!("{name}({})", arguments.join(", "));
    Label { text, actions: vec![Action { name, arguments }] }
}
