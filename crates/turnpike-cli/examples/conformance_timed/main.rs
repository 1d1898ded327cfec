//! Compares turnpike with what TChecker says of a folder of timed automata, or explores all UPPAAL models of a folder, and prints a
//! table.
//!
//! ```text
//! cargo run --release -p turnpike-cli --example conformance_timed -- MODELS ORACLE.jsonl [--only TEXT]
//! cargo run --release -p turnpike-cli --example conformance_timed -- MODELS --uppaal [--only TEXT]
//! ```
//!
//! `ORACLE.jsonl` has a line for each file: `file`, the `labels` searched, and what `tck-reach` says of it with `-a reach` and `-a covreach`,
//! breadth first. Counts are written `met states/transitions/stored`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod judge;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use judge::{Effort, Sweep, cases, compare, pair, sweep};

/// States that each search of an UPPAAL model expands, and seconds at most.
const SWEEP: (u64, u64) = (2_000, 10);

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<usize, String> {
    let (mut only, mut uppaal, mut paths) = (String::new(), false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--only" => only = arguments.next().ok_or("--only needs a value")?,
            "--uppaal" => uppaal = true,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    match (uppaal, paths.as_slice()) {
        (true, [models]) => sweep_all(models, &only),
        (false, [models, oracle]) => compare_all(models, oracle, &only),
        _ => Err("usage: conformance_timed MODELS (ORACLE.jsonl | --uppaal) [--only TEXT]".into()),
    }
}

fn compare_all(models: &Path, oracle: &Path, only: &str) -> Result<usize, String> {
    let text = std::fs::read_to_string(oracle).map_err(|error| format!("{}: {error}", oracle.display()))?;
    let cases = cases(&text).map_err(|error| format!("{}: {error}", oracle.display()))?;
    let effort = Effort { states: 20_000, seconds: 120, transitions: u64::MAX };
    println!("  {:<44} {:<13} {:<26} {:>7}  got", "model", "search", "expected", "seconds");
    let (mut passed, mut failed) = (0, 0);
    for case in cases.iter().filter(|case| case.file.contains(only)) {
        for compared in compare(models, case, effort) {
            let agrees = compared.agrees();
            let mark = if agrees { " " } else { "X" };
            let (search, expected, seconds) =
                (compared.search, compared.expected.to_string(), compared.seconds);
            let name = case.file.trim_end_matches(".tck");
            println!("{mark} {name:<44} {search:<13} {expected:<26} {seconds:>7.3}  {}", compared.got);
            if agrees { passed += 1 } else { failed += 1 }
        }
    }
    println!();
    for name in pairs(models)?.iter().filter(|name| format!("pairs/{name}").contains(only)) {
        for (cover, search) in [(false, "reach"), (true, "covreach")] {
            let (expected, got) = pair(models, name, cover);
            let agrees = expected == got;
            let mark = if agrees { " " } else { "X" };
            let (name, expected) = (format!("pairs/{name}, .tck and .xta"), expected.to_string());
            println!("{mark} {name:<50} {search:<13} {expected:<26} {got}");
            if agrees { passed += 1 } else { failed += 1 }
        }
    }
    println!("{passed} as expected, {failed} not");
    Ok(failed)
}

/// The names of the systems that are there in both formats.
fn pairs(models: &Path) -> Result<Vec<String>, String> {
    let files = files(&models.join("pairs"), &["xta"])?;
    let name = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    Ok(files.iter().filter_map(name).collect())
}

fn sweep_all(models: &Path, only: &str) -> Result<usize, String> {
    let (mut explored, mut refused, mut faulty) = (0, 0, 0);
    let root = format!("{}/", models.display());
    for path in files(models, &["xml", "xta", "ta"])? {
        let name = path.strip_prefix(models).unwrap_or(&path).display().to_string();
        if !name.contains(only) {
            continue;
        }
        match sweep(&path, SWEEP.0, SWEEP.1) {
            Sweep::Explored { states, all, steps } => {
                explored += 1;
                let all = if all { "all" } else { "" };
                println!("{name:<66} {states:>6} {all:<4} {steps:>6}");
            }
            Sweep::Refused(message) => {
                refused += 1;
                println!("{name:<66} refused: {}", message.replace(&root, ""));
            }
            Sweep::Faulty(message) => {
                faulty += 1;
                println!("{name:<66} error: {}", message.replace(&root, ""));
            }
        }
    }
    println!("{explored} explored, {faulty} with an error of the model on the way, {refused} refused");
    Ok(0)
}

/// All files below a folder with one of these endings, in order.
fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            found.extend(files(&entry, endings)?);
        } else if entry.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            found.push(entry);
        }
    }
    Ok(found)
}
