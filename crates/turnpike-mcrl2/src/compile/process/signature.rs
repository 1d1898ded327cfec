//! Signatures of labels: their actions and the kinds of values that follow.

use std::sync::{Arc, PoisonError, RwLock};

use crate::lower::ActionInstance;
use crate::typed::{Program, SortId};

/// A label without its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    /// The actions, in the order of their names.
    pub(crate) actions: Vec<SignatureAction>,
    /// Whether a time follows the arguments.
    pub(crate) timed: bool,
    /// Whether a probability comes last.
    pub(crate) weighted: bool,
}

/// An action of a label without its values. One name may be declared with several sorts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SignatureAction {
    pub(crate) name: String,
    /// The sorts of its arguments.
    pub(crate) sorts: Box<[SortId]>,
}

impl SignatureAction {
    /// The action of a process as it appears in labels.
    pub(crate) fn new(program: &Program, action: &ActionInstance) -> Self {
        let count = action.arguments.len();
        let mut declared =
            program.actions.iter().filter(|one| one.name == action.name && one.sorts.len() == count);
        let sorts = match (declared.next(), declared.next()) {
            (Some(only), None) => only.sorts.clone(),
            _ => action.arguments.iter().map(|&argument| program.sort_of(argument)).collect(),
        };
        SignatureAction { name: program.text(action.name).to_owned(), sorts }
    }

    /// An action without arguments.
    pub(crate) fn plain(name: &str) -> Self {
        SignatureAction { name: name.to_owned(), sorts: Box::default() }
    }

    /// The number of its arguments.
    pub(crate) fn arity(&self) -> usize {
        self.sorts.len()
    }
}

/// The signatures of a process, numbered.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    all: RwLock<Vec<Arc<Signature>>>,
}

impl Signatures {
    /// The number of a signature, new or known.
    pub(crate) fn number(&self, signature: Signature) -> (u32, Arc<Signature>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|known| **known == signature).unwrap_or_else(|| {
            all.push(Arc::new(signature));
            all.len() - 1
        });
        (at as u32, Arc::clone(&all[at]))
    }

    /// The signature with a number.
    pub(crate) fn get(&self, number: u32) -> Arc<Signature> {
        Arc::clone(&self.all.read().unwrap_or_else(PoisonError::into_inner)[number as usize])
    }
}
