//! Strongly connected components.

const NONE: u32 = u32::MAX;

/// The strongly connected component of every node, and the number of components. Two nodes are in
/// the same component if and only if they reach each other. A component has a larger number than
/// all others that it reaches.
///
/// `successor(node, k)` is the target of the `k`-th edge of a node, or `None` if it has no more.
/// Nodes are `0..nodes`, fewer than `u32::MAX`. This is Tarjan's algorithm with an explicit stack,
/// so that long chains cannot overflow the call stack.
///
/// ```
/// use turnpike_model::components::components;
///
/// // 0 -> 1 -> 2 -> 1
/// let edges: [&[u32]; 3] = [&[1], &[2], &[1]];
/// let (component_of, count) = components(3, |node, k| edges[node as usize].get(k).copied());
/// assert_eq!((component_of, count), (vec![1, 0, 0], 2));
/// ```
pub fn components(nodes: usize, successor: impl Fn(u32, usize) -> Option<u32>) -> (Vec<u32>, u32) {
    let mut component = vec![NONE; nodes];
    let mut components = 0;
    // The discovery order, and the earliest reachable node that is still open.
    let mut found = vec![NONE; nodes];
    let mut low = vec![NONE; nodes];
    let mut discovered = 0;
    let mut path: Vec<(u32, usize)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for root in 0..nodes as u32 {
        if found[root as usize] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            let n = node as usize;
            if *next == 0 {
                found[n] = discovered;
                low[n] = discovered;
                discovered += 1;
                open.push(node);
            }
            if let Some(target) = successor(node, *next) {
                *next += 1;
                let t = target as usize;
                if found[t] == NONE {
                    path.push((target, 0));
                } else if component[t] == NONE {
                    low[n] = low[n].min(found[t]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[n]);
            }
            if low[n] == found[n] {
                while component[n] == NONE {
                    let member = open.pop().expect("the root of a component is open");
                    component[member as usize] = components;
                }
                components += 1;
            }
        }
    }
    (component, components)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(edges: &[Vec<u32>]) -> (Vec<u32>, u32) {
        components(edges.len(), |node, k| edges[node as usize].get(k).copied())
    }

    #[test]
    fn nodes_on_a_cycle_belong_together() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3, 3 -> 3, 4 alone
        let (found, count) = of(&[vec![1], vec![2], vec![1, 3], vec![3], vec![]]);
        assert_eq!((found, count), (vec![2, 1, 1, 0, 3], 4));
        assert_eq!(of(&[]), (vec![], 0));
    }

    #[test]
    fn long_chains_need_no_call_stack() {
        let nodes = 300_000;
        let (found, count) = components(nodes, |node, k| (k == 0).then_some((node + 1) % nodes as u32));
        assert!(count == 1 && found.iter().all(|&one| one == 0));
    }

    proptest! {
        #[test]
        fn agrees_with_reachability(nodes in 1..9usize, edges in prop::collection::vec((0..9u32, 0..9u32), 0..20)) {
            let mut targets = vec![Vec::new(); nodes];
            let mut reaches = vec![vec![false; nodes]; nodes];
            for (from, to) in edges {
                let (from, to) = (from as usize % nodes, to as usize % nodes);
                targets[from].push(to as u32);
                reaches[from][to] = true;
            }
            for (node, reached) in reaches.iter_mut().enumerate() {
                reached[node] = true;
            }
            for middle in 0..nodes {
                for from in 0..nodes {
                    for to in 0..nodes {
                        reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
                    }
                }
            }
            let (found, count) = of(&targets);
            prop_assert_eq!(found.iter().max().map(|&most| most + 1), Some(count));
            for from in 0..nodes {
                for to in 0..nodes {
                    prop_assert_eq!(found[from] == found[to], reaches[from][to] && reaches[to][from]);
                    prop_assert!(!reaches[from][to] || found[from] >= found[to]);
                }
            }
        }
    }
}
