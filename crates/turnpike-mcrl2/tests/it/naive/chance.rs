//! Probabilities: the outcomes of a process term before its first step.

use dashu_ratio::RBig;
use turnpike_mcrl2::syntax::ProcessOperator;
use turnpike_mcrl2::typed::{Behaviour, BehaviourId};

use super::data::{Trouble, Values};
use super::semantics::{Interpreter, MOST, Outcomes, Term, TermId};

impl Interpreter {
    /// The outcomes of a term. They are decided: the only outcome of such a term is the term
    /// itself.
    pub(crate) fn outcomes(&mut self, term: TermId) -> Result<Outcomes, Trouble> {
        let outcomes = match self.terms[term.0 as usize].clone() {
            Term::Expression(behaviour, _) if !self.begins_with_chance(behaviour) => vec![(term, RBig::ONE)],
            Term::Expression(behaviour, values) => self.outcomes_of_expression(term, behaviour, &values)?,
            Term::Binary(operator, left, right) => {
                let lefts = self.outcomes(left)?;
                // The second process is decided when it starts.
                let rights = match operator {
                    ProcessOperator::Sequence => vec![(right, RBig::ONE)],
                    _ => self.outcomes(right)?,
                };
                let mut all = Vec::new();
                for (left, one) in &lefts {
                    for (right, other) in &rights {
                        all.push((self.add(Term::Binary(operator, *left, *right)), one * other));
                    }
                }
                all
            }
            Term::Choice(parts) => {
                let mut rows = vec![(Vec::new(), RBig::ONE)];
                for part in parts {
                    let column = self.outcomes(part)?;
                    if rows.len() * column.len() > MOST {
                        return Err(Trouble::TooMany);
                    }
                    rows = rows
                        .iter()
                        .flat_map(|(row, one)| {
                            column
                                .iter()
                                .map(move |(part, other)| ([&row[..], &[*part]].concat(), one * other))
                        })
                        .collect();
                }
                rows.into_iter().map(|(row, weight)| (self.add(Term::Choice(row.into())), weight)).collect()
            }
            Term::At(body, time) => self
                .outcomes(body)?
                .into_iter()
                .map(|(body, weight)| (self.add(Term::At(body, time)), weight))
                .collect(),
            Term::Under(operator, body) => self
                .outcomes(body)?
                .into_iter()
                .map(|(body, weight)| (self.add(Term::Under(operator, body)), weight))
                .collect(),
        };
        if outcomes.len() > MOST { Err(Trouble::TooMany) } else { Ok(outcomes) }
    }

    fn outcomes_of_expression(
        &mut self,
        term: TermId,
        behaviour: BehaviourId,
        values: &Values,
    ) -> Result<Outcomes, Trouble> {
        match self.data.program.behaviour(behaviour).clone() {
            Behaviour::Call { process, arguments } => {
                self.with_body(process, &arguments, values, Interpreter::outcomes)
            }
            Behaviour::If { condition, then, otherwise } => {
                match (self.data.holds(condition, values)?, otherwise) {
                    (true, _) => self.outcomes_of(then, values),
                    (false, Some(otherwise)) => self.outcomes_of(otherwise, values),
                    (false, None) => Ok(vec![(term, RBig::ONE)]),
                }
            }
            Behaviour::Sum { variables, body } => {
                let all = self.assignments(&variables, values)?;
                let parts = all.iter().map(|values| self.term_of(body, values)).collect();
                let choice = self.add(Term::Choice(parts));
                self.outcomes(choice)
            }
            Behaviour::Dist { variables, weight, body } => {
                let (mut all, mut total) = (Vec::new(), RBig::ZERO);
                for values in self.assignments(&variables, values)? {
                    let weight = self.data.number(weight, &values)?;
                    if weight == RBig::ZERO {
                        continue;
                    }
                    total += &weight;
                    let outcomes = self.outcomes_of(body, &values)?;
                    all.extend(outcomes.into_iter().map(|(term, inner)| (term, inner * &weight)));
                }
                if total == RBig::ONE { Ok(all) } else { Err(Trouble::NotOne) }
            }
            _ => {
                let term = self.decompose(behaviour, values)?;
                self.outcomes(term)
            }
        }
    }

    /// Whether a probabilistic choice comes before the first step.
    fn begins_with_chance(&mut self, behaviour: BehaviourId) -> bool {
        let program = &self.data.program;
        let chancy = self.chancy.get_or_insert_with(|| {
            // Processes may call each other before their first step, so this is a fixed point.
            let mut chancy = vec![false; program.behaviour_count()];
            loop {
                let mut changed = false;
                for id in program.behaviour_ids() {
                    let now = match program.behaviour(id) {
                        Behaviour::Dist { .. } => true,
                        Behaviour::Call { process, .. } => {
                            program.process(*process).body.is_some_and(|body| chancy[body.index()])
                        }
                        Behaviour::Binary(ProcessOperator::Sequence, left, _) => chancy[left.index()],
                        other => other.parts().any(|part| chancy[part.index()]),
                    };
                    changed |= now != chancy[id.index()];
                    chancy[id.index()] = now;
                }
                if !changed {
                    return chancy;
                }
            }
        });
        chancy[behaviour.index()]
    }

    fn outcomes_of(&mut self, behaviour: BehaviourId, values: &Values) -> Result<Outcomes, Trouble> {
        let term = self.term_of(behaviour, values);
        self.outcomes(term)
    }
}
