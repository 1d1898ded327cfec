//! Wakers: how other threads cause a thread to poll its future again.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};
use std::thread::Thread;

use turnpike_scheduler::{Kind, ObjectId, Operation, Site, ThreadId};

use crate::context;
use crate::site::{self, Place};

thread_local! {
    /// The position of the code that is about to wake others.
    static WAKES_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// A thread that polls a future.
pub(crate) struct Wakeup {
    who: Who,
    /// Whether its own polling cloned the waker since [`forget_clones`](Self::forget_clones).
    cloned: AtomicBool,
    woken: AtomicBool,
}

enum Who {
    /// A thread of an execution.
    Guest { epoch: u64, thread: ThreadId },
    /// A thread outside checks.
    Real(Thread),
}

impl Wakeup {
    /// For a thread of an execution.
    pub(crate) fn guest(epoch: u64, thread: ThreadId) -> Arc<Self> {
        Arc::new(Wakeup {
            who: Who::Guest { epoch, thread },
            cloned: AtomicBool::new(false),
            woken: AtomicBool::new(false),
        })
    }

    /// For the running thread, outside checks.
    pub(super) fn real() -> Arc<Self> {
        let who = Who::Real(std::thread::current());
        Arc::new(Wakeup { who, cloned: AtomicBool::new(false), woken: AtomicBool::new(false) })
    }

    /// Whether it was woken since the last call. Outside checks only.
    pub(super) fn take_woken(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }

    /// Whether the thread itself cloned the waker since [`forget_clones`](Self::forget_clones).
    pub(crate) fn was_cloned(&self) -> bool {
        self.cloned.load(Ordering::Relaxed)
    }

    /// Forgets earlier clones, because the thread polls again.
    pub(crate) fn forget_clones(&self) {
        self.cloned.store(false, Ordering::Relaxed);
    }

    fn note_clone(&self) {
        if let (Who::Guest { epoch, thread }, Some(runtime)) = (&self.who, context::active())
            && runtime.epoch() == *epoch
            && runtime.current() == *thread
        {
            self.cloned.store(true, Ordering::Relaxed);
        }
    }

    /// Causes the thread to poll again.
    pub(super) fn wake(&self) {
        // Taken before another thread of the execution runs.
        let place = WAKES_AT.take();
        let (epoch, thread) = match &self.who {
            Who::Guest { epoch, thread } => (*epoch, *thread),
            Who::Real(thread) => {
                self.woken.store(true, Ordering::Release);
                thread.unpark();
                return;
            }
        };
        let Some(runtime) = context::active().filter(|runtime| runtime.epoch() == epoch) else { return };
        if runtime.current() == thread && runtime.polls(self) {
            // The task wakes itself: it lets other threads go first instead.
            runtime.poll_again();
            return;
        }
        let site = place.map_or(Site(0), site::of);
        let operation = Operation::new(Kind::Unpark, ObjectId::NONE, site);
        let _ = runtime.turn(Operation { argument: u64::from(thread.0), ..operation });
    }
}

/// Wakes the task of the waker, on behalf of code at `place`.
pub(crate) fn wake(waker: Waker, place: Place) {
    WAKES_AT.set(Some(place));
    waker.wake();
    WAKES_AT.set(None);
}

const TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake_and_drop, wake_only, forget);

/// The waker of a thread.
pub(super) fn waker(wakeup: &Arc<Wakeup>) -> Waker {
    let raw = RawWaker::new(Arc::into_raw(Arc::clone(wakeup)).cast(), &TABLE);
    // SAFETY: the pointer is that of an `Arc<Wakeup>`, of which the waker owns one count. The
    // functions of the table keep to that, and any thread can use a `Wakeup`.
    unsafe { Waker::from_raw(raw) }
}

fn clone(data: *const ()) -> RawWaker {
    let pointer = data.cast::<Wakeup>();
    // SAFETY: the waker that is cloned owns a count, so the value is alive.
    unsafe {
        Arc::increment_strong_count(pointer);
        (*pointer).note_clone();
    }
    RawWaker::new(data, &TABLE)
}

fn wake_and_drop(data: *const ()) {
    // SAFETY: takes over the count that the waker owned.
    unsafe { Arc::from_raw(data.cast::<Wakeup>()) }.wake();
}

fn wake_only(data: *const ()) {
    // SAFETY: the waker owns a count as long as it is borrowed.
    unsafe { &*data.cast::<Wakeup>() }.wake();
}

fn forget(data: *const ()) {
    // SAFETY: takes over the count that the waker owned.
    drop(unsafe { Arc::from_raw(data.cast::<Wakeup>()) });
}
