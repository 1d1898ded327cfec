//! The names in a system, so that a misspelt objective is an error rather than a proof.

/// Decides whether a system has the actions that an objective names.
///
/// **Contract.** [`Word::Known`] guarantees nothing: a known action need not occur in any run.
/// Every other answer is a proof that it occurs in no run. Values do not matter: `c(7)` is known if
/// `c` takes one argument of a sort that 7 belongs to, even if no run has that value.
pub trait Vocabulary {
    /// Whether a transition can have an action with this name, alone or among others.
    fn action(&self, name: &str) -> Word;

    /// Whether the label of a transition can match this [`Pattern`](crate::Pattern).
    fn label(&self, pattern: &str) -> Word;

    /// The pattern in the form in which labels are printed, if it differs: data can have several
    /// texts, such as `e(03)` for `e(3)`. It has the same meaning as the pattern. Only for known
    /// patterns.
    fn normal_form(&self, _pattern: &str) -> Option<String> {
        None
    }

    /// Whether an action can have an argument at this position, counted from 1.
    fn argument(&self, action: &str, position: usize) -> Word;

    /// The names of the actions that can occur, for messages.
    fn names(&self) -> Vec<&str>;
}

/// Whether a system can do something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Word {
    /// There is no known obstacle.
    Known,
    /// No action has this name or matches this pattern.
    Unknown {
        /// The name that was requested.
        name: String,
        /// The name that it may be a misspelling of.
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
        /// The names.
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
        /// The requested number of arguments.
        found: usize,
    },
    /// An argument does not have the sort that the action takes.
    WrongSort {
        /// The name of the action.
        name: String,
        /// The position of the argument, counted from 1.
        position: usize,
        /// The sort that the action takes there.
        sort: String,
        /// The requested argument.
        argument: String,
    },
    /// An argument is not valid data: it has unknown names, or is not an expression.
    BadArgument {
        /// The name of the action.
        name: String,
        /// The position of the argument, counted from 1.
        position: usize,
        /// The requested argument.
        argument: String,
        /// The problem with it.
        problem: String,
        /// Advice for fixing it.
        help: Option<String>,
    },
    /// An argument means different data for different actions of this name.
    AmbiguousArgument {
        /// The name of the action.
        name: String,
        /// The position of the argument, counted from 1.
        position: usize,
        /// The requested argument.
        argument: String,
        /// The texts that labels may have for it.
        readings: Vec<String>,
    },
    /// Labels with these actions always have a time or a probability at the end.
    NeedsSuffix {
        /// The label without one.
        label: String,
    },
}

impl Word {
    /// Whether there is no known obstacle.
    pub fn is_known(&self) -> bool {
        *self == Word::Known
    }
}
