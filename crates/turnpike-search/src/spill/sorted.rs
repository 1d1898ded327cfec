//! States in a file, sorted by hash, then by their words.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::list::{put, words};
use crate::store::{Visited, quick_hash};

/// Bytes that are read or written at once.
const BUFFER: usize = 1 << 18;
/// States between two whose hashes are known without reading the file.
const STRIDE: u64 = 1 << 10;

/// A sorted file. It is removed when it is not needed any more.
pub(super) struct Sorted {
    path: PathBuf,
    width: usize,
    len: u64,
    /// The hashes of the states numbered 0, [`STRIDE`], …
    landmarks: Vec<u64>,
}

impl Drop for Sorted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A sorted file that is being written.
struct Making {
    sorted: Sorted,
    out: BufWriter<File>,
}

impl Making {
    fn begin(path: &Path, width: usize) -> io::Result<Self> {
        let out = BufWriter::with_capacity(BUFFER, File::create(path)?);
        Ok(Making { sorted: Sorted { path: path.to_owned(), width, len: 0, landmarks: Vec::new() }, out })
    }

    fn push(&mut self, hash: u64, state: &[u32]) -> io::Result<()> {
        if self.sorted.len.is_multiple_of(STRIDE) {
            self.sorted.landmarks.push(hash);
        }
        self.sorted.len += 1;
        put(state, &mut self.out)
    }

    fn finish(mut self) -> io::Result<Sorted> {
        self.out.flush()?;
        Ok(self.sorted)
    }
}

impl Sorted {
    /// Writes the states of a store that have these hashes and numbers.
    pub(super) fn write(
        path: &Path,
        width: usize,
        store: &Visited,
        sorted: &[(u64, u32)],
    ) -> io::Result<Self> {
        let (mut making, mut state) = (Making::begin(path, width)?, Vec::new());
        for &(hash, id) in sorted {
            store.load(id, &mut state);
            making.push(hash, &state)?;
        }
        making.finish()
    }

    /// Calls `known` with the numbers of the states, sorted in the same way, that are in the file.
    pub(super) fn mark_known(
        &self,
        store: &Visited,
        sorted: &[(u64, u32)],
        mut known: impl FnMut(u32),
    ) -> io::Result<()> {
        let mut cursor = self.read()?;
        let mut state = Vec::new();
        for &(hash, id) in sorted {
            // States whose hashes are equal are few: their words are compared only then.
            store.load(id, &mut state);
            cursor.skip_to(hash, &self.landmarks)?;
            while cursor.is_before(hash, &state) {
                cursor.advance()?;
            }
            if cursor.current().is_some_and(|(other, words)| other == hash && words == state) {
                known(id);
            }
        }
        Ok(())
    }

    fn read(&self) -> io::Result<Cursor> {
        let file = BufReader::with_capacity(BUFFER, File::open(&self.path)?);
        let bytes = vec![0; 4 * self.width];
        let mut cursor =
            Cursor { file, bytes, state: Vec::new(), hash: 0, next: 0, len: self.len, is_over: false };
        cursor.advance()?;
        Ok(cursor)
    }
}

/// Reads a sorted file from its beginning on.
struct Cursor {
    file: BufReader<File>,
    bytes: Vec<u8>,
    /// The state that it has come to.
    state: Vec<u32>,
    hash: u64,
    /// The number of the state after that.
    next: u64,
    len: u64,
    is_over: bool,
}

impl Cursor {
    fn current(&self) -> Option<(u64, &[u32])> {
        (!self.is_over).then_some((self.hash, self.state.as_slice()))
    }

    fn is_before(&self, hash: u64, state: &[u32]) -> bool {
        let order = self.hash.cmp(&hash).then_with(|| self.state.as_slice().cmp(state));
        !self.is_over && order == Ordering::Less
    }

    fn advance(&mut self) -> io::Result<()> {
        if self.next == self.len {
            self.is_over = true;
            return Ok(());
        }
        self.file.read_exact(&mut self.bytes)?;
        self.next += 1;
        self.state.clear();
        self.state.extend(words(&self.bytes));
        self.hash = quick_hash(&self.state);
        Ok(())
    }

    /// Leaves out states that come before those with this hash, as far as landmarks tell.
    fn skip_to(&mut self, hash: u64, landmarks: &[u64]) -> io::Result<()> {
        // Nearly always the hash is before the next landmark.
        let next = self.next.div_ceil(STRIDE) as usize;
        if landmarks.get(next).is_none_or(|&landmark| landmark >= hash) {
            return Ok(());
        }
        let ahead = next + landmarks[next..].partition_point(|&landmark| landmark < hash) - 1;
        self.next = ahead as u64 * STRIDE;
        self.file.seek(SeekFrom::Start(self.next * self.bytes.len() as u64))?;
        self.advance()
    }
}

/// Merges files that have no state in common.
pub(super) fn merge(path: &Path, width: usize, files: Vec<Sorted>) -> io::Result<Sorted> {
    let mut making = Making::begin(path, width)?;
    let mut cursors = files.iter().map(Sorted::read).collect::<io::Result<Vec<Cursor>>>()?;
    loop {
        let least = cursors.iter_mut().filter(|cursor| !cursor.is_over);
        let Some(least) = least.min_by(|a, b| (a.hash, &a.state).cmp(&(b.hash, &b.state))) else { break };
        making.push(least.hash, &least.state)?;
        least.advance()?;
    }
    making.finish()
}

#[cfg(test)]
mod tests {
    use super::super::by_hash;
    use super::*;
    use crate::store::{ROOT, StoreKind};

    fn store(states: impl Iterator<Item = u32>) -> Visited {
        let mut store = Visited::new(StoreKind::Exact, 2, true);
        for state in states {
            store.insert_exact(&[state, state / 7], ROOT);
        }
        store
    }

    /// Which states of `asked` are in a file of `written`.
    fn known(file: &Sorted, asked: &Visited) -> Vec<u32> {
        let mut known = Vec::new();
        let sorted = by_hash(asked, 0..asked.len() as u32);
        file.mark_known(asked, &sorted, |id| known.push(id)).expect("the file can be read");
        known.sort_unstable();
        known
    }

    fn is_in_even(number: u32) -> bool {
        number.is_multiple_of(2) && number < 40_000
    }

    fn is_in_odd(number: u32) -> bool {
        !number.is_multiple_of(2) && number < 10_000
    }

    #[test]
    fn states_are_found_in_sorted_files_and_in_their_merge() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, states: &Visited| {
            let sorted = by_hash(states, 0..states.len() as u32);
            Sorted::write(&folder.path().join(name), 2, states, &sorted).expect("the file can be written")
        };
        let even = write("even", &store((0..20_000).map(|number| 2 * number)));
        let odd = write("odd", &store((0..5_000).map(|number| 2 * number + 1)));
        // Many states that are asked for, and few: then most of a file is left out.
        for step in [1, 997] {
            let numbers = || (0..60_000).step_by(step);
            let asked = store(numbers());
            let expect = |has: fn(u32) -> bool| -> Vec<u32> {
                (0..).zip(numbers()).filter_map(|(id, number)| has(number).then_some(id)).collect()
            };
            assert_eq!(known(&even, &asked), expect(is_in_even));
            assert_eq!(known(&odd, &asked), expect(is_in_odd));
        }
        let asked = store(0..60_000);
        let path = folder.path().join("both");
        let both = merge(&path, 2, vec![even, odd]).expect("the files can be merged");
        assert_eq!(both.len, 25_000);
        let expected = (0..60_000).filter(|&number| is_in_even(number) || is_in_odd(number));
        assert_eq!(known(&both, &asked), expected.collect::<Vec<u32>>());
        drop(both);
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "files are removed");
    }
}
