//! Programs around tokio's channels.

use super::rt::tokio::sync::{broadcast, mpsc, oneshot, watch};
use super::rt::tokio::task::JoinSet;
use super::rt::tokio::time::{Duration, sleep, timeout};
use super::rt::tokio::{self, select};

/// A cancelled branch that takes a message before it waits again loses it.
pub(super) async fn cancelled_branch(wrong: bool) {
    let (numbers, mut from) = mpsc::channel::<u32>(4);
    let (ticks, mut tick) = mpsc::channel::<()>(4);
    let mut log = Vec::new();
    let producer = tokio::spawn(async move { numbers.send(0).await.unwrap() });
    let ticker = tokio::spawn(async move {
        let _ = ticks.send(()).await;
    });
    let mut open = true;
    loop {
        select! {
            Some(()) = tick.recv(), if open => open = false,
            taken = async {
                let number = from.recv().await?;
                if wrong {
                    tokio::task::yield_now().await;
                }
                Some(number)
            } => match taken {
                Some(number) => log.push(number),
                None => break,
            },
        }
    }
    producer.await.unwrap();
    ticker.await.unwrap();
    assert_eq!(log, [0], "a message is lost");
}

enum Command {
    Get { answer: oneshot::Sender<u64> },
    Add(u64),
    Stop,
}

/// An actor; the wrong one drops a request when it stops, and its client unwraps the answer.
pub(super) async fn actor(wrong: bool) {
    let (commands, mut inbox) = mpsc::unbounded_channel();
    let actor = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(command) = inbox.recv().await {
            match command {
                Command::Get { answer } => drop(answer.send(sum)),
                Command::Add(number) => sum += number,
                Command::Stop if wrong => break,
                Command::Stop => inbox.close(),
            }
        }
        sum
    });
    let other = commands.clone();
    let client = tokio::spawn(async move {
        let (answer, asked) = oneshot::channel();
        other.send(Command::Add(2)).ok()?;
        other.send(Command::Get { answer }).ok()?;
        Some(asked.await.expect("the actor forgot the question"))
    });
    commands.send(Command::Stop).unwrap();
    if let Some(sum) = client.await.unwrap() {
        assert_eq!(sum, 2);
    }
    assert!(actor.await.unwrap() <= 2);
}

/// A worker holds a sender of the channel that it drains, so the channel never closes.
pub(super) async fn own_sender(wrong: bool) {
    let (jobs, mut queue) = mpsc::channel::<u32>(2);
    let own = wrong.then(|| jobs.clone());
    let weak = jobs.downgrade();
    let worker = tokio::spawn(async move {
        let _own = own;
        let mut done = Vec::new();
        while let Some(job) = queue.recv().await {
            if job == 1
                && let Some(more) = weak.upgrade()
            {
                more.try_send(10).unwrap();
            }
            done.push(job);
        }
        done
    });
    jobs.send(1).await.unwrap();
    drop(jobs);
    let done = worker.await.unwrap();
    assert!(done == [1] || done == [1, 10], "{done:?}");
}

/// Two tasks that send to each other through full channels.
pub(super) async fn full_circle(wrong: bool) {
    let (left, mut from_left) = mpsc::channel(1);
    let (right, mut from_right) = mpsc::channel(if wrong { 1 } else { 2 });
    let one = tokio::spawn(async move {
        for number in 0..2 {
            left.send(number).await.unwrap();
        }
        assert_eq!(from_right.recv().await, Some(0));
        assert_eq!(from_right.recv().await, Some(1));
    });
    let two = tokio::spawn(async move {
        right.send(0).await.unwrap();
        right.send(1).await.unwrap();
        assert_eq!(from_left.recv().await, Some(0));
        assert_eq!(from_left.recv().await, Some(1));
    });
    one.await.unwrap();
    two.await.unwrap();
}

/// Room that was reserved is used, or given back; many messages are taken at once.
pub(super) async fn reserved_room(wrong: bool) {
    let (sender, mut receiver) = mpsc::channel::<u8>(2);
    let permit = sender.reserve().await.unwrap();
    let owned = sender.clone().reserve_owned().await.unwrap();
    assert!(matches!(sender.try_send(9), Err(mpsc::error::TrySendError::Full(9))));
    let other = sender.clone();
    let third = tokio::spawn(async move { other.send(3).await.is_ok() });
    permit.send(1);
    if wrong {
        std::mem::forget(owned);
    } else {
        drop(owned.release());
    }
    drop(sender);
    let mut all = Vec::new();
    while receiver.recv_many(&mut all, 8).await > 0 {}
    assert!(third.await.unwrap());
    assert_eq!(all, [1, 3]);
}

/// Many permits at once, for a batch that is not torn apart by others that send batches.
pub(super) async fn batches(wrong: bool) {
    let (sender, mut receiver) = mpsc::channel::<(u8, u8)>(2);
    let mut writers = JoinSet::new();
    for writer in 0..2 {
        let sender = sender.clone();
        writers.spawn(async move {
            if wrong {
                for number in 0..2 {
                    sender.send((writer, number)).await.unwrap();
                }
            } else {
                let mut permits = sender.reserve_many(2).await.unwrap();
                assert_eq!(permits.len(), 2);
                let (first, second) = (permits.next().unwrap(), permits.next().unwrap());
                first.send((writer, 0));
                second.send((writer, 1));
            }
        });
    }
    drop(sender);
    let mut seen = Vec::new();
    while let Some(message) = receiver.recv().await {
        seen.push(message);
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    for writer in 0..2 {
        let numbers: Vec<u8> =
            seen.iter().filter(|(by, _)| *by == writer).map(|(_, number)| *number).collect();
        assert_eq!(numbers, [0, 1]);
    }
    assert_eq!(seen[0].0, seen[1].0, "a batch is torn apart");
}

/// A subscriber that is slow, and believes that it gets every message.
pub(super) async fn slow_subscriber(wrong: bool) {
    let (news, mut reader) = broadcast::channel(if wrong { 1 } else { 4 });
    let writer = tokio::spawn(async move {
        for number in 0..3 {
            assert_eq!(news.send(number).unwrap(), 1);
        }
    });
    let mut read = Vec::new();
    loop {
        match reader.recv().await {
            Ok(number) => read.push(number),
            Err(broadcast::error::RecvError::Lagged(missed)) => panic!("missed {missed} messages"),
            Err(broadcast::error::RecvError::Closed) => break,
        }
    }
    writer.await.unwrap();
    assert_eq!(read, [0, 1, 2]);
}

/// Who subscribes late misses the beginning.
pub(super) async fn late_subscriber(wrong: bool) {
    let (news, first) = broadcast::channel::<&str>(2);
    let theirs = news.clone();
    let mut early = news.subscribe();
    let reader = tokio::spawn(async move {
        let mut own = if wrong { theirs.subscribe() } else { early.resubscribe() };
        drop(theirs);
        if wrong { own.recv().await } else { early.recv().await }
    });
    news.send("start").unwrap();
    let weak = news.downgrade();
    drop((news, first));
    assert_eq!(reader.await.unwrap(), Ok("start"));
    assert!(weak.upgrade().is_none());
}

/// Configuration by `watch`: the wrong reader looks before it listens, and marks the change as seen.
pub(super) async fn configuration(wrong: bool) {
    let (set, mut get) = watch::channel(0);
    let reader = tokio::spawn(async move {
        if wrong {
            if *get.borrow_and_update() < 2 {
                get.changed().await.unwrap();
            }
            assert_eq!(*get.borrow(), 2, "an old configuration");
        } else {
            let seen = *get.wait_for(|version| *version >= 2).await.unwrap();
            assert_eq!(seen, 2);
        }
    });
    set.send(1).unwrap();
    set.send_modify(|version| *version += 1);
    reader.await.unwrap();
}

/// Shutdown by `watch`: the wrong worker checks the flag once more than it listens.
pub(super) async fn shutdown_flag(wrong: bool) {
    let (stop, mut stopped) = watch::channel(false);
    let (work, mut jobs) = mpsc::channel::<u32>(1);
    let worker = tokio::spawn(async move {
        let mut done = 0;
        if wrong {
            // A receiver that subscribes late believes that it has seen the value.
            stopped.mark_unchanged();
        }
        loop {
            select! {
                biased;
                changed = stopped.changed() => {
                    if changed.is_err() || *stopped.borrow_and_update() {
                        break done;
                    }
                }
                Some(job) = jobs.recv() => done += job,
            }
        }
    });
    work.send(1).await.ok();
    stop.send(true).unwrap();
    let done = worker.await.unwrap();
    assert!(done <= 1);
    drop(stop);
    drop(work);
}

/// A request with a time limit, whose answer may come too late.
pub(super) async fn late_answer(wrong: bool) {
    let (ask, asked) = oneshot::channel::<oneshot::Sender<u8>>();
    let server = tokio::spawn(async move {
        let Ok(answer) = asked.await else { return };
        sleep(Duration::from_millis(50)).await;
        let sent = answer.send(7);
        assert!(!wrong || sent.is_ok(), "nobody waits for the answer");
    });
    let (answer, mut wanted) = oneshot::channel();
    ask.send(answer).unwrap();
    match timeout(Duration::from_millis(10), &mut wanted).await {
        Ok(answer) => assert_eq!(answer, Ok(7)),
        Err(_elapsed) => wanted.close(),
    }
    server.await.unwrap();
}

/// Whether a sender notices that its receiver is gone.
pub(super) async fn receiver_is_gone(wrong: bool) {
    let (mut sender, receiver) = oneshot::channel::<String>();
    let worker = tokio::spawn(async move {
        if wrong {
            sender.send("done".to_owned()).unwrap();
            return true;
        }
        select! {
            () = sender.closed() => false,
            () = tokio::task::yield_now() => sender.send("done".to_owned()).is_ok(),
        }
    });
    let reader = tokio::spawn(async move {
        drop(receiver);
    });
    reader.await.unwrap();
    assert!(!wrong || worker.await.is_ok());
}
