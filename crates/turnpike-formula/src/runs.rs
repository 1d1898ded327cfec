//! A model whose accepting cycles are the runs that decide a formula.
//!
//! One player alone has choices: where the run goes, and which part of the formula it is about. So a
//! state has one word more, for the part of the formula that the run follows. The player wins a run
//! that never ends if the highest rank of fixed points that it enters again and again is the player's.
//! At some point the run guesses this rank; from then on it must not enter a higher one, and states
//! after one that enters it are accepting. A run that ends in the player's favour stays where it is.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::formula::{DataError, Formula, Node, NodeId, Property};
use turnpike_model::{
    Diagnostic, Explorer, Label, LabelId, LabelSetId, Model, ModelInfo, StateLabels, StepError, Successors,
    hash,
};

use crate::fragment::{Fragment, fragment};
use crate::kinds::Kinds;
use crate::numbers::{DECIDED, Numbers};
use crate::reader::Reader;

/// The label of the step that stays where the formula is decided. Those of the model follow.
const STAY: LabelId = LabelId(0);

/// A model together with a formula that a run decides.
pub struct Runs {
    model: Arc<dyn Model>,
    property: Arc<dyn Property>,
    info: ModelInfo,
    kinds: Kinds,
    /// Guess, whether the state accepts, node and values.
    places: Numbers,
    /// Whether a run refutes the formula; otherwise one proves it.
    refutes: bool,
}

/// A step of the model that a run takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its label.
    pub label: String,
    /// Which of the steps of its state it is.
    pub choice: u32,
}

impl Runs {
    /// What `find` looks for in this model.
    pub const OBJECTIVE: &'static str = "accepting decided";

    /// The runs of a model, if a run decides the formula.
    pub fn new(model: Arc<dyn Model>, property: Arc<dyn Property>) -> Option<Runs> {
        let Fragment::Linear { refutes } = fragment(property.formula()) else { return None };
        let kinds = Kinds::new(property.formula());
        let mut info = model.info().clone();
        info.width += 1;
        info.fingerprint = hash::mix(info.fingerprint, 0x7275_6e73);
        info.violations = &[];
        info.suggestions = Vec::new();
        Some(Runs { model, property, info, kinds, places: Numbers::new(), refutes })
    }

    /// The steps of the model behind choices among the steps of this model, up to where the formula is
    /// decided.
    ///
    /// # Errors
    /// The model cannot take a step.
    pub fn taken(&self, choices: &[u32]) -> Result<Vec<Taken>, StepError> {
        let mut walker = Walker::new(self);
        let mut state = Vec::new();
        walker.initial(&mut state)?;
        let (mut successors, mut taken) = (Successors::new(state.len()), Vec::new());
        for &choice in choices {
            walker.successors(&state, &mut successors)?;
            let Some(&(step, _)) = walker.moves.get(choice as usize) else { break };
            let Some(step) = step else { break };
            let label = walker.inner.label(walker.successors.label(step)).text;
            taken.push(Taken { label, choice: step as u32 });
            state = successors.state(choice as usize).to_vec();
        }
        Ok(taken)
    }
}

impl Model for Runs {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(Walker::new(self))
    }

    fn left_out(&self) -> Option<String> {
        self.model.left_out()
    }
}

/// One thread's view of the runs.
struct Walker<'r> {
    runs: &'r Runs,
    inner: Box<dyn Explorer + 'r>,
    reader: Reader<'r>,
    successors: Successors,
    /// For each step of the state that was expanded last: the step of the model, `None` for staying,
    /// and the place after it.
    moves: Vec<(Option<usize>, u32)>,
    hashes: FxHashMap<u32, u64>,
}

/// Following a formula from one place to those after a step.
struct Follow {
    /// The rank that the run has guessed.
    guess: Option<u32>,
    /// The fixed points on the way, with their values.
    entered: Vec<(u32, Vec<u32>)>,
    /// Whether the player wins without a step.
    wins: bool,
    /// Steps, each with the place after it.
    moves: Vec<(usize, u32)>,
}

impl<'r> Walker<'r> {
    fn new(runs: &'r Runs) -> Self {
        let reader = Reader { formula: runs.property.formula(), judge: runs.property.judge() };
        Walker {
            runs,
            inner: runs.model.explorer(),
            reader,
            successors: Successors::new(runs.info.width - 1),
            moves: Vec::new(),
            hashes: FxHashMap::default(),
        }
    }

    fn formula(&self) -> &'r Formula {
        self.reader.formula
    }

    fn place(&self, guess: Option<u32>, accepts: bool, node: NodeId, values: &[u32]) -> u32 {
        let mut words = vec![guess.map_or(0, |rank| rank + 1), u32::from(accepts), node];
        words.extend(self.reader.live_values(node, values));
        self.runs.places.number(words)
    }

    /// Whether a rank is one that the player wins with.
    fn favours(&self, rank: u32) -> bool {
        (rank % 2 == 1) == self.runs.refutes
    }

    /// Computes the moves from a place in a state whose steps are in `successors`.
    fn look(&mut self, place: u32) -> Result<(), DataError> {
        self.moves.clear();
        if place == DECIDED {
            self.moves.push((None, DECIDED));
            return Ok(());
        }
        let words = self.runs.places.get(place);
        let guess = words[0].checked_sub(1);
        let mut follow = Follow { guess, entered: Vec::new(), wins: false, moves: Vec::new() };
        self.follow(words[2], &words[3..], &mut follow)?;
        if follow.wins {
            self.moves.push((None, DECIDED));
            return Ok(());
        }
        let mut seen = FxHashSet::default();
        follow.moves.retain(|&one| seen.insert(one));
        // Steps stand in the order of the model.
        follow.moves.sort_by_key(|one| one.0);
        self.moves.extend(follow.moves.into_iter().map(|(step, place)| (Some(step), place)));
        Ok(())
    }

    fn follow(&mut self, node: NodeId, values: &[u32], to: &mut Follow) -> Result<(), DataError> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.follow_node(node, values, to))
    }

    fn follow_node(&mut self, node: NodeId, values: &[u32], to: &mut Follow) -> Result<(), DataError> {
        let (formula, own) = (self.formula(), self.runs.refutes);
        let local = &self.runs.kinds.local;
        match &formula.nodes[node as usize] {
            Node::Junction { all, parts } if *all == own => {
                for &part in parts {
                    self.follow(part, values, to)?;
                }
            }
            Node::Junction { parts, .. } => {
                for &part in parts.iter().filter(|&&part| local[part as usize]) {
                    if self.reader.value(part, values, self.successors.labels())? == own {
                        return Ok(());
                    }
                }
                // One player alone has choices, so there is at most one other part.
                match parts.iter().find(|&&part| !local[part as usize]) {
                    Some(&part) => self.follow(part, values, to)?,
                    None => to.wins = true,
                }
            }
            Node::Quantifier { all, quantifier, body } if *all == own => {
                let labels = self.successors.labels();
                for bound in self.reader.bind(*quantifier, labels, values)? {
                    self.follow(*body, &bound, to)?;
                }
            }
            Node::Modality { all, action, body } if *all == own => {
                for step in 0..self.successors.len() {
                    if self.reader.matches(*action, self.successors.label(step), values)? {
                        self.arrive(step, *body, values, to)?;
                    }
                }
            }
            Node::Call { point, arguments } => self.call(*point, *arguments, values, to)?,
            _ => to.wins |= self.reader.value(node, values, self.successors.labels())? != own,
        }
        Ok(())
    }

    fn call(&mut self, point: u32, arguments: u32, values: &[u32], to: &mut Follow) -> Result<(), DataError> {
        let points = &self.formula().points;
        let inside = self.reader.enter(point, arguments, values)?;
        let rank = |one: &(u32, Vec<u32>)| points[one.0 as usize].rank;
        if let Some(start) = to.entered.iter().position(|one| (one.0, &one.1) == (point, &inside)) {
            // A run through the formula alone, without steps of the model.
            let highest = to.entered[start..].iter().map(rank).max().unwrap_or(0);
            to.wins |= self.favours(highest);
            return Ok(());
        }
        to.entered.push((point, inside.clone()));
        self.follow(points[point as usize].body, &inside, to)?;
        to.entered.pop();
        Ok(())
    }

    /// Adds where a step leads whose target has to be followed from a node on.
    fn arrive(
        &mut self,
        step: usize,
        node: NodeId,
        values: &[u32],
        to: &mut Follow,
    ) -> Result<(), DataError> {
        if self.runs.kinds.data[node as usize] {
            if self.reader.value(node, values, &[])? != self.runs.refutes {
                to.moves.push((step, DECIDED));
            }
            return Ok(());
        }
        let points = &self.formula().points;
        let highest = to.entered.iter().map(|one| points[one.0 as usize].rank).max();
        match to.guess {
            Some(guess) if highest > Some(guess) => {}
            Some(guess) => {
                let place = self.place(Some(guess), highest == Some(guess), node, values);
                to.moves.push((step, place));
            }
            None => {
                to.moves.push((step, self.place(None, false, node, values)));
                if let Some(rank) = highest.filter(|&rank| self.favours(rank)) {
                    to.moves.push((step, self.place(Some(rank), true, node, values)));
                }
            }
        }
        Ok(())
    }
}

fn split(state: &[u32]) -> (&[u32], u32) {
    let (place, inner) = state.split_last().expect("a state has a word for the formula");
    (inner, *place)
}

impl Explorer for Walker<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        self.inner.initial(out)?;
        let formula = self.formula();
        out.push(self.place(None, false, formula.root, &vec![0; formula.slots]));
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        let (inner, place) = split(state);
        if place != DECIDED {
            self.inner.successors(inner, &mut self.successors)?;
            self.reader.judge.learn(self.successors.labels(), &mut *self.inner)?;
        }
        self.look(place)?;
        let mut target = Vec::with_capacity(state.len());
        for &(step, place) in &self.moves {
            target.clear();
            target.extend_from_slice(step.map_or(inner, |step| self.successors.state(step)));
            target.push(place);
            out.push(step.map_or(STAY, |step| LabelId(self.successors.label(step).0 + 1)), &target);
        }
        Ok(())
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        let (inner, place) = split(state);
        let known = self.hashes.get(&place).copied();
        let of_place = known.unwrap_or_else(|| {
            let words = self.runs.places.get(place);
            let found = match &words[..] {
                [guess, accepts, node, values @ ..] => {
                    let meaning = self.reader.content_hash(*node, values);
                    hash::mix(meaning, u64::from(*guess) << 1 | u64::from(*accepts))
                }
                _ => 0,
            };
            self.hashes.insert(place, found);
            found
        });
        hash::mix(self.inner.content_hash(inner), of_place)
    }

    fn label(&mut self, id: LabelId) -> Label {
        match id.0.checked_sub(1) {
            Some(id) => self.inner.label(LabelId(id)),
            None => Label::parse("stay"),
        }
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.inner.state_values(split(state).0, out);
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        successors.is_empty()
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        self.inner.encode(split(state).0, out);
        out.extend_from_slice(&self.content_hash(state).to_le_bytes());
    }

    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        Some(self)
    }
}

impl StateLabels for Walker<'_> {
    /// There is one kind of label: the state is accepting.
    fn compile_labels(&mut self, _text: &str) -> Result<LabelSetId, Diagnostic> {
        Ok(LabelSetId(0))
    }

    fn has_labels(&mut self, _labels: LabelSetId, state: &[u32]) -> bool {
        let place = split(state).1;
        place == DECIDED || self.runs.places.get(place)[1] == 1
    }
}
