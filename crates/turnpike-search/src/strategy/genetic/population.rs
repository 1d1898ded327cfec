//! A population: survival, reproduction, and the mutation rate.

use super::Genetic;
use super::chromosome::{Chromosome, Coin};
use crate::report::Generation;
use crate::rng::Rng;

/// The mutation rate is never raised beyond this.
const HIGHEST_MUTATION: f64 = 0.2;

/// A chromosome and what its path was worth.
#[derive(Default)]
pub(super) struct Individual {
    pub(super) chromosome: Chromosome,
    pub(super) fitness: f64,
}

/// All that evolves between two restarts.
pub(super) struct Population {
    /// The survivors first, fittest first; the rest is replaced by children.
    individuals: Vec<Individual>,
    /// The most bits read from one chromosome so far. Nothing beyond has a meaning, so nothing beyond is bred.
    effective: usize,
    /// The current mutation rate.
    rate: f64,
    /// The best fitness so far.
    best: f64,
    /// Generations since fitness improved.
    stagnant: u32,
}

impl Population {
    pub(super) fn new(options: &Genetic) -> Self {
        Population {
            individuals: Vec::new(),
            effective: 0,
            rate: options.mutation,
            best: f64::NEG_INFINITY,
            stagnant: 0,
        }
    }

    /// Adds random chromosomes, to be evaluated.
    pub(super) fn settle(&mut self, count: usize, rng: &mut Rng) -> &mut [Individual] {
        let first = self.individuals.len();
        let random = || Individual { chromosome: Chromosome::random(rng), fitness: 0.0 };
        self.individuals.extend(std::iter::repeat_with(random).take(count));
        &mut self.individuals[first..]
    }

    /// Takes note of how many bits were read.
    pub(super) fn note_read(&mut self, bits: usize) {
        self.effective = self.effective.max(bits);
    }

    /// Whether a chromosome decides anything.
    pub(super) fn has_choices(&self) -> bool {
        self.effective > 0
    }

    /// Generations since fitness improved.
    pub(super) fn stagnant(&self) -> u32 {
        self.stagnant
    }

    /// The children, to be evaluated.
    pub(super) fn children(&mut self, parents: usize) -> &mut [Individual] {
        &mut self.individuals[parents..]
    }

    /// Replaces all but the first `parents` by their children; `fading` is what survivors keep of their fitness.
    ///
    /// With crossover, two different parents drawn uniformly swap what follows a uniform cut below the effective
    /// length, and both results are children. Without, a child is the copy of one parent. Either way every bit of a
    /// child below the effective length then flips with the mutation rate.
    pub(super) fn breed(&mut self, parents: usize, crossover: bool, fading: f64, rng: &mut Rng) {
        let (parents, children) = self.individuals.split_at_mut(parents);
        for parent in &mut *parents {
            parent.fitness *= fading;
        }
        let coin = Coin::new(self.rate);
        for pair in children.chunks_mut(2) {
            if crossover && self.effective > 0 {
                let first = rng.index(parents.len());
                let second = (first + 1 + rng.index(parents.len() - 1)) % parents.len();
                let cut = rng.index(self.effective);
                let (a, b) = (&parents[first].chromosome, &parents[second].chromosome);
                for (child, (head, tail)) in pair.iter_mut().zip([(a, b), (b, a)]) {
                    child.chromosome.splice(head, tail, cut);
                }
            } else {
                for child in pair.iter_mut() {
                    child.chromosome.clone_from(&parents[rng.index(parents.len())].chromosome);
                }
            }
            for child in pair {
                child.chromosome.mutate(self.effective, coin, rng);
            }
        }
    }

    /// Puts the fittest first, adapts the mutation rate, and returns the fitness of the generation.
    ///
    /// The sort is stable and children stand behind their parents: among equals, the older one is kept. `news` says
    /// that fitness improved where the best fitness of all times cannot tell.
    pub(super) fn rank(&mut self, options: &Genetic, news: Option<bool>) -> Generation {
        self.individuals.sort_by(|one, other| other.fitness.total_cmp(&one.fitness));
        let (Some(first), Some(last)) = (self.individuals.first(), self.individuals.last()) else {
            return Generation { best: 0.0, average: 0.0 };
        };
        let (best, worst) = (first.fitness, last.fitness);
        let sum: f64 = self.individuals.iter().map(|individual| individual.fitness).sum();
        let improved = news.unwrap_or(best > self.best);
        self.best = self.best.max(best);
        if improved {
            self.stagnant = 0;
            self.rate = options.mutation;
        } else {
            self.stagnant += 1;
        }
        if best == worst {
            self.rate = (self.rate * 2.0).min(HIGHEST_MUTATION.max(options.mutation));
        }
        Generation { best, average: sum / self.individuals.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(population: usize, parents: usize, mutation: f64) -> Genetic {
        Genetic { population, parents, mutation, ..Genetic::default() }
    }

    /// Random chromosomes of which 200 bits have been read.
    fn random(options: &Genetic, rng: &mut Rng) -> Population {
        let mut population = Population::new(options);
        population.settle(options.population, rng);
        population.note_read(200);
        population
    }

    fn bits(individual: &mut Individual, count: usize) -> Vec<usize> {
        let (mut at, mut rng) = (0, Rng::new(0));
        (0..count).map(|_| individual.chromosome.decide(&mut at, 2, &mut rng)).collect()
    }

    #[test]
    fn the_fittest_survive_unchanged_and_older_ones_win_ties() {
        let options = options(6, 3, 0.5);
        let mut rng = Rng::new(1);
        let mut population = random(&options, &mut rng);
        for (individual, fitness) in population.individuals.iter_mut().zip([0.2, 0.5, 0.1, 0.5, 0.3, 0.5]) {
            individual.fitness = fitness;
        }
        let order = [1, 3, 5].map(|index| bits(&mut population.individuals[index], 300));
        let generation = population.rank(&options, None);
        assert_eq!(generation.best, 0.5);
        assert!((generation.average - 0.35).abs() < 1e-12);
        population.breed(3, true, 1.0, &mut rng);
        for (survivor, expected) in population.individuals[..3].iter_mut().zip(&order) {
            assert_eq!(bits(survivor, 300), *expected);
        }
        // Children as fit as their parents stand behind them.
        for child in population.children(3) {
            child.fitness = 0.5;
        }
        population.rank(&options, None);
        for (survivor, expected) in population.individuals[..3].iter_mut().zip(&order) {
            assert_eq!(bits(survivor, 300), *expected);
        }
    }

    #[test]
    fn children_are_spliced_from_two_parents_below_the_effective_length() {
        let options = options(4, 2, 0.0);
        let mut cuts_inside = 0;
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let mut population = random(&options, &mut rng);
            let parents = [0, 1].map(|index| bits(&mut population.individuals[index], 400));
            population.breed(2, true, 1.0, &mut rng);
            let children = [2, 3].map(|index| bits(&mut population.individuals[index], 400));
            // One child has the head of one parent and the tail of the other, its sibling the reverse.
            let fits = |a: &Vec<usize>, b: &Vec<usize>| {
                (0..200).find(|&cut| {
                    children[0] == [&a[..cut], &b[cut..]].concat()
                        && children[1] == [&b[..cut], &a[cut..]].concat()
                })
            };
            let cut = fits(&parents[0], &parents[1]).or_else(|| fits(&parents[1], &parents[0]));
            assert!(cut.is_some(), "seed {seed}");
            cuts_inside += usize::from(cut > Some(1));
        }
        assert!(cuts_inside > 150);
    }

    #[test]
    fn nothing_is_bred_beyond_the_effective_length() {
        let options = options(20, 10, 1.0);
        let mut rng = Rng::new(4);
        let mut population = random(&options, &mut rng);
        let before: Vec<Vec<usize>> =
            population.individuals[..10].iter_mut().map(|individual| bits(individual, 400)).collect();
        population.breed(10, false, 1.0, &mut rng);
        for child in population.children(10) {
            let child = bits(child, 400);
            let flipped = |parent: &Vec<usize>| (0..400).all(|at| (child[at] != parent[at]) == (at < 200));
            assert!(before.iter().any(flipped), "all 200 effective bits flip and no other");
        }
    }

    #[test]
    fn the_mutation_rate_doubles_while_all_are_equal_and_falls_back_on_improvement() {
        let options = options(4, 2, 0.03);
        let mut population = random(&options, &mut Rng::new(5));
        let mut rank = |fitness: [f64; 4]| {
            for (individual, fitness) in population.individuals.iter_mut().zip(fitness) {
                individual.fitness = fitness;
            }
            population.rank(&options, None);
            (population.rate, population.stagnant)
        };
        assert_eq!(rank([0.5, 0.4, 0.4, 0.4]), (0.03, 0));
        assert_eq!(rank([0.5, 0.5, 0.5, 0.4]), (0.03, 1));
        assert_eq!(rank([0.5; 4]), (0.06, 2));
        assert_eq!(rank([0.5; 4]), (0.12, 3));
        assert_eq!(rank([0.5; 4]), (0.2, 4));
        assert_eq!(rank([0.5; 4]), (0.2, 5));
        assert_eq!(rank([0.5, 0.5, 0.5, 0.4]), (0.2, 6), "not yet improved");
        assert_eq!(rank([0.6, 0.5, 0.5, 0.5]), (0.03, 0));
    }
}
