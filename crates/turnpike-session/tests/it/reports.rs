//! Reports as JSON, for clients that pass them on.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use turnpike_session::{Location, Reading, Search, Session, Silent, Source};

/// The report of a search.
fn report(location: &str, search: &Search) -> Value {
    let source = Source::Model { location: Location::from(location), reading: Reading::default() };
    let session = Session::open(&source).expect("opens");
    let report = session.run(search, &Silent, &AtomicBool::new(false)).expect("runs");
    serde_json::to_value(&report).expect("is written")
}

#[test]
fn a_search_is_written_with_its_witness() {
    let report = report("builtin:philosophers", &Search::default());
    assert_eq!((&report["verdict"], &report["conclusion"]), (&json!("found"), &json!("failed")));
    let findings = &report["outcome"]["search"];
    assert_eq!(findings["objectives"], json!(["deadlock"]));
    let witness = &findings["runs"][0]["witness"];
    assert_eq!((&witness["length"], witness["steps"].as_array().map(Vec::len)), (&json!(5), Some(5)));
    assert!(findings["runs"][0]["transitions"].as_u64().is_some_and(|count| count >= 5), "{findings}");
}

#[test]
fn queries_are_written_with_answers_and_problems() {
    let mut search = Search::default();
    let queries = ["A[] not deadlock", "sup: P(1).x", "Pr[<=10](<> P(1).critical)", "E<> nonsense"];
    search.goals.queries = queries.map(str::to_owned).to_vec();
    let report = report("../../models/timed/fischer.xta", &search);
    let answers = report["outcome"]["queries"].as_array().expect("answers");
    let conclusions: Vec<&Value> = answers.iter().map(|answer| &answer["conclusion"]).collect();
    assert_eq!(json!(conclusions), json!(["passed", "passed", "skipped", "wrong"]));
    assert_eq!(answers[0]["reply"]["searched"]["satisfied"], true);
    assert_eq!(answers[1]["reply"]["measured"]["values"][0]["expression"], "P(1).x");
    assert_eq!(answers[2]["reply"]["problem"]["diagnostics"][0]["unsupported"], true);
    let wrong = &answers[3]["reply"]["problem"]["diagnostics"][0];
    assert_eq!((&wrong["severity"], &wrong["unsupported"]), (&json!("error"), &json!(false)));
}
