//! Benchmarks of executing programs: Rust programs that others measure too, small C programs, what weak
//! memory costs programs that do not use it, and what executions save that go on from earlier ones.
//!
//! The column of states counts executions, and the column of transitions counts steps.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use turnpike_runtime::bench::{Promise, Speed, sequential, shapes};
use turnpike_scheduler::{Execution, Executor, GuestError, Memory, Plan, Policy};

use super::measure::best;
use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};
use crate::output;

const SMALL: &str = include_str!("small.c");
const EARLY: &str = include_str!("early.c");
const ATOMICS: &str = include_str!("atomics.c");

/// Promised: steps per second with few threads, what shuttle does on a machine like the one this was made on.
const STEPS: f64 = 3.8e6;
/// Promised: short executions per second, the same.
const EXECUTIONS: f64 = 60_000.0;
/// Promised: executions of a small C program per second, fork included.
const FORKS: f64 = 1_500.0;

/// Promised: how much longer an execution may take under weak memory if it does not use it.
const WEAK: f64 = 1.5;

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
                turnpike_runtime::bench::measure(&shape, policy, Memory::Sc, least).map_err(failed)
            };
            let (time, speed) = best(repeat, run)?;
            let row = rust_row(policy.name(), shape.name, speed, time);
            add(judged(row, shape.promise, policy, !quick));
        }
    }
    let mut strong = None;
    for (memory, name) in [(Memory::Sc, "Rust, sc"), (Memory::Rc11, "Rust, rc11")] {
        let shape = sequential();
        let policy = |seed| Sampling::Random.policy(seed);
        let run = || turnpike_runtime::bench::measure(&shape, policy, memory, least).map_err(failed);
        let (time, speed) = best(repeat, run)?;
        let row = rust_row(name, shape.name, speed, time);
        let time = row.cpu_seconds.unwrap_or(row.seconds) / row.states as f64;
        add(compared(row, time, *strong.get_or_insert(time), memory, !quick));
    }
    let folder =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))?;
    let mut strong = None;
    for program in Compiled::all() {
        let Some(row) = program.row(folder.path(), least, repeat)? else { break };
        let rate = row.states as f64 / row.seconds.max(1e-9);
        add(match program.name {
            "C" => row.promised(format!("{FORKS:.0} executions/s: {rate:.0}"), rate >= FORKS, !quick),
            "C, sc" | "C, rc11" => {
                let strong = *strong.get_or_insert(1.0 / rate);
                compared(row, 1.0 / rate, strong, program.memory, !quick)
            }
            _ => row,
        });
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
fn rust_row(name: &str, shape: &str, speed: Speed, time: Time) -> Row {
    let scale = speed.time.as_secs_f64() / time.seconds.max(1e-9);
    let cpu_seconds = time.cpu_seconds.map(|seconds| seconds * scale);
    let time = Time { seconds: speed.time.as_secs_f64(), cpu_seconds };
    Row::new(name, shape, speed.executions, speed.steps, time)
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

/// A row of weak memory, next to the one of sequential consistency.
fn compared(row: Row, time: f64, strong: f64, memory: Memory, judged: bool) -> Row {
    if memory == Memory::Sc {
        return row;
    }
    let ratio = time / strong.max(1e-12);
    row.promised(format!("{WEAK} times the time of sc: {ratio:.2}"), ratio <= WEAK, judged)
}

/// A C program to measure.
struct Compiled {
    name: &'static str,
    model: &'static str,
    /// The text of its source, and whether it tells its memory accesses.
    source: &'static str,
    hooks: bool,
    /// How its executions are chosen.
    search: Search,
    memory: Memory,
    /// Whether executions may go on from copies of earlier ones.
    copies: bool,
}

/// How executions of a C program are chosen.
#[derive(Clone, Copy, PartialEq)]
enum Search {
    Random,
    /// One schedule after the other, depth first.
    DepthFirst,
}

impl Compiled {
    const SMALL: Compiled = Compiled {
        name: "C",
        model: "3 threads x 3 locks",
        source: SMALL,
        hooks: false,
        search: Search::Random,
        memory: Memory::Sc,
        copies: true,
    };
    const EARLY: Compiled = Compiled {
        name: "C, prefixes repeated",
        model: "100 steps with work before 3 threads",
        source: EARLY,
        search: Search::DepthFirst,
        copies: false,
        ..Compiled::SMALL
    };
    const ATOMICS: Compiled = Compiled {
        name: "C, sc",
        model: "seq_cst atomics, 3 threads x 18",
        source: ATOMICS,
        hooks: true,
        ..Compiled::SMALL
    };

    fn all() -> [Compiled; 6] {
        [
            Compiled::SMALL,
            Compiled { name: "C, memory visible", hooks: true, ..Compiled::SMALL },
            Compiled::ATOMICS,
            Compiled { name: "C, rc11", memory: Memory::Rc11, ..Compiled::ATOMICS },
            Compiled::EARLY,
            Compiled { name: "C, prefixes copied", copies: true, ..Compiled::EARLY },
        ]
    }

    /// Executes it again and again; `None` without a compiler.
    fn row(&self, folder: &Path, least: Duration, repeat: u32) -> Outcome<Option<Row>> {
        let Some(program) = compiled(folder, self.source, self.hooks) else {
            output::note("no C compiler was found (CC, or cc): C programs are not measured");
            return Ok(None);
        };
        let mut executor = launched(&program, self.copies)?;
        let mut execution = Execution::default();
        let mut fastest: Option<(f64, Row)> = None;
        for _ in 0..repeat {
            let (begin, mut executions, mut steps) = (Instant::now(), 0, 0);
            let mut prefix = Vec::new();
            while executions < 10 || begin.elapsed() < least {
                let policy = match self.search {
                    Search::Random => Policy::Uniform { seed: executions },
                    Search::DepthFirst => Policy::First,
                };
                let plan = Plan { policy, memory: self.memory, ..Plan::new(&prefix) };
                executor.run(&plan, &mut execution).map_err(failed)?;
                executions += 1;
                steps += execution.steps.len() as u64;
                if self.search == Search::DepthFirst {
                    advance(&mut prefix, &execution);
                }
            }
            let seconds = begin.elapsed().as_secs_f64();
            let rate = executions as f64 / seconds.max(1e-9);
            if fastest.as_ref().is_none_or(|(before, _)| rate > *before) {
                let time = Time { seconds, cpu_seconds: None };
                fastest = Some((rate, Row::new(self.name, self.model, executions, steps, time)));
            }
        }
        Ok(fastest.map(|(_, row)| row))
    }
}

/// The next schedule of a depth-first search; behind the last one comes the first again.
fn advance(prefix: &mut Vec<u32>, execution: &Execution) {
    let last = execution.steps.iter().rposition(|step| step.taken + 1 < step.count);
    prefix.clear();
    if let Some(last) = last {
        prefix.extend(execution.steps[..=last].iter().map(|step| step.taken));
        prefix[last] += 1;
    }
}

/// The small program, compiled; `None` without a compiler.
pub(super) fn compiled_small(folder: &Path) -> Option<std::path::PathBuf> {
    compiled(folder, SMALL, false)
}

/// Compiles a program; `None` without a compiler.
fn compiled(folder: &Path, source: &str, hooks: bool) -> Option<std::path::PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&compiler);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(())
    };
    std::fs::write(folder.join("small.c"), source).ok()?;
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
fn launched(program: &Path, copies: bool) -> Outcome<Box<dyn Executor>> {
    use turnpike_program::native::{NativeProgram, Prefixes};
    let prefixes = if copies { Prefixes::Auto } else { Prefixes::Repeat };
    let program = NativeProgram { prefixes, ..NativeProgram::new(program) };
    Ok(Box::new(program.launch().map_err(failed)?))
}

#[cfg(not(target_os = "linux"))]
fn launched(_: &Path, _: bool) -> Outcome<Box<dyn Executor>> {
    Err(Failure::usage("C programs can be executed on Linux only"))
}
