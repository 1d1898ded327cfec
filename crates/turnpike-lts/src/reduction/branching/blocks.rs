//! The states, block by block. Each block is a range with its bottom states first, and marked
//! bottom states first among these.

use crate::reduction::graph::NONE;

#[derive(Clone, Copy)]
struct Block {
    start: u32,
    bottom_end: u32,
    end: u32,
    marked: u32,
}

pub(super) struct Blocks {
    order: Vec<u32>,
    position: Vec<u32>,
    block_of: Vec<u32>,
    blocks: Vec<Block>,
    /// The number of inert edges from each state. Bottom states have none.
    inert: Vec<u32>,
}

impl Blocks {
    /// The blocks of a partition. `inert` is the number of inert edges of each state.
    pub(super) fn new(block_of: &[u32], count: u32, inert: Vec<u32>) -> Blocks {
        let mut blocks = vec![Block { start: 0, bottom_end: 0, end: 0, marked: 0 }; count as usize];
        for &block in block_of {
            blocks[block as usize].end += 1;
        }
        let mut at = 0;
        for block in &mut blocks {
            let size = block.end;
            *block = Block { start: at, bottom_end: at, end: at, marked: 0 };
            at += size;
        }
        // Bottom states first; `end` is the write cursor.
        let mut order = vec![NONE; inert.len()];
        let mut position = vec![NONE; inert.len()];
        for bottom in [true, false] {
            for (state, &block) in block_of.iter().enumerate().filter(|&(s, _)| (inert[s] == 0) == bottom) {
                let block = &mut blocks[block as usize];
                order[block.end as usize] = state as u32;
                position[state] = block.end;
                block.end += 1;
                block.bottom_end += u32::from(bottom);
            }
        }
        Blocks { order, position, block_of: block_of.to_vec(), blocks, inert }
    }

    pub(super) fn into_partition(self) -> (Vec<u32>, u32) {
        (self.block_of, self.blocks.len() as u32)
    }

    pub(super) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The block of each state, and the states block by block.
    pub(super) fn assignment(&self) -> (&[u32], &[u32]) {
        (&self.block_of, &self.order)
    }

    #[inline]
    pub(super) fn of(&self, state: u32) -> u32 {
        self.block_of[state as usize]
    }

    #[inline]
    pub(super) fn inert_edges(&self, state: u32) -> u32 {
        self.inert[state as usize]
    }

    fn slice(&self, start: u32, end: u32) -> &[u32] {
        &self.order[start as usize..end as usize]
    }

    pub(super) fn states(&self, block: u32) -> &[u32] {
        let block = self.blocks[block as usize];
        self.slice(block.start, block.end)
    }

    pub(super) fn bottom_states(&self, block: u32) -> &[u32] {
        let block = self.blocks[block as usize];
        self.slice(block.start, block.bottom_end)
    }

    /// The unmarked bottom states: all of them if none is marked.
    pub(super) fn unmarked_bottom_states(&self, block: u32) -> &[u32] {
        let block = self.blocks[block as usize];
        self.slice(block.start + block.marked, block.bottom_end)
    }

    fn swap(&mut self, a: u32, b: u32) {
        self.order.swap(a as usize, b as usize);
        self.position[self.order[a as usize] as usize] = a;
        self.position[self.order[b as usize] as usize] = b;
    }

    /// Marks the state if it is a bottom state. It must not be marked yet.
    pub(super) fn mark_if_bottom(&mut self, state: u32) {
        if self.inert[state as usize] == 0 {
            let block = &mut self.blocks[self.block_of[state as usize] as usize];
            let to = block.start + block.marked;
            block.marked += 1;
            self.swap(self.position[state as usize], to);
        }
    }

    pub(super) fn unmark_all(&mut self, block: u32) {
        self.blocks[block as usize].marked = 0;
    }

    /// Moves these states of `block` to a new block, and returns its number. Takes time
    /// proportional to the number of these states. Both parts keep their bottom states, and lose
    /// all marks.
    pub(super) fn carve(&mut self, block: u32, states: &[u32]) -> u32 {
        let Block { start, bottom_end, end, .. } = self.blocks[block as usize];
        let (mut bottom_cut, mut cut) = (bottom_end, end);
        for &state in states {
            let at = self.position[state as usize];
            if at < bottom_end {
                bottom_cut -= 1;
                self.swap(at, bottom_cut);
            } else {
                cut -= 1;
                self.swap(at, cut);
            }
        }
        // The order is now: kept bottom, carved bottom, other kept, other carved. Exchange the
        // middle two.
        let (carved, kept) = (bottom_end - bottom_cut, cut - bottom_end);
        for i in 0..carved.min(kept) {
            self.swap(bottom_cut + i, cut - 1 - i);
        }
        let new_start = bottom_cut + kept;
        self.blocks[block as usize] = Block { start, bottom_end: bottom_cut, end: new_start, marked: 0 };
        let number = self.blocks.len() as u32;
        self.blocks.push(Block { start: new_start, bottom_end: new_start + carved, end, marked: 0 });
        for &state in states {
            self.block_of[state as usize] = number;
        }
        number
    }

    /// Records that an internal edge of the state now leaves its block. Without any other inert
    /// edge it becomes a bottom state.
    pub(super) fn lose_inert_edge(&mut self, state: u32) {
        let inert = &mut self.inert[state as usize];
        *inert -= 1;
        if *inert == 0 {
            let block = &mut self.blocks[self.block_of[state as usize] as usize];
            let to = block.bottom_end;
            block.bottom_end += 1;
            self.swap(self.position[state as usize], to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carving_keeps_bottom_states_in_front() {
        let inert = [0, 2, 0, 1, 0, 1, 1, 0];
        for mask in 1..255u32 {
            let mut blocks = Blocks::new(&[0; 8], 1, inert.to_vec());
            let part: Vec<u32> = (0..8).filter(|s| mask >> s & 1 == 1).collect();
            let new = blocks.carve(0, &part);
            for block in [0, new] {
                let mut states = blocks.states(block).to_vec();
                let split = blocks.bottom_states(block).len();
                assert!(states[..split].iter().all(|&s| inert[s as usize] == 0));
                assert!(states[split..].iter().all(|&s| inert[s as usize] > 0));
                states.sort_unstable();
                assert!(states.iter().all(|&s| blocks.of(s) == block && part.contains(&s) == (block == new)));
            }
            assert_eq!(blocks.states(0).len() + blocks.states(new).len(), 8);
        }
    }

    #[test]
    fn the_last_inert_edge_makes_a_bottom_state() {
        let mut blocks = Blocks::new(&[0; 3], 1, vec![0, 2, 1]);
        blocks.lose_inert_edge(1);
        assert_eq!(blocks.bottom_states(0), [0]);
        blocks.lose_inert_edge(1);
        assert_eq!(blocks.bottom_states(0), [0, 1]);
        blocks.mark_if_bottom(1);
        blocks.mark_if_bottom(2);
        assert_eq!(blocks.unmarked_bottom_states(0), [0]);
    }
}
