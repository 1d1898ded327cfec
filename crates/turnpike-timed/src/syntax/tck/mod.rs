//! TChecker's `.tck` files, read into trees.
//!
//! A file is a list of one-line declarations ([`lines`]); expressions and statements occur only as
//! values of attributes, which [`parse`] makes into trees.

pub(crate) mod lines;
pub(crate) mod parse;
pub(crate) mod tree;

/// Words that cannot name anything in a declaration.
pub(crate) const DECLARATION_WORDS: [&str; 8] =
    ["clock", "edge", "event", "int", "location", "process", "sync", "system"];

/// Words that cannot name a variable in an expression.
pub(crate) const EXPRESSION_WORDS: [&str; 8] = ["if", "then", "else", "end", "while", "do", "local", "nop"];
