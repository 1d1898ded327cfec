//! What a path demands of the moments at which its transitions are taken.

use super::rules::{self, fail};
use super::{Path, priority};
use crate::evaluate::{Machine, Outcome};
use crate::network::{ClockAtom, ClockCell, Network, ProcessId};
use crate::query::Condition;

/// `moment a - moment b <= bound`, or `<` when strict. Moment 0 is the beginning, moment `k` the `k`-th transition; the one behind the last
/// transition is the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) later: usize,
    pub(super) earlier: usize,
    pub(super) bound: i64,
    pub(super) strict: bool,
}

/// All demands of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    /// Number of moments.
    pub(super) moments: usize,
    pub(super) always: Vec<Difference>,
    /// Each is a list of bounds that must not all hold: a transition with a higher priority would be possible.
    pub(super) rivals: Vec<Vec<Difference>>,
    /// Ways to meet the target: the demands of one of them must hold as well.
    pub(super) alternatives: Vec<Vec<Difference>>,
}

/// A target with more alternatives than this is cut off: one of so many will do.
const ALTERNATIVES: usize = 4096;

/// The demands of a path, which is executed as far as variables are concerned.
pub(super) fn of(network: &Network, path: &Path, target: Option<&Condition>) -> Outcome<Demands> {
    let mut machine = rules::start(network, &path.initial);
    let end = path.steps.len() + 1;
    let prioritised = priority::is_used(network);
    let mut collector = Collector {
        assigned: vec![(0, 0); network.clocks.len()],
        demands: Demands { moments: end + 1, ..Demands::default() },
    };
    collector.invariants(network, &mut machine, 0)?;
    for (number, participants) in path.steps.iter().enumerate() {
        let moment = number + 1;
        collector.wait(network, &mut machine, number)?;
        if prioritised {
            collector.rivals(network, &mut machine, participants, moment)?;
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
        collector.invariants(network, &mut machine, moment)?;
    }
    collector.wait(network, &mut machine, path.steps.len())?;
    collector.demands.alternatives = match target {
        None => {
            // Nothing is to be waited for.
            collector.less(end, end - 1, 0, false);
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

struct Collector {
    /// By clock: the moment since which it runs, and what it began with.
    assigned: Vec<(usize, i64)>,
    demands: Demands,
}

impl Collector {
    fn less(&mut self, later: usize, earlier: usize, bound: i64, strict: bool) {
        self.demands.always.push(Difference { later, earlier, bound, strict });
    }

    /// What clocks are after the updates of a transition.
    fn assign(&mut self, machine: &Machine<'_>, moment: usize) {
        let before = self.assigned.clone();
        for (clock, value) in self.assigned.iter_mut().enumerate() {
            let source = machine.origin(clock as u32);
            *value = match source.clock {
                None => (moment, i64::from(source.offset)),
                Some(from) => {
                    let (since, more) = before[from.0 as usize];
                    (since, more + i64::from(source.offset))
                }
            };
        }
    }

    /// What makes transitions possible that go before the one that is taken.
    fn rivals<'n>(
        &mut self,
        network: &'n Network,
        machine: &mut Machine<'n>,
        participants: &[(ProcessId, u32)],
        moment: usize,
    ) -> Outcome<()> {
        for rival in priority::rivals(network, machine, participants)? {
            let mut needs = Collector { assigned: self.assigned.clone(), demands: Demands::default() };
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
            // What cannot be done is in nobody's way.
            if possible.is_ok() {
                self.demands.rivals.push(needs.demands.always);
            }
        }
        Ok(())
    }

    /// The time between transition `number` and the next moment: it does not run backwards, invariants hold, and where waiting is forbidden there
    /// is none.
    fn wait<'n>(&mut self, network: &'n Network, machine: &mut Machine<'n>, number: usize) -> Outcome<()> {
        self.less(number, number + 1, 0, false);
        if !rules::may_wait(network, machine)? {
            self.less(number + 1, number, 0, false);
        }
        self.invariants(network, machine, number + 1)
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
        if let Some(difference) = self.difference(machine, atom, moment)? {
            self.demands.always.push(difference);
        }
        Ok(())
    }

    /// What an atom says of moments; `None` when it does not count.
    fn difference(
        &self,
        machine: &mut Machine<'_>,
        atom: &ClockAtom,
        moment: usize,
    ) -> Outcome<Option<Difference>> {
        let Some(rules::Comparison { left, right, bound }) = rules::compare(machine, atom)? else {
            return Ok(None);
        };
        // A clock is `moment - since + more`, and the constant zero is a clock that began at this moment.
        let value = |clock: Option<usize>| clock.map_or((moment, 0), |clock| self.assigned[clock]);
        let ((left, more), (right, less)) = (value(left), value(right));
        Ok(Some(Difference { later: right, earlier: left, bound: bound - more + less, strict: atom.strict }))
    }

    /// Extends each way by what the condition, or its negation, demands of the last moment.
    fn ways(
        &self,
        machine: &mut Machine<'_>,
        condition: &Condition,
        wanted: bool,
        end: usize,
        ways: &mut Vec<Vec<Difference>>,
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
            (Condition::Clock(atom), _) => match self.difference(machine, atom, end)? {
                Some(difference) => {
                    let told = if wanted { difference } else { priority::opposite(difference) };
                    ways.iter_mut().for_each(|way| way.push(told));
                }
                None if wanted => {}
                None => ways.clear(),
            },
            // Which valuations are stuck is not told by moments alone.
            (Condition::Deadlock, _) => {}
        }
        Ok(())
    }
}

/// The clock that a cell names, as an index.
pub(super) fn clock(
    machine: &mut Machine<'_>,
    cell: Option<&ClockCell>,
    atom: &ClockAtom,
) -> Outcome<Option<usize>> {
    cell.map(|cell| machine.clock(cell, &atom.place).map(|clock| clock.0 as usize)).transpose()
}
