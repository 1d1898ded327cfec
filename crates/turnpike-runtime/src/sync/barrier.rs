//! `Barrier`.

use std::fmt;
use std::panic::Location;
use std::sync;

use turnpike_scheduler::{Kind, Object, Operation};

use crate::context;
use crate::runtime::Turn;
use crate::site;
use crate::tag::Tag;

/// A point at which a number of threads wait for each other.
pub struct Barrier {
    tag: Tag,
    count: usize,
    inner: sync::Barrier,
}

/// The result of waiting at a barrier.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether the thread was the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for `count` threads; 0 is the same as 1.
    #[track_caller]
    pub const fn new(count: usize) -> Self {
        Barrier { tag: Tag::new(), count, inner: sync::Barrier::new(count) }
    }

    /// Waits until all threads have arrived.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let Some(runtime) = context::active() else {
            return BarrierWaitResult(self.inner.wait().is_leader());
        };
        let count = u32::try_from(self.count).unwrap_or(u32::MAX).max(1);
        let id = self.tag.id(runtime, Object::Barrier { count });
        match runtime.turn(Operation::new(Kind::Arrive, id, site::of(Location::caller()))) {
            Turn::Step(outcome) => BarrierWaitResult(outcome.ok),
            Turn::Quiet => BarrierWaitResult(false),
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("count", &self.count).finish_non_exhaustive()
    }
}
