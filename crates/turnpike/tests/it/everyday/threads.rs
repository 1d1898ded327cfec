//! Programs around parking_lot, crossbeam, once_cell and lazy_static.

use std::sync::Arc;
use std::time::Duration;

use super::rt::crossbeam::atomic::AtomicCell;
use super::rt::crossbeam::channel::{self, TryRecvError, TrySendError, bounded, unbounded};
use super::rt::crossbeam::queue::{ArrayQueue, SegQueue};
use super::rt::crossbeam::sync::{Parker, ShardedLock, WaitGroup};
use super::rt::crossbeam::utils::{Backoff, CachePadded};
use super::rt::once_cell::sync::{Lazy, OnceCell};
use super::rt::parking_lot::{
    Condvar, MappedMutexGuard, Mutex, MutexGuard, ReentrantMutex, RwLock, RwLockUpgradableReadGuard,
};
use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use super::rt::{crossbeam, lazy_static, thread};

/// A bounded buffer; the wrong one checks its condition only once.
pub(super) fn buffer(wrong: bool) {
    let buffer = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let take = move |buffer: &(Mutex<Vec<u32>>, Condvar)| {
        let mut items = buffer.0.lock();
        if wrong {
            if items.is_empty() {
                buffer.1.wait(&mut items);
            }
        } else {
            buffer.1.wait_while(&mut items, |items| items.is_empty());
        }
        items.pop().expect("nothing to take")
    };
    let takers: Vec<_> = (0..2)
        .map(|_| {
            let buffer = buffer.clone();
            thread::spawn(move || take(&buffer))
        })
        .collect();
    for item in 0..2 {
        buffer.0.lock().push(item);
        if wrong {
            buffer.1.notify_all();
        } else {
            buffer.1.notify_one();
        }
    }
    let sum: u32 = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
    assert_eq!(sum, 1);
}

/// Look, then write: an upgradable guard keeps other writers out in between.
pub(super) fn look_then_write(wrong: bool) {
    let count = Arc::new(RwLock::new(0));
    let add = move |count: &RwLock<i32>| {
        if wrong {
            let value = *count.read();
            *count.write() = value + 1;
        } else {
            let guard = count.upgradable_read();
            let value = *guard;
            let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
            *guard = value + 1;
        }
    };
    let theirs = count.clone();
    let other = thread::spawn(move || add(&theirs));
    add(&count);
    other.join().unwrap();
    assert_eq!(*count.read(), 2, "an update is lost");
}

/// A lock that is taken again by the thread that has it.
pub(super) fn taken_again(wrong: bool) {
    let plain = Mutex::new(1);
    let lock = Arc::new(ReentrantMutex::new(std::cell::Cell::new(0)));
    let theirs = lock.clone();
    let other = thread::spawn(move || {
        let cell = theirs.lock();
        cell.set(cell.get() + 1);
    });
    {
        let outer = lock.lock();
        let inner = lock.lock();
        inner.set(inner.get() + 1);
        outer.set(outer.get() + 1);
    }
    if wrong {
        let _outer = plain.lock();
        drop(plain.lock());
    }
    other.join().unwrap();
    assert_eq!(lock.lock().get(), 3);
}

struct Account {
    balance: i64,
    log: Vec<String>,
}

/// A guard of a part, and a lock that is given back for a while.
pub(super) fn part_of_a_lock(wrong: bool) {
    let account = Arc::new(Mutex::new(Account { balance: 5, log: Vec::new() }));
    let theirs = account.clone();
    let other = thread::spawn(move || {
        let mut balance: MappedMutexGuard<i64> =
            MutexGuard::map(theirs.lock(), |account| &mut account.balance);
        *balance += 1;
    });
    let mut guard = account.lock();
    let before = guard.balance;
    if wrong {
        MutexGuard::unlocked(&mut guard, || thread::yield_now());
    }
    assert_eq!(guard.balance, before, "it changed while it was locked");
    guard.log.push(format!("{before}"));
    drop(guard);
    other.join().unwrap();
}

/// Who stops, and in which order: a channel for work and one to stop.
pub(super) fn stop_and_work(wrong: bool) {
    let (work, jobs) = unbounded::<u32>();
    let (stop, stopped) = bounded::<()>(0);
    let worker = thread::spawn(move || {
        let mut done = 0;
        loop {
            channel::select! {
                recv(jobs) -> job => match job {
                    Ok(job) => done += job,
                    Err(_) => return done,
                },
                recv(stopped) -> _ => {
                    if !wrong {
                        done += jobs.try_iter().sum::<u32>();
                    }
                    return done;
                }
            }
        }
    });
    work.send(1).unwrap();
    work.send(2).unwrap();
    drop(stop);
    assert_eq!(worker.join().unwrap(), 3, "work was left");
}

/// A meeting without a buffer: both sides must come.
pub(super) fn meeting(wrong: bool) {
    let (send, receive) = bounded(0);
    let other = thread::spawn(move || {
        if wrong {
            // Fails if nobody waits yet.
            assert!(
                matches!(send.try_send(1), Ok(()) | Err(TrySendError::Disconnected(_))),
                "nobody is there"
            );
        } else {
            send.send(1).unwrap();
        }
    });
    assert_eq!(receive.recv(), Ok(1));
    other.join().unwrap();
    assert_eq!(receive.try_recv(), Err(TryRecvError::Disconnected));
}

/// Time in a `select!`: what may come first.
pub(super) fn time_limits(wrong: bool) {
    let (send, receive) = bounded::<u32>(1);
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        let _ = send.send(1);
    });
    let ticks = channel::tick(Duration::from_millis(5));
    let never = channel::never::<()>();
    let mut ticked = false;
    let got = loop {
        channel::select! {
            recv(receive) -> number => break number.ok(),
            recv(ticks) -> _ => ticked = true,
            recv(never) -> _ => unreachable!(),
            recv(channel::after(Duration::from_millis(100))) -> _ => break None,
        }
    };
    if wrong {
        assert!(ticked, "no tick before the answer");
    }
    assert!(got.is_none() || got == Some(1));
    other.join().unwrap();
}

/// Scoped threads, and a group that waits for them.
pub(super) fn scoped(wrong: bool) {
    let numbers = [1, 2, 3];
    let sum = AtomicUsize::new(0);
    let group = WaitGroup::new();
    crossbeam::scope(|scope| {
        for part in numbers.chunks(2) {
            let group = if wrong { WaitGroup::new() } else { group.clone() };
            let sum = &sum;
            scope.spawn(move |_| {
                sum.fetch_add(part.iter().sum::<usize>(), Ordering::SeqCst);
                drop(group);
            });
        }
        group.wait();
        assert_eq!(sum.load(Ordering::SeqCst), 6, "a part is missing");
    })
    .unwrap();
}

/// A thread that parks; the wrong one believes that each token is kept.
pub(super) fn tokens(wrong: bool) {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let flag = Arc::new(AtomicUsize::new(0));
    let theirs = flag.clone();
    let other = thread::spawn(move || {
        for _ in 0..2 {
            theirs.fetch_add(1, Ordering::SeqCst);
            unparker.unpark();
        }
    });
    if wrong {
        parker.park();
        parker.park();
    } else {
        while flag.load(Ordering::SeqCst) < 2 {
            parker.park();
        }
    }
    other.join().unwrap();
}

/// Queues and cells; the wrong one adds in two steps.
pub(super) fn queues(wrong: bool) {
    let queue = Arc::new((ArrayQueue::new(2), SegQueue::new(), AtomicCell::new(0u32)));
    let theirs = queue.clone();
    let add = move |queue: &(ArrayQueue<u32>, SegQueue<u32>, AtomicCell<u32>)| {
        if wrong {
            let value = queue.2.load();
            queue.2.store(value + 1);
        } else {
            queue.2.fetch_add(1);
        }
        queue.0.push(1).unwrap();
        queue.1.push(2);
    };
    let other = thread::spawn(move || add(&theirs));
    add(&queue);
    other.join().unwrap();
    assert_eq!(queue.0.push(7), Err(7));
    assert!(queue.0.is_full() && queue.1.len() == 2);
    assert_eq!((queue.0.pop(), queue.1.pop()), (Some(1), Some(2)));
    assert_eq!(queue.2.load(), 2, "an update is lost");
}

lazy_static! {
    static ref TABLE: Vec<u32> = vec![1, 2, 3];
    static ref HITS: Mutex<u32> = Mutex::new(0);
}

static GREETING: Lazy<String> = Lazy::new(|| "hello".to_owned());
static ONCE: OnceCell<usize> = OnceCell::new();

/// Values that are made when they are first used.
pub(super) fn made_when_used(wrong: bool) {
    let other = thread::spawn(move || {
        if wrong {
            // The first that comes sets it.
            ONCE.set(TABLE.len()).unwrap();
        }
        *HITS.lock() += 1;
        *ONCE.get_or_init(|| 3)
    });
    let here = *ONCE.get_or_init(|| 3);
    assert_eq!(GREETING.as_str(), "hello");
    assert_eq!(here + other.join().unwrap(), 6);
    assert!(ONCE.get_or_try_init(|| Err("never called")).is_ok());
}

/// A sharded lock and a spinning flag on its own cache line.
pub(super) fn spinning(wrong: bool) {
    let ready = Arc::new((CachePadded::new(AtomicBool::new(false)), ShardedLock::new(0)));
    let theirs = ready.clone();
    let other = thread::spawn(move || {
        if wrong {
            theirs.0.store(true, Ordering::SeqCst);
            *theirs.1.write().unwrap() = 1;
        } else {
            *theirs.1.write().unwrap() = 1;
            theirs.0.store(true, Ordering::SeqCst);
        }
    });
    let backoff = Backoff::new();
    while !ready.0.load(Ordering::SeqCst) {
        backoff.snooze();
    }
    assert_eq!(*ready.1.read().unwrap(), 1, "not written yet");
    other.join().unwrap();
}
