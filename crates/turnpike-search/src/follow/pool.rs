//! Follows many paths on any number of threads with the same result.
//!
//! The paths of a batch are planned in advance, so that none depends on another. Helper threads
//! take the next ones, and the caller consumes the results strictly in order. Results after the one
//! that ends the search are dropped. Several processes each follow a share of a batch, tell each other
//! what they kept of it, and consume the same results.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnpike_model::paths::{Paths, Request};
use turnpike_model::{StepError, StepErrorKind};

use crate::crew;
use crate::error::Halt;
use crate::exchange::Processes;
use crate::limits::StopReason;
use crate::run::Run;
use crate::wire::{Reader, Writer};

/// Paths that a helper takes at once, and neighbours that one process follows.
const PORTION: usize = 4;
/// Fewer paths are not worth a thread.
const LEAST: usize = 8;

/// A batch of paths.
pub(crate) struct Batch<'b, 'p, T> {
    /// How many.
    pub(crate) count: usize,
    /// What each is to follow.
    pub(crate) request: &'b (dyn Fn(usize) -> Request<'p> + Sync),
    /// What is kept of each.
    pub(crate) digest: &'b (dyn Fn(&mut dyn Paths) -> T + Sync),
    /// Whether those after it are not needed.
    pub(crate) last: &'b (dyn Fn(&T) -> bool + Sync),
}

/// What is kept of a path, also of one that another process followed.
pub(crate) trait Digest: Send + Sized {
    fn write(&self, out: &mut Writer);

    /// What another process wrote; `None` if that is something else.
    fn read(reader: &mut Reader<'_>) -> Option<Self>;
}

/// The results of paths, each with its number in the batch.
type Results<T> = Vec<(usize, Result<T, StepError>)>;

impl<T: Digest> Batch<'_, '_, T> {
    /// Follows all, and hands the results to `consume` in order until it leaves.
    pub(crate) fn follow(
        &self,
        run: &mut Run<'_>,
        consume: &mut dyn FnMut(&mut Run<'_>, usize, T) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let processes = run.options.processes.clone();
        if processes.is_none() && (run.team.threads < 2 || self.count < LEAST) {
            return self.one_by_one(run, consume);
        }
        let mut expected = 0;
        // Once more when something was met that does not end the search: what comes after it is missing then.
        while expected < self.count {
            let (results, stop) = match &processes {
                None => (self.on_threads(run, (expected..self.count).collect()), None),
                Some(processes) => self.in_all_processes(run, processes, expected)?,
            };
            let start = expected;
            for (index, result) in results {
                if index != expected {
                    break;
                }
                expected += 1;
                match &processes {
                    // What only this process knows stops all of them, below.
                    Some(_) => run.admit_counted_execution()?,
                    None => run.admit_execution()?,
                }
                let digest = result.map_err(|error| run.execution_error(error))?;
                consume(run, index, digest)?;
            }
            if let Some(stop) = stop {
                return Err(Halt::Stop(stop));
            }
            if expected == start {
                // Time was up, or the user interrupted.
                run.admit_execution()?;
                return Err(Halt::Stop(StopReason::MaxTime));
            }
        }
        Ok(())
    }

    fn one_by_one(
        &self,
        run: &mut Run<'_>,
        consume: &mut dyn FnMut(&mut Run<'_>, usize, T) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        for index in 0..self.count {
            run.admit_execution()?;
            let digest = (self.digest)(run.follow(&(self.request)(index))?);
            consume(run, index, digest)?;
        }
        Ok(())
    }

    /// Follows the paths with these numbers.
    fn on_threads(&self, run: &mut Run<'_>, wanted: Vec<usize>) -> Results<T> {
        if run.team.threads < 2 || wanted.len() < LEAST {
            let mut own: Vec<_> = run.paths.take().into_iter().collect();
            let results = self.together(run, &mut own, &wanted);
            run.paths = own.pop();
            return results;
        }
        while run.team.paths.len() < run.team.threads {
            let Some(paths) = run.model.paths() else { break };
            run.team.paths.push(paths);
        }
        let mut helpers = std::mem::take(&mut run.team.paths);
        let results = self.together(run, &mut helpers, &wanted);
        run.team.paths = helpers;
        results
    }

    /// Follows a share of the paths from number `first` on, and hears of the others. Also, why all processes
    /// stop behind them, if one of them has to.
    fn in_all_processes(
        &self,
        run: &mut Run<'_>,
        processes: &Processes,
        first: usize,
    ) -> Result<(Results<T>, Option<StopReason>), Halt> {
        let own = |index: &usize| index / PORTION % processes.count() == processes.index();
        let mut results = self.on_threads(run, (first..self.count).filter(own).collect());
        let stop = run.look_at_the_clock().and_then(|()| run.look_for_interrupt());
        let mut out = Writer::default();
        out.byte(crew::stop_code(&stop));
        out.count(results.len());
        for (index, result) in &results {
            out.count(*index);
            match result {
                Ok(digest) => {
                    out.byte(0);
                    digest.write(&mut out);
                }
                Err(error) => {
                    out.byte(if error.kind == StepErrorKind::Nondeterministic { 2 } else { 1 });
                    out.bytes(error.message.as_bytes());
                }
            }
        }
        let lost = |_| Halt::Stop(StopReason::ProcessLost);
        let parts = processes.exchange().gather(out.as_slice()).map_err(lost)?;
        let mut codes = Vec::new();
        for (from, part) in parts.iter().enumerate() {
            let mut reader = Reader::new(part);
            let garbled = || Halt::Stop(StopReason::ProcessLost);
            codes.push(reader.byte().ok_or_else(garbled)?);
            if from != processes.index() {
                results.extend(read_results(&mut reader).ok_or_else(garbled)?);
            }
        }
        results.sort_by_key(|(index, _)| *index);
        Ok((results, crew::outside_stop(codes.into_iter())))
    }

    /// The results of the paths with the numbers `wanted`, as far as they are needed.
    fn together<'m>(
        &self,
        run: &Run<'_>,
        helpers: &mut [Box<dyn Paths + 'm>],
        wanted: &[usize],
    ) -> Results<T> {
        let next = AtomicUsize::new(0);
        // The first one behind which nothing is needed.
        let last = AtomicUsize::new(self.count);
        let results = Mutex::new(Vec::with_capacity(wanted.len()));
        let deadline = run.deadline();
        let interrupt = run.control.interrupt;
        let out_of_time = || {
            interrupt.load(Ordering::Relaxed) || deadline.is_some_and(|at| std::time::Instant::now() >= at)
        };
        let work = |paths: &mut Box<dyn Paths + 'm>| {
            let mut mine = Vec::new();
            'work: loop {
                let start = next.fetch_add(PORTION, Ordering::Relaxed);
                for &index in wanted.iter().skip(start).take(PORTION) {
                    if index > last.load(Ordering::Relaxed) || out_of_time() {
                        break 'work;
                    }
                    let outcome = paths.follow(&(self.request)(index));
                    let result = outcome.map(|()| (self.digest)(&mut **paths));
                    if result.as_ref().map_or(true, |digest| (self.last)(digest)) {
                        last.fetch_min(index, Ordering::Relaxed);
                    }
                    mine.push((index, result));
                }
                if start >= wanted.len() {
                    break;
                }
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
        };
        match helpers {
            [alone] => work(alone),
            helpers => std::thread::scope(|scope| {
                let work = &work;
                for paths in helpers {
                    scope.spawn(move || work(paths));
                }
            }),
        }
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results
    }
}

/// The results that another process sent.
fn read_results<T: Digest>(reader: &mut Reader<'_>) -> Option<Results<T>> {
    let mut results = Vec::new();
    for _ in 0..reader.word()? {
        let index = reader.word()? as usize;
        let result = match reader.byte()? {
            0 => Ok(T::read(reader)?),
            1 => Err(StepError::new(reader.text()?)),
            _ => Err(StepError::nondeterministic(reader.text()?)),
        };
        results.push((index, result));
    }
    reader.is_empty().then_some(results)
}
