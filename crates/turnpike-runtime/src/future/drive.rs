//! Polls a future until it is ready.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::turns::Baton;
use super::wakeup::{Wakeup, waker};
use crate::runtime::{Polling, Resumed, Runtime};
use crate::site::Place;

thread_local! {
    /// Outside checks: how many futures this thread is polling, and the earliest moment for which a
    /// timer was set.
    static POLLING: Cell<u32> = const { Cell::new(0) };
    static TIMER: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Limit on the bytes of a future that are hashed to recognise a repeated state.
const LARGEST_STATE: usize = 64 << 10;

/// Polls a future on a thread of an execution.
pub(super) fn block<F: Future>(
    runtime: &'static Runtime,
    future: Pin<&mut F>,
    baton: Option<&Baton>,
    place: Place,
) -> F::Output {
    let polled = run(runtime, future, baton, place, |_| false);
    polled.unwrap_or_else(|| unreachable!("it is never aborted"))
}

/// As [`block`], until `stopped` returns true after a wait.
pub(super) fn run<F: Future>(
    runtime: &'static Runtime,
    mut future: Pin<&mut F>,
    baton: Option<&Baton>,
    place: Place,
    stopped: impl Fn(Resumed) -> bool,
) -> Option<F::Output> {
    let wakeup = Wakeup::guest(runtime.epoch(), runtime.current());
    let waker = waker(&wakeup);
    let mut context = Context::from_waker(&waker);
    let _restore = Restore { runtime, before: Some(runtime.begin_polling(wakeup, baton)) };
    loop {
        let polled = {
            let _turn = baton.map(|baton| baton.take(place));
            runtime.clear_polling();
            future.as_mut().poll(&mut context)
        };
        if let Poll::Ready(value) = polled {
            return Some(value);
        }
        let resumed = runtime.rest(state_of(&future), place);
        if stopped(resumed) {
            return None;
        }
    }
}

/// Restores what the thread polled before this future.
struct Restore {
    runtime: &'static Runtime,
    before: Option<Polling>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.runtime.end_polling(before);
        }
    }
}

/// A number that identifies the state of a future, ignoring memory that it points to.
fn state_of<F>(future: &Pin<&mut F>) -> u64 {
    let future: &F = future;
    let bytes = size_of_val(future);
    if bytes > LARGEST_STATE {
        return 0;
    }
    let pointer = std::ptr::from_ref(future).cast::<u8>();
    let mut hash = 0u64;
    for at in 0..bytes {
        // SAFETY: inside the future. Volatile, because some of it is padding, which has some value
        // although the language does not say which.
        let byte = unsafe { pointer.add(at).read_volatile() };
        hash = (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash | 2
}

/// Polls a future on a thread outside checks, which parks while the future is pending.
pub(super) fn block_real<F: Future>(future: Pin<&mut F>) -> F::Output {
    let Some(value) = run_real(future, || false) else { unreachable!("it is never aborted") };
    value
}

/// As [`block_real`], until `stopped` returns true.
pub(super) fn run_real<F: Future>(mut future: Pin<&mut F>, stopped: impl Fn() -> bool) -> Option<F::Output> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            POLLING.set(POLLING.get() - 1);
        }
    }
    let wakeup = Wakeup::real();
    let waker = waker(&wakeup);
    let mut context = Context::from_waker(&waker);
    POLLING.set(POLLING.get() + 1);
    let _leave = Leave;
    loop {
        if stopped() {
            return None;
        }
        TIMER.set(None);
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        let timer = TIMER.take();
        while !wakeup.take_woken() && !stopped() {
            match timer {
                None => std::thread::park(),
                Some(at) => match at.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
                    Some(rest) => std::thread::park_timeout(rest),
                    None => break,
                },
            }
        }
    }
}

/// Outside checks, requests that the current future is polled again after this time.
pub(crate) fn set_timer(rest: Duration, context: &Context<'_>) {
    if POLLING.get() > 0 {
        let at = Instant::now() + rest;
        TIMER.set(Some(TIMER.get().map_or(at, |earlier| earlier.min(at))));
        return;
    }
    // Another executor does not know our timers.
    let waker = context.waker().clone();
    std::thread::spawn(move || {
        std::thread::sleep(rest);
        waker.wake();
    });
}
