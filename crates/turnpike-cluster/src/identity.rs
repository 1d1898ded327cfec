//! What all processes of a cluster must agree on: the version of turnpike, the model, the options.

/// A value that must be equal in all processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its name in messages, such as `model`.
    pub name: String,
    /// The value.
    pub value: String,
}

/// All values that must be equal in all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    facts: Vec<Fact>,
}

/// Limit on the facts of an identity, so that a reader can reject invalid data early.
const MOST: u32 = 1024;

impl Identity {
    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.facts.push(Fact { name: name.to_owned(), value: value.to_string() });
        self
    }

    /// The first fact that differs: its name, the value here and the value there.
    pub fn first_difference(&self, other: &Identity) -> Option<(String, String, String)> {
        let value = |identity: &Identity, name: &str| {
            let fact = identity.facts.iter().find(|fact| fact.name == name);
            fact.map_or_else(|| "nothing".to_owned(), |fact| fact.value.clone())
        };
        let names = self.facts.iter().chain(&other.facts).map(|fact| &fact.name);
        names
            .map(|name| (name.clone(), value(self, name), value(other, name)))
            .find(|(_, here, there)| here != there)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = (self.facts.len() as u32).to_le_bytes().to_vec();
        for fact in &self.facts {
            for text in [&fact.name, &fact.value] {
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
        out
    }

    /// `None` if the bytes are not an identity.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Identity> {
        fn number(bytes: &mut &[u8]) -> Option<u32> {
            let (head, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u32::from_le_bytes(*head))
        }
        fn text(bytes: &mut &[u8]) -> Option<String> {
            let length = number(bytes)? as usize;
            let (head, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            String::from_utf8(head.to_vec()).ok()
        }
        let count = number(&mut bytes).filter(|&count| count <= MOST)?;
        let mut facts = Vec::new();
        for _ in 0..count {
            facts.push(Fact { name: text(&mut bytes)?, value: text(&mut bytes)? });
        }
        bytes.is_empty().then_some(Identity { facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_the_first_difference() {
        let here = Identity::default().with("turnpike", "0.1.0").with("model", "a");
        let there = Identity::default().with("turnpike", "0.1.0").with("model", "b");
        assert_eq!(here.first_difference(&here), None);
        assert_eq!(here.first_difference(&there), Some(("model".into(), "a".into(), "b".into())));
        let more = here.clone().with("seed", 7);
        assert_eq!(here.first_difference(&more), Some(("seed".into(), "nothing".into(), "7".into())));
    }

    proptest! {
        #[test]
        fn survives_encoding(values in prop::collection::vec(("[a-z]{0,8}", ".{0,20}"), 0..8)) {
            let identity = values.iter().fold(Identity::default(), |all, (name, value)| all.with(name, value));
            prop_assert_eq!(Identity::decode(&identity.encode()), Some(identity));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(identity) = Identity::decode(&bytes) {
                prop_assert_eq!(identity.encode(), bytes);
            }
        }
    }
}
