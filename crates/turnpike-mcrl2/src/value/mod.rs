//! Data values: closed terms in normal form, hash-consed, so that equal values have equal words.
//!
//! A [`Value`] is one word. It holds a 31-bit integer, or refers to a node of a [`Heap`]: a
//! [`Head`] with arguments. Values do not record number sorts (1 is the same value at `Pos` and at
//! `Real`), nor the difference between `FSet` and `Set`.

mod bag;
mod binder;
mod codec;
mod function;
mod heap;
mod list;
mod number;
mod order;
mod print;
mod set;
mod shared;

pub use heap::{Heap, Mark};
pub use list::Elements;
pub use print::Binders;
pub use shared::Terms;

use crate::syntax::Binder;
use crate::typed::SymbolId;

/// A closed term in normal form. Only meaningful together with the [`Heap`] (or its [`Terms`]) that
/// created it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A constructor with its fields, or a "stuck" function with its arguments to which no rule
    /// applies: user functions, built-in functions and constants alike. `Bool`, numbers, list, set
    /// and bag constructors have heads of their own.
    Symbol(SymbolId),
    /// `false` or `true`.
    Bool(bool),
    /// `[]`
    Nil,
    /// `x |> l`; the tail may be stuck.
    Cons,
    /// A finite set: elements strictly increasing under [`Heap::compare`].
    Set,
    /// The complement of a finite set, elements as for `Set`.
    CoSet,
    /// A set given by a predicate. The arguments are a function value `f` and a finite set `s`; `e`
    /// is a member if `f(e) != (e in s)`.
    SetBy,
    /// A finite bag: element, count, element, count, …; elements strictly increasing, counts
    /// positive.
    Bag,
    /// A bag given by counts. The arguments are a function value `f`, or a number that is the count
    /// of all elements, and a finite bag of overrides, where a count of 0 may be stored.
    BagBy,
    /// A lambda as written, by the number of its binder in the compiled rules, with the values it
    /// captured. For functions without an available normal form.
    Lambda(u32),
    /// A `forall` or `exists` that cannot be decided, as written, by the number of its binder, with
    /// the values it captured.
    Quantifier(u32),
    /// A binder with this number of variables in normal form: name and sort of each variable as
    /// numbers, then the body. See [`Heap::close`].
    Bind(Binder, u32),
    /// A variable of an enclosing [`Head::Bind`]: the number of variables that are bound between it
    /// and its own binder, or come before it there.
    Bound(u32),
    /// A variable of a binder whose body is being evaluated. Never part of a value that is kept.
    Free(u32),
    /// A function with finitely many exceptions. The arguments are the base function, then key,
    /// value, key, value, …; keys are strictly increasing, and no value equals the result of the
    /// base.
    Update,
    /// A function value applied to arguments where neither rule nor lambda applies: function, then
    /// arguments.
    Apply,
    /// An integer too large for a word: its arguments are raw words, not values (sign, then
    /// digits of 32 bits, least first).
    Big,
    /// A reduced fraction: numerator and denominator (> 1) as values.
    Rational,
}

impl Head {
    /// A number for this head: unique, and the same in every run.
    #[inline]
    pub const fn code(self) -> u32 {
        match self {
            Head::Symbol(symbol) => (symbol.word()) << 4,
            Head::Bool(value) => (value as u32) << 4 | 1,
            Head::Nil => 2,
            Head::Cons => 3,
            Head::Set => 4,
            Head::CoSet => 5,
            Head::SetBy => 6,
            Head::Bag => 7,
            Head::BagBy => 8,
            Head::Lambda(number) => number << 4 | 9,
            Head::Quantifier(number) => number << 4 | 10,
            Head::Update => 11,
            Head::Apply => 12,
            Head::Big => 13,
            Head::Rational => 14,
            Head::Bind(Binder::Lambda, count) => count << 7 | 15,
            Head::Bind(Binder::Forall, count) => count << 7 | 1 << 4 | 15,
            Head::Bind(Binder::Exists, count) => count << 7 | 2 << 4 | 15,
            Head::Bound(number) => number << 7 | 3 << 4 | 15,
            Head::Free(number) => number << 7 | 4 << 4 | 15,
        }
    }

    /// The head of a [`Head::code`].
    #[inline]
    fn from_code(code: u32) -> Head {
        match code & 15 {
            0 => Head::Symbol(SymbolId::new(code as usize >> 4)),
            1 => Head::Bool(code >> 4 == 1),
            2 => Head::Nil,
            3 => Head::Cons,
            4 => Head::Set,
            5 => Head::CoSet,
            6 => Head::SetBy,
            7 => Head::Bag,
            8 => Head::BagBy,
            9 => Head::Lambda(code >> 4),
            10 => Head::Quantifier(code >> 4),
            11 => Head::Update,
            12 => Head::Apply,
            13 => Head::Big,
            14 => Head::Rational,
            _ => match code >> 4 & 7 {
                0 => Head::Bind(Binder::Lambda, code >> 7),
                1 => Head::Bind(Binder::Forall, code >> 7),
                2 => Head::Bind(Binder::Exists, code >> 7),
                3 => Head::Bound(code >> 7),
                _ => Head::Free(code >> 7),
            },
        }
    }
}

impl Value {
    /// `false`
    pub const FALSE: Value = Value(0);
    /// `true`
    pub const TRUE: Value = Value(8);
    /// `[]`
    pub const NIL: Value = Value(16);
    /// `{}`
    pub const EMPTY_SET: Value = Value(24);
    /// `!{}`
    pub const FULL_SET: Value = Value(32);
    /// `{:}`
    pub const EMPTY_BAG: Value = Value(40);
    /// `0`
    pub const ZERO: Value = Value(1);
    /// `1`
    pub const ONE: Value = Value(3);

    /// A truth value.
    #[inline]
    pub fn bool(value: bool) -> Value {
        if value { Value::TRUE } else { Value::FALSE }
    }

    /// The truth value; `None` if it is stuck.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Value::FALSE => Some(false),
            Value::TRUE => Some(true),
            _ => None,
        }
    }

    /// An integer that fits 31 bits.
    #[inline]
    pub fn small(number: i32) -> Option<Value> {
        (-(1 << 30)..1 << 30).contains(&number).then_some(Value(((number as u32) << 1) | 1))
    }

    /// The integer stored in the word itself.
    #[inline]
    pub fn as_small(self) -> Option<i32> {
        (self.0 & 1 == 1).then_some(self.0 as i32 >> 1)
    }

    /// A word that is not a value, for evaluators that store something else in a slot, such as a
    /// delayed evaluation.
    #[inline]
    pub fn private(index: u32) -> Value {
        Value((index << 2) | 2)
    }

    /// The index given to [`Value::private`].
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
