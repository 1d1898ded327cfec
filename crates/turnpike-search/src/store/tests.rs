//! The stores against a plain map, on random vectors with many repetitions and many shared parts.

use rustc_hash::FxHashMap;
use turnpike_model::{LabelId, Successors};

use super::{ExactStore, TreeStore};
use crate::rng::Rng;

/// Miri executes a thousand times slower, so it gets fewer vectors.
const SHRINK: usize = if cfg!(miri) { 20 } else { 1 };

/// A vector over a small alphabet, so that vectors and their halves repeat; now and then an extreme word.
fn vector(rng: &mut Rng, width: usize, letters: u64) -> Vec<u32> {
    (0..width)
        .map(|_| if rng.chance(1, 50) { u32::MAX - rng.below(2) as u32 } else { rng.below(letters) as u32 })
        .collect()
}

/// Inserts random vectors everywhere, and compares everything that can be asked.
fn compare(seed: u64, width: usize, letters: u64, count: usize) {
    let mut rng = Rng::new(seed);
    let (mut exact, mut tree) = (ExactStore::new(width), TreeStore::new(width));
    let mut oracle: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut in_order = Vec::new();
    for _ in 0..count {
        let state = vector(&mut rng, width, letters);
        let known = oracle.get(&state).copied();
        assert_eq!((exact.find(&state), tree.find(&state)), (known, known), "{state:?} before");
        let expected = (known.unwrap_or(in_order.len() as u32), known.is_none());
        assert_eq!(exact.insert(&state), expected, "{state:?} in the exact store");
        assert_eq!(tree.insert(&state), expected, "{state:?} in the tree store");
        if known.is_none() {
            oracle.insert(state.clone(), expected.0);
            in_order.push(state.clone());
        }
        assert_eq!((exact.find(&state), tree.find(&state)), (Some(expected.0), Some(expected.0)));
        let absent = vector(&mut rng, width, letters + 1);
        let known = oracle.get(&absent).copied();
        assert_eq!((exact.find(&absent), tree.find(&absent)), (known, known), "{absent:?}");
    }
    assert_eq!((exact.len(), tree.len()), (in_order.len(), in_order.len()));
    let mut loaded = vec![7; 3];
    for (id, state) in (0..).zip(&in_order) {
        assert_eq!(exact.get(id), state.as_slice());
        tree.load(id, &mut loaded);
        assert_eq!(&loaded, state);
    }
}

#[test]
fn many_at_once_are_the_same_as_one_by_one() {
    for width in 0..=6 {
        for (seed, letters) in (0..).zip([1, 3, 10, 40]) {
            let mut rng = Rng::new(100 * width as u64 + seed);
            let (mut together, mut single) = (ExactStore::new(width), ExactStore::new(width));
            let mut ids = Vec::new();
            for count in [0, 1, 0, 300, 2, 127, 128, 129, 1000].map(|count| count / SHRINK) {
                let mut successors = Successors::new(width);
                for _ in 0..count {
                    successors.push(LabelId(0), &vector(&mut rng, width, letters));
                }
                together.insert_all(successors.words(), successors.len(), &mut ids);
                let expected: Vec<u32> = successors.iter().map(|(_, state)| single.insert(state).0).collect();
                assert_eq!(ids, expected);
            }
            assert_eq!(together.len(), single.len());
        }
    }
}

#[test]
fn stores_agree_with_a_map_at_every_width() {
    for width in 0..=9 {
        for (seed, letters) in (0..).zip([1, 2, 3, 10, 1000]) {
            compare(100 * width as u64 + seed, width, letters, 400 / SHRINK);
        }
    }
}

#[test]
fn stores_agree_with_a_map_beyond_one_chunk() {
    for width in [1, 2, 3, 5, 8] {
        // Too few to go beyond one chunk under Miri; without it, they do.
        compare(width as u64, width, 1 << 20, 40_000 / SHRINK / SHRINK);
    }
}
