//! Static analysis of networks: ranges of expressions, and the constants that clocks are still
//! compared with in each location.

mod bounds;
mod comparisons;
mod effects;
mod initial;
mod ranges;
#[cfg(test)]
mod tests;
mod written;

pub use bounds::{Bounds, ClockBounds};
pub use initial::check_initial;
pub use ranges::range;
pub(crate) use written::{Written, narrow};

use crate::network::Network;
use crate::query::Condition;

/// Whether some guard, invariant or condition compares a difference of two clocks.
pub fn has_diagonals(network: &Network, conditions: &[Condition]) -> bool {
    let mut found = false;
    let mut look = |atom: &crate::network::ClockAtom| found |= atom.left.is_some() && atom.right.is_some();
    for process in &network.processes {
        for location in &process.locations {
            location.invariant.clocks.iter().for_each(&mut look);
        }
        for edge in &process.edges {
            edge.guard.clocks.iter().for_each(&mut look);
        }
    }
    for condition in conditions {
        comparisons::atoms(condition, true, &mut |atom, _| look(atom));
    }
    found
}
