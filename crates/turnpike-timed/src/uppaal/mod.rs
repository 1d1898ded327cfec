//! UPPAAL models: XML, XTA and the old TA syntax, read into a network; and the names that queries speak of.
//!
//! `syntax` turns texts into trees; `lower` checks types, instantiates templates and produces the network.

pub mod syntax;

use turnpike_model::Diagnostic;

use crate::network::{Network, QueryText};
use crate::query::{Condition, Query};

/// How a UPPAAL model is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The native format since version 4.
    Xml,
    /// Text; the old syntax is tried when the new one does not fit.
    Xta,
}

/// Reads a UPPAAL model. `settings` override constants of the global declarations: name and value.
pub fn read(
    text: &str,
    format: Format,
    settings: &[(String, String)],
) -> Result<(Network, Names, Vec<Diagnostic>), Vec<Diagnostic>> {
    let _ = (text, format, settings);
    unimplemented!()
}

/// Splits a `.q` file into its queries.
pub fn query_file(text: &str) -> Result<Vec<QueryText>, Diagnostic> {
    let _ = text;
    unimplemented!()
}

/// The names that conditions and queries may use: of a UPPAAL model its declarations, types, constants and processes; of any other network
/// its variables, clocks, processes and locations.
#[derive(Clone, Debug, Default)]
pub struct Names {}

impl Names {
    /// The names of a network that did not come from UPPAAL: `x`, `t[2]`, `P.loc`.
    pub fn of(network: &Network) -> Names {
        let _ = network;
        unimplemented!()
    }

    /// Reads a condition on states: `P.cs && id == 3 && x < 5`. May add functions or other parts that the condition needs to the network's.
    pub fn condition(&self, network: &Network, text: &str) -> Result<Condition, Diagnostic> {
        let _ = (network, text);
        unimplemented!()
    }

    /// Reads a query: `A[] not (P1.cs and P2.cs)`.
    pub fn query(&self, network: &Network, text: &str) -> Result<Query, Diagnostic> {
        let _ = (network, text);
        unimplemented!()
    }
}
