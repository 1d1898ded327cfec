//! The published schemas: they must not drift, and what is printed must keep to them.

use crate::common;

use std::path::PathBuf;

use crate::json_schema::mistakes;
use common::{command, turnpike};
use serde_json::Value;

const KINDS: [&str; 3] = ["search", "generate", "events"];

fn published(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{kind}.json"))
}

/// The schema of what is printed, without room for fields that come later.
fn strict(kind: &str) -> Value {
    let text = std::fs::read_to_string(published(kind)).expect("the schema is published");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    if let Some(definitions) = schema["$defs"].as_object_mut().filter(|_| kind != "events") {
        definitions.values_mut().for_each(close);
    }
    schema
}

/// Readers must put up with fields that come later; the program must not print any that are not published.
fn close(definition: &mut Value) {
    if definition.get("properties").is_some() {
        definition["additionalProperties"] = false.into();
    }
}

#[track_caller]
fn conforms(schema: &Value, value: &Value, what: &str) {
    let errors = mistakes(schema, value);
    assert!(errors.is_empty(), "{what}: {errors:#?}\n{value:#}");
}

/// `TURNPIKE_BLESS=1` publishes the schemas anew; whoever does so changes an interface.
#[test]
fn the_published_schemas_are_those_of_the_program() {
    for kind in KINDS {
        let current = turnpike(&["info", "--schema", kind]).exits(0).stdout;
        if std::env::var_os("TURNPIKE_BLESS").is_some() {
            std::fs::write(published(kind), &current).expect("writes");
        }
        let committed = std::fs::read_to_string(published(kind)).expect("the schema is published");
        assert_eq!(committed, current, "docs/schema/{kind}.json: TURNPIKE_BLESS=1 writes it anew");
    }
}

#[test]
fn what_search_prints_keeps_to_its_schema() {
    let schema = strict("search");
    let philosophers = "builtin:philosophers";
    let train_gate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/timed/train_gate.xta");
    for arguments in [
        &[philosophers][..],
        &[philosophers, "--strategy", "bfs", "--all", "--find", "deadlock", "--find", "action eat"],
        &[philosophers, "--strategy", "highway", "--runs", "5", "--width", "4"],
        &[philosophers, "--strategy", "random", "--no-witness"],
        &[philosophers, "--strategy", "rdfs", "--store", "compact", "--find", "label eat(9)"],
        &[philosophers, "--strategy", "drs", "--max-states", "1000"],
        &[philosophers, "--strategy", "genetic", "--generations", "3"],
        &["builtin:bakery", "--max-states", "10"],
        &[philosophers, "--strategy", "dfs", "--find", "accepting eating == 1"],
        &[
            philosophers,
            "--strategy",
            "dfs",
            "--find",
            "action eat",
            "--cover",
            "inclusion",
            "--accept",
            "pop",
        ],
        &["builtin:diamond", "--strategy", "random", "--runs", "4", "--find", "cover report*"],
        &["builtin:diamond", "--strategy", "bfs", "--find", "max report.1", "--find", "min report.7"],
        &["builtin:backloops", "--find", "livelock", "--strategy", "bfs", "--tau", "tau"],
        &[
            train_gate,
            "--query",
            "A[] not deadlock",
            "--query",
            "E<> nowhere",
            "--query",
            "E<> Train(0).crossing",
        ],
        &[philosophers, "--formula", "[true*]<true>true", "--formula", "<true*.lock(1,1)>true"],
        &[philosophers, "--formula", "nu X. <true>X", "--formula", "[missing]false", "--max-states", "9"],
        &[philosophers, "--formula", "<true*.lock(1,1)>true", "--strategy", "rdfs"],
        &["no-such-file.aut"],
        &[philosophers, "--strategy", "bsf"],
        &[philosophers, "--no-such-flag"],
    ] {
        let ran = turnpike(&[&["search", "--format", "json"], arguments].concat());
        conforms(&schema, &ran.json(), &arguments.join(" "));
    }
}

#[test]
fn what_generate_prints_keeps_to_its_schema() {
    let schema = strict("generate");
    for arguments in
        [&["builtin:philosophers"][..], &["builtin:bakery", "--max-states", "10"], &["builtin:philosopher"]]
    {
        let ran = turnpike(&[&["generate", "--format", "json"], arguments].concat());
        conforms(&schema, &ran.json(), &arguments.join(" "));
    }
}

#[test]
fn events_keep_to_their_schema() {
    let schema = strict("events");
    let arguments =
        ["search", "builtin:bakery", "--find", "deadlock", "--max-time", "1s", "--progress", "json"];
    let ran: common::Ran = command(&arguments).output().expect("runs").into();
    let mut kinds = std::collections::BTreeSet::new();
    for line in ran.stderr.lines() {
        let event: Value = serde_json::from_str(line).expect("a line of JSON");
        conforms(&schema, &event, line);
        kinds.insert(event["event"].as_str().unwrap_or_default().to_owned());
    }
    assert!(kinds.contains("progress") && kinds.contains("run-finished"), "{kinds:?}");
}
