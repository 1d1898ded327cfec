//! Data values: closed terms in normal form, hash-consed, so that equal values have equal words.
//!
//! A [`Value`] is one word. Whole numbers of 31 bits stand in the word itself; everything else is a node of a [`Heap`]: a
//! [`Head`] with arguments. Number sorts are not kept (1 is 1 at `Pos` and at `Real`), nor is the difference between `FSet` and `Set`.

use std::sync::Arc;

use crate::sorts::{Program, SymbolId};

/// A closed term in normal form. Meaningful only together with the [`Heap`] (or its [`Terms`]) that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A constructor with its fields, or a function that no rule applies to with its arguments ("stuck"): user functions, built-in
    /// functions and constants alike. `Bool`, numbers, list, set and bag constructors have heads of their own.
    Symbol(SymbolId),
    /// `[]`
    Nil,
    /// `x |> l`; the tail may be stuck.
    Cons,
    /// A finite set: elements strictly increasing under [`Heap::compare`].
    Set,
    /// The complement of a finite set, elements as for `Set`.
    CoSet,
    /// A set by predicate: arguments are a function value `f` and a finite set `s`; `e` is a member when `f(e) != (e in s)`.
    SetBy,
    /// A finite bag: element, count, element, count, …; elements strictly increasing, counts positive.
    Bag,
    /// A bag by count: arguments are a function value `f` and a finite bag of overrides (where a count of 0 may be stored).
    BagBy,
    /// A lambda (the number names its binder in the compiled rules) with the values it captured.
    Lambda(u32),
    /// A `forall` or `exists` that cannot be decided (the number names its binder) with the values it captured.
    Quantifier(u32),
    /// A function with finitely many exceptions: arguments are the base function, then key, value, key, value, …; keys strictly
    /// increasing, no value equal to what the base gives.
    Update,
    /// A function value applied to arguments, where neither rule nor lambda applies: function, then arguments.
    Apply,
    /// A whole number too large for a word: its arguments are raw words, not values.
    Big,
    /// A reduced fraction: numerator and denominator (> 1) as values.
    Rational,
}

/// The nodes that all threads share.
#[derive(Debug)]
pub struct Terms {}

impl Terms {
    /// For the symbols of a program.
    pub fn new(program: &Program) -> Arc<Terms> {
        let _ = program;
        unimplemented!()
    }
}

/// One thread's access to the values of a specification.
#[derive(Debug)]
pub struct Heap {}

impl Value {
    /// `false`
    pub const FALSE: Value = Value(0);
    /// `true`
    pub const TRUE: Value = Value(4);

    /// A truth value.
    #[inline]
    pub fn bool(value: bool) -> Value {
        if value { Value::TRUE } else { Value::FALSE }
    }

    /// The truth value it is; nothing for a stuck one.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Value::FALSE => Some(false),
            Value::TRUE => Some(true),
            _ => None,
        }
    }

    /// A whole number that fits 31 bits.
    #[inline]
    pub fn small(number: i32) -> Option<Value> {
        (-(1 << 30)..1 << 30).contains(&number).then_some(Value(((number as u32) << 1) | 1))
    }

    /// The whole number that stands in the word itself.
    #[inline]
    pub fn as_small(self) -> Option<i32> {
        (self.0 & 1 == 1).then_some(self.0 as i32 >> 1)
    }

    /// A word that is no value: for evaluators that keep something else in a slot, such as work not yet done.
    #[inline]
    pub fn private(index: u32) -> Value {
        Value((index << 2) | 2)
    }

    /// What [`Value::private`] was made of.
    #[inline]
    pub fn as_private(self) -> Option<u32> {
        (self.0 & 3 == 2).then_some(self.0 >> 2)
    }

    /// As a word of a state.
    #[inline]
    pub fn word(self) -> u32 {
        self.0
    }

    /// From a word of a state.
    #[inline]
    pub fn from_word(word: u32) -> Value {
        Value(word)
    }
}

impl Heap {
    /// Access to shared nodes.
    pub fn new(terms: Arc<Terms>) -> Heap {
        let _ = terms;
        unimplemented!()
    }

    /// The node with this head and these arguments.
    pub fn make(&mut self, head: Head, arguments: &[Value]) -> Value {
        let _ = (head, arguments);
        unimplemented!()
    }

    /// What a value is; `None` for numbers that stand in the word itself.
    pub fn head(&self, value: Value) -> Option<Head> {
        let _ = value;
        unimplemented!()
    }

    /// How many arguments a node has.
    pub fn arity(&self, value: Value) -> usize {
        let _ = value;
        unimplemented!()
    }

    /// An argument of a node.
    pub fn argument(&self, value: Value, index: usize) -> Value {
        let _ = (value, index);
        unimplemented!()
    }

    /// Whether different words surely mean different data: numbers, truth values, constructors of structured sorts, lists, finite and
    /// cofinite sets and finite bags all the way down. Stuck terms, functions and constructors of `cons` sections are not plain.
    pub fn is_plain(&self, value: Value) -> bool {
        let _ = value;
        unimplemented!()
    }

    /// Makes a value outlive [`Heap::reset`]: the word to store in states and caches.
    pub fn keep(&mut self, value: Value) -> Value {
        value
    }

    /// Forgets all values that were not kept. Values made by others that share the terms are not affected.
    pub fn reset(&mut self) {}
}
