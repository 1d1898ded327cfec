//! Paths, and the removal of their loops.

use rustc_hash::FxHashMap;
use turnpike_model::{Explorer, StepError, Successors};

use crate::objective::HitKind;

/// How a strategy gives the path to a state.
#[derive(Clone, Debug)]
pub enum Path {
    /// All states from the initial one on, flat.
    States(Vec<u32>),
    /// The transition taken in each state.
    Choices(Vec<u32>),
}

/// A path that meets an objective, as the choices to make from the initial state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Witness {
    pub(crate) objective: usize,
    pub(crate) choices: Vec<u32>,
    /// For a lasso, the index of the state that the last choice returns to.
    pub(crate) loop_start: Option<usize>,
    /// Where the objective was met, seen from the last expanded state.
    pub(crate) kind: HitKind,
    /// Choices that lead to the last expanded state.
    pub(crate) stem: usize,
}

impl Witness {
    /// Turns a path to an expanded state and a hit there into a loop-free witness.
    pub(crate) fn new(
        explorer: &mut dyn Explorer,
        path: Path,
        objective: usize,
        kind: &HitKind,
    ) -> Result<Self, StepError> {
        let mut choices = path.into_loop_free_choices(explorer)?;
        let stem = choices.len();
        let mut loop_start = None;
        match kind {
            HitKind::Here => {}
            HitKind::Step(choice) => choices.push(*choice),
            HitKind::Lasso { choices: more, entry } => {
                loop_start = Some(stem + entry);
                choices.extend(more);
            }
        }
        Ok(Witness { objective, choices, loop_start, kind: kind.clone(), stem })
    }

    /// The same for programs, whose states never return and are costly to visit.
    pub(crate) fn of_program(
        explorer: &mut dyn Explorer,
        path: Path,
        objective: usize,
        kind: &HitKind,
    ) -> Result<Self, StepError> {
        let mut choices = match path {
            Path::Choices(choices) => choices,
            path @ Path::States(_) => {
                let states = path.into_states(explorer)?;
                choices_between(explorer, &states)?
            }
        };
        let stem = choices.len();
        if let HitKind::Step(choice) = kind {
            choices.push(*choice);
        }
        Ok(Witness { objective, choices, loop_start: None, kind: kind.clone(), stem })
    }

    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }
}

impl Path {
    /// The states of the path, one after the other.
    pub(crate) fn into_states(self, explorer: &mut dyn Explorer) -> Result<Vec<Vec<u32>>, StepError> {
        let mut initial = Vec::new();
        explorer.initial(&mut initial)?;
        let width = initial.len();
        match self {
            Path::States(flat) if width == 0 => Ok(vec![Vec::new(); flat.len().max(1)]),
            Path::States(flat) => Ok(flat.chunks(width).map(<[u32]>::to_vec).collect()),
            Path::Choices(choices) => follow(explorer, &choices, |_, _| {}),
        }
    }

    /// The first transition between each state and the next, without loops.
    fn into_loop_free_choices(self, explorer: &mut dyn Explorer) -> Result<Vec<u32>, StepError> {
        let Path::Choices(choices) = self else {
            let mut states = self.into_states(explorer)?;
            erase_loops(&mut states);
            return choices_between(explorer, &states);
        };
        // States that follow each other without loops did so before: one pass is enough.
        let mut firsts = Vec::with_capacity(choices.len());
        let mut states = follow(explorer, &choices, |successors, choice| {
            let target = successors.state(choice);
            let first = (0..choice).find(|&index| successors.state(index) == target);
            firsts.push(first.unwrap_or(choice) as u32);
        })?;
        let kept = erase_loops(&mut states);
        Ok(kept[..kept.len() - 1].iter().map(|&index| firsts[index]).collect())
    }
}

/// Makes choices from the initial state on: all states. Each choice is shown with the transitions up
/// to it.
pub(super) fn follow(
    explorer: &mut dyn Explorer,
    choices: &[u32],
    mut show: impl FnMut(&Successors, usize),
) -> Result<Vec<Vec<u32>>, StepError> {
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut successors = Successors::new(state.len());
    let mut states = vec![state.clone()];
    for &choice in choices {
        let choice = choice as usize;
        explorer.successors_up_to(&state, choice, &mut successors)?;
        if choice >= successors.len() {
            return Err(StepError::new("a recorded choice is not enabled any more"));
        }
        show(&successors, choice);
        state.clear();
        state.extend_from_slice(successors.state(choice));
        states.push(state.clone());
    }
    Ok(states)
}

/// Cuts out every detour that returns to a state already on the path; returns what was kept.
pub(crate) fn erase_loops(states: &mut Vec<Vec<u32>>) -> Vec<usize> {
    let mut last: FxHashMap<&[u32], usize> = FxHashMap::default();
    for (index, state) in states.iter().enumerate() {
        last.insert(state, index);
    }
    let mut keep = Vec::new();
    let mut at = 0;
    while at < states.len() {
        at = last[states[at].as_slice()];
        keep.push(at);
        at += 1;
    }
    if keep.len() < states.len() {
        *states = keep.iter().map(|&index| std::mem::take(&mut states[index])).collect();
    }
    keep
}

/// The first transition between each state and the next.
pub(crate) fn choices_between(
    explorer: &mut dyn Explorer,
    states: &[Vec<u32>],
) -> Result<Vec<u32>, StepError> {
    let mut successors = Successors::new(states.first().map_or(0, Vec::len));
    let mut choices = Vec::with_capacity(states.len());
    for pair in states.windows(2) {
        explorer.successors(&pair[0], &mut successors)?;
        let choice = (0..successors.len()).find(|&index| successors.state(index) == pair[1]);
        choices.push(choice.ok_or_else(|| StepError::new("two states of a path are not connected"))? as u32);
    }
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_erased_and_ends_kept() {
        let path = |ids: &[u32]| ids.iter().map(|&id| vec![id]).collect::<Vec<_>>();
        for (before, after) in [
            (&[0, 1, 2][..], &[0, 1, 2][..]),
            (&[0, 1, 0, 2], &[0, 2]),
            (&[0, 1, 2, 1, 3, 2, 4], &[0, 1, 3, 2, 4]),
            (&[0, 0, 0], &[0]),
        ] {
            let mut states = path(before);
            let kept = erase_loops(&mut states);
            assert_eq!(states, path(after));
            assert_eq!(kept.iter().map(|&index| before[index]).collect::<Vec<_>>(), after);
        }
    }
}
