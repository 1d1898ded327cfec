//! Finds the summands that a state may enable, in a decision tree over the locations of its
//! components.
//!
//! A node fixes the locations of some parameters. It holds the items that need no further location,
//! and for each parameter to test next a table from locations to nodes.

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;

/// Sets of tests, looked up by the locations of a state.
#[derive(Debug)]
pub(crate) struct Index {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Items without further tests.
    items: Vec<u32>,
    /// The words to test next, each with the node for each of its locations.
    branches: Vec<(u32, Vec<u32>)>,
}

impl Index {
    /// Builds the tree for items, each given by its tests: words (increasing) and the locations
    /// they must hold.
    pub(crate) fn new<'a>(items: impl IntoIterator<Item = &'a [(u32, u32)]>) -> Self {
        let mut index = Index { nodes: vec![Node::default()] };
        for (item, tests) in items.into_iter().enumerate() {
            let mut node = 0;
            for &(word, location) in tests {
                node = index.child(node, word, location);
            }
            index.nodes[node].items.push(item as u32);
        }
        for node in &mut index.nodes {
            node.branches.sort_by_key(|&(word, _)| word);
        }
        index
    }

    fn child(&mut self, node: usize, word: u32, location: u32) -> usize {
        let next = self.nodes.len();
        let branches = &mut self.nodes[node].branches;
        let branch = branches.iter().position(|&(tested, _)| tested == word).unwrap_or_else(|| {
            branches.push((word, Vec::new()));
            branches.len() - 1
        });
        let table = &mut branches[branch].1;
        if table.len() <= location as usize {
            table.resize(location as usize + 1, NONE);
        }
        if table[location as usize] == NONE {
            table[location as usize] = next as u32;
            self.nodes.push(Node::default());
            return next;
        }
        table[location as usize] as usize
    }

    /// Appends all items whose tests hold. The order depends on the locations only. `location`
    /// gives the location that a word holds.
    #[inline]
    pub(crate) fn collect(&self, location: impl Fn(u32) -> u32, found: &mut Vec<u32>) {
        self.walk(&self.nodes[0], &location, found);
    }

    /// The recursion is as deep as an item has tests.
    fn walk(&self, node: &Node, location: &impl Fn(u32) -> u32, found: &mut Vec<u32>) {
        found.extend_from_slice(&node.items);
        for (word, table) in &node.branches {
            if let Some(&next) = table.get(location(*word) as usize)
                && next != NONE
            {
                self.walk(&self.nodes[next as usize], location, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The tree finds exactly the items that testing each one finds.
        #[test]
        fn finds_what_a_scan_finds(
            items in proptest::collection::vec(
                proptest::collection::btree_map(0u32..5, 0u32..4, 0..4), 0..30),
            state in proptest::collection::vec(0u32..6, 5),
        ) {
            let items: Vec<Vec<(u32, u32)>> = items.into_iter().map(|tests| tests.into_iter().collect()).collect();
            let index = Index::new(items.iter().map(Vec::as_slice));
            let mut found = Vec::new();
            index.collect(|word| state[word as usize], &mut found);
            found.sort_unstable();
            let expected: Vec<u32> = (0..items.len() as u32)
                .filter(|&item| items[item as usize].iter().all(|&(word, at)| state[word as usize] == at))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
