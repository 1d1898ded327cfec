//! An explorer of the runs of a formula.
//!
//! A state is a word with the phase of the run, followed by a state of one of the two zone graphs.

use turnpike_model::{
    Diagnostic, Explorer, Label, LabelId, Measures, Obstacles, Participant, Participants, PortableStates,
    PredicateId, Predicates, StepError, StuckComponent, Successors, hash, label::Action,
};

use super::LivenessModel;
use crate::explore::{ROOT, Walker, exact};
use crate::schedule::Path;

/// The run is not yet restricted to `stay`.
const BEFORE: u32 = 0;
/// The run is restricted to `stay`.
const INSIDE: u32 = 1;
/// The run rests. Used only where cycles must show how the run continues; otherwise the run rests in
/// the state itself.
const RESTING: u32 = 2;

/// From here on the run is restricted to `stay`.
const STAY: LabelId = LabelId(0);
/// Time diverges, or nothing is possible any more.
const REST: LabelId = LabelId(1);
/// Labels of the network start here.
const OWN: u32 = 2;

pub(super) struct Runs<'a> {
    model: &'a LivenessModel,
    before: Option<Walker<'a>>,
    inside: Walker<'a>,
    inner: Successors,
    next: Vec<u32>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(model: &'a LivenessModel) -> Self {
        Runs {
            model,
            before: model.before.as_ref().map(Walker::new),
            inside: Walker::new(&model.inside),
            inner: Successors::new(model.info.width - 1),
            next: Vec::new(),
        }
    }

    /// The same with exact zones.
    pub(super) fn exact(model: &'a LivenessModel) -> Self {
        Runs {
            before: model.before.as_ref().map(Walker::exact),
            inside: Walker::exact(&model.inside),
            ..Runs::new(model)
        }
    }

    /// The states along a path with exact zones, if they can be found.
    pub(super) fn exact_states(
        model: &'a LivenessModel,
        choices: &[u32],
    ) -> Result<Option<Vec<Vec<u32>>>, StepError> {
        let (mut runs, mut exact) = (Runs::new(model), Runs::exact(model));
        let mut state = Vec::new();
        let mut out = Successors::new(model.info.width);
        runs.initial(&mut state)?;
        let (mut states, mut labels) = (vec![state.clone()], Vec::with_capacity(choices.len()));
        for &choice in choices {
            runs.successors(&state, &mut out)?;
            let successor = out.iter().nth(choice as usize);
            let (label, target) = successor.ok_or_else(|| StepError::new("no such choice"))?;
            state = target.to_vec();
            labels.push(label);
            states.push(state.clone());
        }
        let phase = states[0][0];
        let begin = |inner: Vec<u32>| std::iter::once(phase).chain(inner).collect::<Vec<u32>>();
        let initial = exact.walker(&states[0]).exact_initial(&states[0][1..])?;
        let initial = initial.into_iter().map(begin).collect();
        let mut all = Successors::new(model.info.width);
        exact::follow(&states, initial, |step, state, out| {
            all.clear();
            exact.successors(state, &mut all)?;
            for (label, target) in all.iter().filter(|&(label, _)| label == labels[step]) {
                out.push(label, target);
            }
            Ok(())
        })
    }

    fn is_root(state: &[u32]) -> bool {
        state.last() == Some(&ROOT)
    }

    /// The zone graph of a state.
    fn walker(&mut self, state: &[u32]) -> &mut Walker<'a> {
        match &mut self.before {
            Some(before) if state[0] == BEFORE => before,
            _ => &mut self.inside,
        }
    }

    fn push(&mut self, label: LabelId, phase: u32, state: &[u32], out: &mut Successors) {
        self.next.clear();
        self.next.push(phase);
        self.next.extend_from_slice(state);
        out.push(label, &self.next);
    }

    /// The transitions by which a run can start to stay.
    fn starts(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        let model = self.model;
        let (Some(before), Some(graph)) = (&mut self.before, &model.before) else { return Ok(()) };
        let discrete = &state[..state.len() - 1];
        let mut entered = Successors::new(state.len());
        for zone in before.parts(state, graph.demanded())? {
            self.inside.enter_at(discrete, &zone, STAY, &mut entered)?;
        }
        for (_, target) in entered.iter() {
            self.push(STAY, INSIDE, target, out);
        }
        Ok(())
    }

    /// The edges along a path, and whether each step takes any.
    pub(super) fn path(&mut self, choices: &[u32]) -> Result<(Path, Vec<bool>), StepError> {
        let mut out = Successors::new(self.model.info.width);
        let mut state = Vec::new();
        self.initial(&mut state)?;
        let (mut path, mut taken) = (Path::default(), Vec::new());
        for (number, &choice) in choices.iter().enumerate() {
            if path.initial.is_empty() && !Self::is_root(&state) {
                path.initial = self.model.inside.locations_of(&state[1..]);
            }
            self.walker(&state).record = Some(Vec::new());
            let outcome = self.successors(&state, &mut out);
            let record = self.walker(&state).record.take().unwrap_or_default();
            outcome?;
            if choice as usize >= out.len() {
                return Err(StepError::new(format!("step {} has no choice {choice}", number + 1)));
            }
            // Steps without edges come last; the virtual root has no others.
            let edges = record.get(choice as usize).map(|steps| self.model.inside.edges(steps));
            taken.push(edges.is_some());
            path.steps.extend(edges);
            state.clear();
            state.extend_from_slice(out.state(choice as usize));
        }
        if path.initial.is_empty() && !Self::is_root(&state) {
            path.initial = self.model.inside.locations_of(&state[1..]);
        }
        Ok((path, taken))
    }

    /// Whether the last of these choices is a `rest` step.
    pub(super) fn ends_with_rest(&mut self, choices: &[u32]) -> Result<bool, StepError> {
        let mut out = Successors::new(self.model.info.width);
        let (mut state, mut last) = (Vec::new(), None);
        self.initial(&mut state)?;
        for &choice in choices {
            self.successors(&state, &mut out)?;
            let successor = out.iter().nth(choice as usize);
            let (label, target) = successor.ok_or_else(|| StepError::new("no such choice"))?;
            (last, state) = (Some(label), target.to_vec());
        }
        Ok(last == Some(REST))
    }
}

impl Explorer for Runs<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        let phase = match &mut self.before {
            Some(before) => {
                before.initial(out)?;
                BEFORE
            }
            None => {
                self.inside.initial(out)?;
                INSIDE
            }
        };
        out.insert(0, phase);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if state[0] == RESTING {
            out.push(REST, state);
            return Ok(());
        }
        let mut inner = std::mem::take(&mut self.inner);
        let outcome = self.walker(state).successors(&state[1..], &mut inner);
        if outcome.is_ok() {
            for (label, target) in inner.iter() {
                self.push(LabelId(label.0 + OWN), state[0], target, out);
            }
        }
        self.inner = inner;
        outcome?;
        if Self::is_root(state) {
            return Ok(());
        }
        if state[0] == BEFORE {
            return self.starts(&state[1..], out);
        }
        if self.inside.rests(&state[1..])? {
            let phase = if self.model.non_zeno { RESTING } else { INSIDE };
            self.push(REST, phase, &state[1..], out);
        }
        Ok(())
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        hash::mix(u64::from(state[0]), self.walker(state).content_hash(&state[1..]))
    }

    fn label(&mut self, id: LabelId) -> Label {
        let word = match id {
            STAY => "stay",
            REST => "rest",
            LabelId(own) => return self.inside.label(LabelId(own - OWN)),
        };
        let action = Action { name: word.to_owned(), arguments: Vec::new() };
        Label { text: word.to_owned(), actions: vec![action] }
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.walker(state).state_values(&state[1..], out);
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        out.push(state[0] as u8);
        self.walker(state).encode(&state[1..], out);
    }

    fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
        Some(self)
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn predicates(&mut self) -> Option<&mut dyn Predicates> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }

    fn participants(&mut self) -> Option<&mut dyn Participants> {
        Some(self)
    }
}

impl PortableStates for Runs<'_> {
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        let (&phase, bytes) = bytes.split_first()?;
        let phase = u32::from(phase);
        out.push(phase);
        self.walker(&[phase]).decode(bytes, out)
    }
}

impl Participants for Runs<'_> {
    fn components(&self) -> Vec<String> {
        self.inside.components()
    }

    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError> {
        let mut out = Successors::new(self.model.info.width);
        self.successors_up_to(state, position, &mut out)?;
        Ok(match (position < out.len()).then(|| out.label(position)) {
            None | Some(STAY | REST) => Vec::new(),
            Some(LabelId(own)) => self.inside.participants_of(LabelId(own - OWN)),
        })
    }
}

impl Measures for Runs<'_> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        self.walker(state).measure(&state[1..], index)
    }
}

impl Predicates for Runs<'_> {
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        if text.trim() == self.model.text {
            return Ok(PredicateId(0));
        }
        Err(Diagnostic::error(format!("only runs with {} can be found here", self.model.text)))
    }

    fn holds(&mut self, _predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        Ok(match state[0] {
            BEFORE => false,
            INSIDE => !Self::is_root(state) && self.inside.ticked(&state[1..]),
            _ => true,
        })
    }
}

/// Explains runs that rest because nothing is possible, but not those in which time diverges.
impl Obstacles for Runs<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        let is_own_text = condition.is_none_or(|condition| condition == self.model.text);
        if !is_own_text || state[0] == BEFORE || Self::is_root(state) {
            return Ok(Vec::new());
        }
        self.inside.explain_end(&state[1..])
    }

    fn leaves_out_possible(&self) -> bool {
        true
    }
}
