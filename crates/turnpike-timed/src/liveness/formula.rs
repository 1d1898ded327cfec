//! The formulas whose witnesses are infinite runs.

use turnpike_model::Diagnostic;

use crate::network::Network;
use crate::query::Names;
use crate::query::{Condition, QueryKind};

/// What runs are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// As written: `E[] p`, or `not (p --> q)`.
    pub text: String,
    /// Somewhere on the way this holds, and from there on the run stays; `None`: it stays from the
    /// beginning.
    pub premise: Option<Condition>,
    /// What the run stays in.
    pub stay: Condition,
}

impl Formula {
    /// Whether a text is written like such a formula.
    pub fn is_one(text: &str) -> bool {
        let text = text.trim();
        is_always(text) || refuted(text).is_some_and(|inner| inner.contains("-->"))
    }

    /// The query that a formula is, or is the opposite of.
    pub fn question(text: &str) -> &str {
        refuted(text.trim()).unwrap_or(text)
    }

    /// Reads a formula. Spans of errors count bytes of what is behind `not (`, if that is there.
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
                let error = Diagnostic::error(format!("'{text}' does not tell which runs are looked for"));
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

/// What is in `not (...)`.
fn refuted(text: &str) -> Option<&str> {
    text.strip_prefix("not")?.trim_start().strip_prefix('(')?.strip_suffix(')')
}
