//! Benchmarks of timed automata: Fischer's protocol, public models next to TChecker's figures, and
//! the cost of a zone by its number of clocks.
//!
//! The searches are those of TChecker: breadth-first, with states tested when they are expanded;
//! `covreach` prunes covered states, `reach` merges equal ones, `alu` is `covreach` with simulation
//! instead of inclusion. Time includes reading and searching, on one thread. Memory is the peak of
//! a separate process, as for TChecker.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use turnpike_session::{AcceptAt, Plan, RunReport, Search, StrategyChoice};
use turnpike_timed::explore::{Cover, Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::tck;
use turnpike_timed::uppaal::{self, Format};

use super::measure::best;
use super::table::{Row, Time};
use super::walks;
use crate::failure::{Failure, Outcome};
use crate::output;

const FISCHER: &str = include_str!("../../../../../models/timed/fischer.xta");

/// Two in the critical section, which does not happen.
const BOTH: &str = "state P(1).critical && P(2).critical";

/// An objective that is never met.
const NOTHING: &str = "action nosuchaction";

/// What TChecker says of `covreach -s bfs` on Fischer's protocol with 8 processes, on a busy machine of two cores.
const FISCHER_8: Figures =
    Figures { seconds: Some(1.3173), rss_kib: Some(28_636), visited_transitions: Some(132_592) };

/// Promised: this many times TChecker's transitions per second, on every row and in the geometric
/// mean.
const TIMES: f64 = 10.0;
const TIMES_IN_THE_MEAN: f64 = 20.0;
/// Promised: simulation takes at most this many times as long as inclusion.
const SIMULATION: f64 = 1.2;
/// Searches of TChecker that took longer than this many seconds are compared with: shorter ones are over
/// before the account of processor time moves.
const LONG: f64 = 0.1;

/// Numbers of clocks whose cost is measured.
const CLOCKS: [u32; 8] = [5, 10, 15, 20, 30, 40, 50, 60];
/// Promised: with more clocks than this, an entry of a matrix costs no more than with these.
const BOUND_FROM: u32 = 10;
const ZONES: &str = "zone successors";

/// What TChecker says of a model.
#[derive(Deserialize)]
struct Case {
    file: String,
    labels: String,
    reach_bfs: Figures,
    covreach_bfs: Figures,
    full: Option<Figures>,
}

#[derive(Clone, Copy, Deserialize)]
struct Figures {
    seconds: Option<f64>,
    rss_kib: Option<u64>,
    visited_transitions: Option<u64>,
}

/// One search of a model.
struct Task<'a> {
    name: &'a str,
    label: String,
    path: PathBuf,
    settings: Vec<(String, String)>,
    cover: Option<Cover>,
    objective: String,
}

/// Measures all rows, and reports each as soon as it is known. `models` are public ones, `oracle` the file of TChecker's figures.
pub(super) fn measure(
    models: Option<&Path>,
    oracle: Option<&Path>,
    quick: bool,
    repeat: u32,
    tell: &mut dyn FnMut(&Row),
) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        tell(&row);
        rows.push(row);
    };
    let folder =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))?;
    let path = folder.path().join("fischer.xta");
    std::fs::write(&path, FISCHER)
        .map_err(|error| Failure::file(&path.display().to_string(), "write", &error))?;
    for n in if quick { 4..=4 } else { 8..=11 } {
        let task = Task {
            name: "covreach",
            label: format!("fischer({n})"),
            path: path.clone(),
            settings: vec![("N".to_owned(), n.to_string())],
            cover: Some(Cover::Inclusion),
            objective: BOTH.to_owned(),
        };
        let row = task.row(if n > 9 { 1 } else { repeat })?;
        add(if n == 8 { beside(row, FISCHER_8, !quick) } else { row });
    }
    if let (Some(models), Some(oracle)) = (models, oracle) {
        let mut all = Vec::new();
        for (mut task, figures) in tasks(models, oracle)? {
            let row = task.row(repeat)?;
            if figures.visited_transitions != Some(row.transitions) {
                output::note(&format!("{} {}: other counts than TChecker's", row.name, row.model));
            }
            all.extend(times(&row, figures));
            let inclusion = row.clone();
            add(beside(row, figures, !quick));
            if task.cover.is_some() {
                task.cover = Some(Cover::Alu);
                task.name = if task.name == "covreach" { "alu" } else { "alu, no label" };
                let row = task.row(repeat)?;
                let longer = work(&row) / work(&inclusion);
                let promise = format!("at most {SIMULATION} times as long as inclusion: {longer:.2} times");
                add(row.promised(promise, longer <= SIMULATION, !quick));
            }
        }
        if !all.is_empty() {
            add(mean(&all, !quick));
        }
        for row in walks::measure(models, quick)? {
            add(row);
        }
    }
    // What an entry costs with few clocks; that of the fewest is mostly the cost of everything else.
    let mut bound = None;
    for clocks in CLOCKS.into_iter().filter(|&clocks| !quick || clocks <= BOUND_FROM) {
        let mut row = zone_successors(clocks, quick, repeat)?;
        let cost = entry_cost(clocks, &row);
        if let Some(bound) = bound {
            let promise = format!("quadratic: {cost:.1} ns an entry, {bound:.1} with {BOUND_FROM} clocks");
            row = row.promised(promise, cost <= bound, !quick);
        } else if clocks == BOUND_FROM {
            bound = Some(cost);
        }
        add(row);
    }
    Ok(rows)
}

/// The searches that took TChecker long enough to be compared.
fn tasks<'a>(models: &Path, oracle: &Path) -> Outcome<Vec<(Task<'a>, Figures)>> {
    let name = oracle.display().to_string();
    let text = std::fs::read_to_string(oracle).map_err(|error| Failure::file(&name, "read", &error))?;
    let mut tasks = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Case =
            serde_json::from_str(line).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let objective =
            if case.labels.is_empty() { NOTHING.to_owned() } else { format!("label {}", case.labels) };
        let mut searches = vec![
            ("reach", None, &objective, case.reach_bfs),
            ("covreach", Some(Cover::Inclusion), &objective, case.covreach_bfs),
        ];
        let nothing = NOTHING.to_owned();
        searches.extend(case.full.map(|full| ("covreach, no label", Some(Cover::Inclusion), &nothing, full)));
        let path = models.join(&case.file);
        let label = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        for (name, cover, objective, figures) in searches {
            if figures.seconds.is_some_and(|seconds| seconds > LONG) {
                let (label, path, objective) = (label.clone(), path.clone(), objective.clone());
                tasks.push((Task { name, label, path, settings: Vec::new(), cover, objective }, figures));
            }
        }
    }
    Ok(tasks)
}

/// How many times TChecker's rate a row has.
fn times(row: &Row, figures: Figures) -> Option<f64> {
    Some(row.transitions_per_second * figures.seconds? / figures.visited_transitions? as f64)
}

/// Seconds of work.
fn work(row: &Row) -> f64 {
    row.cpu_seconds.unwrap_or(row.seconds)
}

/// The geometric mean of all comparisons.
fn mean(all: &[f64], judged: bool) -> Row {
    let mean = (all.iter().map(|times| times.ln()).sum::<f64>() / all.len() as f64).exp();
    let nothing = Time { seconds: 0.0, cpu_seconds: None };
    let row = Row::new("geometric mean", &format!("{} rows", all.len()), 0, 0, nothing);
    let promise = format!("{TIMES_IN_THE_MEAN} times TChecker's rate: {mean:.1} times");
    row.promised(promise, mean >= TIMES_IN_THE_MEAN, judged)
}

/// The row with the promises that concern TChecker.
fn beside(row: Row, figures: Figures, judged: bool) -> Row {
    let (Some(seconds), Some(times)) = (figures.seconds, times(&row, figures)) else { return row };
    let rss_kib = figures.rss_kib;
    let promise = format!("{TIMES} times TChecker's rate ({seconds:.2} s): {times:.1} times");
    let mut row = row.promised(promise, times >= TIMES, judged);
    if let (Some(theirs), Some(ours)) = (rss_kib, row.peak_bytes) {
        let theirs = theirs * 1024;
        let promise = format!("no more than its {:.1} MiB", theirs as f64 / f64::from(1 << 20));
        row = row.promised(promise, ours <= theirs, judged);
    }
    row
}

impl Task<'_> {
    fn row(&self, repeat: u32) -> Outcome<Row> {
        let (time, run) = best(repeat, || {
            let name = self.path.display().to_string();
            let bytes = std::fs::read(&self.path).map_err(|error| Failure::file(&name, "read", &error))?;
            let text = String::from_utf8_lossy(&bytes);
            let is_tck = self.path.extension().is_some_and(|extension| extension == "tck");
            let format = (!is_tck).then_some(Format::Xta);
            let conditions = self.objective.strip_prefix("state ").map(str::to_owned);
            let cover = self.cover.unwrap_or(Cover::Inclusion);
            let conditions = conditions.into_iter().collect();
            let options = Options { conditions, cover, ..Options::default() };
            let model = open(&name, &text, format, &self.settings, &options)?;
            let mut search = Search { strategy: StrategyChoice::named("bfs"), ..Search::default() };
            search.goals.accept = AcceptAt::Pop;
            search.witness.shorten = false;
            explore(Arc::new(model), search, self.cover.is_some(), &self.objective)
        })?;
        let mut row = Row::new(self.name, &self.label, run.states, run.transitions, time);
        row.peak_bytes = self.peak_bytes();
        Ok(row)
    }

    /// The peak memory of a process that does the search, if one can be started.
    fn peak_bytes(&self) -> Option<u64> {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.arg("search").arg(&self.path).args(["--strategy", "bfs", "--accept", "pop"]);
        command.args(["--threads", "1", "--no-shorten", "--format", "json"]);
        command.args(["--allow-unknown", "--find", &self.objective]);
        let cover = match self.cover {
            None => "none",
            Some(Cover::Inclusion) => "inclusion",
            Some(Cover::Alu) => "alu",
        };
        command.args(["--cover", cover]);
        for (name, value) in &self.settings {
            command.arg("--set").arg(format!("{name}={value}"));
        }
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        report["peak_bytes"].as_u64().filter(|&bytes| bytes > 0)
    }
}

/// Reads timed automata.
pub(super) fn open(
    name: &str,
    text: &str,
    format: Option<Format>,
    settings: &[(String, String)],
    options: &Options,
) -> Outcome<TimedModel> {
    let read = match format {
        None => tck::read(text).map(|(network, warnings)| {
            let names = Names::of(&network);
            (network, names, warnings)
        }),
        Some(format) => uppaal::read(text, format, settings),
    };
    let model = read.and_then(|(network, names, _)| TimedModel::new(name, text, network, names, options));
    model.map(|(model, _)| model).map_err(|diagnostics| Failure {
        origin: name.to_owned(),
        source: Some(text.to_owned()),
        diagnostics,
        ..Failure::usage("")
    })
}

fn explore(model: Arc<TimedModel>, mut search: Search, cover: bool, objective: &str) -> Outcome<RunReport> {
    search.goals.find = vec![objective.parse()?];
    search.goals.allow_unknown = true;
    search.running.threads = Some(1);
    let plan = Plan::of_model(model, &search)?.leave_out_covered(cover);
    let mut report = plan.run(&|_| {}, &AtomicBool::new(false))?;
    report.runs.pop().ok_or_else(|| Failure::usage("no run"))
}

/// Processes that each reset a clock of their own from time to time: no clock ever stops to matter.
fn clocks_of_their_own(count: u32) -> String {
    let mut text = "system:clocks\nevent:tick\n".to_owned();
    for n in 1..=count {
        let (earliest, latest) = (3 + n % 5, 20 + n % 7);
        let _ = write!(
            text,
            "process:P{n}\nclock:1:x{n}\nlocation:P{n}:a{{initial::invariant:x{n}<={latest}}}\n\
             edge:P{n}:a:a:tick{{provided:x{n}>={earliest}:do:x{n}=0}}\n"
        );
    }
    text
}

/// Random walks through zones of so many clocks.
fn zone_successors(clocks: u32, quick: bool, repeat: u32) -> Outcome<Row> {
    let text = clocks_of_their_own(clocks);
    let steps = if quick { 100 } else { (60_000_000 / u64::from(clocks).pow(3)).clamp(500, 100_000) };
    let (time, run): (Time, RunReport) = best(repeat, || {
        let model = open("clocks", &text, None, &[], &Options::default())?;
        let strategy = StrategyChoice::named("random").with("restart", true);
        let mut search = Search { strategy, ..Search::default() };
        search.limits.states = Some(steps);
        search.witness.keep = false;
        explore(Arc::new(model), search, false, NOTHING)
    })?;
    Ok(Row::new(ZONES, &format!("{clocks} clocks"), run.states, run.transitions, time))
}

/// Nanoseconds for a successor.
fn cost(row: &Row) -> f64 {
    1e9 / row.transitions_per_second
}

/// Nanoseconds for an entry of the matrix of a successor.
fn entry_cost(clocks: u32, row: &Row) -> f64 {
    cost(row) / f64::from(clocks + 1).powi(2)
}

/// The cost of a successor by the number of clocks: lines of a plot.
pub(super) fn plot(rows: &[Row]) -> Vec<String> {
    const WIDTH: f64 = 70.0;
    let rows: Vec<&Row> = rows.iter().filter(|row| row.name == ZONES).collect();
    let Some(largest) = rows.iter().map(|row| cost(row)).reduce(f64::max) else { return Vec::new() };
    let mut lines =
        vec!["cost of a zone successor: clocks, nanoseconds, nanoseconds an entry of its matrix".to_owned()];
    for (row, clocks) in rows.iter().zip(CLOCKS) {
        let bar = "#".repeat((cost(row) / largest * WIDTH).round().max(1.0) as usize);
        lines.push(format!("{clocks:>4} {:>8.0} {:>6.2} {bar}", cost(row), entry_cost(clocks, row)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_matters() {
        let model = open("clocks", &clocks_of_their_own(7), None, &[], &Options::default());
        let Ok(model) = model else { panic!("a network was refused") };
        let model = Arc::new(model);
        let search = Search { strategy: StrategyChoice::named("bfs"), ..Search::default() };
        let run = explore(Arc::clone(&model), search, false, "action tick");
        // Each of the seven may go first, as all may wait for long enough.
        let Ok(run) = run else { panic!("exploring failed") };
        assert_eq!(run.transitions, 7);
        assert_eq!(model.network().clocks.len(), 7);
    }

    #[test]
    fn promises_compare_rates_and_memory() {
        let time = Time { seconds: 0.2, cpu_seconds: Some(0.1) };
        let mut row = Row::new("covreach", "m", 10, 1_000, time);
        row.peak_bytes = Some(2 << 20);
        let figures = Figures { seconds: Some(1.0), rss_kib: Some(1_024), visited_transitions: Some(1_000) };
        let row = beside(row, figures, true);
        let met: Vec<Option<bool>> = row.targets.iter().map(|target| target.met).collect();
        assert_eq!(met, [Some(true), Some(false)], "ten times the rate, twice the memory");
        let met = |all: &[f64]| mean(all, true).targets[0].met;
        assert_eq!((met(&[10.0, 40.0]), met(&[10.0, 39.0])), (Some(true), Some(false)));
    }
}
