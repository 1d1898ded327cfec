//! Every primitive of the tokio facade: a right program that is proved, and a wrong one that is found.

use turnpike::future::{block_on, spawn};
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnpike::tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};
use turnpike::tokio::{join, select, task, try_join};

use crate::futures::{broken, proved};

type StdArc<T> = std::sync::Arc<T>;

fn add_twice(hold: bool) {
    block_on(async move {
        let count = Arc::new(Mutex::new(0));
        let add = move |count: Arc<Mutex<i32>>| async move {
            if hold {
                *count.lock().await += 1;
            } else {
                let value = *count.lock().await;
                *count.lock().await = value + 1;
            }
        };
        let other = spawn(add(count.clone()));
        add(count.clone()).await;
        other.await.unwrap();
        assert_eq!(*count.lock().await, 2, "lost");
    });
}

#[test]
fn mutex() {
    proved(|| add_twice(true));
    assert!(broken(|| add_twice(false)).contains("lost"));
}

#[test]
fn a_lock_held_across_an_await_of_another_is_a_deadlock() {
    let report = broken(|| {
        block_on(async {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            let theirs = locks.clone();
            let other = spawn(async move {
                let _one = theirs.0.lock().await;
                let _two = theirs.1.lock().await;
            });
            let _two = locks.1.lock().await;
            let _one = locks.0.lock().await;
            drop((_one, _two));
            other.await.unwrap();
        });
    });
    assert!(report.contains("main waits to be woken by async mutex"), "{report}");
    assert!(report.contains("held by main.0 since tokio_sync.rs"), "{report}");
    assert!(report.contains("each waits for the next: main -> main.0 -> main"), "{report}");
}

#[test]
fn mutexes_are_fair() {
    proved(|| {
        block_on(async {
            let lock = StdArc::new(Mutex::new(0));
            let held = lock.lock().await;
            let (mut first, mut second) = (Box::pin(lock.lock()), Box::pin(lock.lock()));
            assert!(poll(&mut first).is_none() && poll(&mut second).is_none());
            drop(held);
            assert!(lock.try_lock().is_err(), "it belongs to the first that waits");
            assert!(poll(&mut second).is_none());
            drop(first);
            assert!(poll(&mut second).is_some(), "who gives up lets the next one in");
        });
    });
}

/// Polls once.
fn poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

fn move_money(one_step: bool) {
    block_on(async move {
        let accounts = Arc::new(RwLock::new((5, 5)));
        let theirs = accounts.clone();
        let mover = spawn(async move {
            if one_step {
                let mut accounts = theirs.write().await;
                accounts.0 -= 1;
                accounts.1 += 1;
            } else {
                theirs.write().await.0 -= 1;
                theirs.write().await.1 += 1;
            }
        });
        let sum = {
            let accounts = accounts.read().await;
            accounts.0 + accounts.1
        };
        assert_eq!(sum, 10, "money is lost");
        mover.await.unwrap();
    });
}

#[test]
fn rwlock() {
    proved(|| move_money(true));
    assert!(broken(|| move_money(false)).contains("money is lost"));
}

#[test]
fn a_reader_that_reads_again_behind_a_writer_is_a_deadlock() {
    let report = broken(|| {
        block_on(async {
            let lock = Arc::new(RwLock::new(0));
            let theirs = lock.clone();
            let writer = spawn(async move { *theirs.write().await += 1 });
            let one = lock.read().await;
            let two = lock.read().await;
            assert_eq!(*one, *two);
            drop((one, two));
            writer.await.unwrap();
        });
    });
    assert!(report.contains("deadlock") && report.contains("async rwlock"), "{report}");
}

fn wait_for_flag(enable_first: bool, all: bool) {
    block_on(async move {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        let theirs = shared.clone();
        let teller = spawn(async move {
            theirs.0.store(true, Ordering::SeqCst);
            if all { theirs.1.notify_waiters() } else { theirs.1.notify_one() }
        });
        if enable_first {
            let notified = shared.1.notified();
            if !shared.0.load(Ordering::SeqCst) {
                notified.await;
            }
        } else if !shared.0.load(Ordering::SeqCst) {
            shared.1.notified().await;
        }
        teller.await.unwrap();
    });
}

#[test]
fn notify() {
    proved(|| wait_for_flag(false, false));
    proved(|| wait_for_flag(true, true));
    // `notify_waiters` remembers nothing: whoever looks before it listens misses it.
    let report = broken(|| wait_for_flag(false, true));
    assert!(report.contains("main waits to be woken by notify 0 at tokio_sync.rs"), "{report}");
    assert!(report.contains("last used by main.0 at tokio_sync.rs"), "{report}");
}

#[test]
fn a_notification_that_is_not_used_goes_to_another() {
    proved(|| {
        block_on(async {
            let notify = Arc::new(Notify::new());
            let theirs = notify.clone();
            let waiter = spawn(async move { theirs.notified().await });
            {
                let mut unused = Box::pin(notify.notified());
                let _ = poll(&mut unused);
                notify.notify_one();
            }
            // Dropped, whether it was notified or not.
            notify.notify_one();
            waiter.await.unwrap();
        });
    });
}

fn few_at_once(permits: usize) {
    block_on(async move {
        let shared = Arc::new((Semaphore::new(permits), AtomicUsize::new(0)));
        let enter = |shared: Arc<(Semaphore, AtomicUsize)>| async move {
            let _permit = shared.0.acquire().await.unwrap();
            assert_eq!(shared.1.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            shared.1.fetch_sub(1, Ordering::SeqCst);
        };
        let other = spawn(enter(shared.clone()));
        enter(shared.clone()).await;
        other.await.unwrap();
        assert_eq!(shared.0.available_permits(), permits);
    });
}

#[test]
fn semaphore() {
    proved(|| few_at_once(1));
    assert!(broken(|| few_at_once(2)).contains("one at a time"));
}

#[test]
fn closing_a_semaphore_ends_the_wait() {
    proved(|| {
        block_on(async {
            let semaphore = Arc::new(Semaphore::new(0));
            let theirs = semaphore.clone();
            let waiter = spawn(async move { theirs.acquire().await.is_err() });
            semaphore.close();
            assert!(waiter.await.unwrap());
            assert!(semaphore.is_closed() && semaphore.try_acquire().is_err());
        });
    });
}

fn meet(parties: usize) {
    block_on(async move {
        let shared = Arc::new((Barrier::new(parties), AtomicUsize::new(0), AtomicUsize::new(0)));
        let come = |shared: Arc<(Barrier, AtomicUsize, AtomicUsize)>| async move {
            shared.1.fetch_add(1, Ordering::SeqCst);
            if shared.0.wait().await.is_leader() {
                shared.2.fetch_add(1, Ordering::SeqCst);
            }
            assert_eq!(shared.1.load(Ordering::SeqCst), 2, "both came");
        };
        let other = spawn(come(shared.clone()));
        come(shared.clone()).await;
        other.await.unwrap();
        assert_eq!(shared.2.load(Ordering::SeqCst), 1, "one leader");
    });
}

#[test]
fn barrier() {
    proved(|| meet(2));
    assert!(broken(|| meet(1)).contains("one leader"));
    assert!(broken(|| meet(3)).contains("to be woken by async barrier 0"));
}

#[test]
fn bounded_channels() {
    proved(|| {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel(1);
            let producer = spawn(async move {
                for number in 0..2 {
                    sender.send(number).await.unwrap();
                }
            });
            assert_eq!((receiver.recv().await, receiver.recv().await), (Some(0), Some(1)));
            assert_eq!(receiver.recv().await, None);
            producer.await.unwrap();
        });
    });
    let report = broken(|| {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            let _forgotten = sender.clone();
            let producer = spawn(async move { sender.send(1).await.unwrap() });
            while receiver.recv().await.is_some() {}
            producer.await.unwrap();
        });
    });
    assert!(report.contains("main waits to be woken by channel 0"), "{report}");
}

#[test]
fn a_permit_holds_the_end_back() {
    proved(|| {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel(1);
            let producer = spawn(async move {
                if let Ok(permit) = sender.reserve().await {
                    permit.send(7);
                    return true;
                }
                false
            });
            receiver.close();
            let received = receiver.recv().await;
            assert_eq!(received.is_some(), producer.await.unwrap(), "sent is received");
        });
    });
}

#[test]
fn unbounded_channels() {
    proved(|| {
        block_on(async {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let other = sender.clone();
            let producer = spawn(async move { other.send(1).unwrap() });
            sender.send(2).unwrap();
            drop(sender);
            let sum = receiver.recv().await.unwrap() + receiver.recv().await.unwrap();
            assert_eq!((sum, receiver.recv().await), (3, None));
            producer.await.unwrap();
        });
    });
    let report = broken(|| {
        block_on(async {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let other = sender.clone();
            let producer = spawn(async move { other.send(1).unwrap() });
            sender.send(2).unwrap();
            assert_eq!(receiver.recv().await, Some(2), "out of order");
            producer.await.unwrap();
        });
    });
    assert!(report.contains("out of order"), "{report}");
}

#[test]
fn oneshot_channels() {
    proved(|| {
        block_on(async {
            let (sender, receiver) = oneshot::channel();
            let teller = spawn(async move { sender.send(5).is_ok() });
            assert_eq!(receiver.await, Ok(5));
            assert!(teller.await.unwrap());
        });
    });
    // The answer may come before or after the receiver gives up.
    let report = broken(|| {
        block_on(async {
            let (sender, receiver) = oneshot::channel();
            let teller = spawn(async move { sender.send(5).expect("somebody listens") });
            drop(receiver);
            teller.await.unwrap();
        });
    });
    assert!(report.contains("somebody listens"), "{report}");
}

#[test]
fn broadcast_channels() {
    proved(|| {
        block_on(async {
            let (sender, mut one) = broadcast::channel(2);
            let mut two = sender.subscribe();
            let listener = spawn(async move { (two.recv().await.unwrap(), two.recv().await.is_err()) });
            assert_eq!(sender.send(3), Ok(2));
            drop(sender);
            assert_eq!(one.recv().await, Ok(3));
            assert_eq!(one.recv().await, Err(broadcast::error::RecvError::Closed));
            assert_eq!(listener.await.unwrap(), (3, true));
        });
    });
    let report = broken(|| {
        block_on(async {
            let (sender, mut receiver) = broadcast::channel(1);
            let listener = spawn(async move { receiver.recv().await.expect("it keeps up") });
            sender.send(1).unwrap();
            let _ = sender.send(2);
            listener.await.unwrap();
        });
    });
    assert!(report.contains("it keeps up: Lagged(1)"), "{report}");
}

#[test]
fn watch_channels() {
    proved(|| {
        block_on(async {
            let (sender, mut receiver) = watch::channel(0);
            let listener = spawn(async move { *receiver.wait_for(|value| *value == 2).await.unwrap() });
            let _ = sender.send(1);
            let _ = sender.send(2);
            assert_eq!(listener.await.unwrap(), 2);
        });
    });
    // Values in between may be missed.
    let report = broken(|| {
        block_on(async {
            let (sender, mut receiver) = watch::channel(0);
            let listener = spawn(async move {
                receiver.changed().await.unwrap();
                assert_eq!(*receiver.borrow(), 1, "the first change");
            });
            let _ = sender.send(1);
            let _ = sender.send(2);
            listener.await.unwrap();
        });
    });
    assert!(report.contains("the first change"), "{report}");
}

#[test]
fn once_cells() {
    proved(|| {
        block_on(async {
            let shared = Arc::new((OnceCell::new(), AtomicUsize::new(0)));
            let init = |shared: Arc<(OnceCell<usize>, AtomicUsize)>| async move {
                *shared.0.get_or_init(|| async { shared.1.fetch_add(1, Ordering::SeqCst) + 7 }).await
            };
            let other = spawn(init(shared.clone()));
            assert_eq!(init(shared.clone()).await, 7);
            assert_eq!(other.await.unwrap(), 7, "computed once");
        });
    });
    let report = broken(|| {
        block_on(async {
            let cell = Arc::new(OnceCell::new());
            let theirs = cell.clone();
            let other = spawn(async move { theirs.set(1).is_ok() });
            assert!(cell.set(2).is_ok(), "somebody was faster");
            other.await.unwrap();
        });
    });
    assert!(report.contains("somebody was faster"), "{report}");
}

/// Counts what arrives, unless the wait is cancelled by a stop signal.
fn count_until_stopped(cancel_safe: bool) {
    block_on(async move {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let (stop, mut stopped) = oneshot::channel::<()>();
        let producer = spawn(async move {
            sender.send(1).unwrap();
            stop.send(()).unwrap();
        });
        let mut seen = 0;
        // Takes a message, and then waits before it hands it on.
        let receive = async |receiver: &mut mpsc::UnboundedReceiver<u32>| {
            let message = receiver.recv().await;
            task::yield_now().await;
            message
        };
        loop {
            if cancel_safe {
                select! {
                    Some(number) = receiver.recv() => seen += number,
                    _ = &mut stopped => break,
                }
            } else {
                select! {
                    Some(number) = receive(&mut receiver) => seen += number,
                    _ = &mut stopped => break,
                }
            }
        }
        while let Ok(number) = receiver.try_recv() {
            seen += number;
        }
        assert_eq!(seen, 1, "a message is lost");
        producer.await.unwrap();
    });
}

#[test]
fn select_drops_the_other_futures() {
    proved(|| count_until_stopped(true));
    assert!(broken(|| count_until_stopped(false)).contains("a message is lost"));
}

#[test]
fn select_tries_each_branch_first() {
    let report = broken(|| {
        block_on(async {
            let first = select! {
                _ = async {} => 1,
                _ = async {} => 2,
            };
            assert_eq!(first, 1, "the other one was ready, too");
        });
    });
    assert!(report.contains("the other one was ready"), "{report}");
    proved(|| {
        block_on(async {
            let mut two = Some(2);
            let value = select! {
                biased;
                _ = std::future::pending::<()>() => unreachable!(),
                value = async { 1 }, if two.is_none() => value,
                Some(mut value) = std::future::ready(two.take()) => { value += 1; value }
                else => 0,
            };
            assert_eq!(value, 3);
            let value = select! {
                Some(value) = std::future::ready(None::<u32>) => value,
                _ = async { 1 }, if false => 1,
                else => 9,
            };
            assert_eq!(value, 9, "all branches are disabled");
        });
    });
}

#[test]
fn join_and_try_join() {
    proved(|| {
        block_on(async {
            let (one, other) = oneshot::channel();
            let (sent, received) = join!(async { one.send(4).is_ok() }, other);
            assert_eq!((sent, received), (true, Ok(4)));
            let failed: Result<((), ()), u32> =
                try_join!(async { Err(3) }, async { std::future::pending().await });
            assert_eq!(failed, Err(3));
            assert_eq!(try_join!(async { Ok::<_, ()>(1) }, async { Ok(2) }), Ok((1, 2)));
        });
    });
}

#[test]
fn join_sets_give_ends_in_the_order_in_which_they_happen() {
    let orders = StdArc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = orders.clone();
    proved(move || {
        let seen = seen.clone();
        block_on(async move {
            let mut set = task::JoinSet::new();
            for number in 0..2 {
                set.spawn(async move { number });
            }
            let mut order = Vec::new();
            while let Some(result) = set.join_next().await {
                order.push(result.unwrap());
            }
            seen.lock().unwrap().insert(order);
        });
    });
    assert_eq!(orders.lock().unwrap().iter().cloned().collect::<Vec<_>>(), [[0, 1], [1, 0]]);
}

#[test]
fn dropping_a_join_set_aborts_its_tasks() {
    proved(|| {
        block_on(async {
            let (sender, receiver) = oneshot::channel::<()>();
            let mut set = task::JoinSet::new();
            set.spawn(async move {
                let _sender = sender;
                std::future::pending::<()>().await;
            });
            drop(set);
            assert!(receiver.await.is_err(), "its future was dropped");
        });
    });
}

#[test]
fn local_tasks_take_turns() {
    proved(|| {
        block_on(async {
            let set = task::LocalSet::new();
            let count = std::rc::Rc::new(std::cell::RefCell::new(0));
            let add = |count: std::rc::Rc<std::cell::RefCell<i32>>| async move {
                for _ in 0..2 {
                    *count.borrow_mut() += 1;
                    task::yield_now().await;
                }
            };
            set.run_until(async {
                let one = task::spawn_local(add(count.clone()));
                let two = task::spawn_local(add(count.clone()));
                one.await.unwrap();
                two.await.unwrap();
            })
            .await;
            assert_eq!(*count.borrow(), 4);
        });
    });
}

#[test]
fn numbers_of_senders_are_no_proof_while_others_clone_them() {
    let count = |alone: bool| {
        move || {
            block_on(async move {
                let (sender, receiver) = mpsc::unbounded_channel::<u8>();
                let (theirs, kept) = (sender.clone(), sender);
                let other = spawn(async move {
                    if !alone {
                        drop(theirs.clone());
                    }
                });
                let number = receiver.sender_strong_count();
                assert!((1..4).contains(&number));
                drop(kept);
                other.await.unwrap();
            });
        }
    };
    proved(count(true));
    let checked = turnpike::Config::new().strategy("exhaustive").run(count(false)).expect("it is right");
    let left_out = checked.left_out.expect("not all orders are tried");
    assert!(
        left_out.contains("when a handle is cloned, while another thread looks at their number"),
        "{left_out}"
    );
}
