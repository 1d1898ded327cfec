//! Whether the random strategies draw what they should: observed frequencies against exact probabilities.
//!
//! Seeds are fixed, so a test that passes goes on passing. The bound of every chi-square test is the quantile that a
//! right implementation exceeds with probability 10⁻⁵ under a fresh seed; single frequencies are held to five standard
//! deviations (6·10⁻⁷). Wrong implementations are put through the same tests in `mutants`, and must fail.

mod approximate;
mod chi_square;
mod definition;
mod diamond;
mod graphs;
mod level_sets;
mod mutants;
mod streaming;
mod toy;
mod walks;

use std::sync::atomic::AtomicBool;

use turnpike_model::Model;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::rng::run_seed;
use crate::run::{Control, Run};
use crate::strategy::Bfs;

/// A highway search of a given width, as the strategies' files offer it.
type Highway = fn(&mut Run<'_>, u64) -> Result<StopReason, Halt>;

/// Runs `search` once for each seed derived from `seed`, up to `max_depth`, and hands every run's trail to `each`: the
/// expanded states in order, each as its depth followed by its words.
fn observe(
    model: &dyn Model,
    (seed, runs): (u64, u64),
    max_depth: u32,
    search: impl Fn(&mut Run<'_>) -> Result<StopReason, Halt>,
    mut each: impl FnMut(&mut dyn Iterator<Item = (u32, &[u32])>),
) {
    let mut options = SearchOptions::new(Bfs::default());
    options.witness = false;
    options.limits.depth = Some(max_depth);
    options.limits.memory = Some(u64::MAX);
    let interrupt = AtomicBool::new(false);
    let control = Control { events: &|_| {}, interrupt: &interrupt };
    for number in 0..runs {
        let mut run =
            Run::new(model, &options, &[], number, run_seed(seed, number), control).expect("a run begins");
        run.trail = Some(Vec::new());
        match search(&mut run) {
            Ok(_) | Err(Halt::Stop(_)) => {}
            Err(Halt::Error(error)) => panic!("run {number} of seed {seed}: {error}"),
        }
        let trail = run.trail.unwrap_or_default();
        let mut expansions = trail.chunks(1 + model.info().width).map(|entry| (entry[0], &entry[1..]));
        each(&mut expansions);
    }
}

/// Fails unless `count` of `runs` is within five standard deviations of probability `expected`.
#[track_caller]
fn assert_frequency(what: &str, count: u64, runs: u64, expected: f64) {
    let deviations = deviations(count, runs, expected);
    assert!(
        deviations.abs() < 5.0,
        "{what}: {count} of {runs} is {deviations:.1} standard deviations off the probability {expected:.5}"
    );
}

/// How many standard deviations `count` of `runs` is above what probability `expected` gives.
fn deviations(count: u64, runs: u64, expected: f64) -> f64 {
    let (count, runs) = (count as f64, runs as f64);
    let difference = count - runs * expected;
    let spread = (runs * expected * (1.0 - expected)).sqrt();
    if difference.abs() < 1e-6 { 0.0 } else { difference / spread }
}
