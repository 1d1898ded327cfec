//! Outside a check everything behaves as in the standard library, with real threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use turnpike_runtime::collections::{HashMap, HashSet};
use turnpike_runtime::sync::atomic::{AtomicUsize, Ordering};
use turnpike_runtime::sync::mpsc::{RecvTimeoutError, TrySendError, channel, sync_channel};
use turnpike_runtime::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use turnpike_runtime::time::{Instant, SystemTime};
use turnpike_runtime::{choose, hint, is_checking, thread};

#[test]
fn locks_and_threads() {
    assert!(!is_checking());
    let shared = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(5)));
    let handles: Vec<_> = (0..4)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                *shared.0.lock().unwrap() += *shared.2.read().unwrap();
                shared.1.notify_all();
            })
        })
        .collect();
    let count = shared.1.wait_while(shared.0.lock().unwrap(), |count| *count < 20).unwrap();
    assert_eq!(*count, 20);
    assert!(shared.0.try_lock().is_err());
    drop(count);
    for handle in handles {
        handle.join().unwrap();
    }
    *shared.2.try_write().unwrap() = 6;
    let wait = shared.1.wait_timeout(shared.0.lock().unwrap(), Duration::from_millis(5)).unwrap();
    assert!(wait.1.timed_out());
    drop(wait);
    let (_guard, result) =
        shared.1.wait_timeout_while(shared.0.lock().unwrap(), Duration::from_millis(5), |_| true).unwrap();
    assert!(result.timed_out());
}

#[test]
fn poisoning() {
    let shared = Arc::new(Mutex::new(1));
    let other = shared.clone();
    let handle = thread::Builder::new().name("poisons".to_owned()).spawn(move || {
        let _guard = other.lock().unwrap();
        std::panic::resume_unwind(Box::new("silently"));
    });
    assert!(handle.unwrap().join().is_err());
    assert!(shared.is_poisoned() && shared.lock().is_err());
    shared.clear_poison();
    assert_eq!(*shared.lock().unwrap(), 1);
}

#[test]
fn scopes_and_parking() {
    let mut numbers = vec![1, 2, 3];
    let main = thread::current();
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        let handle = scope.spawn(|| {
            count.fetch_add(1, Ordering::SeqCst);
            main.unpark();
            numbers.push(4);
            numbers.len()
        });
        while count.load(Ordering::SeqCst) == 0 {
            thread::park_timeout(Duration::from_secs(10));
        }
        assert_eq!(handle.join().unwrap(), 4);
        scope.spawn(|| thread::sleep(Duration::from_millis(10)));
    });
    assert_eq!(numbers, [1, 2, 3, 4]);
    let unjoined = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| std::panic::resume_unwind(Box::new(())));
        });
    }));
    assert!(unjoined.is_err());
    thread::yield_now();
    hint::spin_loop();
}

#[test]
fn channels() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let handle = thread::spawn(move || (0..100).for_each(|value| other.send(value).unwrap()));
    drop(sender);
    assert_eq!(receiver.iter().sum::<i32>(), 4950);
    handle.join().unwrap();

    let (sender, receiver) = sync_channel(2);
    assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert!(matches!(sender.try_send(3), Err(TrySendError::Full(3))));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);

    let (sender, receiver) = sync_channel(0);
    assert!(matches!(sender.try_send(1), Err(TrySendError::Full(1))));
    let handle = thread::spawn(move || (0..100).for_each(|value| sender.send(value).unwrap()));
    assert_eq!(receiver.into_iter().sum::<i32>(), 4950);
    handle.join().unwrap();
    let (sender, receiver) = sync_channel(0);
    let handle = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        drop(receiver);
    });
    assert_eq!(sender.send(9).unwrap_err().0, 9);
    handle.join().unwrap();
}

#[test]
fn the_rest() {
    static ONCE: Once = Once::new();
    static CELL: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| 4);
    ONCE.call_once(|| {});
    assert!(ONCE.is_completed());
    assert_eq!((CELL.set(3), CELL.get(), *LAZY), (Ok(()), Some(&3), 4));
    let barrier = Arc::new(Barrier::new(2));
    let other = barrier.clone();
    let handle = thread::spawn(move || other.wait().is_leader());
    assert_ne!(barrier.wait().is_leader(), handle.join().unwrap());
    let begin = Instant::now();
    thread::sleep(Duration::from_millis(2));
    assert!(begin.elapsed() >= Duration::from_millis(2) && SystemTime::now().elapsed().is_ok());
    assert_eq!(choose(7), 0);
    let map: HashMap<u32, u32> = [(1, 2)].into_iter().collect();
    let set: HashSet<u32> = map.keys().copied().collect();
    assert_eq!((map[&1], set.len()), (2, 1));
}
