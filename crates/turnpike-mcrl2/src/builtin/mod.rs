//! The definitions of built-in functions on truth values, lists and numbers, for all domains.
//!
//! They are evaluated in three domains: on values (the evaluator), on partially known values (the
//! solver), and on expressions (the simplifier). [`Domain`] has the operations that they need;
//! [`logic`] and [`list`] are generic over it. [`number`] defines exact arithmetic, which the fast
//! paths of the evaluator and the ranges of the solver are tested against.

pub(crate) mod list;
pub(crate) mod logic;
pub(crate) mod number;

/// Terms that built-in functions are evaluated on. A term may be open: its truth value, or the rest
/// of a list, is then unknown.
pub(crate) trait Domain {
    /// A term.
    type Term: Clone;
    /// A position in a list.
    type Cursor;
    /// Whether the domain can express the result of a function on an open list.
    const HAS_RESIDUALS: bool;

    /// The truth value of a term, unless it is open.
    fn truth(&self, term: &Self::Term) -> Option<bool>;

    /// `true` or `false`.
    fn bool(&mut self, value: bool) -> Self::Term;

    /// The `x` of a term `!x`.
    fn operand_of_negation(&self, term: &Self::Term) -> Option<Self::Term>;

    /// `!term` for an open term that is not itself a negation.
    fn negation(&mut self, term: &Self::Term) -> Option<Self::Term>;

    /// Whether two terms are syntactically equal.
    fn same(&self, one: &Self::Term, other: &Self::Term) -> bool;

    /// The integer that a term is, if it is one and fits.
    fn index(&self, term: &Self::Term) -> Option<usize>;

    /// An integer.
    fn count(&mut self, count: usize) -> Self::Term;

    /// The start of a list.
    fn cursor(&self, list: &Self::Term) -> Self::Cursor;

    /// The next element, unless the list ends there or is open.
    fn next(&self, cursor: &mut Self::Cursor) -> Option<Self::Term>;

    /// Whether the list ends at the cursor. If it neither ends nor has a next element, it is open
    /// there.
    fn is_end(&self, cursor: &Self::Cursor) -> bool;

    /// The rest of the list from the cursor on.
    fn rest(&mut self, cursor: Self::Cursor) -> Self::Term;

    /// The list of some elements, followed by those of another list.
    fn prepend(&mut self, elements: Vec<Self::Term>, list: Self::Term) -> Option<Self::Term>;

    /// `[]`
    fn empty_list(&mut self) -> Self::Term;

    /// The current function with these operands, where the list is open from the start.
    fn residual(&mut self, operands: [Self::Term; 2]) -> Option<Self::Term>;
}
