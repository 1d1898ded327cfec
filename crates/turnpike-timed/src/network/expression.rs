//! Integer expressions over memory cells. Non-zero numbers are true.

use std::sync::Arc;

use super::{FunctionId, LocationId, Place, ProcessId};

/// The memory that a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The network's variables.
    Global,
    /// The frame of the current edge or function.
    Local,
}

/// Consecutive cells, or one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Which memory.
    pub space: Space,
    /// First cell of the variable.
    pub base: u32,
    /// Number of cells that the offset can reach: the whole variable.
    pub count: u32,
    /// Added to `base`. Each index in it is checked by its own [`Expression::InRange`].
    pub offset: Option<Box<Expression>>,
}

impl Cells {
    /// A fixed cell.
    pub fn fixed(space: Space, base: u32) -> Self {
        Cells { space, base, count: 1, offset: None }
    }
}

/// An integer expression. Arithmetic is exact: a result outside 32 bits is an error of the model,
/// as is division by zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Constant(i32),
    /// The value of a cell.
    Read(Cells),
    /// A cell of a constant array. Every index in the offset is checked by its own
    /// [`Expression::InRange`].
    Table(Arc<[i32]>, Box<Expression>),
    /// `-e`, `!e`.
    Unary(Unary, Box<Expression>),
    /// Both operands are evaluated, except that `And` and `Or` short-circuit.
    Binary(Binary, Box<Expression>, Box<Expression>, Place),
    /// `c ? a : b`.
    Conditional(Box<[Expression; 3]>),
    /// The value, which must lie in the range: an array index.
    InRange {
        /// The value.
        value: Box<Expression>,
        /// Smallest allowed.
        low: i32,
        /// Largest allowed.
        high: i32,
        /// Where it is written.
        place: Place,
    },
    /// Ranges over all values of a local cell, in ascending order.
    Quantified {
        /// How the values of the body are combined.
        quantifier: Quantifier,
        /// The local cell that is bound.
        local: u32,
        /// First value.
        low: i32,
        /// Last value.
        high: i32,
        /// Evaluated for each value.
        body: Box<Expression>,
    },
    /// A function call. Arguments are stored in the first cells of its frame, one expression per
    /// cell.
    Call {
        /// The function.
        function: FunctionId,
        /// Values of its parameter cells.
        arguments: Vec<Expression>,
        /// Where it is called.
        place: Place,
    },
    /// Assigns a cell and returns the value (UPPAAL: `x = e` inside an expression).
    Assign {
        /// Where to.
        target: Cells,
        /// What.
        value: Box<Expression>,
        /// Where it is written.
        place: Place,
    },
    /// Evaluates both and returns the second: `x++` is `(old = x, x = old + 1, old)`.
    Sequence(Box<[Expression; 2]>),
    /// Whether a process is in a location (queries only).
    At(ProcessId, LocationId),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, towards zero.
    Divide,
    /// `%`, with the sign of the dividend.
    Remainder,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<?`
    Minimum,
    /// `>?`
    Maximum,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
    /// `&&`, the right side only if needed.
    And,
    /// `||`, the right side only if needed.
    Or,
}

impl Binary {
    /// Whether the result is always 0 or 1.
    pub(crate) fn is_truth(self) -> bool {
        use Binary::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
        matches!(self, Less | LessEqual | Equal | NotEqual | GreaterEqual | Greater | And | Or)
    }
}

/// How a quantified expression combines the values of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// All values make the body true.
    ForAll,
    /// Some value makes the body true.
    Exists,
    /// The sum of the body's values.
    Sum,
}

/// Why an operator has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// The right operand of a division is zero.
    DivisionByZero,
    /// A shift is by fewer than 0 or more than 31 bits.
    Shift,
    /// The value does not fit into 32 bits.
    Overflow(i64),
}

impl Binary {
    /// Applies the operator without wrapping around.
    ///
    /// `And` and `Or` take both operands here; short-circuiting is up to the caller.
    #[inline]
    pub fn apply(self, left: i32, right: i32) -> Result<i32, Undefined> {
        let (a, b) = (i64::from(left), i64::from(right));
        let value = match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide | Binary::Remainder if right == 0 => return Err(Undefined::DivisionByZero),
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            Binary::ShiftLeft | Binary::ShiftRight if !(0..32).contains(&right) => {
                return Err(Undefined::Shift);
            }
            Binary::ShiftLeft => a << right,
            Binary::ShiftRight => a >> right,
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::Minimum => a.min(b),
            Binary::Maximum => a.max(b),
            Binary::Less => i64::from(a < b),
            Binary::LessEqual => i64::from(a <= b),
            Binary::Equal => i64::from(a == b),
            Binary::NotEqual => i64::from(a != b),
            Binary::GreaterEqual => i64::from(a >= b),
            Binary::Greater => i64::from(a > b),
            Binary::And => i64::from(a != 0 && b != 0),
            Binary::Or => i64::from(a != 0 || b != 0),
        };
        i32::try_from(value).map_err(|_| Undefined::Overflow(value))
    }
}
