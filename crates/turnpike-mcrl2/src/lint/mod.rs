//! Warns about equations that are valid but probably not intended: patterns that never match, and
//! equations that disagree. The type checker already reports variables that occur only on the right
//! side, and patterns that convert a variable.
//!
//! ```
//! use turnpike_mcrl2::lint::lints;
//! use turnpike_mcrl2::typed::check_specification;
//! use turnpike_mcrl2::syntax::parse_specification;
//!
//! let source = "map f: Nat -> Nat; var n: Nat; eqn f(0) = 2; f(n) = 1; init delta;";
//! let program = check_specification(&parse_specification(source).0).0.expect("a correct specification");
//! let warnings = lints(&program);
//! assert_eq!(warnings[0].message, "this equation disagrees with another: f(0) is 1 here, but 2 by f(0) = 2");
//! ```

mod overlaps;
mod patterns;
mod samples;
mod unify;

#[cfg(test)]
mod tests;

use turnpike_model::diagnostic::Diagnostic;

use crate::typed::Program;

/// All warnings about a program, in the order of the source.
pub fn lints(program: &Program) -> Vec<Diagnostic> {
    let mut found = patterns::patterns(program);
    found.extend(overlaps::overlaps(program));
    found.sort_by_key(|one| one.span.as_ref().map_or(0, |span| span.range.start));
    found
}
