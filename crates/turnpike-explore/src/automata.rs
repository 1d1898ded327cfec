//! The automata of a system, with where they are in a state.

use turnpike_lts::trace::{Drawing, Situation, automata_chart};
use turnpike_model::{EdgeTaken, Model, StepError};
use turnpike_session::{Simulation, Visit};

use crate::refusal::Refusal;

/// Automata that are drawn when none are named, and at most.
const DRAWN: usize = 12;
const MOST_DRAWN: usize = 60;
/// Transitions whose edges are marked.
const MARKED: usize = 200;
/// Automata with more locations or edges than this are not drawn: nobody could read them.
const MOST_PARTS: usize = 1500;

/// The names of all automata; none where the system has another form.
pub(crate) fn names(model: &dyn Model) -> Vec<String> {
    let mut explorer = model.explorer();
    if explorer.automata().is_none() {
        return Vec::new();
    }
    explorer.participants().map(|participants| participants.components()).unwrap_or_default()
}

/// The edges that the first transitions of a state take.
pub(crate) fn enabled(
    simulation: &mut Simulation<'_>,
    visit: Visit,
    most: usize,
) -> Result<Vec<Vec<(u32, u32)>>, StepError> {
    let state = simulation.state(visit).to_vec();
    let Some(automata) = simulation.explorer().automata() else { return Ok(Vec::new()) };
    let transitions = automata.edges(&state, most.min(MARKED))?;
    let pairs = |edges: Vec<EdgeTaken>| edges.iter().map(|edge| (edge.automaton, edge.edge)).collect();
    Ok(transitions.into_iter().map(pairs).collect())
}

/// Draws the automata of these names, or the first ones.
pub(crate) fn draw(
    simulation: &mut Simulation<'_>,
    visit: Visit,
    names: &[String],
    width: Option<u32>,
) -> Result<Drawing, Refusal> {
    let before = simulation.parent(visit).map(|(before, choice)| (simulation.state(before).to_vec(), choice));
    let state = simulation.state(visit).to_vec();
    let Some(facet) = simulation.explorer().automata() else {
        return Err(Refusal::wrong("only timed automata are drawn as automata"));
    };
    let automata = facet.automata();
    let mut situation = Situation { locations: facet.locations(&state), ..Situation::default() };
    situation.enabled = facet.edges(&state, MARKED)?.concat();
    if let Some((before, choice)) = before {
        let position = choice as usize;
        situation.taken = facet.edges(&before, position + 1)?.into_iter().nth(position).unwrap_or_default();
    }
    let mut shown = Vec::new();
    for name in names.iter().take(MOST_DRAWN) {
        let place = automata.iter().position(|automaton| automaton.name == *name);
        shown.push(place.ok_or_else(|| Refusal::wrong(format!("there is no automaton `{name}`")))?);
    }
    if names.is_empty() {
        shown = (0..automata.len().min(DRAWN)).collect();
    }
    for &place in &shown {
        let automaton = &automata[place];
        if automaton.locations.len().max(automaton.edges.len()) > MOST_PARTS {
            return Err(Refusal::wrong(format!("`{}` is too large to be drawn", automaton.name)));
        }
    }
    Ok(automata_chart(&automata, &shown, &situation, width))
}
