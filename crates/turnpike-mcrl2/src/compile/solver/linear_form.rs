//! Linear forms: a constant, known parts and open variables, each with an integer factor. Used to
//! solve `x + k == e` and `2 * x < e`.

use crate::typed::expression;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, VariableId};

use super::literal::builtin;

/// Sums with more parts than this are treated as opaque.
const MAX_PARTS: usize = 64;
/// So are sums that take more work than this: with shared subexpressions a walk can take long.
const MAX_WORK: usize = 10_000;

/// `constant + factor * part + … + factor * variable + …`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) constant: i64,
    /// Parts without open variables.
    pub(super) known: Vec<(i64, ExpressionId)>,
    /// Open variables, each once, with a factor other than 0.
    pub(super) open: Vec<(i64, VariableId)>,
}

impl Sum {
    /// The factor of an open variable.
    pub(super) fn factor(&self, variable: VariableId) -> i64 {
        self.open.iter().find(|(_, open)| *open == variable).map_or(0, |(factor, _)| *factor)
    }

    /// The sum of this and `factor` times another.
    pub(super) fn plus(mut self, factor: i64, other: &Sum) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for &(times, part) in &other.known {
            self.known.push((times.checked_mul(factor)?, part));
        }
        for &(times, variable) in &other.open {
            let times = times.checked_mul(factor)?;
            match self.open.iter_mut().find(|(_, open)| *open == variable) {
                Some((old, _)) => *old = old.checked_add(times)?,
                None => self.open.push((times, variable)),
            }
        }
        self.open.retain(|&(factor, _)| factor != 0);
        (self.known.len() + self.open.len() <= MAX_PARTS).then_some(self)
    }
}

/// Whether an expression mentions a variable that is still open.
pub(super) fn mentions(program: &Program, id: ExpressionId, open: &[VariableId]) -> bool {
    expression::free_variables(program, id).iter().any(|variable| open.contains(variable))
}

/// A number as a linear form; `None` if an open variable occurs other than linearly.
pub(super) fn sum(program: &Program, id: ExpressionId, open: &[VariableId]) -> Option<Sum> {
    Summation { program, open, work: MAX_WORK, met: 0 }.of(id)
}

struct Summation<'a> {
    program: &'a Program,
    open: &'a [VariableId],
    work: usize,
    /// How many occurrences of open variables have been visited.
    met: usize,
}

impl Summation<'_> {
    fn of(&mut self, id: ExpressionId) -> Option<Sum> {
        self.work = self.work.checked_sub(1)?;
        let met = self.met;
        let total = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.parts(id))?;
        // A part without open variables is computed as a whole. In `x - x + k` only `k` is such a
        // part.
        if self.met == met && !total.known.is_empty() {
            return Some(Sum { known: vec![(1, id)], ..Sum::default() });
        }
        Some(total)
    }

    fn parts(&mut self, id: ExpressionId) -> Option<Sum> {
        let constant = |constant| Sum { constant, ..Sum::default() };
        match self.program.expression(id) {
            Expression::Variable(variable) if self.open.contains(variable) => {
                self.met += 1;
                return Some(Sum { open: vec![(1, *variable)], ..Sum::default() });
            }
            Expression::Number(digits) => {
                if let Ok(number) = self.program.text(*digits).parse::<i64>() {
                    return Some(constant(number));
                }
            }
            Expression::Upcast(body) => return self.of(*body),
            Expression::Call { .. } => match builtin(self.program, id) {
                Some((Builtin::Add, &[left, right])) => {
                    let left = self.of(left)?;
                    return left.plus(1, &self.of(right)?);
                }
                Some((Builtin::Subtract, &[left, right])) => {
                    let left = self.of(left)?;
                    return left.plus(-1, &self.of(right)?);
                }
                Some((Builtin::Negate, &[body])) => return Sum::default().plus(-1, &self.of(body)?),
                Some((Builtin::Succ, &[body])) => return self.of(body)?.plus(1, &constant(1)),
                Some((Builtin::Pred, &[body])) => return self.of(body)?.plus(1, &constant(-1)),
                Some((Builtin::Multiply, &[left, right])) => {
                    for (factor, body) in [(left, right), (right, left)] {
                        if let Some(factor) = self.constant(factor) {
                            return Sum::default().plus(factor, &self.of(body)?);
                        }
                    }
                }
                // Conversions that cannot fail.
                Some((Builtin::Convert, &[body]))
                    if self.program.sort_of(body) <= self.program.sort_of(id) =>
                {
                    return self.of(body);
                }
                _ => {}
            },
            _ => {}
        }
        (!mentions(self.program, id, self.open)).then(|| Sum { known: vec![(1, id)], ..Sum::default() })
    }

    /// The value of an expression that is visibly a constant.
    fn constant(&mut self, id: ExpressionId) -> Option<i64> {
        let visible = match self.program.expression(id) {
            Expression::Number(_) | Expression::Upcast(_) => true,
            Expression::Call { .. } => matches!(builtin(self.program, id), Some((Builtin::Negate, _))),
            _ => false,
        };
        let total = if visible { self.of(id)? } else { return None };
        (total.known.is_empty() && total.open.is_empty()).then_some(total.constant)
    }
}

/// The least value of a number sort.
pub(super) fn least(sort: SortId) -> Option<i64> {
    match sort {
        SortId::POS => Some(1),
        SortId::NAT => Some(0),
        _ => None,
    }
}
