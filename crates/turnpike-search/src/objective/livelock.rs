//! Detects cycles of internal steps on the fly.
//!
//! From every expanded state, a depth-first search follows the internal steps. It remembers across
//! calls whether a state leads to a cycle, so all calls together cost one pass over the internal
//! part of the system, plus the paths into the cycles.

use turnpike_model::{Explorer, StepError, Successors};

use crate::store::ExactStore;

/// A call gives up beyond this many internal states and says so; infinite chains of internal steps
/// must not hang.
const MAX_STATES_PER_CALL: usize = 2_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    OnStack,
    /// No cycle can be reached by internal steps.
    Clean,
    /// An internal step leads to a state of this colour: going on like that ends in a cycle.
    Doomed,
}

/// A frame of the depth-first search: a state and the internal successors still to try, as (choice,
/// id) pairs.
struct Frame {
    id: u32,
    /// The choice that led here from the frame below.
    choice: u32,
    todo: Vec<u32>,
}

/// The search for internal cycles.
pub(crate) struct Livelock {
    seen: ExactStore,
    colours: Vec<Colour>,
    pub(crate) gave_up: bool,
}

/// Choices from the expanded state into the cycle and around it; the cycle begins after `entry`
/// choices.
pub(crate) struct Lasso {
    pub(crate) choices: Vec<u32>,
    pub(crate) entry: usize,
}

impl Livelock {
    pub(crate) fn new(width: usize) -> Self {
        Livelock { seen: ExactStore::new(width), colours: Vec::new(), gave_up: false }
    }

    /// A cycle of internal steps reachable from `state` by internal steps, if there is one.
    pub(crate) fn search(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        is_internal: &mut dyn FnMut(&mut dyn Explorer, turnpike_model::LabelId) -> bool,
    ) -> Result<Option<Lasso>, StepError> {
        let (id, new) = self.seen.insert(state);
        if !new {
            let doomed = self.colours[id as usize] == Colour::Doomed;
            return if doomed { self.follow(explorer, vec![id], Vec::new(), is_internal) } else { Ok(None) };
        }
        self.colours.push(Colour::OnStack);
        let before = self.seen.len();
        let mut buffer = Successors::new(state.len());
        let mut stack =
            vec![Frame { id, choice: 0, todo: internal_choices(explorer, state, &mut buffer, is_internal)? }];
        while let Some(frame) = stack.last_mut() {
            let Some(choice) = frame.todo.pop() else {
                self.colours[frame.id as usize] = Colour::Clean;
                stack.pop();
                continue;
            };
            if self.seen.len() - before > MAX_STATES_PER_CALL {
                self.gave_up = true;
                for frame in &stack {
                    self.colours[frame.id as usize] = Colour::Clean;
                }
                return Ok(None);
            }
            let source = self.seen.get(frame.id).to_vec();
            explorer.successors(&source, &mut buffer)?;
            let target = buffer.state(choice as usize).to_vec();
            let (id, new) = self.seen.insert(&target);
            if new {
                self.colours.push(Colour::OnStack);
                let todo = internal_choices(explorer, &target, &mut buffer, is_internal)?;
                stack.push(Frame { id, choice, todo });
            } else if self.colours[id as usize] != Colour::Clean {
                let mut path: Vec<u32> = stack.iter().map(|frame| frame.id).collect();
                let choices = stack[1..].iter().map(|frame| frame.choice).chain([choice]).collect();
                for &id in &path {
                    self.colours[id as usize] = Colour::Doomed;
                }
                if let Some(entry) = path.iter().position(|&other| other == id) {
                    return Ok(Some(Lasso { choices, entry }));
                }
                path.push(id);
                return self.follow(explorer, path, choices, is_internal);
            }
        }
        Ok(None)
    }

    /// Goes on from a doomed state, the last of `path`, until a state of the path comes again.
    fn follow(
        &self,
        explorer: &mut dyn Explorer,
        mut path: Vec<u32>,
        mut choices: Vec<u32>,
        is_internal: &mut dyn FnMut(&mut dyn Explorer, turnpike_model::LabelId) -> bool,
    ) -> Result<Option<Lasso>, StepError> {
        let mut buffer = Successors::new(self.seen.get(path[0]).len());
        while let Some(&at) = path.last() {
            let source = self.seen.get(at);
            explorer.successors(source, &mut buffer)?;
            let step = (0..buffer.len())
                .filter(|&index| is_internal(explorer, buffer.label(index)))
                .find_map(|index| {
                    let id = self.seen.find(buffer.state(index))?;
                    (self.colours[id as usize] == Colour::Doomed).then_some((index as u32, id))
                });
            let Some((choice, id)) = step else { break };
            choices.push(choice);
            if let Some(entry) = path.iter().position(|&other| other == id) {
                return Ok(Some(Lasso { choices, entry }));
            }
            path.push(id);
        }
        Err(StepError::new("the model gives other transitions than before"))
    }
}

/// The internal transitions of a state, last first so that popping follows the front-end's order.
fn internal_choices(
    explorer: &mut dyn Explorer,
    state: &[u32],
    buffer: &mut Successors,
    is_internal: &mut dyn FnMut(&mut dyn Explorer, turnpike_model::LabelId) -> bool,
) -> Result<Vec<u32>, StepError> {
    explorer.successors(state, buffer)?;
    let mut choices: Vec<u32> =
        (0..buffer.len()).filter(|&i| is_internal(explorer, buffer.label(i))).map(|i| i as u32).collect();
    choices.reverse();
    // A loop at the state itself is the shortest there is: it comes first.
    choices.sort_by_key(|&choice| buffer.state(choice as usize) == state);
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use turnpike_lts::{Lts, LtsModel, Transition};
    use turnpike_model::{LabelId, Model};

    use super::*;
    use crate::rng::Rng;

    const STATES: u32 = 14;

    /// A system of few transitions, so that some states lead to a cycle and others do not. Label 0
    /// is internal.
    fn random_system(rng: &mut Rng) -> LtsModel {
        let number = |rng: &mut Rng, bound: u32| rng.below(u64::from(bound)) as u32;
        let transitions = (0..STATES + 4)
            .map(|_| Transition {
                from: number(rng, STATES),
                label: LabelId(u32::from(rng.chance(1, 4))),
                to: number(rng, STATES),
            })
            .collect();
        let labels = vec!["tau".to_owned(), "a".to_owned()];
        LtsModel::new("random", Lts { initial: 0, states: STATES, labels, transitions }).expect("sound")
    }

    /// The states from which internal steps can go on for ever: those left when dead ends are taken
    /// away.
    fn doomed(model: &LtsModel) -> Vec<bool> {
        let mut alive = vec![true; STATES as usize];
        for _ in 0..STATES {
            alive = (0..STATES)
                .map(|from| {
                    let mut steps = model.outgoing().of(from).iter();
                    steps.any(|&(label, to)| label == LabelId(0) && alive[to as usize])
                })
                .collect();
        }
        alive
    }

    #[test]
    fn every_state_that_leads_to_a_cycle_is_told_its_way() {
        let mut rng = Rng::new(1);
        let (mut with, mut without) = (0, 0);
        for _ in 0..300 {
            let model = random_system(&mut rng);
            let (expected, mut explorer) = (doomed(&model), model.explorer());
            let mut livelock = Livelock::new(1);
            let mut order: Vec<u32> = (0..STATES).chain(0..STATES).collect();
            rng.shuffle(&mut order);
            for start in order {
                let found = livelock
                    .search(&mut *explorer, &[start], &mut |_, label| label == LabelId(0))
                    .expect("no errors");
                assert_eq!(found.is_some(), expected[start as usize]);
                let Some(lasso) = found else {
                    without += 1;
                    continue;
                };
                with += 1;
                let mut path = vec![start];
                for &choice in &lasso.choices {
                    let (label, to) = model.outgoing().of(path[path.len() - 1])[choice as usize];
                    assert_eq!(label, LabelId(0));
                    path.push(to);
                }
                assert_eq!(path.last(), path.get(lasso.entry), "the loop closes");
                let mut states = path[..path.len() - 1].to_vec();
                states.sort_unstable();
                states.dedup();
                assert_eq!(
                    states.len(),
                    lasso.choices.len(),
                    "no state comes twice but where the loop closes"
                );
            }
        }
        assert!(with > 1000 && without > 1000, "{with} with, {without} without");
    }
}
