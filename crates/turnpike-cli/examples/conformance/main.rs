//! Compares turnpike with what the mCRL2 tools say of a folder of specifications, and prints a table.
//!
//! ```text
//! cargo run --release -p turnpike-cli --example conformance -- MODELS ORACLE.jsonl [QUOTIENTS] [--only TEXT] [--states N] [--seconds N]
//! ```
//!
//! `ORACLE.jsonl` has a line for each file: `file`, `outcome`, and for complete ones `states`, `transitions`, `min_states` and
//! `min_transitions` of the strong-bisimulation quotient. `QUOTIENTS` holds quotients as `a__b.min.aut` for `a/b.mcrl2`; without it
//! a folder `mcrl2` beside the oracle file is taken.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod judge;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use judge::{Effort, cases, judge};

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
    let mut effort = Effort { states: 100_000, seconds: 60, bytes: 2 << 30 };
    let (mut only, mut paths) = (String::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
        match argument.as_str() {
            "--only" => only = value()?,
            "--states" => effort.states = number(value()?)?,
            "--seconds" => effort.seconds = number(value()?)?,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let [models, oracle, rest @ ..] = paths.as_slice() else {
        return Err(
            "usage: conformance MODELS ORACLE.jsonl [QUOTIENTS] [--only TEXT] [--states N] [--seconds N]"
                .into(),
        );
    };
    let beside = oracle.parent().unwrap_or(Path::new(".")).join("mcrl2");
    let quotients = rest.first().unwrap_or(&beside);
    let text = std::fs::read_to_string(oracle).map_err(|error| format!("{}: {error}", oracle.display()))?;
    let cases = cases(&text).map_err(|error| format!("{}: {error}", oracle.display()))?;
    println!(
        "{:<64} {:>9} {:>9} {:>7} {:>8}  result",
        "specification", "states", "trans", "start", "explore"
    );
    let (mut passed, mut failed) = (0, 0);
    for case in cases.iter().filter(|case| case.file.contains(&only)) {
        let verdict = judge(models, quotients, case, effort);
        let mark = if verdict.passed { " " } else { "X" };
        let name = case.file.trim_end_matches(".mcrl2");
        let name = if name.len() > 62 { &name[name.len() - 62..] } else { name };
        println!(
            "{mark} {name:<62} {:>9} {:>9} {:>7.3} {:>8.3}  {}",
            verdict.states, verdict.transitions, verdict.start, verdict.exploration, verdict.note
        );
        if verdict.passed { passed += 1 } else { failed += 1 }
    }
    println!("{passed} as promised, {failed} not");
    Ok(failed)
}
