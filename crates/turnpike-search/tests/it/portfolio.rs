//! The portfolio, the guided strategies and witness shortening, on built-in models.

use std::sync::atomic::AtomicBool;

use turnpike_model::Model;
use turnpike_search::strategy::{Auto, Beam, BestFirst, Exhaustive, RandomWalk, Rdfs};
use turnpike_search::{Limits, RunReport, SearchOptions, StopReason, Strategy, Verdict, search};

fn model(name: &str, settings: &[(&str, &str)]) -> Box<dyn Model> {
    let settings: Vec<_> = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    turnpike_builtin::build(name, &settings).unwrap()
}

fn options(strategy: Strategy, objective: &str, states: u64) -> SearchOptions {
    let mut options = SearchOptions::new(strategy);
    options.objectives = vec![objective.parse().unwrap()];
    options.limits = Limits { states: Some(states), ..Limits::default() };
    options
}

fn runs(model: &dyn Model, options: &SearchOptions) -> Vec<RunReport> {
    search(model, options, &|_| {}, &AtomicBool::new(false)).unwrap().runs
}

fn one(model: &dyn Model, options: &SearchOptions) -> RunReport {
    runs(model, options).remove(0)
}

fn found(reports: &[RunReport]) -> usize {
    reports.iter().filter(|report| report.verdict == Verdict::Found).count()
}

#[test]
fn auto_finds_bugs_of_every_shape() {
    for (name, settings, objective) in [
        ("backloops", &[][..], "deadlock"),
        ("scc", &[], "label report(3)"),
        ("philosophers", &[("n", "17")], "deadlock"),
        ("philosophers-either", &[("n", "5")], "deadlock"),
        ("bakery", &[("n", "2"), ("limit", "8")], "assertion"),
    ] {
        let model = model(name, settings);
        for seed in 0..10 {
            let mut options = options(Strategy::from(Auto), objective, 100_000);
            options.seed = seed;
            let report = one(&*model, &options);
            assert_eq!(report.verdict, Verdict::Found, "{name} with seed {seed}");
            assert_eq!(report.stop, StopReason::Found);
        }
    }
}

/// Seventeen philosophers with a coin: within what one genetic search takes, and where single members
/// find nothing.
#[test]
fn auto_finds_what_few_transitions_lead_to() {
    let model = model("philosophers-either", &[("n", "17")]);
    for seed in 0..3 {
        let mut options = options(Strategy::from(Auto), "deadlock", 338_000);
        options.seed = seed;
        let report = one(&*model, &options);
        assert_eq!(report.verdict, Verdict::Found, "seed {seed}");
    }
}

#[test]
fn auto_proves_absence_when_a_member_covers_everything() {
    let model = model("two-phase-commit", &[("n", "3")]);
    let report = one(&*model, &options(Strategy::from(Auto), "assertion", 1_000_000));
    assert_eq!((report.verdict, report.stop), (Verdict::None, StopReason::Exhausted));
    // The last member saw all 288 states; earlier rounds are counted on top.
    assert_eq!(report.considered, Some(288));
    assert!(report.states > 288);
}

#[test]
fn auto_keeps_to_its_limits() {
    let model = model("bakery", &[]);
    let report = one(&*model, &options(Strategy::from(Auto), "action nothing-of-the-kind", 5_000));
    assert_eq!(
        (report.verdict, report.stop, report.states),
        (Verdict::Inconclusive, StopReason::MaxStates, 5_000)
    );
    let mut shallow = options(Strategy::from(Auto), "assertion", 10_000_000);
    shallow.limits.depth = Some(4);
    let report = one(&*model, &shallow);
    assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxDepth));
    assert!(report.depth < 4);
}

#[test]
fn shortening_gives_short_witnesses() {
    let model = model("philosophers", &[("n", "5")]);
    for seed in 0..30 {
        let mut options = options(Strategy::from(Rdfs::default()), "deadlock", 10_000);
        options.seed = seed;
        options.shorten = false;
        let plain = one(&*model, &options).witness.unwrap();
        options.shorten = true;
        let report = one(&*model, &options);
        let shortened = report.witness.unwrap();
        assert_eq!(shortened.original_length, plain.length);
        // Breadth-first search needs 118 expansions for the shortest witness: less than its half of the least budget.
        assert_eq!(shortened.length, 5, "{} steps to begin with, seed {seed}", plain.length);
        assert!(report.shorten_states > 0);
    }
}

#[test]
fn leaving_out_steps_brings_a_long_witness_down_to_the_shortest() {
    let model = model("philosophers", &[("n", "17")]);
    for seed in 0..10 {
        let mut options = options(Strategy::from(Rdfs::default()), "deadlock", 10_000);
        options.seed = seed;
        options.shorten_budget = Some(30_000);
        let report = one(&*model, &options);
        let witness = report.witness.unwrap();
        assert!(witness.original_length > 17, "seed {seed}");
        assert_eq!(witness.length, 17, "{} steps to begin with, seed {seed}", witness.original_length);
        assert!(report.shorten_states <= 30_000, "{}", report.shorten_states);
    }
}

#[test]
fn shortening_never_lengthens_and_stays_within_its_budget() {
    for (name, settings, objective) in [
        ("bakery", &[("n", "3"), ("limit", "12")][..], "assertion"),
        ("philosophers-either", &[("n", "6")], "deadlock"),
        ("sliding-puzzle", &[("width", "3"), ("height", "2")], "action solved"),
        ("scc", &[], "action report"),
    ] {
        let model = model(name, settings);
        let mut options = options(Strategy::from(Rdfs::default()), objective, 200_000);
        options.runs = 20;
        for report in runs(&*model, &options) {
            let witness = report.witness.unwrap();
            assert!(witness.length <= witness.original_length, "{name}");
            let budget = (report.states / 2).clamp(40_000, 50_000);
            assert!(report.shorten_states <= budget, "{name}: {} of {budget}", report.shorten_states);
        }
    }
}

/// How many of 20 runs succeed with `strategy`, and how many with `random` and restarts, at `states` expansions each.
fn against_random(
    name: &str,
    settings: &[(&str, &str)],
    objective: &str,
    strategy: Strategy,
    states: u64,
) -> (usize, usize) {
    let model = model(name, settings);
    let attempt = |strategy: Strategy| {
        let mut options = options(strategy, objective, states);
        options.runs = 20;
        options.shorten = false;
        found(&runs(&*model, &options))
    };
    let random = RandomWalk { restart: true, ..RandomWalk::default() };
    (attempt(strategy), attempt(Strategy::from(random)))
}

#[test]
fn beam_beats_random_on_the_puzzle() {
    let beam = Strategy::from(Beam { width: 200, guide: "manhattan".parse().unwrap() });
    let (beam, random) = against_random("sliding-puzzle", &[], "action solved", beam, 10_000);
    assert!(beam >= 18, "beam solves {beam} of 20");
    assert!(random <= 5, "random solves {random} of 20");
}

#[test]
fn best_first_beats_random_on_the_puzzle() {
    let best_first = Strategy::from(BestFirst { guide: "min manhattan".parse().unwrap(), queue: None });
    let (best_first, random) = against_random("sliding-puzzle", &[], "action solved", best_first, 5_000);
    assert!(best_first >= 18, "best-first solves {best_first} of 20");
    assert!(random <= 5, "random solves {random} of 20");
}

#[test]
fn beam_finds_the_shortest_deadlock_of_seventeen_philosophers() {
    let model = model("philosophers-either", &[]);
    let beam = Strategy::from(Beam { width: 20, guide: "max agreement".parse().unwrap() });
    let report = one(&*model, &options(beam, "deadlock", 5_000));
    assert_eq!(report.witness.map(|witness| witness.length), Some(34));
}

#[test]
fn a_bounded_queue_gives_completeness_away() {
    let model = model("two-phase-commit", &[("n", "3")]);
    let bounded = Strategy::from(BestFirst { guide: "messages".parse().unwrap(), queue: Some(3) });
    let report = one(&*model, &options(bounded, "assertion", 10_000));
    assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::Finished));
    let unbounded = Strategy::from(BestFirst { guide: "messages".parse().unwrap(), queue: None });
    let report = one(&*model, &options(unbounded, "assertion", 10_000));
    assert_eq!((report.verdict, report.states), (Verdict::None, 288));
}

#[test]
fn exhaustive_search_counts_paths_and_says_when_it_was_cut() {
    // In a diamond of side 4, the levels above the widest have 1, 2, 4 and 8 paths into them.
    let model = model("diamond", &[("n", "4")]);
    let report = one(&*model, &options(Strategy::from(Exhaustive { depth: 3 }), "action report", 1_000));
    assert_eq!(
        (report.verdict, report.stop, report.states),
        (Verdict::Inconclusive, StopReason::MaxDepth, 15)
    );
    let report = one(&*model, &options(Strategy::from(Exhaustive { depth: 4 }), "action report", 1_000));
    assert_eq!(report.witness.map(|witness| witness.length), Some(5));
}
