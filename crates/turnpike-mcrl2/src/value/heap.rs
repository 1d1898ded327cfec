//! The nodes of one thread: private nodes, which are cheap to create and discard, in front of the
//! shared ones.
//!
//! Most values that evaluation creates are temporary. They live in a plain vector of this heap.
//! [`Heap::keep`] copies the results of a step to the shared [`Terms`].
//!
//! # When equal values have equal words
//!
//! [`Heap::make`] searches the private nodes first, then the shared ones. Between two calls of
//! [`Heap::reset`] the same head and arguments therefore give the same word, whatever other threads
//! do. A value can have two words in one case: a private node is created, and then its shared twin
//! arrives from `keep` or from a cache that another thread filled. So call `reset` before you load
//! a state, call `keep` when you write its results, and do not compare a word from before a `keep`
//! with one from after it. Where you cannot guarantee this, use [`Heap::same`], which is always
//! right and costs no more if both words are shared.

use std::sync::Arc;

use super::shared::{
    ARITY, FORWARDED, HEADER, Header, OPEN, PLAIN, PLAIN_KEYS, PRIVATE_START, Terms, extent, has_source, mix,
    place,
};
use super::{Head, Value};

/// The maximum number of words of private nodes.
const PRIVATE_WORDS: usize = (0_u32.wrapping_sub(PRIVATE_START) / 2) as usize;

/// A larger vector of private nodes is freed on reset.
const LARGE_WORDS: usize = 1 << 24;

/// One thread's access to the values of a specification.
#[derive(Debug)]
pub struct Heap {
    terms: Arc<Terms>,
    /// The private nodes, in the same layout as the shared ones.
    nodes: Vec<u32>,
    /// The hash table of private nodes: a stamp and half the index of the node. A slot with another
    /// stamp is empty.
    slots: Vec<u64>,
    stamp: u32,
    /// The number of resets.
    generation: u64,
    count: usize,
    /// Whether a private node could not be created.
    full: bool,
    /// Whether a shared node could not be created.
    exhausted: bool,
    /// Nodes being kept, with the next argument to visit.
    pending: Vec<(Value, u32)>,
    /// The shared copies of their arguments.
    finished: Vec<Value>,
}

/// A state of a heap to return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    stamp: u32,
    words: usize,
}

impl Value {
    /// Whether it is a private node, which only one heap knows.
    #[inline]
    fn is_private(self) -> bool {
        self.0 >= PRIVATE_START && self.0 & 3 == 0
    }
}

impl Heap {
    /// Access to shared nodes.
    pub fn new(terms: Arc<Terms>) -> Heap {
        Heap {
            terms,
            nodes: Vec::new(),
            slots: vec![0; 1 << 8],
            stamp: 1,
            generation: 0,
            count: 0,
            full: false,
            exhausted: false,
            pending: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// The shared nodes.
    pub fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// Whether a node could not be created for lack of space, so that all values since then are
    /// invalid. The limits are 1 GiB of private nodes, which a reset frees, and 7 GiB of shared
    /// ones, which are never freed. Check this after evaluating and after keeping values.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full || self.exhausted
    }

    /// The word at an index of a node.
    #[inline]
    fn word(&self, value: Value, index: usize) -> u32 {
        debug_assert_eq!(value.0 & 3, 0, "not a node");
        if value.0 < PRIVATE_START {
            self.terms.word(value.0 as usize / 2 + index)
        } else {
            let word = self.nodes.get((value.0 - PRIVATE_START) as usize / 2 + index);
            debug_assert!(word.is_some(), "a private node from before a reset");
            word.copied().unwrap_or(0)
        }
    }

    /// The node with this head and these arguments. The arguments of sets, bags and updates must be
    /// sorted; use the functions for these.
    #[inline]
    pub fn make(&mut self, head: Head, arguments: &[Value]) -> Value {
        self.make_from(head, arguments, Value::FALSE)
    }

    /// The node with this head and these arguments. A new node gets this source.
    #[inline]
    pub(super) fn make_from(&mut self, head: Head, arguments: &[Value], source: Value) -> Value {
        let code = head.code();
        let place = place(code, arguments);
        let mut slot = place as usize & (self.slots.len() - 1);
        if self.count > 0 {
            loop {
                let entry = self.slots[slot];
                if (entry >> 32) as u32 != self.stamp {
                    break;
                }
                let start = entry as u32 as usize * 2;
                if let Some(value) = self.is_node(start, code, arguments) {
                    return value;
                }
                slot = (slot + 1) & (self.slots.len() - 1);
            }
        }
        if (head == Head::Big || !arguments.iter().any(|argument| argument.is_private()))
            && let Some(found) = self.terms.find(code, place, arguments)
        {
            return found;
        }
        self.push(head, slot, arguments, source)
    }

    /// The private node at `start`, if it has this content.
    #[inline]
    fn is_node(&self, start: usize, code: u32, arguments: &[Value]) -> Option<Value> {
        let header = self.nodes.get(start..start + HEADER)?;
        if header[0] != code || (header[1] & ARITY) as usize != arguments.len() {
            return None;
        }
        let words = &self.nodes[start + HEADER..start + HEADER + arguments.len()];
        if !words.iter().zip(arguments).all(|(word, argument)| *word == argument.0) {
            return None;
        }
        Some(if header[1] & FORWARDED != 0 {
            Value(header[2])
        } else {
            Value(PRIVATE_START + start as u32 * 2)
        })
    }

    /// Adds a private node, which belongs into this slot.
    fn push(&mut self, head: Head, slot: usize, arguments: &[Value], source: Value) -> Value {
        debug_assert!(head == Head::Big || arguments.iter().all(|argument| argument.as_private().is_none()));
        let start = self.nodes.len();
        if start + HEADER + arguments.len() + 2 > PRIVATE_WORDS {
            self.full = true;
            return Value::FALSE;
        }
        let header = self.header(head, arguments);
        self.nodes.extend_from_slice(&[
            header.code,
            arguments.len() as u32 | header.flags,
            header.content as u32,
            (header.content >> 32) as u32,
        ]);
        self.nodes.extend(arguments.iter().map(|argument| argument.0));
        if has_source(header.code) {
            self.nodes.push(source.0);
        }
        if self.nodes.len() % 2 == 1 {
            self.nodes.push(0);
        }
        self.slots[slot] = u64::from(self.stamp) << 32 | (start / 2) as u64;
        self.count += 1;
        if self.count > self.slots.len() / 2 {
            self.grow();
        }
        Value(PRIVATE_START + start as u32 * 2)
    }

    /// The flags and the content hash of a new node.
    fn header(&self, head: Head, arguments: &[Value]) -> Header {
        let code = head.code();
        let mut content = mix(u64::from(code), arguments.len() as u64);
        if head == Head::Big {
            content = arguments.iter().fold(content, |hash, word| mix(hash, u64::from(word.0)));
            return Header { code, flags: PLAIN, content };
        }
        let mut plain = match head {
            Head::Symbol(symbol) => self.terms.is_constructor(symbol.index(), arguments.len()),
            Head::Bool(_) | Head::Nil | Head::Cons | Head::Set | Head::Bag | Head::Rational => true,
            _ => false,
        };
        let mut open = if let Head::Free(_) = head { OPEN } else { 0 };
        for &argument in arguments {
            if !self.is_plain(argument) {
                plain = false;
                open |= self.word(argument, 1) & OPEN;
            }
            content = mix(content, self.content_hash(argument));
        }
        let (first, step) = match head {
            Head::Set | Head::CoSet => (0, 1),
            Head::Bag => (0, 2),
            Head::Update => (1, 2),
            _ => (arguments.len(), 1),
        };
        let plain_keys = plain || arguments.iter().skip(first).step_by(step).all(|&key| self.is_plain(key));
        let flags = if plain { PLAIN } else { 0 } | if plain_keys { PLAIN_KEYS } else { 0 } | open;
        Header { code, flags, content }
    }

    /// Doubles the hash table of private nodes.
    #[cold]
    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        let mut arguments = Vec::new();
        let mut start = 0;
        while start < self.nodes.len() {
            let end = start + HEADER + (self.nodes[start + 1] & ARITY) as usize;
            arguments.clear();
            arguments.extend(self.nodes[start + HEADER..end].iter().map(|&word| Value(word)));
            self.enter(start, place(self.nodes[start], &arguments));
            start += extent(self.nodes[start], arguments.len());
        }
    }

    /// Enters a private node into the first free slot from its place on.
    fn enter(&mut self, start: usize, place: u64) {
        let mask = self.slots.len() - 1;
        let mut slot = place as usize & mask;
        while (self.slots[slot] >> 32) as u32 == self.stamp {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = u64::from(self.stamp) << 32 | (start / 2) as u64;
    }

    /// The head of a node; `None` for numbers stored in the word itself.
    #[inline]
    pub fn head(&self, value: Value) -> Option<Head> {
        (value.0 & 3 == 0).then(|| Head::from_code(self.word(value, 0)))
    }

    /// The [`Head::code`] of a node, which must not be a number stored in the word itself.
    #[inline]
    pub fn code(&self, value: Value) -> u32 {
        self.word(value, 0)
    }

    /// Whether a value is a node with this head.
    #[inline]
    pub fn is(&self, value: Value, head: Head) -> bool {
        value.0 & 3 == 0 && self.word(value, 0) == head.code()
    }

    /// The number of arguments of a node; 0 for numbers stored in the word itself.
    #[inline]
    pub fn arity(&self, value: Value) -> usize {
        if value.0 & 3 == 0 { (self.word(value, 1) & ARITY) as usize } else { 0 }
    }

    /// An argument of a node.
    #[inline]
    pub fn argument(&self, value: Value, index: usize) -> Value {
        debug_assert!(index < self.arity(value));
        Value(self.word(value, HEADER + index))
    }

    /// The arguments of a node; none for numbers stored in the word itself. Those of
    /// [`Head::Big`] are not values.
    pub fn arguments(&self, value: Value) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + '_ {
        (0..self.arity(value)).map(move |index| Value(self.word(value, HEADER + index)))
    }

    /// Whether different words certainly mean different data: numbers, truth values, constructors
    /// of structured sorts, lists, finite sets and finite bags of plain data. Stuck terms,
    /// functions and constructors of `cons` sections are not plain. Nor are complements, because
    /// over a finite sort they may equal a finite set.
    #[inline]
    pub fn is_plain(&self, value: Value) -> bool {
        value.0 & 3 != 0 || self.word(value, 1) & PLAIN != 0
    }

    /// Whether all elements of a set or bag, or all keys of an update, are plain.
    #[inline]
    pub(super) fn has_plain_keys(&self, value: Value) -> bool {
        self.word(value, 1) & PLAIN_KEYS != 0
    }

    /// Whether a [`Head::Free`] variable occurs in the value.
    #[inline]
    pub fn is_open(&self, value: Value) -> bool {
        value.0 & 3 == 0 && self.word(value, 1) & OPEN != 0
    }

    /// The value to apply instead of a function in normal form: a lambda, or an operation on sets
    /// or bags whose members or counts it computes. `None` if there is none.
    #[inline]
    pub fn source(&self, function: Value) -> Option<Value> {
        let arity = self.arity(function);
        let source = Value(self.word(function, HEADER + arity));
        (has_source(self.code(function)) && source != Value::FALSE).then_some(source)
    }

    /// A hash of the content. Equal values of a specification have equal hashes in all threads, on
    /// all machines and in all runs.
    #[inline]
    pub fn content_hash(&self, value: Value) -> u64 {
        if value.0 & 3 != 0 {
            return mix(0x5851_F42D_4C95_7F2D, u64::from(value.0));
        }
        let mut node = value;
        if value.is_private() && self.word(value, 1) & FORWARDED != 0 {
            node = Value(self.word(value, 2));
        }
        u64::from(self.word(node, 2)) | u64::from(self.word(node, 3)) << 32
    }

    /// The number of words that private nodes take.
    #[inline]
    pub fn private_words(&self) -> usize {
        self.nodes.len()
    }

    /// Whether all heaps with the same terms give the word the same meaning, so that it needs no
    /// [`Heap::keep`].
    #[inline]
    pub fn shared(&self, value: Value) -> bool {
        !value.is_private()
    }

    /// Changes whenever private words lose their meaning.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The current word of a value: that of the shared node, if the value has been kept in the
    /// meantime.
    #[inline]
    pub fn current(&self, value: Value) -> Value {
        if value.is_private() && self.word(value, 1) & FORWARDED != 0 {
            Value(self.word(value, 2))
        } else {
            value
        }
    }

    /// Whether two words are the same term, even if one has been kept in the meantime and the other
    /// is its private twin.
    #[inline]
    pub fn same(&self, left: Value, right: Value) -> bool {
        left == right
            || ((left.is_private() || right.is_private())
                && self.content_hash(left) == self.content_hash(right)
                && self.same_content(left, right))
    }

    #[cold]
    fn same_content(&self, left: Value, right: Value) -> bool {
        let mut pairs = vec![(left, right)];
        while let Some((left, right)) = pairs.pop() {
            if left == right {
                continue;
            }
            if (!left.is_private() && !right.is_private())
                || self.content_hash(left) != self.content_hash(right)
                || self.head(left) != self.head(right)
                || self.arity(left) != self.arity(right)
            {
                return false;
            }
            if self.is(left, Head::Big) {
                if !self.arguments(left).eq(self.arguments(right)) {
                    return false;
                }
            } else {
                pairs.extend(self.arguments(left).zip(self.arguments(right)));
            }
        }
        true
    }

    /// Makes a value survive [`Heap::reset`]. Returns the word to store in states and caches, which
    /// is the same for all threads.
    #[inline]
    pub fn keep(&mut self, value: Value) -> Value {
        if value.is_private() { self.share(value) } else { value }
    }

    /// Copies a private node and everything below it to the shared terms, arguments first.
    fn share(&mut self, value: Value) -> Value {
        self.pending.push((value, 0));
        while let Some((node, next)) = self.pending.pop() {
            let flags = self.word(node, 1);
            let arity = (flags & ARITY) as usize;
            if flags & FORWARDED != 0 {
                self.finished.push(Value(self.word(node, 2)));
                continue;
            }
            let code = self.word(node, 0);
            let raw = code == Head::Big.code();
            // The source of a function is stored after its arguments.
            let words = arity + usize::from(has_source(code));
            let mut index = next as usize;
            let mut below = None;
            while index < words {
                let argument = Value(self.word(node, HEADER + index));
                index += 1;
                if argument.is_private() && !raw {
                    below = Some(argument);
                    break;
                }
                self.finished.push(argument);
            }
            if let Some(below) = below {
                self.pending.extend([(node, index as u32), (below, 0)]);
                continue;
            }
            let first = self.finished.len() - words;
            let header =
                Header { code, flags: flags & (PLAIN | PLAIN_KEYS | OPEN), content: self.content_hash(node) };
            let arguments = &self.finished[first..first + arity];
            let source = self.finished.get(first + arity).copied().unwrap_or(Value::FALSE);
            let shared = self.terms.insert(header, place(code, arguments), arguments, source);
            self.finished.truncate(first);
            if let Some(shared) = shared {
                let start = (node.0 - PRIVATE_START) as usize / 2;
                self.nodes[start + 1] |= FORWARDED;
                self.nodes[start + 2] = shared.0;
            } else {
                self.exhausted = true;
            }
            self.finished.push(shared.unwrap_or(Value::FALSE));
        }
        self.finished.pop().unwrap_or(Value::FALSE)
    }

    /// Discards all values that were not kept. Values of other heaps with the same terms are not
    /// affected.
    pub fn reset(&mut self) {
        self.full = false;
        if self.count == 0 {
            return;
        }
        self.count = 0;
        self.generation += 1;
        self.nodes.clear();
        self.nodes.shrink_to(LARGE_WORDS);
        if self.stamp == u32::MAX || self.slots.len() > LARGE_WORDS {
            self.slots = vec![0; 1 << 8];
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The current state, for [`Heap::release`].
    pub fn mark(&self) -> Mark {
        Mark { stamp: self.stamp, words: self.nodes.len() }
    }

    /// Discards the values created since the mark and not kept, for loops that try many values and
    /// need few of them. Release marks newest first. A mark from before a reset has no effect.
    pub fn release(&mut self, mark: Mark) {
        if mark.stamp != self.stamp || mark.words >= self.nodes.len() {
            return;
        }
        self.generation += 1;
        let mut starts = Vec::new();
        let mut start = mark.words;
        while start < self.nodes.len() {
            starts.push(start);
            start += extent(self.nodes[start], (self.nodes[start + 1] & ARITY) as usize);
        }
        // Newest first: each slot is then at the end of every probe sequence that contains it, so
        // that it can be emptied.
        let mask = self.slots.len() - 1;
        let mut arguments = Vec::new();
        for &start in starts.iter().rev() {
            let end = start + HEADER + (self.nodes[start + 1] & ARITY) as usize;
            arguments.clear();
            arguments.extend(self.nodes[start + HEADER..end].iter().map(|&word| Value(word)));
            let mut slot = place(self.nodes[start], &arguments) as usize & mask;
            while self.slots[slot] != u64::from(self.stamp) << 32 | (start / 2) as u64 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = 0;
        }
        self.count -= starts.len();
        self.nodes.truncate(mark.words);
    }
}

#[cfg(test)]
mod tests;
