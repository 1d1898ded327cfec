//! Memory accesses as steps, data races, and the heap.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use turnpike_program::native::{NativeExecutor, NativeProgram, Threads, Visibility};
use turnpike_scheduler::{Detail, End, Execution, Executor, Finding, Plan, Policy, Reduction};

use super::support::{compile, ends, guest, guest_file, instrumented, launch, run, word};

/// The program with one of the levels of visibility.
fn with(program: &NativeProgram, visibility: Visibility) -> NativeExecutor {
    launch(&NativeProgram { visibility, ..program.clone() })
}

/// The kinds of ends of random executions.
fn kinds(executor: &mut NativeExecutor, count: u64) -> BTreeSet<&'static str> {
    ends(executor, count).into_iter().map(|(word, _)| word).collect()
}

/// Races of random executions, as pairs of source positions, the smaller one first.
fn races(executor: &mut NativeExecutor, count: u64) -> BTreeSet<(String, String)> {
    let mut pairs = BTreeSet::new();
    for seed in 0..count {
        for finding in run(executor, Policy::Uniform { seed }).findings {
            if let Finding::Race { first, second, .. } = finding {
                let (first, second) = (executor.site(first), executor.site(second));
                pairs.insert(if first < second { (first, second) } else { (second, first) });
            }
        }
    }
    pairs
}

fn line(position: &str) -> &str {
    position.rsplit(':').next().unwrap_or_default()
}

/// The message of the first failure of this kind.
fn message(executor: &mut NativeExecutor, kind: &str, count: u64) -> Option<String> {
    (0..count).find_map(|seed| match run(executor, Policy::Uniform { seed }).end {
        End::Failed(failure) if word(&End::Failed(failure.clone())) == kind => Some(failure.message),
        _ => None,
    })
}

/// All executions, one per class of equivalent ones: first choices that do not sleep, and sleep sets.
fn exhaust(executor: &mut NativeExecutor) -> (usize, BTreeSet<&'static str>, bool) {
    let (mut classes, mut kinds, mut incomplete) = (BTreeSet::new(), BTreeSet::new(), false);
    let mut prefix: Vec<u32> = Vec::new();
    let mut out = Execution::default();
    loop {
        let reduction = Reduction { sleep: true, ..Reduction::default() };
        let plan = Plan {
            policy: Policy::First,
            max_steps: 500,
            detail: Detail::Steps,
            reduction,
            ..Plan::new(&prefix)
        };
        executor.run(&plan, &mut out).expect("the program runs");
        if out.end != End::Asleep {
            classes.insert(out.fingerprint);
            kinds.insert(word(&out.end));
        }
        incomplete |= out.incomplete;
        // The next path in lexicographic order.
        let mut path: Vec<(u32, u32)> = out.steps.iter().map(|step| (step.taken, step.count)).collect();
        while path.last().is_some_and(|(taken, count)| taken + 1 >= *count) {
            path.pop();
        }
        let Some(last) = path.last_mut() else { return (classes.len(), kinds, incomplete) };
        last.0 += 1;
        prefix = path.iter().map(|(taken, _)| *taken).collect();
    }
}

#[test]
fn a_lost_update_needs_visible_memory() {
    let Some(program) = instrumented("memory/lost_update.c") else { return };
    let mut sync = with(&program, Visibility::Sync);
    assert!(sync.instrumented());
    assert_eq!(kinds(&mut sync, 200), BTreeSet::from(["finished"]));
    let out = run(&mut sync, Policy::First);
    assert!(
        out.incomplete && !out.findings.is_empty(),
        "the race is told, and that nothing is proved: {out:?}"
    );
    for visibility in [Visibility::Racy, Visibility::All] {
        let mut executor = with(&program, visibility);
        assert_eq!(kinds(&mut executor, 200), BTreeSet::from(["assertion", "finished"]));
        // Two reads and two writes of one variable: four orders, up to order of the reads. Two lose an update.
        let (classes, kinds, incomplete) = exhaust(&mut executor);
        assert_eq!((classes, incomplete), (4, false));
        assert_eq!(kinds, BTreeSet::from(["assertion", "finished"]));
    }
}

/// gcc reports only that a bit-field is written, although its neighbours are written back with it.
#[test]
fn neighbours_of_bit_fields_are_lost() {
    for level in ["-O0", "-O1", "-O2"] {
        for pointer in ["-DPOINTER=0", "-DPOINTER=1", "-DPACKED=1", "-DLONG=1"] {
            let Some(mut program) = guest_file("memory/bit_fields.c", &["-fsanitize=thread", level, pointer])
            else {
                return;
            };
            let (_, kinds, incomplete) = exhaust(&mut launch(&program));
            assert_eq!(
                (kinds, incomplete),
                (BTreeSet::from(["assertion", "finished"]), false),
                "{level} {pointer}"
            );
            program.arguments.push("apart".into());
            let (_, kinds, incomplete) = exhaust(&mut launch(&program));
            assert_eq!((kinds, incomplete), (BTreeSet::from(["finished"]), false), "{level} {pointer}");
        }
    }
}

#[test]
fn races_are_told_with_both_places() {
    let Some(program) = instrumented("memory/lost_update.c") else { return };
    let races = races(&mut launch(&program), 50);
    // One line reads and writes: the same pair for both races.
    assert_eq!(races.len(), 1, "{races:?}");
    let (first, second) = races.first().expect("one");
    assert_eq!((line(first), line(second)), ("8", "8"));
    assert!(first.ends_with("lost_update.c:8"), "{first}");
    let out = run(&mut launch(&program), Policy::First);
    let messages: Vec<&str> = out
        .findings
        .iter()
        .filter_map(|finding| match finding {
            Finding::Race { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        messages.first(),
        Some(&"data race on counter: write by main.0, read by main.1"),
        "{messages:?}"
    );
}

#[test]
fn programs_without_races_have_none() {
    for name in ["memory/locked.c", "memory/publish.c", "memory/statics.cpp"] {
        let Some(program) = instrumented(name) else { return };
        for visibility in [Visibility::Racy, Visibility::All] {
            let mut executor = with(&program, visibility);
            assert_eq!(races(&mut executor, 60), BTreeSet::new(), "{name}");
            assert_eq!(kinds(&mut executor, 60), BTreeSet::from(["finished"]), "{name}");
        }
    }
    let Some(program) = instrumented("memory/locked.c") else { return };
    let (classes, kinds, incomplete) = exhaust(&mut launch(&program));
    assert_eq!((classes, kinds, incomplete), (2, BTreeSet::from(["finished"]), false));
}

/// A relaxed flag publishes nothing, though every execution is sequentially consistent.
#[test]
fn races_are_judged_by_memory_orders() {
    for case in 1..=18 {
        let flag = format!("-DCASE={case}");
        let Some(program) = guest_file("memory/orders.c", &["-fsanitize=thread", &flag]) else { return };
        for visibility in [Visibility::Racy, Visibility::All] {
            let mut executor = with(&program, visibility);
            let races = races(&mut executor, 40);
            assert_eq!(!races.is_empty(), case % 2 == 1, "case {case}: {races:?}");
            let (_, kinds, incomplete) = exhaust(&mut executor);
            assert_eq!((kinds, incomplete), (BTreeSet::from(["finished"]), false), "case {case}");
        }
    }
}

#[test]
fn a_variable_on_the_stack_can_be_shared() {
    let Some(program) = instrumented("memory/stack.c") else { return };
    for threads in [Threads::Fibers, Threads::System] {
        let mut executor = launch(&NativeProgram { threads, ..program.clone() });
        assert_eq!(kinds(&mut executor, 100), BTreeSet::from(["assertion", "finished"]));
        let out = run(&mut executor, Policy::First);
        assert!(
            out.objects.iter().all(|object| object.name.starts_with("stack of main-")),
            "{:?}",
            out.objects
        );
        let told = format!("{:?}", out.findings);
        assert!(told.contains("data race on stack of main-"), "{told}");
    }
}

#[test]
fn use_after_free_is_found() {
    let Some(program) = instrumented("memory/use_after_free.c") else { return };
    let mut executor = launch(&program);
    assert_eq!(kinds(&mut executor, 200), BTreeSet::from(["finished", "heap"]));
    let told = message(&mut executor, "heap", 200).expect("found above");
    assert!(
        told.starts_with("use after free: read of 4 bytes at offset 8 of a block of 16 bytes that main"),
        "{told}"
    );
    assert!(told.contains("use_after_free.c:34") && told.contains("main.1 freed at"), "{told}");
    assert!(told.contains("use_after_free.c:27"), "{told}");
}

#[test]
fn double_free_is_found_with_and_without_instrumentation() {
    for program in [instrumented("memory/double_free.c"), guest("memory/double_free.c")] {
        let Some(program) = program else { return };
        let mut executor = launch(&program);
        assert_eq!(kinds(&mut executor, 200), BTreeSet::from(["finished", "heap"]));
        let told = message(&mut executor, "heap", 200).expect("found above");
        assert!(told.starts_with("double free of a block of 100 bytes that main allocated at "), "{told}");
    }
}

#[test]
fn a_write_after_free_is_found_at_the_end_without_instrumentation() {
    let Some(program) = guest("memory/write_after_free.c") else { return };
    let mut executor = launch(&program);
    assert!(!executor.instrumented());
    assert_eq!(kinds(&mut executor, 200), BTreeSet::from(["finished", "heap"]));
    let told = message(&mut executor, "heap", 200).expect("found above");
    assert!(told.starts_with("write after free: at offset 16 of a block of 32 bytes"), "{told}");
}

#[test]
fn overflow_is_found() {
    let Some(program) = instrumented("memory/overflow.c") else { return };
    let told = message(&mut launch(&program), "heap", 1).expect("every execution");
    assert!(
        told.starts_with("heap buffer overflow: write of 1 byte at offset 16 of a block of 16 bytes"),
        "{told}"
    );
}

#[test]
fn what_was_never_allocated_is_not_freed() {
    let Some(program) = guest("memory/bad_free.c") else { return };
    for (argument, told) in [
        ("", None),
        ("stack", Some("free of 0x7ff")),
        ("static", Some("free of fixed[0], which was never allocated")),
        ("inside", Some("free of an address inside a block: offset 16 of a block of 64 bytes")),
    ] {
        let mut program = program.clone();
        program.arguments.push(argument.into());
        let message = message(&mut launch(&program), "heap", 1);
        assert_eq!(message.is_some(), told.is_some(), "{argument}");
        if let (Some(message), Some(told)) = (message, told) {
            assert!(message.starts_with(told), "{message}");
        }
    }
}

#[test]
fn loops_that_wait_by_reading_end() {
    let Some(program) = instrumented("memory/spin.c") else { return };
    for visibility in [Visibility::Sync, Visibility::Racy, Visibility::All] {
        let mut executor = with(&program, visibility);
        for policy in [Policy::First, Policy::Continue] {
            assert_eq!(word(&run(&mut executor, policy).end), "finished", "{visibility:?} {policy:?}");
        }
        assert_eq!(kinds(&mut executor, 100), BTreeSet::from(["finished"]), "{visibility:?}");
    }
}

#[test]
fn waiting_loops_have_finitely_many_schedules() {
    let Some(mut program) = instrumented("memory/wait.c") else { return };
    let (classes, kinds, incomplete) = exhaust(&mut launch(&program));
    assert!(classes < 10 && !incomplete, "{classes}");
    assert_eq!(kinds, BTreeSet::from(["finished"]), "message and flag are written in this order");
    // Nobody ever sets the flag.
    program.arguments.push("never".into());
    let mut executor = with(&program, Visibility::All);
    let out = run(&mut executor, Policy::Uniform { seed: 1 });
    assert_eq!(word(&out.end), "livelock");
}

#[test]
fn functions_keep_their_contracts() {
    for program in
        [instrumented("memory/atomics.c"), instrumented("memory/allocate.c"), guest("memory/allocate.c")]
    {
        let Some(program) = program else { return };
        let mut executor = launch(&program);
        for seed in 0..3 {
            let out = run(&mut executor, Policy::Uniform { seed });
            assert_eq!(out.end, End::Finished, "{}", program.path.display());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_execution() {
    let Some(program) = instrumented("memory/stack.c") else { return };
    let record = |executor: &mut NativeExecutor| -> Vec<(u128, Vec<u128>)> {
        (0..20)
            .map(|seed| {
                let out = run(executor, Policy::Uniform { seed });
                (out.fingerprint, out.steps.iter().map(|step| step.fingerprint).collect())
            })
            .collect()
    };
    let first = record(&mut launch(&program));
    // Another program value finds its racy places anew; a clone has them.
    let Some(again) = instrumented("memory/stack.c") else { return };
    assert_eq!(record(&mut launch(&again)), first);
    assert_eq!(record(&mut launch(&program.clone())), first);
    assert_eq!(record(&mut launch(&NativeProgram { threads: Threads::System, ..program })), first);
}

/// Programs linked by an older gcc want the sanitizer's library by another number: the same program, with that number.
#[test]
fn the_library_of_older_compilers_is_stood_in_for() {
    let Some(mut program) = instrumented("memory/lost_update.c") else { return };
    let mut bytes = std::fs::read(&program.path).expect("compiled");
    let name = b"libtsan.so.2\0";
    let Some(at) = bytes.windows(name.len()).position(|part| part == name) else {
        eprintln!("skipped: the compiler's library has another name");
        return;
    };
    bytes[at + name.len() - 2] = b'0';
    program.path.set_extension("older");
    std::fs::write(&program.path, bytes).expect("beside the original");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program.path, executable).expect("our own file");
    assert_eq!(kinds(&mut launch(&program), 100), BTreeSet::from(["assertion", "finished"]));
}

/// Objects need no libraries: what they do not find is found when they are run.
#[test]
fn objects_linked_without_the_library_work() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/memory/lost_update.c");
    let object = ["-fsanitize=thread", "-c"];
    let Some(object) = compile(&source, &object) else { return };
    let renamed = object.with_extension("o");
    std::fs::copy(&object, &renamed).expect("beside the original");
    let Some(path) = compile(&renamed, &["-rdynamic", "-Wl,--unresolved-symbols=ignore-all"]) else { return };
    let mut executor = launch(&NativeProgram::new(path));
    assert!(executor.instrumented());
    assert_eq!(kinds(&mut executor, 100), BTreeSet::from(["assertion", "finished"]));
}

#[test]
fn new_branches_count() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/memory/use_after_free.c");
    let flags = [
        "-fsanitize=thread",
        "-fsanitize-coverage=trace-pc",
        "-rdynamic",
        "-Wl,--unresolved-symbols=ignore-all",
    ];
    let Some(path) = compile(&source, &flags) else { return };
    let mut executor = launch(&NativeProgram::new(path));
    // Whether the reader finds the node is a branch.
    let counts: BTreeSet<u32> =
        (0..50).map(|seed| run(&mut executor, Policy::Uniform { seed }).branches).collect();
    assert!(counts.len() > 1 && counts.iter().all(|&count| count > 5), "{counts:?}");
}

/// Public programs, if they are there.
fn corpus(name: &str) -> Option<PathBuf> {
    let folder = turnpike_corpus::open()?;
    Some(folder.path("models/programs").join(name))
}

#[test]
fn public_programs_that_need_visible_memory() {
    for (name, arguments) in [("bluetooth_driver_bad.c", &[][..]), ("reorder_bad.c", &["2", "1"][..])] {
        let Some(source) = corpus(name) else { return };
        let Some(path) = compile(&source, &["-fsanitize=thread"]) else { return };
        let mut program = NativeProgram::new(path);
        program.arguments = arguments.iter().map(|argument| (*argument).into()).collect();
        assert_eq!(kinds(&mut with(&program, Visibility::Sync), 300), BTreeSet::from(["finished"]), "{name}");
        for visibility in [Visibility::Racy, Visibility::All] {
            let found = kinds(&mut with(&program, visibility), 1000);
            assert_eq!(found, BTreeSet::from(["assertion", "finished"]), "{name} {visibility:?}");
        }
    }
}

#[test]
fn correct_public_programs_raise_no_alarm() {
    for name in ["account_ok.c", "circular_buffer_ok.c", "lazy01_ok.c"] {
        let Some(source) = corpus(name) else { return };
        for flags in [&["-fsanitize=thread"][..], &[]] {
            let Some(path) = compile(&source, flags) else { return };
            let mut executor = launch(&NativeProgram::new(path));
            assert_eq!(kinds(&mut executor, 500), BTreeSet::from(["finished"]), "{name} {flags:?}");
        }
    }
}

/// An address that comes back is found where something depends on it; elsewhere it costs nothing.
#[test]
fn freed_addresses_come_back_where_it_matters() {
    let Some(program) = instrumented("memory/reuse.c") else { return };
    let with = |which: &str| {
        let mut program = program.clone();
        program.arguments = vec![which.into()];
        exhaust(&mut launch(&program))
    };
    for wrong in ["exchange", "compare"] {
        let (_, kinds, incomplete) = with(wrong);
        assert!(kinds.contains("assertion") && !incomplete, "{wrong}: {kinds:?} {incomplete}");
    }
    let (classes, kinds, incomplete) = with("tagged");
    assert_eq!((kinds, incomplete), (BTreeSet::from(["finished"]), false));
    assert!(classes < 20, "{classes}");
    // Eight critical sections, and nothing besides.
    let (classes, kinds, incomplete) = with("push");
    assert_eq!((classes, kinds, incomplete), (70, BTreeSet::from(["finished"]), false));
}
