//! Formulas whose witnesses are infinite runs.

use turnpike_model::Diagnostic;

use crate::network::Network;
use crate::query::Names;
use crate::query::{Condition, QueryKind};

/// The runs that a formula describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// As written: `E[] p`, or `not (p --> q)`.
    pub text: String,
    /// A condition that holds at some point, from which on the run stays; `None`: it stays from the
    /// start.
    pub premise: Option<Condition>,
    /// The condition that the run stays in.
    pub stay: Condition,
}

impl Formula {
    /// Whether a text has the form of such a formula.
    pub fn is_one(text: &str) -> bool {
        let text = text.trim();
        is_always(text) || refuted(text).is_some_and(|inner| inner.contains("-->"))
    }

    /// The query that a formula states or negates.
    pub fn question(text: &str) -> &str {
        refuted(text.trim()).unwrap_or(text)
    }

    /// Parses a formula. Spans of errors count bytes after `not (`, if present.
    pub fn read(names: &Names, network: &Network, text: &str) -> Result<Formula, Diagnostic> {
        let text = text.trim();
        let query = match refuted(text) {
            Some(inner) => names.query(network, inner)?,
            None => names.query(network, text)?,
        };
        let (premise, stay) = match query.kind {
            QueryKind::PotentiallyAlways(stay) if refuted(text).is_none() => (None, stay),
            QueryKind::LeadsTo(premise, conclusion) if refuted(text).is_some() => {
                (Some(premise), Condition::Not(Box::new(conclusion)))
            }
            _ => {
                let error = Diagnostic::error(format!("'{text}' does not describe runs"));
                return Err(error.help("write E[] p, or not (p --> q)"));
            }
        };
        Ok(Formula { text: text.to_owned(), premise, stay })
    }
}

/// `E[] ...`
fn is_always(text: &str) -> bool {
    let blank = |text: &str| text.trim_start().to_owned();
    let after = |text: String, word: &str| text.strip_prefix(word).map(blank);
    after(blank(text), "E").and_then(|rest| after(rest, "[")).and_then(|rest| after(rest, "]")).is_some()
}

/// The contents of `not (...)`.
fn refuted(text: &str) -> Option<&str> {
    text.strip_prefix("not")?.trim_start().strip_prefix('(')?.strip_suffix(')')
}
