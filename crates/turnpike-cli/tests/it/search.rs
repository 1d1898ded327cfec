//! `turnpike search` as users meet it.

use crate::common;

use common::{json, timeless, turnpike};
use serde_json::Value;

const PHILOSOPHERS: &str = "builtin:philosophers";

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn without_flags_a_deadlock_is_found_and_explained() {
    let ran = turnpike(&["search", PHILOSOPHERS]).exits(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("found: deadlock in "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nstopped: the objective was met\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  1  lock("), "{}", ran.stdout);
    assert!(ran.stdout.contains("=has-left"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nactions: lock "), "{}", ran.stdout);
    assert_eq!(lines.last(), Some(&"repeat: turnpike search builtin:philosophers --seed 0"));
    assert_eq!(ran.stderr, "", "no progress without a terminal");
}

#[test]
fn the_fields_come_in_the_published_order() {
    let report = json(1, &["search", PHILOSOPHERS, "--strategy", "bfs"]);
    let published = [
        "turnpike",
        "command",
        "model",
        "strategy",
        "seed",
        "verdict",
        "stop",
        "objective",
        "states",
        "considered",
        "transitions",
        "depth",
        "seconds",
        "peak_bytes",
        "shorten_states",
        "actions",
        "witness",
    ];
    assert_eq!(keys(&report)[..published.len()], published);
    assert_eq!(report["command"], "search");
    assert_eq!(report["model"], "builtin:philosophers(n=5)");
    assert_eq!(report["verdict"], "found");
    assert_eq!(report["witness"]["length"], 5, "breadth first gives the shortest");
    assert_eq!(report["witness"]["loop"], Value::Null);
    assert_eq!(report["witness"]["steps"][0]["state"]["fork1"], "held-by-1");
    assert_eq!(report["repeat"], "turnpike search builtin:philosophers --strategy bfs --seed 0");
}

#[test]
fn accepting_cycles_are_found_and_replayed() {
    let folder = common::folder(&[]);
    let trace = folder.path().join("lasso.json");
    let trace = trace.to_str().expect("text");
    for flags in [
        &["--strategy", "dfs"][..],
        &["--strategy", "dfs", "--algorithm", "scc"],
        &["--strategy", "rdfs", "--algorithm", "ndfs"],
        &["--strategy", "bfs"],
        &["--strategy", "drs"],
        &["--trace", trace],
    ] {
        let arguments = [&["search", PHILOSOPHERS, "--find", "accepting eating == 1"], flags].concat();
        let report = json(1, &arguments);
        let steps = report["witness"]["steps"].as_array().expect("steps");
        let start = report["witness"]["loop"].as_u64().expect("a loop") as usize;
        let state = |index: usize| {
            if index == 0 { &report["witness"]["initial"] } else { &steps[index - 1]["state"] }
        };
        assert_eq!(state(start), state(steps.len()));
    }
    turnpike(&["replay", PHILOSOPHERS, trace]).expect(0, &["objective met: accepting eating == 1"]);
    let none = ["search", PHILOSOPHERS, "--find", "accepting eating == 3", "--strategy", "drs"];
    turnpike(&none).expect(0, &["none: no accepting eating == 3", "(complete)"]);
    turnpike(&["search", PHILOSOPHERS, "--find", "accepting", "--strategy", "highway"])
        .expect(2, &["highway cannot find accepting cycles", "use the strategy dfs"]);
    turnpike(&["search", PHILOSOPHERS, "--strategy", "dfs", "--algorithm", "scc"])
        .expect(2, &["add the objective `accepting`"]);
    turnpike(&["search", PHILOSOPHERS, "--find", "accepting eatng == 3"]).expect(2, &["eatng", "^^^^^"]);
}

#[test]
fn states_are_tested_when_met_or_when_expanded() {
    let counts = |accept: &str, cover: &[&str]| {
        let find =
            ["search", PHILOSOPHERS, "--find", "state eating == 1", "--strategy", "bfs", "--accept", accept];
        let report = json(1, &[&find, cover].concat());
        (report["states"].as_u64(), report["witness"]["length"].as_u64(), report["stored"].is_null())
    };
    let (met, expanded) = (counts("generation", &[]), counts("pop", &[]));
    assert!(met.0 < expanded.0 && met.1 == expanded.1, "{met:?} {expanded:?}");
    // No state of this model covers another.
    let covered = counts("pop", &["--cover", "inclusion"]);
    assert_eq!((covered.0, covered.2, expanded.2), (expanded.0, false, true));
    turnpike(&["search", PHILOSOPHERS, "--find", "action eat", "--strategy", "dfs", "--cover", "alu"])
        .expect(1, &["--cover has no effect", " stored, depth "]);
    turnpike(&["search", PHILOSOPHERS, "--strategy", "bfs", "--cover", "inclusion"])
        .expect(2, &["'deadlock' cannot be looked for", "covering `none`"]);
    turnpike(&["search", PHILOSOPHERS, "--find", "action eat", "--cover", "inclusion"])
        .expect(2, &["the strategy is auto", "use the strategy bfs"]);
}

#[test]
fn verdicts_and_exit_codes_agree() {
    let arguments =
        ["search", PHILOSOPHERS, "--find", "action nothing", "--strategy", "bfs", "--allow-unknown"];
    let complete = turnpike(&arguments);
    assert!(
        complete.stdout.starts_with("none: no action nothing in 392 states (complete)"),
        "{}",
        complete.stdout
    );
    assert!(complete.stderr.starts_with("warning: builtin:philosophers(n=5) has no action `nothing`"));
    complete.exits(0);

    let limited =
        ["search", "builtin:bakery", "--find", "deadlock", "--strategy", "bfs", "--max-states", "100"];
    let ran = turnpike(&limited).exits(3);
    let expected = "inconclusive: no deadlock in 100 states (stopped: the limit on states was reached)";
    assert_eq!(ran.stdout.lines().next(), Some(expected));
    let report = json(3, &limited);
    assert_eq!((&report["verdict"], &report["stop"]), (&"inconclusive".into(), &"max-states".into()));
    assert_eq!(report["states"], 100, "a limit of M states allows exactly M expansions");

    let lossy =
        ["search", PHILOSOPHERS, "--find", "state eating > 9", "--strategy", "bfs", "--store", "compact"];
    let ran = turnpike(&lossy).exits(3);
    assert!(ran.stdout.contains("-bit fingerprints of 392 states"), "{}", ran.stdout);

    let measured = ["search", "builtin:diamond", "--find", "max report.1", "--strategy", "bfs"];
    assert!(turnpike(&measured).exits(0).stdout.starts_with("measured: max report.1 = 9 in "));
}

#[test]
fn quiet_leaves_the_verdict() {
    let ran = turnpike(&["search", PHILOSOPHERS, "--strategy", "bfs", "--quiet"]).exits(1);
    assert_eq!(ran.stdout, "found: deadlock in 5 steps\n");
}

#[test]
fn measures_are_reported_as_people_write_them() {
    let report = json(
        0,
        &[
            "search",
            "builtin:diamond",
            "--find",
            "max report.1",
            "--find",
            "cover report*",
            "--strategy",
            "bfs",
        ],
    );
    assert_eq!(report["verdict"], "measured");
    assert_eq!(report["extreme"]["max report.1"].to_string(), "9");
    let covered = report["covered"]["report*"].as_object().expect("labels");
    assert_eq!(covered.len(), 10);
    assert!(covered.values().all(|runs| *runs == 1));
}

#[test]
fn many_runs_are_summed_up() {
    let arguments = ["search", "builtin:diamond", "--strategy", "random", "--runs", "20", "--seed", "7"];
    let with = |more: &[&'static str]| [&arguments[..], more].concat();
    let report = json(0, &with(&["--find", "cover report*"]));
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 20);
    assert_eq!(keys(&runs[0])[..5], keys(&report)[..5], "one such object each");
    let seen: u64 = report["covered"]["report*"]
        .as_object()
        .expect("labels")
        .values()
        .map(|count| count.as_u64().expect("a count"))
        .sum();
    assert_eq!(seen, 20, "each walk reports once, so the labels were seen by as many runs as there are");
    assert_eq!(report["success_rate"], 0.0);
    assert_eq!(report["length_mean"], Value::Null);

    let report = json(1, &with(&[]));
    assert_eq!(report["success_rate"], 1.0);
    let total: u64 =
        report["runs"].as_array().expect("runs").iter().filter_map(|r| r["states"].as_u64()).sum();
    assert_eq!(report["states"], total);
    assert_eq!(report["states_mean"], total as f64 / 20.0);

    let text = turnpike(&with(&[])).exits(1).stdout;
    assert!(text.starts_with("found: deadlock in 20 of 20 runs (100%), shortest in "), "{text}");
    assert!(text.contains("smallest        median"), "{text}");
    assert!(
        text.contains("; alone: turnpike search builtin:diamond --strategy random --runs 1 --seed"),
        "{text}"
    );
    assert!(text.contains("\na search without --runs takes more time to shorten its witness\n"), "{text}");
    let text = turnpike(&with(&["--no-shorten"])).exits(1).stdout;
    assert!(!text.contains("a search without --runs"), "{text}");
    assert_eq!(text.matches("witness: ").count(), 1, "one witness, not twenty: {text}");
}

#[test]
fn one_run_of_many_can_be_repeated_alone() {
    // Long walks, which half a second of shortening would make much shorter than a budget for one of many.
    let arguments = ["search", "builtin:philosophers", "--set", "n=9", "--strategy", "rdfs"];
    let many = json(1, &[&arguments[..], &["--runs", "6", "--seed", "3"]].concat());
    for run in many["runs"].as_array().expect("runs") {
        let seed = run["seed"].as_u64().expect("a seed");
        let hexadecimal = format!("{seed:#x}");
        let mut all = arguments.to_vec();
        all.extend(["--runs", "1", "--seed", &hexadecimal, "--format", "json"]);
        let alone = timeless(turnpike(&all).json())["runs"][0].clone();
        for field in ["seed", "verdict", "states", "considered", "transitions", "depth", "actions"] {
            assert_eq!(alone[field], run[field], "{field} of seed {hexadecimal}");
        }
        assert_eq!(labels(&alone["witness"]), labels(&run["witness"]), "witness of seed {hexadecimal}");
    }
    // The printed command gives the printed witness.
    let text = turnpike(&[&arguments[..], &["--runs", "6", "--seed", "3"]].concat()).exits(1).stdout;
    let (_, command) = text.split_once("; alone: turnpike ").expect("a command");
    let words: Vec<&str> = command.lines().next().expect("a line").split(' ').collect();
    let again = turnpike(&words).exits(1).stdout;
    let witness = |text: &str| text.split_once("witness: ").expect("a witness").1.to_owned();
    let steps = |text: &str| witness(text).lines().take_while(|line| !line.is_empty()).count();
    assert_eq!(steps(&again), steps(&text), "{again}{text}");
    // Of many witnesses only the one that is shown has its states told.
    assert!(many["witness"]["steps"][0]["state"].is_object());
    let told = |run: &&Value| run["witness"]["steps"][0]["state"].is_object();
    assert_eq!(many["runs"].as_array().expect("runs").iter().filter(told).count(), 1);
}

fn labels(witness: &Value) -> Option<Vec<&str>> {
    Some(witness["steps"].as_array()?.iter().filter_map(|step| step["label"].as_str()).collect())
}

#[test]
fn the_same_seed_gives_the_same_report_for_any_number_of_threads() {
    for strategy in ["bfs", "highway", "highway-ideal", "rdfs", "random"] {
        let arguments = ["search", PHILOSOPHERS, "--strategy", strategy, "--seed", "0xBEEF"];
        let ask = |threads: &str| {
            let all = [&arguments[..], &["--threads", threads, "--format", "json"]].concat();
            let mut report = timeless(turnpike(&all).json());
            // Strategies that stay on one thread say so when they are given more.
            report.as_object_mut().expect("an object").remove("warnings");
            report
        };
        let one = ask("1");
        assert_eq!(one, ask("1"), "{strategy} again");
        assert_eq!(one, ask("2"), "{strategy} with two threads");
    }
}

#[test]
fn all_objectives_have_their_witness() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("w.txt");
    let report = json(
        1,
        &[
            "search",
            PHILOSOPHERS,
            "--strategy",
            "bfs",
            "--all",
            "--find",
            "deadlock",
            "--find",
            "action eat",
            "--find",
            "max waiting",
            "--trace",
            file.to_str().expect("a path"),
        ],
    );
    assert_eq!(report["witnesses"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["extreme"]["max waiting"], 5);
    assert_eq!(report["files"].as_array().map(Vec::len), Some(2));
    assert!(folder.path().join("w-2.txt").exists());
}

#[test]
fn witnesses_are_written_in_three_formats_and_long_ones_abbreviated() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, start) in [("w.json", "{"), ("w.txt", "#"), ("w.aut", "des (0,")] {
        let file = folder.path().join(name).display().to_string();
        let ran = turnpike(&["search", PHILOSOPHERS, "--strategy", "bfs", "--trace", &file]).exits(1);
        assert!(ran.stdout.contains(&format!("\nwrote: {file}\n")), "{}", ran.stdout);
        assert!(std::fs::read_to_string(&file).expect("the file").starts_with(start));
    }
    let long = ["search", "builtin:diamond", "--set", "n=400", "--strategy", "dfs", "--no-shorten"];
    let out = turnpike(&long).exits(1).stdout;
    assert!(out.contains("     … 798 more steps of the same loop\n"), "{out}");
    assert!(out.lines().count() < 90);
    let none = folder.path().join("none.json").display().to_string();
    turnpike(&["search", PHILOSOPHERS, "--find", "label eat(9)", "--strategy", "bfs", "--trace", &none])
        .exits(0);
    assert!(!std::path::Path::new(&none).exists(), "nothing found, nothing written");
}

#[test]
fn models_come_from_files_and_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.aut");
    let text = "des (0,2,3)\n(0,\"coin\",1)\n(1,\"tea\",2)\n";
    std::fs::write(&file, text).expect("writes");
    let file_name = file.display().to_string();
    let from_file = json(1, &["search", &file_name, "--find", "action tea"]);
    assert_eq!(from_file["witness"]["length"], 2);
    let ran: common::Ran = common::command(&["search", "-", "--find", "action tea", "--format", "json"])
        .stdin(std::fs::File::open(&file).expect("opens"))
        .output()
        .expect("runs")
        .into();
    assert_eq!(ran.exits(1).json()["witness"]["steps"], from_file["witness"]["steps"]);
}

#[test]
fn progress_comes_as_json_lines_when_asked() {
    let ran = turnpike(&["search", PHILOSOPHERS, "--strategy", "bfs", "--progress", "json"]).exits(1);
    let events: Vec<Value> =
        ran.stderr.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(events.first().map(|event| &event["event"]), Some(&"run-started".into()));
    assert_eq!(events.last().map(|event| &event["event"]), Some(&"run-finished".into()));
}

#[test]
fn every_strategy_runs_from_the_command_line() {
    for (strategy, more) in [
        ("auto", &[][..]),
        ("random", &["--over", "transitions", "--restart", "--restart-depth", "40"]),
        ("bfs", &["--store", "tree"]),
        ("dfs", &["--max-depth", "500"]),
        ("rdfs", &["--store", "bitstate", "--bitstate-size", "1M"]),
        ("highway", &["--width", "100"]),
        ("highway-ideal", &["--width", "100"]),
        ("highway-approx", &["--width", "100"]),
        ("exhaustive", &["--depth", "6"]),
        ("beam", &["--guide", "max waiting"]),
        ("best-first", &["--guide", "max waiting", "--queue", "100"]),
    ] {
        let arguments = [&["search", PHILOSOPHERS, "--strategy", strategy], more].concat();
        let report = json(1, &arguments);
        assert_eq!((&report["strategy"], &report["verdict"]), (&strategy.into(), &"found".into()));
    }
    for (strategy, more) in [
        ("drs", &["--walks", "3", "--cutoff", "60", "--increment", "5", "--fringe", "children"][..]),
        ("genetic", &["--population", "20", "--parents", "10", "--generations", "3", "--depth", "30"]),
        ("mutation", &["--fitness", "measure waiting", "--mutation", "0.01", "--stagnation", "9"]),
    ] {
        let arguments =
            [&["search", PHILOSOPHERS, "--max-states", "50000", "--strategy", strategy], more].concat();
        let ran = turnpike(&arguments);
        assert!(matches!(ran.code, 1 | 3), "{strategy}: {}{}", ran.stdout, ran.stderr);
    }
}
