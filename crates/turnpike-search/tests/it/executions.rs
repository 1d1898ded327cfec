//! Whole executions of programs: sampling strategies, objectives, witnesses.

use std::sync::atomic::AtomicBool;

use serde_json::Value;

use crate::owners::in_processes;
use crate::scripts::{Op, World, one, philosophers, rmw};
use turnpike_program::ProgramModel;
use turnpike_search::strategy::{
    Auto, Bfs, Dfs, Drs, Frontier, Genetic, Highway, Pct, Pos, RandomWalk, Rdfs, Weighted,
};
use turnpike_search::{RunReport, SearchError, SearchOptions, StopReason, Strategy, Verdict, search};

fn restarting() -> Strategy {
    Strategy::from(RandomWalk { restart: true, ..RandomWalk::default() })
}

fn samplers() -> Vec<Strategy> {
    vec![restarting(), Strategy::from(Pct { depth: 3 }), Strategy::from(Pos), Strategy::from(Weighted)]
}

/// Two locks taken in opposite orders.
fn inversion() -> ProgramModel {
    let world = World { mutexes: 2, ..World::default() };
    let thread = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    world.program(&[thread(0, 1), thread(1, 0)])
}

/// An increment that is no atomic one: fails when both threads read the same value.
fn lost_update() -> ProgramModel {
    let world = World { variables: 1, mutexes: 1, ..World::default() };
    let add = vec![Op::Load(0), Op::StoreSum(0, 1)];
    let check = vec![Op::Load(0), Op::FailIf(3)];
    world.program(&[add.clone(), add, check])
}

/// A program that fails when a thread reads 7, which takes three orderings; others are in the way.
fn needle() -> ProgramModel {
    let world = World { variables: 4, ..World::default() };
    world.program(&[
        vec![Op::Store(0, 1), Op::Store(1, 1), Op::Store(0, 0)],
        vec![Op::Load(0), Op::SkipIfZero(3), Op::Store(2, 1), Op::Store(2, 7), Op::Store(2, 0)],
        vec![Op::Load(2), Op::FailIf(7)],
        vec![Op::Add(3, 1), Op::Add(3, 1), Op::Add(3, 1)],
        vec![Op::Add(3, 1), Op::Add(3, 1), Op::Add(3, 1)],
    ])
}

fn options(strategy: Strategy, objective: &str) -> SearchOptions {
    let mut options = SearchOptions::new(strategy);
    if !objective.is_empty() {
        options.objectives.push(objective.parse().unwrap());
    }
    options.limits.executions = Some(20_000);
    options
}

#[test]
fn all_samplers_find_what_is_easy() {
    for strategy in samplers() {
        let report = one(&inversion(), &options(strategy.clone(), "deadlock"));
        assert_eq!((report.verdict, report.stop), (Verdict::Found, StopReason::Found), "{}", strategy.name());
        let witness = report.witness.unwrap();
        assert_eq!(witness.length, 2, "one lock each");
        let schedule = witness.schedule.unwrap();
        assert_eq!((schedule.context_switches, schedule.end.as_str()), (1, "deadlock"));
        let report = one(&needle(), &options(strategy.clone(), ""));
        assert_eq!(report.verdict, Verdict::Found, "{}", strategy.name());
        assert_eq!(report.objective, "any-error");
        let schedule = report.witness.unwrap().schedule.unwrap();
        assert!(schedule.end.contains("has 7"), "{}", schedule.end);
        assert!(schedule.context_switches <= 5, "{}", schedule.context_switches);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let told = |report: &RunReport| {
        let witness = report.witness.as_ref().unwrap();
        let choices: Vec<_> = witness.trace.steps.iter().map(|step| step.choice).collect();
        (report.states, report.executions.unwrap(), choices)
    };
    for strategy in samplers() {
        for seed in 0..4 {
            let mut options = SearchOptions { seed, ..options(strategy.clone(), "any-error") };
            let alone = told(&one(&needle(), &options));
            for threads in [2, 3] {
                options.threads = threads;
                assert_eq!(told(&one(&needle(), &options)), alone, "{} {seed}", strategy.name());
            }
        }
    }
}

/// The strategies whose executions are shared out, each planned from what was met before or not at all.
fn sharing() -> Vec<Strategy> {
    let genetic = Genetic { population: 40, parents: 10, generations: 6, ..Genetic::default() };
    let mutation = Genetic { crossover: false, ..genetic.clone() };
    let others = [Strategy::from(Frontier), Strategy::from(genetic), Strategy::from(mutation)];
    samplers().into_iter().chain(others).collect()
}

/// A report without what may differ from one execution to the next.
fn timeless(report: &RunReport) -> Value {
    let mut value = serde_json::to_value(report).unwrap();
    let fields = value.as_object_mut().unwrap();
    assert!(fields.remove("seconds").is_some() && fields.remove("peak_bytes").is_some());
    value
}

#[test]
fn results_do_not_depend_on_the_number_of_processes() {
    for strategy in sharing() {
        for (model, all, limit) in
            [(needle(), false, 3000), (lost_update(), true, 50), (rmw(3, 3), false, 77)]
        {
            let mut options = SearchOptions { all, ..options(strategy.clone(), "any-error") };
            options.limits.executions = Some(limit);
            let alone = timeless(&one(&model, &options));
            for (processes, threads) in [(2, 1), (3, 1), (2, 2)] {
                let reports = in_processes(processes, |_, all| {
                    let options = SearchOptions { processes: Some(all), threads, ..options.clone() };
                    timeless(&one(&model, &options))
                });
                for report in reports {
                    assert_eq!(report, alone, "{} with {processes}x{threads}", strategy.name());
                }
            }
        }
    }
}

#[test]
fn a_search_goes_on_behind_an_error_with_any_number_of_threads() {
    for strategy in sharing() {
        let mut options = SearchOptions { all: true, ..options(strategy.clone(), "any-error") };
        options.limits.executions = Some(60);
        let alone = timeless(&one(&lost_update(), &options));
        for threads in [2, 3] {
            options.threads = threads;
            assert_eq!(timeless(&one(&lost_update(), &options)), alone, "{}", strategy.name());
        }
    }
}

#[test]
fn what_processes_cannot_share_of_a_program_is_refused() {
    for strategy in [Strategy::from(Dfs::default()), Strategy::from(Auto), Strategy::from(Bfs::default())] {
        let name = strategy.name();
        let answers = in_processes(2, |_, all| {
            let options = SearchOptions { processes: Some(all), ..options(strategy.clone(), "any-error") };
            search(&inversion(), &options, &|_| {}, &AtomicBool::new(false)).unwrap_err().to_string()
        });
        assert!(answers[0].contains(&format!("{name} does not share executions out")), "{}", answers[0]);
    }
}

#[test]
fn limits_are_kept_exactly() {
    let model = rmw(3, 3);
    for strategy in samplers() {
        let mut options = options(strategy.clone(), "any-error");
        options.limits.executions = Some(77);
        let report = one(&model, &options);
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxExecutions));
        let counts = report.executions.unwrap();
        assert_eq!((counts.executions, counts.completed, report.states), (77, 77, 77 * 12));
        assert!(counts.distinct.unwrap() < 1.0, "states repeat");
        options.limits.states = Some(100);
        for threads in [1, 2] {
            options.threads = threads;
            let report = one(&model, &options);
            assert_eq!((report.stop, report.states), (StopReason::MaxStates, 100));
        }
    }
}

#[test]
fn one_walk_is_one_execution() {
    let report = one(&rmw(2, 2), &options(Strategy::from(RandomWalk::default()), "any-error"));
    assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::Finished));
    assert_eq!((report.states, report.executions.unwrap().executions), (6, 1));
    // Without a choice there is nothing else.
    let report = one(&rmw(1, 3), &options(restarting(), "any-error"));
    assert_eq!((report.verdict, report.stop), (Verdict::None, StopReason::Exhausted));
    assert_eq!(report.executions.unwrap().executions, 1);
}

#[test]
fn executions_are_cut_at_a_depth() {
    let mut options = options(restarting(), "deadlock");
    options.strategy = Strategy::from(RandomWalk { restart_depth: Some(10), ..RandomWalk::default() });
    options.limits.executions = Some(10);
    let report = one(&philosophers(3, 0), &options);
    let counts = report.executions.unwrap();
    assert_eq!(counts.completed + counts.cut, counts.executions);
    assert!(report.depth <= 10);
}

#[test]
fn labels_are_objectives_too() {
    let report = one(&inversion(), &options(Strategy::from(Pos), "action unlock"));
    let witness = report.witness.unwrap();
    let last = &witness.steps[witness.length - 1].label;
    assert!(last.starts_with("unlock"), "{last}");
    assert_eq!(witness.length, 3, "the shortest: lock, lock, unlock");
}

#[test]
fn several_errors_come_out_of_one_search() {
    let world = World { variables: 2, mutexes: 2, ..World::default() };
    let model = world.program(&[
        vec![Op::Load(0), Op::FailIf(1), Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0)],
        vec![Op::Store(0, 1), Op::Lock(1), Op::Lock(0), Op::Unlock(0), Op::Unlock(1)],
        vec![Op::Load(0), Op::FailIf(1)],
    ]);
    for strategy in samplers() {
        let mut options = options(strategy, "any-error");
        options.all = true;
        options.limits.executions = Some(400);
        let report = one(&model, &options);
        let mut ends: Vec<String> =
            report.witnesses.iter().map(|witness| witness.schedule.clone().unwrap().end).collect();
        ends.sort();
        assert_eq!(ends, ["deadlock", "thread 0 at 2 has 1", "thread 2 at 2 has 1"]);
    }
}

#[test]
fn the_order_that_decides_is_told() {
    let report = one(&inversion(), &options(restarting(), "deadlock"));
    let explanation = report.witness.unwrap().schedule.unwrap().explanation.unwrap();
    assert!(explanation.first_label.contains("lock("), "{explanation:?}");
    assert!(explanation.second_label.contains("lock("), "{explanation:?}");
    let report = one(&lost_update(), &options(restarting(), "assertion"));
    assert_eq!(report.verdict, Verdict::Inconclusive, "two increments never make 3");
    let world = World { variables: 1, ..World::default() };
    let add = vec![Op::Load(0), Op::StoreSum(0, 1), Op::Load(0), Op::FailIf(1)];
    let report = one(&world.program(&[add, vec![Op::Store(0, 5)]]), &options(restarting(), ""));
    let explanation = report.witness.unwrap().schedule.unwrap().explanation;
    assert!(explanation.is_some());
}

#[test]
fn models_without_threads_are_refused_politely() {
    let model = turnpike_builtin::build("philosophers", &[]).unwrap();
    for strategy in [Strategy::from(Pct { depth: 2 }), Strategy::from(Pos), Strategy::from(Weighted)] {
        let name = strategy.name();
        let error = search(&*model, &SearchOptions::new(strategy), &|_| {}, &AtomicBool::new(false));
        let Err(SearchError::Usage(diagnostic)) = error else { panic!("{name} must refuse") };
        assert!(diagnostic.to_string().contains("schedules the threads of a program"), "{diagnostic}");
    }
}

#[test]
fn strategies_that_store_states_find_the_same_errors() {
    let strategies = [
        Strategy::from(Bfs::default()),
        Strategy::from(Dfs::default()),
        Strategy::from(Rdfs::default()),
        Strategy::from(Highway { width: 20 }),
        Strategy::from(Drs::default()),
    ];
    for strategy in strategies {
        let name = strategy.name();
        let mut options = options(strategy, "any-error");
        options.limits.states = Some(50_000);
        let report = one(&inversion(), &options);
        let witness = report.witness.unwrap();
        assert_eq!((witness.length, witness.schedule.unwrap().end.as_str()), (2, "deadlock"), "{name}");
        // The failure shows in the state behind the step, which is known once that is expanded.
        let report = one(&needle(), &options);
        assert_eq!(report.verdict, Verdict::Found, "{name}");
        let schedule = report.witness.unwrap().schedule.unwrap();
        assert!(schedule.end.contains("has 7"), "{name}: {}", schedule.end);
        // Nothing is wrong, and everything was seen.
        let report = one(&rmw(2, 2), &options);
        let complete = !name.starts_with("highway") || report.stop == StopReason::Exhausted;
        assert!(complete, "{name}: {:?}", report.stop);
        assert_eq!(report.verdict, Verdict::None, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let model = needle();
    for strategy in samplers().into_iter().chain([Strategy::from(Auto)]) {
        let options = options(strategy, "any-error");
        let [one, other] = [(); 2].map(|()| {
            let mut report = serde_json::to_value(one(&model, &options)).unwrap();
            let fields = report.as_object_mut().unwrap();
            fields.remove("seconds");
            fields.remove("peak_bytes");
            report
        });
        assert_eq!(one, other);
    }
}

#[test]
fn auto_finds_what_lies_near_the_beginning_of_a_program_that_never_ends() {
    for seed in 1..=2 {
        let mut options = options(Strategy::from(Auto), "deadlock");
        (options.seed, options.shorten) = (seed, false);
        options.limits.executions = Some(60_000);
        let report = one(&philosophers(17, 0), &options);
        assert_eq!(report.verdict, Verdict::Found, "seed {seed}");
        // Most executions were short, or few would be possible.
        let counts = report.executions.unwrap();
        assert!(report.states < 1000 * counts.executions.max(500), "{} states in {counts:?}", report.states);
    }
}
