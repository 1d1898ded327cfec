//! Random programs of tasks: exhaustive search, which leaves out equivalent schedules, has the outcomes of
//! executing every schedule.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};

use turnpike::future::{AbortHandle, block_on, spawn, yield_now};
use turnpike::tokio::select;
use turnpike::tokio::sync::{Notify, RwLock, Semaphore, mpsc};
use turnpike::{CheckError, Config};
use turnpike_runtime::{Guest, GuestOptions};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

const PROGRAMS: u64 = 120;
/// Programs with more schedules are left out.
const MOST_SCHEDULES: usize = 4_000;

#[derive(Clone, Copy, Debug)]
enum Act {
    Acquire,
    TryAcquire,
    AddPermit,
    Notify,
    NotifyAll,
    Notified,
    Send,
    Receive,
    SelectBoth,
    Write,
    Read,
    Yield,
    AbortOther,
}

const ACTS: [Act; 13] = [
    Act::Acquire,
    Act::TryAcquire,
    Act::AddPermit,
    Act::Notify,
    Act::NotifyAll,
    Act::Notified,
    Act::Send,
    Act::Receive,
    Act::SelectBoth,
    Act::Write,
    Act::Read,
    Act::Yield,
    Act::AbortOther,
];

fn program(seed: u64) -> Vec<Vec<Act>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    (0..2).map(|_| (0..1 + below(2)).map(|_| ACTS[below(ACTS.len())]).collect()).collect()
}

struct Shared {
    semaphore: Semaphore,
    notify: Notify,
    sender: mpsc::UnboundedSender<u32>,
    receiver: turnpike::tokio::sync::Mutex<mpsc::UnboundedReceiver<u32>>,
    value: RwLock<u32>,
    /// Set before the second task begins.
    first: StdMutex<Option<AbortHandle>>,
}

async fn perform(act: Act, shared: &Shared) -> u32 {
    match act {
        Act::Acquire => u32::from(shared.semaphore.acquire().await.map(|permit| permit.forget()).is_ok()),
        Act::TryAcquire => u32::from(shared.semaphore.try_acquire().is_ok()),
        Act::AddPermit => {
            shared.semaphore.add_permits(1);
            0
        }
        Act::Notify => {
            shared.notify.notify_one();
            0
        }
        Act::NotifyAll => {
            shared.notify.notify_waiters();
            0
        }
        Act::Notified => {
            shared.notify.notified().await;
            1
        }
        Act::Send => u32::from(shared.sender.send(7).is_ok()),
        Act::Receive => shared.receiver.lock().await.recv().await.unwrap_or(0),
        Act::SelectBoth => select! {
            _ = shared.notify.notified() => 1,
            permit = shared.semaphore.acquire() => {
                permit.map(|permit| permit.forget()).map_or(0, |()| 2)
            }
        },
        Act::Write => {
            *shared.value.write().await += 1;
            0
        }
        Act::Read => *shared.value.read().await,
        Act::Yield => {
            yield_now().await;
            0
        }
        Act::AbortOther => {
            let other = shared.first.lock().unwrap().clone();
            if let Some(other) = other {
                other.abort();
            }
            0
        }
    }
}

/// Runs a program, and gives what its tasks saw.
fn run(program: &[Vec<Act>]) -> Vec<Option<Vec<u32>>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // The main thread drops it last, so nobody can notice how it is counted.
    let shared = Arc::new(Shared {
        semaphore: Semaphore::new(1),
        notify: Notify::new(),
        sender,
        receiver: turnpike::tokio::sync::Mutex::new(receiver),
        value: RwLock::new(0),
        first: StdMutex::new(None),
    });
    let tasks: Vec<_> = program
        .iter()
        .map(|acts| {
            let (acts, own) = (acts.clone(), shared.clone());
            let task = spawn(async move {
                let mut seen = Vec::new();
                for act in acts {
                    seen.push(perform(act, &own).await);
                }
                seen
            });
            shared.first.lock().unwrap().get_or_insert_with(|| task.abort_handle());
            task
        })
        .collect();
    block_on(async {
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.ok());
        }
        seen
    })
}

type Outcomes = BTreeSet<Vec<Option<Vec<u32>>>>;

/// The outcomes of every schedule, and whether one of them gets stuck. Nothing if there are too many.
fn enumerate(program: Vec<Vec<Act>>) -> Option<(Outcomes, bool)> {
    let seen = Arc::new(StdMutex::new(Outcomes::new()));
    let outcomes = seen.clone();
    let body = move || {
        let outcome = run(&program);
        outcomes.lock().unwrap().insert(outcome);
    };
    let mut guest = Guest::new(body, GuestOptions::default());
    let (mut execution, mut prefix, mut stuck) = (Execution::default(), Vec::new(), false);
    for _ in 0..MOST_SCHEDULES {
        let plan = Plan { prefix: &prefix, policy: Policy::First, ..Plan::new(&[]) };
        guest.run(&plan, &mut execution).expect("it can be executed");
        stuck |= matches!(execution.end, End::Deadlock | End::Livelock);
        let steps = &execution.steps;
        let Some(last) = steps.iter().rposition(|step| step.taken + 1 < step.count) else {
            let outcomes = std::mem::take(&mut *seen.lock().unwrap());
            return Some((outcomes, stuck));
        };
        prefix.clear();
        prefix.extend(steps[..last].iter().map(|step| step.taken));
        prefix.push(steps[last].taken + 1);
    }
    None
}

#[test]
fn exhaustive_search_has_the_outcomes_of_every_schedule() {
    let (mut compared, mut several) = (0, 0);
    for seed in 0..PROGRAMS {
        let program = program(seed);
        let Some((every, stuck)) = enumerate(program.clone()) else { continue };
        let seen = Arc::new(StdMutex::new(Outcomes::new()));
        let (outcomes, acts) = (seen.clone(), program.clone());
        let body = move || {
            let outcome = run(&acts);
            outcomes.lock().unwrap().insert(outcome);
        };
        let checked = Config::new().strategy("exhaustive").executions(100_000).run(body);
        compared += 1;
        match checked {
            Err(CheckError::Failed(_)) => assert!(stuck, "{program:?}"),
            Ok(checked) => {
                assert!(!stuck, "a deadlock was missed: {program:?}");
                several += usize::from(every.len() > 1);
                assert_eq!(*seen.lock().unwrap(), every, "{program:?}, {checked}");
            }
            Err(other) => panic!("{program:?}: {other}"),
        }
    }
    assert!(compared >= 40 && several >= 2, "{compared} programs, {several} with several outcomes");
}
