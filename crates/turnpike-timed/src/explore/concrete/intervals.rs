//! Delays as integers, in fractions of a unit: intervals, and the moments at which a condition
//! holds.

use super::super::fire::evaluate;
use super::Concrete;
use crate::evaluate::Outcome;
use crate::query::Condition;

/// A closed interval of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Interval {
    pub(super) fn is_empty(self) -> bool {
        self.from > self.to
    }

    /// Restricts the interval to `speed * delay <= most`; speeds are -1, 0 and 1.
    pub(super) fn narrow(self, speed: i64, most: i64) -> Interval {
        match speed {
            0 if most < 0 => Interval { from: 1, to: 0 },
            0 => self,
            speed if speed > 0 => Interval { to: self.to.min(most), ..self },
            _ => Interval { from: self.from.max(-most), ..self },
        }
    }

    /// The first, the last or a random delay of the interval, depending on the pace.
    pub(super) fn draw(self, pace: Pace, random: u64) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        let count = (self.to - self.from) as u64 + 1;
        let (first, last) = pace.shares();
        let lot = random % Pace::SIXTEENTHS;
        Some(if lot < first {
            self.from
        } else if lot < first + last {
            self.to
        } else {
            self.from + ((random >> 4) % count) as i64
        })
    }
}

/// How a walk chooses delays, from its start to its end.
///
/// Some errors need nearly every delay to be maximal, or minimal. Independent choices rarely
/// produce long runs of either, so each walk keeps one pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Mixed,
    Any,
    Earliest,
    Latest,
    MostlyEarliest,
    MostlyLatest,
    Ends,
}

impl Pace {
    /// Denominator of the shares.
    const SIXTEENTHS: u64 = 16;

    /// The paces that starts cycle through; `Mixed` occurs twice.
    const EACH: [Pace; 8] = [
        Pace::Mixed,
        Pace::Latest,
        Pace::Any,
        Pace::MostlyLatest,
        Pace::Mixed,
        Pace::Earliest,
        Pace::Ends,
        Pace::MostlyEarliest,
    ];

    /// Position of the pace in a drawing number; the lower bits are random. The highest bit marks
    /// the root.
    const SHIFT: u32 = 28;

    /// The pace stored in a drawing number.
    pub(super) fn of(number: u32) -> Pace {
        Self::EACH[(number >> Self::SHIFT) as usize % Self::EACH.len()]
    }

    /// The drawing number of a start.
    pub(super) fn begin(beginning: u32) -> u32 {
        (beginning % Self::EACH.len() as u32) << Self::SHIFT | beginning
    }

    /// The drawing number after a transition: a new one with the same pace.
    pub(super) fn follow(number: u32, drawn: u64) -> u32 {
        let mask = (1 << Self::SHIFT) - 1;
        number & !mask | (drawn >> 36) as u32
    }

    /// How many of sixteen delays are the first, and how many the last of their interval.
    fn shares(self) -> (u64, u64) {
        match self {
            Pace::Mixed => (4, 4),
            Pace::Any => (0, 0),
            Pace::Earliest => (16, 0),
            Pace::Latest => (0, 16),
            Pace::MostlyEarliest => (15, 0),
            Pace::MostlyLatest => (0, 15),
            Pace::Ends => (8, 8),
        }
    }
}

impl Concrete<'_> {
    /// Which of these delays make the value of a condition in the loaded state `wanted`.
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
    use turnpike_model::hash;

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
            (0..200).filter_map(|number| some.draw(Pace::Mixed, hash::mix(1, number))).collect();
        assert_eq!(drawn, (3..=9).collect());
        assert_eq!(Interval { from: 1, to: 0 }.draw(Pace::Latest, 7), None);
    }

    #[test]
    fn a_pace_decides_which_delays_are_drawn() {
        let some = Interval { from: 3, to: 9 };
        let drawn = |pace: Pace| -> Vec<i64> {
            (0..1600).filter_map(|number| some.draw(pace, hash::mix(2, number))).collect()
        };
        assert!(drawn(Pace::Latest).iter().all(|&delay| delay == 9));
        assert!(drawn(Pace::Earliest).iter().all(|&delay| delay == 3));
        assert!(drawn(Pace::Ends).iter().all(|&delay| delay == 3 || delay == 9));
        // 1500 of 1600 and one seventh of the rest are expected; 1300 is twenty standard deviations
        // away.
        assert!(drawn(Pace::MostlyLatest).iter().filter(|&&delay| delay == 9).count() > 1300);
        assert!(drawn(Pace::MostlyEarliest).iter().filter(|&&delay| delay == 3).count() > 1300);
        // 229 of 1600 are expected, with a standard deviation of 14.
        let last = drawn(Pace::Any).iter().filter(|&&delay| delay == 9).count();
        assert!((130..330).contains(&last), "{last}");
    }

    #[test]
    fn walks_keep_their_pace() {
        for beginning in 0..64 {
            let mut number = Pace::begin(beginning);
            let pace = Pace::of(number);
            assert_eq!(pace, Pace::EACH[beginning as usize % 8]);
            for step in 0..50 {
                number = Pace::follow(number, hash::mix(u64::from(number), step));
                assert_eq!(Pace::of(number), pace);
                assert_eq!(number >> 31, 0, "the highest bit marks the root");
            }
        }
    }
}
