//! Type checking: from a syntax tree, where a name is a word, to a [`Program`], where every name is resolved and every
//! expression has its sort.
//!
//! ```
//! use turnpike_mcrl2::{sorts::check_specification, syntax::parse_specification};
//!
//! let (specification, _) = parse_specification("act a: Nat; proc P(n: Nat) = a(n).P(n - 1); init P(3);");
//! let (program, diagnostics) = check_specification(&specification);
//! assert!(program.is_none());
//! assert_eq!(diagnostics[0].message, "the argument of process P must have sort Nat, but has sort Int");
//! ```
//!
//! Inference goes in three loops over the nodes of an expression, without recursion. From the leaves up, every node gets the
//! set of sorts that it can be given (`pattern.rs`, `infer.rs`); from the root down, every node gets the sort that its surroundings
//! need, and overloading is decided (`choose.rs`); from the leaves up again the typed expression is built, with all
//! conversions (`build.rs`).

mod build;
mod builtin;
mod calls;
mod checker;
mod choose;
mod communication;
mod declare;
mod equations;
mod explain;
mod functions;
mod infer;
mod names;
mod parts;
mod pattern;
mod processes;
mod program;
mod signature;
mod table;

pub use builtin::Builtin;
pub(crate) use builtin::is_builtin_name;
pub use parts::{
    Action, ActionId, Alternative, Behaviour, BehaviourId, Equation, Expression, ExpressionId,
    FunctionSymbol, Process, ProcessId, SymbolId, SymbolKind, Variable, VariableId,
};
pub use program::{Program, Wishes};
pub use table::{Basic, MAX_DEPTH, Sort, SortId, Sorts, Struct, StructConstructor, StructField};
use turnpike_model::diagnostic::Diagnostic;

use self::checker::Checker;
use crate::syntax::{DataId, Specification, Tree};

/// Type-checks a specification. There is a program when there is no error; warnings come with it.
pub fn check_specification(specification: &Specification) -> (Option<Program>, Vec<Diagnostic>) {
    let mut checker = Checker::new(&specification.tree, Program::default());
    checker.declare_sorts(specification);
    checker.declare_functions(specification);
    if checker.errors == 0 {
        checker.check_inhabited();
    }
    checker.declare_actions(specification);
    checker.check_equations(specification);
    checker.declare_globals(specification);
    checker.declare_processes(specification);
    checker.check_processes(specification);
    let Checker { program, errors, mut diagnostics, .. } = checker;
    diagnostics.sort_by_key(|one| one.span.as_ref().map_or(0, |span| span.range.start));
    ((errors == 0).then_some(program), diagnostics)
}

impl Program {
    /// Type-checks an expression of another tree as part of this program: an objective, the new value of a constant. `variables`
    /// are those it may use; without `expected` it gets the smallest sort it can have.
    pub fn check_expression(
        &mut self,
        tree: &Tree,
        root: DataId,
        variables: &[VariableId],
        expected: Option<SortId>,
    ) -> Result<ExpressionId, Vec<Diagnostic>> {
        let mut checker = Checker::new(tree, std::mem::take(self));
        variables.iter().for_each(|&variable| checker.bind(variable));
        let typed = checker.infer(root).and_then(|inferred| {
            let sort = match expected {
                Some(sort) => checker.require(root, sort, "this expression").then_some(sort),
                None => checker.smallest(root),
            };
            checker.elaborate(&inferred, sort?)
        });
        *self = checker.program;
        typed.ok_or(checker.diagnostics)
    }
}
