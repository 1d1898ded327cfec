//! The zone graph of a network on turnpike's waist.

use turnpike_model::Diagnostic;

use crate::network::Network;
use crate::uppaal::Names;
use crate::zone::Extrapolation;

/// Which states make others superfluous in exhaustive search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A zone covers those it includes.
    Inclusion,
    /// A zone covers those it simulates, by the bounds that clocks are still compared with.
    Alu,
}

/// How a network is explored.
#[derive(Clone, Debug)]
pub struct Options {
    /// How zones are made coarser; `None`: the coarsest that is right for what is asked.
    pub extrapolation: Option<Extrapolation>,
    /// The relation behind [`turnpike_model::Explorer::covers`].
    pub cover: Cover,
    /// Let time pass after each transition (TChecker's analyses, the default) rather than before it.
    pub elapsed: bool,
    /// The conditions that will be asked for (`state EXPR`, the parts of queries): their constants count as the model's.
    pub conditions: Vec<String>,
    /// Whether deadlocks are asked for.
    pub deadlock: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            extrapolation: None,
            cover: Cover::Inclusion,
            elapsed: true,
            conditions: Vec::new(),
            deadlock: false,
        }
    }
}

/// A network of timed automata as a model of the waist.
#[derive(Debug)]
pub struct TimedModel {}

impl TimedModel {
    /// Makes a network ready to be explored. `name` is what the user calls it.
    pub fn new(
        name: &str,
        network: Network,
        names: Names,
        options: &Options,
    ) -> Result<TimedModel, Vec<Diagnostic>> {
        let _ = (name, network, names, options);
        unimplemented!()
    }
}
