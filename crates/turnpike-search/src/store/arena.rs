//! Fixed-width word vectors by dense id, in chunks: no copying when it grows, no slack beyond one chunk.

const CHUNK_BITS: u32 = 14;
const CHUNK: usize = 1 << CHUNK_BITS;

/// States by id. Chunks can be given back once all their states were forgotten.
#[derive(Debug)]
pub(crate) struct Arena {
    width: usize,
    len: usize,
    chunks: Vec<Vec<u32>>,
    /// States of each chunk not forgotten yet; only counted down by [`forget`](Arena::forget).
    alive: Vec<u32>,
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
            // Small systems are searched by the million: let the first chunk grow from nothing.
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK * self.width };
            self.chunks.push(Vec::with_capacity(capacity));
            self.alive.push(0);
        }
        let chunk = self.len >> CHUNK_BITS;
        self.chunks[chunk].extend_from_slice(state);
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

    /// The state will not be asked for again.
    pub(crate) fn forget(&mut self, id: u32) {
        let chunk = id as usize >> CHUNK_BITS;
        self.alive[chunk] -= 1;
        let full = self.len >> CHUNK_BITS > chunk;
        if self.alive[chunk] == 0 && full {
            self.chunks[chunk] = Vec::new();
        }
    }
}
