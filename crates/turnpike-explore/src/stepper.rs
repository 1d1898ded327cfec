//! The thread that steps through the system. Everyone on the page asks it, one after the other: a view
//! of a system belongs to one thread.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;
use turnpike_model::{Model, Trace};
use turnpike_program::ProgramModel;
use turnpike_session::{Prepared, Problem, Simulation, Visit, replay};

use crate::refusal::Refusal;

/// States that are kept at most; after that the user has to begin anew.
const MOST_VISITS: usize = 200_000;

type Job = Box<dyn for<'m> FnOnce(&mut Simulation<'m>) + Send>;

/// Asks the thread that steps.
#[derive(Clone)]
pub(crate) struct Stepper {
    jobs: Sender<Job>,
    program: Option<Arc<ProgramModel>>,
    /// Where the page begins.
    start: Visit,
}

impl Stepper {
    /// Starts the thread. The page begins at the end of `trace`, if there is one.
    pub(crate) fn start(prepared: &Prepared, trace: Option<&Trace>) -> Result<Self, Problem> {
        let (model, program) = (Arc::clone(&prepared.model), prepared.program.clone());
        let (jobs, work) = channel::<Job>();
        let (tell, started) = channel();
        let first = trace.cloned();
        std::thread::spawn(move || {
            let mut simulation = match Simulation::new(&*model) {
                Ok(simulation) => simulation,
                Err(error) => return drop(tell.send(Err(error.to_string()))),
            };
            let start = match first {
                Some(trace) => follow(&mut simulation, program.is_some(), &trace),
                None => Ok(Visit::INITIAL),
            };
            let _ = tell.send(start);
            for job in work {
                job(&mut simulation);
            }
        });
        let name = &prepared.model.info().name;
        let start = started.recv().map_err(|_| Problem::new("the model cannot be stepped through"))?;
        let start = start.map_err(|error| Problem::new(error).in_file(name.clone()))?;
        Ok(Stepper { jobs, program: prepared.program.clone(), start })
    }

    /// The program that is stepped through, if it is one.
    pub(crate) fn program(&self) -> Option<&Arc<ProgramModel>> {
        self.program.as_ref()
    }

    /// Where the page begins.
    pub(crate) fn beginning(&self) -> Visit {
        self.start
    }

    /// Asks something about a state that was visited.
    pub(crate) async fn ask_about<T: Send + 'static>(
        &self,
        number: u32,
        question: impl FnOnce(&mut Simulation<'_>, Visit) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.ask(move |simulation| {
            let visit = simulation.visit(number);
            let visit = visit.ok_or_else(|| Refusal::unknown(format!("state {number} was not visited")))?;
            if simulation.visited() >= MOST_VISITS {
                let message = format!("{MOST_VISITS} states were visited: start turnpike again");
                return Err(Refusal::too_much(message));
            }
            question(simulation, visit)
        })
        .await
    }

    /// Follows a witness of a search.
    pub(crate) async fn follow(&self, trace: Trace) -> Result<Visit, Refusal> {
        let program = self.program.is_some();
        self.ask(move |simulation| follow(simulation, program, &trace).map_err(Refusal::wrong)).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Simulation<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let job = move |simulation: &mut Simulation<'_>| drop(answer.send(question(simulation)));
        self.jobs.send(Box::new(job)).map_err(|_| Refusal::broken())?;
        answered.await.map_err(|_| Refusal::broken())?
    }
}

/// Goes where a trace leads. Schedules of programs are choices; other traces are followed by their
/// labels and states, because the choices may be those of a coarser view.
fn follow(simulation: &mut Simulation<'_>, program: bool, trace: &Trace) -> Result<Visit, String> {
    let choices = |trace: &Trace| -> Vec<u32> { trace.steps.iter().filter_map(|step| step.choice).collect() };
    let choices = if program {
        choices(trace)
    } else {
        let model: &dyn Model = simulation.model();
        let replayed = replay(model, trace).map_err(|error| error.to_string())?;
        if let Some(at) = replayed.divergence {
            return Err(format!("the trace does not fit at step {}: {}", at.step, at.reason));
        }
        choices(&replayed.trace)
    };
    let (visit, outcome) = simulation.follow(Visit::INITIAL, &choices);
    outcome.map(|()| visit).map_err(|error| error.to_string())
}
