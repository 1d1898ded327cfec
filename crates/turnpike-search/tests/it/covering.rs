//! Covering, states tested when they are expanded, objectives on locations, and initial states that are none.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use crate::intervals::{Edge, Intervals};
use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::Model;
use turnpike_search::generate::{Discard, GenerateOptions, generate};
use turnpike_search::strategy::{Auto, Bfs, Dfs, Drs, Highway, HighwayApprox, HighwayIdeal, Rdfs};
use turnpike_search::{Accept, RunReport, SearchError, SearchOptions, StopReason, Strategy, Verdict, search};

fn options(strategy: Strategy, objective: &str) -> SearchOptions {
    SearchOptions {
        objectives: vec![objective.parse().expect("an objective")],
        shorten: false,
        ..SearchOptions::new(strategy)
    }
}

fn run(model: &dyn Model, options: &SearchOptions) -> RunReport {
    search(model, options, &|_| {}, &AtomicBool::new(false)).expect("a report").runs.remove(0)
}

fn refused(model: &dyn Model, options: &SearchOptions) -> String {
    match search(model, options, &|_| {}, &AtomicBool::new(false)) {
        Err(SearchError::Usage(diagnostic)) => diagnostic.to_string(),
        other => panic!("{:?}", other.map(|report| report.verdict)),
    }
}

fn covers(bigger: [u32; 3], smaller: [u32; 3]) -> bool {
    bigger[0] == smaller[0] && bigger[1] <= smaller[1] && smaller[2] <= bigger[2]
}

/// Expanded, transitions, stored, and whether the location was met: the loop as it is written down, and slow. States
/// are tested when they are taken from the queue.
fn by_the_book(model: &Intervals, last_in: bool, sought: u32) -> (u64, u64, u64, bool) {
    let mut graph: Vec<[u32; 3]> = Vec::new();
    let mut queue: VecDeque<[u32; 3]> = VecDeque::new();
    let (mut states, mut transitions) = (0, 0);
    let enter = |graph: &mut Vec<[u32; 3]>, queue: &mut VecDeque<_>, all: &[[u32; 3]]| {
        let mut new = Vec::new();
        for &next in all {
            if !graph.iter().any(|&kept| covers(kept, next)) {
                graph.push(next);
                new.push(next);
            }
        }
        for next in new {
            queue.push_back(next);
            graph.retain(|&kept| kept == next || !covers(next, kept));
            queue.retain(|&kept| kept == next || !covers(next, kept));
        }
    };
    enter(&mut graph, &mut queue, &model.initial);
    while let Some(state) = if last_in { queue.pop_back() } else { queue.pop_front() } {
        states += 1;
        if state[0] == sought {
            return (states, transitions, graph.len() as u64, true);
        }
        let next: Vec<[u32; 3]> = model.after(state).into_iter().map(|(_, next)| next).collect();
        transitions += next.len() as u64;
        enter(&mut graph, &mut queue, &next);
    }
    (states, transitions, graph.len() as u64, false)
}

#[test]
fn counts_are_those_of_the_loop_as_it_is_written_down() {
    let (mut met, mut smaller) = (0, 0);
    for number in 0..600 {
        let model = Intervals::random(number);
        for (strategy, last_in) in
            [(Strategy::from(Bfs::default()), false), (Strategy::from(Dfs::default()), true)]
        {
            for sought in [2, 99] {
                let mut request = options(strategy.clone(), &format!("label l{sought}"));
                request.accept = Accept::Pop;
                request.cover = true;
                let report = run(&model, &request);
                let expected = by_the_book(&model, last_in, sought);
                let found = report.verdict == Verdict::Found;
                assert!(found || report.verdict == Verdict::None, "model {number}");
                let counted = (report.states, report.transitions, report.stored.expect("counted"), found);
                assert_eq!(counted, expected, "model {number}, {}, l{sought}", strategy.name());
                met += u32::from(found);
                request.cover = false;
                let plain = run(&model, &request);
                assert_eq!(plain.verdict, report.verdict, "model {number}");
                smaller += u32::from(plain.states > report.states);
            }
        }
    }
    assert!(met > 300 && smaller > 300, "{met} met, {smaller} smaller");
}

#[test]
fn verdicts_do_not_depend_on_covering() {
    for number in 0..400 {
        let model = Intervals::random(number);
        for objective in ["label l1", "state high >= 9", "action c", "label l0", "state high >= 50"] {
            let expected = run(&model, &options(Strategy::from(Bfs::default()), objective)).verdict;
            let narrow = Drs { walks: Some(1), ..Drs::default() };
            let drs = [Strategy::from(Drs::default()), Strategy::from(narrow)];
            for strategy in
                [Strategy::from(Bfs::default()), Strategy::from(Dfs::default())].into_iter().chain(drs)
            {
                for accept in [Accept::Generation, Accept::Pop] {
                    let request = SearchOptions {
                        cover: true,
                        accept,
                        shorten: true,
                        seed: number,
                        ..options(strategy.clone(), objective)
                    };
                    assert_eq!(run(&model, &request).verdict, expected, "model {number}, {objective}");
                }
            }
        }
    }
}

/// From one location to the next, each open to all values, and back to the first.
fn ring(length: u32) -> Vec<Edge> {
    let edge = |from| Edge { from, action: 0, guard: (0, 9), reset: None, slack: 0, to: (from + 1) % length };
    (0..length).map(edge).collect()
}

#[test]
fn states_are_tested_when_they_are_met_or_when_they_are_expanded() {
    let model = Intervals::new(ring(5), vec![[0, 0, 0]]);
    for (objective, accept, states, transitions, length) in [
        ("label l0", Accept::Generation, 0, 0, 0),
        ("label l0", Accept::Pop, 1, 0, 0),
        ("label l3", Accept::Generation, 3, 3, 3),
        ("label l3", Accept::Pop, 4, 3, 3),
        ("state high == 0", Accept::Pop, 1, 0, 0),
    ] {
        for strategy in [
            Strategy::from(Bfs::default()),
            Strategy::from(Dfs::default()),
            Strategy::from(Rdfs::default()),
            Strategy::from(Highway { width: 3 }),
        ] {
            let request = SearchOptions { accept, ..options(strategy.clone(), objective) };
            let report = run(&model, &request);
            assert_eq!(report.verdict, Verdict::Found);
            let told = (report.states, report.transitions, report.witness.expect("a witness").length);
            assert_eq!(told, (states, transitions, length), "{objective}, {accept:?}, {}", strategy.name());
        }
    }
    let drs = Strategy::from(Drs { literal: true, ..Drs::default() });
    let request = SearchOptions { accept: Accept::Pop, ..options(drs, "label l3") };
    assert_eq!(run(&model, &request).verdict, Verdict::Found);
    let anytime = Strategy::from(Drs { anytime: true, ..Drs::default() });
    let request = SearchOptions { accept: Accept::Pop, ..options(anytime, "label l3") };
    assert!(refused(&model, &request).contains("accept states on generation"));
}

/// Strategies that expand every state of a small system.
fn complete() -> Vec<Strategy> {
    let literal = Drs { literal: true, ..Drs::default() };
    vec![
        Strategy::from(Bfs::default()),
        Strategy::from(Dfs::default()),
        Strategy::from(Rdfs::default()),
        Strategy::from(Highway { width: 10_000 }),
        Strategy::from(HighwayIdeal { width: 10_000 }),
        Strategy::from(HighwayApprox { width: 10_000 }),
        Strategy::from(Drs::default()),
        Strategy::from(Drs { increment: Some(2), depth_aware: true, ..Drs::default() }),
        Strategy::from(literal),
    ]
}

#[test]
fn an_initial_state_that_is_none_does_not_count() {
    for number in 0..150 {
        let plain = Intervals::random(number);
        if plain.initial.len() != 1 {
            continue;
        }
        let rooted = Intervals::random(number).rooted();
        for strategy in complete() {
            let by_levels = strategy.descriptor().parallel.helps(false);
            for depth in [None, Some(0), Some(1), Some(3)].into_iter().filter(|d| d.is_none() || by_levels) {
                let mut request = options(strategy.clone(), "label l99");
                request.limits.depth = depth;
                let (one, other) = (run(&plain, &request), run(&rooted, &request));
                // The printed algorithm, and the depth-aware one, expand a state more than once: chance decides how often.
                let again = ["literal: true", "depth_aware: true"]
                    .iter()
                    .any(|text| format!("{strategy:?}").contains(text));
                let told = |report: &RunReport| {
                    let by_depth = by_levels.then_some((report.depth, report.considered));
                    let counts =
                        (!again).then(|| (report.states, report.transitions, report.actions.clone()));
                    let all = depth.is_none().then_some(report.considered);
                    (report.verdict, report.stop, by_depth, counts, all)
                };
                assert_eq!(told(&one), told(&other), "model {number}, {strategy:?}, depth {depth:?}");
            }
        }
        for strategy in [Strategy::from(Dfs::default()), Strategy::from(Bfs::default())] {
            for objective in ["accepting l1", "accepting l1; high >= 8"] {
                let request = options(strategy.clone(), objective);
                let (one, other) = (run(&plain, &request), run(&rooted, &request));
                let told =
                    |report: &RunReport| (report.verdict, report.states, report.transitions, report.depth);
                assert_eq!(told(&one), told(&other), "model {number}, {objective}");
            }
        }
        let (near, far) = (
            options(Strategy::from(Bfs::default()), "label l2"),
            options(Strategy::from(Dfs::default()), "label l2"),
        );
        for request in [near.clone(), far, SearchOptions { shorten: true, ..near }] {
            let (one, other) = (run(&plain, &request), run(&rooted, &request));
            let length = |report: &RunReport| report.witness.as_ref().map(|witness| witness.length);
            // The step into the proper initial state is a step.
            assert_eq!(length(&one).map(|length| length + 1), length(&other), "model {number}");
            assert_eq!((one.states > 0).then_some(one.states), (one.states > 0).then_some(other.states));
        }
    }
}

#[test]
fn the_place_before_the_initial_states_meets_nothing() {
    let several = || Intervals::new(ring(3), vec![[0, 1, 2], [1, 0, 4], [0, 0, 3]]);
    // Its label is an action, its transitions clash, its location is none.
    for objective in ["nondeterminism", "label l4294967295"] {
        assert_eq!(
            run(&several(), &options(Strategy::from(Bfs::default()), objective)).verdict,
            Verdict::None,
            "{objective}"
        );
    }
    let report = run(&several(), &options(Strategy::from(Bfs::default()), "label l99"));
    assert_eq!((report.states, report.transitions, report.depth), (9, 9, 2));
    let covered = run(
        &several(),
        &SearchOptions { cover: true, ..options(Strategy::from(Bfs::default()), "label l99") },
    );
    // By hand: the third initial state puts out the first, and gives way to what location 2 leads to.
    assert_eq!((covered.states, covered.stored), (4, Some(3)));
    // No initial state at all.
    let none = Intervals::new(ring(3), Vec::new());
    for strategy in complete().into_iter().chain([Strategy::from(Auto)]) {
        for objective in ["deadlock", "label l1"] {
            let report = run(&none, &options(strategy.clone(), objective));
            assert_eq!((report.verdict, report.states), (Verdict::None, 0), "{strategy:?}, {objective}");
        }
    }
    // What is written has the place as its first state.
    let generated =
        generate(&several(), &GenerateOptions::default(), &mut Discard, &|_| {}, &AtomicBool::new(false));
    let generated = generated.expect("generates");
    assert_eq!((generated.states, generated.transitions, generated.levels), (10, 12, 4));
}

#[test]
fn what_covering_cannot_answer_is_refused() {
    let model = Intervals::random(0);
    let with = |strategy, objective| SearchOptions { cover: true, ..options(strategy, objective) };
    for objective in ["deadlock", "any-error", "livelock", "nondeterminism", "max high"] {
        assert!(
            refused(&model, &with(Strategy::from(Bfs::default()), objective)).contains(objective),
            "{objective}"
        );
    }
    let unasked =
        SearchOptions { objectives: Vec::new(), ..with(Strategy::from(Bfs::default()), "deadlock") };
    assert!(refused(&model, &unasked).contains("deadlock"));
    let anytime = Drs { anytime: true, ..Drs::default() };
    assert!(refused(&model, &with(Strategy::from(anytime), "label l1")).contains("`anytime`"));
    for strategy in
        [Strategy::from(Rdfs::default()), Strategy::from(Auto), Strategy::from(Highway { width: 3 })]
    {
        let message = refused(&model, &with(strategy.clone(), "label l1"));
        assert!(message.contains(strategy.name()) && message.contains("use the strategy bfs"), "{message}");
    }
    assert!(
        refused(&model, &options(Strategy::from(Bfs::default()), "label nowhere"))
            .contains("no such location")
    );
}

#[test]
fn a_limit_on_depth_leaves_the_verdict_open() {
    let step =
        |from| Transition { from, label: turnpike_model::LabelId((from == 3000).into()), to: from + 1 };
    let labels = ["step", "bad"].map(str::to_owned).to_vec();
    let chain = Lts { initial: 0, states: 5001, labels, transitions: (0..5000).map(step).collect() };
    let chain = LtsModel::new("chain", chain).expect("consistent");
    for cover in [false, true] {
        let mut request = SearchOptions { cover, ..options(Strategy::from(Dfs::default()), "action bad") };
        request.limits.depth = Some(2048);
        let report = run(&chain, &request);
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxDepth));
        assert_eq!((report.states, report.depth), (2048, 2047));
        request.limits.depth = None;
        assert_eq!(run(&chain, &request).witness.expect("a witness").length, 3001);
    }
}
