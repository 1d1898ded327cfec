//! Builds, compares, simplifies and prints typed expressions of a
//! [`Program`](crate::typed::Program).
//!
//! Expressions are graphs: after a substitution, a subexpression may have several parents. Every
//! walk visits a subexpression once, in the order of ids, so children come before parents. Neither
//! depth nor sharing is a problem, and the cost is proportional to the expression, not to the
//! program.

mod build;
mod domain;
mod number;
mod simplify;
mod substitute;
mod text;
mod walk;

pub use build::{all, any, boolean, equal, not, representative, variable};
pub(crate) use number::literal;
pub use number::{integer_value, is_value, number_value};
pub(crate) use simplify::Facts;
pub use simplify::simplify;
pub use substitute::{Substitution, rename, substitute};
pub use text::{infix, prefix, text, text_with};
pub(crate) use walk::map_children;
pub use walk::{conjuncts, disjuncts, free_variables, reachable, same};

#[cfg(test)]
mod tests;
