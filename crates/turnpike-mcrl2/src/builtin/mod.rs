//! What the built-in functions on truth values, lists and numbers mean, written once.
//!
//! They are evaluated in three domains: on values (the evaluator), on values of which only a part
//! is known (the solver), and on expressions (the simplifier). [`Domain`] is what they ask of a
//! domain; [`logic`] and [`list`] are written on it. [`number`] defines exact arithmetic, which the
//! fast paths of the evaluator and the ranges of the solver are tested against.

pub(crate) mod list;
pub(crate) mod logic;
pub(crate) mod number;

/// Terms that built-in functions are evaluated on. A term may be open: then its truth value, or the
/// rest of a list, is not known.
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

    /// `!term` of an open term, which is not a negation itself.
    fn negation(&mut self, term: &Self::Term) -> Option<Self::Term>;

    /// Whether two terms are the same as they stand.
    fn same(&self, one: &Self::Term, other: &Self::Term) -> bool;

    /// The integer that a term is, if it fits.
    fn index(&self, term: &Self::Term) -> Option<usize>;

    /// An integer.
    fn count(&mut self, count: usize) -> Self::Term;

    /// The start of a list.
    fn cursor(&self, list: &Self::Term) -> Self::Cursor;

    /// The next element, unless the list ends there or is open.
    fn next(&self, cursor: &mut Self::Cursor) -> Option<Self::Term>;

    /// Whether the list ends at the cursor; if there is no next element either, it is open there.
    fn is_end(&self, cursor: &Self::Cursor) -> bool;

    /// The list from the cursor on.
    fn rest(&mut self, cursor: Self::Cursor) -> Self::Term;

    /// The list of some elements, followed by those of another list.
    fn prepend(&mut self, elements: Vec<Self::Term>, list: Self::Term) -> Option<Self::Term>;

    /// `[]`
    fn empty_list(&mut self) -> Self::Term;

    /// The function that is being evaluated, on a list that is open from the start.
    fn residual(&mut self, operands: [Self::Term; 2]) -> Option<Self::Term>;
}
