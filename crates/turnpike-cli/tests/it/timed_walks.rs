//! Timed automata from the command line: walks on clock values, clocks that stand still, fractions of a unit.

use crate::common::{folder, json, turnpike_in};

/// Forty rounds must take nearly as long as they can, with somebody else in between.
const ROUNDS: &str = "const int N = 40;
process P() {
    clock x, all;
    int[0, N] n;
    state go { x <= 10 }, late;
    init go;
    trans go -> go { guard x >= 1 && n < N; assign x = 0, n = n + 1; },
        go -> late { guard n == N && x <= 0 && all > N * 10 - 3; };
}
process Q() { clock y; state a; init a; trans a -> a { guard y >= 1; assign y = 0; }; }
system P, Q;";

#[test]
fn walks_on_clock_values_find_what_needs_long_delays() {
    let files = folder(&[("rounds.xta", ROUNDS)]);
    let search = ["search", "rounds.xta", "--find", "state P.late", "--strategy", "random", "--concrete"];
    let flags = [&search[..], &["--max-states", "200000", "--trace", "t.json"]].concat();
    turnpike_in(files.path(), &flags, "").expect(1, &["found"]);
    // The witness is one of the model's own.
    turnpike_in(files.path(), &["replay", "rounds.xta", "t.json"], "").expect(0, &["objective met"]);
    // Same seed, same result.
    let at = files.path().join("rounds.xta");
    let at = at.to_str().expect("text");
    let ask = |seed: &str, threads: &str, strategy: &[&str]| {
        let flags = ["search", at, "--find", "state P.late", "--max-states", "200000"];
        let rest = ["--seed", seed, "--threads", threads];
        let mut value = json(1, &[&flags[..], &rest[..], strategy].concat());
        let fields = value.as_object_mut().expect("an object");
        for name in ["seconds", "peak_bytes", "threads", "command", "warnings"] {
            fields.remove(name);
        }
        value
    };
    let concrete = ["--strategy", "random", "--concrete"];
    for seed in ["1", "2"] {
        assert_eq!(ask(seed, "1", &concrete), ask(seed, "2", &concrete));
    }
    for strategy in [&concrete[..], &["--strategy", "auto"]] {
        // Every transition that was computed is counted by its action, and the virtual root has none.
        let value = ask("5", "1", strategy);
        let actions = value["actions"].as_object().expect("counts");
        let sum: u64 = actions.values().map(|count| count.as_u64().expect("a number")).sum();
        assert_eq!(value["transitions"], sum, "{strategy:?}");
    }
    for seed in ["3", "4"] {
        assert_eq!(ask(seed, "1", &["--strategy", "auto"]), ask(seed, "2", &["--strategy", "auto"]));
    }
}

#[test]
fn what_cannot_be_walked_on_clock_values_says_so() {
    let difference =
        "clock x, y; process P() { state A, B; init A; trans A -> B { guard x - y > 1; }; } system P;";
    let plain =
        "clock x; process P() { state A { x <= 2 }, B; init A; trans A -> B { guard x >= 1; }; } system P;";
    let faulty = "clock x; int[0, 2] n; process P() { state A { x <= 2 }; init A;
        trans A -> A { guard x >= 1; assign x = 0, n = n + 1; }; } system P;";
    let files = folder(&[("difference.xta", difference), ("plain.xta", plain), ("faulty.xta", faulty)]);
    let run = |model: &str, find: &str| {
        let flags =
            ["search", model, "--find", find, "--strategy", "random", "--concrete", "--max-states", "5000"];
        turnpike_in(files.path(), &flags, "")
    };
    run("difference.xta", "state P.B")
        .expect(2, &["difference.xta cannot be walked on single states", "without differences of clocks"]);
    run("plain.xta", "accepting P.B").expect(2, &["cycles"]);
    run("plain.xta", "state deadlock && P.B")
        .expect(2, &["walks on single valuations do not tell deadlocks among conditions"]);
    run("plain.xta", "state P.B").expect(1, &["found"]);
    // Nothing is proved.
    run("plain.xta", "state P.B && x < 1").expect(3, &["inconclusive"]);
    // An error of the model is reported with a path on zones.
    run("faulty.xta", "state P.A && n > 5").expect(
        2,
        &["n would be 3, which is outside 0..2 (after 2 steps", "zone=(0<=x<=2)", "2  P@tau  n=2"],
    );
    turnpike_in(files.path(), &["search", "plain.xta", "--strategy", "bfs", "--concrete"], "")
        .expect(2, &["--concrete"]);
    turnpike_in(files.path(), &["search", "builtin:philosophers", "--strategy", "random", "--concrete"], "")
        .expect(2, &["cannot be walked on single states"]);
    // `auto` does without such walks, and still decides.
    for (model, find, code) in [
        ("difference.xta", "state P.B", 0),
        ("plain.xta", "state deadlock && P.B", 1),
        ("plain.xta", "state P.B && x < 1", 0),
        ("plain.xta", "state P.B && x > 7", 1),
    ] {
        let ran = turnpike_in(files.path(), &["search", model, "--find", find], "");
        ran.expect(code, &[if code == 1 { "found" } else { "none" }]);
    }
}

/// `x` runs in `A`, `y` in `B`, and `z` always, so `z` is their sum: zones do not know that.
const SUM: &str = "clock x, y, z; process P() {
    state A { y' == 0 && x <= 1 }, B { x' == 0 && y <= 1 }, C { y' == 0 && x <= 2 }, D, E;
    init A;
    trans A -> B { }, B -> C { }, C -> D { guard z >= 4; }, C -> E { guard z >= 3; };
} system P;";

#[test]
fn clocks_that_stand_still_get_no_wrong_verdict() {
    let files = folder(&[
        ("sum.xta", SUM),
        ("both.xta", &SUM.replace("C { y' == 0 &&", "C { y' == 0 && y' == 1 &&")),
        ("fast.xta", "clock x; process P() { state A { x' == 2 && x <= 3 }; init A; } system P;"),
    ]);
    let run =
        |model: &str, flags: &[&str]| turnpike_in(files.path(), &[&["search", model], flags].concat(), "");
    // The sum of two clocks gets to 3, with a run that shows it.
    for strategy in ["bfs", "dfs", "auto", "random", "drs"] {
        run("sum.xta", &["--find", "state P.E", "--strategy", strategy, "--max-states", "20000"])
            .expect(1, &["found"]);
    }
    // It never gets to 4. Zones that include it are no proof, and no witness either.
    for strategy in ["bfs", "dfs", "auto"] {
        run("sum.xta", &["--find", "state P.D", "--strategy", strategy, "--max-states", "20000"])
            .expect(3, &["inconclusive", "clocks stand still in this model"]);
    }
    run("sum.xta", &["--find", "state P.A && y > 0"]).expect(0, &["none"]);
    run("sum.xta", &["--query", "sup: z"]).expect(2, &["not supported where clocks stand still"]);
    run("both.xta", &["--find", "state P.E"]).expect(2, &["clock y has two rates at once"]);
    run("fast.xta", &["--find", "state P.A"]).expect(2, &["clocks with a rate other than 0 or 1"]);
    // Kept clocks make more states, never other verdicts.
    run("sum.xta", &["--find", "state P.E", "--keep-dead"]).expect(1, &["found"]);
    run("sum.xta", &["--find", "state P.A && y > 0", "--keep-dead"]).expect(0, &["none"]);
}

/// All constants are multiples of a quarter.
const QUARTERS: &str = "clock x, y; const double k = 0.25; process P() {
    state A { x <= 2.5 }, B { y < 1.75 }, C;
    init A;
    trans A -> B { guard x > 2.25; assign y = 0.5; }, B -> C { guard y >= 1 + k && x - y > 1.75; };
} system P;";

#[test]
fn fractions_of_a_unit_are_exact() {
    let whole = "clock x, y; process P() {
        state A { x <= 10 }, B { y < 7 }, C;
        init A;
        trans A -> B { guard x > 9; assign y = 2; }, B -> C { guard y >= 5 && x - y > 7; };
    } system P;";
    let files = folder(&[("m.xta", QUARTERS), ("whole.xta", whole)]);
    let run =
        |model: &str, flags: &[&str]| turnpike_in(files.path(), &[&["search", model], flags].concat(), "");
    // In A, x is above 9/4 and at most 5/2 when y becomes 1/2: x - y is between 7/4, excluded, and 2.
    for (find, scaled, code) in [
        ("state P.C", "state P.C", 1),
        ("state P.B && x - y <= 1.75", "state P.B && x - y <= 7", 0),
        ("state P.B && x - y >= 2", "state P.B && x - y >= 8", 1),
        ("state P.B && x > 3.5", "state P.B && x > 14", 1),
        ("state P.B && x >= 3.75", "state P.B && x >= 15", 0),
        ("state P.A && x > 2.5", "state P.A && x > 10", 0),
    ] {
        run("m.xta", &["--find", find]).expect(code, &[]);
        run("whole.xta", &["--find", scaled]).expect(code, &[]);
    }
    // Times are told in the model's unit: y goes from 1/2 to 5/4.
    run("m.xta", &["--find", "state P.C", "--strategy", "bfs"]).expect(1, &["3/4"]);
    // Questions may be finer than the model.
    for (find, code) in
        [("state P.C && x > 0.1", 1), ("state P.A && x > 2.499", 1), ("state P.A && x > 2.501", 0)]
    {
        run("m.xta", &["--find", find]).expect(code, &[]);
    }
    let whole = |query: &str| run("whole.xta", &["--query", query]);
    whole("E<> P.A && x == 1.5").expect(0, &["satisfied", "3/2"]);
    whole("E<> P.A && x > 10 && x < 10.5").expect(1, &["not satisfied"]);
    whole("E<> P.B && x > 9.25 && x < 9.5").expect(0, &["satisfied"]);
    whole("A[] P.B imply x > 9.5").expect(1, &["not satisfied"]);
    whole("A<> x >= 0.5").expect(0, &["satisfied"]);
    whole("P.A --> x > 8.5").expect(0, &["satisfied"]);
    whole("E<> x == 1.4142135").expect(2, &["not a fraction with a small denominator"]);
    run("m.xta", &["--query", "sup: x"]).expect(2, &["not supported in models with fractions"]);
    let states = |model: &str| {
        let ran = turnpike_in(files.path(), &["generate", model], "").exits(0);
        ran.stdout.split(" states").next().expect("a count").rsplit(' ').next().map(str::to_owned)
    };
    assert_eq!(states("m.xta"), states("whole.xta"));
    let written = turnpike_in(files.path(), &["convert", "m.xta"], "").exits(0);
    assert!(written.stdout.starts_with("# clocks count 1/4 of the unit of time of the original\n"));
}
