//! Mutexes, reader-writer locks, condition variables, barriers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::common::{all, all_with, fails, finishes, outcomes, sampled};
use turnpike_runtime::GuestOptions;
use turnpike_runtime::sync::atomic::{AtomicUsize, Ordering};
use turnpike_runtime::sync::{Arc, Barrier, Condvar, Mutex, RwLock, RwLockWriteGuard};
use turnpike_runtime::thread;
use turnpike_scheduler::{End, Plan, Timeouts};

#[test]
fn a_mutex_excludes() {
    let count = finishes(|| {
        let shared = Arc::new(Mutex::new(0));
        let other = shared.clone();
        let handle = thread::spawn(move || {
            let mut value = other.lock().unwrap();
            let before = *value;
            thread::yield_now();
            *value = before + 1;
        });
        {
            let mut value = shared.lock().unwrap();
            let before = *value;
            thread::yield_now();
            *value = before + 1;
        }
        handle.join().unwrap();
        assert_eq!(*shared.lock().unwrap(), 2);
    });
    assert!(count > 1);
}

#[test]
fn an_unprotected_counter_loses_an_update() {
    let message = fails(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = count.clone();
        let handle = thread::spawn(move || {
            let value = other.load(Ordering::SeqCst);
            other.store(value + 1, Ordering::SeqCst);
        });
        let value = count.load(Ordering::SeqCst);
        count.store(value + 1, Ordering::SeqCst);
        handle.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2, "an update was lost");
    });
    assert!(message.unwrap().contains("an update was lost"));
}

#[test]
fn two_mutexes_in_different_orders_deadlock() {
    let ends = all(|| {
        let first = Arc::new(Mutex::new(()));
        let second = Arc::new(Mutex::new(()));
        let (one, two) = (first.clone(), second.clone());
        let handle = thread::spawn(move || {
            let _one = one.lock().unwrap();
            let _two = two.lock().unwrap();
        });
        {
            let _two = second.lock().unwrap();
            let _one = first.lock().unwrap();
        }
        handle.join().unwrap();
    });
    let deadlocks = ends.iter().filter(|end| **end == End::Deadlock).count();
    let finished = ends.iter().filter(|end| **end == End::Finished).count();
    assert!(deadlocks > 0 && finished > 0 && deadlocks + finished == ends.len(), "{ends:?}");
}

#[test]
fn try_lock_tells_both() {
    let seen = outcomes(|report| {
        let shared = Arc::new(Mutex::new(()));
        let other = shared.clone();
        let handle = thread::spawn(move || {
            let _guard = other.lock().unwrap();
        });
        report(shared.try_lock().is_ok());
        handle.join().unwrap();
    });
    assert!(seen[&true] > 0 && seen[&false] > 0);
}

#[test]
fn a_caught_panic_poisons_and_releases() {
    finishes(|| {
        let shared = Arc::new(Mutex::new(1));
        let other = shared.clone();
        let handle = thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let _guard = other.lock().unwrap();
                panic!("caught");
            }));
            assert!(result.is_err());
            assert!(other.is_poisoned());
            // Released: it can be locked again by the same thread.
            drop(other.lock().unwrap_err().into_inner());
        });
        handle.join().unwrap();
        assert_eq!(*shared.lock().unwrap_err().into_inner(), 1);
        shared.clear_poison();
        assert_eq!(*shared.lock().unwrap(), 1);
    });
}

#[test]
fn readers_share_and_writers_do_not() {
    // Two readers and a writer: the readers may overlap with each other, but not with the writer.
    let seen = outcomes(|report| {
        let lock = Arc::new(RwLock::new(0));
        let inside = Arc::new(AtomicUsize::new(0));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (lock, inside) = (lock.clone(), inside.clone());
                thread::spawn(move || {
                    let value = lock.read().unwrap();
                    let others = inside.fetch_add(1, Ordering::SeqCst);
                    let value = *value;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    assert_ne!(value, 1, "the writer was seen at work");
                    others
                })
            })
            .collect();
        {
            let mut value = lock.write().unwrap();
            *value = 1;
            thread::yield_now();
            *value = 2;
        }
        report(readers.into_iter().map(|reader| reader.join().unwrap()).sum::<usize>());
    });
    assert!(seen[&0] > 0 && seen[&1] > 0, "{seen:?}");
}

#[test]
fn try_read_and_try_write() {
    finishes(|| {
        let lock = RwLock::new(5);
        let one = lock.read().unwrap();
        assert_eq!(*lock.try_read().unwrap(), 5);
        assert!(lock.try_write().is_err());
        drop(one);
        *lock.try_write().unwrap() = 6;
        assert_eq!(lock.into_inner().unwrap(), 6);
    });
}

#[test]
fn a_condition_variable_wakes_its_waiter() {
    finishes(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let handle = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
        assert!(*ready);
        drop(ready);
        handle.join().unwrap();
    });
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let ends = all(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = pair.clone();
        let handle = thread::spawn(move || other.1.notify_one());
        let guard = pair.0.lock().unwrap();
        drop(pair.1.wait(guard).unwrap());
        handle.join().unwrap();
    });
    assert!(ends.contains(&End::Deadlock) && ends.contains(&End::Finished), "{ends:?}");
}

#[test]
fn any_waiter_may_be_woken() {
    let seen = sampled(1000, |report| {
        let pair = Arc::new((Mutex::new((0, None)), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|me| {
                let pair = pair.clone();
                thread::spawn(move || {
                    let mut guard = pair.0.lock().unwrap();
                    guard.0 += 1;
                    guard = pair.1.wait(guard).unwrap();
                    guard.1.get_or_insert(me);
                    drop(guard);
                    pair.1.notify_one();
                })
            })
            .collect();
        while pair.0.lock().unwrap().0 < 2 {
            thread::yield_now();
        }
        pair.1.notify_one();
        for waiter in waiters {
            waiter.join().unwrap();
        }
        report(pair.0.lock().unwrap().1);
    });
    assert!(seen[&Some(0)] > 0 && seen[&Some(1)] > 0, "{seen:?}");
}

#[test]
fn timeouts_happen_when_nothing_else_can_or_always_or_never() {
    let body = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let handle = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let (guard, result) = pair
            .1
            .wait_timeout_while(pair.0.lock().unwrap(), Duration::from_secs(1), |ready| !*ready)
            .unwrap();
        assert_eq!(*guard, !result.timed_out(), "timed out");
        drop(guard);
        handle.join().unwrap();
    };
    let with = |timeouts| all_with(GuestOptions::default(), Plan { timeouts, ..Plan::new(&[]) }, body);
    assert!(with(Timeouts::WhenStuck).iter().all(|end| *end == End::Finished));
    assert!(with(Timeouts::Never).iter().all(|end| *end == End::Finished));
    let count = |ends: Vec<End>| {
        let mut counts = BTreeMap::new();
        for end in ends {
            *counts.entry(format!("{end:?}").split(['(', ' ']).next().unwrap().to_owned()).or_insert(0) += 1;
        }
        counts
    };
    // If timeouts can fire at any time, the wait may end early, which is not a failure here: the
    // flag is consistent.
    assert_eq!(count(with(Timeouts::Always)).len(), 1);

    let alone = || {
        let pair = (Mutex::new(()), Condvar::new());
        let (_guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_millis(5)).unwrap();
        assert!(result.timed_out());
    };
    assert!(all(alone).iter().all(|end| *end == End::Finished));
    let never = Plan { timeouts: Timeouts::Never, ..Plan::new(&[]) };
    assert!(all_with(GuestOptions::default(), never, alone).iter().all(|end| *end == End::Deadlock));
}

#[test]
fn spurious_wakeups_are_tried_when_asked_for() {
    let body = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let handle = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut guard = pair.0.lock().unwrap();
        if !*guard {
            guard = pair.1.wait(guard).unwrap();
            assert!(*guard, "woken without a reason");
        }
        drop(guard);
        handle.join().unwrap();
    };
    assert!(all(body).iter().all(|end| *end == End::Finished));
    let plan = Plan { spurious: 1, ..Plan::new(&[]) };
    let failed =
        |end: &End| matches!(end, End::Failed(failure) if failure.message.contains("without a reason"));
    assert!(all_with(GuestOptions::default(), plan, body).iter().any(failed));
}

#[test]
fn a_barrier_has_one_leader_in_each_round() {
    let seen = outcomes(|report| {
        let barrier = Arc::new(Barrier::new(2));
        let count = Arc::new(AtomicUsize::new(0));
        let (other, arrived) = (barrier.clone(), count.clone());
        let handle = thread::spawn(move || {
            arrived.fetch_add(1, Ordering::SeqCst);
            let first = other.wait().is_leader();
            assert_eq!(arrived.load(Ordering::SeqCst), 2);
            (first, other.wait().is_leader())
        });
        count.fetch_add(1, Ordering::SeqCst);
        let first = barrier.wait().is_leader();
        assert_eq!(count.load(Ordering::SeqCst), 2);
        let mine = (first, barrier.wait().is_leader());
        let theirs = handle.join().unwrap();
        assert!(mine.0 != theirs.0 && mine.1 != theirs.1);
        report(mine);
    });
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn a_writer_goes_on_reading_and_no_other_writer_comes_in_between() {
    // The thread that downgrades reads what it wrote; a reader may hold the lock at the same time.
    let seen = outcomes(|report| {
        let lock = Arc::new(RwLock::new(0));
        let readers = Arc::new(AtomicUsize::new(0));
        let (other, count) = (lock.clone(), readers.clone());
        let writer = thread::spawn(move || *other.write().unwrap() += 10);
        let other = lock.clone();
        let reader = thread::spawn(move || {
            let _read = other.read().unwrap();
            count.store(1, Ordering::SeqCst);
        });
        let mut write = lock.write().unwrap();
        *write += 1;
        let (before, wrote) = (readers.load(Ordering::SeqCst), *write);
        let read = RwLockWriteGuard::downgrade(write);
        let met = before == 0 && readers.load(Ordering::SeqCst) == 1;
        assert_eq!(*read, wrote);
        drop(read);
        writer.join().unwrap();
        reader.join().unwrap();
        report((wrote, met));
    });
    let seen: Vec<(i32, bool)> = seen.into_keys().collect();
    assert_eq!(seen, [(1, false), (1, true), (11, false), (11, true)]);
}

#[test]
fn a_lock_in_a_static_does_not_remember_the_panic_of_an_earlier_execution() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static RWLOCK: RwLock<u32> = RwLock::new(0);
    let ends = all(|| {
        assert!(!MUTEX.is_poisoned() && !RWLOCK.is_poisoned());
        let panic = std::panic::catch_unwind(|| {
            let _guards = (MUTEX.lock().unwrap(), RWLOCK.write().unwrap());
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panic.is_err() && MUTEX.is_poisoned() && RWLOCK.is_poisoned());
        // Several executions.
        turnpike_runtime::choose(3);
    });
    assert_eq!(ends, [End::Finished, End::Finished, End::Finished]);
}

/// The standard library does not specify whether a waiting writer lets readers in, so a thread that
/// already reads may wait behind one that waits for it.
#[test]
fn reading_again_behind_a_waiting_writer_may_deadlock() {
    let ends = all(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        let first = lock.read().unwrap();
        let second = lock.read().unwrap();
        drop((first, second));
        thread.join().unwrap();
    });
    assert!(ends.contains(&End::Deadlock) && ends.contains(&End::Finished), "{ends:?}");
    // With only readers, or a writer that has not arrived, it is admitted.
    let readers = || {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.read().unwrap());
        let first = lock.read().unwrap();
        let second = lock.read().unwrap();
        drop((first, second));
        thread.join().unwrap();
    };
    assert!(all(readers).iter().all(|end| *end == End::Finished));
    let late = || {
        let lock = Arc::new(RwLock::new(0));
        let first = lock.read().unwrap();
        let second = lock.read().unwrap();
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        drop((first, second));
        thread.join().unwrap();
    };
    assert!(all(late).iter().all(|end| *end == End::Finished));
}

#[test]
fn trying_to_read_again_behind_a_waiting_writer_may_fail() {
    let seen = outcomes(|tell| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        let first = lock.read().unwrap();
        let second = lock.try_read();
        tell(second.is_ok());
        drop((first, second));
        thread.join().unwrap();
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [false, true]);
}
