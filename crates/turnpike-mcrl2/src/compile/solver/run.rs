//! Runs a plan, depth first.

use std::ops::ControlFlow;

use dashu_int::IBig;
use rustc_hash::FxHashSet;

use crate::compile::evaluator::{Code, EvaluationError, Machine};
use crate::typed::ExpressionId;
use crate::value::{Head, Value};

use super::EnumerationError;
use super::number::Number;
use super::pattern::{Kind, Pattern};
use super::step::{Bound, SlotPattern, Step, Test};

/// Lists up to this length are searched linearly for repeated elements.
const SHORT: usize = 16;

/// The result of the search below a step.
pub(super) type Outcome = Result<ControlFlow<()>, EnumerationError>;

const CONTINUE: Outcome = Ok(ControlFlow::Continue(()));

/// An ongoing search.
pub(super) struct Run<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) base: usize,
    pub(super) visit: &'a mut dyn FnMut(&mut Machine) -> ControlFlow<()>,
    pub(super) limit: usize,
    pub(super) most: Option<u32>,
    /// The error for the first candidate that may or may not be a solution.
    pub(super) first: Option<EnumerationError>,
}

/// A test of the current candidate that is neither true nor false. It matters only if all other
/// tests are true.
#[derive(Clone, Copy)]
pub(super) struct Doubt<'a> {
    test: Option<&'a Test>,
    origin: ExpressionId,
    value: Value,
}

/// Whether a value matches a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    /// All variables are bound, but the equality of some parts is left to the test.
    Perhaps,
    /// A variable cannot be bound, because this part of the value is not a constructor.
    Stuck(Value),
    No,
}

/// The value of a bound.
enum Limit {
    At(IBig),
    Stuck(Value),
}

/// The least and the greatest value, and a bound that is stuck.
type Limits = (Option<IBig>, Option<IBig>, Option<Doubt<'static>>);

impl Run<'_> {
    fn evaluate(&mut self, code: &Code) -> Result<Value, EvaluationError> {
        self.machine.evaluate(code, self.base)
    }

    fn doubt(&mut self, origin: ExpressionId, value: Value) {
        if self.first.is_none() {
            self.first = Some(EnumerationError::Stuck { condition: origin, value });
        }
    }

    /// Runs steps to their end. `doubt` is the first undecided test so far.
    pub(super) fn steps<'s>(&mut self, steps: &'s [Step], doubt: Option<Doubt<'s>>) -> Outcome {
        let mut doubt = doubt;
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Unsettled(narrowing, _) if narrowing.is_settled() => {}
                Step::Test(test) | Step::Unsettled(_, test) => {
                    let value = self.evaluate(&test.code)?;
                    if value == Value::bool(!test.holds) {
                        return CONTINUE;
                    }
                    if value.as_bool().is_none() && doubt.is_none() {
                        doubt = Some(Doubt { test: Some(test), origin: test.origin, value });
                    }
                }
                Step::Unless(parts) => {
                    let mut all = true;
                    for (code, holds) in parts {
                        if self.evaluate(code)? != Value::bool(*holds) {
                            all = false;
                            break;
                        }
                    }
                    if all {
                        return CONTINUE;
                    }
                }
                Step::Factor { before, code, slot, origin } => {
                    let value = self.evaluate(code)?;
                    if value == Value::ZERO {
                        return CONTINUE;
                    }
                    let before = before.map(|slot| self.machine.slot(self.base, slot));
                    let heap = &mut self.machine.heap;
                    if !heap.is_number(value) && doubt.is_none() {
                        doubt = Some(Doubt { test: None, origin: *origin, value });
                    }
                    let product = before.and_then(|before| heap.multiply(before, value)).unwrap_or(value);
                    self.machine.set_slot(self.base, *slot, product);
                }
                Step::Build { slot, symbol, fields } => {
                    let fields: Vec<Value> =
                        fields.iter().map(|&field| self.machine.slot(self.base, field)).collect();
                    let value = self.machine.heap.make(Head::Symbol(*symbol), &fields);
                    self.machine.set_slot(self.base, *slot, value);
                }
                Step::Solve { value, pattern, test } => {
                    let value = self.evaluate(value)?;
                    match self.fit(value, pattern, test, &mut doubt)? {
                        true => {}
                        false => return CONTINUE,
                    }
                }
                Step::Root { pattern, test } => {
                    let zero = self.machine.heap.whole(0);
                    match self.fit(zero, pattern, test, &mut doubt)? {
                        true => {}
                        false => return CONTINUE,
                    }
                }
                generator => {
                    let rest = &steps[index + 1..];
                    return stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                        self.generate(generator, rest, doubt)
                    });
                }
            }
        }
        if let Some(Doubt { test, origin, value }) = doubt {
            if let Some((whole, _)) = test.and_then(|test| test.whole.as_ref())
                && self.evaluate(whole)?.as_bool().is_some()
            {
                return CONTINUE;
            }
            self.doubt(origin, value);
            return CONTINUE;
        }
        Ok((self.visit)(self.machine))
    }

    fn generate<'s>(&mut self, step: &'s Step, rest: &'s [Step], doubt: Option<Doubt<'s>>) -> Outcome {
        match step {
            Step::Values { slot, values } => {
                for &value in values.iter() {
                    self.machine.set_slot(self.base, *slot, value);
                    if self.steps(rest, doubt)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                CONTINUE
            }
            Step::Interval { slot, lower, upper, least } => {
                self.interval(*slot, lower, upper, *least, rest, doubt)
            }
            Step::Member { collection, pattern, test, otherwise } => {
                let collection = self.evaluate(collection)?;
                self.members(collection, pattern, test, otherwise.as_deref(), rest, doubt)
            }
            Step::Narrow(narrowing) => narrowing.run(self, rest, doubt),
            Step::Endless { variable, reason } => {
                // An undecided test is the better explanation.
                match self.first.take() {
                    Some(error) => Err(error),
                    None => Err(EnumerationError::Endless { variable: *variable, reason: reason.clone() }),
                }
            }
            Step::Branches(branches) => {
                for branch in branches {
                    if self.steps(branch, doubt)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                CONTINUE
            }
            Step::Test(_)
            | Step::Unsettled(..)
            | Step::Unless(_)
            | Step::Factor { .. }
            | Step::Solve { .. }
            | Step::Root { .. }
            | Step::Build { .. } => self.steps(rest, doubt),
        }
    }

    /// Binds the variables of a pattern; false if the value does not match.
    fn fit<'s>(
        &mut self,
        value: Value,
        pattern: &SlotPattern,
        test: &'s Test,
        doubt: &mut Option<Doubt<'s>>,
    ) -> Result<bool, EnumerationError> {
        match self.bind(value, pattern)? {
            Fit::Yes => Ok(true),
            Fit::No => Ok(false),
            Fit::Stuck(value) => {
                self.doubt(test.origin, value);
                Ok(false)
            }
            Fit::Perhaps => {
                let value = self.evaluate(&test.code)?;
                if value.as_bool().is_none() && doubt.is_none() {
                    *doubt = Some(Doubt { test: Some(test), origin: test.origin, value });
                }
                Ok(value != Value::bool(!test.holds))
            }
        }
    }

    fn bind(&mut self, value: Value, pattern: &SlotPattern) -> Result<Fit, EvaluationError> {
        match pattern {
            Pattern::Bind(slot, kind) => {
                let fit = self.is(value, *kind);
                if fit == Fit::Yes {
                    self.machine.set_slot(self.base, *slot, value);
                }
                Ok(fit)
            }
            Pattern::Within(kind, body) => match self.is(value, *kind) {
                Fit::Yes => self.bind(value, body),
                other => Ok(other),
            },
            Pattern::Equal(code) => {
                let other = self.evaluate(code)?;
                let heap = &self.machine.heap;
                Ok(if heap.same(value, other) {
                    Fit::Yes
                } else if heap.is_plain(value) && heap.is_plain(other) {
                    Fit::No
                } else {
                    Fit::Perhaps
                })
            }
            Pattern::Sum { constant, known, factor, variable, kind } => {
                let Some(number) = Number::read(&self.machine.heap, value) else {
                    return Ok(Fit::Stuck(value));
                };
                let rest = match self.sum(*constant, known)? {
                    Ok(rest) => rest,
                    Err(stuck) => return Ok(Fit::Stuck(stuck)),
                };
                let root = number.plus(-1, &rest).over(*factor);
                if !root.is(*kind) {
                    return Ok(Fit::No);
                }
                let root = root.write(&mut self.machine.heap);
                self.machine.set_slot(self.base, *variable, root);
                Ok(Fit::Yes)
            }
            Pattern::Constructor { symbol, all, fields } => match self.machine.heap.head(value) {
                Some(Head::Symbol(found)) if found == *symbol => {
                    let mut fit = Fit::Yes;
                    for (index, field) in fields.iter().enumerate() {
                        let part = self.machine.heap.argument(value, index);
                        fit = fit.and(self.bind(part, field)?);
                        if fit == Fit::No {
                            break;
                        }
                    }
                    Ok(fit)
                }
                Some(Head::Symbol(found)) if all.contains(&found) => Ok(Fit::No),
                _ => Ok(Fit::Stuck(value)),
            },
            Pattern::List { elements, tail } => {
                let (mut fit, mut rest) = (Fit::Yes, value);
                for element in elements {
                    match self.machine.heap.head(rest) {
                        Some(Head::Cons) => {}
                        Some(Head::Nil) => return Ok(Fit::No),
                        _ => return Ok(fit.and(Fit::Stuck(rest))),
                    }
                    let first = self.machine.heap.argument(rest, 0);
                    rest = self.machine.heap.argument(rest, 1);
                    fit = fit.and(self.bind(first, element)?);
                    if fit == Fit::No {
                        return Ok(fit);
                    }
                }
                let end = match (tail, self.machine.heap.head(rest)) {
                    (Some(tail), _) => self.bind(rest, tail)?,
                    (None, Some(Head::Nil)) => Fit::Yes,
                    (None, Some(Head::Cons)) => Fit::No,
                    (None, _) => Fit::Stuck(rest),
                };
                Ok(fit.and(end))
            }
        }
    }

    /// Whether a value of a larger sort belongs to a smaller one.
    fn is(&self, value: Value, kind: Kind) -> Fit {
        let heap = &self.machine.heap;
        match kind {
            Kind::Any => Fit::Yes,
            Kind::From(_) | Kind::Whole => match Number::read(heap, value) {
                Some(number) if number.is(kind) => Fit::Yes,
                Some(_) => Fit::No,
                None => Fit::Stuck(value),
            },
            Kind::Set => match heap.head(value) {
                Some(Head::Set) => Fit::Yes,
                Some(Head::CoSet) => Fit::No,
                _ => Fit::Stuck(value),
            },
            Kind::Bag => match heap.head(value) {
                Some(Head::Bag) => Fit::Yes,
                _ => Fit::Stuck(value),
            },
        }
    }

    /// A sum of known parts, or the part that is not a number.
    fn sum(
        &mut self,
        constant: i64,
        known: &[(i64, Code)],
    ) -> Result<Result<Number, Value>, EvaluationError> {
        let mut total = Number::Small(constant);
        for (factor, code) in known {
            let value = self.evaluate(code)?;
            match Number::read(&self.machine.heap, value) {
                Some(part) => total = total.plus(*factor, &part),
                None => return Ok(Err(value)),
            }
        }
        Ok(Ok(total))
    }

    fn limit(&mut self, bound: &Bound) -> Result<Limit, EvaluationError> {
        let rest = match self.sum(bound.constant, &bound.known)? {
            Ok(rest) => rest,
            Err(stuck) => return Ok(Limit::Stuck(stuck)),
        };
        // factor * x + rest <= 0
        let edge = Number::Small(0).plus(-1, &rest).over(bound.factor);
        Ok(Limit::At(match (bound.factor > 0, bound.strict) {
            (true, false) => edge.floor(),
            (true, true) => edge.ceil() - IBig::ONE,
            (false, false) => edge.ceil(),
            (false, true) => edge.floor() + IBig::ONE,
        }))
    }

    /// The greatest lower and the least upper bound among those with values, and a bound that is
    /// stuck.
    pub(super) fn limits(
        &mut self,
        lower: &[Bound],
        upper: &[Bound],
        least: Option<i64>,
    ) -> Result<Limits, EvaluationError> {
        let (mut from, mut to, mut doubt) = (least.map(IBig::from), None, None);
        for bound in lower {
            match self.limit(bound)? {
                Limit::At(at) => from = Some(from.map_or(at.clone(), |old: IBig| old.max(at))),
                Limit::Stuck(value) => doubt = Some(Doubt { test: None, origin: bound.origin, value }),
            }
        }
        for bound in upper {
            match self.limit(bound)? {
                Limit::At(at) => to = Some(to.map_or(at.clone(), |old: IBig| old.min(at))),
                Limit::Stuck(value) => doubt = Some(Doubt { test: None, origin: bound.origin, value }),
            }
        }
        Ok((from, to, doubt))
    }

    fn interval<'s>(
        &mut self,
        slot: u32,
        lower: &[Bound],
        upper: &[Bound],
        least: Option<i64>,
        rest: &'s [Step],
        doubt: Option<Doubt<'s>>,
    ) -> Outcome {
        let (from, to, stuck) = self.limits(lower, upper, least)?;
        let (Some(from), Some(to)) = (from, to) else {
            if let Some(Doubt { origin, value, .. }) = stuck {
                self.doubt(origin, value);
            }
            return CONTINUE;
        };
        let to = match self.most.map(|most| IBig::from(least.unwrap_or(0)) + IBig::from(most) - IBig::ONE) {
            Some(last) if to > last => {
                if let Some(bound) = upper.first() {
                    self.doubt(bound.origin, Value::FALSE);
                }
                last
            }
            _ => to,
        };
        let doubt = doubt.or(stuck);
        if let (Ok(from), Ok(to)) = (i64::try_from(&from), i64::try_from(&to)) {
            for number in from..=to {
                let value = self.machine.heap.whole(number);
                self.machine.set_slot(self.base, slot, value);
                if self.steps(rest, doubt)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return CONTINUE;
        }
        let mut number = from;
        while number <= to {
            let value = self.machine.heap.whole_big(&number);
            self.machine.set_slot(self.base, slot, value);
            if self.steps(rest, doubt)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            number += IBig::ONE;
        }
        CONTINUE
    }

    fn members<'s>(
        &mut self,
        collection: Value,
        pattern: &SlotPattern,
        test: &'s Test,
        otherwise: Option<&'s [Step]>,
        rest: &'s [Step],
        doubt: Option<Doubt<'s>>,
    ) -> Outcome {
        let stride = match self.machine.heap.head(collection) {
            Some(Head::Nil | Head::Cons) => return self.elements(collection, pattern, test, rest, doubt),
            Some(Head::Set) => 1,
            Some(Head::Bag) => 2,
            _ => {
                return match otherwise {
                    Some(steps) => self.steps(steps, doubt),
                    None => {
                        self.doubt(test.origin, collection);
                        CONTINUE
                    }
                };
            }
        };
        for index in (0..self.machine.heap.arity(collection)).step_by(stride) {
            let element = self.machine.heap.argument(collection, index);
            let mut doubt = doubt;
            if self.fit(element, pattern, test, &mut doubt)? && self.steps(rest, doubt)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        CONTINUE
    }

    /// Enumerates the distinct elements of a list.
    fn elements<'s>(
        &mut self,
        list: Value,
        pattern: &SlotPattern,
        test: &'s Test,
        rest: &'s [Step],
        doubt: Option<Doubt<'s>>,
    ) -> Outcome {
        let (mut next, mut seen): (Value, Option<FxHashSet<Value>>) = (list, None);
        let mut count = 0;
        loop {
            match self.machine.heap.head(next) {
                Some(Head::Cons) => {}
                Some(Head::Nil) => return CONTINUE,
                _ => {
                    self.doubt(test.origin, next);
                    return CONTINUE;
                }
            }
            let element = self.machine.heap.argument(next, 0);
            let repeated = if count < SHORT {
                let (heap, mut before) = (&self.machine.heap, list);
                (0..count).any(|_| {
                    let earlier = heap.argument(before, 0);
                    before = heap.argument(before, 1);
                    heap.same(earlier, element)
                })
            } else {
                let heap = &self.machine.heap;
                let seen = seen.get_or_insert_with(|| {
                    let mut before = list;
                    let step = |_| {
                        let earlier = heap.argument(before, 0);
                        before = heap.argument(before, 1);
                        earlier
                    };
                    (0..count).map(step).collect()
                });
                !seen.insert(element)
            };
            count += 1;
            next = self.machine.heap.argument(next, 1);
            let mut doubt = doubt;
            if !repeated
                && self.fit(element, pattern, test, &mut doubt)?
                && self.steps(rest, doubt)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

impl Fit {
    /// The result of matching two parts of a value.
    fn and(self, other: Fit) -> Fit {
        match (self, other) {
            (Fit::No, _) | (_, Fit::No) => Fit::No,
            (Fit::Stuck(value), _) | (_, Fit::Stuck(value)) => Fit::Stuck(value),
            (Fit::Perhaps, _) | (_, Fit::Perhaps) => Fit::Perhaps,
            (Fit::Yes, Fit::Yes) => Fit::Yes,
        }
    }
}
