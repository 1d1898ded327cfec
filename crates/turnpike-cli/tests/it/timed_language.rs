//! What the languages of timed automata mean, seen from the command line.

#![allow(clippy::print_stderr)]

use crate::common::{folder, json, turnpike_in};

/// What comes after the target leaves the range of a variable.
const FAULTY_TCK: &str = "system:s
event:a
int:1:0:1:0:n
process:P
location:P:l0{initial:}
location:P:l1{labels:target}
location:P:l2{}
edge:P:l0:l1:a{do: n=1}
edge:P:l1:l2:a{do: n=n+1}
";

/// The same, where the target is where the system begins.
const FAULTY_XTA: &str = "\
int[0, 1] n = 1;
process P() {
    state target, other;
    init target;
    trans target -> other { assign n = n + 1; };
}
system P;
";

#[test]
fn a_target_whose_successors_are_errors_is_found() {
    let files = folder(&[("m.tck", FAULTY_TCK), ("m.xta", FAULTY_XTA)]);
    for (model, find) in [("m.tck", "label target"), ("m.tck", "state P.l1"), ("m.xta", "state P.target")] {
        for accept in ["pop", "generation"] {
            for strategy in ["bfs", "dfs"] {
                let flags = ["search", model, "--find", find, "--strategy", strategy, "--accept", accept];
                let written = [&flags[..], &["--trace", "t.json"]].concat();
                turnpike_in(files.path(), &written, "").expect(1, &["found"]);
                // What was found can be executed again, up to where the model is wrong.
                let replayed = turnpike_in(files.path(), &["replay", model, "t.json"], "");
                replayed.expect(0, &["objective met", "an error of the model", "outside 0..1"]);
            }
        }
    }
    // Beyond the target, the error is what there is to tell.
    for accept in ["pop", "generation"] {
        let beyond = ["search", "m.tck", "--find", "state P.l2", "--accept", accept];
        turnpike_in(files.path(), &beyond, "").expect(2, &["n would be 2, which is outside 0..1"]);
    }
}

#[test]
fn a_system_that_cannot_begin_is_an_error_that_names_the_invariant() {
    let xml = r#"<nta><declaration>clock x; int n = 3;</declaration><template><name>P</name>
        <location id="a"><name>A</name><label kind="invariant">x &lt;= 5 &amp;&amp; n &lt; 3</label></location>
        <init ref="a"/></template><system>system P;</system></nta>"#;
    let files = folder(&[
        ("clock.tck", "system:s\nclock:1:x\nprocess:P\nlocation:P:l{initial: : invariant: x<0}\n"),
        ("data.tck", "system:s\nint:1:0:3:2:n\nprocess:P\nlocation:P:l{initial: : invariant: n<2}\n"),
        ("none.tck", "system:s\nprocess:P\nlocation:P:l{}\n"),
        ("strict.xta", "clock x; const int K = 0; process P() { state A { x < K }; init A; } system P;"),
        ("false.xta", "process P() { state A { false }; init A; } system P;"),
        (
            "negative.xta",
            "clock x; int n = -1; process Q(int &b) { state A { x <= b }; init A; } P = Q(n); system P;",
        ),
        ("old.ta", "clock x; process P { state A { x < 0 }; init A; } system P;"),
        ("data.xml", xml),
    ]);
    for (model, named) in [
        ("clock.tck", "P.l"),
        ("data.tck", "P.l"),
        ("strict.xta", "P.A"),
        ("false.xta", "P.A"),
        ("negative.xta", "P.A"),
        ("old.ta", "P.A"),
        ("data.xml", "P.A"),
    ] {
        let expected = format!("the invariant of `{named}` does not hold in the initial state");
        for question in [["--find", "deadlock"], ["--query", "A[] 1 == 1"], ["--query", "E[] 1 == 1"]] {
            let ran = turnpike_in(files.path(), &["search", model, question[0], question[1]], "");
            ran.expect(2, &[expected.as_str(), model]);
        }
    }
    turnpike_in(files.path(), &["search", "none.tck", "--find", "deadlock"], "")
        .expect(2, &["process `P` has no initial location"]);
}

#[test]
fn one_place_to_begin_is_enough() {
    let text = "system:s\nclock:1:x\nevent:a\nprocess:P\nlocation:P:l{initial: : invariant: x<0}\nlocation:P:k{initial:}\n\
        location:P:m{}\nedge:P:k:m:a\n";
    let files = folder(&[("m.tck", text)]);
    let model = files.path().join("m.tck");
    let model = model.to_str().expect("text");
    assert_eq!(json(1, &["search", model, "--find", "state P.m"])["verdict"], "found");
    assert_eq!(json(0, &["search", model, "--find", "state P.l"])["verdict"], "none");
}

#[test]
fn a_name_means_what_was_declared_before_it() {
    let model = "int v = 1; process P() { int f() { return v; } int v = 2; state A, one, two; init A;
        trans A -> one { guard f() == 1; }, A -> two { guard f() == 2; }; } system P;";
    let files = folder(&[
        ("m.xta", model),
        ("late.xta", "process P() { int f() { return w; } int w; state A; init A; } system P;"),
    ]);
    let at = |name: &str| files.path().join(name).to_str().expect("text").to_owned();
    let asked = ["search", &at("m.xta"), "--query", "E<> P.one", "--query", "E<> P.two"];
    let value = json(1, &asked);
    assert_eq!(value["queries"][0]["satisfied"], true);
    assert_eq!(value["queries"][1]["satisfied"], false);
    turnpike_in(files.path(), &["search", "late.xta"], "")
        .expect(2, &["`w` is used before its declaration", "late.xta:1:"]);
}

#[test]
fn largest_and_smallest_values_are_told() {
    let model = "clock x, g; int[0,9] n; process P() { state a { x <= 5 }, b { x < 7 }; init a;
        trans a -> b { guard x >= 2; assign n = 4; }, b -> a { guard x > 6; assign x = 0; }; } system P;";
    let files = folder(&[("m.xta", model)]);
    let ran = |query: &str| turnpike_in(files.path(), &["search", "m.xta", "--query", query], "");
    ran("sup: x, n, g").expect(0, &["sup: x, n, g\nx < 7\nn <= 4\ng has no bound\nmeasured: "]);
    ran("inf{P.b}: x").expect(0, &["2 <= x\n"]);
    ran("bounds{P.b && x > 3}: x").expect(0, &["3 < x < 7\n"]);
    ran("sup{n > 5}: x").expect(0, &["no reachable state counts"]);
    ran("sup: y").expect(2, &["no name `y`"]);
    let path = files.path().join("m.xta");
    let path = path.to_str().expect("text");
    let value = json(0, &["search", path, "--query", "bounds: x, g", "--query", "E<> P.b"]);
    let measured = &value["queries"][0];
    assert_eq!(measured["verdict"], "measured");
    assert!(measured["satisfied"].is_null());
    assert_eq!(measured["values"][0]["expression"], "x");
    assert_eq!(measured["values"][0]["high"], serde_json::json!({"value": 7, "strict": true, "exact": true}));
    assert_eq!(
        measured["values"][1]["high"],
        serde_json::json!({"value": null, "strict": false, "exact": true})
    );
    assert_eq!(measured["values"][1]["low"]["value"], 0);
    assert_eq!(value["queries"][1]["satisfied"], true);
    let cut = json(3, &["search", path, "--query", "sup: x", "--max-states", "1"]);
    assert_eq!(cut["queries"][0]["verdict"], "inconclusive");
    assert_eq!(cut["queries"][0]["stop"], "max-states");
    assert_eq!(cut["queries"][0]["values"][0]["high"]["exact"], false);
}

#[test]
fn runs_that_end_in_deadlocks_are_asked_for() {
    let model = "clock x; process P() { state a { x <= 3 }, b, c; init a;
        trans a -> b { guard x >= 1; }, b -> c { guard x <= 9; }; } system P;";
    let files = folder(&[("m.xta", model)]);
    let ask = |query: &str| turnpike_in(files.path(), &["search", "m.xta", "--query", query], "");
    // Whoever waits in b misses the last moment to leave it.
    assert!(ask("A<> deadlock").stdout.contains("A<> deadlock\nsatisfied"));
    assert!(ask("A<> (P.c or deadlock)").stdout.contains("\nsatisfied"));
    assert!(ask("P.b --> deadlock").stdout.contains("\nsatisfied"));
    assert!(ask("E[] not deadlock").stdout.contains("\nnot satisfied"));
}

/// In `B` nobody looks at the clock any more.
const DEAD_CLOCK: &str = "system:s
event:a
clock:1:x
process:P
location:P:A{initial:}
location:P:B{}
edge:P:A:B:a{provided: x<=1}
edge:P:A:B:a{provided: x>=3}
";

#[test]
fn clocks_that_nobody_looks_at_are_kept_on_request() {
    let files = folder(&[("dead.tck", DEAD_CLOCK)]);
    turnpike_in(files.path(), &["generate", "dead.tck"], "").expect(0, &["2 states"]);
    turnpike_in(files.path(), &["generate", "dead.tck", "--keep-dead"], "").expect(0, &["3 states"]);
}
