//! `replay` and `show`: what fits, what does not, and what is no trace at all.

use crate::common;

use common::{folder, turnpike, turnpike_in};

const PHILOSOPHERS: [&str; 3] = ["builtin:philosophers", "--set", "n=2"];

fn replay(folder: &tempfile::TempDir, trace: &str, more: &[&str]) -> common::Ran {
    let arguments: Vec<&str> =
        [&["replay"], &PHILOSOPHERS[..], &[trace], more].into_iter().flatten().copied().collect();
    turnpike_in(folder.path(), &arguments, "")
}

#[test]
fn labels_are_enough_to_replay() {
    let folder = folder(&[("w.txt", "# both take the left fork\nlock(1,1)\nlock(2,2)\n")]);
    let ran = replay(&folder, "w.txt", &[]).expect(
        0,
        &["philosopher1=has-left, fork1=held-by-1", "the trace fits: all 2 steps", "at its end: deadlock"],
    );
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    replay(&folder, "w.txt", &["--actions-only", "--trace", "w.json"]).expect(0, &["wrote w.json"]);
    // What was written has states now, and replays too.
    replay(&folder, "w.json", &[]).expect(0, &["the trace fits"]);
    let shown = turnpike_in(folder.path(), &["show", "w.json"], "").expect(
        0,
        &["model      builtin:philosophers(n=2)", "length     2 transitions", "  0 ", "  2  lock(2,2)"],
    );
    let last = |text: &str| text.lines().find(|line| line.starts_with("  2  ")).expect("a line").to_owned();
    assert!(!last(&shown.stdout).contains("philosopher1"), "only what changed");
    let full = turnpike_in(folder.path(), &["show", "w.json", "--full", "--hide", "fork*"], "");
    assert!(last(&full.stdout).contains("philosopher1=has-left, philosopher2="));
    assert!(!full.stdout.contains("fork1="));
    let misspelt = ["show", "w.json", "--hide", "fork*,philosofer1"];
    turnpike_in(folder.path(), &misspelt, "")
        .expect(2, &["no state has a value `philosofer1` to hide", "did you mean `philosopher1`?"]);
}

#[test]
fn json_is_one_object() {
    let folder = folder(&[("w.txt", "lock(1,1)\neat(1)\n")]);
    let report = replay(&folder, "w.txt", &["--format", "json"]).expect(1, &[]).json();
    assert_eq!(report["command"], "replay");
    assert_eq!(report["fits"], false);
    assert_eq!(report["divergence"]["step"], 2);
    assert_eq!(report["executed"], 1);
    assert_eq!(report["enabled"], serde_json::json!(["lock(1,2)", "lock(2,2)"]));
    assert_eq!(report["witness"]["steps"][0]["state"]["fork1"], "held-by-1");
    let shown = turnpike_in(folder.path(), &["show", "w.txt", "--format", "json"], "").expect(0, &[]).json();
    assert_eq!(shown["format"], "turnpike-trace");
    assert_eq!(shown["steps"][1]["label"], "eat(1)");
}

#[test]
fn a_trace_that_does_not_fit_says_where_and_what_was_possible() {
    let folder = folder(&[("w.txt", "lock(1,1)\neat(1)\nlock(2,2)\n")]);
    replay(&folder, "w.txt", &[]).expect(
        1,
        &[
            "does not fit at step 2: 'eat(1)' is not enabled",
            "there: 2 enabled: lock(1,2), lock(2,2)",
            "  1  lock(1,1)",
        ],
    );
}

#[test]
fn another_model_is_noticed() {
    let folder = folder(&[("w.txt", "lock(1,1)\n")]);
    replay(&folder, "w.txt", &["--trace", "w.json"]).expect(0, &[]);
    let other = ["replay", "builtin:philosophers", "--set", "n=3", "w.json"];
    let warning = "the trace was written for builtin:philosophers(n=2), not for builtin:philosophers(n=3)";
    turnpike_in(folder.path(), &other, "").expect(0, &["warning", warning, "the trace fits"]);
    let report = turnpike_in(folder.path(), &[&other[..], &["--format", "json"]].concat(), "").json();
    assert_eq!(report["warnings"][0], warning);
    // A model without the trace's parameters differs from the start.
    let other = ["replay", "builtin:diamond", "w.json"];
    turnpike_in(folder.path(), &other, "")
        .expect(1, &["the initial state differs", "no parameter philosopher1"]);
}

#[test]
fn loops_are_marked_and_checked() {
    let model = "des (0,3,3)\n(0,\"a\",1)\n(1,\"b\",2)\n(2,\"c\",1)\n";
    let open = "des (0,4,4)\n(0,\"a\",1)\n(1,\"b\",2)\n(2,\"c\",3)\n(3,\"b\",2)\n";
    let folder = folder(&[("m.aut", model), ("open.aut", open)]);
    let at = folder.path();
    turnpike_in(at, &["show", "m.aut"], "").expect(
        0,
        &["a loop from the state after step 1", "-- the loop starts here --", "-- back to the state"],
    );
    turnpike_in(at, &["replay", "m.aut", "m.aut"], "").expect(0, &["the trace fits"]);
    turnpike_in(at, &["replay", "open.aut", "m.aut"], "").expect(1, &["the loop does not close"]);
}

#[test]
fn traces_change_format_and_are_drawn() {
    let folder = folder(&[("w.txt", "a(1)\nb\n")]);
    for name in ["w.json", "w.aut", "again.txt", "w.svg", "w.dot"] {
        turnpike_in(folder.path(), &["show", "w.txt", "-o", name], "").expect(0, &[&format!("wrote {name}")]);
    }
    let svg = std::fs::read_to_string(folder.path().join("w.svg")).expect("text");
    assert!(svg.starts_with("<svg") && svg.contains("a(1)"));
    turnpike_in(folder.path(), &["show", "w.aut"], "").expect(0, &["1  a(1)", "2  b"]);
    turnpike_in(folder.path(), &["show", "w.txt", "-o", "w.gif"], "").expect(2, &["w.gif", ".json"]);
    turnpike_in(folder.path(), &["show", "-"], "x\ny\n").expect(0, &["2 transitions", "2  y"]);
}

#[test]
fn bad_traces_are_refused() {
    let deep = "[".repeat(100_000);
    let folder = folder(&[
        ("newer.json", r#"{"format":"turnpike-trace","version":7,"steps":[]}"#),
        ("cut.json", r#"{"format":"turnpike-trace","version":1,"steps":[{"label":"#),
        ("other.json", r#"{"hello":1}"#),
        ("deep.json", &format!("{{\"format\":{deep}")),
        ("branching.aut", "des (0,2,3)\n(0,\"a\",1)\n(0,\"b\",2)\n"),
        ("binary.txt", "a\n\u{0}\u{1}\n"),
    ]);
    for (name, words) in [
        ("newer.json", "version 7"),
        ("cut.json", "ends too early"),
        ("other.json", "not a trace"),
        ("deep.json", "deep.json"),
        ("branching.aut", "state 0 has 2 transitions"),
        ("binary.txt", "binary"),
        ("missing.json", "cannot open missing.json"),
        (".", "cannot"),
    ] {
        turnpike_in(folder.path(), &["show", name], "").expect(2, &[words]);
        replay(&folder, name, &[]).expect(2, &[words]);
        let report =
            turnpike_in(folder.path(), &["show", name, "--format", "json"], "").expect(2, &[]).json();
        assert!(report["error"].is_string(), "{report}");
    }
    turnpike(&["replay", "-", "-"]).expect(2, &["only one of model and trace"]);
}

#[test]
fn a_trace_is_judged_by_what_it_was_written_for() {
    let folder = folder(&[]);
    for (model, find, more) in [
        ("builtin:philosophers", "deadlock", &[][..]),
        ("builtin:philosophers", "state waiting >= 3", &[]),
        ("builtin:scc", "action report", &[]),
        ("builtin:scc", "label scc(2)", &[]),
        ("builtin:scc", "nondeterminism", &[]),
        ("builtin:scc", "livelock", &["--tau", "scc"]),
        ("builtin:backloops", "livelock", &[]),
        ("builtin:bakery", "assertion", &["--set", "n=2", "--set", "limit=3"]),
    ] {
        let search = [&["search", model, "--find", find, "--trace", "w.json", "-q"], more].concat();
        turnpike_in(folder.path(), &search, "").expect(1, &["found: "]);
        let again = [&["replay", model, "w.json"], more].concat();
        let ran = turnpike_in(folder.path(), &again, "").expect(0, &["objective met: ", find]);
        assert_eq!(ran.stderr, "");
        let report = turnpike_in(folder.path(), &[&again[..], &["--format", "json"]].concat(), "").json();
        assert_eq!(report["met"], true, "{find}");
    }
    // Fits, but shows something else now.
    for (objective, words) in
        [("deadlock", "'deadlock', but does not show it"), ("livelock", "that are not internal")]
    {
        let file = folder.path().join("w.json");
        let steps = r#"[{"label":"lock(1,1)"}]"#;
        let text =
            format!(r#"{{"format":"turnpike-trace","version":1,"objective":"{objective}","steps":{steps}}}"#);
        std::fs::write(&file, text).expect("writes");
        let again = ["replay", "builtin:philosophers", "w.json"];
        let ran = turnpike_in(folder.path(), &again, "").expect(0, &[words]);
        assert!(ran.stderr.starts_with("warning: "), "{}", ran.text());
        let report = turnpike_in(folder.path(), &[&again[..], &["--format", "json"]].concat(), "").json();
        assert_eq!(report["met"], false);
    }
}

#[test]
fn an_empty_file_is_no_trace() {
    let folder = folder(&[("e.json", ""), ("e.txt", "")]);
    turnpike_in(folder.path(), &["show", "e.json"], "").expect(2, &["e.json: the file is empty"]);
    turnpike_in(folder.path(), &["replay", "builtin:scc", "e.txt"], "").expect(2, &["the file is empty"]);
    turnpike_in(folder.path(), &["show", "-"], "").expect(2, &["the file is empty"]);
}

#[test]
fn a_loop_that_is_not_reached_is_not_shown() {
    let folder = folder(&[("w.json", "")]);
    let search = ["search", "builtin:scc", "--find", "livelock", "--tau", "scc", "--trace", "w.json"];
    turnpike_in(folder.path(), &search, "").exits(1);
    let other = ["replay", "builtin:backloops", "w.json", "--actions-only"];
    let ran = turnpike_in(folder.path(), &other, "").expect(1, &["the trace does not fit"]);
    assert!(!ran.stdout.contains("back to"), "{}", ran.stdout);
}
