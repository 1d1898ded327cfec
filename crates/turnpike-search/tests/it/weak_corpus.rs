//! The public litmus tests and data structures, and programs that are wrong, with the numbers of executions that another
//! model checker has (found through `TURNPIKE_CORPUS`).
//!
//! `TURNPIKE_WEAK=all cargo test -p turnpike-search --test it weak_corpus -- --nocapture` tries all of them; without it,
//! some are. Programs with more executions than `TURNPIKE_WEAK_MOST` (10,000) are left out.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use turnpike_program::native::NativeProgram;
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{Detail, End, Execution, Executor, GuestError, Memory, Plan, Site};
use turnpike_search::{RunReport, StopReason, Verdict};

use crate::scripts::one;
use crate::scripts::outcomes::exhaustive;

/// Of so many folders one is tried in the ordinary run of the tests.
const EVERY: usize = 12;

/// Counts that are known to differ; `docs/results/weak-memory.txt` has the reasons.
const DIFFERENT: &[&str] = &[
    // Two graphs that RC11 allows, and a model whose order of sequentially consistent events contains all of
    // happens-before does not.
    "correct/litmus/Z6.U Z6.U0.c rc11: 24 distinct",
    // Turns of a loop that had no effect are not counted there: see `counts_without_turns_that_fail`.
    "correct/data-structures/treiber-stack main0.c sc: 22 distinct",
    "correct/data-structures/treiber-stack main0.c rc11: 22 distinct",
    "correct/synthetic/barrier-lock barrier-lock0.c",
    // It looks at what `pthread_barrier_wait` returns: who comes last counts, in six rounds.
    "correct/synthetic/barrier-transc trans.c sc: 64 distinct",
    "correct/synthetic/barrier-transc trans.c rc11: 64 distinct",
];
/// A wrong program that one in hundreds of thousands of executions shows.
const MANY: &str = "wrong/safety/fib_bench";
/// Wrong programs that are known not to be found.
const MISSED: &[&str] = &[];

/// Fingerprints of whole executions, and how many there were.
type Seen = (BTreeSet<u128>, u64);

struct Counting {
    inner: Box<dyn Executor>,
    seen: Arc<Mutex<Seen>>,
}

impl Executor for Counting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(plan, out)?;
        // One that waits for ever made an assumption that does not hold.
        let all_end = out.threads.iter().all(|thread| thread.waits.is_none());
        if plan.detail >= Detail::Full && out.end == End::Finished && all_end {
            let mut seen = self.seen.lock().unwrap();
            seen.0.insert(out.fingerprint);
            seen.1 += 1;
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// Compiles a program whose main function ends without ending the others.
fn compile(shim: &Path, source: &Path, output: &Path) -> bool {
    let object = output.with_extension("o");
    let gcc = |arguments: &[&std::ffi::OsStr]| {
        let done = Command::new("gcc").args(arguments).output();
        done.is_ok_and(|done| done.status.success())
    };
    let flags = [
        "-std=gnu11",
        "-g",
        "-O0",
        "-w",
        "-fsanitize=thread",
        "-include",
        "stdint.h",
        "-include",
        "stdlib.h",
    ];
    let mut first: Vec<&std::ffi::OsStr> = flags.iter().map(|flag| flag.as_ref()).collect();
    first.extend([
        "-Dmain=test_main".as_ref(),
        "-c".as_ref(),
        source.as_os_str(),
        "-o".as_ref(),
        object.as_os_str(),
    ]);
    let second = [
        object.as_os_str(),
        shim.as_os_str(),
        "-o".as_ref(),
        output.as_os_str(),
        "-pthread".as_ref(),
        "-fsanitize=thread".as_ref(),
    ];
    gcc(&first) && gcc(&second)
}

fn search(path: &Path, memory: Memory, goals: &[&str], executions: u64) -> (RunReport, Seen) {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let (noted, program) = (Arc::clone(&seen), NativeProgram::new(path));
    let launch = move || {
        let inner: Box<dyn Executor> = Box::new(program.launch()?);
        Ok(Box::new(Counting { inner, seen: Arc::clone(&noted) }) as Box<dyn Executor>)
    };
    let options = ProgramOptions { memory, check_every: 0, max_steps: 2_000, ..ProgramOptions::default() };
    let model =
        ProgramModel::new("litmus", 1, Box::new(launch), options).unwrap_or_else(|why| panic!("{why}"));
    *seen.lock().unwrap() = Seen::default();
    let mut options = exhaustive(true);
    options.objectives = goals.iter().map(|goal| goal.parse().unwrap()).collect();
    options.limits.executions = Some(executions);
    let report = one(&model, &options);
    drop(model);
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (report, seen)
}

/// What counts as the error of a wrong program: another error would be one that is not there.
fn goals(error: &str) -> &'static [&'static str] {
    match error {
        "race" => &["race"],
        // One of them has plain accesses, which race before it fails.
        "assertion" => &["assertion", "race"],
        "memory" => &["heap", "crash", "race"],
        _ => panic!("{error}"),
    }
}

fn programs(folder: &Path, row: &Value) -> Vec<PathBuf> {
    let folder = folder.join("models/weak").join(row["folder"].as_str().unwrap());
    row["programs"].as_array().unwrap().iter().map(|program| folder.join(program.as_str().unwrap())).collect()
}

#[test]
fn public_programs_have_the_known_numbers_of_executions() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let root = corpus.path("");
    let shim = root.join("models/weak/shim.c");
    let rows = std::fs::read_to_string(root.join("oracle/weak.jsonl")).unwrap();
    let all = std::env::var_os("TURNPIKE_WEAK").is_some();
    let most = std::env::var("TURNPIKE_WEAK_MOST").ok().and_then(|most| most.parse().ok()).unwrap_or(10_000);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("weak");
    std::fs::create_dir_all(&folder).unwrap();
    let (mut equal, mut found) = (0, 0);
    let (mut different, mut missed): (Vec<String>, Vec<String>) = Default::default();
    for (number, row) in rows.lines().enumerate().filter(|(number, _)| all || number % EVERY == 0) {
        let row: Value = serde_json::from_str(row).unwrap();
        for (variant, source) in
            programs(&root, &row).iter().enumerate().filter(|(variant, _)| all || *variant == 0)
        {
            let name =
                format!("{} {}", row["folder"].as_str().unwrap(), source.file_name().unwrap().display());
            let output = folder.join(format!("{number}-{variant}-{}", std::process::id()));
            if !compile(&shim, source, &output) {
                eprintln!("skipped: {name} cannot be compiled");
                continue;
            }
            if let Some(error) = row["error"].as_str() {
                let many = all && name.starts_with(MANY);
                let tries = if many { 600_000 } else { 20_000 };
                let (report, _) = search(&output, Memory::Rc11, goals(error), tries);
                match report.verdict {
                    Verdict::Found => {
                        found += 1;
                        if many {
                            println!("{name}: {} executions", report.executions.unwrap().executions);
                        }
                    }
                    _ => missed.push(format!("{name}: {error}, {:?}", report.stop)),
                }
                continue;
            }
            for (memory, model) in [(Memory::Sc, "sc"), (Memory::Rc11, "rc11")] {
                let expected = row["executions"][model].as_u64().unwrap();
                if expected > most {
                    eprintln!("skipped: {name} has {expected} executions");
                    continue;
                }
                let (report, (distinct, whole)) =
                    search(&output, memory, &["any-error"], 50 * expected + 1_000);
                if distinct.len() as u64 == expected && report.stop == StopReason::Exhausted {
                    equal += 1;
                } else {
                    let stop = report.stop;
                    different.push(format!(
                        "{name} {model}: {} distinct of {whole} whole executions, not {expected}, {stop:?}",
                        distinct.len()
                    ));
                }
            }
        }
    }
    println!(
        "{equal} counts equal, {} not; {found} wrong programs found, {} not",
        different.len(),
        missed.len()
    );
    println!("{}\n{}", different.join("\n"), missed.join("\n"));
    let known = |list: &[&str], line: &String| list.iter().any(|name| line.starts_with(name));
    different.retain(|line| !known(DIFFERENT, line));
    missed.retain(|line| !known(MISSED, line));
    assert!(equal > 0 && different.is_empty() && missed.is_empty(), "{different:#?}\n{missed:#?}");
}

/// The other tool does not count executions in which a turn of a loop fails and has no effect: it assumes that the first
/// turn succeeds. Programs changed to say so have its numbers.
#[test]
fn counts_without_turns_that_fail() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let root = corpus.path("models/weak");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("weak-turns-{}", std::process::id()));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../turnpike-preload/include/turnpike.h");
    let include = format!("#include \"{}\"\n", include.display());
    for (name, files, changed, text, with, expected) in [
        (
            "correct/data-structures/treiber-stack",
            &["main.c", "my_stack.c", "my_stack.h", "variants/main0.c"][..],
            "my_stack.c",
            "if (success)\n\t\t\tbreak;\n\t}\n\tval",
            "tp_assume(success);\n\t\tbreak;\n\t}\n\tval",
            18,
        ),
        (
            "correct/synthetic/barrier-lock",
            &["variants/barrier-lock0.c"],
            "variants/barrier-lock0.c",
            "while (!atomic_compare_exchange_strong(&l, &r, 1))\n\t\t\tr = 0;",
            "tp_assume(atomic_compare_exchange_strong(&l, &r, 1));",
            4,
        ),
    ] {
        let to = folder.join(name);
        std::fs::create_dir_all(to.join("variants")).unwrap();
        for file in files {
            let mut source = std::fs::read_to_string(root.join(name).join(file)).unwrap();
            if *file == changed {
                assert!(source.contains(text), "{file} has changed");
                source = include.clone() + &source.replacen(text, with, 1);
            }
            std::fs::write(to.join(file), source).unwrap();
        }
        let (source, output) = (to.join(files.last().unwrap()), to.join("program"));
        if !compile(&root.join("shim.c"), &source, &output) {
            eprintln!("skipped: {name} cannot be compiled");
            continue;
        }
        for memory in [Memory::Sc, Memory::Rc11] {
            let (report, (distinct, _)) = search(&output, memory, &["any-error"], 5_000);
            assert_eq!((distinct.len(), report.stop), (expected, StopReason::Exhausted), "{name} {memory:?}");
        }
    }
    drop(std::fs::remove_dir_all(folder));
}
