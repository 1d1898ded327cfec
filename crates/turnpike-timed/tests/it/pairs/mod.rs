//! Compares two explorers of the same network, step by step.

use std::collections::BTreeSet;

use turnpike_model::{Explorer, Model, Successors};
use turnpike_timed::explore::TimedModel;

/// A state of each explorer.
type Pair = (Vec<u32>, Vec<u32>);

/// Expands up to `most` states with both, each several times: the successors must be equal and in
/// the same order, by labels and by portable forms. Returns a description of the first difference.
pub(crate) fn compare(one: &TimedModel, other: &TimedModel, most: usize) -> Result<usize, String> {
    let (mut first, mut second) = (one.explorer(), other.explorer());
    let (mut state, mut like) = (Vec::new(), Vec::new());
    first.initial(&mut state).map_err(|error| error.message)?;
    second.initial(&mut like).map_err(|error| error.message)?;
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut states: Vec<Pair> = vec![(state, like)];
    let mut at = 0;
    while at < states.len().min(most) {
        let targets = expand(&mut *first, &mut *second, one.info().width, &states[at])?;
        for (form, pair) in targets {
            if seen.insert(form) && states.len() < most {
                states.push(pair);
            }
        }
        at += 1;
    }
    // Again, with everything cached, and in another order.
    for pair in states.iter().rev().step_by(3) {
        expand(&mut *first, &mut *second, one.info().width, pair)?;
    }
    Ok(states.len())
}

fn expand(
    first: &mut dyn Explorer,
    second: &mut dyn Explorer,
    width: usize,
    pair: &Pair,
) -> Result<Vec<(Vec<u8>, Pair)>, String> {
    let (mut out, mut likewise) = (Successors::new(width), Successors::new(width));
    let outcomes = (first.successors(&pair.0, &mut out), second.successors(&pair.1, &mut likewise));
    match outcomes {
        (Ok(()), Ok(())) => {}
        // A state may have several errors.
        (Err(_), Err(_)) => return Ok(Vec::new()),
        outcomes => return Err(format!("{outcomes:?}")),
    }
    if out.len() != likewise.len() {
        return Err(format!("{} and {} successors", out.len(), likewise.len()));
    }
    let mut targets = Vec::new();
    for index in 0..out.len() {
        let (mut form, mut same) = (Vec::new(), Vec::new());
        first.encode(out.state(index), &mut form);
        second.encode(likewise.state(index), &mut same);
        let labels = (first.label(out.label(index)).text, second.label(likewise.label(index)).text);
        if form != same || labels.0 != labels.1 {
            let (mut values, mut others) = (Vec::new(), Vec::new());
            first.state_values(out.state(index), &mut values);
            second.state_values(likewise.state(index), &mut others);
            return Err(format!("successor {index}, {labels:?}: {values:?} and {others:?}"));
        }
        if first.content_hash(out.state(index)) != second.content_hash(likewise.state(index)) {
            return Err(format!("successor {index}: other hashes"));
        }
        targets.push((form, (out.state(index).to_vec(), likewise.state(index).to_vec())));
    }
    Ok(targets)
}
