//! Reading a formula in one state: its judge decides data, the labels of enabled steps decide
//! modalities.

use turnpike_model::LabelId;
use turnpike_model::formula::{ANY_ACTION, DataError, Formula, Judge, Node, NodeId};

/// A formula with one thread's judge of its data.
pub(crate) struct Reader<'a> {
    pub(crate) formula: &'a Formula,
    pub(crate) judge: Box<dyn Judge + 'a>,
}

impl Reader<'_> {
    /// The truth value of a node that the state decides by itself.
    pub(crate) fn value(
        &mut self,
        node: NodeId,
        values: &[u32],
        enabled: &[LabelId],
    ) -> Result<bool, DataError> {
        match &self.formula.nodes[node as usize] {
            Node::Constant(value) => Ok(*value),
            Node::Condition { condition, expected } => Ok(self.judge.truth(*condition, values)? == *expected),
            Node::Junction { all, parts } => {
                for &part in parts {
                    if self.value(part, values, enabled)? != *all {
                        return Ok(!*all);
                    }
                }
                Ok(*all)
            }
            Node::Quantifier { all, quantifier, body } => {
                for bound in self.bind(*quantifier, enabled, values)? {
                    if self.value(*body, &bound, enabled)? != *all {
                        return Ok(!*all);
                    }
                }
                Ok(*all)
            }
            Node::Modality { all, action, body } => {
                for &label in enabled {
                    if self.matches(*action, label, values)? && self.value(*body, values, enabled)? != *all {
                        return Ok(!*all);
                    }
                }
                Ok(*all)
            }
            Node::Call { .. } => Err(DataError::new("a state does not decide a fixed point by itself")),
        }
    }

    /// Whether an action formula matches a label.
    pub(crate) fn matches(&mut self, action: u32, label: LabelId, values: &[u32]) -> Result<bool, DataError> {
        Ok(action == ANY_ACTION || self.judge.matches(action, label, values)?)
    }

    /// The values with a quantifier's variables bound, in all ways that matter.
    pub(crate) fn bind(
        &mut self,
        quantifier: u32,
        labels: &[LabelId],
        values: &[u32],
    ) -> Result<Vec<Vec<u32>>, DataError> {
        let mut found = Vec::new();
        self.judge.candidates(quantifier, labels, values, &mut found)?;
        let slots = &self.formula.quantifiers[quantifier as usize];
        let bind = |group: &[u32]| {
            let mut bound = values.to_vec();
            slots.iter().zip(group).for_each(|(&slot, &value)| bound[slot as usize] = value);
            bound
        };
        Ok(found.chunks_exact(slots.len()).map(bind).collect())
    }

    /// The values inside a fixed point; those that do not matter there are 0.
    pub(crate) fn enter(
        &mut self,
        point: u32,
        arguments: u32,
        values: &[u32],
    ) -> Result<Vec<u32>, DataError> {
        let point = &self.formula.points[point as usize];
        let mut new = Vec::new();
        self.judge.arguments(arguments, values, &mut new)?;
        let mut inside = values.to_vec();
        point.parameters.iter().zip(new).for_each(|(&slot, value)| inside[slot as usize] = value);
        Ok(self.live_values(point.body, &inside))
    }

    /// The values with those set to 0 that the meaning of a node does not depend on.
    pub(crate) fn live_values(&self, node: NodeId, values: &[u32]) -> Vec<u32> {
        let mut live = vec![0; values.len()];
        for &slot in &self.formula.live[node as usize] {
            live[slot as usize] = values[slot as usize];
        }
        live
    }

    /// A hash of what a node and its values mean.
    pub(crate) fn content_hash(&mut self, node: NodeId, values: &[u32]) -> u64 {
        let mut hash = turnpike_model::hash::mix(1, u64::from(node));
        for &slot in &self.formula.live[node as usize] {
            hash = turnpike_model::hash::mix(hash, self.judge.content_hash(values[slot as usize]));
        }
        hash
    }
}
