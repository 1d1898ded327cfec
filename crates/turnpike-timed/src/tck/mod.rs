//! TChecker's `.tck` files: read into a network, and written from one.

use turnpike_model::Diagnostic;

use crate::network::Network;

/// Reads a `.tck` file. All errors that can be found at once are given; warnings come with the network.
pub fn read(text: &str) -> Result<(Network, Vec<Diagnostic>), Vec<Diagnostic>> {
    let _ = text;
    unimplemented!()
}

/// Writes a network as a `.tck` file, or says what of it the format cannot express.
pub fn write(network: &Network) -> Result<String, Vec<Diagnostic>> {
    let _ = network;
    unimplemented!()
}
