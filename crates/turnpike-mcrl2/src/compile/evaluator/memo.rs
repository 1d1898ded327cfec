//! A cache of function results.
//!
//! It holds only calls with shared arguments, because the words of private values change their
//! meaning after a reset. New entries replace old ones. A function whose calls are rarely repeated
//! is not cached for a while.

use super::node::{Function, Node};
use crate::value::{Heap, Value};

/// Functions with more arguments are not remembered.
const MOST_ARGUMENTS: usize = 4;
/// Places of the table.
const PLACES: usize = 1 << 15;
/// After so many questions it is decided whether remembering a function is worth it,
const TRIAL: u32 = 512;
/// which it is when so many percent were answered.
const WORTHWHILE: u32 = 30;
/// How many calls it is left alone for otherwise: twice as many each time.
const FIRST_PAUSE: u32 = 1 << 13;
const LONGEST_PAUSE: u32 = 1 << 24;
/// So many results of a function that are not shared yet become so, if making them took no more
/// words than this.
const MOST_KEPT: u32 = 256;
const MOST_WORDS: usize = 512;

/// The memory of a machine.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: Vec<Entry>,
    habits: Vec<Habit>,
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

/// What a function is like.
#[derive(Clone, Copy, Debug, Default)]
struct Habit {
    /// Whether the function has been looked at.
    known: bool,
    /// Whether its calls are too simple, or too large, to be remembered.
    never: bool,
    waiting: u32,
    pause: u32,
    questions: u32,
    hits: u32,
    kept: u32,
}

/// What memory says about a call.
pub(super) enum Recall {
    /// Nothing, and does not want to know.
    Never,
    /// Nothing yet.
    New(Key, usize),
    /// This.
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
        let Some(habit) = self.habits.get_mut(function as usize).filter(|habit| habit.known) else {
            self.meet(function, code);
            return Recall::Never;
        };
        if habit.never {
            return Recall::Never;
        }
        if habit.waiting > 0 {
            habit.waiting -= 1;
            return Recall::Never;
        }
        let mut key = Key { function, arguments: [0; MOST_ARGUMENTS] };
        for (place, &argument) in key.arguments.iter_mut().zip(arguments) {
            if !heap.shared(argument) || argument.as_private().is_some() {
                return Recall::Never;
            }
            *place = argument.word();
        }
        habit.questions += 1;
        let place = key.place();
        match self.entries.get(place) {
            Some(entry) if entry.key == key => {
                habit.hits += 1;
                Recall::Known(entry.value)
            }
            _ => {
                if habit.questions >= TRIAL {
                    habit.judge();
                }
                Recall::New(key, heap.private_words())
            }
        }
    }

    /// Remembers a call.
    pub(super) fn learn(&mut self, key: Key, words: usize, value: Value, heap: &mut Heap) -> Value {
        let mut value = value;
        if !heap.shared(value) {
            let Some(habit) = self.habits.get_mut(key.function as usize) else { return value };
            if habit.kept >= MOST_KEPT || heap.private_words() > words + MOST_WORDS {
                return value;
            }
            habit.kept += 1;
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

    /// Looks at a function for the first time: what calls nothing is as quick as remembering.
    #[cold]
    fn meet(&mut self, function: u32, code: &Function) {
        let index = function as usize;
        if self.habits.len() <= index {
            self.habits.resize(index + 1, Habit::default());
        }
        let simple = !code.body.nodes.iter().any(|node| {
            matches!(
                node,
                Node::Call { .. } | Node::Apply { .. } | Node::Quantifier(_) | Node::Comprehension { .. }
            )
        });
        let never = simple || code.arity == 0 || code.arity as usize > MOST_ARGUMENTS;
        self.habits[index] = Habit { known: true, never, ..Habit::default() };
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

impl Habit {
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
        let mut habit = Habit { questions: TRIAL, hits: TRIAL / 10, ..Habit::default() };
        habit.judge();
        assert_eq!((habit.waiting, habit.pause), (FIRST_PAUSE, FIRST_PAUSE));
        habit = Habit { questions: TRIAL, waiting: 0, ..habit };
        habit.judge();
        assert_eq!(habit.waiting, 2 * FIRST_PAUSE);
        habit = Habit { questions: TRIAL, hits: TRIAL / 2, waiting: 0, ..habit };
        habit.judge();
        assert_eq!((habit.waiting, habit.questions, habit.hits), (0, 0, 0));
    }
}
