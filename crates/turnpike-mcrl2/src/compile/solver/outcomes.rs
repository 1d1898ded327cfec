//! Enumerates the outcomes of `dist x, y: S[f(x) * g(x, y)]` over small sorts, with their
//! probabilities. A factor is computed as soon as its variables are bound, and a factor of 0 prunes
//! the search. A factor is not computed again for variables that it does not mention.

use super::finite::LIST_LIMIT;
use super::linear_form::mentions;
use super::literal::builtin;
use super::planner::Planner;
use super::step::Step;
use crate::typed::{Builtin, ExpressionId, Program, VariableId};

impl Planner<'_> {
    /// Plans for all values for which `weight` is not 0. Also returns the slot that holds the
    /// weight of a solution. `None` if a variable has too many values to list. Errors refer to
    /// `origin`.
    pub(super) fn product(
        mut self,
        variables: &[VariableId],
        weight: ExpressionId,
        origin: ExpressionId,
    ) -> Option<(Vec<Step>, u32)> {
        let mut open = Vec::new();
        for &variable in variables {
            let sort = self.program.variable(variable).sort;
            let size = self.sizes.of(&self.program, sort).filter(|&size| size <= LIST_LIMIT)?;
            open.push((size, self.values(sort)?, variable));
        }
        // Sorts with few values first, as in all plans.
        open.sort_by_key(|&(size, ..)| size);
        let slots: Vec<u32> = open.iter().map(|&(.., variable)| self.scope.slot(variable)).collect();
        let mut factors = factors(&self.program, weight);
        let (mut steps, mut before) = (Vec::new(), None);
        for bound in 0..=open.len() {
            if let Some(last) = bound.checked_sub(1) {
                steps.push(Step::Values { slot: slots[last], values: open[last].1.clone() });
            }
            let unbound: Vec<VariableId> = open[bound..].iter().map(|&(.., variable)| variable).collect();
            factors.retain(|&factor| {
                let later = mentions(&self.program, factor, &unbound);
                if !later {
                    let (code, slot) = (self.code(factor), self.scope.fresh());
                    steps.push(Step::Factor { before, code, slot, origin });
                    before = Some(slot);
                }
                later
            });
        }
        Some((steps, before?))
    }
}

/// The factors of a product, from left to right.
fn factors(program: &Program, weight: ExpressionId) -> Vec<ExpressionId> {
    let (mut found, mut todo) = (Vec::new(), vec![weight]);
    while let Some(id) = todo.pop() {
        match builtin(program, id) {
            Some((Builtin::Multiply, &[left, right])) => todo.extend([right, left]),
            _ => found.push(id),
        }
    }
    found
}
