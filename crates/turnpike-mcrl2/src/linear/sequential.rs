//! Sequential components.
use turnpike_model::diagnostic::Diagnostic;

use super::Automaton;
use crate::expression::Substitution;
use crate::sorts::{BehaviourId, Program};

pub(super) fn automaton(
    program: &mut Program,
    name: &str,
    root: BehaviourId,
    environment: &Substitution,
) -> Result<Automaton, Diagnostic> {
    let _ = (program, name, root, environment);
    unimplemented!()
}
