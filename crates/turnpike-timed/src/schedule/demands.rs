//! What a path demands of the moments at which its transitions are taken.

use super::rules::{self, Comparison, Waiting, fail};
use super::{Path, priority};
use crate::evaluate::{Machine, Outcome};
use crate::network::{ClockAtom, ClockCell, Network, ProcessId};
use crate::query::Condition;

/// An upper bound on moments. Moment 0 is the start, moment `k` the `k`-th transition; the one
/// after the last transition is the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) left: Side,
    pub(super) bound: i64,
    /// `<` rather than `<=`.
    pub(super) strict: bool,
}

/// The quantity that a demand bounds from above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// `later - earlier`.
    Difference { later: usize, earlier: usize },
    /// A sum of moments, each with a factor; needed only where clocks can be stopped.
    Sum(Vec<(usize, i64)>),
}

impl Demand {
    pub(super) fn difference(later: usize, earlier: usize, bound: i64, strict: bool) -> Demand {
        Demand { left: Side::Difference { later, earlier }, bound, strict }
    }

    /// The negation.
    pub(super) fn opposite(&self) -> Demand {
        let left = match &self.left {
            Side::Difference { later, earlier } => Side::Difference { later: *earlier, earlier: *later },
            Side::Sum(terms) => Side::Sum(terms.iter().map(|&(moment, times)| (moment, -times)).collect()),
        };
        Demand { left, bound: -self.bound, strict: !self.strict }
    }

    /// Whether moments, given as multiples of `1 / unit`, meet the demand.
    pub(super) fn holds(&self, moments: &[i64], unit: i64) -> bool {
        let wide = |moment: usize| i128::from(moments[moment]);
        let left = match &self.left {
            Side::Difference { later, earlier } => wide(*later) - wide(*earlier),
            Side::Sum(terms) => terms.iter().map(|&(moment, times)| wide(moment) * i128::from(times)).sum(),
        };
        let bound = i128::from(self.bound) * i128::from(unit);
        if self.strict { left < bound } else { left <= bound }
    }
}

/// All demands of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    /// Number of moments.
    pub(super) moments: usize,
    pub(super) always: Vec<Demand>,
    /// Each is a list of bounds that must not all hold: otherwise a transition of higher priority
    /// would be possible, an absent process would receive a broadcast, or time would pass where it
    /// must not.
    pub(super) rivals: Vec<Vec<Demand>>,
    /// Ways to meet the target: the demands of one of them must hold as well.
    pub(super) alternatives: Vec<Vec<Demand>>,
}

impl Demands {
    /// Divides the unit of time into `parts`; `None` if bounds become too large.
    pub(super) fn refine(&mut self, parts: i64) -> Option<()> {
        let lists = self.rivals.iter_mut().chain(&mut self.alternatives);
        for demand in self.always.iter_mut().chain(lists.flatten()) {
            demand.bound = demand.bound.checked_mul(parts)?;
        }
        Some(())
    }
}

/// The alternatives of a target are cut off after this many: meeting one is enough.
const ALTERNATIVES: usize = 4096;

/// The demands of a path. Its updates of variables are executed on the way.
pub(super) fn of(network: &Network, path: &Path, target: Option<&Condition>) -> Outcome<Demands> {
    let mut machine = rules::start(network, &path.initial);
    let end = path.steps.len() + 1;
    let prioritised = priority::is_used(network);
    let mut collector = Collector {
        clocks: vec![Clock { terms: vec![(0, -1)], constant: 0, runs: true }; network.clocks.len()],
        stopwatches: network.has_stopwatches(),
        demands: Demands { moments: end + 1, ..Demands::default() },
    };
    collector.switch(&mut machine, 0)?;
    collector.invariants(network, &mut machine, 0)?;
    for (number, participants) in path.steps.iter().enumerate() {
        let moment = number + 1;
        collector.wait(network, &mut machine, number)?;
        if prioritised {
            collector.rivals(network, &mut machine, participants, moment)?;
        }
        for guard in rules::absent(network, &mut machine, participants)? {
            let needs = guard.iter().map(|one| collector.demand(one, moment)).collect();
            collector.demands.rivals.push(needs);
        }
        for &(process, index) in participants {
            let edge = rules::edge(network, process, index)?;
            machine.enter(&edge.locals);
            for atom in &edge.guard.clocks {
                collector.atom(&mut machine, atom, moment)?;
            }
        }
        rules::update(network, &mut machine, participants)?;
        collector.assign(&machine, moment);
        rules::settle(network, &mut machine);
        collector.switch(&mut machine, moment)?;
        collector.invariants(network, &mut machine, moment)?;
    }
    collector.wait(network, &mut machine, path.steps.len())?;
    collector.demands.alternatives = match target {
        None => {
            // There is nothing to wait for.
            collector.less(end, end - 1);
            vec![Vec::new()]
        }
        Some(condition) => {
            machine.enter_condition(rules::condition_frame(network, condition));
            let mut ways = vec![Vec::new()];
            collector.ways(&mut machine, condition, true, end, &mut ways)?;
            ways
        }
    };
    Ok(collector.demands)
}

/// The value of a clock: a sum of moments plus a constant, plus the moment of evaluation if the
/// clock runs.
#[derive(Clone, Debug)]
struct Clock {
    terms: Vec<(usize, i64)>,
    constant: i64,
    runs: bool,
}

struct Collector {
    clocks: Vec<Clock>,
    stopwatches: bool,
    demands: Demands,
}

impl Collector {
    /// Demands `later <= earlier` of two moments.
    fn less(&mut self, later: usize, earlier: usize) {
        self.demands.always.push(Demand::difference(later, earlier, 0, false));
    }

    /// Applies the updates of a transition to the clocks.
    fn assign(&mut self, machine: &Machine<'_>, moment: usize) {
        let changed = |clock: usize| {
            let source = machine.origin(clock as u32);
            source.offset != 0 || source.clock.is_none_or(|from| from.0 as usize != clock)
        };
        let changes: Vec<(usize, Clock)> = (0..self.clocks.len())
            .filter(|&clock| changed(clock))
            .map(|clock| {
                let source = machine.origin(clock as u32);
                let mut value = match source.clock {
                    // Assume that it runs; `switch` corrects this once the target locations are
                    // known.
                    None => Clock { terms: vec![(moment, -1)], constant: 0, runs: true },
                    Some(from) => self.clocks[from.0 as usize].clone(),
                };
                value.constant += i64::from(source.offset);
                (clock, value)
            })
            .collect();
        for (clock, value) in changes {
            self.clocks[clock] = value;
        }
    }

    /// Stops and starts clocks at a moment, as the current locations demand.
    fn switch(&mut self, machine: &mut Machine<'_>, moment: usize) -> Outcome<()> {
        if !self.stopwatches {
            return Ok(());
        }
        for (clock, runs) in self.clocks.iter_mut().zip(rules::running(machine)?) {
            if clock.runs != runs {
                add(&mut clock.terms, moment, if runs { -1 } else { 1 });
                clock.runs = runs;
            }
        }
        Ok(())
    }

    /// Collects what makes transitions of higher priority possible.
    fn rivals<'n>(
        &mut self,
        network: &'n Network,
        machine: &mut Machine<'n>,
        participants: &[(ProcessId, u32)],
        moment: usize,
    ) -> Outcome<()> {
        for rival in priority::rivals(network, machine, participants)? {
            let mut needs = Collector {
                clocks: self.clocks.clone(),
                stopwatches: self.stopwatches,
                demands: Demands::default(),
            };
            // Every process that can receive does: for an absent one, some bound of each guard
            // fails.
            let mut ways: Vec<Vec<Demand>> = vec![Vec::new()];
            for guard in rules::absent(network, machine, &rival)? {
                let longer = |way: &Vec<Demand>| {
                    let way = way.clone();
                    let fails = guard.iter().map(|one| self.demand(one, moment).opposite());
                    fails.map(move |one| way.iter().cloned().chain([one]).collect()).collect::<Vec<_>>()
                };
                ways = ways.iter().flat_map(longer).collect();
            }
            for &(process, index) in &rival {
                let edge = rules::edge(network, process, index)?;
                machine.enter(&edge.locals);
                for atom in &edge.guard.clocks {
                    needs.atom(machine, atom, moment)?;
                }
            }
            let locations = machine.locations.clone();
            let possible = rules::update(network, machine, &rival).and_then(|()| {
                needs.assign(machine, moment);
                needs.invariants(network, machine, moment)
            });
            machine.undo();
            machine.locations = locations;
            // A transition whose updates fail or leave the invariant cannot be a rival.
            if possible.is_ok() {
                let always = &needs.demands.always;
                let all = ways.into_iter().map(|way| always.iter().cloned().chain(way).collect());
                self.demands.rivals.extend(all);
            }
        }
        Ok(())
    }

    /// The delay between transition `number` and the next moment: it is not negative, invariants
    /// hold throughout, and it is zero where waiting is forbidden.
    fn wait<'n>(&mut self, network: &'n Network, machine: &mut Machine<'n>, number: usize) -> Outcome<()> {
        self.less(number, number + 1);
        match rules::waiting(network, machine)? {
            Waiting::Never => self.less(number + 1, number),
            Waiting::Unless(stops) => {
                for stop in stops {
                    let ways = self.ways_around(&stop, number);
                    self.demands.rivals.push(ways.iter().map(Demand::opposite).collect());
                }
            }
        }
        self.invariants(network, machine, number + 1)
    }

    /// The ways not to wait, between transition `number` and the next, beyond a moment at which all
    /// comparisons of `stop` hold. One of them must hold.
    fn ways_around(&self, stop: &[Comparison], number: usize) -> Vec<Demand> {
        let next = number + 1;
        let mut ways = Vec::new();
        let (mut lowers, mut uppers) = (Vec::new(), Vec::new());
        let runs = |clock: Option<usize>| i64::from(clock.is_some_and(|clock| self.clocks[clock].runs));
        for one in stop {
            match runs(one.left) - runs(one.right) {
                // Does not change as time passes.
                0 => ways.push(self.demand(one, number).opposite()),
                // Has already ceased to hold.
                change if change > 0 => {
                    ways.push(self.demand(one, number).opposite());
                    uppers.push(one);
                }
                // The next transition is taken no later than when it starts to hold.
                _ => {
                    let mut begins = self.demand(one, next).opposite();
                    begins.strict = false;
                    ways.push(begins);
                    lowers.push(one);
                }
            }
        }
        // It starts to hold after the other has ceased to. The sum of the lower and the upper bound
        // does not depend on the moment.
        for lower in &lowers {
            for upper in &uppers {
                let (one, other) = (self.demand(lower, next), self.demand(upper, next));
                let mut terms = terms(&one);
                terms_into(&other, &mut terms);
                let sum = normal(terms, one.bound + other.bound, one.strict || other.strict);
                ways.push(sum.opposite());
            }
        }
        // No time passes at all.
        ways.push(Demand::difference(next, number, 0, false));
        ways
    }

    fn invariants(&mut self, network: &Network, machine: &mut Machine<'_>, moment: usize) -> Outcome<()> {
        for location in rules::locations(network, machine) {
            machine.enter_condition(rules::invariant_frame(network, location));
            for condition in &location.invariant.data {
                if !machine.holds(condition)? {
                    return Err(fail("the invariant of a location does not hold", &location.place));
                }
            }
            for atom in &location.invariant.clocks {
                self.atom(machine, atom, moment)?;
            }
        }
        Ok(())
    }

    fn atom(&mut self, machine: &mut Machine<'_>, atom: &ClockAtom, moment: usize) -> Outcome<()> {
        if let Some(comparison) = rules::compare(machine, atom)? {
            let demand = self.demand(&comparison, moment);
            self.demands.always.push(demand);
        }
        Ok(())
    }

    /// Translates a comparison of clocks at a moment into a demand on moments.
    fn demand(&self, comparison: &Comparison, moment: usize) -> Demand {
        let &Comparison { left, right, bound, strict } = comparison;
        let mut bound = bound;
        // The usual case: a running clock is `moment - since + constant`, and the zero clock has
        // `since == moment`.
        if !self.stopwatches {
            let since = |clock: Option<usize>| clock.map_or(moment, |clock| self.clocks[clock].terms[0].0);
            let constant = |clock: Option<usize>| clock.map_or(0, |clock| self.clocks[clock].constant);
            bound += constant(right) - constant(left);
            return Demand::difference(since(right), since(left), bound, strict);
        }
        let mut terms = Vec::new();
        for (clock, sign) in [(left, 1), (right, -1)] {
            let Some(clock) = clock.map(|clock| &self.clocks[clock]) else { continue };
            clock.terms.iter().for_each(|&(at, times)| add(&mut terms, at, sign * times));
            if clock.runs {
                add(&mut terms, moment, sign);
            }
            bound -= sign * clock.constant;
        }
        normal(terms, bound, strict)
    }

    /// Extends each way by what the condition (or its negation, unless `wanted`) demands of the
    /// last moment.
    fn ways(
        &self,
        machine: &mut Machine<'_>,
        condition: &Condition,
        wanted: bool,
        end: usize,
        ways: &mut Vec<Vec<Demand>>,
    ) -> Outcome<()> {
        if ways.is_empty() {
            return Ok(());
        }
        match (condition, wanted) {
            (Condition::Data(expression), _) => {
                if machine.holds(expression)? != wanted {
                    ways.clear();
                }
            }
            (Condition::Not(part), _) => self.ways(machine, part, !wanted, end, ways)?,
            (Condition::And(parts), true) | (Condition::Or(parts), false) => {
                for part in parts {
                    self.ways(machine, part, wanted, end, ways)?;
                }
            }
            (Condition::Or(parts), true) | (Condition::And(parts), false) => {
                let mut all = Vec::new();
                for part in parts {
                    let mut some = ways.clone();
                    self.ways(machine, part, wanted, end, &mut some)?;
                    all.append(&mut some);
                    all.truncate(ALTERNATIVES);
                }
                *ways = all;
            }
            (Condition::Clock(atom), _) => match rules::compare(machine, atom)? {
                Some(comparison) => {
                    let demand = self.demand(&comparison, end);
                    let needed = if wanted { demand } else { demand.opposite() };
                    ways.iter_mut().for_each(|way| way.push(needed.clone()));
                }
                None if wanted => {}
                None => ways.clear(),
            },
            // Moments alone do not determine which valuations are deadlocked.
            (Condition::Deadlock | Condition::Rate(_), _) => {}
        }
        Ok(())
    }
}

/// Adds a multiple of a moment to a sum.
fn add(terms: &mut Vec<(usize, i64)>, moment: usize, times: i64) {
    match terms.iter_mut().find(|term| term.0 == moment) {
        Some(term) => term.1 += times,
        None => terms.push((moment, times)),
    }
    terms.retain(|term| term.1 != 0);
}

/// The bounded quantity, as a sum.
fn terms(demand: &Demand) -> Vec<(usize, i64)> {
    let mut terms = Vec::new();
    terms_into(demand, &mut terms);
    terms
}

fn terms_into(demand: &Demand, terms: &mut Vec<(usize, i64)>) {
    match &demand.left {
        Side::Difference { later, earlier } => {
            add(terms, *later, 1);
            add(terms, *earlier, -1);
        }
        Side::Sum(more) => more.iter().for_each(|&(moment, times)| add(terms, moment, times)),
    }
}

/// Turns a demand on a sum into one on a difference where possible.
fn normal(mut terms: Vec<(usize, i64)>, bound: i64, strict: bool) -> Demand {
    terms.retain(|term| term.1 != 0);
    match *terms.as_slice() {
        [] => Demand::difference(0, 0, bound, strict),
        [(later, 1), (earlier, -1)] | [(earlier, -1), (later, 1)] => {
            Demand::difference(later, earlier, bound, strict)
        }
        _ => Demand { left: Side::Sum(terms), bound, strict },
    }
}

/// The clock that a cell denotes, as an index.
pub(super) fn clock(
    machine: &mut Machine<'_>,
    cell: Option<&ClockCell>,
    atom: &ClockAtom,
) -> Outcome<Option<usize>> {
    cell.map(|cell| machine.clock(cell, &atom.place).map(|clock| clock.0 as usize)).transpose()
}
