//! Evaluates the data of a requirement, for one thread.

use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::formula::{DataError, Judge};
use turnpike_model::{Explorer, LabelId};

use super::candidates::Finder;
use super::matching::Condition;
use super::{Requirement, foreign};
use crate::compile::evaluator::{EvaluationError, Machine};
use crate::compile::process::SignatureAction;
use crate::compile::solver::EnumerationError;
use crate::typed::expression;
use crate::value::Value;

/// The number of cached matches at which the cache is emptied.
const MOST_MATCHES: usize = 1 << 20;

/// Evaluates the data of a requirement.
pub(super) struct DataJudge<'r> {
    requirement: &'r Requirement,
    machine: Machine,
    /// The number of the signature and the values of each label.
    labels: Vec<Option<Arc<[u32]>>>,
    matchers: FxHashMap<(u32, u32), Arc<Condition>>,
    /// By action formula, label and the values that the formula reads.
    matches: FxHashMap<Box<[u32]>, bool>,
    key: Vec<u32>,
}

impl<'r> DataJudge<'r> {
    pub(super) fn new(requirement: &'r Requirement) -> Self {
        DataJudge {
            requirement,
            machine: Machine::new(requirement.model.network.rules.clone()),
            labels: Vec::new(),
            matchers: FxHashMap::default(),
            matches: FxHashMap::default(),
            key: Vec::new(),
        }
    }

    /// The signature and values of a label.
    pub(super) fn label(&mut self, id: LabelId) -> Arc<[u32]> {
        if self.labels.len() <= id.index() {
            self.labels.resize(id.index() + 1, None);
        }
        if let Some(known) = &self.labels[id.index()] {
            return Arc::clone(known);
        }
        let words: Arc<[u32]> = self.requirement.model.labels.words(id).into();
        self.labels[id.index()] = Some(Arc::clone(&words));
        words
    }

    fn matcher(&mut self, action: u32, signature: u32) -> Arc<Condition> {
        let requirement = self.requirement;
        let known = self.matchers.entry((action, signature));
        Arc::clone(known.or_insert_with(|| requirement.matcher(action, signature)))
    }

    fn enter(&mut self, frame: usize, values: &[u32], constants: &[(u32, Value)]) -> usize {
        let base = self.machine.enter(frame);
        for (slot, &word) in (0..).zip(values) {
            self.machine.set_slot(base, slot, Value::from_word(word));
        }
        for &(slot, value) in constants {
            self.machine.set_slot(base, slot, value);
        }
        base
    }

    fn evaluate(&mut self, code: &Condition, values: &[u32], arguments: &[u32]) -> Result<Value, DataError> {
        let base = self.enter(code.frame, values, &code.constants);
        for (&slot, &word) in code.arguments.iter().zip(arguments) {
            self.machine.set_slot(base, slot, Value::from_word(word));
        }
        let value = self.machine.evaluate(&code.code, base);
        self.machine.leave(base);
        value.map_err(|error| evaluation_error(&error))
    }

    fn decide(&mut self, code: &Condition, values: &[u32], arguments: &[u32]) -> Result<bool, DataError> {
        let value = self.evaluate(code, values, arguments)?;
        let Some(truth) = value.as_bool() else {
            let shared = self.requirement.shared();
            let text = expression::text(&shared.program, code.root);
            let culprit = self.requirement.model.network.text(&self.machine.heap, value);
            let span = shared.program.span_of(code.root);
            let place = (span.end > span.start).then(|| span.range());
            let message = format!("condition {text} does not rewrite to true or false; culprit: {culprit}");
            return Err(DataError { message, help: None, place });
        };
        self.machine.heap.reset();
        Ok(truth)
    }

    /// Appends the values that one alternative has for these labels.
    fn solve(
        &mut self,
        finder: &Finder,
        values: &[u32],
        labels: &[Arc<[u32]>],
        seen: &mut FxHashSet<Box<[u32]>>,
        out: &mut Vec<u32>,
    ) -> Result<(), EnumerationError> {
        let base = self.enter(finder.frame, values, &finder.constants);
        let arguments = labels.iter().flat_map(|label| {
            let signature = self.requirement.model.network.signatures.get(label[0]);
            let count: usize = signature.actions.iter().map(SignatureAction::arity).sum();
            label[1..=count].to_vec()
        });
        let arguments: Vec<u32> = arguments.collect();
        for (&slot, word) in finder.arguments.iter().zip(arguments) {
            self.machine.set_slot(base, slot, Value::from_word(word));
        }
        let outcome = finder.plan.run(&mut self.machine, base, &mut |machine| {
            let group: Box<[u32]> = finder
                .found
                .iter()
                .map(|&slot| {
                    let value = machine.slot(base, slot);
                    machine.heap.keep(value).word()
                })
                .collect();
            if seen.insert(group.clone()) {
                out.extend_from_slice(&group);
            }
            ControlFlow::Continue(())
        });
        self.machine.leave(base);
        self.machine.heap.reset();
        outcome.map(|_| ())
    }

    /// Appends the values that all alternatives have.
    fn find_candidates(
        &mut self,
        quantifier: u32,
        labels: &[LabelId],
        values: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), EnumerationError> {
        let requirement = self.requirement;
        let mut seen = FxHashSet::default();
        let mut distinct: Vec<LabelId> = labels.to_vec();
        let mut met = FxHashSet::default();
        distinct.retain(|&label| met.insert(label));
        let known: Vec<Arc<[u32]>> = distinct.iter().map(|&label| self.label(label)).collect();
        for (number, alternative) in (0..).zip(&requirement.alternatives[quantifier as usize]) {
            let mut choices: Vec<Vec<Arc<[u32]>>> = vec![Vec::new()];
            for _ in &alternative.steps {
                choices = choices
                    .iter()
                    .flat_map(|chosen| {
                        known.iter().map(|label| {
                            let mut more = chosen.clone();
                            more.push(Arc::clone(label));
                            more
                        })
                    })
                    .collect();
            }
            for chosen in choices {
                let signatures: Vec<u32> = chosen.iter().map(|label| label[0]).collect();
                let finder = requirement.finder(quantifier, number, &signatures);
                self.solve(&finder, values, &chosen, &mut seen, out)?;
            }
        }
        Ok(())
    }

    fn enumeration_error(&self, quantifier: u32, error: EnumerationError) -> DataError {
        let shared = self.requirement.shared();
        let program = &*shared.program;
        let place = Some(self.requirement.formula.quantifiers[quantifier as usize].place.clone());
        match error {
            EnumerationError::Endless { variable, reason } => {
                let variable = program.variable(variable);
                let name = program.text(variable.name);
                let own = variable.span.end > variable.span.start;
                DataError {
                    message: format!("the values of {name} cannot be enumerated: {reason}"),
                    help: Some(format!(
                        "bound {name} by a condition such as `val({name} < 10)`, or let an action fix it"
                    )),
                    place: if own { Some(variable.span.range()) } else { place },
                }
            }
            EnumerationError::Stuck { condition, value } => {
                let culprit = self.requirement.model.network.text(&self.machine.heap, value);
                let text = expression::text(program, condition);
                let message =
                    format!("condition {text} does not rewrite to true or false; culprit: {culprit}");
                DataError { message, help: None, place }
            }
            EnumerationError::Evaluation(error) => DataError { place, ..evaluation_error(&error) },
        }
    }
}

fn evaluation_error(error: &EvaluationError) -> DataError {
    DataError::new(match error {
        EvaluationError::OutOfSteps => {
            "the evaluation of an expression does not end: the equations may not terminate".to_owned()
        }
        EvaluationError::TooDeep => "an expression nests too deeply to be evaluated".to_owned(),
        EvaluationError::Other(message) => message.clone(),
    })
}

impl Judge for DataJudge<'_> {
    fn learn(&mut self, labels: &[LabelId], explorer: &mut dyn Explorer) -> Result<(), DataError> {
        if !self.requirement.foreign {
            return Ok(());
        }
        for &id in labels {
            if self.labels.get(id.index()).is_some_and(Option::is_some) {
                continue;
            }
            let label = explorer.label(id);
            let words = foreign::label_words(self.requirement, &mut self.machine, &label)?;
            if self.labels.len() <= id.index() {
                self.labels.resize(id.index() + 1, None);
            }
            self.labels[id.index()] = Some(words.into());
        }
        Ok(())
    }

    fn truth(&mut self, condition: u32, values: &[u32]) -> Result<bool, DataError> {
        let requirement = self.requirement;
        self.decide(&requirement.conditions[condition as usize], values, &[])
    }

    fn matches(&mut self, action: u32, label: LabelId, values: &[u32]) -> Result<bool, DataError> {
        let words = self.label(label);
        let matcher = self.matcher(action, words[0]);
        if let Some(constant) = matcher.code.constant().and_then(Value::as_bool) {
            return Ok(constant);
        }
        self.key.clear();
        self.key.extend([action, label.0]);
        self.key.extend(matcher.reads.iter().map(|&slot| values[slot as usize]));
        if let Some(&known) = self.matches.get(&self.key[..]) {
            return Ok(known);
        }
        let answer = self.decide(&matcher, values, &words[1..])?;
        if self.matches.len() >= MOST_MATCHES {
            self.matches.clear();
        }
        self.matches.insert(self.key[..].into(), answer);
        Ok(answer)
    }

    fn candidates(
        &mut self,
        quantifier: u32,
        labels: &[LabelId],
        values: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), DataError> {
        let start = out.len();
        let Err(error) = self.find_candidates(quantifier, labels, values, out) else { return Ok(()) };
        let requirement = self.requirement;
        let sorts = requirement.compared[quantifier as usize].as_ref();
        if let (EnumerationError::Endless { .. }, Some(sorts)) = (&error, sorts)
            && let Some(groups) = requirement.occurring.get().and_then(|one| one.groups(sorts))
        {
            out.truncate(start);
            out.extend(groups);
            return Ok(());
        }
        Err(self.enumeration_error(quantifier, error))
    }

    fn arguments(&mut self, arguments: u32, values: &[u32], out: &mut Vec<u32>) -> Result<(), DataError> {
        let requirement = self.requirement;
        for code in &requirement.arguments[arguments as usize] {
            let value = self.evaluate(code, values, &[])?;
            out.push(self.machine.heap.keep(value).word());
        }
        self.machine.heap.reset();
        Ok(())
    }

    fn content_hash(&mut self, value: u32) -> u64 {
        match value & 3 {
            0 => self.machine.heap.content_hash(Value::from_word(value)),
            _ => u64::from(value),
        }
    }

    fn text(&mut self, value: u32) -> String {
        self.requirement.model.network.text(&self.machine.heap, Value::from_word(value))
    }
}
