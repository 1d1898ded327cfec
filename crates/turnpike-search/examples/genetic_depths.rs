//! Genetic search on a program of philosophers who toss which fork to take first: how often it succeeds at which depth.
//!
//! `cargo run --release --example genetic_depths [RUNS]` prints a table.

#![allow(clippy::print_stdout)]

#[path = "../tests/it/scripts/mod.rs"]
mod scripts;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use scripts::philosophers_with;
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Genetic, RandomWalk};
use turnpike_search::{SearchOptions, Verdict, search};

const SEATS: usize = 17;

fn main() {
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(50);
    println!("| search | depth | found | executions | seconds |");
    println!("|---|---|---|---|---|");
    for (crossover, depth) in [(true, 34), (true, 51), (true, 68), (true, 100), (true, 130), (false, 68)] {
        let genetic = Genetic { depth, generations: 50, crossover, ..Genetic::default() };
        let mut options = SearchOptions::new(genetic);
        options.runs = runs;
        row(&options, depth, false);
    }
    let genetic = Genetic { depth: 68, generations: 50, ..Genetic::default() };
    let mut options = SearchOptions::new(genetic);
    options.runs = runs;
    row(&options, 68, true);
    let walks = RandomWalk { restart_depth: Some(68), ..RandomWalk::default() };
    let mut options = SearchOptions::new(walks);
    options.limits.executions = Some(100_000);
    row(&options, 68, false);
}

fn row(options: &SearchOptions, depth: u32, sleep: bool) {
    let mut options = options.clone();
    options.objectives.push("deadlock".parse().expect("an objective"));
    (options.seed, options.shorten, options.threads) = (1, false, 2);
    let started = Instant::now();
    let model = philosophers_with(SEATS, 0, ProgramOptions { sleep, ..ProgramOptions::default() });
    let report = search(&model, &options, &|_| {}, &AtomicBool::new(false)).expect("a search");
    let found = report.runs.iter().filter(|run| run.verdict == Verdict::Found).count();
    let executions: u64 =
        report.runs.iter().filter_map(|run| run.executions).map(|counts| counts.executions).sum();
    let (name, runs) = (options.strategy.name(), report.runs.len());
    let seconds = started.elapsed().as_secs_f64();
    let reduced = if sleep { ", sleep sets" } else { "" };
    println!("| {name}{reduced} | {depth} | {found} of {runs} | {executions} | {seconds:.1} |");
}
