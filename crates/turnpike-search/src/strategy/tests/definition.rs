//! Definition 5 by full enumeration: the probability of every sequence of level sets.

use std::collections::BTreeMap;

use super::graphs::Graph;

/// Q₀, Q₁, … as bit masks, up to the last one that is not empty.
pub(super) type Levels = Vec<u16>;

/// The probability of each highway simulation of this width, run to its end.
pub(super) fn highways(graph: &Graph, width: u32) -> BTreeMap<Levels, f64> {
    let mut all = BTreeMap::new();
    extend(graph, width, &mut vec![1], 1, 1.0, &mut all);
    all
}

fn extend(
    graph: &Graph,
    width: u32,
    levels: &mut Levels,
    visited: u16,
    probability: f64,
    all: &mut BTreeMap<Levels, f64>,
) {
    let eligible = graph.successors_of(levels[levels.len() - 1]) & !visited;
    if eligible == 0 {
        *all.entry(levels.clone()).or_default() += probability;
        return;
    }
    let draws: Vec<u16> = close_subsets(eligible, width).collect();
    for &draw in &draws {
        levels.push(draw);
        extend(graph, width, levels, visited | draw, probability / draws.len() as f64, all);
        levels.pop();
    }
}

/// The subsets that are `width`-close to a set (definition 4).
pub(super) fn close_subsets(set: u16, width: u32) -> impl Iterator<Item = u16> {
    let size = width.min(set.count_ones());
    let mut next = Some(set);
    // Subsets of a mask in descending order: subtract one, keep the mask's bits.
    std::iter::from_fn(move || {
        let subset = next?;
        next = (subset != 0).then(|| (subset - 1) & set);
        Some(subset)
    })
    .filter(move |subset| subset.count_ones() == size)
}

#[test]
fn close_subsets_are_those_of_the_right_size() {
    assert_eq!(close_subsets(0b1011, 2).collect::<Vec<_>>(), [0b1010, 0b1001, 0b0011]);
    assert_eq!(close_subsets(0b1011, 7).collect::<Vec<_>>(), [0b1011]);
    assert_eq!(close_subsets(0x3ff, 5).count(), 252);
}

#[test]
fn a_case_by_hand() {
    const GRAPH: Graph = Graph { name: "by hand", successors: &[&[1, 2], &[2, 3], &[3]] };
    let expected = [
        // 1, then 2, then 3; 1, then 3; 2, then 3.
        (vec![0b0001, 0b0010, 0b0100, 0b1000], 0.25),
        (vec![0b0001, 0b0010, 0b1000], 0.25),
        (vec![0b0001, 0b0100, 0b1000], 0.5),
    ];
    assert_eq!(highways(&GRAPH, 1), BTreeMap::from(expected));
}
