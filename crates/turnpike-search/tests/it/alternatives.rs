//! Operations whose outcome nobody promises: reduced search sees what plain enumeration sees.

use crate::scripts::outcomes::{explore, quiet};
use crate::scripts::{on, program};
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::script::{start, straight};
use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

/// Instructions on one reader-writer lock, one rendezvous queue, one variable and thread 1's token.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read,
    TryRead,
    ReadUnlock,
    Write,
    WriteUnlock,
    Offer,
    Receive,
    TryReceive,
    Close,
    Store,
    Load,
    Park,
    Unpark,
}

fn build(threads: &[Vec<Op>], options: ProgramOptions) -> ProgramModel {
    let threads = threads.to_vec();
    program("alternatives", options, move |context| {
        let lock = context.register(Object::RwLock);
        let queue = context.register(Object::Queue { capacity: 0 });
        let variable = context.register(Object::Memory);
        let operation = |op: &Op| {
            let (kind, object, argument) = match op {
                Op::Read => (Kind::ReadLock, lock, 1),
                Op::TryRead => (Kind::TryReadLock, lock, 1),
                Op::ReadUnlock => (Kind::ReadUnlock, lock, 0),
                Op::Write => (Kind::WriteLock, lock, 0),
                Op::WriteUnlock => (Kind::WriteUnlock, lock, 0),
                Op::Offer => (Kind::TrySend, queue, 0),
                Op::Receive => (Kind::Receive, queue, 0),
                Op::TryReceive => (Kind::TryReceive, queue, 0),
                Op::Close => (Kind::Close, queue, 1),
                Op::Store => (Kind::Store, variable, 0),
                Op::Load => (Kind::Load, variable, 0),
                Op::Park => (Kind::Park, ObjectId::NONE, 0),
                Op::Unpark => (Kind::Unpark, ObjectId::NONE, 1),
            };
            Operation { argument, ..on(kind, object, 1) }
        };
        start(threads.iter().map(|code| straight(code.iter().map(operation).collect())).collect())
    })
}

/// How many final states and deadlocks there are, the same by both ways.
fn ends(threads: &[Vec<Op>], options: &ProgramOptions) -> (usize, usize) {
    let (all, _) = explore(build(threads, options.clone()), false, u32::MAX, 500_000).unwrap();
    let (few, _) = explore(build(threads, options.clone()), true, u32::MAX, 500_000).unwrap();
    assert_eq!(few, all, "{threads:?}");
    (all.finished.len(), all.deadlocked.len())
}

#[test]
fn reading_again_waits_for_ever_or_not() {
    use Op::*;
    let twice = vec![Read, Read, ReadUnlock, ReadUnlock];
    let write = vec![Write, WriteUnlock];
    let (_, deadlocks) = ends(&[twice.clone(), write.clone()], &quiet());
    assert_eq!(deadlocks, 1);
    // The writer comes to its lock after something else, which nothing else orders before the reading.
    let (_, deadlocks) = ends(&[twice.clone(), vec![Store, Write, WriteUnlock]], &quiet());
    assert!(deadlocks > 0);
    let (_, deadlocks) = ends(&[twice.clone(), vec![Load, Write, WriteUnlock], vec![Store]], &quiet());
    assert!(deadlocks > 0);
    let (_, deadlocks) = ends(&[twice.clone(), twice.clone()], &quiet());
    assert_eq!(deadlocks, 0);
    let (finished, deadlocks) =
        ends(&[vec![Read, TryRead, ReadUnlock], vec![Store, Write, WriteUnlock]], &quiet());
    // Whether trying succeeds is seen where nobody writes: what is held at the end blocks the writer.
    assert!(finished > 0 && deadlocks > 0);
}

#[test]
fn offers_find_a_receiver_or_not() {
    use Op::*;
    assert!(
        ends(&[vec![Offer], vec![Receive]], &quiet()).1 > 0,
        "a receiver that was not there yet waits for ever"
    );
    assert!(ends(&[vec![Offer], vec![Receive]], &quiet()).0 > 0);
    assert!(ends(&[vec![Offer], vec![Store, Receive]], &quiet()).0 > 0);
    for threads in [
        vec![vec![Offer, Offer], vec![Store, Receive], vec![Load]],
        vec![vec![Offer], vec![Offer], vec![Receive, Receive]],
        vec![vec![Offer], vec![TryReceive, Receive]],
        vec![vec![Offer, Load], vec![Close], vec![Store]],
        vec![vec![Offer, Offer], vec![Receive, Close]],
    ] {
        ends(&threads, &quiet());
    }
}

#[test]
fn parked_threads_wake_for_no_reason() {
    use Op::*;
    let parks = vec![Park, Load];
    assert_eq!(ends(&[parks.clone(), vec![Store]], &quiet()).0, 0);
    for spurious in [1, 2] {
        let options = ProgramOptions { spurious, ..quiet() };
        assert!(ends(&[parks.clone(), vec![Store]], &options).0 >= 2);
        ends(&[parks.clone(), vec![Store, Unpark], vec![Load, Unpark]], &options);
        ends(&[vec![Park, Park, Store], vec![Unpark], vec![Load]], &options);
    }
}
