//! A cache of function results.
//!
//! Only calls with shared arguments are cached, because the words of private values change their
//! meaning after a reset. New entries replace old ones. Caching pauses for functions whose calls
//! are rarely repeated.

use super::node::{Function, Node};
use crate::value::{Heap, Value};

/// Calls with more arguments are not cached.
const MOST_ARGUMENTS: usize = 4;
/// The number of entries.
const ENTRIES: usize = 1 << 15;
/// The number of look-ups after which the hit rate of a function is judged.
const TRIAL: u32 = 512;
/// The hit rate, in percent, from which caching is worthwhile.
const WORTHWHILE: u32 = 30;
/// Calls to skip after the first failed trial. Doubles with each further one.
const FIRST_PAUSE: u32 = 1 << 13;
const LONGEST_PAUSE: u32 = 1 << 24;
/// At most this many results of a function, each of at most `MOST_WORDS` words, are made shared so
/// that they can be cached.
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

/// Whether caching the calls of a function pays off.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Whether the function has been classified.
    known: bool,
    /// Whether its calls are too simple or have too many arguments to be cached.
    uncacheable: bool,
    calls_to_skip: u32,
    pause: u32,
    lookups: u32,
    hits: u32,
    kept_results: u32,
}

/// The result of a look-up.
pub(super) enum Recall {
    /// The call should not be cached.
    Never,
    /// The call is not in the cache: pass its result to [`Memo::learn`].
    New(Key, usize),
    /// The cached result.
    Known(Value),
}

impl Memo {
    /// Looks up a call.
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
        if usage.uncacheable {
            return Recall::Never;
        }
        if usage.calls_to_skip > 0 {
            usage.calls_to_skip -= 1;
            return Recall::Never;
        }
        let mut key = Key { function, arguments: [0; MOST_ARGUMENTS] };
        for (place, &argument) in key.arguments.iter_mut().zip(arguments) {
            if !heap.shared(argument) || argument.as_private().is_some() {
                return Recall::Never;
            }
            *place = argument.word();
        }
        usage.lookups += 1;
        let place = key.entry();
        match self.entries.get(place) {
            Some(entry) if entry.key == key => {
                usage.hits += 1;
                Recall::Known(entry.value)
            }
            _ => {
                if usage.lookups >= TRIAL {
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
            if usage.kept_results >= MOST_KEPT || heap.private_words() > words + MOST_WORDS {
                return value;
            }
            usage.kept_results += 1;
            value = heap.keep(value);
            if !heap.shared(value) || heap.is_full() {
                return value;
            }
        }
        if self.entries.is_empty() {
            let nothing = Key { function: u32::MAX, arguments: [0; MOST_ARGUMENTS] };
            self.entries = vec![Entry { key: nothing, value: Value::FALSE }; ENTRIES];
        }
        self.entries[key.entry()] = Entry { key, value };
        value
    }

    /// Classifies a function at its first call. Evaluating a function that calls nothing is as fast
    /// as a look-up.
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
        let uncacheable = simple || code.arity == 0 || code.arity as usize > MOST_ARGUMENTS;
        self.usages[index] = Usage { known: true, uncacheable, ..Usage::default() };
    }
}

impl Key {
    #[inline]
    fn entry(&self) -> usize {
        let mut hash = u64::from(self.function).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for &word in &self.arguments {
            hash = (hash.rotate_left(21) ^ u64::from(word)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        (hash >> 40) as usize & (ENTRIES - 1)
    }
}

impl Usage {
    fn judge(&mut self) {
        if self.hits * 100 < self.lookups * WORTHWHILE {
            self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.calls_to_skip = self.pause;
        }
        (self.lookups, self.hits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_without_repeated_calls_are_not_remembered() {
        let mut usage = Usage { lookups: TRIAL, hits: TRIAL / 10, ..Usage::default() };
        usage.judge();
        assert_eq!((usage.calls_to_skip, usage.pause), (FIRST_PAUSE, FIRST_PAUSE));
        usage = Usage { lookups: TRIAL, calls_to_skip: 0, ..usage };
        usage.judge();
        assert_eq!(usage.calls_to_skip, 2 * FIRST_PAUSE);
        usage = Usage { lookups: TRIAL, hits: TRIAL / 2, calls_to_skip: 0, ..usage };
        usage.judge();
        assert_eq!((usage.calls_to_skip, usage.lookups, usage.hits), (0, 0, 0));
    }
}
