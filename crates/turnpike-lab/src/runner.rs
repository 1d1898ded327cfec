//! Runs what is missing.
//!
//! Workers take one run after the other, cell by cell; a model is read when its first run is due and dropped after its last.
//! Finished runs go through one channel to the thread that owns the database. What a run gives depends on its cell and number alone, so neither
//! the number of workers nor an interruption changes the results.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use turnpike_model::Diagnostic;

use crate::experiment::Cell;
use crate::store::{COMMIT_INTERVAL, CellId, CellKey, Record, Store};

/// Fewer runs than this say nothing: scaling does not go below, unless it is asked to or the experiment
/// itself has fewer.
pub const LEAST_RUNS: u64 = 5;

/// More workers than this help nobody.
const MOST_JOBS: usize = 256;

/// Whoever can search: reads models, and makes runs of them.
pub trait Workshop: Sync {
    /// The content hash of a cell's model, after all changes. Mistakes in flags and models are reported here.
    fn content(&self, cell: &Cell) -> Result<u64, Diagnostic>;

    /// Reads the models of these cells, and refuses searches that cannot begin.
    fn check(&self, cells: &[&Cell]) -> Result<(), Diagnostic>;

    /// Reads the model and makes the cell ready for its runs.
    fn prepare(&self, cell: &Cell) -> Result<Arc<dyn Job>, Diagnostic>;
}

/// A cell that is ready.
pub trait Job: Send + Sync {
    /// Makes the cell's run with this number. `Ok(None)`: interrupted, nothing can be said.
    fn run(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<Record>, Diagnostic>;
}

/// What is to be run, and how.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Workers.
    pub jobs: usize,
    /// Factor on the number of runs.
    pub scale: f64,
    /// The fewest runs of a cell, as [`scaled`] has them.
    pub least: u64,
}

/// What happened so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Runs that were asked for.
    pub asked: u64,
    /// Runs that are there.
    pub done: u64,
    /// Of these, made now.
    pub new: u64,
    /// The cell of the latest one.
    pub cell: Option<&'a Cell>,
}

/// The number of runs of a cell: this share of its runs, but at least `least` if it has as many.
pub fn scaled(runs: u64, scale: f64, least: u64) -> u64 {
    ((runs as f64 * scale).round() as u64).max(runs.min(least.max(1)))
}

/// A cell with the runs that are missing.
struct Open {
    index: usize,
    id: CellId,
    /// Of the model, when the lab began.
    content: u64,
    missing: VecDeque<u64>,
    job: Option<Arc<dyn Job>>,
}

/// The cells of one experiment.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// Of turnpike.
    pub version: &'a str,
    /// What is to be run.
    pub cells: &'a [Cell],
}

/// The runs of a series that the database does not have.
pub struct Missing<'a> {
    cells: &'a [Cell],
    open: VecDeque<Open>,
    asked: u64,
    done: u64,
}

impl<'a> Missing<'a> {
    /// Finds them. Mistakes in flags are reported now; those that only a model shows, by [`Missing::check`].
    pub fn find(
        series: Series<'a>,
        workshop: &dyn Workshop,
        store: &mut Store,
        scale: f64,
        least: u64,
    ) -> Result<Self, Diagnostic> {
        let Series { experiment, version, cells } = series;
        let mut missing = Missing { cells, open: VecDeque::new(), asked: 0, done: 0 };
        for (index, cell) in cells.iter().enumerate() {
            let content = workshop.content(cell)?;
            let id = store.cell(&key(experiment, version, cell, content))?;
            let there = store.numbers(id)?;
            let wanted = scaled(cell.runs, scale, least);
            let numbers: VecDeque<u64> =
                (0..wanted).filter(|number| there.binary_search(number).is_err()).collect();
            missing.asked += wanted;
            missing.done += wanted - numbers.len() as u64;
            if !numbers.is_empty() {
                missing.open.push_back(Open { index, id, content, missing: numbers, job: None });
            }
        }
        Ok(missing)
    }

    /// Refuses runs that cannot begin: a mistake in the last cell is reported before the first run.
    pub fn check(&self, workshop: &dyn Workshop) -> Result<(), Diagnostic> {
        let cells: Vec<&Cell> = self.open.iter().map(|open| &self.cells[open.index]).collect();
        workshop.check(&cells)
    }

    /// Makes them. Returns the number of new runs; an interrupted lab has fewer than were missing.
    pub fn run(
        self,
        workshop: &dyn Workshop,
        store: &mut Store,
        jobs: usize,
        interrupt: &AtomicBool,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<u64, Diagnostic> {
        let Missing { cells, open, asked, done } = self;
        report(Progress { asked, done, new: 0, cell: None });
        let queue = Mutex::new(open);
        let stop = AtomicBool::new(false);
        let mut new = 0;
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            for _ in 0..jobs.clamp(1, MOST_JOBS) {
                let (sender, queue, stop) = (sender.clone(), &queue, &stop);
                scope.spawn(move || work(queue, cells, workshop, &sender, stop, interrupt));
            }
            drop(sender);
            let outcome = collect(&receiver, store, &mut |index| {
                new += 1;
                report(Progress { asked, done: done + new, new, cell: Some(&cells[index]) });
            });
            // Whatever went wrong, nobody begins another run.
            stop.store(true, Ordering::Relaxed);
            outcome
        })?;
        Ok(new)
    }
}

/// Makes all runs that the database does not have. Returns the number of new ones.
pub fn run(
    series: Series<'_>,
    workshop: &dyn Workshop,
    store: &mut Store,
    settings: Settings,
    interrupt: &AtomicBool,
    report: &mut dyn FnMut(Progress<'_>),
) -> Result<u64, Diagnostic> {
    let missing = Missing::find(series, workshop, store, settings.scale, settings.least)?;
    missing.check(workshop)?;
    missing.run(workshop, store, settings.jobs, interrupt, report)
}

/// What a cell's results are filed under.
pub fn key(experiment: &str, version: &str, cell: &Cell, content: u64) -> CellKey {
    CellKey {
        experiment: experiment.to_owned(),
        model: cell.model.clone(),
        strategy: cell.strategy.clone(),
        flags: cell.words().join("\u{1f}"),
        content,
        source: cell.setting.source.clone(),
        stand_in: cell.setting.stand_in,
        version: version.to_owned(),
    }
}

type Finished = Result<(usize, CellId, Record), Diagnostic>;

fn work(
    queue: &Mutex<VecDeque<Open>>,
    cells: &[Cell],
    workshop: &dyn Workshop,
    sender: &Sender<Finished>,
    stop: &AtomicBool,
    interrupt: &AtomicBool,
) {
    while !stop.load(Ordering::Relaxed) && !interrupt.load(Ordering::Relaxed) {
        let (index, id, number, job) = match next(queue, cells, workshop) {
            None => return,
            Some(Ok(next)) => next,
            Some(Err(error)) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        let finished = match job.run(number, interrupt) {
            Ok(Some(record)) => Ok((index, id, record)),
            Ok(None) => return,
            Err(error) => Err(named(error, &cells[index], number)),
        };
        let failed = finished.is_err();
        if sender.send(finished).is_err() || failed {
            return;
        }
    }
}

type Due = (usize, CellId, u64, Arc<dyn Job>);

/// The next run: cell, number, and the means to make it.
fn next(
    queue: &Mutex<VecDeque<Open>>,
    cells: &[Cell],
    workshop: &dyn Workshop,
) -> Option<Result<Due, Diagnostic>> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let front = queue.front_mut()?;
        let Some(number) = front.missing.pop_front() else {
            queue.pop_front();
            continue;
        };
        let job = match &front.job {
            Some(job) => Arc::clone(job),
            None => match prepared(workshop, &cells[front.index], front.content) {
                Ok(job) => Arc::clone(front.job.insert(job)),
                Err(error) => return Some(Err(error)),
            },
        };
        return Some(Ok((front.index, front.id, number, job)));
    }
}

/// Reads a model, which must still be what its results are filed under.
fn prepared(workshop: &dyn Workshop, cell: &Cell, content: u64) -> Result<Arc<dyn Job>, Diagnostic> {
    let job = workshop.prepare(cell)?;
    if workshop.content(cell)? == content {
        return Ok(job);
    }
    let message = format!("the model of `{}` was changed while the lab was running", cell.model);
    Err(Diagnostic::error(message)
        .help("start the lab again: its results so far are kept under the old content"))
}

/// Files finished runs until all workers are gone.
fn collect(
    receiver: &Receiver<Finished>,
    store: &mut Store,
    filed: &mut dyn FnMut(usize),
) -> Result<(), Diagnostic> {
    let outcome = loop {
        match receiver.recv_timeout(COMMIT_INTERVAL) {
            Ok(Ok((index, id, record))) => match store.add(id, &record) {
                Ok(()) => filed(index),
                Err(error) => break Err(error),
            },
            Ok(Err(error)) => break Err(error),
            // Long runs: what is there is made permanent while waiting.
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = store.commit() {
                    break Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        }
    };
    outcome.and(store.commit())
}

fn named(mut error: Diagnostic, cell: &Cell, number: u64) -> Diagnostic {
    error.message = format!("{}, run {number}: {}", cell.name(), error.message);
    error
}

#[cfg(test)]
mod tests;
