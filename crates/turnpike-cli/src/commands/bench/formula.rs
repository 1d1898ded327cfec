//! Benchmarks of formulas: those of a bundled specification, and public ones next to the figures of
//! `pbessolve`. Reading the specification does not count, as it does not for the other tool; checking the
//! formula, deciding it and confirming the evidence do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use turnpike_session::{
    FormulaReply, Goals, Limits, Location, Outcome as Found, Reading, Search, Session, Silent, Source,
};

use super::measure::best;
use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};
use crate::output;

const ABP: &str = include_str!("../../../../../models/abp.mcrl2");
const IN_ORDER: &str = include_str!("../../../../../models/requirements/abp/4-in-order.mcf");

/// Promised: never slower than the other tool, and so many times faster in the geometric mean.
const TIMES_IN_THE_MEAN: f64 = 20.0;
/// Formulas about specifications with more states than this are compared.
const LARGE: u64 = 10_000;
/// Seconds before a formula is given up.
const PATIENCE: u64 = 60;

/// What the other tool says of a formula.
#[derive(Deserialize)]
struct Case {
    formula: String,
    spec: String,
    outcome: String,
    seconds: Option<f64>,
}

/// What is known of a specification.
#[derive(Deserialize)]
struct Size {
    file: String,
    states: Option<u64>,
}

/// Measures all rows, and reports each as soon as it is known. `oracle` has a file `mcrl2.jsonl` beside
/// it, with the numbers of states of the specifications.
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
    let path = folder.path().join("abp.mcrl2");
    std::fs::write(&path, ABP)
        .map_err(|error| Failure::file(&path.display().to_string(), "write", &error))?;
    let settings = [format!("DATA={}", if quick { 2 } else { 40 })];
    let (time, reply) = decide(&path, &settings, IN_ORDER, repeat)?;
    add(row("in-order", "abp", time, &reply));
    let (Some(models), Some(oracle)) = (models, oracle) else { return Ok(rows) };
    let mut times = Vec::new();
    for case in cases(oracle)? {
        let Some(seconds) = case.seconds else { continue };
        let text = read(&models.join(&case.formula))?;
        let (time, reply) = decide(&models.join(&case.spec), &[], &text, repeat)?;
        let answer = match reply.holds {
            Some(true) => "true",
            Some(false) => "false",
            None => "none",
        };
        if answer != case.outcome {
            output::note(&format!("{} on {}: {answer}, not {}", case.formula, case.spec, case.outcome));
        }
        let ratio = seconds / time.work().max(1e-4);
        times.push(ratio);
        let mut row = row(stem(&case.formula), stem(&case.spec), time, &reply);
        (row.ratio, row.ratio_to) = (Some(ratio), Some("pbessolve".to_owned()));
        add(row.promised("as fast as pbessolve", answer == case.outcome && ratio >= 1.0, !quick));
    }
    if !times.is_empty() {
        let mean = (times.iter().map(|ratio| ratio.ln()).sum::<f64>() / times.len() as f64).exp();
        let name = format!("mean of {}", times.len());
        let time = Time { seconds: 0.0, cpu_seconds: None };
        let mut row = Row::new(&name, "geometric", 0, 0, time);
        (row.ratio, row.ratio_to) = (Some(mean), Some("pbessolve".to_owned()));
        add(row.promised("20 times as fast", mean >= TIMES_IN_THE_MEAN, !quick));
    }
    Ok(rows)
}

/// The pairs with an answer whose specification is large, or was not explored by the other tool.
fn cases(oracle: &Path) -> Outcome<Vec<Case>> {
    let sizes: Vec<Size> = lines(&oracle.with_file_name("mcrl2.jsonl"))?;
    let sizes: BTreeMap<String, Option<u64>> = sizes.into_iter().map(|one| (one.file, one.states)).collect();
    let is_large = |case: &Case| {
        let states = sizes.get(&case.spec).copied().flatten();
        states.is_none_or(|states| states > LARGE)
    };
    let all: Vec<Case> = lines(oracle)?;
    Ok(all.into_iter().filter(|case| matches!(&*case.outcome, "true" | "false") && is_large(case)).collect())
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Outcome<Vec<T>> {
    let wrong = |error: serde_json::Error| Failure::usage(format!("{}: {error}", path.display()));
    read(path)?.lines().map(|line| serde_json::from_str(line).map_err(wrong)).collect()
}

fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|error| Failure::file(&path.display().to_string(), "read", &error))
}

fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.split('.').next().unwrap_or(file);
    name.char_indices().nth(19).map_or(name, |(end, _)| &name[..end])
}

/// The games of formulas have vertices where others have transitions.
fn row(name: &str, model: &str, time: Time, reply: &FormulaReply) -> Row {
    Row::new(name, model, reply.progress.states, reply.progress.vertices, time)
}

fn decide(spec: &Path, settings: &[String], formula: &str, repeat: u32) -> Outcome<(Time, FormulaReply)> {
    let location = Location::from(spec.display().to_string().as_str());
    let reading = Reading { settings: settings.to_vec(), ..Reading::default() };
    let session = Session::open(&Source::Model { location, reading })?;
    let search = Search {
        goals: Goals { formulas: vec![formula.to_owned()], ..Goals::default() },
        limits: Limits { time: Some(Duration::from_secs(PATIENCE)), ..Limits::default() },
        ..Search::default()
    };
    best(repeat, || {
        let report = session.run(&search, &Silent, &AtomicBool::new(false))?;
        let Found::Formulas(answers) = report.outcome else {
            return Err(Failure::usage("a formula was asked".to_owned()));
        };
        let answer = answers.into_iter().next();
        answer.map_or_else(|| Err(Failure::usage("no answer".to_owned())), |one| Ok(one.reply?))
    })
}
