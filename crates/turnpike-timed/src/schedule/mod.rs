//! From a path of edges to a run with exact times.
//!
//! All that a path demands of its clocks are bounds on differences of the moments at which its transitions are taken: a clock's value is the time since
//! it was last assigned. The earliest moments are a longest path in the graph of these differences. The run is then executed by an
//! interpreter on clock values that knows nothing of zones; only what it accepts is told.

mod demands;
mod interpret;
mod priority;
mod rules;
mod simplex;
mod solve;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use turnpike_model::{Describer, Moment, Schedule, StepError};

use crate::evaluate::Fault;
use crate::network::{LocationId, Network, ProcessId};
use crate::query::Condition;

/// A path: where the processes begin, and for each transition the edges that are taken together, in the order of their updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Initial locations by process.
    pub initial: Vec<LocationId>,
    /// Edges by process and index.
    pub steps: Vec<Vec<(ProcessId, u32)>>,
}

/// Finds the earliest times at which the transitions of a path can be taken so that the last state meets `target`, and executes the run. Times
/// are told as multiples of what a unit of the network stands for.
pub fn schedule(
    network: &Network,
    path: &Path,
    target: Option<&Condition>,
    unit: i32,
) -> Result<Schedule, StepError> {
    let demands = demands::of(network, path, target).map_err(|fault| told(&fault))?;
    // Any of the ways to meet the target will do.
    let times =
        demands.alternatives.iter().find_map(|more| priority::earliest_without_rivals(&demands, more));
    let Some(times) = times else {
        return Err(StepError::new("the transitions cannot be taken in this order at any times"));
    };
    let states = interpret::run(network, path, target, &times).map_err(|fault| told(&fault))?;
    let below = times.unit * network.parts_per_unit();
    let told_time = |value: i64| fraction(value * i64::from(unit), below);
    let mut describer = Describer::new(&network.clocks);
    let mut texts: Vec<String> = Vec::new();
    let mut shown: Vec<i64> = Vec::new();
    let mut moments = Vec::with_capacity(path.steps.len());
    for (index, clocks) in states.iter().enumerate() {
        let (before, now) = (times.moments[index], times.moments[index + 1]);
        // Most clocks of a large network stay as they are, whatever time passes.
        for (at, &value) in clocks.iter().enumerate() {
            match shown.get_mut(at) {
                Some(known) if *known == value => {}
                Some(known) => {
                    *known = value;
                    texts[at].clear();
                    write_fraction(&mut texts[at], value * i64::from(unit), below);
                }
                None => {
                    shown.push(value);
                    texts.push(told_time(value));
                }
            }
        }
        moments.push(Moment {
            delay: told_time(now - before),
            time: told_time(now),
            clocks: describer.values(&texts),
        });
    }
    let end = path.steps.len();
    let rest = times.moments[end + 1] - times.moments[end];
    Ok(Schedule { moments, last_delay: (rest > 0).then(|| told_time(rest)) })
}

fn told(fault: &Fault) -> StepError {
    StepError::new(fault.message.clone())
}

/// `value / unit` in lowest terms.
fn fraction(value: i64, unit: i64) -> String {
    let mut text = String::new();
    write_fraction(&mut text, value, unit);
    text
}

fn write_fraction(text: &mut String, value: i64, unit: i64) {
    let (mut a, mut b) = (value.unsigned_abs(), unit.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1) as i64;
    let _ = match unit / divisor {
        1 => write!(text, "{}", value / divisor),
        below => write!(text, "{}/{below}", value / divisor),
    };
}

/// The moments of a run as multiples of `1 / unit`: the beginning, each transition, and the end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Times {
    moments: Vec<i64>,
    unit: i64,
}
