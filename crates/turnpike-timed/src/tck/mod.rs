//! TChecker's `.tck` files: read into a network, and written from one.
//!
//! A file is a list of one-line declarations; expressions and statements occur only as values of attributes. So reading goes in three steps:
//! `read/lines` splits the text into declarations, `read/parse` makes trees of attribute values, `read/lower` checks them and produces the network's
//! expressions; `read/build` puts it together.

mod read;
#[cfg(test)]
mod tests;
mod write;

use turnpike_model::Diagnostic;

use crate::network::Network;

/// Reads a `.tck` file. All errors that can be found at once are given; warnings come with the network.
pub fn read(text: &str) -> Result<(Network, Vec<Diagnostic>), Vec<Diagnostic>> {
    read::read(text)
}

/// Writes a network as a `.tck` file, or says what of it the format cannot express.
pub fn write(network: &Network) -> Result<String, Vec<Diagnostic>> {
    write::write(network)
}

/// Words that cannot name anything in a declaration.
const DECLARATION_WORDS: [&str; 8] =
    ["clock", "edge", "event", "int", "location", "process", "sync", "system"];

/// Words that cannot name a variable in an expression.
const EXPRESSION_WORDS: [&str; 8] = ["if", "then", "else", "end", "while", "do", "local", "nop"];
