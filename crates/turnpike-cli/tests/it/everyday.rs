//! What people meet every day: values spelt in another way, names of components, recipes, exit codes.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use crate::common::{folder, json, root, turnpike, turnpike_in};

const VALUES: &str = "\
sort D = struct d1 | d2 | pr(fst: Nat, second: Bool);
act a: D; e: Nat; r: Real; s: Set(Nat); unused: Nat;
proc P(n: Nat) = (n < 3) -> e(n) . P(n + 1) <> e(3) . a(d1) . r(1/2) . s({1,2}) . delta;
init P(0);
";

/// A value that is spelt differently is the same value, and what is not data is refused.
#[test]
fn values_are_found_however_they_are_spelt() {
    let folder = folder(&[("v.mcrl2", VALUES)]);
    let search = |label: &str| {
        turnpike_in(folder.path(), &["search", "v.mcrl2", "--find", &format!("label {label}")], "")
    };
    for (label, found) in [
        ("e(3)", "e(3)"),
        ("e(1+2)", "e(3)"),
        ("s({2,1})", "s({1, 2})"),
        ("r(2/4)", "r(1 / 2)"),
        ("e(*)", "e(*)"),
    ] {
        search(label).expect(1, &[&format!("found: label {found} in")]);
    }
    search("e(7)").expect(0, &["none: no label e(7)"]);
    for (label, words) in [
        ("e(03)", ["cannot start with a zero", "write `3`"]),
        ("e(n)", ["unknown variable, constant or function n", "`*` stands for any argument"]),
        ("e(three)", ["argument 1 of `e` cannot be `three`", "help"]),
        ("e(_)", ["cannot be `_`", "`*` stands for any argument"]),
        ("e()", ["argument 1 of `e` is missing", "`*`"]),
        ("a(d3)", ["unknown variable, constant or function d3", "did you mean `d1`?"]),
        ("a(pr(1))", ["pr takes 2 arguments, not 1", "pr: Nat # Bool -> D"]),
        ("r(0.5)", ["cannot be `0.5`", "write the fraction `1/2`"]),
    ] {
        search(label).expect(2, &words);
    }
    turnpike(&["search", "builtin:philosophers", "--find", "label eat(01)"]).expect(1, &["label eat(1)"]);
    // The trace is about what was found, and replays.
    let find = ["search", "v.mcrl2", "--find", "label e(1+2)", "--trace", "t.json"];
    turnpike_in(folder.path(), &find, "").exits(1);
    turnpike_in(folder.path(), &["replay", "t.json"], "").expect(0, &["objective met: label e(3)"]);
}

#[test]
fn patterns_of_actions_are_labels() {
    let folder = folder(&[("v.mcrl2", VALUES)]);
    let search = |find: &str| {
        turnpike_in(folder.path(), &["search", "v.mcrl2", "--find", &format!("action {find}")], "")
    };
    search("e*").expect(2, &["`action` takes names of actions", "write `label e*`"]);
    search("e(2)").expect(2, &["`action` takes names of actions", "write `label e(2)`"]);
    // What cannot occur is not suggested.
    let text = search("unusd").exits(2).text();
    assert!(!text.contains("did you mean `unused`"), "{text}");
}

#[test]
fn printed_cells_can_be_pasted() {
    let folder = folder(&[(
        "n.mcrl2",
        "act a, b: Nat; c;\nproc P(n: Nat) = a(n).P(n+1);\n\
         P1(m: Nat) = (m < 3) -> b(m).P1(m+1) <> c.delta;\ninit P(0) || P(0) || P1(0) || P1(1);\n",
    )]);
    for state in ["P1(1).m == 2", "P1(1).m=2", "P(0)#2.n = 1"] {
        let find = ["search", "n.mcrl2", "--find", &format!("state {state}")];
        turnpike_in(folder.path(), &find, "").expect(1, &["found: state"]);
    }
    let lift = root().join("models/lift.mcrl2").display().to_string();
    turnpike(&["search", &lift, "--find", "state Station(3)=First"]).expect(1, &["found: state"]);
}

/// Every objective counts when all are looked for.
#[test]
fn all_objectives_must_end_as_expected() {
    let folder = folder(&[("v.mcrl2", VALUES)]);
    let search = |more: &[&str]| {
        let mut words = vec!["search", "v.mcrl2", "--all", "--find", "label e(3)", "--find", "label e(9)"];
        words.extend(more);
        turnpike_in(folder.path(), &words, "")
    };
    search(&["--expect", "found"]).expect(1, &["found: label e(3)", "no label e(9)"]);
    search(&["--expect", "any"]).exits(0);
    let both =
        ["search", "v.mcrl2", "--all", "--expect", "found", "--find", "label e(3)", "--find", "deadlock"];
    turnpike_in(folder.path(), &both, "").exits(0);
    let report = search(&["--expect", "found", "--format", "junit"]).exits(1).stdout;
    let document = roxmltree::Document::parse(&report).unwrap_or_else(|error| panic!("{error}\n{report}"));
    let cases: Vec<(Option<&str>, bool)> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .map(|node| (node.attribute("name"), node.children().any(|child| child.has_tag_name("failure"))))
        .collect();
    assert_eq!(cases, [(Some("label e(3)"), false), (Some("label e(9)"), true)], "{report}");
}

#[test]
fn verbose_output_of_models_has_everything() {
    let folder = folder(&[(
        "loop.mcrl2",
        "act a, b; e; proc P(n: Nat) = (n < 40) -> a . b . P(n + 1) <> e . delta; init P(0);",
    )]);
    let search = |more: &[&str]| {
        let mut words = vec!["search", "loop.mcrl2", "--find", "action e"];
        words.extend(more);
        turnpike_in(folder.path(), &words, "").exits(1).stdout
    };
    assert!(search(&[]).contains("more steps of the same loop"));
    let all = search(&["-v"]);
    assert!(!all.contains("more steps") && all.contains(" 81  e"), "{all}");
    let fischer = root().join("models/timed/fischer.xta").display().to_string();
    turnpike(&["search", &fischer, "--find", "deadlock", "-v"])
        .expect(0, &["zones: extrapolated as coarsely"]);
}

#[test]
fn a_moved_source_is_named_in_the_hint() {
    let folder = folder(&[("v.mcrl2", VALUES)]);
    let find = ["search", "v.mcrl2", "--find", "label e(3)", "--trace", "t.json"];
    turnpike_in(folder.path(), &find, "").exits(1);
    let outside = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.json").display().to_string();
    let model = folder.path().join("v.mcrl2").display().to_string();
    let hint = format!("turnpike replay {model} {trace}");
    turnpike_in(outside.path(), &["replay", &trace], "").expect(2, &[&hint]);
    turnpike_in(outside.path(), &["replay", &model, &trace], "").exits(0);
}

const COUNTER: &str = "\
#include <pthread.h>
#include <assert.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *x) {
  for (int i = 0; i < TURNS; i++) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }
  return x;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  assert(n != TURNS || !FAILS);
  return 0;
}
";

fn counter(turns: usize, fails: bool) -> String {
    COUNTER.replace("TURNS", &turns.to_string()).replace("FAILS", &u8::from(fails).to_string())
}

fn compile(folder: &Path, compiler: &str, words: &[&str]) -> bool {
    match Command::new(compiler).args(words).current_dir(folder).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            eprintln!("skipped: {compiler}: {}", String::from_utf8_lossy(&output.stderr));
            false
        }
        Err(_) => {
            eprintln!("skipped: {compiler} is not installed");
            false
        }
    }
}

/// The command that turnpike prints makes a program whose memory is visible.
#[cfg(target_os = "linux")]
#[test]
fn the_recipe_that_is_printed_works() {
    let folder = folder(&[("ok.c", &counter(2, false)), ("my ok.cpp", &counter(2, false))]);
    for (source, program) in [("ok.c", "./ok"), ("my ok.cpp", "./my ok")] {
        let help = turnpike_in(folder.path(), &["search", source], "").exits(2).stderr;
        let recipe = help.split('`').nth(1).unwrap_or_else(|| panic!("no recipe in {help}"));
        for (compiler, others) in [("cc", "c++"), ("clang", "clang++")] {
            let compiler = if recipe.starts_with("c++") { others } else { compiler };
            let (_, arguments) = recipe.split_once(' ').expect("a compiler and its arguments");
            let ran = Command::new("sh")
                .args(["-c", &format!("{compiler} {arguments}")])
                .current_dir(folder.path())
                .output()
                .expect("a shell");
            let errors = String::from_utf8_lossy(&ran.stderr);
            if !ran.status.success() && (errors.contains("not found") || errors.contains("tsan")) {
                eprintln!("skipped: {compiler} cannot make such programs: {errors}");
                continue;
            }
            assert!(ran.status.success(), "{compiler} {arguments}: {errors}");
            let found = turnpike_in(folder.path(), &["search", "--program", program], "").exits(0).stdout;
            assert!(!found.contains("synchronisation only"), "{compiler}: {found}");
        }
    }
}

/// What is not visible is not part of a system that is called complete.
#[cfg(target_os = "linux")]
#[test]
fn a_system_of_synchronisation_is_not_complete() {
    let folder = folder(&[("c.c", &counter(1, false))]);
    if !compile(folder.path(), "cc", &["-g", "c.c", "-o", "c", "-pthread"]) {
        return;
    }
    let ran = turnpike_in(folder.path(), &["generate", "--program", "./c"], "");
    let text = ran.expect(0, &["(synchronisation only)", "compile and link with -fsanitize=thread"]).text();
    assert!(!text.contains("complete"), "{text}");
    let ran = turnpike_in(folder.path(), &["generate", "--program", "./c", "--format", "json"], "").exits(0);
    let object = ran.json();
    assert_eq!(object["complete"], false);
    assert_eq!(object["scope"], "synchronisation");
    let object = json(0, &["generate", "builtin:philosophers"]);
    assert_eq!(object["complete"], true);
    assert!(object["scope"].is_null());
}

#[cfg(target_os = "linux")]
#[test]
fn schedules_fold_their_loops() {
    let folder = folder(&[("c.c", &counter(12, true))]);
    if !compile(folder.path(), "cc", &["-g", "c.c", "-o", "c", "-pthread"]) {
        return;
    }
    let search = |more: &[&str]| {
        let mut words = vec!["search", "--program", "./c", "--trace", "c.json"];
        words.extend(more);
        turnpike_in(folder.path(), &words, "").exits(1).stdout
    };
    let all = search(&["-v"]);
    assert!(!all.contains("more steps") && all.matches(" unlock ").count() >= 12, "{all}");
    let folded = search(&[]);
    assert!(folded.contains("more steps of the same loop"), "{folded}");
    let shown = turnpike_in(folder.path(), &["show", "c.json"], "").exits(0).stdout;
    assert!(shown.contains("more steps of the same loop") && !shown.contains("all steps:"), "{shown}");
    let shown = turnpike_in(folder.path(), &["show", "c.json", "-v"], "").exits(0).stdout;
    assert!(shown.contains("all steps:"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn objectives_of_programs_are_named_in_the_verdict() {
    let folder = folder(&[("c.c", &counter(1, false))]);
    if !compile(folder.path(), "cc", &["-g", "c.c", "-o", "c", "-pthread"]) {
        return;
    }
    let search = |find: &str| turnpike_in(folder.path(), &["search", "--program", "./c", "--find", find], "");
    search("action lock").expect(1, &["found: action lock in "]);
    search("action sem_wait").expect(0, &["warning", "never does `sem_wait`"]);
}

/// Places of a program's sources are those that the user sees, not those of the folder it was compiled in.
#[cfg(target_os = "linux")]
#[test]
fn findings_name_files_that_exist() {
    let folder = folder(&[]);
    let inside = folder.path().join("p");
    std::fs::create_dir(&inside).expect("a folder");
    std::fs::write(inside.join("bug.c"), counter(1, true)).expect("writes");
    if !compile(&inside, "cc", &["-g", "bug.c", "-o", "bug", "-pthread"]) {
        return;
    }
    let words = ["search", "--program", "./p/bug", "--format", "sarif"];
    let log = turnpike_in(folder.path(), &words, "").exits(1).json();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "p/bug.c", "{log}");
    let refused = ["search", "v.mcrl2", "--find", "action nothing", "--format", "sarif"];
    std::fs::write(folder.path().join("v.mcrl2"), VALUES).expect("writes");
    let log = turnpike_in(folder.path(), &refused, "").exits(2).json();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "v.mcrl2", "{log}");
}

/// What states look like in a simulation can be searched for, as a line of its own or as a whole.
#[test]
fn what_simulations_print_can_be_searched() {
    let models = root().join("models");
    for (model, settings) in [
        ("lift.mcrl2", &[][..]),
        ("brp.mcrl2", &[]),
        ("timed/fischer.xta", &["--set", "N=3"]),
        ("timed/train_gate.xta", &[]),
        ("timed/csma_cd.xta", &[]),
        ("timed/fddi.xta", &[]),
    ] {
        let simulate = [&["simulate", model][..], settings].concat();
        let text = turnpike_in(&models, &simulate, "r 6\ns\n").exits(0).stdout;
        let value = |line: &str| {
            let (name, value) = line.strip_prefix("  ")?.split_once('=')?;
            (!name.contains(' ') && name != "zone").then(|| format!("{name}={value}"))
        };
        let values: Vec<String> = text.lines().filter_map(value).collect();
        assert!(values.len() >= 3, "{model}: {text}");
        for state in values.iter().cloned().chain([values.join(", ")]) {
            let find = format!("state {state}");
            let search = [&["search", model, "--max-states", "3000", "--find", &find][..], settings].concat();
            let ran = turnpike_in(&models, &search, "");
            assert!(ran.code == 1 || ran.code == 3, "{model}: {find}\n{}", ran.text());
        }
    }
}

#[test]
fn mistakes_in_pasted_states_are_explained() {
    let models = root().join("models/timed");
    let search = |find: &str| turnpike_in(&models, &["search", "fischer.xta", "--find", find], "");
    search("state P(1)=critcal").expect(2, &["expected a location of `P(1)`", "did you mean `critical`?"]);
    search("state P(1)=idle, zone=(0<=P(1).x)").expect(2, &["zones cannot be compared", "P(1)=idle, zone"]);
    search("state P(1)=idle, turn=3 || turn=2").expect(2, &["found `,`"]);
    let fractions = search("state P(1)=waiting, P(1).x > 1.5").exits(1).stdout;
    assert!(fractions.contains("P(1)=waiting"), "{fractions}");
}

#[test]
fn lines_fit_into_narrow_terminals() {
    let folder = folder(&[]);
    let widest = |columns: Option<&str>| {
        let trace = ["search", "builtin:philosophers", "--set", "n=9", "--trace", "t.json", "--quiet"];
        turnpike_in(folder.path(), &trace, "").exits(1);
        let mut command = crate::common::command(&["show", "t.json"]);
        command.current_dir(folder.path());
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        let shown: crate::common::Ran = command.output().expect("starts").into();
        shown.exits(0).stdout.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    };
    assert!((41..=60).contains(&widest(Some("60"))), "{}", widest(Some("60")));
    assert!((61..=80).contains(&widest(Some("80"))));
    for usual in [None, Some(""), Some("0"), Some("wide"), Some("400")] {
        assert!((90..=110).contains(&widest(usual)), "{usual:?}");
    }
}

/// Only words and commands to paste are longer than a narrow terminal is wide.
#[test]
fn summaries_break_between_words_in_narrow_terminals() {
    let search = |columns: Option<&str>| {
        let mut command = crate::common::command(&["search", "builtin:philosophers"]);
        columns.map(|columns| command.env("COLUMNS", columns));
        let ran: crate::common::Ran = command.output().expect("starts").into();
        ran.exits(1).stdout
    };
    let narrow = search(Some("40"));
    for line in narrow.lines().filter(|line| !line.starts_with("repeat: ")) {
        assert!(line.chars().count() <= 40, "{line}\n{narrow}");
    }
    let usual = search(None);
    let words = |text: &str| {
        let start = text.find("witness: ").expect("a witness");
        let summary = text[start..].split("\n\n").next().unwrap_or_default();
        summary.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(&narrow), words(&usual));
    assert!(usual.lines().any(|line| line.starts_with("witness: ") && line.ends_with("shortest")), "{usual}");
}

/// A component of a built-in model is printed as a word, which its conditions cannot compare.
#[test]
fn components_of_built_in_models_are_told_from_measures() {
    let search = |find: &str| turnpike(&["search", "builtin:philosophers", "--find", find]);
    search("state philosopher1 == has-left").expect(
        2,
        &[
            "`philosopher1` is a component, but",
            "the measures are waiting, ",
            "for example `state waiting == 1`",
        ],
    );
    search("state waiting == 1").expect(1, &["found: state waiting == 1"]);
    search("state philosopher77 == has-left").expect(2, &["`philosopher77` is not a measure"]);
}

/// What the strategy counts is misspelt as easily as what is looked for.
#[test]
fn a_fitness_counts_labels_that_exist() {
    let search = |fitness: &str, more: &[&str]| {
        let genetic = ["search", "builtin:philosophers", "--strategy", "genetic", "--fitness", fitness];
        turnpike(&[&genetic, more].concat())
    };
    search("label zz*", &[]).expect(2, &["error: ", "no label like `zz*`"]);
    search("label lokc(1,*)", &[]).expect(2, &["did you mean `lock`?"]);
    search("label zz*", &["--allow-unknown"]).expect(1, &["warning: ", "no label like `zz*`"]);
    let right = search("label lock(1,*)", &[]).exits(1);
    assert!(!right.text().contains("warning"), "{}", right.text());
}

/// A condition that no state can change answers another question than the one that was meant.
#[test]
fn constant_conditions_are_mentioned() {
    let files = folder(&[(
        "n.xta",
        "const int N = 4; int n;\nprocess P() { state a, b; init a; trans a -> b { assign n = 1; }; }\nsystem P;\n",
    )]);
    let search =
        |model: &str, flags: &[&str]| turnpike_in(files.path(), &[&["search", model], flags].concat(), "");
    let constant = "is the same in all states";
    let lift = root().join("models/lift.mcrl2");
    let lift = lift.to_string_lossy();
    for (model, flag, text, code, words) in [
        ("n.xta", "--find", "state N == 5", 0, "it never holds"),
        ("n.xta", "--find", "state N == 4", 1, "it always holds"),
        ("n.xta", "--query", "E<> N == 5", 1, "it never holds"),
        ("builtin:philosophers", "--find", "state 1 == 2", 0, "it never holds"),
        (&*lift, "--find", "state 1 == 2", 0, "it never holds"),
    ] {
        search(model, &[flag, text]).expect(code, &[constant, words]);
    }
    for (model, text) in
        [("n.xta", "state n == 7"), ("n.xta", "state false"), ("builtin:philosophers", "state waiting == 9")]
    {
        let ran = search(model, &["--find", text]).exits(0);
        assert!(!ran.text().contains(constant), "{}", ran.text());
    }
}

/// Why a search proves nothing is said once.
#[cfg(target_os = "linux")]
#[test]
fn what_was_left_out_is_said_once() {
    let folder = folder(&[("shared.c", SHARED)]);
    if !compile(folder.path(), "gcc", &["-g", "shared.c", "-o", "shared"]) {
        return;
    }
    let ran = turnpike_in(folder.path(), &["search", "--program", "shared", "--find", "race"], "").exits(3);
    let stopped = ran.stdout.lines().find(|line| line.starts_with("stopped: ")).expect("a reason");
    let reason = stopped.split("this proves nothing because ").nth(1).expect("what was left out");
    let below = &ran.stdout[ran.stdout.find("stopped: ").expect("a reason")..];
    assert_eq!(below.matches(reason).count(), 1, "{}", ran.stdout);
    assert!(!ran.stdout.contains("left out:"), "{}", ran.stdout);
}

const SHARED: &str = "\
#include <pthread.h>
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
int value, mark;
static void *bump(void *unused) {
  mark = 1;
  pthread_mutex_lock(&gate);
  value++;
  pthread_mutex_unlock(&gate);
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, bump, 0);
  pthread_create(&b, 0, bump, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
";

/// A thread, a variable or a place that no step has is not a proof that nothing happens there.
#[cfg(target_os = "linux")]
#[test]
fn labels_of_programs_name_what_exists() {
    let folder = folder(&[("shared.c", SHARED)]);
    if !compile(folder.path(), "gcc", &["-g", "-fsanitize=thread", "shared.c", "-o", "shared"]) {
        return;
    }
    let search = |label: &str, more: &[&str]| {
        // A plain name is a program in this folder.
        let find = format!("label {label}");
        turnpike_in(folder.path(), &[&["search", "--program", "shared", "--find", &find], more].concat(), "")
    };
    search("lock(main.0, gate, *)", &[]).expect(1, &["found: label lock(main.0, gate, *)"]);
    for (label, words) in [
        ("lock(gate)", "`lock` takes 3 arguments in shared, not 1"),
        ("lock(main.0, gate)", "`lock` takes 3 arguments in shared, not 2"),
        ("lock(main.0, gaet, *)", "no step has it"),
        ("lock(*, gaet, *)", "did you mean `gate`?"),
        ("lock(main.7, *)", "did you mean `main.0`?"),
        ("lock(*, gate)", "no step has it at that position"),
        ("lock(gate, *)", "a label of this program is `lock(main.0, gate, shared.c:6)`"),
        ("write(*, marks, *)", "did you mean `mark`?"),
        // The lock orders all accesses, so that none is a step.
        ("write(*, value, *)", "argument 2 of `write` cannot be `value`"),
        ("unlock(main.0, gaet, *)", "did you mean `gate`?"),
        ("send(main.0, gaet, *)", "did you mean `gate`?"),
        ("lock(*, gaet*)", "no step has it"),
        ("lock(main.0, gate, shared.c:99)", "argument 3 of `lock` cannot be `shared.c:99`"),
    ] {
        for strategy in ["auto", "bfs"] {
            search(label, &["--strategy", strategy]).expect(2, &["error: ", words, "--allow-unknown"]);
        }
        search(label, &["--allow-unknown"]).expect(0, &["none: no label"]);
    }
    // Each part occurs, but not together.
    search("lock(main.0, mark, *)", &[]).expect(0, &["none: no label"]);
    search("send(main.0, gate, *)", &[]).expect(0, &["shared never does `send`", "none: no label"]);
    search("lock(main, gate, *)", &[]).expect(0, &["none: no label"]);
}
