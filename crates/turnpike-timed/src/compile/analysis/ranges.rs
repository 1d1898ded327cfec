//! Interval analysis: the smallest and the largest value of an expression.

use crate::network::{Binary, Cells, Expression, Local, Network, Quantifier, Space, Unary};

/// Smallest and largest value of an expression, given the ranges of the cells. Values outside 32
/// bits stop the evaluation with an error, so the result fits.
pub fn range(network: &Network, locals: &[Local], expression: &Expression) -> (i64, i64) {
    let (low, high) = Ranges { network, locals }.of(expression);
    (low.max(i64::from(i32::MIN)), high.min(i64::from(i32::MAX)))
}

const EVERYTHING: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

struct Ranges<'a> {
    network: &'a Network,
    locals: &'a [Local],
}

impl Ranges<'_> {
    fn of(&self, expression: &Expression) -> (i64, i64) {
        match expression {
            Expression::Constant(value) => (i64::from(*value), i64::from(*value)),
            Expression::Read(cells) => self.cells(cells),
            Expression::Table(values, _) => {
                let values = values.iter().map(|&value| (i64::from(value), i64::from(value)));
                values.reduce(union).unwrap_or(EVERYTHING)
            }
            Expression::Unary(Unary::Minus, value) => {
                let (low, high) = self.of(value);
                (-high, -low)
            }
            Expression::Unary(Unary::Not, _) | Expression::At(..) => (0, 1),
            Expression::Binary(operator, left, right, _) => self.binary(*operator, left, right),
            Expression::Conditional(parts) => union(self.of(&parts[1]), self.of(&parts[2])),
            Expression::InRange { value, low, high, .. } => {
                intersection(self.of(value), (i64::from(*low), i64::from(*high)))
            }
            Expression::Quantified { quantifier: Quantifier::Sum, low, high, body, .. } => {
                let count = (i64::from(*high) - i64::from(*low) + 1).max(0);
                let (smallest, largest) = self.of(body);
                clamp((smallest.min(0).saturating_mul(count), largest.max(0).saturating_mul(count)))
            }
            Expression::Quantified { .. } => (0, 1),
            Expression::Call { function, .. } => match self.network.functions.get(function.0 as usize) {
                Some(function) => function.result.map_or(EVERYTHING, |(l, h)| (i64::from(l), i64::from(h))),
                None => EVERYTHING,
            },
            Expression::Assign { target, value, .. } => intersection(self.of(value), self.cells(target)),
            Expression::Sequence(parts) => self.of(&parts[1]),
        }
    }

    fn cells(&self, cells: &Cells) -> (i64, i64) {
        let start = cells.base as usize;
        let end = if cells.offset.is_some() { start + cells.count as usize } else { start + 1 };
        let ranges: Option<Vec<(i32, i32)>> = match cells.space {
            Space::Global => self
                .network
                .variables
                .get(start..end)
                .map(|all| all.iter().map(|one| (one.low, one.high)).collect()),
            Space::Local => {
                self.locals.get(start..end).map(|all| all.iter().map(|one| (one.low, one.high)).collect())
            }
        };
        let ranges =
            ranges.unwrap_or_default().into_iter().map(|(low, high)| (i64::from(low), i64::from(high)));
        ranges.reduce(union).unwrap_or(EVERYTHING)
    }

    fn binary(&self, operator: Binary, left: &Expression, right: &Expression) -> (i64, i64) {
        let (a, b) = (self.of(left), self.of(right));
        let corners = |operation: fn(i64, i64) -> i64| {
            let all = [operation(a.0, b.0), operation(a.0, b.1), operation(a.1, b.0), operation(a.1, b.1)];
            clamp((
                all.into_iter().min().unwrap_or(EVERYTHING.0),
                all.into_iter().max().unwrap_or(EVERYTHING.1),
            ))
        };
        match operator {
            Binary::Add => clamp((a.0 + b.0, a.1 + b.1)),
            Binary::Subtract => clamp((a.0 - b.1, a.1 - b.0)),
            Binary::Multiply => corners(i64::saturating_mul),
            Binary::Divide => {
                let size = a.0.abs().max(a.1.abs());
                if b.0 > 0 || b.1 < 0 { corners(|x, y| x / y) } else { (-size, size) }
            }
            Binary::Remainder => {
                let size = (b.0.abs().max(b.1.abs()) - 1).max(0).min(a.0.abs().max(a.1.abs()));
                (if a.0 < 0 { -size } else { 0 }, if a.1 > 0 { size } else { 0 })
            }
            Binary::Minimum => (a.0.min(b.0), a.1.min(b.1)),
            Binary::Maximum => (a.0.max(b.0), a.1.max(b.1)),
            Binary::ShiftRight if a.0 >= 0 && b.0 >= 0 => (0, a.1),
            Binary::BitAnd if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
            Binary::BitOr | Binary::BitXor if a.0 >= 0 && b.0 >= 0 => (0, all_ones(a.1.max(b.1))),
            Binary::ShiftLeft | Binary::ShiftRight | Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                EVERYTHING
            }
            Binary::Less
            | Binary::LessEqual
            | Binary::Equal
            | Binary::NotEqual
            | Binary::GreaterEqual
            | Binary::Greater
            | Binary::And
            | Binary::Or => (0, 1),
        }
    }
}

/// The smallest number of the form 11…1 that is at least `value`.
fn all_ones(value: i64) -> i64 {
    (value + 1).max(1).unsigned_abs().next_power_of_two().cast_signed() - 1
}

fn union(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The intersection, or one operand alone if it is empty, since then there is no value at all.
fn intersection(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let both = (a.0.max(b.0), a.1.min(b.1));
    if both.0 <= both.1 { both } else { b }
}

fn clamp((low, high): (i64, i64)) -> (i64, i64) {
    (low.clamp(EVERYTHING.0, EVERYTHING.1), high.clamp(EVERYTHING.0, EVERYTHING.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Variable;

    fn network() -> Network {
        let variable =
            |name: &str, low, high| Variable { name: name.into(), low, high, initial: low, meta: false };
        Network { variables: vec![variable("a", -2, 3), variable("b", 1, 4)], ..Network::default() }
    }

    fn cell(base: u32) -> Box<Expression> {
        Box::new(Expression::Read(Cells::fixed(Space::Global, base)))
    }

    fn apply(operator: Binary, a: i64, b: i64) -> Option<i64> {
        Some(match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a.checked_div(b)?,
            Binary::Remainder => a.checked_rem(b)?,
            Binary::Minimum => a.min(b),
            Binary::Maximum => a.max(b),
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::ShiftRight => a >> u32::try_from(b).ok()?,
            Binary::ShiftLeft => a << u32::try_from(b).ok()?,
            _ => return None,
        })
    }

    #[test]
    fn every_value_lies_in_the_range() {
        let network = network();
        let all = [
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Divide,
            Binary::Remainder,
            Binary::Minimum,
            Binary::Maximum,
            Binary::BitAnd,
            Binary::BitOr,
            Binary::BitXor,
            Binary::ShiftLeft,
            Binary::ShiftRight,
        ];
        for operator in all {
            for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let expression = Expression::Binary(operator, cell(x), cell(y), 0..0);
                let (low, high) = range(&network, &[], &expression);
                let values = |index: u32| {
                    let variable = &network.variables[index as usize];
                    i64::from(variable.low)..=i64::from(variable.high)
                };
                for a in values(x) {
                    for b in values(y) {
                        if let Some(value) = apply(operator, a, b) {
                            assert!(
                                low <= value && value <= high,
                                "{operator:?} {a} {b}: {value} not in {low}..{high}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn arithmetic_is_tight() {
        let network = network();
        let of = |operator| range(&network, &[], &Expression::Binary(operator, cell(0), cell(1), 0..0));
        assert_eq!(of(Binary::Add), (-1, 7));
        assert_eq!(of(Binary::Subtract), (-6, 2));
        assert_eq!(of(Binary::Multiply), (-8, 12));
        assert_eq!(of(Binary::Divide), (-2, 3));
        assert_eq!(of(Binary::Equal), (0, 1));
    }
}
