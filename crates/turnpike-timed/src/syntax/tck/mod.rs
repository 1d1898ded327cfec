//! The parser of TChecker's `.tck` files.
//!
//! A file is a list of one-line declarations ([`lines`]); expressions and statements occur only as
//! values of attributes, which [`parse`] turns into trees.

pub(crate) mod lines;
pub(crate) mod parse;
pub(crate) mod tree;

/// Reserved words in declarations.
pub(crate) const DECLARATION_WORDS: [&str; 8] =
    ["clock", "edge", "event", "int", "location", "process", "sync", "system"];

/// Reserved words in expressions.
pub(crate) const EXPRESSION_WORDS: [&str; 8] = ["if", "then", "else", "end", "while", "do", "local", "nop"];
