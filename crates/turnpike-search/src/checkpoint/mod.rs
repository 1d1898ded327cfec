//! Checkpoints: what is needed to go on with a search from the end of a level.
//!
//! A checkpoint is a folder `level-D` with one part for each process that made the search. The last two
//! are kept. A part is renamed once it is whole, and a checkpoint counts when all its parts do and belong
//! to the same execution of the search ([decision 0370](../docs/decisions/0370-parts-of-one-execution.md)).

mod file;

use std::fmt;
use std::hash::{BuildHasher, Hasher};
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
    /// The execution that wrote it.
    pub(crate) execution: u64,
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
            match check(&path, identity, depth) {
                Ok((parts, execution)) => return Ok(Chosen { parts, depth, execution, refused }),
                Err(why) => refused.push(format!("{} cannot be used: {why}", path.display())),
            }
        }
        let message = match refused.is_empty() {
            true => format!("there is no checkpoint in {shown}"),
            false => format!("no checkpoint in {shown} can be used: {}", refused.join("; ")),
        };
        Err(Diagnostic::error(message))
    }

    /// Refuses a folder that holds checkpoints of another search: they would be taken for older ones of this
    /// search, or this search's for older ones of theirs.
    pub fn check_folder(folder: &Path, identity: &str) -> Result<(), Diagnostic> {
        // A folder that is not there yet has none.
        for (_, level) in levels_in(folder).unwrap_or_default() {
            let parts = fs::read_dir(&level).into_iter().flatten().flatten();
            let titles = parts.filter_map(|part| Title::of(&mut PartReader::open(&part.path()).ok()?).ok());
            if let Some(other) = titles.map(|title| title.identity).find(|other| other != identity) {
                let shown = folder.display();
                let error =
                    Diagnostic::error(format!("{shown} holds checkpoints of another search: {other}"));
                return Err(error.help("choose another folder, or remove this one"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level {} of execution {:016x}", self.depth, self.execution)
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
    /// See [`name_execution`].
    pub(crate) execution: u64,
    pub(crate) part: u32,
    pub(crate) parts: u32,
    pub(crate) depth: u32,
}

impl Title {
    pub(crate) fn write(&self, out: &mut Writer) {
        out.bytes(self.identity.as_bytes());
        out.long(self.execution);
        [self.part, self.parts, self.depth].iter().for_each(|&number| out.word(number));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Title> {
        let (identity, execution) = (reader.text()?, reader.long()?);
        Some(Title {
            identity,
            execution,
            part: reader.word()?,
            parts: reader.word()?,
            depth: reader.word()?,
        })
    }

    /// The title of a part of which nothing was read yet.
    fn of(part: &mut PartReader) -> Result<Title, String> {
        let first = part.next()?.unwrap_or_default();
        Title::read(&mut Reader::new(&first)).ok_or_else(|| "it has no title".to_owned())
    }
}

/// A name for the execution of a search under way, by which its parts know each other. No result depends
/// on it, so it need not be the same in the next execution; it must not be.
pub(crate) fn name_execution() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
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

/// Reads all parts of a checkpoint to their ends: where they are, and which execution wrote them.
fn check(level: &Path, identity: &str, depth: u32) -> Result<(Vec<PathBuf>, u64), String> {
    let (mut parts, mut first) = (Vec::new(), None);
    while first.is_none_or(|(count, _)| (parts.len() as u32) < count) {
        let path = level.join(format!("part-{}", parts.len()));
        let named = |why: String| format!("part {}: {why}", parts.len());
        let mut reader = PartReader::open(&path).map_err(named)?;
        let title = Title::of(&mut reader).map_err(named)?;
        if title.identity != identity {
            return Err(format!("it is of another search: {}", title.identity));
        }
        if title.part as usize != parts.len() {
            return Err(named("it is another part".into()));
        }
        if title.depth != depth {
            return Err(named(format!("it is of level {}", title.depth)));
        }
        if *first.get_or_insert((title.parts, title.execution)) != (title.parts, title.execution) {
            return Err(named("another execution of the search wrote it".into()));
        }
        while reader.next().map_err(named)?.is_some() {}
        parts.push(path);
    }
    let execution = first.map(|(_, execution)| execution).unwrap_or_default();
    Ok((parts, execution))
}

/// When checkpoints are due, and where they go.
pub(crate) struct Schedule {
    folder: PathBuf,
    every: Duration,
    last: Instant,
    /// The name of this execution.
    pub(crate) execution: u64,
    /// The depths of checkpoints that this execution wrote and still has.
    written: Vec<u32>,
}

impl Schedule {
    pub(crate) fn new(folder: &Path, every: Duration, execution: u64) -> Self {
        let last = Instant::now();
        Schedule { folder: folder.to_owned(), every, last, execution, written: Vec::new() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
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

    /// A checkpoint of this depth is whole: removes those before the last two of this execution. Deeper
    /// ones were left by an earlier execution of the same search, and can still be used.
    pub(crate) fn tidy(&mut self, depth: u32) -> io::Result<()> {
        self.written.push(depth);
        let Some(&oldest) = self.written.iter().rev().nth(KEPT - 1) else { return Ok(()) };
        self.written.retain(|&depth| depth >= oldest);
        let older = levels_in(&self.folder)?.into_iter().filter(|(depth, _)| *depth < oldest);
        older.into_iter().try_for_each(|(_, path)| fs::remove_dir_all(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, depth: u32, title: Title) {
        let mut schedule = Schedule::new(folder, Duration::ZERO, title.execution);
        let mut out = schedule.begin(depth, title.part).expect("a file");
        title.write(out.chunk());
        out.finish().expect("writes");
    }

    fn title(execution: u64, part: u32, parts: u32, depth: u32) -> Title {
        Title { identity: "one search".into(), execution, part, parts, depth }
    }

    #[test]
    fn parts_of_different_executions_are_not_mixed() {
        let folder = tempfile::tempdir().expect("a folder");
        let choose = || Checkpoints::choose(folder.path(), "one search");
        for part in 0..2 {
            write(folder.path(), 3, title(1, part, 2, 3));
            write(folder.path(), 5, title(1, part, 2, 5));
        }
        assert_eq!(choose().expect("whole").depth, 5);
        // A later execution is killed between the two.
        write(folder.path(), 5, title(2, 0, 2, 5));
        let chosen = choose().expect("the one before is whole");
        assert_eq!((chosen.depth, chosen.execution), (3, 1));
        assert!(chosen.refused[0].contains("another execution"), "{:?}", chosen.refused);
        // Another number of parts, another depth than the folder says.
        write(folder.path(), 5, title(1, 0, 2, 5));
        write(folder.path(), 5, title(1, 1, 3, 5));
        assert_eq!(choose().expect("the one before").depth, 3);
        write(folder.path(), 5, title(1, 1, 2, 4));
        assert_eq!(choose().expect("the one before").depth, 3);
    }

    #[test]
    fn an_execution_never_removes_its_own_last_checkpoint() {
        let folder = tempfile::tempdir().expect("a folder");
        for depth in [1, 8, 9] {
            write(folder.path(), depth, title(1, 0, 1, depth));
        }
        let mut schedule = Schedule::new(folder.path(), Duration::ZERO, 2);
        for depth in 2..=4 {
            write(folder.path(), depth, title(2, 0, 1, depth));
            schedule.tidy(depth).expect("removes");
        }
        let left: Vec<u32> = levels_in(folder.path()).expect("a folder").iter().map(|one| one.0).collect();
        assert_eq!(left, [3, 4, 8, 9]);
    }

    #[test]
    fn a_folder_of_another_search_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |identity| Checkpoints::check_folder(folder.path(), identity);
        check("one search").expect("empty");
        write(folder.path(), 3, title(1, 0, 1, 3));
        check("one search").expect("its own");
        let error = check("another").expect_err("of another search").to_string();
        assert!(error.contains("one search"), "{error}");
        Checkpoints::check_folder(&folder.path().join("missing"), "any").expect("nothing there yet");
    }
}
