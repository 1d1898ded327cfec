//! The parser of UPPAAL models and queries.
//!
//! Constructs beyond timed automata are rejected by name: strings, external functions, dynamic
//! templates, live sequence charts, statistical queries, strategies. What is irrelevant to the
//! supported queries is ignored with a warning: weights, rates of exponential distributions,
//! uncontrollable edges. Real numbers are parsed; lowering decides whether they are supported.

mod lexer;
mod parser;
mod passage;
mod print;
mod query;
mod template;
#[cfg(test)]
mod tests;
pub mod tree;
mod xml;

use turnpike_model::{Diagnostic, Severity};

pub(crate) use parser::PREDECLARED_TYPES;
use parser::{Context, Parser};
use passage::Passage;
pub use query::{parse_condition, parse_query, split_queries};
pub(crate) use query::{parse_condition_behind, parse_query_behind};
use tree::{Dialect, Model};

/// The result of parsing a model: a tree with warnings, or errors with warnings.
pub type Parsed = Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Parses an XTA or TA file: in the new syntax, or if that fails in the old one. If both fail, the
/// errors are those of the syntax that got further.
pub fn parse_xta(text: &str) -> Parsed {
    let passage = Passage::verbatim(text);
    either(|dialect| {
        let mut context = Context::new(dialect);
        let model = Parser::new(&passage, &mut context).xta(text).ok();
        (model, context)
    })
}

/// Parses an XML file, whose texts may be in the old syntax, too.
pub fn parse_xml(text: &str) -> Parsed {
    let document = match xml::document(text) {
        Ok(document) => document,
        Err(diagnostic) => return Err(vec![diagnostic]),
    };
    either(|dialect| {
        let mut context = Context::new(dialect);
        let model = xml::model(&document, &mut context);
        (model, context)
    })
}

/// Tries the new syntax, then the old one.
fn either(read: impl Fn(Dialect) -> (Option<Model>, Context)) -> Parsed {
    let new = outcome(read(Dialect::New));
    let Err(new) = new else { return new };
    // An unsupported construct was recognised, and none of them exists in the old syntax.
    if first_error(&new).is_some_and(|error| error.unsupported) {
        return Err(new);
    }
    let old = outcome(read(Dialect::Old));
    let Err(old) = old else { return old };
    let reached = |diagnostics| first_error(diagnostics).and_then(start);
    Err(if reached(&old) > reached(&new) { old } else { new })
}

fn outcome((model, context): (Option<Model>, Context)) -> Parsed {
    match model {
        Some(model) if context.errors() == 0 => Ok((model, context.diagnostics)),
        _ => Err(context.diagnostics),
    }
}

fn first_error(diagnostics: &[Diagnostic]) -> Option<&Diagnostic> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .min_by_key(|error| start(error))
}

fn start(diagnostic: &Diagnostic) -> Option<usize> {
    diagnostic.span.as_ref().map(|span| span.range.start)
}
