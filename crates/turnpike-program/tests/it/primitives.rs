//! Each primitive does what it should, in every schedule that is tried: the guests check themselves by assertions.

use turnpike_program::native::Threads;
use turnpike_scheduler::{
    Choice, Detail, End, Execution, Executor, FailureKind, Kind, Plan, Policy, Reduction, Site,
};

use super::support::{compile, ends, guest, guest_file, launch, run, word};

fn always_finishes(name: &str, flags: &[&str], count: u64) {
    for threads in [Threads::Fibers, Threads::System] {
        let Some(mut program) = guest_file(name, flags) else { return };
        program.threads = threads;
        program.output = true;
        let mut executor = launch(&program);
        assert_eq!(executor.fibers(), threads == Threads::Fibers);
        for seed in 0..count {
            let out = run(&mut executor, Policy::Uniform { seed });
            let printed = String::from_utf8_lossy(&out.output);
            assert_eq!(
                out.end,
                End::Finished,
                "{name}, {threads:?}, seed {seed}: {printed}{:?}",
                out.threads
            );
        }
    }
}

#[test]
fn threads() {
    always_finishes("threads.c", &[], 40);
}

#[test]
fn mutexes() {
    always_finishes("mutexes.c", &[], 60);
}

#[test]
fn condition_variables() {
    always_finishes("conds.c", &[], 60);
}

#[test]
fn other_objects() {
    always_finishes("others.c", &[], 60);
}

#[test]
fn c11_threads() {
    always_finishes("c11.c", &[], 60);
}

#[test]
fn cxx_threads() {
    always_finishes("cxx.cpp", &["-std=c++17"], 60);
}

#[test]
fn cxx20_waiting_atomics() {
    always_finishes("cxx20.cpp", &["-std=c++20"], 60);
}

#[test]
fn threads_before_and_after_main() {
    always_finishes("statics.cpp", &["-std=c++17"], 60);
    let Some(mut program) = guest_file("statics.cpp", &["-std=c++17"]) else { return };
    program.output = true;
    let mut executor = launch(&program);
    let mut printed = std::collections::BTreeSet::new();
    for seed in 0..40 {
        printed.insert(String::from_utf8(run(&mut executor, Policy::Uniform { seed }).output).unwrap());
    }
    let printed: Vec<&str> = printed.iter().map(String::as_str).collect();
    assert_eq!(printed, ["one!\ntwo!\n4 processors\n", "two!\none!\n4 processors\n"]);
}

#[test]
fn pipes_between_threads() {
    let Some(program) = guest("pipes.c") else { return };
    let mut executor = launch(&program);
    let mut waited = 0;
    for seed in 0..40 {
        let out = run(&mut executor, Policy::Uniform { seed });
        assert_eq!(out.end, End::Finished, "seed {seed}");
        assert!(!out.incomplete, "{:?}", out.findings);
        waited += u32::from(out.steps.iter().any(|step| step.choice.kind == Kind::Yield));
    }
    assert!(waited > 0, "some schedule reads before anything was written");
}

#[test]
fn time_and_chance_are_the_same_in_every_execution() {
    let Some(mut program) = guest("clocks.c") else { return };
    program.output = true;
    let mut printed = std::collections::BTreeSet::new();
    for threads in [Threads::Fibers, Threads::System] {
        program.threads = threads;
        let mut executor = launch(&program);
        for seed in 0..20 {
            let out = run(&mut executor, Policy::Uniform { seed });
            assert_eq!(out.end, End::Finished, "seed {seed}: {}", String::from_utf8_lossy(&out.output));
            printed.insert(String::from_utf8(out.output).unwrap());
        }
    }
    assert_eq!(printed.len(), 1, "{printed:?}");
    let text = printed.first().unwrap();
    assert!(text.ends_with(" 4242 4242 4\n"), "{text}");
}

#[test]
fn lock_order() {
    let Some(program) = guest("two_locks.c") else { return };
    let mut executor = launch(&program);
    assert_eq!(word(&run(&mut executor, Policy::First).end), "finished");
    let ends = ends(&mut executor, 300);
    assert_eq!(ends.iter().map(|(word, _)| *word).collect::<Vec<_>>(), ["deadlock", "finished"], "{ends:?}");
}

#[test]
fn a_deadlock_tells_who_waits_for_what_and_where() {
    let Some(program) = guest("two_locks.c") else { return };
    let mut executor = launch(&program);
    let out = (0..300)
        .map(|seed| run(&mut executor, Policy::Uniform { seed }))
        .find(|out| out.end == End::Deadlock)
        .expect("a third of all schedules are deadlocks");
    let mut told: Vec<(String, String, String)> = Vec::new();
    for thread in &out.threads {
        let Some((choice, holder)) = &thread.waits else { continue };
        let object =
            out.objects.get(choice.object.0 as usize).map_or("-".into(), |object| object.name.clone());
        let site = executor.site(choice.site);
        let line = site.rsplit('/').next().unwrap_or_default().to_owned();
        told.push((format!("{} {:?}", thread.name, choice.kind), format!("{object} {holder:?}"), line));
    }
    let lines: Vec<&str> = told.iter().map(|(_, _, line)| line.as_str()).collect();
    assert_eq!(lines, ["two_locks.c:29", "two_locks.c:9", "two_locks.c:18"], "{told:?}");
    let objects: Vec<&str> = told.iter().map(|(_, object, _)| object.split(' ').next().unwrap()).collect();
    assert_eq!(objects, ["-", "b", "a"], "{told:?}");
}

#[test]
fn philosophers() {
    let Some(program) = guest("phil.c") else { return };
    let mut executor = launch(&program);
    // The initial state: every philosopher is about to toss, with two alternatives each.
    let mut out = Execution::default();
    let plan = Plan { detail: Detail::Full, predict: true, ..Plan::new(&[]) };
    executor.run(&plan, &mut out).unwrap();
    assert_eq!(out.end, End::Stopped);
    let choices = &out.choices[out.last_choices..];
    let list: Vec<(u32, u32)> = choices.iter().map(|choice| (choice.thread.0, choice.alternative)).collect();
    assert_eq!(list, [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
    assert_eq!(out.predicted.len(), 6);
    // Predictions come true.
    for (position, predicted) in out.predicted.clone().iter().enumerate() {
        executor.run(&Plan::new(&[position as u32]), &mut out).unwrap();
        assert_eq!(out.fingerprint, *predicted, "choice {position}");
    }
    let deadlock = (0..2000)
        .map(|seed| run(&mut executor, Policy::Uniform { seed }))
        .find(|out| out.end == End::Deadlock)
        .expect("all left, and all take one fork");
    assert_eq!(
        deadlock.objects.iter().map(|object| object.name.as_str()).collect::<Vec<_>>(),
        ["forks[0]", "forks[1]", "forks[2]"]
    );
    // The same schedule, the same execution.
    let prefix: Vec<u32> = deadlock.steps.iter().map(|step| step.taken).collect();
    let plan = Plan { detail: Detail::Full, policy: Policy::First, ..Plan::new(&prefix) };
    executor.run(&plan, &mut out).unwrap();
    assert_eq!(out.end, End::Deadlock);
    assert_eq!(out.fingerprint, deadlock.fingerprint);
    assert_eq!(out.steps.len(), deadlock.steps.len());
}

#[test]
fn the_header_under_control() {
    let Some(program) = guest("header.c") else { return };
    let mut executor = launch(&program);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let out = run(&mut executor, Policy::Uniform { seed });
        assert_eq!(out.messages, 4, "three messages and a mark");
        match &out.end {
            End::Finished => {
                assert_eq!(out.assertions, 4);
                seen.insert("finished".to_owned());
            }
            End::Failed(failure) => {
                seen.insert(format!("{:?} {}", failure.kind, failure.message.rsplit('/').next().unwrap()));
            }
            other => panic!("{other:?}"),
        }
    }
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    assert_eq!(seen, ["Assertion header.c:40", "Crash exited with status 3", "finished"]);
}

#[test]
fn the_header_is_inert_without_control() {
    let Some(program) = guest_file("header_plain.c", &[]) else { return };
    let status = std::process::Command::new(&program.path).status().unwrap();
    assert!(status.success(), "{status}");
}

/// With declarations, two threads that have nothing to do with each other leave one choice in each state.
#[test]
fn declared_accesses_make_persistent_sets() {
    let Some(program) = guest("declared.c") else { return };
    let table = program.declared_accesses().unwrap().expect("the threads declare what they touch");
    assert!(table.proved);
    assert_eq!(table.entries.len(), 2, "{:?}", table.entries);
    let mut executor = launch(&program);
    let mut out = Execution::default();
    let plan = Plan { policy: Policy::First, ..Plan::new(&[]) };
    executor.run(&plan, &mut out).unwrap();
    assert!(out.steps.iter().any(|step| step.count == 2));
    let reduction = Reduction { sleep: false, persistent: Some(&table) };
    executor.run(&Plan { reduction, ..plan }, &mut out).unwrap();
    assert_eq!(out.end, End::Finished);
    assert!(out.steps.iter().all(|step| step.count == 1), "{:?}", out.steps);
    let Some(other) = guest("two_locks.c") else { return };
    assert_eq!(other.declared_accesses().unwrap(), None);
}

#[test]
fn ways_out() {
    // How the process leaves; the ends that are seen; a part of the message, or what it printed.
    let table: [(&str, &[&str], &str); 12] = [
        ("return", &["finished"], "handler"),
        ("pthread_exit", &["finished"], "handler"),
        ("thread", &["finished"], "handler"),
        ("thread5", &["crash"], "exited with status 5"),
        ("status", &["crash"], "exited with status 3"),
        ("quick", &["finished"], ""),
        ("abort", &["crash"], "aborted"),
        ("null", &["crash"], "segmentation fault at address 0x8"),
        ("divide", &["crash"], "arithmetic error"),
        ("assert", &["assertion"], "assertion failed: done == 1 && \"it is done\""),
        ("pipe", &["deadlock"], ""),
        ("", &["finished"], "handler"),
    ];
    for threads in [Threads::Fibers, Threads::System] {
        for (how, expected, text) in table {
            let Some(mut program) = guest("exits.c") else { return };
            program.arguments.push(how.into());
            program.output = true;
            program.threads = threads;
            let mut executor = launch(&program);
            let mut seen: Vec<&str> = Vec::new();
            for seed in 0..10 {
                let out = run(&mut executor, Policy::Uniform { seed });
                if !seen.contains(&word(&out.end)) {
                    seen.push(word(&out.end));
                }
                let said = match &out.end {
                    End::Failed(failure) => failure.message.clone(),
                    _ => String::from_utf8_lossy(&out.output).into_owned(),
                };
                assert!(said.contains(text), "{how}: {said}");
                if let End::Failed(failure) = &out.end {
                    assert!(
                        executor.site(failure.site).contains("exits.c:"),
                        "{how}: {}",
                        executor.site(failure.site)
                    );
                    assert!(matches!(failure.kind, FailureKind::Crash | FailureKind::Assertion));
                }
            }
            assert_eq!(seen, expected, "{how}");
        }
    }
}

#[test]
fn other_processes_are_refused() {
    for (how, name) in [("fork", "fork"), ("system", "system")] {
        let Some(mut program) = guest("exits.c") else { return };
        program.arguments.push(how.into());
        let mut executor = launch(&program);
        let mut out = Execution::default();
        let error = executor.run(&Plan { policy: Policy::First, ..Plan::new(&[]) }, &mut out).unwrap_err();
        assert!(error.message.contains(&format!("starts another process ({name})")), "{error}");
        assert!(error.message.contains("exits.c:"), "{error}");
    }
}

/// The exact same schedules, with both ways to run threads.
#[test]
fn fibers_and_system_threads_do_the_same() {
    for (name, flags) in [
        ("two_locks.c", &[][..]),
        ("phil.c", &[]),
        ("conds.c", &[]),
        ("others.c", &[]),
        ("cxx.cpp", &["-std=c++17"]),
    ] {
        let Some(mut program) = guest_file(name, flags) else { return };
        program.threads = Threads::Fibers;
        let mut fibers = launch(&program);
        program.threads = Threads::System;
        let mut system = launch(&program);
        for seed in 0..30 {
            let one = run(&mut fibers, Policy::Uniform { seed });
            let two = run(&mut system, Policy::Uniform { seed });
            // Sites within libraries are guessed from the stack, so they are left out.
            let steps = |out: &Execution| {
                let steps = out.steps.iter();
                let bare = |choice| Choice { site: Site(0), ..choice };
                steps
                    .map(|step| (step.taken, step.count, bare(step.choice), step.fingerprint))
                    .collect::<Vec<_>>()
            };
            assert_eq!(one.end, two.end, "{name}, seed {seed}");
            for (at, (one, two)) in steps(&one).iter().zip(&steps(&two)).enumerate() {
                assert_eq!(one, two, "{name}, seed {seed}, step {at}");
            }
            assert_eq!(one.steps.len(), two.steps.len(), "{name}, seed {seed}");
        }
    }
}

#[test]
fn programs_that_cannot_be_controlled() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    std::fs::create_dir_all(&folder).unwrap();
    let text = folder.join("text");
    std::fs::write(&text, "hello").unwrap();
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o644)).unwrap();
    let says = |path: &std::path::Path| {
        turnpike_program::native::NativeProgram::new(path)
            .check()
            .err()
            .map(|why| why.message)
            .unwrap_or_default()
    };
    assert!(says(&folder.join("missing")).contains("cannot read"), "missing");
    assert!(says(&folder).contains("directory"));
    assert!(says(&text).contains("not executable"));
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(says(&text).contains("not an ELF"));
    std::fs::write(&text, "#!/bin/sh\n").unwrap();
    assert!(says(&text).contains("script"));
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/two_locks.c");
    let Some(path) = compile(&source, &["-static"]) else { return };
    assert!(says(&path).contains("statically"), "{}", says(&path));
    let Some(path) = compile(&source, &["-c"]) else { return };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(says(&path).contains("object file"), "{}", says(&path));
    let Some(path) = compile(&source, &["-DSETUID"]) else { return };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(says(&path).contains("setuid"), "{}", says(&path));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[18] = 243;
    let other = folder.join("other_processor");
    std::fs::write(&other, bytes).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(says(&other).contains("RISC-V"), "{}", says(&other));
}

#[test]
fn parts_of_variables_have_their_names() {
    let Some(program) = guest("parts.c") else { return };
    let out = run(&mut launch(&program), Policy::First);
    let names: Vec<&str> = out.objects.iter().map(|object| object.name.as_str()).collect();
    let expected = [
        "banks[0][0].accounts[0].lock",
        "banks[0][1].accounts[2].lock",
        "banks[1][0].accounts[1].inner[1]",
        "banks[1][1].board",
        "plain",
    ];
    assert_eq!(names, expected);
}
