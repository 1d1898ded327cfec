//! A slow evaluator to check the fast one. It applies one rule at a time, exactly as in the
//! definition of the language, and shares no code with compiled evaluation.

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
