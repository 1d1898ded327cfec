//! `turnpike::crossbeam`: right programs are proved, wrong ones found.

use turnpike::crossbeam::channel::{self, RecvError, TryRecvError, TrySendError};
use turnpike::crossbeam::sync::{Parker, WaitGroup};
use turnpike::crossbeam::utils::{Backoff, CachePadded};
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnpike::thread;
use turnpike::time::Duration;

use crate::futures::{broken, exhaustive, proved};

#[test]
fn channels_have_many_receivers() {
    proved(|| {
        let (sender, receiver) = channel::unbounded();
        let other = receiver.clone();
        let thread = thread::spawn(move || other.recv());
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        let (here, there) = (receiver.recv(), thread.join().unwrap());
        assert_eq!(here.unwrap() + there.unwrap(), 3);
        assert_eq!((receiver.recv(), receiver.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
    });
    let report = broken(|| {
        let (sender, receiver) = channel::bounded(1);
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        for _ in &receiver {}
        drop(sender);
        thread.join().unwrap();
    });
    assert!(report.contains("main waits to be woken by channel 0"), "{report}");
}

#[test]
fn without_capacity_both_meet() {
    proved(|| {
        let (sender, receiver) = channel::bounded(0);
        let arrived = Arc::new(AtomicBool::new(false));
        let theirs = arrived.clone();
        let thread = thread::spawn(move || {
            theirs.store(true, Ordering::SeqCst);
            receiver.recv()
        });
        sender.send(5).unwrap();
        assert!(arrived.load(Ordering::SeqCst), "somebody took it");
        assert_eq!(thread.join().unwrap(), Ok(5));
        assert_eq!(sender.try_send(6), Err(TrySendError::Disconnected(6)));
    });
}

#[test]
fn select_waits_for_the_first() {
    proved(|| {
        let ((one, first), (two, second)) = (channel::bounded(1), channel::bounded(1));
        let thread = thread::spawn(move || {
            one.send(1).unwrap();
            two.send(2).unwrap();
        });
        let mut sum = 0;
        for _ in 0..2 {
            channel::select! {
                recv(first) -> number => sum += number.unwrap_or(0),
                recv(second) -> number => sum += number.unwrap_or(0),
            }
        }
        // A channel that is closed is ready, too.
        sum += first.try_iter().chain(second.try_iter()).sum::<i32>();
        thread.join().unwrap();
        sum += first.try_iter().chain(second.try_iter()).sum::<i32>();
        assert_eq!(sum, 3);
    });
    let report = broken(|| {
        let (stop, stopped) = channel::bounded::<()>(1);
        let (work, todo) = channel::unbounded();
        work.send(1).unwrap();
        stop.send(()).unwrap();
        let mut done = 0;
        channel::select! {
            recv(todo) -> number => done += number.unwrap(),
            recv(stopped) -> _ => {}
        }
        assert_eq!(done, 1, "work is dropped");
    });
    assert!(report.contains("work is dropped"), "{report}");
}

#[test]
fn select_sends_and_has_a_default() {
    proved(|| {
        let (sender, receiver) = channel::bounded(1);
        let sent = channel::select! {
            send(sender, 1) -> result => result.is_ok(),
            default => false,
        };
        let full = channel::select! {
            send(sender, 2) -> _ => false,
            default => true,
        };
        assert!(sent && full);
        assert_eq!((receiver.recv(), receiver.is_empty()), (Ok(1), true));
    });
    let timed = exhaustive(|| {
        let (_sender, receiver) = channel::bounded::<u8>(1);
        let late = channel::select! {
            recv(receiver) -> _ => false,
            recv(channel::never::<u8>()) -> _ => false,
            default(Duration::from_millis(5)) => true,
        };
        assert!(late && receiver.recv_timeout(Duration::from_millis(1)).is_err());
        let ticks = channel::tick(Duration::from_millis(2));
        assert_eq!(ticks.recv().unwrap() + Duration::from_millis(2), ticks.recv().unwrap());
        channel::after(Duration::from_secs(1)).recv().unwrap();
    });
    assert!(timed.is_ok(), "{timed:?}");
}

#[test]
fn groups_parkers_and_scopes() {
    proved(|| {
        let count = AtomicUsize::new(0);
        turnpike::crossbeam::scope(|scope| {
            let group = WaitGroup::new();
            let theirs = group.clone();
            let count = &count;
            scope.spawn(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                drop(theirs);
            });
            group.wait();
            assert_eq!(count.load(Ordering::SeqCst), 1);
        })
        .unwrap();
    });
    proved(|| {
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        let thread = thread::spawn(move || unparker.unpark());
        parker.park();
        thread.join().unwrap();
    });
    let report = broken(|| {
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        let thread = thread::spawn(move || {
            unparker.unpark();
            unparker.unpark();
        });
        // Two tokens may be one.
        parker.park();
        parker.park();
        thread.join().unwrap();
    });
    assert!(report.contains("deadlock"), "{report}");
}

#[test]
fn loops_back_off() {
    let spun = exhaustive(|| {
        let flag = Arc::new(CachePadded::new(AtomicBool::new(false)));
        let other = flag.clone();
        let thread = thread::spawn(move || other.store(true, Ordering::SeqCst));
        let backoff = Backoff::new();
        while !flag.load(Ordering::SeqCst) {
            backoff.snooze();
        }
        thread.join().unwrap();
    });
    assert!(spun.is_ok(), "{spun:?}");
}
