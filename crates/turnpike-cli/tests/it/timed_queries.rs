//! Queries about timed automata on the command line.

#![allow(clippy::print_stderr)]

use crate::common::{folder, json, turnpike, turnpike_in};
use serde_json::Value;

/// Two processes take turns; `done` is reached after at least 3 units of time, and nothing happens there.
const TURNS: &str = "\
clock x;
int[0, 3] n;
process P() {
    state a { x <= 2 }, b { x <= 5 }, done;
    init a;
    trans a -> b { guard x >= 1; assign n = n + 1; },
        b -> done { guard x >= 3; };
}
system P;
";

fn satisfied(value: &Value) -> Vec<Option<bool>> {
    let queries = value["queries"].as_array().expect("queries");
    queries.iter().map(|query| query["satisfied"].as_bool()).collect()
}

#[test]
fn each_query_has_its_answer() {
    let files = folder(&[("turns.xta", TURNS)]);
    let model = files.path().join("turns.xta");
    let model = model.to_str().expect("text");
    let value = json(
        1,
        &[
            "search",
            model,
            "--query",
            "E<> P.done && x >= 3",
            "--query",
            "A[] P.done imply x > 3",
            "--query",
            "A[] n <= 1",
            "--query",
            "E<> P.b && x > 5",
            "--query",
            "A[] not deadlock",
        ],
    );
    assert_eq!(satisfied(&value), [Some(true), Some(false), Some(true), Some(false), Some(false)]);
    assert_eq!(value["verdict"], "found");
    let queries = &value["queries"];
    assert_eq!(queries[0]["witness"]["length"], 2);
    assert_eq!(queries[0]["text"], "E<> P.done && x >= 3");
    assert_eq!(queries[1]["witness"]["steps"][1]["time"], "3");
    assert_eq!(queries[2]["verdict"], "none");
    assert!(queries[2]["witness"].is_null());
    let sum: u64 = (0..5).filter_map(|index| queries[index]["states"].as_u64()).sum();
    assert_eq!(value["states"].as_u64(), Some(sum));
}

#[test]
fn people_read_one_block_per_query() {
    let files = folder(&[
        ("turns.xta", TURNS),
        ("some.q", "// It ends.\nE<> P.done\n\n/* Not twice. */ A[] n < 2\n"),
    ]);
    let ran = turnpike_in(files.path(), &["search", "turns.xta", "--queries", "some.q"], "");
    let ran =
        ran.expect(0, &["E<> P.done\nsatisfied\n", "A[] n < 2\nsatisfied\n", "// It ends.", "repeat: "]);
    assert!(ran.stdout.contains("witness: state P.done in 2 steps"), "{}", ran.stdout);
    // Without flags, the queries of the file beside the model are asked.
    std::fs::rename(files.path().join("some.q"), files.path().join("turns.q")).expect("renames");
    let own = turnpike_in(files.path(), &["search", "turns.xta"], "");
    own.expect(0, &["E<> P.done\nsatisfied\n", "A[] n < 2\nsatisfied\n"]);
    let quiet = turnpike_in(files.path(), &["search", "turns.xta", "--quiet"], "").exits(0);
    assert_eq!(quiet.stdout, "satisfied: E<> P.done\nsatisfied: A[] n < 2\n");
}

#[test]
fn without_queries_deadlocks_are_looked_for() {
    let files = folder(&[("turns.xta", TURNS)]);
    turnpike_in(files.path(), &["search", "turns.xta"], "").expect(1, &["found: deadlock"]);
    turnpike_in(files.path(), &["search", "-", "--as", "xta"], TURNS).expect(1, &["found: deadlock"]);
    turnpike_in(files.path(), &["search", "-", "--as", "xta", "--query", "E<> P.b"], TURNS)
        .expect(0, &["satisfied"]);
}

#[test]
fn witnesses_of_queries_are_written_and_fit() {
    let files = folder(&[("turns.xta", TURNS)]);
    let arguments =
        ["search", "turns.xta", "--query", "E<> P.b && x == 4", "--query", "A[] n == 0", "--trace", "w.json"];
    turnpike_in(files.path(), &arguments, "").expect(1, &["wrote: w.json", "wrote: w-2.json"]);
    for (trace, objective) in [("w.json", "state P.b && x == 4"), ("w-2.json", "state not (n == 0)")] {
        let ran = turnpike_in(files.path(), &["replay", "turns.xta", trace], "");
        ran.expect(0, &["the trace fits", &format!("objective met: {objective}")]);
    }
}

#[test]
fn what_cannot_be_asked_is_told_and_the_rest_is_answered() {
    let files = folder(&[("turns.xta", TURNS)]);
    let run =
        |arguments: &[&str]| turnpike_in(files.path(), &[&["search", "turns.xta"], arguments].concat(), "");
    run(&["--query", "E<> Q.a"]).expect(2, &["Q"]);
    run(&["--query", "sup: x - n"]).expect(2, &["sums of clocks and integers are not supported in sup"]);
    run(&["--query", "E<> P.c", "--query", "E<> P.b"]).expect(2, &["E<> P.c\nerror: ", "E<> P.b\nsatisfied"]);
    let value = run(&["--query", "E<> P.c", "--query", "E<> P.b", "--format", "json"]).exits(2).json();
    assert_eq!(satisfied(&value), [None, Some(true)]);
    assert!(value["queries"][0]["error"].is_string());
    run(&["--query", "E<> P.b", "--find", "deadlock"]).expect(2, &["cannot be used with"]);
    turnpike(&["search", "builtin:philosophers", "--query", "E<> eat"]).expect(2, &["for timed automata"]);
}

#[test]
fn limits_leave_queries_open() {
    let files = folder(&[("turns.xta", TURNS)]);
    let run =
        |arguments: &[&str]| turnpike_in(files.path(), &[&["search", "turns.xta"], arguments].concat(), "");
    let bounded = ["--strategy", "bfs", "--max-states", "1", "--query", "A[] n < 2"];
    run(&bounded).expect(3, &["inconclusive", "stopped: the limit on states"]);
    run(&["--strategy", "bfs", "--cover", "inclusion", "--query", "A[] n < 2"]).expect(0, &["satisfied"]);
}

/// Once requested, service comes after at most 4 units of time, unless the server is broken.
const SERVICE: &str = "\
clock x;
chan ask, serve;
const bool BROKEN = false;
process Client() {
    state idle, waiting;
    init idle;
    trans idle -> waiting { sync ask!; }, waiting -> idle { sync serve?; };
}
process Server() {
    state free, busy { x <= 4 }, down;
    init free;
    trans free -> busy { sync ask?; assign x = 0; },
        busy -> free { guard x >= 1; sync serve!; },
        busy -> down { guard BROKEN; };
}
system Client, Server;
";

#[test]
fn queries_about_runs_have_answers_and_witnesses() {
    let files = folder(&[("service.xta", SERVICE)]);
    let run =
        |arguments: &[&str]| turnpike_in(files.path(), &[&["search", "service.xta"], arguments].concat(), "");
    let queries = [
        "--query",
        "Client.waiting --> Client.idle",
        "--query",
        "A<> Client.waiting",
        "--query",
        "E[] Client.idle",
        "--query",
        "E[] Client.waiting || Client.idle",
        "--query",
        "Client.waiting --> Client.idle && x <= 4",
    ];
    let value = run(&[&queries[..], &["--format", "json"]].concat()).exits(1).json();
    assert_eq!(satisfied(&value), [Some(true), Some(false), Some(true), Some(true), Some(true)]);
    assert_eq!(value["queries"][1]["witness"]["steps"][0]["label"], "rest");
    assert_eq!(value["queries"][0]["strategy"], "dfs");
    let broken = ["--set", "BROKEN=1", "--query", "Client.waiting --> Client.idle", "--trace", "w.json"];
    run(&broken).expect(1, &["not satisfied", "rest", "stay", "no transition is possible"]);
    let replay = ["replay", "service.xta", "--set", "BROKEN=1", "w.json"];
    turnpike_in(files.path(), &replay, "").expect(0, &["the trace fits", "objective met: accepting not ("]);
}

#[test]
fn what_runs_may_stay_in_is_explained() {
    let files = folder(&[("service.xta", SERVICE)]);
    let run = |query: &str| turnpike_in(files.path(), &["search", "service.xta", "--query", query], "");
    run("E[] x < 1 || x > 2").expect(2, &["several parts"]);
    run("E[] deadlock or x < 3").expect(2, &["deadlocks are supported in E[], A<> and --> only as"]);
}

/// Public models, which are not part of the project: `TURNPIKE_CORPUS` tells where they are.
#[test]
fn public_models_answer_their_queries() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let corpus = corpus.path("models/timed");
    let (mut answered, mut late) = (0, Vec::new());
    for (file, expected) in [
        ("uppaal-xml/demos/2doors.xml", true),
        ("uppaal-xml/demos/bridge.xml", true),
        ("uppaal-xml/demos/fischer.xml", true),
        ("uppaal-xml/demos/train-gate.xml", true),
        // The faulty version of the protocol, and the corrected one.
        ("uppaal-xta/suite/BangOlufsen/bocdp.xta", false),
        ("uppaal-ta/BangOlufsen/bando.xta", true),
    ] {
        let path = corpus.join(file);
        let path = path.to_str().expect("text");
        let arguments = ["search", path, "--max-time", "20s", "--format", "json"];
        let value = turnpike(&arguments).json();
        for query in value["queries"].as_array().expect("queries") {
            let name = format!("{file}: {}", query["text"]);
            assert!(query["error"].is_null(), "{name}: {}", query["error"]);
            match query["satisfied"].as_bool() {
                Some(satisfied) => {
                    assert_eq!(satisfied, expected, "{name}");
                    answered += 1;
                }
                None => late.push(name),
            }
        }
    }
    eprintln!("{answered} answered; not within 20 s: {late:#?}");
    assert!(!late.iter().any(|name| name.contains("BangOlufsen")), "these take a second: {late:#?}");
    assert!(answered > 10, "only {answered} were answered; late: {late:#?}");
}

/// `b` comes 2 to 6 units of time after `a`: sometimes later than an observer allows.
const RESPONSE_TCK: &str = "\
system:response
event:a
event:b
clock:1:x
process:P
location:P:idle{initial:}
location:P:busy{invariant:x<=6}
edge:P:idle:busy:a{do:x=0}
edge:P:busy:idle:b{provided:x>=2}
";

/// The answer is due within this time: waiting for longer is bad.
fn watch_tck(within: u32) -> String {
    format!(
        "system:watch\nevent:asked\nevent:answered\nevent:late\nclock:1:y\nprocess:Watch\n\
         location:Watch:quiet{{initial:}}\nlocation:Watch:open{{}}\nlocation:Watch:bad{{labels:bad}}\n\
         edge:Watch:quiet:open:asked{{do:y=0}}\nedge:Watch:open:quiet:answered{{}}\n\
         edge:Watch:open:bad:late{{provided:y>{within}}}\n\
         sync:P@a:Watch@asked?\nsync:P@b:Watch@answered?\n"
    )
}

#[test]
fn observers_watch_tchecker_models() {
    let files = folder(&[
        ("m.tck", RESPONSE_TCK),
        ("late.tck", &watch_tck(5)),
        ("never.tck", &watch_tck(6)),
        ("typo.tck", "event:e\nprocess:W\nedge:W:nowhere:nowhere:e{}\nlocation:W:l{initial:}\n"),
        ("writes.tck", "event:e\nprocess:W\nlocation:W:l{initial:}\nedge:W:l:l:e{do:x=0}\n"),
    ]);
    let run = |observer: &str| {
        let arguments =
            ["search", "m.tck", "--observer", observer, "--find", "label bad", "--strategy", "bfs"];
        turnpike_in(files.path(), &arguments, "")
    };
    run("late.tck").expect(1, &["in 2 steps", "Watch@late"]);
    run("never.tck").expect(0, &["none: no label bad"]);
    run("typo.tck").expect(2, &["typo.tck:3:", "nowhere"]);
    run("writes.tck").expect(2, &["the observer W would assign x, which belongs to the model"]);
    let philosophers = ["search", "builtin:philosophers", "--observer", "late.tck"];
    turnpike_in(files.path(), &philosophers, "").expect(2, &["--observer is for timed automata"]);
}

#[test]
fn observers_watch_uppaal_models() {
    let model = "\
broadcast chan a, b;
process P() {
    clock x;
    state idle, busy { x <= 6 };
    init idle;
    trans idle -> busy { sync a!; assign x = 0; }, busy -> idle { guard x >= 2; sync b!; };
}
system P;
";
    let watch = |within: u32| {
        format!(
            "process Watch() {{ clock y; state quiet, open, bad; init quiet; trans\n\
             quiet -> open {{ sync a?; assign y = 0; }},\n\
             open -> quiet {{ sync b?; }}, open -> bad {{ guard y > {within}; }}; }}\n\
             system Watch;\n"
        )
    };
    let files = folder(&[("m.xta", model), ("late.xta", &watch(5)), ("never.xta", &watch(6))]);
    let run = |observer: &str| {
        let arguments = ["search", "m.xta", "--observer", observer, "--query", "A[] not Watch.bad"];
        turnpike_in(files.path(), &arguments, "")
    };
    run("late.xta").expect(1, &["not satisfied", "in 2 steps"]);
    run("never.xta").expect(0, &["satisfied"]);
}

/// The first automaton can go round without time passing; the second waits in every round.
#[test]
fn info_tells_loops_in_which_time_need_not_pass() {
    let model = |guard: &str| {
        format!(
            "clock x; process P() {{ state a; init a; trans a -> a {{ guard {guard}; assign x = 0; }}; }} system P;"
        )
    };
    let folder = folder(&[("zeno.xta", &model("x <= 1")), ("steady.xta", &model("x >= 1"))]);
    turnpike_in(folder.path(), &["info", "zeno.xta"], "").expect(0, &["need not pass", "P: a -> a"]);
    turnpike_in(folder.path(), &["info", "steady.xta"], "").expect(0, &["diverges in every infinite run"]);
}

#[test]
fn the_exit_code_says_whether_queries_hold() {
    let files = folder(&[("turns.xta", TURNS)]);
    let run = |arguments: &[&str]| {
        let mut all = vec!["search", "turns.xta", "-q"];
        for query in arguments {
            all.extend(if query.starts_with("--") { vec![*query] } else { vec!["--query", query] });
        }
        turnpike_in(files.path(), &all, "")
    };
    let (holds, fails, unsupported, wrong) = ("E<> P.b", "A[] n == 0", "sup: x - n", "E<> P.nowhere");
    run(&[holds]).exits(0);
    run(&["A[] n < 2", holds]).exits(0);
    run(&[fails]).exits(1);
    run(&[holds, fails]).exits(1);
    run(&[unsupported]).exits(2);
    run(&[unsupported, unsupported]).exits(2);
    run(&[holds, unsupported]).expect(3, &["skipped: ", "sup: x - n"]);
    run(&[holds, fails, unsupported]).exits(1);
    run(&[holds, fails, wrong]).expect(2, &["error: ", "P.nowhere"]);
    run(&["--expect=not-satisfied", fails]).exits(0);
    run(&["--expect=not-satisfied", fails, holds]).exits(1);
    run(&["--expect=any", fails, holds]).exits(0);
    run(&["--expect=found", holds]).expect(2, &["is not the result of a query", "--expect takes"]);
    let json = run(&[holds, unsupported, "--format=json"]).exits(3).json();
    assert_eq!(json["queries"][0]["expected"], true);
    assert_eq!(json["queries"][1]["skipped"], true);
    assert_eq!(json.get("expected"), None);
    let json = run(&[fails, "--format=json"]).exits(1).json();
    assert_eq!(json["expected"], false);
}

#[test]
fn the_model_says_what_it_expects() {
    let query = |formula: &str, expect: &str| {
        format!("<query><formula>{formula}</formula><comment></comment>{expect}</query>")
    };
    let model = |queries: &str| {
        format!(
            "<?xml version=\"1.0\"?><nta><declaration>int n;</declaration><template><name>P</name>\
             <location id=\"a\"><name>a</name></location><location id=\"b\"><name>b</name></location>\
             <init ref=\"a\"/><transition><source ref=\"a\"/><target ref=\"b\"/></transition></template>\
             <system>system P;</system><queries>{queries}</queries></nta>"
        )
    };
    let fails = "<expect outcome=\"failure\"/>";
    let holds = "<expect outcome=\"success\" type=\"quality\" value=\"true\"/>";
    let files = folder(&[
        ("good.xml", &model(&[query("A[] P.a", fails), query("E&lt;&gt; P.b", holds)].concat())),
        ("bad.xml", &model(&[query("A[] P.a", fails), query("E&lt;&gt; P.b", fails)].concat())),
        ("none.xml", &model(&query("A[] P.a", ""))),
    ]);
    let run = |arguments: &[&str]| turnpike_in(files.path(), &[&["search"], arguments].concat(), "");
    run(&["good.xml"]).expect(0, &["not satisfied, as expected", "P.b\nsatisfied\n"]);
    run(&["bad.xml"]).expect(1, &["satisfied, which is not expected"]);
    run(&["none.xml"]).exits(1);
    run(&["good.xml", "--expect", "satisfied"]).exits(1);
}

#[test]
fn queries_are_test_cases() {
    let files = folder(&[("turns.xta", TURNS)]);
    let queries = ["--query", "E<> P.b", "--query", "A[] n == 0", "--query", "sup: x - n"];
    let run = |format: &str| {
        let all = [&["search", "turns.xta"][..], &queries, &["--format", format]].concat();
        turnpike_in(files.path(), &all, "").exits(1).stdout
    };
    let junit = run("junit");
    let document = roxmltree::Document::parse(&junit).unwrap_or_else(|error| panic!("{error}\n{junit}"));
    let cases: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["E<> P.b", "A[] n == 0", "sup: x - n"]);
    let inside = |at: usize| cases[at].first_element_child().map(|node| node.tag_name().name().to_owned());
    assert_eq!([inside(0), inside(1), inside(2)], [None, Some("failure".into()), Some("skipped".into())]);
    let sarif: Value = serde_json::from_str(&run("sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&"failed".into(), &"error".into()));
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "turns.xta");
}

/// Runs that must get somewhere may end in a deadlock: it is explained like any other.
#[test]
fn a_run_that_gets_stuck_is_explained() {
    let text = "\
chan go;
int n;
process P() { state wait, done; init wait; trans wait -> done { sync go?; }; }
process Q() { state idle, ready; init idle; trans idle -> ready { guard n == 1; }, ready -> idle { sync go!; }; }
system P, Q;
";
    let files = folder(&[("stuck.xta", text)]);
    let ran = turnpike_in(files.path(), &["search", "stuck.xta", "--query", "A<> P.done"], "");
    ran.expect(1, &["P", "go?", "n == 1"]);
}

/// What is read and ignored: a hybrid clock, a `double` and a cost.
const IGNORED: &str = "hybrid clock h; double d;
process P() { state A { h' == 2 && cost' == 3 }, B; init A; trans A -> B { assign h = 0, d = 2.0; }; }
system P;
";

#[test]
fn warnings_about_the_model_come_with_every_kind_of_question() {
    let files = folder(&[("h.xta", IGNORED)]);
    let run = |flags: &[&str]| turnpike_in(files.path(), &[&["search", "h.xta"], flags].concat(), "");
    for flags in [
        &["--query", "E<> P.B"][..],
        &["--query", "E<> P.B", "--query", "A[] P.A", "--expect", "any"],
        &["--query", "sup: 1"],
        &["--find", "state P.B", "--expect", "any"],
    ] {
        let ran = run(flags).exits(0);
        assert_eq!(ran.stderr.matches("note: 3 warnings in h.xta").count(), 1, "{flags:?}: {}", ran.stderr);
        let quiet = run(&[flags, &["--quiet"]].concat()).exits(0);
        assert_eq!(quiet.stderr, "", "{flags:?}");
        let json = run(&[flags, &["--format", "json"]].concat()).exits(0);
        let value: Value = serde_json::from_str(&json.stdout).expect("JSON");
        let warnings = value["warnings"].as_array().expect("warnings");
        let has = |text: &str| warnings.iter().filter(|one| one["message"] == text).count() == 1;
        assert!(has("hybrid clocks are ignored") && has("costs are ignored"), "{flags:?}: {warnings:?}");
        assert!(has("`double` values are ignored"), "{flags:?}: {warnings:?}");
    }
}

#[test]
fn an_error_in_a_question_is_not_placed_in_the_model() {
    let model = "int a[3]; int f(int i) { return a[i]; }
        process P() { state A; init A; trans A -> A { assign a[0] = f(1); }; } system P;";
    let files = folder(&[("m.xta", model)]);
    let run = |flags: &[&str]| turnpike_in(files.path(), &[&["search", "m.xta"], flags].concat(), "");
    for flags in [&["--query", "E<> a[a[0] + 3] == 0"], &["--find", "state a[a[0] + 3] == 0"]] {
        run(flags).expect(2, &["in the condition `a[a[0] + 3] == 0`, column 3: index 3"]);
    }
    // Within a function the place is one of the model.
    run(&["--query", "E<> f(3) == 0"]).expect(2, &["m.xta: 1:"]);
    run(&["--query", "A<> a[a[0] + 3] == 0"]).expect(2, &["in the query: index 3"]);
    run(&["--query", "sup: a[a[0] + 3]"]).expect(2, &["in the query: index 3"]);
}

#[test]
fn an_index_into_what_is_ignored_is_checked() {
    let model = "double a[2]; int i = 5;
        process P() { state A, B; init A; trans A -> B { assign a[i] = 2.0; }; } system P;";
    let files = folder(&[("m.xta", model)]);
    let ran = turnpike_in(files.path(), &["search", "m.xta", "--query", "E<> P.B"], "");
    ran.expect(2, &["m.xta: 2:", "index 5"]);
}

#[test]
fn every_run_ends_in_a_deadlock_of_a_kind() {
    let files = folder(&[("turns.xta", TURNS)]);
    let run = |query: &str| turnpike_in(files.path(), &["search", "turns.xta", "--query", query], "");
    run("A<> P.done && deadlock").expect(0, &["satisfied"]);
    run("A<> P.b && deadlock").expect(1, &["not satisfied"]);
    run("E[] not (n == 1 && deadlock)").expect(1, &["not satisfied"]);
    run("P.a --> P.done && deadlock").expect(0, &["satisfied"]);
    run("A<> x > 3 && deadlock").expect(2, &["no clock may occur in p"]);
}

#[test]
fn a_converted_model_that_cannot_begin_is_worth_a_warning() {
    let model = "int n; process P() { state A { n == 1 }; init A; } system P;";
    let files = folder(&[("m.xta", model)]);
    let ran = turnpike_in(files.path(), &["convert", "m.xta", "-o", "m.tck"], "");
    ran.expect(0, &["warning: the invariant of `P.A` does not hold in the initial state"]);
}

/// Whoever misspells a name sees what there is.
#[test]
fn queries_about_what_is_not_there_are_told_what_is() {
    let model = format!("{}/../../models/timed/fischer.xta", env!("CARGO_MANIFEST_DIR"));
    for (query, help) in [
        ("E<> P(1).cs", "help: it has critical, idle, me, waiting, writing, x\n"),
        ("E<> P(1).critcal", "help: did you mean `critical`?\n"),
        ("E<> zebra == 1", "help: the model has N, P, WAIT, WRITE, turn\n"),
        ("E<> turm == 1", "help: did you mean `turn`?\n"),
    ] {
        turnpike(&["search", &model, "--query", query]).expect(2, &[help]);
    }
}

const CHANNELS: &str = "\
int a[3];
chan go[2], stop;
process P() { state A, B; init A; trans A -> B { guard a[0] == 0; sync go[1]!; }, B -> A { sync stop!; }; }
process Q() { state X; init X; trans X -> X { sync go[1]?; }, X -> X { sync stop?; }; }
system P, Q;
";

/// Names of another kind, and values that an expression never has, are mistakes rather than proofs.
#[test]
fn names_of_another_kind_are_explained() {
    let files = folder(&[("m.xta", CHANNELS)]);
    let search = |find: &str| turnpike_in(files.path(), &["search", "m.xta", "--find", find], "");
    search("label stop").expect(2, &["no location has the label `stop`", "write `action stop`"]);
    search("label go[1]").expect(2, &["`go[1]` is an action: write `action go[1]`"]);
    search("cover stop").expect(2, &["m.xta has no label like `stop`", "did you mean `*P@stop!*`?"]);
    search("cover *P@stop!*").expect(0, &["measured: 1 label of cover *P@stop!*"]);
    search("action stopp").expect(2, &["m.xta has no action `stopp`"]);
    // The rest of the condition would decide before the index is looked at.
    search("state P.B && a[3] == 0").expect(2, &["the index 3 is out of range", "indices 0 to 2"]);
    search("state P.B == 4").expect(2, &["a truth value is never 4"]);
    search("state P.B == 1").expect(1, &["found"]);
    // Names in parts that do not matter are names.
    search("state false && zz == 1").expect(2, &["there is no name `zz`"]);
    search("state 1 == 2 && Q.Y").expect(2, &["no location or variable `Y`"]);
    search("state forall (i : int[0, 5]) i < 3 imply aa[i] == 0").expect(2, &["did you mean `a`?"]);
    search("state a[2] == 9").expect(0, &["none"]);
    search("state forall (i : int[0, 5]) i < 3 imply a[i] == 0").expect(1, &["found"]);
    let query = ["search", "m.xta", "--query", "A[] P.A || P.B || a[-1] == 0"];
    turnpike_in(files.path(), &query, "").expect(2, &["the index -1 is out of range"]);
}
