//! Evaluates chromosomes: follows the path that each encodes, and computes its fitness.

use turnpike_model::paths::{Chooser, Detail, Paths, Request};
use turnpike_model::{LabelId, Successors};

use super::Genetic;
use super::chromosome::Chromosome;
use super::fitness::{Fitness, Penalties, Scorer};
use super::population::Individual;
use crate::error::{Halt, SearchError};
use crate::follow;
use crate::follow::pool::{Batch, Digest};
use crate::follow::summary::{Summarise, Summary};
use crate::follow::walk::{Bounds, Steps, Walker};
use crate::limits::StopReason;
use crate::objective::{HitKind, Pattern};
use crate::rng::{Purpose, derive};
use crate::run::Run;
use crate::store::Fingerprints;
use crate::wire::{Reader, Writer};
use crate::witness::Path;

/// How paths are followed.
pub(super) enum Evaluator {
    /// State by state, one after the other.
    Walks(Walks),
    /// By the system itself, many at once.
    Paths(NativePaths),
}

impl Evaluator {
    pub(super) fn new(run: &mut Run<'_>, options: &Genetic) -> Result<Self, Halt> {
        if let Some(info) = run.paths_info()
            && follow::natively(run)
            && options.fitness.is_told_by_paths()
        {
            let max_steps = info.max_steps.min(run.view.max_depth).min(options.depth);
            return Ok(Evaluator::Paths(NativePaths::new(run, &options.fitness, max_steps)?));
        }
        Ok(Evaluator::Walks(Walks::new(run, options)?))
    }

    /// How many chromosomes are evaluated at once: so many must be known before the first of them is.
    pub(super) fn at_once(&self) -> usize {
        match self {
            // Repairs of a chromosome draw from the generator that makes the next one.
            Evaluator::Walks(_) => 1,
            Evaluator::Paths(_) => usize::MAX,
        }
    }

    /// Gives individuals their fitness; the most bits that were read from one of them.
    pub(super) fn evaluate(
        &mut self,
        run: &mut Run<'_>,
        individuals: &mut [Individual],
    ) -> Result<usize, Halt> {
        match self {
            Evaluator::Walks(walks) => walks.evaluate(run, individuals),
            Evaluator::Paths(paths) => paths.evaluate(run, individuals),
        }
    }
}

/// Walks over states.
pub(super) struct Walks {
    walker: Walker,
    bounds: Bounds,
    scorer: Scorer,
    penalties: Penalties,
    choices: Vec<u32>,
}

impl Walks {
    fn new(run: &mut Run<'_>, options: &Genetic) -> Result<Self, Halt> {
        let scorer = Scorer::new(&options.fitness, run.model.info()).map_err(SearchError::from)?;
        let walker = Walker::new(run)?;
        // States at the limit on depth are not expanded.
        let Some(deepest) = run.view.max_depth.checked_sub(1) else {
            return Err(Halt::Stop(StopReason::MaxDepth));
        };
        let last = options.depth.saturating_add(run.uncounted_levels()).min(deepest);
        let bounds = Bounds { unexpanded: run.view.max_depth, last };
        Ok(Walks { walker, bounds, scorer, penalties: Penalties::default(), choices: Vec::new() })
    }

    fn evaluate(&mut self, run: &mut Run<'_>, individuals: &mut [Individual]) -> Result<usize, Halt> {
        let mut most = 0;
        for individual in individuals {
            self.scorer.begin();
            self.penalties.begin();
            let mut decoding = Decoding {
                chromosome: &mut individual.chromosome,
                read: 0,
                scorer: &mut self.scorer,
                // Only when the search goes on after an error can a path meet one that is known.
                penalties: run.options.all.then_some(&mut self.penalties),
                choices: &mut self.choices,
                entered: None,
            };
            self.walker.walk(run, self.bounds, &mut decoding)?;
            decoding.end(run);
            most = most.max(decoding.read);
            individual.fitness = self.scorer.end() / self.penalties.divisor();
        }
        Ok(most)
    }
}

/// A walk along a chromosome.
struct Decoding<'w> {
    chromosome: &'w mut Chromosome,
    /// Bits read so far.
    read: usize,
    scorer: &'w mut Scorer,
    penalties: Option<&'w mut Penalties>,
    choices: &'w mut Vec<u32>,
    /// The label of the step into the present state.
    entered: Option<LabelId>,
}

impl Decoding<'_> {
    /// The walk ends in the state seen last.
    fn end(&mut self, run: &Run<'_>) {
        if let Some(penalties) = &mut self.penalties {
            see_errors(penalties, run, self.entered, None);
        }
    }
}

impl Steps for Decoding<'_> {
    fn begin(&mut self, _: &mut Run<'_>, _: &[u32]) {
        self.choices.clear();
    }

    #[inline]
    fn see(&mut self, run: &mut Run<'_>, state: &[u32], successors: &Successors) {
        self.scorer.state(run, state, successors);
    }

    #[inline]
    fn choose(&mut self, run: &mut Run<'_>, successors: &Successors) -> usize {
        let choice = self.chromosome.decide(&mut self.read, successors.len(), &mut run.rng);
        let label = successors.label(choice);
        if let Some(penalties) = &mut self.penalties {
            see_errors(penalties, run, self.entered, Some((choice, label)));
        }
        self.scorer.step(run, label);
        self.entered = Some(label);
        choice
    }

    #[inline]
    fn enter(&mut self, _: &mut Run<'_>, choice: usize, _: &[u32]) {
        self.choices.push(choice as u32);
    }

    fn path(&self) -> Path {
        Path::Choices(self.choices.clone())
    }
}

/// What was met in the state last checked: `entered` led there, `taken` (its index and label) leads on.
///
/// Two errors are the same when they meet the same objective after the same label: that of the error itself, or of
/// the step into its state.
fn see_errors(
    penalties: &mut Penalties,
    run: &Run<'_>,
    entered: Option<LabelId>,
    taken: Option<(usize, LabelId)>,
) {
    let mut meet = |objective: usize, label: Option<LabelId>| {
        // Zero is for the initial state.
        let label = label.map_or(0, |label| u64::from(label.0) + 1);
        penalties.meet((objective as u64) << 33 | label);
    };
    for hit in run.hits() {
        match hit.kind {
            HitKind::Here | HitKind::Lasso { .. } => meet(hit.objective, entered),
            // An error beside the path is not the path's.
            HitKind::Step(choice) => match taken {
                Some((index, label)) if index == choice as usize => meet(hit.objective, Some(label)),
                _ => {}
            },
        }
    }
}

/// Paths that the system follows itself: it decodes the chromosome, repairs it, and returns the
/// counts that make it fit.
pub(super) struct NativePaths {
    max_steps: u32,
    summarise: Summarise,
    fitness: Fitness,
    /// Fingerprints of all states met, for `novelty`.
    seen: Fingerprints,
    penalties: Penalties,
    /// Paths so far, from which their seeds are derived.
    number: u64,
}

/// What is kept of a chromosome's path.
struct Life {
    summary: Summary,
    genes: Vec<u64>,
    read: usize,
    /// What the fitness counts; for `novelty`, the states are kept instead.
    count: u64,
    states: Vec<u64>,
}

impl Digest for Life {
    fn write(&self, out: &mut Writer) {
        self.summary.write(out);
        out.longs(&self.genes);
        out.number(self.read as u64);
        out.long(self.count);
        out.longs(&self.states);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (summary, genes) = (Summary::read(reader)?, reader.longs()?);
        let read = usize::try_from(reader.number()?).ok()?;
        Some(Life { summary, genes, read, count: reader.long()?, states: reader.longs()? })
    }
}

impl NativePaths {
    fn new(run: &Run<'_>, fitness: &Fitness, max_steps: u32) -> Result<Self, Halt> {
        Ok(NativePaths {
            max_steps,
            summarise: Summarise::new(run)?,
            fitness: fitness.clone(),
            seen: Fingerprints::default(),
            penalties: Penalties::default(),
            number: 0,
        })
    }

    fn evaluate(&mut self, run: &mut Run<'_>, individuals: &mut [Individual]) -> Result<usize, Halt> {
        self.summarise.refresh(run);
        // The batch reads the chromosomes while results are written back.
        let bits: Vec<Vec<u64>> = individuals.iter().map(|one| one.chromosome.written().to_vec()).collect();
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
        let (seen, penalties) = (&mut self.seen, &mut self.penalties);
        let mut most = 0;
        batch.follow(run, &mut |run, index, life| {
            run.book_execution(&life.summary)?;
            most = most.max(life.read);
            let fresh = life.states.iter().filter(|&&state| seen.insert(state)).count() as u64;
            penalties.begin();
            if !life.summary.hits.is_empty() {
                penalties.meet(life.summary.signature);
            }
            let individual = &mut individuals[index];
            individual.chromosome.take_over(&life.genes, life.read);
            individual.fitness = fitness.of_sum((life.count + fresh) as f64) / penalties.divisor();
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
