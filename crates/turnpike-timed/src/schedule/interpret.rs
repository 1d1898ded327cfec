//! Executes a run on clock values, without zones or bounds.

use super::rules::{self, Comparison, Waiting, fail};
use super::{Path, Times, priority};
use crate::evaluate::{Machine, Outcome};
use crate::network::{ClockAtom, Network, ProcessId};
use crate::query::Condition;

/// Executes a run and checks every rule on the way. Returns the clock values right after each
/// transition, in units of time.
pub(super) fn run(
    network: &Network,
    path: &Path,
    target: Option<&Condition>,
    times: &Times,
) -> Outcome<Vec<Vec<i64>>> {
    let mut clocks = vec![0; network.clocks.len()];
    let mut machine = rules::start(network, &path.initial);
    let mut states = Vec::with_capacity(path.steps.len());
    check_invariants(network, &mut machine, &clocks, times.unit)?;
    for (number, participants) in path.steps.iter().enumerate() {
        wait(network, &mut machine, &mut clocks, times, number)?;
        rules::together(network, &mut machine, participants)?;
        if priority::is_used(network) {
            for rival in priority::rivals(network, &mut machine, participants)? {
                if can_be_taken(network, &mut machine, &rival, &clocks, times.unit) {
                    return Err(fail("a transition with a higher priority is possible", &(0..0)));
                }
            }
        }
        for &(process, index) in participants {
            let edge = rules::edge(network, process, index)?;
            machine.enter(&edge.locals);
            for atom in &edge.guard.clocks {
                if !holds(&mut machine, atom, &clocks, times.unit)? {
                    return Err(fail("a guard does not hold", &atom.place));
                }
            }
        }
        let all_hold =
            |guard: &Vec<Comparison>| guard.iter().all(|one| meets_bound(one, &clocks, times.unit));
        if rules::absent(network, &mut machine, participants)?.iter().any(all_hold) {
            return Err(fail("a process that would receive a broadcast does not take part", &(0..0)));
        }
        rules::update(network, &mut machine, participants)?;
        assign(&machine, &mut clocks, times.unit)?;
        rules::settle(network, &mut machine);
        check_invariants(network, &mut machine, &clocks, times.unit)?;
        states.push(clocks.clone());
    }
    wait(network, &mut machine, &mut clocks, times, path.steps.len())?;
    if let Some(condition) = target {
        machine.enter_condition(rules::condition_frame(network, condition));
        if !meets(&mut machine, condition, true, &clocks, times.unit)? {
            return Err(fail("the last state does not meet the target", &(0..0)));
        }
    }
    Ok(states)
}

/// Which clocks run at the end of a path.
pub(super) fn running_at_end(network: &Network, path: &Path) -> Outcome<Vec<bool>> {
    let mut machine = rules::start(network, &path.initial);
    for participants in &path.steps {
        rules::update(network, &mut machine, participants)?;
        rules::settle(network, &mut machine);
    }
    rules::running(&mut machine)
}

/// Assigns to each clock the value that the updates gave it.
fn assign(machine: &Machine<'_>, clocks: &mut [i64], unit: i64) -> Outcome<()> {
    let before = clocks.to_vec();
    for (clock, value) in clocks.iter_mut().enumerate() {
        let source = machine.origin(clock as u32);
        *value = source.clock.map_or(0, |from| before[from.0 as usize]) + i64::from(source.offset) * unit;
        if *value < 0 {
            return Err(fail("a clock becomes negative", &(0..0)));
        }
    }
    Ok(())
}

/// Whether a transition that variables and locations enable can be taken with these clock values.
/// The machine is left unchanged.
fn can_be_taken<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    participants: &[(ProcessId, u32)],
    clocks: &[i64],
    unit: i64,
) -> bool {
    let locations = machine.locations.clone();
    let mut is_possible = || {
        for &(process, index) in participants {
            let edge = rules::edge(network, process, index)?;
            machine.enter(&edge.locals);
            for atom in &edge.guard.clocks {
                if !holds(machine, atom, clocks, unit)? {
                    return Ok(false);
                }
            }
        }
        for guard in rules::absent(network, machine, participants)? {
            if guard.iter().all(|one| meets_bound(one, clocks, unit)) {
                return Ok(false);
            }
        }
        rules::update(network, machine, participants)?;
        let mut after = clocks.to_vec();
        assign(machine, &mut after, unit)?;
        check_invariants(network, machine, &after, unit).map(|()| true)
    };
    let outcome: Outcome<bool> = is_possible();
    machine.undo();
    machine.locations = locations;
    // A transition whose evaluation fails is not possible.
    outcome.unwrap_or(false)
}

fn wait<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    clocks: &mut [i64],
    times: &Times,
    number: usize,
) -> Outcome<()> {
    let delay = times.moments[number + 1] - times.moments[number];
    if delay < 0 {
        return Err(fail("time runs backwards", &(0..0)));
    }
    if delay > 0 {
        let runs = rules::running(machine)?;
        let stopped = match rules::waiting(network, machine)? {
            Waiting::Never => true,
            Waiting::Unless(stops) => {
                stops.iter().any(|stop| holds_before(stop, clocks, &runs, delay, times.unit))
            }
        };
        if stopped {
            return Err(fail("time passes where it must not", &(0..0)));
        }
        clocks.iter_mut().zip(&runs).filter(|(_, runs)| **runs).for_each(|(clock, _)| *clock += delay);
        // Invariants are convex: what holds at both ends holds in between.
        check_invariants(network, machine, clocks, times.unit)?;
    }
    Ok(())
}

fn check_invariants(network: &Network, machine: &mut Machine<'_>, clocks: &[i64], unit: i64) -> Outcome<()> {
    for location in rules::locations(network, machine) {
        machine.enter_condition(rules::invariant_frame(network, location));
        for condition in &location.invariant.data {
            if !machine.holds(condition)? {
                return Err(fail("an invariant does not hold", &location.place));
            }
        }
        for atom in &location.invariant.clocks {
            if !holds(machine, atom, clocks, unit)? {
                return Err(fail("an invariant does not hold", &atom.place));
            }
        }
    }
    Ok(())
}

fn holds(machine: &mut Machine<'_>, atom: &ClockAtom, clocks: &[i64], unit: i64) -> Outcome<bool> {
    Ok(rules::compare(machine, atom)?.is_none_or(|one| meets_bound(&one, clocks, unit)))
}

fn meets_bound(one: &Comparison, clocks: &[i64], unit: i64) -> bool {
    let value = |clock: Option<usize>| clock.map_or(0, |clock| clocks[clock]);
    let difference = value(one.left) - value(one.right);
    if one.strict { difference < one.bound * unit } else { difference <= one.bound * unit }
}

/// Whether all comparisons hold at once at some moment before `delay` has passed.
fn holds_before(all: &[Comparison], clocks: &[i64], runs: &[bool], delay: i64, unit: i64) -> bool {
    let value = |clock: Option<usize>| clock.map_or(0, |clock| clocks[clock]);
    let speed = |clock: Option<usize>| i64::from(clock.is_some_and(|clock| runs[clock]));
    // The interval in which all hold; a flag says whether its end is excluded.
    let (mut from, mut to) = ((0, false), (delay, true));
    for one in all {
        let left = one.bound * unit - (value(one.left) - value(one.right));
        match speed(one.left) - speed(one.right) {
            0 if left < 0 || (left == 0 && one.strict) => return false,
            0 => {}
            change if change > 0 && (left, !one.strict) < (to.0, !to.1) => to = (left, one.strict),
            change if change > 0 => {}
            _ => from = from.max((-left, one.strict)),
        }
    }
    from.0 < to.0 || (from.0 == to.0 && !from.1 && !to.1)
}

/// Whether the value of a condition is `wanted`.
fn meets(
    machine: &mut Machine<'_>,
    condition: &Condition,
    wanted: bool,
    clocks: &[i64],
    unit: i64,
) -> Outcome<bool> {
    Ok(match condition {
        Condition::Data(expression) => machine.holds(expression)? == wanted,
        Condition::Clock(atom) => holds(machine, atom, clocks, unit)? == wanted,
        Condition::Not(part) => meets(machine, part, !wanted, clocks, unit)?,
        Condition::And(parts) | Condition::Or(parts) => {
            let all = matches!(condition, Condition::And(_)) == wanted;
            for part in parts {
                if meets(machine, part, wanted, clocks, unit)? != all {
                    return Ok(!all);
                }
            }
            all
        }
        // These are decided on zones.
        Condition::Deadlock | Condition::Rate(_) => true,
    })
}
