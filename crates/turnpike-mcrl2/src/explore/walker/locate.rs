//! Finds the summand of a transition.

use std::sync::Arc;

use turnpike_model::StepError;

use super::Walker;
use crate::explore::emit::Records;
use crate::lower::Part;
use crate::typed::VariableId;
use crate::value::Value;

/// Values of variables.
type Bindings = Vec<(VariableId, Value)>;

/// The origin of a transition.
pub(in crate::explore) struct Located {
    /// The components that take part.
    pub(in crate::explore) parts: Arc<[Part]>,
    /// The values of the variables of its sum.
    pub(in crate::explore) bound: Bindings,
}

impl Walker<'_> {
    /// Finds the summand of the transition at `position` among the successors of a state, with the
    /// values of its variables. Tries summand by summand, without caches.
    pub(in crate::explore) fn locate(
        &mut self,
        state: &[u32],
        position: usize,
    ) -> Result<Option<Located>, StepError> {
        self.loaded = false;
        let mut found = Vec::new();
        self.find(state, &mut found)?;
        let mut before = 0;
        for id in found {
            let cluster = Arc::clone(&self.clusters[id as usize]);
            for summand in cluster.groups.iter().flat_map(|group| &group.summands) {
                self.load(state);
                self.emitter.records.clear();
                let mut solutions: Vec<(Vec<u32>, Bindings)> = Vec::new();
                let outcome = self.visit_summand(summand, |machine, base, records| {
                    let value = |&(variable, slot): &(VariableId, u32)| (variable, machine.slot(base, slot));
                    solutions.push((records.to_vec(), summand.variables.iter().map(value).collect()));
                });
                outcome.map_err(|trouble| self.explain(trouble, Some(summand.span)))?;
                if let Some(record) = Records(&self.emitter.records).nth(position - before) {
                    let has = |(own, _): &(Vec<u32>, Bindings)| Records(own).any(|other| other == record);
                    let bindings = solutions.into_iter().find(has).map(|(_, bindings)| bindings);
                    let (parts, bound) = (Arc::clone(&summand.parts), bindings.unwrap_or_default());
                    return Ok(Some(Located { parts, bound }));
                }
                before += Records(&self.emitter.records).count();
            }
        }
        Ok(None)
    }
}
