//! What the mCRL2 tools say of the public specifications, when they are at hand: `TURNPIKE_CORPUS` names a folder with
//! `models/mcrl2` and `oracle/mcrl2.jsonl`.

#[path = "../../examples/conformance/judge.rs"]
mod judge;

use std::path::PathBuf;

use judge::{Case, Effort, cases, judge};

fn corpus() -> Option<(PathBuf, PathBuf, Vec<Case>)> {
    let corpus = turnpike_corpus::open()?;
    let cases = cases(&corpus.read("oracle/mcrl2.jsonl")).expect("an oracle file");
    Some((corpus.path("models/mcrl2"), corpus.path("oracle/mcrl2"), cases))
}

fn failures(selected: impl Fn(&Case) -> bool, effort: Effort) -> Vec<String> {
    let Some((models, quotients, cases)) = corpus() else { return Vec::new() };
    let cases: Vec<Case> = cases.into_iter().filter(selected).collect();
    assert!(!cases.is_empty(), "the oracle has such cases");
    cases
        .iter()
        .map(|case| (case, judge(&models, &quotients, case, effort)))
        .filter(|(_, verdict)| !verdict.passed)
        .map(|(case, verdict)| format!("{}: {}", case.file, verdict.note))
        .collect()
}

#[test]
fn complete_systems_have_the_same_quotient() {
    let effort = Effort { states: 0, seconds: 120, bytes: 4 << 30 };
    let failures = failures(|case| case.is_complete() && !case.is_probabilistic(), effort);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn probabilistic_systems_have_the_same_counts() {
    let effort = Effort { states: 0, seconds: 120, bytes: 4 << 30 };
    let failures = failures(Case::is_probabilistic, effort);
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Sums that nothing bounds: the tools enumerate them for ever, here they are an error.
const ENDLESS: [&str; 4] = [
    "industrial/garage/garage.mcrl2",
    "language/gpa_10_1.mcrl2",
    "language/gpa_10_3.mcrl2",
    "language/small1.mcrl2",
];

#[test]
fn unfinished_systems_are_explored_or_refused() {
    let effort = Effort { states: 300, seconds: 60, bytes: 4 << 30 };
    let unfinished = |case: &Case| !case.is_complete() && !ENDLESS.contains(&case.file.as_str());
    let failures = failures(unfinished, effort);
    assert!(failures.is_empty(), "{failures:#?}");
}
