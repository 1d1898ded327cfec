//! The result of a search, printed and as JSON. The fields are a published interface that a test
//! guards.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::{StateValues, Step, StuckComponent, Trace};

use crate::limits::StopReason;

/// What a search concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A trace was found.
    Found,
    /// The reachable space was covered exactly, no limit was hit, nothing was found.
    None,
    /// Only `cover`, `min` or `max` were asked.
    Measured,
    /// Nothing was found, and not everything was covered.
    Inconclusive,
}

/// A witness as reported.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WitnessReport {
    /// The objective it meets.
    pub objective: String,
    /// Transitions, the last one included.
    pub length: usize,
    /// Transitions before shortening.
    pub original_length: usize,
    /// Whether it is proved that no witness is shorter. Absent for programs, whose schedules are
    /// short in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
    /// For a lasso, the index of the state the last step returns to (0 is the initial state).
    #[serde(rename = "loop")]
    pub loop_start: Option<usize>,
    /// Values of the initial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub initial: Option<StateValues>,
    /// The transitions.
    pub steps: Vec<StepReport>,
    /// For models with time: how long after the last step the objective is met, if not at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_delay: Option<String>,
    /// If it ends in a deadlock: what keeps each component from going on, for models that tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub stuck: Vec<StuckComponent>,
    /// For programs: what the schedule is like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleReport>,
    /// The same as a trace, for writing to a file.
    #[serde(skip)]
    pub trace: Trace,
}

/// What the schedule of a program's witness is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScheduleReport {
    /// How the execution ends.
    pub end: String,
    /// Steps whose thread is another one than that of the step before.
    pub context_switches: usize,
    /// The same before shortening.
    pub original_context_switches: usize,
    /// Executions spent on shortening and explaining.
    pub executions: u64,
    /// The errors that it shows, by their signatures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub signatures: Vec<String>,
    /// The order that decides, when one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// The last two steps whose reversal makes a failure vanish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The earlier one: its number in the witness, from 0.
    pub first: usize,
    /// Its label.
    pub first_label: String,
    /// The later one; null when it is an operation that still waits at the end.
    pub second: Option<usize>,
    /// Its label.
    pub second_label: String,
    /// Executions with the two reversed, none of which failed in this way.
    pub tried: u64,
}

/// An error of a program by its signature: the kind and the places in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignatureReport {
    /// Such as `deadlock@bank.c:31+bank.c:44`; the same for every seed.
    pub signature: String,
    /// Executions that showed it, shortening not included.
    pub met: u64,
    /// Whether the search was asked to go on past it, so that it has no witness.
    pub suppressed: bool,
}

/// Executions of a program, counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExecutionCounts {
    /// All of them, shortening not included.
    pub executions: u64,
    /// Those that came to an end by themselves: finished, failed, deadlocked.
    pub completed: u64,
    /// Those that were given up because others stand for them.
    pub blocked: u64,
    /// Those that were cut at the limit on steps.
    pub cut: u64,
    /// The share of steps that led to a state not met before, among those that were compared.
    pub distinct: Option<f64>,
}

/// One step of a witness.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepReport {
    /// The label's text.
    pub label: String,
    /// The state reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub state: Option<StateValues>,
    /// For models with time: how long after the step before it is taken, as an exact rational.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// When it is taken, since the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Clock values right after it, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub clocks: Option<StateValues>,
}

impl From<&Step> for StepReport {
    fn from(step: &Step) -> Self {
        let Step { label, state, delay, time, clocks, choice: _, parts: _ } = step.clone();
        StepReport { label, state, delay, time, clocks }
    }
}

/// A generation of genetic search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Generation {
    /// Fitness of the best chromosome.
    pub best: f64,
    /// Mean fitness of the population.
    pub average: f64,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunReport {
    /// What was concluded.
    pub verdict: Verdict,
    /// Why it stopped.
    pub stop: StopReason,
    /// The run's own seed: given alone, it repeats the run.
    pub seed: u64,
    /// The objectives, joined with `;`.
    pub objective: String,
    /// Expansions.
    pub states: u64,
    /// Distinct states met, expanded or not; null when the strategy does not remember them. There
    /// are fewer than `states` where states were expanded more than once.
    pub considered: Option<u64>,
    /// Size of the set `generated` (Deep Random Search only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<u64>,
    /// Most candidates held at once for the next level, by strategies that go by levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    /// States that no other covers, when covered ones are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
    /// Transitions of expanded states.
    pub transitions: u64,
    /// Transitions to the deepest expanded state.
    pub depth: u32,
    /// Wall-clock time.
    pub seconds: f64,
    /// Peak resident memory of the process.
    pub peak_bytes: u64,
    /// Expansions spent on shortening the witness. An expansion with very many transitions counts
    /// as several.
    pub shorten_states: u64,
    /// Transitions per action name.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub actions: IndexMap<String, u64>,
    /// Declared actions that were never taken.
    pub never_taken: Vec<String>,
    /// The witness of the first objective met.
    pub witness: Option<WitnessReport>,
    /// When all objectives are to be met: the witness of every one that was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<WitnessReport>,
    /// With `cover`: the labels seen, per pattern.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, std::collections::BTreeMap<String, u64>>")]
    pub covered: IndexMap<String, IndexMap<String, u64>>,
    /// With `min` and `max`: the best value seen.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Option<f64>>")]
    pub extreme: IndexMap<String, Option<f64>>,
    /// Genetic search: fitness per generation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<Generation>,
    /// For programs, by strategies that follow whole executions: how many there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<ExecutionCounts>,
    /// For programs: errors by their signatures, if all are looked for, and those that were passed
    /// over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub signatures: Vec<SignatureReport>,
    /// A lossy store's odds, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odds: Option<String>,
}

/// The result of a search of one or more runs.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// The verdict over all runs.
    pub verdict: Verdict,
    /// All runs, in order.
    pub runs: Vec<RunReport>,
}

impl RunReport {
    /// A report in which nothing is known but the run's seed and why it stopped.
    pub(crate) fn new(seed: u64, stop: StopReason) -> Self {
        RunReport {
            verdict: Verdict::Inconclusive,
            stop,
            seed,
            objective: String::new(),
            states: 0,
            considered: None,
            generated: None,
            held: None,
            stored: None,
            transitions: 0,
            depth: 0,
            seconds: 0.0,
            peak_bytes: 0,
            shorten_states: 0,
            actions: IndexMap::new(),
            never_taken: Vec::new(),
            witness: None,
            witnesses: Vec::new(),
            covered: IndexMap::new(),
            extreme: IndexMap::new(),
            generations: Vec::new(),
            executions: None,
            signatures: Vec::new(),
            odds: None,
        }
    }
}

impl WitnessReport {
    pub(crate) fn new(objective: &str, original_length: usize, trace: Trace) -> Self {
        let steps = trace.steps.iter().map(StepReport::from).collect();
        WitnessReport {
            objective: objective.to_owned(),
            length: trace.len(),
            original_length,
            shortest: None,
            loop_start: trace.loop_start,
            initial: trace.initial.clone(),
            steps,
            last_delay: trace.last_delay.clone(),
            stuck: trace.stuck.clone(),
            schedule: None,
            trace,
        }
    }
}

impl SearchReport {
    /// The shortest witness over all runs; of equally short ones the earliest.
    pub fn witness(&self) -> Option<&WitnessReport> {
        self.runs.iter().filter_map(|run| run.witness.as_ref()).min_by_key(|witness| witness.length)
    }

    /// The verdict over several runs: found if any found, none if any covered everything.
    pub(crate) fn overall(runs: &[RunReport]) -> Verdict {
        for verdict in [Verdict::Found, Verdict::None, Verdict::Measured] {
            if runs.iter().any(|run| run.verdict == verdict) {
                return verdict;
            }
        }
        Verdict::Inconclusive
    }
}
