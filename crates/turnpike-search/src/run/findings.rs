//! What a run has found.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::Objective;
use crate::report::SignatureReport;
use crate::witness::Witness;

/// The witnesses of a run.
pub(crate) struct Findings {
    /// By objective.
    pub(crate) witnesses: Vec<Option<Witness>>,
    /// The objective met first.
    pub(crate) first: Option<usize>,
    /// If all are to be met, for programs: further errors that meet objectives already met, in the order in which they
    /// were found.
    more: Vec<Witness>,
    /// The signatures of the errors of a program found so far, and in how many executions.
    signatures: IndexMap<String, u64>,
    /// The same for errors that are to be passed over.
    suppressed: BTreeMap<String, u64>,
}

impl Findings {
    pub(super) fn new(objectives: usize) -> Self {
        Findings {
            witnesses: vec![None; objectives],
            first: None,
            more: Vec::new(),
            signatures: IndexMap::new(),
            suppressed: BTreeMap::new(),
        }
    }

    /// Whether an objective was met.
    pub(super) fn has(&self, objective: usize) -> bool {
        self.witnesses[objective].is_some()
    }

    /// The objectives that were met, by bit.
    pub(crate) fn met(&self) -> u64 {
        (0..self.witnesses.len())
            .filter(|&objective| self.has(objective))
            .fold(0, |bits, one| bits | 1 << one)
    }

    /// Keeps the first witness of an objective, and stops unless all are to be met.
    pub(super) fn keep(&mut self, witness: Witness, all: bool) -> Result<(), Halt> {
        let objective = witness.objective;
        self.witnesses[objective] = Some(witness);
        self.first.get_or_insert(objective);
        if all { Ok(()) } else { Err(Halt::Stop(StopReason::Found)) }
    }

    /// Stops when everything that is looked for was found; measures are never.
    pub(super) fn stop_when_complete(&self, objectives: &[Objective]) -> Result<(), Halt> {
        let mut sought = objectives.iter().zip(&self.witnesses).filter(|(one, _)| !one.is_measure());
        if self.first.is_some() && sought.all(|(_, witness)| witness.is_some()) {
            return Err(Halt::Stop(StopReason::Found));
        }
        Ok(())
    }

    /// Keeps the witnesses of an execution's error, and stops unless others are looked for.
    pub(crate) fn meet_by_execution(
        &mut self,
        witnesses: Vec<Witness>,
        signatures: &[String],
        objectives: &[Objective],
        all: bool,
    ) -> Result<(), Halt> {
        let known = signatures.iter().all(|signature| self.signatures.contains_key(signature));
        for signature in signatures {
            *self.signatures.entry(signature.clone()).or_default() += 1;
        }
        for witness in witnesses {
            if !self.has(witness.objective) {
                self.keep(witness, all)?;
            } else if !known && objectives[witness.objective].is_error() {
                self.more.push(witness);
            }
        }
        // A program may have any number of errors: there is no telling when all were found.
        let endless = objectives.iter().any(Objective::is_error);
        if !endless && self.witnesses.iter().all(Option::is_some) {
            return Err(Halt::Stop(StopReason::Found));
        }
        Ok(())
    }

    /// An execution shows errors that are to be passed over.
    pub(crate) fn pass_over(&mut self, signatures: &[String]) {
        for signature in signatures {
            *self.suppressed.entry(signature.clone()).or_default() += 1;
        }
    }

    /// The errors of a program by their signatures: those that were found in the order in which they
    /// were, then those that were passed over.
    pub(crate) fn by_signature(&self) -> Vec<SignatureReport> {
        let report = |suppressed: bool| {
            move |(signature, &met): (&String, &u64)| SignatureReport {
                signature: signature.clone(),
                met,
                suppressed,
            }
        };
        let found = self.signatures.iter().map(report(false));
        found.chain(self.suppressed.iter().map(report(true))).collect()
    }

    /// All witnesses: that of the objective met first, those of the others in their order, further errors.
    pub(crate) fn in_order(&self) -> Vec<Witness> {
        let mut all: Vec<&Witness> = self.witnesses.iter().flatten().collect();
        all.sort_by_key(|witness| (self.first != Some(witness.objective), witness.objective));
        all.into_iter().chain(&self.more).cloned().collect()
    }
}
