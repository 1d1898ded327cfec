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

use super::shorten::SHORT;
use super::{Path, Witness};
use crate::objective::{HitKind, Monitor};
use crate::run::Run;

/// Leaves out steps within a budget of expansions; returns the best witness and the expansions
/// spent.
pub(crate) fn delete_steps(run: &mut Run<'_>, witness: Witness, budget: u64) -> (Witness, u64) {
    if witness.loop_start.is_some() || witness.len() < 2 {
        return (witness, 0);
    }
    let mut best = witness;
    let mut spent = 0;
    let Ok(mut route) = Route::new(run, &best) else { return (best, spent) };
    // What was needed for a detour may be left out once the detour is gone: again, as long as that
    // gains much.
    loop {
        let length = best.len();
        let mut part = length / 2;
        while part > 0 {
            let mut start = 0;
            while start < route.steps.len() {
                let end = route.steps.len().min(start + part);
                if spent + (route.steps.len() - end) as u64 >= budget {
                    return (best, spent);
                }
                match route.without(run, start, end, &best, &mut spent) {
                    Ok(Some(shorter)) if shorter.len() < best.len() => {
                        best = shorter;
                        let Ok(shorter) = Route::new(run, &best) else { return (best, spent) };
                        route = shorter;
                    }
                    Ok(_) => start += part,
                    Err(_) => return (best, spent),
                }
            }
            part = if part == 1 { 0 } else { (part / 4).max(1) };
        }
        if best.len() > length / 2 || best.len() <= SHORT {
            return (best, spent);
        }
    }
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

/// A witness with all that is known about it.
struct Route {
    states: Vec<Vec<u32>>,
    steps: Vec<Step>,
    /// Where on the path a state is.
    places: FxHashMap<Vec<u32>, usize>,
}

impl Route {
    fn new(run: &mut Run<'_>, witness: &Witness) -> Result<Self, StepError> {
        let explorer = &mut *run.view.explorer;
        let states = Path::Choices(witness.choices.clone()).into_states(explorer)?;
        let mut successors = Successors::new(states[0].len());
        let mut steps = Vec::with_capacity(witness.len());
        for (pair, &choice) in states.windows(2).zip(&witness.choices) {
            explorer.successors(&pair[0], &mut successors)?;
            steps.push(Step::between(successors.label(choice as usize), &pair[0], &pair[1]));
        }
        let places = states[..=witness.stem].iter().cloned().zip(0..).collect();
        Ok(Route { states, steps, places })
    }

    /// Takes the steps from `end` on in the state before step `start`, until the objective is met
    /// or the path is back.
    fn without(
        &self,
        run: &mut Run<'_>,
        start: usize,
        end: usize,
        witness: &Witness,
        spent: &mut u64,
    ) -> Result<Option<Witness>, StepError> {
        let (options, info) = (run.options, run.model.info());
        let sought = std::slice::from_ref(&run.objectives[witness.objective]);
        let explorer = &mut *run.view.explorer;
        let Ok(mut monitor) = Monitor::new(sought, &options.internal, options.lookahead, explorer, info)
        else {
            return Ok(None);
        };
        let mut state = self.states[start].clone();
        let mut choices = witness.choices[..start].to_vec();
        let (mut successors, mut hits) = (Successors::new(info.width), Vec::new());
        let mut steps = self.steps[end..].iter();
        loop {
            if let Some(&place) = self.places.get(&state)
                && place > choices.len()
            {
                choices.extend_from_slice(&witness.choices[place..witness.stem]);
                return Witness::new(explorer, Path::Choices(choices), witness.objective, &witness.kind)
                    .map(Some);
            }
            explorer.successors(&state, &mut successors)?;
            *spent += 1;
            monitor.examine(explorer, &state, &successors, &mut hits)?;
            if let Some(hit) = hits.first() {
                if matches!(hit.kind, HitKind::Lasso { .. }) {
                    return Ok(None);
                }
                return Witness::new(explorer, Path::Choices(choices), witness.objective, &hit.kind)
                    .map(Some);
            }
            let Some(choice) = steps.find_map(|step| possible(step, &state, &successors)) else {
                return Ok(None);
            };
            choices.push(choice as u32);
            state.clear();
            state.extend_from_slice(successors.state(choice));
        }
    }
}

/// The transition most like a step, the first of several, if any is like it.
fn possible(step: &Step, state: &[u32], successors: &Successors) -> Option<usize> {
    let named = (0..successors.len()).filter(|&choice| successors.label(choice) == step.label);
    let alike = named.filter_map(|choice| Some((step.likeness(state, successors.state(choice))?, choice)));
    alike.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, choice)| choice)
}
