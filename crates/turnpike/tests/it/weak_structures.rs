//! Data structures and protocols as they are written with atomic operations: with the orders that they need they are
//! proved under RC11; with one order too weak the error is found, which does not exist under sequential consistency.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use turnpike::cell::UnsafeCell;
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use turnpike::{CheckError, Checked, Config, Memory, hint, thread};

fn search(memory: Memory, body: impl Fn() + Send + Sync + 'static) -> Result<Checked, CheckError> {
    Config::new().memory(memory).strategy("exhaustive").executions(100_000).run(body)
}

/// Every execution under RC11 is right.
#[track_caller]
fn proved(body: impl Fn() + Send + Sync + 'static) {
    let checked = search(Memory::Rc11, body);
    assert!(checked.as_ref().is_ok_and(|checked| checked.complete), "{checked:?}");
}

/// No execution is wrong, but loops that wait are not proved.
#[track_caller]
fn right(body: impl Fn() + Send + Sync + 'static) {
    let checked = search(Memory::Rc11, body);
    assert!(checked.is_ok(), "{checked:?}");
}

/// An execution under RC11 is wrong, and can be repeated.
#[track_caller]
fn wrong(body: impl Fn() + Send + Sync + Clone + 'static, says: &str) {
    let found = Config::new().memory(Memory::Rc11).run(body.clone());
    let Err(CheckError::Failed(failed)) = found else { panic!("{found:?}") };
    let report = failed.to_string();
    assert!(report.contains(says), "{report}");
    let again = Config::new().memory(Memory::Rc11).replay(failed.schedule).run(body);
    assert!(matches!(again, Err(CheckError::Failed(_))), "{again:?}");
}

/// The same, and no execution is wrong if memory is sequentially consistent.
#[track_caller]
fn weakly_wrong(body: impl Fn() + Send + Sync + Clone + 'static, says: &str) {
    let strong = search(Memory::Sc, body.clone());
    assert!(strong.is_ok(), "{strong:?}");
    wrong(body, says);
}

/// A value that its users must synchronise themselves.
struct Plain(UnsafeCell<usize>);

// SAFETY: the tests are about whether it is used rightly.
unsafe impl Sync for Plain {}

impl Plain {
    fn new(value: usize) -> Self {
        Plain(UnsafeCell::new(value))
    }

    fn get(&self) -> usize {
        // SAFETY: threads of a check run one at a time; races are what the tests look for.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, new: usize) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

const RACE: &str = "data race";

struct Node {
    value: Plain,
    next: *mut Node,
}

/// A Treiber stack: one pushes, the other pops what is there. Nodes are leaked, so none is used again.
fn stack(push: Ordering, pop: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let head = Arc::new(AtomicPtr::<Node>::null());
        let theirs = head.clone();
        let pusher = thread::spawn(move || {
            for number in 1..3 {
                let node = Box::into_raw(Box::new(Node { value: Plain::new(0), next: ptr::null_mut() }));
                // SAFETY: nobody else knows the node yet.
                let fresh = unsafe { &mut *node };
                fresh.value.set(number);
                let mut first = theirs.load(Relaxed);
                loop {
                    fresh.next = first;
                    match theirs.compare_exchange_weak(first, node, push, Relaxed) {
                        Ok(_) => break,
                        Err(seen) => first = seen,
                    }
                }
            }
        });
        let mut first = head.load(pop);
        while !first.is_null() {
            // SAFETY: nodes live for ever.
            let node = unsafe { &*first };
            match head.compare_exchange(first, node.next, pop, pop) {
                Ok(_) => {
                    assert!(node.value.get() > 0);
                    first = head.load(pop);
                }
                Err(seen) => first = seen,
            }
        }
        pusher.join().unwrap();
    }
}

#[test]
fn treiber_stacks() {
    proved(stack(Release, Acquire));
    wrong(stack(Relaxed, Acquire), RACE);
    wrong(stack(Release, Relaxed), RACE);
}

/// A ring for one producer and one consumer, with two places.
fn ring(publish: Ordering, consume: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let ring = Arc::new(([Plain::new(0), Plain::new(0)], AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = ring.clone();
        let producer = thread::spawn(move || {
            let (places, written, read) = &*theirs;
            for number in 0..3 {
                if number - read.load(Acquire) < 2 {
                    places[number % 2].set(number + 1);
                    written.store(number + 1, publish);
                } else {
                    return;
                }
            }
        });
        let (places, written, read) = &*ring;
        for (number, place) in places.iter().enumerate() {
            if written.load(consume) <= number {
                break;
            }
            assert_eq!(place.get(), number + 1);
            read.store(number + 1, Release);
        }
        producer.join().unwrap();
    }
}

#[test]
fn rings() {
    proved(ring(Release, Acquire));
    wrong(ring(Relaxed, Acquire), RACE);
    wrong(ring(Release, Relaxed), RACE);
}

/// A sequence lock over two words.
fn sequence_lock(write: Ordering, read: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = lock.clone();
        let writer = thread::spawn(move || {
            let (version, one, two) = &*theirs;
            version.store(1, Relaxed);
            fence(write);
            one.store(7, Relaxed);
            two.store(7, Relaxed);
            version.store(2, Release);
        });
        let (version, one, two) = &*lock;
        let before = version.load(Acquire);
        let words = (one.load(Relaxed), two.load(Relaxed));
        fence(read);
        if before % 2 == 0 && version.load(Relaxed) == before {
            assert_eq!(words.0, words.1, "torn");
        }
        writer.join().unwrap();
    }
}

#[test]
fn sequence_locks() {
    proved(sequence_lock(Release, Acquire));
    weakly_wrong(sequence_lock(Acquire, Acquire), "torn");
    weakly_wrong(sequence_lock(Release, Release), "torn");
}

/// Peterson's lock, tried once by each thread.
fn peterson(order: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    let (store, load) = if order == SeqCst { (SeqCst, SeqCst) } else { (Release, Acquire) };
    move || {
        let shared = Arc::new((
            [AtomicBool::new(false), AtomicBool::new(false)],
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        ));
        let enter = move |me: usize, shared: &([AtomicBool; 2], AtomicUsize, AtomicUsize)| {
            let (wants, turn, inside) = shared;
            wants[me].store(true, store);
            turn.store(1 - me, store);
            if !wants[1 - me].load(load) || turn.load(load) == me {
                assert_eq!(inside.fetch_add(1, AcqRel), 0, "one at a time");
                inside.fetch_sub(1, AcqRel);
            }
            wants[me].store(false, store);
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || enter(1, &theirs));
        enter(0, &shared);
        other.join().unwrap();
    }
}

#[test]
fn petersons_lock() {
    proved(peterson(SeqCst));
    weakly_wrong(peterson(Release), "one at a time");
}

/// A lock with tickets.
fn tickets(unlock: Ordering, wait: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Plain::new(0)));
        let add = move |lock: &(AtomicUsize, AtomicUsize, Plain)| {
            let ticket = lock.0.fetch_add(1, Relaxed);
            while lock.1.load(wait) != ticket {
                hint::spin_loop();
            }
            lock.2.set(lock.2.get() + 1);
            lock.1.store(ticket + 1, unlock);
        };
        let theirs = lock.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&lock);
        other.join().unwrap();
        assert_eq!(lock.2.get(), 2);
    }
}

#[test]
fn ticket_locks() {
    right(tickets(Release, Acquire));
    wrong(tickets(Relaxed, Acquire), RACE);
    wrong(tickets(Release, Relaxed), RACE);
}

/// Reference counting: who drops the last reference uses the value alone.
fn counting(drop_one: Ordering, last: Option<Ordering>) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let shared = Arc::new((AtomicUsize::new(2), Plain::new(1)));
        let release = move |shared: &(AtomicUsize, Plain)| {
            assert!(shared.1.get() > 0);
            if shared.0.fetch_sub(1, drop_one) == 1 {
                if let Some(order) = last {
                    fence(order);
                }
                shared.1.set(0);
            }
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || release(&theirs));
        release(&shared);
        other.join().unwrap();
    }
}

#[test]
fn reference_counts() {
    proved(counting(Release, Some(Acquire)));
    proved(counting(AcqRel, None));
    wrong(counting(Release, None), RACE);
    wrong(counting(Relaxed, Some(Acquire)), RACE);
}

/// A value that is made when it is first needed, by double-checked locking of a spin lock tried once.
fn made_once(publish: Ordering, look: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let shared = Arc::new((AtomicUsize::new(0), Plain::new(0)));
        let get = move |shared: &(AtomicUsize, Plain)| match shared.0.compare_exchange(0, 1, Relaxed, look) {
            Ok(_) => {
                shared.1.set(5);
                shared.0.store(2, publish);
            }
            Err(2) => assert_eq!(shared.1.get(), 5),
            Err(_) => {}
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || get(&theirs));
        get(&shared);
        other.join().unwrap();
    }
}

#[test]
fn once_flags() {
    proved(made_once(Release, Acquire));
    wrong(made_once(Relaxed, Acquire), RACE);
    wrong(made_once(Release, Relaxed), RACE);
}

/// A hazard pointer: the reader announces what it uses, and looks again; the owner removes it, and looks for
/// announcements.
fn hazard(between: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let shared = Arc::new((AtomicBool::new(true), AtomicBool::new(false), Plain::new(1)));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let (valid, hazard, value) = &*theirs;
            hazard.store(true, Relaxed);
            fence(between);
            if valid.load(Acquire) {
                assert_eq!(value.get(), 1, "it was freed");
            }
            hazard.store(false, Release);
        });
        let (valid, hazard, value) = &*shared;
        valid.store(false, Release);
        fence(between);
        if !hazard.load(Acquire) {
            value.set(0);
        }
        reader.join().unwrap();
    }
}

#[test]
fn hazards_need_a_strong_fence() {
    // If the owner sees no hazard because the reader has not begun, the reader sees that the value is gone.
    proved(hazard(SeqCst));
    wrong(hazard(AcqRel), RACE);
}

/// A thread that goes to sleep announces it and looks for work again; one that adds work looks for sleepers.
fn sleeper(order: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
        let theirs = shared.clone();
        let main = thread::current();
        let worker = thread::spawn(move || {
            theirs.0.store(true, order);
            if theirs.1.load(order) {
                main.unpark();
            }
        });
        shared.1.store(true, order);
        if !shared.0.load(order) {
            thread::park();
        }
        worker.join().unwrap();
    }
}

#[test]
fn sleepers_are_woken() {
    proved(sleeper(SeqCst));
    let relaxed = || {
        // A store cannot acquire, nor a load release.
        let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
        let (theirs, main) = (shared.clone(), thread::current());
        let worker = thread::spawn(move || {
            theirs.0.store(true, Release);
            if theirs.1.load(Acquire) {
                main.unpark();
            }
        });
        shared.1.store(true, Release);
        if !shared.0.load(Acquire) {
            thread::park();
        }
        worker.join().unwrap();
    };
    weakly_wrong(relaxed, "deadlock");
}

/// A barrier that counts arrivals: who comes last sees what the others wrote.
fn arrivals(order: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let shared = Arc::new(([Plain::new(0), Plain::new(0), Plain::new(0)], AtomicUsize::new(0)));
        let arrive = move |me: usize, shared: &([Plain; 3], AtomicUsize)| {
            shared.0[me].set(1);
            if shared.1.fetch_add(1, order) == 2 {
                assert_eq!(shared.0.iter().map(Plain::get).sum::<usize>(), 3);
            }
        };
        let others: Vec<_> = [1, 2]
            .map(|me| {
                let shared = shared.clone();
                thread::spawn(move || arrive(me, &shared))
            })
            .into();
        arrive(0, &shared);
        for other in others {
            other.join().unwrap();
        }
    }
}

#[test]
fn arrivals_are_counted() {
    proved(arrivals(AcqRel));
    wrong(arrivals(Release), RACE);
    wrong(arrivals(Acquire), RACE);
}

/// Readers and one writer, by one word.
fn readers_and_writer(leave: Ordering, enter: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    const WRITER: usize = 8;
    move || {
        let shared = Arc::new((AtomicUsize::new(0), Plain::new(0)));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            if theirs.0.fetch_add(1, enter) < WRITER {
                theirs.1.get();
            }
            theirs.0.fetch_sub(1, leave);
        });
        if shared.0.compare_exchange(0, WRITER, enter, Relaxed).is_ok() {
            shared.1.set(1);
            shared.0.fetch_sub(WRITER, leave);
        }
        reader.join().unwrap();
    }
}

#[test]
fn readers_and_writers() {
    proved(readers_and_writer(Release, Acquire));
    wrong(readers_and_writer(Relaxed, Acquire), RACE);
    wrong(readers_and_writer(Release, Relaxed), RACE);
}
