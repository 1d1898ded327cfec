//! Explains why a schedule fails: the last two steps whose reversal makes the failure disappear.
//!
//! The races of the (shortened) execution are reversed one by one, the latest first. After the
//! reversal, the execution continues as before as far as possible, and in a number of random ways.
//! If none of them shows the failure, the order of these two steps is decisive.

use turnpike_model::StepError;
use turnpike_model::paths::{Chooser, StepOrder};

use super::attempt::{Attempts, Schedule};
use crate::rng::{Purpose, derive};

/// Random continuations of a reversal.
const CONTINUATIONS: u64 = 8;

/// Two steps whose order decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decisive {
    /// Index of the earlier one.
    pub(crate) first: usize,
    /// Index of the later one; what a thread waits for in the end has its thread instead.
    pub(crate) second: Result<usize, u32>,
    /// Executions with the two steps reversed, none of which failed in this way.
    pub(crate) tried: u64,
}

/// Looks for the last two steps whose order decides.
pub(crate) fn explain(
    attempts: &mut Attempts<'_>,
    schedule: &Schedule,
    seed: u64,
) -> Result<Option<Decisive>, StepError> {
    let replayed = attempts.replay(&schedule.positions)?;
    if replayed.is_none() {
        return Ok(None);
    }
    let order = attempts.paths.detach_order();
    let order = &*order;
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for later in (0..order.events()).rev() {
        // Only what was met: steps of the schedule, and what waits behind them.
        if later >= schedule.order.len() && later < order.steps() {
            continue;
        }
        order.races(later, &mut |earlier| pairs.push((earlier, later)));
    }
    for (earlier, later) in pairs {
        if attempts.exhausted() {
            return Ok(None);
        }
        if let Some(tried) = vanishes(attempts, schedule, order, (earlier, later), seed)? {
            let second = if later < order.steps() { Ok(later) } else { Err(order.event(later).0) };
            return Ok(Some(Decisive { first: earlier, second, tried }));
        }
    }
    Ok(None)
}

/// How often it was tried, if the failure never showed when the two were reversed.
fn vanishes(
    attempts: &mut Attempts<'_>,
    schedule: &Schedule,
    order: &dyn StepOrder,
    (earlier, later): (usize, usize),
    seed: u64,
) -> Result<Option<u64>, StepError> {
    let entry = |event: usize| order.event(event);
    let reversal = order.reversal(earlier, later);
    let mut wanted: Vec<(u32, u32)> = (0..earlier).map(entry).collect();
    wanted.extend(reversal.iter().map(|&event| entry(event)));
    let reversed = wanted.len();
    wanted.push(entry(earlier));
    wanted.extend((earlier + 1..schedule.order.len()).filter(|event| !reversal.contains(event)).map(entry));
    if attempts.follow(&wanted)?.is_some() {
        return Ok(None);
    }
    // Without the reversal the comparison would mean nothing.
    let paths = &*attempts.paths;
    let taken = |at: usize| (paths.step(at).actor, paths.step(at).alternative);
    if paths.len() < reversed || (0..reversed).any(|at| taken(at) != wanted[at]) {
        return Ok(None);
    }
    let prefix: Vec<u32> = (0..reversed).map(|at| paths.step(at).taken).collect();
    for number in 0..CONTINUATIONS {
        let seed = derive(seed, Purpose::Explain, (later as u64) << 32 | (earlier as u64) << 8 | number);
        if attempts.run(&prefix, Chooser::Uniform { seed })?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(1 + CONTINUATIONS))
}
