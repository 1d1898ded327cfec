//! Algorithm 1 with its known bias: theorem 7, property 8 and its interval (3), property 9; and who is free of it.

use std::collections::{BTreeMap, BTreeSet};

use super::chi_square::Fit;
use super::definition::highways;
use super::graphs::{SHARED, TREE};
use super::level_sets::{RUNS, count_levels, fit};
use super::{Highway, assert_frequency, deviations};
use crate::rng::Rng;
use crate::strategy::highway_approx::{self, Reservoir};
use crate::strategy::{highway, highway_ideal};

/// Lines 3 to 13 by full enumeration: the probability of each selection after these states were offered in turn.
fn selections(width: u32, offers: &[u32]) -> BTreeMap<u16, f64> {
    let mut now: BTreeMap<(u16, u32), f64> = BTreeMap::from([((0, 0), 1.0)]);
    for &offer in offers {
        let mut next = BTreeMap::new();
        let mut add = |selection: u16, considered: u32, probability: f64| {
            *next.entry((selection, considered)).or_default() += probability;
        };
        for ((selection, considered), probability) in now {
            if selection >> offer & 1 == 1 {
                add(selection, considered, probability);
            } else if considered < width {
                add(selection | 1 << offer, considered + 1, probability);
            } else {
                let considered = considered + 1;
                let enters = f64::from(width) / f64::from(considered);
                add(selection, considered, probability * (1.0 - enters));
                for member in (0..16).filter(|member| selection >> member & 1 == 1) {
                    let replaced = selection & !(1 << member) | 1 << offer;
                    add(replaced, considered, probability * enters / f64::from(width));
                }
            }
        }
        now = next;
    }
    let mut selections = BTreeMap::new();
    for ((selection, _), probability) in now {
        *selections.entry(selection).or_default() += probability;
    }
    selections
}

fn chance_of(state: u32, selections: &BTreeMap<u16, f64>) -> f64 {
    selections.iter().filter(|(set, _)| *set >> state & 1 == 1).map(|(_, probability)| probability).sum()
}

/// The selection that the strategy's own reservoir ends with.
fn draw(rng: &mut Rng, width: u32, offers: &[u32]) -> u16 {
    let mut reservoir = Reservoir::new(u64::from(width));
    for &offer in offers {
        reservoir.consider(rng, &[offer], 0, 0);
    }
    (0..16).filter(|&state| reservoir.contains(&[state])).fold(0, |set, state| set | 1 << state)
}

fn count_draws(seed: u64, draws: u64, width: u32, offers: &[u32]) -> BTreeMap<u16, u64> {
    let mut rng = Rng::new(seed);
    let mut counts = BTreeMap::new();
    for _ in 0..draws {
        *counts.entry(draw(&mut rng, width, offers)).or_default() += 1;
    }
    counts
}

/// Property 8: the chance that a state offered `times` in a row, after `considered` others, is selected.
fn property_8(width: u32, considered: u32, times: u32) -> f64 {
    // 1 - c! (c+K-N)! / ((c+K)! (c-N)!), whose factorials cancel to N factors each.
    let kept_out =
        (0..width).map(|i| f64::from(considered - i) / f64::from(considered + times - i)).product::<f64>();
    1.0 - kept_out
}

/// `considered` states offered once each, then another one `times` times. That one is the number `considered`.
fn in_a_row(considered: u32, times: u32) -> Vec<u32> {
    (0..considered).chain(std::iter::repeat_n(considered, times as usize)).collect()
}

#[test]
fn on_trees_the_approximation_is_exact() {
    // Theorem 7, and more: all selections of a level are equally likely, level after level.
    for width in 1..=4 {
        fit(&TREE, width, 21, highway_approx::search).assert_good(&format!("highway-approx, width {width}"));
    }
    // Its second case, in its own words: three lanes, six eligible successors, each with probability N/|C|.
    let counts = count_levels(&TREE, 3, (22, RUNS), highway_approx::search);
    for state in 4..=9 {
        let count = counts.iter().filter(|(levels, _)| levels[2] >> state & 1 == 1).map(|(_, n)| n).sum();
        assert_frequency(&format!("state {state} of the tree"), count, RUNS, 3.0 / 6.0);
    }
}

#[test]
fn repeated_offers_follow_the_closed_formula() {
    for width in 1..=4 {
        for considered in width..=8 {
            for times in 1..=6 {
                let exact = chance_of(considered, &selections(width, &in_a_row(considered, times)));
                let formula = property_8(width, considered, times);
                assert!((exact - formula).abs() < 1e-12, "N={width} c={considered} K={times}");
            }
        }
    }
    // The paper's own example: width 1 gives K/(c+K), not 1/(c+1).
    assert!((property_8(1, 5, 3) - 3.0 / 8.0).abs() < 1e-15);
}

#[test]
fn the_reservoir_follows_the_closed_formula() {
    for (seed, (width, considered, times)) in
        [(1, 5, 3), (1, 1, 1), (2, 6, 4), (3, 3, 2), (4, 9, 7), (5, 12, 1)].into_iter().enumerate()
    {
        let what = format!("N={width} c={considered} K={times}");
        let offers = in_a_row(considered, times);
        let counts = count_draws(30 + seed as u64, RUNS, width, &offers);
        Fit::new(&counts, &selections(width, &offers)).assert_good(&what);
        let count = counts.iter().filter(|(set, _)| *set >> considered & 1 == 1).map(|(_, n)| n).sum();
        assert_frequency(&what, count, RUNS, property_8(width, considered, times));
    }
}

#[test]
fn mixed_sequences_stay_within_the_interval() {
    // State 0 occurs K times among M offers of U different states; the other states' numbers of occurrences vary.
    for (width, occurrences) in [
        (1, &[2, 1, 1][..]),
        (1, &[3, 2, 1]),
        (2, &[3, 1, 1]),
        (2, &[3, 1, 2, 1]),
        (2, &[2, 2, 2, 1]),
        (3, &[2, 1, 1, 1, 1]),
        (3, &[1, 2, 1, 1, 1]),
    ] {
        let times = occurrences[0];
        let (total, unique) = (occurrences.iter().sum::<u32>(), occurrences.len() as u32);
        let (low, high) = (f64::from(width) / f64::from(total), property_8(width, unique - 1, times));
        let mut largest = 0.0f64;
        for offers in arrangements(occurrences) {
            let chance = chance_of(0, &selections(width, &offers));
            assert!(low - 1e-12 <= chance && chance <= high + 1e-12, "N={width} {offers:?}: {chance}");
            largest = largest.max(chance);
        }
        // The upper end is reached when the others occur once each.
        if total - times == unique - 1 {
            assert!((largest - high).abs() < 1e-12, "N={width} {occurrences:?}: {largest} of {high}");
        }
    }
    // And the reservoir itself, on a mixed sequence.
    let offers = [0, 1, 2, 0, 3, 1, 4, 0, 5, 2, 0];
    Fit::new(&count_draws(41, RUNS, 3, &offers), &selections(3, &offers)).assert_good("a mixed sequence");
}

/// All orders of a multiset: state i occurs `occurrences[i]` times.
fn arrangements(occurrences: &[u32]) -> BTreeSet<Vec<u32>> {
    let mut all = BTreeSet::from([Vec::new()]);
    for _ in 0..occurrences.iter().sum() {
        let mut longer = BTreeSet::new();
        for start in &all {
            for (state, &most) in (0..).zip(occurrences) {
                if start.iter().filter(|&&other| other == state).count() < most as usize {
                    longer.insert(start.iter().copied().chain([state]).collect());
                }
            }
        }
        all = longer;
    }
    all
}

#[test]
fn equally_frequent_states_in_random_order_are_equally_likely() {
    // Property 9, exactly: over all orders of three states twice each, the chance is N/U.
    for width in 1..=2 {
        let orders = arrangements(&[2, 2, 2]);
        assert_eq!(orders.len(), 90);
        let mean = orders.iter().map(|offers| chance_of(1, &selections(width, offers))).sum::<f64>() / 90.0;
        assert!((mean - f64::from(width) / 3.0).abs() < 1e-12);
    }
    // And drawn: six states three times each, in random order.
    let mut rng = Rng::new(51);
    let mut offers: Vec<u32> = (0..6).flat_map(|state| [state; 3]).collect();
    let mut counts = [0; 6];
    for _ in 0..RUNS {
        rng.shuffle(&mut offers);
        let selection = draw(&mut rng, 2, &offers);
        for (state, count) in counts.iter_mut().enumerate() {
            *count += u64::from(selection >> state & 1);
        }
    }
    for (state, count) in counts.into_iter().enumerate() {
        assert_frequency(&format!("state {state}"), count, RUNS, 2.0 / 6.0);
    }
}

/// How often the shared successor is in the second level.
fn shared_is_drawn(seed: u64, search: Highway) -> u64 {
    let counts = count_levels(&SHARED, 4, (seed, RUNS), search);
    counts.iter().filter(|(levels, _)| levels[2] >> 5 & 1 == 1).map(|(_, count)| count).sum()
}

#[test]
fn only_the_approximation_favours_shared_successors() {
    // All four lanes are taken, in order; the second level has nine candidates, so four of nine is fair.
    let fair = 4.0 / 9.0;
    let offers = [5, 6, 7, 8, 5, 9, 10, 11, 5, 12, 13, 5];
    let favoured = selections(4, &offers);
    let biased = chance_of(5, &favoured);
    assert!(biased > fair + 0.2, "the exact chance under algorithm 1 is {biased}");

    let counts = count_levels(&SHARED, 4, (61, RUNS), highway_approx::search);
    let mut second = BTreeMap::new();
    for (levels, count) in &counts {
        *second.entry(levels[2]).or_default() += count;
    }
    Fit::new(&second, &favoured).assert_good("highway-approx against algorithm 1");
    Fit::new(&counts, &highways(&SHARED, 4)).assert_bad("highway-approx against definition 5");

    for (name, seed, search) in
        [("highway", 62, highway::search as Highway), ("highway-ideal", 63, highway_ideal::search)]
    {
        fit(&SHARED, 4, seed, search).assert_good(name);
        let count = shared_is_drawn(seed, search);
        assert_frequency(name, count, RUNS, fair);
        assert!(deviations(count, RUNS, biased) < -40.0, "{name} has the bias: {count} of {RUNS}");
    }
}
