//! Breadth-first search whose visited states move to files when memory is short: delayed duplicate
//! detection.
//!
//! All states are listed in a file in the order of discovery ([`list`]); the next level is the end of
//! that list. A store in memory knows the states that were met recently. When it takes too much memory,
//! its states move to a file that is sorted by hash ([`sorted`]), and it begins anew. A state that the
//! store does not know is a *candidate*: before the list goes on, candidates are compared with all
//! sorted files, one pass over each. Those that are in none are new, and enter the list in the order in
//! which they were met. So numbers of states, levels, limits and witnesses are those of a search in memory
//! ([decision 0260](../docs/decisions/0260-spilled-states-keep-their-order.md)).

mod list;
mod sorted;

use std::cell::RefCell;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use turnpike_model::{Diagnostic, Successors};

use self::list::List;
use self::sorted::{Sorted, merge};
use crate::crew::Explored;
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::resources::{machine_bytes, resident_bytes};
use crate::run::Run;
use crate::store::{ROOT, StoreKind, Visited, quick_hash};
use crate::witness::Path;

/// Where a search puts states that memory has no room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Files are made in a new folder below this one, and removed at the end.
    pub folder: PathBuf,
    /// Bytes that states may take in memory. Without it a fifth of what the limit on memory leaves when the
    /// search begins: beside them there are sorted lists of candidates, and tables while they grow.
    pub room: Option<u64>,
}

impl Spill {
    /// Refuses a limit on memory that is reached before the first state moves to a file.
    fn check_limit(&self, limit: Option<u64>) -> Result<(), Halt> {
        let (Some(limit), None) = (limit, self.room) else { return Ok(()) };
        let taken = resident_bytes();
        if limit >= taken + OVERHEAD {
            return Ok(());
        }
        // The next execution may take a little more.
        let enough = ((taken + OVERHEAD) >> 20).next_multiple_of(8) + 8;
        let error = Diagnostic::error(format!(
            "the limit on memory leaves no room for states: {} MiB are taken before the search begins",
            taken >> 20
        ));
        Err(SearchError::from(error.help(format!("a limit of {enough}M is enough"))).into())
    }

    fn room(&self, limit: Option<u64>) -> u64 {
        let all = limit.or_else(|| Some(machine_bytes()? / 4 * 3)).unwrap_or(1 << 30);
        self.room.unwrap_or_else(|| (all.saturating_sub(resident_bytes()) / 5).max(LEAST_ROOM))
    }
}

/// What a search takes beside its states: lists of candidates, and buffers of files.
const OVERHEAD: u64 = 16 << 20;
/// With less room every few states would move.
const LEAST_ROOM: u64 = 1 << 20;
/// States loaded at a time.
const BATCH: u64 = 1 << 12;
/// More files are merged into one, so that each pass has few to open.
const MOST_FILES: usize = 24;

fn failed(error: &io::Error) -> Halt {
    let error = Diagnostic::error(format!("cannot move states to files: {error}"));
    SearchError::from(error.help("the folder needs room for all states")).into()
}

/// Searches breadth-first, or generates; `deadlocks` as in [`crate::crew::breadth_first`].
pub(crate) fn breadth_first(run: &mut Run<'_>, spill: &Spill, deadlocks: Option<bool>) -> Explored {
    let mut explored =
        Explored { outcome: Ok(StopReason::Exhausted), states: 0, deadlocks: 0, levels: 0, bytes: 0 };
    if let Err(halt) = spill.check_limit(run.options.limits.memory) {
        return Explored { outcome: Err(halt), ..explored };
    }
    let folder = match make_folder(&spill.folder) {
        Ok(folder) => folder,
        Err(error) => return Explored { outcome: Err(failed(&error)), ..explored },
    };
    let outcome = Space::new(run, &folder.0, spill.room(run.options.limits.memory), deadlocks)
        .map_err(|error| failed(&error))
        .and_then(|mut space| {
            let outcome = space.explore(run);
            // What was met before a limit counts, too.
            let settled = space.settle();
            explored.states = space.list.len();
            explored.deadlocks = space.stuck;
            explored.levels = space.levels.into();
            explored.bytes = space.store.bytes() as u64;
            match (space.failure.into_inner().or(settled.err()), outcome) {
                (_, Err(error @ Halt::Error(_))) => Err(error),
                (Some(error), _) => Err(failed(&error)),
                (None, outcome) => outcome,
            }
        });
    Explored { outcome, ..explored }
}

/// A folder that goes with everything in it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A new folder below another one.
fn make_folder(parent: &FilePath) -> io::Result<Folder> {
    std::fs::create_dir_all(parent)?;
    let name = |attempt: u32| parent.join(format!("turnpike-spill-{}-{attempt}", std::process::id()));
    for attempt in 0.. {
        match std::fs::create_dir(name(attempt)) {
            Ok(()) => return Ok(Folder(name(attempt))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("numbers end only after 2^32 folders")
}

struct Space<'f> {
    folder: &'f FilePath,
    room: u64,
    /// All states in order.
    list: List,
    /// States that left the memory; no state is in two files.
    files: Vec<Sorted>,
    made: u32,
    kind: StoreKind,
    /// States met recently, with the numbers of the states they were met from.
    store: Visited,
    /// The first one that may be in a file.
    first_candidate: u32,
    /// States of the store that are in no file, by their numbers there.
    unwritten: Vec<u32>,
    /// Whether deadlocks are counted, and if so whether some states are proper ends.
    deadlocks: Option<bool>,
    stuck: u64,
    levels: u32,
    targets: Vec<u32>,
    failure: RefCell<Option<io::Error>>,
    /// Whether there are more states than numbers.
    full: bool,
}

impl<'f> Space<'f> {
    fn new(run: &Run<'_>, folder: &'f FilePath, room: u64, deadlocks: Option<bool>) -> io::Result<Self> {
        Ok(Space {
            folder,
            room,
            list: List::create(&folder.join("states"), run.width())?,
            files: Vec::new(),
            made: 0,
            kind: run.options.store,
            store: Visited::new(run.options.store, run.width(), true),
            first_candidate: 0,
            unwritten: Vec::new(),
            deadlocks,
            stuck: 0,
            levels: 0,
            targets: Vec::new(),
            failure: RefCell::new(None),
            full: false,
        })
    }

    fn explore(&mut self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let initial = run.initial()?;
        self.store.insert_exact(&initial, ROOT);
        self.settle().map_err(|error| failed(&error))?;
        let (mut start, mut states) = (0, Vec::new());
        while start < self.list.len() {
            if self.levels == run.view.max_depth {
                return Ok(StopReason::MaxDepth);
            }
            let end = self.list.len();
            while start < end {
                let batch = start..end.min(start + BATCH);
                self.list.read(batch.clone(), &mut states).map_err(|error| failed(&error))?;
                let number = |index: usize| (batch.start + index as u64) as u32;
                run.expand_level(
                    &states,
                    self.levels,
                    self,
                    |space, index| space.path(number(index)),
                    |run, space, index, state, successors| {
                        space.take(run, number(index), state, successors);
                        run.check(state, successors, &|| space.path(number(index)))
                    },
                )?;
                if self.full {
                    return Err(Halt::Stop(StopReason::MaxStates));
                }
                if self.store.bytes() as u64 > self.room {
                    self.settle().and_then(|()| self.move_out()).map_err(|error| failed(&error))?;
                }
                start = batch.end;
            }
            self.settle().map_err(|error| failed(&error))?;
            if self.full {
                return Err(Halt::Stop(StopReason::MaxStates));
            }
            self.levels += 1;
        }
        Ok(StopReason::Exhausted)
    }

    fn take(&mut self, run: &mut Run<'_>, from: u32, state: &[u32], successors: &Successors) {
        if let Some(some_are_ends) = self.deadlocks
            && successors.is_empty()
        {
            let stuck = !some_are_ends || run.view.explorer.is_deadlock(state, successors);
            self.stuck += u64::from(stuck);
        }
        self.store.insert_all_exact(successors, from, &mut self.targets);
    }

    /// Finds out which candidates are new, and appends those to the list.
    fn settle(&mut self) -> io::Result<()> {
        let candidates = self.first_candidate..self.store.len() as u32;
        self.first_candidate = candidates.end;
        let mut is_old = vec![false; candidates.len()];
        if !self.files.is_empty() && !candidates.is_empty() {
            let sorted = by_hash(&self.store, candidates.clone());
            for file in &self.files {
                file.mark_known(&self.store, &sorted, |id| is_old[(id - candidates.start) as usize] = true)?;
            }
        }
        let mut state = Vec::new();
        for id in candidates.zip(is_old).filter_map(|(id, old)| (!old).then_some(id)) {
            self.store.load(id, &mut state);
            if !self.list.push(&state, self.store.parent(id))? {
                self.full = true;
                break;
            }
            self.unwritten.push(id);
        }
        self.list.flush()
    }

    /// Moves all states to files.
    fn move_out(&mut self) -> io::Result<()> {
        let sorted = by_hash(&self.store, std::mem::take(&mut self.unwritten).into_iter());
        let path = self.next_file();
        let width = self.list.width();
        self.files.push(Sorted::write(&path, width, &self.store, &sorted)?);
        self.store = self.empty_store();
        self.first_candidate = 0;
        if self.files.len() > MOST_FILES {
            let path = self.next_file();
            self.files = vec![merge(&path, width, std::mem::take(&mut self.files))?];
        }
        Ok(())
    }

    fn empty_store(&self) -> Visited {
        Visited::new(self.kind, self.list.width(), true)
    }

    fn next_file(&mut self) -> PathBuf {
        self.made += 1;
        self.folder.join(format!("sorted-{}", self.made))
    }

    /// The states from the initial one to the one with this number.
    fn path(&self, number: u32) -> Path {
        match self.list.path(number) {
            Ok(states) => Path::States(states),
            Err(error) => {
                *self.failure.borrow_mut() = Some(error);
                Path::Choices(Vec::new())
            }
        }
    }
}

/// States of a store, by hash and, where hashes are equal, by their words.
fn by_hash(store: &Visited, ids: impl Iterator<Item = u32>) -> Vec<(u64, u32)> {
    let mut state = Vec::new();
    let hashed = ids.map(|id| {
        store.load(id, &mut state);
        (quick_hash(&state), id)
    });
    let mut sorted: Vec<(u64, u32)> = hashed.collect();
    sorted.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            store.load(one.1, &mut left);
            store.load(other.1, &mut right);
            left.cmp(&right)
        })
    });
    sorted
}
