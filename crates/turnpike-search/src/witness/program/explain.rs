//! Why a schedule fails: the last two steps whose reversal makes the failure vanish.
//!
//! The races of the (shortened) execution are reversed one by one, the latest first. After the reversal the execution
//! goes on as before as far as that is possible, and in a number of random ways: when none of them shows the failure, the
//! order of these two steps is what matters.

use turnpike_model::StepError;
use turnpike_model::scheduler::{Policy, ThreadId};

use super::attempt::{Attempts, Schedule};
use crate::rng::{Purpose, derive};
use crate::strategy::Order;

/// Random continuations of a reversal.
const CONTINUATIONS: u64 = 8;

/// Two steps whose order decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decisive {
    /// Index of the earlier one.
    pub(crate) first: usize,
    /// Index of the later one; what a thread waits for in the end has its thread instead.
    pub(crate) second: Result<usize, ThreadId>,
    /// Executions with the two steps reversed, none of which failed in this way.
    pub(crate) tried: u64,
}

/// Looks for the last two steps whose order decides.
pub(crate) fn explain(
    attempts: &mut Attempts<'_, '_>,
    schedule: &Schedule,
    seed: u64,
) -> Result<Option<Decisive>, StepError> {
    let replayed = attempts.replay(&schedule.positions)?;
    if replayed.is_none() {
        return Ok(None);
    }
    let execution = attempts.execution.clone();
    let order = Order::new(&execution);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for later in (0..order.events.len()).rev() {
        // Only what was met: steps of the schedule, and what waits behind them.
        if later >= schedule.order.len() && later < order.steps {
            continue;
        }
        order.races(&execution, later, |earlier| pairs.push((earlier, later)));
    }
    for (earlier, later) in pairs {
        if attempts.exhausted() {
            return Ok(None);
        }
        if let Some(tried) = vanishes(attempts, schedule, &order, (earlier, later), seed)? {
            let second = if later < order.steps { Ok(later) } else { Err(order.events[later].thread) };
            return Ok(Some(Decisive { first: earlier, second, tried }));
        }
    }
    Ok(None)
}

/// How often it was tried, if the failure never showed when the two were reversed.
fn vanishes(
    attempts: &mut Attempts<'_, '_>,
    schedule: &Schedule,
    order: &Order,
    (earlier, later): (usize, usize),
    seed: u64,
) -> Result<Option<u64>, StepError> {
    let entry = |event: usize| (order.events[event].thread, order.events[event].alternative);
    let reversal = order.reversal(earlier, later);
    let mut wanted: Vec<(ThreadId, u32)> = (0..earlier).map(entry).collect();
    wanted.extend(reversal.iter().map(|&event| entry(event)));
    let reversed = wanted.len();
    wanted.push(entry(earlier));
    wanted.extend((earlier + 1..schedule.order.len()).filter(|event| !reversal.contains(event)).map(entry));
    if attempts.follow(&wanted)?.is_some() {
        return Ok(None);
    }
    // Without the reversal the comparison would mean nothing.
    let steps = &attempts.execution.steps;
    let kept = steps
        .iter()
        .zip(&wanted[..reversed])
        .all(|(step, want)| (step.choice.thread, step.choice.alternative) == *want);
    if !kept || steps.len() < reversed {
        return Ok(None);
    }
    let prefix: Vec<u32> = steps[..reversed].iter().map(|step| step.taken).collect();
    for number in 0..CONTINUATIONS {
        let seed = derive(seed, Purpose::Explain, (later as u64) << 32 | (earlier as u64) << 8 | number);
        if attempts.run(&prefix, Policy::Uniform { seed })?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(1 + CONTINUATIONS))
}
