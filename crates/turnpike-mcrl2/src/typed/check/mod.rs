//! The type checker.
//!
//! Inference is a sequence of loops over the nodes of an expression, without recursion. Bottom-up,
//! every node gets the set of sorts that it can have (`pattern`, `infer`). Top-down, every node
//! gets the sort that its context requires, and overloading is resolved (`overloads`). Bottom-up
//! again, the typed expression is built, with all conversions (`build`).

mod build;
mod calls;
mod checker;
mod communication;
mod distribute;
mod equations;
mod formula;
mod functions;
mod infer;
mod liveness;
mod messages;
mod names;
mod overloads;
mod pattern;
mod processes;
mod resolve;
mod signature;
mod sort_declarations;

use turnpike_model::diagnostic::Diagnostic;

use self::checker::Checker;
pub use self::names::{Meaning, NameIndex, index_names};
use crate::syntax::{DataId, Specification, Tree};
use crate::typed::{ExpressionId, Program, SortId, VariableId};

/// Type-checks a specification. Returns a program if there are no errors, and all diagnostics.
pub fn check_specification(specification: &Specification) -> (Option<Program>, Vec<Diagnostic>) {
    let mut checker = Checker::new(&specification.tree, Program::default());
    run_all(&mut checker, specification);
    let Checker { program, errors, diagnostics, .. } = checker;
    ((errors == 0).then_some(program), diagnostics)
}

/// Runs all phases.
fn run_all(checker: &mut Checker<'_>, specification: &Specification) {
    checker.added_from = specification.added_from;
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
    checker.diagnostics.sort_by_key(|one| one.span.as_ref().map_or(0, |span| span.range.start));
}

impl Program {
    /// Type-checks an expression of another tree as part of this program, such as an objective or
    /// the new value of a constant. It may use `variables`. Without `expected` it gets the smallest
    /// sort it can have.
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
