//! Text to tree and back.

mod operator;
mod specification;
mod symbol;
mod tree;

pub use operator::{
    Associativity, BinaryOperator, Binder, BuiltinSort, Container, ProcessOperator, UnaryOperator,
};
pub use specification::{
    ActionDeclaration, Equation, FunctionDeclaration, Init, ProcessDeclaration, Section, SortDeclaration,
    Specification,
};
pub use symbol::{Name, Span, Symbol, Symbols};
pub use tree::{
    Assignment, CommRule, Constructor, Data, DataId, Field, MultiAction, Process, ProcessId, Renaming, Sort,
    SortId, Tree, Variable,
};
