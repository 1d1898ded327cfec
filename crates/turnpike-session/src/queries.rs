//! Queries about timed automata. Each is a separate search with suitable zones; the answer depends
//! on what a witness means for the query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use turnpike_model::Diagnostic;
use turnpike_search::strategy::Dfs;
use turnpike_search::{Objective, Strategy, Verdict};
use turnpike_timed::network::QueryText;
use turnpike_timed::query;

use crate::conclusion::Conclusion;
use crate::extremes;
use crate::plan::{Plan, build_strategy};
use crate::problem::Problem;
use crate::purpose::Purpose;
use crate::report::{Answer, Outcome, Reply, Report, overall};
use crate::request::{Expect, Goals, Search};
use crate::run::Observer;
use crate::session::Session;
use crate::timed::{Timed, read_queries};

impl Session {
    /// The queries of the request, or those of the model itself if the request has no objective.
    pub(crate) fn queries(&self, goals: &Goals) -> Result<Option<Vec<QueryText>>, Problem> {
        let asked = match (goals.queries.is_empty(), &goals.query_file) {
            (false, _) => Some("query"),
            (true, Some(_)) => Some("queries"),
            (true, None) => None,
        };
        if asked.is_none() && !goals.find.is_empty() {
            return Ok(None);
        }
        let Some(timed) = self.timed() else { return self.refuse_queries(asked).map(|()| None) };
        let text = |text: &String| QueryText { text: text.clone(), comment: String::new(), expect: None };
        let mut queries: Vec<QueryText> = goals.queries.iter().map(text).collect();
        if let Some(file) = &goals.query_file {
            let of_file = read_queries(file)?;
            if of_file.is_empty() && queries.is_empty() {
                return Err(Problem::new(format!("{file} has no queries")));
            }
            queries.extend(of_file);
        }
        if asked.is_none() {
            queries = timed.queries()?;
        }
        Ok((!queries.is_empty()).then_some(queries))
    }

    /// Refuses queries about systems other than timed automata.
    fn refuse_queries(&self, asked: Option<&str>) -> Result<(), Problem> {
        let Some(option) = asked else { return Ok(()) };
        if self.is_program() {
            return Err(Problem::new(format!(
                "the option `{option}` is for timed automata, not for programs"
            )));
        }
        let message = format!(
            "the option `{option}` is for timed automata, but {} is not a timed automaton",
            self.name()
        );
        Err(Diagnostic::error(message).help("look for an objective, which works with any model").into())
    }

    /// Answers all queries. A wrong one does not prevent answering the others, but a single wrong
    /// one fails the request.
    pub(crate) fn answer_all(
        &self,
        search: &Search,
        queries: Vec<QueryText>,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
        started: Instant,
    ) -> Result<Report, Problem> {
        if let Some(wrong @ (Expect::Found | Expect::None)) = search.goals.expect {
            let message = format!("`{}` is not the result of a query", crate::Choice::word(wrong));
            let error = Diagnostic::error(message);
            return Err(error.help("the option `expect` takes satisfied, not-satisfied or any here").into());
        }
        observer.begins(self.name(), self.text_warnings().len(), &[]);
        let alone = queries.len() == 1;
        let mut answers: Vec<Answer> = Vec::new();
        for query in queries {
            let begun = Instant::now();
            let reply = match self.answer(search, &query, observer, interrupt) {
                Err(problem) if alone => return Err(problem),
                reply => reply,
            };
            let conclusion = Conclusion::of_reply(&reply, query.expect, &search.goals);
            let mut answer = Answer { query, reply, conclusion, seconds: begun.elapsed().as_secs_f64() };
            if let Ok(Reply::Searched { findings, .. }) = &mut answer.reply {
                findings.seconds = answer.seconds;
            }
            observer.answered(&answer)?;
            answers.push(answer);
        }
        Ok(Report {
            model: self.name().to_owned(),
            verdict: overall(&answers),
            conclusion: Conclusion::of_answers(&answers),
            interrupted: interrupt.load(Ordering::Relaxed),
            seconds: started.elapsed().as_secs_f64(),
            text_warnings: self.text_warnings().to_vec(),
            outcome: Outcome::Queries(answers),
        })
    }

    fn answer(
        &self,
        search: &Search,
        query: &QueryText,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<Reply, Problem> {
        let timed: &Timed = self.timed().ok_or_else(|| Problem::new("queries are for timed automata"))?;
        let finer = timed.refined(self.reading(), &[&query.text])?;
        let timed = finer.as_ref().unwrap_or(timed);
        let pointing = |error: Diagnostic| {
            let names_file = query.text.ends_with(".q") && !query.text.contains(' ');
            let help = "to read queries from a file, use the option `queries`";
            let error = if names_file { error.help(help) } else { error };
            Problem::from(error).in_text(query.text.as_str())
        };
        if let Some(question) = extremes::question(timed, &query.text).map_err(pointing)? {
            let measured = extremes::measure(timed, self.reading(), &question, &search.limits, interrupt)?;
            return Ok(Reply::Measured(measured));
        }
        let asked = query::Asked::new(&timed.names, &timed.network, &query.text).map_err(pointing)?;
        let objective: Objective = asked.objective.parse()?;
        let about_runs = objective.is_accepting();
        let purpose =
            Purpose { non_zeno: search.goals.non_zeno, ..Purpose::of(std::slice::from_ref(&objective)) };
        let prepared = self.prepare(&purpose)?;
        // The portfolio does not search for cycles. Depth first decides whether there is one.
        let strategy = match search.strategy.descriptor()?.name {
            "auto" if about_runs => Strategy::from(Dfs::default()),
            _ => build_strategy(search, prepared.model.info())?,
        };
        let mut traits = self.traits();
        // Cycles may lead through covered states.
        traits.cover &= !about_runs;
        let plan = Plan::new(prepared.model.clone(), strategy, search, vec![objective], traits)?;
        let plan = plan.shared_out(self.processes.as_ref(), search);
        let mut findings = self.findings(&plan, &prepared, observer, interrupt)?;
        // Those about the text were reported before the first query.
        findings.warnings = prepared.warnings[timed.warnings.len()..].to_vec();
        findings.warnings.extend(plan.warnings.iter().cloned());
        let satisfied = match findings.verdict {
            Verdict::Found => Some(asked.satisfied_if_found),
            Verdict::None => Some(!asked.satisfied_if_found),
            Verdict::Measured | Verdict::Inconclusive => None,
        };
        let rests = findings.witness().is_some_and(|witness| prepared.comes_to_rest(&witness.trace));
        let moves = findings.verdict == Verdict::Found && !rests;
        findings.zeno = prepared.zeno.filter(|zeno| zeno.is_worth_mentioning(moves, search.goals.non_zeno));
        Ok(Reply::Searched { findings: Box::new(findings), satisfied })
    }
}
