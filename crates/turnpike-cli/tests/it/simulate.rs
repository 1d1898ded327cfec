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
