//! The values of a state by name.

use std::ops::Index;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::system::{Explorer, ModelInfo};

/// The values of a state by parameter name, in the model's order.
///
/// Copies share the values, and the states of a trace share names and unchanged values: a state of
/// a large network has thousands of values, of which a step changes a few.
#[derive(Clone, Debug, Default)]
pub struct StateValues {
    names: Arc<IndexSet<String>>,
    values: Arc<[Arc<str>]>,
}

impl StateValues {
    /// Names and values, in the model's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.names.iter().zip(&*self.values).map(|(name, value)| (name.as_str(), &**value))
    }

    /// The value of a parameter, if there is one with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.names.get_index_of(name).map(|index| &*self.values[index])
    }

    /// Whether there is a parameter with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values that differ from those in `before`.
    pub fn changes<'a>(&'a self, before: &'a StateValues) -> impl Iterator<Item = (&'a str, &'a str)> {
        let aligned = Arc::ptr_eq(&self.names, &before.names);
        self.iter().enumerate().filter_map(move |(index, (name, value))| {
            let old = if aligned { Some(&*before.values[index]) } else { before.get(name) };
            (old != Some(value)).then_some((name, value))
        })
    }
}

/// Equal if the same names have the same values, in any order.
impl PartialEq for StateValues {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.changes(other).next().is_none()
    }
}

impl Eq for StateValues {}

impl Index<&str> for StateValues {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.get(name).expect("a parameter of this name")
    }
}

impl<N: Into<String>, V: Into<Arc<str>>> FromIterator<(N, V)> for StateValues {
    /// If names repeat, the last value counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let map: IndexMap<String, Arc<str>> =
            values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let (names, values): (IndexSet<String>, Vec<Arc<str>>) = map.into_iter().unzip();
        StateValues { names: Arc::new(names), values: values.into() }
    }
}

impl Serialize for StateValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for StateValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IndexMap::<String, String>::deserialize(deserializer).map(|values| values.into_iter().collect())
    }
}

/// Creates values with the same names, one after the other, such that they share their common
/// values.
#[derive(Debug)]
pub struct Describer {
    names: Arc<IndexSet<String>>,
    /// For each name the position of its value; empty if that is the position of the name.
    positions: Vec<usize>,
    last: Arc<[Arc<str>]>,
    texts: Vec<String>,
}

impl Describer {
    /// A describer of values with these names. If names repeat, the last value counts.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        let mut positions = IndexMap::new();
        for (position, name) in names.into_iter().enumerate() {
            positions.insert(name.clone(), position);
        }
        let (names, mut positions): (IndexSet<String>, Vec<usize>) = positions.into_iter().unzip();
        if positions.iter().enumerate().all(|(index, &position)| index == position) {
            positions.clear();
        }
        Describer { names: Arc::new(names), positions, last: Arc::default(), texts: Vec::new() }
    }

    /// A describer of the states of a model.
    pub fn of_states(info: &ModelInfo) -> Self {
        Describer::new(&info.parameters)
    }

    /// The values of a state.
    pub fn state(&mut self, explorer: &mut dyn Explorer, state: &[u32]) -> StateValues {
        let mut texts = std::mem::take(&mut self.texts);
        explorer.state_values(state, &mut texts);
        let values = self.values(&texts);
        self.texts = texts;
        values
    }

    /// Values in the order of the names. Missing ones at the end are empty.
    pub fn values(&mut self, texts: &[impl AsRef<str>]) -> StateValues {
        let value = |index: usize| {
            let position = self.positions.get(index).copied().unwrap_or(index);
            let text = texts.get(position).map_or("", AsRef::as_ref);
            match self.last.get(index) {
                Some(last) if **last == *text => Arc::clone(last),
                _ => Arc::from(text),
            }
        };
        let values: Arc<[Arc<str>]> = (0..self.names.len()).map(value).collect();
        self.last = Arc::clone(&values);
        StateValues { names: Arc::clone(&self.names), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(names: &[&str], texts: &[&str]) -> StateValues {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Describer::new(&names).values(texts)
    }

    #[test]
    fn values_that_stay_are_shared() {
        let names = ["x".to_owned(), "y".to_owned()];
        let mut describer = Describer::new(&names);
        let (one, two) = (describer.values(&["1", "2"]), describer.values(&["1", "3"]));
        assert!(Arc::ptr_eq(&one.values[0], &two.values[0]) && Arc::ptr_eq(&one.names, &two.names));
        assert_eq!(two.changes(&one).collect::<Vec<_>>(), [("y", "3")]);
        assert_eq!(one.iter().collect::<Vec<_>>(), [("x", "1"), ("y", "2")]);
        assert_eq!((&two["y"], two.get("z"), two.contains_key("x")), ("3", None, true));
    }

    #[test]
    fn values_are_compared_by_name() {
        let read: StateValues = [("y", "2"), ("x", "1")].into_iter().collect();
        assert_eq!(described(&["x", "y"], &["1", "2"]), read);
        assert_ne!(described(&["x", "y"], &["2", "1"]), read);
        assert_ne!(described(&["x"], &["1"]), read);
        assert_ne!(described(&["x", "z"], &["1", "2"]), read);
        assert_eq!(described(&["x", "z"], &["1", "2"]).changes(&read).collect::<Vec<_>>(), [("z", "2")]);
    }

    #[test]
    fn of_equal_names_the_last_counts() {
        let collected: StateValues = [("x", "1"), ("y", "2"), ("x", "3")].into_iter().collect();
        let twice = described(&["x", "y", "x"], &["1", "2", "3"]);
        assert_eq!(twice, collected);
        assert_eq!(serde_json::to_string(&twice).expect("JSON"), r#"{"x":"3","y":"2"}"#);
    }
}
