//! Five dining philosophers (figure 8, right, of the highway paper): a wider highway may do worse.
//!
//! The probability of finding the deadlock falls between widths 5 and 20 and rises again by 60, for highway search by
//! definition, by reservoir and in a stream alike. With 4,000 runs a difference of four standard errors occurs by
//! chance with probability 3·10⁻⁵.

use std::sync::atomic::AtomicBool;

use turnpike_search::strategy::{Highway, HighwayApprox, HighwayIdeal};
use turnpike_search::{SearchOptions, Strategy, Verdict, search};

const RUNS: u64 = 4000;

/// The share of runs that find the deadlock.
fn success(strategy: Strategy, seed: u64) -> f64 {
    let model = turnpike_builtin::build("philosophers", &[("n".to_owned(), "5".to_owned())]).unwrap();
    let mut options = SearchOptions::new(strategy);
    (options.seed, options.runs, options.threads) = (seed, RUNS, 2);
    (options.witness, options.shorten) = (false, false);
    let report = search(&*model, &options, &|_| {}, &AtomicBool::new(false)).unwrap();
    let found = report.runs.iter().filter(|run| run.verdict == Verdict::Found).count();
    found as f64 / RUNS as f64
}

/// How many standard errors the first share is above the second.
fn standard_errors(above: f64, below: f64) -> f64 {
    let variance = (above * (1.0 - above) + below * (1.0 - below)) / RUNS as f64;
    (above - below) / variance.sqrt()
}

fn check(strategy: impl Fn(u64) -> Strategy) {
    let [narrow, middle, wide] = [5, 15, 60].map(|width| success(strategy(width), 8));
    let (name, shares) = (strategy(1).name(), format!("{narrow} at 5, {middle} at 15, {wide} at 60"));
    assert!(standard_errors(narrow, middle) > 4.0, "{name} does not fall: {shares}");
    assert!(standard_errors(wide, middle) > 4.0, "{name} does not rise again: {shares}");
    assert!(narrow < 1.0, "{name} never fails at width 5");
}

#[test]
fn highway_ideal_falls_and_rises() {
    check(|width| Strategy::from(HighwayIdeal { width }));
}

#[test]
fn highway_approx_falls_and_rises() {
    check(|width| Strategy::from(HighwayApprox { width }));
}

#[test]
fn highway_falls_and_rises() {
    check(|width| Strategy::from(Highway { width }));
}
