//! Genetic search.

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// What makes a path fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Fitness {
    /// Few enabled transitions along the path.
    Enabled,
    /// Labels along the path that match a pattern.
    Label(crate::objective::Pattern),
    /// The largest value of a measure along the path.
    Measure(String),
    /// States along the path that were new to the search.
    Novelty,
}

/// Parameters of genetic search.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneticOptions {
    /// Chromosomes per generation.
    pub population: usize,
    /// Survivors per generation.
    pub parents: usize,
    /// Probability that a bit flips.
    pub mutation: f64,
    /// Generations per run.
    pub generations: u32,
    /// Longest path, in transitions.
    pub depth: u32,
    /// What makes a path fit.
    pub fitness: Fitness,
    /// Whether children have two parents; without it the strategy is called `mutation`.
    pub crossover: bool,
    /// Start over with a new population after this many generations without improvement.
    pub stagnation: u32,
}

impl Default for GeneticOptions {
    fn default() -> Self {
        GeneticOptions {
            population: 200,
            parents: 100,
            mutation: 0.005,
            generations: 100,
            depth: 100,
            fitness: Fitness::Enabled,
            crossover: true,
            stagnation: 15,
        }
    }
}

impl GeneticOptions {
    pub(crate) fn validate(&self) -> Result<(), turnpike_model::Diagnostic> {
        Ok(())
    }
}

pub(crate) fn search(run: &mut Run<'_>, options: &GeneticOptions) -> Result<StopReason, Halt> {
    let _ = (run, options);
    Ok(StopReason::Finished)
}
