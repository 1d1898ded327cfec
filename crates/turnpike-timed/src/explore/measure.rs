//! The smallest and largest values of quantities in a state.

use turnpike_model::StepError;

use super::condition::Compiled;
use super::delay::beyond_holes;
use super::walker::{NO_ROW, Walker};
use crate::evaluate::{Fault, FaultKind, Outcome, atom_frame_size, frame_size};
use crate::network::{ClockAtom, Network};
use crate::query::Quantity;
use crate::zone::{Bound, Dbm};

/// The range of values of a quantity in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The infimum; the flag says that it is not attained.
    pub(crate) low: (i64, bool),
    /// The supremum; `None` if unbounded.
    pub(crate) high: Option<(i64, bool)>,
    /// Whether it is unbounded because time can diverge here, rather than because zones are coarse.
    pub(crate) endless: bool,
}

/// Number of local cells that measuring needs.
pub(crate) fn quantity_frame(network: &Network, quantity: &Quantity) -> usize {
    match quantity {
        Quantity::Data(expression) => frame_size(network, expression),
        Quantity::Clock { left, right, offset } => {
            let atom = ClockAtom {
                when: None,
                left: left.clone(),
                right: right.clone(),
                strict: false,
                bound: offset.clone(),
                place: 0..0,
            };
            atom_frame_size(network, &atom)
        }
    }
}

impl Walker<'_> {
    /// The extents of quantities in the part of a state that meets a condition; empty if that part
    /// is. Each quantity comes with its [`quantity_frame`].
    pub(crate) fn extents(
        &mut self,
        state: &[u32],
        condition: Option<&Compiled>,
        quantities: &[(Quantity, usize)],
    ) -> Result<Vec<Extent>, StepError> {
        let model = self.model;
        if state[model.layout.words] == super::ROOT {
            return Ok(Vec::new());
        }
        let extents = self.load(state).and_then(|()| self.loaded_extents(condition, quantities));
        self.machine.undo();
        extents.map_err(|fault| model.error(&fault))
    }

    fn loaded_extents(
        &mut self,
        condition: Option<&Compiled>,
        quantities: &[(Quantity, usize)],
    ) -> Outcome<Vec<Extent>> {
        let mut parts = vec![self.base.clone()];
        if let Some(compiled) = condition {
            self.machine.enter_condition(compiled.locals);
            self.restrict(&compiled.condition, true, compiled.locals, &mut parts)?;
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let holes = self.delay_holes()?;
        let unit = i64::from(self.model.unit);
        let mut extents = Vec::new();
        for (quantity, locals) in quantities {
            self.machine.enter_condition(*locals);
            let (clock, offset) = match quantity {
                Quantity::Data(expression) => {
                    let value = i64::from(self.machine.value(expression)?);
                    extents.push(Extent { low: (value, false), high: Some((value, false)), endless: false });
                    continue;
                }
                Quantity::Clock { left: Some(clock), right: None, offset } => (clock, offset),
                Quantity::Clock { .. } => return Err(unmeasured()),
            };
            let clock = self.machine.clock(clock, &(0..0))?;
            let offset = i64::from(self.machine.value(offset)?);
            let row = self.rows[clock.0 as usize + 1];
            if row == NO_ROW {
                return Err(unmeasured());
            }
            let row = row as usize;
            let mut whole: Option<Extent> = None;
            for part in &parts {
                let (least, most) = (part.get(0, row), part.get(row, 0));
                let value = |bound: Bound| (i64::from(bound.value()) * unit, bound.is_strict());
                let (low, strict) = value(least);
                let low = (offset - low, strict);
                let high = (most < Bound::INFINITY)
                    .then(|| value(most))
                    .map(|(high, strict)| (high + offset, strict));
                let endless = holes
                    .as_ref()
                    .is_some_and(|holes| beyond_holes(part, holes).iter().any(Dbm::can_diverge));
                let one = Extent { low, high, endless };
                whole = Some(match whole {
                    None => one,
                    Some(other) => one.with(other),
                });
            }
            extents.extend(whole);
        }
        Ok(extents)
    }

    /// Whether the later state, with the clock advanced, can do everything that the earlier one
    /// can. Both have the same discrete part, and the clock must have an upper bound in both.
    pub(crate) fn is_further_on(
        &mut self,
        earlier: &[u32],
        later: &[u32],
        clock: u32,
    ) -> Result<bool, StepError> {
        let model = self.model;
        let further = self.load(earlier).and_then(|()| {
            let before = self.base.clone();
            self.load(later)?;
            let row = self.rows[clock as usize + 1];
            Ok(row != NO_ROW && shifts(&before, &self.base, row as usize))
        });
        self.machine.undo();
        further.map_err(|fault| model.error(&fault))
    }
}

/// Whether advancing one clock of a zone by some positive integer makes it a subset of another.
fn shifts(part: &Dbm, whole: &Dbm, row: usize) -> bool {
    if part.get(row, 0) >= Bound::INFINITY || whole.get(row, 0) >= Bound::INFINITY {
        return false;
    }
    // The bounds on that integer.
    let (mut least, mut most) = (1i64, i64::MAX);
    for i in 0..whole.dimension() {
        for j in 0..whole.dimension() {
            let (inner, outer) = (part.get(i, j), whole.get(i, j));
            if i == j || outer >= Bound::INFINITY {
                continue;
            }
            if inner >= Bound::INFINITY {
                return false;
            }
            let gap = i64::from(outer.value()) - i64::from(inner.value());
            // An attained bound does not fit within the same bound if that is strict.
            let gap = gap - i64::from(outer.is_strict() && !inner.is_strict());
            match (i == row, j == row) {
                (true, _) => most = most.min(gap),
                (_, true) => least = least.max(-gap),
                _ if gap < 0 => return false,
                _ => {}
            }
        }
    }
    least <= most
}

impl Extent {
    /// The union of both.
    pub(crate) fn with(self, other: Extent) -> Extent {
        Extent {
            low: self.low.min(other.low),
            high: match (self.high, other.high) {
                // An attained value exceeds the same value when it is not attained.
                (Some((a, strict)), Some((b, other))) => {
                    let (value, reached) = (a, !strict).max((b, !other));
                    Some((value, !reached))
                }
                _ => None,
            },
            endless: self.endless || other.endless,
        }
    }
}

fn unmeasured() -> Box<Fault> {
    let message = "this difference of clocks cannot be measured".to_owned();
    Box::new(Fault { message, place: 0..0, kind: FaultKind::Model })
}
