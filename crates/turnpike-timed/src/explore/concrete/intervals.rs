//! Delays as whole numbers of parts of a unit: intervals, and the moments at which a condition holds.

use super::super::fire::evaluate;
use super::Concrete;
use crate::evaluate::Outcome;
use crate::query::Condition;

/// Delays from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Interval {
    pub(super) fn is_empty(self) -> bool {
        self.from > self.to
    }

    /// What is left when `speed * delay` must be at most `most`; speeds are -1, 0 and 1.
    pub(super) fn narrow(self, speed: i64, most: i64) -> Interval {
        match speed {
            0 if most < 0 => Interval { from: 1, to: 0 },
            0 => self,
            speed if speed > 0 => Interval { to: self.to.min(most), ..self },
            _ => Interval { from: self.from.max(-most), ..self },
        }
    }

    /// The first, the last or any of the delays, as a random number wants it.
    pub(super) fn draw(self, random: u64) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        let count = (self.to - self.from) as u64 + 1;
        Some(match random % 4 {
            0 => self.from,
            1 => self.to,
            _ => self.from + ((random >> 2) % count) as i64,
        })
    }
}

impl Concrete<'_> {
    /// The delays among these after which a condition holds in the loaded state, or does not.
    pub(super) fn moments(
        &mut self,
        condition: &Condition,
        wanted: bool,
        among: Vec<Interval>,
    ) -> Outcome<Vec<Interval>> {
        if among.is_empty() {
            return Ok(among);
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match (condition, wanted) {
            (Condition::Data(expression), _) => {
                Ok(if self.walker.machine.holds(expression)? == wanted { among } else { Vec::new() })
            }
            (Condition::Not(part), _) => self.moments(part, !wanted, among),
            (Condition::And(parts), true) | (Condition::Or(parts), false) => {
                parts.iter().try_fold(among, |among, part| self.moments(part, wanted, among))
            }
            (Condition::Or(parts), true) | (Condition::And(parts), false) => {
                let mut all = Vec::new();
                for part in parts {
                    all.append(&mut self.moments(part, wanted, among.clone())?);
                }
                Ok(all)
            }
            (Condition::Clock(atom), _) => {
                let Some((left, right, bound)) = evaluate(&mut self.walker.machine, atom)? else {
                    return Ok(if wanted { among } else { Vec::new() });
                };
                let atom = if wanted {
                    (left, right, bound)
                } else {
                    (right, left, crate::zone::Bound(1 - bound.0))
                };
                let narrowed = among.into_iter().map(|one| self.narrow(one, atom));
                Ok(narrowed.filter(|one| !one.is_empty()).collect())
            }
            (Condition::Deadlock | Condition::Rate(_), _) => Ok(Vec::new()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_narrow_from_their_side() {
        let all = Interval { from: 0, to: 100 };
        assert_eq!(all.narrow(1, 40), Interval { from: 0, to: 40 });
        assert_eq!(all.narrow(-1, -30), Interval { from: 30, to: 100 });
        assert_eq!(all.narrow(0, 0), all);
        assert!(all.narrow(0, -1).is_empty() && all.narrow(1, -1).is_empty());
    }

    #[test]
    fn draws_are_within_and_reach_both_ends() {
        let some = Interval { from: 3, to: 9 };
        let drawn: std::collections::BTreeSet<i64> =
            (0..200).filter_map(|number| some.draw(turnpike_model::hash::mix(1, number))).collect();
        assert_eq!(drawn, (3..=9).collect());
        assert_eq!(Interval { from: 1, to: 0 }.draw(7), None);
    }
}
