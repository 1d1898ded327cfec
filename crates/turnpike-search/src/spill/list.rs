//! All states of a search in the order of discovery, each with the number of its parent, in one file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use crate::store::ROOT;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Records of the words of a state and the number of its parent.
pub(super) struct List {
    /// For reading; what is written has a place of its own in the file.
    file: File,
    end: BufWriter<File>,
    width: usize,
    len: u64,
    /// States that have a number.
    most: u64,
}

/// Words as bytes.
pub(super) fn put(words: &[u32], out: &mut impl Write) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

/// Words from bytes.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

impl List {
    pub(super) fn create(path: &Path, width: usize) -> io::Result<Self> {
        let end = BufWriter::with_capacity(BUFFER, File::create_new(path)?);
        Ok(List { file: File::open(path)?, end, width, len: 0, most: ROOT.into() })
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many states there are.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends a state, unless all numbers are taken. It can be read after [`flush`](Self::flush).
    pub(super) fn push(&mut self, state: &[u32], parent: u32) -> io::Result<bool> {
        if self.len >= self.most {
            return Ok(false);
        }
        put(state, &mut self.end)?;
        put(&[parent], &mut self.end)?;
        self.len += 1;
        Ok(true)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.end.flush()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    /// The words of some states, flat.
    pub(super) fn read(&self, numbers: Range<u64>, out: &mut Vec<u32>) -> io::Result<()> {
        let record = 4 * (self.width + 1);
        let mut bytes = vec![0; (numbers.end - numbers.start) as usize * record];
        self.read_at(numbers.start * record as u64, &mut bytes)?;
        out.clear();
        for record in bytes.chunks_exact(record) {
            out.extend(words(&record[..4 * self.width]));
        }
        Ok(())
    }

    /// The states from the initial one to another, flat.
    pub(super) fn path(&self, number: u32) -> io::Result<Vec<u32>> {
        let record = 4 * (self.width + 1);
        let (mut at, mut states) = (number, Vec::new());
        while at != ROOT {
            let mut bytes = vec![0; record];
            self.read_at(u64::from(at) * record as u64, &mut bytes)?;
            let mut state: Vec<u32> = words(&bytes).collect();
            at = state.pop().unwrap_or(ROOT);
            states.push(state);
        }
        states.reverse();
        Ok(states.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_without_a_number_are_not_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut list = List::create(&folder.path().join("states"), 1).expect("a file");
        list.most = 2;
        let pushed = [7, 8, 9].map(|state| list.push(&[state], ROOT).expect("writes"));
        assert_eq!((pushed, list.len()), ([true, true, false], 2));
    }
}
