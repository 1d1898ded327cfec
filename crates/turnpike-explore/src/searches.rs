//! Searches that the page asks for. A search lives as long as the stream of its events: when the
//! page goes away, the stream is dropped and the search stops. A search that is stopped still
//! reports.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::sse;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::Stream;
use turnpike_model::{Diagnostic, Trace};
use turnpike_session::{
    Answer, Event, Findings, FormulaAnswer, GameProgress, Observer, Outcome, Problem, Reply, Report, Request,
    Session, WitnessReport,
};

use crate::formulas;
use crate::refusal::Refusal;
use crate::stepper::{PageNumber, Stepper};

/// Searches that run at the same time at most.
const MOST_SEARCHES: usize = 8;

/// The searches under way.
#[derive(Clone, Default)]
pub(crate) struct Searches(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    /// Searches that were begun.
    begun: u64,
    /// Those under way, by number, with what interrupts them.
    searches: Vec<(u64, Arc<AtomicBool>)>,
}

impl Searches {
    /// Begins a search.
    pub(crate) fn begin(
        &self,
        session: Arc<Session>,
        request: Request,
        stepper: Stepper,
        page: PageNumber,
    ) -> Result<EventStream, Refusal> {
        let interrupt = Arc::new(AtomicBool::new(false));
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.searches.len() >= MOST_SEARCHES {
            return Err(Refusal::too_much(format!("{MOST_SEARCHES} searches are running already")));
        }
        running.begun += 1;
        let number = running.begun;
        running.searches.push((number, Arc::clone(&interrupt)));
        drop(running);
        let under_way = UnderWay { searches: self.clone(), number };
        let (send, events) = unbounded_channel();
        let stop = Stop(Arc::clone(&interrupt));
        let handle = tokio::runtime::Handle::current();
        std::thread::spawn(move || {
            let teller = Teller { send };
            teller.tell("started", &json!({ "search": number, "command": request.command_line() }));
            let outcome = session.run(&request.search, &teller, &interrupt);
            let answer = handle.block_on(async {
                match outcome {
                    Ok(report) => {
                        report_json(&report, &Follower { session: Arc::clone(&session), stepper, page }).await
                    }
                    Err(problem) => problem_json(&problem),
                }
            });
            // A page that learns of the end must find that the search is over.
            drop(under_way);
            teller.tell("finished", &answer);
        });
        Ok(EventStream { events, _stop: stop })
    }

    /// Interrupts a search.
    pub(crate) fn stop(&self, number: u64) -> Result<(), Refusal> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = running.searches.iter().find(|(own, _)| *own == number);
        let (_, search) = found.ok_or_else(|| Refusal::unknown(format!("search {number} is not running")))?;
        search.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Stops all searches.
    pub(crate) fn stop_all(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.searches.iter().for_each(|(_, search)| search.store(true, Ordering::Relaxed));
    }
}

/// A search is on the list until this is dropped, also when its thread panics.
struct UnderWay {
    searches: Searches,
    number: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut running = self.searches.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.searches.retain(|(number, _)| *number != self.number);
    }
}

/// Stops a search when it is dropped.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The events of a search, for the page.
pub(crate) struct EventStream {
    events: UnboundedReceiver<sse::Event>,
    _stop: Stop,
}

impl Stream for EventStream {
    type Item = Result<sse::Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.events.poll_recv(context).map(|event| event.map(Ok))
    }
}

/// Passes on events. A page that went away is not an error.
struct Teller {
    send: UnboundedSender<sse::Event>,
}

impl Teller {
    fn tell(&self, name: &str, data: &impl Serialize) {
        if let Ok(event) = sse::Event::default().event(name).json_data(data) {
            let _ = self.send.send(event);
        }
    }
}

impl Observer for Teller {
    fn begins(&self, _model: &str, _text_warnings: usize, warnings: &[Diagnostic]) {
        for warning in warnings {
            self.tell("warning", &diagnostic_json(warning));
        }
    }

    fn event(&self, event: &Event) {
        match event {
            Event::Progress(_) | Event::Generation { .. } | Event::Shortening { .. } => {
                self.tell("progress", event);
            }
            _ => {}
        }
    }

    fn deciding(&self, progress: &GameProgress, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        self.tell("progress", &json!({ "event": "game", "states": progress.states, "seconds": seconds }));
    }

    fn judged(&self, answer: &FormulaAnswer) -> Result<(), Problem> {
        self.tell("answered", &json!({ "query": answer.formula.name() }));
        Ok(())
    }

    fn answered(&self, answer: &Answer) -> Result<(), Problem> {
        self.tell("answered", &json!({ "query": answer.query.text }));
        Ok(())
    }
}

/// Follows witnesses for the page that searches.
pub(crate) struct Follower {
    pub(crate) session: Arc<Session>,
    stepper: Stepper,
    page: PageNumber,
}

impl Follower {
    /// The state that a trace leads to, as the page knows it; null if it cannot be followed.
    pub(crate) async fn visit(&self, trace: Trace) -> Value {
        match self.stepper.follow(self.page, trace).await {
            Ok(visit) => visit.0.into(),
            Err(_) => Value::Null,
        }
    }
}

pub(crate) fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    json!({ "message": diagnostic.message, "help": diagnostic.help })
}

pub(crate) fn problem_json(problem: &Problem) -> Value {
    json!({ "problems": problem.diagnostics.iter().map(diagnostic_json).collect::<Vec<_>>() })
}

async fn report_json(report: &Report, follower: &Follower) -> Value {
    let mut answer = json!({
        "verdict": report.verdict,
        "interrupted": report.interrupted,
        "seconds": report.seconds,
    });
    match &report.outcome {
        Outcome::Search(findings) => answer["findings"] = findings_json(findings, follower).await,
        Outcome::Queries(answers) => {
            let mut all = Vec::new();
            for answer in answers {
                all.push(reply_json(answer, follower).await);
            }
            answer["answers"] = all.into();
        }
        Outcome::Formulas(answers) => {
            let mut all = Vec::new();
            for answer in answers {
                all.push(formulas::answer_json(answer, follower).await);
            }
            answer["formulas"] = all.into();
        }
    }
    answer
}

async fn reply_json(answer: &Answer, follower: &Follower) -> Value {
    let reply = match &answer.reply {
        Ok(Reply::Searched { findings, satisfied }) => {
            json!({ "satisfied": satisfied, "findings": findings_json(findings, follower).await })
        }
        Ok(Reply::Measured(extremes)) => {
            json!({ "measured": extremes.verdict(), "values": extremes.comparisons() })
        }
        Err(problem) => problem_json(problem),
    };
    json!({ "query": answer.query.text, "comment": answer.query.comment, "reply": reply })
}

async fn findings_json(findings: &Findings, follower: &Follower) -> Value {
    let run = findings.runs.last();
    let mut witnesses = Vec::new();
    for witness in findings.best_witnesses() {
        witnesses.push(witness_json(witness, follower).await);
    }
    json!({
        "strategy": findings.strategy,
        "verdict": findings.verdict,
        "objectives": findings.objectives.iter().map(|objective| objective.text()).collect::<Vec<_>>(),
        "states": run.map(|run| run.states),
        "transitions": run.map(|run| run.transitions),
        "depth": run.map(|run| run.depth),
        "stop": run.map(|run| run.stop),
        "stopped": run.map(|run| run.stop.describe()),
        "never_taken": run.map(|run| &run.never_taken),
        "extreme": run.map(|run| &run.extreme),
        "warnings": findings.all_warnings().iter().map(diagnostic_json).collect::<Vec<_>>(),
        "left_out": findings.left_out,
        "witnesses": witnesses,
    })
}

/// A witness, with the state at its end as the page knows it.
async fn witness_json(witness: &WitnessReport, follower: &Follower) -> Value {
    let trace: Trace = witness.trace.clone();
    let labels: Vec<&str> = witness.trace.labels().collect();
    let mut answer = json!({
        "objective": witness.objective,
        "length": witness.length,
        "original_length": witness.original_length,
        "shortest": witness.shortest,
        "loop": witness.loop_start,
        "labels": labels,
    });
    answer["visit"] = follower.visit(trace).await;
    answer
}
