//! Small models, one feature each.

mod alphabets;
mod conditions;
mod errors;
mod fold;
mod functions;
mod hostile;
mod order;
mod queries;
mod reals;
mod structure;

use crate::network::Network;
use crate::query::Names;
use crate::uppaal::{Format, read};

/// Lowers a valid model.
fn lowered(text: &str) -> (Network, Names) {
    match read(text, Format::Xta, &[]) {
        Ok((network, names, _)) => (network, names),
        Err(errors) => panic!("{text}\n{errors:?}"),
    }
}

/// The first error of an invalid model, with the text that it points at.
fn refused(text: &str) -> (String, String) {
    match read(text, Format::Xta, &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => {
            let place = errors[0].span.as_ref().map(|span| text[span.range.clone()].to_owned());
            (errors[0].to_string(), place.unwrap_or_default())
        }
    }
}

/// A model with these global declarations and a process of one location with this edge.
fn with_edge(globals: &str, locals: &str, edge: &str) -> String {
    format!("{globals}\nprocess P() {{ {locals}\nstate A; init A; trans A -> A {{ {edge} }}; }}\nsystem P;")
}

/// A model with these global declarations and a process that does nothing.
fn with_globals(globals: &str) -> String {
    format!("{globals}\nprocess P() {{ state A; init A; }}\nsystem P;")
}
