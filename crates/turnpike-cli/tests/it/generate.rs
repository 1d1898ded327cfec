//! `turnpike generate`, `info`, `strategies` and `check` as users meet them.

use crate::common;

use common::{command, json, turnpike};

#[test]
fn counts_are_the_known_ones() {
    let report = json(0, &["generate", "builtin:philosophers", "--set", "n=8"]);
    assert_eq!((&report["states"], &report["deadlocks"]), (&14_158.into(), &1.into()));
    assert_eq!((&report["stop"], &report["complete"]), (&"exhausted".into(), &true.into()));
    assert_eq!(report["file"], serde_json::Value::Null);
    for more in [&["--store", "tree"][..], &["--threads", "2"]] {
        let again = json(0, &[&["generate", "builtin:philosophers", "--set", "n=8"], more].concat());
        for field in ["states", "transitions", "deadlocks", "levels", "actions"] {
            assert_eq!(again[field], report[field], "{field} with {more:?}");
        }
    }
}

#[test]
fn files_read_back_as_the_same_system() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let whole = json(0, &["generate", "builtin:philosophers"]);
    for name in ["p.aut", "p.aut.gz"] {
        let file = path(name);
        let ran = turnpike(&["generate", "builtin:philosophers", "-o", &file]).exits(0);
        assert!(
            ran.stdout.starts_with("generated: 392 states, 1,250 transitions (complete)\n"),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains(&format!("\nwrote: {file}\n")), "{}", ran.stdout);
        let again = json(0, &["generate", &file]);
        for field in ["states", "transitions", "deadlocks", "levels", "actions"] {
            assert_eq!(again[field], whole[field], "{field} of {name}");
        }
    }
    let piped = turnpike(&["generate", "builtin:philosophers", "-o", "-"]).exits(0);
    assert!(piped.stdout.starts_with("des (0,1250,392)\n"));
    assert_eq!(piped.stdout.lines().count(), 1251);
    assert!(piped.stderr.starts_with("generated: 392 states"), "{}", piped.stderr);
    let text = std::fs::read_to_string(path("p.aut")).expect("the file");
    assert!(text.lines().skip(1).eq(piped.stdout.lines().skip(1)), "the same transitions either way");
}

#[test]
fn small_systems_are_drawn_and_large_ones_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, start) in [("d.dot", "digraph"), ("d.svg", "<svg")] {
        let file = folder.path().join(name).display().to_string();
        turnpike(&["generate", "builtin:diamond", "--set", "n=3", "-o", &file]).exits(0);
        assert!(std::fs::read_to_string(&file).expect("the file").starts_with(start));
    }
    let file = folder.path().join("big.svg").display().to_string();
    let ran = turnpike(&["generate", "builtin:bakery", "-o", &file]).exits(2);
    assert!(ran.stderr.contains("too large to draw"), "{}", ran.stderr);
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn a_limit_leaves_a_valid_partial_system_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("part.aut").display().to_string();
    let arguments = ["generate", "builtin:bakery", "--max-states", "50", "-o", &file];
    let ran = turnpike(&arguments).exits(3);
    assert!(ran.stdout.starts_with("incomplete: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("part.aut (partial: "), "{}", ran.stdout);
    let report = json(3, &arguments);
    assert_eq!((&report["complete"], &report["stop"]), (&false.into(), &"max-states".into()));
    let again = json(0, &["generate", &file]);
    assert_eq!(again["states"], report["states"]);
    assert_eq!(again["transitions"], report["transitions"]);
    let picture = folder.path().join("part.svg").display().to_string();
    turnpike(&["generate", "builtin:bakery", "--max-states", "20", "-o", &picture]).exits(3);
    assert!(std::fs::read_to_string(&picture).expect("the file").starts_with("<!-- partial"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["generate", "builtin:philosophers", "--set", "n=8", "-o", "-"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let ran: common::Ran = child.wait_with_output().expect("ends").into();
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn info_lists_and_describes() {
    let all = turnpike(&["info"]).exits(0).stdout;
    assert!(all.contains("builtin:philosophers  "), "{all}");
    assert!(all.contains("  --set n=5  the number of philosophers (2 to 10000)"), "{all}");
    let one = turnpike(&["info", "builtin:philosophers", "--set", "n=3"]).exits(0).stdout;
    for part in [
        "model: builtin:philosophers(n=3)\n",
        "actions: lock, eat, free\n",
        "philosopher1=thinking",
        "  waiting ",
        "  turnpike search builtin:philosophers --find 'max waiting'\n",
    ] {
        assert!(one.contains(part), "{part} in {one}");
    }
    let listed = json(0, &["info"]);
    for model in listed["models"].as_array().expect("models") {
        let name = model["name"].as_str().expect("a name");
        let described = json(0, &["info", name]);
        assert!(described["measures"].as_array().is_some_and(|measures| measures.len() >= 2), "{name}");
        for suggestion in described["suggestions"].as_array().expect("suggestions") {
            let text = suggestion.as_str().expect("text");
            let ran = turnpike(&["search", name, "--find", text, "--max-states", "10"]);
            assert!(matches!(ran.code, 0 | 1 | 3), "{name} {text}: {}", ran.stderr);
            assert_eq!(ran.stderr, "", "{name} {text}: a suggestion has no warnings");
        }
        turnpike(&["check", name]).exits(0);
    }
}

#[test]
fn strategies_are_explained() {
    let all = turnpike(&["strategies"]).exits(0).stdout;
    assert!(all.starts_with("auto (default): "), "{all}");
    let one = turnpike(&["strategies", "bfs"]).exits(0).stdout;
    assert!(one.starts_with("bfs: breadth-first search\n  guarantee "), "{one}");
    let listed = json(0, &["strategies"]);
    let names: Vec<&str> = listed["strategies"]
        .as_array()
        .expect("strategies")
        .iter()
        .filter_map(|strategy| strategy["name"].as_str())
        .collect();
    assert!(names.contains(&"highway") && names.contains(&"drs"), "{names:?}");
}

#[test]
fn check_says_ok() {
    let ran = turnpike(&["check", "builtin:philosophers"]).exits(0);
    assert_eq!(ran.stdout, "ok: builtin:philosophers(n=5) (1 word, 3 actions, 5 initial transitions)\n");
    assert_eq!(json(0, &["check", "builtin:philosophers"])["ok"], true);
}
