//! Leaves out steps of a witness (delta debugging).
//!
//! When some steps are left out, the others are taken as far as they are still possible, and the
//! rest is left out too: without the first step of a detour, the remaining steps of it disappear by
//! themselves. A result is kept if it still meets the objective, or if it returns to a later state
//! of the path. Large parts are tried first, then smaller ones.
//!
//! A step is identified by its label and by its effect, the entries of the state that it changes:
//! if many steps are internal, the label alone says little.

use rustc_hash::FxHashMap;
use turnpike_model::{LabelId, StepError, Successors};

use super::budget::Spending;
use super::path::{erase_loops, follow};
use super::shorten::SHORT;
use super::{Path, Witness};
use crate::objective::{HitKind, Monitor};
use crate::run::Run;

/// Leaves out steps within a share of the budget; returns the best witness and what was spent.
pub(crate) fn delete_steps(run: &mut Run<'_>, witness: Witness, mut spending: Spending) -> (Witness, u64) {
    if witness.loop_start.is_some() || witness.len() < 2 {
        return (witness, 0);
    }
    let mut best = take_chords(run, &witness).unwrap_or(witness);
    let Ok(trail) = Trail::of(run, &best) else { return (best, 0) };
    let mut route = Route::new(trail, best.stem);
    // What was needed for a detour may be left out once the detour is gone: again, as long as that
    // gains much.
    loop {
        let length = best.len();
        let mut part = length / 2;
        while part > 0 {
            let mut start = 0;
            while start < route.steps.len() {
                let end = route.steps.len().min(start + part);
                if spending.is_short_of((route.steps.len() - end) as u64) {
                    // Parts nearer to the end take fewer steps to try.
                    start += part;
                    continue;
                }
                match route.without(run, start, end, &best, &mut spending) {
                    Ok(Some((shorter, trail))) if shorter.len() < best.len() => {
                        best = shorter;
                        route = Route::new(trail, best.stem);
                    }
                    Ok(_) => start += part,
                    Err(_) => return (best, spending.spent),
                }
            }
            part = if part == 1 { 0 } else { (part / 4).max(1) };
        }
        if best.len() > length / 2 || best.len() <= SHORT {
            return (best, spending.spent);
        }
    }
}

/// Leaves out what lies between two states of the path when one step leads from one to the other.
///
/// This takes each state's transitions, which following the path again takes anyhow; so it costs no
/// expansions of its own.
fn take_chords(run: &mut Run<'_>, witness: &Witness) -> Result<Witness, StepError> {
    let explorer = &mut *run.view.explorer;
    let states = Path::Choices(witness.choices[..witness.stem].to_vec()).into_states(explorer)?;
    let places: FxHashMap<&[u32], usize> = states.iter().map(Vec::as_slice).zip(0..).collect();
    // For each state: steps to it, the state before, and the choice there.
    let mut nearest = vec![(usize::MAX, 0, 0); states.len()];
    nearest[0].0 = 0;
    let mut successors = Successors::new(states[0].len());
    for (from, state) in states[..witness.stem].iter().enumerate() {
        let steps = nearest[from].0;
        if steps == usize::MAX {
            continue;
        }
        explorer.successors(state, &mut successors)?;
        for choice in 0..successors.len() {
            let Some(&to) = places.get(successors.state(choice)) else { continue };
            if to > from && steps + 1 < nearest[to].0 {
                nearest[to] = (steps + 1, from, choice as u32);
            }
        }
    }
    let mut choices = Vec::new();
    let mut at = witness.stem;
    while at > 0 {
        let (_, before, choice) = nearest[at];
        choices.push(choice);
        at = before;
    }
    choices.reverse();
    let stem = choices.len();
    choices.extend_from_slice(&witness.choices[witness.stem..]);
    Ok(Witness { choices, stem, ..witness.clone() })
}

/// What a step does.
struct Step {
    label: LabelId,
    /// The entries of the state that it changes, and what they become.
    effect: Vec<(usize, u32)>,
}

impl Step {
    fn between(label: LabelId, from: &[u32], to: &[u32]) -> Self {
        let changed = from.iter().zip(to).enumerate().filter(|(_, (old, new))| old != new);
        Step { label, effect: changed.map(|(index, (_, &new))| (index, new)).collect() }
    }

    /// How much a step with the same label is like this one; nothing if it is another step
    /// altogether. Entries may happen to have their new values already, so half of those that
    /// either step changes must be changed by both.
    fn likeness(&self, from: &[u32], to: &[u32]) -> Option<Likeness> {
        let other = Step::between(self.label, from, to);
        let (mut common, mut same) = (0, 0);
        let mut mine = self.effect.iter().peekable();
        for &(index, value) in &other.effect {
            while mine.next_if(|entry| entry.0 < index).is_some() {}
            if let Some(entry) = mine.next_if(|entry| entry.0 == index) {
                common += 1;
                same += usize::from(entry.1 == value);
            }
        }
        let either = self.effect.len() + other.effect.len() - common;
        (2 * common >= either).then(|| Likeness { overlap: 100 * common / either.max(1), same })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    /// Entries that both steps change, in per cent of those that either does.
    overlap: usize,
    /// Entries that both change to the same value.
    same: usize,
}

/// The states of a path, and between them what was chosen and its label.
#[derive(Clone, Default)]
struct Trail {
    states: Vec<Vec<u32>>,
    choices: Vec<u32>,
    labels: Vec<LabelId>,
}

impl Trail {
    fn of(run: &mut Run<'_>, witness: &Witness) -> Result<Self, StepError> {
        let mut labels = Vec::with_capacity(witness.len());
        let show = |successors: &Successors, choice| labels.push(successors.label(choice));
        let states = follow(&mut *run.view.explorer, &witness.choices, show)?;
        Ok(Trail { states, choices: witness.choices.clone(), labels })
    }

    /// The first steps, up to and with the state behind them.
    fn up_to(&self, steps: usize) -> Self {
        Trail {
            states: self.states[..=steps].to_vec(),
            choices: self.choices[..steps].to_vec(),
            labels: self.labels[..steps].to_vec(),
        }
    }

    /// Adds one of these transitions.
    fn push(&mut self, successors: &Successors, choice: usize) {
        self.choices.push(choice as u32);
        self.labels.push(successors.label(choice));
        self.states.push(successors.state(choice).to_vec());
    }

    /// Adds the steps of another trail from the state on where this one ends.
    fn extend(&mut self, other: &Trail, steps: std::ops::Range<usize>) {
        self.choices.extend_from_slice(&other.choices[steps.clone()]);
        self.labels.extend_from_slice(&other.labels[steps.clone()]);
        self.states.extend_from_slice(&other.states[steps.start + 1..=steps.end]);
    }

    /// Leaves out detours that return to a state of the path.
    fn erase_loops(&mut self) {
        let kept = erase_loops(&mut self.states);
        let steps = &kept[..kept.len() - 1];
        self.choices = steps.iter().map(|&step| self.choices[step]).collect();
        self.labels = steps.iter().map(|&step| self.labels[step]).collect();
    }
}

/// A witness with all that is known about it.
struct Route {
    trail: Trail,
    steps: Vec<Step>,
    /// Where on the path a state is.
    places: FxHashMap<Vec<u32>, usize>,
}

impl Route {
    /// `stem`: how many steps lead to the last state that was expanded.
    fn new(trail: Trail, stem: usize) -> Self {
        let step = |(pair, &label): (&[Vec<u32>], &LabelId)| Step::between(label, &pair[0], &pair[1]);
        let steps = trail.states.windows(2).zip(&trail.labels).map(step).collect();
        let places = trail.states[..=stem].iter().cloned().zip(0..).collect();
        Route { trail, steps, places }
    }

    /// Takes the steps from `end` on in the state before step `start`, until the objective is met
    /// or the path is back. All states of the result are known then: nothing is followed again.
    fn without(
        &self,
        run: &mut Run<'_>,
        start: usize,
        end: usize,
        witness: &Witness,
        spending: &mut Spending,
    ) -> Result<Option<(Witness, Trail)>, StepError> {
        let (options, info) = (run.options, run.model.info());
        let sought = std::slice::from_ref(&run.objectives[witness.objective]);
        let explorer = &mut *run.view.explorer;
        let Ok(mut monitor) = Monitor::new(sought, &options.internal, options.lookahead, explorer, info)
        else {
            return Ok(None);
        };
        let mut walked = Trail { states: vec![self.trail.states[start].clone()], ..Trail::default() };
        let (mut successors, mut hits) = (Successors::new(info.width), Vec::new());
        let mut steps = self.steps[end..].iter();
        loop {
            let state = &walked.states[walked.choices.len()];
            if let Some(&place) = self.places.get(state)
                && place > start + walked.choices.len()
            {
                walked.extend(&self.trail, place..witness.stem);
                let last = self.trail.choices.len();
                let hit = |trail: &mut Trail| trail.extend(&self.trail, witness.stem..last);
                return Ok(Some(self.rejoined(start, &walked, witness, &witness.kind, hit)));
            }
            explorer.successors(state, &mut successors)?;
            spending.expand(&successors);
            monitor.examine(explorer, state, &successors, &mut hits)?;
            if let Some(hit) = hits.first() {
                let step = match hit.kind {
                    HitKind::Lasso { .. } => return Ok(None),
                    HitKind::Here => None,
                    HitKind::Step(choice) => Some(choice as usize),
                };
                let end = |trail: &mut Trail| {
                    step.into_iter().for_each(|choice| trail.push(&successors, choice));
                };
                return Ok(Some(self.rejoined(start, &walked, witness, &hit.kind, end)));
            }
            let Some(choice) = steps.find_map(|step| possible(step, state, &successors)) else {
                return Ok(None);
            };
            let target = successors.state(choice);
            let first = (0..choice).find(|&index| successors.state(index) == target);
            walked.push(&successors, first.unwrap_or(choice));
        }
    }

    /// The path up to a step with other steps behind it, and behind these where the objective is
    /// met.
    fn rejoined(
        &self,
        start: usize,
        walked: &Trail,
        witness: &Witness,
        kind: &HitKind,
        hit: impl FnOnce(&mut Trail),
    ) -> (Witness, Trail) {
        let mut trail = self.trail.up_to(start);
        trail.extend(walked, 0..walked.choices.len());
        trail.erase_loops();
        let stem = trail.choices.len();
        hit(&mut trail);
        let choices = trail.choices.clone();
        (Witness { choices, stem, kind: kind.clone(), ..witness.clone() }, trail)
    }
}

/// The transition most like a step, the first of several, if any is like it.
fn possible(step: &Step, state: &[u32], successors: &Successors) -> Option<usize> {
    let named = (0..successors.len()).filter(|&choice| successors.label(choice) == step.label);
    let alike = named.filter_map(|choice| Some((step.likeness(state, successors.state(choice))?, choice)));
    alike.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, choice)| choice)
}
