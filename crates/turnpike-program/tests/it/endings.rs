//! Threads that are cancelled, end with a lock held, get signals or want large stacks: correct programs, in which nothing is found.

use std::time::Duration;

use turnpike_program::native::Threads;
use turnpike_scheduler::{End, Finding, Policy};

use super::support::{ends, guest, guest_file, instrumented, launch, run};

/// All executions of a part of the guest end well.
fn ends_well(part: &str, threads: Threads) {
    let Some(mut program) = guest("ends.c") else { return };
    program.arguments = vec![part.into()];
    program.threads = threads;
    assert_eq!(ends(&mut launch(&program), 40), [("finished", 40)], "{part}");
}

#[test]
fn cancelled_threads_clean_up() {
    for part in ["cancel", "cancel_read"] {
        ends_well(part, Threads::Auto);
    }
    ends_well("cancel", Threads::System);
}

#[test]
fn robust_mutexes_survive_their_owners() {
    ends_well("robust", Threads::Auto);
}

#[test]
fn signals_between_threads_arrive() {
    for part in ["signal", "sigwait", "alarm"] {
        ends_well(part, Threads::Auto);
    }
}

#[test]
fn stacks_are_as_large_as_was_asked_for() {
    ends_well("stack", Threads::Auto);
}

#[test]
fn named_semaphores_of_the_program_itself() {
    ends_well("named", Threads::Auto);
}

#[test]
fn an_initialisation_that_was_given_up_is_done_by_another_thread() {
    let Some(program) = guest_file("given_up.cpp", &["-std=c++17"]) else { return };
    assert_eq!(ends(&mut launch(&program), 40), [("finished", 40)]);
}

#[test]
fn every_access_to_a_racy_variable_is_a_step() {
    let Some(program) = instrumented("memory/wrong_lock.c") else { return };
    let counts = ends(&mut launch(&program), 200);
    assert!(counts.iter().any(|(end, _)| *end == "assertion"), "{counts:?}");
}

#[test]
fn a_loop_without_end_is_told_with_its_place_and_recognised() {
    let Some(mut program) = guest("ends.c") else { return };
    program.arguments = vec!["loop".into()];
    program.limits.hang = Duration::from_millis(800);
    let mut executor = launch(&program);
    let out = run(&mut executor, Policy::Continue);
    assert_eq!(out.end, End::Hung);
    if executor.fibers() {
        let told =
            |finding: &Finding| matches!(finding, Finding::Uncontrolled(what) if what.contains("ends.c:"));
        assert!(out.findings.iter().any(told), "{:?}", out.findings);
    }
    // It is known by now, and told again without waiting as long.
    for _ in 0..4 {
        assert_eq!(run(&mut executor, Policy::Continue).end, End::Hung);
    }
}
