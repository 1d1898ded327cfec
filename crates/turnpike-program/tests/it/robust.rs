//! Guests that misbehave: each of them is a clear outcome, and nothing of it remains.

use std::path::Path;
use std::time::Duration;

use turnpike_program::native::{NativeExecutor, NativeProgram, Threads};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

use super::support::{compile, guest, launch, run, word};

/// One of the project's own programs that misbehave.
fn misbehaving(name: &str) -> Option<NativeProgram> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/programs/robust").join(name);
    let mut program = compile(&source, &[]).map(NativeProgram::new)?;
    program.limits.hang = Duration::from_millis(400);
    Some(program)
}

/// The end of an execution with each way to run threads.
fn both(name: &str, check: impl Fn(&Execution, &mut NativeExecutor)) {
    for threads in [Threads::Fibers, Threads::System] {
        let Some(mut program) = misbehaving(name) else { return };
        program.threads = threads;
        let mut executor = launch(&program);
        for seed in 0..2 {
            let out = run(&mut executor, Policy::Uniform { seed });
            check(&out, &mut executor);
        }
    }
}

fn message(out: &Execution) -> &str {
    match &out.end {
        End::Failed(failure) => &failure.message,
        other => word(other),
    }
}

#[test]
fn segmentation_fault() {
    for threads in [Threads::Fibers, Threads::System] {
        let Some(mut program) = misbehaving("segfault.c") else { return };
        program.threads = threads;
        let mut executor = launch(&program);
        let mut runs = (0..100).map(|seed| run(&mut executor, Policy::Uniform { seed }));
        let out = runs.find(|out| out.end != End::Finished).expect("some schedule crashes");
        drop(runs);
        assert!(message(&out).starts_with("segmentation fault"), "{:?}", out.end);
        let End::Failed(failure) = &out.end else { unreachable!() };
        assert!(executor.site(failure.site).contains("segfault.c:"));
    }
}

#[test]
fn leaving_without_a_word() {
    both("leave.c", |out, _| assert_eq!(message(out), "exited with status 7"));
}

#[test]
fn computing_without_end() {
    both("spin.c", |out, executor| {
        assert_eq!(out.end, End::Hung);
        // The schedule that led there is known, up to the step after which nothing was heard.
        let last = out.steps.last().expect("it takes a lock first");
        assert!(executor.site(last.choice.site).contains("spin.c:"), "{}", executor.site(last.choice.site));
        assert_ne!(out.fingerprint, 0);
    });
}

#[test]
fn four_gibibytes() {
    both("hog.c", |out, _| assert_eq!(message(out), "exited with status 3"));
}

#[test]
fn closing_all_descriptors() {
    both("close_all.c", |out, _| assert_eq!(out.end, End::Deadlock));
}

#[test]
fn reading_from_nobody() {
    both("blocked_read.c", |out, _| {
        assert_eq!(out.end, End::Deadlock);
        assert!(!out.incomplete);
    });
}

#[test]
fn two_hundred_threads() {
    both("many_threads.c", |out, _| {
        assert_eq!(out.end, End::Finished);
        assert_eq!(out.threads.len(), 201);
    });
}

#[test]
fn stack_overflow() {
    let Some(program) = guest("overflow.c") else { return };
    let mut executor = launch(&program);
    let out = run(&mut executor, Policy::First);
    assert!(message(&out).starts_with("stack overflow"), "{:?}", out.end);
}

/// Processes below this one, zombies included.
fn children(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("Linux has it").flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let parent = status.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(1));
        if parent.and_then(|parent| parent.parse().ok()) == Some(of) {
            found.push(process);
        }
    }
    found
}

fn descriptors(of: u32) -> usize {
    std::fs::read_dir(format!("/proc/{of}/fd")).map_or(0, Iterator::count)
}

/// Kibibytes of memory that a process has.
fn resident(of: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{of}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned();
    line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn two_thousand_executions_leave_nothing() {
    let Some(program) = guest("two_locks.c") else { return };
    let mut executor = launch(&program);
    let server = executor.process();
    let mut out = Execution::default();
    let plan = |seed| Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) };
    for seed in 0..100 {
        executor.run(&plan(seed), &mut out).unwrap();
    }
    let before = (descriptors(server), children(server).len(), resident(server));
    for seed in 0..2000 {
        executor.run(&plan(seed), &mut out).unwrap();
    }
    let after = (descriptors(server), children(server).len(), resident(server));
    assert_eq!((before.0, before.1), (after.0, after.1));
    assert!(after.1 <= 1, "every child was waited for, except the one that waits for the next request");
    assert!(after.2 <= before.2 + 512, "the fork server grew from {} to {} KiB", before.2, after.2);
    drop(executor);
    assert!(!Path::new(&format!("/proc/{server}")).exists(), "the fork server is gone, and was waited for");
}

#[test]
fn a_fork_server_that_is_killed_is_replaced() {
    let Some(program) = guest("two_locks.c") else { return };
    let mut executor = launch(&program);
    let first = executor.process();
    assert_eq!(run(&mut executor, Policy::First).end, End::Finished);
    let status = std::process::Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
    assert!(status.success());
    assert_eq!(run(&mut executor, Policy::First).end, End::Finished);
    assert_ne!(executor.process(), first);
}

#[test]
fn dropping_in_the_middle_of_nothing_ends_the_processes() {
    let Some(program) = guest("two_locks.c") else { return };
    let executors: Vec<NativeExecutor> = (0..3).map(|_| launch(&program)).collect();
    let servers: Vec<u32> = executors.iter().map(NativeExecutor::process).collect();
    // Dropped by another thread than the one that started them.
    std::thread::spawn(move || drop(executors)).join().unwrap();
    for server in servers {
        assert!(!Path::new(&format!("/proc/{server}")).exists());
    }
}
