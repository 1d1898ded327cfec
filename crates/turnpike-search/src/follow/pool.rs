//! Follows many paths on any number of threads with the same result.
//!
//! The paths of a batch are planned in advance, so that none depends on another. Helper threads
//! take the next ones, and the caller consumes the results strictly in order. Results after the one
//! that ends the search are dropped.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnpike_model::StepError;
use turnpike_model::paths::{Paths, Request};

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// Paths that a helper takes at once.
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

impl<T: Send> Batch<'_, '_, T> {
    /// Follows all, and hands the results to `consume` in order until it leaves.
    pub(crate) fn follow(
        &self,
        run: &mut Run<'_>,
        consume: &mut dyn FnMut(&mut Run<'_>, usize, T) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if run.team.threads < 2 || self.count < LEAST {
            return self.one_by_one(run, consume);
        }
        while run.team.paths.len() < run.team.threads {
            let Some(paths) = run.model.paths() else { break };
            run.team.paths.push(paths);
        }
        let mut helpers = std::mem::take(&mut run.team.paths);
        let results = self.together(run, &mut helpers);
        run.team.paths = helpers;
        let mut expected = 0;
        for (index, result) in results {
            if index != expected {
                break;
            }
            expected += 1;
            run.admit_execution()?;
            let digest = result.map_err(|error| run.execution_error(error))?;
            consume(run, index, digest)?;
        }
        if expected < self.count {
            // Time was up, or the user interrupted.
            run.admit_execution()?;
            return Err(Halt::Stop(StopReason::MaxTime));
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

    /// The results by number, as far as they are needed.
    fn together<'m>(
        &self,
        run: &Run<'_>,
        helpers: &mut [Box<dyn Paths + 'm>],
    ) -> Vec<(usize, Result<T, StepError>)> {
        let next = AtomicUsize::new(0);
        // The first one behind which nothing is needed.
        let last = AtomicUsize::new(self.count);
        let results = Mutex::new(Vec::with_capacity(self.count));
        let deadline = run.deadline();
        let interrupt = run.control.interrupt;
        let out_of_time = || {
            interrupt.load(Ordering::Relaxed) || deadline.is_some_and(|at| std::time::Instant::now() >= at)
        };
        std::thread::scope(|scope| {
            for paths in helpers {
                let (next, last, results, out_of_time) = (&next, &last, &results, &out_of_time);
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    'work: loop {
                        let start = next.fetch_add(PORTION, Ordering::Relaxed);
                        for index in start..(start + PORTION).min(self.count) {
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
                        if start >= self.count {
                            break;
                        }
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results
    }
}
