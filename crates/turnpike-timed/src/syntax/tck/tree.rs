//! Expressions and statements as written.

use super::lines::Word;
use crate::network::{Binary, Place};

/// An expression.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    /// Its form.
    pub node: Node<'a>,
    /// Its place, without parentheses.
    pub place: Place,
    /// Height of the tree, which is limited because all visitors are recursive.
    pub height: u32,
}

/// The forms of expressions. Type checking, not the tree, distinguishes terms, predicates and
/// conjunctions.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    /// A number without sign; at most 2^31, which is valid only after a minus.
    Number(i64),
    /// A variable or a clock.
    Name(Word<'a>),
    /// A cell of an array.
    Index(Word<'a>, Box<Tree<'a>>),
    /// `-e`
    Minus(Box<Tree<'a>>),
    /// `!e`
    Not(Box<Tree<'a>>),
    /// `+ - * / %`
    Arithmetic(Binary, Box<[Tree<'a>; 2]>),
    /// A comparison, or two: `a < b <= c`.
    Compare(Vec<Binary>, Vec<Tree<'a>>),
    /// `&&` of two or more.
    And(Vec<Tree<'a>>),
    /// `(if a then b else c)`
    If(Box<[Tree<'a>; 3]>),
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// Its form.
    pub node: StepNode<'a>,
    /// Its place.
    pub place: Place,
}

/// The forms of statements.
#[derive(Debug)]
pub(crate) enum StepNode<'a> {
    /// `nop`
    Nop,
    /// `lvalue = term`
    Assign(Tree<'a>, Tree<'a>),
    /// `local x`, `local x = e`
    Local(Word<'a>, Option<Tree<'a>>),
    /// `local t[n]`
    LocalArray(Word<'a>, Tree<'a>),
    /// `if e then s else s end`
    If(Tree<'a>, Vec<Step<'a>>, Vec<Step<'a>>),
    /// `while e do s end`
    While(Tree<'a>, Vec<Step<'a>>),
}
