//! Explains why nothing can happen in a state: what each component could do alone, and what it
//! lacks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::system::StepError;

/// Explains states in which nothing can happen.
///
/// **Contract.** All components that a user knows by name are listed, in the order of the model. An
/// offer is something that the component could do in its position if it were alone. Each offer has
/// at least one obstacle, and each obstacle alone is enough to prevent it. The answer is data:
/// clients turn it into text.
pub trait Obstacles {
    /// Explains why the components cannot continue in `state`.
    ///
    /// `condition` is the condition in the input language by which the state was found, or `None`
    /// if it was found as a deadlock. The answer is empty if the condition is not about deadlocks.
    /// `None` may also be passed for states in which something can happen.
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError>;

    /// Whether offers that are currently possible are omitted, in states in which something can
    /// happen.
    fn leaves_out_possible(&self) -> bool;
}

/// A component in a state in which nothing can happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckComponent {
    /// Its name: `Train(2)`, `Station(3)`.
    pub component: String,
    /// Where it is: a location, or a process with its parameters.
    pub position: String,
    /// What it could do alone, with what prevents it.
    #[serde(default)]
    pub offers: Vec<Offer>,
    /// For models with time: why it does not let time pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_time: Option<TimeStop>,
}

/// Something that a component could do alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The component's own action, as its model writes it: `go!`, `send(1)`.
    pub action: String,
    /// What prevents it.
    pub obstacles: Vec<Obstacle>,
}

/// What prevents an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Obstacle {
    /// Its own condition does not hold.
    Condition {
        /// The condition, or the part of it that does not hold: `x >= 5`.
        condition: String,
        /// What holds instead, if that says more: `x <= 3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actual: Option<String>,
    },
    /// It would lead a component to where a condition must hold that would not.
    Target {
        /// The component.
        component: String,
        /// The condition: an invariant.
        condition: String,
    },
    /// It can only happen together with an action that no other component offers now.
    Partner {
        /// What the partner would have to do: `go?`, `receive(1)`.
        action: String,
        /// Components that can do it, or something similar, in another position.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<String>,
        /// What other components offer that is similar but does not fit.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instead: Vec<Counterpart>,
    },
    /// The model does not let it happen, alone or in any combination that is possible now.
    Disallowed {
        /// What rules it out: `allow`, `block`.
        by: String,
    },
    /// Another component has something that it needs: a lock that is held, a thread that has not
    /// ended.
    Held {
        /// What it needs: `to lock bank.lock`.
        needs: String,
        /// Who has it, if anyone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Where that component got it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
    },
    /// Another component has to act first.
    Precedence {
        /// That component.
        component: String,
    },
}

/// What another component offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpart {
    /// The component.
    pub component: String,
    /// Its offer.
    pub action: String,
    /// Why the two do not go together, if the actions do not show it: `x >= 5` with `x <= 3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a component does not let time pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TimeStop {
    /// An invariant would be violated: `x <= 5`.
    Invariant {
        /// The part of it that bounds the delay.
        condition: String,
    },
    /// Its position is urgent: no time passes there.
    Urgent,
    /// Its position is committed: no time passes, and it has to act next.
    Committed,
}
