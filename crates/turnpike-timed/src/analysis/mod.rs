//! Static analysis of networks: which values an expression can take, and which constants a clock is still compared with in a location.

use turnpike_model::Diagnostic;

use crate::network::{ClockId, Expression, Local, LocationId, Network, ProcessId};
use crate::query::Condition;

/// The constants that a clock may still be compared with before it is assigned again; [`NO_BOUND`](crate::zone::NO_BOUND) where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockBounds {
    /// The clock.
    pub clock: ClockId,
    /// Largest constant of a lower bound: `x > c`, `x >= c`.
    pub lower: i32,
    /// Largest constant of an upper bound: `x < c`, `x <= c`.
    pub upper: i32,
}

/// For every location the clocks that are active in it. What holds in a tuple of locations is the maximum over the processes.
#[derive(Clone, Debug, Default)]
pub struct Bounds {}

impl Bounds {
    /// Solves the network's equations; `conditions` are those that will be asked for.
    pub fn new(network: &Network, conditions: &[Condition]) -> Result<Bounds, Diagnostic> {
        let _ = (network, conditions);
        unimplemented!()
    }

    /// Bounds of the clocks that a process may still test from this location, in ascending order of clocks.
    pub fn at(&self, process: ProcessId, location: LocationId) -> &[ClockBounds] {
        let _ = (process, location);
        unimplemented!()
    }

    /// Bounds that hold everywhere: those of the conditions.
    pub fn everywhere(&self) -> &[ClockBounds] {
        unimplemented!()
    }
}

/// Smallest and largest value that an expression can have, by the ranges of the cells.
pub fn range(network: &Network, locals: &[Local], expression: &Expression) -> (i64, i64) {
    let _ = (network, locals, expression);
    unimplemented!()
}

/// Whether some guard, invariant or condition compares a difference of two clocks.
pub fn has_diagonals(network: &Network, conditions: &[Condition]) -> bool {
    let _ = (network, conditions);
    unimplemented!()
}
