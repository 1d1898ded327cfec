//! The results of requests. serde serialises them completely, for clients that pass them on.

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

/// The result of a request.
#[derive(Serialize)]
pub struct Report {
    /// The name of the source for users.
    pub model: String,
    /// The verdict on everything together.
    pub verdict: Verdict,
    /// Whether the result is as expected.
    pub conclusion: Conclusion,
    /// Whether the client interrupted it.
    pub interrupted: bool,
    /// Wall-clock time.
    pub seconds: f64,
    /// Warnings about the text of the source.
    #[serde(serialize_with = "problem::diagnostics")]
    pub text_warnings: Vec<Diagnostic>,
    /// The results.
    pub outcome: Outcome,
}

/// The results of a request.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result of one search, possibly with many runs.
    Search(Box<Findings>),
    /// Answers to queries, in the order of the request.
    Queries(Vec<Answer>),
    /// Verdicts on formulas, in the order of the request.
    Formulas(Vec<FormulaAnswer>),
}

/// The results of one search.
#[derive(Serialize)]
pub struct Findings {
    /// The system, with its parameters.
    pub model: String,
    /// The strategy.
    pub strategy: &'static str,
    /// The objectives.
    #[serde(serialize_with = "objectives::serialize")]
    pub objectives: Vec<Objective>,
    /// Whether the store is exact, so that absence can be proved.
    pub exact: bool,
    /// The requested number of runs.
    pub runs_asked: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The completed runs, in order.
    pub runs: Vec<RunReport>,
    /// Warnings about probable mistakes.
    #[serde(serialize_with = "problem::diagnostics")]
    pub warnings: Vec<Diagnostic>,
    /// The reason why complete exploration is not a proof.
    pub left_out: Option<String>,
    /// The bound on schedules, such as `2 preemptions`, if nothing else was left out.
    pub bound: Option<String>,
    /// Advice if executions were cut and nothing was found.
    pub advice: Vec<String>,
    /// The signatures of suppressed errors, each with whether it occurred.
    pub suppressed: Vec<(String, bool)>,
    /// The scope of the search, if it is restricted.
    pub scope: Option<Scope>,
    /// Information about time along a cycle that was found, if relevant.
    pub zeno: Option<Zeno>,
    /// The results that only programs have.
    pub program: Option<ProgramFindings>,
    /// Wall-clock time.
    pub seconds: f64,
}

impl Findings {
    /// The verdict on each of several objectives, if all of them were searched for and witnesses
    /// show which were met; otherwise empty.
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

/// The restricted scope of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scope {
    /// Synchronisation of a program, but not its memory accesses.
    Synchronisation {
        /// Whether memory accesses are visible, but were not requested.
        by_request: bool,
    },
}

/// The results of a search for a program.
#[derive(Serialize)]
pub struct ProgramFindings {
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// The hash of the program, its arguments and its visibility, as in traces.
    pub hash: u64,
    /// The incidents that witnesses show, that of the best witness first.
    pub incidents: Vec<Shown>,
    /// Whether the failure under weak memory exists under stronger memory.
    pub elsewhere: Vec<Elsewhere>,
}

/// The incident shown by the witness with these choices.
#[derive(Serialize)]
pub struct Shown {
    choices: Vec<u32>,
    /// The incident.
    #[serde(serialize_with = "incident::serialize")]
    pub incident: Incident,
}

/// A query with its result.
#[derive(Serialize)]
pub struct Answer {
    /// The query.
    #[serde(serialize_with = "query_text")]
    pub query: QueryText,
    /// The answer, or why there is none.
    #[serde(serialize_with = "reply_or_problem")]
    pub reply: Result<Reply, Problem>,
    /// Whether the result is as expected.
    pub conclusion: Conclusion,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The answer to a query.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The result of a search.
    Searched {
        /// The results of the search.
        findings: Box<Findings>,
        /// Whether the query holds; `None` if unknown.
        satisfied: Option<bool>,
    },
    /// The result of measuring all states.
    Measured(Extremes),
}

impl Findings {
    /// All warnings, including that about time.
    pub fn all_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.iter().cloned().chain(self.zeno.and_then(Zeno::warning)).collect()
    }

    /// The best witness, from the first run that has it.
    pub fn witness(&self) -> Option<&WitnessReport> {
        self.runs.iter().find_map(|run| run.witness.as_ref())
    }

    /// The witnesses to show and to keep, the best first. Of several runs, those of the run with
    /// the shortest witness.
    pub fn best_witnesses(&self) -> &[WitnessReport] {
        match Summary::of(&self.runs).best {
            Some((_, run, best)) if run.witnesses.is_empty() => std::slice::from_ref(best),
            Some((_, run, _)) => &run.witnesses,
            None => &[],
        }
    }

    /// The incident of a witness of a program.
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

/// Serialises either the reply by its name, or `problem`.
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
    /// The verdict on this query.
    pub fn verdict(&self) -> Verdict {
        match &self.reply {
            Ok(Reply::Searched { findings, .. }) => findings.verdict,
            Ok(Reply::Measured(extremes)) => extremes.verdict(),
            Err(_) => Verdict::Inconclusive,
        }
    }

    /// The results of the search, if there was one.
    pub fn findings(&self) -> Option<&Findings> {
        match &self.reply {
            Ok(Reply::Searched { findings, .. }) => Some(findings),
            _ => None,
        }
    }
}

/// Found if any witness was found, none if everything was covered for each query.
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
