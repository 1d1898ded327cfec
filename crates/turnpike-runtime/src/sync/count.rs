//! The number of references to a value, as observed by threads.
//!
//! Reference counts matter only if the program depends on them: by upgrading a `Weak`, by requiring
//! the only reference, by reading the number; or by a destructor with visible effects in whichever
//! thread drops the last one. Only then ([`GuestOptions::counts`](crate::GuestOptions)) is each
//! change a step. A program that depends on counts without that option is reported as uncontrolled,
//! so the check proves nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Kind, MemoryOrder, Object, Operation};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Changes of a count that stays above zero, which commute.
const PLENTY: u32 = u32::MAX / 2;

/// The state shared by all references to a value.
pub(super) struct Count {
    tag: Tag,
    /// Whether there was ever more than one.
    shared: AtomicBool,
}

/// How a thread uses a count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Adds or removes a reference: such changes commute.
    Change,
    /// Removes a reference to a value with a destructor, which the last thread runs.
    Release,
    /// Depends on the number, and may change it.
    Claim,
    /// Reads it.
    Look,
}

impl Count {
    #[track_caller]
    pub(super) fn new() -> Self {
        Count { tag: Tag::new(), shared: AtomicBool::new(false) }
    }

    /// A reference is added.
    pub(super) fn share(&self, place: Place) {
        self.shared.store(true, Ordering::Relaxed);
        self.step(Use::Change, place);
    }

    /// The program depends on the count. The caller must read its value afterwards.
    pub(super) fn ask(&self, how: Use, what: &str, place: Place) {
        if let Some(runtime) = context::active().filter(|runtime| !runtime.is_over()) {
            runtime.counts_matter(what);
        }
        self.step(how, place);
    }

    /// A reference is about to be dropped.
    pub(super) fn release(&self, drops: bool) {
        self.step(if drops { Use::Release } else { Use::Change }, self.tag.created_at());
    }

    /// Drops the last reference.
    pub(super) fn drop_last<T>(&self, last: T) {
        self.acquire();
        match context::active().filter(|runtime| !runtime.is_over()) {
            Some(runtime) if self.shared.load(Ordering::Relaxed) => runtime.drop_shared(last),
            _ => drop(last),
        }
    }

    /// The running thread is the only owner, so its step comes after all others.
    pub(super) fn acquire(&self) {
        let judging = |runtime: &&Runtime| runtime.options().races && !runtime.is_over();
        if let Some(runtime) = context::active().filter(judging) {
            runtime.acquire();
        }
    }

    fn step(&self, how: Use, place: Place) {
        let Some(runtime) = context::active().filter(|runtime| runtime.sees_counts()) else { return };
        if runtime.options().races {
            return self.ordered_step(runtime, how, place);
        }
        let kind = match how {
            Use::Change => Kind::SemPost,
            Use::Release | Use::Claim => Kind::SemTryWait,
            Use::Look => Kind::SemGet,
        };
        let mut fresh = false;
        let id = self.tag.id_or(runtime, || Object::Semaphore { value: PLENTY }, |_| fresh = true);
        if fresh {
            runtime.name_object(id, "references");
        }
        let _: Turn = runtime.turn(Operation::new(kind, id, site::of(place)));
    }

    /// The same where races are detected, with the memory orders of the standard library: dropping
    /// a reference releases.
    fn ordered_step(&self, runtime: &Runtime, how: Use, place: Place) {
        let (kind, order) = match how {
            Use::Change => (Kind::Update, MemoryOrder::RELAXED),
            Use::Release => (Kind::Update, MemoryOrder::RELEASE),
            Use::Claim => (Kind::Update, MemoryOrder::ACQUIRE),
            Use::Look => (Kind::Load, MemoryOrder::RELAXED),
        };
        let mut fresh = false;
        let id = self.tag.id_or(runtime, || Object::Memory, |_| fresh = true);
        if fresh {
            runtime.name_object(id, "references");
        }
        let _: Turn = runtime.turn(Operation { order, ..Operation::new(kind, id, site::of(place)) });
    }
}
