//! Programs around tokio's tasks, locks and time.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::Mutex as Plain;

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use super::rt::tokio::sync::{Barrier, Mutex, Notify, OnceCell, OwnedMutexGuard, RwLock, Semaphore};
use super::rt::tokio::task::{self, JoinSet, LocalSet};
use super::rt::tokio::time::{self, Duration, Instant, interval, sleep_until};
use super::rt::tokio::{self, join, select, try_join};

/// A queue with a `Notify`: the wrong one forgets to listen before it looks.
pub(super) async fn queue(wrong: bool) {
    struct Queue {
        items: Plain<Vec<u32>>,
        added: Notify,
    }
    let queue = Arc::new(Queue { items: Plain::new(Vec::new()), added: Notify::new() });
    let theirs = Arc::clone(&queue);
    let producer = tokio::spawn(async move {
        theirs.items.lock().unwrap().push(5);
        theirs.added.notify_waiters();
    });
    let item = loop {
        let added = queue.added.notified();
        tokio::pin!(added);
        if !wrong {
            added.as_mut().enable();
        }
        let item = queue.items.lock().unwrap().pop();
        if let Some(item) = item {
            break item;
        }
        if wrong {
            queue.added.notified().await;
        } else {
            added.await;
        }
    };
    assert_eq!(item, 5);
    producer.await.unwrap();
}

/// Two notifications at once are kept as one.
pub(super) async fn double_notify(wrong: bool) {
    let shared = Arc::new((Notify::new(), Semaphore::new(0)));
    let mut waiters = JoinSet::new();
    for _ in 0..2 {
        let shared = Arc::clone(&shared);
        waiters.spawn(async move {
            if wrong {
                shared.0.notified().await;
            } else {
                shared.1.acquire().await.unwrap().forget();
            }
        });
    }
    if wrong {
        shared.0.notify_one();
        shared.0.notify_one();
    } else {
        shared.1.add_permits(2);
    }
    while let Some(ended) = waiters.join_next().await {
        ended.unwrap();
    }
}

/// ABBA with tokio's locks.
pub(super) async fn two_accounts(wrong: bool) {
    let accounts = Arc::new([Mutex::new(10), Mutex::new(10)]);
    async fn transfer(accounts: &[Mutex<i32>; 2], from: usize, to: usize, ordered: bool) {
        let (first, second) = if ordered { (0, 1) } else { (from, to) };
        let mut first_guard = accounts[first].lock().await;
        let mut second_guard = accounts[second].lock().await;
        let (source, target) = if first == from {
            (&mut first_guard, &mut second_guard)
        } else {
            (&mut second_guard, &mut first_guard)
        };
        **source -= 1;
        **target += 1;
    }
    let theirs = accounts.clone();
    let other = tokio::spawn(async move { transfer(&theirs, 1, 0, !wrong).await });
    transfer(&accounts, 0, 1, !wrong).await;
    other.await.unwrap();
    assert_eq!(*accounts[0].lock().await + *accounts[1].lock().await, 20);
}

/// A lock of the standard library that is held where a task waits, on one thread.
pub(super) async fn plain_lock_over_await(wrong: bool) {
    let shared = Arc::new((super::rt::sync::Mutex::new(0), Notify::new()));
    let local = LocalSet::new();
    let (mine, theirs) = (Rc::new(shared.clone()), shared.clone());
    local
        .run_until(async move {
            let other = task::spawn_local(async move {
                if wrong {
                    let mut held = theirs.0.lock().unwrap();
                    task::yield_now().await;
                    *held += 1;
                } else {
                    *theirs.0.lock().unwrap() += 1;
                    task::yield_now().await;
                }
                theirs.1.notify_one();
            });
            task::yield_now().await;
            *mine.0.lock().unwrap() += 1;
            mine.1.notified().await;
            other.await.unwrap();
            assert_eq!(*mine.0.lock().unwrap(), 2);
        })
        .await;
}

/// One at a time; the wrong one returns the permit too early.
pub(super) async fn one_at_a_time(wrong: bool) {
    let semaphore = Arc::new(Semaphore::new(1));
    let inside = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let (permit, inside) = (Arc::clone(&semaphore).acquire_owned(), inside.clone());
        workers.spawn(async move {
            let permit = permit.await.unwrap();
            if wrong {
                drop(permit);
                assert!(inside.fetch_add(1, Ordering::SeqCst) < 1, "two at once");
                inside.fetch_sub(1, Ordering::SeqCst);
            } else {
                assert!(inside.fetch_add(1, Ordering::SeqCst) < 1, "two at once");
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(permit);
            }
        });
    }
    workers.join_all().await;
    assert_eq!(semaphore.available_permits(), 1);
}

/// A semaphore that is closed to stop the workers, who must not unwrap.
pub(super) async fn closed_semaphore(wrong: bool) {
    let semaphore = Arc::new(Semaphore::new(1));
    let theirs = semaphore.clone();
    let worker = tokio::spawn(async move {
        match theirs.acquire_many(1).await {
            Ok(permit) => assert_eq!(permit.num_permits(), 1),
            Err(closed) => assert!(!wrong, "{closed}"),
        }
    });
    semaphore.close();
    assert!(semaphore.is_closed());
    worker.await.unwrap();
}

/// A value that is computed once; the wrong one asks first, and computes twice.
pub(super) async fn computed_once(wrong: bool) {
    static CELL: OnceCell<usize> = OnceCell::const_new();
    let cell = Arc::new(OnceCell::new());
    let calls = Arc::new(AtomicUsize::new(0));
    let compute = |cell: Arc<OnceCell<usize>>, calls: Arc<AtomicUsize>| async move {
        let make = || async {
            calls.fetch_add(1, Ordering::SeqCst);
            task::yield_now().await;
            3
        };
        if wrong {
            if cell.get().is_none() {
                let value = make().await;
                let _ = cell.set(value);
            }
            *cell.get().unwrap()
        } else {
            *cell.get_or_init(make).await
        }
    };
    let other = tokio::spawn(compute(cell.clone(), calls.clone()));
    assert_eq!(compute(cell.clone(), calls.clone()).await, 3);
    assert_eq!(other.await.unwrap(), 3);
    assert_eq!(calls.load(Ordering::SeqCst), 1, "computed twice");
    assert!(CELL.get().is_none() && cell.initialized());
}

/// A cache behind a read-write lock, checked and filled in two steps.
pub(super) async fn cache(wrong: bool) {
    let cache = Arc::new(RwLock::new(HashMap::new()));
    let misses = Arc::new(AtomicUsize::new(0));
    let look_up = |cache: Arc<RwLock<HashMap<&'static str, u32>>>, misses: Arc<AtomicUsize>| async move {
        if let Some(value) = cache.read().await.get("key") {
            return *value;
        }
        let mut cache = cache.write().await;
        if !wrong && let Some(value) = cache.get("key") {
            return *value;
        }
        misses.fetch_add(1, Ordering::SeqCst);
        cache.insert("key", 1);
        1
    };
    let (one, two) = (look_up(cache.clone(), misses.clone()), look_up(cache.clone(), misses.clone()));
    let (one, two) = join!(tokio::spawn(one), tokio::spawn(two));
    assert_eq!(one.unwrap() + two.unwrap(), 2);
    assert_eq!(misses.load(Ordering::SeqCst), 1, "filled twice");
}

/// Owned guards travel to another task; a downgrade keeps writers out.
pub(super) async fn guards_that_travel(wrong: bool) {
    let lock = Arc::new(RwLock::new(1));
    let mutex = Arc::new(Mutex::new(vec![0; 2]));
    let guard: OwnedMutexGuard<Vec<i32>> = mutex.clone().lock_owned().await;
    let filler = tokio::spawn(async move {
        let mut guard = guard;
        guard[0] = 1;
        guard[1] = 2;
    });
    let written = lock.clone().write_owned().await;
    let theirs = lock.clone();
    let writer = tokio::spawn(async move { *theirs.write().await += 1 });
    if wrong {
        drop(written);
        assert_eq!(*lock.read().await, 1, "a writer came in between");
    } else {
        let read = written.downgrade();
        assert_eq!(*read, 1, "a writer came in between");
    }
    writer.await.unwrap();
    let seen = mutex.lock().await.clone();
    assert_eq!(seen, [1, 2]);
    filler.await.unwrap();
}

/// Tasks that are aborted clean up; the wrong one loses the count.
pub(super) async fn aborted(wrong: bool) {
    struct Leave(Arc<AtomicUsize>);
    impl Drop for Leave {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let inside = Arc::new(AtomicUsize::new(0));
    let theirs = inside.clone();
    let waiting = tokio::spawn(async move {
        theirs.fetch_add(1, Ordering::SeqCst);
        if wrong {
            task::yield_now().await;
            theirs.fetch_sub(1, Ordering::SeqCst);
        } else {
            let _leave = Leave(theirs);
            task::yield_now().await;
        }
    });
    let abort = waiting.abort_handle();
    assert_eq!(abort.id(), waiting.id());
    abort.abort();
    match waiting.await {
        Ok(()) => {}
        Err(error) => assert!(error.is_cancelled()),
    }
    assert_eq!(inside.load(Ordering::SeqCst), 0, "someone is still inside");
}

/// A set of tasks that is shut down, with ids and results.
pub(super) async fn task_set(wrong: bool) {
    let done = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    let mut ids = HashMap::new();
    for number in 0..2 {
        let done = done.clone();
        let abort = set.spawn(async move {
            done.fetch_add(1, Ordering::SeqCst);
            number
        });
        ids.insert(abort.id(), number);
    }
    if wrong {
        set.abort_all();
    }
    let mut ended = 0;
    while let Some(result) = set.join_next_with_id().await {
        match result {
            Ok((id, number)) => assert_eq!(ids.remove(&id), Some(number)),
            Err(error) => assert!(error.is_cancelled() && ids.remove(&error.id()).is_some()),
        }
        ended += 1;
    }
    assert_eq!(ended, 2);
    assert!(ids.is_empty());
    assert_eq!(done.load(Ordering::SeqCst), 2, "a task was aborted before it did its work");
}

/// Phases with a barrier; the wrong one has a party too few.
pub(super) async fn phases(wrong: bool) {
    let barrier = Arc::new(Barrier::new(if wrong { 1 } else { 2 }));
    let done = Arc::new(AtomicUsize::new(0));
    let run = |barrier: Arc<Barrier>, done: Arc<AtomicUsize>| async move {
        done.fetch_add(1, Ordering::SeqCst);
        let leader = barrier.wait().await.is_leader();
        assert_eq!(done.load(Ordering::SeqCst), 2, "the first phase is not over");
        leader
    };
    let other = tokio::spawn(run(barrier.clone(), done.clone()));
    let here = run(barrier, done).await;
    assert!(here ^ other.await.unwrap());
}

/// A flag that a blocking thread sets; `is_finished` says nothing about what comes after it.
pub(super) async fn blocking_work(wrong: bool) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let work = task::spawn_blocking(move || {
        theirs.store(true, Ordering::SeqCst);
        6 * 7
    });
    if wrong {
        assert!(work.is_finished(), "not finished yet");
    }
    assert_eq!(work.await.unwrap(), 42);
    assert!(flag.load(Ordering::SeqCst));
}

/// The first error ends a `try_join!`, and drops the others half-way.
pub(super) async fn first_error(wrong: bool) {
    let written = Arc::new(AtomicUsize::new(0));
    let write = |wait: bool| {
        let written = written.clone();
        async move {
            written.fetch_add(1, Ordering::SeqCst);
            if wait {
                task::yield_now().await;
            }
            written.fetch_add(1, Ordering::SeqCst);
            Ok::<(), &str>(())
        }
    };
    let fail = async { Err::<(), _>("disk full") };
    let result = try_join!(write(wrong), fail);
    assert_eq!(result, Err("disk full"));
    assert_ne!(written.load(Ordering::SeqCst) % 2, 1, "half written");
}

/// Ticks and a deadline under one clock.
pub(super) async fn ticks(wrong: bool) {
    let start = Instant::now();
    let mut ticks = interval(Duration::from_millis(10));
    ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    let end = sleep_until(start + Duration::from_millis(25));
    tokio::pin!(end);
    let mut count = 0;
    loop {
        select! {
            biased;
            () = &mut end => break,
            _ = ticks.tick() => count += 1,
        }
    }
    assert!(start.elapsed() >= Duration::from_millis(25));
    if wrong {
        assert_eq!(count, 4, "one tick too few");
    } else {
        assert!(count >= 1);
    }
}

/// All branches are disabled: the `else` branch.
pub(super) async fn nothing_left(wrong: bool) {
    let mut parts = [Some(1), Some(2)];
    let mut sum = 0;
    loop {
        let [one, two] = &mut parts;
        let (has_one, has_two) = (one.is_some(), two.is_some() && !wrong);
        select! {
            part = async { one.take().unwrap() }, if has_one => sum += part,
            part = async { two.take().unwrap() }, if has_two => { sum += part }
            else => break,
        }
    }
    assert_eq!(sum, 3, "a part is missing");
}
