//! Signatures of labels: which actions they consist of and how many values go with each.

use std::sync::{Arc, PoisonError, RwLock};

/// Everything about a label but its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    /// Names, in their order, with how many arguments each has.
    pub(crate) actions: Vec<(String, usize)>,
    /// Whether a time follows the arguments.
    pub(crate) timed: bool,
    /// Whether a probability comes last.
    pub(crate) weighted: bool,
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
