//! Sequential components: from a process term to an [`Automaton`].
//!
//! First, probabilistic choices that could occur twice before the same action are separated
//! (`separate_choices`), and all terms that the component can become are analysed (`terms`): which
//! are equal, which can terminate, which processes call each other. Then locations and edges are
//! found on demand (`unfold`). The continuation of a term is a chain of terms (`continuation`). If
//! chains could grow without bound, it is a stack in the data (`stack`). Finally the automaton is
//! reduced (`reduce`, `liveness`, `variables`).

mod continuation;
mod distribution;
mod liveness;
mod location_text;
#[cfg(test)]
mod oracle;
mod reduce;
mod separate_choices;
mod stack;
mod terms;
#[cfg(test)]
mod tests;
mod unfold;
mod updates;
mod variables;

use turnpike_model::diagnostic::Diagnostic;

use self::distribution::PendingChoices;
use self::location_text::LocationTexts;
use self::reduce::Reduction;
use self::unfold::Unfolding;
use super::{Automaton, Location};
use crate::typed::expression::Substitution;
use crate::typed::{BehaviourId, Program};

/// The automaton of a sequential process expression. Variables of the environment have closed
/// values in the root, global variables everywhere.
pub(super) fn automaton(
    program: &mut Program,
    root: BehaviourId,
    environment: &Substitution,
) -> Result<Automaton, Diagnostic> {
    let root = separate_choices::separate_choices(program, root)?;
    let mut pending = PendingChoices::default();
    let mut unfolding = Unfolding::new(program, root, environment)?;
    let initial = unfolding.run(root, environment, &mut pending)?;
    let Unfolding { program, terms, chains, places, edges, .. } = unfolding;
    let mut reduction = Reduction::new(program, places.len(), edges, pending.distribution(), initial);
    reduction.run();
    variables::share_variables(&mut reduction);
    variables::reset_variables(&mut reduction);
    let Reduction { program, locations, edges, chance, initial, live, .. } = reduction;
    let texts = LocationTexts::new(program, &terms, &chains);
    let locations = (0..)
        .zip(locations)
        .map(|(location, place)| Location {
            text: texts.text(places[place as usize]),
            live: live.at(location),
        })
        .collect();
    Ok(Automaton {
        name: String::new(),
        variables: live.variables().to_vec(),
        locations,
        edges,
        initial_distribution: chance,
        initial,
    })
}
