//! The values of a state, by name.

use std::ops::Deref;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values of a state by parameter name, in the model's order.
///
/// Copies share the values: reports hold each state of a trace several times, and a state of a
/// large network has thousands of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateValues(Arc<IndexMap<String, String>>);

impl Deref for StateValues {
    type Target = IndexMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromIterator<(String, String)> for StateValues {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        StateValues(Arc::new(values.into_iter().collect()))
    }
}

impl Serialize for StateValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StateValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IndexMap::deserialize(deserializer).map(|values| StateValues(Arc::new(values)))
    }
}
