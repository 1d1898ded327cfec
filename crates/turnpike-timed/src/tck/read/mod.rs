//! Reading `.tck` files.

mod build;
mod lines;
mod lower;
mod parse;
mod tree;
mod update;

use turnpike_model::{Diagnostic, Severity};

use crate::network::Network;

/// Reads a file: errors in the order of the text, or a network with warnings.
pub(super) fn read(text: &str) -> Result<(Network, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let declarations = lines::declarations(text, &mut diagnostics);
    let network = build::network(text, &declarations, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.as_ref().map_or(0, |span| span.range.start));
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        Err(diagnostics)
    } else {
        Ok((network, diagnostics))
    }
}
