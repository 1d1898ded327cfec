//! The semantics of each kind of operation: when it is enabled, its outcome, its alternatives.

use crate::common::{choices, op, outcomes, program, run, with};
use turnpike_scheduler::{FailureKind, Kind, Object, ObjectId, Operation, Outcome, Plan, Policy};

const O: ObjectId = ObjectId(0);
const P: ObjectId = ObjectId(1);
const MUTEX: Object = Object::Mutex { recursive: false };
const NONE: ObjectId = ObjectId::NONE;

// Long because it is one table.
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

// Long because it is one table.
#[test]
fn what_comes_of_it() {
    use Kind::*;
    use turnpike_scheduler::End;
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
    use turnpike_scheduler::End;
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
fn kinds_have_their_numbers() {
    for (kind, number) in Kind::ALL.into_iter().zip(0..) {
        assert_eq!(kind as u8, number);
        assert_eq!(Kind::from_number(number), Some(kind));
    }
    assert_eq!(Kind::from_number(Kind::End as u8 + 1), None);
}
