//! Tests expanded states against the objectives, and counts what was taken.
//!
//! Labels are resolved once each: afterwards a transition costs one table look-up.

use indexmap::IndexMap;
use turnpike_model::{Diagnostic, Explorer, Label, LabelId, ModelInfo, StepError, Successors};

use super::extreme::{Extreme, Quantity, parse_quantity};
use super::livelock::Livelock;
use super::sightings::Sightings;
use super::state_test::{SAME_FACETS, StateTest};
use super::{Goal, Objective};
use crate::options::Accept;

/// An objective that was met.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Index of the objective.
    pub(crate) objective: usize,
    pub(crate) kind: HitKind,
}

/// Where it was met, seen from the expanded state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HitKind {
    /// In the expanded state itself.
    Here,
    /// On this transition, or in the state it leads to.
    Step(u32),
    /// By these choices, the last of which returns to the state after the first `entry` of them.
    Lasso { choices: Vec<u32>, entry: usize },
}

/// What a monitor counted in a part of a search.
pub(crate) struct Counted {
    /// Transitions by label.
    labels: Vec<(usize, u64)>,
    extremes: Vec<Option<f64>>,
}

#[derive(Default, Clone)]
struct LabelFacts {
    count: u64,
    /// The level in which it was last counted, and the count before that level.
    level: u32,
    before: u64,
    known: bool,
    /// Known to concern no objective: there is nothing to do but count.
    plain: bool,
    internal: bool,
    /// Objectives (by bit) that this label meets.
    meets: u64,
    /// Values for the extremes that look at arguments, by index into `Monitor::extremes`.
    values: Vec<(usize, f64)>,
}

impl LabelFacts {
    #[inline]
    fn count(&mut self, level: u32) {
        if self.level != level {
            (self.level, self.before) = (level, self.count);
        }
        self.count += 1;
    }
}

/// The objectives of one run, compiled against its explorer.
pub(crate) struct Monitor {
    objectives: Vec<Objective>,
    internal_names: Vec<String>,
    labels: Vec<LabelFacts>,
    /// The level that can be rolled back, and the extremes before it.
    level: u32,
    extremes_before: Vec<Option<f64>>,
    deadlock: Vec<usize>,
    nondeterminism: Vec<usize>,
    livelock: Option<(Vec<usize>, Livelock)>,
    states: Vec<(usize, StateTest)>,
    violations: Vec<usize>,
    /// Errors that a state shows are known only once it was expanded.
    late_violations: bool,
    extremes: Vec<Extreme>,
    covers: Vec<usize>,
    /// The sets of states that an accepting cycle goes through; an empty list means any state.
    accepting: Option<Vec<StateTest>>,
    /// `label` objectives (by bit) that are about states, not about transitions.
    state_labels: u64,
    lookahead: bool,
    accept: Accept,
    /// Whether the states that transitions lead to are examined.
    looks_at_targets: bool,
    /// The initial state, if it is a virtual root: it meets nothing, and is not counted.
    root: Option<Vec<u32>>,
    scratch: Successors,
    /// What was seen by monitors of other processes, or before the search was resumed.
    elsewhere: Sightings,
}

impl Monitor {
    pub(crate) fn new(
        objectives: &[Objective],
        internal_names: &[String],
        lookahead: bool,
        explorer: &mut dyn Explorer,
        info: &ModelInfo,
    ) -> Result<Self, Diagnostic> {
        let mut root = Vec::new();
        // A model that has no initial state says so when the search asks for it.
        let has_root = info.virtual_root && explorer.initial(&mut root).is_ok();
        if objectives.len() > 64 {
            return Err(Diagnostic::error(format!(
                "{} objectives were given, at most 64 are possible",
                objectives.len()
            )));
        }
        let mut monitor = Monitor {
            objectives: objectives.to_vec(),
            internal_names: internal_names.to_vec(),
            labels: Vec::new(),
            level: 0,
            extremes_before: Vec::new(),
            deadlock: Vec::new(),
            nondeterminism: Vec::new(),
            livelock: None,
            states: Vec::new(),
            violations: Vec::new(),
            late_violations: info.capabilities.violations_on_expansion,
            extremes: Vec::new(),
            covers: Vec::new(),
            accepting: None,
            state_labels: 0,
            lookahead,
            accept: Accept::Generation,
            looks_at_targets: false,
            root: has_root.then_some(root),
            scratch: Successors::new(info.width),
            elsewhere: Sightings::default(),
        };
        for (index, objective) in objectives.iter().enumerate() {
            monitor.add(index, objective, explorer, info)?;
        }
        monitor.accept_at(Accept::Generation);
        Ok(monitor)
    }

    /// Compiles one objective.
    fn add(
        &mut self,
        index: usize,
        objective: &Objective,
        explorer: &mut dyn Explorer,
        info: &ModelInfo,
    ) -> Result<(), Diagnostic> {
        if objective.is_met_by_deadlock() {
            self.deadlock.push(index);
        }
        match &objective.goal {
            Goal::AnyError | Goal::Violation(_) => self.violations.push(index),
            Goal::Nondeterminism => self.nondeterminism.push(index),
            Goal::Livelock => {
                let (objectives, _) =
                    self.livelock.get_or_insert_with(|| (Vec::new(), Livelock::new(info.width)));
                objectives.push(index);
                // A program reports livelocks itself; states of other models show none.
                if info.capabilities.violations_on_expansion {
                    self.violations.push(index);
                }
            }
            Goal::State(text) => {
                self.states.push((index, StateTest::of_expression(text, explorer, info)?));
            }
            Goal::Label(pattern) => {
                if let Some(labels) = explorer.state_labels() {
                    let id = labels.compile_labels(pattern.text())?;
                    self.states.push((index, StateTest::Labels(id)));
                    self.state_labels |= 1 << index;
                }
            }
            Goal::Extreme { maximise, quantity } => {
                let quantity = parse_quantity(quantity, info)?;
                self.extremes.push(Extreme { objective: index, maximise: *maximise, quantity, best: None });
            }
            Goal::Cover(_) => self.covers.push(index),
            Goal::Accepting(sets) if sets.len() > 64 => {
                let count = sets.len();
                return Err(Diagnostic::error(format!(
                    "{count} sets of states were given, at most 64 are possible"
                )));
            }
            Goal::Accepting(sets) => {
                let tests = sets.iter().map(|text| StateTest::of_set(text, explorer, info));
                self.accepting = Some(tests.collect::<Result<_, _>>()?);
            }
            Goal::Deadlock | Goal::Action(_) => {}
        }
        Ok(())
    }

    /// Chooses when states are tested against the objectives that concern states.
    pub(crate) fn accept_at(&mut self, accept: Accept) {
        self.accept = accept;
        self.looks_at_targets = accept == Accept::Generation && self.looks_at_states()
            || self.lookahead && !self.deadlock.is_empty();
    }

    /// Whether some objective is about states by themselves.
    fn looks_at_states(&self) -> bool {
        !self.states.is_empty()
            || !self.violations.is_empty() && !self.late_violations
            || self.extremes.iter().any(|extreme| matches!(extreme.quantity, Quantity::Measure(_)))
    }

    /// Treats the initial state as any other, even if it is a virtual root.
    pub(crate) fn count_root(&mut self) {
        self.root = None;
    }

    /// Begins a level: [`roll_back`](Self::roll_back) forgets what is counted from here on.
    pub(crate) fn begin_level(&mut self) {
        self.level += 1;
        self.extremes_before.clear();
        self.extremes_before.extend(self.extremes.iter().map(|extreme| extreme.best));
    }

    /// Forgets what was counted since the level began.
    pub(crate) fn roll_back(&mut self) {
        for facts in self.labels.iter_mut().filter(|facts| facts.level == self.level) {
            facts.count = facts.before;
        }
        for (extreme, &before) in self.extremes.iter_mut().zip(&self.extremes_before) {
            extreme.best = before;
        }
    }

    /// Whether several monitors see together what one would. A search for livelocks remembers where
    /// it has been.
    pub(crate) fn can_be_shared(&self) -> bool {
        self.livelock.is_none()
    }

    /// Adds what another monitor of the same objectives and the same labels counted.
    pub(crate) fn absorb(&mut self, other: &Monitor) {
        if self.labels.len() < other.labels.len() {
            self.labels.resize(other.labels.len(), LabelFacts::default());
        }
        for (facts, more) in self.labels.iter_mut().zip(&other.labels) {
            facts.count += more.count;
        }
        for (extreme, more) in self.extremes.iter_mut().zip(&other.extremes) {
            more.best.into_iter().for_each(|best| extreme.offer(best));
        }
    }

    /// What was counted so far, which the monitor forgets.
    pub(crate) fn take_counted(&mut self) -> Counted {
        let counted = self.labels.iter_mut().enumerate().filter(|(_, facts)| facts.count > 0);
        let labels = counted.map(|(label, facts)| (label, std::mem::take(&mut facts.count))).collect();
        let extremes = self.extremes.iter_mut().map(|extreme| extreme.best.take()).collect();
        Counted { labels, extremes }
    }

    /// Adds what another monitor of the same objectives and the same labels counted.
    pub(crate) fn add_counted(&mut self, more: &Counted) {
        for &(label, count) in &more.labels {
            if self.labels.len() <= label {
                self.labels.resize(label + 1, LabelFacts::default());
            }
            self.labels[label].count += count;
        }
        for (extreme, best) in self.extremes.iter_mut().zip(&more.extremes) {
            best.iter().for_each(|&best| extreme.offer(best));
        }
    }

    /// What was seen, in a form that means the same in every process.
    pub(crate) fn sightings(&self, explorer: &mut dyn Explorer) -> Sightings {
        Sightings {
            actions: self.action_counts(explorer).into_iter().collect(),
            covered: self.covered(explorer).into_values().collect(),
            extremes: self.extremes.iter().map(|extreme| extreme.best).collect(),
        }
    }

    /// Adds what another monitor of the same objectives saw.
    pub(crate) fn add_sightings(&mut self, more: &Sightings) {
        self.elsewhere.add(more);
        for (extreme, best) in self.extremes.iter_mut().zip(&more.extremes) {
            best.iter().for_each(|&best| extreme.offer(best));
        }
    }

    /// Whether an accepting cycle is looked for.
    pub(crate) fn seeks_lasso(&self) -> bool {
        self.accepting.is_some()
    }

    /// How many sets of states an accepting cycle must go through.
    pub(crate) fn acceptance_sets(&self) -> u32 {
        self.accepting.as_ref().map_or(1, |sets| sets.len().max(1) as u32)
    }

    /// The sets that a state is in, by bit.
    pub(crate) fn marks(&self, explorer: &mut dyn Explorer, state: &[u32]) -> Result<u64, StepError> {
        let Some(sets) = self.accepting.as_ref().filter(|sets| !sets.is_empty()) else { return Ok(1) };
        let mut marks = 0;
        for (index, set) in sets.iter().enumerate() {
            marks |= u64::from(set.holds(explorer, state)?) << index;
        }
        Ok(marks)
    }

    /// Whether these states, all those of a cycle, are in all sets together.
    pub(crate) fn accepts(&self, explorer: &mut dyn Explorer, cycle: &[Vec<u32>]) -> Result<bool, StepError> {
        let mut marks = 0;
        for state in cycle {
            marks |= self.marks(explorer, state)?;
        }
        Ok(marks == u64::MAX >> (64 - self.acceptance_sets()))
    }

    /// Whether this is the initial state that is not counted.
    fn is_root(&self, state: &[u32]) -> bool {
        self.root.as_deref() == Some(state)
    }

    /// Tests the initial state before anything is expanded, unless states are tested when they are
    /// expanded.
    pub(crate) fn examine_initial(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        match self.accept {
            Accept::Generation => self.examine_here(explorer, state, hits),
            Accept::Pop => Ok(()),
        }
    }

    /// Tests a state that is about to be expanded, when that is when states are tested.
    #[inline]
    pub(crate) fn examine_popped(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        match self.accept {
            Accept::Generation => Ok(()),
            Accept::Pop => self.examine_here(explorer, state, hits),
        }
    }

    /// Tests a state by itself.
    pub(crate) fn examine_here(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        if self.is_root(state) { Ok(()) } else { self.examine_state(explorer, state, HitKind::Here, hits) }
    }

    /// Tests an expanded state, its transitions and the states they lead to, in the order of the
    /// transitions.
    #[inline]
    pub(crate) fn examine(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        successors: &Successors,
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        if self.root.is_some() && self.is_root(state) {
            return self.examine_root(explorer, successors, hits);
        }
        if !self.deadlock.is_empty() && explorer.is_deadlock(state, successors) {
            hits.extend(self.deadlock.iter().map(|&objective| Hit { objective, kind: HitKind::Here }));
        }
        if self.late_violations {
            self.examine_violation(explorer, state, &HitKind::Here, hits);
        }
        for (index, label) in successors.labels().iter().enumerate() {
            let label = label.index();
            if let Some(facts) = self.labels.get_mut(label)
                && facts.plain
                && !self.looks_at_targets
            {
                facts.count(self.level);
                continue;
            }
            if self.labels.get(label).is_none_or(|facts| !facts.known) {
                self.resolve(explorer, successors.label(index));
            }
            let facts = &mut self.labels[label];
            facts.count(self.level);
            if facts.meets != 0 {
                for objective in (0..self.objectives.len()).filter(|o| facts.meets >> o & 1 == 1) {
                    hits.push(Hit { objective, kind: HitKind::Step(index as u32) });
                }
            }
            for &(extreme, value) in &facts.values {
                self.extremes[extreme].offer(value);
            }
            if self.looks_at_targets {
                self.examine_target(explorer, successors.state(index), index as u32, hits)?;
            }
        }
        if !self.nondeterminism.is_empty()
            && let Some(choice) = nondeterministic_choice(successors)
        {
            let kind = HitKind::Step(choice);
            hits.extend(self.nondeterminism.iter().map(|&objective| Hit { objective, kind: kind.clone() }));
        }
        if self.livelock.is_some() {
            self.examine_livelock(explorer, state, hits)?;
        }
        Ok(())
    }

    /// Of a virtual root, only the states that it leads to matter.
    #[cold]
    fn examine_root(
        &mut self,
        explorer: &mut dyn Explorer,
        successors: &Successors,
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        let count = if self.looks_at_targets { successors.len() } else { 0 };
        (0..count)
            .try_for_each(|index| self.examine_target(explorer, successors.state(index), index as u32, hits))
    }

    /// Tests the state that a transition leads to.
    fn examine_target(
        &mut self,
        explorer: &mut dyn Explorer,
        target: &[u32],
        choice: u32,
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        if self.accept == Accept::Generation {
            self.examine_state(explorer, target, HitKind::Step(choice), hits)?;
        }
        if self.lookahead && !self.deadlock.is_empty() {
            self.examine_dead_end(explorer, target, choice, hits)?;
        }
        Ok(())
    }

    fn examine_state(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        kind: HitKind,
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        for (objective, test) in &self.states {
            if test.holds(explorer, state)? {
                hits.push(Hit { objective: *objective, kind: kind.clone() });
            }
        }
        if !self.late_violations {
            self.examine_violation(explorer, state, &kind, hits);
        }
        for extreme in &mut self.extremes {
            if let Quantity::Measure(index) = extreme.quantity {
                let measures = explorer.measures().expect(SAME_FACETS);
                extreme.offer(measures.measure(state, index));
            }
        }
        Ok(())
    }

    /// Tests what the state shows by itself.
    fn examine_violation(
        &self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        kind: &HitKind,
        hits: &mut Vec<Hit>,
    ) {
        if self.violations.is_empty() {
            return;
        }
        let violation = explorer.violations().and_then(|violations| violations.violation(state));
        let Some(violation) = violation else { return };
        for &objective in &self.violations {
            if self.objectives[objective].is_met_by_violation(violation.kind) {
                hits.push(Hit { objective, kind: kind.clone() });
            }
        }
    }

    fn examine_dead_end(
        &mut self,
        explorer: &mut dyn Explorer,
        target: &[u32],
        choice: u32,
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        explorer.successors(target, &mut self.scratch)?;
        if explorer.is_deadlock(target, &self.scratch) {
            let kind = HitKind::Step(choice);
            hits.extend(self.deadlock.iter().map(|&objective| Hit { objective, kind: kind.clone() }));
        }
        Ok(())
    }

    fn examine_livelock(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        hits: &mut Vec<Hit>,
    ) -> Result<(), StepError> {
        let Some((objectives, mut livelock)) = self.livelock.take() else { return Ok(()) };
        let found =
            livelock.search(explorer, state, &mut |explorer, label| self.is_internal(explorer, label));
        if let Ok(Some(lasso)) = &found {
            let kind = HitKind::Lasso { choices: lasso.choices.clone(), entry: lasso.entry };
            hits.extend(objectives.iter().map(|&objective| Hit { objective, kind: kind.clone() }));
        }
        self.livelock = Some((objectives, livelock));
        found.map(|_| ())
    }

    fn is_internal(&mut self, explorer: &mut dyn Explorer, label: LabelId) -> bool {
        if self.labels.get(label.index()).is_none_or(|facts| !facts.known) {
            self.resolve(explorer, label);
        }
        self.labels[label.index()].internal
    }

    #[cold]
    fn resolve(&mut self, explorer: &mut dyn Explorer, id: LabelId) {
        if self.labels.len() <= id.index() {
            self.labels.resize(id.index() + 1, LabelFacts::default());
        }
        let label = if self.reads_arguments() { explorer.label(id) } else { bare_label(explorer, id) };
        let mut facts = LabelFacts { known: true, ..self.labels[id.index()].clone() };
        facts.internal = label.actions.iter().all(|action| self.internal_names.contains(&action.name));
        for (index, objective) in self.objectives.iter().enumerate() {
            let meets = self.state_labels >> index & 1 == 0 && objective.is_met_by_label(&label);
            facts.meets |= u64::from(meets) << index;
        }
        for (index, extreme) in self.extremes.iter().enumerate() {
            if let Some(value) = extreme.value_of(&label) {
                facts.values.push((index, value));
            }
        }
        facts.plain = facts.meets == 0 && facts.values.is_empty();
        self.labels[id.index()] = facts;
    }

    /// Whether some objective looks at more of a label than its action names.
    fn reads_arguments(&self) -> bool {
        let reads = |(index, objective): (usize, &Objective)| match &objective.goal {
            Goal::Label(_) => self.state_labels >> index & 1 == 0,
            _ => false,
        };
        self.extremes.iter().any(|extreme| matches!(extreme.quantity, Quantity::Argument { .. }))
            || self.objectives.iter().enumerate().any(reads)
    }

    /// Whether a check was cut short, so that absence is not proved.
    pub(crate) fn gave_up(&self) -> bool {
        self.livelock.as_ref().is_some_and(|(_, livelock)| livelock.gave_up)
    }

    /// Transitions per action name, in the order of the names.
    pub(crate) fn action_counts(&self, explorer: &mut dyn Explorer) -> IndexMap<String, u64> {
        let mut counts: IndexMap<String, u64> = IndexMap::new();
        for (index, facts) in self.labels.iter().enumerate().filter(|(_, facts)| facts.count > 0) {
            *counts.entry(bare_label(explorer, LabelId(index as u32)).name()).or_default() += facts.count;
        }
        for (name, count) in &self.elsewhere.actions {
            *counts.entry(name.clone()).or_default() += count;
        }
        counts.sort_keys();
        counts
    }

    /// For each `cover` objective, the labels that matched.
    pub(crate) fn covered(&self, explorer: &mut dyn Explorer) -> IndexMap<String, Vec<String>> {
        let mut covered = IndexMap::new();
        for (index, &objective) in self.covers.iter().enumerate() {
            let Goal::Cover(pattern) = &self.objectives[objective].goal else { continue };
            let mut labels: Vec<String> = (0..self.labels.len())
                .filter(|&index| self.labels[index].count > 0)
                .map(|index| explorer.label(LabelId(index as u32)).text)
                .filter(|text| pattern.matches(text))
                .collect();
            labels.extend(self.elsewhere.covered.get(index).into_iter().flatten().cloned());
            labels.sort();
            labels.dedup();
            covered.insert(pattern.to_string(), labels);
        }
        covered
    }

    /// For each `min` and `max` objective, the best value seen.
    pub(crate) fn extremes(&self) -> IndexMap<String, Option<f64>> {
        self.extremes.iter().map(|e| (self.objectives[e.objective].text.clone(), e.best)).collect()
    }
}

/// A label of which only the action names are needed.
fn bare_label(explorer: &mut dyn Explorer, id: LabelId) -> Label {
    match explorer.bare_labels() {
        Some(labels) => labels.bare_label(id),
        None => explorer.label(id),
    }
}

/// A transition that has the same label as an earlier one but another target.
fn nondeterministic_choice(successors: &Successors) -> Option<u32> {
    let mut order: Vec<usize> = (0..successors.len()).collect();
    order.sort_by_key(|&index| (successors.label(index), index));
    let clashing = order.chunk_by(|&a, &b| successors.label(a) == successors.label(b)).filter_map(|group| {
        group[1..].iter().copied().find(|&i| successors.state(i) != successors.state(group[0]))
    });
    clashing.min().map(|index| index as u32)
}
