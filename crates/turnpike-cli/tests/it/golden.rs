//! Golden rows: what the real program answers, pinned for every kind of model and every strategy.
//!
//! A row is one search with a fixed seed; its JSON, without times and memory, is compared with the
//! snapshot in `tests/golden`. After a change that is meant to change a row, run
//! `INSTA_UPDATE=always cargo test -p turnpike-cli --test it golden` and commit the new snapshot together with
//! the reason.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use crate::common;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use common::{command, folder, timeless, turnpike};
use serde_json::Value;

/// A model with what is searched for in it: something that is there, and something that is not.
struct Subject {
    /// The snapshot's name.
    name: &'static str,
    /// The model and its settings, as on the command line.
    model: &'static [&'static str],
    present: &'static str,
    absent: &'static str,
    /// A measure for guided strategies.
    guide: Option<&'static str>,
}

/// Strategies for every model, with options that keep a search short.
const STRATEGIES: &[&[&str]] = &[
    &["auto"],
    &["random", "--restart", "--max-states", "600"],
    &["bfs"],
    &["dfs"],
    &["rdfs"],
    &["highway", "--width", "8"],
    &["highway-ideal", "--width", "8"],
    &["highway-approx", "--width", "8"],
    &["drs", "--cutoff", "12", "--max-states", "600"],
    &["genetic", "--population", "20", "--parents", "10", "--generations", "4", "--depth", "20"],
    &["mutation", "--population", "20", "--parents", "10", "--generations", "4", "--depth", "20"],
    &["exhaustive", "--depth", "6", "--max-states", "3000"],
];

/// Strategies that need a guide.
const GUIDED: &[&[&str]] = &[&["beam", "--width", "8"], &["best-first"]];

/// Strategies that schedule the threads of a program.
const SCHEDULING: &[&[&str]] = &[&["pct"], &["pos"], &["weighted"], &["frontier"]];

const SPECIFICATION: &str = "
act put, take: Nat; stuck;
proc Buffer(n: Nat) = (n < 3) -> put(n) . Buffer(n + 1) + (n > 0) -> take(n) . Buffer(max(n - 1, 0));
     Breaker = put(2) . stuck . delta;
init allow({put, take, stuck, put|put}, Buffer(0) || Breaker);
";

const EXPLICIT: &str = "des (0,9,7)
(0,\"a\",1)\n(0,\"b\",2)\n(1,\"a\",3)\n(2,\"b\",3)\n(2,\"c(1)\",0)\n(3,\"tau\",4)\n(4,\"a\",5)\n(4,\"b\",0)\n(5,\"c(2)\",6)\n";

const TIMED: &str = "system:gate
event:tau
event:enter
event:leave
clock:1:x
int:1:0:2:0:n
process:Train
location:Train:far{initial:}
location:Train:near{invariant:x<=5}
location:Train:inside{labels:inside}
location:Train:off{labels:off}
edge:Train:far:near:tau{do:x=0}
edge:Train:near:inside:enter{provided:x>=2 && n<2 : do:x=0;n=n+1}
edge:Train:inside:far:leave{provided:x>3}
edge:Train:inside:off:tau{provided:n==2 && x<1}
";

const DEADLOCK: &str = "#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
static void *other(void *unused) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
";

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "builtin",
        model: &["builtin:philosophers", "--set", "n=4"],
        present: "deadlock",
        absent: "state eating > 2",
        guide: Some("max waiting"),
    },
    Subject {
        name: "aut",
        model: &["small.aut"],
        present: "label c(2)",
        absent: "nondeterminism",
        guide: None,
    },
    Subject {
        name: "mcrl2",
        model: &["buffer.mcrl2"],
        present: "action stuck",
        absent: "label take(4)",
        guide: Some("max n"),
    },
    Subject {
        name: "tck",
        model: &["gate.tck"],
        present: "label off",
        absent: "state n > 2",
        guide: Some("max n"),
    },
    Subject {
        name: "xta",
        model: &["fischer.xta"],
        present: "state P(1).critical",
        absent: "state P(1).critical && P(2).critical",
        guide: Some("max turn"),
    },
];

#[test]
fn models() {
    let fischer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timed/fischer.xta");
    let fischer = std::fs::read_to_string(fischer).expect("a bundled model");
    let folder = folder(&[
        ("buffer.mcrl2", SPECIFICATION),
        ("small.aut", EXPLICIT),
        ("gate.tck", TIMED),
        ("fischer.xta", &fischer),
    ]);
    for subject in SUBJECTS {
        let mut strategies = STRATEGIES.to_vec();
        let guided: Vec<Vec<&str>> = subject
            .guide
            .iter()
            .flat_map(|guide| GUIDED.iter().map(|row| [row, ["--guide", guide].as_slice()].concat()))
            .collect();
        strategies.extend(guided.iter().map(Vec::as_slice));
        compare(folder.path(), subject, &strategies);
    }
}

#[test]
fn programs() {
    let folder = folder(&[("deadlock.c", DEADLOCK)]);
    let mut compiler = Command::new("gcc");
    compiler.args(["-g", "-O1", "-pthread", "-o", "deadlock", "deadlock.c"]).current_dir(&folder);
    match compiler.status() {
        Ok(status) => assert!(status.success(), "the program does not compile"),
        Err(_) => return eprintln!("skipped: there is no gcc"),
    }
    let subject = Subject {
        name: "program",
        model: &["--program", "./deadlock"],
        present: "deadlock",
        absent: "assertion",
        guide: None,
    };
    let sampled: Vec<Vec<&str>> =
        SCHEDULING.iter().map(|row| [row, ["--max-executions", "40"].as_slice()].concat()).collect();
    let mut strategies = STRATEGIES.to_vec();
    strategies.extend(sampled.iter().map(Vec::as_slice));
    compare(folder.path(), &subject, &strategies);
}

/// Makes all searches of a subject and compares them with its snapshot.
fn compare(folder: &Path, subject: &Subject, strategies: &[&[&str]]) {
    let mut rows = String::new();
    for strategy in strategies {
        for objective in [subject.present, subject.absent] {
            let mut arguments = vec!["search"];
            arguments.extend(subject.model);
            arguments.extend(["--find", objective, "--seed", "7", "--strategy"]);
            arguments.extend(*strategy);
            let ran: common::Ran = command(&[&arguments[..], &["--format", "json"]].concat())
                .current_dir(folder)
                .output()
                .expect("the program starts")
                .into();
            let answer = timeless(ran.json());
            writeln!(rows, "$ turnpike {}", arguments.join(" ")).expect("writes to memory");
            let text = serde_json::to_string_pretty(&abridge(answer)).expect("JSON");
            writeln!(rows, "exit {}\n{text}\n", ran.code).expect("writes to memory");
        }
    }
    insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(subject.name, rows);
    });
}

/// Without what depends on the compiler, and with states of witnesses as one line each: rows stay short enough to
/// read.
fn abridge(mut answer: Value) -> Value {
    let line = |state: &mut Value| {
        if let Value::Object(values) = state {
            let texts: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
                .collect();
            *state = Value::String(texts.join(" "));
        }
    };
    // The hash of a program is that of what the compiler made.
    if let Some(Value::Object(program)) = answer.get_mut("program") {
        program.shift_remove("hash");
    }
    for witness in answer.get_mut("witness").into_iter() {
        witness.get_mut("initial").into_iter().for_each(line);
        for step in witness.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
            step.get_mut("state").into_iter().for_each(line);
            step.get_mut("clocks").into_iter().for_each(line);
        }
    }
    answer
}

#[test]
fn every_strategy_has_rows() {
    let listed = turnpike(&["strategies", "--format", "json"]).exits(0).json();
    let listed = listed["strategies"].as_array().expect("a list");
    for name in listed.iter().map(|strategy| strategy["name"].as_str().expect("a name")) {
        let mut pinned = STRATEGIES.iter().chain(GUIDED).chain(SCHEDULING);
        assert!(pinned.any(|row| row[0] == name), "no golden row for the strategy {name}");
    }
}
