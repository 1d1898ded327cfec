//! The `.aut` format, plain or compressed: read and written one transition at a time.

mod reader;
mod syntax;
mod writer;

pub use reader::{AutReader, read_lts, read_lts_file};
pub use writer::{AutFileWriter, AutWriter, write_lts, write_lts_file};

/// The first line of an `.aut` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutHeader {
    /// The initial state.
    pub initial: u32,
    /// Number of transitions.
    pub transitions: u64,
    /// Number of states.
    pub states: u32,
}

/// The spelling of the internal action in an `.aut` file. In memory it is always
/// [`TAU`](turnpike_model::label::TAU).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AutDialect {
    /// The mCRL2 tools: `tau`.
    #[default]
    Mcrl2,
    /// The CADP tools: `i`. On reading, `i` becomes `tau`, and a label `tau` also means the
    /// internal action. On writing, `tau` becomes `i`.
    Cadp,
}

/// The internal action in a CADP file.
const CADP_INTERNAL: &str = "i";
