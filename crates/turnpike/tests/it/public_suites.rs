//! What the async tests of Shuttle and the loom tests of tokio are about, in programs of our own.
//!
//! Different on purpose: when the main function returns, Shuttle drops tasks whose handles were dropped;
//! here an execution goes on until they end (`detached_tasks_run_on`). Shuttle's test that a destructor
//! may panic then has no counterpart. Streams are not part of the facades. tokio's tests of
//! `CancellationToken`, `SetOnce` and its own lists and wakers are about types that are not offered.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use turnpike::future::{block_on, spawn, yield_now};
use turnpike::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnpike::sync::{Arc, Mutex};
use turnpike::thread;
use turnpike::tokio::sync::{Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use turnpike::tokio::task::JoinSet;

use crate::futures::{broken, proved};

#[test]
fn tasks_chains_and_threads_mix() {
    proved(|| {
        let first = spawn(async { 1 });
        let second = spawn(async move { first.await.unwrap() + 1 });
        let thread = thread::spawn(move || block_on(second).unwrap() + 1);
        assert_eq!(thread.join().unwrap(), 3);
    });
}

#[test]
fn detached_tasks_run_on() {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = runs.clone();
    let executions = proved(move || {
        let counted = counted.clone();
        drop(spawn(async move {
            yield_now().await;
            counted.fetch_add(1, Ordering::SeqCst);
        }));
    });
    // The first and the last execution of a check are not counted.
    assert!(runs.load(Ordering::SeqCst) as u64 >= executions);
}

#[test]
fn aborting_twice_is_harmless() {
    proved(|| {
        let barrier = Arc::new(turnpike::sync::Barrier::new(2));
        let theirs = barrier.clone();
        let task = spawn(async move {
            std::future::pending::<()>().await;
            theirs.wait();
        });
        task.abort();
        task.abort();
        assert!(block_on(task).unwrap_err().is_cancelled(), "it never came to the barrier");
    });
}

#[test]
fn a_waker_may_be_used_when_its_future_is_gone() {
    proved(|| {
        let kept = std::sync::Arc::new(std::sync::Mutex::new(None::<Waker>));
        let keeper = kept.clone();
        block_on(poll_fn(move |context| {
            *keeper.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        }));
        kept.lock().unwrap().take().unwrap().wake();
    });
}

#[test]
fn a_wake_up_during_the_poll_is_not_lost() {
    proved(|| {
        let shared = Arc::new((Mutex::new(None::<Waker>), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.1.store(true, Ordering::SeqCst);
            let waker = theirs.0.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        block_on(poll_fn(|context| {
            *shared.0.lock().unwrap() = Some(context.waker().clone());
            if shared.1.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        }));
        thread.join().unwrap();
    });
}

#[test]
fn a_wake_up_does_not_open_a_lock() {
    proved(|| {
        let shared = Arc::new((Mutex::new(None::<Waker>), Mutex::new(0)));
        let holder = shared.clone();
        let holder = thread::spawn(move || {
            let mut count = holder.1.lock().unwrap();
            *count += 1;
        });
        let waker = shared.clone();
        let waker = thread::spawn(move || {
            let waker = waker.0.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        block_on(poll_fn(|context| {
            *shared.0.lock().unwrap() = Some(context.waker().clone());
            *shared.1.lock().unwrap() += 1;
            Poll::Ready(())
        }));
        holder.join().unwrap();
        waker.join().unwrap();
        assert_eq!(*shared.1.lock().unwrap(), 2);
    });
}

#[test]
fn two_waiters_need_two_notifications() {
    let notify = |notifications: usize| {
        let notify = Arc::new(Notify::new());
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let notify = notify.clone();
                spawn(async move { notify.notified().await })
            })
            .collect();
        for _ in 0..notifications {
            notify.notify_one();
        }
        block_on(async {
            for waiter in waiters {
                waiter.await.unwrap();
            }
        });
    };
    // Two in a row are stored as one if nobody waits yet.
    assert!(broken(move || notify(2)).contains("to be woken by notify 0"));
    proved(|| {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let first = spawn(async move {
            theirs.notified().await;
            theirs.notify_one();
        });
        let theirs = notify.clone();
        let second = spawn(async move {
            theirs.notified().await;
            theirs.notify_one();
        });
        notify.notify_one();
        block_on(async { (first.await.unwrap(), second.await.unwrap()) });
    });
}

#[test]
fn permits_are_never_lost() {
    proved(|| {
        let semaphore = std::sync::Arc::new(Semaphore::new(1));
        let theirs = semaphore.clone();
        let both = spawn(async move { drop(theirs.acquire_many(2).await.unwrap()) });
        both.abort();
        semaphore.add_permits(1);
        let _ = block_on(both);
        assert_eq!(semaphore.available_permits(), 2, "whether it got them or not");
    });
}

#[test]
fn a_closed_channel_keeps_what_was_sent() {
    proved(|| {
        let (sender, mut receiver) = mpsc::channel(1);
        let producer = spawn(async move { sender.send(1).await.is_ok() });
        receiver.close();
        block_on(async {
            let received = receiver.recv().await;
            assert_eq!(received.is_some(), producer.await.unwrap());
            assert_eq!(receiver.recv().await, None);
        });
    });
}

#[test]
fn a_receiver_may_move_to_another_task() {
    proved(|| {
        let (sender, mut receiver) = oneshot::channel();
        let teller = spawn(async move { sender.send(3).unwrap() });
        block_on(async {
            let early = poll_fn(|context| {
                let polled = std::pin::Pin::new(&mut receiver).poll(context);
                Poll::Ready(if let Poll::Ready(value) = polled { Some(value) } else { None })
            });
            let value = match early.await {
                Some(value) => value,
                None => spawn(receiver).await.unwrap(),
            };
            assert_eq!(value, Ok(3));
            teller.await.unwrap();
        });
    });
}

#[test]
fn receivers_come_and_go() {
    proved(|| {
        let (sender, mut receiver) = broadcast::channel(2);
        let other = sender.subscribe();
        let leaver = spawn(async move { drop(other) });
        assert!(sender.send(1).is_ok_and(|receivers| receivers == 1 || receivers == 2));
        block_on(async {
            assert_eq!(receiver.recv().await, Ok(1));
            leaver.await.unwrap();
        });
        assert!(sender.is_empty(), "everybody who is left has seen it");
    });
    proved(|| {
        let (sender, receiver) = watch::channel(0);
        let leaver = spawn(async move { drop(receiver) });
        block_on(async {
            sender.closed().await;
            assert!(sender.send(1).is_err());
            leaver.await.unwrap();
        });
    });
}

#[test]
fn writers_and_readers_see_whole_values() {
    proved(|| {
        let lock = Arc::new(RwLock::new((0, 0)));
        let theirs = lock.clone();
        let writer = spawn(async move {
            let mut pair = theirs.write().await;
            pair.0 += 1;
            pair.1 += 1;
            let pair = pair.downgrade();
            assert_eq!(*pair, (1, 1), "nobody writes in between");
        });
        block_on(async {
            let (one, two) = *lock.read().await;
            assert_eq!(one, two);
            writer.await.unwrap();
        });
    });
}

#[test]
fn a_set_waits_for_tasks_that_are_aborted() {
    proved(|| {
        block_on(async {
            let count = Arc::new(AtomicUsize::new(0));
            let mut set = JoinSet::new();
            for _ in 0..2 {
                let count = count.clone();
                set.spawn(async move {
                    yield_now().await;
                    count.fetch_add(1, Ordering::SeqCst)
                });
            }
            set.abort_all();
            let mut finished = 0;
            while let Some(result) = set.join_next().await {
                finished += usize::from(result.is_ok());
            }
            assert_eq!(count.load(Ordering::SeqCst), finished);
        });
    });
}

#[test]
fn a_task_may_yield_its_thread() {
    proved(|| {
        let tasks = [spawn(async { thread::yield_now() }), spawn(async {})];
        block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn tasks_answer_each_other_once() {
    proved(|| {
        let (ping, pinged) = oneshot::channel();
        let (pong, ponged) = oneshot::channel();
        let answerer = spawn(async move {
            let number: u32 = pinged.await.unwrap();
            pong.send(number + 1).unwrap();
        });
        block_on(async {
            ping.send(1).unwrap();
            assert_eq!(ponged.await.unwrap(), 2);
            answerer.await.unwrap();
        });
    });
}

/// Ready at the last of so many polls; wakes itself until then.
async fn count_down(mut polls: usize) {
    poll_fn(|context| {
        polls -= 1;
        if polls == 0 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn futures_that_count_down_end() {
    proved(|| {
        let other = spawn(count_down(2));
        block_on(async {
            count_down(3).await;
            other.await.unwrap();
        });
    });
}

#[test]
fn messages_of_tasks_come_in_every_order() {
    let orders = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = orders.clone();
    proved(move || {
        let (send, mut receive) = mpsc::unbounded_channel();
        for task in 0..2 {
            let send = send.clone();
            spawn(async move { send.send(task).unwrap() });
        }
        drop(send);
        let order = block_on(async {
            let mut order = Vec::new();
            while let Some(task) = receive.recv().await {
                order.push(task);
            }
            order
        });
        seen.lock().unwrap().insert(order);
    });
    assert_eq!(orders.lock().unwrap().len(), 2);
}

#[test]
fn one_notification_is_kept_beside_one_for_all() {
    proved(|| {
        let notify = Arc::new(Notify::new());
        let (all, one) = (notify.clone(), notify.clone());
        let threads = [thread::spawn(move || all.notify_waiters()), thread::spawn(move || one.notify_one())];
        block_on(notify.notified());
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn all_that_wait_are_notified_at_once() {
    proved(|| {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let (first, second) = (notify.notified(), notify.notified());
        let thread = thread::spawn(move || theirs.notify_waiters());
        let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
        block_on(poll_fn(|context| {
            // Whoever is asked later has been notified if the one before has.
            let was = first.as_mut().poll(context).is_ready();
            assert!(!was || second.as_mut().poll(context).is_ready());
            if was { Poll::Ready(()) } else { Poll::Pending }
        }));
        thread.join().unwrap();
    });
}

#[test]
fn futures_that_were_made_before_hear_of_a_notification_one_after_the_other() {
    proved(|| {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let (first, second) = (notify.notified(), notify.notified());
        let thread = thread::spawn(move || theirs.notify_waiters());
        block_on(async {
            first.await;
            second.await;
        });
        thread.join().unwrap();
    });
}

#[test]
fn a_permit_promises_a_message() {
    proved(|| {
        let (send, receive) = mpsc::channel(2);
        send.try_send(()).unwrap();
        let shared = Arc::new((Semaphore::new(1), Mutex::new(receive), send));
        let tasks = [(); 2].map(|()| {
            let shared = shared.clone();
            spawn(async move {
                let (permits, receive, send) = &*shared;
                let _permit = permits.acquire().await.unwrap();
                receive.lock().unwrap().try_recv().expect("there are as many messages as permits");
                send.try_send(()).unwrap();
            })
        });
        block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}
