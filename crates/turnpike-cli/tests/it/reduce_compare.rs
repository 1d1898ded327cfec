//! `reduce` and `compare`, also against the public corpus where it is at hand.

use crate::common::{folder, turnpike, turnpike_in};

const EARLY: &str = "des (0,3,4)\n(0,\"a\",1)\n(1,\"b\",2)\n(1,\"c\",3)\n";
const LATE: &str = "des (0,4,5)\n(0,\"a\",1)\n(0,\"a\",2)\n(1,\"b\",3)\n(2,\"c\",4)\n";
const TWICE: &str = "des (0,4,5)\n(0,\"a\",1)\n(0,\"a\",2)\n(1,\"b\",3)\n(2,\"b\",4)\n";
const HIDDEN: &str = "des (0,3,4)\n(0,\"a\",1)\n(1,\"i\",2)\n(2,\"b\",3)\n";

#[test]
fn reduces_to_every_kind_of_output() {
    let folder = folder(&[("in.aut", TWICE)]);
    let at = folder.path();
    turnpike_in(at, &["reduce", "in.aut"], "")
        .expect(0, &["in.aut: 5 states, 4 transitions -> 3 states, 2 transitions (strong bisimilarity"]);
    for name in ["out.aut", "out.aut.gz", "out.dot", "out.svg"] {
        turnpike_in(at, &["reduce", "in.aut", "-o", name], "").expect(0, &[&format!("wrote {name}")]);
    }
    let text = std::fs::read_to_string(at.join("out.aut")).expect("text");
    assert_eq!(text, "des (0,2,3)\n(0,\"a\",1)\n(1,\"b\",2)\n");
    turnpike_in(at, &["compare", "out.aut.gz", "in.aut"], "").expect(0, &["equal: strongly bisimilar"]);
    let piped = turnpike_in(at, &["reduce", "-", "-o", "-"], TWICE).expect(0, &[]);
    assert_eq!(piped.stdout, text);
    assert!(piped.stderr.contains("-> 3 states"));
    let report = turnpike_in(at, &["reduce", "in.aut", "--format", "json"], "").expect(0, &[]).json();
    assert_eq!(report["before"]["states"], 5);
    assert_eq!(report["after"]["transitions"], 2);
    turnpike_in(at, &["reduce", "in.aut", "-o", "-", "--format", "json"], "").expect(2, &["standard output"]);
}

#[test]
fn internal_steps_vanish_in_both_dialects() {
    let folder = folder(&[("cadp.aut", HIDDEN), ("plain.aut", "des (0,2,3)\n(0,\"a\",1)\n(1,\"b\",2)\n")]);
    let at = folder.path();
    let branching = ["--equivalence", "branching"];
    turnpike_in(at, &[&["reduce", "cadp.aut", "--cadp"][..], &branching].concat(), "")
        .expect(0, &["-> 3 states"]);
    turnpike_in(at, &[&["reduce", "cadp.aut"][..], &branching].concat(), "").expect(0, &["-> 4 states"]);
    let compare = [&["compare", "--cadp", "cadp.aut", "plain.aut"][..], &branching].concat();
    turnpike_in(at, &compare, "").expect(0, &["equal: branching bisimilar"]);
    turnpike_in(at, &compare[..4], "")
        .expect(1, &["different: not strongly bisimilar", "after `a`, which both can do"]);
}

#[test]
fn differences_are_explained() {
    let folder = folder(&[("early.aut", EARLY), ("late.aut", LATE)]);
    let at = folder.path();
    turnpike_in(at, &["compare", "early.aut", "late.aut"], "").expect(
        1,
        &["left   early.aut: 4 states", "right  late.aut: 5 states", "choose at different moments"],
    );
    let arguments = ["compare", "early.aut", "late.aut", "--format", "json"];
    let report = turnpike_in(at, &arguments, "").expect(1, &[]).json();
    assert_eq!(report["equal"], false);
    assert_eq!(report["difference"]["kind"], "experiment");
    assert!(report["difference"]["text"].is_string());
    let same =
        turnpike_in(at, &["compare", "early.aut", "early.aut", "--format", "json"], "").expect(0, &[]).json();
    assert!(same["difference"].is_null() && same["equal"] == true);
}

#[test]
fn every_relation_has_a_verdict_and_a_formula() {
    let folder = folder(&[("early.aut", EARLY), ("late.aut", LATE)]);
    let at = folder.path();
    for (relation, code, verdict, formula) in [
        ("--equivalence weak", 1, "different: not weakly bisimilar", "holds for right only: <a>[c]false"),
        ("--equivalence trace", 0, "equal: trace equivalent", ""),
        ("--equivalence weak-trace", 0, "equal: weakly trace equivalent", ""),
        ("--preorder simulation", 1, "right does not simulate left", "left only: <a>(<c>true && <b>true)"),
        ("--preorder ready-simulation", 1, "not included: right does not ready-simulate left", "left only"),
        ("--preorder trace", 0, "included: every trace of left is one of right", ""),
        ("--preorder weak-trace", 0, "included: every weak trace of left is one of right", ""),
        ("--preorder failures", 0, "included: every failure of left is one of right", ""),
        ("--preorder weak-failures", 0, "included: every weak failure of left is one of right", ""),
    ] {
        let flags: Vec<&str> = relation.split(' ').collect();
        let arguments = [&["compare", "early.aut", "late.aut"], flags.as_slice()].concat();
        turnpike_in(at, &arguments, "").expect(code, &[verdict, formula]);
    }
    let arguments = ["compare", "late.aut", "early.aut", "--preorder", "failures", "--format", "json"];
    let report = turnpike_in(at, &arguments, "").expect(1, &[]).json();
    assert_eq!((&report["preorder"], &report["included"]), (&"failures".into(), &false.into()));
    let difference = &report["difference"];
    assert_eq!(difference["kind"], "refusal");
    assert_eq!((&difference["trace"][0], &difference["labels"][0]), (&"a".into(), &"c".into()));
    assert_eq!((&difference["formula"], &difference["holds_for"]), (&"<a>[c]false".into(), &"left".into()));
}

#[test]
fn reductions_up_to_traces_are_limited() {
    let folder = folder(&[("late.aut", LATE)]);
    let at = folder.path();
    let traces = ["reduce", "late.aut", "--equivalence", "trace"];
    turnpike_in(at, &traces, "").expect(0, &["-> 3 states, 3 transitions (trace equivalence"]);
    turnpike_in(at, &[&traces[..], &["--max-entries", "3"]].concat(), "").expect(
        3,
        &["the sets of states that traces lead to have more than 3 members", "raise --max-entries"],
    );
}

#[test]
fn models_are_generated_first() {
    let three = ["builtin:philosophers", "--set", "n=3"];
    turnpike(&[&["reduce"][..], &three].concat()).expect(0, &["builtin:philosophers: 35 states"]);
    let folder = folder(&[]);
    let at = folder.path();
    turnpike_in(at, &[&["reduce"][..], &three, &["-o", "p.aut"]].concat(), "").expect(0, &["wrote p.aut"]);
    turnpike_in(at, &[&["compare", "p.aut"][..], &three].concat(), "").expect(0, &["equal"]);
    turnpike(&[&["reduce"][..], &three, &["--max-states", "5"]].concat())
        .expect(3, &["is not complete", "the limit on states was reached"]);
}

#[test]
fn bad_input_is_refused() {
    let huge = "des (4294967294,1,4294967295)\n(4294967294,\"a\",0)\n";
    let folder = folder(&[
        ("a.aut", EARLY),
        ("huge.aut", huge),
        ("range.aut", "des (0,1,2)\n(0,\"a\",9)\n"),
        ("header.aut", "dos (0,1,2)\n"),
        ("cut.aut.gz", "\u{1f}"),
        ("a.mcrl2", "act a; init b;"),
    ]);
    let at = folder.path();
    for (arguments, words) in [
        (vec!["reduce", "a.aut", "--equivalence", "weakly"], "branching"),
        (vec!["compare", "a.aut", "a.aut", "--preorder", "sim"], "ready-simulation"),
        (vec!["compare", "a.aut", "a.aut", "--preorder", "trace", "--equivalence", "trace"], "--equivalence"),
        (vec!["compare", "a.aut", "a.aut", "--equivalence", "stong"], "strong"),
        (vec!["reduce", "range.aut"], "range.aut:2"),
        (vec!["reduce", "header.aut"], "header.aut:1"),
        (vec!["reduce", "cut.aut.gz"], "cut.aut.gz"),
        (vec!["reduce", "nowhere.aut"], "nowhere.aut"),
        (vec!["reduce", "a.mcrl2"], "a.mcrl2:1:13"),
        (vec!["reduce", "builtin:phil"], "phil"),
        (vec!["reduce", "a.aut", "-o", "out.gif"], ".svg"),
        (vec!["reduce", "a.aut", "-o", "no/such/out.aut"], "no/such/out.aut"),
        (vec!["reduce", "a.aut", "--set", "n=3"], "no parameters to set"),
        (vec!["compare", "a.aut"], "RIGHT"),
        (vec!["compare", "-", "-"], "only one of the two"),
        (vec!["compare", "a.aut", "nowhere.aut"], "nowhere.aut"),
    ] {
        turnpike_in(at, &arguments, "").expect(2, &[words]);
    }
    // A header may claim anything.
    turnpike_in(at, &["reduce", "huge.aut"], "").expect(0, &["-> 2 states, 1 transition"]);
    turnpike_in(at, &["compare", "huge.aut", "huge.aut"], "").expect(0, &["equal"]);
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test must say so")]
fn minimal_systems_of_the_corpus_stay_as_they_are() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let oracle = corpus.path("oracle/mcrl2");
    let mut files: Vec<_> = std::fs::read_dir(&oracle)
        .unwrap_or_else(|error| panic!("{}: {error}", oracle.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".min.aut"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no minimal systems in {}", oracle.display());
    for path in files {
        let name = path.to_str().expect("a plain name");
        let report = turnpike(&["reduce", name, "--format", "json"]).expect(0, &[]).json();
        assert_eq!(report["before"]["states"], report["after"]["states"], "{name}");
        turnpike(&["compare", name, name]).expect(0, &["equal"]);
    }
}
