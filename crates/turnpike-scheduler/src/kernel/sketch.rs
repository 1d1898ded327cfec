//! Sketches: hashes of states that ignore how the state was reached.
//!
//! A sketch contains each thread's pending operation, and the step that last modified each object.
//! Far fewer states differ in it than in their happens-before past, so a search can recognise new
//! ones. Equal sketches may belong to different states: nothing may be pruned because of them.

use alloc::vec::Vec;

use super::Kernel;
use super::threads::Phase;
use crate::execution::Choice;
use crate::fingerprint::name;

/// The data for the sketch of the current state.
#[derive(Debug)]
pub(crate) struct Sketches {
    /// Whether steps carry sketches instead of fingerprints.
    pub(crate) on: bool,
    /// By object, the contribution to the sum of the last step that modified it.
    modified: Vec<u64>,
    sum: u64,
}

impl Sketches {
    pub(crate) const fn new() -> Self {
        Sketches { on: false, modified: Vec::new(), sum: 0 }
    }

    pub(crate) fn begin(&mut self, on: bool) {
        self.on = on;
        self.modified.clear();
        self.sum = 0;
    }
}

impl Kernel {
    /// The sketch of the current state.
    pub(super) fn sketch(&self) -> u64 {
        let mut sum = self.sketches.sum;
        for t in 0..self.count {
            let thread = self.thread(t);
            if thread.phase != Phase::Pending {
                continue;
            }
            let pending = &thread.pending;
            let operation = name(self.object_name_hash(pending.object), pending.site.0);
            sum = sum.wrapping_add(name(thread.name, name(operation, pending.kind as u64)));
        }
        sum
    }

    /// Updates the sketch for a step that is about to happen.
    pub(super) fn sketch_step(&mut self, step: &Choice) {
        let object = step.object.0 as usize;
        if !step.exclusive || object >= self.objects.len() {
            return;
        }
        let by = name(self.thread(step.thread.0).name, step.site.0);
        let added = name(self.objects[object].name, name(by, step.kind as u64));
        let sketches = &mut self.sketches;
        if sketches.modified.len() <= object {
            sketches.modified.resize(object + 1, 0);
        }
        let before = core::mem::replace(&mut sketches.modified[object], added);
        sketches.sum = sketches.sum.wrapping_sub(before).wrapping_add(added);
    }
}
