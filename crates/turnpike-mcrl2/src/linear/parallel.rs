//! Parallel composition.
use turnpike_model::diagnostic::Diagnostic;

use super::LinearProcess;
use crate::sorts::Program;

pub(super) fn linearise(program: Program) -> Result<LinearProcess, Vec<Diagnostic>> {
    let _ = program;
    unimplemented!()
}
