//! Exhaustive search of programs: exact numbers of traces, and agreement with plain enumeration.

mod scripts;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use scripts::{Op, World, filesystem, indexer, lastzero, one, philosophers, readers, rmw};
use turnpike_model::scheduler::{End, Execution, Executor, GuestError, Plan, Site};
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_search::{RunReport, SearchOptions, StopReason, Strategy, Verdict};

fn options(source_dpor: bool) -> SearchOptions {
    let mut options = SearchOptions::new(Strategy::Exhaustive { depth: u32::MAX });
    options.objectives.push("any-error".parse().unwrap());
    options.source_dpor = Some(source_dpor);
    options.shorten = false;
    options
}

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
        assert_eq!(completed, traces, "{name}, {blocked} blocked");
        let given_up = match name.as_str() {
            "lastzero(3)" => 1,
            "lastzero(5)" => 33,
            "lastzero(7)" => 473,
            "lastzero(10)" => 16_867,
            _ => 0,
        };
        assert_eq!(blocked, given_up, "{name}");
    }
}

/// Notes how executions end.
struct Noting {
    inner: Box<dyn Executor>,
    ends: Arc<Mutex<Vec<(End, u128)>>>,
}

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(plan, out)?;
        if !matches!(out.end, End::Asleep | End::Stopped | End::Diverged(_)) {
            self.ends.lock().unwrap().push((out.end.clone(), out.fingerprint));
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// What a program can come to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcomes {
    finished: BTreeSet<u128>,
    deadlocked: BTreeSet<u128>,
    failures: BTreeSet<String>,
    /// Other ends.
    others: BTreeSet<String>,
}

/// All that exhaustive search sees, with its counts; `None` when it takes too many executions.
fn explore(model: ProgramModel, source_dpor: bool, limit: u64) -> Option<(Outcomes, RunReport)> {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let (log, inner) = (Arc::clone(&ends), Arc::new(model));
    let settings = inner.options().clone();
    let launch = move || {
        let inner = inner.executor()?;
        Ok(Box::new(Noting { inner, ends: Arc::clone(&log) }) as Box<dyn Executor>)
    };
    let model = ProgramModel::new("noted", 1, Box::new(launch), settings).unwrap();
    ends.lock().unwrap().clear();
    let mut options = options(source_dpor);
    // Nothing stops the search.
    options.objectives = vec!["race".parse().unwrap()];
    options.limits.executions = Some(limit);
    let report = one(&model, &options);
    if report.stop == StopReason::MaxExecutions {
        return None;
    }
    let mut outcomes = Outcomes::default();
    for (end, fingerprint) in ends.lock().unwrap().drain(..) {
        match end {
            End::Finished => drop(outcomes.finished.insert(fingerprint)),
            End::Deadlock => drop(outcomes.deadlocked.insert(fingerprint)),
            End::Failed(failure) => drop(outcomes.failures.insert(failure.message)),
            other => drop(outcomes.others.insert(format!("{other:?}"))),
        }
    }
    Some((outcomes, report))
}

fn quiet() -> ProgramOptions {
    ProgramOptions { check_every: 0, ..ProgramOptions::default() }
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
        let (all, _) = explore(make(), false, 2_000_000).unwrap();
        let (few, report) = explore(make(), true, 2_000_000).unwrap();
        assert_eq!(few, all, "{name}");
        assert_eq!(all.deadlocked.is_empty(), finishes, "{name}");
        let (completed, _) = counts(&report);
        assert_eq!(completed as usize, all.finished.len() + all.deadlocked.len(), "{name}");
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
    bounded.strategy = Strategy::Exhaustive { depth: 4 };
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

/// Random numbers for tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// A random program whose locks are released by those who hold them.
fn random_program(seed: u64) -> (World, Vec<Vec<Op>>) {
    let dice = &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let world = World {
        mutexes: 2,
        rwlocks: 1,
        condvars: 1,
        semaphores: vec![dice.below(2) as u32, 1],
        queues: vec![1 + dice.below(2) as u32],
        barriers: vec![2],
        variables: 2,
    };
    let threads = 2 + dice.below(2);
    let families = [1 + dice.below(7), 1 + dice.below(7)];
    let code = (0..threads).map(|_| random_thread(dice, threads, families)).collect();
    (world, code)
}

/// A random program whose threads start others in the middle of their work; some end the process.
fn random_tree(seed: u64) -> (World, Vec<Vec<Op>>) {
    let dice = &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let world = World { mutexes: 2, variables: 2, semaphores: vec![1, 1], ..World::default() };
    let families = [1, [3, 7][dice.below(2)]];
    let mut code: Vec<Vec<Op>> = (0..3).map(|_| random_thread(dice, 3, families)).collect();
    let (first, second) = (dice.below(3), dice.below(3));
    code[0].insert(first, Op::Spawn(1));
    if dice.below(2) == 0 {
        code[1].insert(second, Op::Spawn(2));
    } else {
        code[0].push(Op::Spawn(2));
    }
    if dice.below(4) == 0 {
        code[dice.below(3)].push(Op::Exit);
    }
    (world, code)
}

#[test]
fn plain_enumeration_agrees_where_threads_start_others_and_end_the_process() {
    let (mut compared, mut exits) = (0, 0);
    for seed in 0..400 {
        let (world, threads) = random_tree(seed);
        let Some((all, _)) = explore(world.tree(&threads, quiet()), false, 8_000) else { continue };
        let (few, _) = explore(world.tree(&threads, quiet()), true, 20_000).expect("fewer executions");
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

fn random_thread(dice: &mut Dice, threads: usize, families: [usize; 2]) -> Vec<Op> {
    let mut code = Vec::new();
    let length = 2 + dice.below(4);
    while code.len() < length {
        let family = if dice.below(3) == 0 { 0 } else { families[dice.below(2)] };
        match family {
            1 => {
                let m = dice.below(2);
                match dice.below(4) {
                    0 => code.extend([Op::Lock(m), Op::Unlock(m)]),
                    1 => code.extend([Op::Lock(m), Op::Load(0), Op::Unlock(m)]),
                    2 => code.extend([Op::Lock(m), Op::Lock(1 - m), Op::Unlock(1 - m), Op::Unlock(m)]),
                    _ => code.extend([Op::TryLock(m), Op::SkipIfZero(1), Op::Unlock(m)]),
                }
            }
            2 => match dice.below(3) {
                0 => code.extend([Op::Lock(0), Op::Wait(0, 0), Op::Unlock(0)]),
                1 => code.push(Op::NotifyOne(0)),
                _ => code.extend([Op::Lock(0), Op::NotifyAll(0), Op::Unlock(0)]),
            },
            3 => match dice.below(3) {
                0 => code.push(Op::SemWait(dice.below(2))),
                1 => code.push(Op::SemPost(dice.below(2))),
                _ => code.push(Op::SemTryWait(dice.below(2))),
            },
            4 => match dice.below(5) {
                0 | 1 => code.push(Op::Send(0)),
                2 => code.push(Op::Receive(0)),
                3 => code.push(Op::TrySend(0)),
                _ => code.push(Op::TryReceive(0)),
            },
            5 => match dice.below(3) {
                0 => code.extend([Op::ReadLock(0), Op::ReadUnlock(0)]),
                1 => code.extend([Op::ReadLock(0), Op::Load(1), Op::ReadUnlock(0)]),
                _ => code.extend([Op::WriteLock(0), Op::WriteUnlock(0)]),
            },
            6 => match dice.below(4) {
                0 => code.push(Op::TryJoin(dice.below(threads))),
                1 => code.push(Op::Arrive(0)),
                _ => code.push(Op::Toss(1)),
            },
            7 => match dice.below(3) {
                0 => code.extend([Op::Load(0), Op::FailIf(1)]),
                1 => code.extend([Op::Load(0), Op::SkipIfZero(1), Op::Store(1, 1)]),
                _ => code.push(Op::Store(0, 1)),
            },
            _ => match dice.below(4) {
                0 => code.push(Op::Load(dice.below(2))),
                1 => code.push(Op::Store(dice.below(2), 1)),
                2 => code.push(Op::Add(dice.below(2), 1)),
                _ => code.extend([Op::Load(0), Op::StoreSum(0, 1)]),
            },
        }
    }
    code
}

#[test]
fn plain_enumeration_agrees_on_random_programs() {
    let (mut compared, mut completed, mut blocked, mut traces) = (0, 0, 0, 0);
    let (mut deadlocks, mut failures) = (0, 0);
    for seed in 0..720 {
        let (world, threads) = random_program(seed);
        let Some((all, _)) = explore(world.with(&threads, quiet()), false, 8_000) else { continue };
        let (few, report) = explore(world.with(&threads, quiet()), true, 20_000).expect("fewer executions");
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
