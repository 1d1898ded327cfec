//! UPPAAL models: XML, XTA and the old TA syntax, read into a network.
//!
//! [`crate::syntax`] parses texts; `lower` instantiates templates and, with the types from `typed`,
//! produces the network.

use turnpike_model::Diagnostic;

use crate::lower;
use crate::network::{Network, QueryText};
use crate::query::Names;
use crate::syntax::uppaal as syntax;

/// The syntax of a UPPAAL model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The native format since version 4.
    Xml,
    /// Text; the old syntax is tried if the new one fails.
    Xta,
}

/// Reads a UPPAAL model. `settings` override constants of the global declarations: name and value.
pub fn read(
    text: &str,
    format: Format,
    settings: &[(String, String)],
) -> Result<(Network, Names, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (model, mut warnings) = match format {
        Format::Xml => syntax::parse_xml(text)?,
        Format::Xta => syntax::parse_xta(text)?,
    };
    let (network, names, more) = lower_model(model, settings)?;
    warnings.extend(more);
    Ok((network, names, warnings))
}

/// Lowers a tree to a network.
pub(crate) fn lower_model(
    model: syntax::tree::Model,
    settings: &[(String, String)],
) -> Result<(Network, Names, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (network, state, warnings) = lower::uppaal::lower(&model, settings)?;
    Ok((network, Names::new(state, model), warnings))
}

/// Splits a `.q` file into its queries.
pub fn query_file(text: &str) -> Result<Vec<QueryText>, Diagnostic> {
    let queries = syntax::split_queries(text)?;
    Ok(queries
        .into_iter()
        .map(|query| QueryText { text: query.text, comment: query.comment, expect: query.expect })
        .collect())
}
