//! Visited states: exact, tree-compressed, by fingerprint, or by bits; with parents, to reconstruct
//! paths.

mod arena;
mod cover;
mod exact;
mod lossy;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::str::FromStr;

pub(crate) use arena::{copy_words, push_words};
pub(crate) use cover::CoverStore;
pub(crate) use exact::{ExactStore, quick_hash};
pub(crate) use lossy::{Fingerprints, stored as stored_print};
pub(crate) use table::{StateTable, prefetch};
use turnpike_model::{Diagnostic, Explorer, Successors};

use crate::witness::Path;
use arena::Arena;
use lossy::Bitstate;
use tree::TreeStore;

/// How visited states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// Every state in full; equal parts shared when states are wide ([`StoreKind::WIDE`]).
    Auto,
    /// Every state in full.
    Exact,
    /// Every state in full, equal parts shared.
    Tree,
    /// A 64-bit fingerprint a state.
    Compact,
    /// A few bits a state, in a table of this many bytes.
    Bitstate {
        /// Size of the bit table.
        bytes: u64,
    },
}

impl StoreKind {
    /// Size of the bit table when none is given.
    pub const DEFAULT_BITSTATE_BYTES: u64 = 64 << 20;
    /// From this many words a state on, sharing parts pays: a full copy and its index take more than 64 bytes.
    pub const WIDE: usize = 15;
    const NAMES: [&'static str; 5] = ["auto", "exact", "tree", "compact", "bitstate"];

    /// Whether absence can be proved with it.
    pub fn is_exact(self) -> bool {
        matches!(self, StoreKind::Auto | StoreKind::Exact | StoreKind::Tree)
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreKind::Auto => "auto",
            StoreKind::Exact => "exact",
            StoreKind::Tree => "tree",
            StoreKind::Compact => "compact",
            StoreKind::Bitstate { .. } => "bitstate",
        })
    }
}

impl FromStr for StoreKind {
    type Err = Diagnostic;
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        match text {
            "auto" => Ok(StoreKind::Auto),
            "exact" => Ok(StoreKind::Exact),
            "tree" => Ok(StoreKind::Tree),
            "compact" => Ok(StoreKind::Compact),
            "bitstate" => Ok(StoreKind::Bitstate { bytes: Self::DEFAULT_BITSTATE_BYTES }),
            _ => Err(Diagnostic::error(format!("there is no store `{text}`")).suggest_or_list(
                text,
                Self::NAMES,
                "the stores are",
            )),
        }
    }
}

/// The parent of the initial state.
pub(crate) const ROOT: u32 = u32::MAX;

enum Kind {
    Exact(ExactStore),
    Tree(TreeStore),
    Compact(Fingerprints, Retained),
    Bitstate(Bitstate, Retained),
}

/// States that a lossy store must still expand, and the choices that reach every state it took in.
struct Retained {
    states: Arena,
    choices: Vec<u32>,
}

/// The set of visited states of one search, with dense ids in order of insertion.
pub(crate) struct Visited {
    kind: Kind,
    /// Parent ids; empty if no path will be needed.
    parents: Option<Vec<u32>>,
}

impl Visited {
    pub(crate) fn new(kind: StoreKind, width: usize, with_parents: bool) -> Self {
        let retained = || Retained { states: Arena::new(width), choices: Vec::new() };
        let kind = match kind {
            StoreKind::Auto if width >= StoreKind::WIDE => Kind::Tree(TreeStore::new(width)),
            StoreKind::Auto | StoreKind::Exact => Kind::Exact(ExactStore::new(width)),
            StoreKind::Tree => Kind::Tree(TreeStore::new(width)),
            StoreKind::Compact => Kind::Compact(Fingerprints::default(), retained()),
            StoreKind::Bitstate { bytes } => Kind::Bitstate(Bitstate::new(bytes), retained()),
        };
        Visited { kind, parents: with_parents.then(Vec::new) }
    }

    /// Adds a state reached from `parent` by its transition `choice`. `None` when it was there already.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        explorer: &mut dyn Explorer,
        state: &[u32],
        parent: u32,
        choice: u32,
    ) -> Option<u32> {
        let new = match &mut self.kind {
            Kind::Exact(store) => {
                let (id, new) = store.insert(state);
                new.then_some(id)
            }
            Kind::Tree(store) => {
                let (id, new) = store.insert(state);
                new.then_some(id)
            }
            Kind::Compact(prints, retained) => {
                prints.insert(explorer.content_hash(state)).then(|| retained.push(state, choice))
            }
            Kind::Bitstate(bits, retained) => {
                bits.insert(explorer.content_hash(state)).then(|| retained.push(state, choice))
            }
        };
        if let (Some(_), Some(parents)) = (new, &mut self.parents) {
            parents.push(parent);
        }
        new
    }

    /// Like [`insert`](Self::insert) for exact stores, giving the id of old states too.
    #[inline]
    pub(crate) fn insert_exact(&mut self, state: &[u32], parent: u32) -> (u32, bool) {
        let (id, new) = match &mut self.kind {
            Kind::Exact(store) => store.insert(state),
            Kind::Tree(store) => store.insert(state),
            _ => unreachable!("only exact stores give ids of old states"),
        };
        if let (true, Some(parents)) = (new, &mut self.parents) {
            parents.push(parent);
        }
        (id, new)
    }

    /// The id of a state, for exact stores.
    pub(crate) fn find_exact(&self, state: &[u32]) -> Option<u32> {
        match &self.kind {
            Kind::Exact(store) => store.find(state),
            Kind::Tree(store) => store.find(state),
            _ => unreachable!("only exact stores give ids of old states"),
        }
    }

    /// Adds states, given flat, and writes the id of each, old or new: for exact stores without
    /// parents.
    pub(crate) fn insert_words(&mut self, words: &[u32], count: usize, ids: &mut Vec<u32>) {
        match &mut self.kind {
            Kind::Exact(store) => store.insert_all(words, count, ids),
            Kind::Tree(store) => {
                let width = words.len() / count.max(1);
                ids.clear();
                ids.extend(
                    (0..count).map(|index| store.insert(&words[index * width..(index + 1) * width]).0),
                );
            }
            _ => unreachable!("only exact stores give ids of old states"),
        }
    }

    /// Whether it knows how states were reached.
    pub(crate) fn has_parents(&self) -> bool {
        self.parents.is_some()
    }

    /// The parent of a state; [`ROOT`] also when it is not known.
    pub(crate) fn parent(&self, id: u32) -> u32 {
        self.parents.as_ref().map_or(ROOT, |parents| parents[id as usize])
    }

    /// Adds all successors of a state, and writes the id of each, old or new: for exact stores.
    pub(crate) fn insert_all_exact(&mut self, successors: &Successors, parent: u32, ids: &mut Vec<u32>) {
        self.insert_words(successors.words(), successors.len(), ids);
        let new_len = self.len();
        if let Some(parents) = &mut self.parents {
            parents.resize(new_len, parent);
        }
    }

    /// Adds all successors of a state.
    #[inline]
    pub(crate) fn insert_all(
        &mut self,
        explorer: &mut dyn Explorer,
        successors: &Successors,
        parent: u32,
        scratch: &mut Vec<u32>,
    ) {
        if matches!(self.kind, Kind::Exact(_) | Kind::Tree(_)) {
            self.insert_all_exact(successors, parent, scratch);
        } else {
            for choice in 0..successors.len() {
                self.insert(explorer, successors.state(choice), parent, choice as u32);
            }
        }
    }

    pub(crate) fn contains(&self, explorer: &mut dyn Explorer, state: &[u32]) -> bool {
        match &self.kind {
            Kind::Exact(store) => store.find(state).is_some(),
            Kind::Tree(store) => store.find(state).is_some(),
            Kind::Compact(prints, _) => prints.contains(explorer.content_hash(state)),
            Kind::Bitstate(bits, _) => bits.contains(explorer.content_hash(state)),
        }
    }

    /// Asks for the memory where the look-up of a state will begin; see [`StateTable::prefetch`](table::StateTable::prefetch).
    #[inline]
    pub(crate) fn prefetch(&self, state: &[u32]) {
        if let Kind::Exact(store) = &self.kind {
            store.prefetch(state);
        }
    }

    /// Asks for the memory of a state that will be loaded soon.
    #[inline]
    pub(crate) fn prefetch_state(&self, id: u32) {
        if let Kind::Exact(store) = &self.kind {
            prefetch(store.get(id));
        }
    }

    /// Copies a state out.
    #[inline]
    pub(crate) fn load(&self, id: u32, out: &mut Vec<u32>) {
        match &self.kind {
            Kind::Exact(store) => {
                out.clear();
                push_words(out, store.get(id));
            }
            Kind::Tree(store) => store.load(id, out),
            Kind::Compact(_, retained) | Kind::Bitstate(_, retained) => {
                out.clear();
                out.extend_from_slice(retained.states.get(id));
            }
        }
    }

    /// The state will not be loaded again: lossy stores give its memory back.
    pub(crate) fn forget(&mut self, id: u32) {
        if let Kind::Compact(_, retained) | Kind::Bitstate(_, retained) = &mut self.kind {
            retained.states.forget(id);
        }
    }

    /// The path from the initial state to `id`.
    pub(crate) fn path(&self, id: u32) -> Path {
        let parents = self.parents.as_ref().expect("paths need parents");
        let mut ids = vec![id];
        let mut at = id;
        while parents[at as usize] != ROOT {
            at = parents[at as usize];
            ids.push(at);
        }
        ids.reverse();
        match &self.kind {
            Kind::Compact(_, retained) | Kind::Bitstate(_, retained) => {
                Path::Choices(ids[1..].iter().map(|&id| retained.choices[id as usize]).collect())
            }
            _ => {
                let mut flat = Vec::new();
                let mut state = Vec::new();
                for id in ids {
                    self.load(id, &mut state);
                    flat.extend_from_slice(&state);
                }
                Path::States(flat)
            }
        }
    }

    /// Number of states taken in.
    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::Exact(store) => store.len(),
            Kind::Tree(store) => store.len(),
            Kind::Compact(prints, _) => prints.len(),
            Kind::Bitstate(bits, _) => bits.len(),
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let parents = self.parents.as_ref().map_or(0, |parents| parents.capacity() * 4);
        let kind = match &self.kind {
            Kind::Exact(store) => store.bytes(),
            Kind::Tree(store) => store.bytes(),
            Kind::Compact(prints, retained) => prints.bytes() + retained.bytes(),
            Kind::Bitstate(bits, retained) => bits.bytes() + retained.bytes(),
        };
        parents + kind
    }

    /// What the user must know about a lossy store's odds; `None` for exact ones.
    pub(crate) fn odds(&self) -> Option<String> {
        match &self.kind {
            Kind::Exact(_) | Kind::Tree(_) => None,
            Kind::Compact(prints, _) => Some(format!(
                "63-bit fingerprints of {} states: {:.1e} colliding pairs expected",
                prints.len(),
                Fingerprints::expected_collisions(prints.len() as u64)
            )),
            Kind::Bitstate(bits, _) => Some(format!(
                "bit table of {} bytes holding {} states: a new state is now taken for an old one with probability {:.1e}",
                bits.bytes(),
                bits.len(),
                bits.miss_probability()
            )),
        }
    }
}

impl Retained {
    fn push(&mut self, state: &[u32], choice: u32) -> u32 {
        let id = self.states.len() as u32;
        self.states.push(state);
        self.choices.push(choice);
        id
    }

    fn bytes(&self) -> usize {
        self.states.bytes() + self.choices.capacity() * 4
    }
}
