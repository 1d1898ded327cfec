//! Interned lists of numbers.

use crate::reduction::graph::NONE;

/// Lists numbered in order of arrival, without duplicates.
pub(crate) struct Lists<W> {
    pool: Vec<W>,
    ends: Vec<u32>,
    /// Open addressing: the upper bits of the hash (to skip most comparisons) and the number.
    table: Vec<(u32, u32)>,
}

impl<W> Default for Lists<W> {
    fn default() -> Lists<W> {
        Lists { pool: Vec::new(), ends: Vec::new(), table: Vec::new() }
    }
}

impl<W: Copy + Eq + Into<u64>> Lists<W> {
    /// The number of distinct lists.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The total length of all lists.
    pub(crate) fn total(&self) -> usize {
        self.pool.len()
    }

    /// Removes all lists and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.pool.clear();
        self.ends.clear();
        self.table.fill((0, NONE));
    }

    /// The number of a list, which is added if it is new.
    pub(crate) fn intern(&mut self, list: &[W]) -> u32 {
        if self.ends.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(list);
        let (tag, mask) = ((hash >> 32) as u32, self.table.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let (seen, number) = self.table[at];
            if number == NONE {
                break;
            }
            if seen == tag && self.get(number) == list {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.len();
        self.pool.extend_from_slice(list);
        self.ends.push(self.pool.len() as u32);
        self.table[at] = (tag, number);
        number
    }

    /// The list with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[W] {
        let start = if number == 0 { 0 } else { self.ends[number as usize - 1] };
        &self.pool[start as usize..self.ends[number as usize] as usize]
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table.clear();
        self.table.resize(size, (0, NONE));
        for number in 0..self.len() {
            let hash = hash(self.get(number));
            let mut at = hash as usize & (size - 1);
            while self.table[at].1 != NONE {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = ((hash >> 32) as u32, number);
        }
    }
}

#[inline]
fn hash<W: Copy + Into<u64>>(list: &[W]) -> u64 {
    let mut hash = list.len() as u64;
    for &word in list {
        hash = (hash ^ word.into()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_survive_growth() {
        let mut lists = Lists::default();
        for repeat in 0..2 {
            for i in 0..1000u64 {
                let number = lists.intern(&[i, i + 1, 5000]);
                assert_eq!(u64::from(number), i, "repeat {repeat}");
            }
        }
        assert_eq!(lists.intern(&[]), 1000);
        assert_eq!(lists.intern(&[]), 1000);
        assert_eq!((lists.len(), lists.total(), lists.get(7)), (1001, 3000, &[7, 8, 5000][..]));
        lists.clear();
        assert_eq!((lists.intern(&[3]), lists.total()), (0, 1));
    }
}
