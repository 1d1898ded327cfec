//! Channels, one-time initialisation, atomics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::common::{all, finishes, outcomes};
use turnpike_runtime::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence, fence,
};
use turnpike_runtime::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use turnpike_runtime::sync::{Arc, LazyLock, Once, OnceLock};
use turnpike_runtime::thread;
use turnpike_scheduler::End;

#[test]
fn messages_of_one_sender_keep_their_order() {
    let seen = outcomes(|report| {
        let (sender, receiver) = channel();
        let handles: Vec<_> = [[1, 2], [3, 4]]
            .into_iter()
            .map(|values| {
                let sender = sender.clone();
                thread::spawn(move || values.map(|value| sender.send(value).unwrap()))
            })
            .collect();
        drop(sender);
        let got: Vec<i32> = receiver.iter().collect();
        for handle in handles {
            handle.join().unwrap();
        }
        report(got);
    });
    // Two sequences of two, interleaved: 4! / (2! 2!) ways.
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn ends_of_channels_are_noticed() {
    finishes(|| {
        let (sender, receiver) = channel::<u8>();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Disconnected));
        let (sender, receiver) = channel();
        drop(receiver);
        assert_eq!(sender.send(2).unwrap_err().0, 2);
    });
    let waits = all(|| {
        let (_sender, receiver) = channel::<()>();
        let _ = receiver.recv();
    });
    assert!(waits.iter().all(|end| *end == End::Deadlock));
}

#[test]
fn a_bound_makes_senders_wait() {
    let seen = outcomes(|report| {
        let (sender, receiver) = sync_channel(1);
        let handle = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            matches!(sender.try_send(3), Err(TrySendError::Full(3)))
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        let last = receiver.recv().ok();
        assert_eq!(handle.join().unwrap(), last.is_none());
        report(last);
    });
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn a_rendezvous_lets_the_sender_go_when_its_message_was_taken() {
    finishes(|| {
        let (sender, receiver) = sync_channel(0);
        let taken = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let other = taken.clone();
        let handle = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(5));
            other.store(true, Ordering::SeqCst);
            receiver
        });
        sender.send(5).unwrap();
        assert!(taken.load(Ordering::SeqCst));
        assert!(matches!(sender.try_send(6), Err(TrySendError::Full(6))));
        drop(handle.join().unwrap());
        assert_eq!(sender.send(7).unwrap_err().0, 7);
    });
    // A message that no receiver takes comes back.
    finishes(|| {
        let (sender, receiver) = sync_channel(0);
        let handle = thread::spawn(move || drop(receiver));
        assert_eq!(sender.send(String::from("back")).unwrap_err().0, "back");
        handle.join().unwrap();
    });
}

#[test]
fn initialisation_happens_once_and_others_wait() {
    let seen = outcomes(|report| {
        let cell = Arc::new(OnceLock::new());
        let calls = Arc::new(AtomicUsize::new(0));
        let (other, counted) = (cell.clone(), calls.clone());
        let handle = thread::spawn(move || {
            *other.get_or_init(|| {
                counted.fetch_add(1, Ordering::SeqCst);
                1
            })
        });
        let mine = *cell.get_or_init(|| {
            calls.fetch_add(1, Ordering::SeqCst);
            2
        });
        assert_eq!((handle.join().unwrap(), calls.load(Ordering::SeqCst)), (mine, 1));
        assert_eq!(cell.get(), Some(&mine));
        assert_eq!(cell.set(3), Err(3));
        report(mine);
    });
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn a_panicking_initialisation_poisons_once_but_not_cells() {
    finishes(|| {
        let once = Once::new();
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("no")))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).is_err());
        assert!(!once.is_completed());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        assert!(once.is_completed());
        once.call_once(|| unreachable!());

        let cell = OnceLock::new();
        assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| panic!("no")))).is_err());
        assert_eq!(*cell.get_or_init(|| 4), 4);

        let lazy = LazyLock::new(|| -> u32 { panic!("no") });
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        let (three, one) = (LazyLock::new(|| 3), String::from("captured"));
        let length = LazyLock::new(move || one.len());
        assert_eq!((*three, *length, *length), (3, 8, 8));
    });
}

#[test]
fn atomics_do_what_they_say() {
    finishes(|| {
        let number = AtomicU32::new(5);
        assert_eq!(number.fetch_add(2, Ordering::Relaxed), 5);
        assert_eq!(number.fetch_sub(1, Ordering::Acquire), 7);
        assert_eq!(number.fetch_max(9, Ordering::Release), 6);
        assert_eq!(number.fetch_min(8, Ordering::AcqRel), 9);
        assert_eq!(number.fetch_xor(1, Ordering::SeqCst), 8);
        assert_eq!(number.fetch_and(8, Ordering::SeqCst), 9);
        assert_eq!(number.fetch_or(3, Ordering::SeqCst), 8);
        assert_eq!(number.swap(1, Ordering::SeqCst), 11);
        assert_eq!(number.compare_exchange(2, 3, Ordering::SeqCst, Ordering::Relaxed), Err(1));
        assert_eq!(number.compare_exchange_weak(1, 3, Ordering::SeqCst, Ordering::Relaxed), Ok(1));
        let doubled = number.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |value| Some(value * 2));
        assert_eq!((doubled, number.into_inner()), (Ok(3), 6));
        let byte = AtomicI8::new(i8::MAX);
        assert_eq!(byte.fetch_add(1, Ordering::SeqCst), i8::MAX);
        assert_eq!(byte.load(Ordering::SeqCst), i8::MIN);
        assert_eq!(AtomicI64::default().fetch_nand(1, Ordering::SeqCst), 0);
        let flag = AtomicBool::new(true);
        assert!(flag.fetch_not(Ordering::SeqCst));
        assert!(!flag.load(Ordering::SeqCst));
        let mut value = 1;
        let pointer = AtomicPtr::new(&raw mut value);
        assert_eq!(pointer.swap(std::ptr::null_mut(), Ordering::SeqCst), &raw mut value);
        fence(Ordering::SeqCst);
        compiler_fence(Ordering::SeqCst);
    });
}

#[test]
fn store_buffering_is_sequentially_consistent() {
    let seen = outcomes(|report| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (one, two) = (x.clone(), y.clone());
        let handle = thread::spawn(move || {
            one.store(1, Ordering::Relaxed);
            two.load(Ordering::Relaxed)
        });
        y.store(1, Ordering::Relaxed);
        let mine = x.load(Ordering::Relaxed);
        report((mine, handle.join().unwrap()));
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn exchanges_race() {
    // Two increments by compare-and-exchange in a loop never lose an update.
    let seen = outcomes(|report| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = count.clone();
        let add = |count: &AtomicUsize| {
            count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |value| Some(value + 1)).unwrap()
        };
        let handle = thread::spawn(move || add(&other));
        add(&count);
        handle.join().unwrap();
        report(count.load(Ordering::SeqCst));
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [2]);
}

/// A receiver that is about to wait may or may not be waiting already; only the former makes an
/// offer succeed.
#[test]
fn an_offer_at_a_rendezvous_depends_on_who_waits() {
    let seen = outcomes(|tell| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || receiver.recv());
        let sent = sender.try_send(1).is_ok();
        drop(sender);
        let received = thread.join().unwrap().is_ok();
        tell((sent, received));
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [(false, false), (true, true)]);
    // Not even a receiver with a time limit is certain to wait, and one that only tries never does.
    let seen = outcomes(|tell| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || receiver.try_recv().is_ok());
        let sent = sender.try_send(1).is_ok();
        tell((sent, thread.join().unwrap()));
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [(false, false)]);
}

/// A sender that sends before the receiver is dropped still finds it.
#[test]
fn a_receiver_is_gone_when_it_was_dropped() {
    for bound in [0, 1, 2] {
        let seen = outcomes(move |tell| {
            let (sender, receiver) = sync_channel(bound);
            let thread = thread::spawn(move || drop(receiver));
            let told = match sender.try_send(1) {
                Ok(()) => "sent",
                Err(TrySendError::Full(_)) => "full",
                Err(TrySendError::Disconnected(_)) => "disconnected",
            };
            thread.join().unwrap();
            tell(told);
        });
        let first = if bound == 0 { "full" } else { "sent" };
        let mut expected = ["disconnected", first];
        expected.sort_unstable();
        assert_eq!(seen.into_keys().collect::<Vec<_>>(), expected, "{bound}");
    }
    // The same for an unbounded channel, where a message that is never received is sent
    // nevertheless.
    let seen = outcomes(|tell| {
        let (sender, receiver) = turnpike_runtime::sync::mpsc::channel();
        let thread = thread::spawn(move || drop(receiver));
        let sent = sender.send(1).is_ok();
        thread.join().unwrap();
        tell(sent);
    });
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [false, true]);
}
