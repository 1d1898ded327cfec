//! Bounds on a search, as flags.

use std::time::Duration;

use turnpike_model::Diagnostic;
use turnpike_search::{Limits, resources};

use super::values;
use crate::failure::Outcome;
use crate::output;

/// Bounds that a search or a generation keeps to.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Expand at most this many states
    #[arg(long, value_name = "N", value_parser = values::count::<u64>)]
    pub(crate) max_states: Option<u64>,
    /// Expand no state at this depth or deeper
    #[arg(long, value_name = "N", value_parser = values::count::<u32>)]
    pub(crate) max_depth: Option<u32>,
    /// Programs: execute at most this many times, shortening not included
    #[arg(long, value_name = "N", value_parser = values::positive::<u64>)]
    pub(crate) max_executions: Option<u64>,
    /// Stop after this time, such as 30s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) max_time: Option<Duration>,
    /// Stop at this much memory, such as 4G [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_memory: Option<u64>,
}

impl LimitArgs {
    /// The limits, unless they are beyond the machine.
    pub(crate) fn limits(&self) -> Outcome<Limits> {
        if let Some(bytes) = self.max_memory {
            within_machine("--max-memory", bytes)?;
        }
        Ok(Limits {
            states: self.max_states,
            depth: self.max_depth,
            executions: self.max_executions,
            time: self.max_time,
            memory: self.max_memory,
        })
    }
}

/// Refuses a size that is more than the machine has.
pub(crate) fn within_machine(flag: &str, asked: u64) -> Outcome<()> {
    match resources::machine_bytes() {
        Some(machine) if asked > machine => Err(Diagnostic::error(format!(
            "{flag} asks for {}, but this machine has {}",
            output::bytes(asked),
            output::bytes(machine)
        ))
        .help("without limits a search stops at three quarters of the machine's memory")
        .into()),
        _ => Ok(()),
    }
}

/// Threads when none are asked for: all cores.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
