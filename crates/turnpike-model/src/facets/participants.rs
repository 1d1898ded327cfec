//! The participants of a transition: the components of a system, and what each of them does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::system::StepError;

/// Names the components that take part in transitions.
///
/// **Contract.** The names are the same as in state values and explanations of deadlocks. A
/// component that does not take part in a transition keeps its values. Nothing is derived from the
/// text of a label.
pub trait Participants {
    /// The names of all components, in the order of the model. Threads that no execution had so far
    /// are missing.
    fn components(&self) -> Vec<String>;

    /// The components that take part in the transition at `position` among the successors of
    /// `state`, in the order of the model. Empty for a transition of a virtual root, and for
    /// transitions that belong to no component.
    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError>;
}

/// The part of one component in a transition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// Its name: `Train(2)`, `Station(3)`, `main.1`.
    pub component: String,
    /// What it does, in its own words: `go!`, `send(1)`, `lock bank.lock`.
    pub action: String,
    /// Whether it gives or gets something.
    #[serde(default, skip_serializing_if = "Role::is_plain")]
    pub role: Role,
    /// What the memory that it accesses holds afterwards, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Earlier steps of other components that made its part possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Handover>,
}

/// Whether a participant gives or gets something in a transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It sends: what it does decides what the receivers get.
    Sends,
    /// It receives.
    Receives,
    /// Neither: it moves alone, or as one of equals.
    #[default]
    TakesPart,
}

impl Role {
    fn is_plain(&self) -> bool {
        *self == Role::TakesPart
    }
}

/// A step that made a later one of another component possible: a lock released, a message sent, a
/// thread created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Handover {
    /// The component that took it.
    pub component: String,
    /// Which of the steps of that component it is, from 1; 0 if it happened before the first one.
    pub step: usize,
    /// What was done: `unlock bank.lock`.
    pub action: String,
}
