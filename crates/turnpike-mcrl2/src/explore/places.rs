//! The positions of components in the text of a specification.

use turnpike_model::{SourcePlace, SourcePlaces};

use super::view::View;
use super::walker::Walker;

impl SourcePlaces for Walker<'_> {
    fn source_places(&mut self, state: &[u32]) -> Vec<SourcePlace> {
        if self.is_root(state) {
            return Vec::new();
        }
        let (network, machine) = self.parts();
        let view = View::new(network, machine, state);
        let place = |component: usize| {
            let automaton = view.automaton(component);
            let location = view.location(component);
            // The first of its possible next actions in the text stands for all of them.
            let edges = automaton.edges.iter().filter(|edge| edge.from == location);
            let first = edges.map(|edge| edge.span).min_by_key(|span| span.start)?;
            Some(SourcePlace { component: automaton.name.clone(), range: first.range() })
        };
        (0..network.structure.components().len()).filter_map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::explore::{Mcrl2Model, Options};
    use turnpike_model::{Explorer, Model, Successors};

    #[test]
    fn components_are_where_their_next_action_is_written() {
        let text = "act a, b, c;\nproc P = a . b . P;\nproc Q = c . delta;\ninit P || Q;";
        let (model, _) = Mcrl2Model::new("two", text, &Options::default()).expect("reads");
        let mut explorer = model.explorer();
        let places = |explorer: &mut dyn Explorer, state: &[u32]| -> Vec<(String, String)> {
            let places = explorer.source_places().expect("has places").source_places(state);
            places.into_iter().map(|place| (place.component, text[place.range].to_owned())).collect()
        };
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("begins");
        let at = |component: &str, text: &str| (component.to_owned(), text.to_owned());
        assert_eq!(places(&mut *explorer, &state), [at("P", "a"), at("Q", "c")]);
        let mut successors = Successors::new(model.info().width);
        explorer.successors(&state, &mut successors).expect("computed");
        let taken = (0..successors.len())
            .find(|&index| explorer.label(successors.label(index)).text == "a")
            .expect("a is enabled");
        let next = successors.state(taken).to_vec();
        assert_eq!(places(&mut *explorer, &next), [at("P", "b"), at("Q", "c")]);
    }
}
