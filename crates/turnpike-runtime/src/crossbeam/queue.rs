//! `crossbeam::queue`: queues of which each operation is one step.

use std::collections::{VecDeque, vec_deque};
use std::fmt;
use std::panic::Location;

use crate::future::Shared;

/// A queue with room for a number of values.
pub struct ArrayQueue<T> {
    values: Shared<VecDeque<T>>,
    capacity: usize,
}

/// A queue for any number of values.
pub struct SegQueue<T> {
    values: Shared<VecDeque<T>>,
}

/// The values of a queue.
#[derive(Debug)]
pub struct IntoIter<T>(vec_deque::IntoIter<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
}

impl<T> ArrayQueue<T> {
    /// An empty queue.
    ///
    /// # Panics
    /// If the capacity is 0.
    #[track_caller]
    pub fn new(cap: usize) -> Self {
        assert!(cap > 0, "capacity must be non-zero");
        ArrayQueue { values: Shared::new("queue", VecDeque::new()), capacity: cap }
    }

    /// Adds a value, or returns it if there is no room.
    #[track_caller]
    pub fn push(&self, value: T) -> Result<(), T> {
        self.values.act(Location::caller(), |values| {
            if values.len() == self.capacity {
                return Err(value);
            }
            values.push_back(value);
            Ok(())
        })
    }

    /// Adds a value. If there is no room, it replaces the oldest, which is returned.
    #[track_caller]
    pub fn force_push(&self, value: T) -> Option<T> {
        self.values.act(Location::caller(), |values| {
            let oldest = if values.len() == self.capacity { values.pop_front() } else { None };
            values.push_back(value);
            oldest
        })
    }

    /// The number of values for which there is room.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether there is no room.
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.values.look(Location::caller(), |values| values.len() == self.capacity)
    }
}

impl<T> SegQueue<T> {
    /// An empty queue.
    #[track_caller]
    pub const fn new() -> Self {
        SegQueue { values: Shared::new("queue", VecDeque::new()) }
    }

    /// Adds a value.
    #[track_caller]
    pub fn push(&self, value: T) {
        self.values.act(Location::caller(), |values| values.push_back(value));
    }
}

impl<T> Default for SegQueue<T> {
    #[track_caller]
    fn default() -> Self {
        SegQueue::new()
    }
}

/// What both queues can do.
macro_rules! queue {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Takes the oldest value.
            #[track_caller]
            pub fn pop(&self) -> Option<T> {
                self.values.act(Location::caller(), VecDeque::pop_front)
            }

            /// Whether there are no values.
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.values.look(Location::caller(), VecDeque::is_empty)
            }

            /// The number of values.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.values.look(Location::caller(), VecDeque::len)
            }
        }

        impl<T> IntoIterator for $name<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter(self.values.peek(std::mem::take).into_iter())
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

queue!(ArrayQueue);
queue!(SegQueue);
