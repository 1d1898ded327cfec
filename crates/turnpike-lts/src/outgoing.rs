use turnpike_model::LabelId;

use crate::system::Lts;

/// Transitions grouped by source state in compressed rows, in file order within a row.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// `None`: row `s` belongs to state `s`. `Some`: row `k` belongs to state `sources[k]`,
    /// ascending.
    sources: Option<Vec<u32>>,
    /// Row `k` is `edges[offsets[k]..offsets[k + 1]]`.
    offsets: Vec<usize>,
    edges: Vec<(LabelId, u32)>,
}

/// Whether a table with one entry for each of `states` states is in proportion to the number of
/// transitions. State numbers come from files, and a file of one line may refer to state four
/// billion: memory must be proportional to the content of a file, not to its claims.
pub(super) fn dense(states: u64, transitions: usize) -> bool {
    states <= 4 * transitions as u64 + 1024
}

impl Outgoing {
    /// Groups the transitions of `lts`.
    pub fn new(lts: &Lts) -> Self {
        let rows = lts.transitions.iter().map(|transition| u64::from(transition.from) + 1).max().unwrap_or(0);
        let sources = if dense(rows, lts.transitions.len()) {
            None
        } else {
            let mut sources: Vec<u32> = lts.transitions.iter().map(|transition| transition.from).collect();
            sources.sort_unstable();
            sources.dedup();
            Some(sources)
        };
        let rows = sources.as_ref().map_or(rows as usize, Vec::len);
        let row_of = |from: u32| match &sources {
            None => from as usize,
            // Every source is in the list, so this finds it.
            Some(sources) => sources.partition_point(|&source| source < from),
        };

        // A counting sort, which is stable: it preserves the file order within a row.
        let mut offsets = vec![0usize; rows + 1];
        for transition in &lts.transitions {
            offsets[row_of(transition.from) + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut edges = vec![(LabelId(0), 0); lts.transitions.len()];
        for transition in &lts.transitions {
            let slot = &mut next[row_of(transition.from)];
            edges[*slot] = (transition.label, transition.to);
            *slot += 1;
        }
        Outgoing { sources, offsets, edges }
    }

    /// The labels and targets of the transitions that leave `state`; empty if there is no such
    /// state.
    #[inline]
    pub fn of(&self, state: u32) -> &[(LabelId, u32)] {
        let row = match &self.sources {
            None => state as usize,
            Some(sources) => match sources.binary_search(&state) {
                Ok(row) => row,
                Err(_) => return &[],
            },
        };
        match (self.offsets.get(row), self.offsets.get(row + 1)) {
            (Some(&start), Some(&end)) => &self.edges[start..end],
            _ => &[],
        }
    }

    /// The number of transitions.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are no transitions.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Transition;

    fn check(states: u32, edges: &[(u32, u32, u32)]) {
        let transitions =
            edges.iter().map(|&(from, label, to)| Transition { from, label: LabelId(label), to }).collect();
        let outgoing = Outgoing::new(&Lts { initial: 0, states, labels: Vec::new(), transitions });
        assert_eq!(outgoing.len(), edges.len());
        let mut asked: Vec<u32> =
            edges.iter().flat_map(|&(from, _, to)| [from, to, from.saturating_add(1)]).collect();
        asked.extend([0, u32::MAX]);
        for state in asked {
            let expected: Vec<_> =
                edges.iter().filter(|edge| edge.0 == state).map(|edge| (LabelId(edge.1), edge.2)).collect();
            assert_eq!(outgoing.of(state), expected);
        }
    }

    #[test]
    fn keeps_file_order_within_a_state() {
        check(4, &[(2, 5, 0), (0, 1, 2), (2, 3, 1), (0, 0, 0), (2, 4, 3)]);
        check(1, &[]);
    }

    #[test]
    fn huge_state_numbers_cost_no_memory() {
        check(u32::MAX, &[(u32::MAX - 1, 1, 7), (0, 2, u32::MAX - 1), (u32::MAX - 1, 3, 0)]);
    }
}
