//! Cycles of internal steps, found on the fly.
//!
//! From every expanded state the internal steps are searched depth first. States that were left without having met a
//! cycle are remembered across calls, so all calls together cost one pass over the internal part of the system.

use turnpike_model::{Explorer, StepError, Successors};

use crate::store::ExactStore;

/// A call gives up beyond this many internal states and says so; infinite chains of internal steps must not hang.
const MAX_STATES_PER_CALL: usize = 2_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    OnStack,
    Clean,
}

/// A frame of the depth-first search: a state and the internal successors still to try, as (choice, id) pairs.
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

/// Choices from the expanded state into the cycle and around it; the cycle begins after `entry` choices.
pub(crate) struct Lasso {
    pub(crate) choices: Vec<u32>,
    pub(crate) entry: usize,
}

impl Livelock {
    pub(crate) fn new(width: usize) -> Self {
        Livelock { seen: ExactStore::new(width), colours: Vec::new(), gave_up: false }
    }

    /// Looks for a cycle of internal steps reachable from `state` by internal steps.
    pub(crate) fn search(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        is_internal: &mut dyn FnMut(&mut dyn Explorer, turnpike_model::LabelId) -> bool,
    ) -> Result<Option<Lasso>, StepError> {
        let (id, new) = self.seen.insert(state);
        if !new {
            return Ok(None);
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
            } else if self.colours[id as usize] == Colour::OnStack {
                let entry = stack.iter().position(|frame| frame.id == id).unwrap_or(0);
                let choices = stack[1..].iter().map(|frame| frame.choice).chain([choice]).collect();
                return Ok(Some(Lasso { choices, entry }));
            }
        }
        Ok(None)
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
    Ok(choices)
}
