//! `Once`.
//!
//! A flag that can be read without waiting, and a gate that lets one thread in while others wait. The kernel has both: the
//! flag is a memory location, the gate an object of its own.

use std::fmt;
use std::panic::Location;
use std::sync;
use std::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Something that is done once.
pub struct Once {
    gate: Tag,
    flag: Tag,
    inner: sync::Once,
    /// Somebody is inside, in this execution.
    inside: AtomicBool,
    poisoned: AtomicBool,
}

/// What [`Once::call_once_force`] tells its function.
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
    /// Not done yet.
    #[track_caller]
    pub const fn new() -> Self {
        Once {
            gate: Tag::new(),
            flag: Tag::new(),
            inner: sync::Once::new(),
            inside: AtomicBool::new(false),
            poisoned: AtomicBool::new(false),
        }
    }

    /// Calls `f` unless that was done, and waits while another thread does it.
    ///
    /// # Panics
    /// When an earlier attempt panicked.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if context::active().is_none() {
            return self.inner.call_once(f);
        }
        self.call_at(Location::caller(), false, |_| f());
    }

    /// Like [`call_once`](Self::call_once), also when an earlier attempt panicked.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        if context::active().is_none() {
            return self.inner.call_once_force(|state| f(&OnceState { poisoned: state.is_poisoned() }));
        }
        self.call_at(Location::caller(), true, f);
    }

    /// Whether it was done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        if let Some(runtime) = context::active() {
            let _ = runtime.turn(self.flag(runtime, Kind::Load, Location::caller()));
        }
        self.inner.is_completed()
    }

    /// Waits until it was done.
    ///
    /// # Panics
    /// When an attempt panicked.
    #[track_caller]
    pub fn wait(&self) {
        if context::active().is_none() {
            return self.inner.wait();
        }
        // Nobody wakes a thread that waits for an attempt that has not begun, so it looks again and again.
        while !self.is_completed() {
            assert!(!self.poisoned.load(Ordering::Relaxed), "Once instance has previously been poisoned");
            if let Some(runtime) = context::active()
                && runtime.is_over()
            {
                runtime.stall();
            }
            crate::hint::spin_loop();
        }
    }

    /// Inside a check: calls `f` unless it was done.
    fn call_at(&self, place: Place, force: bool, f: impl FnOnce(&OnceState)) {
        let Some(runtime) = context::active() else { return };
        let _ = runtime.turn(self.flag(runtime, Kind::Load, place));
        if self.inner.is_completed() {
            return;
        }
        let gate = self.gate(runtime);
        let begin = Operation::new(Kind::OnceBegin, gate, site::of(place));
        match runtime.turn(begin) {
            Turn::Step(outcome) => {
                if !outcome.ok {
                    return;
                }
            }
            Turn::Quiet => {
                super::quietly(runtime, || (!self.inside.load(Ordering::Relaxed)).then_some(()));
                if self.inner.is_completed() {
                    return;
                }
            }
        }
        self.inside.store(true, Ordering::Relaxed);
        let mut attempt = Attempt { once: self, runtime, gate, place, done: false };
        let poisoned = self.poisoned.load(Ordering::Relaxed);
        assert!(force || !poisoned, "Once instance has previously been poisoned");
        f(&OnceState { poisoned });
        let _ = runtime.turn(self.flag(runtime, Kind::Store, place));
        self.inner.call_once_force(|_| {});
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

/// Somebody is inside the gate, and leaves it when this is dropped.
struct Attempt<'a> {
    once: &'a Once,
    runtime: &'a Runtime,
    gate: ObjectId,
    place: Place,
    done: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.once.inside.store(false, Ordering::Relaxed);
        if !self.done {
            if self.runtime.is_over() {
                return;
            }
            self.once.poisoned.store(true, Ordering::Relaxed);
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
