//! The built-in functions and their signatures. If a function has several signatures, the first
//! that fits the arguments is the least general one.

use crate::syntax::{BinaryOperator, UnaryOperator};

/// A built-in function. The sort of its [`SymbolId`](super::SymbolId) determines which of its
/// signatures is used: `Add` of sort `Pos # Nat -> Pos`, `Equal` of sort `D # D -> Bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Builtin {
    /// `==` on any sort.
    Equal,
    /// `!=` on any sort.
    NotEqual,
    /// `<` on any sort; strict inclusion on sets and bags.
    Less,
    /// `<=` on any sort; inclusion on sets and bags.
    LessEqual,
    /// `>` on any sort.
    Greater,
    /// `>=` on any sort.
    GreaterEqual,
    /// `if(condition, then, otherwise)` on any sort.
    If,
    /// `!` on truth values.
    Not,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `=>`
    Implies,
    /// `+` on numbers.
    Add,
    /// `-` on two numbers.
    Subtract,
    /// `-` on one number.
    Negate,
    /// `*` on numbers.
    Multiply,
    /// `/`
    Divide,
    /// `div`, rounding down.
    Div,
    /// `mod`, never negative.
    Mod,
    /// `exp(base, exponent)`
    Exp,
    /// `max`
    Max,
    /// `min`
    Min,
    /// `succ`
    Succ,
    /// `pred`
    Pred,
    /// `abs`
    Abs,
    /// `floor`
    Floor,
    /// `ceil`
    Ceil,
    /// `round`: half up.
    Round,
    /// `sqrt`: rounded down.
    Sqrt,
    /// `Pos2Nat`, `Int2Nat` and so on. The signature determines the two sorts.
    Convert,
    /// `|>`: element before list.
    Cons,
    /// `<|`: element after list.
    Snoc,
    /// `++`
    Concat,
    /// `.`: element of a list by position, from 0.
    At,
    /// `#` on lists, finite sets and finite bags.
    Size,
    /// `in` on lists, sets and bags.
    In,
    /// `head`
    Head,
    /// `tail`
    Tail,
    /// `rhead`: the last element.
    RHead,
    /// `rtail`: all but the last element.
    RTail,
    /// `+` on sets and bags.
    Union,
    /// `*` on sets and bags.
    Intersection,
    /// `-` on sets and bags.
    Difference,
    /// `!` on sets.
    Complement,
    /// `pick`: the least element of a finite set or bag.
    Pick,
    /// `count(element, bag)`
    Count,
    /// `Set2Bag`
    Set2Bag,
    /// `Bag2Set`
    Bag2Set,
    /// `f[key -> value]`
    Update,
}

impl Builtin {
    /// The functions on numbers with numbers as results.
    pub(crate) const ARITHMETIC: [Builtin; 18] = [
        Builtin::Add,
        Builtin::Subtract,
        Builtin::Negate,
        Builtin::Multiply,
        Builtin::Divide,
        Builtin::Div,
        Builtin::Mod,
        Builtin::Exp,
        Builtin::Max,
        Builtin::Min,
        Builtin::Succ,
        Builtin::Pred,
        Builtin::Abs,
        Builtin::Floor,
        Builtin::Ceil,
        Builtin::Round,
        Builtin::Sqrt,
        Builtin::Convert,
    ];

    /// Whether this is a function on numbers with numbers as results.
    pub(crate) fn is_arithmetic(self) -> bool {
        Builtin::ARITHMETIC.contains(&self)
    }
}

/// A term in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Bool,
    Pos,
    Nat,
    Int,
    Real,
    /// Any sort. All occurrences in a signature are the same.
    S,
    /// Another such sort.
    T,
    List,
    Set,
    Bag,
    FSet,
    FBag,
    /// `S -> T`
    Function,
}

/// One signature of a built-in function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) builtin: Builtin,
    pub(super) domain: &'static [Term],
    pub(super) codomain: Term,
}

macro_rules! overloads {
    ($($name:ident = $($builtin:ident($($domain:ident),*) -> $codomain:ident),+;)+) => {
        $(static $name: &[Overload] = &[$(Overload {
            builtin: Builtin::$builtin,
            domain: &[$(Term::$domain),*],
            codomain: Term::$codomain,
        }),+];)+
    };
}

overloads! {
    EQUAL = Equal(S, S) -> Bool;
    NOT_EQUAL = NotEqual(S, S) -> Bool;
    LESS = Less(S, S) -> Bool;
    LESS_EQUAL = LessEqual(S, S) -> Bool;
    GREATER = Greater(S, S) -> Bool;
    GREATER_EQUAL = GreaterEqual(S, S) -> Bool;
    IF = If(Bool, S, S) -> S;
    NOT = Not(Bool) -> Bool, Complement(Set) -> Set;
    AND = And(Bool, Bool) -> Bool;
    OR = Or(Bool, Bool) -> Bool;
    IMPLIES = Implies(Bool, Bool) -> Bool;
    ADD = Add(Pos, Pos) -> Pos, Add(Pos, Nat) -> Pos, Add(Nat, Pos) -> Pos, Add(Nat, Nat) -> Nat,
        Add(Int, Int) -> Int, Add(Real, Real) -> Real,
        Union(FSet, FSet) -> FSet, Union(Set, Set) -> Set, Union(FBag, FBag) -> FBag, Union(Bag, Bag) -> Bag;
    SUBTRACT = Subtract(Pos, Pos) -> Int, Subtract(Nat, Nat) -> Int, Subtract(Int, Int) -> Int,
        Subtract(Real, Real) -> Real,
        Difference(FSet, FSet) -> FSet, Difference(FSet, Set) -> FSet, Difference(Set, Set) -> Set,
        Difference(FBag, FBag) -> FBag, Difference(FBag, Bag) -> FBag, Difference(Bag, Bag) -> Bag;
    NEGATE = Negate(Pos) -> Int, Negate(Nat) -> Int, Negate(Int) -> Int, Negate(Real) -> Real;
    MULTIPLY = Multiply(Pos, Pos) -> Pos, Multiply(Nat, Nat) -> Nat, Multiply(Int, Int) -> Int,
        Multiply(Real, Real) -> Real,
        Intersection(FSet, FSet) -> FSet, Intersection(FSet, Set) -> FSet, Intersection(Set, FSet) -> FSet,
        Intersection(Set, Set) -> Set,
        Intersection(FBag, FBag) -> FBag, Intersection(FBag, Bag) -> FBag, Intersection(Bag, FBag) -> FBag,
        Intersection(Bag, Bag) -> Bag;
    DIVIDE = Divide(Pos, Pos) -> Real, Divide(Nat, Nat) -> Real, Divide(Int, Int) -> Real,
        Divide(Real, Real) -> Real;
    DIV = Div(Nat, Pos) -> Nat, Div(Int, Pos) -> Int;
    MOD = Mod(Nat, Pos) -> Nat, Mod(Int, Pos) -> Nat;
    EXP = Exp(Pos, Nat) -> Pos, Exp(Nat, Nat) -> Nat, Exp(Int, Nat) -> Int, Exp(Real, Int) -> Real;
    MAX = Max(Pos, Pos) -> Pos, Max(Pos, Nat) -> Pos, Max(Nat, Pos) -> Pos, Max(Nat, Nat) -> Nat,
        Max(Pos, Int) -> Pos, Max(Int, Pos) -> Pos, Max(Nat, Int) -> Nat, Max(Int, Nat) -> Nat,
        Max(Int, Int) -> Int, Max(Real, Real) -> Real;
    MIN = Min(Pos, Pos) -> Pos, Min(Nat, Nat) -> Nat, Min(Int, Int) -> Int, Min(Real, Real) -> Real;
    SUCC = Succ(Pos) -> Pos, Succ(Nat) -> Pos, Succ(Int) -> Int, Succ(Real) -> Real;
    PRED = Pred(Pos) -> Nat, Pred(Nat) -> Int, Pred(Int) -> Int, Pred(Real) -> Real;
    ABS = Abs(Int) -> Nat, Abs(Real) -> Real;
    FLOOR = Floor(Real) -> Int;
    CEIL = Ceil(Real) -> Int;
    ROUND = Round(Real) -> Int;
    SQRT = Sqrt(Nat) -> Nat;
    POS2NAT = Convert(Pos) -> Nat;
    POS2INT = Convert(Pos) -> Int;
    POS2REAL = Convert(Pos) -> Real;
    NAT2POS = Convert(Nat) -> Pos;
    NAT2INT = Convert(Nat) -> Int;
    NAT2REAL = Convert(Nat) -> Real;
    INT2POS = Convert(Int) -> Pos;
    INT2NAT = Convert(Int) -> Nat;
    INT2REAL = Convert(Int) -> Real;
    REAL2POS = Convert(Real) -> Pos;
    REAL2NAT = Convert(Real) -> Nat;
    REAL2INT = Convert(Real) -> Int;
    CONS = Cons(S, List) -> List;
    SNOC = Snoc(List, S) -> List;
    CONCAT = Concat(List, List) -> List;
    AT = At(List, Nat) -> S;
    SIZE = Size(List) -> Nat, Size(FSet) -> Nat, Size(FBag) -> Nat;
    IN = In(S, List) -> Bool, In(S, FSet) -> Bool, In(S, Set) -> Bool, In(S, FBag) -> Bool, In(S, Bag) -> Bool;
    HEAD = Head(List) -> S;
    TAIL = Tail(List) -> List;
    RHEAD = RHead(List) -> S;
    RTAIL = RTail(List) -> List;
    PICK = Pick(FSet) -> S, Pick(FBag) -> S;
    COUNT = Count(S, FBag) -> Nat, Count(S, Bag) -> Nat;
    SET2BAG = Set2Bag(Set) -> Bag;
    BAG2SET = Bag2Set(Bag) -> Set;
    UPDATE = Update(Function, S, T) -> Function;
}

/// The built-in functions with a name, and their signatures.
pub(super) static NAMED: [(&str, &[Overload]); 31] = [
    ("if", IF),
    ("exp", EXP),
    ("max", MAX),
    ("min", MIN),
    ("succ", SUCC),
    ("pred", PRED),
    ("abs", ABS),
    ("floor", FLOOR),
    ("ceil", CEIL),
    ("round", ROUND),
    ("sqrt", SQRT),
    ("Pos2Nat", POS2NAT),
    ("Pos2Int", POS2INT),
    ("Pos2Real", POS2REAL),
    ("Nat2Pos", NAT2POS),
    ("Nat2Int", NAT2INT),
    ("Nat2Real", NAT2REAL),
    ("Int2Pos", INT2POS),
    ("Int2Nat", INT2NAT),
    ("Int2Real", INT2REAL),
    ("Real2Pos", REAL2POS),
    ("Real2Nat", REAL2NAT),
    ("Real2Int", REAL2INT),
    ("head", HEAD),
    ("tail", TAIL),
    ("rhead", RHEAD),
    ("rtail", RTAIL),
    ("pick", PICK),
    ("count", COUNT),
    ("Set2Bag", SET2BAG),
    ("Bag2Set", BAG2SET),
];

/// Whether a built-in function has this name.
pub(crate) fn is_builtin_name(name: &str) -> bool {
    NAMED.iter().any(|&(one, _)| one == name)
}

/// The signatures of an infix operator.
pub(super) fn of_binary(operator: BinaryOperator) -> &'static [Overload] {
    match operator {
        BinaryOperator::Implies => IMPLIES,
        BinaryOperator::Or => OR,
        BinaryOperator::And => AND,
        BinaryOperator::Equal => EQUAL,
        BinaryOperator::NotEqual => NOT_EQUAL,
        BinaryOperator::Less => LESS,
        BinaryOperator::LessEqual => LESS_EQUAL,
        BinaryOperator::GreaterEqual => GREATER_EQUAL,
        BinaryOperator::Greater => GREATER,
        BinaryOperator::In => IN,
        BinaryOperator::Cons => CONS,
        BinaryOperator::Snoc => SNOC,
        BinaryOperator::Concat => CONCAT,
        BinaryOperator::Add => ADD,
        BinaryOperator::Subtract => SUBTRACT,
        BinaryOperator::Divide => DIVIDE,
        BinaryOperator::Div => DIV,
        BinaryOperator::Mod => MOD,
        BinaryOperator::Multiply => MULTIPLY,
        BinaryOperator::At => AT,
    }
}

/// The signatures of a prefix operator.
pub(super) fn of_unary(operator: UnaryOperator) -> &'static [Overload] {
    match operator {
        UnaryOperator::Not => NOT,
        UnaryOperator::Minus => NEGATE,
        UnaryOperator::Size => SIZE,
    }
}

/// The signatures of a function update.
pub(super) fn of_update() -> &'static [Overload] {
    UPDATE
}

impl Term {
    /// The text in a list of candidates.
    pub(super) fn text(self) -> &'static str {
        match self {
            Term::Bool => "Bool",
            Term::Pos => "Pos",
            Term::Nat => "Nat",
            Term::Int => "Int",
            Term::Real => "Real",
            Term::S => "S",
            Term::T => "T",
            Term::List => "List(S)",
            Term::Set => "Set(S)",
            Term::Bag => "Bag(S)",
            Term::FSet => "FSet(S)",
            Term::FBag => "FBag(S)",
            Term::Function => "(S -> T)",
        }
    }
}

impl Overload {
    /// The signature in the syntax of a declaration.
    pub(super) fn text(&self) -> String {
        let domain: Vec<&str> = self.domain.iter().map(|term| term.text()).collect();
        format!("{} -> {}", domain.join(" # "), self.codomain.text())
    }
}
