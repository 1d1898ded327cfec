//! What came of a request. serde writes it whole, for clients that pass it on.

use serde::{Serialize, Serializer};
use turnpike_model::{Diagnostic, Trace};
use turnpike_program::Incident;
use turnpike_search::{Objective, RunReport, StopReason, Verdict, WitnessReport};
use turnpike_timed::network::QueryText;

use crate::conclusion::Conclusion;
use crate::elsewhere::Elsewhere;
use crate::extremes::Extremes;
use crate::formulas::FormulaAnswer;
use crate::incident;
use crate::problem::{self, Problem};
use crate::request::{Goals, objectives};
use crate::summary::Summary;
use crate::zeno::Zeno;

/// What came of a request.
#[derive(Serialize)]
pub struct Report {
    /// What users call the source.
    pub model: String,
    /// The conclusion of everything together.
    pub verdict: Verdict,
    /// Whether that is what was expected.
    pub conclusion: Conclusion,
    /// Whether the client interrupted it.
    pub interrupted: bool,
    /// Wall-clock time.
    pub seconds: f64,
    /// Warnings about the text of the source.
    #[serde(serialize_with = "problem::diagnostics")]
    pub text_warnings: Vec<Diagnostic>,
    /// What was found out.
    pub outcome: Outcome,
}

/// What was found out.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// By one search, of which there may be many runs.
    Search(Box<Findings>),
    /// Answers to queries, in the order in which they were asked.
    Queries(Vec<Answer>),
    /// Verdicts on formulas, in the order in which they were given.
    Formulas(Vec<FormulaAnswer>),
}

/// What one search found out.
#[derive(Serialize)]
pub struct Findings {
    /// The system, with its parameters.
    pub model: String,
    /// The strategy.
    pub strategy: &'static str,
    /// What was looked for.
    #[serde(serialize_with = "objectives::serialize")]
    pub objectives: Vec<Objective>,
    /// Whether absence can be proved with the store.
    pub exact: bool,
    /// Runs that were asked for.
    pub runs_asked: u64,
    /// The conclusion.
    pub verdict: Verdict,
    /// The runs that ended, in order.
    pub runs: Vec<RunReport>,
    /// What is probably a mistake.
    #[serde(serialize_with = "problem::diagnostics")]
    pub warnings: Vec<Diagnostic>,
    /// Why covering everything proves nothing.
    pub left_out: Option<String>,
    /// The bound within which schedules were tried, such as `2 preemptions`, when it alone is what was
    /// left out.
    pub bound: Option<String>,
    /// What to do because executions were cut and nothing was found.
    pub advice: Vec<String>,
    /// Signatures of errors that the search was to go on past, each with whether an execution showed
    /// it.
    pub suppressed: Vec<(String, bool)>,
    /// What the search was about, if not everything.
    pub scope: Option<Scope>,
    /// What is known of time along the cycle that was found, where that is worth a word.
    pub zeno: Option<Zeno>,
    /// The program, when it is one.
    pub program: Option<ProgramFindings>,
    /// Wall-clock time.
    pub seconds: f64,
}

impl Findings {
    /// What is known about each of several objectives, when all of them were looked for and witnesses
    /// say which were met; otherwise empty.
    pub fn of_each(&self, goals: &Goals) -> Vec<(&Objective, Verdict)> {
        let sought: Vec<&Objective> = self.objectives.iter().filter(|one| !one.is_measure()).collect();
        let kept = self.runs.iter().any(|run| run.witness.is_some() || !run.witnesses.is_empty());
        if !goals.all || sought.len() < 2 || (self.verdict == Verdict::Found && !kept) {
            return Vec::new();
        }
        let met = |objective: &Objective| {
            let mut witnesses = self.runs.iter().flat_map(|run| run.witnesses.iter().chain(&run.witness));
            witnesses.any(|witness| witness.objective == objective.text())
        };
        let covered = self.exact
            && self.left_out.is_none()
            && self.runs.iter().any(|run| run.stop == StopReason::Exhausted);
        let verdict = |objective: &Objective| match met(objective) {
            true => Verdict::Found,
            false if covered => Verdict::None,
            false => Verdict::Inconclusive,
        };
        sought.into_iter().map(|objective| (objective, verdict(objective))).collect()
    }
}

/// What a search was about, if not everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scope {
    /// Synchronisation of a program, but not its accesses to memory.
    Synchronisation {
        /// Whether memory accesses could be seen, but were not asked for.
        by_request: bool,
    },
}

/// What a search found out about a program.
#[derive(Serialize)]
pub struct ProgramFindings {
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Hash of the program, its arguments and what is visible, as in traces.
    pub hash: u64,
    /// What witnesses show, that of the best one first.
    pub incidents: Vec<Shown>,
    /// Whether what was found under weak memory exists under stronger memory.
    pub elsewhere: Vec<Elsewhere>,
}

/// What the witness with these choices shows.
#[derive(Serialize)]
pub struct Shown {
    choices: Vec<u32>,
    /// What it shows.
    #[serde(serialize_with = "incident::serialize")]
    pub incident: Incident,
}

/// A query with what came of it.
#[derive(Serialize)]
pub struct Answer {
    /// The query.
    #[serde(serialize_with = "query_text")]
    pub query: QueryText,
    /// The answer, or why it could not be asked.
    #[serde(serialize_with = "reply_or_problem")]
    pub reply: Result<Reply, Problem>,
    /// Whether that is what was expected.
    pub conclusion: Conclusion,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The answer to a query.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// By a search.
    Searched {
        /// What the search found out.
        findings: Box<Findings>,
        /// Whether the query holds; `None` when that is not known.
        satisfied: Option<bool>,
    },
    /// By measuring all states.
    Measured(Extremes),
}

impl Findings {
    /// All warnings, that about time included.
    pub fn all_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.iter().cloned().chain(self.zeno.and_then(Zeno::warning)).collect()
    }

    /// The best witness, of the first run that has it.
    pub fn witness(&self) -> Option<&WitnessReport> {
        self.runs.iter().find_map(|run| run.witness.as_ref())
    }

    /// The witnesses to show and to keep, the best first: of many runs those of the run with the
    /// shortest one.
    pub fn best_witnesses(&self) -> &[WitnessReport] {
        match Summary::of(&self.runs).best {
            Some((_, run, best)) if run.witnesses.is_empty() => std::slice::from_ref(best),
            Some((_, run, _)) => &run.witnesses,
            None => &[],
        }
    }

    /// What a witness of a program shows.
    pub fn incident(&self, witness: &WitnessReport) -> Option<&Incident> {
        let incidents = &self.program.as_ref()?.incidents;
        let choices = choices_of(&witness.trace);
        incidents.iter().find(|shown| shown.choices == choices).map(|shown| &shown.incident)
    }
}

impl Shown {
    pub(crate) fn new(trace: &Trace, incident: Incident) -> Self {
        Shown { choices: choices_of(trace), incident }
    }
}

fn query_text<S: Serializer>(query: &QueryText, out: S) -> Result<S::Ok, S::Error> {
    query.text.serialize(out)
}

/// Either the reply by its name, or `problem`.
fn reply_or_problem<S: Serializer>(reply: &Result<Reply, Problem>, out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Unanswered<'a> {
        problem: &'a Problem,
    }
    match reply {
        Ok(reply) => reply.serialize(out),
        Err(problem) => Unanswered { problem }.serialize(out),
    }
}

/// The schedule of a trace.
pub(crate) fn choices_of(trace: &Trace) -> Vec<u32> {
    trace.steps.iter().filter_map(|step| step.choice).collect()
}

impl Answer {
    /// The conclusion about this query.
    pub fn verdict(&self) -> Verdict {
        match &self.reply {
            Ok(Reply::Searched { findings, .. }) => findings.verdict,
            Ok(Reply::Measured(extremes)) => extremes.verdict(),
            Err(_) => Verdict::Inconclusive,
        }
    }

    /// What a search found out, if one was made.
    pub fn findings(&self) -> Option<&Findings> {
        match &self.reply {
            Ok(Reply::Searched { findings, .. }) => Some(findings),
            _ => None,
        }
    }
}

/// Found if anything was, none if everything was covered for each query.
pub(crate) fn overall(answers: &[Answer]) -> Verdict {
    let verdicts: Vec<Verdict> = answers.iter().map(Answer::verdict).collect();
    if verdicts.contains(&Verdict::Found) {
        Verdict::Found
    } else if verdicts.contains(&Verdict::Inconclusive) {
        Verdict::Inconclusive
    } else {
        Verdict::None
    }
}
