//! Zones made coarser by the constants that clocks are still compared with, so that there are finitely many.

use super::dbm::INFINITE;
use super::{Bound, Dbm, NO_BOUND};

/// How zones are made coarser so that there are finitely many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extrapolation {
    /// Not at all: exact, but the graph may be infinite.
    None,
    /// By the largest constant of each clock.
    M,
    /// The same, coarser where the zone lies above the constants.
    MPlus,
    /// By lower and upper bounds apart.
    Lu,
    /// The same, coarser where the zone lies above the constants: what TChecker does.
    LuPlus,
}

/// The largest packed entry whose number is at most the constant.
fn at_most(constant: i32) -> i32 {
    match constant {
        NO_BOUND => i32::MIN,
        _ => Bound::weak(constant.clamp(-Bound::LIMIT, Bound::LIMIT)).0,
    }
}

/// The smallest packed entry that says no more of a clock than that it is above the constant.
fn above(constant: i32) -> i32 {
    match constant {
        NO_BOUND => INFINITE,
        _ => Bound::strict(-constant.clamp(-Bound::LIMIT, Bound::LIMIT)).0,
    }
}

impl Dbm {
    /// Makes the zone coarser; bounds are by row, starting with clock row 1 at index 0, [`NO_BOUND`] where there is none.
    pub fn extrapolate(&mut self, extrapolation: Extrapolation, lower: &[i32], upper: &[i32]) {
        debug_assert!(lower.len() + 1 == self.dimension && upper.len() + 1 == self.dimension);
        let both = |(&l, &u): (&i32, &i32)| (l.max(u), l.max(u));
        let apart = |(&l, &u): (&i32, &i32)| (l, u);
        let bounds = lower.iter().zip(upper);
        let changed = match extrapolation {
            Extrapolation::None => false,
            Extrapolation::M => self.raise(bounds.map(both)),
            Extrapolation::MPlus => self.raise_plus(bounds.map(both)),
            Extrapolation::Lu => self.raise(bounds.map(apart)),
            Extrapolation::LuPlus => self.raise_plus(bounds.map(apart)),
        };
        if changed {
            let consistent = self.close();
            debug_assert!(consistent, "a larger zone is not empty");
        }
    }

    /// Raises entries one by one: those above the lower bound of the first clock, and those below minus the upper bound of the second.
    fn raise(&mut self, bounds: impl Iterator<Item = (i32, i32)> + Clone) -> bool {
        let Dbm { dimension, stride, entries, scratch, .. } = self;
        let floors = &mut scratch.row;
        floors.clear();
        floors.push(above(0));
        floors.extend(bounds.clone().map(|(_, upper)| above(upper)));
        floors.resize(*stride, INFINITE);
        let mut changed = false;
        let (first, rest) = entries.split_at_mut(*stride);
        for (i, (row, (lower, _))) in rest.chunks_exact_mut(*stride).zip(bounds).enumerate() {
            let ceiling = at_most(lower);
            // The diagonal is not touched: as infinity it stays what it is.
            row[i + 1] = INFINITE;
            let mut differs = 0;
            for (entry, &floor) in row.iter_mut().zip(&*floors) {
                let raised = if *entry > ceiling { INFINITE } else { floor.max(*entry) };
                differs |= *entry ^ raised;
                *entry = raised;
            }
            changed |= differs != 0;
            row[i + 1] = Bound::ZERO.0;
        }
        changed | raise_first(&mut first[1..*dimension], &floors[1..])
    }

    /// Raises whole rows of clocks above their lower bound and whole columns of clocks above their upper bound, besides single entries.
    fn raise_plus(&mut self, bounds: impl Iterator<Item = (i32, i32)> + Clone) -> bool {
        let Dbm { dimension, stride, entries, scratch, .. } = self;
        let (first, rest) = entries.split_at_mut(*stride);
        let ceilings = &mut scratch.row;
        let floors = &mut scratch.weak;
        ceilings.clear();
        ceilings.push(i32::MAX);
        floors.clear();
        floors.push(above(0));
        for (&least, (_, upper)) in first[1..].iter().zip(bounds.clone()) {
            let floor = above(upper);
            ceilings.push(if least < floor { i32::MIN } else { i32::MAX });
            floors.push(floor);
        }
        ceilings.resize(*stride, i32::MAX);
        let mut changed = false;
        for (i, (row, (lower, _))) in rest.chunks_exact_mut(*stride).zip(bounds).enumerate() {
            let i = i + 1;
            let ceiling =
                if lower == NO_BOUND || first[i] < above(lower) { i32::MIN } else { at_most(lower) };
            row[i] = INFINITE;
            let mut differs = 0;
            for (entry, &column) in row.iter_mut().zip(&*ceilings) {
                let raised = if *entry > ceiling.min(column) { INFINITE } else { *entry };
                differs |= *entry ^ raised;
                *entry = raised;
            }
            changed |= differs != 0;
            row[i] = Bound::ZERO.0;
        }
        changed | raise_first(&mut first[1..*dimension], &floors[1..])
    }
}

/// Raises the lower bounds of clocks that lie above what they are compared with, never below zero.
fn raise_first(first: &mut [i32], floors: &[i32]) -> bool {
    let mut differs = 0;
    for (entry, &floor) in first.iter_mut().zip(floors) {
        let raised = floor.min(Bound::ZERO.0).max(*entry);
        differs |= *entry ^ raised;
        *entry = raised;
    }
    differs != 0
}
