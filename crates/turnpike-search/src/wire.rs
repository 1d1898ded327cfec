//! Numbers and texts as bytes, for messages between processes and for checkpoints.

/// Writes one thing after the other.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Writer(Vec::with_capacity(bytes))
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u32) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    /// A number of things that follow.
    pub(crate) fn count(&mut self, count: usize) {
        self.word(u32::try_from(count).expect("a message has fewer than 2^32 parts"));
    }

    #[inline]
    pub(crate) fn long(&mut self, long: u64) {
        self.0.extend_from_slice(&long.to_le_bytes());
    }

    /// A number that is mostly small: seven bits a byte, least first.
    #[inline]
    pub(crate) fn number(&mut self, mut number: u64) {
        while number > 127 {
            self.0.push(number as u8 | 128);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Words behind their number.
    pub(crate) fn words(&mut self, words: &[u32]) {
        self.count(words.len());
        words.iter().for_each(|&word| self.word(word));
    }

    /// Longer ones behind their number.
    pub(crate) fn longs(&mut self, longs: &[u64]) {
        self.count(longs.len());
        longs.iter().for_each(|&long| self.long(long));
    }

    /// Bytes behind their number.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// Bytes that `write` appends, behind their number.
    pub(crate) fn block(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.0.len();
        self.word(0);
        write(&mut self.0);
        let length = u32::try_from(self.0.len() - start - 4).expect("a block has fewer than 2^32 bytes");
        self.0[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what a [`Writer`] wrote; `None` where something else comes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// A number that [`Writer::number`] wrote.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn words(&mut self) -> Option<Vec<u32>> {
        (0..self.word()?).map(|_| self.word()).collect()
    }

    pub(crate) fn longs(&mut self) -> Option<Vec<u64>> {
        (0..self.word()?).map(|_| self.long()).collect()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
