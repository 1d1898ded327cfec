//! Random programs over all kinds of operations, and programs from the literature with known
//! numbers of traces.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use turnpike_scheduler::script::{Context, Routine, Script, start_only, straight};
use turnpike_scheduler::{
    Choice, Detail, Execution, Executor, Kind, Object, ObjectId, Operation, Outcome, Plan, Policy, Reduction,
    Site,
};

pub(crate) fn op(kind: Kind, object: ObjectId) -> Operation {
    Operation::new(kind, object, Site(kind as u64))
}

pub(crate) fn with(kind: Kind, object: ObjectId, argument: u64) -> Operation {
    Operation { argument, ..op(kind, object) }
}

pub(crate) fn run(script: &mut Script, plan: &Plan<'_>) -> Execution {
    let mut out = Execution::default();
    script.run(plan, &mut out).unwrap();
    out
}

/// The choices after a prefix, as `thread.alternative kind`.
pub(crate) fn choices(script: &mut Script, prefix: &[u32]) -> Vec<String> {
    let out = run(script, &Plan { detail: Detail::Full, ..Plan::new(prefix) });
    out.choices[out.last_choices..].iter().map(show).collect()
}

pub(crate) fn show(choice: &Choice) -> String {
    match choice.alternative {
        Choice::TIMEOUT => format!("{}.timeout {:?}", choice.thread.0, choice.kind),
        Choice::SPURIOUS => format!("{}.spurious {:?}", choice.thread.0, choice.kind),
        Choice::STAY => format!("{}.stay {:?}", choice.thread.0, choice.kind),
        n => format!("{}.{n} {:?}", choice.thread.0, choice.kind),
    }
}

/// A program of straight-line threads over some objects; main only starts them. Operations refer to
/// objects by position.
pub(crate) fn program(objects: Vec<Object>, threads: Vec<Vec<Operation>>) -> Script {
    Script::new(move |context| {
        for &object in &objects {
            context.register(object);
        }
        start_only(threads.iter().map(|thread| straight(thread.clone())).collect())
    })
}

/// Executes positions, then the first choices; returns the outcome of each operation of each
/// thread.
pub(crate) fn outcomes(
    objects: Vec<Object>,
    threads: Vec<Vec<Operation>>,
    plan: &Plan<'_>,
) -> (Vec<Vec<Outcome>>, Execution) {
    let log = Arc::new(Mutex::new(vec![Vec::new(); threads.len()]));
    let shared = log.clone();
    let mut script = Script::new(move |context| {
        for &object in &objects {
            context.register(object);
        }
        let threads = threads.iter().enumerate().map(|(i, thread)| {
            let (mut operations, log, mut first) = (thread.clone().into_iter(), shared.clone(), true);
            Box::new(move |outcome: Outcome, _: &mut Context<'_>| {
                if !first {
                    log.lock().unwrap()[i].push(outcome);
                }
                first = false;
                operations.next()
            }) as Box<dyn Routine>
        });
        start_only(threads.collect())
    });
    let out = run(&mut script, plan);
    let log = log.lock().unwrap().clone();
    (log, out)
}

/// The objects of random programs, by number.
pub(crate) const OBJECTS: [Object; 15] = [
    Object::Mutex { recursive: false },
    Object::Mutex { recursive: true },
    Object::RwLock,
    Object::Condvar,
    Object::Semaphore { value: 1 },
    Object::Barrier { count: 2 },
    Object::Once,
    Object::Queue { capacity: 0 },
    Object::Queue { capacity: 2 },
    Object::Queue { capacity: u32::MAX },
    Object::Memory,
    Object::Futex,
    Object::Region,
    Object::Memory,
    Object::Mutex { recursive: false },
];
const MUTEX: ObjectId = ObjectId(0);
const AGAIN: ObjectId = ObjectId(1);
const LOCK: ObjectId = ObjectId(2);
const CONDVAR: ObjectId = ObjectId(3);
const SEMAPHORE: ObjectId = ObjectId(4);
const BARRIER: ObjectId = ObjectId(5);
const ONCE: ObjectId = ObjectId(6);
const MEETING: ObjectId = ObjectId(7);
const BOUNDED: ObjectId = ObjectId(8);
const QUEUE: ObjectId = ObjectId(9);
const MEMORY: ObjectId = ObjectId(10);
const FUTEX: ObjectId = ObjectId(11);
const BLOCK: ObjectId = ObjectId(12);
/// These two lie in the block.
const PART: ObjectId = ObjectId(13);
const INNER: ObjectId = ObjectId(14);
const NONE: ObjectId = ObjectId::NONE;

/// An operation, and the operations that follow if it succeeds.
pub(crate) type Piece = (Operation, Vec<Operation>);

/// A random piece of code for a program of this many threads.
pub(crate) fn piece(threads: u64) -> impl Strategy<Value = Piece> {
    let wait = Operation { second: MUTEX, ..op(Kind::Wait, CONDVAR) };
    let timed = |operation: Operation| Operation { timed: true, deadline: 100, ..operation };
    let unlock = op(Kind::Unlock, MUTEX);
    let fixed: Vec<Piece> = vec![
        (op(Kind::Lock, MUTEX), vec![unlock]),
        (op(Kind::Lock, MUTEX), vec![op(Kind::Store, MEMORY), unlock]),
        (op(Kind::Lock, MUTEX), vec![wait, unlock]),
        (op(Kind::Lock, MUTEX), vec![timed(wait), unlock]),
        (op(Kind::TryLock, MUTEX), vec![unlock]),
        (timed(op(Kind::Lock, MUTEX)), vec![unlock]),
        (
            op(Kind::Lock, AGAIN),
            vec![op(Kind::Lock, AGAIN), op(Kind::Unlock, AGAIN), op(Kind::Unlock, AGAIN)],
        ),
        (op(Kind::ReadLock, LOCK), vec![op(Kind::ReadUnlock, LOCK)]),
        (op(Kind::TryReadLock, LOCK), vec![op(Kind::ReadUnlock, LOCK)]),
        (op(Kind::WriteLock, LOCK), vec![op(Kind::WriteUnlock, LOCK)]),
        (op(Kind::TryWriteLock, LOCK), vec![op(Kind::WriteUnlock, LOCK)]),
        (op(Kind::NotifyOne, CONDVAR), vec![]),
        (op(Kind::NotifyAll, CONDVAR), vec![]),
        (op(Kind::SemWait, SEMAPHORE), vec![]),
        (op(Kind::SemTryWait, SEMAPHORE), vec![]),
        (op(Kind::SemPost, SEMAPHORE), vec![]),
        (op(Kind::SemGet, SEMAPHORE), vec![]),
        (op(Kind::Arrive, BARRIER), vec![]),
        (op(Kind::OnceBegin, ONCE), vec![with(Kind::OnceEnd, ONCE, 1)]),
        (op(Kind::OnceBegin, ONCE), vec![with(Kind::OnceEnd, ONCE, 0)]),
        (op(Kind::Send, MEETING), vec![with(Kind::Leave, MEETING, u64::MAX)]),
        (op(Kind::Receive, MEETING), vec![]),
        (op(Kind::TryReceive, MEETING), vec![]),
        (op(Kind::Send, BOUNDED), vec![]),
        (op(Kind::Send, BOUNDED), vec![]),
        (op(Kind::TrySend, BOUNDED), vec![]),
        (op(Kind::Receive, BOUNDED), vec![]),
        (op(Kind::Receive, BOUNDED), vec![]),
        (op(Kind::TryReceive, BOUNDED), vec![]),
        (with(Kind::Close, BOUNDED, 0), vec![]),
        (with(Kind::Close, BOUNDED, 1), vec![]),
        (op(Kind::Send, QUEUE), vec![]),
        (op(Kind::Receive, QUEUE), vec![]),
        (timed(op(Kind::Receive, QUEUE)), vec![]),
        (op(Kind::Load, MEMORY), vec![]),
        (op(Kind::Store, MEMORY), vec![]),
        (op(Kind::Update, MEMORY), vec![]),
        (Operation { writes: Some(|_| false), ..op(Kind::Update, MEMORY) }, vec![]),
        (op(Kind::Park, NONE), vec![]),
        (op(Kind::Yield, NONE), vec![]),
        (with(Kind::Sleep, NONE, 7), vec![]),
        (with(Kind::Toss, NONE, 1), vec![op(Kind::Message, NONE)]),
        (op(Kind::FutexWait, FUTEX), vec![]),
        (with(Kind::FutexWake, FUTEX, 1), vec![]),
        (op(Kind::Load, PART), vec![]),
        (Operation { second: PART, ..op(Kind::Store, MEMORY) }, vec![]),
        (op(Kind::Lock, INNER), vec![op(Kind::Unlock, INNER)]),
        (op(Kind::Lock, INNER), vec![Operation { second: INNER, ..wait }, op(Kind::Unlock, INNER)]),
        (op(Kind::Free, BLOCK), vec![]),
        (op(Kind::Free, BLOCK), vec![]),
        (op(Kind::Destroy, MUTEX), vec![]),
        (op(Kind::Destroy, CONDVAR), vec![]),
        (op(Kind::Destroy, SEMAPHORE), vec![]),
        (op(Kind::Destroy, BARRIER), vec![]),
        (op(Kind::Destroy, LOCK), vec![]),
    ];
    let other = 1..=threads;
    prop_oneof![
        8 => prop::sample::select(fixed),
        1 => (other.clone(), prop::sample::select(vec![Kind::Join, Kind::TryJoin, Kind::Unpark]))
            .prop_map(|(t, kind)| (with(kind, NONE, t), vec![])),
    ]
}

/// A random program.
pub(crate) fn threads(n: usize, pieces: usize) -> impl Strategy<Value = Vec<Vec<Piece>>> {
    prop::collection::vec(prop::collection::vec(piece(n as u64), 1..=pieces), n..=n)
}

/// What the threads observed: the outcome of each operation, and the time.
pub(crate) type Log = Arc<Mutex<Vec<Vec<(Outcome, u64)>>>>;

/// The program as a script.
pub(crate) fn script(threads: Vec<Vec<Piece>>) -> (Script, Log) {
    let log: Log = Arc::default();
    let shared = log.clone();
    let script = Script::new(move |context| {
        for object in OBJECTS {
            context.register(object);
        }
        context.kernel.set_senders(BOUNDED, 2);
        context.kernel.place(PART, BLOCK);
        context.kernel.place(INNER, BLOCK);
        *shared.lock().unwrap() = vec![Vec::new(); threads.len()];
        let threads = threads.iter().enumerate();
        start_only(threads.map(|(i, pieces)| thread(i, pieces.clone(), shared.clone())).collect())
    });
    (script, log)
}

fn thread(i: usize, pieces: Vec<Piece>, log: Log) -> Box<dyn Routine> {
    let mut pieces = pieces.into_iter();
    let mut rest: Vec<Operation> = Vec::new();
    let (mut if_ok, mut first) = (Vec::new(), true);
    let mut number = 0;
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        if !first {
            let now = context.kernel.now();
            log.lock().unwrap()[i].push((outcome, now));
        }
        first = false;
        if outcome.ok || outcome.value == 1 {
            rest.append(&mut if_ok);
            number = outcome.value;
        }
        if_ok.clear();
        if let Some(mut next) = rest.pop() {
            if next.kind == Kind::Leave {
                next.argument = number;
            }
            return Some(next);
        }
        let (operation, then) = pieces.next()?;
        if_ok = then.into_iter().rev().collect();
        Some(operation)
    })
}

/// All executions: their steps, and their ends.
pub(crate) fn all(
    script: &mut Script,
    reduction: Reduction<'_>,
    most: usize,
    mut visit: impl FnMut(&Execution),
) -> bool {
    let mut prefix: Vec<u32> = Vec::new();
    for _ in 0..most {
        let plan = Plan { policy: Policy::First, detail: Detail::Full, reduction, ..Plan::new(&prefix) };
        let out = run(script, &plan);
        visit(&out);
        // The next schedule: another choice at the last step that has one.
        let taken: Vec<(u32, u32)> = out.steps.iter().map(|step| (step.taken, step.count)).collect();
        let Some(last) = taken.iter().rposition(|&(taken, count)| taken + 1 < count) else { return true };
        prefix = taken[..last].iter().map(|&(taken, _)| taken).collect();
        prefix.push(taken[last].0 + 1);
    }
    false
}

/// One writer and n readers of a variable.
pub(crate) fn readers(n: usize) -> Script {
    Script::new(move |context| {
        let x = context.register(Object::Memory);
        let mut threads = vec![straight(vec![op(Kind::Store, x)])];
        threads.extend((0..n).map(|_| straight(vec![op(Kind::Load, x)])));
        start_only(threads)
    })
}

/// Threads that increment one variable atomically.
pub(crate) fn increments(threads: usize, each: usize) -> Script {
    Script::new(move |context| {
        let x = context.register(Object::Memory);
        let thread = || straight(vec![op(Kind::Update, x); each]);
        start_only((0..threads).map(|_| thread()).collect())
    })
}

/// Thread 0 looks for the last zero of an array while thread j sets a[j] to a[j-1] + 1.
pub(crate) fn last_zero(n: usize) -> Script {
    Script::new(move |context| {
        let cells: Vec<ObjectId> = (0..=n).map(|_| context.register(Object::Memory)).collect();
        let array = Rc::new(RefCell::new(vec![0u64; n + 1]));
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        let (values, objects, mut at, mut first) = (array.clone(), cells.clone(), n, true);
        threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
            if !first {
                if values.borrow()[at] == 0 {
                    return None;
                }
                at -= 1;
            }
            first = false;
            Some(op(Kind::Load, objects[at]))
        }));
        for j in 1..=n {
            let (values, from, to) = (array.clone(), cells[j - 1], cells[j]);
            let (mut step, mut read) = (0, 0);
            threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
                step += 1;
                match step {
                    1 => Some(op(Kind::Load, from)),
                    2 => {
                        read = values.borrow()[j - 1];
                        Some(op(Kind::Store, to))
                    }
                    _ => {
                        values.borrow_mut()[j] = read + 1;
                        None
                    }
                }
            }));
        }
        start_only(threads)
    })
}

/// A canonical name of the trace of an execution: its steps in layers, each of which consists of
/// steps that need not wait for each other.
pub(crate) fn trace(steps: &[Choice]) -> Vec<Vec<(u32, u32)>> {
    let mut layers: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut depth = vec![0usize; steps.len()];
    for i in 0..steps.len() {
        let before = (0..i).filter(|&j| turnpike_scheduler::dependent(&steps[j], &steps[i]));
        depth[i] = before.map(|j| depth[j] + 1).max().unwrap_or(0);
        if layers.len() <= depth[i] {
            layers.resize(depth[i] + 1, Vec::new());
        }
        layers[depth[i]].push((steps[i].thread.0, steps[i].alternative));
    }
    for layer in &mut layers {
        layer.sort_unstable();
    }
    layers
}
