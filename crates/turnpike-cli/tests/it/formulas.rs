//! `--formula` as users meet it.

use crate::common::{Ran, folder, turnpike, turnpike_in};

/// Counts to three and starts again; `never` is declared and never taken.
const COUNTER: &str = "act a, b: Nat; never;\n\
    proc P(n: Nat) = (n < 3) -> a(n) . P(n + 1) <> b(n) . P(0);\n\
    init P(0);\n";
const BRANCH: &str = "des (0,4,4)\n(0,\"a(1)\",1)\n(0,\"a(2)\",2)\n(1,\"b\",3)\n(2,\"c\",3)\n";
const PHILOSOPHERS: &str = "builtin:philosophers";

const HOLDS: &str = "[true*]<true>true";
const VIOLATED: &str = "[true*.b(3)]false";
const WRONG: &str = "[true*.missing]false";

/// Runs a search of the counter for formulas, with more flags.
fn ask(formulas: &[&str], flags: &[&str]) -> Ran {
    let folder = folder(&[("counter.mcrl2", COUNTER)]);
    let mut arguments = vec!["search", "counter.mcrl2"];
    formulas.iter().for_each(|formula| arguments.extend(["--formula", formula]));
    turnpike_in(folder.path(), &[&arguments, flags].concat(), "")
}

#[test]
fn wrong_formulas_count_most_then_violated_then_undecided_ones() {
    // One expansion decides `[b(0)]false`, but not what every state can do.
    let (decided, undecided) = ("[b(0)]false", HOLDS);
    let limit = ["--max-states", "1"];
    for (formulas, flags, code) in [
        (&[HOLDS][..], &[][..], 0),
        (&[VIOLATED], &[], 1),
        (&[WRONG], &[], 2),
        (&[undecided], &limit, 3),
        (&[HOLDS, decided], &[], 0),
        (&[decided, undecided], &limit, 3),
        (&["[a(0)]false", undecided], &limit, 1),
        (&[undecided, "[a(0)]false"], &limit, 1),
        (&[HOLDS, VIOLATED], &[], 1),
        (&[WRONG, VIOLATED, HOLDS], &[], 2),
        (&[HOLDS, VIOLATED, WRONG], &[], 2),
        (&[undecided, "[a(0)]false", WRONG], &limit, 2),
        (&[VIOLATED], &["--expect", "not-satisfied"], 0),
        (&[HOLDS], &["--expect", "not-satisfied"], 1),
        (&[HOLDS, VIOLATED], &["--expect", "any"], 0),
    ] {
        let ran = ask(formulas, flags);
        assert_eq!(ran.code, code, "{formulas:?} {flags:?}\n{}", ran.text());
    }
}

#[test]
fn limits_leave_formulas_undecided() {
    for most in ["1", "2", "3"] {
        let ran = ask(&[HOLDS], &["--max-states", most]);
        ran.expect(3, &["inconclusive: [true*]<true>true", "not decided: the limit on states was reached"]);
    }
    ask(&[HOLDS], &["--max-states", "5"]).expect(0, &["holds: [true*]<true>true"]);
    // A search that covers everything proves that there is no path, if its store is exact.
    for (store, code, verdict) in
        [("exact", 0, "holds"), ("compact", 3, "inconclusive"), ("bitstate", 3, "inconclusive")]
    {
        let flags = ["--strategy", "bfs", "--store", store];
        ask(&["[true*.b(2)]false"], &flags).expect(code, &[&format!("{verdict}: [true*.b(2)]false")]);
        ask(&[VIOLATED], &flags).expect(1, &["violated: [true*.b(3)]false", "4 b(3)"]);
    }
    // What the last state can do decides this one: the step belongs to the path.
    for flags in [&["--strategy", "bfs"][..], &["--strategy", "highway"], &[]] {
        let formula = "[true*] forall n: Nat. [b(n)]val(n < 3)";
        ask(&[formula], flags).expect(1, &["this path of 4 steps refutes it", "4 b(3)"]);
        ask(&["<true*> exists n: Nat. <b(n)>val(n == 3)"], flags).expect(0, &["4 b(3)"]);
    }
    ask(&[HOLDS], &["--strategy", "bfs"]).expect(0, &["holds: [true*]<true>true", "invariant, bfs"]);
    let full = "[true*]<true*.b(3)>true";
    ask(&[full], &["--strategy", "bfs"]).expect(2, &["no path decides a formula", "--strategy"]);
    ask(&[HOLDS], &["--strategy", "highway", "--max-states", "2"]).expect(3, &["inconclusive"]);
}

#[test]
fn strategies_search_for_paths_and_loops() {
    let folder = folder(&[(
        "branch.aut",
        "des (0,5,4)\n(0,\"a\",1)\n(1,\"b\",0)\n(1,\"c\",2)\n(2,\"d\",3)\n(2,\"a\",2)\n",
    )]);
    let search = |formula: &str, strategy: &str| {
        turnpike_in(
            folder.path(),
            &["search", "branch.aut", "--formula", formula, "--strategy", strategy],
            "",
        )
    };
    let deadlock = "[true*]<true>true";
    for strategy in ["bfs", "dfs", "highway", "drs", "genetic", "random", "auto"] {
        search(deadlock, strategy).expect(1, &["invariant", "steps refutes it", "d"]);
        // Two steps that are enabled at once show this one.
        search("[true*](<a>true && <d>true => <b>true)", strategy).expect(1, &["violated", "refutes it"]);
        search("<true*>(<a>true && <d>true)", strategy).expect(0, &["attainability"]);
    }
    for strategy in ["bfs", "dfs", "drs", "auto"] {
        let sentence = "the system can continue forever without c: loop of";
        search("[true*.a](mu X. <true>true && [!c]X)", strategy).expect(1, &["linear", sentence]);
        search("<true*>nu X.<a>X", strategy).expect(0, &["a loop of 1 step", "shows that it holds"]);
        // Nothing but the whole proves that there is no such loop.
        search("<true*>nu X.<b>X", strategy).expect(1, &["violated"]);
    }
    search("nu X.<true>X", "highway").expect(2, &["highway cannot find accepting cycles"]);
}

/// Labels of actions that are declared several times belong to one of the declarations.
#[test]
fn overloaded_actions_are_told_apart() {
    let text = "sort E = struct e; B = struct zero | one;\n\
        act a: E; a: B; r, s, t: E; r, s: B;\n\
        init allow({a, t}, comm({r|s -> a}, (r(e) . r(one) + t(e)) . delta || s(e) . s(one) . delta));\n";
    let folder = folder(&[("twice.mcrl2", text)]);
    for (formula, code) in [
        ("<a(e) . a(one)>true", 0),
        ("<a(one)>true", 1),
        ("[a(e) . a(zero)]false", 0),
        ("[true*] forall b: B. [a(b)]val(b == one)", 0),
        ("[true*] forall b: B. [a(b)]false", 1),
        ("<!(exists x: E. a(x))>true", 0),
    ] {
        let ran = turnpike_in(folder.path(), &["search", "twice.mcrl2", "--formula", formula], "");
        assert_eq!(ran.code, code, "{formula}\n{}", ran.text());
    }
}

/// Evidence in a file shows the verdict by itself.
#[test]
fn evidence_can_be_kept() {
    let folder = folder(&[("counter.mcrl2", COUNTER), ("branch.aut", BRANCH)]);
    let search = |model: &str, formula: &str, more: &[&str]| {
        let arguments = [&["search", model, "--formula", formula], more].concat();
        turnpike_in(folder.path(), &arguments, "")
    };
    search("counter.mcrl2", VIOLATED, &["--trace", "path.json"]).expect(1, &["wrote: path.json"]);
    turnpike_in(folder.path(), &["replay", "counter.mcrl2", "path.json"], "").exits(0);
    let both = "[true]<true>true";
    search("branch.aut", both, &["--trace", "part.json"]).expect(0, &["wrote: part.aut"]);
    search("part.aut", both, &[]).expect(0, &["holds"]);
    search("counter.mcrl2", VIOLATED, &["--trace", "path.aut"]).expect(1, &["wrote: path.aut"]);
    search("path.aut", VIOLATED, &[]).expect(1, &["violated"]);
    // Evidence shows no step that it does not need, but the formula can still be asked of it.
    search("branch.aut", "[a(1)]<c>true", &["--trace", "short.aut"]).expect(1, &["wrote: short.aut"]);
    search("short.aut", "[a(1)]<c>true", &[]).expect(1, &["violated"]);
}

#[test]
fn paths_of_timed_automata_have_actions_and_locations() {
    let fischer = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/timed/fischer.xta");
    let exclusion = "[true* . at_P(1, critical) . at_P(2, critical)]false";
    let search = |more: &[&str]| turnpike(&[&["search", fischer, "--formula", exclusion], more].concat());
    search(&[]).expect(0, &["holds", "safety"]);
    search(&["--strategy", "bfs"]).expect(0, &["holds", "safety, bfs"]);
    for strategy in ["bfs", "drs", "auto"] {
        let wrong = ["--set", "WAIT=1", "--set", "WRITE=2", "--strategy", strategy];
        search(&wrong).expect(1, &["violated", "at_P(1, critical)", "at_P(2, critical)"]);
    }
    turnpike(&["search", fischer, "--formula", "<true* . at_P(3, critical)>true"]).exits(0);
    turnpike(&["search", fischer, "--formula", "<true* . at_P(3, critcal)>true"]).expect(2, &["critcal"]);
    // Where processes are is not a transition.
    let stuck = "chan never;\nclock x;\nprocess P() { state A {x<=1}, B; init A;\n\
        trans A -> B { guard x>=3; sync never!; }; }\nsystem P;\n";
    let folder = folder(&[("stuck.xta", stuck)]);
    for (formula, code) in [
        ("<true>true", 1),
        ("<!at_P(B)>true", 1),
        ("[true]false", 0),
        ("<at_P(A)>true", 0),
        ("<at_P(A) && !at_P(B)>true", 0),
        ("<at_P(A) . true>true", 1),
        ("[true* . never]false", 0),
    ] {
        let ran = turnpike_in(folder.path(), &["search", "stuck.xta", "--formula", formula], "");
        assert_eq!(ran.code, code, "{formula}\n{}", ran.text());
    }
}

/// Where a query and a formula ask the same, zones with covering and the game give the same answer.
#[test]
fn queries_and_formulas_agree() {
    let fischer = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/timed/fischer.xta");
    let places = ["idle", "writing", "waiting", "critical"];
    let (mut queries, mut formulas) = (Vec::new(), Vec::new());
    for one in places {
        for other in places {
            queries.push(format!("E<> P(1).{one} && P(2).{other}"));
            formulas.push(format!("<true* . at_P(1, {one}) . at_P(2, {other})>true"));
            queries.push(format!("A[] not (P(1).{one} && P(2).{other})"));
            formulas.push(format!("[true* . at_P(1, {one}) . at_P(2, {other})]false"));
        }
    }
    for wait in ["WAIT=1", "WAIT=3"] {
        let settings = ["--set", "N=2", "--set", "WRITE=2", "--set", wait, "--format", "json"];
        let ask = |flag: &str, all: &[String]| {
            let mut arguments = vec!["search", fischer];
            all.iter().for_each(|one| arguments.extend([flag, one]));
            turnpike(&[&arguments, &settings[..]].concat()).exits(1).json()
        };
        let (answers, verdicts) = (ask("--query", &queries), ask("--formula", &formulas));
        let satisfied = |at: usize| answers["queries"][at]["satisfied"].as_bool();
        let holds = |at: usize| verdicts["formulas"][at]["verdict"].as_str().map(|one| one == "holds");
        for at in 0..queries.len() {
            assert!(holds(at).is_some());
            assert_eq!(satisfied(at), holds(at), "{wait}: {} and {}", queries[at], formulas[at]);
        }
    }
}

#[test]
fn verdicts_have_their_evidence_in_json() {
    let report = ask(&[HOLDS, VIOLATED, WRONG], &["--format", "json"]).exits(2).json();
    let formulas = report["formulas"].as_array().expect("a list");
    let field = |name: &str| -> Vec<&serde_json::Value> { formulas.iter().map(|one| &one[name]).collect() };
    assert_eq!(field("text"), [HOLDS, VIOLATED, WRONG]);
    assert_eq!(field("verdict"), ["holds", "violated", "error"]);
    assert_eq!(field("fragment")[..2], ["invariant", "safety"]);
    assert!(formulas[2]["fragment"].is_null() && formulas[2]["evidence"].is_null());
    let evidence = &formulas[1]["evidence"];
    assert_eq!((&evidence["shape"], &evidence["states"]), (&"path".into(), &5.into()));
    let labels: Vec<_> =
        evidence["transitions"].as_array().expect("steps").iter().map(|one| &one[1]).collect();
    assert_eq!(labels, ["a(0)", "a(1)", "a(2)", "b(3)"]);
    assert!(formulas[2]["reason"].as_str().is_some_and(|text| text.contains("unknown action missing")));
}

#[test]
fn build_servers_get_a_case_for_each_formula() {
    let junit = ask(&[HOLDS, VIOLATED], &["--format", "junit"]).exits(1).stdout;
    assert!(junit.contains("tests=\"2\" failures=\"1\""), "{junit}");
    assert!(junit.contains("[true*.b(3)]false") && junit.contains("4 b(3)"), "{junit}");
    let sarif = ask(&[HOLDS, VIOLATED], &["--format", "sarif"]).exits(1).json();
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let text = results[0].to_string();
    assert!(results.len() == 1 && text.contains("[true*.b(3)]false"), "{sarif:#}");
}

#[test]
fn folders_and_files_are_read() {
    let folder = folder(&[
        ("counter.mcrl2", COUNTER),
        ("b.mcf", VIOLATED),
        ("a.mcf", "% every state\n[true*]\n  <true>true\n"),
        ("notes.txt", "not a formula"),
    ]);
    let search =
        |formula: &str| turnpike_in(folder.path(), &["search", "counter.mcrl2", "--formula", formula], "");
    let all = search(".").expect(1, &["2 formulas: 1 holds, 1 violated"]).stdout;
    let position = |text: &str| all.find(text).unwrap_or_else(|| panic!("{text}: {all}"));
    assert!(position("holds: ./a.mcf") < position("violated: ./b.mcf"));
    search("a.mcf").expect(0, &["holds: a.mcf"]);
    search("none.mcf").expect(2, &["cannot read none.mcf"]);
    std::fs::write(folder.path().join("c.mcf"), [0xff, 0xfe]).expect("writes");
    let all = ["cannot read ./c.mcf", "3 formulas: 1 holds, 1 violated, 1 wrong"];
    search(".").expect(2, &all);
    std::fs::create_dir(folder.path().join("empty")).expect("creates");
    search("empty").expect(2, &["empty has no files that end in .mcf"]);
}

#[test]
fn formulas_are_checked_without_being_decided() {
    let folder = folder(&[("counter.mcrl2", COUNTER), ("bad.mcf", "[true*]\n[a(true)]false")]);
    let check =
        |flags: &[&str]| turnpike_in(folder.path(), &[&["check", "counter.mcrl2"], flags].concat(), "");
    check(&["--formula", VIOLATED]).expect(0, &["ok: [true*.b(3)]false (safety"]);
    check(&["--formula", WRONG]).expect(2, &["unknown action missing", "the formula:1:8"]);
    check(&["--formula", "bad.mcf"]).expect(2, &["bad.mcf:2:"]);
    let never = "`never` is declared, but no transition of counter.mcrl2 has it";
    check(&["--formula", "[never]false"]).expect(0, &[never]);
    // Declared by the formula itself.
    let own = "act own: Nat; form [true*.own(1)]false;";
    check(&["--formula", own]).expect(0, &["`own` is declared, but no transition of counter.mcrl2 has it"]);
    // A wrong formula does not keep the others from being checked.
    let all = ["--formula", WRONG, "--formula", HOLDS, "--formula", "none.mcf"];
    check(&all).expect(2, &["unknown action missing", "ok: [true*]<true>true", "cannot read none.mcf"]);
    let report = check(&[&all[..], &["--format", "json"]].concat()).exits(2).json();
    assert_eq!(report["formulas"][0]["errors"][0]["column"], 8);
    assert_eq!(report["formulas"][1]["fragment"], "invariant");
    let error = check(&["--formula", "bad.mcf", "--format", "json"]).exits(2).json();
    assert_eq!((&error["errors"][0]["line"], &error["errors"][0]["column"]), (&2.into(), &4.into()));
    let report = check(&["--formula", HOLDS, "--format", "json"]).exits(0).json();
    assert_eq!(report["formulas"][0]["fragment"], "invariant");
}

#[test]
fn labels_of_other_systems_are_actions_with_data() {
    let folder = folder(&[("branch.aut", BRANCH)]);
    let search =
        |formula: &str| turnpike_in(folder.path(), &["search", "branch.aut", "--formula", formula], "");
    search("<a(2)>[b]false").expect(0, &["holds"]);
    search("forall n: Nat. [a(n)]<b>true").expect(1, &["violated"]);
    // What is not there may be misspelt, so that it proves nothing.
    let absent = "no label of branch.aut has an action";
    search("[true*.d]false").expect(2, &[absent, "`d`", "help: ", "--allow-unknown"]);
    search("[true*.a]false").expect(2, &["an action `a` with such arguments", "--allow-unknown"]);
    search("![true*.d]false").expect(1, &["violated", absent, "`d`"]);
    search("[true*.d]false || <b>true || true").expect(2, &[absent]);
    // A value that does not occur is not a mistake.
    search("[true*.a(77)]false").expect(0, &["holds"]);
    let allowed = ["search", "branch.aut", "--formula", "[true*.d]false", "--allow-unknown"];
    turnpike_in(folder.path(), &allowed, "").expect(0, &["holds", absent, "`d`"]);
    // The warning is there even when little is printed.
    let quiet = ["search", "branch.aut", "--formula", "<true*.d(5,x)>true", "--quiet"];
    turnpike_in(folder.path(), &quiet, "").expect(1, &["violated", "has an action `d`", "argument `x`"]);
    search("[a(x)]false").expect(2, &["unknown", "x"]);
    turnpike(&["search", PHILOSOPHERS, "--formula", "[true*.eatt(1)]false"])
        .expect(2, &["has no action `eatt`", "did you mean `eat`?"]);
    turnpike(&["search", PHILOSOPHERS, "--formula", "[true*.lock(1)]false"])
        .expect(2, &["has an action `lock` with such arguments", "--allow-unknown"]);
    turnpike(&["search", PHILOSOPHERS, "--formula", HOLDS]).expect(1, &["violated", "5 lock("]);
    turnpike(&["search", PHILOSOPHERS, "--formula", "<true*.lock(1,1)>true"]).expect(0, &["holds"]);
}

/// What a bounded look at a large system does not meet may still occur later.
#[test]
fn actions_beyond_the_known_labels_are_matched() {
    use std::fmt::Write as _;
    let states = 50_010;
    let mut chain = format!("des (0,{},{})\n", states - 1, states);
    for state in 0..states - 1 {
        let label = if state == states - 2 { "late" } else { "tick(1)" };
        writeln!(chain, "({state},\"{label}\",{})", state + 1).expect("writes");
    }
    let words = chain.replace("late", "tick(word)");
    let folder = folder(&[("late.aut", &chain), ("words.aut", &words)]);
    let search = |file: &str, formula: &str| {
        turnpike_in(folder.path(), &["search", file, "--formula", formula, "--quiet"], "")
    };
    search("late.aut", "[true*.late]false")
        .expect(1, &["violated", "no label of the first 50000 states of late.aut has an action `late`"]);
    search("late.aut", "[true*.never]false").expect(2, &["an action `never`", "--allow-unknown"]);
    search("late.aut", "[true*.late]<true>true || true").expect(0, &["holds", "an action `late`"]);
    search("late.aut", "[true*]<true>true").expect(1, &["violated"]);
    search("words.aut", "[true*.tick(2)]false").expect(2, &["the label `tick(word)` has an argument"]);
}

#[test]
fn formula_files_declare_data_of_their_own() {
    let declared = "map low: Nat -> Bool;\nvar n: Nat;\neqn low(n) = n < 3;\n";
    let formula = |form: &str| format!("{declared}form {form};\n");
    let right = formula("[true*] forall n: Nat. [a(n)]val(low(n))");
    let wrong = formula("[true*] forall n: Nat. [b(n)]val(low(n))");
    let sorts = "sort D = struct one | two;\nmap f: D -> Nat;\neqn f(one) = 1; f(two) = 2;\n\
        form forall d: D. <true*.a(f(d))>true;\n";
    // The specification has a variable `n`, in which it goes on to count.
    let names = "sort D = struct n | m;\nform [true*.a(3)]false && exists d: D. val(d == n) && <a(0)>true;\n";
    let mistake = "map low: Nat -> Bol;\nform [true*]true;\n";
    let folder = folder(&[
        ("counter.mcrl2", COUNTER),
        ("branch.aut", BRANCH),
        ("right.mcf", &right),
        ("wrong.mcf", &wrong),
        ("sorts.mcf", sorts),
        ("names.mcf", names),
        ("process.mcf", "init a(0);\nform true;\n"),
        ("mistake.mcf", mistake),
    ]);
    let search =
        |model: &str, file: &str| turnpike_in(folder.path(), &["search", model, "--formula", file], "");
    search("counter.mcrl2", "right.mcf").expect(0, &["holds"]);
    search("counter.mcrl2", "wrong.mcf").expect(1, &["violated", "4 b(3)"]);
    search("counter.mcrl2", "sorts.mcf").expect(0, &["holds"]);
    search("counter.mcrl2", "names.mcf").expect(0, &["holds"]);
    search("counter.mcrl2", "process.mcf").expect(2, &["expected `sort`", "process.mcf:1:1"]);
    search("counter.mcrl2", "mistake.mcf").expect(2, &["unknown sort Bol", "mistake.mcf:1:17"]);
    search("branch.aut", "right.mcf").expect(2, &["not an mCRL2 specification", "right.mcf:1:1"]);
    let builtin = ["search", PHILOSOPHERS, "--formula", "sorts.mcf"];
    turnpike_in(folder.path(), &builtin, "").expect(2, &["not an mCRL2 specification"]);
}

#[test]
fn what_formulas_cannot_be_asked_about_is_refused() {
    let train_gate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/timed/train_gate.xta");
    for command in ["search", "check"] {
        turnpike(&[command, train_gate, "--formula", HOLDS])
            .expect(2, &["only safety and reachability formulas are supported", "--query"]);
    }
    let folder = folder(&[
        ("times.mcrl2", "act a, b; init a@1 . b@3 . delta;"),
        ("coin.mcrl2", "act a; init dist b: Bool[1/2]. b -> a . delta;"),
    ]);
    for (model, message) in [
        ("times.mcrl2", "formulas about specifications with times are not supported"),
        ("coin.mcrl2", "formulas about probabilistic specifications are not supported"),
    ] {
        turnpike_in(folder.path(), &["search", model, "--formula", HOLDS], "").expect(2, &[message]);
    }
    for (flags, words) in [
        (&["--find", "deadlock"][..], "--find"),
        (&["--query", "A[] not deadlock"], "--query"),
        (&["--queries", "file.q"], "--queries"),
        (&["--tau", "lock"], "--tau does not apply to formulas"),
        (&["--all"], "--all does not apply to formulas"),
        (&["--non-zeno"], "--non-zeno does not apply to formulas"),
        (&["--expect", "found"], "`found` is not the result of a formula"),
        (&["--max-depth", "3"], "--max-depth needs a strategy"),
        (&["--runs", "3"], "--runs needs a strategy"),
        (&["--threads", "4"], "--threads needs a strategy"),
        (&["--store", "bitstate"], "--store needs a strategy"),
        (&["--checkpoint", "file"], "formulas do not support checkpoints"),
    ] {
        let arguments = [&["search", PHILOSOPHERS, "--formula", "[true]true"], flags].concat();
        turnpike_in(folder.path(), &arguments, "").expect(2, &[words]);
    }
    turnpike(&["search", "--formula", "[true]true", "--program", "/bin/true"])
        .expect(2, &["--formula is for models, not for programs"]);
}

/// Arguments of labels are terms, lists, sets and fractions.
#[test]
fn structured_arguments_can_be_written() {
    let text = "des (0,5,6)\n(0,\"r(pair(1,d1))\",1)\n(1,\"s([1,2])\",2)\n(2,\"w({1,2})\",3)\n\
        (3,\"y(1.5)\",4)\n(4,\"m(1)\",5)\n";
    let folder = folder(&[("terms.aut", text)]);
    for (formula, code) in [
        ("<r(pair(1,d1))>true", 0),
        ("<r(pair(2,d1))>true", 1),
        ("[r(pair(1,d9))]false", 0),
        ("forall n: Nat, d: Data. [r(pair(n,d))]val(n == 1)", 0),
        ("<true*.s([1,2])>true", 0),
        ("exists l: List(Nat). <true*.s(l)>val(#l == 3)", 1),
        ("forall s: Set(Nat). [true*.w(s)]val(1 in s)", 0),
        ("<true*.w({2,1})>true", 0),
        ("<true*.y(3/2)>true", 0),
        ("forall d: D. [true*.r(d)]<true>true", 0),
        ("[r(5)]false", 2),
    ] {
        let ran = turnpike_in(folder.path(), &["search", "terms.aut", "--formula", formula], "");
        assert_eq!(ran.code, code, "{formula}\n{}", ran.text());
    }
}

/// Where an action cannot occur, `[a]false` says nothing about the system.
#[test]
fn hidden_actions_prove_nothing() {
    let hidden = "act a, b, c, r, s;\n\
        init hide({a}, allow({a, b, c}, comm({r|s -> c}, a . b . r . delta || s . delta)));\n";
    let folder = folder(&[("hidden.mcrl2", hidden)]);
    let search = |formula: &str, more: &[&str]| {
        let all = [&["search", "hidden.mcrl2", "--formula", formula], more].concat();
        turnpike_in(folder.path(), &all, "")
    };
    let help = "add --unhide a; to accept that, add --allow-unknown";
    for more in [&[][..], &["--quiet"], &["--strategy", "bfs"]] {
        search("[true*.a]false", more).expect(2, &["`a` is hidden by `hide`", help, "the formula:1:8"]);
    }
    search("[true*.b|c]false", &[]).expect(2, &["`b|c` cannot occur"]);
    search("[true*.r]false", &[]).expect(2, &["`r` cannot occur"]);
    search("[true*.a]false", &["--unhide", "a"]).expect(1, &["violated"]);
    search("[true*.a]false", &["--allow-unknown", "--quiet"]).expect(0, &["holds", "warning: `a` is hidden"]);
    // A formula that is violated, or holds in spite of it, has its verdict with a warning.
    search("<true*.a>true", &["--quiet"]).expect(1, &["violated", "warning: `a` is hidden"]);
    search("<true*.b>true && [!a]true", &[]).expect(0, &["holds", "warning: `a` is hidden"]);
    let junit = search("<true*.a>true", &["--format", "junit"]).exits(1).stdout;
    assert!(junit.contains("`a` is hidden"), "{junit}");
    let sarif = search("<true*.a>true", &["--format", "sarif"]).exits(1).json();
    assert!(sarif.to_string().contains("`a` is hidden"), "{sarif:#}");
    let json = search("<true*.a>true", &["--format", "json"]).exits(1).json();
    assert!(json["warnings"].to_string().contains("`a` is hidden"), "{json:#}");
}

/// Labels fix the values of quantifiers, wherever these stand.
#[test]
fn quantifiers_may_stand_before_repetitions() {
    for (formula, code) in [
        ("forall n: Nat. [true*.a(n)]false", 1),
        ("forall n: Nat. [true*.a(n)]val(n < 3)", 0),
        ("exists n: Nat. <true*.b(n)>true", 0),
        ("exists n: Nat. <true*.b(n)>val(n == 2)", 1),
        ("forall n,m: Nat. [a(n).a(m)]val(m == n + 1)", 0),
        ("forall n: Nat. ([a(n)]true && <true>true)", 0),
        ("forall n: Nat. [true*.a(n).(!b(n))*.b(n)]false", 0),
        ("forall n: Nat. [(!a(n))*.b(n)]false", 1),
    ] {
        let ran = ask(&[formula], &[]);
        assert_eq!(ran.code, code, "{formula}\n{}", ran.text());
    }
}

/// The formula that explains a difference holds in one system only.
#[test]
fn numbers_are_bounded_by_all_labels() {
    // No label fixes n where its quantifier stands, but numbers that no label has are alike.
    let fair = "forall n: Nat. [true*] nu X. mu Y. nu Z. [a(n)]X && ([a(n)]false || [!a(n)]Y) && [!a(n)]Z";
    ask(&[fair], &[]).expect(0, &["holds"]);
    ask(&["forall n: Nat. mu X. [!a(n)]X"], &[]).expect(1, &["violated"]);
    ask(&["exists n: Nat. nu X. [true]X && [a(n)]false"], &[]).expect(0, &["holds"]);
    ask(&["exists n: Nat. [true*]<true* . b(n)>true"], &[]).expect(0, &["holds"]);
    let branch = folder(&[("branch.aut", BRANCH)]);
    let formula = "exists n: Nat. mu X. <a(n)>true && [!a(n)]X";
    turnpike_in(branch.path(), &["search", "branch.aut", "--formula", formula], "").expect(1, &["violated"]);
    // Conditions tell numbers apart that no label has.
    let formula = "exists n: Nat. [true*]<true*>(val(n > 70) && <a(n)>true)";
    ask(&[formula], &[]).expect(2, &["the values of n cannot be enumerated"]);
    // Data decides a condition without all its values, and what follows from nothing needs none.
    let formula = "exists n, m: Nat. val(n > m) && (exists n: Nat. <a(n)>true) || <b(0)>true";
    ask(&[formula], &[]).expect(0, &["holds"]);
    ask(&["forall n: Nat. [true*.a(n).(!b(n))*]true"], &[]).expect(0, &["holds"]);
    ask(&["exists n: Nat. val(n > 3) && <(!b(n))*>false"], &[]).expect(1, &["violated"]);
}

#[test]
fn distinguishing_formulas_distinguish() {
    let early = "des (0,3,4)\n(0,\"a\",1)\n(1,\"b\",2)\n(1,\"c\",3)\n";
    let late = "des (0,4,5)\n(0,\"a\",1)\n(0,\"a\",2)\n(1,\"b\",3)\n(2,\"c\",4)\n";
    let data = "des (0,4,5)\n(0,\"a(1)\",1)\n(1,\"b(x)\",2)\n(0,\"a(2)\",3)\n(3,\"c|b(x)\",4)\n";
    let swapped = "des (0,4,5)\n(0,\"a(1)\",1)\n(1,\"c|b(x)\",2)\n(0,\"a(2)\",3)\n(3,\"b(x)\",4)\n";
    let ends = "des (0,4,4)\n(0,\"a\",1)\n(1,\"b\",0)\n(0,\"a\",2)\n(2,\"b\",3)\n";
    let lasts = "des (0,3,3)\n(0,\"a\",1)\n(1,\"b\",0)\n(0,\"b\",0)\n";
    let pairs = [(early, late), (data, swapped), (ends, lasts)];
    let relations = [
        ["--equivalence", "strong"],
        ["--equivalence", "trace"],
        ["--preorder", "simulation"],
        ["--preorder", "ready-simulation"],
        ["--preorder", "failures"],
    ];
    let mut decided = 0;
    for (left, right) in pairs {
        let folder = folder(&[("left.aut", left), ("right.aut", right)]);
        for relation in relations {
            let compare = ["compare", "left.aut", "right.aut", "--format", "json"];
            let report = turnpike_in(folder.path(), &[&compare[..], &relation].concat(), "").json();
            let difference = &report["difference"];
            let Some(formula) = difference["formula"].as_str() else { continue };
            let holds_left = difference["holds_for"] == "left";
            for (file, holds) in [("left.aut", holds_left), ("right.aut", !holds_left)] {
                let ran = turnpike_in(folder.path(), &["search", file, "--formula", formula], "");
                assert_eq!(ran.code, i32::from(!holds), "{file} {relation:?} {formula}\n{}", ran.text());
            }
            decided += 1;
        }
    }
    assert!(decided >= 8, "{decided} formulas");
}

/// Ready formulas are closed, and made of actions.
#[test]
fn patterns_print_closed_formulas() {
    let response = ["formula", "response", "r(d)", "s(d)"];
    let closed = "[true*] forall d: D. [(r(d))](mu X. [!(s(d))]X && <true>true)";
    turnpike(&response).expect(0, &[closed, "guesses: d: D", "--forall 'd: Nat'"]);
    let chosen = turnpike(&[&response[..], &["--forall", "d: Nat"]].concat());
    assert_eq!(chosen.exits(0).text().trim(), closed.replace(": D", ": Nat"));
    let mixed = ["formula", "never-after", "r(d, e)", "s(d)", "--forall", "d: Nat"];
    turnpike(&mixed).expect(0, &["[true*] forall d: Nat, e: E. [(r(d, e)) . true* . (s(d))]false"]);
    turnpike(&["formula", "absence", "r(d1)"]).expect(0, &["[true*] [(r(d1))]false"]);
    let wrong = turnpike(&["formula", "response", "a(", "b"]);
    let wrong = wrong.expect(2, &["`a(` is not an action formula: this `(` is never closed"]);
    assert!(!wrong.text().contains(']'), "what the user did not write: {}", wrong.text());
    let unused = ["formula", "response", "a(d)", "b(d)", "--forall", "dd: Nat"];
    turnpike(&unused).expect(2, &["no action has the variable `dd` of --forall"]);
    turnpike(&["formula", "absence", "exists d: Nat. a(d)"]).exits(0);
}

#[test]
fn long_conjunctions_are_not_nested() {
    let (long, deep) = (vec!["<a(0)>true"; 3_000].join(" && "), format!("{}true", "!".repeat(3_000)));
    let folder = folder(&[("counter.mcrl2", COUNTER), ("long.mcf", &long), ("deep.mcf", &deep)]);
    let search = |file: &str| turnpike_in(folder.path(), &["search", "counter.mcrl2", "--formula", file], "");
    search("long.mcf").expect(0, &["holds: long.mcf"]);
    search("deep.mcf").expect(2, &["nested too deeply"]);
}
