//! One process for many executions, against a process for each: nothing that an execution does may
//! be seen by a later one.

use turnpike_program::native::{Isolation, NativeExecutor, NativeProgram};
use turnpike_scheduler::{Detail, Execution, Executor, Plan, Policy};

use super::support::{compile, guest, guest_file, instrumented, launch, word};

/// The same program with a process for each execution, and with one for many.
fn both(program: &NativeProgram) -> [NativeExecutor; 2] {
    [Isolation::Fork, Isolation::Reset]
        .map(|isolation| launch(&NativeProgram { isolation, ..program.clone() }))
}

/// Everything that is known of an execution.
fn record(executor: &mut NativeExecutor, plan: &Plan<'_>) -> Result<String, String> {
    let mut out = Execution::default();
    executor.run(plan, &mut out).map_err(|why| why.to_string())?;
    Ok(format!("{out:?}"))
}

/// Compares executions of both kinds, also those that stop after a few steps.
fn compare(program: &NativeProgram, executions: u64) {
    let [mut forked, mut reset] = both(program);
    for seed in 0..executions {
        let detail = if seed % 2 == 0 { Detail::Full } else { Detail::Stacks };
        let max_steps = if seed % 5 == 3 { 7 } else { 1_000 };
        let policy = if seed % 3 == 2 { Policy::Pos { seed } } else { Policy::Uniform { seed } };
        let plan = Plan { policy, max_steps, detail, ..Plan::new(&[]) };
        let (expected, got) = (record(&mut forked, &plan), record(&mut reset, &plan));
        assert_eq!(got, expected, "{}, seed {seed}", program.path.display());
    }
}

#[test]
fn a_process_that_is_used_again_executes_as_a_new_one() {
    for name in ["threads.c", "mutexes.c", "conds.c", "others.c", "phil.c", "c11.c", "exits.c", "pipes.c"] {
        let Some(program) = guest(name) else { return };
        compare(&program, 12);
    }
    for name in ["cxx.cpp", "statics.cpp"] {
        let Some(program) = guest_file(name, &["-std=c++17"]) else { return };
        compare(&program, 8);
    }
    for name in
        ["memory/lost_update.c", "memory/locked.c", "memory/use_after_free.c", "memory/spin.c", "parts.c"]
    {
        let Some(program) = instrumented(name) else { return };
        compare(&program, 8);
    }
}

#[test]
fn public_programs_execute_in_the_same_way_in_both() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let folder = corpus.path("models/programs");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of programs")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "c"))
        .collect();
    files.sort();
    assert!(files.len() > 10);
    for file in files {
        let Some(path) = compile(&file, &["-I", folder.to_str().unwrap()]) else { return };
        compare(&NativeProgram::new(path), 10);
    }
}

#[test]
fn nothing_is_left_behind() {
    let Some(program) = guest("leaves.c") else { return };
    let ways = [
        "variables",
        "heap",
        "large",
        "stack",
        "signals",
        "files",
        "input",
        "mappings",
        "break",
        "protections",
        "process",
        "environment",
        "output",
    ];
    for way in ways {
        for apart in [&[way][..], &[way, "apart"]] {
            let program = NativeProgram {
                arguments: apart.iter().map(Into::into).collect(),
                output: true,
                ..program.clone()
            };
            let mut executor = launch(&program);
            let mut out = Execution::default();
            for seed in 0..20 {
                let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) };
                executor.run(&plan, &mut out).unwrap_or_else(|why| panic!("{way}: {why}"));
                assert_eq!(word(&out.end), "finished", "{apart:?}, seed {seed}: {:?}", out.end);
                if way == "output" {
                    assert_eq!(String::from_utf8_lossy(&out.output), "another\none line\n");
                }
            }
            // These change nothing but memory.
            let plain = ["variables", "heap", "stack", "environment", "output"].contains(&way);
            assert_eq!(executor.processes() == 1, plain, "{apart:?}: {} processes", executor.processes());
        }
    }
}
