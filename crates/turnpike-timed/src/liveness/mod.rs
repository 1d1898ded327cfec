//! Queries about infinite runs, as models whose accepting cycles are the runs in question.
//!
//! `E[] p` holds if some run stays in `p` and is infinite or cannot continue. Its model is the zone
//! graph in which `p` is part of every invariant. A state in which time can diverge, or from which
//! nothing is possible any more, has a self-loop `rest`, so that every such run is a cycle. `A<> p`
//! is the negation of `E[] not p`. `p --> q` fails if some run reaches `p` and stays outside `q`
//! from then on: its model is the whole zone graph, with a step `stay` from every state with `p`
//! into the graph of runs that stay outside `q`.
//!
//! States are merged only if they are equal, and clock bounds are the maximal constants, including
//! those of the query: then every cycle is a run (Tripakis). Zeno runs count, as they do in UPPAAL.
//! A run that cannot continue counts as staying in `p` only if time does not lead out of `p`
//! either. With [`Options::non_zeno`] Zeno runs do not count: a cycle must then tick (see
//! [`crate::zeno`]), or consist of `rest` steps.
//!
//! A run that never reaches a deadlock either takes transitions forever, or rests where time
//! diverges and some transition remains possible forever.

mod explorer;
mod formula;
#[cfg(test)]
mod tests;

use turnpike_model::{
    Diagnostic, ExactStates, Explorer, Model, ModelInfo, Moment, Schedule, StateValues, StepError, Timing,
    hash,
};

use self::explorer::Runs;
pub use self::formula::Formula;
use crate::explore::{Compiled, Demand, Options, TimedModel, asks_for_deadlock};
use crate::network::{Expression, Network};
use crate::query::Condition;
use crate::query::Names;
use crate::schedule;

/// The runs that a formula describes.
#[derive(Debug)]
pub struct LivenessModel {
    info: ModelInfo,
    /// The formula as written, which also names the accepting states.
    text: String,
    /// The runs before they must stay; `None`: they must from the start.
    before: Option<TimedModel>,
    inside: TimedModel,
    /// Whether clocks occur in the formula.
    timed: bool,
    /// Whether Zeno runs are excluded.
    non_zeno: bool,
}

impl LivenessModel {
    /// The model of a formula. `name`, `source` and `options` are those of the network's own model.
    pub fn new(
        name: &str,
        source: &str,
        network: &Network,
        names: &Names,
        options: &Options,
        formula: &Formula,
    ) -> Result<(LivenessModel, Vec<Diagnostic>), Vec<Diagnostic>> {
        let premise = formula.premise.clone();
        let (stay, live) = without_deadlocks(formula.stay.clone());
        if asks_for_deadlock(&stay) {
            let error = Diagnostic::error(
                "deadlocks are supported in E[], A<> and --> only as states that runs reach",
            );
            return Err(vec![
                error.help(
                    "write A<> (p or deadlock), E[] (p and not deadlock) or p --> deadlock; in A<> (p and deadlock) no clock may occur in p",
                ),
            ]);
        }
        if network.has_stopwatches() {
            let error =
                Diagnostic::unsupported("E[], A<> and --> are not supported where clocks stand still");
            return Err(vec![error.help("reachability is: E<> and A[]")]);
        }
        let conditions: Vec<Condition> = premise.iter().chain([&stay]).cloned().collect();
        let options =
            Options { deadlock: true, conditions: Vec::new(), accepting: Vec::new(), ..options.clone() };
        let make = |demand: Demand| {
            TimedModel::demanding(name, source, network.clone(), names.clone(), &options, demand)
        };
        let demand = |stay| Demand::new(conditions.clone(), stay);
        let timed = conditions.iter().any(|condition| Compiled::new(network, condition.clone()).timed);
        // Time is counted where the run has to stay.
        let before = premise.is_some().then(|| make(demand(false).idle(true))).transpose()?;
        let inside = match &before {
            Some((before, _)) => make(demand(true).live(live.clone()).labels_of(before))?,
            None => make(demand(true).live(live.clone()))?,
        };
        let (inside, warnings) = inside;
        let before = before.map(|(before, _)| before);
        let mut info = before.as_ref().unwrap_or(&inside).info().clone();
        info.width += 1;
        info.suggestions = vec![format!("accepting {}", formula.text)];
        info.fingerprint = hash::mix(info.fingerprint, hash::bytes(formula.text.as_bytes()));
        let text = formula.text.clone();
        let non_zeno = options.non_zeno;
        Ok((LivenessModel { info, text, before, inside, timed, non_zeno }, warnings))
    }
}

impl LivenessModel {
    /// Whether the run along these choices rests, rather than taking transitions forever.
    pub fn comes_to_rest(&self, choices: &[u32]) -> Result<bool, StepError> {
        Runs::new(self).ends_with_rest(choices)
    }
}

/// Removes `not deadlock` and `p or not deadlock` from a conjunction. Returns the remainder, and
/// the condition under which runs must not reach a deadlock. A run with infinitely many transitions
/// never does, so this matters only where runs rest; there `p` does not change if it contains no
/// clocks.
fn without_deadlocks(stay: Condition) -> (Condition, Option<Condition>) {
    let mut parts = Vec::new();
    let mut live = Vec::new();
    // Conditions, each with the value that it must have.
    let mut open = vec![(stay, true)];
    while let Some((condition, wanted)) = open.pop() {
        match (condition, wanted) {
            (Condition::Not(part), _) => open.push((*part, !wanted)),
            (Condition::And(all), true) => open.extend(all.into_iter().rev().map(|part| (part, true))),
            (Condition::Or(all), false) => open.extend(all.into_iter().rev().map(|part| (part, false))),
            (Condition::Deadlock, false) => live.push(Condition::Data(Expression::Constant(1))),
            (part, wanted) => match outside_deadlock(&part, wanted) {
                Some(elsewhere) => live.push(elsewhere),
                None => parts.push(literal(part, wanted)),
            },
        }
    }
    let stay = match (parts.pop(), parts.is_empty()) {
        (None, _) => Condition::Data(Expression::Constant(1)),
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            Condition::And(parts)
        }
    };
    (stay, (!live.is_empty()).then_some(Condition::Or(live)))
}

/// For `p or not deadlock`, if `p` contains neither clocks nor deadlocks: `not p`.
fn outside_deadlock(condition: &Condition, wanted: bool) -> Option<Condition> {
    let mut others = Vec::new();
    let mut found = false;
    let mut open = vec![(condition, wanted)];
    while let Some((condition, wanted)) = open.pop() {
        match (condition, wanted) {
            (Condition::Not(part), _) => open.push((part, !wanted)),
            (Condition::Or(all), true) | (Condition::And(all), false) => {
                open.extend(all.iter().rev().map(|part| (part, wanted)));
            }
            (Condition::Deadlock, false) => found = true,
            (part, _) if has_clocks(part) => return None,
            (part, _) => others.push(literal(part.clone(), !wanted)),
        }
    }
    found.then_some(Condition::And(others))
}

/// A condition or its negation.
fn literal(condition: Condition, wanted: bool) -> Condition {
    if wanted { condition } else { Condition::Not(Box::new(condition)) }
}

/// Whether a condition contains anything but integers and locations.
fn has_clocks(condition: &Condition) -> bool {
    match condition {
        Condition::Data(_) => false,
        Condition::Not(part) => has_clocks(part),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(has_clocks),
        Condition::Clock(_) | Condition::Deadlock | Condition::Rate(_) => true,
    }
}

impl Model for LivenessModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(Runs::new(self))
    }

    fn left_out(&self) -> Option<String> {
        self.inside.left_out().or_else(|| self.before.as_ref()?.left_out())
    }

    /// A formula with clocks has no timing: the run would have to be timed so that it meets the
    /// formula throughout.
    fn timing(&self) -> Option<&dyn Timing> {
        (!self.timed).then_some(self as &dyn Timing)
    }

    fn descriptions_agree(&self, parameter: &str, one: &str, other: &str) -> bool {
        self.inside.descriptions_agree(parameter, one, other)
    }

    fn exact_states(&self) -> Option<&dyn ExactStates> {
        self.inside.exact_states().is_some().then_some(self as &dyn ExactStates)
    }
}

impl ExactStates for LivenessModel {
    fn states_along(&self, choices: &[u32]) -> Result<Option<Vec<Vec<u32>>>, StepError> {
        Runs::exact_states(self, choices)
    }

    fn abstracted_parameters(&self) -> Vec<usize> {
        self.inside.abstracted_parameters()
    }
}

impl Timing for LivenessModel {
    fn schedule(&self, choices: &[u32], _target: Option<&str>) -> Result<Schedule, StepError> {
        let (path, taken) = Runs::new(self).path(choices)?;
        let Schedule { moments, last_delay } =
            schedule::schedule(self.inside.network(), &path, None, self.inside.unit())?;
        // Steps without edges take no time.
        let mut timed_steps = Vec::with_capacity(taken.len());
        let mut moments = moments.into_iter();
        let mut last = Moment { delay: "0".to_owned(), time: "0".to_owned(), clocks: StateValues::default() };
        for takes_edges in taken {
            if takes_edges && let Some(moment) = moments.next() {
                last = moment;
                timed_steps.push(last.clone());
            } else {
                timed_steps.push(Moment { delay: "0".to_owned(), ..last.clone() });
            }
        }
        Ok(Schedule { moments: timed_steps, last_delay })
    }
}
