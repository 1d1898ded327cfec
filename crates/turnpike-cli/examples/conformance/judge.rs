//! One specification against what the mCRL2 tools say of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Deserialize;
use turnpike_lts::{AutDialect, Lts, Transition, read_lts_file};
use turnpike_lts::{Comparison, DEFAULT_LIMIT, Equivalence, compare, reduce};
use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{LabelId, Model};
use turnpike_session::generate::{GenerateOptions, TransitionSink, generate};
use turnpike_session::{Limits, StopReason};

/// A specification that is explored with the options that make it do what the tools do by default.
struct Special {
    /// How its path ends.
    file: &'static str,
    /// As of the command line.
    options: &'static str,
    keep_dead: bool,
    quantifier_limit: Option<u32>,
}

const SPECIAL: [Special; 2] = [
    Special {
        file: "prime_numbers/prime.mcrl2",
        // The tools leave quantifiers open that ten values do not decide, unless -Q0 is given.
        options: "--quantifier-limit 10",
        keep_dead: false,
        quantifier_limit: Some(10),
    },
    Special {
        file: "sultan_of_persia/sultan_of_persia.mcrl2",
        // The tools keep what was drawn in the state that the choice leads to.
        options: "--keep-dead",
        keep_dead: true,
        quantifier_limit: None,
    },
];

/// A line of an oracle file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    /// The specification, relative to the folder of models.
    pub(crate) file: String,
    /// `complete`, or why there are no figures.
    pub(crate) outcome: String,
    /// Of the system as the tools generate it.
    pub(crate) states: Option<u64>,
    /// Duplicates included.
    pub(crate) transitions: Option<u64>,
    /// Of the strong-bisimulation quotient; none for probabilistic systems.
    pub(crate) min_states: Option<u64>,
    /// Of the quotient.
    pub(crate) min_transitions: Option<u64>,
}

impl Case {
    /// Whether the tools generated the whole system.
    pub(crate) fn is_complete(&self) -> bool {
        self.outcome == "complete"
    }

    fn special(&self) -> Option<&'static Special> {
        SPECIAL.iter().find(|special| self.file.ends_with(special.file))
    }

    /// How it is explored.
    fn options(&self) -> Options {
        self.special().map_or_else(Options::default, |special| Options {
            keep_dead: special.keep_dead,
            quantifier_limit: special.quantifier_limit,
            ..Options::default()
        })
    }

    /// Whether the figures are those of a probabilistic system, which has no quotient.
    pub(crate) fn is_probabilistic(&self) -> bool {
        self.is_complete() && self.min_states.is_none()
    }
}

/// How far unfinished systems are explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Expanded states that suffice.
    pub(crate) states: u64,
    /// Time for one specification.
    pub(crate) seconds: u64,
    /// Memory for one specification.
    pub(crate) bytes: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// Whether it is as promised.
    pub(crate) passed: bool,
    /// One line for the table.
    pub(crate) note: String,
    /// Found, as far as explored.
    pub(crate) states: u64,
    /// Of expanded states.
    pub(crate) transitions: u64,
    /// From text to model.
    pub(crate) start: f64,
    /// Exploration only.
    pub(crate) exploration: f64,
}

/// All lines of an oracle file.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, serde_json::Error> {
    text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

/// Explores one specification and compares.
pub(crate) fn judge(models: &Path, quotients: &Path, case: &Case, effort: Effort) -> Verdict {
    let mut verdict = explore(models, quotients, case, effort);
    if let Some(special) = case.special() {
        verdict.note.push_str(&format!(" with {}", special.options));
    }
    verdict
}

fn explore(models: &Path, quotients: &Path, case: &Case, effort: Effort) -> Verdict {
    let started = Instant::now();
    let mut verdict = Verdict {
        passed: false,
        note: String::new(),
        states: 0,
        transitions: 0,
        start: 0.0,
        exploration: 0.0,
    };
    let text = match std::fs::read_to_string(models.join(&case.file)) {
        Ok(text) => text,
        Err(error) => return Verdict { note: format!("cannot be read: {error}"), ..verdict },
    };
    let model = match Mcrl2Model::new(&case.file, &text, &case.options()) {
        Ok((model, _)) => model,
        Err(refusal) => {
            let first = refusal.diagnostics.first().map_or_else(String::new, |error| error.message.clone());
            return Verdict { note: format!("refused: {first}"), ..verdict };
        }
    };
    verdict.start = started.elapsed().as_secs_f64();

    let limits = Limits {
        states: (!case.is_complete()).then_some(effort.states),
        time: Some(Duration::from_secs(effort.seconds)),
        memory: Some(effort.bytes),
        ..Limits::default()
    };
    let mut sink = Collected { keep: case.is_complete(), ..Collected::default() };
    let options = GenerateOptions { limits, ..GenerateOptions::default() };
    let report = match generate(&model, &options, &mut sink, &|_| (), &AtomicBool::new(false)) {
        Ok(report) => report,
        Err(error) => {
            // What the tools refuse may be refused here: the table shows the message.
            let refused = case.outcome.starts_with("the tool rejects it");
            return Verdict { passed: refused, note: error.to_string(), ..verdict };
        }
    };
    (verdict.states, verdict.transitions) = (report.states, report.transitions);
    verdict.exploration = report.seconds;
    let complete = report.stop == StopReason::Exhausted;
    if !case.is_complete() {
        verdict.passed = complete || report.stop == StopReason::MaxStates;
        verdict.note = if complete { "complete".to_owned() } else { report.stop.describe().to_owned() };
        return verdict;
    }
    if !complete {
        verdict.note = report.stop.describe().to_owned();
        return verdict;
    }
    let lts = sink.lts(&model, report.states);
    if case.is_probabilistic() {
        let virtual_start = u64::from(model.has_initial_choice());
        let found = (report.states - virtual_start, actions_with_outcomes(&lts) - virtual_start);
        let expected = (case.states.unwrap_or_default(), case.transitions.unwrap_or_default());
        verdict.passed = found == expected;
        verdict.note = if verdict.passed {
            "equal counts".to_owned()
        } else {
            format!("{}/{} with choices as one, not {}/{}", found.0, found.1, expected.0, expected.1)
        };
        return verdict;
    }
    let mut problems = compare_with_quotient(&lts, quotients, case);
    verdict.passed = problems.is_empty();
    if report.states > case.states.unwrap_or(u64::MAX) {
        problems.push(format!("more states than the tools' {}", case.states.unwrap_or_default()));
    }
    verdict.note = if problems.is_empty() { "equal".to_owned() } else { problems.join("; ") };
    verdict
}

/// How the strong quotient differs from the one that the tools made.
fn compare_with_quotient(lts: &Lts, quotients: &Path, case: &Case) -> Vec<String> {
    let quotient =
        reduce(lts, Equivalence::Strong, DEFAULT_LIMIT).expect("strong bisimilarity needs no limit");
    let found = (u64::from(quotient.states), quotient.transitions.len() as u64);
    let expected = (case.min_states.unwrap_or_default(), case.min_transitions.unwrap_or_default());
    let mut problems = Vec::new();
    if found != expected {
        problems.push(format!("quotient {}/{}, not {}/{}", found.0, found.1, expected.0, expected.1));
    }
    let reference = quotients.join(case.file.replace('/', "__").replace(".mcrl2", ".min.aut"));
    if reference.exists() {
        match read_lts_file(&reference, AutDialect::Mcrl2) {
            Err(error) => problems.push(error.to_string()),
            Ok(reference) => {
                if let Ok(Comparison::Different(difference)) =
                    compare(lts, &reference, Equivalence::Strong, DEFAULT_LIMIT)
                {
                    let difference = difference.to_string().replace('\n', " ");
                    problems.push(difference);
                }
            }
        }
    }
    problems
}

/// Transitions, where the outcomes of one choice, labelled `a [1/3]`, count once.
fn actions_with_outcomes(lts: &Lts) -> u64 {
    let shares: Vec<Option<f64>> = lts.labels.iter().map(|label| share(label)).collect();
    let (mut whole, mut parts) = (0, 0.0);
    for transition in &lts.transitions {
        match shares[transition.label.index()] {
            None => whole += 1,
            Some(share) => parts += share,
        }
    }
    whole + f64::round(parts) as u64
}

/// The probability at the end of a label.
fn share(label: &str) -> Option<f64> {
    let (_, fraction) = label.strip_suffix(']')?.rsplit_once(" [")?;
    let (numerator, denominator) = fraction.split_once('/').unwrap_or((fraction, "1"));
    Some(numerator.trim().parse::<f64>().ok()? / denominator.trim().parse::<f64>().ok()?)
}

/// The transitions in memory.
#[derive(Default)]
struct Collected {
    keep: bool,
    transitions: Vec<Transition>,
}

impl TransitionSink for Collected {
    fn transition(&mut self, from: u32, label: LabelId, to: u32) -> std::io::Result<()> {
        if self.keep {
            self.transitions.push(Transition { from, label, to });
        }
        Ok(())
    }
}

impl Collected {
    /// Labels by text: two ids of a model may have the same.
    fn lts(self, model: &dyn Model, states: u64) -> Lts {
        let mut explorer = model.explorer();
        let mut known: HashMap<LabelId, LabelId> = HashMap::new();
        let (mut texts, mut labels): (HashMap<String, LabelId>, Vec<String>) = (HashMap::new(), Vec::new());
        let mut transitions = self.transitions;
        for transition in &mut transitions {
            transition.label = *known.entry(transition.label).or_insert_with_key(|&id| {
                let text = explorer.label(id).text;
                *texts.entry(text.clone()).or_insert_with(|| {
                    labels.push(text);
                    LabelId(labels.len() as u32 - 1)
                })
            });
        }
        Lts { initial: 0, states: states as u32, labels, transitions }
    }
}
