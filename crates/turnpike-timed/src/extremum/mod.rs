//! Extreme values of quantities: `sup`, `inf` and `bounds`.
//!
//! All reachable states are visited, up to covering. Integers have a value in each state. Zones are
//! exact for a clock only up to the largest constant that it is compared with. So a limit is
//! chosen, zones are built as if the clock were compared with it everywhere, and are then exact up
//! to the limit; if some state exceeds it, the limit is doubled and the search repeated. That ends
//! when no state exceeds the limit (the largest value is then exact), when there is no largest
//! value (time can diverge in a state that counts, or a path returns to its start with the clock
//! advanced, and nothing resets or tests the clock), or when a bound on the effort is reached: then
//! only a lower bound is known.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use turnpike_model::{Covering, Diagnostic, Explorer, Model, StepError, Successors};

use crate::explore::{Compiled, Cover, Demand, Extent, Options, ROOT, TimedModel, Walker, quantity_frame};
use crate::network::{ClockAtom, ClockCell, ClockValue, Expression, Network, Statement};
use crate::query::Names;
use crate::query::{Condition, Extremum, Quantity};

/// Largest limit for a clock: zones hold no larger numbers.
const MOST: i32 = 1 << 22;

/// How often the limit is doubled. Larger values are rarely of interest, and cost as much again.
const ROUNDS: u32 = 8;

/// A question about extreme values.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which extremes.
    pub extremum: Extremum,
    /// Only states that meet this condition count.
    pub condition: Option<Condition>,
    /// The quantities to measure.
    pub quantities: Vec<Quantity>,
}

/// One end of the range of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This value, or values arbitrarily close to it if strict.
    Value {
        /// The number.
        value: i64,
        /// Whether it is not attained.
        strict: bool,
    },
    /// The values are unbounded.
    Unbounded,
    /// At least this; nothing more is known.
    Beyond(i64),
}

/// The range of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The smallest.
    pub low: End,
    /// The largest.
    pub high: End,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// By quantity; empty if no reachable state counts.
    pub values: Vec<Measured>,
    /// Whether all reachable states were visited: otherwise values outside the range may exist.
    pub complete: bool,
    /// Expanded states, summed over all searches.
    pub states: u64,
    /// Transitions from them.
    pub transitions: u64,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The question is not supported for this model.
    Refused(Vec<Diagnostic>),
    /// The model has an error.
    Step(StepError),
}

/// How a search ended.
enum Visit {
    Done,
    /// Some clock exceeds the limit.
    More,
    /// The caller stopped it.
    Stopped,
}

/// Visits all reachable states and measures. `go_on` is called regularly with the number of states
/// so far; the search stops when it returns false.
pub fn measure(
    (name, source): (&str, &str),
    network: &Network,
    names: &Names,
    options: &Options,
    question: &Question,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Answer, Failure> {
    let clocks: Vec<&ClockCell> = question.quantities.iter().filter_map(clock).collect();
    if let Some(error) = refuse_question(network, question) {
        return Err(Failure::Refused(vec![error]));
    }
    let upper = question.extremum != Extremum::Infimum;
    let mut answer = Answer { values: Vec::new(), complete: false, states: 0, transitions: 0 };
    let mut limit = first_limit(network);
    let most = limit.saturating_mul(1 << ROUNDS).min(MOST);
    // Clocks that only the question mentions.
    let free: Vec<Option<u32>> = question
        .quantities
        .iter()
        .map(|quantity| {
            clock(quantity).and_then(|cell| free_clock(network, question.condition.as_ref(), cell))
        })
        .collect();
    loop {
        let mut conditions: Vec<Condition> = Vec::new();
        for &clock in &clocks {
            conditions.push(bound(Some(clock), None, limit));
            conditions.push(bound(None, Some(clock), -limit));
        }
        conditions.extend(question.condition.clone());
        let demand = Demand::new(conditions, false);
        let options = Options { elapsed: true, non_zeno: false, cover: Cover::Inclusion, ..options.clone() };
        let (model, _) =
            TimedModel::demanding(name, source, network.clone(), names.clone(), &options, demand)
                .map_err(Failure::Refused)?;
        let compiled = question.condition.as_ref().and_then(|_| model.demanded().last()).cloned();
        let quantities: Vec<(Quantity, usize)> = question
            .quantities
            .iter()
            .map(|quantity| (quantity.clone(), quantity_frame(network, quantity)))
            .collect();
        let mut visitor = Visitor {
            condition: compiled,
            quantities,
            limit: i64::from(limit),
            upper,
            free: &free,
            endless: vec![false; free.len()],
            extents: Vec::new(),
            answer: &mut answer,
        };
        let visit = visitor.visit(&model, &mut go_on).map_err(Failure::Step)?;
        let extents = visitor.extents;
        let known = i64::from(limit);
        match visit {
            Visit::More if limit < most => limit = limit.saturating_mul(2).min(most),
            Visit::Done | Visit::Stopped | Visit::More => {
                answer.complete = matches!(visit, Visit::Done);
                answer.values = extents
                    .iter()
                    .zip(&question.quantities)
                    .map(|(extent, quantity)| ends(extent, clock(quantity).map(|_| known)))
                    .collect();
                // Smallest values beyond the limit are not exact either.
                let beyond = |measured: &Measured| matches!(measured.low, End::Beyond(_));
                let lower = question.extremum != Extremum::Supremum;
                if answer.complete && limit < most && lower && answer.values.iter().any(beyond) {
                    limit = limit.saturating_mul(2).min(most);
                    continue;
                }
                return Ok(answer);
            }
        }
    }
}

/// The range of a quantity; for a clock, values are exact up to `limit`.
fn ends(extent: &Extent, limit: Option<i64>) -> Measured {
    let low = match (extent.low, limit) {
        ((value, _), Some(limit)) if value > limit => End::Beyond(limit),
        ((value, true), Some(limit)) if value == limit => End::Beyond(limit),
        ((value, strict), _) => End::Value { value, strict },
    };
    let high = match (extent.high, limit) {
        _ if extent.endless => End::Unbounded,
        (None, limit) => End::Beyond(limit.unwrap_or(0)),
        (Some((value, _)), Some(limit)) if value > limit => End::Beyond(limit),
        (Some((value, strict)), _) => End::Value { value, strict },
    };
    Measured { low, high }
}

struct Visitor<'a> {
    condition: Option<Compiled>,
    quantities: Vec<(Quantity, usize)>,
    /// Values of clocks are exact up to this limit.
    limit: i64,
    /// Whether largest values are requested: then a search ends when the limit is exceeded.
    upper: bool,
    /// By quantity: its clock, if only the question mentions it.
    free: &'a [Option<u32>],
    /// By quantity: whether a path returns to its start with the clock advanced.
    endless: Vec<bool>,
    /// By quantity, once some state counts.
    extents: Vec<Extent>,
    answer: &'a mut Answer,
}

impl Visitor<'_> {
    fn visit(&mut self, model: &TimedModel, go_on: &mut impl FnMut(u64) -> bool) -> Result<Visit, StepError> {
        let info = model.info();
        let width = info.width;
        let mut walker = Walker::new(model);
        let mut out = Successors::new(width);
        let mut initial = Vec::new();
        walker.initial(&mut initial)?;
        // Zones by discrete part.
        let mut seen: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
        // All states with their predecessors, in search order.
        let mut found: Vec<(Vec<u32>, usize)> = vec![(initial.clone(), usize::MAX)];
        let mut queue: VecDeque<usize> = VecDeque::from([0]);
        let key = width - 1;
        seen.insert(initial[..key].to_vec(), initial[key..].to_vec());
        while let Some(index) = queue.pop_front() {
            let state = found[index].0.clone();
            // A larger zone may have replaced it since it was queued.
            let kept = seen.get(&state[..key]).is_some_and(|list| list.contains(&state[key]));
            if !kept {
                continue;
            }
            self.look_back(&mut walker, &found, index)?;
            if self.measure(&mut walker, &state)? {
                return Ok(Visit::More);
            }
            self.answer.states += 1;
            if !go_on(self.answer.states) {
                return Ok(Visit::Stopped);
            }
            walker.successors(&state, &mut out)?;
            self.answer.transitions += out.len() as u64;
            for (_, target) in out.iter() {
                let list = seen.entry(target[..key].to_vec()).or_default();
                if walker.find_covering(target, list).is_some() {
                    continue;
                }
                while let Some(place) = walker.find_covered(target, list) {
                    list.remove(place);
                }
                list.push(target[key]);
                queue.push_back(found.len());
                found.push((target.to_vec(), index));
            }
        }
        Ok(Visit::Done)
    }

    /// Searches the path to a state for one that it repeats with a clock advanced: then that clock
    /// is unbounded. The earlier state must count.
    fn look_back(
        &mut self,
        walker: &mut Walker<'_>,
        found: &[(Vec<u32>, usize)],
        index: usize,
    ) -> Result<(), StepError> {
        let state = &found[index].0;
        let discrete = state.len() - 1;
        if !self.upper || state[discrete] == ROOT {
            return Ok(());
        }
        for quantity in 0..self.free.len() {
            let Some(clock) = self.free[quantity].filter(|_| !self.endless[quantity]) else { continue };
            let mut at = found[index].1;
            while let Some((earlier, before)) = found.get(at) {
                if earlier[..discrete] == state[..discrete]
                    && walker.is_further_on(earlier, state, clock)?
                    && !walker.extents(earlier, self.condition.as_ref(), &self.quantities)?.is_empty()
                {
                    self.endless[quantity] = true;
                    break;
                }
                at = *before;
            }
        }
        Ok(())
    }

    /// Measures a state; returns whether some clock exceeds the limit.
    fn measure(&mut self, walker: &mut Walker<'_>, state: &[u32]) -> Result<bool, StepError> {
        let extents = walker.extents(state, self.condition.as_ref(), &self.quantities)?;
        if extents.is_empty() {
            return Ok(false);
        }
        self.extents = if self.extents.is_empty() {
            extents
        } else {
            self.extents.iter().zip(extents).map(|(one, other)| one.with(other)).collect()
        };
        for (extent, &endless) in self.extents.iter_mut().zip(&self.endless) {
            extent.endless |= endless;
        }
        let more = |(extent, (quantity, _)): (&Extent, &(Quantity, usize))| {
            let beyond = extent.high.is_none_or(|(value, _)| value > self.limit);
            clock(quantity).is_some() && !extent.endless && beyond
        };
        Ok(self.upper && self.extents.iter().zip(&self.quantities).any(more))
    }
}

/// The measured clock.
fn clock(quantity: &Quantity) -> Option<&ClockCell> {
    match quantity {
        Quantity::Clock { left: Some(clock), right: None, .. } => Some(clock),
        _ => None,
    }
}

/// The clock of a quantity, if nothing assigns it and no guard, invariant or condition tests it.
fn free_clock(network: &Network, condition: Option<&Condition>, cell: &ClockCell) -> Option<u32> {
    let clock = cell.offset.is_none().then_some(cell.base.0)?;
    let mut free = true;
    let mut look = |cell: &ClockCell| {
        free &= !(cell.base.0..cell.base.0 + cell.count).contains(&clock);
    };
    let compared = |atom: &ClockAtom, look: &mut dyn FnMut(&ClockCell)| {
        atom.left.iter().chain(&atom.right).for_each(look);
    };
    for process in &network.processes {
        let invariants = process.locations.iter().map(|location| &location.invariant);
        for constraint in invariants.chain(process.edges.iter().map(|edge| &edge.guard)) {
            constraint.clocks.iter().for_each(|atom| compared(atom, &mut look));
        }
        process.edges.iter().for_each(|edge| visit_assigned_clocks(&edge.update, &mut look));
    }
    network.functions.iter().for_each(|function| visit_assigned_clocks(&function.body, &mut look));
    let mut open: Vec<&Condition> = condition.into_iter().collect();
    while let Some(condition) = open.pop() {
        match condition {
            Condition::Clock(atom) => compared(atom, &mut look),
            Condition::Not(part) => open.push(part),
            Condition::And(parts) | Condition::Or(parts) => open.extend(parts),
            Condition::Data(_) | Condition::Deadlock | Condition::Rate(_) => {}
        }
    }
    free.then_some(clock)
}

/// Visits the clocks that statements assign or copy.
fn visit_assigned_clocks(statements: &[Statement], look: &mut impl FnMut(&ClockCell)) {
    for statement in statements {
        match statement {
            Statement::Clock { clock, value, .. } => {
                look(clock);
                if let ClockValue::Clock(source, _) = value {
                    look(source);
                }
            }
            Statement::If(_, yes, no) => {
                visit_assigned_clocks(yes, look);
                visit_assigned_clocks(no, look);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => visit_assigned_clocks(body, look),
            _ => {}
        }
    }
}

/// Why a question is not supported, if it is not.
fn refuse_question(network: &Network, question: &Question) -> Option<Diagnostic> {
    let unsupported =
        |what: &str| Some(Diagnostic::unsupported(what).help("ask with E<> whether a value is reached"));
    if let Some(error) = question.quantities.iter().find_map(refuse_quantity) {
        return Some(error);
    }
    if network.has_stopwatches() {
        // Zones contain unreachable valuations.
        return unsupported("sup, inf and bounds are not supported where clocks stand still");
    }
    if network.parts.is_some() && question.quantities.iter().any(|quantity| clock(quantity).is_some()) {
        return unsupported("sup, inf and bounds of clocks are not supported in models with fractions");
    }
    None
}

fn refuse_quantity(quantity: &Quantity) -> Option<Diagnostic> {
    match quantity {
        Quantity::Data(_) => None,
        Quantity::Clock { left: Some(_), right: None, offset: Expression::Constant(0) } => None,
        Quantity::Clock { left: Some(_), right: None, .. } => Some(
            Diagnostic::unsupported("sums of clocks and integers are not supported in sup, inf and bounds")
                .help("ask for the clock alone"),
        ),
        Quantity::Clock { .. } => Some(
            Diagnostic::unsupported("differences of clocks are not supported in sup, inf and bounds")
                .help("ask for each clock, or with E<> whether a difference is reached"),
        ),
    }
}

/// `left - right <= limit`
fn bound(left: Option<&ClockCell>, right: Option<&ClockCell>, limit: i32) -> Condition {
    Condition::Clock(ClockAtom {
        when: None,
        left: left.cloned(),
        right: right.cloned(),
        strict: false,
        bound: Expression::Constant(limit),
        place: 0..0,
    })
}

/// A limit that is at least every constant that clocks are compared with.
fn first_limit(network: &Network) -> i32 {
    let mut largest = 1;
    for process in &network.processes {
        let invariants = process.locations.iter().map(|location| &location.invariant);
        for constraint in invariants.chain(process.edges.iter().map(|edge| &edge.guard)) {
            for atom in &constraint.clocks {
                if let Expression::Constant(value) = atom.bound {
                    largest = largest.max(value.saturating_abs());
                }
            }
        }
    }
    largest.min(MOST)
}

#[cfg(test)]
mod tests;
