//! The same seed gives the same report: again, with more threads, and for a run taken out of many.

use std::sync::atomic::AtomicBool;

use serde_json::Value;
use turnpike_model::Model;
use turnpike_search::strategy::{
    Auto, Beam, BestFirst, Bfs, Descriptor, Dfs, Drs, Exhaustive, Fringe, Genetic, Guide, Highway,
    HighwayApprox, HighwayIdeal, RandomWalk, Rdfs, STRATEGIES,
};
use turnpike_search::{
    Limits, Objective, RunReport, SearchOptions, StopReason, StoreKind, Strategy, Verdict, search,
};

fn builtin(name: &str, settings: &[(&str, u64)]) -> Box<dyn Model> {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    turnpike_builtin::build(name, &settings).unwrap()
}

/// The strategies that search any model.
fn rows() -> impl Iterator<Item = &'static Descriptor> {
    STRATEGIES.iter().copied().filter(|row| !row.programs_only)
}

/// The strategy that a row of the table speaks of, small enough for small models.
fn strategy(name: &str, model: &dyn Model, width: u64) -> Strategy {
    let guide = Guide { measure: model.info().measures[0].name.clone(), maximise: true };
    let genetic = Genetic { population: 20, parents: 10, generations: 5, depth: 30, ..Default::default() };
    match name {
        "auto" => Strategy::from(Auto),
        "random" => Strategy::from(RandomWalk { restart_depth: Some(40), ..Default::default() }),
        "bfs" => Strategy::from(Bfs::default()),
        "dfs" => Strategy::from(Dfs::default()),
        "rdfs" => Strategy::from(Rdfs::default()),
        "highway" => Strategy::from(Highway { width }),
        "highway-ideal" => Strategy::from(HighwayIdeal { width }),
        "highway-approx" => Strategy::from(HighwayApprox { width }),
        "drs" => Strategy::from(Drs::default()),
        "genetic" => Strategy::from(genetic),
        "mutation" => Strategy::from(Genetic { crossover: false, ..genetic }),
        "exhaustive" => Strategy::from(Exhaustive { depth: 9 }),
        "beam" => Strategy::from(Beam { width, guide }),
        "best-first" => Strategy::from(BestFirst { guide, queue: None }),
        _ => panic!("the strategy {name} has no determinism test"),
    }
}

fn options(strategy: Strategy, objective: &str, max_states: u64) -> SearchOptions {
    let mut options = SearchOptions::new(strategy);
    options.objectives = objective.split(" ; ").map(|text| text.parse::<Objective>().unwrap()).collect();
    options.limits = Limits { states: Some(max_states), ..Limits::default() };
    options.seed = 5;
    options
}

fn runs(model: &dyn Model, options: &SearchOptions) -> Vec<RunReport> {
    search(model, options, &|_| {}, &AtomicBool::new(false)).unwrap().runs
}

fn run(model: &dyn Model, options: &SearchOptions) -> RunReport {
    runs(model, options).remove(0)
}

/// A report without what may differ: time and memory.
fn stable(report: &RunReport) -> Value {
    let mut value = serde_json::to_value(report).unwrap();
    let fields = value.as_object_mut().unwrap();
    assert!(fields.remove("seconds").is_some() && fields.remove("peak_bytes").is_some());
    value
}

/// Without what keeps components from going on, which only the shortest of many witnesses says.
fn unexplained(mut report: Value) -> Value {
    if let Some(witness) = report["witness"].as_object_mut() {
        witness.remove("stuck");
    }
    report
}

fn all_stable(reports: &[RunReport]) -> Vec<Value> {
    reports.iter().map(stable).collect()
}

#[test]
fn every_strategy_repeats_itself() {
    let cases = [
        ("philosophers", &[("n", 4)][..], &["deadlock", "action eat", "max waiting ; cover lock*"][..]),
        ("diamond", &[("n", 6)], &["deadlock", "label report(2)", "cover report* ; max report.1"]),
        ("scc", &[], &["label report(3)", "deadlock", "nondeterminism"]),
        ("backloops", &[("n", 4)], &["deadlock", "livelock"]),
    ];
    for row in rows() {
        for (name, settings, objectives) in cases {
            let model = builtin(name, settings);
            for objective in objectives {
                for all in [false, true] {
                    let mut options = options(strategy(row.name, &*model, 5), objective, 500);
                    options.all = all;
                    let first = stable(&run(&*model, &options));
                    let again = stable(&run(&*model, &options));
                    assert_eq!(first, again, "{} on {name}, {objective}", row.name);
                }
            }
        }
    }
}

#[test]
fn other_seeds_give_other_runs() {
    // Otherwise the tests above would prove nothing of the strategies that draw.
    let model = builtin("philosophers", &[("n", 6)]);
    for name in ["random", "rdfs", "highway", "highway-ideal", "highway-approx", "drs", "genetic"] {
        let mut options = options(strategy(name, &*model, 4), "deadlock", 200);
        let first = stable(&run(&*model, &options));
        let differs = (6..16).any(|seed| {
            options.seed = seed;
            let mut other = run(&*model, &options);
            other.seed = 5;
            stable(&other) != first
        });
        assert!(differs, "{name} does not depend on the seed");
    }
}

/// Strategies that expand a level with several threads, wide enough for levels to be shared out.
fn level_synchronous(model: &dyn Model) -> impl Iterator<Item = Strategy> {
    rows()
        .map(|row| strategy(row.name, model, 700))
        .filter(|strategy| strategy.descriptor().parallel.helps(false))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Asserts one result for 1, 2, 3 and 7 threads, and returns it.
fn same_for_all_threads(model: &dyn Model, options: &SearchOptions) -> RunReport {
    let mut options = options.clone();
    options.threads = 1;
    // Small models are not worth threads: insist, so that levels are really shared out.
    options.eager_threads = true;
    let alone = run(model, &options);
    for threads in [2, 3, 7] {
        options.threads = threads;
        let what = format!("{} with {threads} threads, {}", options.strategy.name(), alone.objective);
        assert_eq!(stable(&run(model, &options)), stable(&alone), "{what}");
    }
    alone
}

#[test]
fn threads_do_not_change_a_search() {
    let model = builtin("philosophers", &[("n", 8)]);
    let objectives = ["deadlock", "label free(8,1)", "max waiting ; cover eat*", "nondeterminism"];
    for strategy in level_synchronous(&*model) {
        for objective in objectives {
            let report = same_for_all_threads(&*model, &options(strategy.clone(), objective, 6000));
            assert!(report.states > 0);
        }
    }
}

#[test]
fn threads_do_not_change_where_a_limit_stops() {
    let model = builtin("philosophers", &[("n", 8)]);
    for strategy in level_synchronous(&*model) {
        for limit in [1, 63, 64, 257, 1000, 2500, 4321] {
            let report = same_for_all_threads(&*model, &options(strategy.clone(), "max waiting", limit));
            assert_eq!((report.stop, report.states), (StopReason::MaxStates, limit), "{}", strategy.name());
        }
    }
}

#[test]
fn threads_do_not_change_walks() {
    let model = builtin("philosophers", &[("n", 12)]);
    let mut late = 0;
    for (objective, restart_depth) in [("deadlock", 12), ("deadlock ; max waiting", 14)] {
        for seed in 0..5 {
            let walk = RandomWalk { restart_depth: Some(restart_depth), ..Default::default() };
            let mut options = options(Strategy::from(walk), objective, 3000);
            (options.seed, options.all) = (seed, objective.contains(';'));
            options.shorten = false;
            let report = same_for_all_threads(&*model, &options);
            // Threads make walks from the thirty-second on.
            late += u32::from(report.witness.is_some() && report.states > 64 * u64::from(restart_depth));
        }
    }
    assert!(late >= 3, "{late} searches met something in a walk that threads may have made");
}

#[test]
fn threads_do_not_change_batches_of_walks() {
    let model = builtin("philosophers", &[("n", 8)]);
    let variants = [
        Drs { batch: Some(5), ..Drs::default() },
        Drs { batch: Some(16), fringe: Fringe::Children, ..Drs::default() },
        Drs { batch: Some(7), increment: Some(3), depth_aware: true, ..Drs::default() },
        Drs { batch: Some(9), anytime: true, ..Drs::default() },
        Drs { batch: Some(4), cutoff: Some(9), ..Drs::default() },
    ];
    for drs in variants {
        for (objective, states) in [("deadlock", 6000), ("max waiting", 1234), ("max waiting", u64::MAX)] {
            let mut options = options(Strategy::from(drs.clone()), objective, states);
            options.shorten = false;
            same_for_all_threads(&*model, &options);
        }
    }
}

#[test]
fn hits_in_the_middle_of_a_shared_level_are_the_first_in_order() {
    let model = builtin("philosophers", &[("n", 8)]);
    let mut within = options(Strategy::from(Bfs::default()), "max waiting", u64::MAX);
    let mut expanded_before = |depth: u32| {
        within.limits.depth = Some(depth);
        run(&*model, &within).states
    };
    // The deadlock is eight steps deep, and no level is a multiple of what a thread takes at a time.
    let (start, end) = (expanded_before(8), expanded_before(9));
    assert!(end - start > 1024, "level eight has {} states", end - start);
    for store in [StoreKind::Exact, StoreKind::Tree, StoreKind::Compact] {
        let mut options = options(Strategy::from(Bfs::default()), "deadlock", u64::MAX);
        options.store = store;
        let report = same_for_all_threads(&*model, &options);
        assert_eq!(report.verdict, Verdict::Found);
        assert!(start < report.states && report.states < end, "{start} < {} < {end}", report.states);
        assert_eq!(report.witness.unwrap().length, 8);
    }
}

#[test]
fn threads_do_not_change_many_runs() {
    let model = builtin("philosophers", &[("n", 5)]);
    for row in rows() {
        let mut options = options(strategy(row.name, &*model, 6), "deadlock", 300);
        options.runs = 6;
        let alone = all_stable(&runs(&*model, &options));
        options.threads = 2;
        assert_eq!(all_stable(&runs(&*model, &options)), alone, "{}", row.name);
    }
}

#[test]
fn a_run_of_many_is_repeated_by_its_seed_alone() {
    let model = builtin("philosophers", &[("n", 5)]);
    for row in rows() {
        let mut options = options(strategy(row.name, &*model, 6), "deadlock ; cover eat*", 300);
        options.runs = 5;
        // Of many witnesses only the shortest has states: labels are compared.
        options.states_in_witness = false;
        let many = runs(&*model, &options);
        options.runs = 1;
        // Alone, a run's witness would be shortened further.
        options.thorough = false;
        for (number, one) in many.iter().enumerate() {
            options.seed = one.seed;
            assert_eq!(
                unexplained(stable(&run(&*model, &options))),
                unexplained(stable(one)),
                "run {number} of {}",
                row.name
            );
        }
    }
}

#[test]
fn a_limit_of_so_many_states_allows_exactly_so_many() {
    let model = builtin("philosophers", &[("n", 7)]);
    for row in rows() {
        for limit in [0, 1, 2, 37, 200] {
            let report = run(&*model, &options(strategy(row.name, &*model, 5), "max waiting", limit));
            assert!(report.states <= limit, "{} expanded {} of {limit}", row.name, report.states);
            if report.stop == StopReason::MaxStates {
                assert_eq!(report.states, limit, "{}", row.name);
            } else {
                let ends_by_itself = row.name.starts_with("highway") || row.name == "beam";
                assert!(ends_by_itself, "{} stops with {:?} at {limit}", row.name, report.stop);
            }
        }
    }
}

#[test]
fn nothing_at_the_depth_limit_is_expanded() {
    let model = builtin("philosophers", &[("n", 7)]);
    for row in rows() {
        for limit in [0, 1, 6] {
            let mut options = options(strategy(row.name, &*model, 5), "max waiting", 2000);
            options.limits.depth = Some(limit);
            let report = run(&*model, &options);
            let within = if limit == 0 { report.states == 0 } else { report.depth < limit };
            assert!(within, "{} expands at depth {} of {limit}", row.name, report.depth);
        }
    }
}

#[test]
fn stores_agree() {
    let bits = StoreKind::Bitstate { bytes: 8 << 20 };
    for (name, settings, states) in
        [("philosophers", &[("n", 7)][..], 4286), ("scc", &[("number", 9), ("size", 7)], 73)]
    {
        let model = builtin(name, settings);
        for strategy in [
            Strategy::from(Bfs::default()),
            Strategy::from(Dfs::default()),
            Strategy::from(Highway { width: 5000 }),
        ] {
            let mut options = options(strategy, "action none", u64::MAX);
            let exact = run(&*model, &options);
            assert_eq!(
                (exact.verdict, exact.states, exact.considered),
                (Verdict::None, states, Some(states))
            );
            for store in [StoreKind::Tree, StoreKind::Compact, bits] {
                options.store = store;
                let report = run(&*model, &options);
                let what = format!("{} on {name} with {store}", options.strategy.name());
                assert_eq!(report.verdict == Verdict::None, store.is_exact(), "{what}");
                assert_eq!(report.odds.is_none(), store.is_exact(), "{what}");
                assert_eq!(
                    (report.stop, report.states, report.considered, report.transitions, report.actions),
                    (exact.stop, exact.states, exact.considered, exact.transitions, exact.actions.clone()),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn stores_do_not_change_a_witness() {
    let model = builtin("philosophers", &[("n", 6)]);
    for strategy in [
        Strategy::from(Bfs::default()),
        Strategy::from(Highway { width: 30 }),
        Strategy::from(HighwayIdeal { width: 30 }),
    ] {
        let mut options = options(strategy, "deadlock", u64::MAX);
        let mut exact = run(&*model, &options);
        // A store that may forget states proves nothing.
        exact.witness.as_mut().expect("a deadlock").shortest = Some(false);
        let exact = stable(&exact);
        for store in [StoreKind::Tree, StoreKind::Compact] {
            options.store = store;
            let mut report = run(&*model, &options);
            report.odds = None;
            report.witness.as_mut().expect("a deadlock").shortest = Some(false);
            assert_eq!(stable(&report), exact, "{} with {store}", options.strategy.name());
        }
    }
}
