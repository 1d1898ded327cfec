//! Public programs with known errors (found through `TURNPIKE_CORPUS`): those that need no visible memory accesses are
//! found by a plain random walk, and correct ones never raise an alarm.

use turnpike_program::native::NativeProgram;
use turnpike_scheduler::{Execution, Executor, Plan, Policy};

use super::support::{compile, launch, word};

#[test]
fn random_walks_find_the_known_errors() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let folder = corpus.path("models/programs");
    // File, arguments, what is found (nothing: correct), executions.
    let table: [(&str, &[&str], &str, u64); 14] = [
        ("account_bad.c", &[], "assertion", 3000),
        ("account_ok.c", &[], "", 300),
        ("arithmetic_prog_bad.c", &[], "assertion", 1),
        ("carter01_bad.c", &[], "deadlock", 100),
        ("circular_buffer_bad.c", &[], "assertion", 100),
        ("circular_buffer_ok.c", &[], "", 300),
        ("deadlock01_bad.c", &[], "deadlock", 100),
        ("din_phil5_sat.c", &[], "assertion", 1),
        ("lazy01_bad.c", &[], "assertion", 100),
        ("lazy01_ok.c", &[], "", 300),
        ("phase01_bad.c", &[], "deadlock", 1),
        ("queue_bad.c", &[], "assertion", 10),
        ("sync02_bad.c", &[], "deadlock", 1),
        ("twostage_bad.c", &[], "assertion", 1000),
    ];
    for (file, arguments, expected, executions) in table {
        let Some(path) = compile(&folder.join(file), &["-I", folder.to_str().unwrap()]) else { return };
        let mut program = NativeProgram::new(path);
        program.arguments = arguments.iter().map(Into::into).collect();
        let mut executor = launch(&program);
        let mut out = Execution::default();
        let mut found = None;
        for seed in 0..executions {
            let plan = Plan { policy: Policy::Uniform { seed }, max_steps: 5_000, ..Plan::new(&[]) };
            executor.run(&plan, &mut out).unwrap_or_else(|why| panic!("{file}: {why}"));
            let end = word(&out.end);
            if end == expected {
                found = Some(seed + 1);
                break;
            }
            assert!(matches!(end, "finished" | "step limit"), "{file}, seed {seed}: {:?}", out.end);
        }
        eprintln!("{file}: {found:?}");
        assert_eq!(
            found.is_some(),
            !expected.is_empty(),
            "{file}: {expected} within {executions} executions"
        );
    }
}
