//! Restricts runs to those along which time diverges, with one more clock.
//!
//! A process is added that moves along with every transition of the network and never blocks one.
//! It either waits, or *ticks*, which requires that a certain time has passed since its last tick.
//! A run with infinitely many ticks is infinitely long. Conversely, if time diverges along a run
//! that meets a condition infinitely often, the process can tick each time that the condition is
//! met and enough time has passed. So the runs in question are those in which the condition is met
//! infinitely often *at ticks*; several conditions take turns.
//!
//! Any time will do. With the largest constant of the network, few ticks fit between two events of
//! the network and there are few ways to place them; with 1 there were ten times as many states in
//! a network with constants of 800. The clock has only a lower bound, so zones stay as coarse as
//! possible. Ticks where no condition is met are useless, and are left out where the conditions are
//! known.

use crate::network::{
    ClockAtom, ClockCell, ClockId, ClockValue, Constraint, Edge, Expression, Location, LocationId, Network,
    Process, ProcessId, Statement, Sync,
};
use crate::zone::Bound;

/// The name of the process. It is not an identifier, so no model has such a process.
pub const TICKER: &str = "non-zeno";

/// The last transition did not tick.
const WAITING: LocationId = LocationId(0);
/// The last transition ticked.
pub(crate) const TICKED: LocationId = LocationId(1);

/// What the added process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    /// It ticks when possible.
    Counted,
    /// It never ticks; states only have the same layout.
    Idle,
}

/// Appends the process.
pub(crate) fn add(network: &mut Network, ticks: Ticks) {
    let id = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let edge = |source, target| Edge {
        source,
        target,
        sync: Sync::Internal,
        guard: Constraint::default(),
        update: Vec::new(),
        locals: Vec::new(),
        place: 0..0,
    };
    // Edges have the same numbers whether it ticks or not.
    let mut edges = vec![edge(WAITING, WAITING)];
    if ticks == Ticks::Counted {
        let unit = unit(network);
        let clock = ClockCell::fixed(ClockId(id(network.clocks.len())));
        network.clocks.push(format!("{TICKER}.z"));
        let tick = |source| Edge {
            guard: Constraint {
                data: Vec::new(),
                clocks: vec![ClockAtom {
                    when: None,
                    left: None,
                    right: Some(clock.clone()),
                    strict: false,
                    bound: Expression::Constant(-unit),
                    place: 0..0,
                }],
            },
            update: vec![Statement::Clock {
                clock: clock.clone(),
                value: ClockValue::Constant(Expression::Constant(0)),
                place: 0..0,
            }],
            ..edge(source, TICKED)
        };
        edges.extend([tick(WAITING), edge(TICKED, WAITING), tick(TICKED)]);
    }
    let location = |name: &str| Location { name: name.to_owned(), ..Location::default() };
    network.ticker = Some(ProcessId(id(network.processes.len())));
    // A level of its own would make the network look prioritised.
    let priority = network.processes.first().map_or(0, |process| process.priority);
    network.processes.push(Process {
        name: TICKER.to_owned(),
        locations: vec![location("waiting"), location("ticked")],
        initial: vec![WAITING],
        edges,
        priority,
    });
}

/// The minimal time between ticks: the largest constant that a clock is compared with.
fn unit(network: &Network) -> i32 {
    let processes = || network.processes.iter();
    let invariants = processes().flat_map(|process| &process.locations).map(|location| &location.invariant);
    let guards = processes().flat_map(|process| &process.edges).map(|edge| &edge.guard);
    let number = |atom: &ClockAtom| match atom.bound {
        Expression::Constant(value) => value.checked_abs().filter(|&value| value < Bound::LIMIT),
        _ => None,
    };
    let all = invariants.chain(guards).flat_map(|constraint| &constraint.clocks).filter_map(number);
    all.max().unwrap_or(1).max(1)
}
