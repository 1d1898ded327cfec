//! What concrete runs reach whose delays are multiples of half a unit, also with stopped clocks.
//!
//! Regions do not cover stopped clocks. Whatever such a run reaches, zones must reach; what it does
//! not reach may need other delays.

use std::collections::BTreeSet;

use super::{Discrete, Region, Sketch, Slow};

/// Ranks per unit: a step is two of them, and the one between represents all moments on the way.
const UNIT: i32 = 4;

/// All reachable locations and values of the variable.
pub(crate) fn small_steps(sketch: &Sketch) -> BTreeSet<Discrete> {
    let slow = Slow { sketch, unit: UNIT };
    let mut seen: BTreeSet<(Discrete, Region)> = BTreeSet::new();
    let mut open = vec![((vec![0; sketch.automata.len()], 0), vec![(0, 0); sketch.clocks])];
    open.retain(|(discrete, clocks)| slow.invariant(&discrete.0, clocks));
    while let Some((discrete, clocks)) = open.pop() {
        if !seen.insert((discrete.clone(), clocks.clone())) {
            continue;
        }
        open.extend(slow.moves(&discrete, &clocks).into_iter().map(|(target, _)| target));
        // Time stops at the first moment at which an urgent transition is possible.
        let between = slow.later_by(&discrete, &clocks, 1);
        let may_pass = !slow.rests(&discrete)
            && !slow.is_urgent(&discrete, &clocks)
            && !slow.is_urgent(&discrete, &between);
        let next = slow.later_by(&discrete, &clocks, 2);
        if may_pass && slow.invariant(&discrete.0, &next) {
            open.push((discrete, next));
        }
    }
    seen.into_iter().map(|(discrete, _)| discrete).collect()
}

impl Slow<'_> {
    /// The clock values some ranks later. Values above all constants are equivalent.
    fn later_by(&self, discrete: &Discrete, clocks: &Region, ranks: i32) -> Region {
        let stands = |clock: usize| self.spots(discrete).any(|spot| spot.stands.contains(&clock));
        let most = (self.sketch.most + 1) * UNIT;
        let later = |(clock, &(whole, rank)): (usize, &(i32, i32))| {
            let passed = if stands(clock) { 0 } else { ranks };
            let value = (whole * UNIT + rank + passed).min(most);
            (value / UNIT, value % UNIT)
        };
        clocks.iter().enumerate().map(later).collect()
    }
}
