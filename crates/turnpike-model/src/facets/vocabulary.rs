//! The names of what a system can do, so that a misspelt objective is an error and not a proof.

/// Tells whether a system can do what an objective names.
///
/// **Contract.** [`Word::Known`] promises nothing: what has a name need not occur in any run. Every
/// other answer is a proof that no run shows what was named. Values do not matter: `c(7)` is known if
/// `c` takes one argument of a sort that 7 belongs to, even if no run has that value.
pub trait Vocabulary {
    /// Whether a transition can have an action of this name, alone or among others.
    fn action(&self, name: &str) -> Word;

    /// Whether the label of a transition can match this [`Pattern`](crate::Pattern).
    fn label(&self, pattern: &str) -> Word;

    /// The pattern as labels are printed, if that is another text: where data have several texts, `e(03)`
    /// is `e(3)`. It matches what the pattern means. Only for patterns that are known.
    fn normal_form(&self, _pattern: &str) -> Option<String> {
        None
    }

    /// Whether an action can have an argument at this position, counted from 1.
    fn argument(&self, action: &str, position: usize) -> Word;

    /// The names of the actions that can occur, for messages.
    fn names(&self) -> Vec<&str>;
}

/// Whether a system can do what was named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Word {
    /// Nothing speaks against it.
    Known,
    /// Nothing has this name, or one that fits this pattern.
    Unknown {
        /// What was named.
        name: String,
        /// The name that it is probably a misspelling of.
        nearest: Option<String>,
    },
    /// The action has this name, but turns into `tau`.
    Hidden {
        /// Its name.
        name: String,
    },
    /// The action is blocked, or never finds the partner that it needs.
    Blocked {
        /// Its name.
        name: String,
    },
    /// The actions exist, but not in a combination that is allowed.
    NotAllowed {
        /// Their names.
        name: String,
    },
    /// The action is declared, but no transition takes it.
    Unused {
        /// Its name.
        name: String,
    },
    /// The action has another number of arguments.
    WrongArity {
        /// Its name.
        name: String,
        /// The numbers of arguments that it can have, ascending.
        arities: Vec<usize>,
        /// The number that was named.
        found: usize,
    },
    /// An argument is not of the sort that the action takes.
    WrongSort {
        /// The name of the action.
        name: String,
        /// Which argument, counted from 1.
        position: usize,
        /// The sort that it has.
        sort: String,
        /// What was named.
        argument: String,
    },
    /// An argument is not data at all: it has unknown names, or is not an expression.
    BadArgument {
        /// The name of the action.
        name: String,
        /// Which argument, counted from 1.
        position: usize,
        /// What was named.
        argument: String,
        /// What is wrong with it.
        problem: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// An argument means different data for different actions of this name.
    AmbiguousArgument {
        /// The name of the action.
        name: String,
        /// Which argument, counted from 1.
        position: usize,
        /// What was named.
        argument: String,
        /// How labels may show it.
        readings: Vec<String>,
    },
    /// Labels of these actions always have a time or a probability after them.
    NeedsSuffix {
        /// The label without one.
        label: String,
    },
}

impl Word {
    /// Whether nothing speaks against it.
    pub fn is_known(&self) -> bool {
        *self == Word::Known
    }
}
