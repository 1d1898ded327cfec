//! What TChecker says of public timed automata, when they are at hand: `TURNPIKE_CORPUS` names a folder with `models/timed` and
//! `oracle/timed.jsonl`.

#![allow(clippy::print_stderr)]

#[path = "../../examples/conformance_timed/judge.rs"]
mod judge;

use std::path::{Path, PathBuf};

use crate::common::turnpike;
use judge::{Case, Effort, Found, Sweep, cases, compare, pair, sweep};

/// Larger searches are left to the table of the example.
const EFFORT: Effort = Effort { states: 2_000, seconds: 30, transitions: 150_000 };

fn corpus() -> Option<(PathBuf, Vec<Case>)> {
    let corpus = turnpike_corpus::open()?;
    let oracle = corpus.read("oracle/timed.jsonl");
    Some((corpus.path("models/timed"), cases(&oracle).expect("an oracle file")))
}

#[test]
fn counts_are_those_of_tchecker() {
    let Some((models, cases)) = corpus() else { return };
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in &cases {
        for search in compare(&models, case, EFFORT) {
            compared += 1;
            if !search.agrees() {
                let (name, expected, got) = (search.search, search.expected, search.got);
                wrong.push(format!("{} ({name}): {expected} expected, {got} found", case.file));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 150, "only {compared} searches were compared");
}

#[test]
fn what_tchecker_refuses_is_refused() {
    let Some((models, cases)) = corpus() else { return };
    let refused: Vec<&Case> = cases.iter().filter(|case| case.is_error()).collect();
    assert!(refused.len() > 5, "{refused:?}");
    for case in refused {
        let path = models.join(&case.file).display().to_string();
        for cover in ["none", "inclusion"] {
            let search = ["search", &path, "--strategy", "bfs", "--cover", cover, "--find", "action nosuch"];
            turnpike(&search).expect(2, &["error: "]);
        }
    }
}

#[test]
fn both_formats_of_a_system_have_the_same_graph() {
    let Some((models, _)) = corpus() else { return };
    let mut compared = 0;
    for path in files(&models.join("pairs")).iter().filter(|path| path.ends_with("xta")) {
        let name = Path::new(path).file_stem().expect("a name").to_string_lossy().into_owned();
        for cover in [false, true] {
            let (tck, xta) = pair(&models, &name, cover);
            assert!(matches!(tck, Found::Counts { .. }), "{name}: {tck}");
            assert_eq!(tck, xta, "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 14);
}

#[test]
fn uppaal_models_are_explored_without_a_hitch() {
    let Some((models, _)) = corpus() else { return };
    let (mut explored, mut wrong) = (0, Vec::new());
    for name in files(&models) {
        if ![".xml", ".xta", ".ta"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        match sweep(Path::new(&name), 2_000, 5) {
            Sweep::Explored { states, all, steps } => {
                explored += 1;
                if states == 0 || (!all && states < 200) || steps == 0 {
                    wrong.push(format!("{name}: only {states} states and {steps} steps in time"));
                }
            }
            // Which models are refused, and why, is tested where they are read.
            Sweep::Refused(message) => {
                if message.is_empty() || name.contains("uppaal-frontend/accept") {
                    wrong.push(format!("{name}: refused: {message}"));
                }
            }
            Sweep::Faulty(message) => wrong.push(format!("{name}: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(explored > 90, "only {explored} were explored");
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}
