//! `std::sync::atomic`. Inside a check every atomic operation is a step. The check's settings
//! determine the memory model: by default all operations are sequentially consistent, whatever
//! ordering is requested; under weak memory the scheduler chooses which value a read sees, and the
//! variable itself holds the newest.

mod common;
mod hint;
mod integer;
mod pointer;
mod word;

use turnpike_scheduler::{AtomicValues, Kind, MemoryOrder, Object, ObjectId, Operation, Outcome};

use crate::context;
use crate::runtime::Runtime;
use crate::site::{self, Place};
use crate::tag::Tag;

pub use integer::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::{Ordering, compiler_fence};

use word::Word;

/// The result of an operation under weak memory.
struct Seen {
    runtime: &'static Runtime,
    id: ObjectId,
    outcome: Outcome,
}

impl Seen {
    /// The value that it read.
    fn value<W: Word>(&self) -> W {
        W::from_word(self.outcome.value)
    }

    /// Whether it wrote.
    fn wrote(&self) -> bool {
        self.outcome.ok
    }

    /// Sets the value that it leaves.
    fn leave(&self, new: impl Word) {
        self.runtime.set_result(self.id, new.to_word());
    }

    /// The newest value of the variable.
    fn newest<W: Word>(&self) -> W {
        W::from_word(self.runtime.newest_value(self.id))
    }
}

fn order_of(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::RELAXED,
        Ordering::Acquire => MemoryOrder::ACQUIRE,
        Ordering::Release => MemoryOrder::RELEASE,
        Ordering::AcqRel => MemoryOrder::BOTH,
        _ => MemoryOrder::SEQUENTIAL,
    }
}

/// Waits for the turn of an operation on the variable of `tag`. Returns its result under weak
/// memory.
#[inline]
fn turn(
    tag: &Tag,
    kind: Kind,
    order: Ordering,
    place: Place,
    values: impl FnOnce() -> AtomicValues,
) -> Option<Seen> {
    let runtime = context::active()?;
    let id = tag.id(runtime, Object::Memory);
    let operation = Operation { order: order_of(order), ..Operation::new(kind, id, site::of(place)) };
    if runtime.is_weak() {
        let outcome = runtime.turn_with(operation, values())?;
        return Some(Seen { runtime, id, outcome });
    }
    if order != Ordering::SeqCst {
        runtime.note_weaker_order();
    }
    let _ = runtime.turn(operation);
    None
}

/// [`turn`] for a compare-and-exchange, which only reads if `succeeds` returns false.
#[inline]
fn turn_exchange<F: Fn() -> bool>(
    tag: &Tag,
    (success, failure): (Ordering, Ordering),
    place: Place,
    succeeds: F,
    values: impl FnOnce() -> AtomicValues,
) -> Option<Seen> {
    let runtime = context::active()?;
    let id = tag.id(runtime, Object::Memory);
    let (order, unchanged) = (order_of(success), order_of(failure).reading());
    let operation = Operation { order, unchanged, ..Operation::new(Kind::Update, id, site::of(place)) };
    if runtime.is_weak() {
        let outcome = runtime.turn_with(operation, values())?;
        return Some(Seen { runtime, id, outcome });
    }
    if success != Ordering::SeqCst {
        runtime.note_weaker_order();
    }
    hint::with(&succeeds, |argument, writes| {
        let _ = runtime.turn(Operation { argument, writes: Some(writes), ..operation });
    });
    None
}

/// `std::sync::atomic::fence`.
pub fn fence(order: Ordering) {
    if let Some(runtime) = context::active() {
        runtime.fence(order_of(order));
    }
    std::sync::atomic::fence(order);
}
