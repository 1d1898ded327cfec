//! Strategies that follow whole paths, on systems that are walked from state to state.

use std::sync::atomic::AtomicBool;

use crate::intervals::Intervals;
use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::{LabelId, Model};
use turnpike_search::strategy::{Draws, Exhaustive, Over, RandomWalk, Way};
use turnpike_search::{Limits, RunReport, SearchOptions, StopReason, Strategy, Verdict, search};

fn run(model: &dyn Model, strategy: impl Into<Strategy>, objective: &str, limits: Limits) -> RunReport {
    let mut options = SearchOptions::new(strategy);
    options.objectives = vec![objective.parse().expect("an objective")];
    options.limits = limits;
    search(model, &options, &|_| {}, &AtomicBool::new(false)).expect("a search").runs.remove(0)
}

fn system(states: u32, transitions: &[(u32, u32)]) -> LtsModel {
    let transitions = transitions.iter().map(|&(from, to)| Transition { from, label: LabelId(0), to });
    let lts = Lts { initial: 0, states, labels: vec!["step".into()], transitions: transitions.collect() };
    LtsModel::new("system", lts).expect("a system")
}

/// States 0 to 5 in a row.
fn chain() -> LtsModel {
    system(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
}

const WALKS: RandomWalk = RandomWalk {
    over: Over::States,
    restart: true,
    restart_depth: None,
    concrete: false,
    witness: Way::LoopErased,
    draws: Draws::Uniform,
};

#[test]
fn a_walk_without_choices_is_not_repeated() {
    let limits = || Limits { states: Some(1000), ..Limits::default() };
    for strategy in [WALKS, RandomWalk { restart: false, ..WALKS }] {
        // It went everywhere.
        let whole = run(&chain(), strategy.clone(), "label other", limits());
        assert_eq!((whole.stop, whole.verdict, whole.states), (StopReason::Exhausted, Verdict::None, 6));
        let found = run(&chain(), strategy.clone(), "deadlock", limits());
        assert_eq!((found.stop, found.states), (StopReason::Found, 6));
        // What lies behind a limit was not seen.
        let cut = run(&chain(), strategy, "label other", Limits { depth: Some(3), ..limits() });
        assert_eq!((cut.stop, cut.verdict, cut.states), (StopReason::MaxDepth, Verdict::Inconclusive, 3));
    }
    let short = RandomWalk { restart_depth: Some(2), ..WALKS };
    let short = run(&chain(), short, "label other", limits());
    assert_eq!((short.stop, short.verdict, short.states), (StopReason::Finished, Verdict::Inconclusive, 3));
}

#[test]
fn walks_that_could_go_elsewhere_prove_nothing() {
    let limits = || Limits { states: Some(1000), ..Limits::default() };
    // The first walk may be the short one, which ends without having seen the other.
    let fork = system(4, &[(0, 1), (0, 2), (2, 3)]);
    let again = run(&fork, WALKS, "label other", limits());
    assert_eq!((again.stop, again.verdict), (StopReason::MaxStates, Verdict::Inconclusive));
    let once = run(&fork, RandomWalk { restart: false, ..WALKS }, "label other", limits());
    assert_eq!((once.stop, once.verdict), (StopReason::Finished, Verdict::Inconclusive));
    // Also where the choice comes late, and where two transitions lead to one state.
    let late = system(5, &[(0, 1), (1, 2), (2, 3), (2, 4)]);
    assert_eq!(run(&late, WALKS, "label other", limits()).verdict, Verdict::Inconclusive);
    let double = system(2, &[(0, 1), (0, 1)]);
    assert_eq!(run(&double, WALKS, "label other", limits()).verdict, Verdict::Inconclusive);
}

#[test]
fn walks_end_where_nothing_may_be_expanded() {
    let limits = || Limits { depth: Some(0), states: Some(1000), ..Limits::default() };
    // Several initial states: the place before them is left, and they are not expanded.
    let several = Intervals::new(Vec::new(), vec![[0, 1, 1], [1, 1, 1]]);
    for model in [&several as &dyn Model, &chain()] {
        let walked = run(model, WALKS, "action other", limits());
        assert_eq!(
            (walked.stop, walked.verdict, walked.states),
            (StopReason::MaxDepth, Verdict::Inconclusive, 0)
        );
    }
    // No initial state: there is nothing at all.
    let none = run(&Intervals::new(Vec::new(), Vec::new()), WALKS, "action other", Limits::default());
    assert_eq!((none.stop, none.verdict, none.states), (StopReason::Exhausted, Verdict::None, 0));
}

/// Follows every path by recursion: the nodes of the tree up to a depth, and whether one of them has children behind it.
fn tree(model: &Intervals, state: [u32; 3], depth: u32) -> (u64, bool) {
    let after = model.after(state);
    if depth == 0 {
        return (1, !after.is_empty());
    }
    after.iter().fold((1, false), |(nodes, cut), &(_, next)| {
        let (below, deeper) = tree(model, next, depth - 1);
        (nodes + below, cut | deeper)
    })
}

#[test]
fn exhaustive_search_expands_every_node_of_the_tree_once() {
    let mut cuts = 0;
    for number in 0..150 {
        let model = Intervals::random(number);
        for depth in [1, 3, 5] {
            let limits = Limits { states: Some(200_000), ..Limits::default() };
            let report = run(&model, Exhaustive { depth }, "action never", limits);
            let trees = model.initial.iter().map(|&initial| tree(&model, initial, depth));
            let (nodes, cut) = trees.fold((0, false), |(n, c), (nodes, cut)| (n + nodes, c | cut));
            assert_eq!(report.states, nodes, "system {number}, depth {depth}");
            let stop = if cut { StopReason::MaxDepth } else { StopReason::Exhausted };
            assert_eq!(report.stop, stop, "system {number}, depth {depth}");
            cuts += u32::from(cut);
            // States at the limit on depth are not even looked at.
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let limited = run(&model, Exhaustive { depth: 100 }, "action never", limits);
            let trees = model.initial.iter().map(|&initial| tree(&model, initial, depth - 1).0);
            assert_eq!(limited.states, trees.sum::<u64>(), "system {number}, limit {depth}");
        }
    }
    assert!((50..400).contains(&cuts), "{cuts} of 450 searches were cut");
}

/// A binary tree with eight leaves; a step from leaf n has the label `leaf`, n.
fn eight_leaves() -> LtsModel {
    let inner = (0..7).flat_map(|node| [(node, 0, 2 * node + 1), (node, 0, 2 * node + 2)]);
    let leaves = (0..8).map(|leaf| (7 + leaf, 1 + leaf, 15));
    let transitions = inner.chain(leaves);
    let transitions = transitions.map(|(from, label, to)| Transition { from, label: LabelId(label), to });
    let labels = std::iter::once("step".to_owned()).chain((0..8).map(|leaf| format!("leaf({leaf})")));
    let lts = Lts { initial: 0, states: 16, labels: labels.collect(), transitions: transitions.collect() };
    LtsModel::new("tree", lts).expect("a tree")
}

#[test]
fn walks_can_draw_as_the_c_library_does() {
    // After `srand(1)`, `rand()` gives an odd, an even and an odd number; choices are counted from the last one.
    let walk = RandomWalk { draws: Draws::CRand, ..RandomWalk::default() };
    let found = |leaf| {
        let mut options = SearchOptions::new(walk.clone());
        options.objectives = vec![format!("label leaf({leaf})").parse().expect("an objective")];
        options.seed = 1;
        let report = search(&eight_leaves(), &options, &|_| {}, &AtomicBool::new(false)).expect("a search");
        report.runs[0].verdict == Verdict::Found
    };
    assert_eq!((0..8).filter(|leaf| found(*leaf)).collect::<Vec<u32>>(), [0b010]);
}
