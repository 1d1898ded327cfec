//! Preorders: relations in which one system does no more than another.

use std::fmt;
use std::str::FromStr;

/// An inclusion of the left system in the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preorder {
    /// Every step of the left can be answered by the right with the same label, for ever. `tau` is a
    /// label like any other.
    Simulation,
    /// A simulation in which both sides always offer the same labels.
    ReadySimulation,
    /// Every trace of the left is a trace of the right. `tau` is a label like any other.
    Trace,
    /// Every trace of the left without `tau` is one of the right.
    WeakTrace,
    /// Whenever the left refuses labels after a trace, the right can refuse them after it as well.
    /// `tau` is a label like any other.
    Failures,
    /// As [`Preorder::Failures`] for traces without `tau`. Only states without `tau` steps refuse.
    WeakFailures,
}

impl Preorder {
    /// All preorders, in the order of this type.
    pub const ALL: [Preorder; 6] = [
        Preorder::Simulation,
        Preorder::ReadySimulation,
        Preorder::Trace,
        Preorder::WeakTrace,
        Preorder::Failures,
        Preorder::WeakFailures,
    ];

    /// The name that [`FromStr`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Preorder::Simulation => "simulation",
            Preorder::ReadySimulation => "ready-simulation",
            Preorder::Trace => "trace",
            Preorder::WeakTrace => "weak-trace",
            Preorder::Failures => "failures",
            Preorder::WeakFailures => "weak-failures",
        }
    }

    /// Whether `tau` is treated specially.
    pub fn hides_tau(self) -> bool {
        matches!(self, Preorder::WeakTrace | Preorder::WeakFailures)
    }
}

impl fmt::Display for Preorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is not the name of a [`Preorder`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown preorder `{0}`: use simulation, ready-simulation, trace, weak-trace, failures or weak-failures"
)]
pub struct UnknownPreorder(pub String);

impl FromStr for Preorder {
    type Err = UnknownPreorder;

    fn from_str(text: &str) -> Result<Preorder, UnknownPreorder> {
        Preorder::ALL
            .into_iter()
            .find(|preorder| preorder.name() == text)
            .ok_or_else(|| UnknownPreorder(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for preorder in Preorder::ALL {
            assert_eq!(preorder.to_string().parse(), Ok(preorder));
        }
        let error = "ready".parse::<Preorder>().unwrap_err().to_string();
        assert!(error.starts_with("unknown preorder `ready`: use simulation, ready-simulation"), "{error}");
    }
}
