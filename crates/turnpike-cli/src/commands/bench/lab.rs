//! Benchmarks of the lab: its overhead, and the time for a report on many runs.
//!
//! The column of states counts runs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use turnpike_lab::experiment::Experiment;
use turnpike_lab::report::{self, Results};
use turnpike_lab::runner::{self, Job, Series, Settings, Workshop};
use turnpike_lab::store::{Record, Store};
use turnpike_lab::workshop::Bench;

use super::measure::best;
use super::table::{Row, Target, Time};
use crate::failure::{Failure, Outcome};
use crate::output::VERSION;

/// Promised: the lab takes at most this much longer than its runs, when they take 10 ms or more.
const OVERHEAD: f64 = 1.02;
/// Promised: seconds for the report of [`STORED`] runs.
const REPORT: f64 = 10.0;
/// Runs of a large report.
const STORED: u64 = 100_000;

/// Walks that find nothing and so all take the same time, a little more than 10 ms.
const WALKS: &str = r#"
title = "walks"
runs = 300
flags = "--find 'action none' --allow-unknown --strategy random --restart --max-states 100000"

[[model]]
name = "philosophers(17)"
use = "builtin:philosophers"
flags = "--set n=17"

[[strategy]]
name = "random"
flags = ""
"#;

/// Many cells, and every kind of table and curve.
const LARGE: &str = r#"
title = "large"
runs = 1000

[[model]]
name = "model {number}"
use = "builtin:philosophers"
vary = { number = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }

[[strategy]]
name = "highway {width}"
flags = "--strategy highway --width {width}"
vary = { width = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }

[[draw]]
kind = "table"

[[draw]]
kind = "success-by-states"

[[draw]]
kind = "success-by-length"

[[draw]]
kind = "survival"

[[draw]]
kind = "histogram"

[[draw]]
kind = "effects"

[[draw]]
kind = "rate-by-parameter"
parameter = "width"
"#;

/// Measures all rows, and reports each as soon as it is known.
pub(super) fn measure(quick: bool, repeat: u32, tell: &mut dyn FnMut(&Row)) -> Outcome<Vec<Row>> {
    let mut rows = overhead(quick, repeat)?;
    rows.push(large(quick)?);
    rows.iter().for_each(tell);
    Ok(rows)
}

fn overhead(quick: bool, repeat: u32) -> Outcome<Vec<Row>> {
    let experiment = Experiment::parse(WALKS)?;
    let mut cells = experiment.cells(false);
    if quick {
        cells.iter_mut().for_each(|cell| cell.runs = 5);
    }
    let runs = cells[0].runs;
    let bench = Bench { folder: ".".into(), public: Vec::new() };
    let quiet = AtomicBool::new(false);
    let plain = || -> Outcome<()> {
        let job: Arc<dyn Job> = bench.prepare(&cells[0])?;
        (0..runs).try_for_each(|number| job.run(number, &quiet).map(|_| ())).map_err(Failure::from)
    };
    let kept = || -> Outcome<()> {
        let folder = temporary()?;
        let mut store = Store::open(&folder.path().join("results.db"))?;
        let series = Series { experiment: "walks", version: VERSION, cells: &cells };
        let settings = Settings { jobs: 1, scale: 1.0, least: 1 };
        runner::run(series, &bench, &mut store, settings, &quiet, &mut |_| {})?;
        Ok(())
    };
    // In turn, so that both see the same load of the machine.
    let (mut plain_time, mut kept_time) = (timed(plain)?, timed(kept)?);
    for _ in 1..repeat {
        plain_time = shorter(plain_time, timed(plain)?);
        kept_time = shorter(kept_time, timed(kept)?);
    }
    let alone = Row::new("runs alone", "philosophers 17, 100,000 states each", runs, 0, plain_time);
    let mut lab = Row::new("runs in the lab", "the same", runs, 0, kept_time);
    let times = kept_time.work() / plain_time.work();
    lab.ratio = Some(1.0 / times);
    lab.ratio_to = Some("runs alone".into());
    lab.targets.push(Target {
        promise: format!(
            "at most {:.0}% more than its runs: {:+.2}%",
            (OVERHEAD - 1.0) * 100.0,
            (times - 1.0) * 100.0
        ),
        met: (!quick).then_some(times <= OVERHEAD),
    });
    Ok(vec![alone, lab])
}

fn large(quick: bool) -> Outcome<Row> {
    let experiment = Experiment::parse(LARGE)?;
    let folder = temporary()?;
    let mut store = Store::open(&folder.path().join("results.db"))?;
    let cells = experiment.cells(false);
    let each = if quick { 10 } else { STORED / cells.len() as u64 };
    for (index, cell) in cells.iter().enumerate() {
        let id = store.cell(&runner::key("large", VERSION, cell, 0))?;
        for number in 0..each {
            // Spread over three powers of ten, one run in ten without success.
            let states = 10 + (number * 7919 + index as u64 * 104_729) % 9973;
            let found = number % 10 != 0;
            let length = found.then_some(states / 10);
            let stop = if found { "found" } else { "states" }.to_owned();
            store.add(
                id,
                &Record { number, seed: number, found, stop, states, length, ..Record::default() },
            )?;
        }
    }
    store.commit()?;
    let (time, runs) = best(1, || {
        let results = Results::gather("large", experiment.clone(), &store)?;
        let runs = results.count() as u64;
        report::write(&[results], VERSION, &folder.path().join("report"))?;
        Ok(runs)
    })?;
    let mut row = Row::new("report", "100 cells, 41 figures", runs, 0, time);
    row.targets.push(Target {
        promise: format!("{STORED} runs in less than {REPORT:.0} s"),
        met: (!quick).then_some(time.seconds < REPORT),
    });
    Ok(row)
}

/// By the clock, and by the processor's account of all threads.
fn timed(work: impl Fn() -> Outcome<()>) -> Outcome<Time> {
    let (started, account) = (Instant::now(), process_seconds());
    work()?;
    let cpu_seconds = process_seconds().zip(account).map(|(end, start)| end - start).filter(|&cpu| cpu > 0.0);
    Ok(Time { seconds: started.elapsed().as_secs_f64(), cpu_seconds })
}

fn shorter(one: Time, other: Time) -> Time {
    Time {
        seconds: one.seconds.min(other.seconds),
        cpu_seconds: one.cpu_seconds.zip(other.cpu_seconds).map(|(one, other)| one.min(other)),
    }
}

/// Time that all threads of this process have spent on processors, those that ended included.
fn process_seconds() -> Option<f64> {
    /// Of the account, on every Linux.
    const TICKS_PER_SECOND: f64 = 100.0;
    let account = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold anything; the times are the 12th and 13th fields behind it.
    let fields: Vec<&str> = account.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}

fn temporary() -> Outcome<tempfile::TempDir> {
    tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}")))
}
