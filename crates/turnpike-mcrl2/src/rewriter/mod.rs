//! A second, slow evaluator, to check the fast one with: it rewrites terms exactly as the language definition says, one rule at a time, and
//! shares nothing with compiled evaluation. Nothing but tests and curious people should need it.
//!
//! ```
//! use turnpike_mcrl2::rewriter::normal_form;
//! use turnpike_mcrl2::typed::check_specification;
//! use turnpike_mcrl2::syntax::parse_specification;
//!
//! let source = "map f: Nat -> Nat; c: Nat; var n: Nat; eqn f(n) = if(n == 0, 0, n + f(Int2Nat(n - 1))); c = f(4); init delta;";
//! let (mut program, _) = check_specification(&parse_specification(source).0);
//! let mut program = program.take().expect("a correct specification");
//! let sum = program.equations[1].right;
//! let term = normal_form(&mut program, sum, &Default::default()).expect("few steps");
//! assert_eq!(term.text(&program), "10");
//! ```

mod builtin;
mod collection;
mod compare;
mod engine;
mod print;
mod quantifier;
#[cfg(test)]
pub(crate) mod random;
mod rules;
mod term;

#[cfg(test)]
mod tests;

pub use self::engine::{OutOfSteps, Rewriter, normal_form};
pub use self::term::{Base, Node, Term, Var};
