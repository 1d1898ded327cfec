//! Any number of threads gives the same result, for every input language.

use serde_json::Value;

use crate::common::{command, turnpike};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");

/// What is printed for a search, without times and memory.
fn report(arguments: &[&str], threads: &str) -> Value {
    let more = ["--threads", threads, "--format", "json"];
    let output = command(&[arguments, &more].concat()).output().expect("it runs");
    let mut report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let fields = report.as_object_mut().expect("an object");
    fields.remove("seconds").expect("a time");
    fields.remove("peak_bytes").expect("memory");
    report
}

#[test]
fn large_levels_are_shared_out_with_the_same_result() {
    let (lift, fischer) = (format!("{MODELS}/lift.mcrl2"), format!("{MODELS}/timed/fischer.xta"));
    let rows: [(&str, &[&str], u64); 3] = [
        ("builtin:philosophers", &["--set", "n=10"], 20_000),
        (&lift, &["--set", "N=4"], 12_000),
        (&fischer, &["--set", "N=7", "--cover", "none"], 20_000),
    ];
    for (model, settings, states) in rows {
        let states = states.to_string();
        let limits = ["--max-states", &states, "--allow-unknown"];
        for strategy in [&["--strategy", "bfs"][..], &["--strategy", "highway", "--width", "3000"]] {
            for find in ["action none", "deadlock"] {
                let search = [&["search", model, "--find", find][..], settings, &limits, strategy].concat();
                let alone = report(&search, "1");
                let large = alone["states"].as_u64() > Some(4096);
                assert!(large || alone["stop"] == "found", "{model} is too small: {alone}");
                for threads in ["2", "3"] {
                    assert_eq!(report(&search, threads), alone, "{search:?} with {threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_strategy_that_cannot_use_threads_says_so() {
    let search = ["search", "builtin:philosophers", "--strategy", "dfs", "--threads", "2"];
    turnpike(&search).expect(1, &["--threads has no effect: `dfs` cannot use several here"]);
    let many = turnpike(&[&search[..], &["--runs", "2"]].concat()).exits(1);
    assert!(!many.text().contains("has no effect"), "{}", many.text());
}
