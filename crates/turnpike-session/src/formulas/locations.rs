//! Timed automata for formulas: channels and events are actions, internal steps are `tau`, and a
//! state has a self-loop for each of its locations.
//!
//! `P(1)` in location `critical` is the action `at_P(1, critical)`, `Gate` in `open` is
//! `at_Gate(open)`. Such a step is not a transition, so only its name matches it, not `true` and
//! not `!a`. So `[true* . at_P(1, critical) . at_P(2, critical)]false` states that both are never
//! there at once.

use std::sync::Arc;

use turnpike_model::{Explorer, Label, LabelId, Model, ModelInfo, StepError, Successors, hash};
use turnpike_timed::network::Network;

/// The zone graph of timed automata, with steps for locations.
pub(super) struct Located {
    model: Arc<dyn Model>,
    info: ModelInfo,
    /// For each process, its locations with the numbers of their labels.
    locations: Vec<Vec<(String, u32)>>,
    /// The texts of these labels. Those of the model follow.
    labels: Vec<String>,
}

impl Located {
    pub(super) fn new(model: Arc<dyn Model>, network: &Network) -> Located {
        let mut labels = Vec::new();
        let mut locations = Vec::new();
        for process in &network.processes {
            let number = |location: &turnpike_timed::network::Location| {
                labels.push(at(&process.name, &location.name));
                (location.name.clone(), labels.len() as u32 - 1)
            };
            locations.push(process.locations.iter().map(number).collect());
        }
        let mut info = model.info().clone();
        info.fingerprint = hash::mix(info.fingerprint, 0x6174_5f70);
        info.violations = &[];
        info.suggestions = Vec::new();
        Located { model, info, locations, labels }
    }

    /// The actions that describe the locations of processes.
    pub(super) fn state_actions(&self) -> Vec<String> {
        let name = |label: &String| label.split('(').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = self.labels.iter().map(name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The labels of all locations, channels and events, whether they occur or not.
    pub(super) fn labels(&self, network: &Network) -> Vec<String> {
        let channels = network.channels.iter().map(|channel| &channel.name);
        let actions = channels.chain(&network.events).map(|name| action(name));
        self.labels.iter().cloned().chain(actions).collect()
    }
}

/// Converts `P(1)` and `critical` to `at_P(1, critical)`.
fn at(process: &str, location: &str) -> String {
    match process.split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?))) {
        Some((name, arguments)) => format!("at_{name}({arguments}, {location})"),
        None => format!("at_{process}({location})"),
    }
}

/// Converts `go[1]` to `go(1)`.
fn action(channel: &str) -> String {
    match channel.split_once('[') {
        None => channel.to_owned(),
        Some((name, rest)) => format!("{name}({})", rest.trim_end_matches(']').replace("][", ", ")),
    }
}

impl Model for Located {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        let inner = self.model.explorer();
        let successors = Successors::new(self.info.width);
        Box::new(Walker { located: self, inner, successors, values: Vec::new() })
    }

    fn left_out(&self) -> Option<String> {
        self.model.left_out()
    }
}

struct Walker<'l> {
    located: &'l Located,
    inner: Box<dyn Explorer + 'l>,
    successors: Successors,
    values: Vec<String>,
}

impl Explorer for Walker<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        self.inner.initial(out)
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        self.inner.successors(state, &mut self.successors)?;
        let own = self.located.labels.len() as u32;
        for (label, target) in self.successors.iter() {
            out.push(LabelId(label.0 + own), target);
        }
        self.inner.state_values(state, &mut self.values);
        for (name, locations) in self.values.iter().zip(&self.located.locations) {
            if let Some((_, label)) = locations.iter().find(|(location, _)| location == name) {
                out.push(LabelId(*label), state);
            }
        }
        Ok(())
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        self.inner.content_hash(state)
    }

    fn label(&mut self, id: LabelId) -> Label {
        let own = &self.located.labels;
        if let Some(text) = own.get(id.index()) {
            return Label::parse(text);
        }
        let actions = self.inner.label(LabelId(id.0 - own.len() as u32)).actions;
        let names: Vec<String> = actions.iter().map(|one| action(&one.name)).collect();
        Label::parse(if names.is_empty() { "tau".to_owned() } else { names.join("|") }.as_str())
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.inner.state_values(state, out);
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        let own = self.located.labels.len();
        successors.labels().iter().all(|label| label.index() < own)
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        self.inner.encode(state, out);
    }
}
