//! Doubly linked lists of edges through two shared arrays.

use crate::reduction::graph::NONE;

/// A list, given by its first edge. The rest is in [`Links`].
#[derive(Clone, Copy)]
pub(super) struct List(u32);

impl List {
    pub(super) const EMPTY: List = List(NONE);

    pub(super) fn first(self) -> u32 {
        self.0
    }
}

/// The neighbours of every edge in the only list that contains it.
pub(super) struct Links(Vec<(u32, u32)>);

impl Links {
    pub(super) fn new(edges: usize) -> Links {
        Links(vec![(NONE, NONE); edges])
    }

    #[inline]
    pub(super) fn after(&self, edge: u32) -> u32 {
        self.0[edge as usize].1
    }

    #[inline]
    pub(super) fn push(&mut self, list: &mut List, edge: u32) {
        let next = std::mem::replace(&mut list.0, edge);
        self.0[edge as usize] = (NONE, next);
        if next != NONE {
            self.0[next as usize].0 = edge;
        }
    }

    /// Removes an edge from the list that contains it.
    #[inline]
    pub(super) fn remove(&mut self, list: &mut List, edge: u32) {
        let (previous, next) = self.0[edge as usize];
        if previous == NONE {
            debug_assert_eq!(list.0, edge);
            list.0 = next;
        } else {
            self.0[previous as usize].1 = next;
        }
        if next != NONE {
            self.0[next as usize].0 = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_change_lists() {
        let mut links = Links::new(4);
        let (mut a, mut b) = (List::EMPTY, List::EMPTY);
        (0..4).for_each(|edge| links.push(&mut a, edge));
        for edge in [2, 3, 0] {
            links.remove(&mut a, edge);
            links.push(&mut b, edge);
        }
        let some = |edge: u32| (edge != NONE).then_some(edge);
        let walk = |list: List| std::iter::successors(some(list.first()), |&edge| some(links.after(edge)));
        assert_eq!(walk(a).collect::<Vec<_>>(), [1]);
        assert_eq!(walk(b).collect::<Vec<_>>(), [0, 3, 2]);
    }
}
