//! Random walks on single states of models whose states represent many: clock valuations instead of
//! zones.
//!
//! With many clocks, a step costs far less. Walks restart after lengths that follow the sequence of
//! Luby, Sinclair and Zuckerman, which is nearly optimal if the depth of errors is unknown. If a
//! walk meets an objective, the search confirms it on the model itself; from then on it is a
//! witness like any other.

use turnpike_model::Diagnostic;

use super::sampling::{self, Extent, Length, Over, Sampler};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;

/// Steps of the shortest walk.
const SHORTEST: u32 = 256;

fn unavailable(name: &str) -> Diagnostic {
    Diagnostic::error(format!("{name} cannot be walked on single states"))
        .help("that is for timed automata without differences of clocks and without priorities")
}

/// Walks of `length` steps, or of varied lengths.
pub(crate) fn search(run: &mut Run<'_>, length: Option<u32>) -> Result<StopReason, Halt> {
    let Some(outside) = run.enter_concrete()? else {
        return Err(SearchError::from(unavailable(&run.model.info().name)).into());
    };
    let length = length.map_or(Length::Varied(varied), Length::Steps);
    let extent = Extent { length, ..Extent::default() };
    let outcome = sampling::search(run, Sampler::Uniform(Over::Transitions), extent);
    // What was counted on the way is what is reported.
    run.leave_concrete(outside);
    outcome
}

/// Steps of a walk, by its number.
fn varied(number: u32) -> u32 {
    SHORTEST.saturating_mul(luby(number))
}

/// 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, … from 1 on.
fn luby(number: u32) -> u32 {
    let mut number = number;
    loop {
        let bits = u32::BITS - number.leading_zeros();
        if number == u32::MAX >> (u32::BITS - bits) {
            return 1 << (bits - 1);
        }
        number -= (1 << (bits - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_luby() {
        let lengths: Vec<u32> = (1..=15).map(luby).collect();
        assert_eq!(lengths, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
