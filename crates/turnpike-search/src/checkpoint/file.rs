//! Files of chunks with checksums: what was cut short or changed is noticed.
//!
//! A file begins with a magic word and a version. Then come chunks: their length, their bytes, and a
//! checksum that depends on all chunks so far. An empty chunk ends the file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use turnpike_model::hash;

use crate::wire::Writer;

const MAGIC: &[u8; 20] = b"turnpike checkpoint\n";
const VERSION: u32 = 2;
/// Bytes of a chunk, about.
const CHUNK: usize = 1 << 20;
/// Longer chunks are not believed.
const LONGEST: u32 = 1 << 28;

/// Writes a file under another name, and renames it once it is whole.
pub(crate) struct PartWriter {
    file: BufWriter<File>,
    path: PathBuf,
    unfinished: PathBuf,
    chunk: Writer,
    checksum: u64,
}

impl PartWriter {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let unfinished = path.with_extension("unfinished");
        let mut file = BufWriter::new(File::create(&unfinished)?);
        file.write_all(MAGIC)?;
        file.write_all(&VERSION.to_le_bytes())?;
        Ok(PartWriter { file, path: path.to_owned(), unfinished, chunk: Writer::default(), checksum: 0 })
    }

    /// Where the next thing is written; a reader has to read as much before it calls
    /// [`PartReader::next`] again.
    pub(crate) fn chunk(&mut self) -> &mut Writer {
        &mut self.chunk
    }

    /// Ends the chunk if it is long enough.
    pub(crate) fn pause(&mut self) -> io::Result<bool> {
        let full = self.chunk.len() >= CHUNK;
        if full {
            self.end_chunk()?;
        }
        Ok(full)
    }

    /// Ends the chunk.
    pub(crate) fn end_chunk(&mut self) -> io::Result<()> {
        let bytes = self.chunk.as_slice();
        self.checksum = hash::mix(self.checksum, hash::bytes(bytes));
        self.file.write_all(&(bytes.len() as u32).to_le_bytes())?;
        self.file.write_all(bytes)?;
        self.file.write_all(&self.checksum.to_le_bytes())?;
        self.chunk.clear();
        Ok(())
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.chunk.len() > 0 {
            self.end_chunk()?;
        }
        self.end_chunk()?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        std::fs::rename(&self.unfinished, &self.path)
    }
}

/// Reads the chunks of a file.
pub(crate) struct PartReader {
    file: BufReader<File>,
    checksum: u64,
    ended: bool,
}

impl PartReader {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let mut file = BufReader::new(File::open(path).map_err(|error| error.to_string())?);
        let mut start = [0; MAGIC.len() + 4];
        file.read_exact(&mut start).map_err(|_| "it is cut short".to_owned())?;
        let (magic, version) = start.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err("it is not a checkpoint".to_owned());
        }
        match version {
            version if version == VERSION.to_le_bytes() => Ok(PartReader { file, checksum: 0, ended: false }),
            _ => Err("another version of turnpike wrote it".to_owned()),
        }
    }

    /// The next chunk; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let cut = |_| "it is cut short".to_owned();
        if self.ended {
            return Ok(None);
        }
        let mut length = [0; 4];
        self.file.read_exact(&mut length).map_err(cut)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err("its checksum is wrong".to_owned());
        }
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(length.into()).read_to_end(&mut bytes).map_err(cut)?;
        let mut checksum = [0; 8];
        self.file.read_exact(&mut checksum).map_err(cut)?;
        self.checksum = hash::mix(self.checksum, hash::bytes(&bytes));
        if read != length as usize || checksum != self.checksum.to_le_bytes() {
            return Err("its checksum is wrong".to_owned());
        }
        if bytes.is_empty() {
            self.ended = true;
            let mut more = [0; 1];
            return match self.file.read(&mut more) {
                Ok(0) => Ok(None),
                _ => Err("it goes on behind its end".to_owned()),
            };
        }
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(path: &Path) -> Result<Vec<Vec<u8>>, String> {
        let mut reader = PartReader::open(path)?;
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next()? {
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let folder = std::env::temp_dir().join(format!("turnpike-chunks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("part");
        let mut writer = PartWriter::create(&path).expect("a file");
        for number in 0..3 {
            writer.chunk().bytes(&[number; 5]);
            writer.end_chunk().expect("writes");
        }
        assert!(!path.exists(), "it has its name only when it is whole");
        writer.finish().expect("writes");
        let whole = std::fs::read(&path).expect("a file");
        assert_eq!(read_all(&path).expect("whole").len(), 3);
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).expect("writes");
            read_all(&path).expect_err("cut short");
        }
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).expect("writes");
            read_all(&path).expect_err("changed");
        }
        std::fs::write(&path, [&whole[..], &[0]].concat()).expect("writes");
        read_all(&path).expect_err("too long");
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
