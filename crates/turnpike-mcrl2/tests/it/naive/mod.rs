//! A second opinion on the meaning of mCRL2 specifications: a naive interpreter, random
//! specifications, and a comparison with the behaviour of the product. It is used by the tests in
//! `second_opinion.rs` and by the example of the same name.

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
