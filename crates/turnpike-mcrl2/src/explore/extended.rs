//! The program with what requests add to it: formulas, conditions on states, arguments of labels.
//!
//! Compiled code is shared by the numbers of symbols and sorts. So all requests extend one program:
//! two copies would give one number to different symbols, and one request would be decided by the
//! code of another.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Mcrl2Model;
use crate::compile::process::Network;
use crate::compile::solver::add_known_symbols;
use crate::typed::Program;

/// That program, cloned when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Extended(Mutex<Option<Program>>);

/// That program, while one request extends it.
pub(super) struct ExtendedProgram<'a>(MutexGuard<'a, Option<Program>>);

impl Extended {
    fn lock(&self, network: &Network) -> ExtendedProgram<'_> {
        let mut program = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        add_known_symbols(&network.rules, program.get_or_insert_with(|| (*network.program()).clone()));
        ExtendedProgram(program)
    }
}

impl Mcrl2Model {
    pub(super) fn extended_program(&self) -> ExtendedProgram<'_> {
        self.extended.lock(&self.network)
    }
}

impl Deref for ExtendedProgram<'_> {
    type Target = Program;
    fn deref(&self) -> &Program {
        self.0.as_ref().expect("it is cloned before it is handed out")
    }
}

impl DerefMut for ExtendedProgram<'_> {
    fn deref_mut(&mut self) -> &mut Program {
        self.0.as_mut().expect("it is cloned before it is handed out")
    }
}
