//! Measures are useful as guides: a simple beam search finds the rare states of models.

use crate::common::{build, measure, violation};
use rustc_hash::FxHashSet;
use turnpike_model::{Explorer, Model, Successors};

/// Expands at most `width` new states of each level, those with the smallest `cost`. Returns the
/// number of steps to the first state that satisfies `wanted`, and the number of expanded states.
fn beam(
    model: &dyn Model,
    width: usize,
    cost: impl Fn(&mut dyn Explorer, &[u32]) -> f64,
    wanted: impl Fn(&mut dyn Explorer, &[u32]) -> bool,
) -> Option<(usize, usize)> {
    let mut explorer = model.explorer();
    let mut successors = Successors::new(model.info().width);
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut seen = FxHashSet::from_iter([initial.clone()]);
    let (mut level, mut expanded) = (vec![initial], 0);
    for steps in 0..10_000 {
        if level.iter().any(|state| wanted(&mut *explorer, state)) {
            return Some((steps, expanded));
        }
        let mut next: Vec<(f64, u64, Vec<u32>)> = Vec::new();
        for state in &level {
            explorer.successors(state, &mut successors).expect("successors");
            expanded += 1;
            for (_, target) in successors.iter() {
                if seen.insert(target.to_vec()) {
                    next.push((cost(&mut *explorer, target), explorer.content_hash(target), target.to_vec()));
                }
            }
        }
        next.sort_unstable_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).expect("finite costs"));
        level = next.into_iter().take(width).map(|(_, _, state)| state).collect();
    }
    None
}

#[test]
fn the_bakery_is_climbed_by_tickets() {
    let model = build("bakery", &[]);
    let ticket = model.info().measure("highest-ticket").expect("a measure");
    let found = beam(
        &*model,
        100,
        |explorer, state| -measure(explorer, state, ticket),
        |explorer, state| violation(explorer, state).is_some(),
    );
    let (steps, expanded) = found.expect("two in the critical section");
    assert!(steps < 800 && expanded < 100_000, "{steps} steps, {expanded} states");
}

#[test]
fn the_large_puzzle_is_solved_by_distances() {
    for guide in ["manhattan", "linear-conflict"] {
        for instance in 1..=5 {
            let model = build("sliding-puzzle", &[("width", 4), ("height", 4), ("instance", instance)]);
            let distance = model.info().measure(guide).expect("a measure");
            let found = beam(
                &*model,
                1000,
                |explorer, state| measure(explorer, state, distance),
                |explorer, state| measure(explorer, state, distance) == 0.0,
            );
            let (steps, expanded) = found.expect("a solution");
            assert!(steps < 80, "instance {instance}: {steps} steps, {expanded} states");
        }
    }
}

#[test]
fn philosophers_meet_in_the_deadlock() {
    for name in ["philosophers-either", "philosophers-parity"] {
        let model = build(name, &[]);
        let guide = model.info().measure("agreement").expect("a measure");
        let enabled = model.info().measure("enabled").expect("a measure");
        let found = beam(
            &*model,
            500,
            |explorer, state| -measure(explorer, state, guide),
            |explorer, state| measure(explorer, state, enabled) == 0.0,
        );
        let (steps, _) = found.expect("a deadlock");
        assert_eq!(steps, 34, "{name}: not on a shortest way");
    }
}
