//! Turns a solution of a summand into transitions, appended to a list of records.
//!
//! A record holds the id of the label, the number of words that change, and the index and new value
//! of each. Words that do not change are left out, so that a record applies to every state with the
//! same words at the places that were read.

use std::ops::ControlFlow;

use turnpike_model::Successors;
use turnpike_model::label::LabelId;

use super::labels::{Front, Labels};
use crate::compile::evaluator::{EvaluationError, Machine};
use crate::compile::process::{Choice, Network, Signature, Source, Summand, Update, location_word};
use crate::compile::solver::EnumerationError;
use crate::typed::ExpressionId;
use crate::value::{Head, Heap, Value};

/// Why a step fails.
#[derive(Debug)]
pub(super) enum Trouble {
    Evaluation(EvaluationError),
    Enumeration(EnumerationError),
    /// A condition is neither true nor false.
    Stuck {
        condition: ExpressionId,
        value: Value,
    },
    /// Probabilities do not add up to one.
    Weights(Vec<Value>),
}

impl From<EvaluationError> for Trouble {
    fn from(error: EvaluationError) -> Self {
        Trouble::Evaluation(error)
    }
}

impl From<EnumerationError> for Trouble {
    fn from(error: EnumerationError) -> Self {
        match error {
            EnumerationError::Stuck { condition, value } => Trouble::Stuck { condition, value },
            EnumerationError::Evaluation(error) => Trouble::Evaluation(error),
            error => Trouble::Enumeration(error),
        }
    }
}

/// Collects records.
#[derive(Debug)]
pub(super) struct Emitter<'m> {
    network: &'m Network,
    labels: &'m Labels,
    front: Front,
    pub(super) records: Vec<u32>,
    /// The start of the records of each solution, for summands whose solutions may repeat.
    pub(super) solutions: Vec<usize>,
    /// The label of the current solution: signature and values.
    label: Vec<u32>,
}

impl<'m> Emitter<'m> {
    pub(super) fn new(network: &'m Network, labels: &'m Labels) -> Self {
        Emitter {
            network,
            labels,
            front: Front::default(),
            records: Vec::new(),
            solutions: Vec::new(),
            label: Vec::new(),
        }
    }

    /// Appends the transitions of one solution of a summand, with its variables in the frame at
    /// `base`.
    pub(super) fn solution(
        &mut self,
        machine: &mut Machine,
        base: usize,
        summand: &Summand,
    ) -> Result<(), Trouble> {
        if summand.repeats {
            self.solutions.push(self.records.len());
        }
        self.label.clear();
        self.label.push(summand.signature.0);
        for argument in &summand.arguments {
            let value = keep_source(machine, base, argument)?;
            self.label.push(value);
        }
        self.order_actions(machine, &summand.signature.1);
        let now = match &summand.time {
            Some(time) => {
                let time = keep_source(machine, base, time)?;
                self.label.push(time);
                self.network.now.map(|word| (word, time))
            }
            None => None,
        };
        match &summand.choice {
            None => self.record(machine, base, &summand.updates, now),
            Some(choice) => self.outcomes(machine, base, choice, &summand.updates, now),
        }
    }

    /// Appends the outcomes of the initial choice.
    pub(super) fn initial_outcomes(
        &mut self,
        machine: &mut Machine,
        base: usize,
        choice: &Choice,
    ) -> Result<(), Trouble> {
        let network = self.network;
        self.label.clear();
        self.label.push(network.initial_signature);
        let now = network.now.map(|word| (word, number(0).word()));
        self.outcomes(machine, base, choice, &network.initial, now)
    }

    /// One record for each outcome of a choice. The last value of the label is the probability.
    fn outcomes(
        &mut self,
        machine: &mut Machine,
        base: usize,
        choice: &Choice,
        updates: &[Update],
        now: Option<(u32, u32)>,
    ) -> Result<(), Trouble> {
        let mut weights = Vec::new();
        let mut trouble = None;
        let mut visit = |machine: &mut Machine| {
            let outcome = keep_source(machine, base, &choice.weight).and_then(|weight| {
                weights.push(Value::from_word(weight));
                self.label.push(weight);
                let recorded = self.record(machine, base, updates, now);
                self.label.pop();
                recorded
            });
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    trouble = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let _ = choice.plan.run(machine, base, &mut visit)?;
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        // There may be many outcomes but few different probabilities: equal ones are added at once.
        let mut sorted: Vec<u32> = weights.iter().map(|weight| weight.word()).collect();
        sorted.sort_unstable();
        let mut total = number(0);
        for equal in sorted.chunk_by(|one, other| one == other) {
            let times = machine.heap.whole(equal.len() as i64);
            let sum = machine.heap.multiply(Value::from_word(equal[0]), times);
            // A weight that is not a number adds nothing.
            total = sum.and_then(|sum| machine.heap.add(total, sum)).unwrap_or(total);
        }
        if total == number(1) { Ok(()) } else { Err(Trouble::Weights(weights)) }
    }

    fn record(
        &mut self,
        machine: &mut Machine,
        base: usize,
        updates: &[Update],
        now: Option<(u32, u32)>,
    ) -> Result<(), Trouble> {
        let label = self.labels.intern(&mut self.front, &self.label);
        let start = self.records.len();
        self.records.extend([label.0, 0]);
        for update in updates {
            changes(machine, base, update, &mut self.records)?;
        }
        if let Some((word, time)) = now {
            self.records.extend([word, time]);
        }
        self.records[start + 1] = ((self.records.len() - start - 2) / 2) as u32;
        Ok(())
    }

    /// Sorts actions of the same name by their texts, so that equal labels have equal words.
    fn order_actions(&mut self, machine: &Machine, signature: &Signature) {
        let actions = &signature.actions;
        if actions.len() < 2 || actions.windows(2).all(|pair| pair[0] != pair[1]) {
            return;
        }
        let mut at = 1;
        let mut all: Vec<(usize, Vec<String>, Vec<u32>)> = Vec::with_capacity(actions.len());
        for (index, action) in actions.iter().enumerate() {
            let words = self.label[at..at + action.arity()].to_vec();
            let first = actions.iter().position(|other| other == action);
            let texts =
                words.iter().map(|&word| self.network.text(&machine.heap, Value::from_word(word))).collect();
            all.push((first.unwrap_or(index), texts, words));
            at += action.arity();
        }
        all.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        self.label.truncate(1);
        all.iter().for_each(|(_, _, words)| self.label.extend_from_slice(words));
    }

    /// Removes duplicate solutions. Equal outcomes of one choice stay, because their probabilities
    /// add up.
    pub(super) fn remove_duplicates(&mut self) {
        let Some(&start) = self.solutions.first() else { return };
        let fresh = self.records.split_off(start);
        self.solutions.push(start + fresh.len());
        let mut seen = rustc_hash::FxHashSet::default();
        for bounds in self.solutions.windows(2) {
            let solution = &fresh[bounds[0] - start..bounds[1] - start];
            if seen.insert(solution) {
                self.records.extend_from_slice(solution);
            }
        }
    }
}

/// A small number as a value.
pub(super) fn number(number: u32) -> Value {
    Value::from_word(location_word(number))
}

/// Evaluates a source and keeps the value alive.
#[inline]
fn keep_source(machine: &mut Machine, base: usize, source: &Source) -> Result<u32, Trouble> {
    let value = match source {
        Source::Constant(value) => return Ok(value.word()),
        Source::Slot(slot) => machine.slot(base, *slot),
        Source::Code(code) => machine.evaluate(code, base)?,
    };
    Ok(machine.heap.keep(value).word())
}

/// The location of a component after a condition that is neither true nor false: identifies the
/// condition and has its value.
fn mark_undecided(machine: &mut Machine, condition: ExpressionId, value: Value) -> Value {
    let both = [number(condition.word()), value];
    let value = machine.heap.make(Head::Apply, &both);
    machine.heap.keep(value)
}

/// The condition and the value of such a location.
pub(super) fn undecided_parts(heap: &Heap, value: Value) -> (Option<ExpressionId>, Value) {
    if heap.head(value) != Some(Head::Apply) {
        return (None, value);
    }
    let condition = heap.argument(value, 0).as_small().and_then(|number| usize::try_from(number).ok());
    (condition.map(ExpressionId::new), heap.argument(value, 1))
}

/// Appends the words that an update changes, with their new values.
pub(super) fn changes(
    machine: &mut Machine,
    base: usize,
    update: &Update,
    out: &mut Vec<u32>,
) -> Result<(), Trouble> {
    let mut update = update;
    loop {
        match update {
            Update::If { condition, expression, then, otherwise, control } => {
                let value = machine.evaluate(condition, base)?;
                update = match (value.as_bool(), control) {
                    (Some(true), _) => then,
                    (Some(false), _) => otherwise,
                    (None, Some(word)) => {
                        let undecided = mark_undecided(machine, *expression, value);
                        out.extend([*word, undecided.word()]);
                        return Ok(());
                    }
                    (None, None) => return Err(Trouble::Stuck { condition: *expression, value }),
                };
            }
            Update::Go(writes) => {
                for (word, source) in writes {
                    let value = keep_source(machine, base, source)?;
                    out.extend([*word, value]);
                }
                return Ok(());
            }
        }
    }
}

/// Iterates over records.
pub(super) struct Records<'r>(pub(super) &'r [u32]);

impl<'r> Iterator for Records<'r> {
    type Item = &'r [u32];

    #[inline]
    fn next(&mut self) -> Option<&'r [u32]> {
        let changed = *self.0.get(1)? as usize;
        let (record, rest) = self.0.split_at(2 + 2 * changed);
        self.0 = rest;
        Some(record)
    }
}

/// Applies records to a state and appends its transitions.
#[inline]
pub(super) fn apply(records: &[u32], state: &[u32], out: &mut Successors) {
    for record in Records(records) {
        out.push_edited(LabelId(record[0]), state, |target| {
            for change in record[2..].chunks_exact(2) {
                target[change[0] as usize] = change[1];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_edits_of_a_state() {
        let mut out = Successors::new(3);
        apply(&[7, 1, 2, 99, 8, 0, 9, 2, 0, 1, 1, 2], &[10, 20, 30], &mut out);
        let found: Vec<_> = out.iter().map(|(label, state)| (label.0, state.to_vec())).collect();
        assert_eq!(found, [(7, vec![10, 20, 99]), (8, vec![10, 20, 30]), (9, vec![1, 2, 30])]);
    }
}
