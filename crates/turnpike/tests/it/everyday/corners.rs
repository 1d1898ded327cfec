//! Less usual parts of the crates: what their documentation promises.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration as Plain;

use super::rt::crossbeam::atomic::AtomicCell;
use super::rt::crossbeam::channel::{self, RecvTimeoutError, SendTimeoutError, bounded, unbounded};
use super::rt::crossbeam::queue::ArrayQueue;
use super::rt::crossbeam::sync::{Parker, WaitGroup};
use super::rt::once_cell::sync::OnceCell as Once;
use super::rt::parking_lot;
use super::rt::sync::atomic::{AtomicUsize, Ordering};
use super::rt::tokio::sync::{
    Mutex, MutexGuard, Notify, OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    RwLock, RwLockWriteGuard, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use super::rt::tokio::task::{self, JoinSet, LocalSet};
use super::rt::tokio::time::{Duration, interval, sleep, timeout};
use super::rt::tokio::{self, join, runtime, select};
use super::rt::{crossbeam, thread};

tokio::task_local! {
    static REQUEST: u32;
    static USER: String;
}

/// Values of tasks: inner ones hide outer ones, and other tasks have none.
pub(super) async fn values_of_tasks() {
    let inner = REQUEST.scope(2, async {
        task::yield_now().await;
        REQUEST.get()
    });
    let (outer, inner) = REQUEST.scope(1, async { (REQUEST.get(), inner.await + REQUEST.get()) }).await;
    assert_eq!((outer, inner), (1, 3));
    let other = tokio::spawn(async { REQUEST.try_with(|_| ()).is_err() });
    assert!(REQUEST.sync_scope(5, || REQUEST.with(|value| *value == 5)));
    assert!(USER.scope("me".to_owned(), async { USER.try_get() }).await.is_ok());
    assert!(other.await.unwrap());
}

/// Ids of tasks, inside and outside.
pub(super) async fn ids() {
    let one = tokio::spawn(async { task::id() });
    let two = tokio::spawn(async { task::try_id() });
    let (first, second) = (one.id(), two.id());
    assert_ne!(first, second);
    assert_eq!(one.await.unwrap(), first);
    assert_eq!(two.await.unwrap(), Some(second));
}

/// Tasks of a set, which are collected, and joined with their ids.
pub(super) async fn sets() {
    let mut set: JoinSet<usize> = (0..2).map(|number| async move { number }).collect();
    set.spawn_blocking(|| 7);
    let mut numbers = BTreeSet::new();
    while let Some(joined) = set.join_next_with_id().await {
        numbers.insert(joined.unwrap().1);
    }
    assert_eq!(numbers, BTreeSet::from([0, 1, 7]));
    assert!(set.try_join_next().is_none());
}

/// A blocking function of a set does not keep the tasks of one thread from running.
pub(super) async fn blocking_beside_local_tasks() {
    let local = LocalSet::new();
    let (sender, receiver) = oneshot::channel();
    local.spawn_local(async move {
        let mut set = JoinSet::new();
        set.spawn_blocking(move || receiver.blocking_recv().unwrap());
        sender.send(3).unwrap();
        assert_eq!(set.join_next().await.unwrap().unwrap(), 3);
    });
    local.await;
}

/// A set of local tasks is over when all have ended, also those that others start.
pub(super) async fn local_tasks_end() {
    let count = std::rc::Rc::new(std::cell::Cell::new(0));
    let local = LocalSet::new();
    let (one, two) = (count.clone(), count.clone());
    local.spawn_local(async move {
        task::yield_now().await;
        task::spawn_local(async move { two.set(two.get() + 1) });
        one.set(one.get() + 1);
    });
    local.await;
    assert_eq!(count.get(), 2);
}

/// A value that is set once, and for which others wait.
pub(super) async fn set_once() {
    let cell = Arc::new(SetOnce::new());
    let theirs = cell.clone();
    let other = tokio::spawn(async move { *theirs.wait().await });
    assert!(cell.set(4).is_ok());
    assert!(cell.set(5).is_err());
    assert_eq!(other.await.unwrap(), 4);
    assert_eq!(cell.get(), Some(&4));
    let clone = OnceCell::new_with(Some(1)).clone();
    assert!(clone.set(2).unwrap_err().is_already_init_err());
}

/// Guards of parts.
pub(super) async fn parts() {
    let lock = Arc::new(Mutex::new((1, vec![2])));
    let guard = lock.lock().await;
    let guard = MutexGuard::try_map(guard, |data| data.1.get_mut(9)).unwrap_err();
    let mut part = MutexGuard::map(guard, |data| &mut data.0);
    *part += 1;
    assert!(lock.try_lock().is_err());
    drop(part);
    let owned = OwnedMutexGuard::map(lock.clone().lock_owned().await, |data| &mut data.1);
    assert_eq!(*owned, [2]);
    drop(owned);
    let lock = Arc::new(RwLock::new((1, 2)));
    let mut written = OwnedRwLockWriteGuard::map(lock.clone().write_owned().await, |data| &mut data.0);
    *written = 5;
    drop(written);
    let read = OwnedRwLockReadGuard::map(lock.clone().try_read_owned().unwrap(), |data| &data.0);
    assert_eq!(*read, 5);
    assert!(lock.clone().try_write_owned().is_err());
    drop(read);
    let read = RwLockWriteGuard::downgrade_map(lock.write().await, |data| &data.1);
    assert_eq!((*read, lock.try_read().is_ok()), (2, true));
}

/// Channels: counts, room for several messages, weak ends.
pub(super) async fn ends_of_channels() {
    let (sender, mut receiver) = mpsc::channel(3);
    assert_eq!(receiver.sender_strong_count(), 1);
    let mut room = sender.try_reserve_many(2).unwrap();
    assert!(sender.try_reserve_many(2).is_err() && sender.reserve_many(4).await.is_err());
    room.next().unwrap().send(1);
    drop(room);
    assert_eq!(sender.capacity(), 2);
    let owned = sender.clone().try_reserve_owned().unwrap();
    assert!(owned.same_channel_as_sender(&sender));
    drop(owned.send(2));
    let weak = sender.downgrade();
    let sent = sender.send_timeout(3, Duration::from_secs(1)).await;
    assert!(sent.is_ok());
    drop(sender);
    assert!(weak.upgrade().is_none() && weak.strong_count() == 0);
    let mut all = Vec::new();
    assert_eq!(receiver.recv_many(&mut all, 2).await + receiver.recv_many(&mut all, 9).await, 3);
    assert_eq!(receiver.recv_many(&mut all, 9).await, 0);
    let (news, reader) = broadcast::channel::<u8>(1);
    let closed = tokio::spawn(async move { news.closed().await });
    drop(reader);
    closed.await.unwrap();
    let (sender, mut receiver) = oneshot::channel();
    assert!(receiver.is_empty() && !receiver.is_terminated());
    sender.send(1).unwrap();
    assert_eq!((&mut receiver).await, Ok(1));
    assert!(receiver.is_terminated());
    let (sender, receiver) = watch::channel(0);
    assert!(sender.send_if_modified(|_| false) || !receiver.has_changed().unwrap());
    assert_eq!(sender.clone().sender_count(), 2);
}

/// A notification that does not borrow, and one whose future is dropped after it was notified.
pub(super) async fn notifications() {
    let notify = Arc::new(Notify::new());
    let waiting = tokio::spawn(notify.clone().notified_owned());
    let mut first = Box::pin(notify.notified());
    let enabled = first.as_mut().enable();
    assert!(!enabled, "nobody has notified yet");
    notify.notify_waiters();
    drop(first);
    // The other one may have been made, and even have waited, later.
    notify.notify_one();
    waiting.await.unwrap();
}

/// What a `select!` borrows lives as long as it; losing futures are dropped in their order.
pub(super) async fn branches() {
    struct Tell<'a>(&'a parking_lot::Mutex<Vec<u8>>, u8);
    impl Drop for Tell<'_> {
        fn drop(&mut self) {
            self.0.lock().push(self.1);
        }
    }
    async fn pending(_tell: Tell<'_>) {
        std::future::pending::<()>().await;
    }
    let order = parking_lot::Mutex::new(Vec::new());
    select! {
        biased;
        () = pending(Tell(&order, 1)) => unreachable!(),
        () = pending(Tell(&order, 2)) => unreachable!(),
        () = std::future::ready(()) => {}
    }
    assert_eq!(*order.lock(), [1, 2]);
    order.lock().clear();
    let two = select! {
        biased;
        number = std::pin::pin!(async { 2 }) => Ok::<u8, u8>(number),
        () = pending(Tell(&order, 3)), if false => Vec::<(u8, u8)>::new().pop().map_or(Err::<u8, u8>(0), |pair| Ok(pair.0)),
    };
    assert_eq!(two, Ok(2));
    let (one, two) = join!(std::future::ready::<Result<u8, u8>>(Ok(1)), async { 2 });
    assert_eq!((one, two), (Ok(1), 2));
    tokio::pin! {
        let late = sleep(Duration::from_secs(9));
    }
    assert!(!late.is_elapsed());
}

/// A loop in a time limit that counts its turns is no loop that waits.
pub(super) async fn a_limit_on_a_loop_that_counts() {
    let counted = timeout(Duration::from_secs(5), async {
        let mut turns = 0;
        while turns < 5 {
            turns += 1;
            task::yield_now().await;
        }
        turns
    });
    assert_eq!(counted.await.unwrap(), 5);
    let kept = timeout(Duration::from_secs(1), std::future::ready(3));
    assert_eq!(kept.into_inner().await, 3);
    let mut ticks = interval(Duration::from_secs(1));
    ticks.tick().await;
    ticks.reset_immediately();
    ticks.tick().await;
}

/// Runtimes on one thread and on several, entered and used from outside.
pub(super) fn runtimes() {
    let runtime = runtime::Builder::new_current_thread().enable_all().thread_name("one").build().unwrap();
    let number = runtime.block_on(async {
        let handle = runtime::Handle::current();
        assert_eq!(handle.runtime_flavor(), runtime::RuntimeFlavor::CurrentThread);
        assert!(runtime::Handle::try_current().is_ok());
        handle.spawn_blocking(|| 1).await.unwrap() + tokio::spawn(async { 2 }).await.unwrap()
    });
    assert_eq!(number, 3);
    let task = {
        let _inside = runtime.enter();
        tokio::spawn(async { 4 })
    };
    assert_eq!(runtime.block_on(task).unwrap(), 4);
    runtime.shutdown_background();
}

/// parking_lot: upgrades, downgrades, attempts.
pub(super) fn locks_of_threads() {
    let lock = Arc::new(parking_lot::RwLock::new(1));
    let upgradable = lock.upgradable_read();
    assert!(lock.try_upgradable_read().is_none() && lock.try_read().is_some() && lock.try_write().is_none());
    let mut written = parking_lot::RwLockUpgradableReadGuard::upgrade(upgradable);
    *written += 1;
    assert!(lock.is_locked_exclusive());
    let upgradable = parking_lot::RwLockWriteGuard::downgrade_to_upgradable(written);
    let theirs = lock.clone();
    let writer = thread::spawn(move || *theirs.write() += 1);
    let mut written = parking_lot::RwLockUpgradableReadGuard::upgrade(upgradable);
    assert_eq!(*written, 2, "no writer comes in between");
    *written += 1;
    drop(written);
    writer.join().unwrap();
    assert_eq!(*lock.read_recursive(), 4);
    let mutex = parking_lot::FairMutex::new(Some(3));
    let guard = parking_lot::FairMutexGuard::try_map(mutex.lock(), Option::as_mut);
    assert_eq!(*guard.unwrap(), 3);
    let reentrant = parking_lot::ReentrantMutex::new(1);
    let (one, two) = (reentrant.lock(), reentrant.try_lock().unwrap());
    drop(one);
    assert!(reentrant.is_owned_by_current_thread());
    drop(two);
    assert!(!reentrant.is_owned_by_current_thread());
    let pair = (parking_lot::Mutex::new(false), parking_lot::Condvar::new());
    let mut guard = pair.0.lock();
    assert!(pair.1.wait_while_for(&mut guard, |ready| !*ready, Plain::from_millis(1)).timed_out());
}

/// crossbeam: errors, time limits, queues, names of threads.
pub(super) fn channels_of_threads() {
    let (send, receive) = bounded::<u8>(1);
    assert!(send.try_send(1).is_ok() && send.is_full() && receive.is_full());
    assert!(send.try_send(2).unwrap_err().is_full());
    let late = send.send_timeout(3, Plain::from_millis(1)).unwrap_err();
    assert_eq!(format!("{late:?} {late}"), "\"SendTimeoutError(..)\" timed out waiting on send operation");
    assert!(late.is_timeout() && matches!(late, SendTimeoutError::Timeout(3)) && late.into_inner() == 3);
    assert!(receive.same_channel(&receive.clone()) && receive.recv() == Ok(1));
    assert_eq!(receive.recv_timeout(Plain::from_millis(1)), Err(RecvTimeoutError::Timeout));
    drop(receive.clone());
    drop(send);
    assert!(receive.try_recv().unwrap_err().is_disconnected());
    let (first, second) = (unbounded::<u8>(), unbounded::<u8>());
    first.0.send(1).unwrap();
    second.0.send(2).unwrap();
    let got = channel::select_biased! {
        recv(first.1) -> number => number.unwrap(),
        recv(second.1) -> number => number.unwrap(),
    };
    assert_eq!(got, 1);
    let queue = ArrayQueue::new(1);
    assert_eq!((queue.force_push(1), queue.force_push(2), queue.capacity()), (None, Some(1), 1));
    assert_eq!(queue.into_iter().collect::<Vec<_>>(), [2]);
    let cell = AtomicCell::new(5u32);
    assert_eq!((cell.compare_exchange(4, 6), cell.fetch_max(7), cell.take(), cell.load()), (Err(5), 5, 7, 0));
    assert_eq!(cell.fetch_update(|value| Some(value + 1)), Ok(0));
    crossbeam::thread::scope(|scope: &crossbeam::thread::Scope<'_>| {
        let named = scope.builder().name("reader".to_owned()).spawn(|_| cell.load()).unwrap();
        assert_eq!(named.join().unwrap(), 1);
    })
    .unwrap();
    let parker = Parker::new();
    parker.unparker().unpark();
    parker.unparker().unpark();
    parker.park();
    parker.park_timeout(Plain::from_millis(1));
    WaitGroup::new().wait();
    let own =
        std::panic::AssertUnwindSafe(|| drop(crossbeam::scope(|_| std::panic::resume_unwind(Box::new(3)))));
    assert!(std::panic::catch_unwind(own).is_err(), "its own panic goes on");
}

/// A value whose computation fails is computed by the next that needs it, and only one at a time.
pub(super) fn computations_that_fail() {
    let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
    let attempt = |shared: &(Once<usize>, AtomicUsize)| {
        let result = shared.0.get_or_try_init(|| match shared.1.fetch_add(1, Ordering::SeqCst) {
            0 => Err("not yet"),
            number => Ok(number),
        });
        result.copied()
    };
    let theirs = shared.clone();
    let other = thread::spawn(move || attempt(&theirs));
    let (here, there) = (attempt(&shared), other.join().unwrap());
    assert!((here == Ok(1)) != (there == Ok(1)), "{here:?} {there:?}");
    assert_eq!(shared.0.try_insert(9), Err((&1, 9)));
    assert_eq!(Once::with_value(3).into_inner(), Some(3));
}

/// Permits without async, and futures that need none.
pub(super) fn without_async() {
    let semaphore = Arc::new(Semaphore::new(2));
    let permit = semaphore.clone().blocking_acquire_owned().unwrap();
    let rest = semaphore.blocking_acquire_many(1).unwrap();
    assert!(std::ptr::eq(rest.semaphore(), &*semaphore) && permit.num_permits() == 1);
    fn is_send<T: Send>(_: &T) {}
    fn is_future<F: Future>(_: &F) {}
    let unconstrained = task::unconstrained(async { 1 });
    is_send(&unconstrained);
    is_future(&unconstrained);
}
