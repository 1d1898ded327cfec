//! Compares turnpike with a naive interpreter of process terms, on random mCRL2 specifications.
//!
//! ```text
//! cargo run --release -p turnpike-mcrl2 --example second_opinion -- --count 1000000 --seed 0 --threads 2
//! cargo run --release -p turnpike-mcrl2 --example second_opinion -- --count 100000 --seed 0 --keep-dead
//! cargo run --release -p turnpike-mcrl2 --example second_opinion -- --seed 0 --from 1234 --count 1 --show
//! cargo run --release -p turnpike-mcrl2 --example second_opinion -- some.mcrl2
//! ```
//!
//! A specification is determined by the seed and its number. If both sides differ, it is shrunk and
//! printed with the behaviour of both; the exit code is then 1. A file is compared as it is.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

// Some functions are only for the tests.
#[allow(dead_code)]
#[path = "../tests/it/naive/mod.rs"]
mod naive;

#[allow(dead_code)]
#[path = "../tests/it/rewriter/mod.rs"]
mod rewriter;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use naive::trial::{self, MOST, Outcome, Series, Tally};
use turnpike_mcrl2::explore::Options;

const USAGE: &str = "usage: second_opinion [--count N] [--seed N] [--from N] [--threads N] [--failures N] [--keep-dead] \
     [--show] [FILE…]";

struct Request {
    count: u64,
    series: Series,
    from: u64,
    threads: u64,
    failures: u64,
    /// Whether all specifications are printed.
    show: bool,
    files: Vec<String>,
}

fn request() -> Option<Request> {
    let series = Series { seed: 0, keep_dead: false };
    let mut request =
        Request { count: 5000, series, from: 0, threads: 1, failures: 10, show: false, files: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse::<u64>().ok();
        match argument.as_str() {
            "--count" => request.count = number()?,
            "--seed" => request.series.seed = number()?,
            "--from" => request.from = number()?,
            "--threads" => request.threads = number()?,
            "--keep-dead" => request.series.keep_dead = true,
            "--show" => request.show = true,
            "--failures" => request.failures = number()?,
            flag if flag.starts_with('-') => return None,
            _ => request.files.push(argument),
        }
    }
    Some(request)
}

fn main() -> ExitCode {
    // A panic of the product is a difference, and reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    let Some(request) = request() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if !request.files.is_empty() {
        return ask_about_files(&request.files);
    }
    let (done, different) = (AtomicU64::new(0), AtomicU64::new(0));
    let step = (request.count / 20).clamp(1, 50_000);
    let end = request.from.saturating_add(request.count);
    let tally = trial::run(request.series, request.from..end, request.threads, &|number, outcome| {
        let all = done.fetch_add(1, Ordering::Relaxed) + 1;
        if all.is_multiple_of(step) {
            eprintln!("{all} of {} specifications", request.count);
        }
        if request.show {
            let (specification, options) = trial::specification(request.series, number);
            let (combinations, unhide) = (options.combinations, options.unhide);
            println!("% {number}, combinations: {combinations:?}, unhide: {unhide:?}");
            println!("{}% {outcome:?}\n", specification.text());
        }
        if !matches!(outcome, Outcome::Different(_)) {
            return true;
        }
        println!("specification {number} of seed {}:", request.series.seed);
        println!("{}", trial::smallest(request.series, number));
        different.fetch_add(1, Ordering::Relaxed) + 1 < request.failures
    });
    print(&request, &tally);
    if tally.different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ask_about_files(files: &[String]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("error: {file}: {error}");
                return ExitCode::from(2);
            }
        };
        match trial::judge(&text, &Options::default(), MOST) {
            Outcome::Different(difference) => {
                println!("{file}: {difference}");
                code = ExitCode::FAILURE;
            }
            other => println!("{file}: {other:?}"),
        }
    }
    code
}

fn print(request: &Request, tally: &Tally) {
    println!(
        "seed {}, specifications {} to {}",
        request.series.seed,
        request.from,
        request.from + tally.specifications - 1
    );
    let share = |count: u64| {
        format!("{count:>9} {:>5.1} %", 100.0 * count as f64 / tally.specifications.max(1) as f64)
    };
    let sum = |all: &BTreeMap<String, u64>| all.values().sum::<u64>();
    println!("{} the same", share(tally.agreed));
    println!("{}    of them all states, within {MOST}", share(tally.complete));
    println!("{} different: {:?}", share(tally.different.len() as u64), tally.different);
    println!("{} refused with a message", share(sum(&tally.refused)));
    println!("{} with an error in a step", share(sum(&tally.failed)));
    println!("{} too large for the naive interpreter, or undecided by it", share(sum(&tally.undecided)));
    println!("{} not correct", share(sum(&tally.wrong)));
    println!("{} states by turnpike, {} by the naive interpreter", tally.states, tally.naive_states);
    println!("\nspecifications on which both agree, by what is in them");
    tally.operators.iter().for_each(|(operator, count)| println!("{count:>9} {operator}"));
    for (title, all) in [
        ("refused", &tally.refused),
        ("error in a step", &tally.failed),
        ("undecided by the naive interpreter", &tally.undecided),
        ("not correct", &tally.wrong),
    ] {
        println!("\n{title}");
        all.iter().for_each(|(message, count)| println!("{count:>9} {message}"));
    }
}
