//! The implementation of [`Explorer`] and its facets.

use std::fmt::Write;
use std::sync::Arc;

use turnpike_model::{
    Automata, Covering, Diagnostic, Explorer, Label, LabelId, LabelSetId, Measures, Names, Obstacles,
    Participant, Participants, PortableStates, PortableWords, PredicateId, Predicates, StateLabels,
    StepError, Successors, decode_words, hash,
};

use super::Cover;
use super::condition::{Compiled, asks_for_deadlock};
use super::quick::Way;
use super::walker::{Kept, ROOT, Walker};
use crate::network::Expression;
use crate::query::Condition;
use crate::zeno::TICKED;
use crate::zone::{Dbm, ZoneId};

impl Walker<'_> {
    /// Searches on both sides of the virtual root, which has a key like other states but
    /// no zone to compare with; `None` if it is not among them.
    fn find_beside_root(
        &mut self,
        others: &[u32],
        mut find: impl FnMut(&mut Self, &[u32]) -> Option<usize>,
    ) -> Option<Option<usize>> {
        if !self.model.info.virtual_root {
            return None;
        }
        let root = others.iter().position(|&other| other == ROOT)?;
        let (before, after) = others.split_at(root);
        Some(find(self, before).or_else(|| find(self, &after[1..]).map(|place| root + 1 + place)))
    }

    pub(super) fn is_root(&self, state: &[u32]) -> bool {
        state[self.model.layout.words] == ROOT
    }

    /// Whether the last transition counted time; false if time is not counted.
    pub(crate) fn ticked(&self, state: &[u32]) -> bool {
        let model = self.model;
        model.network.ticker.is_none_or(|ticker| model.layout.location(state, ticker.0 as usize) == TICKED.0)
    }

    fn steps(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        let model = self.model;
        let done = match model.quick && !self.exact {
            true if model.wide => self.wide_steps(state, out),
            true => self.quick_steps(state, out),
            false => self.load(state).and_then(|()| match model.tables.has_priorities {
                true => self.by_priority(out),
                false => self.transitions(out),
            }),
        };
        done.map_err(|fault| {
            self.quick.way = Way::Plain;
            self.machine.undo();
            model.error(&fault)
        })
    }

    /// The processes that take part in transitions with a label.
    pub(crate) fn participants_of(&self, label: LabelId) -> Vec<Participant> {
        self.model.labels.participants(&self.model.network, label)
    }

    /// The ids of the labels in a list of names.
    fn label_ids(&self, text: &str) -> Result<Vec<u32>, Diagnostic> {
        let labels = &self.model.location_labels;
        let mut ids = Vec::new();
        for name in text.split(',').map(str::trim) {
            match labels.iter().position(|label| label == name) {
                Some(id) => ids.push(id as u32),
                None => {
                    let error = Diagnostic::error(format!("no location has the label `{name}`"));
                    let action = name.split('(').next().unwrap_or_default();
                    if self.model.info.actions.iter().any(|known| known == action) {
                        return Err(error.help(format!("`{action}` is an action: write `action {action}`")));
                    }
                    return Err(error
                        .suggest_or_list(name, labels.iter().map(String::as_str), "the labels are")
                        .help_if_none("this model has no labels; the objective `state PROCESS.LOCATION` asks for a location"));
                }
            }
        }
        Ok(ids)
    }

    fn compile_condition(&mut self, text: &str) -> Result<u32, Diagnostic> {
        let model = self.model;
        let own = model.conditions.len();
        if let Some(at) = model.conditions.iter().position(|(known, _)| known == text) {
            return Ok(at as u32);
        }
        let condition = model.names.condition(&model.network, text)?;
        let compiled = Compiled::new(&model.network, condition);
        if asks_for_deadlock(&compiled.condition) && !model.deadlock {
            return Err(unsupported_condition("deadlock"));
        }
        if compiled.timed && !asks_for_deadlock(&compiled.condition) {
            return Err(unsupported_condition("clocks"));
        }
        self.extra.push((text.to_owned(), Arc::new(compiled)));
        Ok((own + self.extra.len()) as u32 - 1)
    }
}

/// Appends a number. Most are small, and large networks have thousands of them in every state.
fn push_number(text: &mut String, number: i32) {
    match number {
        0..=9 => text.push(char::from(b'0' + number as u8)),
        _ => {
            let _ = write!(text, "{number}");
        }
    }
}

fn unsupported_condition(what: &str) -> Diagnostic {
    Diagnostic::error(format!("this condition uses {what}, which the zones of this search may not preserve"))
        .help("conditions on clocks and deadlocks must be passed when the model is opened")
}

impl Explorer for Walker<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        match &self.model.initial {
            Some(state) => out.extend_from_slice(state),
            None => {
                out.resize(self.model.layout.words, 0);
                out.push(ROOT);
            }
        }
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if self.is_root(state) {
            return self.initial_states(out);
        }
        self.steps(state, out)
    }

    fn successors_up_to(
        &mut self,
        state: &[u32],
        last: usize,
        out: &mut Successors,
    ) -> Result<(), StepError> {
        let is_known = |kept: &mut Box<Kept>| kept.last == last && kept.state == state;
        if self.record.is_none()
            && let Some(mut kept) = self.kept.take_if(is_known)
        {
            std::mem::swap(out, &mut kept.out);
            return Ok(());
        }
        self.enough = last;
        let done = self.successors(state, out);
        self.enough = usize::MAX;
        done
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        let (discrete, zone) = state.split_at(self.model.layout.words);
        let zone = if zone[0] == ROOT { 0 } else { self.model.zones.hash(ZoneId(zone[0])) };
        hash::mix(hash::words(discrete), zone)
    }

    fn label(&mut self, id: LabelId) -> Label {
        self.model.labels.label(&self.model.network, id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        let model = self.model;
        out.resize(model.info.parameters.len(), String::new());
        if self.is_root(state) {
            out.fill("-".to_owned());
            return;
        }
        // Large networks have many values, so the previous state's strings are reused.
        let mut places = out.iter_mut();
        let mut place = || {
            let text = places.next().expect("a text for each parameter");
            text.clear();
            text
        };
        for (index, process) in model.network.processes.iter().enumerate() {
            let location = model.layout.location(state, index) as usize;
            place().push_str(&process.locations[location].name);
        }
        for (cell, variable) in model.network.variables.iter().enumerate() {
            if !variable.meta {
                push_number(place(), model.layout.cell(state, cell));
            }
        }
        let id = self.tuples.of(state, &model.layout, &model.tables, &model.bounds);
        let active = self.tuples.get(id).members.active();
        let names: Vec<&str> =
            active.iter().map(|&clock| model.network.clocks[clock as usize].as_str()).collect();
        model.zones.load(ZoneId(state[model.layout.words]), &mut self.other);
        let zone = self.other.text(&names);
        let _ = match (model.unit, model.network.parts_per_unit()) {
            (1, 1) => write!(place(), "{zone}"),
            (unit, 1) => write!(place(), "{unit}*{zone}"),
            (unit, parts) => write!(place(), "{unit}/{parts}*{zone}"),
        };
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        if self.is_root(state) {
            return false;
        }
        // Where urgent channels split states, time may lead from a part without transitions to
        // another.
        let whole = !self.model.tables.has_timed_urgency;
        if !self.model.deadlock || whole && successors.is_empty() {
            return successors.is_empty();
        }
        // Errors in the state were reported when its successors were computed.
        let dead = self.load(state).and_then(|()| self.deadlocked());
        self.machine.undo();
        dead.is_ok_and(|dead| !dead.is_empty())
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

    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }

    fn participants(&mut self) -> Option<&mut dyn Participants> {
        Some(self)
    }

    fn automata(&mut self) -> Option<&mut dyn Automata> {
        Some(self)
    }

    fn covering(&mut self) -> Option<&mut dyn Covering> {
        Some(self)
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        let (discrete, zone) = state.split_at(self.model.layout.words);
        for word in discrete {
            out.extend_from_slice(&word.to_le_bytes());
        }
        self.encode_name(zone[0], out);
    }
}

impl PortableStates for Walker<'_> {
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        let words = self.model.layout.words;
        let (discrete, bounds) = bytes.split_at_checked(4 * words)?;
        decode_words(discrete, words, out)?;
        out.push(self.decode_name(bounds)?);
        Some(())
    }

    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        Some(self)
    }
}

/// The last word of a state is the name of its zone; the virtual root has none.
impl PortableWords for Walker<'_> {
    fn names(&self) -> Names {
        let zone = self.model.layout.words;
        Names { positions: zone..zone + 1, mask: 0 }
    }

    fn name_hash(&mut self, name: u32) -> u64 {
        if name == ROOT { 0 } else { self.model.zones.hash(ZoneId(name)) }
    }

    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>) {
        if name == ROOT {
            return;
        }
        self.model.zones.load(ZoneId(name), &mut self.other);
        let dimension = self.other.dimension();
        for at in 0..dimension * dimension {
            let bound = self.other.get(at / dimension, at % dimension);
            out.extend_from_slice(&bound.0.to_le_bytes());
        }
    }

    fn decode_name(&mut self, bytes: &[u8]) -> Option<u32> {
        match bytes {
            [] => Some(ROOT),
            bounds => Some(self.model.zones.keep(&Dbm::from_bounds(bounds)?).0),
        }
    }
}

impl Participants for Walker<'_> {
    fn components(&self) -> Vec<String> {
        let network = &self.model.network;
        // A process that only counts time is not part of the model.
        let is_own = |&index: &usize| network.ticker.is_none_or(|ticker| ticker.0 as usize != index);
        let own = (0..network.processes.len()).filter(is_own);
        own.map(|index| network.processes[index].name.clone()).collect()
    }

    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError> {
        let mut out = Successors::new(self.model.info.width);
        self.successors_up_to(state, position, &mut out)?;
        let label = (position < out.len()).then(|| out.label(position));
        let participants = label.map_or(Vec::new(), |label| self.participants_of(label));
        self.kept = Some(Box::new(Kept { state: state.to_vec(), last: position, out }));
        Ok(participants)
    }
}

impl Measures for Walker<'_> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        f64::from(self.model.layout.cell(state, self.model.measures[index] as usize))
    }
}

impl Predicates for Walker<'_> {
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        self.compile_condition(text).map(PredicateId)
    }

    fn constant(&mut self, predicate: PredicateId) -> Option<bool> {
        let (index, own) = (predicate.0 as usize, self.model.conditions.len());
        let compiled = match index.checked_sub(own) {
            None => &self.model.conditions[index].1,
            Some(extra) => &*self.extra[extra].1,
        };
        match compiled.condition {
            Condition::Data(Expression::Constant(value)) => Some(value != 0),
            _ => None,
        }
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        if self.is_root(state) || !self.ticked(state) {
            return Ok(false);
        }
        let (model, index) = (self.model, predicate.0 as usize);
        let own = model.conditions.len();
        let holds = if index < own {
            self.meets(&model.conditions[index].1, state)
        } else {
            let compiled = Arc::clone(&self.extra[index - own].1);
            self.meets(&compiled, state)
        };
        self.machine.undo();
        holds.map_err(|fault| {
            let text = if index < own { &model.conditions[index].0 } else { &self.extra[index - own].0 };
            model.error_about(&fault, Some(text))
        })
    }
}

impl StateLabels for Walker<'_> {
    fn compile_labels(&mut self, text: &str) -> Result<LabelSetId, Diagnostic> {
        let ids = self.label_ids(text)?;
        self.label_sets.push(ids);
        Ok(LabelSetId(self.label_sets.len() as u32 - 1))
    }

    fn has_labels(&mut self, labels: LabelSetId, state: &[u32]) -> bool {
        if self.is_root(state) || !self.ticked(state) {
            return false;
        }
        let model = self.model;
        self.label_sets[labels.0 as usize].iter().all(|&label| {
            let mut places = model.label_places[label as usize].iter();
            places.any(|&(process, location)| model.layout.location(state, process as usize) == location)
        })
    }
}

impl Covering for Walker<'_> {
    fn key_words(&self) -> usize {
        self.model.layout.words
    }

    fn covers(&mut self, bigger: &[u32], smaller: &[u32]) -> bool {
        let model = self.model;
        let words = model.layout.words;
        let (one, other) = (bigger[words], smaller[words]);
        if bigger[..words] != smaller[..words] || one == ROOT || other == ROOT {
            return bigger == smaller;
        }
        let (one, other) = (ZoneId(one), ZoneId(other));
        match model.cover {
            Cover::Inclusion => model.zones.covers(one, other),
            Cover::Alu => {
                let id = self.tuples.of(smaller, &model.layout, &model.tables, &model.bounds);
                let tuple = self.tuples.get(id);
                model.zones.covers_simulated(one, other, tuple.lower(), tuple.upper())
            }
        }
    }

    fn find_covering(&mut self, state: &[u32], others: &[u32]) -> Option<usize> {
        let model = self.model;
        let zone = state[model.layout.words];
        if zone == ROOT {
            return others.iter().position(|&other| other == ROOT);
        }
        if let Some(found) = self.find_beside_root(others, |walker, part| walker.find_covering(state, part)) {
            return found;
        }
        let included = model.zones.first_covering(&mut self.near, others, ZoneId(zone));
        if included.is_some() || model.cover == Cover::Inclusion {
            return included;
        }
        self.credit.earn(others.len());
        if !self.credit.spend(others.len()) {
            return None;
        }
        let id = self.tuples.of(state, &model.layout, &model.tables, &model.bounds);
        let bounds = self.tuples.bounds(id);
        let simulated = model.zones.first_simulating(&mut self.near, others, ZoneId(zone), bounds);
        if simulated.is_some() {
            self.credit.covered();
        }
        simulated
    }

    fn find_covered(&mut self, state: &[u32], others: &[u32]) -> Option<usize> {
        let model = self.model;
        let zone = state[model.layout.words];
        if zone == ROOT {
            return others.iter().position(|&other| other == ROOT);
        }
        if let Some(found) = self.find_beside_root(others, |walker, part| walker.find_covered(state, part)) {
            return found;
        }
        if model.cover == Cover::Inclusion || !self.credit.spend(others.len()) {
            return model.zones.first_covered(&mut self.near, ZoneId(zone), others);
        }
        let id = self.tuples.of(state, &model.layout, &model.tables, &model.bounds);
        let bounds = self.tuples.bounds(id);
        let place = model.zones.first_simulated(&mut self.near, ZoneId(zone), others, bounds)?;
        if !model.zones.covers(ZoneId(zone), ZoneId(others[place])) {
            self.credit.put_out();
        }
        Some(place)
    }
}
