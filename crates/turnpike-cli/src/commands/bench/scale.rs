//! How searches scale: by threads and by processes, each measured in processes of its own.
//!
//! Speed is by the clock, relative to one thread. Processor time is that of all threads and processes:
//! what it is more than that of one thread is the price of working together. Memory is that of process 0.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::program;
use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Numbers of workers that are measured.
const WORKERS: [usize; 2] = [2, 4];
/// Clock ticks in a second, in which Linux counts processor time.
const TICKS: f64 = 100.0;

/// What is measured.
struct Subject {
    name: String,
    command: Vec<String>,
    /// Whether several processes can do it.
    by_processes: bool,
}

/// Measures all rows, and reports each as soon as it is known.
pub(super) fn measure(quick: bool, repeat: u32, tell: &mut dyn FnMut(&Row)) -> Outcome<Vec<Row>> {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))?;
    let mut rows = Vec::new();
    for subject in subjects(folder.path(), quick)? {
        let mut add = |row: Row| {
            tell(&row);
            rows.push(row);
        };
        let one = subject.row("1 thread", 1, 1, repeat)?;
        add(one.clone());
        let most = if quick { 2 } else { cores() };
        for workers in WORKERS.into_iter().filter(|&workers| workers <= most.max(2)) {
            add(subject.row(&format!("{workers} threads"), 1, workers, repeat)?.relative_to(&one));
        }
        for workers in WORKERS.into_iter().filter(|&workers| subject.by_processes && workers <= most.max(2)) {
            add(subject.row(&format!("{workers} processes"), workers, 1, repeat)?.relative_to(&one));
        }
    }
    Ok(rows)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A built-in model, an mCRL2 specification, timed automata and a program.
fn subjects(folder: &Path, quick: bool) -> Outcome<Vec<Subject>> {
    let file = |name: &str, text: &str| -> Outcome<String> {
        let path = folder.join(name).display().to_string();
        std::fs::write(&path, text).map_err(|error| Failure::file(&path, "write", &error))?;
        Ok(path)
    };
    let lift = file("lift.mcrl2", include_str!("../../../../../models/lift.mcrl2"))?;
    let fischer = file("fischer.xta", include_str!("../../../../../models/timed/fischer.xta"))?;
    let generate = |name: &str, model: &str, parameter: &str, size: u32| Subject {
        name: format!("{name}({size})"),
        command: ["generate", model, "--set", &format!("{parameter}={size}")].map(str::to_owned).into(),
        by_processes: true,
    };
    let mut subjects = vec![
        generate("philosophers", "builtin:philosophers", "n", if quick { 8 } else { 13 }),
        generate("lift", &lift, "N", if quick { 2 } else { 5 }),
        generate("fischer", &fischer, "N", if quick { 3 } else { 9 }),
    ];
    match program::compiled(folder, false) {
        Some(program) => subjects.push(executions(&program, quick)),
        None => output::note("no C compiler was found (CC, or cc): no program is measured"),
    }
    Ok(subjects)
}

/// Executions of a C program, drawn at random.
fn executions(program: &Path, quick: bool) -> Subject {
    let count = if quick { "64" } else { "20000" };
    let program = PathBuf::from(program).display().to_string();
    let mut command = ["search", "--strategy", "random", "--max-executions", count, "--program"].to_vec();
    command.push(&program);
    Subject {
        name: "3 threads x 3 locks".to_owned(),
        command: command.into_iter().map(str::to_owned).collect(),
        by_processes: false,
    }
}

impl Subject {
    /// The best of several runs.
    fn row(&self, name: &str, processes: usize, threads: usize, repeat: u32) -> Outcome<Row> {
        let mut best: Option<Row> = None;
        for _ in 0..repeat {
            let row = self.run(name, processes, threads)?;
            if best.as_ref().is_none_or(|best| row.seconds < best.seconds) {
                best = Some(row);
            }
        }
        best.ok_or_else(|| Failure::usage("nothing was measured"))
    }

    fn run(&self, name: &str, processes: usize, threads: usize) -> Outcome<Row> {
        let program = std::env::current_exe().map_err(|error| Failure::file("turnpike", "find", &error))?;
        let mut command = Command::new(program);
        command.args(["--format", "json"]);
        if processes > 1 {
            command.args(["launch", "-n", &processes.to_string(), "--"]);
        }
        command.args(&self.command).args(["--threads", &threads.to_string(), "--format", "json"]);
        let before = children_seconds();
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let output = output.map_err(|error| Failure::file("a process", "start", &error))?;
        let cpu = children_seconds().zip(before).map(|(after, before)| after - before);
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| Failure::usage(format!("{} gave no report", self.name)))?;
        let count = |field: &str| report[field].as_u64().unwrap_or_default();
        let seconds = report["seconds"].as_f64().unwrap_or_default();
        let time = Time { seconds, cpu_seconds: None };
        let mut row = Row::new(name, &self.name, count("states"), count("transitions"), time);
        row.cpu_seconds = cpu.filter(|&cpu| cpu > 0.0);
        row.peak_bytes = Some(count("peak_bytes")).filter(|&bytes| bytes > 0);
        if let Some(sent) = report["sent_bytes"].as_u64() {
            // What process 0 sends of what its share of the transitions leads to.
            let share = row.transitions as f64 / processes as f64;
            row = row.promised(format!("{:.1} bytes sent a transition", sent as f64 / share), true, false);
        }
        Ok(row)
    }
}

/// Processor time of all processes that this one has waited for, and of those that these have.
fn children_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything, come the third field and the others.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS)
}
