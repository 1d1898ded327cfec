//! `simulate`, scripted from standard input.

use crate::common::{Ran, folder, turnpike_in};

fn simulate(folder: &tempfile::TempDir, script: &str, more: &[&str]) -> Ran {
    let arguments: Vec<&str> = [&["simulate", "builtin:philosophers", "--set", "n=2"], more].concat();
    turnpike_in(folder.path(), &arguments, script)
}

#[test]
fn a_script_walks_into_the_deadlock_and_back() {
    let folder = folder(&[]);
    let ran = simulate(&folder, "1\ntake lock(2,*)\nu\nt\ns\nf eat(*)\nq\n2\n", &[]).expect(
        0,
        &[
            "builtin:philosophers(n=2); h lists the commands",
            "in the initial state",
            "  1  lock(1,1)  philosopher1=has-left, fork1=held-by-1",
            "step 1: lock(1,1)  philosopher1=has-left, fork1=held-by-1",
            "deadlock: no transition is enabled",
            "after step 1, lock(1,1)",
            "1 more step ahead",
            "  fork1=held-by-1",
            "none of 2 enabled transitions matches",
        ],
    );
    assert!(!ran.stdout.contains("> "), "no prompts in a script");
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("step 1: lock").count(), 1, "nothing happens after q");
}

#[test]
fn errors_name_their_line_and_strict_stops() {
    let folder = folder(&[]);
    let script = "# a remark\n9\nfly\n1\nundo 5\n";
    let ran = simulate(&folder, script, &[]).expect(
        0,
        &[
            "line 2: there is no transition 9: the enabled ones are 1 to 2",
            "line 3: 'fly' is not a command",
            "line 5: only 1 step can be undone",
        ],
    );
    assert!(ran.stdout.contains("step 1: lock(1,1)"));
    let ran = simulate(&folder, script, &["--strict"]).expect(2, &["line 2: there is no transition 9"]);
    assert!(!ran.stdout.contains("step 1"));
    let report = simulate(&folder, script, &["--strict", "--format", "json"]).expect(2, &[]).json();
    assert_eq!(report["errors"][0]["line"], 2);
}

#[test]
fn json_tells_where_it_ended() {
    let folder = folder(&[]);
    let report = simulate(&folder, "1\nnonsense\n2\n", &["--format", "json"]).expect(0, &[]).json();
    assert_eq!(report["deadlock"], true);
    assert_eq!(report["depth"], 2);
    assert_eq!(report["errors"][0]["line"], 2);
    assert_eq!(report["witness"]["steps"][1]["label"], "lock(2,2)");
    assert_eq!(report["enabled"], serde_json::json!([]));
}

#[test]
fn random_steps_repeat() {
    let folder = folder(&[]);
    let walk = |seed: &str| simulate(&folder, "r 30\n", &["--seed", seed]).expect(0, &["step 1: "]).stdout;
    assert_eq!(walk("7"), walk("7"));
    assert!((0..20).any(|seed| walk(&seed.to_string()) != walk("7")));
}

#[test]
fn traces_are_saved_loaded_and_begun_with() {
    let folder = folder(&[("bad.txt", "lock(1,1)\neat(1)\n"), ("broken.json", "{")]);
    simulate(&folder, "1\n1\nw way.json\nw way.txt\nj 0\nw start.aut\n", &[])
        .expect(0, &["wrote way.json", "wrote start.aut"]);
    let ran = simulate(&folder, "t\n", &["--trace", "way.json"]).expect(0, &["after step 2, lock(1,2)"]);
    assert!(ran.stdout.contains("  2  lock(1,2)"));
    simulate(&folder, "l way.txt\n1\n", &["--strict"]).expect(0, &["step 3: eat(1)"]);
    simulate(&folder, "l bad.txt\nt\n", &[])
        .expect(0, &["line 1: bad.txt does not fit at step 2: 'eat(1)' is not enabled", "  1  lock(1,1)"]);
    simulate(&folder, "l bad.txt\n", &["--strict"]).expect(2, &["does not fit at step 2"]);
    simulate(&folder, "", &["--strict", "--trace", "bad.txt"]).expect(1, &["does not fit at step 2"]);
    simulate(&folder, "l nowhere.json\nl broken.json\nw w.gif\nw no/such/w.json\n", &[])
        .expect(0, &["line 1: ", "cannot open nowhere.json", "line 2: broken.json", "line 3: ", "line 4: "]);
}

#[test]
fn odd_input_is_survived() {
    let folder = folder(&[]);
    simulate(&folder, "", &[]).expect(0, &["in the initial state"]);
    simulate(&folder, "1", &[]).expect(0, &["step 1"]);
    simulate(&folder, "1\r\n99999999999999999999999\n\u{0}\n-1\nr 0\nu 0\n\n", &[]).expect(0, &["step 1"]);
    let ran = turnpike_in(folder.path(), &["simulate", "-"], "des (0,0,1)\n");
    ran.expect(2, &["commands come from standard input"]);
    turnpike_in(folder.path(), &["simulate", "nowhere.aut"], "").expect(2, &["nowhere.aut"]);
}

/// Lines that arrive while the one before is still performed, and lines that a terminal marks as pasted at once.
#[test]
#[cfg(target_os = "linux")]
fn no_line_that_is_pasted_ahead_is_lost() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    for pasted in
        ["1\r2\ru\r2\rq\r", "\x1b[200~1\r2\ru\r2\x1b[201~\rq\r", "1\r\x1b[200~2\nu\n2\nq\x1b[201~\r"]
    {
        let binary = env!("CARGO_BIN_EXE_turnpike");
        // `script` gives the program a terminal.
        let run = Command::new("script")
            .args(["-qec", &format!("{binary} simulate builtin:philosophers --set n=2"), "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut run) = run else { return };
        let mut keys = run.stdin.take().expect("a pipe");
        keys.write_all(pasted.as_bytes()).expect("sends");
        // The pipe stays open: its end would be one more key.
        let output = run.wait_with_output().expect("ends by q");
        drop(keys);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(shown.matches("step 1: lock(1,1)").count(), 1, "{pasted:?}: {shown}");
        assert_eq!(shown.matches("step 2: lock(2,2)").count(), 2, "{pasted:?}: {shown}");
        assert!(shown.contains("after step 1, lock(1,1)"), "{pasted:?}: {shown}");
    }
}

/// A clock that is assigned before it is compared again takes no part in a search, but people see it. Traces of searches and
/// of simulations fit each other's views.
#[test]
fn zones_show_all_clocks_and_traces_fit_both_views() {
    let text = "system:two\nclock:1:x\nclock:1:y\nevent:a\nevent:b\nprocess:P\nlocation:P:l0{initial:}\n\
        location:P:l1{invariant:x<=5}\nlocation:P:l2{}\nedge:P:l0:l1:a{provided:y>=2 : do:x=0}\n\
        edge:P:l1:l2:b{provided:x>=1}\nedge:P:l2:l0:a{do:y=0}\n";
    let folder = folder(&[("two.tck", text)]);
    let run = |arguments: &[&str], input: &str| turnpike_in(folder.path(), arguments, input);
    let full = "zone=(0<=x<=5 && 2<=y && x-y<=-2)";
    run(&["simulate", "two.tck"], "1\n1\nw stepped.json\n").expect(0, &[full, "wrote stepped.json"]);
    let ran =
        run(&["replay", "two.tck", "stepped.json"], "").expect(0, &["zone=(0<=x<=5)", "the trace fits"]);
    assert!(ran.stderr.is_empty(), "it is the same model: {}", ran.stderr);
    run(&["replay", "stepped.json"], "").expect(0, &["on two.tck", "the trace fits"]);
    run(&["search", "two.tck", "--find", "action b", "--trace", "found.json"], "")
        .expect(1, &["zone=(0<=x<=5)"]);
    let ran =
        run(&["simulate", "two.tck", "--trace", "found.json"], "t\n").expect(0, &["after step 2, P@b", full]);
    assert!(ran.stderr.is_empty(), "it fits: {}", ran.stderr);
    // A zone that is another one is noticed all the same.
    let found = std::fs::read_to_string(folder.path().join("found.json")).expect("a trace");
    std::fs::write(folder.path().join("other.json"), found.replace("0<=x<=5", "0<=x<=4")).expect("writes");
    let words = "zone is (0<=x<=5 && 2<=y && x-y<=-2), the trace has (0<=x<=4)";
    run(&["simulate", "two.tck", "--trace", "other.json"], "").expect(0, &[words]);
}

#[test]
fn deadlocks_of_explicit_systems_and_built_in_models_are_explained() {
    let folder = folder(&[("s.aut", "des (0,2,3)\n(0,\"a\",1)\n(1,\"b\",2)\n")]);
    let run = |arguments: &[&str], input: &str| turnpike_in(folder.path(), arguments, input);
    let words = ["why nothing can happen:", "  state 2 has no outgoing transition"];
    run(&["search", "s.aut", "--find", "deadlock", "--trace", "stuck.json"], "").expect(1, &words);
    run(&["show", "stuck.json"], "").expect(0, &words);
    run(&["simulate", "s.aut"], "1\n1\ny\n").expect(0, &words);
    run(&["search", "builtin:scc"], "").expect(1, &["  the system has no outgoing transition"]);
    let philosophers = ["search", "builtin:philosophers", "--set", "n=2", "--trace", "table.json"];
    let first = "  philosopher1 at has-left\n    lock(1,2): held by philosopher2\n";
    let second = "  philosopher2 at has-left\n    lock(2,1): held by philosopher1\n";
    run(&philosophers, "").expect(1, &[first, second]);
    run(&["show", "table.json", "--why", "why.svg"], "").expect(0, &["wrote why.svg"]);
    let by_hand = ["simulate", "builtin:philosophers", "--set", "n=2"];
    run(&by_hand, "1\nw one.json\n2\nw stuck.json\n").expect(0, &["deadlock: no transition is enabled"]);
    run(&["show", "stuck.json"], "").expect(0, &["why nothing can happen:", first, second]);
    let unstuck = run(&["show", "one.json"], "").exits(0).stdout;
    assert!(!unstuck.contains("why"), "{unstuck}");
    let several = ["simulate", "builtin:philosophers-either", "--set", "n=2"];
    run(&several, "take toss(1,0)\ntake wait(1,1)\ntake wait(1,2)\ntake toss(2,0)\ny\n").expect(
        0,
        &["what is not possible now, and why:", "wants-left\n    wait(2,2): held by philosopher1"],
    );
}

#[test]
fn zones_of_the_listed_transitions_are_left_out() {
    let models = crate::common::root().join("models/timed");
    let listed = |arguments: &[&str]| {
        let text = turnpike_in(&models, &[&["simulate", "fischer.xta"], arguments].concat(), "1\n").exits(0);
        let (first, after) = text.stdout.split_once("step 1: ").expect("a step");
        assert!(after.lines().next().is_some_and(|line| line.contains("zone=(")), "{}", text.stdout);
        first.lines().filter(|line| line.contains("P(1)@tau")).collect::<String>()
    };
    assert_eq!(listed(&[]), "  1  P(1)@tau  after ≥ 0  P(1)=writing");
    assert!(listed(&["--full"]).contains("zone=("));
}
