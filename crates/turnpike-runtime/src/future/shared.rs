//! State that tasks share: each access is one step.

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

use turnpike_scheduler::{Object, ObjectId, ThreadId};

use super::wake;
use crate::context;
use crate::runtime::{Awaited, Runtime, Why};
use crate::site::Place;
use crate::tag::Tag;

/// State behind a lock that is held only briefly, and an object of the scheduler that represents
/// it.
pub(crate) struct Shared<S> {
    tag: Tag,
    kind: &'static str,
    state: Mutex<S>,
}

impl<S> Shared<S> {
    /// `kind` is its name in reports.
    #[track_caller]
    pub(crate) const fn new(kind: &'static str, state: S) -> Self {
        Shared { tag: Tag::new(), kind, state: Mutex::new(state) }
    }

    /// Where it was created.
    pub(crate) fn created_at(&self) -> Place {
        self.tag.created_at()
    }

    /// A step that may change the state.
    pub(crate) fn act<R>(&self, place: Place, f: impl FnOnce(&mut S) -> R) -> R {
        self.step(true, place);
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A step that only reads the state.
    pub(crate) fn look<R>(&self, place: Place, f: impl FnOnce(&S) -> R) -> R {
        self.step(false, place);
        f(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An access that needs no step, because the result is used only for reports or no other task
    /// can reach the state.
    pub(crate) fn peek<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another handle of it: no step.
    pub(crate) fn clone_handle(&self, f: impl FnOnce(&mut S)) {
        if let Some(runtime) = context::active() {
            runtime.uses_handles(self.id(runtime), false);
        }
        self.peek(f);
    }

    /// The number of handles.
    pub(crate) fn count_handles(&self, place: Place, f: impl FnOnce(&S) -> usize) -> usize {
        if let Some(runtime) = context::active() {
            runtime.uses_handles(self.id(runtime), true);
        }
        self.look(place, f)
    }

    /// The state.
    pub(crate) fn into_inner(self) -> S {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// A future that stored its waker here is pending. `holder` is the thread that it waits for, if
    /// known.
    pub(crate) fn awaited(&self, place: Place, holder: Option<(ThreadId, Place)>) {
        self.awaited_because(place, holder, None);
    }

    /// [`awaited`](Self::awaited), with the reason if it is known.
    pub(crate) fn awaited_because(&self, place: Place, holder: Option<(ThreadId, Place)>, why: Option<Why>) {
        if let Some(runtime) = context::active() {
            runtime.awaits(Awaited { joins: None, object: self.id(runtime), place, holder, why });
        }
    }

    fn step(&self, writes: bool, place: Place) {
        if let Some(runtime) = context::active() {
            runtime.touch(self.id(runtime), writes, place);
        }
    }

    fn id(&self, runtime: &Runtime) -> ObjectId {
        let mut fresh = false;
        let id = self.tag.id_or(runtime, || Object::Memory, |_| fresh = true);
        if fresh {
            runtime.number_object(id, self.kind);
        }
        id
    }
}

/// The running thread, inside a check.
pub(crate) fn current_thread() -> Option<ThreadId> {
    context::active().map(Runtime::current)
}

/// Wakes all wakers, on behalf of code at `place`.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>, place: Place) {
    for waker in wakers {
        wake(waker, place);
    }
}

/// Stores the waker of the future that is being polled, unless it is already there.
pub(crate) fn store(slot: &mut Option<Waker>, context: &Context<'_>) {
    match slot {
        Some(waker) if waker.will_wake(context.waker()) => {}
        _ => *slot = Some(context.waker().clone()),
    }
}
