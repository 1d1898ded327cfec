//! The thread that steps through the system. Everyone on a page asks it, one after the other: a view
//! of a system belongs to one thread. Each page has its own tree of visited states.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;
use turnpike_model::{Model, StepError, Trace};
use turnpike_program::ProgramModel;
use turnpike_session::{Prepared, Problem, Simulation, Visit, replay};

use crate::refusal::Refusal;

/// States that are kept for a page at most; after that it has to be loaded anew.
const MOST_VISITS: usize = 200_000;
/// Pages whose states are kept; the one that asked longest ago is forgotten.
const MOST_PAGES: usize = 8;

/// The number that a page gave itself.
pub(crate) type PageNumber = u64;

type Job = Box<dyn for<'m> FnOnce(&mut Pages<'m>) + Send>;

/// Asks the thread that steps.
#[derive(Clone)]
pub(crate) struct Stepper {
    jobs: Sender<Job>,
    program: Option<Arc<ProgramModel>>,
    /// Where pages begin.
    start: Visit,
}

/// What the pages visited.
struct Pages<'m> {
    model: &'m dyn Model,
    /// The choices to where pages begin.
    start: Vec<u32>,
    /// In the order in which they asked last.
    pages: Vec<(PageNumber, Simulation<'m>)>,
}

impl<'m> Pages<'m> {
    /// The states that a page visited; at least those with which it begins.
    fn of_page(&mut self, number: PageNumber) -> Result<&mut Simulation<'m>, StepError> {
        let page = match self.pages.iter().position(|(own, _)| *own == number) {
            Some(place) => self.pages.remove(place),
            None => {
                let mut simulation = Simulation::new(self.model)?.with_most_visits(MOST_VISITS);
                simulation.follow(Visit::INITIAL, &self.start).1?;
                (number, simulation)
            }
        };
        if self.pages.len() >= MOST_PAGES {
            self.pages.remove(0);
        }
        let last = self.pages.len();
        self.pages.push(page);
        Ok(&mut self.pages[last].1)
    }
}

impl Stepper {
    /// Starts the thread. Pages begin at the end of `trace`, if there is one.
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
            let choices = start.as_ref().map(|&visit| simulation.choices(visit)).unwrap_or_default();
            let _ = tell.send(start);
            let mut pages = Pages { model: &*model, start: choices, pages: Vec::new() };
            for job in work {
                job(&mut pages);
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

    /// Where pages begin.
    pub(crate) fn beginning(&self) -> Visit {
        self.start
    }

    /// Asks something about a state that a page visited.
    pub(crate) async fn ask_about<T: Send + 'static>(
        &self,
        page: PageNumber,
        number: u32,
        question: impl FnOnce(&mut Simulation<'_>, Visit) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.ask(page, move |simulation| {
            let visit = simulation.visit(number);
            let visit = visit.ok_or_else(|| Refusal::unknown(format!("state {number} was not visited")))?;
            question(simulation, visit)
        })
        .await
    }

    /// Follows a witness of a search.
    pub(crate) async fn follow(&self, page: PageNumber, trace: Trace) -> Result<Visit, Refusal> {
        let program = self.program.is_some();
        self.ask(page, move |simulation| follow(simulation, program, &trace).map_err(Refusal::wrong)).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        page: PageNumber,
        question: impl FnOnce(&mut Simulation<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let ask = move |pages: &mut Pages<'_>| {
            let simulation = pages.of_page(page)?;
            let outcome = question(simulation);
            if simulation.take_fullness() {
                let message = format!("this page visited {MOST_VISITS} states: load it anew");
                return Err(Refusal::too_much(message));
            }
            outcome
        };
        let job = move |pages: &mut Pages<'_>| drop(answer.send(ask(pages)));
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
