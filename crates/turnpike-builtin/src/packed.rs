//! Implements the interfaces of a model for all models of this crate.

use turnpike_model::{
    Explorer, Label, LabelId, MeasureInfo, Measures, Model, ModelInfo, Names, Obstacle, Obstacles, Offer,
    Participant, Participants, PortableStates, PortableWords, Signatures, StepError, StuckComponent,
    Successors, Violation, ViolationKind, Violations, Vocabulary, decode_words,
};

/// A model of this crate. It needs no memory between steps, so a reference to it serves as its
/// explorer.
pub(crate) trait Packed: Send + Sync + 'static {
    /// The number of words of a state.
    fn width(&self) -> usize;

    /// Fills in the names of parameters, actions and measures, and the suggestions.
    fn describe(&self, info: &mut ModelInfo);

    /// The number of arguments of an action. All arguments are numbers.
    fn arity(&self, action: &str) -> usize;

    /// Writes the initial state to `state`, which contains `width` zeros.
    fn initial(&self, state: &mut [u32]);

    /// Adds the outgoing transitions of `state` to the empty buffer `out`, in the documented order.
    fn successors(&self, state: &[u32], out: &mut Successors);

    /// The text of a label.
    fn label(&self, id: u32) -> String;

    /// Adds the texts of the state's values to the empty list `out`.
    fn values(&self, state: &[u32], out: &mut Vec<String>);

    /// The value of measure `index`, in the order of `describe`.
    fn measure(&self, state: &[u32], index: usize) -> f64;

    /// The parameters that are components, where the model has some.
    fn components(&self) -> Vec<String> {
        Vec::new()
    }

    /// The components that take part in a transition with this label.
    fn takes_part(&self, label: u32) -> Vec<String> {
        let _ = label;
        Vec::new()
    }

    /// The components that cannot go on in `state`, where the model has components.
    fn waiting(&self, state: &[u32]) -> Vec<StuckComponent> {
        let _ = state;
        Vec::new()
    }

    /// A description of what is wrong with the state, if anything is.
    fn violation(&self, state: &[u32]) -> Option<String> {
        let _ = state;
        None
    }
}

/// The number of transitions in about half a second, since 3 to 4 million per second were measured.
const PACE: u64 = 1_500_000;

/// Wraps `system` as a model of this name.
pub(crate) fn model(name: String, system: impl Packed) -> Box<dyn Model> {
    let mut info = ModelInfo::new(name, system.width());
    info.violations = &[ViolationKind::Assertion];
    info.pace = PACE;
    system.describe(&mut info);
    let mut signatures =
        Signatures::new().with_sort("number", |argument| Some(argument.parse::<u64>().ok()?.to_string()));
    // Without actions, all steps are internal.
    signatures.add_combination(Vec::new());
    for name in &info.actions {
        signatures.add(name, system.arity(name));
        signatures.add_combination(vec![name.clone()]);
    }
    Box::new(Adapter { info, signatures, system })
}

/// Copies names for a `ModelInfo`.
pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Creates measures from pairs of a name and a description.
pub(crate) fn measures(pairs: &[(&str, &str)]) -> Vec<MeasureInfo> {
    pairs.iter().map(|&(name, doc)| MeasureInfo::new(name, doc)).collect()
}

/// Who holds a fork: the seats beside it, and whether each does.
pub(crate) fn fork_text(seats: [(usize, bool); 2]) -> String {
    let holder = seats.into_iter().find(|(_, holds)| *holds);
    holder.map_or_else(|| "free".to_owned(), |(seat, _)| format!("held-by-{}", seat + 1))
}

/// A component whose only action needs what another one has.
pub(crate) fn waits(
    component: String,
    at: &str,
    action: String,
    needs: String,
    holder: String,
) -> StuckComponent {
    let obstacles = vec![Obstacle::Held { needs, by: Some(holder), since: None }];
    let offers = vec![Offer { action, obstacles }];
    StuckComponent { component, position: at.to_owned(), offers, stops_time: None }
}

/// Panics about an index without a measure, which is a mistake of the caller.
#[cold]
pub(crate) fn no_measure(index: usize) -> ! {
    panic!("this model has no measure {index}")
}

struct Adapter<P> {
    info: ModelInfo,
    signatures: Signatures,
    system: P,
}

impl<P: Packed> Model for Adapter<P> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(View(&self.system))
    }

    fn left_out(&self) -> Option<String> {
        None
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        Some(&self.signatures)
    }
}

struct View<'a, P>(&'a P);

impl<P: Packed> Explorer for View<'_, P> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.resize(self.0.width(), 0);
        self.0.initial(out);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        self.0.successors(state, out);
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        Label::parse(&self.0.label(id.0))
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        self.0.values(state, out);
    }

    fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
        Some(self)
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn violations(&mut self) -> Option<&mut dyn Violations> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }

    fn participants(&mut self) -> Option<&mut dyn Participants> {
        (!self.0.components().is_empty()).then_some(self as &mut dyn Participants)
    }
}

impl<P: Packed> Participants for View<'_, P> {
    fn components(&self) -> Vec<String> {
        self.0.components()
    }

    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError> {
        let mut successors = Successors::new(self.0.width());
        self.0.successors(state, &mut successors);
        if position >= successors.len() {
            return Err(StepError::new(format!("there is no transition at position {position}")));
        }
        let label = successors.label(position).0;
        let action = self.0.label(label);
        let participant =
            |component| Participant { component, action: action.clone(), ..Participant::default() };
        Ok(self.0.takes_part(label).into_iter().map(participant).collect())
    }
}

impl<P: Packed> Obstacles for View<'_, P> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        if condition.is_some() {
            return Ok(Vec::new());
        }
        let waiting = self.0.waiting(state);
        let mut successors = Successors::new(self.0.width());
        if waiting.is_empty() {
            self.0.successors(state, &mut successors);
            if successors.is_empty() {
                let component = "the system".to_owned();
                return Ok(vec![StuckComponent { component, ..StuckComponent::default() }]);
            }
        }
        Ok(waiting)
    }

    fn leaves_out_possible(&self) -> bool {
        true
    }
}

impl<P: Packed> PortableStates for View<'_, P> {
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        decode_words(bytes, self.0.width(), out)
    }

    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        Some(self)
    }
}

/// All words are plain numbers, which are the same on every machine.
impl<P: Packed> PortableWords for View<'_, P> {
    fn names(&self) -> Names {
        Names::NONE
    }

    fn name_hash(&mut self, name: u32) -> u64 {
        name.into()
    }

    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&name.to_le_bytes());
    }

    fn decode_name(&mut self, bytes: &[u8]) -> Option<u32> {
        bytes.try_into().ok().map(u32::from_le_bytes)
    }
}

impl<P: Packed> Measures for View<'_, P> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        self.0.measure(state, index)
    }
}

impl<P: Packed> Violations for View<'_, P> {
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        self.0.violation(state).map(|message| Violation { kind: ViolationKind::Assertion, message })
    }
}
