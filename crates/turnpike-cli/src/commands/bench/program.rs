//! Benchmarks of executing programs: Rust programs that others measure too, and a small C program
//! with a fork for each execution.
//!
//! The column of states counts executions, and the column of transitions counts steps.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use turnpike_runtime::bench::{Promise, Speed, shapes};
use turnpike_scheduler::{Execution, Executor, GuestError, Plan, Policy};

use super::measure::best;
use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};
use crate::output;

const SMALL: &str = include_str!("small.c");

/// Promised: steps per second with few threads, what shuttle does on a machine like the one this was made on.
const STEPS: f64 = 3.8e6;
/// Promised: short executions per second, the same.
const EXECUTIONS: f64 = 60_000.0;
/// Promised: executions of a small C program per second, fork included.
const FORKS: f64 = 1_500.0;

/// Measures all rows, and reports each as soon as it is known.
pub(super) fn measure(quick: bool, repeat: u32, tell: &mut dyn FnMut(&Row)) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        tell(&row);
        rows.push(row);
    };
    let least = Duration::from_millis(if quick { 20 } else { 1_000 });
    for mut shape in shapes() {
        if quick {
            shape.executions = shape.executions.div_ceil(100);
        }
        for policy in [Sampling::Random, Sampling::Pct] {
            let run = || {
                let policy = |seed| policy.policy(seed);
                turnpike_runtime::bench::measure(&shape, policy, least).map_err(failed)
            };
            let (time, speed) = best(repeat, run)?;
            let row = rust_row(policy, shape.name, speed, time);
            add(judged(row, shape.promise, policy, !quick));
        }
    }
    let folder =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))?;
    for hooks in [false, true] {
        if let Some(row) = c_row(folder.path(), hooks, least, repeat, !quick)? {
            add(row);
        }
    }
    Ok(rows)
}

fn failed(error: GuestError) -> Failure {
    Failure::usage(error.to_string())
}

#[derive(Clone, Copy, PartialEq)]
enum Sampling {
    Random,
    Pct,
}

impl Sampling {
    fn policy(self, seed: u64) -> Policy<'static> {
        match self {
            Sampling::Random => Policy::Uniform { seed },
            Sampling::Pct => Policy::Pct { seed, depth: 2, length: 10_000 },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Sampling::Random => "Rust, random",
            Sampling::Pct => "Rust, pct",
        }
    }
}

/// The time of a loop that goes on for a while says nothing: rates are of the last repetition's counts.
fn rust_row(sampling: Sampling, shape: &str, speed: Speed, time: Time) -> Row {
    let scale = speed.time.as_secs_f64() / time.seconds.max(1e-9);
    let cpu_seconds = time.cpu_seconds.map(|seconds| seconds * scale);
    let time = Time { seconds: speed.time.as_secs_f64(), cpu_seconds };
    Row::new(sampling.name(), shape, speed.executions, speed.steps, time)
}

/// Promises are about uniform random schedules.
fn judged(row: Row, promise: Option<Promise>, sampling: Sampling, judged: bool) -> Row {
    let Some(promise) = promise.filter(|_| sampling == Sampling::Random) else { return row };
    let seconds = row.cpu_seconds.unwrap_or(row.seconds).max(1e-9);
    let (steps, executions) = (row.transitions as f64 / seconds, row.states as f64 / seconds);
    match promise {
        Promise::Steps => {
            let text = format!("{:.1} million steps/s: {:.1}", STEPS / 1e6, steps / 1e6);
            row.promised(text, steps >= STEPS, judged)
        }
        Promise::Executions => {
            let text = format!("{EXECUTIONS:.0} executions/s: {executions:.0}");
            row.promised(text, executions >= EXECUTIONS, judged)
        }
    }
}

/// The small C program, if there is a compiler.
fn c_row(folder: &Path, hooks: bool, least: Duration, repeat: u32, judged: bool) -> Outcome<Option<Row>> {
    let Some(program) = compiled(folder, hooks) else {
        output::note("no C compiler was found (CC, or cc): C programs are not measured");
        return Ok(None);
    };
    let mut executor = launched(&program)?;
    let mut execution = Execution::default();
    let mut fastest: Option<(f64, u64, u64, f64)> = None;
    for _ in 0..repeat {
        let (begin, mut executions, mut steps) = (Instant::now(), 0, 0);
        while executions < 10 || begin.elapsed() < least {
            let plan = Plan { policy: Policy::Uniform { seed: executions }, ..Plan::new(&[]) };
            executor.run(&plan, &mut execution).map_err(failed)?;
            executions += 1;
            steps += execution.steps.len() as u64;
        }
        let seconds = begin.elapsed().as_secs_f64();
        let rate = executions as f64 / seconds.max(1e-9);
        if fastest.is_none_or(|(before, ..)| rate > before) {
            fastest = Some((rate, executions, steps, seconds));
        }
    }
    let Some((rate, executions, steps, seconds)) = fastest else { return Ok(None) };
    let name = if hooks { "C, memory visible" } else { "C" };
    let row = Row::new(name, "3 threads x 3 locks", executions, steps, Time { seconds, cpu_seconds: None });
    Ok(Some(if hooks {
        row
    } else {
        row.promised(format!("{FORKS:.0} executions/s: {rate:.0}"), rate >= FORKS, judged)
    }))
}

/// Compiles the program; `None` without a compiler.
pub(super) fn compiled(folder: &Path, hooks: bool) -> Option<std::path::PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&compiler);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(())
    };
    std::fs::write(folder.join("small.c"), SMALL).ok()?;
    if hooks {
        run(&["-g", "-O1", "-fsanitize=thread", "-c", "small.c", "-o", "small.o"])?;
        run(&[
            "small.o",
            "-pthread",
            "-rdynamic",
            "-Wl,--unresolved-symbols=ignore-in-object-files",
            "-o",
            "hooks",
        ])?;
        return Some(folder.join("hooks"));
    }
    run(&["-g", "-O1", "small.c", "-pthread", "-o", "small"])?;
    Some(folder.join("small"))
}

#[cfg(target_os = "linux")]
fn launched(program: &Path) -> Outcome<Box<dyn Executor>> {
    let program = turnpike_program::native::NativeProgram::new(program);
    Ok(Box::new(program.launch().map_err(failed)?))
}

#[cfg(not(target_os = "linux"))]
fn launched(_: &Path) -> Outcome<Box<dyn Executor>> {
    Err(Failure::usage("C programs can be executed on Linux only"))
}
