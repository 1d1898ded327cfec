//! TChecker's `.tck` files: reading and writing networks.

mod write;

use turnpike_model::{Diagnostic, Severity};

use crate::lower;
use crate::network::Network;
use crate::syntax::tck::lines;

/// Reads a `.tck` file. Returns as many errors as possible, in the order of the text; warnings come
/// with the network.
pub fn read(text: &str) -> Result<(Network, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let declarations = lines::declarations(text, &mut diagnostics);
    let network = lower::tck::network(text, &declarations, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.as_ref().map_or(0, |span| span.range.start));
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        Err(diagnostics)
    } else {
        Ok((network, diagnostics))
    }
}

/// Writes a network as a `.tck` file, or returns what the format cannot express.
pub fn write(network: &Network) -> Result<String, Vec<Diagnostic>> {
    write::write(network)
}
