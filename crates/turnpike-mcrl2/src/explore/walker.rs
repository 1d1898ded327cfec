//! The explorer of a specification.

mod locate;

pub(super) use self::locate::Located;

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::{
    BareLabels, Diagnostic, Explorer, Label, LabelId, Measures, Names, Obstacles, Participants,
    PortableStates, PortableWords, PredicateId, Predicates, SourcePlaces, StepError, Successors, hash,
};

use super::Mcrl2Model;
use super::cache::Cache;
use super::emit::{Emitter, Trouble, apply, changes, number, undecided_parts};
use super::labels;
use super::predicate::Predicate;
use crate::compile::evaluator::Machine;
use crate::compile::process::OnDemand;
use crate::compile::process::Termination;
use crate::compile::process::{Cluster, Guard, Network, Summand, location_of};
use crate::syntax::Span;
use crate::value::Value;

/// Longer keys are not worth caching.
const WIDEST_KEY: usize = 48;
/// The size of a look-up table at which it is emptied.
const MAX_REMEMBERED: usize = 1 << 16;

/// An explorer of a specification, for one thread.
#[derive(Debug)]
pub(super) struct Walker<'m> {
    model: &'m Mcrl2Model,
    machine: Machine,
    /// The frame that the summands' code runs in.
    base: usize,
    /// How many slots it has.
    frame: usize,
    /// Whether the frame holds the current state.
    loaded: bool,
    emitter: Emitter<'m>,
    /// The clusters met so far, or all of them unless they are compiled on demand.
    clusters: Vec<Arc<Cluster>>,
    /// One cache for each cluster, and one for each group if the cluster has several.
    caches: Vec<(Cache, Vec<Cache>)>,
    by_sets: OnDemandIndex,
    found: Vec<u32>,
    key: Vec<u32>,
    predicates: Vec<Arc<Predicate>>,
    scratch: Vec<u32>,
}

/// Finds clusters that are compiled on demand.
#[derive(Debug, Default)]
struct OnDemandIndex {
    /// The number of each component's set of possible edges, by its location and the words that its
    /// guards read.
    sets: Vec<FxHashMap<Box<[u32]>, u32>>,
    /// Indices of clusters by the sets of all components.
    clusters: FxHashMap<Box<[u32]>, Box<[u32]>>,
    /// Indices of clusters by their number.
    numbers: FxHashMap<u32, u32>,
    /// The sets of the current state.
    key: Vec<u32>,
}

/// The word that fills the virtual root state before the initial choice.
fn root_word() -> u32 {
    Value::private(0).word()
}

/// The state that initial updates start from.
fn blank(network: &Network) -> Vec<u32> {
    vec![number(0).word(); network.width]
}

impl<'m> Walker<'m> {
    pub(super) fn new(model: &'m Mcrl2Model) -> Self {
        let network = &model.network;
        let components = network.on_demand.as_ref().map_or(0, |on_demand| on_demand.components.len());
        let sets = vec![FxHashMap::default(); components];
        let mut walker = Walker {
            model,
            machine: Machine::new(network.rules.clone()),
            base: 0,
            frame: network.frame,
            loaded: false,
            emitter: Emitter::new(network, &model.labels),
            clusters: network.clusters.clone(),
            caches: network.clusters.iter().map(|cluster| caches_of(cluster)).collect(),
            by_sets: OnDemandIndex { sets, ..OnDemandIndex::default() },
            found: Vec::new(),
            key: Vec::new(),
            predicates: Vec::new(),
            scratch: Vec::new(),
        };
        walker.base = walker.enter();
        walker
    }

    pub(super) fn network(&self) -> &'m Network {
        &self.model.network
    }

    /// The process, and the machine that evaluates its expressions.
    pub(super) fn parts(&mut self) -> (&'m Network, &mut Machine) {
        (&self.model.network, &mut self.machine)
    }

    pub(super) fn is_root(&self, state: &[u32]) -> bool {
        self.network().initial_choice.is_some() && state[0] == root_word()
    }

    fn expand(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        let network = self.network();
        self.loaded = false;
        if let Some(choice) = network.initial_choice.as_ref().filter(|_| self.is_root(state)) {
            self.emitter.records.clear();
            let outcome = self.emitter.initial_outcomes(&mut self.machine, self.base, choice);
            outcome.map_err(|trouble| self.explain(trouble, None))?;
            // Words that no update sets must not stay those of the root state.
            apply(&self.emitter.records, &blank(network), out);
            return Ok(());
        }
        if let Some(&word) = network.controls.iter().find(|&&word| state[word as usize] & 1 == 0) {
            return Err(self.undecided_error(Value::from_word(state[word as usize])));
        }
        let mut found = std::mem::take(&mut self.found);
        let outcome = self.find(state, &mut found);
        let clusters = std::mem::take(&mut self.clusters);
        let outcome = outcome.and_then(|()| {
            found.iter().map(|&id| id as usize).try_for_each(|id| self.cluster(id, &clusters[id], state, out))
        });
        self.clusters = clusters;
        self.found = found;
        outcome
    }

    /// Replaces `found` by the clusters whose summands may be enabled in a state, in order.
    fn find(&mut self, state: &[u32], found: &mut Vec<u32>) -> Result<(), StepError> {
        let network = self.network();
        found.clear();
        match &network.on_demand {
            None => {
                network.index.collect(|word| location_of(state[word as usize]), found);
                Ok(())
            }
            Some(on_demand) => self.find_on_demand(on_demand, state, found),
        }
    }

    /// Finds the clusters of a state, compiling those that are new.
    fn find_on_demand(
        &mut self,
        on_demand: &OnDemand,
        state: &[u32],
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        let mut sets = std::mem::take(&mut self.by_sets.key);
        sets.clear();
        for (component, guards) in on_demand.components.iter().enumerate() {
            let location = guards.control.map_or(0, |word| location_of(state[word as usize]));
            let place = guards.places.get(location as usize);
            gather(place.map_or(&[], |place| &place.reads), state, &mut self.key);
            self.key.push(location);
            let known = &mut self.by_sets.sets[component];
            if let Some(&set) = known.get(&self.key[..]) {
                sets.push(set);
                continue;
            }
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            self.load(state);
            let edges = place.map(|place| place.possible(&mut self.machine, self.base)).unwrap_or_default();
            let set = on_demand.set(component, &edges);
            self.by_sets.sets[component].insert(self.key[..].into(), set);
            sets.push(set);
        }
        let outcome = self.find_clusters(on_demand, &sets, found);
        self.by_sets.key = sets;
        outcome
    }

    fn find_clusters(
        &mut self,
        on_demand: &OnDemand,
        sets: &[u32],
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        if let Some(known) = self.by_sets.clusters.get(sets) {
            found.extend_from_slice(known);
            return Ok(());
        }
        let all = on_demand
            .clusters(sets)
            .map_err(|error| StepError::new(format!("{}: {}", self.model.source.name, error.message)))?;
        for compiled in &*all {
            let at = *self.by_sets.numbers.entry(compiled.number).or_insert(self.clusters.len() as u32);
            found.push(at);
            if at as usize == self.clusters.len() {
                self.clusters.push(Arc::clone(&compiled.cluster));
                self.caches.push(caches_of(&compiled.cluster));
                if compiled.frame > self.frame {
                    self.frame = compiled.frame;
                    self.machine.leave(self.base);
                    self.base = self.enter();
                }
            }
        }
        if self.by_sets.clusters.len() >= MAX_REMEMBERED {
            self.by_sets.clusters.clear();
        }
        self.by_sets.clusters.insert(sets.into(), found[..].into());
        Ok(())
    }

    /// A new frame with the values of the global variables.
    fn enter(&mut self) -> usize {
        let base = self.machine.enter(self.frame);
        for &(slot, (_, value)) in &self.network().constants {
            self.machine.set_slot(base, slot, value);
        }
        self.loaded = false;
        base
    }

    /// Loads a state into the frame.
    fn load(&mut self, state: &[u32]) {
        if !self.loaded {
            for (slot, &word) in state.iter().enumerate() {
                self.machine.set_slot(self.base, slot as u32, Value::from_word(word));
            }
            self.loaded = true;
        }
    }

    /// Emits the transitions of a cluster, from a cache if possible.
    fn cluster(
        &mut self,
        id: usize,
        cluster: &Cluster,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<(), StepError> {
        if cluster.reads.len() <= WIDEST_KEY && self.caches[id].0.is_in_use() {
            gather(&cluster.reads, state, &mut self.key);
            if let Some(records) = self.caches[id].0.find(&self.key) {
                apply(records, state, out);
                return Ok(());
            }
            self.emitter.records.clear();
            for group in &cluster.groups {
                self.summands(&group.summands, state)?;
            }
            self.caches[id].0.insert(&self.key, &self.emitter.records);
            apply(&self.emitter.records, state, out);
            return Ok(());
        }
        for (index, group) in cluster.groups.iter().enumerate() {
            let cached = group.reads.len() <= WIDEST_KEY
                && self.caches[id].1.get_mut(index).is_some_and(Cache::is_in_use);
            if cached {
                gather(&group.reads, state, &mut self.key);
                if let Some(records) = self.caches[id].1[index].find(&self.key) {
                    apply(records, state, out);
                    continue;
                }
            }
            self.emitter.records.clear();
            self.summands(&group.summands, state)?;
            if cached {
                self.caches[id].1[index].insert(&self.key, &self.emitter.records);
            }
            apply(&self.emitter.records, state, out);
        }
        Ok(())
    }

    /// Appends the records of summands to the emitter.
    fn summands(&mut self, summands: &[Summand], state: &[u32]) -> Result<(), StepError> {
        self.load(state);
        for summand in summands {
            if let Err(trouble) = self.summand(summand) {
                return Err(self.explain(trouble, Some(summand.span)));
            }
        }
        Ok(())
    }

    fn summand(&mut self, summand: &Summand) -> Result<(), Trouble> {
        self.visit_summand(summand, |_, _, _| {})
    }

    /// Appends the records of a summand. Calls `visit` for each of its solutions with the machine,
    /// the frame and the records of that solution.
    fn visit_summand(
        &mut self,
        summand: &Summand,
        mut visit: impl FnMut(&Machine, usize, &[u32]),
    ) -> Result<(), Trouble> {
        let Walker { machine, emitter, base, .. } = self;
        let base = *base;
        let (plan, once) = match &summand.guard {
            Guard::Conditions(conditions) => {
                let mut stuck = None;
                for (code, condition) in conditions {
                    let value = machine.evaluate(code, base)?;
                    match value.as_bool() {
                        Some(true) => {}
                        Some(false) => return Ok(()),
                        // A later condition may still be false.
                        None => stuck = stuck.or(Some(Trouble::Stuck { condition: *condition, value })),
                    }
                }
                return match stuck {
                    Some(stuck) => Err(stuck),
                    None => {
                        let start = emitter.records.len();
                        emitter.solution(machine, base, summand)?;
                        visit(machine, base, &emitter.records[start..]);
                        Ok(())
                    }
                };
            }
            Guard::Plan(plan) => (plan, false),
            Guard::Once(plan) => (plan, true),
        };
        emitter.solutions.clear();
        let mut trouble = None;
        let mut solve = |machine: &mut Machine| {
            let start = emitter.records.len();
            match emitter.solution(machine, base, summand) {
                Ok(()) => {
                    visit(machine, base, &emitter.records[start..]);
                    if once { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }
                Err(error) => {
                    trouble = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let _ = plan.run(machine, base, &mut solve)?;
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        if summand.repeats {
            emitter.remove_duplicates();
        }
        Ok(())
    }

    /// The error for a state in which a location is undecided.
    fn undecided_error(&self, value: Value) -> StepError {
        let (condition, value) = undecided_parts(&self.machine.heap, value);
        let Some(condition) = condition else {
            return StepError::new(format!("{}: this state cannot be explored", self.model.source.name));
        };
        let span = self.network().program().span_of(condition);
        let place = (span != Span::default()).then_some(span);
        let trouble = Trouble::Stuck { condition, value };
        self.model.source.explain(self.network(), &self.machine.heap, trouble, place)
    }

    fn explain(&self, trouble: Trouble, span: Option<Span>) -> StepError {
        self.model.source.explain(self.network(), &self.machine.heap, trouble, span)
    }

    fn text_of(&self, value: Value) -> String {
        match value.as_private() {
            Some(_) => "-".to_owned(),
            None => self.network().text(&self.machine.heap, value),
        }
    }
}

fn caches_of(cluster: &Cluster) -> (Cache, Vec<Cache>) {
    let groups = if cluster.groups.len() > 1 { cluster.groups.len() } else { 0 };
    (Cache::default(), (0..groups).map(|_| Cache::default()).collect())
}

/// Collects the words of a read set.
#[inline]
fn gather(reads: &[u32], state: &[u32], key: &mut Vec<u32>) {
    key.clear();
    key.extend(reads.iter().map(|&word| state[word as usize]));
}

impl Explorer for Walker<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        let network = self.network();
        out.clear();
        if network.initial_choice.is_some() {
            out.resize(network.width, root_word());
            return Ok(());
        }
        out.extend(blank(network));
        let mut pairs = Vec::new();
        for update in &network.initial {
            let outcome = changes(&mut self.machine, self.base, update, &mut pairs);
            outcome.map_err(|trouble| self.explain(trouble, None))?;
        }
        for pair in pairs.chunks_exact(2) {
            out[pair[0] as usize] = pair[1];
        }
        self.machine.heap.reset();
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        let mut outcome = self.expand(state, out);
        if self.machine.heap.is_full() {
            outcome = Err(StepError::new(format!(
                "{}: the data values need more memory than there is room for",
                self.model.source.name
            )));
        }
        self.machine.heap.reset();
        outcome
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        self.scratch.clear();
        for &word in state {
            let hash = match word & 3 {
                0 => self.machine.heap.content_hash(Value::from_word(word)),
                _ => u64::from(word),
            };
            self.scratch.extend([hash as u32, (hash >> 32) as u32]);
        }
        hash::words(&self.scratch)
    }

    fn label(&mut self, id: LabelId) -> Label {
        let words = self.model.labels.words(id);
        let signature = self.network().signatures.get(words[0]);
        labels::label(&signature, &words[1..], |value| self.text_of(value))
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        let network = self.network();
        for (parameter, &word) in network.parameters.iter().zip(state) {
            let value = Value::from_word(word);
            out.push(match &parameter.locations {
                Some(all) if word & 1 == 1 => {
                    all.get(location_of(word) as usize).cloned().unwrap_or_default()
                }
                Some(_) if word & 3 == 0 => self.text_of(undecided_parts(&self.machine.heap, value).1),
                _ => self.text_of(value),
            });
        }
        if let Some(now) = network.now {
            out.push(self.text_of(Value::from_word(state[now as usize])));
        }
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let network = self.network();
        let ended = || match &network.termination {
            Termination::Never => false,
            Termination::Word(word) => state[*word as usize] == number(1).word(),
            Termination::Locations(places) => {
                let at = |word: u32| (word, location_of(state[word as usize]));
                network.controls.iter().all(|&word| places.contains(&at(word)))
            }
        };
        successors.is_empty() && !ended()
    }

    /// The root state has no bytes.
    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        if self.is_root(state) {
            return;
        }
        for &word in state {
            self.machine.heap.encode(Value::from_word(word), out);
        }
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

    fn bare_labels(&mut self) -> Option<&mut dyn BareLabels> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }

    fn participants(&mut self) -> Option<&mut dyn Participants> {
        Some(self)
    }

    fn source_places(&mut self) -> Option<&mut dyn SourcePlaces> {
        Some(self)
    }
}

impl PortableStates for Walker<'_> {
    fn decode(&mut self, mut bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        let width = self.network().width;
        if bytes.is_empty() {
            out.resize(out.len() + width, root_word());
            return Some(());
        }
        for _ in 0..width {
            out.push(self.machine.heap.decode(&mut bytes)?.word());
        }
        self.machine.heap.reset();
        bytes.is_empty().then_some(())
    }

    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        Some(self)
    }
}

/// Nodes of the heap are names, numbers and locations are stored in their words. The word of the
/// root state has no bytes.
impl PortableWords for Walker<'_> {
    fn names(&self) -> Names {
        Names { positions: 0..self.network().width, mask: 3 }
    }

    fn name_hash(&mut self, name: u32) -> u64 {
        if name == root_word() { 0 } else { self.machine.heap.content_hash(Value::from_word(name)) }
    }

    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>) {
        if name != root_word() {
            self.machine.heap.encode(Value::from_word(name), out);
        }
    }

    fn decode_name(&mut self, mut bytes: &[u8]) -> Option<u32> {
        if bytes.is_empty() {
            return Some(root_word());
        }
        let value = self.machine.heap.decode(&mut bytes)?;
        self.machine.heap.reset();
        bytes.is_empty().then_some(value.word())
    }
}

impl Measures for Walker<'_> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        let measure = &self.model.measures[index];
        measure.of(&self.machine.heap, Value::from_word(state[measure.word as usize]))
    }
}

impl Predicates for Walker<'_> {
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let mut known = self.model.predicates.lock().unwrap_or_else(PoisonError::into_inner);
        self.predicates.push(known.compile(self.model, text)?);
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn constant(&mut self, predicate: PredicateId) -> Option<bool> {
        let predicate = Arc::clone(&self.predicates[predicate.0 as usize]);
        let value = predicate.constant(&mut self.machine);
        self.machine.heap.reset();
        value
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        if self.is_root(state) {
            return Ok(false);
        }
        let predicate = Arc::clone(&self.predicates[predicate.0 as usize]);
        let outcome = predicate.holds(&mut self.machine, state).map_err(|trouble| {
            let text = &predicate.text;
            StepError::new(match trouble {
                Trouble::Stuck { value, .. } => format!(
                    "the state expression `{text}` does not rewrite to true or false; culprit: {}",
                    self.text_of(value)
                ),
                trouble => {
                    format!("the state expression `{text}` has no value: {}", self.explain(trouble, None))
                }
            })
        });
        self.machine.heap.reset();
        outcome
    }
}

impl BareLabels for Walker<'_> {
    fn bare_label(&mut self, id: LabelId) -> Label {
        let words = self.model.labels.words(id);
        labels::bare(&self.network().signatures.get(words[0]))
    }
}
