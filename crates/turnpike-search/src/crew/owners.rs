//! Who owns a state, and the hash that decides it.

use turnpike_model::{Explorer, Names};

use super::part::{self, Part};
use crate::store::stored_print;

/// How states are shared out to workers.
#[derive(Clone)]
pub(crate) struct Owners {
    by: By,
    workers: u64,
}

/// What decides.
#[derive(Clone)]
enum By {
    /// Words that are the same in all processes, or among threads of one process.
    Words(Part),
    /// Words, and what names among them stand for.
    Meaning(Part, Names),
    /// The content hash, where states travel as a whole.
    Content,
    /// What is kept of the content hash, where owners keep it.
    Print,
}

impl Owners {
    /// `kept`: owners keep content hashes, which decide then. `far`: there are other processes, and `agree`
    /// makes them choose the same part.
    pub(crate) fn new<E>(
        explorer: &mut dyn Explorer,
        width: usize,
        workers: usize,
        kept: bool,
        far: bool,
        agree: impl FnOnce(Part) -> Result<Part, E>,
    ) -> Result<Self, E> {
        let names = explorer.portable_states().and_then(|states| Some(states.words()?.names()));
        let by = match names {
            _ if kept => By::Print,
            None if far => By::Content,
            names => {
                let part = agree(part::choose(explorer, width, names.as_ref(), workers))?;
                match names.filter(|names| far && !names.positions.is_empty()) {
                    Some(names) => By::Meaning(part, names),
                    None => By::Words(part),
                }
            }
        };
        Ok(Owners { by, workers: workers as u64 })
    }

    /// The owner of a state.
    pub(crate) fn of(&self, explorer: &mut dyn Explorer, state: &[u32]) -> usize {
        let origin = self.origin(explorer, state);
        self.after(explorer, state, origin, state).0
    }

    /// Whether a transition changes nothing that decides, so that the owner stays the same.
    #[inline]
    pub(crate) fn is_kept(&self, source: &[u32], target: &[u32]) -> bool {
        let (By::Words(part) | By::Meaning(part, _)) = &self.by else { return false };
        part.iter().fold(0, |changed, &(at, mask)| changed | (source[at] ^ target[at]) & mask) == 0
    }

    /// What [`Owners::after`] needs to know of a state whose successors it is asked for.
    #[inline]
    pub(crate) fn origin(&self, explorer: &mut dyn Explorer, state: &[u32]) -> u64 {
        match &self.by {
            By::Words(part) => {
                part.iter().fold(0, |hash, &(at, mask)| hash ^ share(at, (state[at] & mask).into()))
            }
            By::Meaning(part, names) => {
                part.iter().fold(0, |hash, &(at, mask)| hash ^ meaning(explorer, names, at, state[at], mask))
            }
            By::Content | By::Print => 0,
        }
    }

    /// The owner of a successor, and its content hash if that decides. Where words decide, only those that the
    /// transition changed are looked at.
    #[inline]
    pub(crate) fn after(
        &self,
        explorer: &mut dyn Explorer,
        source: &[u32],
        origin: u64,
        target: &[u32],
    ) -> (usize, u64) {
        let mut hash = origin;
        match &self.by {
            By::Words(part) => {
                for &(at, mask) in part {
                    let (before, after) = (source[at] & mask, target[at] & mask);
                    if before != after {
                        hash ^= share(at, before.into()) ^ share(at, after.into());
                    }
                }
            }
            By::Meaning(part, names) => {
                for &(at, mask) in part {
                    let (before, after) = (source[at], target[at]);
                    if (before ^ after) & mask != 0 {
                        hash ^= meaning(explorer, names, at, before, mask);
                        hash ^= meaning(explorer, names, at, after, mask);
                    }
                }
            }
            By::Content => {
                let hash = explorer.content_hash(target);
                return (owner(hash, self.workers), hash);
            }
            By::Print => {
                let hash = explorer.content_hash(target);
                return (owner(stored_print(hash), self.workers), hash);
            }
        }
        (owner(hash, self.workers), 0)
    }
}

/// What the word at a position contributes to the hash of a state: nothing else changes it.
#[inline]
fn meaning(explorer: &mut dyn Explorer, names: &Names, position: usize, word: u32, mask: u32) -> u64 {
    let meant = match names.has(position, word) {
        true => explorer.portable_states().and_then(|states| Some(states.words()?.name_hash(word))),
        false => None,
    };
    share(position, meant.unwrap_or((word & mask).into()))
}

/// The same for what the word means.
#[inline]
pub(super) fn share(position: usize, meant: u64) -> u64 {
    let place = (position as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = u128::from(meant ^ place) * 0xd1b5_4a32_d192_ed03_u128;
    product as u64 ^ (product >> 64) as u64
}

/// Who owns what has this hash. Tables look at other bits of it.
#[inline]
pub(crate) fn owner(hash: u64, workers: u64) -> usize {
    (((hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) * workers) >> 32) as usize
}
