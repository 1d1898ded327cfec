//! The participants of transitions in random specifications: they are known, consistent with the
//! target state, and independent of when summands are combined.

use std::collections::{HashSet, VecDeque};

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{Model, Participant, Successors};

use crate::naive::draw::Draw;
use crate::naive::generate::specification;

/// A transition: its label and its participants.
type Transition = (String, Vec<Participant>);

/// The checked transitions of the first states, in breadth-first order.
fn transitions(model: &Mcrl2Model, text: &str) -> Vec<Transition> {
    let mut explorer = model.explorer();
    let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
    if explorer.initial(&mut state).is_err() {
        return Vec::new();
    }
    let mut known = HashSet::from([state.clone()]);
    let mut queue = VecDeque::from([state]);
    let (mut all, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20 {
        let Some(state) = queue.pop_front() else { break };
        if explorer.successors(&state, &mut out).is_err() {
            continue;
        }
        explorer.state_values(&state, &mut before);
        let is_choice = model.has_initial_choice() && all.is_empty();
        for position in 0..out.len() {
            let label = explorer.label(out.label(position)).text;
            let participants = explorer.participants().expect("mCRL2 has components");
            let components = participants.components();
            let parts = participants.participants(&state, position);
            let parts = parts.unwrap_or_else(|error| panic!("{error} at {label} in:\n{text}"));
            assert!(is_choice || !parts.is_empty(), "{label} has no participants in:\n{text}");
            explorer.state_values(out.state(position), &mut after);
            for (index, name) in model.info().parameters.iter().enumerate() {
                // The location of a component has the component's name.
                let moved = components.contains(name) && before[index] != after[index];
                let takes_part = parts.iter().any(|part| part.component == *name);
                assert!(
                    is_choice || !moved || takes_part,
                    "{name} moves by {label} of {parts:?} in:\n{text}"
                );
            }
            all.push((label, parts));
        }
        for (_, target) in out.iter() {
            if known.insert(target.to_vec()) {
                queue.push_back(target.to_vec());
            }
        }
    }
    all
}

#[test]
fn participants_of_random_specifications() {
    let (mut checked, mut together) = (0, 0);
    for number in 0..400 {
        let text = specification(&mut Draw::new(11, number)).text();
        let open =
            |combinations| Mcrl2Model::new("m.mcrl2", &text, &Options { combinations, ..Options::default() });
        let (Ok((at_once, _)), Ok((later, _))) = (open(None), open(Some(0))) else { continue };
        let mut found = transitions(&at_once, &text);
        checked += found.len();
        together += found.iter().filter(|(_, parts)| parts.len() > 1).count();
        let mut others = transitions(&later, &text);
        let key = |one: &Transition| format!("{one:?}");
        found.sort_by_key(key);
        others.sort_by_key(key);
        assert_eq!(found, others, "{text}");
    }
    assert!(checked > 2_000 && together > 200, "{checked} {together}");
}
