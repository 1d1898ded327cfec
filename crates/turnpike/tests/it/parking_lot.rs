//! `turnpike::parking_lot`, `once_cell` and `lazy_static!`: right programs are proved, wrong ones found.

use turnpike::parking_lot::{Condvar, Mutex, MutexGuard, Once, RwLock, RwLockWriteGuard};
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicUsize, Ordering};
use turnpike::{once_cell, thread};

use crate::futures::{broken, proved};

fn hand_over(recheck: bool) {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = shared.clone();
    let teller = thread::spawn(move || {
        *other.0.lock() = true;
        other.1.notify_one();
    });
    if recheck {
        let mut ready = shared.0.lock();
        shared.1.wait_while(&mut ready, |ready| !*ready);
        assert!(*ready);
    } else if !*shared.0.lock() {
        // Released in between: the notification may come now.
        shared.1.wait(&mut shared.0.lock());
    }
    teller.join().unwrap();
}

#[test]
fn condition_variables_borrow_their_guards() {
    proved(|| hand_over(true));
    let report = broken(|| hand_over(false));
    assert!(report.contains("main waits for a notification of condvar 0"), "{report}");
}

#[test]
fn locks_in_two_orders_are_a_deadlock() {
    let report = broken(|| {
        let locks = Arc::new((Mutex::new(1), RwLock::new(2)));
        let other = locks.clone();
        let thread = thread::spawn(move || *other.0.lock() + *other.1.read());
        let two = locks.1.write();
        let one = locks.0.lock();
        drop((one, two));
        thread.join().unwrap();
    });
    assert!(report.contains("each waits for the next: main -> main.0 -> main"), "{report}");
}

#[test]
fn guards_can_be_mapped_and_downgraded() {
    proved(|| {
        let pair = Arc::new(Mutex::new((1, 2)));
        let other = pair.clone();
        let thread = thread::spawn(move || {
            let mut first = MutexGuard::map(other.lock(), |pair| &mut pair.0);
            *first += 1;
        });
        *MutexGuard::map(pair.lock(), |pair| &mut pair.0) += 1;
        thread.join().unwrap();
        assert_eq!(*pair.lock(), (3, 2));
        let lock = RwLock::new([1, 2]);
        let reader = RwLockWriteGuard::downgrade(lock.write());
        assert!(lock.try_write().is_none() && lock.try_read().is_some());
        drop(reader);
        *RwLockWriteGuard::map(lock.write(), |pair| &mut pair[1]) = 5;
        assert_eq!(lock.into_inner(), [1, 5]);
    });
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

turnpike::lazy_static! {
    static ref NUMBER: usize = RUNS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn values_are_computed_once_in_each_execution() {
    proved(|| {
        RUNS.store(5, Ordering::SeqCst);
        let thread = thread::spawn(|| *NUMBER);
        assert_eq!((*NUMBER, thread.join().unwrap()), (5, 5));
    });
    proved(|| {
        let cell = Arc::new((once_cell::sync::OnceCell::new(), Once::new(), AtomicUsize::new(0)));
        let other = cell.clone();
        let thread = thread::spawn(move || {
            other.1.call_once(|| other.2.store(other.2.load(Ordering::SeqCst) + 1, Ordering::SeqCst));
            *other.0.get_or_init(|| 1)
        });
        cell.1.call_once(|| cell.2.store(cell.2.load(Ordering::SeqCst) + 1, Ordering::SeqCst));
        assert_eq!(*cell.0.get_or_init(|| 1), thread.join().unwrap());
        assert_eq!(cell.2.load(Ordering::SeqCst), 1);
    });
}
