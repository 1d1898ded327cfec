//! How large and how small quantities get: `sup`, `inf` and `bounds`.
//!
//! All reachable states are visited, up to covering. Integers are what they are in each state. A
//! clock is only known up to the largest number that it is compared with, so a number is chosen,
//! the clock counts as compared with it everywhere, and zones then hold exactly the values up to
//! it; when some state has more, the number is doubled and everything is visited again. That ends
//! when no state has more (the largest value is then exact), when there is no largest value (time
//! can pass for ever in a state that counts; or a path leads back to where it began, with a clock
//! further on that nothing resets or tests), or when a limit is reached: then it is only known that
//! there is more.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use turnpike_model::{Covering, Diagnostic, Explorer, Model, StepError, Successors};

use crate::explore::{Compiled, Cover, Demand, Extent, Options, ROOT, TimedModel, Walker, quantity_frame};
use crate::network::{ClockAtom, ClockCell, ClockValue, Expression, Network, Statement};
use crate::query::Names;
use crate::query::{Condition, Extremum, Quantity};

/// No clock is asked for more than this: zones hold no larger numbers.
const MOST: i32 = 1 << 22;

/// How often the number is doubled. What is larger than so many times all constants of a model is
/// rarely asked for, and costs as much.
const ROUNDS: u32 = 8;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which ends of the quantities.
    pub extremum: Extremum,
    /// Only states in which this holds count.
    pub condition: Option<Condition>,
    /// What is measured.
    pub quantities: Vec<Quantity>,
}

/// One end of the values that a quantity takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This value, or values as close to it as one likes when it is strict.
    Value {
        /// The number.
        value: i64,
        /// Whether it is only come close to.
        strict: bool,
    },
    /// There is none: values grow without bound.
    Unbounded,
    /// At least so far, and nothing more is known.
    Beyond(i64),
}

/// The values of one quantity.
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
    /// By quantity; empty when no reachable state counts.
    pub values: Vec<Measured>,
    /// Whether all reachable states were visited: otherwise there may be smaller and larger values.
    pub complete: bool,
    /// States that were expanded, in all visits.
    pub states: u64,
    /// Transitions of them.
    pub transitions: u64,
}

/// What can go wrong.
#[derive(Debug)]
pub enum Failure {
    /// The question cannot be asked of this model.
    Refused(Vec<Diagnostic>),
    /// The model cannot take a step.
    Step(StepError),
}

/// How a visit ended.
enum Visit {
    Done,
    /// Some clock has more than the chosen number.
    More,
    /// There was no time for more.
    Stopped,
}

/// Visits all reachable states and measures. `go_on` is asked now and then, with the number of
/// states so far.
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
    // Clocks that only the question speaks of.
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
                // Smallest values beyond the number are not exact either.
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

/// What is known of a quantity whose values are exact up to `limit`, if that is a clock.
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
    /// Values of clocks are exact up to here.
    limit: i64,
    /// Whether largest values are asked for: then a visit ends when there are more than are exact.
    upper: bool,
    /// By quantity: its clock, when nothing but the question speaks of it.
    free: &'a [Option<u32>],
    /// By quantity: whether a path leads back to where it began with the clock further on.
    endless: Vec<bool>,
    /// By quantity, once a state counts.
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
        // Zones by discrete part, those with the same one behind each other.
        let mut seen: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
        // All states with where they come from, in the order of visits.
        let mut found: Vec<(Vec<u32>, usize)> = vec![(initial.clone(), usize::MAX)];
        let mut queue: VecDeque<usize> = VecDeque::from([0]);
        let key = width - 1;
        seen.insert(initial[..key].to_vec(), initial[key..].to_vec());
        while let Some(index) = queue.pop_front() {
            let state = found[index].0.clone();
            // Since it was queued, a larger one may have come.
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

    /// Looks on the way to a state for one that it repeats with a clock further on: then that clock
    /// has no bound. The earlier one has to count.
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

    /// Whether some clock has more than is exact.
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

/// The clock that is measured.
fn clock(quantity: &Quantity) -> Option<&ClockCell> {
    match quantity {
        Quantity::Clock { left: Some(clock), right: None, .. } => Some(clock),
        _ => None,
    }
}

/// The clock behind a quantity, if nothing assigns it, and no guard, invariant or condition
/// compares it.
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
        process.edges.iter().for_each(|edge| assigned(&edge.update, &mut look));
    }
    network.functions.iter().for_each(|function| assigned(&function.body, &mut look));
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

/// Clocks that statements assign or copy.
fn assigned(statements: &[Statement], look: &mut impl FnMut(&ClockCell)) {
    for statement in statements {
        match statement {
            Statement::Clock { clock, value, .. } => {
                look(clock);
                if let ClockValue::Clock(source, _) = value {
                    look(source);
                }
            }
            Statement::If(_, yes, no) => {
                assigned(yes, look);
                assigned(no, look);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => assigned(body, look),
            _ => {}
        }
    }
}

/// What is not supported about a question, if anything.
fn refuse_question(network: &Network, question: &Question) -> Option<Diagnostic> {
    let unsupported =
        |what: &str| Some(Diagnostic::unsupported(what).help("ask with E<> whether a value is reached"));
    if let Some(error) = question.quantities.iter().find_map(refuse_quantity) {
        return Some(error);
    }
    if network.has_stopwatches() {
        // Zones have values that no run leads to.
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

/// A number that is not below those that clocks are compared with anyway.
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
