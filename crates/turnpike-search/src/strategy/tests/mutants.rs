//! Three plausible mistakes in streaming highway search, each rejected by the tests that the real one passes.

use std::cell::Cell;

use turnpike_model::hash;

use super::Highway;
use super::graphs::{FUNNEL, Graph, SHARED};
use super::level_sets::{CASES, fit};
use crate::rng::{Purpose, derive};
use crate::strategy::highway;

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
        let search: Highway = |run, width| highway::search_with(run, width, highway::chance);
        fit(&graph, width, SEED, search).assert_good(&format!("width {width} on {}", graph.name));
    }
}

/// H without the level: a state passed over has no fresh chance when it comes back.
fn without_level(seed: u64, _depth: u32, content_hash: u64) -> u64 {
    hash::mix(derive(seed, Purpose::Level, 0), content_hash)
}

/// H that does not mix: the order of the hashes shows through the mask.
fn masked(seed: u64, depth: u32, content_hash: u64) -> u64 {
    content_hash ^ hash::mix(seed, u64::from(depth))
}

/// The same with addition: neighbours stay neighbours.
fn shifted(seed: u64, depth: u32, content_hash: u64) -> u64 {
    content_hash.wrapping_add(hash::mix(seed, u64::from(depth)))
}

/// Selection before deduplication: every arrival is drawn for by itself, so that a state met again has another ticket,
/// and two tickets of one state count as two of the N.
fn by_arrival(seed: u64, depth: u32, content_hash: u64) -> u64 {
    thread_local!(static ARRIVALS: Cell<u64> = const { Cell::new(0) });
    let arrival = ARRIVALS.get();
    ARRIVALS.set(arrival + 1);
    hash::mix(highway::chance(seed, depth, content_hash), arrival)
}

#[test]
fn a_hash_without_the_level_is_rejected() {
    let mutant: Highway = |run, width| highway::search_with(run, width, without_level);
    // All but the last case, where one draw is all there is: the second level has room for the rest.
    reject("the level left out", mutant, &CASES[..8]);
}

#[test]
fn a_masked_hash_is_rejected() {
    reject("a xor mask", |run, width| highway::search_with(run, width, masked), &CASES);
    reject("an added mask", |run, width| highway::search_with(run, width, shifted), &CASES);
}

#[test]
fn selection_before_deduplication_is_rejected() {
    let mutant: Highway = |run, width| highway::search_with(run, width, by_arrival);
    reject("duplicates drawn for afresh", mutant, &[(FUNNEL, 1), (FUNNEL, 2), (FUNNEL, 3), (SHARED, 4)]);
}
