//! Strongly connected components, without recursion.

/// The component of every node: nodes that reach each other have the same number. `edges` are the targets of each node.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut order = vec![NONE; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut component = vec![NONE; edges.len()];
    let (mut count, mut visited) = (0, 0);
    let mut open = Vec::new();
    for root in 0..edges.len() {
        if order[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                order[node] = visited;
                low[node] = visited;
                visited += 1;
                open.push(node);
            }
            if let Some(&target) = edges[node].get(*next) {
                *next += 1;
                if order[target] == NONE {
                    path.push((target, 0));
                } else if component[target] == NONE {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_on_a_cycle_belong_together() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3, 3 -> 3, 4 alone
        let found = components(&[vec![1], vec![2], vec![1, 3], vec![3], vec![]]);
        assert_eq!(found[1], found[2]);
        let mut different = vec![found[0], found[1], found[3], found[4]];
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 4);
    }

    #[test]
    fn a_long_path_is_no_problem() {
        let edges: Vec<Vec<usize>> = (0..100_000).map(|node| vec![(node + 1) % 100_000]).collect();
        assert!(components(&edges).iter().all(|&one| one == 0));
    }
}
