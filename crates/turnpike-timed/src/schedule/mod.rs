//! Turns a path of edges into a run with exact times.
//!
//! Everything that a path demands of its clocks is a bound on the difference of the moments at
//! which its transitions are taken: a clock's value is the time since it was last reset. The
//! earliest moments are longest paths in the graph of these differences. An interpreter on clock
//! values, which shares no code with the zones, then executes the run; a run that it rejects is not
//! reported.

mod demands;
mod interpret;
mod priority;
mod rules;
mod simplex;
mod solve;
#[cfg(test)]
mod tests;
mod windows;

use std::fmt::Write;

use turnpike_model::{ClockReading, Delay, Describer, Moment, Outlook, Schedule, StepError, Window};

use crate::evaluate::Fault;
use crate::network::{LocationId, Network, ProcessId};
use crate::query::Condition;
use demands::{Demand, Demands};

/// A path: the initial locations of the processes, and for each transition the edges that are taken
/// together, in the order of their updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Initial locations by process.
    pub initial: Vec<LocationId>,
    /// Edges by process and index.
    pub steps: Vec<Vec<(ProcessId, u32)>>,
}

/// Finds the earliest times at which the transitions of a path can be taken so that the last state
/// meets `target`, and executes the run. Times are reported in the model's own units: one unit of
/// the network counts as `unit` of them.
pub fn schedule(
    network: &Network,
    path: &Path,
    target: Option<&Condition>,
    unit: i32,
) -> Result<Schedule, StepError> {
    schedule_with(network, path, target, &[], unit)
}

/// As [`schedule`], with some delays fixed: `delays[k]` is the time before transition `k`.
pub fn schedule_with(
    network: &Network,
    path: &Path,
    target: Option<&Condition>,
    delays: &[Option<Delay>],
    unit: i32,
) -> Result<Schedule, StepError> {
    let times = find_times(network, path, target, delays, unit)?;
    let states = interpret::run(network, path, target, &times).map_err(|fault| step_error(&fault))?;
    let below = times.unit * network.parts_per_unit();
    let time_text = |value: i64| fraction(value * i64::from(unit), below);
    let mut describer = Describer::new(&network.clocks);
    let mut texts: Vec<String> = Vec::new();
    let mut shown: Vec<i64> = Vec::new();
    let mut moments = Vec::with_capacity(path.steps.len());
    for (index, clocks) in states.iter().enumerate() {
        let (before, now) = (times.moments[index], times.moments[index + 1]);
        // Most clocks of a large network keep their values, however much time passes.
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
                    texts.push(time_text(value));
                }
            }
        }
        moments.push(Moment {
            delay: time_text(now - before),
            time: time_text(now),
            clocks: describer.values(&texts),
        });
    }
    let end = path.steps.len();
    let rest = times.moments[end + 1] - times.moments[end];
    Ok(Schedule { moments, last_delay: (rest > 0).then(|| time_text(rest)) })
}

/// The earliest times of a path with these fixed delays.
fn find_times(
    network: &Network,
    path: &Path,
    target: Option<&Condition>,
    delays: &[Option<Delay>],
    unit: i32,
) -> Result<Times, StepError> {
    let mut demands = demands::of(network, path, target).map_err(|fault| step_error(&fault))?;
    let parts = keep_delays(&mut demands, delays, network.parts_per_unit(), i64::from(unit));
    let parts = parts.ok_or_else(|| StepError::new("these delays are too fine or too long"))?;
    // Meeting the target in one way is enough.
    let times =
        demands.alternatives.iter().find_map(|more| priority::earliest_without_rivals(&demands, more));
    let Some(Times { moments, unit }) = times else {
        let message = if delays.iter().any(Option::is_some) {
            "the transitions cannot be taken after these delays"
        } else {
            "the transitions cannot be taken in this order at any times"
        };
        return Err(StepError::new(message));
    };
    Ok(Times { moments, unit: unit * parts })
}

/// Adds the demands that fix the chosen delays. Returns into how many parts a unit of time is then
/// divided, or `None` if numbers become too large.
fn keep_delays(
    demands: &mut Demands,
    delays: &[Option<Delay>],
    parts_per_unit: i64,
    unit: i64,
) -> Option<i64> {
    let chosen = || delays.iter().enumerate().filter_map(|(number, delay)| Some((number, (*delay)?)));
    let mut parts: i64 = 1;
    for (_, delay) in chosen() {
        let below = i64::from(delay.denominator()).checked_mul(unit)?;
        parts = parts.checked_mul(below / greatest_divisor(parts, below))?;
    }
    if parts > MOST_PARTS {
        return None;
    }
    demands.refine(parts)?;
    for (number, delay) in chosen().filter(|&(number, _)| number + 1 < demands.moments) {
        let times = parts / (i64::from(delay.denominator()) * unit);
        let bound = i64::from(delay.numerator()).checked_mul(parts_per_unit)?.checked_mul(times)?;
        demands.always.push(Demand::difference(number + 1, number, bound, false));
        demands.always.push(Demand::difference(number, number + 1, -bound, false));
    }
    Some(parts)
}

/// Limit on the parts of a unit of time that chosen delays may require.
const MOST_PARTS: i64 = 1 << 24;

/// What can happen at the end of a path, and when. Each element of `next` is a transition to
/// consider.
pub fn outlook(
    network: &Network,
    path: &Path,
    delays: &[Option<Delay>],
    next: &[Vec<(ProcessId, u32)>],
    unit: i32,
) -> Result<Outlook, StepError> {
    let mut times = find_times(network, path, None, delays, unit)?;
    let fault = |fault: Box<Fault>| step_error(&fault);
    let states = interpret::run(network, path, None, &times).map_err(fault)?;
    let zero = vec![0; network.clocks.len()];
    let runs = interpret::running_at_end(network, path).map_err(fault)?;
    let below = times.unit * network.parts_per_unit();
    let time_text = |value: i64| fraction(value * i64::from(unit), below);
    let clocks = network.clocks.iter().zip(states.last().unwrap_or(&zero)).zip(runs);
    let clocks = clocks
        .map(|((name, &value), runs)| ClockReading { name: name.clone(), value: time_text(value), runs })
        .collect();
    // Drop the end: it is the unknown "next moment" here.
    times.moments.truncate(path.steps.len() + 1);
    let now = times.moments[path.steps.len()];
    let windows = |demands: &Demands| -> Vec<Window> {
        let delay = |moment: windows::Fraction| {
            let value = (moment.above - now * moment.below) * i64::from(unit);
            fraction(value, below * moment.below)
        };
        let window = |interval: windows::Interval| {
            let from = interval.from.map_or(("0".to_owned(), false), |from| (delay(from.at), from.open));
            let to = interval.to.map(|to| (delay(to.at), to.open));
            let before = to.as_ref().is_some_and(|(_, open)| *open);
            Window { from: from.0, after: from.1, to: to.map(|(to, _)| to), before }
        };
        windows::next_moments(demands, &times).into_iter().map(window).collect()
    };
    let anything = Condition::And(Vec::new());
    let waits = windows(&demands::of(network, path, Some(&anything)).map_err(fault)?);
    let mut longer = path.clone();
    let mut found = Vec::with_capacity(next.len());
    for step in next {
        longer.steps.push(step.clone());
        // A transition that data disable has no window.
        found.push(
            demands::of(network, &longer, None).map_or_else(|_| Vec::new(), |demands| windows(&demands)),
        );
        longer.steps.pop();
    }
    Ok(Outlook { time: time_text(now), clocks, waits, windows: found })
}

fn step_error(fault: &Fault) -> StepError {
    StepError::new(fault.message.clone())
}

/// `value / unit` in lowest terms.
fn fraction(value: i64, unit: i64) -> String {
    let mut text = String::new();
    write_fraction(&mut text, value, unit);
    text
}

fn greatest_divisor(one: i64, other: i64) -> i64 {
    let (mut a, mut b) = (one.unsigned_abs(), other.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1) as i64
}

fn write_fraction(text: &mut String, value: i64, unit: i64) {
    let divisor = greatest_divisor(value, unit);
    let _ = match unit / divisor {
        1 => write!(text, "{}", value / divisor),
        below => write!(text, "{}/{below}", value / divisor),
    };
}

/// The moments of a run as multiples of `1 / unit`: the start, each transition, and the end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Times {
    moments: Vec<i64>,
    unit: i64,
}
