//! What each kind of operation does: whether it can happen, what comes of it, which alternatives it has.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use turnpike_scheduler::script::{Context, Routine, Script, start, start_only, straight};
use turnpike_scheduler::{
    Choice, Detail, End, Execution, Executor, FailureKind, Finding, Kind, Object, ObjectId, Operation,
    Outcome, Plan, Policy, Site, ThreadId, Timeouts,
};

fn op(kind: Kind, object: ObjectId) -> Operation {
    Operation::new(kind, object, Site(kind as u64))
}

fn with(kind: Kind, object: ObjectId, argument: u64) -> Operation {
    Operation { argument, ..op(kind, object) }
}

fn run(script: &mut Script, plan: &Plan<'_>) -> Execution {
    let mut out = Execution::default();
    script.run(plan, &mut out).unwrap();
    out
}

/// The choices after a prefix, as `thread.alternative kind`.
fn choices(script: &mut Script, prefix: &[u32]) -> Vec<String> {
    let out = run(script, &Plan { detail: Detail::Full, ..Plan::new(prefix) });
    out.choices[out.last_choices..].iter().map(show).collect()
}

fn show(choice: &Choice) -> String {
    match choice.alternative {
        Choice::TIMEOUT => format!("{}.timeout {:?}", choice.thread.0, choice.kind),
        Choice::SPURIOUS => format!("{}.spurious {:?}", choice.thread.0, choice.kind),
        n => format!("{}.{n} {:?}", choice.thread.0, choice.kind),
    }
}

/// A program of straight threads over some objects; main only starts them. Operations name objects by position.
fn program(objects: Vec<Object>, threads: Vec<Vec<Operation>>) -> Script {
    Script::new(move |context| {
        for &object in &objects {
            context.register(object);
        }
        start_only(threads.iter().map(|thread| straight(thread.clone())).collect())
    })
}

/// Executes positions, then the first choices; what came of each operation of each thread.
fn outcomes(
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

const O: ObjectId = ObjectId(0);
const P: ObjectId = ObjectId(1);
const MUTEX: Object = Object::Mutex { recursive: false };
const NONE: ObjectId = ObjectId::NONE;

#[test]
fn enabledness() {
    use Kind::*;
    // Objects, threads, positions taken, the choices then.
    type Row = (&'static str, Vec<Object>, Vec<Vec<Operation>>, Vec<u32>, Vec<&'static str>);
    let wait = Operation { second: P, ..op(Wait, O) };
    let table: Vec<Row> = vec![
        (
            "a mutex excludes",
            vec![MUTEX],
            vec![vec![op(Lock, O), op(Unlock, O)], vec![op(Lock, O)]],
            vec![0],
            vec!["1.0 Unlock"],
        ),
        (
            "and is released",
            vec![MUTEX],
            vec![vec![op(Lock, O), op(Unlock, O)], vec![op(Lock, O)]],
            vec![0, 0],
            vec!["2.0 Lock"],
        ),
        (
            "not twice",
            vec![MUTEX],
            vec![vec![op(Lock, O), op(Lock, O)], vec![op(TryLock, O)]],
            vec![0],
            vec!["2.0 TryLock"],
        ),
        (
            "recursive, twice",
            vec![Object::Mutex { recursive: true }],
            vec![vec![op(Lock, O), op(Lock, O), op(Unlock, O), op(Unlock, O)], vec![op(Lock, O)]],
            vec![0, 0, 0],
            vec!["1.0 Unlock"],
        ),
        (
            "readers share",
            vec![Object::RwLock],
            vec![vec![op(ReadLock, O), op(ReadUnlock, O)], vec![op(ReadLock, O)], vec![op(WriteLock, O)]],
            vec![0],
            vec!["1.0 ReadUnlock", "2.0 ReadLock"],
        ),
        (
            "writers do not",
            vec![Object::RwLock],
            vec![vec![op(WriteLock, O), op(WriteUnlock, O)], vec![op(ReadLock, O)], vec![op(WriteLock, O)]],
            vec![0],
            vec!["1.0 WriteUnlock"],
        ),
        (
            "until released",
            vec![Object::RwLock],
            vec![vec![op(WriteLock, O), op(WriteUnlock, O)], vec![op(ReadLock, O)], vec![op(WriteLock, O)]],
            vec![0, 0],
            vec!["2.0 ReadLock", "3.0 WriteLock"],
        ),
        (
            "a writer waits for all readers",
            vec![Object::RwLock],
            vec![vec![op(ReadLock, O), op(ReadUnlock, O)], vec![op(ReadLock, O)], vec![op(WriteLock, O)]],
            vec![0, 1, 0],
            vec![],
        ),
        (
            "a semaphore counts",
            vec![Object::Semaphore { value: 1 }],
            vec![vec![op(SemWait, O), op(SemPost, O)], vec![op(SemWait, O)]],
            vec![0],
            vec!["1.0 SemPost"],
        ),
        (
            "and is posted",
            vec![Object::Semaphore { value: 1 }],
            vec![vec![op(SemWait, O), op(SemPost, O)], vec![op(SemWait, O)]],
            vec![0, 0],
            vec!["2.0 SemWait"],
        ),
        (
            "waiting gives the mutex up",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(Lock, P)]],
            vec![0, 0],
            vec!["2.0 Lock"],
        ),
        (
            "each waiter can be woken",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(Lock, P), wait], vec![op(NotifyOne, O)]],
            vec![0, 0, 0, 0],
            vec!["3.0 NotifyOne", "3.1 NotifyOne"],
        ),
        (
            "the second is",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(Lock, P), wait], vec![op(NotifyOne, O)]],
            vec![0, 0, 0, 0, 1],
            vec!["2.0 Reacquire"],
        ),
        (
            "all are",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(Lock, P), wait], vec![op(NotifyAll, O)]],
            vec![0, 0, 0, 0, 0],
            vec!["1.0 Reacquire", "2.0 Reacquire"],
        ),
        (
            "but one gets the mutex",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(Lock, P), wait, op(Unlock, P)], vec![op(NotifyAll, O)]],
            vec![0, 0, 0, 0, 0, 1],
            vec!["2.0 Unlock"],
        ),
        (
            "a notification without waiters is lost",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(NotifyOne, O)]],
            vec![1, 0, 0],
            vec![],
        ),
        (
            "a barrier holds",
            vec![Object::Barrier { count: 2 }],
            vec![vec![op(Arrive, O)], vec![op(Arrive, O)]],
            vec![0],
            vec!["2.0 Arrive"],
        ),
        (
            "until all are there",
            vec![Object::Barrier { count: 2 }],
            vec![vec![op(Arrive, O)], vec![op(Arrive, O), op(Yield, NONE)]],
            vec![0, 0],
            vec!["1.0 Leave", "2.0 Yield"],
        ),
        (
            "one initialises",
            vec![Object::Once],
            vec![vec![op(OnceBegin, O), with(OnceEnd, O, 1)], vec![op(OnceBegin, O)]],
            vec![0],
            vec!["1.0 OnceEnd"],
        ),
        (
            "then none",
            vec![Object::Once],
            vec![vec![op(OnceBegin, O), with(OnceEnd, O, 1)], vec![op(OnceBegin, O)]],
            vec![0, 0],
            vec!["2.0 OnceBegin"],
        ),
        (
            "a queue is empty",
            vec![Object::Queue { capacity: 1 }],
            vec![vec![op(Send, O), op(Send, O)], vec![op(Receive, O)]],
            vec![],
            vec!["1.0 Send"],
        ),
        (
            "full",
            vec![Object::Queue { capacity: 1 }],
            vec![vec![op(Send, O), op(Send, O)], vec![op(Receive, O)]],
            vec![0],
            vec!["2.0 Receive"],
        ),
        (
            "empty again",
            vec![Object::Queue { capacity: 1 }],
            vec![vec![op(Send, O), op(Send, O)], vec![op(Receive, O)]],
            vec![0, 0],
            vec!["1.0 Send"],
        ),
        (
            "without senders",
            vec![Object::Queue { capacity: 1 }],
            vec![vec![with(Close, O, 0)], vec![op(Receive, O)]],
            vec![0],
            vec!["2.0 Receive"],
        ),
        (
            "without receivers",
            vec![Object::Queue { capacity: 1 }],
            vec![vec![op(Send, O), op(Send, O)], vec![with(Close, O, 1)]],
            vec![0, 0],
            vec!["1.0 Send"],
        ),
        (
            "an offer is made",
            vec![Object::Queue { capacity: 0 }],
            vec![vec![op(Send, O), with(Leave, O, 0)], vec![op(Receive, O)]],
            vec![0],
            vec!["2.0 Receive"],
        ),
        (
            "and taken",
            vec![Object::Queue { capacity: 0 }],
            vec![vec![op(Send, O), with(Leave, O, 0)], vec![op(Receive, O)]],
            vec![0, 0],
            vec!["1.0 Leave"],
        ),
        (
            "memory is always there",
            vec![Object::Memory],
            vec![
                vec![op(Load, O)],
                vec![op(Store, O)],
                vec![op(Update, O)],
                vec![op(Read, O)],
                vec![op(Write, O)],
            ],
            vec![],
            vec!["1.0 Load", "2.0 Store", "3.0 Update", "4.0 Read", "5.0 Write"],
        ),
        (
            "join waits",
            vec![Object::Memory],
            vec![vec![op(Load, O)], vec![with(Join, NONE, 1)]],
            vec![],
            vec!["1.0 Load"],
        ),
        (
            "for the end",
            vec![Object::Memory],
            vec![vec![op(Load, O)], vec![with(Join, NONE, 1)]],
            vec![0],
            vec!["2.0 Join"],
        ),
        (
            "park waits",
            vec![],
            vec![vec![op(Park, NONE)], vec![with(Unpark, NONE, 1)]],
            vec![],
            vec!["2.0 Unpark"],
        ),
        (
            "for the token",
            vec![],
            vec![vec![op(Park, NONE)], vec![with(Unpark, NONE, 1)]],
            vec![0],
            vec!["1.0 Park"],
        ),
        (
            "a toss",
            vec![],
            vec![vec![with(Toss, NONE, 2)], vec![op(Message, NONE)]],
            vec![],
            vec!["1.0 Toss", "1.1 Toss", "1.2 Toss", "2.0 Message"],
        ),
        ("no toss", vec![], vec![vec![with(Toss, NONE, 0)]], vec![], vec!["1.0 Toss"]),
        (
            "a futex waits",
            vec![Object::Futex],
            vec![vec![op(FutexWait, O)], vec![with(FutexWake, O, 1)]],
            vec![0],
            vec!["2.0 FutexWake"],
        ),
        (
            "until woken",
            vec![Object::Futex],
            vec![vec![op(FutexWait, O)], vec![with(FutexWake, O, 1)]],
            vec![0, 0],
            vec!["1.0 Leave"],
        ),
        (
            "one of two is",
            vec![Object::Futex],
            vec![vec![op(FutexWait, O)], vec![op(FutexWait, O)], vec![with(FutexWake, O, 1)]],
            vec![0, 0],
            vec!["3.0 FutexWake", "3.1 FutexWake"],
        ),
        (
            "two of three",
            vec![Object::Futex],
            vec![
                vec![op(FutexWait, O)],
                vec![op(FutexWait, O)],
                vec![op(FutexWait, O)],
                vec![with(FutexWake, O, 2)],
            ],
            vec![0, 0, 0, 1],
            vec!["1.0 Leave", "3.0 Leave"],
        ),
        (
            "the last two of three",
            vec![Object::Futex],
            vec![
                vec![op(FutexWait, O)],
                vec![op(FutexWait, O)],
                vec![op(FutexWait, O)],
                vec![with(FutexWake, O, 2)],
            ],
            vec![0, 0, 0, 2],
            vec!["2.0 Leave", "3.0 Leave"],
        ),
        (
            "all of two",
            vec![Object::Futex],
            vec![vec![op(FutexWait, O)], vec![op(FutexWait, O)], vec![with(FutexWake, O, 9)]],
            vec![0, 0, 0],
            vec!["1.0 Leave", "2.0 Leave"],
        ),
    ];
    for (name, objects, threads, prefix, expected) in table {
        assert_eq!(choices(&mut program(objects, threads), &prefix), expected, "{name}");
    }
}

#[test]
fn what_comes_of_it() {
    use Kind::*;
    let yes = Outcome { ok: true, ..Outcome::default() };
    let no = Outcome::default();
    let value = |value| Outcome { value, ..yes };
    let wait = Operation { second: P, ..op(Wait, O) };
    type Row = (&'static str, Vec<Object>, Vec<Vec<Operation>>, Vec<u32>, Vec<Vec<Outcome>>);
    let table: Vec<Row> = vec![
        ("try a free mutex", vec![MUTEX], vec![vec![op(TryLock, O)]], vec![], vec![vec![yes]]),
        (
            "try a taken one",
            vec![MUTEX],
            vec![vec![op(Lock, O), op(Unlock, O)], vec![op(TryLock, O)]],
            vec![0, 1],
            vec![vec![yes, yes], vec![no]],
        ),
        (
            "try to read",
            vec![Object::RwLock],
            vec![vec![op(WriteLock, O), op(WriteUnlock, O)], vec![op(TryReadLock, O), op(TryReadLock, O)]],
            vec![0, 1, 0, 0],
            vec![vec![yes, yes], vec![no, yes]],
        ),
        (
            "try to write",
            vec![Object::RwLock],
            vec![vec![op(ReadLock, O), op(ReadUnlock, O)], vec![op(TryWriteLock, O), op(TryWriteLock, O)]],
            vec![0, 1, 0, 0],
            vec![vec![yes, yes], vec![no, yes]],
        ),
        (
            "try a semaphore",
            vec![Object::Semaphore { value: 1 }],
            vec![vec![op(SemGet, O), op(SemTryWait, O), op(SemTryWait, O), op(SemGet, O)]],
            vec![],
            vec![vec![value(1), yes, no, value(0)]],
        ),
        (
            "the last to arrive leads",
            vec![Object::Barrier { count: 2 }],
            vec![vec![op(Arrive, O)], vec![op(Arrive, O)]],
            vec![],
            vec![vec![no], vec![yes]],
        ),
        (
            "the first initialises",
            vec![Object::Once],
            vec![vec![op(OnceBegin, O), with(OnceEnd, O, 1)], vec![op(OnceBegin, O)]],
            vec![],
            vec![vec![yes, yes], vec![no]],
        ),
        (
            "who gives up leaves it to the next",
            vec![Object::Once],
            vec![vec![op(OnceBegin, O), with(OnceEnd, O, 0)], vec![op(OnceBegin, O)]],
            vec![],
            vec![vec![yes, yes], vec![yes]],
        ),
        (
            "messages have numbers",
            vec![Object::Queue { capacity: 2 }],
            vec![vec![op(Send, O), op(Send, O), op(TrySend, O), op(Receive, O), op(TrySend, O)]],
            vec![],
            vec![vec![value(0), value(1), no, yes, value(2)]],
        ),
        (
            "an empty queue",
            vec![Object::Queue { capacity: 2 }],
            vec![vec![op(TryReceive, O), with(Close, O, 0), op(TryReceive, O), op(Receive, O)]],
            vec![],
            vec![vec![no, yes, Outcome { value: 1, ..no }, Outcome { value: 1, ..no }]],
        ),
        (
            "nobody receives",
            vec![Object::Queue { capacity: 2 }],
            vec![vec![with(Close, O, 1), op(Send, O), op(TrySend, O)]],
            vec![],
            vec![vec![yes, Outcome { value: 1, ..no }, Outcome { value: 1, ..no }]],
        ),
        (
            "an offer nobody takes",
            vec![Object::Queue { capacity: 0 }],
            vec![vec![op(Send, O), with(Leave, O, 0)], vec![with(Close, O, 1)]],
            vec![0, 0],
            vec![vec![value(0), no], vec![yes]],
        ),
        (
            "no receiver waits",
            vec![Object::Queue { capacity: 0 }],
            vec![vec![op(TrySend, O), op(TryReceive, O)]],
            vec![],
            vec![vec![no, no]],
        ),
        (
            "a receiver waits",
            vec![Object::Queue { capacity: 0 }],
            vec![vec![op(TrySend, O)], vec![op(Receive, O)]],
            vec![],
            vec![vec![value(0)], vec![yes]],
        ),
        (
            "woken by a notification",
            vec![Object::Condvar, MUTEX],
            vec![vec![op(Lock, P), wait], vec![op(NotifyAll, O)]],
            vec![0, 0],
            vec![vec![yes, yes], vec![value(1)]],
        ),
        (
            "whether it ended",
            vec![],
            vec![vec![op(Message, NONE)], vec![with(TryJoin, NONE, 1), with(TryJoin, NONE, 1)]],
            vec![1, 0, 0],
            vec![vec![yes], vec![no, yes]],
        ),
        ("the toss", vec![], vec![vec![with(Toss, NONE, 5)]], vec![4], vec![vec![value(4)]]),
        (
            "an unlucky exchange",
            vec![Object::Memory],
            vec![vec![
                Operation { writes: Some(|n| n == 7), ..with(Update, O, 7) },
                Operation { writes: Some(|n| n == 7), ..with(Update, O, 8) },
            ]],
            vec![],
            vec![vec![yes, no]],
        ),
        (
            "the word is another one",
            vec![Object::Futex],
            vec![vec![Operation { writes: Some(|_| false), ..op(FutexWait, O) }]],
            vec![],
            vec![vec![no]],
        ),
        (
            "woken from a futex",
            vec![Object::Futex],
            vec![vec![op(FutexWait, O)], vec![with(FutexWake, O, 3)]],
            vec![0],
            vec![vec![yes], vec![value(1)]],
        ),
    ];
    for (name, objects, threads, prefix, expected) in table {
        let plan = Plan { policy: Policy::First, ..Plan::new(&prefix) };
        let (found, out) = outcomes(objects, threads, &plan);
        assert_eq!(found, expected, "{name}");
        assert_eq!(out.end, End::Finished, "{name}");
    }
}

#[test]
fn misuse() {
    use Kind::*;
    let wait = Operation { second: P, ..op(Wait, O) };
    let table: Vec<(&str, Vec<Object>, Vec<Operation>)> = vec![
        ("does not hold", vec![MUTEX], vec![op(Unlock, O)]),
        ("does not hold", vec![Object::RwLock], vec![op(ReadUnlock, O)]),
        ("does not hold", vec![Object::RwLock], vec![op(ReadLock, O), op(WriteUnlock, O)]),
        ("does not hold", vec![Object::Condvar, MUTEX], vec![wait]),
        ("did not begin", vec![Object::Once], vec![op(OnceEnd, O)]),
        ("does not fit", vec![Object::Once], vec![op(Lock, O)]),
        ("does not fit", vec![], vec![op(Lock, O)]),
        ("does not fit", vec![], vec![op(Lock, NONE)]),
        ("no such thread", vec![], vec![with(Join, NONE, 77)]),
        ("no such thread", vec![], vec![with(Unpark, NONE, u64::MAX)]),
        ("only the scheduler", vec![Object::Condvar], vec![op(Reacquire, O)]),
    ];
    for (why, objects, thread) in table {
        let mut script = program(objects, vec![thread]);
        let out = run(&mut script, &Plan { policy: Policy::First, ..Plan::new(&[]) });
        match out.end {
            End::Failed(failure) => {
                assert_eq!(failure.kind, FailureKind::Misuse);
                assert!(failure.message.contains(why), "{} instead of {why}", failure.message);
            }
            other => panic!("{other:?} instead of {why}"),
        }
    }
}

#[test]
fn deadlocks_tell_who_waits_for_whom() {
    use Kind::*;
    let mut script =
        program(vec![MUTEX, MUTEX], vec![vec![op(Lock, O), op(Lock, P)], vec![op(Lock, P), op(Lock, O)]]);
    let plan = Plan { policy: Policy::First, detail: Detail::Full, ..Plan::new(&[0, 1]) };
    let out = run(&mut script, &plan);
    assert_eq!(out.end, End::Deadlock);
    let names: Vec<&str> = out.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["main", "main.0", "main.1"]);
    assert_eq!(
        out.objects.iter().map(|object| object.name.as_str()).collect::<Vec<_>>(),
        ["mutex 0", "mutex 1"]
    );
    let waits = |t: usize| out.threads[t].waits.map(|(choice, holder)| (choice.kind, choice.object, holder));
    assert_eq!(waits(0), None);
    assert_eq!(waits(1), Some((Lock, P, Some(ThreadId(2)))));
    assert_eq!(waits(2), Some((Lock, O, Some(ThreadId(1)))));
    assert_eq!(out.threads[1].holds, [(O, Site(Lock as u64))]);
    assert!(out.threads[0].ended && !out.threads[1].ended);
}

#[test]
fn the_ends_of_executions() {
    use Kind::*;
    let mut failing =
        program(vec![], vec![vec![with(Assert, NONE, 1), with(Assert, NONE, 0), op(Yield, NONE)]]);
    let out = run(&mut failing, &Plan { policy: Policy::First, ..Plan::new(&[]) });
    assert!(matches!(out.end, End::Failed(failure) if failure.kind == FailureKind::Assertion));
    assert_eq!((out.steps.len(), out.assertions), (2, 2));

    let mut long = program(vec![], vec![vec![op(Message, NONE); 10]]);
    let out = run(&mut long, &Plan { policy: Policy::First, max_steps: 4, ..Plan::new(&[]) });
    assert_eq!((out.end, out.steps.len(), out.messages, out.enabled_sum), (End::StepLimit, 4, 4, 5));
    let out = run(&mut long, &Plan { policy: Policy::First, ..Plan::new(&[0, 1]) });
    assert_eq!((out.end, out.steps.len()), (End::Diverged(1), 1));
    let out = run(&mut long, &Plan::new(&[0, 0]));
    assert_eq!((out.end, out.steps.len()), (End::Stopped, 2));

    // Exit is a step while others live, and they are leaked unless they are detached.
    for (detached, expected) in [(false, vec![Finding::Leak(ThreadId(1))]), (true, vec![])] {
        let mut exiting = Script::new(move |_| {
            let mut begun = false;
            Box::new(move |_: Outcome, context: &mut Context<'_>| {
                if !begun {
                    begun = true;
                    let thread = context.spawn(straight(vec![op(Message, NONE)]));
                    if detached {
                        context.kernel.detach(thread);
                    }
                }
                Some(op(Exit, NONE))
            })
        });
        let out = run(&mut exiting, &Plan { policy: Policy::First, ..Plan::new(&[]) });
        assert_eq!((out.end, out.steps.len(), out.findings), (End::Finished, 1, expected));
        // With none alive it is no step.
        let out = run(&mut exiting, &Plan { policy: Policy::First, ..Plan::new(&[1]) });
        assert_eq!((out.end, out.steps.len(), out.findings), (End::Finished, 1, vec![]));
    }
}

#[test]
fn threads_start_at_once_and_are_ordered_by_name() {
    // main starts A; A starts B before its first operation; later main starts C, and then A starts D.
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let mut script = Script::new(move |_| {
        let log = seen.clone();
        log.lock().unwrap().clear();
        let mut at = 0;
        Box::new(move |_: Outcome, context: &mut Context<'_>| {
            at += 1;
            match at {
                1 => {
                    let (log, mut at) = (log.clone(), 0);
                    log.lock().unwrap().push("main");
                    let inner = log.clone();
                    context.spawn(Box::new(move |_: Outcome, context: &mut Context<'_>| {
                        at += 1;
                        match at {
                            1 => {
                                inner.lock().unwrap().push("A");
                                context.spawn(straight(vec![op(Kind::Message, NONE)]));
                                inner.lock().unwrap().push("A again");
                                Some(op(Kind::Message, NONE))
                            }
                            2 => {
                                context.spawn(straight(vec![op(Kind::Message, NONE)]));
                                Some(op(Kind::Message, NONE))
                            }
                            _ => None,
                        }
                    }));
                    log.lock().unwrap().push("main again");
                    context.spawn(straight(vec![op(Kind::Message, NONE)]));
                    None
                }
                _ => None,
            }
        })
    });
    let out = run(&mut script, &Plan { detail: Detail::Full, ..Plan::new(&[]) });
    assert_eq!(*order.lock().unwrap(), ["main", "A", "A again", "main again"]);
    let name = |out: &Execution, choice: &Choice| out.threads[choice.thread.0 as usize].name.clone();
    let names: Vec<String> = out.choices.iter().map(|choice| name(&out, choice)).collect();
    assert_eq!(names, ["main.0", "main.0.0", "main.1"]);
    let out = run(&mut script, &Plan { detail: Detail::Full, ..Plan::new(&[0]) });
    let names: Vec<String> =
        out.choices[out.last_choices..].iter().map(|choice| name(&out, choice)).collect();
    assert_eq!(names, ["main.0", "main.0.0", "main.0.1", "main.1"]);
}

#[test]
fn many_threads_and_back() {
    // More threads than a machine word has bits, all at one mutex; then a small execution with the same kernel.
    for n in [1u32, 63, 64, 65, 130, 300] {
        let mut script = Script::new(move |context| {
            let mutex = context.register(MUTEX);
            let thread = || straight(vec![op(Kind::Lock, mutex), op(Kind::Unlock, mutex)]);
            start((0..n).map(|_| thread()).collect())
        });
        for seed in 0..3 {
            let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) };
            let out = run(&mut script, &plan);
            assert_eq!(out.end, End::Finished);
            assert_eq!(out.steps.len(), 3 * n as usize);
            assert_eq!(out.steps[0].count, n);
            assert_eq!(out.steps[1].count, 1, "only the owner");
        }
    }
}

#[test]
fn time_limits() {
    use Kind::*;
    let timed = |kind| Operation { timed: true, deadline: 50, ..op(kind, O) };
    let wait = Operation { second: P, timed: true, deadline: 50, ..op(Wait, O) };
    let late = Outcome { timed_out: true, ..Outcome::default() };
    let yes = Outcome { ok: true, ..Outcome::default() };
    // A lock that nobody gives back: only a time limit helps.
    for (timeouts, end) in [
        (Timeouts::Never, End::Deadlock),
        (Timeouts::WhenStuck, End::Finished),
        (Timeouts::Always, End::Finished),
    ] {
        let threads = vec![vec![op(Lock, O)], vec![timed(Lock)]];
        let plan = Plan { policy: Policy::First, timeouts, ..Plan::new(&[]) };
        let (found, out) = outcomes(vec![MUTEX], threads, &plan);
        assert_eq!(out.end, end, "{timeouts:?}");
        assert_eq!(found[1], if end == End::Finished { vec![late] } else { vec![] });
        assert_eq!(out.incomplete, timeouts != Timeouts::Always);
    }
    // A waiter whose time is up takes a step for that, and another to get the mutex back.
    let threads = vec![vec![op(Lock, P), wait], vec![op(Message, NONE)]];
    let mut script = program(vec![Object::Condvar, MUTEX], threads.clone());
    let plan = Plan { timeouts: Timeouts::Always, detail: Detail::Full, ..Plan::new(&[0, 0]) };
    let out = run(&mut script, &plan);
    let shown: Vec<String> = out.choices[out.last_choices..].iter().map(show).collect();
    assert_eq!(shown, ["1.timeout Reacquire", "2.0 Message"]);
    let plan = Plan { timeouts: Timeouts::Always, policy: Policy::First, ..Plan::new(&[0, 0, 0]) };
    let (found, out) = outcomes(vec![Object::Condvar, MUTEX], threads, &plan);
    assert_eq!((found, out.steps.len()), (vec![vec![yes, late], vec![yes]], 5));
}

#[test]
fn waking_up_for_no_reason() {
    use Kind::*;
    let wait = Operation { second: P, ..op(Wait, O) };
    let threads = vec![vec![op(Lock, P), wait, wait]];
    let mut script = program(vec![Object::Condvar, MUTEX], threads);
    let plan = Plan { spurious: 1, detail: Detail::Full, ..Plan::new(&[0, 0]) };
    let out = run(&mut script, &plan);
    assert_eq!(
        out.choices[out.last_choices..].iter().map(show).collect::<Vec<_>>(),
        ["1.spurious Reacquire"]
    );
    let plan = Plan { spurious: 1, policy: Policy::First, ..Plan::new(&[]) };
    let out = run(&mut script, &plan);
    assert_eq!((out.end, out.steps.len()), (End::Deadlock, 5));
}

#[test]
fn spinning_threads_wait_for_a_change() {
    use Kind::*;
    // One thread spins on memory until it is set; another sets it, after a while.
    let script = |sets: bool| {
        Script::new(move |context| {
            let flag = context.register(Object::Memory);
            let value = Rc::new(RefCell::new(false));
            let (set, mut at) = (value.clone(), 0);
            let spinner = move |_: Outcome, _: &mut Context<'_>| {
                at += 1;
                match at % 2 {
                    1 => Some(op(Load, flag)),
                    _ if *value.borrow() => None,
                    _ => Some(op(Yield, NONE)),
                }
            };
            let mut left = 5;
            let setter = move |_: Outcome, _: &mut Context<'_>| {
                left -= 1;
                match left {
                    1 if sets => Some(op(Store, flag)),
                    0 | 1 => {
                        *set.borrow_mut() = sets;
                        None
                    }
                    _ => Some(op(Message, NONE)),
                }
            };
            start(vec![Box::new(spinner), Box::new(setter)])
        })
    };
    // The spinner goes first: load, yield, load, and then only the setter can go on.
    let out = run(&mut script(true), &Plan { policy: Policy::Continue, ..Plan::new(&[]) });
    assert_eq!((out.end, out.incomplete), (End::Finished, true));
    assert_eq!(out.steps.len(), 3 + 4 + 2 + 2, "spin, set, see it, join");
    let out = run(&mut script(false), &Plan { policy: Policy::Continue, ..Plan::new(&[]) });
    assert_eq!(out.end, End::Livelock);
}

#[test]
fn time_flows_along_happens_before() {
    use Kind::*;
    // One thread sleeps with the lock held, and learns nothing of the others; who gets the lock later knows the time.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let mut script = Script::new(move |context| {
        log.lock().unwrap().clear();
        let mutex = context.register(MUTEX);
        let sleeper =
            straight(vec![op(Lock, mutex), with(Sleep, NONE, 10), op(Unlock, mutex), op(Message, NONE)]);
        let timed = |name: &'static str, operations: Vec<Operation>| {
            let (mut operations, log) = (operations.into_iter(), log.clone());
            Box::new(move |_: Outcome, context: &mut Context<'_>| {
                let next = operations.next();
                if next.is_none() {
                    log.lock().unwrap().push((name, context.kernel.now()));
                }
                next
            }) as Box<dyn Routine>
        };
        let wait = Operation { timed: true, deadline: 25, ..op(Lock, mutex) };
        start_only(vec![
            sleeper,
            timed("locks", vec![op(Lock, mutex), op(Unlock, mutex)]),
            timed("does not", vec![with(Sleep, NONE, 3), op(Message, NONE)]),
            timed("holds", vec![op(Lock, mutex)]),
            timed("gives up", vec![wait]),
        ])
    });
    for seed in 0..40 {
        let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[0]) };
        let out = run(&mut script, &plan);
        let seen = seen.lock().unwrap().clone();
        let time = |name: &str| seen.iter().find(|(other, _)| *other == name).map(|&(_, time)| time);
        assert_eq!(time("does not"), Some(3));
        match out.end {
            // Nobody gives the lock back after the one that keeps it: some wait for ever, or until their time is up.
            End::Deadlock | End::Finished => {}
            other => panic!("{other:?}"),
        }
        for name in ["locks", "holds"] {
            assert!(time(name).is_none_or(|time| time == 10), "{seen:?}");
        }
        assert!(time("gives up").is_some_and(|time| time == 10 || time == 25), "{seen:?}");
    }
}

#[test]
fn the_last_of_several_senders_closes_a_queue() {
    use Kind::*;
    let mut script = Script::new(|context| {
        let queue = context.register(Object::Queue { capacity: 1 });
        context.kernel.set_senders(queue, 3);
        let close = || straight(vec![with(Close, queue, 0)]);
        start_only(vec![close(), close(), close(), straight(vec![op(Receive, queue)])])
    });
    assert_eq!(choices(&mut script, &[0]), ["2.0 Close", "3.0 Close"]);
    assert_eq!(choices(&mut script, &[0, 1]), ["2.0 Close"]);
    assert_eq!(choices(&mut script, &[0, 1, 0]), ["4.0 Receive"]);
    // The first two commute; the last one does not.
    let after = |script: &mut Script, prefix: &[u32]| run(script, &Plan::new(prefix)).fingerprint;
    assert_eq!(after(&mut script, &[0, 0]), after(&mut script, &[1, 0]));
    assert_ne!(after(&mut script, &[0, 0, 0]), after(&mut script, &[0, 1, 0]));
    assert_eq!(after(&mut script, &[0, 0, 0]), after(&mut script, &[1, 0, 0]));
}
