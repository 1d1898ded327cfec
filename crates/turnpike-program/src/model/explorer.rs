//! One search thread's view of a program: executes schedules, and caches the last expansions.

use rustc_hash::FxHashMap;
use turnpike_model::hash::mix;
use turnpike_model::{
    Explorer, Label, LabelId, Measures, Model, Participant, Participants, StepError, Successors, Violation,
    ViolationKind, Violations,
};
use turnpike_scheduler::{Detail, End, Execution, Executor, Finding, Plan};

use super::labels::KnownLabels;
use super::table::{Expected, Outcome};
use super::{ProgramModel, step_error};
use crate::guard::{ended, not_deterministic};
use crate::handover::participants;
use crate::paths::violation_kind;
use crate::texts;

/// The most states whose expansion is cached.
const REMEMBERED: usize = 1024;

pub(super) struct ProgramExplorer<'m> {
    model: &'m ProgramModel,
    executor: Option<Box<dyn Executor>>,
    known: KnownLabels,
    execution: Execution,
    schedule: Vec<u32>,
    /// The last expansions in a ring, and where they are by their state.
    expansions: Vec<Expansion>,
    places: FxHashMap<u128, usize>,
    next: usize,
}

/// What the execution of a state's schedule showed.
#[derive(Clone, Debug, Default)]
struct Expansion {
    state: u128,
    labels: Vec<LabelId>,
    targets: Vec<u128>,
    /// In the order of the model's measures.
    measures: [f64; 6],
}

impl<'m> ProgramExplorer<'m> {
    pub(super) fn new(model: &'m ProgramModel) -> Self {
        ProgramExplorer {
            model,
            executor: None,
            known: KnownLabels::default(),
            execution: Execution::default(),
            schedule: Vec::new(),
            expansions: Vec::new(),
            places: FxHashMap::default(),
            next: 0,
        }
    }

    fn ready(&mut self) -> Result<&mut Box<dyn Executor>, StepError> {
        if self.executor.is_none() {
            self.executor = Some(self.model.executor().map_err(step_error)?);
        }
        self.executor.as_mut().ok_or_else(|| StepError::new("the program cannot be executed"))
    }

    /// Executes the schedule of a state, with all details.
    fn execute(&mut self, state: u128, predict: bool) -> Result<u32, StepError> {
        let Some(node) = self.model.table.find(state) else {
            return Err(StepError::new("no schedule is known that leads to this state"));
        };
        let mut schedule = std::mem::take(&mut self.schedule);
        self.model.table.schedule(node, &mut schedule);
        let mut execution = std::mem::take(&mut self.execution);
        let plan = Plan { prefix: &schedule, predict, detail: Detail::Full, ..self.model.options.plan() };
        let outcome =
            self.ready().and_then(|executor| executor.run(&plan, &mut execution).map_err(step_error));
        (self.schedule, self.execution) = (schedule, execution);
        outcome?;
        self.verify(node)?;
        Ok(node)
    }

    /// Checks that the schedule led where it led before.
    fn verify(&mut self, node: u32) -> Result<(), StepError> {
        let steps = &self.execution.steps;
        if steps.len() == self.schedule.len()
            && self.execution.fingerprint == self.model.table.node(node).fingerprint
        {
            return Ok(());
        }
        let expected = self.model.table.expected(node);
        let parts = expected.iter().zip(steps).position(|(one, step)| one.fingerprint != step.fingerprint);
        let difference = match parts {
            Some(index) => {
                let before = self.model.labels.get(expected[index].label).text;
                let choice = self.execution.steps[index].choice;
                let now = match self.executor.as_mut() {
                    Some(executor) => texts::label(&self.execution, &choice, &mut **executor).text,
                    None => String::new(),
                };
                format!("step {} was {before} once and {now} another time", index + 1)
            }
            None => match expected.get(steps.len()) {
                Some(next) => {
                    let before = self.model.labels.get(next.label).text;
                    format!(
                        "step {} was {before} once, but another time {}",
                        steps.len() + 1,
                        ended(&self.execution)
                    )
                }
                None => format!("the threads had another past after step {}", steps.len()),
            },
        };
        Err(step_error(not_deterministic(&difference)))
    }

    /// The expansion of a state, from the cache or by executing its schedule.
    fn expansion(&mut self, state: u128) -> Result<&Expansion, StepError> {
        if let Some(&place) = self.places.get(&state) {
            return Ok(&self.expansions[place]);
        }
        let hangs = self.hangs(state);
        let node = if hangs { 0 } else { self.execute(state, true)? };
        let mut expansion = self.make_room();
        if hangs {
            (expansion.state, expansion.measures) = (state, [0.0; 6]);
        } else {
            self.fill(&mut expansion, state, node)?;
        }
        self.places.insert(state, self.next);
        let place = self.next;
        if place == self.expansions.len() {
            self.expansions.push(expansion);
        } else {
            self.expansions[place] = expansion;
        }
        self.next = (place + 1) % REMEMBERED;
        Ok(&self.expansions[place])
    }

    /// An expansion to fill: a new one, or the oldest, whose content is forgotten.
    fn make_room(&mut self) -> Expansion {
        let mut oldest = match self.expansions.get_mut(self.next) {
            Some(oldest) => std::mem::take(oldest),
            None => Expansion::default(),
        };
        self.places.remove(&oldest.state);
        oldest.labels.clear();
        oldest.targets.clear();
        oldest
    }

    fn fill(&mut self, expansion: &mut Expansion, state: u128, node: u32) -> Result<(), StepError> {
        let Self { model, executor: Some(executor), known, execution, .. } = self else {
            return Err(StepError::new("the program cannot be executed"));
        };
        expansion.state = state;
        // The last state that an execution may reach: whether it could go on is not known.
        if execution.end == End::Stopped && execution.steps.len() >= model.options.max_steps as usize {
            execution.end = End::StepLimit;
            model.left_out.note(execution, model.options.max_steps);
        }
        let last = match execution.end {
            End::Stopped => &execution.choices[execution.last_choices..],
            _ => &[],
        };
        for (index, (choice, &fingerprint)) in last.iter().zip(&execution.predicted).enumerate() {
            let label = known.label(&model.labels, execution, choice, &mut **executor);
            let key = if model.options.sleep { behind(state, index as u64) } else { fingerprint };
            model.table.insert_child(key, node, index as u32, Expected { fingerprint, label });
            expansion.labels.push(label);
            expansion.targets.push(key);
        }
        let deadlock = execution.end == End::Deadlock && !execution.end_is_suppressed;
        let outcome = Outcome { deadlock, violation: violation(execution) };
        model.table.set_outcome(node, &outcome);
        expansion.measures = [
            last.len() as f64,
            f64::from(execution.messages),
            f64::from(execution.assertions),
            f64::from(execution.branches),
            execution.threads.iter().filter(|thread| !thread.ended).count() as f64,
            execution.steps.len() as f64,
        ];
        Ok(())
    }

    /// Whether the schedule of a state is known to hang: executing it again would take long and
    /// show nothing new.
    fn hangs(&self, state: u128) -> bool {
        let outcome = self.model.table.find(state).and_then(|node| self.model.table.outcome(node));
        let violation = outcome.and_then(|outcome| outcome.violation);
        violation.is_some_and(|violation| violation.kind == ViolationKind::Hang)
    }

    /// What the expansion of a state showed, to any explorer of the model.
    fn outcome(&mut self, state: u128) -> Option<Outcome> {
        let node = self.model.table.find(state)?;
        if self.model.table.outcome(node).is_none() {
            self.expansion(state).ok()?;
        }
        self.model.table.outcome(node)
    }

    /// What each thread is about to do, by its name.
    fn threads(&mut self, state: u128) -> Result<Vec<(String, String)>, StepError> {
        if self.hangs(state) {
            return Ok(Vec::new());
        }
        self.execute(state, false)?;
        let Self { executor: Some(executor), execution, .. } = self else { return Ok(Vec::new()) };
        let last = match execution.end {
            End::Stopped => &execution.choices[execution.last_choices..],
            _ => &[],
        };
        let mut threads = Vec::new();
        for (index, thread) in execution.threads.iter().enumerate() {
            let next = last.iter().find(|choice| choice.thread.0 as usize == index);
            let (word, choice) = match (next, &thread.waits) {
                _ if thread.ended => ("ended", None),
                (Some(choice), _) => ("", Some(choice)),
                (None, Some((choice, _))) => ("waits to ", Some(choice)),
                (None, None) => ("-", None),
            };
            let mut text = word.to_owned();
            if let Some(choice) = choice {
                text.push_str(&texts::deed(execution, choice));
                if let Some(place) = texts::place_in(execution, choice.thread, choice.site, &mut **executor) {
                    text.push_str(&format!(" at {place}"));
                }
            }
            threads.push((thread.name.clone(), text));
        }
        Ok(threads)
    }
}

/// The key of a state that is identified by its schedule.
fn behind(state: u128, choice: u64) -> u128 {
    let (high, low) = ((state >> 64) as u64, state as u64);
    let low = mix(low, choice ^ 0x5eed);
    (u128::from(mix(high, low)) << 64) | u128::from(low)
}

/// The error that an execution shows, if any.
fn violation(execution: &Execution) -> Option<Violation> {
    let violation = |kind, message: &str| Some(Violation { kind, message: message.to_owned() });
    match &execution.end {
        _ if execution.end_is_suppressed => {}
        End::Failed(failure) => return violation(violation_kind(failure.kind), &failure.message),
        End::Livelock => {
            return violation(
                ViolationKind::Livelock,
                "all threads spin on values that no thread will change",
            );
        }
        End::Hung => return violation(ViolationKind::Hang, "a thread does nothing visible for too long"),
        _ => {}
    }
    execution.findings.iter().find_map(|finding| match finding {
        Finding::Race { message, .. } => violation(ViolationKind::Race, message),
        Finding::Leak(thread) => {
            let name = texts::thread(execution, *thread);
            violation(ViolationKind::Leak, &format!("the thread {name} was still there at the end"))
        }
        Finding::Uncontrolled(_) | Finding::Reuse { .. } => None,
    })
}

/// A state as words, and back.
fn words(state: u128) -> [u32; 4] {
    [state as u32, (state >> 32) as u32, (state >> 64) as u32, (state >> 96) as u32]
}

fn word(state: &[u32]) -> u128 {
    state.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
}

impl Explorer for ProgramExplorer<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.extend(words(self.model.root));
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        let expansion = self.expansion(word(state))?;
        for (&label, &target) in expansion.labels.iter().zip(&expansion.targets) {
            out.push(label, &words(target));
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        self.model.labels.get(id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        let names = &self.model.info().parameters;
        out.resize(names.len(), String::new());
        let Ok(threads) = self.threads(word(state)) else { return };
        for (name, text) in threads {
            // A thread that did not exist when names were learned is shown as its nearest ancestor.
            let mut known = name.as_str();
            let place = loop {
                match (names.iter().position(|other| other == known), known.rsplit_once('.')) {
                    (Some(place), _) => break Some(place),
                    (None, Some((parent, _))) => known = parent,
                    (None, None) => break None,
                }
            };
            let Some(value) = out.get_mut(place.unwrap_or(0)) else { continue };
            if !value.is_empty() {
                value.push_str("; ");
            }
            let own = place.is_some_and(|place| names[place] == name);
            value.push_str(&if own { text } else { format!("{name}: {text}") });
        }
    }

    fn is_deadlock(&mut self, state: &[u32], _: &Successors) -> bool {
        self.outcome(word(state)).is_some_and(|outcome| outcome.deadlock)
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn violations(&mut self) -> Option<&mut dyn Violations> {
        Some(self)
    }

    fn participants(&mut self) -> Option<&mut dyn Participants> {
        Some(self)
    }
}

impl Measures for ProgramExplorer<'_> {
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        self.expansion(word(state)).map_or(f64::NAN, |expansion| expansion.measures[index])
    }
}

impl Violations for ProgramExplorer<'_> {
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        self.outcome(word(state))?.violation
    }
}

impl Participants for ProgramExplorer<'_> {
    fn components(&self) -> Vec<String> {
        self.model.info().parameters.clone()
    }

    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError> {
        let Some(node) = self.model.table.find(word(state)) else {
            return Err(StepError::new("no schedule is known that leads to this state"));
        };
        let mut schedule = Vec::new();
        self.model.table.schedule(node, &mut schedule);
        schedule.push(position as u32);
        let model = self.model;
        let plan = Plan { prefix: &schedule, detail: Detail::Full, ..model.options.plan() };
        let mut execution = Execution::default();
        self.ready()?.run(&plan, &mut execution).map_err(step_error)?;
        let (_, mut parts) = participants(&execution);
        Ok(if parts.len() == schedule.len() { parts.pop().unwrap_or_default() } else { Vec::new() })
    }
}

impl Drop for ProgramExplorer<'_> {
    fn drop(&mut self) {
        if let Some(executor) = self.executor.take() {
            self.model.put_back(executor);
        }
    }
}
