//! Requirements: formulas of the modal mu-calculus, each decided separately.

mod absent;
mod evidence;
mod explanation;
mod follow;
mod locations;
mod refuse;
mod search;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use turnpike_formula::{Decision, Evidence, Failure, Fragment, Progress, fragment, solve};
use turnpike_mcrl2::explore::{AssumedAction, LabelSource, Mcrl2Model, Requirement};
use turnpike_model::formula::{DataError, Property};
use turnpike_model::{Diagnostic, Model};
use turnpike_search::{Limits, StopReason, Verdict, resources};

pub use self::explanation::explain_evidence;
use self::locations::Located;
use self::search::{MOST_TRIED, TRY_AFTER};
use crate::conclusion::Conclusion;
use crate::impossible;
use crate::labels::{self, Known};
use crate::problem::{Problem, ProblemKind};
use crate::purpose::Purpose;
use crate::report::{Outcome, Report};
use crate::request::{Expect, Goals, Search};
use crate::run::Observer;
use crate::session::Session;
use crate::source::{Location, Source};

/// A formula as entered by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaText {
    /// Its file, if it has one.
    pub file: Option<String>,
    /// The formula.
    pub text: String,
}

/// A checked formula, ready to be decided.
pub struct CheckedFormula {
    /// The fragment, which determines how to decide it.
    pub fragment: Fragment,
    /// Warnings about probable mistakes.
    pub warnings: Vec<Diagnostic>,
    /// Actions that cannot occur, if the formula may hold for that reason alone.
    vacuous: Vec<Diagnostic>,
    labels: LabelSource,
    /// Actions that describe the locations of processes.
    state_actions: Vec<String>,
    requirement: Arc<Requirement>,
    /// The specification whose data it uses, for checking evidence.
    data: Arc<Mcrl2Model>,
    model: Arc<dyn Model>,
}

/// A formula with its result.
pub struct FormulaAnswer {
    /// The formula.
    pub formula: FormulaText,
    /// The result, or why there is none.
    pub reply: Result<FormulaReply, Problem>,
    /// Whether the result is as expected.
    pub conclusion: Conclusion,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The result for a formula.
#[derive(Debug)]
pub struct FormulaReply {
    /// Whether it holds; `None` if unknown.
    pub holds: Option<bool>,
    /// The reason why that is unknown.
    pub reason: Option<String>,
    /// The reason why exploration stopped.
    pub stop: StopReason,
    /// The fragment, which determines how to decide it.
    pub fragment: Fragment,
    /// The part of the system that decides it, if that is an explanation.
    pub evidence: Option<Evidence>,
    /// How far exploration went.
    pub progress: Progress,
    /// Warnings about probable mistakes.
    pub warnings: Vec<Diagnostic>,
    /// The strategy, if a search for a path decided it.
    pub strategy: Option<&'static str>,
}

impl Serialize for FormulaAnswer {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let reply = self.reply.as_ref();
        let steps = |evidence: &Evidence| -> Vec<(u32, String, u32)> {
            evidence.edges.iter().map(|edge| (edge.from, edge.label.clone(), edge.to)).collect()
        };
        let mut fields = out.serialize_struct("FormulaAnswer", 8)?;
        fields.serialize_field("file", &self.formula.file)?;
        fields.serialize_field("text", &self.formula.text)?;
        fields.serialize_field("holds", &reply.ok().and_then(|reply| reply.holds))?;
        fields.serialize_field("reason", &reply.ok().and_then(|reply| reply.reason.as_deref()))?;
        fields.serialize_field("fragment", &reply.ok().map(|reply| reply.fragment.name()))?;
        let evidence = reply.ok().and_then(|reply| reply.evidence.as_ref()).map(steps);
        fields.serialize_field("evidence", &evidence)?;
        fields.serialize_field("error", &reply.err().map(ToString::to_string))?;
        fields.serialize_field("seconds", &self.seconds)?;
        fields.end()
    }
}

impl FormulaText {
    /// The name for the user.
    pub fn name(&self) -> &str {
        self.file.as_deref().unwrap_or_else(|| self.text.trim())
    }
}

/// A requested formula, and the problem if its file cannot be read.
pub type AskedFormula = (FormulaText, Option<Problem>);

/// Reads requested formulas: a file, all files of a folder, or the formula itself. A file that
/// cannot be read does not prevent reading the others.
pub fn read_formulas(arguments: &[String]) -> Result<Vec<AskedFormula>, Problem> {
    let mut formulas = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        if has_extension(path) {
            formulas.push(read_file(argument));
        } else if path.is_dir() {
            let cannot = |error: std::io::Error| Problem::file(argument, "read", &error);
            let mut files = Vec::new();
            for entry in path.read_dir().map_err(cannot)? {
                let file = entry.map_err(cannot)?.path();
                if has_extension(&file) {
                    files.push(file.to_string_lossy().into_owned());
                }
            }
            if files.is_empty() {
                return Err(Problem::new(format!("{argument} has no files that end in .mcf")));
            }
            files.sort();
            for file in files {
                formulas.push(read_file(&file));
            }
        } else {
            formulas.push((FormulaText { file: None, text: argument.clone() }, None));
        }
    }
    Ok(formulas)
}

/// Whether an argument is a file or a folder of formulas rather than a formula.
pub fn names_formula_files(argument: &str) -> bool {
    let path = Path::new(argument);
    has_extension(path) || path.is_dir()
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mcf")
}

fn read_file(path: &str) -> AskedFormula {
    let (text, problem) = match std::fs::read_to_string(path) {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(Problem::file(path, "read", &error))),
    };
    (FormulaText { file: Some(path.to_owned()), text }, problem)
}

/// A problem with a formula, with its text.
fn mistake(formula: &FormulaText, diagnostics: Vec<Diagnostic>) -> Problem {
    let origin = formula.file.as_deref().unwrap_or("the formula");
    Problem::of_text(origin, formula.text.clone(), diagnostics)
}

impl Session {
    /// The requested formulas, if any.
    pub(crate) fn formulas(&self, search: &Search) -> Result<Option<Vec<AskedFormula>>, Problem> {
        if search.goals.formulas.is_empty() {
            return Ok(None);
        }
        refuse::refuse_system(self)?;
        refuse::refuse_options(search)?;
        refuse::refuse_aids(self)?;
        read_formulas(&search.goals.formulas).map(Some)
    }

    /// Parses and checks a formula about this model.
    pub fn check_formula(&self, formula: &FormulaText) -> Result<CheckedFormula, Problem> {
        refuse::refuse_system(self)?;
        let mut model = self.prepare(&Purpose::default())?.model;
        let (mut more, mut state_actions) = (Vec::new(), Vec::new());
        if let Some(timed) = self.timed() {
            // The remaining checks depend on the fragment.
            refuse::refuse_zones(&*model, Fragment::Safety)?;
            let located = Located::new(model, &timed.network);
            more = located.labels(&timed.network);
            state_actions = located.state_actions();
            refuse::refuse_ambiguous_channels(&timed.network, &state_actions)?;
            model = Arc::new(located);
        }
        let labels = match (self.specification(), self.timed()) {
            (Some(_), _) => LabelSource::Own,
            (None, Some(_)) => LabelSource::Declared,
            (None, None) => LabelSource::Seen,
        };
        let (data, known, assumed) = match self.specification() {
            Some(specification) => (specification.with_declarations(self, formula)?, Known::All, Vec::new()),
            None => {
                refuse::refuse_declarations(self, formula)?;
                let open = labels == LabelSource::Seen;
                let found = labels::declarations(&*model, &more, open, formula)?;
                (found.data, found.known, found.assumed)
            }
        };
        if labels == LabelSource::Own {
            model = Arc::clone(&data) as Arc<dyn Model>;
        }
        let checked = data.requirement(&formula.text, labels);
        let (mut requirement, mut warnings) = checked.map_err(|mut diagnostics| {
            if known == Known::Some {
                diagnostics.push(labels::not_all_known(&model.info().name));
            }
            mistake(formula, diagnostics)
        })?;
        if !state_actions.is_empty() {
            requirement = requirement.with_state_actions(&state_actions);
        }
        let (fragment, requirement) = (fragment(requirement.formula()), Arc::new(requirement));
        if self.timed().is_some() {
            refuse::refuse_zones(&*model, fragment)?;
        }
        warnings.extend(assumed.into_iter().map(Diagnostic::warning));
        let (assumed, mut vacuous) = self.assumed_actions(formula, &requirement, &*model, known)?;
        warnings.extend(assumed);
        let (absent, helping) = absent::find(&*model, &requirement);
        warnings.extend(absent);
        vacuous.extend(helping);
        Ok(CheckedFormula { fragment, warnings, vacuous, labels, state_actions, requirement, data, model })
    }

    /// Warnings about actions that no label has, and errors about those that may be the only reason
    /// why the formula holds. For built-in models, which have a vocabulary, all are errors.
    fn assumed_actions(
        &self,
        formula: &FormulaText,
        requirement: &Requirement,
        model: &dyn Model,
        known: Known,
    ) -> Result<(Vec<Diagnostic>, Vec<Diagnostic>), Problem> {
        let declares = matches!(self.source(), Source::Model { location: Location::Builtin(_), .. });
        let (mut warnings, mut errors) = (Vec::new(), Vec::new());
        for AssumedAction { name, place, helps } in requirement.assumed_actions() {
            let unknown = impossible::unknown_action(model, &name);
            if let Some(error) = unknown.clone().filter(|_| declares) {
                return Err(mistake(formula, vec![error.at(place, "")]));
            }
            let scope = match known {
                Known::All => model.info().name.clone(),
                Known::Some => format!("the first {} states of {}", labels::MOST_STATES, model.info().name),
            };
            let message = format!("no label of {scope} has an action `{name}` with such arguments");
            // States beyond those that were looked at may have the action.
            let absent = known == Known::All || unknown.is_some();
            // The action may be one that just never occurs, but whoever misspelt it sees that.
            let help = unknown.and_then(|error| error.help);
            let warning = Diagnostic { help, ..Diagnostic::warning(message) }.at(place, "");
            errors.extend((helps && absent).then(|| absent::refuse(&warning)));
            warnings.push(warning);
        }
        Ok((warnings, errors))
    }

    /// Decides all formulas. A wrong one does not prevent deciding the others, but a single wrong
    /// one fails the request.
    pub(crate) fn judge_all(
        &self,
        search: &Search,
        formulas: Vec<AskedFormula>,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
        started: Instant,
    ) -> Result<Report, Problem> {
        observer.begins(self.name(), self.text_warnings().len(), &[]);
        let alone = formulas.len() == 1;
        let mut answers: Vec<FormulaAnswer> = Vec::new();
        for (formula, problem) in formulas {
            let begun = Instant::now();
            let reply = problem.map_or_else(|| self.judge(search, &formula, observer, interrupt), Err);
            let reply = match reply {
                Err(problem) if alone || problem.kind == ProblemKind::Internal => return Err(problem),
                reply => reply,
            };
            let conclusion = conclude(&reply, &search.goals);
            let answer = FormulaAnswer { formula, reply, conclusion, seconds: begun.elapsed().as_secs_f64() };
            observer.judged(&answer)?;
            answers.push(answer);
        }
        Ok(Report {
            model: self.name().to_owned(),
            verdict: overall(&answers),
            conclusion: conclude_all(&answers),
            interrupted: interrupt.load(Ordering::Relaxed),
            seconds: started.elapsed().as_secs_f64(),
            text_warnings: self.text_warnings().to_vec(),
            outcome: Outcome::Formulas(answers),
        })
    }

    fn judge(
        &self,
        search: &Search,
        formula: &FormulaText,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<FormulaReply, Problem> {
        let checked = self.check_formula(formula)?;
        let reply = self.decide(&checked, search, formula, observer, interrupt)?;
        if reply.holds == Some(true) && !search.goals.allow_unknown && !checked.vacuous.is_empty() {
            return Err(mistake(formula, checked.vacuous));
        }
        Ok(reply)
    }

    fn decide(
        &self,
        checked: &CheckedFormula,
        search: &Search,
        formula: &FormulaText,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<FormulaReply, Problem> {
        if search.strategy.name.is_some() {
            return checked.search(formula, search, observer, interrupt);
        }
        let started = Instant::now();
        let mut watch =
            Watch { limits: &search.limits, interrupt, started, last_report: started, reason: None };
        // The result of a search while the game is being explored.
        let (mut attempts, mut next, mut found) = (0, TRY_AFTER, Ok(None));
        let mut play = |watch: &mut Watch<'_>| {
            solve(&*checked.model, &*checked.requirement, &mut |progress| {
                watch.report_progress(progress, observer);
                if progress.states >= next {
                    let limits = Limits {
                        states: Some(MOST_TRIED.min(progress.states / 2)),
                        time: watch.left(),
                        ..search.limits.clone()
                    };
                    found = checked.try_search(formula, search, (attempts, limits), observer, interrupt);
                    (attempts, next) = (attempts + 1, progress.states.saturating_mul(4));
                }
                !matches!(found, Ok(None)) || watch.stop(progress)
            })
        };
        let mut outcome = play(&mut watch);
        if matches!(outcome, Err(Failure::Data(_))) && checked.learn_labels(&mut watch)? {
            outcome = play(&mut watch);
        }
        if let Some(reply) = found? {
            return Ok(reply);
        }
        let outcome = outcome.map_err(|failure| explain(formula, checked, failure))?;
        let mut reply = FormulaReply {
            holds: match outcome.decision {
                Decision::Holds => Some(true),
                Decision::Violated => Some(false),
                Decision::Open => None,
            },
            reason: None,
            stop: match outcome.progress.states == outcome.progress.considered {
                true => StopReason::Exhausted,
                false => StopReason::Found,
            },
            fragment: checked.fragment,
            evidence: outcome.evidence,
            progress: outcome.progress,
            warnings: checked.warnings.clone(),
            strategy: None,
        };
        if let Some(left_out) = checked.model.left_out() {
            (reply.holds, reply.evidence, reply.reason) = (None, None, Some(left_out));
        } else if reply.holds.is_none() {
            reply.stop = watch.reason.unwrap_or(StopReason::MaxMemory);
            reply.reason = Some(reply.stop.describe().to_owned());
        }
        if let (Some(evidence), Some(holds)) = (&reply.evidence, reply.holds) {
            checked.confirm(formula, evidence, holds)?;
            checked.shorten(formula, search, interrupt, watch.started, &mut reply)?;
        }
        Ok(reply)
    }
}

impl CheckedFormula {
    /// Explores all labels of the system, if that may bound a quantifier and the system is small.
    fn learn_labels(&self, watch: &mut Watch<'_>) -> Result<bool, Problem> {
        if !self.requirement.gains_from_labels() {
            return Ok(false);
        }
        let mut explorer = self.model.explorer();
        let mut stop = |states: usize| watch.stop(&Progress { states: states as u64, ..Progress::default() });
        let (ids, known) =
            labels::visit_labels(&*self.model, &mut *explorer, labels::MOST_STATES, &mut stop)?;
        // The parts that a model leaves out may have other labels.
        if known == Known::Some || self.model.left_out().is_some() {
            return Ok(false);
        }
        let learnt = self.requirement.learn_all_labels(&ids, &mut *explorer);
        learnt.map_err(|error| Problem::new(error.message)).map(|()| true)
    }
}

/// Checks the limits of a search.
struct Watch<'a> {
    limits: &'a Limits,
    interrupt: &'a AtomicBool,
    started: Instant,
    /// The time of the last progress report.
    last_report: Instant,
    reason: Option<StopReason>,
}

/// The interval between progress reports.
const PROGRESS: Duration = Duration::from_millis(100);

impl Watch<'_> {
    /// The remaining time, if it is limited.
    fn left(&self) -> Option<Duration> {
        self.limits.time.map(|most| most.saturating_sub(self.started.elapsed()))
    }

    /// Reports progress to an observer at regular intervals.
    fn report_progress(&mut self, progress: &Progress, observer: &dyn Observer) {
        if self.last_report.elapsed() < PROGRESS {
            return;
        }
        self.last_report = Instant::now();
        observer.deciding(progress, self.started.elapsed());
    }

    fn stop(&mut self, progress: &Progress) -> bool {
        let memory = self.limits.memory.unwrap_or_else(default_memory);
        let reason = if self.interrupt.load(Ordering::Relaxed) {
            StopReason::Interrupted
        } else if self.limits.states.is_some_and(|most| progress.states >= most) {
            StopReason::MaxStates
        } else if self.limits.time.is_some_and(|most| self.started.elapsed() >= most) {
            StopReason::MaxTime
        } else if progress.bytes >= memory {
            StopReason::MaxMemory
        } else {
            return false;
        };
        self.reason = Some(reason);
        true
    }
}

/// A quarter of the machine's memory: tables grow by doubling, and solving needs as much again.
fn default_memory() -> u64 {
    resources::machine_bytes().map_or(u64::MAX, |bytes| bytes / 4)
}

fn explain(formula: &FormulaText, checked: &CheckedFormula, failure: Failure) -> Problem {
    match failure {
        Failure::Step(error) => Problem::new(error.to_string()).in_file(checked.model.info().name.clone()),
        Failure::Data(DataError { message, help, place }) => {
            let mut diagnostic = Diagnostic::error(message);
            if let Some(place) = place {
                diagnostic = diagnostic.at(place, "");
            }
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
            mistake(formula, vec![diagnostic])
        }
    }
}

fn conclude(reply: &Result<FormulaReply, Problem>, goals: &Goals) -> Conclusion {
    let Ok(reply) = reply else { return Conclusion::Wrong };
    let Some(holds) = reply.holds else { return Conclusion::Inconclusive };
    let expected = match goals.expect {
        Some(Expect::Any) => return Conclusion::Passed,
        Some(Expect::NotSatisfied) => false,
        _ => true,
    };
    if holds == expected { Conclusion::Passed } else { Conclusion::Failed }
}

/// A wrong formula counts most, then a failed one, then an unknown one.
fn conclude_all(answers: &[FormulaAnswer]) -> Conclusion {
    let has = |conclusion| answers.iter().any(|answer| answer.conclusion == conclusion);
    let order = [Conclusion::Wrong, Conclusion::Failed, Conclusion::Inconclusive];
    order.into_iter().find(|&one| has(one)).unwrap_or(Conclusion::Passed)
}

/// Found if a formula is violated, none if all hold.
fn overall(answers: &[FormulaAnswer]) -> Verdict {
    let has = |holds| answers.iter().any(|one| one.reply.as_ref().is_ok_and(|reply| reply.holds == holds));
    if has(Some(false)) {
        Verdict::Found
    } else if has(None) || answers.iter().any(|one| one.reply.is_err()) {
        Verdict::Inconclusive
    } else {
        Verdict::None
    }
}
