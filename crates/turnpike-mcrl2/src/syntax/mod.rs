//! Text to tree and back.

pub mod formula;
mod lexer;
mod operator;
mod parser;
mod printer;
mod specification;
mod structure;
mod symbol;
mod tree;

pub use operator::{
    Associativity, BinaryOperator, Binder, BuiltinSort, Container, ProcessOperator, UnaryOperator,
};
pub use parser::{DataExpression, parse_data_expression, parse_formula, parse_specification};
pub use printer::Parentheses;
pub use specification::{
    ActionDeclaration, Equation, FunctionDeclaration, Init, ProcessDeclaration, Section, SortDeclaration,
    Specification,
};
pub use symbol::{Name, Span, Symbol, Symbols};
pub use tree::{
    Assignment, CommRule, Constructor, Data, DataId, Field, MultiAction, Process, ProcessId, Renaming, Sort,
    SortId, Tree, Variable,
};
