//! The part of a trace that is drawn, as data: lanes, events and arrows.

use turnpike_model::{Role, StateValues, Step, Trace};

use super::labels::named_parts;

/// Steps that are drawn at most; of longer runs the last ones.
pub const MAX_CHARTED_STEPS: usize = 400;

/// With more components than these, only those that act have a lane.
const MANY_LANES: usize = 16;

/// The lane of systems without components.
const SYSTEM: &str = "system";

/// The part of a trace that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<'a> {
    /// One for each component, in the order of the model; with many components, those that act.
    pub lanes: Vec<Lane<'a>>,
    /// The steps that are drawn, each once.
    pub events: Vec<Event<'a>>,
    /// Who gives something to whom.
    pub arrows: Vec<Arrow<'a>>,
    /// When the first drawn step could have been taken.
    pub start_time: f64,
    /// Steps before the first one that is drawn.
    pub left_out: usize,
}

/// A component as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it is before the first step that is drawn, if that is known.
    pub start: Option<&'a str>,
}

/// A step as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// Its number in the whole trace, from 1.
    pub step: usize,
    /// The label of the transition.
    pub label: &'a str,
    /// The components that take part; none in steps that belong to no component, such as the one
    /// that begins a model with several initial states.
    pub parts: Vec<Part<'a>>,
    /// Where each component is afterwards, by lane, if that is known.
    pub places: Vec<Option<&'a str>>,
    /// Text of the time, and its value.
    pub time: Option<(&'a str, f64)>,
    /// How long after the step before.
    pub delay: Option<(&'a str, f64)>,
}

/// The part of one component in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its lane.
    pub lane: usize,
    /// What it does.
    pub action: &'a str,
    /// Whether it gives or gets something.
    pub role: Role,
}

/// Two parts that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow<'a> {
    /// What joins them.
    pub kind: ArrowKind,
    /// The step and the lane where it begins; step 0 is before the first one of that lane.
    pub from: (usize, usize),
    /// The step and the lane where it ends.
    pub to: (usize, usize),
    /// What is done where it begins.
    pub action: &'a str,
}

/// What an arrow means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowKind {
    /// From a sender to a receiver, in one step.
    Message,
    /// Between equals that act together, in one step: not directed.
    Together,
    /// From a step that made something available to the step that takes it.
    Handover,
}

impl<'a> Run<'a> {
    /// The last steps of a trace, at most [`MAX_CHARTED_STEPS`] of them.
    pub fn of(trace: &'a Trace) -> Self {
        let parts = Parts::of(trace);
        let left_out = trace.len().saturating_sub(MAX_CHARTED_STEPS);
        let mut names = parts.lanes(trace);
        if names.len() > MANY_LANES {
            let all = |name: &str| names.iter().position(|&known| known == name);
            let mut acts = vec![false; names.len()];
            for (index, step) in trace.steps.iter().enumerate().skip(left_out) {
                parts.of_step(index, step, &all).iter().for_each(|part| acts[part.lane] = true);
            }
            let mut acts = acts.into_iter();
            names.retain(|_| acts.next() == Some(true));
        }
        let lane = |name: &str| names.iter().position(|&known| known == name);
        let places = |values: Option<&'a StateValues>| -> Vec<Option<&'a str>> {
            names.iter().map(|&name| values?.get(name)).collect()
        };
        let before = left_out.checked_sub(1).map(|last| &trace.steps[last]);
        let start = places(before.map_or(trace.initial.as_ref(), |step| step.state.as_ref()));
        let start_time = before.and_then(|step| value(step.time.as_deref()?)).unwrap_or(0.0);
        let timed = |text: &'a Option<String>| {
            let text = text.as_deref()?;
            Some((text, value(text)?))
        };
        let event = |(index, step): (usize, &'a Step)| Event {
            step: index + 1,
            label: &step.label,
            parts: parts.of_step(index, step, &lane),
            places: places(step.state.as_ref()),
            time: timed(&step.time),
            delay: timed(&step.delay),
        };
        let events: Vec<Event<'a>> = trace.steps.iter().enumerate().skip(left_out).map(event).collect();
        let mut arrows: Vec<Arrow<'a>> = events.iter().flat_map(joined).collect();
        arrows.extend(handovers(trace, left_out, &lane));
        arrows.sort_by_key(|arrow| arrow.to.0);
        let lanes = names.iter().zip(start).map(|(&name, start)| Lane { name, start }).collect();
        Run { lanes, events, arrows, start_time, left_out }
    }

    /// A note on steps that are not drawn.
    pub(super) fn note(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!("the last {} steps; {} before them are not drawn", self.events.len(), self.left_out)
        })
    }
}

/// Where it is known from who takes part.
enum Parts<'a> {
    /// The trace says it.
    Recorded,
    /// Its labels say it: a trace of timed automata from before traces recorded it.
    Labels(Vec<Vec<(&'a str, &'a str)>>),
    /// There is one component: the system.
    System,
}

impl<'a> Parts<'a> {
    fn of(trace: &'a Trace) -> Self {
        if !trace.components.is_empty() || trace.steps.iter().any(|step| step.parts.is_some()) {
            return Parts::Recorded;
        }
        let named: Vec<Vec<(&str, &str)>> = trace.labels().map(named_parts).collect();
        if named.iter().all(Vec::is_empty) { Parts::System } else { Parts::Labels(named) }
    }

    fn lanes(&self, trace: &'a Trace) -> Vec<&'a str> {
        let mut names: Vec<&'a str> = Vec::new();
        let mut add = |name: &'a str| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        match self {
            Parts::Recorded => {
                trace.components.iter().for_each(|name| add(name));
                for part in trace.steps.iter().filter_map(|step| step.parts.as_ref()).flatten() {
                    add(&part.component);
                    part.after.iter().for_each(|given| add(&given.component));
                }
            }
            Parts::Labels(named) => {
                let initial = trace.initial.iter().flat_map(located);
                initial.for_each(|(name, _)| add(name));
                named.iter().flatten().for_each(|(name, _)| add(name));
            }
            Parts::System => {}
        }
        if names.is_empty() {
            names.push(SYSTEM);
        }
        names
    }

    fn of_step(&self, index: usize, step: &'a Step, lane: &impl Fn(&str) -> Option<usize>) -> Vec<Part<'a>> {
        match self {
            Parts::Recorded => {
                let part = |part: &'a turnpike_model::Participant| {
                    Some(Part { lane: lane(&part.component)?, action: &part.action, role: part.role })
                };
                step.parts.iter().flatten().filter_map(part).collect()
            }
            Parts::Labels(named) => {
                let part = |&(name, action): &(&str, &'a str)| {
                    let role = match action.as_bytes().last() {
                        Some(b'!') => Role::Sends,
                        Some(b'?') => Role::Receives,
                        _ => Role::TakesPart,
                    };
                    Some(Part { lane: lane(name)?, action, role })
                };
                named[index].iter().filter_map(part).collect()
            }
            Parts::System => vec![Part { lane: 0, action: &step.label, role: Role::TakesPart }],
        }
    }
}

/// The part that the lines of a step lead from: the only sender, or else the first.
pub(super) fn giver<'e, 'a>(event: &'e Event<'a>) -> Option<&'e Part<'a>> {
    let mut senders = event.parts.iter().filter(|part| part.role == Role::Sends);
    senders.next().filter(|_| senders.next().is_none()).or(event.parts.first())
}

/// The arrows within a step. With one sender they lead from it to the receivers; otherwise who gives
/// to whom is not known, and all are joined with the first.
fn joined<'a>(event: &Event<'a>) -> Vec<Arrow<'a>> {
    let Some(from) = giver(event) else { return Vec::new() };
    let senders = event.parts.iter().filter(|part| part.role == Role::Sends).count();
    let others = event.parts.iter().filter(|part| part.lane != from.lane);
    let arrow = |to: &Part<'a>| Arrow {
        kind: match (senders, to.role) {
            (1, Role::Receives) => ArrowKind::Message,
            _ => ArrowKind::Together,
        },
        from: (event.step, from.lane),
        to: (event.step, to.lane),
        action: from.action,
    };
    others.map(arrow).collect()
}

/// The arrows from steps that made something available.
fn handovers<'a>(trace: &'a Trace, left_out: usize, lane: &impl Fn(&str) -> Option<usize>) -> Vec<Arrow<'a>> {
    // The steps of each lane.
    let mut taken: Vec<Vec<usize>> = Vec::new();
    let mut arrows = Vec::new();
    for (index, step) in trace.steps.iter().enumerate() {
        for part in step.parts.iter().flatten() {
            let Some(own) = lane(&part.component) else { continue };
            for given in &part.after {
                let Some(from) = lane(&given.component) else { continue };
                let steps = taken.get(from).map_or(&[][..], Vec::as_slice);
                let number = given.step.checked_sub(1).and_then(|at| steps.get(at)).copied();
                // A step that is not drawn is before the first one.
                let number = number.filter(|&number| number > left_out).unwrap_or(0);
                if index >= left_out {
                    let (from, to) = ((number, from), (index + 1, own));
                    arrows.push(Arrow { kind: ArrowKind::Handover, from, to, action: &given.action });
                }
            }
        }
        for part in step.parts.iter().flatten() {
            let Some(own) = lane(&part.component) else { continue };
            if taken.len() <= own {
                taken.resize(own + 1, Vec::new());
            }
            taken[own].push(index + 1);
        }
    }
    arrows
}

/// The processes among the values of a state of timed automata: they come first, and are in
/// locations, whose names are not numbers.
fn located(values: &StateValues) -> impl Iterator<Item = (&str, &str)> {
    values.iter().take_while(|&(name, value)| {
        name != "zone" && !value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    })
}

/// A time as a number: whole, decimal, or a fraction.
pub(super) fn value(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let time = match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    };
    time.is_finite().then_some(time)
}
