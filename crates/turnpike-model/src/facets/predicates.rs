//! Conditions on states in the input language's own syntax.

use crate::diagnostic::Diagnostic;
use crate::system::StepError;

/// Compiles and evaluates conditions on states.
///
/// **Contract.** The value of a condition depends on the state alone. For systems without this
/// facet, conditions compare measures ([`MeasureExpression`](crate::predicate::MeasureExpression)).
pub trait Predicates {
    /// Compiles a condition for this explorer.
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic>;

    /// The value of a condition that this explorer compiled, if it is known to be the same in all states.
    fn constant(&mut self, predicate: PredicateId) -> Option<bool> {
        let _ = predicate;
        None
    }

    /// Whether a condition that this explorer compiled holds in `state`.
    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError>;
}

/// A condition compiled by one explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateId(pub u32);
