use rustc_hash::FxHashMap;

use super::arena::{Arena, Entry};
use super::{Measure, NativeModel};
use crate::facets::{MeasureInfo, Measures, Violation, ViolationKind, Violations, Vocabulary};
use crate::hash;
use crate::label::{Label, LabelId};
use crate::signatures::Signatures;
use crate::successors::Successors;
use crate::system::{Explorer, Model, ModelInfo, StepError};

/// A [`NativeModel`] as a [`Model`].
///
/// States are interned: a packed state is one word, a number in a table that all explorers of this
/// model share. The numbers depend on the order of arrival, so choices use the content hash, which
/// is that of the Rust value ([`hash::of`]). States once seen stay in memory for as long as the
/// model.
pub struct Native<M: NativeModel> {
    model: M,
    info: ModelInfo,
    measures: Vec<Measure<M::State>>,
    states: Arena<M::State>,
    labels: Arena<String>,
    /// The names of actions, if known.
    vocabulary: Option<Signatures>,
}

impl<M: NativeModel> Native<M> {
    /// Adapts a model. The initial state gets the number 0.
    pub fn new(model: M) -> Self {
        let measures = model.measures();
        let mut info = ModelInfo::new(model.name(), 1);
        info.violations = &[ViolationKind::Assertion];
        info.parameters = model.parameters();
        info.measures = measures
            .iter()
            .map(|measure| MeasureInfo::new(measure.name.clone(), measure.doc.clone()))
            .collect();
        info.fingerprint = model.fingerprint();
        info.suggestions = model.suggestions();
        let states = Arena::new();
        let initial = model.initial();
        states.intern(hash::of(&initial), initial);
        info.actions = model.action_names();
        let vocabulary = (!info.actions.is_empty()).then(|| {
            let mut vocabulary = Signatures::new();
            info.actions.iter().for_each(|name| vocabulary.add_with_any_arity(name));
            vocabulary
        });
        Native { model, info, measures, states, labels: Arena::new(), vocabulary }
    }

    /// The model inside.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The Rust value of a packed state of this model.
    pub fn state(&self, state: &[u32]) -> Option<&M::State> {
        self.entry(state).ok().map(|entry| &entry.value)
    }

    fn entry(&self, state: &[u32]) -> Result<&Entry<M::State>, StepError> {
        let entry = state.first().and_then(|&id| self.states.get(id));
        entry.ok_or_else(|| StepError::new(format!("this is not a state of `{}`", self.info.name)))
    }

    fn intern(&self, state: M::State) -> Result<u32, StepError> {
        let full = || StepError::new(format!("`{}` has more than 2^30 states", self.info.name));
        self.states.intern(hash::of(&state), state).ok_or_else(full)
    }
}

impl<M: NativeModel> Model for Native<M> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(NativeExplorer { native: self, actions: Vec::new(), known: FxHashMap::default() })
    }

    fn left_out(&self) -> Option<String> {
        None
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        self.vocabulary.as_ref().map(|vocabulary| vocabulary as &dyn Vocabulary)
    }
}

struct NativeExplorer<'a, M: NativeModel> {
    native: &'a Native<M>,
    /// Reused between steps.
    actions: Vec<M::Action>,
    /// Labels of known actions, because formatting is slower than taking the step.
    known: FxHashMap<M::Action, LabelId>,
}

impl<M: NativeModel> NativeExplorer<'_, M> {
    #[cold]
    fn new_label(&mut self, action: &M::Action) -> Result<LabelId, StepError> {
        let text = self.native.model.format_action(action);
        let known =
            |name: &str| self.native.vocabulary.as_ref().is_none_or(|all| all.action(name).is_known());
        if let Some(name) = Label::parse(&text).name().split('|').find(|name| !known(name)) {
            let model = &self.native.info.name;
            let message = format!("`action_names` of `{model}` does not have `{name}`, which the model does");
            return Err(StepError::new(message));
        }
        let id = self.native.labels.intern(hash::bytes(text.as_bytes()), text).map(LabelId);
        let id = id.ok_or_else(|| {
            StepError::new(format!("`{}` has more than 2^30 labels", self.native.info.name))
        })?;
        self.known.insert(action.clone(), id);
        Ok(id)
    }
}

impl<M: NativeModel> Explorer for NativeExplorer<'_, M> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.push(0);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        let native = self.native;
        let state = &native.entry(state)?.value;
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        native.model.actions(state, &mut actions);
        for action in &actions {
            if let Some(next) = native.model.next(state, action) {
                let label = match self.known.get(action) {
                    Some(&label) => label,
                    None => self.new_label(action)?,
                };
                out.push(label, &[native.intern(next)?]);
            }
        }
        self.actions = actions;
        Ok(())
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        self.native.entry(state).map_or(0, |entry| entry.hash)
    }

    fn label(&mut self, id: LabelId) -> Label {
        Label::parse(self.native.labels.get(id.0).map_or("", |entry| entry.value.as_str()))
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        if let Some(state) = self.native.state(state) {
            self.native.model.state_values(state, out);
        }
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        successors.is_empty()
            && self.native.state(state).is_none_or(|state| !self.native.model.is_done(state))
    }

    /// Encodes the content hash and the `Debug` text, which are the same on every machine, unlike
    /// the number.
    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        if let Ok(entry) = self.native.entry(state) {
            out.extend_from_slice(&entry.hash.to_le_bytes());
            out.extend_from_slice(format!("{:?}", entry.value).as_bytes());
        }
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn violations(&mut self) -> Option<&mut dyn Violations> {
        Some(self)
    }
}

impl<M: NativeModel> Measures for NativeExplorer<'_, M> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        let measure = &self.native.measures[index];
        self.native.state(state).map_or(f64::NAN, |state| (measure.value)(state))
    }
}

impl<M: NativeModel> Violations for NativeExplorer<'_, M> {
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        let message = self.native.model.violation(self.native.state(state)?)?;
        Some(Violation { kind: ViolationKind::Assertion, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk on a ring, in which `Jump` is only enabled at even positions.
    struct Ring {
        size: u32,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Place {
        at: u32,
        name: String,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Move {
        Step,
        Jump { by: u32 },
    }

    impl NativeModel for Ring {
        type State = Place;
        type Action = Move;

        fn initial(&self) -> Place {
            Place { at: 0, name: "p, 0".to_owned() }
        }
        fn actions(&self, state: &Place, actions: &mut Vec<Move>) {
            if state.at != 5 {
                actions.extend([Move::Jump { by: 3 }, Move::Step]);
            }
        }
        fn next(&self, state: &Place, action: &Move) -> Option<Place> {
            let by = match action {
                Move::Step => 1,
                Move::Jump { by } if state.at.is_multiple_of(2) => *by,
                Move::Jump { .. } => return None,
            };
            let at = (state.at + by) % self.size;
            Some(Place { at, name: format!("p, {at}") })
        }
        fn violation(&self, state: &Place) -> Option<String> {
            (state.at == 7).then(|| "seven".to_owned())
        }
        fn is_done(&self, state: &Place) -> bool {
            state.at == 5 && self.size > 20
        }
        fn measures(&self) -> Vec<Measure<Place>> {
            vec![Measure::new("at", "the place", |state: &Place| state.at.into())]
        }
    }

    fn steps(explorer: &mut dyn Explorer, state: u32) -> Vec<(String, u32)> {
        let mut out = Successors::new(1);
        explorer.successors(&[state], &mut out).expect("steps");
        out.iter().map(|(label, state)| (explorer.label(label).text, state[0])).collect()
    }

    #[test]
    fn steps_follow_the_model() {
        let native = Native::new(Ring { size: 10 });
        let mut explorer = native.explorer();
        let mut state = vec![9];
        explorer.initial(&mut state).expect("initial");
        assert_eq!(state, [0]);
        assert_eq!(steps(&mut *explorer, 0), [("jump(3)".to_owned(), 1), ("step".to_owned(), 2)]);
        assert_eq!(native.state(&[1]).expect("met").at, 3);
        assert_eq!(steps(&mut *explorer, 1), [("step".to_owned(), 3)]);
        let mut values = Vec::new();
        explorer.state_values(&[1], &mut values);
        assert_eq!(values, ["3", "\"p, 3\""]);
        assert_eq!(explorer.measures().expect("measures").measure(&[1], 0), 3.0);
    }

    #[test]
    fn explorers_share_numbers_and_hashes() {
        let native = Native::new(Ring { size: 10 });
        let (mut one, mut other) = (native.explorer(), native.explorer());
        assert_eq!(steps(&mut *one, 0), steps(&mut *other, 0));
        assert_eq!(steps(&mut *other, 2), steps(&mut *one, 2));
        let again = Native::new(Ring { size: 10 });
        let mut fresh = again.explorer();
        steps(&mut *fresh, 0);
        for state in 0..3 {
            assert_eq!(one.content_hash(&[state]), fresh.content_hash(&[state]));
            assert_eq!(one.content_hash(&[state]), hash::of(native.state(&[state]).expect("met")));
        }
    }

    #[test]
    fn facts_come_from_the_types() {
        let native = Native::new(Ring { size: 10 });
        assert_eq!(native.info().name, "Ring");
        assert_eq!(native.info().parameters, ["at", "name"]);
        assert_eq!(native.info().measure("at"), Some(0));
        assert_eq!(native.info().fingerprint, Native::new(Ring { size: 10 }).info().fingerprint);
        assert_eq!(native.model().size, 10);
    }

    #[test]
    fn deadlocks_and_violations() {
        for (size, deadlock) in [(10, true), (30, false)] {
            let native = Native::new(Ring { size });
            let mut explorer = native.explorer();
            for state in 0..size {
                // Ids are assigned in the order of exploration, and the ring visits all positions.
                if native.state(&[state]).is_some() {
                    steps(&mut *explorer, state);
                }
            }
            let id = |at| {
                (0..size).find(|&id| native.state(&[id]).is_some_and(|place| place.at == at)).expect("met")
            };
            assert_eq!(explorer.is_deadlock(&[id(5)], &Successors::new(1)), deadlock);
            let violations = explorer.violations().expect("errors of states");
            let violation = violations.violation(&[id(7)]).expect("broken");
            assert_eq!((violation.kind, violation.message.as_str()), (ViolationKind::Assertion, "seven"));
            assert_eq!(violations.violation(&[0]), None);
        }
    }

    #[test]
    fn portable_bytes_name_the_value() {
        let bytes = |first: u32, native: &Native<Ring>, at: u32| {
            let mut explorer = native.explorer();
            steps(&mut *explorer, first);
            let id = (0..10).find(|&id| native.state(&[id]).is_some_and(|place| place.at == at));
            let mut bytes = Vec::new();
            explorer.encode(&[id.expect("met")], &mut bytes);
            bytes
        };
        let (one, other) = (Native::new(Ring { size: 10 }), Native::new(Ring { size: 10 }));
        assert_eq!(bytes(0, &one, 3), bytes(0, &other, 3));
        assert_ne!(bytes(0, &one, 3), bytes(0, &one, 1));
    }

    #[test]
    fn strange_words_are_errors_not_panics() {
        let native = Native::new(Ring { size: 10 });
        let mut explorer = native.explorer();
        let mut out = Successors::new(1);
        assert!(explorer.successors(&[77], &mut out).is_err());
        assert!(explorer.successors(&[], &mut out).is_err());
        assert_eq!(explorer.violations().expect("errors of states").violation(&[77]), None);
        assert_eq!(explorer.label(LabelId(9)).text, "");
    }

    #[test]
    fn states_of_another_shape_keep_their_text() {
        struct Shapes;
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        enum Shape {
            Busy { left: u8, right: u8 },
            Done,
        }
        impl NativeModel for Shapes {
            type State = Shape;
            type Action = ();
            fn initial(&self) -> Shape {
                Shape::Busy { left: 1, right: 2 }
            }
            fn actions(&self, _: &Shape, actions: &mut Vec<()>) {
                actions.push(());
            }
            fn next(&self, _: &Shape, (): &()) -> Option<Shape> {
                Some(Shape::Done)
            }
        }
        let native = Native::new(Shapes);
        let mut explorer = native.explorer();
        assert_eq!(steps(&mut *explorer, 0), [("step".to_owned(), 1)]);
        let mut values = Vec::new();
        explorer.state_values(&[0], &mut values);
        assert_eq!(values, ["1", "2"]);
        explorer.state_values(&[1], &mut values);
        assert_eq!(values, ["Done", ""]);
    }
}
