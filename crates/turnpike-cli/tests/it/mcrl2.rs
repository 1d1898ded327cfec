//! mCRL2 specifications through the program: generated, searched, replayed, described.

use crate::common::{folder, turnpike_in};

/// A counter that may be stopped, with a hidden step and an error when it goes too far.
const COUNTER: &str = "\
map Max: Nat;
eqn Max = 3;
act up, report: Nat;
    work, stop, error;
proc Count(n: Nat) =
       (n < Max) -> work . up(n) . Count(n + 1)
     + (n == 5) -> error . Count(0)
     + (n == Max) -> report(n) . Count(n)
     + stop . delta;
init hide({work}, Count(0));
";

const COIN: &str = "act throw; side: Bool; init throw . dist b: Bool[if(b, 1/3, 2/3)] . side(b) . delta;\n";

#[test]
fn a_specification_is_generated_and_searched() {
    let folder = folder(&[("counter.mcrl2", COUNTER)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["generate", "counter.mcrl2", "-o", "counter.aut"])
        .expect(0, &["8 states", "11 transitions", "wrote: counter.aut"]);
    let text = std::fs::read_to_string(folder.path().join("counter.aut")).expect("a file");
    for label in ["\"tau\"", "\"up(0)\"", "\"up(2)\"", "\"report(3)\"", "\"stop\""] {
        assert!(text.contains(label), "{text}");
    }
    run(&["search", "counter.mcrl2"]).expect(1, &["deadlock", "stop"]);
    run(&["search", "counter.mcrl2", "--find", "action error"]).expect(0, &["none"]);
    run(&["search", "counter.mcrl2", "--find", "label up( 2 )"]).expect(1, &["up(2)"]);
    run(&["search", "counter.mcrl2", "--find", "max report.1", "--strategy", "bfs"]).expect(0, &["3"]);
    run(&["info", "counter.mcrl2"]).expect(0, &["counter.mcrl2", "--find 'action error'", "n=0"]);
    run(&["simulate", "counter.mcrl2"]).expect(0, &["tau", "stop"]);
    run(&["reduce", "counter.mcrl2"]).exits(0);
    run(&["compare", "counter.mcrl2", "counter.aut"]).expect(0, &["equal"]);
}

#[test]
fn states_are_described_by_expressions() {
    let folder = folder(&[("counter.mcrl2", COUNTER)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "counter.mcrl2", "--find", "state n == 2"]).expect(1, &["n == 2"]);
    run(&["search", "counter.mcrl2", "--find", "state n > Max || exists k: Nat. k < n && k * k == 9"])
        .exits(0);
    run(&["search", "counter.mcrl2", "--find", "state n + true > 1"]).expect(2, &["n + true > 1", "^^^"]);
    run(&["search", "counter.mcrl2", "--find", "state m == 1"]).expect(2, &["unknown", "m == 1"]);
    run(&["search", "counter.mcrl2", "--find", "state head([]) == n"])
        .expect(2, &["does not rewrite to true or false", "head([])"]);
}

#[test]
fn constants_are_set_and_actions_unhidden() {
    let folder = folder(&[("counter.mcrl2", COUNTER)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    let search = ["search", "counter.mcrl2", "--find", "action error", "--trace", "w.json"];
    run(&[&search[..], &["--set", "Max=2 + 4"]].concat()).expect(1, &["counter.mcrl2(Max=2 + 4)", "error"]);
    run(&["replay", "counter.mcrl2", "w.json", "--set", "Max=2 + 4"]).expect(0, &["the trace fits"]);
    // Without flags, those of the trace are taken. With another constant the trace ends early.
    run(&["replay", "counter.mcrl2", "w.json"]).expect(0, &["the trace fits", "counter.mcrl2(Max=2 + 4)"]);
    run(&["replay", "counter.mcrl2", "w.json", "--set", "Max=3"]).expect(1, &["does not fit"]);
    run(&["search", "counter.mcrl2", "--set", "Mx=1"])
        .expect(2, &["no constant map `Mx`", "did you mean `Max`?"]);
    run(&["search", "counter.mcrl2", "--set", "Max=1 + false"])
        .expect(2, &["the setting of Max", "1 + false", "^^^"]);
    run(&["search", "counter.mcrl2", "--set", "Max=0 - 1"]).expect(2, &["Nat"]);
    run(&["search", "counter.mcrl2", "--find", "action work"]).expect(2, &["`work`"]);
    run(&["search", "counter.mcrl2", "--find", "action work", "--allow-unknown"]).exits(0);
    run(&["search", "counter.mcrl2", "--find", "action eror"]).expect(2, &["did you mean `error`?"]);
    run(&["search", "counter.mcrl2", "--find", "action work", "--unhide", "work"]).expect(1, &["work"]);
    run(&["search", "counter.mcrl2", "--unhide", "wrok"])
        .expect(2, &["no action `wrok`", "did you mean `work`?"]);
    run(&["search", "builtin:philosophers", "--unhide", "work"]).expect(2, &["--unhide"]);
    run(&["search", "builtin:philosophers", "--timed"]).expect(2, &["--timed"]);
}

#[test]
fn standard_input_and_linear_form() {
    let folder = folder(&[("counter.mcrl2", COUNTER)]);
    let run = |arguments: &[&str], input: &str| turnpike_in(folder.path(), arguments, input);
    run(&["generate", "-", "--as", "mcrl2"], COUNTER).expect(0, &["8 states"]);
    run(&["linearise", "counter.mcrl2"], "").expect(0, &["proc", "init", "report(", "up("]);
    run(&["linearise", "counter.mcrl2", "-o", "linear.mcrl2"], "").expect(0, &["wrote linear.mcrl2"]);
    run(&["compare", "counter.mcrl2", "linear.mcrl2"], "").expect(0, &["equal"]);
    run(&["linearise", "builtin:philosophers"], "").expect(2, &["not an mCRL2 specification"]);
    let report =
        turnpike_in(folder.path(), &["linearise", "counter.mcrl2", "--format", "json"], "").exits(0).json();
    assert!(report["summands"].as_u64().expect("a number") >= 4, "{report}");
}

#[test]
fn chance_is_written_as_distributions() {
    let folder = folder(&[
        ("coin.mcrl2", COIN),
        ("first.mcrl2", "act side: Bool; init dist b: Bool[1/2] . side(b) . delta;\n"),
        ("wrong.mcrl2", "act side: Bool; init side(true) . dist b: Bool[1/4] . side(b) . delta;\n"),
    ]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["generate", "coin.mcrl2", "-o", "coin.aut"]).expect(0, &["4 states, 3 transitions"]);
    let text = std::fs::read_to_string(folder.path().join("coin.aut")).expect("a file");
    assert!(text.starts_with("des (0,3,4)\n"), "{text}");
    assert!(text.contains("(0,\"throw\",1 1/3 2)") || text.contains("(0,\"throw\",1 2/3 2)"), "{text}");
    run(&["generate", "first.mcrl2", "-o", "-"]).expect(0, &["des (0 1/2 1,2,3)"]);
    run(&["search", "coin.mcrl2", "--find", "label side(true)"]).expect(1, &["throw [1/3]", "side(true)"]);
    run(&["search", "first.mcrl2", "--find", "label side(false)"]).expect(1, &["dist [1/2]"]);
    run(&["generate", "wrong.mcrl2"])
        .expect(2, &["probabilities [1/4, 1/4] do not add up to one", "wrong.mcrl2:1:"]);
}

#[test]
fn time_goes_forward_only() {
    let folder = folder(&[
        ("time.mcrl2", "act a, b, c; init a@1 . b@3 . c@2 . delta;\n"),
        ("two.mcrl2", "act a, b; init a@1 . delta || b@3 . delta;\n"),
    ]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "time.mcrl2"]).expect(1, &["a @ 1", "b @ 3"]);
    run(&["search", "time.mcrl2", "--timed"]).expect(1, &["a @ 1", "b @ 3"]);
    run(&["search", "time.mcrl2", "--find", "action c"]).exits(0);
    run(&["search", "two.mcrl2"]).exits(1);
    run(&["search", "two.mcrl2", "--timed"])
        .expect(2, &["several components is not supported yet", "two.mcrl2:1:"]);
}

#[test]
fn errors_name_their_place() {
    let folder = folder(&[
        (
            "stuck.mcrl2",
            "act a: Nat;\nproc P(l: List(Nat)) =\n  (head(l) > 0) -> a(head(l)) . P(tail(l));\ninit P([1]);\n",
        ),
        ("endless.mcrl2", "act a: Nat;\ninit\n  sum n: Nat . a(n) . delta;\n"),
        (
            "loop.mcrl2",
            "map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1);\nact a: Nat; init a(f(0)) . delta;\n",
        ),
        ("syntax.mcrl2", "act a; init a .;\n"),
        ("recursion.mcrl2", "act a;\nproc P = P + a;\ninit P;\n"),
    ]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["generate", "stuck.mcrl2"])
        .expect(2, &["stuck.mcrl2:3:", "does not rewrite to true or false", "culprit", "head([])"]);
    run(&["search", "stuck.mcrl2"]).expect(2, &["stuck.mcrl2:3:", "head([])", "a(1)"]);
    run(&["generate", "endless.mcrl2"]).expect(2, &["endless.mcrl2:3:", "sum n: Nat"]);
    run(&["generate", "loop.mcrl2"]).expect(2, &["loop.mcrl2", "may not terminate"]);
    run(&["search", "syntax.mcrl2"]).expect(2, &["syntax.mcrl2:1:", "expected"]);
    run(&["search", "recursion.mcrl2"]).expect(2, &["recursion.mcrl2:"]);
    run(&["search", "absent.mcrl2"]).expect(2, &["there is no such file"]);
}

#[test]
fn values_are_kept_and_quantifiers_left_open_when_asked() {
    let kept = "act a; proc P(x, y: Nat) = sum n: Nat. (n < 3) -> a.P(y, n); init P(7, 7);\n";
    let open = "act p: Bool; init p(forall m: Pos. m < 50 => m * m != 2).delta;\n";
    let folder = folder(&[("kept.mcrl2", kept), ("open.mcrl2", open)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["generate", "kept.mcrl2"]).expect(0, &["1 state,"]);
    run(&["generate", "kept.mcrl2", "--keep-dead"]).expect(0, &["4 states", "kept.mcrl2(keep-dead)"]);
    run(&["generate", "open.mcrl2", "-o", "all.aut"]).exits(0);
    run(&["generate", "open.mcrl2", "--quantifier-limit", "10", "-o", "ten.aut"]).exits(0);
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert!(text("all.aut").contains("\"p(true)\""));
    assert!(text("ten.aut").contains("\"p(forall m: Pos. m < 50 => !(m * m == 2))\""), "{}", text("ten.aut"));
    run(&["generate", "builtin:philosophers", "--keep-dead"]).expect(2, &["--keep-dead"]);
    run(&["generate", "builtin:philosophers", "--quantifier-limit", "3"]).expect(2, &["--quantifier-limit"]);
}
