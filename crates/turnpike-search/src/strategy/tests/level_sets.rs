//! Whole sequences of level sets against definition 5: not only how often a state is drawn, but together with what.

use std::collections::BTreeMap;

use super::chi_square::Fit;
use super::definition::{Levels, highways};
use super::graphs::{FUNNEL, Graph, RING, SHORTCUTS};
use super::{Highway, observe};
use crate::strategy::{highway, highway_ideal};

pub(super) const RUNS: u64 = 20_000;

/// How often each sequence of level sets comes up.
pub(super) fn count_levels(
    graph: &Graph,
    width: u32,
    (seed, runs): (u64, u64),
    search: Highway,
) -> BTreeMap<Levels, u64> {
    let model = graph.model();
    let mut counts = BTreeMap::new();
    let search = |run: &mut crate::run::Run<'_>| search(run, u64::from(width));
    observe(&model, (seed, runs), u32::MAX, search, |trail| {
        let mut levels = Levels::new();
        for (depth, state) in trail {
            if levels.len() <= depth as usize {
                levels.push(0);
            }
            let level = &mut levels[depth as usize];
            assert_eq!(*level >> state[0] & 1, 0, "a state comes twice in a level");
            *level |= 1 << state[0];
        }
        *counts.entry(levels).or_default() += 1;
    });
    counts
}

/// How well a strategy fits definition 5.
pub(super) fn fit(graph: &Graph, width: u32, seed: u64, search: Highway) -> Fit {
    Fit::new(&count_levels(graph, width, (seed, RUNS), search), &highways(graph, width))
}

/// The systems on which states passed over come back, by width.
pub(super) const CASES: [(Graph, u32); 9] = [
    (SHORTCUTS, 1),
    (SHORTCUTS, 2),
    (SHORTCUTS, 3),
    (FUNNEL, 1),
    (FUNNEL, 2),
    (FUNNEL, 3),
    (RING, 1),
    (RING, 2),
    (RING, 3),
];

fn check(name: &str, seed: u64, search: Highway) {
    for (graph, width) in CASES {
        fit(&graph, width, seed, search).assert_good(&format!("{name} of width {width} on {}", graph.name));
    }
}

#[test]
fn highway_ideal_draws_whole_levels_as_defined() {
    check("highway-ideal", 11, highway_ideal::search);
}

#[test]
fn highway_draws_whole_levels_as_defined() {
    check("highway", 12, highway::search);
}

#[test]
fn no_level_set_is_out_of_reach_or_alone() {
    // The tests above are worth something only where there is a choice, again and again.
    for (graph, width) in CASES {
        let outcomes = highways(&graph, width);
        assert!(outcomes.len() >= 10, "{} sequences of width {width} on {}", outcomes.len(), graph.name);
        let visited_late = outcomes.keys().any(|levels| {
            // A state that was eligible for an earlier level, and came back.
            (2..levels.len())
                .any(|at| graph.successors_of(levels[at - 2]) & !levels[at - 1] & levels[at] != 0)
        });
        assert!(visited_late, "nothing passed over comes back on {} at width {width}", graph.name);
    }
}
