//! The diamond of width ten: which of the ten states of its widest level are reached (figure 2 of the highway paper).

use std::collections::BTreeMap;

use turnpike_model::Model;

use super::chi_square::Fit;
use super::definition::close_subsets;
use super::{Highway, assert_frequency, observe};
use crate::strategy::{RandomWalk, Search};
use crate::strategy::{highway, highway_ideal};

const N: u32 = 9;
const RUNS: u64 = 20_000;

fn diamond() -> Box<dyn Model> {
    turnpike_builtin::build("diamond", &[("n".to_owned(), N.to_string())]).expect("a built-in model")
}

/// The states of the widest level that a run expands, as a mask over `j`.
fn widest(trail: &mut dyn Iterator<Item = (u32, &[u32])>) -> u16 {
    trail.filter(|&(depth, _)| depth == N).fold(0, |set, (_, state)| {
        assert_eq!(state[0] + state[1], N);
        set | 1 << state[1]
    })
}

#[test]
fn random_walks_reach_the_widest_level_binomially() {
    let mut counts = BTreeMap::new();
    let search = |run: &mut crate::run::Run<'_>| RandomWalk::default().search(run);
    // The walk ends before it leaves the widest level, where it may also go round in circles.
    observe(&*diamond(), (1, 100_000), N + 1, search, |trail| {
        *counts.entry(widest(trail).trailing_zeros()).or_default() += 1;
    });
    let mut binomial = BTreeMap::new();
    let mut paths = 1;
    for j in 0..=N {
        binomial.insert(j, f64::from(paths) / f64::from(1 << N));
        paths = paths * (N - j) / (j + 1);
    }
    Fit::new(&counts, &binomial).assert_good("random walks on the diamond");
}

/// The distribution of Q₉ by definition 5, level by level: below the widest level nothing is met again, so Q_{d+1}
/// depends on Q_d alone. State `j` of a level leads to `j` and `j + 1` of the next.
fn widest_levels(width: u32) -> BTreeMap<u16, f64> {
    let mut levels = BTreeMap::from([(1u16, 1.0)]);
    for _ in 0..N {
        let mut next = BTreeMap::new();
        for (level, probability) in levels {
            let draws: Vec<u16> = close_subsets(level | level << 1, width).collect();
            for &draw in &draws {
                *next.entry(draw).or_default() += probability / draws.len() as f64;
            }
        }
        levels = next;
    }
    levels
}

fn check(name: &str, seed: u64, search: Highway) {
    for width in [2, 4, 6, 8, 10] {
        let what = format!("{name} of width {width} on the diamond");
        let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
        let search = |run: &mut crate::run::Run<'_>| search(run, u64::from(width));
        observe(&*diamond(), (seed, RUNS), N + 1, search, |trail| {
            *counts.entry(widest(trail)).or_default() += 1;
        });
        let expected = widest_levels(width);
        if width == 10 {
            assert_eq!(counts, BTreeMap::from([(0x3ff, RUNS)]), "{what}: all states, always");
            continue;
        }
        Fit::new(&counts, &expected).assert_good(&what);
        for state in 0..=N {
            let hits = |set: &u16| set >> state & 1 == 1;
            let count = counts.iter().filter(|(set, _)| hits(set)).map(|(_, count)| count).sum();
            let probability = expected.iter().filter(|(set, _)| hits(set)).map(|(_, p)| p).sum();
            assert_frequency(&format!("{what}: state {state}"), count, RUNS, probability);
        }
    }
}

#[test]
fn highway_ideal_reaches_the_widest_level_as_defined() {
    check("highway-ideal", 2, highway_ideal::search);
}

#[test]
fn highway_reaches_the_widest_level_as_defined() {
    check("highway", 3, highway::search);
}

#[test]
fn the_exact_probabilities_are_plausible() {
    // Width 1 is a walk: the binomial distribution again. Full width is everything.
    let walk = widest_levels(1);
    assert!((walk[&1] - 0.5f64.powi(9)).abs() < 1e-15 && (walk[&0b10000] - 126.0 / 512.0).abs() < 1e-15);
    assert_eq!(widest_levels(10), BTreeMap::from([(0x3ff, 1.0)]));
    // Symmetric: mirrored sets are equally likely.
    let four = widest_levels(4);
    for (set, probability) in &four {
        let mirrored = set.reverse_bits() >> 6;
        assert!((four[&mirrored] - probability).abs() < 1e-12);
    }
}
