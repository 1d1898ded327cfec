//! Clock bounds by location: the least fixed point of "tested here or later, before the clock is
//! reset".
//!
//! Each process is solved separately with a worklist, over the clocks that it mentions. A clock
//! keeps its bounds when another process resets it, which is sound and what TChecker does. An
//! assignment `x = y` propagates the bounds of `x` to `y`, also between processes.

use std::collections::BTreeMap;

use turnpike_model::Diagnostic;

use super::comparisons::{Test, atoms, tests};
use super::effects::{Effects, Source, effects};
use crate::network::{ChannelCell, ClockId, LocationId, Network, ProcessId, Sync};
use crate::query::Condition;
use crate::zone::{Bound, NO_BOUND};

/// The constants that a clock may still be compared with before its next reset; [`NO_BOUND`] if
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockBounds {
    /// The clock.
    pub clock: ClockId,
    /// Largest constant of a lower bound: `x > c`, `x >= c`.
    pub lower: i32,
    /// Largest constant of an upper bound: `x < c`, `x <= c`.
    pub upper: i32,
}

/// The active clocks of every location. The bounds of a tuple of locations are the maxima over its
/// processes.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// By process, then by location.
    locations: Vec<Vec<Vec<ClockBounds>>>,
    everywhere: Vec<ClockBounds>,
    /// By clock, the processes that have bounds for it in some location.
    mentioned: Vec<Vec<u32>>,
}

/// A lower and an upper constant.
type Pair = (i32, i32);
const NONE: Pair = (NO_BOUND, NO_BOUND);

impl Bounds {
    /// Solves the equations of a network; `conditions` are those that the search will evaluate.
    pub fn new(network: &Network, conditions: &[Condition]) -> Result<Bounds, Diagnostic> {
        let everywhere = everywhere(network, conditions)?;
        let mut solvers = Vec::with_capacity(network.processes.len());
        for process in 0..network.processes.len() {
            solvers.push(Solver::new(network, process)?);
        }
        for solver in &mut solvers {
            solver.solve(network)?;
        }
        let copies = solvers.iter().any(Solver::has_copies);
        // Bounds that still grow after this many rounds are propagated in a cycle.
        let mut rounds = network.clocks.len() * network.processes.len() + 1;
        while copies && propagate_copies(network, &mut solvers)? {
            if rounds == 0 {
                return Err(Diagnostic::error(
                    "no bounds can be found for the clocks: processes copy them to each other and move them backwards",
                ));
            }
            rounds -= 1;
        }
        let locations: Vec<Vec<Vec<ClockBounds>>> = solvers.iter().map(Solver::result).collect();
        let mut mentioned: Vec<Vec<u32>> = vec![Vec::new(); network.clocks.len()];
        for (process, locations) in locations.iter().enumerate() {
            for bound in locations.iter().flatten() {
                let processes = &mut mentioned[bound.clock.0 as usize];
                if processes.last() != Some(&(process as u32)) {
                    processes.push(process as u32);
                }
            }
        }
        Ok(Bounds {
            locations,
            everywhere: everywhere
                .into_iter()
                .map(|(clock, (lower, upper))| ClockBounds { clock, lower, upper })
                .collect(),
            mentioned,
        })
    }

    /// Keeps every clock that is tested somewhere active everywhere, with its largest bounds.
    pub(crate) fn keep_dead(&mut self) {
        let mut pairs: BTreeMap<ClockId, Pair> = BTreeMap::new();
        for bound in self.locations.iter().flatten().flatten().chain(&self.everywhere) {
            let entry = pairs.entry(bound.clock).or_insert(NONE);
            *entry = larger(*entry, (bound.lower, bound.upper));
        }
        let bounds = |(clock, (lower, upper))| ClockBounds { clock, lower, upper };
        self.everywhere = pairs.into_iter().map(bounds).collect();
    }

    /// Lower and upper bound of a clock when `location` gives the locations of the processes, and
    /// whether it is active.
    pub(crate) fn of_clock(&self, clock: u32, location: impl Fn(u32) -> u32) -> (i32, i32, bool) {
        let local = self.mentioned[clock as usize].iter().map(|&process| {
            let bounds = self.at(ProcessId(process), LocationId(location(process)));
            bounds.iter().find(|bound| bound.clock.0 == clock)
        });
        let everywhere = self.everywhere.binary_search_by_key(&clock, |bound| bound.clock.0);
        let everywhere = everywhere.ok().map(|at| &self.everywhere[at]);
        let mut all = local.chain([everywhere]).flatten().peekable();
        let active = all.peek().is_some();
        let (lower, upper) = all.fold(NONE, |pair, bound| larger(pair, (bound.lower, bound.upper)));
        (lower, upper, active)
    }

    /// Whether no clock has bounds in locations of several processes.
    pub(crate) fn are_private(&self) -> bool {
        self.mentioned.iter().all(|processes| processes.len() < 2)
    }

    /// Bounds of the clocks that a process may still test from a location, sorted by clock.
    pub fn at(&self, process: ProcessId, location: LocationId) -> &[ClockBounds] {
        &self.locations[process.0 as usize][location.0 as usize]
    }

    /// Pairs of a clock and a constant that it is compared with; clocks may repeat.
    pub fn largest(&self) -> impl Iterator<Item = (ClockId, i32)> + '_ {
        let local = self.locations.iter().flatten().flatten();
        local.chain(&self.everywhere).map(|bounds| (bounds.clock, bounds.lower.max(bounds.upper)))
    }

    /// The bounds of the conditions, which apply everywhere.
    pub fn everywhere(&self) -> &[ClockBounds] {
        &self.everywhere
    }
}

/// Propagates bounds to clocks that other processes copy from: `x = y` makes `y` matter wherever
/// `x` does. Returns whether anything grew.
fn propagate_copies(network: &Network, solvers: &mut [Solver]) -> Result<bool, Diagnostic> {
    let mut grew = false;
    for index in 0..solvers.len() {
        let mut wanted = Vec::new();
        for (edge, effects) in solvers[index].effects.iter().enumerate() {
            for (target, sources) in effects {
                for source in sources {
                    let Source::Clock(clock, offset) = *source else { continue };
                    if clock == *target {
                        continue;
                    }
                    let others = solvers.iter().enumerate().filter(|(other, _)| *other != index);
                    let pair = others.map(|(_, solver)| solver.largest(*target)).fold(NONE, larger);
                    let location = network.processes[index].edges[edge].source;
                    wanted.push((location, clock, bounds_before(pair, offset)));
                }
            }
        }
        for (location, clock, pair) in wanted {
            let most = i64::from(pair.0.max(pair.1));
            if most >= i64::from(Bound::LIMIT) {
                return Err(endless(network, clock));
            }
            let ceiling = &mut solvers[index].ceiling;
            *ceiling = (*ceiling).max(most + backwards(&solvers[index].effects));
            grew |= solvers[index].raise(location.0 as usize, clock, pair);
        }
        solvers[index].solve(network)?;
    }
    Ok(grew)
}

/// The equations of one process.
struct Solver {
    process: usize,
    /// The clocks that it mentions, sorted.
    clocks: Vec<ClockId>,
    /// By location, then by position in `clocks`.
    values: Vec<Vec<Pair>>,
    effects: Vec<Effects>,
    /// Edges by target.
    incoming: Vec<Vec<usize>>,
    pending: Vec<usize>,
    /// An upper limit on bounds propagated without a cycle.
    ceiling: i64,
}

impl Solver {
    fn new(network: &Network, index: usize) -> Result<Solver, Diagnostic> {
        let process = &network.processes[index];
        let count = process.locations.len();
        let mut found: Vec<(usize, Test)> = Vec::new();
        for (location, declared) in process.locations.iter().enumerate() {
            for atom in &declared.invariant.clocks {
                tests(network, &[], atom, true, &mut |test| found.push((location, test)));
            }
        }
        let mut incoming = vec![Vec::new(); count];
        let mut all_effects = Vec::with_capacity(process.edges.len());
        for (number, edge) in process.edges.iter().enumerate() {
            for atom in &edge.guard.clocks {
                let mut note = |test| found.push((edge.source.0 as usize, test));
                tests(network, &edge.locals, atom, true, &mut note);
                if counts_where_closed(network, &edge.sync) {
                    tests(network, &edge.locals, atom, false, &mut note);
                }
            }
            incoming[edge.target.0 as usize].push(number);
            all_effects.push(effects(network, edge));
        }
        let mut clocks: Vec<ClockId> = found.iter().map(|(_, test)| clock_of(*test)).collect();
        for (target, sources) in all_effects.iter().flatten() {
            clocks.push(*target);
            clocks.extend(sources.iter().filter_map(|source| match source {
                Source::Clock(clock, _) => Some(*clock),
                Source::Number => None,
            }));
        }
        clocks.sort_unstable();
        clocks.dedup();
        let mut solver = Solver {
            process: index,
            values: vec![vec![NONE; clocks.len()]; count],
            clocks,
            effects: all_effects,
            incoming,
            pending: Vec::new(),
            ceiling: 0,
        };
        for (location, test) in found {
            let pair = pair_of(network, test)?;
            solver.ceiling = solver.ceiling.max(i64::from(pair.0.max(pair.1)));
            solver.raise(location, clock_of(test), pair);
        }
        solver.ceiling += backwards(&solver.effects);
        Ok(solver)
    }

    /// Whether some clock is assigned from another one.
    fn has_copies(&self) -> bool {
        let mut all = self.effects.iter().flatten();
        all.any(|(target, sources)| {
            sources.iter().any(|source| matches!(source, Source::Clock(clock, _) if clock != target))
        })
    }

    fn position(&self, clock: ClockId) -> Option<usize> {
        self.clocks.binary_search(&clock).ok()
    }

    /// The largest bounds of a clock in any location.
    fn largest(&self, clock: ClockId) -> Pair {
        let Some(position) = self.position(clock) else { return NONE };
        self.values.iter().map(|values| values[position]).fold(NONE, larger)
    }

    fn raise(&mut self, location: usize, clock: ClockId, pair: Pair) -> bool {
        let Some(position) = self.position(clock) else { return false };
        let value = &mut self.values[location][position];
        let sum = larger(*value, pair);
        if sum == *value {
            return false;
        }
        *value = sum;
        self.pending.push(location);
        true
    }

    fn solve(&mut self, network: &Network) -> Result<(), Diagnostic> {
        let edges = &network.processes[self.process].edges;
        while let Some(target) = self.pending.pop() {
            for incoming in 0..self.incoming[target].len() {
                let edge = self.incoming[target][incoming];
                let source = edges[edge].source.0 as usize;
                for position in 0..self.clocks.len() {
                    let (clock, pair) = (self.clocks[position], self.values[target][position]);
                    if pair == NONE {
                        continue;
                    }
                    let Some(sources) = self.effects[edge].get(&clock) else {
                        self.raise(source, clock, pair);
                        continue;
                    };
                    for one in sources.clone() {
                        let Source::Clock(origin, offset) = one else { continue };
                        let pair = bounds_before(pair, offset);
                        if i64::from(pair.0.max(pair.1)) > self.ceiling {
                            return Err(endless(network, origin).at(edges[edge].place.clone(), "this edge"));
                        }
                        self.raise(source, origin, pair);
                    }
                }
            }
        }
        Ok(())
    }

    fn result(&self) -> Vec<Vec<ClockBounds>> {
        let row = |values: &Vec<Pair>| {
            let active = self.clocks.iter().zip(values).filter(|(_, pair)| **pair != NONE);
            active.map(|(&clock, &(lower, upper))| ClockBounds { clock, lower, upper }).collect()
        };
        self.values.iter().map(row).collect()
    }
}

fn everywhere(network: &Network, conditions: &[Condition]) -> Result<BTreeMap<ClockId, Pair>, Diagnostic> {
    let mut found = Vec::new();
    for condition in conditions {
        atoms(condition, true, &mut |atom, holds| {
            tests(network, &[], atom, holds, &mut |test| found.push(test))
        });
    }
    let mut pairs: BTreeMap<ClockId, Pair> = BTreeMap::new();
    for test in found {
        let pair = pair_of(network, test)?;
        let entry = pairs.entry(clock_of(test)).or_insert(NONE);
        *entry = larger(*entry, pair);
    }
    if pairs.is_empty() {
        return Ok(pairs);
    }
    let edges = network.processes.iter().flat_map(|process| &process.edges);
    let all: Vec<Effects> = edges.map(|edge| effects(network, edge)).collect();
    let ceiling =
        pairs.values().map(|pair| i64::from(pair.0.max(pair.1))).max().unwrap_or(0) + backwards(&all);
    loop {
        let before_round = pairs.clone();
        for (target, sources) in all.iter().flatten() {
            let Some(&pair) = pairs.get(target) else { continue };
            for source in sources {
                if let Source::Clock(clock, offset) = *source {
                    let handed = bounds_before(pair, offset);
                    if i64::from(handed.0.max(handed.1)) > ceiling {
                        return Err(endless(network, clock));
                    }
                    let entry = pairs.entry(clock).or_insert(NONE);
                    *entry = larger(*entry, handed);
                }
            }
        }
        if pairs == before_round {
            return Ok(pairs);
        }
    }
}

/// Whether it matters where the guard of an edge does *not* hold: a broadcast proceeds without a
/// receiver, and time passes where no synchronisation on an urgent channel is possible.
fn counts_where_closed(network: &Network, sync: &Sync) -> bool {
    // Cells of an array share one declaration, so the first stands for all.
    let channel = |cell: &ChannelCell| &network.channels[cell.base.0 as usize];
    match sync {
        Sync::Internal | Sync::Event(_) => false,
        Sync::Send(cell) => channel(cell).urgent,
        Sync::Receive(cell) => channel(cell).urgent || channel(cell).broadcast,
    }
}

/// How far all assignments together can move clocks backwards.
fn backwards(effects: &[Effects]) -> i64 {
    let sources = effects.iter().flatten().flat_map(|(_, sources)| sources);
    let offsets = sources.filter_map(|source| match source {
        Source::Clock(_, offset) => Some(-i64::from(*offset).min(0)),
        Source::Number => None,
    });
    offsets.sum()
}

fn endless(network: &Network, clock: ClockId) -> Diagnostic {
    let name = &network.clocks[clock.0 as usize];
    Diagnostic::error(format!("no bound can be found for clock {name}: it is moved backwards in a loop"))
}

fn clock_of(test: Test) -> ClockId {
    match test {
        Test::Lower(clock, _) | Test::Upper(clock, _) => clock,
    }
}

/// The bounds that one test requires. Clocks are never negative, so neither are bounds.
fn pair_of(network: &Network, test: Test) -> Result<Pair, Diagnostic> {
    let (Test::Lower(clock, value) | Test::Upper(clock, value)) = test;
    if value >= i64::from(Bound::LIMIT) {
        let name = &network.clocks[clock.0 as usize];
        return Err(Diagnostic::error(format!(
            "clock {name} is compared with {value}, but constants must be smaller than {}",
            Bound::LIMIT
        ))
        .help("give the variables in the bound smaller ranges, or scale all constants down"));
    }
    let value = value.max(0) as i32;
    Ok(match test {
        Test::Lower(..) => (value, NO_BOUND),
        Test::Upper(..) => (NO_BOUND, value),
    })
}

fn larger(a: Pair, b: Pair) -> Pair {
    (a.0.max(b.0), a.1.max(b.1))
}

/// The bounds on `y` before `x = y + offset`, given the bounds on `x` after it.
fn bounds_before(pair: Pair, offset: i32) -> Pair {
    let shift = |value: i32| if value == NO_BOUND { NO_BOUND } else { value.saturating_sub(offset).max(0) };
    (shift(pair.0), shift(pair.1))
}
