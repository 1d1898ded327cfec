//! A second opinion on what mCRL2 specifications mean: a naive interpreter, random specifications,
//! and the comparison with what the product makes of them. The tests in `second_opinion.rs` and the
//! example of the same name share it.

pub(crate) mod chance;
pub(crate) mod compare;
pub(crate) mod compose;
pub(crate) mod data;
pub(crate) mod draw;
pub(crate) mod generate;
pub(crate) mod semantics;
pub(crate) mod shrink;
pub(crate) mod specification;
pub(crate) mod system;
pub(crate) mod trial;
