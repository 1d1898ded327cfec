//! Typed programs. The type checker turns a syntax tree into a [`Program`], in which every name is
//! resolved and every expression has its sort.
//!
//! ```
//! use turnpike_mcrl2::{typed::check_specification, syntax::parse_specification};
//!
//! let (specification, _) = parse_specification("act a: Nat; proc P(n: Nat) = a(n).P(n - 1); init P(3);");
//! let (program, diagnostics) = check_specification(&specification);
//! assert!(program.is_none());
//! assert_eq!(diagnostics[0].message, "the argument of process P must have sort Nat, but has sort Int");
//! ```

mod builtin;
mod check;
pub mod expression;
pub mod formula;
mod items;
mod program;
mod sorts;

pub use builtin::Builtin;
pub(crate) use builtin::is_builtin_name;
pub use check::{Meaning, NameIndex, check_specification, index_names};
pub use items::{
    Action, ActionId, Alternative, Behaviour, BehaviourId, Equation, Expression, ExpressionId,
    FunctionSymbol, Process, ProcessId, SymbolId, SymbolKind, Variable, VariableId,
};
pub use program::{ExecutionOptions, Program};
pub use sorts::{Basic, MAX_DEPTH, Sort, SortId, Sorts, Struct, StructConstructor, StructField};
