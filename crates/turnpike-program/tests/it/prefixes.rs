//! Executions that go on from copies of earlier ones, against executions from the start: nothing but
//! their cost may differ.

use turnpike_program::native::{Isolation, NativeExecutor, NativeProgram, Prefixes, Threads};
use turnpike_scheduler::{Detail, Execution, Executor, Plan, Policy};

use super::support::{compile, guest, guest_file, instrumented, launch};

/// The next schedule of a depth-first search; `None` at its end.
fn next(out: &Execution) -> Option<Vec<u32>> {
    let last = out.steps.iter().rposition(|step| step.taken + 1 < step.count)?;
    let mut prefix: Vec<u32> = out.steps[..last].iter().map(|step| step.taken).collect();
    prefix.push(out.steps[last].taken + 1);
    Some(prefix)
}

/// All that is known of an execution. Which call of the user's leads into the C++ library is guessed from what is
/// left on the stack, which policies use differently: that is left out.
fn told(execution: &Execution, program: &NativeProgram) -> String {
    let text = format!("{execution:?}");
    if !program.path.to_string_lossy().contains(".cpp") {
        return text;
    }
    text.split("Site(").map(|part| part.trim_start_matches(|letter: char| letter.is_ascii_digit())).collect()
}

/// Searches depth first both ways and compares all that is known of each execution; how many went on from a
/// copy.
fn compare(program: &NativeProgram, executions: usize) -> u64 {
    let [mut repeats, mut copies] = [Prefixes::Repeat, Prefixes::Copy]
        .map(|prefixes| launch(&NativeProgram { prefixes, output: true, ..program.clone() }));
    let (mut expected, mut got) = (Execution::default(), Execution::default());
    let mut prefix = Vec::new();
    for number in 0..executions {
        // Sampling in between, other limits and other records must not be mistaken for the same.
        let policy = match number {
            7 => Policy::Uniform { seed: 1 },
            _ if number % 5 == 3 => Policy::Continue,
            _ if number % 5 == 4 => Policy::Awake { sleep: &[], order: &[] },
            _ => Policy::First,
        };
        let detail = if (10..14).contains(&number) { Detail::Steps } else { Detail::Full };
        let max_steps = if number % 11 == 5 { prefix.len() as u32 / 2 + 3 } else { 300 };
        let plan = Plan { policy, max_steps, detail, ..Plan::new(&prefix) };
        let outcomes = [(&mut repeats, &mut expected), (&mut copies, &mut got)]
            .map(|(executor, out)| executor.run(&plan, out).map_err(|why| why.to_string()));
        let name = program.path.display();
        assert_eq!(outcomes[1], outcomes[0], "{name}, execution {number}");
        let texts = [told(&got, program), told(&expected, program)];
        let at = texts[0].bytes().zip(texts[1].bytes()).take_while(|(one, other)| one == other).count();
        let parts = texts.each_ref().map(|text| &text[at.saturating_sub(200)..(at + 200).min(text.len())]);
        assert!(texts[0] == texts[1], "{name}, execution {number}: {parts:#?}");
        match next(&expected) {
            _ if max_steps < 300 => {}
            Some(found) if outcomes[0].is_ok() => prefix = found,
            _ => break,
        }
    }
    copies.resumed().0
}

#[test]
fn executions_from_copies_are_those_from_the_start() {
    for name in ["threads.c", "mutexes.c", "conds.c", "others.c", "phil.c", "c11.c", "exits.c", "pipes.c"] {
        let Some(program) = guest(name) else { return };
        compare(&program, 40);
    }
    for name in ["cxx.cpp", "statics.cpp"] {
        let Some(program) = guest_file(name, &["-std=c++17"]) else { return };
        compare(&program, 30);
    }
    for name in
        ["memory/lost_update.c", "memory/locked.c", "memory/use_after_free.c", "memory/spin.c", "parts.c"]
    {
        let Some(program) = instrumented(name) else { return };
        compare(&program, 30);
    }
}

#[test]
fn public_programs_execute_in_the_same_way_from_copies() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let folder = corpus.path("models/programs");
    let mut resumed = 0;
    for file in std::fs::read_dir(&folder).expect("the folder of programs").flatten() {
        if file.path().extension().is_some_and(|end| end == "c") {
            let Some(path) = compile(&file.path(), &["-I", folder.to_str().unwrap()]) else { return };
            resumed += compare(&NativeProgram::new(path), 15);
        }
    }
    assert!(resumed > 50, "{resumed} executions went on from a copy");
}

#[test]
fn what_a_fork_would_share_is_not_copied() {
    for (way, copied) in [
        ("heap", true),
        ("large", true),
        ("input", true),
        ("output", true),
        ("kept", true),
        ("file", false),
        ("pipe", false),
        ("shared", false),
        ("standard", false),
    ] {
        let Some(program) = guest("before.c") else { return };
        let program = NativeProgram { arguments: vec![way.into()], ..program };
        for isolation in [Isolation::Reset, Isolation::Fork] {
            let resumed = compare(&NativeProgram { isolation, ..program.clone() }, 30);
            assert_eq!(resumed > 10, copied, "{way}: {resumed} executions went on from a copy");
        }
    }
}

#[test]
fn threads_of_the_system_are_not_copied() {
    let Some(program) = guest("before.c") else { return };
    assert_eq!(compare(&NativeProgram { threads: Threads::System, ..program }, 12), 0);
}

/// Steps before the threads start are executed a few times, however many executions there are.
#[test]
fn prefixes_are_executed_once() {
    let Some(program) = guest("before.c") else { return };
    let program = NativeProgram { prefixes: Prefixes::Copy, ..program };
    let mut executor = launch(&program);
    let (mut out, mut prefix, mut steps, mut executions) = (Execution::default(), Vec::new(), 0, 0);
    loop {
        executor.run(&Plan { policy: Policy::First, ..Plan::new(&prefix) }, &mut out).unwrap();
        steps += out.steps.len() as u64;
        executions += 1;
        let Some(found) = next(&out) else { break };
        prefix = found;
    }
    let (resumed, spared) = executor.resumed();
    assert!(executions >= 50 && resumed > executions * 9 / 10, "{resumed} of {executions}");
    assert!(spared * 10 > steps * 8, "{spared} of {steps} steps");
}

/// How many processes execute the program.
fn processes(program: &NativeProgram) -> usize {
    let path = program.path.canonicalize().unwrap();
    let entries = std::fs::read_dir("/proc").expect("the list of processes").flatten();
    entries.filter(|entry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == path)).count()
}

/// Waits until no process executes the program.
fn assert_all_end(program: &NativeProgram) {
    let tries = (0..1000).take_while(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        processes(program) > 0
    });
    assert!(tries.count() < 1000, "{} processes are left", processes(program));
}

/// An executor with copies that wait.
fn with_copies(program: &NativeProgram) -> NativeExecutor {
    let mut executor = launch(program);
    let mut out = Execution::default();
    executor.run(&Plan { policy: Policy::First, ..Plan::new(&[]) }, &mut out).unwrap();
    assert!(processes(program) > 3, "{} processes", processes(program));
    executor
}

#[test]
fn no_copy_survives_the_search() {
    // A file of its own: other tests execute the other one.
    let Some(program) = guest_file("before.c", &["-DSURVIVES"]) else { return };
    let program = NativeProgram { prefixes: Prefixes::Copy, ..program };
    drop(with_copies(&program));
    assert_all_end(&program);

    // The fork server is killed, which is what the system does when the host is.
    let executor = with_copies(&program);
    let killed = std::process::Command::new("kill").args(["-KILL", &executor.process().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    assert_all_end(&program);
    drop(executor);

    // Another execution ends the copies that do not lie on its way.
    let mut executor = with_copies(&program);
    let mut out = Execution::default();
    executor.run(&Plan { policy: Policy::Uniform { seed: 1 }, ..Plan::new(&[]) }, &mut out).unwrap();
    assert!(processes(&program) <= 2, "{} processes", processes(&program));
}
