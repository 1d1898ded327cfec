//! Genetic search (GA and GAM of Godefroid and Khurshid).
//!
//! A candidate is a path from the initial state, encoded as bits: in a state with n transitions,
//! the next ceil(log2 n) bits select one. Paths with a high fitness survive and are recombined, in
//! the hope that what made them fit adds up to an error. A system that follows paths itself decodes
//! chromosomes itself, and those of a generation are evaluated by all threads.
//!
//! **Guarantee**: none. It finds what its fitness leads to, and is `inconclusive` otherwise.
//! **Memory**: the population's bits; with the fitness `novelty` also 8 bytes and a table entry for
//! each state met. **Cost**: a generation expands at most (population - parents) · (depth + 1)
//! states. **Options**: [`Genetic`]. The depth should be about twice the length of the shortest
//! path to the error: at twice that length the paper's philosophers are often solved, at the length
//! itself never.
//!
//! Where the paper leaves something open:
//! - A spurious code (n is not a power of two) is replaced in the chromosome by a uniform draw, as
//!   in the paper.
//! - The *effective length*, to which crossover and mutation are confined, is the largest number of
//!   bits read from any chromosome since the last restart.
//! - Choices are transitions in the front-end's order, not states: a choice must mean the same in
//!   neighbouring states.
//! - The two parents of a crossover are different individuals; duplicates may arise, and are kept.
//! - The fitness `enabled` counts the transitions of every state of the path, including the first
//!   and the last one.
//! - The mutation rate doubles, up to 0.2, after each generation whose best and worst fitness are
//!   equal, and is restored when the best fitness improves.
//! - A generation is an evaluated population: the random ones at the start of a run or a restart
//!   count too.
//! - If all objectives are to be met, a path continues after an error where it can, and loses fitness for known errors.

mod chromosome;
mod evaluation;
mod fitness;
mod population;

pub use fitness::Fitness;
use turnpike_model::Diagnostic;

use self::evaluation::Evaluator;
use self::population::Population;
use super::descriptor::{Descriptor, Given, OptionInfo, Parallel, ValueKind};
use super::{Search, Strategy};
use crate::error::Halt;
use crate::event::Event;
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::report::Generation;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;

/// Genetic search. The defaults are those of seed paper 004, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Genetic {
    /// Chromosomes per generation; more than `parents`.
    pub population: usize,
    /// Survivors per generation, which are the parents of the next: at least 2, or 1 without crossover.
    pub parents: usize,
    /// Probability that a bit flips.
    pub mutation: f64,
    /// Generations per run, those after restarts included.
    pub generations: u32,
    /// Longest path, in transitions.
    pub depth: u32,
    /// What makes a path fit.
    pub fitness: Fitness,
    /// Whether children have two parents; without it the strategy is called `mutation`.
    pub crossover: bool,
    /// Start over with a new population after this many generations without improvement; 0 means never.
    pub stagnation: u32,
}

impl Default for Genetic {
    fn default() -> Self {
        Genetic {
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

impl Genetic {
    /// Refuses parameters that cannot mean anything.
    pub(crate) fn validate(&self) -> Result<(), Diagnostic> {
        let fewest = if self.crossover { 2 } else { 1 };
        if self.parents < fewest {
            let error = Diagnostic::error(format!(
                "{} parents are too few, at least {fewest} are needed",
                self.parents
            ));
            return Err(if self.crossover {
                error.help("a child has two parents; with the strategy mutation it has one")
            } else {
                error
            });
        }
        if self.population <= self.parents {
            return Err(Diagnostic::error(format!(
                "a population of {} leaves no room for children beside {} parents",
                self.population, self.parents
            ))
            .help("the population must be larger than the number of parents"));
        }
        // Written so that what is not a number is refused too.
        if !(0.0..=1.0).contains(&self.mutation) {
            return Err(Diagnostic::error(format!(
                "the mutation rate {} is not a probability",
                self.mutation
            ))
            .help("a probability is a number from 0 to 1, such as 0.005"));
        }
        if self.depth == 0 {
            return Err(Diagnostic::error("the depth must be at least 1"));
        }
        if self.generations == 0 {
            return Err(Diagnostic::error("the number of generations must be at least 1"));
        }
        Ok(())
    }
}

const POPULATION: OptionInfo = OptionInfo {
    name: "population",
    value: ValueKind::POSITIVE,
    default: "200",
    doc: "chromosomes per generation",
};
const PARENTS: OptionInfo = OptionInfo {
    name: "parents",
    value: ValueKind::POSITIVE,
    default: "100",
    doc: "survivors per generation",
};
const MUTATION_RATE: OptionInfo = OptionInfo {
    name: "mutation",
    value: ValueKind::Probability,
    default: "0.005",
    doc: "probability that a bit flips",
};
const GENERATIONS: OptionInfo =
    OptionInfo { name: "generations", value: ValueKind::POSITIVE, default: "100", doc: "generations" };
/// The option of strategies that follow paths up to a depth.
pub(super) const DEPTH: OptionInfo = OptionInfo {
    name: "depth",
    value: ValueKind::POSITIVE,
    default: "100; required by exhaustive on models",
    doc: "the maximum length of a path",
};
const FITNESS: OptionInfo = OptionInfo {
    name: "fitness",
    value: ValueKind::Text("FITNESS"),
    default: "enabled",
    doc: "enabled, assertions, novelty, 'label PATTERN' or 'measure NAME'; programs: also messages, branches",
};
const STAGNATION: OptionInfo = OptionInfo {
    name: "stagnation",
    value: ValueKind::NATURAL,
    default: "15",
    doc: "restart after this many generations without improvement; 0 = never",
};
const OPTIONS: &[OptionInfo] = &[POPULATION, PARENTS, MUTATION_RATE, GENERATIONS, DEPTH, FITNESS, STAGNATION];

pub(super) static GENETIC: Descriptor = Descriptor {
    name: "genetic",
    summary: "paths as bit strings, bred by fitness",
    guarantee: "none",
    memory: "the population",
    when: "a fitness is known that grows towards the bug, such as few enabled transitions for deadlocks",
    options: OPTIONS,
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Executions,
    build: |given| build(given, true),
};

pub(super) static MUTATION: Descriptor = Descriptor {
    name: "mutation",
    summary: "genetic search without crossover",
    guarantee: "none",
    memory: "the population",
    when: "bugs that are sets of choices rather than sequences",
    options: OPTIONS,
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Executions,
    build: |given| build(given, false),
};

fn build(given: &Given<'_>, crossover: bool) -> Result<Strategy, Diagnostic> {
    let usual = Genetic::default();
    Ok(Genetic {
        population: given.count(&POPULATION)?.unwrap_or(usual.population),
        parents: given.count(&PARENTS)?.unwrap_or(usual.parents),
        mutation: given.probability(&MUTATION_RATE)?.unwrap_or(usual.mutation),
        generations: given.count(&GENERATIONS)?.unwrap_or(usual.generations),
        depth: given.count(&DEPTH)?.unwrap_or(usual.depth),
        fitness: given.text(&FITNESS).map_or(Ok(usual.fitness), str::parse)?,
        crossover,
        stagnation: given.count(&STAGNATION)?.unwrap_or(usual.stagnation),
    }
    .into())
}

impl Search for Genetic {
    fn descriptor(&self) -> &'static Descriptor {
        if self.crossover { &GENETIC } else { &MUTATION }
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, self)
    }

    fn shares_out_paths(&self) -> bool {
        self.fitness.is_told_by_paths()
    }

    fn check(&self, _: &SearchOptions) -> Result<(), Diagnostic> {
        self.validate()
    }
}

pub(super) fn search(run: &mut Run<'_>, options: &Genetic) -> Result<StopReason, Halt> {
    let mut evaluator = Evaluator::new(run, options)?;
    let mut generations = 0;
    for restart in 0.. {
        if restart > 0 {
            run.rng = Rng::new(derive(run.seed, Purpose::Round, restart));
        }
        let mut population = first_generation(run, options, &mut evaluator)?;
        loop {
            generations += 1;
            if generations == options.generations || !population.has_choices() {
                return Ok(StopReason::Finished);
            }
            if options.stagnation > 0 && population.stagnant() >= options.stagnation {
                break;
            }
            next_generation(run, options, &mut evaluator, &mut population)?;
        }
    }
    Ok(StopReason::Finished)
}

/// A random population, evaluated.
fn first_generation(
    run: &mut Run<'_>,
    options: &Genetic,
    evaluator: &mut Evaluator,
) -> Result<Population, Halt> {
    let mut population = Population::new(options);
    let mut missing = options.population;
    while missing > 0 {
        let count = missing.min(evaluator.at_once());
        missing -= count;
        let fresh = population.settle(count, &mut run.rng);
        let read = evaluator.evaluate(run, fresh)?;
        population.note_read(read);
    }
    announce(run, population.rank(options, None));
    Ok(population)
}

/// The survivors and their children, evaluated.
fn next_generation(
    run: &mut Run<'_>,
    options: &Genetic,
    evaluator: &mut Evaluator,
    population: &mut Population,
) -> Result<(), Halt> {
    let fitness = &options.fitness;
    population.breed(options.parents, options.crossover, fitness.fading(), &mut run.rng);
    let children = population.children(options.parents);
    let read = evaluator.evaluate(run, children)?;
    let news = children.iter().any(|child| child.fitness > 0.0);
    population.note_read(read);
    announce(run, population.rank(options, fitness.fades().then_some(news)));
    Ok(())
}

/// Reports a generation that was evaluated as a whole.
fn announce(run: &mut Run<'_>, generation: Generation) {
    let Generation { best, average } = generation;
    let number = run.counters.generations.len() as u32;
    run.counters.generations.push(generation);
    (run.control.events)(&Event::Generation { run: run.number, generation: number, best, average });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_without_meaning_are_refused() {
        let message = |change: fn(&mut Genetic)| {
            let mut options = Genetic::default();
            change(&mut options);
            options.validate().map_err(|error| error.to_string())
        };
        assert_eq!(message(|_| {}), Ok(()));
        let refused = |change: fn(&mut Genetic), part: &str| {
            let error = message(change).expect_err(part);
            assert!(error.contains(part), "{error}");
        };
        refused(|o| o.parents = 1, "1 parents are too few, at least 2 are needed");
        refused(|o| (o.parents, o.crossover) = (0, false), "at least 1 are needed");
        refused(|o| o.population = 100, "leaves no room for children");
        refused(|o| o.mutation = -0.1, "not a probability");
        refused(|o| o.mutation = 1.5, "not a probability");
        refused(|o| o.mutation = f64::NAN, "not a probability");
        refused(|o| o.depth = 0, "the depth must be at least 1");
        refused(|o| o.generations = 0, "the number of generations must be at least 1");
        assert_eq!(message(|o| (o.parents, o.crossover) = (1, false)), Ok(()));
        assert_eq!(message(|o| o.mutation = 1.0), Ok(()));
    }
}
