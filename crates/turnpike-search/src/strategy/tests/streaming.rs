//! The streaming selection against a plain one, state for state: all eligible successors, sorted, the first N.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use turnpike_model::{Model, Successors};

use super::observe;
use crate::options::SearchOptions;
use crate::rng::run_seed;
use crate::run::{Control, Run};
use crate::strategy::{Bfs, highway};

/// The expanded states of a highway search, with their depths, and how many it met, by a program that keeps everything.
fn plain(model: &dyn Model, seed: u64, width: usize) -> (Vec<(u32, Vec<u32>)>, u64) {
    let mut explorer = model.explorer();
    let (mut state, mut successors) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut state).expect("an initial state");
    let mut visited = HashSet::from([state.clone()]);
    let mut met = visited.clone();
    let (mut level, mut depth, mut trail) = (vec![state], 0, Vec::new());
    while !level.is_empty() {
        let mut eligible = HashSet::new();
        for state in &level {
            trail.push((depth, state.clone()));
            explorer.successors(state, &mut successors).expect("a step");
            eligible.extend(successors.iter().map(|(_, target)| target.to_vec()));
        }
        met.extend(eligible.iter().cloned());
        let mut next: Vec<Vec<u32>> = eligible.difference(&visited).cloned().collect();
        next.sort_by_cached_key(|state| {
            (highway::CHANCE.draw)(highway::level_key(seed, depth), explorer.content_hash(state))
        });
        next.truncate(width);
        visited.extend(next.iter().cloned());
        (level, depth) = (next, depth + 1);
    }
    (trail, met.len() as u64)
}

#[test]
fn the_stream_counts_what_a_set_would() {
    let interrupt = AtomicBool::new(false);
    for (name, n) in [("philosophers", 6), ("diamond", 30), ("philosophers", 7), ("two-phase-commit", 3)] {
        let model = turnpike_builtin::build(name, &[("n".to_owned(), n.to_string())]).expect("a model");
        for width in [1, 2, 3, 7, 20, 64, 250, 1000, 100_000] {
            let options = SearchOptions::new(Bfs::default());
            let control = Control { events: &|_| {}, interrupt: &interrupt };
            let mut run = Run::new(&*model, &options, &[], 0, 5, control).expect("a run begins");
            assert!(highway::search(&mut run, width).is_ok());
            let (expanded, met) = plain(&*model, 5, width as usize);
            assert_eq!(run.counters.states, expanded.len() as u64, "{name} {n}, width {width}");
            assert_eq!(run.counters.considered, Some(met), "{name} {n}, width {width}");
        }
    }
}

#[test]
fn the_stream_keeps_what_sorting_would() {
    for (name, n) in [("philosophers", 6), ("diamond", 30), ("philosophers", 7)] {
        let model = turnpike_builtin::build(name, &[("n".to_owned(), n.to_string())]).expect("a model");
        for width in [1, 2, 3, 7, 20, 64, 250, 100_000] {
            let mut number = 0;
            observe(
                &*model,
                (6, 4),
                u32::MAX,
                |run| highway::search(run, width),
                |trail| {
                    let expanded: Vec<_> = trail.map(|(depth, state)| (depth, state.to_vec())).collect();
                    let (expected, _) = plain(&*model, run_seed(6, number), width as usize);
                    assert!(expanded == expected, "run {number} of width {width} on {name} {n} differs");
                    number += 1;
                },
            );
        }
    }
}
