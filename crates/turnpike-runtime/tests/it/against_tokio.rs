//! The tokio facade against tokio itself: random sequences of operations by one thread, which polls
//! futures manually, must have the same results.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use turnpike_runtime::tokio as ours;

/// Sequences for each primitive.
const SEQUENCES: u64 = 300;
/// Operations of a sequence.
const LENGTH: usize = 40;

/// A small deterministic generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Runs a sequence of operations on each side and compares the results.
#[track_caller]
fn compare(
    name: &str,
    ours: impl Fn(&mut Numbers) -> Vec<String>,
    theirs: impl Fn(&mut Numbers) -> Vec<String>,
) {
    for seed in 0..SEQUENCES {
        let (ours, theirs) = (ours(&mut Numbers(seed)), theirs(&mut Numbers(seed)));
        assert_eq!(ours.len(), theirs.len());
        for (at, (one, other)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(one, other, "{name}, sequence {seed}, operation {at}: {:?}", &ours[..=at]);
        }
    }
}

/// Polls once.
fn poll<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>) -> Option<T> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

type Waiting<T> = Vec<Pin<Box<dyn Future<Output = T>>>>;

/// Polls or drops one of the futures; a ready one is removed.
fn attend<T>(waiting: &mut Waiting<T>, numbers: &mut Numbers, log: &mut Vec<String>) -> Option<T> {
    if waiting.is_empty() {
        log.push("nobody".to_owned());
        return None;
    }
    let at = numbers.below(waiting.len());
    if numbers.below(4) == 0 {
        drop(waiting.remove(at));
        log.push(format!("dropped {at}"));
        return None;
    }
    let ready = poll(&mut waiting[at]);
    log.push(format!("polled {at}: {}", ready.is_some()));
    if ready.is_some() {
        drop(waiting.remove(at));
    }
    ready
}

macro_rules! semaphores {
    ($semaphore:path) => {
        |numbers: &mut Numbers| {
            use $semaphore as Semaphore;
            let (mut log, semaphore) = (Vec::new(), Arc::new(Semaphore::new(numbers.below(4))));
            let (mut waiting, mut held) = (Waiting::new(), Vec::new());
            for _ in 0..LENGTH {
                match numbers.below(8) {
                    0 => log.push(format!("{}", semaphore.available_permits())),
                    1 => semaphore.add_permits(numbers.below(3)),
                    2 => {
                        let permit = semaphore.clone().try_acquire_many_owned(numbers.below(3) as u32);
                        log.push(format!("{:?}", permit.as_ref().err()));
                        held.extend(permit.ok());
                    }
                    3 => waiting
                        .push(Box::pin(semaphore.clone().acquire_many_owned(numbers.below(4) as u32))
                            as Pin<Box<_>>),
                    4 if !held.is_empty() => drop(held.remove(numbers.below(held.len()))),
                    5 if numbers.below(12) == 0 => semaphore.close(),
                    6 => log.push(format!("forgot {}", semaphore.forget_permits(numbers.below(2)))),
                    _ => match attend(&mut waiting, numbers, &mut log) {
                        Some(Ok(permit)) => held.push(permit),
                        Some(Err(_)) => log.push("closed".to_owned()),
                        None => {}
                    },
                }
            }
            log
        }
    };
}

#[test]
fn semaphores() {
    compare("semaphore", semaphores!(ours::sync::Semaphore), semaphores!(tokio::sync::Semaphore));
}

macro_rules! locks {
    ($lock:path) => {
        |numbers: &mut Numbers| {
            use $lock as RwLock;
            let (mut log, lock) = (Vec::new(), Arc::new(RwLock::new(0)));
            let (mut readers, mut writers) = (Waiting::new(), Waiting::new());
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            for _ in 0..LENGTH {
                match numbers.below(9) {
                    0 => readers.push(Box::pin(lock.clone().read_owned()) as Pin<Box<_>>),
                    1 => writers.push(Box::pin(lock.clone().write_owned()) as Pin<Box<_>>),
                    2 => log.push(format!("{:?}", lock.clone().try_read_owned().is_ok())),
                    3 => {
                        let written = lock.clone().try_write_owned();
                        log.push(format!("{:?}", written.is_ok()));
                        reads.extend(written.ok().map(|guard| guard.downgrade()));
                    }
                    4 if !reads.is_empty() => drop(reads.remove(numbers.below(reads.len()))),
                    5 => drop(writes.pop()),
                    6 => reads.extend(attend(&mut readers, numbers, &mut log)),
                    7 => writes.extend(attend(&mut writers, numbers, &mut log)),
                    _ => log.push(format!("{} {}", reads.len(), writes.len())),
                }
            }
            log
        }
    };
}

#[test]
fn locks() {
    compare("rwlock", locks!(ours::sync::RwLock), locks!(tokio::sync::RwLock));
}

macro_rules! notifications {
    ($notify:path) => {
        |numbers: &mut Numbers| {
            use $notify as Notify;
            let notify: &'static Notify = Box::leak(Box::new(Notify::new()));
            let (mut log, mut waiting) = (Vec::new(), Waiting::new());
            for _ in 0..LENGTH {
                match numbers.below(6) {
                    0 => notify.notify_one(),
                    1 => notify.notify_waiters(),
                    2 => waiting.push(Box::pin(notify.notified()) as Pin<Box<_>>),
                    3 if numbers.below(3) == 0 => notify.notify_last(),
                    4 if numbers.below(2) == 0 => {
                        let mut future = Box::pin(notify.notified());
                        log.push(format!("enabled {}", future.as_mut().enable()));
                        waiting.push(future as Pin<Box<_>>);
                    }
                    _ => drop(attend(&mut waiting, numbers, &mut log)),
                }
            }
            log
        }
    };
}

#[test]
fn notifications() {
    compare("notify", notifications!(ours::sync::Notify), notifications!(tokio::sync::Notify));
}

macro_rules! channels {
    ($mpsc:path) => {
        |numbers: &mut Numbers| {
            use $mpsc as mpsc;
            let mut log = Vec::new();
            let (sender, mut receiver) = mpsc::channel::<usize>(1 + numbers.below(2));
            let (mut senders, mut weak) = (vec![sender], Vec::new());
            let (mut waiting, mut permits) = (Waiting::new(), Vec::new());
            for number in 0..LENGTH {
                let some = (!senders.is_empty()).then(|| senders[numbers.below(senders.len())].clone());
                match (numbers.below(12), some) {
                    (0, Some(sender)) => senders.push(sender),
                    (1, Some(sender)) => log.push(format!("{:?}", sender.try_send(number))),
                    (2, Some(sender)) => waiting.push(Box::pin(sender.reserve_owned()) as Pin<Box<_>>),
                    (3, Some(sender)) => {
                        log.push(format!("{} {}", sender.is_closed(), sender.capacity()));
                        weak.push(sender.downgrade());
                    }
                    (4, _) if !senders.is_empty() => drop(senders.remove(numbers.below(senders.len()))),
                    (5, _) => log.push(format!("{:?}", receiver.try_recv())),
                    (6, _) => {
                        let mut context = Context::from_waker(Waker::noop());
                        log.push(format!("{:?}", receiver.poll_recv(&mut context)));
                    }
                    (7, _) if numbers.below(10) == 0 => receiver.close(),
                    (8, _) => log.push(format!("{} {}", receiver.is_closed(), receiver.is_empty())),
                    (9, _) => senders.extend(weak.pop().and_then(|weak| weak.upgrade())),
                    (10, _) if !permits.is_empty() => {
                        let permit: mpsc::OwnedPermit<usize> = permits.remove(numbers.below(permits.len()));
                        if numbers.below(2) == 0 {
                            senders.push(permit.send(number));
                        } else {
                            drop(permit);
                        }
                    }
                    _ => match attend(&mut waiting, numbers, &mut log) {
                        Some(Ok(permit)) => permits.push(permit),
                        Some(Err(_)) => log.push("closed".to_owned()),
                        None => {}
                    },
                }
            }
            log
        }
    };
}

#[test]
fn channels() {
    compare("mpsc", channels!(ours::sync::mpsc), channels!(tokio::sync::mpsc));
}

macro_rules! oneshots {
    ($oneshot:path) => {
        |numbers: &mut Numbers| {
            use $oneshot as oneshot;
            let mut log = Vec::new();
            for _ in 0..4 {
                let (sender, receiver) = oneshot::channel::<usize>();
                let (mut sender, mut receiver) = (Some(sender), Some(receiver));
                let mut over = false;
                for number in 0..8 {
                    match (numbers.below(7), &mut sender, &mut receiver) {
                        (0, one, _) => {
                            if let Some(sender) = one.take() {
                                log.push(format!("{:?}", sender.send(number)));
                            }
                        }
                        (1, Some(sender), Some(receiver)) => {
                            let state = (sender.is_closed(), receiver.is_empty(), receiver.is_terminated());
                            log.push(format!("{state:?}"));
                        }
                        (2, _, Some(receiver)) => {
                            let received = receiver.try_recv();
                            over |= received != Err(oneshot::error::TryRecvError::Empty);
                            log.push(format!("{received:?}"));
                        }
                        (3, _, Some(receiver)) if numbers.below(2) == 0 => receiver.close(),
                        (4, one, _) if numbers.below(3) == 0 => drop(one.take()),
                        (5, _, one) if numbers.below(3) == 0 => drop(one.take()),
                        (6, _, Some(receiver)) if !over => {
                            let mut context = Context::from_waker(Waker::noop());
                            let polled = Pin::new(receiver).poll(&mut context);
                            over = polled.is_ready();
                            log.push(format!("{polled:?}"));
                        }
                        _ => {}
                    }
                }
            }
            log
        }
    };
}

#[test]
fn oneshots() {
    compare("oneshot", oneshots!(ours::sync::oneshot), oneshots!(tokio::sync::oneshot));
}

macro_rules! broadcasts {
    ($broadcast:path) => {
        |numbers: &mut Numbers| {
            use $broadcast as broadcast;
            let mut log = Vec::new();
            let (sender, receiver) = broadcast::channel::<usize>(1 + numbers.below(3));
            let (mut senders, mut receivers) = (vec![sender], vec![receiver]);
            for number in 0..LENGTH {
                match numbers.below(9) {
                    0 | 1 if !senders.is_empty() => log.push(format!("{:?}", senders[0].send(number))),
                    2 if !senders.is_empty() => receivers.push(senders[0].subscribe()),
                    3 if !senders.is_empty() => {
                        let sender = &senders[0];
                        let counts = (sender.len(), sender.is_empty(), sender.receiver_count());
                        log.push(format!("{counts:?}"));
                        let another = sender.clone();
                        senders.push(another);
                    }
                    4 if numbers.below(3) == 0 => drop(senders.pop()),
                    5 if !receivers.is_empty() && numbers.below(2) == 0 => {
                        drop(receivers.remove(numbers.below(receivers.len())));
                    }
                    6 if !receivers.is_empty() => {
                        let receiver = &receivers[numbers.below(receivers.len())];
                        log.push(format!("{} {}", receiver.len(), receiver.is_empty()));
                    }
                    _ if !receivers.is_empty() => {
                        let at = numbers.below(receivers.len());
                        log.push(format!("{at}: {:?}", receivers[at].try_recv()));
                    }
                    _ => {}
                }
            }
            log
        }
    };
}

#[test]
fn broadcasts() {
    compare("broadcast", broadcasts!(ours::sync::broadcast), broadcasts!(tokio::sync::broadcast));
}

macro_rules! watches {
    ($watch:path) => {
        |numbers: &mut Numbers| {
            use $watch as watch;
            let mut log = Vec::new();
            let (sender, receiver) = watch::channel::<usize>(0);
            let (mut senders, mut receivers) = (vec![sender], vec![receiver]);
            for number in 1..LENGTH {
                let at = numbers.below(receivers.len().max(1));
                match numbers.below(10) {
                    0 if !senders.is_empty() => log.push(format!("{:?}", senders[0].send(number).is_ok())),
                    1 if !senders.is_empty() => log.push(format!("{:?}", senders[0].send_replace(number))),
                    2 if !senders.is_empty() => log.push(format!(
                        "{:?}",
                        senders[0].send_if_modified(|value| {
                            *value += 1;
                            number % 2 == 0
                        })
                    )),
                    3 if !senders.is_empty() => receivers.push(senders[0].subscribe()),
                    4 if numbers.below(8) == 0 => drop(senders.pop()),
                    5 if !receivers.is_empty() && numbers.below(3) == 0 => drop(receivers.remove(at)),
                    6 if !receivers.is_empty() => {
                        let value = receivers[at].borrow_and_update();
                        log.push(format!("{:?} {}", *value, value.has_changed()));
                    }
                    7 if !receivers.is_empty() => {
                        let another = receivers[at].clone();
                        receivers.push(another);
                        log.push(format!("{:?}", receivers[at].has_changed().ok()));
                    }
                    8 if !receivers.is_empty() && number % 3 == 0 => receivers[at].mark_changed(),
                    _ if !receivers.is_empty() => {
                        let mut changed: Pin<Box<dyn Future<Output = _> + '_>> =
                            Box::pin(receivers[at].changed());
                        log.push(format!("{:?}", poll(&mut changed).map(|result| result.is_ok())));
                    }
                    _ => {}
                }
            }
            log
        }
    };
}

#[test]
fn watches() {
    compare("watch", watches!(ours::sync::watch), watches!(tokio::sync::watch));
}

macro_rules! cells {
    ($cell:path) => {
        |numbers: &mut Numbers| {
            use $cell as OnceCell;
            let cell: &'static OnceCell<usize> = Box::leak(Box::new(OnceCell::new()));
            let (mut log, mut waiting) = (Vec::new(), Waiting::new());
            for number in 0..12 {
                match numbers.below(6) {
                    0 => log.push(format!("{:?} {}", cell.get(), cell.initialized())),
                    1 if numbers.below(4) == 0 => log.push(format!("{:?}", cell.set(number))),
                    2 => waiting.push(Box::pin(cell.get_or_init(std::future::pending)) as Pin<Box<_>>),
                    3 => {
                        waiting.push(Box::pin(cell.get_or_init(move || async move { number })) as Pin<Box<_>>)
                    }
                    _ => log.push(format!("{:?}", attend(&mut waiting, numbers, &mut log.clone()))),
                }
            }
            log
        }
    };
}

#[test]
fn cells() {
    compare("once cell", cells!(ours::sync::OnceCell), cells!(tokio::sync::OnceCell));
}

macro_rules! rooms {
    ($mpsc:path) => {
        |numbers: &mut Numbers| {
            use $mpsc as mpsc;
            let mut log = Vec::new();
            let (sender, mut receiver) = mpsc::channel::<usize>(3);
            let sender: &'static mpsc::Sender<usize> = Box::leak(Box::new(sender));
            let (mut waiting, mut rooms) =
                (Waiting::new(), Vec::<mpsc::PermitIterator<'static, usize>>::new());
            for number in 0..LENGTH {
                match numbers.below(9) {
                    0 => waiting.push(Box::pin(sender.reserve_many(numbers.below(5))) as Pin<Box<_>>),
                    1 => match sender.try_reserve_many(numbers.below(4)) {
                        Ok(room) => rooms.push(room),
                        Err(error) => log.push(format!("{error:?} {error}")),
                    },
                    2 | 3 if !rooms.is_empty() => {
                        let at = numbers.below(rooms.len());
                        log.push(format!("{:?}", rooms[at].size_hint()));
                        match rooms[at].next() {
                            Some(permit) => permit.send(number),
                            None => drop(rooms.remove(at)),
                        }
                    }
                    4 if !rooms.is_empty() => drop(rooms.remove(numbers.below(rooms.len()))),
                    5 => {
                        let (mut context, mut buffer) = (Context::from_waker(Waker::noop()), Vec::new());
                        let limit = numbers.below(3);
                        log.push(format!("{:?}", receiver.poll_recv_many(&mut context, &mut buffer, limit)));
                        log.push(format!("{buffer:?}"));
                    }
                    6 if numbers.below(10) == 0 => receiver.close(),
                    7 => log.push(format!("{} {}", sender.capacity(), receiver.sender_strong_count())),
                    _ => match attend(&mut waiting, numbers, &mut log) {
                        Some(Ok(room)) => rooms.push(room),
                        Some(Err(error)) => log.push(format!("{error:?} {error}")),
                        None => {}
                    },
                }
            }
            log
        }
    };
}

#[test]
fn rooms() {
    compare("room", rooms!(ours::sync::mpsc), rooms!(tokio::sync::mpsc));
}

macro_rules! broadcast_ends {
    ($broadcast:path) => {
        |numbers: &mut Numbers| {
            use $broadcast as broadcast;
            let mut log = Vec::new();
            let (sender, receiver) = broadcast::channel::<usize>(2);
            let kept: &'static broadcast::Sender<usize> = Box::leak(Box::new(sender.clone()));
            let (mut senders, mut receivers, mut weak) = (vec![sender], vec![receiver], Vec::new());
            let mut waiting = Waiting::new();
            for _ in 0..LENGTH {
                match numbers.below(8) {
                    0 => waiting.push(Box::pin(kept.closed()) as Pin<Box<_>>),
                    1 => drop(receivers.pop()),
                    2 if numbers.below(2) == 0 => receivers.push(kept.subscribe()),
                    3 => drop(senders.pop()),
                    4 => weak.push(kept.downgrade()),
                    5 => senders.extend(weak.pop().and_then(|weak| weak.upgrade())),
                    6 => log.push(format!("{} {}", kept.strong_count(), kept.weak_count())),
                    _ => drop(attend(&mut waiting, numbers, &mut log)),
                }
            }
            log
        }
    };
}

#[test]
fn ends_of_broadcasts() {
    compare("broadcast", broadcast_ends!(ours::sync::broadcast), broadcast_ends!(tokio::sync::broadcast));
}

macro_rules! set_once {
    ($cell:path) => {
        |numbers: &mut Numbers| {
            use $cell as SetOnce;
            let cell: &'static SetOnce<usize> = Box::leak(Box::new(SetOnce::new()));
            let (mut log, mut waiting) = (Vec::new(), Waiting::new());
            for number in 0..12 {
                match numbers.below(5) {
                    0 => log.push(format!("{:?} {}", cell.get(), cell.initialized())),
                    1 if numbers.below(4) == 0 => log.push(format!("{:?}", cell.set(number))),
                    2 => waiting.push(Box::pin(cell.wait()) as Pin<Box<_>>),
                    _ => {
                        let value = attend(&mut waiting, numbers, &mut log);
                        log.push(format!("{value:?}"));
                    }
                }
            }
            log
        }
    };
}

#[test]
fn values_that_are_set_once() {
    compare("set once", set_once!(ours::sync::SetOnce), set_once!(tokio::sync::SetOnce));
}

/// The texts of errors.
#[test]
fn errors() {
    macro_rules! texts {
        ($tokio:ident) => {{
            use $tokio::sync::{SetOnce, mpsc, oneshot};
            let (sender, receiver) = mpsc::channel::<u8>(1);
            let mut log = vec![format!("{:?}", sender.try_send(1))];
            log.push(format!("{:?}", sender.try_send(2).map_err(|error| error.to_string())));
            let timeout =
                [mpsc::error::SendTimeoutError::Timeout(1), mpsc::error::SendTimeoutError::Closed(2)];
            log.extend(timeout.map(|error| format!("{error:?} {error} {}", error.into_inner())));
            drop(receiver);
            let closed = mpsc::error::TrySendError::from(mpsc::error::SendError(3));
            log.push(format!("{closed:?} {closed}"));
            let cell = SetOnce::new_with(Some(1));
            log.push(format!("{:?} {}", cell.set(2), cell.set(3).unwrap_err()));
            let (sender, mut receiver) = oneshot::channel::<u8>();
            drop(sender);
            log.push(format!("{:?}", receiver.try_recv().map_err(|error| error.to_string())));
            log
        }};
    }
    use turnpike_runtime::tokio as ours;
    assert_eq!(texts!(ours), texts!(tokio));
}
