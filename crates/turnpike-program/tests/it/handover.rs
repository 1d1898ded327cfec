//! Which earlier step of another thread made a step possible.

use turnpike_model::paths::{Chooser, Detail, Request};
use turnpike_model::{Model, Participant};
use turnpike_program::{Launch, ProgramModel, ProgramOptions};
use turnpike_scheduler::script::{Context, Routine, Script, start, straight};
use turnpike_scheduler::{Executor, Kind, Object, ObjectId, Operation, Site};

type Main = fn(&mut Context<'_>) -> Box<dyn Routine>;

fn program(main: Main) -> ProgramModel {
    let launch: Box<Launch> = Box::new(move || Ok(Box::new(Script::new(main)) as Box<dyn Executor>));
    ProgramModel::new("script", 7, launch, ProgramOptions::default()).expect("it can be executed")
}

fn on(kind: Kind, object: ObjectId) -> Operation {
    Operation::new(kind, object, Site(1))
}

/// A path, step by step: choices and who takes part.
fn follow(model: &ProgramModel, chooser: Chooser<'_>) -> (Vec<u32>, Vec<Participant>) {
    let mut paths = model.paths().expect("programs have paths");
    let request = Request { prefix: &[], chooser, max_steps: 200, detail: Detail::Full, reduced: false };
    paths.follow(&request).expect("it can be executed");
    let (threads, parts) = paths.participants().expect("threads");
    assert_eq!(threads[0], "main");
    let alone = |mut parts: Vec<Participant>| {
        assert_eq!(parts.len(), 1, "a step of a program is one thread's");
        parts.remove(0)
    };
    let choices = (0..paths.len()).map(|step| paths.step(step).taken).collect();
    (choices, parts.into_iter().map(alone).collect())
}

/// `main.1 lock mutex 0 < main.0 unlock mutex 0`, without what created threads.
fn in_words(parts: &[Participant]) -> Vec<String> {
    let words = |part: &Participant| {
        let given = part.after.iter().filter(|given| !given.action.starts_with("create "));
        let given: Vec<String> =
            given.map(|given| format!(" < {} {}", given.component, given.action)).collect();
        format!("{} {}{}", part.component, part.action, given.concat())
    };
    parts.iter().map(words).collect()
}

fn locks(context: &mut Context<'_>) -> Box<dyn Routine> {
    let mutex = context.register(Object::Mutex { recursive: false });
    let thread = || straight(vec![on(Kind::Lock, mutex), on(Kind::Unlock, mutex)]);
    start(vec![thread(), thread()])
}

#[test]
fn locks_and_ends_of_threads_are_handed_over() {
    let (_, parts) = follow(&program(locks), Chooser::First);
    let expected = [
        "main.0 lock mutex 0",
        "main.0 unlock mutex 0",
        "main join main.0 < main.0 unlock mutex 0",
        "main.1 lock mutex 0 < main.0 unlock mutex 0",
        "main.1 unlock mutex 0",
        "main join main.1 < main.1 unlock mutex 0",
    ];
    let mut found = in_words(&parts);
    let mut sorted = expected.map(str::to_owned).to_vec();
    found.sort();
    sorted.sort();
    assert_eq!(found, sorted);
    // Threads are created by main, before its first step.
    let first = parts.iter().find(|part| part.component == "main.1").expect("it runs");
    let created = &first.after[0];
    assert_eq!((created.component.as_str(), created.step), ("main", 0));
    assert_eq!(created.action, "create main.1");
}

fn messages(context: &mut Context<'_>) -> Box<dyn Routine> {
    let queue = context.register(Object::Queue { capacity: u32::MAX });
    let semaphore = context.register(Object::Semaphore { value: 1 });
    let sender = straight(vec![
        on(Kind::Send, queue),
        on(Kind::Send, queue),
        on(Kind::SemPost, semaphore),
        on(Kind::SemPost, semaphore),
    ]);
    let receiver = straight(vec![
        on(Kind::Receive, queue),
        on(Kind::Receive, queue),
        on(Kind::SemWait, semaphore),
        on(Kind::SemWait, semaphore),
    ]);
    start(vec![sender, receiver])
}

#[test]
fn messages_and_posts_are_taken_in_their_order() {
    let (_, parts) = follow(&program(messages), Chooser::Continue);
    let received: Vec<(String, usize)> = parts
        .iter()
        .filter(|part| part.action.starts_with("receive") || part.action.starts_with("sem_wait"))
        .map(|part| {
            let given = part.after.iter().find(|given| !given.action.starts_with("create "));
            (part.action.clone(), given.map_or(0, |given| given.step))
        })
        .collect();
    let steps: Vec<usize> = received.iter().map(|&(_, step)| step).collect();
    // The semaphore begins with one token of its own, which nobody gave.
    assert_eq!(steps, [1, 2, 0, 3], "{received:?}");
}

fn notified(context: &mut Context<'_>) -> Box<dyn Routine> {
    let mutex = context.register(Object::Mutex { recursive: false });
    let condvar = context.register(Object::Condvar);
    let wait = Operation { second: mutex, ..on(Kind::Wait, condvar) };
    let waiter = straight(vec![on(Kind::Lock, mutex), wait, on(Kind::Unlock, mutex)]);
    let notifier =
        straight(vec![on(Kind::Lock, mutex), on(Kind::NotifyAll, condvar), on(Kind::Unlock, mutex)]);
    start(vec![waiter, notifier])
}

#[test]
fn notifications_wake_and_the_lock_comes_back() {
    // The waiter first, as far as it gets.
    let (_, parts) = follow(&program(notified), Chooser::First);
    let found = in_words(&parts);
    let again = found.iter().find(|step| step.contains("reacquire")).expect("it is woken");
    assert!(again.contains(" < main.1 notify_all condvar 0"), "{found:#?}");
    assert!(again.contains(" < main.1 unlock mutex 0"), "{found:#?}");
    let locked = found.iter().find(|step| step.starts_with("main.1 lock")).expect("it locks");
    assert!(locked.ends_with(" < main.0 wait condvar 0 mutex 0"), "waiting releases the lock: {found:#?}");
}

#[test]
fn what_is_handed_over_was_done_and_explorers_agree_with_paths() {
    for main in [locks as Main, messages, notified] {
        let model = program(main);
        for seed in 0..8 {
            let (choices, parts) = follow(&model, Chooser::Uniform { seed });
            for (index, part) in parts.iter().enumerate() {
                for given in &part.after {
                    assert_ne!(given.component, part.component);
                    let mut own = parts[..index].iter().filter(|other| other.component == given.component);
                    let step = given.step.checked_sub(1).map(|at| own.nth(at).expect("it was taken"));
                    let created = given.action.starts_with("create ");
                    assert!(created || step.is_some_and(|step| step.action == given.action), "{given:?}");
                }
            }
            let mut explorer = model.explorer();
            let (mut state, mut out) = (Vec::new(), turnpike_model::Successors::new(model.info().width));
            explorer.initial(&mut state).expect("an initial state");
            for (part, &choice) in parts.iter().zip(&choices) {
                explorer.successors(&state, &mut out).expect("it can be executed");
                let participants = explorer.participants().expect("threads");
                let found = participants.participants(&state, choice as usize).expect("participants");
                // Another schedule may lead to the same state, with the same steps of each thread.
                let plain = |part: &Participant| (part.component.clone(), part.action.clone());
                assert_eq!(found.iter().map(plain).collect::<Vec<_>>(), [plain(part)]);
                state = out.state(choice as usize).to_vec();
            }
        }
    }
}
