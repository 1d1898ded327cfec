//! A second, slow evaluator, to check the fast one with: it rewrites terms exactly as the language
//! definition says, one rule at a time, and shares nothing with compiled evaluation. Nothing but
//! tests and curious people should need it.

mod builtin;
mod collection;
mod compare;
pub(crate) mod engine;
mod print;
mod quantifier;
mod rules;
mod term;

pub(crate) use self::engine::{OutOfSteps, normal_form};
pub(crate) use self::term::Term;
