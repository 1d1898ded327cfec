//! How much a run may take, and the clock.

use std::time::Instant;

use crate::error::Halt;
use crate::limits::{Limits, StopReason};
use crate::resources;

/// Seconds between two signs of life.
const PROGRESS_SECONDS: f64 = 0.2;

/// The limits of a run, as far as they are not about depth.
pub(super) struct Budget<'m> {
    limits: &'m Limits,
    /// Expansions, further bounded by a portfolio's share.
    pub(super) states: u64,
    /// The same for executions of a program.
    pub(super) executions: u64,
    memory: u64,
    started: Instant,
    last_progress: f64,
}

impl<'m> Budget<'m> {
    /// Without a limit on memory, the processes on a machine may take three quarters of it together.
    pub(super) fn new(limits: &'m Limits, neighbours: u64) -> Self {
        let usual = || resources::machine_bytes().map(|bytes| bytes / 4 * 3 / neighbours);
        let mut budget = Budget {
            limits,
            states: u64::MAX,
            executions: u64::MAX,
            memory: limits.memory.or_else(usual).unwrap_or(u64::MAX),
            started: Instant::now(),
            last_progress: 0.0,
        };
        budget.cap_states(u64::MAX);
        budget.cap_executions(u64::MAX);
        budget
    }

    pub(super) fn cap_states(&mut self, states: u64) {
        self.states = self.limits.states.unwrap_or(u64::MAX).min(states);
    }

    pub(super) fn cap_executions(&mut self, executions: u64) {
        self.executions = self.limits.executions.unwrap_or(u64::MAX).min(executions);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// When the time limit is reached.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.limits.time.and_then(|limit| self.started.checked_add(limit))
    }

    /// Stops when time or memory is used up. `report` is called now and then with the seconds since
    /// the start and the resident bytes.
    pub(super) fn look_at_the_clock(&mut self, report: impl FnOnce(f64, u64)) -> Result<(), Halt> {
        let seconds = self.seconds();
        if self.limits.time.is_some_and(|limit| seconds >= limit.as_secs_f64()) {
            return Err(Halt::Stop(StopReason::MaxTime));
        }
        if seconds - self.last_progress >= PROGRESS_SECONDS {
            self.last_progress = seconds;
            let bytes = resources::resident_bytes();
            report(seconds, bytes);
            if bytes > self.memory {
                return Err(Halt::Stop(StopReason::MaxMemory));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_the_memory_of_a_machine() {
        let unlimited = Limits::default();
        let alone = Budget::new(&unlimited, 1).memory;
        assert_eq!(Budget::new(&unlimited, 4).memory, alone / 4);
        let limited = Limits { memory: Some(1 << 30), ..Limits::default() };
        assert_eq!(Budget::new(&limited, 4).memory, 1 << 30, "a limit is for each process");
    }
}
