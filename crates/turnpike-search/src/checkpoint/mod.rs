//! Checkpoints: what is needed to go on with a search from the end of a level.
//!
//! A checkpoint is a folder `level-D` with one part for each process that made the search. The last two
//! are kept. A part is renamed once it is whole, and a checkpoint counts when all its parts do.

mod file;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use turnpike_model::Diagnostic;

pub(crate) use self::file::{PartReader, PartWriter};
use crate::wire::{Reader, Writer};

/// How a search leaves checkpoints behind, and from which one it goes on.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// Where checkpoints are written, and how often.
    pub write: Option<(PathBuf, Duration)>,
    /// The checkpoint to go on from.
    pub resume: Option<Chosen>,
    /// What must be the same in the search that goes on: model, strategy, goals, seed.
    pub identity: String,
}

/// A checkpoint that is whole.
#[derive(Clone, Debug)]
pub struct Chosen {
    parts: Vec<PathBuf>,
    /// The depth of the level that is next.
    pub depth: u32,
    /// Newer checkpoints that cannot be used, each with the reason.
    pub refused: Vec<String>,
}

const FOLDER: &str = "level-";
/// Checkpoints that are kept.
const KEPT: usize = 2;

impl Checkpoints {
    /// Whether there is anything to write or to go on from.
    pub(crate) fn are_wanted(&self) -> bool {
        self.write.is_some() || self.resume.is_some()
    }

    /// The newest checkpoint in a folder that is whole and belongs to the search with this identity.
    pub fn choose(folder: &Path, identity: &str) -> Result<Chosen, Diagnostic> {
        let shown = folder.display();
        let levels = levels_in(folder)
            .map_err(|error| Diagnostic::error(format!("cannot read the checkpoints in {shown}: {error}")))?;
        let mut refused = Vec::new();
        for (depth, path) in levels.into_iter().rev() {
            match check(&path, identity) {
                Ok(parts) => return Ok(Chosen { parts, depth, refused }),
                Err(why) => refused.push(format!("{} cannot be used: {why}", path.display())),
            }
        }
        let message = match refused.is_empty() {
            true => format!("there is no checkpoint in {shown}"),
            false => format!("no checkpoint in {shown} can be used: {}", refused.join("; ")),
        };
        Err(Diagnostic::error(message))
    }
}

impl Chosen {
    /// The parts, one of each process.
    pub(crate) fn open(&self) -> impl Iterator<Item = Result<PartReader, String>> + '_ {
        self.parts.iter().map(|path| PartReader::open(path))
    }
}

/// What a part says of itself in its first chunk.
pub(crate) struct Title {
    pub(crate) identity: String,
    pub(crate) part: u32,
    pub(crate) parts: u32,
    pub(crate) depth: u32,
}

impl Title {
    pub(crate) fn write(&self, out: &mut Writer) {
        out.bytes(self.identity.as_bytes());
        [self.part, self.parts, self.depth].iter().for_each(|&number| out.word(number));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Title> {
        let identity = reader.text()?;
        Some(Title { identity, part: reader.word()?, parts: reader.word()?, depth: reader.word()? })
    }
}

/// The checkpoints in a folder, by depth.
fn levels_in(folder: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut levels = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(depth) = name.and_then(|name| name.strip_prefix(FOLDER)?.parse().ok()) {
            levels.push((depth, path));
        }
    }
    levels.sort();
    Ok(levels)
}

/// Reads all parts of a checkpoint to their ends.
fn check(level: &Path, identity: &str) -> Result<Vec<PathBuf>, String> {
    let (mut parts, mut count) = (Vec::new(), 1);
    while (parts.len() as u32) < count {
        let path = level.join(format!("part-{}", parts.len()));
        let named = |why: String| format!("part {}: {why}", parts.len());
        let mut reader = PartReader::open(&path).map_err(named)?;
        let first = reader.next().map_err(named)?.unwrap_or_default();
        let title = Title::read(&mut Reader::new(&first)).ok_or_else(|| named("it has no title".into()))?;
        if title.identity != identity {
            return Err(format!("it is of another search: {}", title.identity));
        }
        if title.part as usize != parts.len() {
            return Err(named("it is another part".into()));
        }
        while reader.next().map_err(named)?.is_some() {}
        count = title.parts;
        parts.push(path);
    }
    Ok(parts)
}

/// When checkpoints are due, and where they go.
pub(crate) struct Schedule {
    folder: PathBuf,
    every: Duration,
    last: Instant,
}

impl Schedule {
    pub(crate) fn new(folder: &Path, every: Duration) -> Self {
        Schedule { folder: folder.to_owned(), every, last: Instant::now() }
    }

    pub(crate) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    /// A part of a checkpoint, about to be written.
    pub(crate) fn begin(&mut self, depth: u32, part: u32) -> io::Result<PartWriter> {
        self.last = Instant::now();
        let level = self.folder.join(format!("{FOLDER}{depth:08}"));
        fs::create_dir_all(&level)?;
        PartWriter::create(&level.join(format!("part-{part}")))
    }

    /// Removes all but the last checkpoints.
    pub(crate) fn tidy(&self) -> io::Result<()> {
        let mut levels = levels_in(&self.folder)?;
        levels.truncate(levels.len().saturating_sub(KEPT));
        levels.iter().try_for_each(|(_, path)| fs::remove_dir_all(path))
    }
}
