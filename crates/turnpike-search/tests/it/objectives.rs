//! When an objective is met, and by which witness: small explicit systems, every rule by itself.

use std::sync::atomic::AtomicBool;

use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::{LabelId, Model};
use turnpike_search::strategy::{Bfs, Dfs, Highway, HighwayApprox, HighwayIdeal, RandomWalk, Rdfs};
use turnpike_search::{
    Objective, RunReport, SearchOptions, SearchReport, StopReason, Strategy, Verdict, WitnessReport, search,
};

/// A system with these transitions; the initial state is 0.
fn system(edges: &[(u32, &str, u32)]) -> LtsModel {
    let mut labels: Vec<String> = Vec::new();
    let mut transitions = Vec::new();
    for &(from, text, to) in edges {
        let label = labels.iter().position(|label| label == text).unwrap_or_else(|| {
            labels.push(text.to_owned());
            labels.len() - 1
        });
        transitions.push(Transition { from, label: LabelId(label as u32), to });
    }
    let states = edges.iter().map(|&(from, _, to)| from.max(to)).max().unwrap_or(0) + 1;
    LtsModel::new("system", Lts { initial: 0, states, labels, transitions }).unwrap()
}

/// A breadth-first search for these objectives.
fn asking(objectives: &[&str]) -> SearchOptions {
    let mut options = SearchOptions::new(Bfs::default());
    options.objectives = objectives.iter().map(|text| text.parse::<Objective>().unwrap()).collect();
    options.shorten = false;
    options
}

fn searched(model: &dyn Model, options: &SearchOptions) -> SearchReport {
    search(model, options, &|_| {}, &AtomicBool::new(false)).unwrap()
}

fn run(model: &dyn Model, options: &SearchOptions) -> RunReport {
    searched(model, options).runs.remove(0)
}

fn found(model: &dyn Model, options: &SearchOptions) -> WitnessReport {
    let report = run(model, options);
    assert_eq!((report.verdict, report.stop), (Verdict::Found, StopReason::Found), "{}", report.objective);
    report.witness.unwrap()
}

fn labels(witness: &WitnessReport) -> Vec<&str> {
    witness.steps.iter().map(|step| step.label.as_str()).collect()
}

/// The states of a witness, the initial one first.
fn states(witness: &WitnessReport) -> Vec<String> {
    let steps = witness.steps.iter().map(|step| &step.state);
    std::iter::once(&witness.initial)
        .chain(steps)
        .map(|values| values.as_ref().unwrap().iter().next().unwrap().1.to_owned())
        .collect()
}

/// Strategies that expand every state of a small system whose levels are not wider than 10.
fn complete() -> [Strategy; 6] {
    [
        Strategy::from(Bfs::default()),
        Strategy::from(Dfs::default()),
        Strategy::from(Rdfs::default()),
        Strategy::from(Highway { width: 10 }),
        Strategy::from(HighwayIdeal { width: 10 }),
        Strategy::from(HighwayApprox { width: 10 }),
    ]
}

#[test]
fn loops_and_ways_back_meet_transition_objectives() {
    let model = system(&[(0, "go", 1), (0, "loop(1)", 0), (1, "back|up", 0), (1, "go", 0)]);
    for strategy in complete().into_iter().chain([Strategy::from(RandomWalk::default())]) {
        for (objective, expected) in [
            ("action loop", &["loop(1)"][..]),
            ("label loop(?)", &["loop(1)"]),
            ("action up", &["go", "back|up"]),
            ("action nothing,back", &["go", "back|up"]),
            ("label back*", &["go", "back|up"]),
        ] {
            let mut options = asking(&[objective]);
            options.strategy = strategy.clone();
            let witness = found(&model, &options);
            assert_eq!(labels(&witness), expected, "{} with {}", objective, strategy.name());
            assert_eq!((witness.length, witness.original_length), (expected.len(), expected.len()));
        }
        // A name is not its beginning, and a label objective wants the whole label.
        for objective in ["action loo", "label loop", "label back"] {
            let mut options = asking(&[objective]);
            options.strategy = strategy.clone();
            options.limits.states = Some(50);
            assert_ne!(run(&model, &options).verdict, Verdict::Found, "{objective}");
        }
    }
}

#[test]
fn deadlocks_are_seen_in_expanded_states_only() {
    let model = system(&[(0, "a", 1), (1, "b", 2)]);
    for strategy in complete() {
        let mut options = asking(&["deadlock"]);
        options.strategy = strategy;
        options.limits.states = Some(2);
        let report = run(&model, &options);
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxStates));
        assert_eq!((report.states, report.considered), (2, Some(3)));

        options.lookahead = true;
        let report = run(&model, &options);
        assert_eq!((report.verdict, report.states), (Verdict::Found, 2));
        assert_eq!(report.witness.unwrap().length, 2);

        (options.lookahead, options.limits.states) = (false, Some(3));
        let report = run(&model, &options);
        assert_eq!((report.verdict, report.states), (Verdict::Found, 3));
        assert_eq!(labels(&report.witness.unwrap()), ["a", "b"]);
    }
}

#[test]
fn successful_termination_is_no_deadlock() {
    let model = system(&[(0, "a", 1), (1, "Terminate", 2)]);
    assert_eq!(run(&model, &asking(&["deadlock"])).verdict, Verdict::None);
    let lonely = system(&[]);
    let witness = found(&lonely, &asking(&["deadlock"]));
    assert_eq!((witness.length, states(&witness)), (0, vec!["0".to_owned()]));
}

#[test]
fn states_are_seen_when_considered() {
    let model = system(&[(0, "a", 1), (1, "b", 2), (2, "c", 3)]);
    let mut options = asking(&["state bfs-depth == 2"]);
    options.limits.states = Some(2);
    let report = run(&model, &options);
    assert_eq!((report.verdict, report.states), (Verdict::Found, 2));
    assert_eq!(labels(&report.witness.unwrap()), ["a", "b"]);

    options.limits.states = Some(1);
    assert_eq!(run(&model, &options).verdict, Verdict::Inconclusive);

    // A dead end is seen as a state before it is seen as a deadlock.
    let ends = run(&model, &asking(&["state out-degree == 0 && bfs-depth > 1"]));
    assert_eq!((ends.verdict, ends.states), (Verdict::Found, 3));
    assert_eq!(run(&model, &asking(&["deadlock"])).states, 4);
}

#[test]
fn the_initial_state_is_considered_before_anything_is_expanded() {
    let model = system(&[(0, "a", 1), (1, "b", 0)]);
    for strategy in complete().into_iter().chain([Strategy::from(RandomWalk::default())]) {
        let mut options = asking(&["state bfs-depth == 0"]);
        options.strategy = strategy;
        options.limits.states = Some(0);
        let report = run(&model, &options);
        assert_eq!((report.verdict, report.states, report.transitions), (Verdict::Found, 0, 0));
        let witness = report.witness.unwrap();
        assert_eq!((witness.length, witness.steps.len()), (0, 0));
    }
    let mut options = asking(&["min bfs-depth", "max bfs-depth"]);
    options.limits.states = Some(0);
    let report = run(&model, &options);
    assert_eq!((report.extreme["min bfs-depth"], report.extreme["max bfs-depth"]), (Some(0.0), Some(0.0)));
}

#[test]
fn livelocks_are_cycles_of_internal_steps() {
    let model = system(&[(0, "a", 1), (1, "tau", 2), (2, "tau", 3), (3, "tau", 2), (3, "b", 0)]);
    for strategy in complete() {
        let mut options = asking(&["livelock"]);
        options.strategy = strategy;
        let witness = found(&model, &options);
        assert_eq!((witness.length, witness.loop_start), (4, Some(2)));
        assert_eq!(states(&witness), ["0", "1", "2", "3", "2"]);
    }
    let itself = found(&system(&[(0, "a", 1), (1, "tau", 1)]), &asking(&["livelock"]));
    assert_eq!(
        (itself.length, itself.loop_start, states(&itself)[1..].to_vec()),
        (2, Some(1), vec!["1".into(); 2])
    );

    // Asked twice, told twice.
    let mut options = asking(&["livelock", "deadlock", "livelock"]);
    options.all = true;
    let told = run(&model, &options).witnesses;
    assert_eq!(
        told.iter().map(|witness| (witness.length, witness.loop_start)).collect::<Vec<_>>(),
        [(4, Some(2)); 2]
    );

    // Two ways that meet again are no cycle, and a visible step breaks one.
    let diamond = system(&[(0, "tau", 1), (0, "tau", 2), (1, "tau", 3), (2, "tau", 3), (3, "a", 0)]);
    assert_eq!(run(&diamond, &asking(&["livelock"])).verdict, Verdict::None);
}

#[test]
fn named_actions_count_as_internal() {
    let model = system(&[(0, "send(1)", 1), (1, "receive|log", 0)]);
    for (internal, verdict) in [
        (&[][..], Verdict::None),
        (&["send"], Verdict::None),
        (&["send", "receive"], Verdict::None),
        (&["send", "receive", "log"], Verdict::Found),
    ] {
        let mut options = asking(&["livelock"]);
        options.internal = internal.iter().map(ToString::to_string).collect();
        let report = run(&model, &options);
        assert_eq!(report.verdict, verdict, "{internal:?}");
        if let Some(witness) = report.witness {
            assert_eq!((witness.length, witness.loop_start), (2, Some(0)));
        }
    }
}

#[test]
fn nondeterminism_is_one_label_to_two_states() {
    let clash = system(&[(0, "a", 1), (1, "b(1)", 0), (1, "c", 2), (1, "b(1)", 2), (2, "c", 0)]);
    let witness = found(&clash, &asking(&["nondeterminism"]));
    assert_eq!(
        (labels(&witness), states(&witness)),
        (vec!["a", "b(1)"], vec!["0".into(), "1".into(), "2".into()])
    );

    let clean = system(&[(0, "a", 1), (0, "a", 1), (0, "b(1)", 1), (0, "b(2)", 0), (1, "a", 0)]);
    assert_eq!(run(&clean, &asking(&["nondeterminism"])).verdict, Verdict::None);

    // The state must be expanded.
    let mut options = asking(&["nondeterminism"]);
    options.limits.states = Some(1);
    assert_eq!(run(&clash, &options).verdict, Verdict::Inconclusive);
}

#[test]
fn measures_are_measured_and_never_end_a_search() {
    let model = system(&[
        (0, "report(3,x)", 1),
        (1, "report(-2.5,y)|log(99)", 2),
        (2, "report(7,z)", 0),
        (2, "report(many,z)", 0),
        (2, "other(1000)", 0),
    ]);
    let asked =
        ["max report.1", "min report.1", "max log.1", "max none.1", "max out-degree", "min bfs-depth"];
    let mut options = asking(&asked);
    options.objectives.push("cover report*".parse().unwrap());
    options.objectives.push("cover no*".parse().unwrap());
    let report = run(&model, &options);
    assert_eq!((report.verdict, report.stop), (Verdict::Measured, StopReason::Exhausted));
    let values: Vec<Option<f64>> = asked.iter().map(|text| report.extreme[*text]).collect();
    assert_eq!(values, [Some(7.0), Some(-2.5), Some(99.0), None, Some(3.0), Some(0.0)]);
    let seen: Vec<&String> = report.covered["report*"].keys().collect();
    assert_eq!(seen, ["report(-2.5,y)|log(99)", "report(3,x)", "report(7,z)", "report(many,z)"]);
    assert!(report.covered["no*"].is_empty());

    // Beside a sought objective they are reported too; what was not expanded is not measured.
    let report = run(&model, &asking(&["action log", "max report.1"]));
    assert_eq!((report.verdict, report.extreme["max report.1"]), (Verdict::Found, Some(3.0)));
}

#[test]
fn any_match_ends_the_run_unless_all_are_asked() {
    let model = system(&[(0, "a", 1), (1, "b", 2), (2, "c", 3)]);
    let mut options = asking(&["deadlock", "action b", "action nowhere", "max out-degree"]);
    let report = run(&model, &options);
    assert_eq!((report.states, report.witness.unwrap().objective.as_str()), (2, "action b"));
    assert!(report.witnesses.is_empty());

    options.all = true;
    let report = run(&model, &options);
    assert_eq!((report.verdict, report.stop, report.states), (Verdict::Found, StopReason::Exhausted, 4));
    let told: Vec<_> = report.witnesses.iter().map(|w| (w.objective.as_str(), w.length)).collect();
    assert_eq!(told, [("action b", 2), ("deadlock", 3)]);

    options.objectives.remove(2);
    assert_eq!(run(&model, &options).stop, StopReason::Found);
}

#[test]
fn actions_are_counted_by_name() {
    let model = system(&[(0, "a(1)", 1), (0, "a(2)", 1), (1, "b|a", 1), (1, "tau", 0), (2, "never", 2)]);
    let report = run(&model, &asking(&["deadlock"]));
    let counts: Vec<_> = report.actions.iter().map(|(name, &count)| (name.as_str(), count)).collect();
    assert_eq!(counts, [("a", 2), ("b|a", 1), ("tau", 1)]);
    assert_eq!(report.never_taken, ["never"]);
    assert_eq!((report.states, report.transitions, report.depth), (2, 4, 1));
}
