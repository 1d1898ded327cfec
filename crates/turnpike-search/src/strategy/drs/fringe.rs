//! The fringe: a set of nodes with uniform draw, insertion and removal in constant time.
//!
//! Members lie in an unordered vector, and every node knows its index in it. Removal moves the last
//! member into the gap. The set costs four bytes for each node ever seen, plus the payload of each
//! member.

use crate::rng::Rng;

/// A node that is not in the set.
const ABSENT: u32 = u32::MAX;

/// A set of node ids, each with a payload `T` while it is in the set.
#[derive(Debug, Default)]
pub(super) struct OpenSet<T> {
    members: Vec<(u32, T)>,
    /// For each node, its index in `members`; grows as nodes are inserted.
    places: Vec<u32>,
}

impl<T> OpenSet<T> {
    pub(super) fn new() -> Self {
        OpenSet { members: Vec::new(), places: Vec::new() }
    }

    /// Adds a node; one that is there already gets the new payload.
    pub(super) fn insert(&mut self, node: u32, payload: T) {
        if let Some(place) = self.place(node) {
            self.members[place].1 = payload;
            return;
        }
        if self.places.len() <= node as usize {
            self.places.resize(node as usize + 1, ABSENT);
        }
        self.places[node as usize] = self.members.len() as u32;
        self.members.push((node, payload));
    }

    /// Takes a node out, if it is there.
    pub(super) fn remove(&mut self, node: u32) -> Option<T> {
        let place = self.place(node)?;
        let (_, payload) = self.members.swap_remove(place);
        self.places[node as usize] = ABSENT;
        if let Some(&(moved, _)) = self.members.get(place) {
            self.places[moved as usize] = place as u32;
        }
        Some(payload)
    }

    /// A member, all equally likely; it stays in the set.
    pub(super) fn pick(&self, rng: &mut Rng) -> Option<u32> {
        let index = (!self.members.is_empty()).then(|| rng.index(self.members.len()))?;
        Some(self.members[index].0)
    }

    /// So many distinct members, or all of them, in random order and all orders equally likely; they stay
    /// in the set.
    pub(super) fn sample(&mut self, count: usize, rng: &mut Rng) -> Vec<u32> {
        let count = count.min(self.members.len());
        for place in 0..count {
            let other = place + rng.index(self.members.len() - place);
            self.members.swap(place, other);
            for moved in [place, other] {
                self.places[self.members[moved].0 as usize] = moved as u32;
            }
        }
        self.members[..count].iter().map(|member| member.0).collect()
    }

    /// The payload of a member.
    pub(super) fn get(&self, node: u32) -> Option<&T> {
        self.place(node).map(|place| &self.members[place].1)
    }

    /// Empties the set and forgets the nodes, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.members.clear();
        self.places.clear();
    }

    fn place(&self, node: u32) -> Option<usize> {
        self.places.get(node as usize).filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::OpenSet;
    use crate::rng::Rng;

    #[test]
    fn behaves_like_a_map() {
        let mut rng = Rng::new(3);
        let (mut set, mut expected) = (OpenSet::new(), BTreeMap::new());
        for step in 0..20_000u32 {
            let node = rng.index(50) as u32;
            if rng.chance(1, 2) {
                set.insert(node, step);
                expected.insert(node, step);
            } else {
                assert_eq!(set.remove(node), expected.remove(&node));
            }
            let sample = set.sample(3, &mut rng);
            assert_eq!(sample.len(), expected.len().min(3));
            assert!(sample.iter().all(|node| set.get(*node) == expected.get(node)));
            assert!((1..sample.len()).all(|at| !sample[..at].contains(&sample[at])));
            match set.pick(&mut rng) {
                Some(node) => assert!(expected.contains_key(&node)),
                None => assert!(expected.is_empty()),
            }
        }
        set.clear();
        assert_eq!((set.pick(&mut rng), set.remove(0)), (None, None));
    }

    #[test]
    fn samples_are_uniform() {
        // Ordered pairs of five members: chi-square with 19 degrees of freedom; 43.8 is exceeded by chance
        // once in a thousand seeds.
        let mut rng = Rng::new(12);
        let mut set = OpenSet::new();
        (0..5).for_each(|node| set.insert(node, ()));
        let mut counts = BTreeMap::new();
        for _ in 0..20_000 {
            *counts.entry(set.sample(2, &mut rng)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 20);
        let chi: f64 = counts.values().map(|&count| (f64::from(count) - 1_000.0).powi(2) / 1_000.0).sum();
        assert!(chi < 43.8, "chi-square {chi}");
    }

    #[test]
    fn picks_are_uniform() {
        // Chi-square with 9 degrees of freedom; 27.9 is exceeded by chance once in a thousand seeds.
        let mut rng = Rng::new(11);
        let mut set = OpenSet::new();
        (0..20).for_each(|node| set.insert(node, ()));
        (0..20).step_by(2).for_each(|node| set.remove(node).expect("a member"));
        let mut counts = [0u32; 20];
        for _ in 0..50_000 {
            counts[set.pick(&mut rng).expect("not empty") as usize] += 1;
        }
        let chi: f64 = (1..20).step_by(2).map(|n| (f64::from(counts[n]) - 5_000.0).powi(2) / 5_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}");
        assert!((0..20).step_by(2).all(|node| counts[node] == 0));
    }
}
