//! Who owns a state, and the hash that decides it.

use turnpike_model::{Explorer, Names};

use crate::store::{quick_hash, stored_print};

/// How states are shared out to workers.
#[derive(Clone)]
pub(crate) struct Owners {
    by: By,
    workers: u64,
}

/// What decides.
#[derive(Clone)]
enum By {
    /// The words, among threads of one process.
    Words,
    /// The words, where none is a name: every process comes to the same answer.
    Plain,
    /// The words, and what names among them stand for, to the same end.
    Meaning(Names),
    /// The content hash, where states travel as a whole.
    Content,
    /// What is kept of the content hash, where owners keep it.
    Print,
}

impl Owners {
    /// `kept`: owners keep content hashes, which decide then. `far`: there are other processes.
    pub(crate) fn new(explorer: &mut dyn Explorer, workers: usize, kept: bool, far: bool) -> Self {
        let mut names = || Some(explorer.portable_states()?.words()?.names());
        let by = match far {
            _ if kept => By::Print,
            false => By::Words,
            true => match names() {
                None => By::Content,
                Some(names) if names.positions.is_empty() => By::Plain,
                Some(names) => By::Meaning(names),
            },
        };
        Owners { by, workers: workers as u64 }
    }

    /// The owner of a state.
    pub(crate) fn of(&self, explorer: &mut dyn Explorer, state: &[u32]) -> usize {
        let origin = self.origin(explorer, state);
        self.after(explorer, state, origin, state).0
    }

    /// What [`Owners::after`] needs to know of a state whose successors it is asked for.
    #[inline]
    pub(crate) fn origin(&self, explorer: &mut dyn Explorer, state: &[u32]) -> u64 {
        let all = state.iter().enumerate();
        match &self.by {
            By::Plain => all.fold(0, |hash, (position, &word)| hash ^ share(position, word.into())),
            By::Meaning(names) => {
                all.fold(0, |hash, (position, &word)| hash ^ meaning(explorer, names, position, word))
            }
            _ => 0,
        }
    }

    /// The owner of a successor, and its hash. Where meanings decide, only what the transition changed is
    /// looked at.
    #[inline]
    pub(crate) fn after(
        &self,
        explorer: &mut dyn Explorer,
        source: &[u32],
        origin: u64,
        target: &[u32],
    ) -> (usize, u64) {
        match &self.by {
            By::Words => {
                let hash = quick_hash(target);
                (owner(hash, self.workers), hash)
            }
            By::Plain => {
                let mut hash = origin;
                for (position, (&before, &after)) in source.iter().zip(target).enumerate() {
                    if before != after {
                        hash ^= share(position, before.into()) ^ share(position, after.into());
                    }
                }
                (owner(hash, self.workers), hash)
            }
            By::Meaning(names) => {
                let mut hash = origin;
                for (position, (&before, &after)) in source.iter().zip(target).enumerate() {
                    if before != after {
                        hash ^= meaning(explorer, names, position, before);
                        hash ^= meaning(explorer, names, position, after);
                    }
                }
                (owner(hash, self.workers), hash)
            }
            By::Content => {
                let hash = explorer.content_hash(target);
                (owner(hash, self.workers), hash)
            }
            By::Print => {
                let hash = explorer.content_hash(target);
                (owner(stored_print(hash), self.workers), hash)
            }
        }
    }
}

/// What the word at a position contributes to the hash of a state: nothing else changes it.
#[inline]
fn meaning(explorer: &mut dyn Explorer, names: &Names, position: usize, word: u32) -> u64 {
    let meant = match names.has(position, word) {
        true => explorer.portable_states().and_then(|states| Some(states.words()?.name_hash(word))),
        false => None,
    };
    share(position, meant.unwrap_or(word.into()))
}

/// The same for what the word means.
#[inline]
fn share(position: usize, meant: u64) -> u64 {
    let place = (position as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = u128::from(meant ^ place) * 0xd1b5_4a32_d192_ed03_u128;
    product as u64 ^ (product >> 64) as u64
}

/// Who owns what has this hash. Tables look at other bits of it.
#[inline]
pub(crate) fn owner(hash: u64, workers: u64) -> usize {
    (((hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) * workers) >> 32) as usize
}
