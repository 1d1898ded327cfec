//! Every state in full: 4·width bytes, and at most 7.5 for the index.

use turnpike_model::{IdTable, hash};

use super::arena::Arena;

/// Equality of short vectors, without the call that a slice comparison makes.
#[inline]
fn same(left: &[u32], right: &[u32]) -> bool {
    left.iter().zip(right).all(|(a, b)| a == b)
}

/// An exact set of states with dense ids.
#[derive(Debug)]
pub(crate) struct ExactStore {
    table: IdTable,
    states: Arena,
}

impl ExactStore {
    pub(crate) fn new(width: usize) -> Self {
        ExactStore { table: IdTable::new(), states: Arena::new(width) }
    }

    #[inline]
    pub(crate) fn insert(&mut self, state: &[u32]) -> (u32, bool) {
        self.insert_hashed(state, hash::words(state))
    }

    #[inline]
    pub(crate) fn insert_hashed(&mut self, state: &[u32], word_hash: u64) -> (u32, bool) {
        let states = &self.states;
        let (id, new) = self.table.find_or_insert(
            word_hash,
            |id| same(states.get(id), state),
            |id| hash::words(states.get(id)),
        );
        if new {
            self.states.push(state);
        }
        (id, new)
    }

    #[inline]
    pub(crate) fn touch(&self, word_hash: u64) -> u32 {
        self.table.touch(word_hash)
    }

    pub(crate) fn find(&self, state: &[u32]) -> Option<u32> {
        self.table.find(hash::words(state), |id| same(self.states.get(id), state))
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &[u32] {
        self.states.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + self.states.bytes()
    }
}
