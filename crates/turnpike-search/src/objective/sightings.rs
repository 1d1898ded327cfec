//! What monitors have counted, in a form that other processes understand.

use std::collections::BTreeMap;

use crate::wire::{Reader, Writer};

/// What monitors of the same objectives saw. Labels go by their texts, because their numbers depend on
/// the order in which a process met them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sightings {
    /// Transitions by action name.
    pub(crate) actions: BTreeMap<String, u64>,
    /// For each `cover` objective, the labels that matched.
    pub(crate) covered: Vec<Vec<String>>,
    /// For each `min` and `max` objective, the best value; merging them is left to the monitor.
    pub(crate) extremes: Vec<Option<f64>>,
}

impl Sightings {
    /// Adds counts and labels of others.
    pub(crate) fn add(&mut self, more: &Sightings) {
        for (name, count) in &more.actions {
            *self.actions.entry(name.clone()).or_default() += count;
        }
        if self.covered.len() < more.covered.len() {
            self.covered.resize(more.covered.len(), Vec::new());
        }
        for (labels, more) in self.covered.iter_mut().zip(&more.covered) {
            labels.extend(more.iter().cloned());
            labels.sort();
            labels.dedup();
        }
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.count(self.actions.len());
        for (name, count) in &self.actions {
            out.bytes(name.as_bytes());
            out.long(*count);
        }
        out.count(self.covered.len());
        for labels in &self.covered {
            out.count(labels.len());
            labels.iter().for_each(|label| out.bytes(label.as_bytes()));
        }
        out.count(self.extremes.len());
        for best in &self.extremes {
            out.byte(best.is_some().into());
            out.long(best.unwrap_or_default().to_bits());
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut sightings = Sightings::default();
        for _ in 0..reader.word()? {
            let name = reader.text()?;
            sightings.actions.insert(name, reader.long()?);
        }
        for _ in 0..reader.word()? {
            let labels = (0..reader.word()?).map(|_| reader.text()).collect::<Option<_>>()?;
            sightings.covered.push(labels);
        }
        for _ in 0..reader.word()? {
            let (known, bits) = (reader.byte()?, reader.long()?);
            sightings.extremes.push((known == 1).then(|| f64::from_bits(bits)));
        }
        Some(sightings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survive_the_journey_and_add_up() {
        let one = Sightings {
            actions: BTreeMap::from([("a".to_owned(), 3), ("b".to_owned(), 1)]),
            covered: vec![vec!["a(1)".to_owned(), "a(3)".to_owned()], Vec::new()],
            extremes: vec![Some(f64::NEG_INFINITY), None],
        };
        let mut out = Writer::default();
        one.write(&mut out);
        let bytes = out.finish();
        assert_eq!(Sightings::read(&mut Reader::new(&bytes)), Some(one.clone()));
        for length in 0..bytes.len() {
            assert_eq!(Sightings::read(&mut Reader::new(&bytes[..length])), None, "{length} bytes");
        }
        let mut sum = Sightings::default();
        sum.add(&one);
        sum.add(&one);
        assert_eq!((sum.actions["a"], &sum.covered), (6, &one.covered));
    }
}
