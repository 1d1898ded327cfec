//! Evaluates a chromosome: follows the walk that it encodes, and computes its fitness.

use turnpike_model::Successors;

use super::chromosome::Chromosome;
use super::fitness::{Penalties, Scorer};
use super::population::Individual;
use crate::error::Halt;
use crate::run::Run;
use crate::witness::Path;

/// Walks, one after the other, in memory that is allocated once.
pub(super) struct Evaluator {
    initial: Vec<u32>,
    state: Vec<u32>,
    successors: Successors,
    choices: Vec<u32>,
    scorer: Scorer,
    penalties: Penalties,
    depth: u32,
}

impl Evaluator {
    /// Walks take at most `depth` transitions, and the state there is looked at too.
    pub(super) fn new(run: &Run<'_>, initial: Vec<u32>, scorer: Scorer, depth: u32) -> Self {
        Evaluator {
            state: initial.clone(),
            initial,
            successors: run.buffer(),
            choices: Vec::new(),
            scorer,
            penalties: Penalties::default(),
            depth,
        }
    }

    pub(super) fn scorer(&self) -> &Scorer {
        &self.scorer
    }

    /// Gives an individual its fitness; how many bits were read.
    pub(super) fn evaluate(&mut self, run: &mut Run<'_>, individual: &mut Individual) -> Result<usize, Halt> {
        self.scorer.begin();
        let bits = self.walk(run, &mut individual.chromosome)?;
        individual.fitness = self.scorer.end() / self.penalties.divisor();
        Ok(bits)
    }

    fn walk(&mut self, run: &mut Run<'_>, chromosome: &mut Chromosome) -> Result<usize, Halt> {
        let (mut read, mut entered) = (0, None);
        // Only when the search goes on after an error can a path meet one that is known.
        let penalise = run.options.all;
        self.penalties.begin();
        self.state.clone_from(&self.initial);
        self.choices.clear();
        loop {
            let depth = self.choices.len() as u32;
            let path = || Path::Choices(self.choices.clone());
            run.expand(&self.state, depth, &mut self.successors, &path)?;
            run.check(&self.state, &self.successors, &path)?;
            self.scorer.state(run, &self.state, &self.successors);
            if self.successors.is_empty() || depth == self.depth {
                if penalise {
                    self.penalties.see(run, entered, None);
                }
                return Ok(read);
            }
            let choice = chromosome.decide(&mut read, self.successors.len(), &mut run.rng);
            let label = self.successors.label(choice);
            if penalise {
                self.penalties.see(run, entered, Some((choice, label)));
            }
            self.scorer.step(run, label);
            self.state.clear();
            self.state.extend_from_slice(self.successors.state(choice));
            self.choices.push(choice as u32);
            entered = Some(label);
        }
    }
}
