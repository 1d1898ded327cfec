//! How searches scale: by threads and by processes, each measured in processes of its own.
//!
//! Speed is by the clock, relative to one thread. Processor time is that of all threads and processes:
//! what it is more than that of one thread is the price of working together. Memory is that of the process that
//! takes most, and balance is the processor time of the busiest process over the mean of all.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::program;
use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Between two looks at the processes of a search.
const LOOK: Duration = Duration::from_millis(20);
/// Clock ticks in a second, in which Linux counts processor time.
const TICKS: f64 = 100.0;

/// The rate that two processes promise, relative to one thread.
const PROCESSES: f64 = 1.4;
/// The rate that a wide highway promises, relative to generating.
const HIGHWAY: f64 = 0.5;
/// Processes whose memory is compared with that of one, and the share of it that each promises at most.
const MEMORY: (usize, f64) = (4, 0.35);
/// A public model, by the name of its file.
const CRITICAL_REGION: &str = "critical-region_4_10.tck";

/// What is measured.
struct Subject {
    name: String,
    command: Vec<String>,
    /// Whether several processes can do it.
    by_processes: bool,
    /// The rate that two threads promise, relative to one.
    promise: Option<f64>,
}

/// Measures all rows, and reports each as soon as it is known. `models`: a folder of public models.
pub(super) fn measure(
    models: Option<&Path>,
    quick: bool,
    repeat: u32,
    tell: &mut dyn FnMut(&Row),
) -> Outcome<Vec<Row>> {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))?;
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        tell(&row);
        rows.push(row);
    };
    for subject in subjects(folder.path(), models, quick)? {
        let one = subject.row("1 thread", 1, 1, repeat)?;
        add(one.clone());
        let most = if quick { 2 } else { cores().max(2) };
        for workers in numbers_up_to(most) {
            let row = subject.row(&format!("{workers} threads"), 1, workers, repeat)?;
            add(row.faster_than(&one, subject.promise.filter(|_| workers == 2), !quick));
        }
        for workers in numbers_up_to(most).into_iter().filter(|_| subject.by_processes) {
            let row = subject.row(&format!("{workers} processes"), workers, 1, repeat)?;
            add(row.faster_than(&one, Some(PROCESSES).filter(|_| workers == 2), !quick));
        }
    }
    let philosophers =
        generate("philosophers", "builtin:philosophers", "n", if quick { 8 } else { 12 }, None);
    let one = philosophers.row("1 thread", 1, 1, repeat)?;
    add(one.clone());
    let wide = Subject { command: wide_highway(&philosophers.command), ..philosophers };
    add(wide.row("highway --width 100000", 1, 1, repeat)?.faster_than(&one, Some(HIGHWAY), !quick));
    let large = generate("philosophers", "builtin:philosophers", "n", if quick { 8 } else { 14 }, None);
    let one = large.row("1 thread", 1, 1, 1)?;
    add(one.clone());
    let (processes, share) = MEMORY;
    let all = large.row(&format!("{processes} processes"), processes, 1, 1)?.relative_to(&one);
    if let (Some(each), Some(one)) = (all.peak_bytes, one.peak_bytes) {
        let measured = each as f64 / one.max(1) as f64;
        let promise = format!("memory of a process at most {share} of one thread's: {measured:.2}");
        add(all.promised(promise, measured <= share, !quick));
    }
    Ok(rows)
}

impl Row {
    /// Speed relative to another row, and the least that is promised, if anything is.
    fn faster_than(self, other: &Row, least: Option<f64>, judged: bool) -> Row {
        let row = self.relative_to(other);
        match (least, row.ratio) {
            (Some(least), Some(ratio)) => row.promised(
                format!("{least} times the rate of {}: {ratio:.2}", other.name),
                ratio >= least,
                judged,
            ),
            _ => row,
        }
    }
}

/// Numbers of workers that are measured beside one: 2, 4, 8, …, and all cores.
fn numbers_up_to(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(2), |number| Some(number * 2));
    let mut numbers: Vec<usize> = powers.take_while(|&number| number < most).collect();
    numbers.push(most);
    numbers
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Generates a model of some size.
fn generate(name: &str, model: &str, parameter: &str, size: u32, promise: Option<f64>) -> Subject {
    Subject {
        name: format!("{name}({size})"),
        command: ["generate", model, "--set", &format!("{parameter}={size}")].map(str::to_owned).into(),
        by_processes: true,
        promise,
    }
}

/// A highway that explores what this command generates.
fn wide_highway(generate: &[String]) -> Vec<String> {
    let mut command = generate.to_vec();
    command[0] = "search".to_owned();
    // Shortening the witness is another search, whose transitions do not count.
    command.extend(["--strategy", "highway", "--width", "100000", "--no-shorten"].map(str::to_owned));
    command
}

/// Built-in models, mCRL2 specifications, timed automata and a program.
fn subjects(folder: &Path, models: Option<&Path>, quick: bool) -> Outcome<Vec<Subject>> {
    let file = |name: &str, text: &str| -> Outcome<String> {
        let path = folder.join(name).display().to_string();
        std::fs::write(&path, text).map_err(|error| Failure::file(&path, "write", &error))?;
        Ok(path)
    };
    let lift = file("lift.mcrl2", include_str!("../../../../../models/lift.mcrl2"))?;
    let link = file("linklayer.mcrl2", include_str!("../../../../../models/linklayer.mcrl2"))?;
    let fischer = file("fischer.xta", include_str!("../../../../../models/timed/fischer.xta"))?;
    let size = |small: u32, full: u32| if quick { small } else { full };
    let (cheap, costly) = (Some(1.5), Some(1.7));
    let mut subjects = vec![
        generate("philosophers", "builtin:philosophers", "n", size(8, 13), cheap),
        generate("two-phase-commit", "builtin:two-phase-commit", "n", size(4, 8), cheap),
        generate("lift", &lift, "N", size(2, 5), costly),
        generate("linklayer", &link, "N", size(2, 4), costly),
        generate("fischer", &fischer, "N", size(3, 10), costly),
    ];
    if let Some(path) = models.map(|models| models.join(CRITICAL_REGION)) {
        let command = vec!["generate".to_owned(), path.display().to_string()];
        let name = "critical-region_4".to_owned();
        subjects.push(Subject { name, command, by_processes: true, promise: costly });
    }
    match program::compiled_small(folder) {
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
        promise: None,
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
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| Failure::file("a process", "start", &error))?;
        let (stdout, seen) = watch(child).map_err(|error| Failure::file("a process", "wait for", &error))?;
        let cpu = children_seconds().zip(before).map(|(after, before)| after - before);
        let report: Value = serde_json::from_slice(&stdout)
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
        if processes > 1 && seen.len() == processes {
            row.peak_bytes = seen.values().map(|seen| seen.bytes).max().max(row.peak_bytes);
            row = row.promised(format!("balance {:.2}", balance(&seen)), true, false);
        }
        Ok(row)
    }
}

/// What was seen of a process last.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The most memory that it had.
    bytes: u64,
    /// Its processor time.
    seconds: f64,
}

/// Waits for a process: what it printed, and what was seen of the processes that it started, by their ids.
fn watch(mut child: Child) -> std::io::Result<(Vec<u8>, BTreeMap<u32, Seen>)> {
    let mut pipe = child.stdout.take();
    // Meanwhile somebody has to read what it prints.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut bytes)).map(|_| bytes)
    });
    let mut seen = BTreeMap::new();
    while child.try_wait()?.is_none() {
        for process in children_of(child.id()) {
            if let Some(now) = look_at(process) {
                seen.insert(process, now);
            }
        }
        std::thread::sleep(LOOK);
    }
    let printed = reader.join().map_err(|_| std::io::Error::other("the reader ended early"))??;
    Ok((printed, seen))
}

/// The processor time of the busiest process over the mean.
fn balance(seen: &BTreeMap<u32, Seen>) -> f64 {
    let times = || seen.values().map(|seen| seen.seconds);
    let mean = times().sum::<f64>() / seen.len() as f64;
    times().fold(0.0, f64::max) / mean.max(1.0 / TICKS)
}

/// Fields of `/proc/ID/stat` from the third on: behind the name, which may hold anything.
fn stat_of(process: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Processes whose parent is this one; none where there is no `/proc`.
fn children_of(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = parent.to_string();
    let is_child = |id: &u32| stat_of(&id.to_string()).is_some_and(|fields| fields.get(1) == Some(&parent));
    ids.filter(is_child).collect()
}

fn look_at(process: u32) -> Option<Seen> {
    let fields = stat_of(&process.to_string())?;
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(Seen { bytes: kibibytes << 10, seconds: (ticks(14)? + ticks(15)?) / TICKS })
}

/// Processor time of all processes that this one has waited for, and of those that these have.
fn children_seconds() -> Option<f64> {
    let fields = stat_of("self")?;
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_doubled_up_to_all_cores() {
        assert_eq!(numbers_up_to(2), [2]);
        assert_eq!(numbers_up_to(8), [2, 4, 8]);
        assert_eq!(numbers_up_to(12), [2, 4, 8, 12]);
    }

    #[test]
    fn balance_is_that_of_the_busiest() {
        let seen = |times: &[f64]| {
            let seen = |&seconds: &f64| Seen { bytes: 1, seconds };
            (1u32..).zip(times.iter().map(seen)).collect::<BTreeMap<u32, Seen>>()
        };
        assert!((balance(&seen(&[2.0, 2.0])) - 1.0).abs() < 1e-9);
        assert!((balance(&seen(&[3.0, 1.0])) - 1.5).abs() < 1e-9);
    }
}
