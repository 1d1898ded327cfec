//! A cache of function results.
//!
//! It holds only calls with shared arguments, because the words of private values change their
//! meaning after a reset. New entries replace old ones. A function whose calls are rarely repeated
//! is not cached for a while.

use super::node::{Function, Node};
use crate::value::{Heap, Value};

/// Calls with more arguments are not cached.
const MOST_ARGUMENTS: usize = 4;
/// The number of entries.
const PLACES: usize = 1 << 15;
/// Look-ups after which the hit rate of a function is judged.
const TRIAL: u32 = 512;
/// The hit rate, in percent, from which caching is worthwhile.
const WORTHWHILE: u32 = 30;
/// Calls skipped after the first failed trial; doubled each time.
const FIRST_PAUSE: u32 = 1 << 13;
const LONGEST_PAUSE: u32 = 1 << 24;
/// The most results of one function that are made shared so that they can be cached, each of at
/// most `MOST_WORDS` words.
const MOST_KEPT: u32 = 256;
const MOST_WORDS: usize = 512;

/// A machine's cache of calls.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: Vec<Entry>,
    usages: Vec<Usage>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    value: Value,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    function: u32,
    arguments: [u32; MOST_ARGUMENTS],
}

/// How worthwhile it is to cache the calls of a function.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Whether the function has been classified.
    known: bool,
    /// Whether its calls are too simple, or too large, to be cached.
    never: bool,
    waiting: u32,
    pause: u32,
    questions: u32,
    hits: u32,
    kept: u32,
}

/// What the cache has for a call.
pub(super) enum Recall {
    /// Nothing, and the result is not wanted.
    Never,
    /// Nothing yet: pass the result to [`Memo::learn`].
    New(Key, usize),
    /// The result.
    Known(Value),
}

impl Memo {
    /// Looks for a call with these arguments.
    #[inline]
    pub(super) fn recall(
        &mut self,
        function: u32,
        code: &Function,
        arguments: &[Value],
        heap: &Heap,
    ) -> Recall {
        let Some(usage) = self.usages.get_mut(function as usize).filter(|usage| usage.known) else {
            self.classify(function, code);
            return Recall::Never;
        };
        if usage.never {
            return Recall::Never;
        }
        if usage.waiting > 0 {
            usage.waiting -= 1;
            return Recall::Never;
        }
        let mut key = Key { function, arguments: [0; MOST_ARGUMENTS] };
        for (place, &argument) in key.arguments.iter_mut().zip(arguments) {
            if !heap.shared(argument) || argument.as_private().is_some() {
                return Recall::Never;
            }
            *place = argument.word();
        }
        usage.questions += 1;
        let place = key.place();
        match self.entries.get(place) {
            Some(entry) if entry.key == key => {
                usage.hits += 1;
                Recall::Known(entry.value)
            }
            _ => {
                if usage.questions >= TRIAL {
                    usage.judge();
                }
                Recall::New(key, heap.private_words())
            }
        }
    }

    /// Caches the result of a call.
    pub(super) fn learn(&mut self, key: Key, words: usize, value: Value, heap: &mut Heap) -> Value {
        let mut value = value;
        if !heap.shared(value) {
            let Some(usage) = self.usages.get_mut(key.function as usize) else { return value };
            if usage.kept >= MOST_KEPT || heap.private_words() > words + MOST_WORDS {
                return value;
            }
            usage.kept += 1;
            value = heap.keep(value);
            if !heap.shared(value) || heap.is_full() {
                return value;
            }
        }
        if self.entries.is_empty() {
            let nothing = Key { function: u32::MAX, arguments: [0; MOST_ARGUMENTS] };
            self.entries = vec![Entry { key: nothing, value: Value::FALSE }; PLACES];
        }
        self.entries[key.place()] = Entry { key, value };
        value
    }

    /// Classifies a function at its first call: evaluating one that calls nothing is as fast as a
    /// look-up.
    #[cold]
    fn classify(&mut self, function: u32, code: &Function) {
        let index = function as usize;
        if self.usages.len() <= index {
            self.usages.resize(index + 1, Usage::default());
        }
        let simple = !code.body.nodes.iter().any(|node| {
            matches!(
                node,
                Node::Call { .. } | Node::Apply { .. } | Node::Quantifier(_) | Node::Comprehension { .. }
            )
        });
        let never = simple || code.arity == 0 || code.arity as usize > MOST_ARGUMENTS;
        self.usages[index] = Usage { known: true, never, ..Usage::default() };
    }
}

impl Key {
    #[inline]
    fn place(&self) -> usize {
        let mut hash = u64::from(self.function).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for &word in &self.arguments {
            hash = (hash.rotate_left(21) ^ u64::from(word)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        (hash >> 40) as usize & (PLACES - 1)
    }
}

impl Usage {
    fn judge(&mut self) {
        if self.hits * 100 < self.questions * WORTHWHILE {
            self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.waiting = self.pause;
        }
        (self.questions, self.hits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_whose_calls_do_not_come_back_is_left_alone() {
        let mut usage = Usage { questions: TRIAL, hits: TRIAL / 10, ..Usage::default() };
        usage.judge();
        assert_eq!((usage.waiting, usage.pause), (FIRST_PAUSE, FIRST_PAUSE));
        usage = Usage { questions: TRIAL, waiting: 0, ..usage };
        usage.judge();
        assert_eq!(usage.waiting, 2 * FIRST_PAUSE);
        usage = Usage { questions: TRIAL, hits: TRIAL / 2, waiting: 0, ..usage };
        usage.judge();
        assert_eq!((usage.waiting, usage.questions, usage.hits), (0, 0, 0));
    }
}
