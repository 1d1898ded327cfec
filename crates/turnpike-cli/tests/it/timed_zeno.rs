//! Runs in which infinitely much happens in finite time: told as such, and left out on request.

use std::path::Path;

use crate::common::{folder, turnpike_in};

/// The automata of figure 1 of the paper on Deep Random Search, as its text describes them: in A1 the loop `a` has to be taken before x
/// exceeds 1, and x is never reset; in A2 it waits for x >= 1 and resets x. Here the two locations have labels of their own.
fn figure_1(name: &str, a: &str) -> String {
    format!(
        "system:{name}\nevent:a\nevent:b\nevent:c\nprocess:A\nclock:1:x\n\
         location:A:q0{{initial: : labels: first}}\nlocation:A:q1{{labels: second}}\n\
         edge:A:q0:q0:a{{{a}}}\nedge:A:q0:q1:b{{}}\nedge:A:q1:q1:c{{provided: x>=1 : do: x=0}}\n"
    )
}

const MAY: &str = "time: need not diverge on this cycle";
const PASSES: &str = "time: diverges along this run";
const ALWAYS: &str = "time: passes on every loop of this model";

#[test]
fn cycles_of_figure_1() {
    let a1 = figure_1("A1", "provided: x<=1");
    let a2 = figure_1("A2", "provided: x>=1 : do: x=0");
    let folder = folder(&[("A1.tck", &a1), ("A2.tck", &a2)]);
    let search = |model: &str, more: &[&str]| {
        turnpike_in(folder.path(), &[&["search", model, "--find"], more].concat(), "")
    };
    search("A1.tck", &["accepting first"]).expect(1, &["found: accepting first in 1 step", MAY]);
    search("A1.tck", &["accepting first", "--non-zeno"])
        .expect(0, &["none: no accepting first", "(complete)"]);
    search("A1.tck", &["accepting second"]).expect(1, &["A@c", MAY]);
    search("A1.tck", &["accepting second", "--non-zeno"]).expect(1, &["A@c", "non-zeno=ticked", PASSES]);
    search("A1.tck", &["accepting", "--non-zeno"]).expect(1, &["found: accepting true", "A@c", PASSES]);
    // Both locations again and again is too much.
    search("A1.tck", &["accepting first; second", "--non-zeno", "--strategy", "bfs"]).expect(0, &["none"]);
    for set in ["accepting first", "accepting second", "accepting"] {
        search("A2.tck", &[set, "--non-zeno"]).expect(1, &["found: accepting", ALWAYS]);
    }
    search("A2.tck", &["accepting first; second", "--non-zeno", "--strategy", "bfs"])
        .expect(0, &["none", ALWAYS]);
}

#[test]
fn strategies_agree_and_witnesses_replay() {
    // The loop `fast` of P can be taken for ever at once, but then nothing else happens; `slow` needs time and the help of Q.
    let text = "clock x, y; chan go; process P() { state idle { x <= 5 }, busy { x <= 2 }; init idle;
        trans idle -> idle { }, idle -> busy { guard y >= 1; sync go!; assign x = 0; }, busy -> idle { assign x = 0; }; }
        process Q() { state q; init q; trans q -> q { sync go?; assign y = 0; }; } system P, Q;";
    let folder = folder(&[("pq.xta", text)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    for strategy in ["dfs", "rdfs", "bfs", "drs", "auto"] {
        let find = ["search", "pq.xta", "--strategy", strategy, "--non-zeno", "--trace", "w.json", "--find"];
        let found = run(&[&find[..], &["accepting P.idle"]].concat());
        found.expect(1, &["found: accepting P.idle", "go!", PASSES, "wrote: w.json"]);
        run(&["replay", "pq.xta", "w.json"])
            .expect(0, &["the trace fits", "objective met: accepting P.idle"]);
        run(&["search", "pq.xta", "--strategy", strategy, "--find", "accepting P.idle"]).expect(1, &[MAY]);
    }
}

#[test]
fn queries_about_runs() {
    // Time has to leave `a` after 5 units, but transitions need not.
    let text = "clock x; process P() { state a { x <= 5 }, b, c; init a;
        trans a -> a { }, a -> b { }, b -> c { guard x > 7; }, b -> b { guard x < 9; }; } system P;";
    let folder = folder(&[("p.xta", text)]);
    let ask = |query: &str, more: &[&str]| {
        turnpike_in(folder.path(), &[&["search", "p.xta", "--query", query], more].concat(), "")
    };
    ask("A<> P.b", &[]).expect(1, &["not satisfied", MAY]);
    ask("A<> P.b", &["--non-zeno"]).expect(0, &["satisfied"]);
    ask("E[] P.a", &[]).expect(0, &["satisfied", MAY]);
    ask("E[] P.a", &["--non-zeno"]).expect(1, &["not satisfied"]);
    ask("P.a --> P.b", &[]).expect(1, &["not satisfied", MAY]);
    ask("P.a --> P.b", &["--non-zeno"]).expect(0, &["satisfied"]);
    // In b time passes for ever: the run rests.
    ask("P.b --> P.c", &["--non-zeno"]).expect(1, &["not satisfied", "rest"]);
    ask("P.b --> x > 8", &[]).expect(1, &["not satisfied", MAY]);
    ask("P.b --> x > 8", &["--non-zeno"]).expect(0, &["satisfied"]);
    // What is reachable does not depend on it.
    ask("E<> P.c", &["--non-zeno"]).expect(0, &["satisfied"]);
    let json = ask("A<> P.b", &["--format", "json"]);
    json.expect(1, &["\"warnings\"", "time need not diverge on this cycle"]);
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    let folder = folder(&[("p.xta", "process P() { state a; init a; } system P;")]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "p.xta", "--find", "deadlock", "--non-zeno"])
        .expect(2, &["--non-zeno is for cycles of timed automata, but this search does not look for cycles"]);
    run(&["search", "builtin:philosophers", "--find", "accepting", "--non-zeno"]).expect(
        2,
        &["--non-zeno is for cycles of timed automata, but builtin:philosophers is not a timed automaton"],
    );
}

#[test]
fn models_that_come_with_turnpike() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timed");
    let search = |model: &str, find: &str| {
        let model = models.join(model);
        let model = model.to_str().expect("a path in UTF-8");
        turnpike_in(&models, &["search", model, "--find", find, "--non-zeno"], "")
    };
    search("train_gate.xta", "accepting Train(0).crossing").expect(1, &["found", "time: passes"]);
    search("fischer.xta", "accepting P(1).critical").expect(1, &["found", "time: diverges along this run"]);
}
