//! The operators: their spelling and their precedence. Parser and printer use the same tables.

/// The side on which operators of the same kind nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Associativity {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a => b => c` is `a => (b => c)`.
    Right,
}

/// A sort that every specification has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinSort {
    /// Truth values.
    Bool,
    /// 1, 2, 3, …
    Pos,
    /// 0, 1, 2, …
    Nat,
    /// Integers.
    Int,
    /// Rational numbers.
    Real,
}

impl BuiltinSort {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            BuiltinSort::Bool => "Bool",
            BuiltinSort::Pos => "Pos",
            BuiltinSort::Nat => "Nat",
            BuiltinSort::Int => "Int",
            BuiltinSort::Real => "Real",
        }
    }
}

/// A sort with one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Container {
    /// Finite sequences.
    List,
    /// Sets, given by a predicate and exceptions.
    Set,
    /// Multisets, given by a function and exceptions.
    Bag,
    /// Finite sets.
    FSet,
    /// Finite multisets.
    FBag,
}

impl Container {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Container::List => "List",
            Container::Set => "Set",
            Container::Bag => "Bag",
            Container::FSet => "FSet",
            Container::FBag => "FBag",
        }
    }
}

/// A prefix operator on data. All bind tighter than every infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `!`: negation, complement.
    Not,
    /// `-`: minus.
    Minus,
    /// `#`: size.
    Size,
}

impl UnaryOperator {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOperator::Not => "!",
            UnaryOperator::Minus => "-",
            UnaryOperator::Size => "#",
        }
    }
}

/// An infix operator on data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `=>`
    Implies,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
    /// `in`
    In,
    /// `|>`: an element before a list.
    Cons,
    /// `<|`: an element after a list.
    Snoc,
    /// `++`
    Concat,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `/`
    Divide,
    /// `div`
    Div,
    /// `mod`
    Mod,
    /// `*`
    Multiply,
    /// `.`: an element of a list.
    At,
}

impl BinaryOperator {
    /// All operators, weakest first.
    pub const ALL: [BinaryOperator; 20] = [
        BinaryOperator::Implies,
        BinaryOperator::Or,
        BinaryOperator::And,
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Less,
        BinaryOperator::LessEqual,
        BinaryOperator::GreaterEqual,
        BinaryOperator::Greater,
        BinaryOperator::In,
        BinaryOperator::Cons,
        BinaryOperator::Snoc,
        BinaryOperator::Concat,
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Divide,
        BinaryOperator::Div,
        BinaryOperator::Mod,
        BinaryOperator::Multiply,
        BinaryOperator::At,
    ];

    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOperator::Implies => "=>",
            BinaryOperator::Or => "||",
            BinaryOperator::And => "&&",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::Greater => ">",
            BinaryOperator::In => "in",
            BinaryOperator::Cons => "|>",
            BinaryOperator::Snoc => "<|",
            BinaryOperator::Concat => "++",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Divide => "/",
            BinaryOperator::Div => "div",
            BinaryOperator::Mod => "mod",
            BinaryOperator::Multiply => "*",
            BinaryOperator::At => ".",
        }
    }

    /// Its level, from 2 (weakest) to 12. Note that `*` binds tighter than `/`, `div` and `mod`.
    pub fn level(self) -> u8 {
        match self {
            BinaryOperator::Implies => 2,
            BinaryOperator::Or => 3,
            BinaryOperator::And => 4,
            BinaryOperator::Equal | BinaryOperator::NotEqual => 5,
            BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::GreaterEqual
            | BinaryOperator::Greater
            | BinaryOperator::In => 6,
            BinaryOperator::Cons => 7,
            BinaryOperator::Snoc => 8,
            BinaryOperator::Concat => 9,
            BinaryOperator::Add | BinaryOperator::Subtract => 10,
            BinaryOperator::Divide | BinaryOperator::Div | BinaryOperator::Mod => 11,
            BinaryOperator::Multiply | BinaryOperator::At => 12,
        }
    }

    /// The side on which it nests.
    pub fn associativity(self) -> Associativity {
        match self {
            BinaryOperator::Implies | BinaryOperator::Or | BinaryOperator::And | BinaryOperator::Cons => {
                Associativity::Right
            }
            _ => Associativity::Left,
        }
    }
}

impl BinaryOperator {
    /// The weakest levels that need no parentheses as its left and right operands.
    pub fn sides(self) -> (u8, u8) {
        match self.associativity() {
            Associativity::Left => (self.level(), self.level() + 1),
            Associativity::Right => (self.level() + 1, self.level()),
        }
    }
}

/// A prefix that binds variables in data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binder {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
    /// `lambda`
    Lambda,
}

impl Binder {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Binder::Forall => "forall",
            Binder::Exists => "exists",
            Binder::Lambda => "lambda",
        }
    }
}

/// An infix operator on processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcessOperator {
    /// `+`
    Choice,
    /// `||`
    Parallel,
    /// `||_`: the first step comes from the left.
    LeftMerge,
    /// `<<`: bounded initialisation.
    Before,
    /// `.`
    Sequence,
    /// `|`: joint steps only; a multi-action when both sides are actions.
    Synchronise,
}

impl ProcessOperator {
    /// All operators, weakest first.
    pub const ALL: [ProcessOperator; 6] = [
        ProcessOperator::Choice,
        ProcessOperator::Parallel,
        ProcessOperator::LeftMerge,
        ProcessOperator::Before,
        ProcessOperator::Sequence,
        ProcessOperator::Synchronise,
    ];

    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            ProcessOperator::Choice => "+",
            ProcessOperator::Parallel => "||",
            ProcessOperator::LeftMerge => "||_",
            ProcessOperator::Before => "<<",
            ProcessOperator::Sequence => ".",
            ProcessOperator::Synchronise => "|",
        }
    }

    /// Its level, from 1 (weakest) to 9. Sums have level 2, conditions 5, time stamps 8.
    pub fn level(self) -> u8 {
        match self {
            ProcessOperator::Choice => 1,
            ProcessOperator::Parallel => 3,
            ProcessOperator::LeftMerge => 4,
            ProcessOperator::Before => 6,
            ProcessOperator::Sequence => 7,
            ProcessOperator::Synchronise => 9,
        }
    }

    /// The side on which it nests.
    pub fn associativity(self) -> Associativity {
        match self {
            ProcessOperator::Parallel | ProcessOperator::LeftMerge | ProcessOperator::Sequence => {
                Associativity::Right
            }
            ProcessOperator::Choice | ProcessOperator::Before | ProcessOperator::Synchronise => {
                Associativity::Left
            }
        }
    }
}
