//! Texts of UPPAAL models and queries, read into trees.

pub mod tree;

use turnpike_model::Diagnostic;

use tree::{Expression, Formula, Model, Query};

/// What reading a model gives: a tree with warnings, or errors with warnings.
pub type Parsed = Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Reads an XTA or TA file: in the new syntax, and if that fails in the old one. When both fail, the errors are those
/// of the syntax that got further.
pub fn parse_xta(text: &str) -> Parsed {
    let _ = text;
    unimplemented!()
}

/// Reads an XML file.
pub fn parse_xml(text: &str) -> Parsed {
    let _ = text;
    unimplemented!()
}

/// Reads one query.
pub fn parse_query(text: &str) -> Result<Formula, Diagnostic> {
    let _ = text;
    unimplemented!()
}

/// Reads a condition on states: an expression as in a query.
pub fn parse_condition(text: &str) -> Result<Expression, Diagnostic> {
    let _ = text;
    unimplemented!()
}

/// Splits a `.q` file into queries: one a line, with the comments before it; a backslash continues a line.
pub fn split_queries(text: &str) -> Result<Vec<Query>, Diagnostic> {
    let _ = text;
    unimplemented!()
}
