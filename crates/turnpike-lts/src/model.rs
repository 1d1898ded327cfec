use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use turnpike_model::hash;
use turnpike_model::{
    Diagnostic, Explorer, Label, LabelId, MeasureInfo, Measures, Model, ModelInfo, Obstacles, PortableStates,
    Signatures, StepError, StuckComponent, Successors, Vocabulary, decode_words,
};

use crate::outgoing::{Outgoing, dense};
use crate::system::Lts;

/// The action that means successful termination in the mCRL2 tools.
const TERMINATE: &str = "Terminate";

/// An explicit system as a model. A state is one word, its number. Successors are in file order.
///
/// A state without successors that a transition `Terminate` enters has terminated successfully and
/// is not a deadlock.
///
/// The measures are `out-degree`, the number of outgoing transitions, and `bfs-depth`, the distance
/// from the initial state (infinite for unreachable states; computed on first use).
#[derive(Debug)]
pub struct LtsModel {
    info: ModelInfo,
    initial: u32,
    states: u32,
    labels: Vec<String>,
    signatures: Signatures,
    outgoing: Outgoing,
    /// The states entered by `Terminate`, ascending.
    terminated: Vec<u32>,
    depths: OnceLock<Depths>,
}

/// Transitions in about half a second, including the work of the engine.
const PACE: u64 = 1_500_000;

const OUT_DEGREE: usize = 0;
const BFS_DEPTH: usize = 1;

impl LtsModel {
    /// A model of `lts`. `name` is its name for the user. Checks the system, since it may have been
    /// built by hand.
    pub fn new(name: impl Into<String>, lts: Lts) -> Result<Self, Diagnostic> {
        lts.check()?;
        let outgoing = lts.outgoing();
        let mut info = ModelInfo::new(name, 1);
        info.parameters = vec!["state".to_owned()];
        info.pace = PACE;
        info.measures = vec![
            MeasureInfo::new("out-degree", "number of outgoing transitions"),
            MeasureInfo::new("bfs-depth", "distance from the initial state"),
        ];
        info.fingerprint = fingerprint(&lts);

        let uses = uses_of_labels(&lts);
        let mut actions: BTreeMap<String, u64> = BTreeMap::new();
        let mut signatures = Signatures::new();
        let mut terminate = None;
        for (id, (text, &uses)) in lts.labels.iter().zip(&uses).enumerate() {
            if text == TERMINATE {
                terminate = Some(LabelId(id as u32));
            }
            let label = Label::parse(text);
            signatures.add_label(&label);
            for action in label.actions {
                *actions.entry(action.name).or_default() += uses;
            }
        }
        // Rare actions are more likely to show bugs.
        let rarest = actions.iter().filter(|(name, _)| *name != TERMINATE).min_by_key(|&(_, &uses)| uses);
        info.suggestions = vec!["deadlock".to_owned()];
        info.suggestions.extend(rarest.map(|(name, _)| format!("action {name}")));
        info.actions = actions.into_keys().collect();

        let mut terminated: Vec<u32> = lts
            .transitions
            .iter()
            .filter(|transition| Some(transition.label) == terminate)
            .map(|transition| transition.to)
            .collect();
        terminated.sort_unstable();
        terminated.dedup();

        let Lts { initial, states, labels, .. } = lts;
        Ok(LtsModel {
            info,
            initial,
            states,
            labels,
            signatures,
            outgoing,
            terminated,
            depths: OnceLock::new(),
        })
    }

    /// The number of states, including unreachable ones.
    pub fn states(&self) -> u32 {
        self.states
    }

    /// The transitions by source state.
    pub fn outgoing(&self) -> &Outgoing {
        &self.outgoing
    }

    /// The distance of `state` from the initial state; `None` if it is unreachable.
    pub fn depth(&self, state: u32) -> Option<u32> {
        self.depths.get_or_init(|| Depths::new(self)).get(state)
    }
}

impl Model for LtsModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(LtsExplorer { model: self })
    }

    fn left_out(&self) -> Option<String> {
        None
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        Some(&self.signatures)
    }
}

struct LtsExplorer<'a> {
    model: &'a LtsModel,
}

impl Explorer for LtsExplorer<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.push(self.model.initial);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        for &(label, to) in self.model.outgoing.of(state[0]) {
            out.push(label, &[to]);
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        Label::parse(&self.model.labels[id.index()])
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        out.push(state[0].to_string());
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        successors.is_empty() && self.model.terminated.binary_search(&state[0]).is_err()
    }

    fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
        Some(self)
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }
}

impl Obstacles for LtsExplorer<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        let leaves = !self.model.outgoing.of(state[0]).is_empty();
        if condition.is_some() || leaves || self.model.terminated.binary_search(&state[0]).is_ok() {
            return Ok(Vec::new());
        }
        let component = format!("state {}", state[0]);
        Ok(vec![StuckComponent { component, ..StuckComponent::default() }])
    }

    fn leaves_out_possible(&self) -> bool {
        true
    }
}

impl PortableStates for LtsExplorer<'_> {
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        decode_words(bytes, 1, out)?;
        out.last().filter(|state| **state < self.model.states).map(|_| ())
    }
}

impl Measures for LtsExplorer<'_> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        match index {
            OUT_DEGREE => self.model.outgoing.of(state[0]).len() as f64,
            BFS_DEPTH => self.model.depth(state[0]).map_or(f64::INFINITY, f64::from),
            _ => panic!("an explicit system has no measure {index}"),
        }
    }
}

/// Distances from the initial state.
#[derive(Debug)]
enum Depths {
    /// For each state; `u32::MAX` if it is unreachable.
    Dense(Vec<u32>),
    /// For systems that claim many more states than they have transitions.
    Sparse(FxHashMap<u32, u32>),
}

impl Depths {
    fn new(model: &LtsModel) -> Self {
        let mut depths = if dense(u64::from(model.states), model.outgoing.len()) {
            Depths::Dense(vec![u32::MAX; model.states as usize])
        } else {
            Depths::Sparse(FxHashMap::default())
        };
        let (mut level, mut next) = (vec![model.initial], Vec::new());
        let mut depth = 0;
        depths.set_if_new(model.initial, 0);
        while !level.is_empty() {
            depth += 1;
            for &state in &level {
                for &(_, to) in model.outgoing.of(state) {
                    if depths.set_if_new(to, depth) {
                        next.push(to);
                    }
                }
            }
            std::mem::swap(&mut level, &mut next);
            next.clear();
        }
        depths
    }

    fn set_if_new(&mut self, state: u32, depth: u32) -> bool {
        match self {
            Depths::Dense(depths) => {
                let slot = &mut depths[state as usize];
                let new = *slot == u32::MAX;
                if new {
                    *slot = depth;
                }
                new
            }
            Depths::Sparse(depths) => {
                let before = depths.len();
                depths.entry(state).or_insert(depth);
                depths.len() > before
            }
        }
    }

    fn get(&self, state: u32) -> Option<u32> {
        match self {
            Depths::Dense(depths) => depths.get(state as usize).copied().filter(|&depth| depth != u32::MAX),
            Depths::Sparse(depths) => depths.get(&state).copied(),
        }
    }
}

fn uses_of_labels(lts: &Lts) -> Vec<u64> {
    let mut uses = vec![0u64; lts.labels.len()];
    for transition in &lts.transitions {
        uses[transition.label.index()] += 1;
    }
    uses
}

/// A hash of the content: initial state, number of states, and the transitions with the texts of
/// their labels. Label ids are not part of it, so the fingerprint does not depend on how the system
/// was built.
fn fingerprint(lts: &Lts) -> u64 {
    let labels: Vec<u64> = lts.labels.iter().map(|text| hash::bytes(text.as_bytes())).collect();
    let mut hasher = hash::PortableHasher::default();
    hasher.write_u32(lts.initial);
    hasher.write_u32(lts.states);
    for transition in &lts.transitions {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&transition.from.to_le_bytes());
        bytes[4..8].copy_from_slice(&transition.to.to_le_bytes());
        bytes[8..].copy_from_slice(&labels[transition.label.index()].to_le_bytes());
        hasher.write(&bytes);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aut::{AutDialect, read_lts};
    use crate::system::Transition;

    fn model(text: &str) -> LtsModel {
        LtsModel::new("test.aut", read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("reads"))
            .expect("consistent")
    }

    const SAMPLE: &str =
        "des (0,5,5)\n(2,\"b(1)|c\",0)\n(0,\"a\",1)\n(0,\"tau\",2)\n(2,\"a\",3)\n(0,\"b(2)\",0)\n";

    #[test]
    fn successors_come_in_file_order() {
        let model = model(SAMPLE);
        let mut explorer = model.explorer();
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("an initial state");
        assert_eq!(state, [0]);
        let mut out = Successors::new(1);
        explorer.successors(&state, &mut out).expect("steps");
        let steps: Vec<_> = out.iter().map(|(label, state)| (explorer.label(label).text, state[0])).collect();
        assert_eq!(steps, [("a".to_owned(), 1), ("tau".to_owned(), 2), ("b(2)".to_owned(), 0)]);
        let mut values = vec!["old".to_owned()];
        explorer.state_values(&[3], &mut values);
        assert_eq!(values, ["3"]);
    }

    #[test]
    fn facts_come_from_the_content() {
        let first = model(SAMPLE);
        let info = first.info();
        assert_eq!((info.width, info.parameters.as_slice()), (1, &["state".to_owned()][..]));
        assert_eq!(info.actions, ["a", "b", "c"]);
        assert_eq!(info.suggestions, ["deadlock", "action c"]);
        assert_eq!(info.fingerprint, model(SAMPLE).info().fingerprint);
        assert_ne!(info.fingerprint, model(&SAMPLE.replace("(2,\"a\",3)", "(2,\"a\",4)")).info().fingerprint);
        assert_ne!(info.fingerprint, model(&SAMPLE.replace("b(2)", "b(3)")).info().fingerprint);
        assert_ne!(info.fingerprint, model(&SAMPLE.replace("5,5", "5,6")).info().fingerprint);
    }

    #[test]
    fn every_label_is_in_the_vocabulary() {
        let odd = "des (0,6,2)\n(0,\"send !1\",1)\n(0,\"x) | (y\",1)\n(0,\"a(\",1)\n(0,\"f(g(1,2),[3])|h\",1)\n\
                   (0,\"h(1)\",1)\n(0,\"a || b\",1)\n";
        for text in [SAMPLE, odd] {
            let model = model(text);
            let vocabulary = model.vocabulary().expect("a vocabulary");
            for label in &model.labels {
                assert!(vocabulary.label(label).is_known(), "{label}: {:?}", vocabulary.label(label));
                for action in Label::parse(label).actions {
                    assert!(vocabulary.action(&action.name).is_known(), "{}", action.name);
                }
            }
            assert!(!vocabulary.action("d").is_known());
        }
        let model = model(SAMPLE);
        let vocabulary = model.vocabulary().expect("a vocabulary");
        assert!(vocabulary.label("b(7)").is_known(), "a value that does not occur");
        assert!(!vocabulary.label("b(1,2)").is_known());
        assert!(!vocabulary.label("c|b(1)").is_known(), "this combination does not occur");
        assert!(!vocabulary.label("c").is_known(), "only together with b");
    }

    #[test]
    fn fingerprints_do_not_see_label_ids() {
        let step = |from, label, to| Transition { from, label: LabelId(label), to };
        let name = str::to_owned;
        let one = Lts {
            initial: 0,
            states: 2,
            labels: vec![name("a"), name("b")],
            transitions: vec![step(0, 0, 1), step(1, 1, 0)],
        };
        let other = Lts {
            labels: vec![name("b"), name("unused"), name("a")],
            transitions: vec![step(0, 2, 1), step(1, 0, 0)],
            ..one.clone()
        };
        assert_eq!(fingerprint(&one), fingerprint(&other));
    }

    #[test]
    fn measures() {
        let model = model(SAMPLE);
        let mut explorer = model.explorer();
        let degree = model.info().measure("out-degree").expect("a measure");
        let depth = model.info().measure("bfs-depth").expect("a measure");
        assert_eq!(explorer.measures().expect("measures").measure(&[0], degree), 3.0);
        assert_eq!(explorer.measures().expect("measures").measure(&[1], degree), 0.0);
        let depths: Vec<f64> =
            (0..5).map(|state| explorer.measures().expect("measures").measure(&[state], depth)).collect();
        assert_eq!(depths, [0.0, 1.0, 1.0, 2.0, f64::INFINITY]);
    }

    #[test]
    fn claims_without_content_cost_nothing() {
        let model = model("des (4294967290,1,4294967295)\n(4294967290,\"a\",4294967294)\n");
        assert_eq!(model.depth(4_294_967_294), Some(1));
        assert_eq!(model.depth(5), None);
    }

    #[test]
    fn successful_termination_is_not_a_deadlock() {
        let model = model("des (0,2,3)\n(0,\"Terminate\",1)\n(0,\"a\",2)\n");
        let mut explorer = model.explorer();
        let none = Successors::new(1);
        assert!(!explorer.is_deadlock(&[1], &none));
        assert!(explorer.is_deadlock(&[2], &none));
    }

    #[test]
    fn broken_systems_are_refused() {
        assert!(LtsModel::new("x", Lts::default()).is_err());
    }
}
