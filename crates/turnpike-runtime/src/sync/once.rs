//! `Once`.
//!
//! A flag that can be read without waiting, and a gate that admits one thread while others wait.
//! The kernel represents the flag as a memory location, and the gate as a separate object.

use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// One-time initialisation: once per execution, for a `static`.
pub struct Once {
    gate: Tag,
    flag: Tag,
    inner: sync::Once,
    /// 0 = not done, [`OUTSIDE`], or the execution in which it was done.
    done: AtomicU64,
    /// Whether a thread is inside, in this execution.
    inside: AtomicBool,
    poisoned: AtomicBool,
}

/// Done outside any check, and so in all executions.
const OUTSIDE: u64 = u64::MAX;

const POISONED: &str = "Once instance has previously been poisoned";

/// The state that [`Once::call_once_force`] passes to its function.
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier attempt panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// A `Once` that is not done.
    #[track_caller]
    pub const fn new() -> Self {
        Once {
            gate: Tag::new(),
            flag: Tag::new(),
            inner: sync::Once::new(),
            done: AtomicU64::new(0),
            inside: AtomicBool::new(false),
            poisoned: AtomicBool::new(false),
        }
    }

    /// Calls `f` if it was not called before, and waits while another thread calls it.
    ///
    /// # Panics
    ///
    /// If an earlier attempt panicked.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        match context::active() {
            Some(runtime) => self.call_at(runtime, Location::caller(), false, |_| {
                f();
                true
            }),
            None => self.inner.call_once(|| self.call_real(f)),
        }
    }

    /// Like [`call_once`](Self::call_once), but retries after a panic.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        match context::active() {
            Some(runtime) => self.call_at(runtime, Location::caller(), true, |state| {
                f(state);
                true
            }),
            None => self.inner.call_once_force(|state| {
                self.call_real(|| f(&OnceState { poisoned: state.is_poisoned() }));
            }),
        }
    }

    /// Calls `f` if it was not called before with success, and waits while another thread calls it.
    #[track_caller]
    pub(super) fn try_call(&self, f: impl FnOnce() -> bool) {
        /// Unwinds through the real gate, which stays open.
        struct Failed;
        if let Some(runtime) = context::active() {
            return self.call_at(runtime, Location::caller(), true, |_| f());
        }
        let call = || {
            self.inner.call_once_force(|_| {
                self.call_real(|| {
                    if !f() {
                        resume_unwind(Box::new(Failed));
                    }
                });
            });
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call))
            && !payload.is::<Failed>()
        {
            resume_unwind(payload);
        }
    }

    /// Whether it was done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        if let Some(runtime) = context::active() {
            let _ = runtime.turn(self.flag(runtime, Kind::Load, Location::caller()));
        }
        self.done_quietly()
    }

    /// Waits until it was done.
    ///
    /// # Panics
    /// When an attempt panicked.
    #[track_caller]
    pub fn wait(&self) {
        if context::active().is_none() && !self.done_quietly() {
            return self.inner.wait();
        }
        self.poll(|| assert!(!self.poisoned.load(Ordering::Relaxed), "{POISONED}"));
    }

    /// Waits until it was done, however many attempts panic.
    #[track_caller]
    pub fn wait_force(&self) {
        if context::active().is_none() && !self.done_quietly() {
            return self.inner.wait_force();
        }
        self.poll(|| {});
    }

    /// No step wakes a thread that waits for an attempt that has not started, so it polls.
    #[track_caller]
    fn poll(&self, look: impl Fn()) {
        while !self.is_completed() {
            look();
            if let Some(runtime) = context::active()
                && runtime.is_over()
            {
                runtime.stall();
            }
            crate::hint::spin_loop();
        }
    }

    /// Whether it was done, without a step.
    pub(super) fn done_quietly(&self) -> bool {
        let done = self.done.load(Ordering::Acquire);
        match context::active() {
            Some(runtime) => done == OUTSIDE || done == runtime.epoch(),
            None => done != 0,
        }
    }

    /// The implementation outside a check, by the real gate.
    fn call_real(&self, f: impl FnOnce()) {
        if self.done.load(Ordering::Acquire) == 0 {
            f();
            self.done.store(OUTSIDE, Ordering::Release);
        }
    }

    /// The implementation inside a check. If `f` returns false, the next thread tries again.
    fn call_at(
        &self,
        runtime: &'static Runtime,
        place: Place,
        force: bool,
        f: impl FnOnce(&OnceState) -> bool,
    ) {
        let _ = runtime.turn(self.flag(runtime, Kind::Load, place));
        if self.done_quietly() {
            return;
        }
        let gate = self.gate(runtime);
        match runtime.turn(Operation::new(Kind::OnceBegin, gate, site::of(place))) {
            Turn::Step(outcome) => {
                if !outcome.ok {
                    return;
                }
            }
            Turn::Quiet => {
                super::quietly(runtime, || (!self.inside.load(Ordering::Relaxed)).then_some(()));
                if self.done_quietly() {
                    return;
                }
            }
        }
        self.inside.store(true, Ordering::Relaxed);
        let mut attempt = Attempt { once: self, runtime, gate, place, done: false, failed: false };
        let poisoned = self.poisoned.load(Ordering::Relaxed);
        assert!(force || !poisoned, "{POISONED}");
        if !f(&OnceState { poisoned }) {
            attempt.failed = true;
            return;
        }
        let _ = runtime.turn(self.flag(runtime, Kind::Store, place));
        self.done.store(runtime.epoch(), Ordering::Release);
        self.poisoned.store(false, Ordering::Relaxed);
        attempt.done = true;
    }

    fn flag(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation::new(kind, self.flag.id(runtime, Object::Memory), site::of(place))
    }

    fn gate(&self, runtime: &Runtime) -> ObjectId {
        self.gate.id_or(
            runtime,
            || Object::Once,
            |earlier| {
                if earlier {
                    self.inside.store(false, Ordering::Relaxed);
                    self.poisoned.store(false, Ordering::Relaxed);
                }
            },
        )
    }
}

/// Represents a thread inside the gate, which leaves when this is dropped.
struct Attempt<'a> {
    once: &'a Once,
    runtime: &'a Runtime,
    gate: ObjectId,
    place: Place,
    done: bool,
    /// Ended without success, but not by a panic.
    failed: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.once.inside.store(false, Ordering::Relaxed);
        if !self.done {
            if self.runtime.is_over() {
                return;
            }
            self.once.poisoned.store(!self.failed, Ordering::Relaxed);
        }
        let end = Operation::new(Kind::OnceEnd, self.gate, site::of(self.place));
        let _ = self.runtime.turn(Operation { argument: u64::from(self.done), ..end });
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Self {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
