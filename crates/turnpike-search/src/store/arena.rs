//! Fixed-width word vectors by dense id, in chunks. Growing does not copy full chunks, and wastes
//! at most one chunk, or less while there are few.

const CHUNK_BITS: u32 = 14;
const CHUNK: usize = 1 << CHUNK_BITS;
/// From this many chunks on, room for a whole one is a small part of all.
const MANY: usize = 8;
/// A chunk that grows bit by bit gets room for at least this many states.
const PIECE: usize = 1 << 8;

/// States by id. Chunks can be given back once all their states were forgotten.
#[derive(Debug)]
pub(crate) struct Arena {
    width: usize,
    len: usize,
    chunks: Vec<Vec<u32>>,
    /// States of each chunk not forgotten yet; only counted down by [`forget`](Arena::forget).
    alive: Vec<u32>,
}

/// Adds the words of a state. Those of the usual widths are copied without a call.
#[inline]
pub(crate) fn push_words(words: &mut Vec<u32>, state: &[u32]) {
    match *state {
        [a] => words.push(a),
        [a, b] => words.extend_from_slice(&[a, b]),
        [a, b, c] => words.extend_from_slice(&[a, b, c]),
        [a, b, c, d] => words.extend_from_slice(&[a, b, c, d]),
        _ => words.extend_from_slice(state),
    }
}

/// Copies the words of a state over those of another, in the same way.
#[inline]
pub(crate) fn copy_words(words: &mut [u32], state: &[u32]) {
    match (words, state) {
        ([a], &[x]) => *a = x,
        ([a, b], &[x, y]) => (*a, *b) = (x, y),
        ([a, b, c], &[x, y, z]) => (*a, *b, *c) = (x, y, z),
        (words, state) => words.copy_from_slice(state),
    }
}

/// Room for a quarter more, never for more than a whole chunk.
#[cold]
fn grow(words: &mut Vec<u32>, width: usize) {
    let states = words.len() / width.max(1);
    let more = (states / 4).max(PIECE).min(CHUNK.saturating_sub(states));
    words.reserve_exact(more * width);
}

impl Arena {
    pub(crate) fn new(width: usize) -> Self {
        Arena { width, len: 0, chunks: Vec::new(), alive: Vec::new() }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity() * size_of::<u32>()).sum()
    }

    #[inline]
    pub(crate) fn push(&mut self, state: &[u32]) {
        debug_assert_eq!(state.len(), self.width);
        if self.len & (CHUNK - 1) == 0 {
            // Small systems are searched by the million: let the first chunks grow from nothing.
            let capacity = if self.chunks.len() < MANY { 0 } else { CHUNK * self.width };
            self.chunks.push(Vec::with_capacity(capacity));
            self.alive.push(0);
        }
        let chunk = self.len >> CHUNK_BITS;
        let words = &mut self.chunks[chunk];
        if words.len() == words.capacity() && chunk > 0 {
            grow(words, self.width);
        }
        push_words(words, state);
        self.alive[chunk] += 1;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &[u32] {
        self.get_of(self.width, id)
    }

    /// Like [`get`](Self::get), for callers that know the width when they are compiled.
    #[inline(always)]
    pub(crate) fn get_of(&self, width: usize, id: u32) -> &[u32] {
        debug_assert_eq!(width, self.width);
        let offset = (id as usize & (CHUNK - 1)) * width;
        &self.chunks[id as usize >> CHUNK_BITS][offset..offset + width]
    }

    /// The state will not be needed again.
    pub(crate) fn forget(&mut self, id: u32) {
        let chunk = id as usize >> CHUNK_BITS;
        self.alive[chunk] -= 1;
        let full = self.len >> CHUNK_BITS > chunk;
        if self.alive[chunk] == 0 && full {
            self.chunks[chunk] = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_little_more_than_the_states_need() {
        let width = 14;
        let mut arena = Arena::new(width);
        for id in 0..10 * CHUNK as u32 {
            arena.push(&[id; 14]);
            let (needed, states) = (arena.len() * width * size_of::<u32>(), arena.len());
            if states >= CHUNK {
                assert!(arena.bytes() <= needed + needed / 5, "{states} states take {} bytes", arena.bytes());
            }
        }
        assert_eq!(arena.bytes(), 10 * CHUNK * width * size_of::<u32>(), "full chunks have no room left");
        for id in [0, CHUNK as u32 - 1, CHUNK as u32, 3 * CHUNK as u32 + 300, 10 * CHUNK as u32 - 1] {
            assert_eq!(arena.get(id), [id; 14]);
        }
    }
}
