//! Three plausible mistakes in streaming highway search, each rejected by the tests that the real one passes.

use std::collections::HashSet;

use turnpike_model::hash;

use super::Highway;
use super::graphs::{FUNNEL, Graph, SHARED};
use super::level_sets::{CASES, fit};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::strategy::highway::{self, Chance};
use crate::witness::Path;

const SEED: u64 = 71;

/// The mutant fails on each of these systems and widths.
fn reject(what: &str, mutant: Highway, cases: &[(Graph, u32)]) {
    for &(graph, width) in cases {
        fit(&graph, width, SEED, mutant).assert_bad(&format!("{what}, width {width} on {}", graph.name));
    }
}

#[test]
fn the_real_one_passes_with_the_same_seed() {
    for (graph, width) in CASES.into_iter().chain([(SHARED, 4)]) {
        let search: Highway = |run, width| highway::search_with(run, width, highway::CHANCE);
        fit(&graph, width, SEED, search).assert_good(&format!("width {width} on {}", graph.name));
    }
}

/// H without the level: a state passed over has no fresh chance when it comes back.
const WITHOUT_LEVEL: Chance = Chance { key: |seed, _| highway::level_key(seed, 0), ..highway::CHANCE };

/// H that does not mix: the order of the hashes shows through the mask.
const MASKED: Chance = Chance {
    key: |seed, depth| hash::mix(seed, u64::from(depth)),
    draw: |mask, content_hash| content_hash ^ mask,
};

/// The same with addition: neighbours stay neighbours.
const SHIFTED: Chance = Chance { draw: |mask, content_hash| content_hash.wrapping_add(mask), ..MASKED };

/// Selection before deduplication: every arrival is drawn for by itself, so that a state met again has another ticket,
/// and two tickets of one state count as two of the N.
fn by_arrival(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    let (mut visited, mut level) = (HashSet::from([initial.clone()]), vec![initial]);
    let (mut depth, mut arrivals, mut successors) = (0, 0, run.buffer());
    while !level.is_empty() {
        let key = highway::level_key(run.seed, depth);
        let mut tickets = Vec::new();
        for state in &level {
            run.expand(state, depth, &mut successors, &|| Path::Choices(Vec::new()))?;
            for (_, target) in successors.iter().filter(|(_, target)| !visited.contains(*target)) {
                tickets.push((hash::mix(key, arrivals), target.to_vec()));
                arrivals += 1;
            }
        }
        tickets.sort_unstable();
        tickets.truncate(width as usize);
        level = tickets
            .into_iter()
            .map(|(_, state)| state)
            .filter(|state| visited.insert(state.clone()))
            .collect();
        depth += 1;
    }
    Ok(StopReason::Finished)
}

#[test]
fn a_hash_without_the_level_is_rejected() {
    let mutant: Highway = |run, width| highway::search_with(run, width, WITHOUT_LEVEL);
    // All but the last case, where one draw is all there is: the second level has room for the rest.
    reject("the level left out", mutant, &CASES[..8]);
}

#[test]
fn a_masked_hash_is_rejected() {
    reject("a xor mask", |run, width| highway::search_with(run, width, MASKED), &CASES);
    reject("an added mask", |run, width| highway::search_with(run, width, SHIFTED), &CASES);
}

#[test]
fn selection_before_deduplication_is_rejected() {
    reject("duplicates drawn for afresh", by_arrival, &[(FUNNEL, 1), (FUNNEL, 2), (FUNNEL, 3), (SHARED, 4)]);
}
