//! Communication of multi-actions with open data.
//!
//! Which actions of `s(n)|r(x)|r(y)` communicate depends on data, so there is one case for each
//! possibility: `s` with the first `r`, if their data are equal; with the second, if those are
//! equal and the first are not; with neither. The cases are exclusive and complete. Communication
//! is not optional: it happens wherever it is possible.

use super::alphabet::{Bag, Filter};
use super::vectors::{Builder, Steps, TooMany, Truth, Vector};
use crate::lower::ActionInstance;
use crate::syntax::Symbol;
use crate::typed::ExpressionId;
use crate::typed::expression;

/// The positions of actions that may communicate, and the equations required for it.
struct Match {
    members: Vec<usize>,
    equations: Vec<ExpressionId>,
}

/// A case under construction.
#[derive(Clone, Default)]
struct Case {
    /// The positions of actions that have communicated.
    used: Vec<usize>,
    /// The results of communications, each with the position of an action that has its data.
    joined: Vec<(Symbol, usize)>,
    /// Equations that must hold.
    equations: Vec<ExpressionId>,
    /// Sets of equations that must not hold together.
    failed: Vec<Vec<ExpressionId>>,
}

impl Builder<'_> {
    /// Applies the rules of a `comm` to all steps, and keeps the results that pass the filter.
    pub(super) fn communicate(
        &mut self,
        rules: &[(Bag, Symbol)],
        steps: Steps,
        filter: &Filter,
    ) -> Result<Steps, TooMany> {
        let mut result = Steps { ends: steps.ends, ..Steps::default() };
        for (names, vectors) in steps.groups {
            let possible: Vec<&(Bag, Symbol)> =
                rules.iter().filter(|(left, _)| super::alphabet::is_part(left, &names)).collect();
            for vector in vectors {
                if possible.is_empty() {
                    if filter.accepts(&names) {
                        result.groups.entry(names.clone()).or_default().push(vector);
                    }
                    continue;
                }
                let mut cases = vec![Case::default()];
                for (left, new) in &possible {
                    let pivots: Vec<usize> = (0..vector.actions.len())
                        .filter(|&one| vector.actions[one].name == left[0])
                        .collect();
                    for pivot in pivots {
                        let mut longer = Vec::new();
                        for case in cases {
                            self.split(&vector, left, *new, pivot, case, &mut longer)?;
                        }
                        cases = longer;
                    }
                }
                for case in cases {
                    let actions = case.actions(&vector);
                    let mut vector = Vector {
                        edges: vector.edges.clone(),
                        actions,
                        conditions: vector.conditions.clone(),
                    };
                    let names = vector.names();
                    if filter.accepts(&names) {
                        vector.conditions.extend(&case.equations);
                        for equations in &case.failed {
                            let together = expression::all(self.program, equations);
                            vector.conditions.push(expression::not(self.program, together));
                        }
                        result.groups.entry(names).or_default().push(vector);
                    }
                }
            }
        }
        Ok(result)
    }

    /// Adds the cases in which the action `pivot` communicates by a rule, and the one in which it
    /// does not.
    fn split(
        &mut self,
        vector: &Vector,
        left: &[Symbol],
        new: Symbol,
        pivot: usize,
        mut case: Case,
        cases: &mut Vec<Case>,
    ) -> Result<(), TooMany> {
        if case.used.contains(&pivot) {
            cases.push(case);
            return Ok(());
        }
        let mut matches = Vec::new();
        self.matches(vector, &left[1..], vec![pivot], &case.used, &mut matches);
        for Match { members, equations } in matches {
            self.spend()?;
            let mut matched = case.clone();
            matched.equations.extend(&equations);
            matched.used.extend(&members);
            matched.joined.push((new, pivot));
            cases.push(matched);
            if equations.is_empty() {
                return Ok(());
            }
            case.failed.push(equations);
        }
        cases.push(case);
        Ok(())
    }

    /// Finds all ways to add unused actions with the given names whose data may equal those of the
    /// members.
    fn matches(
        &mut self,
        vector: &Vector,
        names: &[Symbol],
        members: Vec<usize>,
        used: &[usize],
        matches: &mut Vec<Match>,
    ) {
        let Some(&name) = names.first() else {
            let mut equations = Vec::new();
            for &member in &members[1..] {
                let first = &vector.actions[members[0]].arguments;
                for (&one, &other) in first.iter().zip(&vector.actions[member].arguments) {
                    if let Truth::Open(equation) = self.equation(one, other)
                        && !equations.contains(&equation)
                    {
                        equations.push(equation);
                    }
                }
            }
            matches.push(Match { members, equations });
            return;
        };
        // Positions of actions with the same name increase, so that each set is found once.
        let last = members[members.len() - 1];
        let least = if vector.actions[last].name == name { last + 1 } else { 0 };
        for candidate in least..vector.actions.len() {
            let action = &vector.actions[candidate];
            if action.name == name
                && !used.contains(&candidate)
                && members.iter().all(|&member| self.may_agree(&vector.actions[member], action))
            {
                let more = [&members[..], &[candidate]].concat();
                self.matches(vector, &names[1..], more, used, matches);
            }
        }
    }
}

impl Case {
    /// The multi-action that results.
    fn actions(&self, vector: &Vector) -> Vec<ActionInstance> {
        let joined = self
            .joined
            .iter()
            .map(|&(name, data)| ActionInstance { name, arguments: vector.actions[data].arguments.clone() });
        let kept = vector.actions.iter().enumerate().filter(|(index, _)| !self.used.contains(index));
        joined.chain(kept.map(|(_, action)| action.clone())).collect()
    }
}
