//! A specification as a model of the engine.

use turnpike_model::diagnostic::Diagnostic;

/// What the user may change of a specification.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `NAME=EXPR`: constant maps with new values.
    pub settings: Vec<(String, String)>,
    /// Actions that stay visible although the specification hides them.
    pub unhide: Vec<String>,
    /// Whether time is honoured.
    pub timed: bool,
}

/// A specification, ready to be explored.
#[derive(Debug)]
pub struct Mcrl2Model {}

impl Mcrl2Model {
    /// Parses, checks, linearises and compiles. `name` is what the user calls it. Warnings come with the model.
    pub fn new(
        name: &str,
        text: &str,
        options: &Options,
    ) -> Result<(Mcrl2Model, Vec<Diagnostic>), Vec<Diagnostic>> {
        let _ = (name, text, options);
        unimplemented!()
    }
}
