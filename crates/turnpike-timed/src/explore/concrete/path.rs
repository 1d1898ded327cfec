//! Maps a walk on valuations to paths on zones.

use turnpike_model::{Explorer, StepError, Successors};

use super::super::TimedModel;
use super::super::walker::Walker;
use super::{BEGINNINGS, Concrete, Grid, discrete_parts};

/// Limit on the paths on zones followed at a time.
const MOST_WAYS: usize = 64;

/// The paths on zones that take the same edges as a walk on valuations. A transition may lead to
/// several parts of a state, so there may be several; every one that reaches the end is returned.
pub(in super::super) fn on_zones(
    model: &TimedModel,
    grid: &Grid,
    choices: &[u32],
) -> Result<Vec<Vec<u32>>, StepError> {
    let mut walk = Concrete::new(model, grid);
    let mut zones = Walker::new(model);
    let mut out = Successors::new(Concrete::width(model));
    let mut states = Successors::new(model.info.width);
    let (mut state, mut first) = (Vec::new(), Vec::new());
    walk.initial(&mut state)?;
    zones.initial(&mut first)?;
    // A search tree of reachable positions: each step is its predecessor and the choice.
    let mut steps: Vec<(usize, u32)> = Vec::new();
    const START: usize = usize::MAX;
    let mut now: Vec<(Vec<u32>, usize)> = vec![(first, START)];
    for (number, &choice) in choices.iter().enumerate() {
        walk.record = Some(Vec::new());
        let outcome = walk.successors(&state, &mut out);
        let record = walk.record.take().unwrap_or_default();
        outcome?;
        if choice as usize >= out.len() {
            return Err(StepError::new(format!("step {} has no choice {choice}", number + 1)));
        }
        state.clear();
        state.extend_from_slice(out.state(choice as usize));
        if number == 0 {
            // The virtual root, which zones have only if there are several initial states.
            if model.info.virtual_root {
                zones.successors(&now[0].0, &mut states)?;
                let discrete = &discrete_parts(model, &states)[(choice / BEGINNINGS) as usize];
                let begins = |&index: &usize| states.state(index).starts_with(discrete);
                now.clear();
                for index in (0..states.len()).filter(begins) {
                    steps.push((START, index as u32));
                    now.push((states.state(index).to_vec(), steps.len() - 1));
                }
            }
            continue;
        }
        let taken = &record[choice as usize];
        let mut next: Vec<(Vec<u32>, usize)> = Vec::new();
        for (from, before) in &now {
            zones.record = Some(Vec::new());
            let outcome = zones.successors(from, &mut states);
            let record = zones.record.take().unwrap_or_default();
            outcome?;
            for (index, edges) in record.iter().enumerate().filter(|(_, edges)| *edges == taken) {
                let target = states.state(index);
                debug_assert!(!edges.is_empty());
                if next.len() < MOST_WAYS && !next.iter().any(|(known, _)| known == target) {
                    steps.push((*before, index as u32));
                    next.push((target.to_vec(), steps.len() - 1));
                }
            }
        }
        now = next;
    }
    let way = |mut at: usize| {
        let mut way = Vec::new();
        while at != START {
            way.push(steps[at].1);
            at = steps[at].0;
        }
        way.reverse();
        way
    };
    Ok(now.iter().map(|&(_, at)| way(at)).collect())
}
