//! Updates and the bodies of functions.

use super::{Cells, ClockCell, Expression, Place};

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `target = value` for one cell; the value must lie in the cell's range.
    Assign {
        /// The assigned cell.
        target: Cells,
        /// The new value.
        value: Expression,
        /// Where it is written.
        place: Place,
    },
    /// Copies `count` cells from one variable to another (arrays and structs have value semantics).
    Copy {
        /// The first cell to write.
        target: Cells,
        /// The first cell to read.
        source: Cells,
        /// Number of cells.
        count: u32,
        /// Where it is written.
        place: Place,
    },
    /// Assigns a clock.
    Clock {
        /// The clock.
        clock: ClockCell,
        /// Its new value.
        value: ClockValue,
        /// Where it is written.
        place: Place,
    },
    /// Evaluated for its effects.
    Evaluate(Expression),
    /// `if`
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// `while`; a budget of steps bounds it.
    While(Expression, Vec<Statement>, Place),
    /// Executes the body for each value of a local cell, ascending.
    For {
        /// The local cell.
        local: u32,
        /// First value.
        low: i32,
        /// Last value.
        high: i32,
        /// The body.
        body: Vec<Statement>,
    },
    /// Leaves the function with this value (0 for functions without result).
    Return(Option<Expression>),
    /// The model asserts that this holds.
    Assert(Expression, Place),
}

/// The new value of a clock.
#[derive(Clone, Debug, PartialEq)]
pub enum ClockValue {
    /// A number, not negative.
    Constant(Expression),
    /// Another clock plus a number: `x = y + 3`.
    Clock(ClockCell, Expression),
}

/// A local cell's range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// As written, for messages.
    pub name: String,
    /// Smallest value.
    pub low: i32,
    /// Largest value.
    pub high: i32,
}

/// A function: parameters are the first cells of its frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// As written, for messages.
    pub name: String,
    /// Number of cells that the caller fills.
    pub parameters: u32,
    /// All cells of the frame with their ranges; those beyond the parameters start at zero, or at
    /// `low` if zero is not in range.
    pub locals: Vec<Local>,
    /// Executed in the frame of the caller, as references to the caller's local cells require. It
    /// then has no parameters, and its local cells are among those of the caller.
    pub shared: bool,
    /// Range that a returned value must lie in.
    pub result: Option<(i32, i32)>,
    /// The body.
    pub body: Vec<Statement>,
}
