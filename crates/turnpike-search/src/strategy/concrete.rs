//! Random walks on single states of models whose states represent many: clock valuations instead of
//! zones.
//!
//! With many clocks, a step costs far less. Walks restart after lengths that follow the sequence of
//! Luby, Sinclair and Zuckerman, which is nearly optimal if the depth of errors is unknown. If a
//! walk meets an objective, the search confirms it on the model itself; from then on it is a
//! witness like any other.

use turnpike_model::Diagnostic;

use super::random::RandomWalk;
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;
use crate::witness::Path;

/// Steps of the shortest walk.
const SHORTEST: u32 = 256;

/// What `--concrete` needs.
fn unavailable(name: &str) -> Diagnostic {
    Diagnostic::error(format!("{name} cannot be walked on single states"))
        .help("--concrete is for timed automata without differences of clocks and without priorities")
}

pub(crate) fn search(run: &mut Run<'_>, options: &RandomWalk) -> Result<StopReason, Halt> {
    let Some(outside) = run.enter_concrete()? else {
        return Err(SearchError::from(unavailable(&run.model.info().name)).into());
    };
    let outcome = walks(run, options);
    // What was counted on the way is what is reported.
    run.leave_concrete(outside);
    outcome
}

fn walks(run: &mut Run<'_>, options: &RandomWalk) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    let mut successors = run.buffer();
    let mut state = initial.clone();
    for walk in 1u32.. {
        let length = options.restart_depth.unwrap_or_else(|| SHORTEST.saturating_mul(luby(walk)));
        let length = length.saturating_add(run.uncounted_levels()).min(run.max_depth);
        let mut choices: Vec<u32> = Vec::new();
        state.clone_from(&initial);
        for depth in 0..length {
            let path = || Path::Choices(choices.clone());
            run.expand(&state, depth, &mut successors, &path)?;
            run.check(&state, &successors, &path)?;
            if successors.is_empty() {
                break;
            }
            let choice = run.rng.index(successors.len());
            choices.push(choice as u32);
            state.clear();
            state.extend_from_slice(successors.state(choice));
        }
        if choices.len() <= run.uncounted_levels() as usize {
            // Nothing can be done: beginning again would go on forever.
            return Ok(if run.max_depth <= run.uncounted_levels() {
                StopReason::MaxDepth
            } else {
                StopReason::Finished
            });
        }
    }
    Ok(StopReason::Finished)
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
