//! `std::sync::atomic`. Inside a check every atomic operation is a step, and all of them are
//! sequentially consistent, whatever ordering is asked for: bugs that only weak memory shows are
//! not found.

mod common;
mod hint;
mod integer;
mod pointer;

use turnpike_scheduler::{Kind, Object, Operation};

use crate::context;
use crate::site::{self, Place};
use crate::tag::Tag;

pub use integer::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::{Ordering, compiler_fence, fence};

/// Waits for the turn of an operation on the variable of `tag`.
#[inline]
fn turn(tag: &Tag, kind: Kind, place: Place) {
    if let Some(runtime) = context::active() {
        let id = tag.id(runtime, Object::Memory);
        let _ = runtime.turn(Operation::new(kind, id, site::of(place)));
    }
}

/// [`turn`] of a compare-and-exchange, which only reads when `succeeds` says no.
#[inline]
fn turn_exchange<F: Fn() -> bool>(tag: &Tag, place: Place, succeeds: F) {
    if let Some(runtime) = context::active() {
        let id = tag.id(runtime, Object::Memory);
        let operation = Operation::new(Kind::Update, id, site::of(place));
        hint::with(&succeeds, |argument, writes| {
            let _ = runtime.turn(Operation { argument, writes: Some(writes), ..operation });
        });
    }
}
