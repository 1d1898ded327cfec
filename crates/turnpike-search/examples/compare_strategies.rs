//! Compares strategies on built-in models: success rate, mean cost per success (failures and shortening included), and
//! median witness length. `cargo run --release -p turnpike-search --example compare_strategies [RUNS]`

#![allow(clippy::print_stdout)]

use std::sync::atomic::AtomicBool;

use turnpike_search::strategy::{DrsOptions, RandomOptions};
use turnpike_search::{Limits, Objective, SearchOptions, Strategy, Verdict, search};

/// Model, settings, objective, and the limit on states.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, u64);

const CASES: [Case; 9] = [
    ("backloops", &[], "deadlock", 10_000),
    ("scc", &[], "label report(3)", 10_000),
    ("philosophers", &[("n", "5")], "deadlock", 5_000),
    ("philosophers", &[("n", "17")], "deadlock", 20_000),
    ("philosophers-either", &[("n", "5")], "deadlock", 50_000),
    ("two-phase-commit", &[("n", "7")], "state committed == 7", 50_000),
    ("bakery", &[("n", "2"), ("limit", "8")], "assertion", 50_000),
    ("bakery", &[("n", "5")], "assertion", 200_000),
    ("sliding-puzzle", &[], "action solved", 200_000),
];

fn strategies() -> Vec<(String, Strategy)> {
    let restart = RandomOptions { restart: true, ..RandomOptions::default() };
    let mut all = vec![
        ("random".into(), Strategy::Random(RandomOptions::default())),
        ("random --restart".into(), Strategy::Random(restart)),
        ("bfs".into(), Strategy::Bfs),
        ("rdfs".into(), Strategy::Rdfs),
    ];
    all.extend([8, 32].map(|width| (format!("highway --width {width}"), Strategy::Highway { width })));
    all.push(("drs".into(), Strategy::Drs(DrsOptions::default())));
    all.push(("auto".into(), Strategy::Auto));
    all
}

fn main() {
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    println!("model,objective,strategy,success,cost_per_success,median_length,cost_ratio");
    let mut log_ratios = Vec::new();
    for (name, settings, objective, max_states) in CASES {
        let settings: Vec<_> =
            settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let model = turnpike_builtin::build(name, &settings).expect("a built-in model");
        let mut rows = Vec::new();
        for (title, strategy) in strategies() {
            let mut options = SearchOptions::new(strategy);
            options.objectives = vec![objective.parse::<Objective>().expect("an objective")];
            options.limits = Limits { states: Some(max_states), ..Limits::default() };
            options.runs = runs;
            options.threads = 2;
            options.seed = 1;
            // Only the portfolio shortens here: single strategies are judged as they are.
            options.shorten = title == "auto";
            let report = search(&*model, &options, &|_| {}, &AtomicBool::new(false)).expect("a report");
            let found: Vec<_> = report.runs.iter().filter(|run| run.verdict == Verdict::Found).collect();
            let cost: u64 = report.runs.iter().map(|run| run.states + run.shorten_states).sum();
            let mut lengths: Vec<_> =
                found.iter().filter_map(|run| run.witness.as_ref()).map(|witness| witness.length).collect();
            lengths.sort_unstable();
            let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
            rows.push((title, found.len() as f64 / runs as f64, cost as f64 / found.len() as f64, median));
        }
        let cheapest =
            rows.iter().filter(|row| row.0 != "auto").map(|row| row.2).fold(f64::INFINITY, f64::min);
        for (title, success, cost, median) in &rows {
            let ratio = cost / cheapest;
            println!("{},{objective},{title},{success:.2},{cost:.0},{median},{ratio:.2}", model.info().name);
            if title == "auto" {
                log_ratios.push(ratio.ln());
            }
        }
    }
    let mean = (log_ratios.iter().sum::<f64>() / log_ratios.len() as f64).exp();
    let worst = log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max).exp();
    println!(
        "# auto costs {mean:.2} times the cheapest strategy (geometric mean), at worst {worst:.2} times"
    );
}
