//! Genetic search by whole executions: one for each chromosome.
//!
//! The same algorithm as on any model ([`crate::strategy::Genetic`]), but the program decodes its chromosome
//! itself, repairs it, and tells the sums that make it fit. The chromosomes of a generation are evaluated by all threads.

use rustc_hash::FxHashMap;
use turnpike_model::paths::{Chooser, Detail, Paths, Request};

use super::pool::Batch;
use super::summary::{Summarise, Summary};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::Pattern;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::store::Fingerprints;
use crate::strategy::genetic::{Fitness, Genetic, Individual, Population, announce};

/// Whether executions alone tell how fit they are.
pub(crate) fn judges(fitness: &Fitness) -> bool {
    !matches!(fitness, Fitness::Measure(_) | Fitness::LeastMeasure(_))
}

/// What is kept of a chromosome's execution.
struct Life {
    summary: Summary,
    genes: Vec<u64>,
    read: usize,
    /// What the fitness counts; for `novelty`, the states are told instead.
    count: u64,
    states: Vec<u64>,
}

struct Evaluation {
    max_steps: u32,
    summarise: Summarise,
    fitness: Fitness,
    /// Fingerprints of all states met, for `novelty`.
    seen: Fingerprints,
    /// How often each error was met, when others are looked for.
    known: FxHashMap<u64, u64>,
    /// Executions so far, from which their seeds are derived.
    number: u64,
}

/// Breeds schedules.
pub(crate) fn search(run: &mut Run<'_>, options: &Genetic) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info() else { return Ok(StopReason::Finished) };
    let max_steps = info.max_steps.min(run.max_depth).min(options.depth);
    let mut evaluation = Evaluation {
        max_steps,
        summarise: Summarise::new(run)?,
        fitness: options.fitness.clone(),
        seen: Fingerprints::default(),
        known: FxHashMap::default(),
        number: 0,
    };
    let fades = options.fitness == Fitness::Novelty;
    let fading = if fades { 0.5 } else { 1.0 };
    let mut generations = 0;
    for restart in 0.. {
        if restart > 0 {
            run.rng = Rng::new(derive(run.seed, Purpose::Round, restart));
        }
        let mut population = Population::new(options);
        for _ in 0..options.population {
            population.settle(&mut run.rng);
        }
        let read = evaluation.evaluate(run, population.children(0))?;
        population.note_read(read);
        announce(run, population.rank(options, None));
        loop {
            generations += 1;
            if generations == options.generations || !population.has_choices() {
                return Ok(StopReason::Finished);
            }
            if options.stagnation > 0 && population.stagnant() >= options.stagnation {
                break;
            }
            population.breed(options.parents, options.crossover, fading, &mut run.rng);
            let children = population.children(options.parents);
            let read = evaluation.evaluate(run, children)?;
            let news = children.iter().any(|child| child.fitness > 0.0);
            population.note_read(read);
            announce(run, population.rank(options, fades.then_some(news)));
        }
    }
    Ok(StopReason::Finished)
}

impl Evaluation {
    /// Gives individuals their fitness; the most bits that were read from one of them.
    fn evaluate(&mut self, run: &mut Run<'_>, individuals: &mut [Individual]) -> Result<usize, Halt> {
        self.summarise.refresh(run);
        let bits: Vec<Vec<u64>> = individuals.iter().map(|one| one.chromosome.to_genes()).collect();
        let (max_steps, seed, first) = (self.max_steps, run.seed, self.number);
        self.number += individuals.len() as u64;
        let wanted = match &self.fitness {
            Fitness::Label(_) => Detail::Full,
            Fitness::Novelty => Detail::Steps,
            _ => Detail::Positions,
        };
        let (summarise, fitness) = (&self.summarise, &self.fitness);
        let detail = summarise.detail().max(wanted);
        let request = |index: usize| {
            let seed = derive(seed, Purpose::Execution, first + index as u64);
            let chooser = Chooser::Genes { bits: &bits[index], seed };
            Request { prefix: &[], chooser, max_steps, detail, reduced: true }
        };
        let batch = Batch {
            count: individuals.len(),
            request: &request,
            digest: &|paths| live(summarise, fitness, paths),
            last: &|life: &Life| !life.summary.hits.is_empty(),
        };
        let (seen, known) = (&mut self.seen, &mut self.known);
        let mut most = 0;
        batch.execute(run, &mut |run, index, life| {
            run.book_execution(&life.summary)?;
            most = most.max(life.read);
            let fresh = life.states.iter().filter(|&&state| seen.insert(state)).count() as u64;
            let mut value = match fitness {
                Fitness::Enabled => 1.0 / (1.0 + life.count as f64),
                _ => 1.0 - 1.0 / (1.0 + (life.count + fresh) as f64),
            };
            if !life.summary.hits.is_empty() {
                // What is new costs little, and what is well known soon loses to what leads elsewhere.
                let met = known.entry(life.summary.signature).or_default();
                *met += 1;
                value /= 1.0 + *met as f64;
            }
            let individual = &mut individuals[index];
            individual.chromosome.take_genes(&life.genes, life.read);
            individual.fitness = value;
            Ok(())
        })?;
        Ok(most)
    }
}

fn live(summarise: &Summarise, fitness: &Fitness, paths: &mut dyn Paths) -> Life {
    let tally = paths.tally();
    let count = match fitness {
        Fitness::Enabled => tally.enabled,
        Fitness::Messages => tally.messages,
        Fitness::Assertions => tally.assertions,
        Fitness::Branches => tally.branches,
        Fitness::Label(pattern) => matching(pattern, paths),
        _ => 0,
    };
    let mut states = Vec::new();
    if *fitness == Fitness::Novelty {
        paths.fingerprints(&mut states);
    }
    let summary = summarise.of(paths);
    let (genes, read) = paths.genes();
    Life { summary, genes: genes.to_vec(), read, count, states }
}

/// Steps whose labels match.
fn matching(pattern: &Pattern, paths: &mut dyn Paths) -> u64 {
    (0..paths.len()).filter(|&step| pattern.matches(&paths.label(step).text)).count() as u64
}
