//! Exhaustive search with a bound on steps: complete up to it, as plain enumeration is.

use crate::scripts::outcomes::{Outcomes, exhaustive, explore, quiet};
use crate::scripts::random::{random_program, random_tree};
use crate::scripts::{Op, on, one, philosophers_with, program, rmw};
use turnpike_program::ProgramModel;
use turnpike_scheduler::script::{Context, Routine, start};
use turnpike_scheduler::{Kind, Object, Outcome};
use turnpike_search::strategy::Exhaustive;
use turnpike_search::{StopReason, Strategy, Verdict};

/// What both see of executions of at most `depth` steps, and the executions that each took; `None` when plain
/// enumeration takes too many.
fn both(make: &dyn Fn() -> ProgramModel, depth: u32) -> Option<(Outcomes, Outcomes, [u64; 2])> {
    let (all, plain) = explore(make(), false, depth, 6_000)?;
    let (few, report) = explore(make(), true, depth, 20_000).expect("fewer executions");
    assert_eq!(report.stop, plain.stop);
    assert_eq!(report.stop == StopReason::MaxDepth, !all.cut.is_empty());
    let executions = [report, plain].map(|report| report.executions.unwrap().executions);
    Some((few, all, executions))
}

#[test]
fn plain_enumeration_agrees_on_random_programs_at_any_bound() {
    let (mut cut, mut deadlocks, mut failures, mut executions) = (0, 0, 0, [0, 0]);
    for seed in 0..150 {
        let (world, threads) = random_program(seed);
        for depth in [2, 4, 5, 6, 7, 9] {
            let Some((few, all, took)) = both(&|| world.with(&threads, quiet()), depth) else { break };
            assert_eq!(few, all, "seed {seed}, {depth} steps: {world:?} {threads:?}");
            cut += usize::from(!all.cut.is_empty());
            deadlocks += usize::from(!all.cut.is_empty() && !all.deadlocked.is_empty());
            failures += usize::from(!all.cut.is_empty() && !all.failures.is_empty());
            executions = [executions[0] + took[0], executions[1] + took[1]];
        }
    }
    assert!(cut >= 250 && deadlocks >= 10 && failures >= 10, "{cut} {deadlocks} {failures}");
    assert!(executions[0] * 2 < executions[1], "sleep sets help: {executions:?}");
}

#[test]
fn plain_enumeration_agrees_where_threads_start_others_at_any_bound() {
    let mut cut = 0;
    for seed in 0..100 {
        let (world, threads) = random_tree(seed);
        // Where others were when the process ended is not compared.
        if threads.concat().contains(&Op::Exit) {
            continue;
        }
        for depth in [3, 5, 6, 8] {
            let Some((few, all, _)) = both(&|| world.tree(&threads, quiet()), depth) else { break };
            assert_eq!(few, all, "seed {seed}, {depth} steps: {threads:?}");
            cut += usize::from(!all.cut.is_empty());
        }
    }
    assert!(cut >= 120, "{cut}");
}

#[test]
fn programs_that_never_end_are_searched_up_to_the_bound() {
    for (n, bounds) in [(2, 1..=10), (3, 1..=7)] {
        for depth in bounds {
            let make = || philosophers_with(n, 0, quiet());
            let (all, _) = explore(make(), false, depth, 200_000).unwrap();
            let (few, _) = explore(make(), true, depth, 200_000).unwrap();
            assert_eq!(few, all, "{n} philosophers, {depth} steps");
            assert_eq!(all.deadlocked.is_empty(), depth < 2 * n as u32, "{n} philosophers, {depth} steps");
        }
    }
}

#[test]
fn a_deadlock_at_the_bound_is_found_and_none_below_it() {
    for n in 2..=4 {
        let mut options = exhaustive(true);
        options.strategy = Strategy::from(Exhaustive { depth: 2 * n as u32 });
        let report = one(&philosophers_with(n, 0, quiet()), &options);
        assert_eq!(report.verdict, Verdict::Found, "{n}");
        assert_eq!(report.witness.unwrap().length, 2 * n);
        options.strategy = Strategy::from(Exhaustive { depth: 2 * n as u32 - 1 });
        let report = one(&philosophers_with(n, 0, quiet()), &options);
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxDepth), "{n}");
    }
}

#[test]
fn a_bound_that_cuts_nothing_costs_nothing() {
    for (depth, executions) in [(u32::MAX, 90), (9, 90)] {
        let mut options = exhaustive(true);
        options.strategy = Strategy::from(Exhaustive { depth });
        let report = one(&rmw(3, 2), &options);
        assert_eq!((report.verdict, report.stop), (Verdict::None, StopReason::Exhausted));
        assert_eq!(report.executions.unwrap().executions, executions);
    }
}

/// So many threads that hold a sender of one channel each, and drop it.
fn senders(n: u32) -> ProgramModel {
    program("senders", quiet(), move |context| {
        let queue = context.register(Object::Queue { capacity: 2 });
        context.kernel.set_senders(queue, n);
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        for _ in 0..n {
            let mut gone = false;
            threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
                (!std::mem::replace(&mut gone, true)).then(|| on(Kind::Close, queue, 1))
            }));
        }
        start(threads)
    })
}

#[test]
fn senders_that_go_in_any_order_are_told_apart_by_the_last() {
    for n in 2..=4 {
        for depth in [n, u32::MAX] {
            let (few, all, _) = both(&|| senders(n), depth).unwrap();
            assert_eq!(few, all, "{n} senders, at most {depth} steps");
            // One of them is the last.
            assert!(depth == n || all.finished.len() == n as usize, "{n} senders: {all:?}");
        }
    }
}
