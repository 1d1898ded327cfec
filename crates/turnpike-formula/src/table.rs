//! Sequences of words of one length, numbered in the order in which they came.

use turnpike_model::{IdTable, hash};

/// Numbers sequences of `width` words.
#[derive(Debug)]
pub(crate) struct Table {
    width: usize,
    index: IdTable,
    words: Vec<u32>,
}

impl Table {
    pub(crate) fn new(width: usize) -> Table {
        Table { width, index: IdTable::new(), words: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn get(&self, id: u32) -> &[u32] {
        &self.words[id as usize * self.width..(id as usize + 1) * self.width]
    }

    /// The number of a sequence, and whether it is new.
    pub(crate) fn insert(&mut self, words: &[u32]) -> (u32, bool) {
        debug_assert_eq!(words.len(), self.width);
        let Table { width, index, words: all } = self;
        let get = |id: u32| &all[id as usize * *width..(id as usize + 1) * *width];
        let (id, new) =
            index.find_or_insert(hash::words(words), |id| get(id) == words, |id| hash::words(get(id)));
        if new {
            all.extend_from_slice(words);
        }
        (id, new)
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.index.bytes() + self.words.capacity() * size_of::<u32>()
    }
}
