//! The nodes that all threads share: append-only, found without a lock, and without duplicates.
//!
//! Nodes are stored in one long array of words. It consists of segments, which are allocated when
//! needed and never move:
//!
//! ```text
//! code   arity and flags   content hash (two words)   arguments …   (source)   (padding to an even number of words)
//! ```
//!
//! The source of a function in normal form is the value to apply instead. It is not part of its
//! identity.
//!
//! A hash table finds the node for a head and arguments. When it is too full, a table twice as
//! large replaces it. The old table stays, because another thread may be reading it. A thread that
//! reads an old table can only miss new nodes, and then searches again under the lock.
//!
//! A slot is written with release order after the node that it refers to, and read with acquire
//! order. A word that reaches another thread in some other way (a queue, a table of states) must be
//! passed with the same orders, so that the node is visible there.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Head, Value};
use crate::typed::{Program, SymbolKind};

/// The nodes without arguments that every heap has, in the order of their words.
pub(super) const FIXED_NODES: [(Head, Value); 6] = [
    (Head::Bool(false), Value::FALSE),
    (Head::Bool(true), Value::TRUE),
    (Head::Nil, Value::NIL),
    (Head::Set, Value::EMPTY_SET),
    (Head::CoSet, Value::FULL_SET),
    (Head::Bag, Value::EMPTY_BAG),
];

/// The number of words before the arguments of a node.
pub(super) const HEADER: usize = 4;

/// Nodes at or above this word are private to one heap.
pub(super) const PRIVATE_START: u32 = 0xE000_0000;

/// Set in the second word of plain nodes.
pub(super) const PLAIN: u32 = 1 << 31;
/// Set in the second word of private nodes that have become shared. The third word is then the
/// shared node.
pub(super) const FORWARDED: u32 = 1 << 30;
/// Set in the second word of sets, bags and updates whose elements or keys are all plain.
pub(super) const PLAIN_KEYS: u32 = 1 << 29;
/// Set in the second word of nodes with a [`Head::Free`] below.
pub(super) const OPEN: u32 = 1 << 28;
/// The bits of the second word that hold the arity.
pub(super) const ARITY: u32 = OPEN - 1;

const SEGMENT_BITS: usize = 18;
const SEGMENT_WORDS: usize = 1 << SEGMENT_BITS;
const SEGMENTS: usize = (PRIVATE_START as usize / 2) >> SEGMENT_BITS;

const FIRST_TABLE_BITS: usize = 12;
const TABLES: usize = 21;

type Segment = Box<[AtomicU32; SEGMENT_WORDS]>;

/// The nodes that all threads share.
#[derive(Debug)]
pub struct Terms {
    segments: Box<[OnceLock<Segment>]>,
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// The index of the current table.
    table: AtomicUsize,
    tail: Mutex<Tail>,
    /// The number of fields of each constructor of a structured sort; `u32::MAX` for all other
    /// symbols.
    fields: Box<[u32]>,
}

/// The state that only insertions use, under a lock.
#[derive(Debug, Default)]
struct Tail {
    /// The first free word.
    end: usize,
    nodes: usize,
}

/// The description of a node apart from its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) code: u32,
    /// The flags [`PLAIN`], [`PLAIN_KEYS`] and [`OPEN`] that apply.
    pub(super) flags: u32,
    pub(super) content: u64,
}

/// Whether a node has a source.
#[inline]
pub(super) fn has_source(code: u32) -> bool {
    code & 127 == 15
}

/// The number of words that a node takes.
#[inline]
pub(super) fn extent(code: u32, arity: usize) -> usize {
    (HEADER + arity + usize::from(has_source(code))).next_multiple_of(2)
}

/// Mixes two words so that every bit of the result depends on all of both.
#[inline]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x9E37_79B9_7F4A_7C15)
        * u128::from(0xD6E8_FEB8_6659_FD93_u64 ^ word.rotate_left(32));
    (product as u64) ^ (product >> 64) as u64
}

/// The place of a node in a hash table. It depends on the words of arguments, so it differs between
/// runs and must not become observable.
#[inline]
pub(super) fn place(code: u32, arguments: &[Value]) -> u64 {
    let seed = u64::from(code) | (arguments.len() as u64) << 32;
    arguments.iter().fold(mix(seed, 1), |hash, argument| mix(hash, u64::from(argument.word())))
}

impl Terms {
    /// Creates the terms for the symbols of a program.
    pub fn new(program: &Program) -> Arc<Terms> {
        let fields = program
            .symbols
            .iter()
            .map(|symbol| match symbol.kind {
                SymbolKind::StructConstructor { .. } => program.sorts.signature(symbol.sort).0.len() as u32,
                _ => u32::MAX,
            })
            .collect();
        let terms = Terms {
            segments: (0..SEGMENTS).map(|_| OnceLock::new()).collect(),
            tables: [const { OnceLock::new() }; TABLES],
            table: AtomicUsize::new(0),
            tail: Mutex::default(),
            fields,
        };
        terms.tables[0].get_or_init(|| slots(FIRST_TABLE_BITS));
        for (head, value) in FIXED_NODES {
            let code = head.code();
            let flags = if head == Head::CoSet { PLAIN_KEYS } else { PLAIN | PLAIN_KEYS };
            let header = Header { code, flags, content: mix(u64::from(code), 0) };
            let made = terms.insert(header, place(code, &[]), &[], Value::FALSE);
            debug_assert_eq!(made, Some(value));
        }
        Arc::new(terms)
    }

    /// The number of bytes of the nodes, without the hash table.
    pub fn bytes(&self) -> usize {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).end * 4
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).nodes
    }

    /// Whether a symbol with this number of arguments is a constructor of a structured sort with
    /// all its fields.
    #[inline]
    pub(super) fn is_constructor(&self, symbol: usize, arity: usize) -> bool {
        self.fields.get(symbol).is_some_and(|&fields| fields as usize == arity)
    }

    /// Reads a word. Words that have not been written are 0.
    #[inline]
    pub(super) fn word(&self, index: usize) -> u32 {
        match self.segments.get(index >> SEGMENT_BITS).and_then(OnceLock::get) {
            Some(segment) => segment[index & (SEGMENT_WORDS - 1)].load(Ordering::Relaxed),
            None => 0,
        }
    }

    fn set_word(&self, index: usize, word: u32) {
        self.segments[index >> SEGMENT_BITS].get_or_init(segment)[index & (SEGMENT_WORDS - 1)]
            .store(word, Ordering::Relaxed);
    }

    /// The node with this code and these arguments, if it exists. Takes no lock.
    #[inline]
    pub(super) fn find(&self, code: u32, place: u64, arguments: &[Value]) -> Option<Value> {
        let slots = self.tables[self.table.load(Ordering::Acquire)].get()?;
        self.probe(slots, code, place, arguments).ok()
    }

    /// The node, or the empty slot where it belongs.
    #[inline]
    fn probe(&self, slots: &[AtomicU64], code: u32, place: u64, arguments: &[Value]) -> Result<Value, usize> {
        let mask = slots.len() - 1;
        let mut index = place as usize & mask;
        loop {
            let slot = slots[index].load(Ordering::Acquire);
            if slot == 0 {
                return Err(index);
            }
            if (slot ^ place) >> 32 == 0 {
                let word = slot as u32 & !1;
                let start = word as usize / 2;
                if self.word(start) == code
                    && (self.word(start + 1) & ARITY) as usize == arguments.len()
                    && arguments
                        .iter()
                        .enumerate()
                        .all(|(index, argument)| self.word(start + HEADER + index) == argument.word())
                {
                    return Ok(Value::from_word(word));
                }
            }
            index = (index + 1) & mask;
        }
    }

    /// The node with this code and these arguments. A new node gets this source. `None` if all
    /// words are used.
    pub(super) fn insert(
        &self,
        header: Header,
        place: u64,
        arguments: &[Value],
        source: Value,
    ) -> Option<Value> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut slots: &[AtomicU64] = self.tables[self.table.load(Ordering::Relaxed)].get()?;
        let mut free = match self.probe(slots, header.code, place, arguments) {
            Ok(found) => return Some(found),
            Err(free) => free,
        };
        let start = tail.end;
        let end = start + extent(header.code, arguments.len());
        if end > SEGMENTS << SEGMENT_BITS || arguments.len() > ARITY as usize {
            return None;
        }
        if tail.nodes >= slots.len() / 4 * 3 {
            slots = self.grow(tail.end)?;
            free = self.probe(slots, header.code, place, arguments).err()?;
        }
        self.set_word(start, header.code);
        self.set_word(start + 1, arguments.len() as u32 | header.flags);
        self.set_word(start + 2, header.content as u32);
        self.set_word(start + 3, (header.content >> 32) as u32);
        for (index, argument) in arguments.iter().enumerate() {
            self.set_word(start + HEADER + index, argument.word());
        }
        if has_source(header.code) {
            self.set_word(start + HEADER + arguments.len(), source.word());
        }
        tail.end = end;
        tail.nodes += 1;
        let value = Value::from_word(start as u32 * 2);
        slots[free].store(entry(place, value), Ordering::Release);
        Some(value)
    }

    /// Replaces the current table by one of twice the size.
    fn grow(&self, end: usize) -> Option<&[AtomicU64]> {
        let next = self.table.load(Ordering::Relaxed) + 1;
        let cell = self.tables.get(next)?;
        let slots = cell.get_or_init(|| {
            let slots = slots(FIRST_TABLE_BITS + next);
            let mask = slots.len() - 1;
            let (mut start, mut arguments) = (0, Vec::new());
            while start < end {
                let arity = (self.word(start + 1) & ARITY) as usize;
                arguments.clear();
                arguments.extend((0..arity).map(|index| Value::from_word(self.word(start + HEADER + index))));
                let place = place(self.word(start), &arguments);
                let mut index = place as usize & mask;
                while slots[index].load(Ordering::Relaxed) != 0 {
                    index = (index + 1) & mask;
                }
                slots[index].store(entry(place, Value::from_word(start as u32 * 2)), Ordering::Relaxed);
                start += extent(self.word(start), arity);
            }
            slots
        });
        self.table.store(next, Ordering::Release);
        Some(slots)
    }
}

/// The content of a slot: half of the place, then the node. Odd, so that it is never zero.
fn entry(place: u64, value: Value) -> u64 {
    (place >> 32 << 32) | u64::from(value.word() | 1)
}

fn slots(bits: usize) -> Box<[AtomicU64]> {
    (0..1_usize << bits).map(|_| AtomicU64::new(0)).collect()
}

fn segment() -> Segment {
    let words: Box<[AtomicU32]> = (0..SEGMENT_WORDS).map(|_| AtomicU32::new(0)).collect();
    words.try_into().unwrap_or_else(|_| unreachable!("as many words as a segment has"))
}
