//! Sequences of words with numbers that all explorers of a model share.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Numbers sequences of words. Number 0 is none of them: it stands for a path that has decided.
#[derive(Debug)]
pub(crate) struct Numbers {
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    all: Vec<Arc<[u32]>>,
    numbers: FxHashMap<Arc<[u32]>, u32>,
}

/// The path has decided the formula.
pub(crate) const DECIDED: u32 = 0;

impl Numbers {
    pub(crate) fn new() -> Numbers {
        let known = Known { all: vec![Arc::from([])], numbers: FxHashMap::default() };
        Numbers { known: Mutex::new(known) }
    }

    /// The number of a sequence, new or known.
    pub(crate) fn number(&self, words: Vec<u32>) -> u32 {
        let Known { all, numbers } = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Arc<[u32]> = words.into();
        if let Some(&number) = numbers.get(&words) {
            return number;
        }
        let number = all.len() as u32;
        all.push(Arc::clone(&words));
        numbers.insert(words, number);
        number
    }

    /// The sequence with a number.
    pub(crate) fn get(&self, number: u32) -> Arc<[u32]> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner).all[number as usize])
    }
}
