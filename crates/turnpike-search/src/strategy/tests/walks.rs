//! Random walks and randomised depth-first search: whole sequences of states against full enumeration.

use std::collections::BTreeMap;

use super::chi_square::Fit;
use super::graphs::{FUNNEL, Graph, RING, SHORTCUTS};
use super::observe;
use crate::run::Run;
use crate::strategy::dfs;
use crate::strategy::{Over, RandomWalk, Search};

const RUNS: u64 = 20_000;

/// The probability of each order in which randomised depth-first search enters the states: from the top of the stack,
/// any successor not entered yet is as likely as the others.
fn depth_first_orders(graph: &Graph) -> BTreeMap<Vec<u32>, f64> {
    fn extend(
        graph: &Graph,
        stack: &mut Vec<u32>,
        order: &mut Vec<u32>,
        probability: f64,
        all: &mut BTreeMap<Vec<u32>, f64>,
    ) {
        let Some(&top) = stack.last() else {
            *all.entry(order.clone()).or_default() += probability;
            return;
        };
        let fresh: Vec<u32> =
            (0..16).filter(|s| graph.successors_of(1 << top) >> s & 1 == 1 && !order.contains(s)).collect();
        if fresh.is_empty() {
            stack.pop();
            extend(graph, stack, order, probability, all);
            stack.push(top);
        }
        for &next in &fresh {
            stack.push(next);
            order.push(next);
            extend(graph, stack, order, probability / fresh.len() as f64, all);
            order.pop();
            stack.pop();
        }
    }
    let mut all = BTreeMap::new();
    extend(graph, &mut vec![0], &mut vec![0], 1.0, &mut all);
    all
}

/// The probability of each walk of `steps` steps, drawing from successor states or from transitions.
fn walks(graph: &Graph, steps: usize, over: Over) -> BTreeMap<Vec<u32>, f64> {
    let mut all = BTreeMap::from([(vec![0], 1.0)]);
    for _ in 0..steps {
        let mut longer = BTreeMap::new();
        for (walk, probability) in all {
            let mut targets = graph.successors[walk[walk.len() - 1] as usize].to_vec();
            targets.sort_unstable();
            if over == Over::States {
                targets.dedup();
            }
            for &target in &targets {
                let next: Vec<u32> = walk.iter().copied().chain([target]).collect();
                *longer.entry(next).or_default() += probability / targets.len() as f64;
            }
        }
        all = longer;
    }
    all
}

fn count_sequences(
    graph: &Graph,
    seed: u64,
    max_depth: u32,
    search: impl Fn(&mut Run<'_>) -> Result<crate::limits::StopReason, crate::error::Halt>,
) -> BTreeMap<Vec<u32>, u64> {
    let mut counts = BTreeMap::new();
    observe(&graph.model(), (seed, RUNS), max_depth, search, |trail| {
        *counts.entry(trail.map(|(_, state)| state[0]).collect()).or_default() += 1;
    });
    counts
}

#[test]
fn rdfs_enters_states_in_any_order_as_defined() {
    for (seed, graph) in (81..).zip([SHORTCUTS, FUNNEL, RING]) {
        let expected = depth_first_orders(&graph);
        assert!(expected.len() > 50, "{} orders on {}", expected.len(), graph.name);
        let counts = count_sequences(&graph, seed, u32::MAX, |run| {
            dfs::search(run, dfs::Order::Random, dfs::Seen::Expanded)
        });
        Fit::new(&counts, &expected).assert_good(&format!("rdfs on {}", graph.name));
    }
}

#[test]
fn depth_first_search_in_turns_is_the_same_search() {
    let model =
        turnpike_builtin::build("philosophers", &[("n".into(), "4".into())]).expect("a built-in model");
    let trail = |order: dfs::Order, turn: u64| {
        let mut states = Vec::new();
        let search = |run: &mut Run<'_>| {
            let mut search = dfs::DepthFirst::new(run, order, dfs::Seen::Expanded);
            loop {
                run.cap_states(run.counters.states + turn);
                match search.advance(run) {
                    Err(crate::error::Halt::Stop(crate::limits::StopReason::MaxStates)) => {}
                    outcome => return outcome,
                }
            }
        };
        observe(&*model, (5, 3), u32::MAX, search, |trail| {
            states.extend(trail.map(|(depth, state)| (depth, state.to_vec())));
        });
        states
    };
    for order in [dfs::Order::Given, dfs::Order::Random] {
        let whole = trail(order, u64::MAX / 2);
        assert!(whole.len() > 100, "{} expansions", whole.len());
        for turn in [1, 2, 7, 64] {
            assert!(trail(order, turn) == whole, "turns of {turn} expansions");
        }
    }
}

#[test]
fn random_walks_draw_from_states_or_transitions_as_asked() {
    for (seed, over) in [(91, Over::States), (92, Over::Transitions)] {
        let search = |run: &mut Run<'_>| RandomWalk { over, ..Default::default() }.search(run);
        let counts = count_sequences(&FUNNEL, seed, 5, search);
        Fit::new(&counts, &walks(&FUNNEL, 4, over)).assert_good(&format!("a walk over {over:?}"));
        // Where transitions are parallel, one is not the other.
        let other = if over == Over::States { Over::Transitions } else { Over::States };
        Fit::new(&counts, &walks(&FUNNEL, 4, other)).assert_bad(&format!("a walk over {over:?}"));
    }
}
