//! Exhaustive search of programs: exact numbers of traces, and agreement with plain enumeration.

use crate::scripts::outcomes::{exhaustive as options, explore, quiet};
use crate::scripts::random::{random_program, random_tree};
use crate::scripts::{
    Op, World, filesystem, indexer, lastzero, on, one, philosophers, program, readers, rmw,
};
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{Kind, Object, Operation, Timeouts};
use turnpike_search::strategy::Exhaustive;
use turnpike_search::{RunReport, StopReason, Strategy, Verdict};

/// Completed and blocked executions.
fn counts(report: &RunReport) -> (u64, u64) {
    let counts = report.executions.unwrap();
    (counts.completed, counts.blocked)
}

#[test]
fn one_execution_for_each_trace() {
    let mut cases: Vec<(String, ProgramModel, u64)> = Vec::new();
    for n in 1..=8 {
        cases.push((format!("readers({n})"), readers(n), 1 << n));
    }
    for n in [2, 3, 5, 7, 10] {
        cases.push((format!("lastzero({n})"), lastzero(n), (n as u64 + 3) << (n - 2)));
    }
    for (threads, k, traces) in [(2, 2, 6), (2, 3, 20), (3, 2, 90)] {
        cases.push((format!("rmw({threads},{k})"), rmw(threads, k), traces));
    }
    for (n, traces) in [(12, 8), (15, 4096)] {
        cases.push((format!("indexer({n})"), indexer(n), traces));
    }
    for (n, traces) in [(14, 2), (16, 8), (18, 32)] {
        cases.push((format!("filesystem({n})"), filesystem(n), traces));
    }
    for (name, model, traces) in cases {
        let report = one(&model, &options(true));
        assert_eq!((report.verdict, report.stop), (Verdict::None, StopReason::Exhausted), "{name}");
        let (completed, blocked) = counts(&report);
        assert_eq!((completed, blocked), (traces, 0), "{name}");
    }
}

#[test]
fn plain_enumeration_agrees_on_the_classics() {
    type Make = fn() -> ProgramModel;
    let cases: [(&str, Make, bool); 8] = [
        ("readers", || readers(4), true),
        ("lastzero", || lastzero(2), true),
        ("lastzero", || lastzero(3), true),
        ("rmw", || rmw(2, 3), true),
        ("rmw", || rmw(3, 2), true),
        ("philosophers", || philosophers(2, 1), false),
        ("philosophers", || philosophers(2, 2), false),
        ("philosophers", || philosophers(3, 1), false),
    ];
    for (name, make, finishes) in cases {
        let (all, _) = explore(make(), false, u32::MAX, 2_000_000).unwrap();
        let (few, report) = explore(make(), true, u32::MAX, 2_000_000).unwrap();
        assert_eq!(few, all, "{name}");
        assert_eq!(all.deadlocked.is_empty(), finishes, "{name}");
        let (completed, _) = counts(&report);
        assert_eq!(completed as usize, all.finished.len() + all.deadlocked.len(), "{name}");
    }
}

/// A thread waits for a notification with a time limit, and fails when it gives up or finds nothing changed.
fn impatient(options: ProgramOptions) -> ProgramModel {
    use turnpike_scheduler::Outcome;
    use turnpike_scheduler::script::{Context, start, straight};
    program("impatient", options, |context| {
        let (mutex, bell) =
            (context.register(Object::Mutex { recursive: false }), context.register(Object::Condvar));
        let mut at = 0;
        let waiter = move |outcome: Outcome, context: &mut Context<'_>| {
            at += 1;
            match at {
                1 => Some(on(Kind::Lock, mutex, 1)),
                2 => Some(Operation { second: mutex, timed: true, ..on(Kind::Wait, bell, 2) }),
                3 => {
                    if outcome.timed_out {
                        context.fail("gave up");
                        return None;
                    }
                    Some(on(Kind::Unlock, mutex, 3))
                }
                _ => None,
            }
        };
        let steps = [(Kind::Lock, mutex), (Kind::NotifyOne, bell), (Kind::Unlock, mutex)];
        let ringer = steps.iter().map(|&(kind, object)| on(kind, object, 4)).collect();
        start(vec![Box::new(waiter), straight(ringer)])
    })
}

#[test]
fn giving_up_is_tried_wherever_it_is_possible() {
    for (timeouts, spurious) in [(Timeouts::Always, 0), (Timeouts::WhenStuck, 0), (Timeouts::Always, 1)] {
        let options = ProgramOptions { timeouts, spurious, ..quiet() };
        let (all, _) = explore(impatient(options.clone()), false, u32::MAX, 100_000).unwrap();
        let (few, _) = explore(impatient(options), true, u32::MAX, 100_000).unwrap();
        assert_eq!(few, all, "{timeouts:?}, {spurious}");
        assert_eq!(all.failures.len(), 1, "{timeouts:?}");
    }
}

#[test]
fn philosophers_who_toss_deadlock() {
    for n in 2..=5 {
        let report = one(&philosophers(n, 1), &options(true));
        assert_eq!(report.verdict, Verdict::Found, "{n}");
        assert_eq!(report.witness.unwrap().schedule.unwrap().end, "deadlock");
    }
}

#[test]
fn bounds_are_never_taken_for_proofs() {
    let mut bounded = options(true);
    bounded.strategy = Strategy::from(Exhaustive { depth: 4 });
    let report = one(&rmw(2, 2), &bounded);
    assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxDepth));
    let mut limited = options(true);
    limited.limits.executions = Some(5);
    let report = one(&rmw(2, 2), &limited);
    assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxExecutions));
    limited.limits.executions = Some(6);
    let report = one(&rmw(2, 2), &limited);
    assert_eq!((report.verdict, report.stop), (Verdict::None, StopReason::Exhausted));
}

#[test]
fn sleep_sets_of_the_model_are_enumerated() {
    let world = World { variables: 1, ..World::default() };
    let threads = vec![vec![Op::Add(0, 1); 2]; 3];
    let model = world.with(&threads, ProgramOptions { sleep: true, ..quiet() });
    let report = one(&model, &options(false));
    // The main thread's joins are independent of everything: those that sleep are met at once.
    assert_eq!(counts(&report).0, 90);
}

#[test]
fn plain_enumeration_agrees_where_threads_start_others_and_end_the_process() {
    let (mut compared, mut exits) = (0, 0);
    for seed in 0..400 {
        let (world, threads) = random_tree(seed);
        let Some((all, _)) = explore(world.tree(&threads, quiet()), false, u32::MAX, 8_000) else { continue };
        let (few, _) =
            explore(world.tree(&threads, quiet()), true, u32::MAX, 20_000).expect("fewer executions");
        compared += 1;
        if threads.concat().contains(&Op::Exit) {
            // Where the others were when the process ended makes no difference; how it can end does.
            exits += 1;
            assert_eq!(
                (&few.failures, &few.others),
                (&all.failures, &all.others),
                "seed {seed}: {threads:?}"
            );
            assert!(few.finished.is_subset(&all.finished), "seed {seed}: {threads:?}");
            assert_eq!(few.deadlocked, all.deadlocked, "seed {seed}: {threads:?}");
        } else {
            assert_eq!(few, all, "seed {seed}: {threads:?}");
        }
    }
    assert!(compared >= 200 && exits >= 40, "{compared} {exits}");
}

#[test]
fn plain_enumeration_agrees_on_random_programs() {
    let (mut compared, mut completed, mut blocked, mut traces) = (0, 0, 0, 0);
    let (mut deadlocks, mut failures) = (0, 0);
    for seed in 0..720 {
        let (world, threads) = random_program(seed);
        let Some((all, _)) = explore(world.with(&threads, quiet()), false, u32::MAX, 8_000) else { continue };
        let (few, report) =
            explore(world.with(&threads, quiet()), true, u32::MAX, 20_000).expect("fewer executions");
        assert_eq!(few, all, "seed {seed}: {world:?} {threads:?}");
        compared += 1;
        deadlocks += usize::from(!all.deadlocked.is_empty());
        failures += usize::from(!all.failures.is_empty());
        let counted = counts(&report);
        completed += counted.0;
        blocked += counted.1;
        traces += (all.finished.len() + all.deadlocked.len() + all.failures.len()) as u64;
    }
    assert!(compared >= 500 && deadlocks >= 50 && failures >= 20, "{compared} {deadlocks} {failures}");
    // One execution for a trace, but for failures that have several; few are given up.
    assert!(completed <= traces * 3 / 2, "{completed} executions for {traces} traces");
    assert!(blocked <= completed / 2, "{blocked} given up, {completed} completed");
}
