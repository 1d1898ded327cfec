//! Which part of a state decides who owns it.
//!
//! If all words decide, half of all transitions lead to another one of two workers. Most transitions change
//! little: if only words decide that change seldom, most successors stay with the worker that found them. But
//! those words must differ enough to give every worker its share. Random walks show both.

use rustc_hash::FxHashMap;
use turnpike_model::{Explorer, Names, Successors};

use super::owners::share;
use crate::rng::Rng;

/// The deciding words of a state, in order, each with the bits of it that count.
pub(crate) type Part = Vec<(usize, u32)>;

/// Random walks that are looked at, the steps of each, and after how many it begins anew at the latest.
const WALKS: u64 = 2;
const STEPS: usize = 512;
const LONGEST: usize = 128;
/// How many different parts, of equal frequency, a walk has to meet for each worker.
const DIVERSITY: usize = 24;
/// More bits than this never decide, unless all do.
const MOST_BITS: usize = 64;

/// All words decide.
pub(crate) fn whole(width: usize) -> Part {
    (0..width).map(|position| (position, u32::MAX)).collect()
}

/// The part of a state that changes most seldom, and still gives each of so many workers its share.
/// `names`: which words are names, whose bits mean nothing; `None`: all words may be.
pub(crate) fn choose(
    explorer: &mut dyn Explorer,
    width: usize,
    names: Option<&Names>,
    workers: usize,
) -> Part {
    let needed = workers * DIVERSITY;
    // A walk can hardly show more.
    if needed > STEPS / 4 || width == 0 {
        return whole(width);
    }
    let walks = (0..WALKS).map(|number| Walk::take(explorer, width, number)).collect::<Option<Vec<_>>>();
    let Some(walks) = walks else { return whole(width) };
    let mut features = features(&walks, width, names);
    let steps = walks.iter().map(|walk| walk.steps.len()).sum();
    let (mut part, mut changed): (Part, _) = (Vec::new(), vec![false; steps]);
    for _ in 0..MOST_BITS {
        // What each feature adds to the transitions that change the part, for what it adds to its diversity.
        let cost = |feature: &Feature| {
            let more = feature.changed.iter().zip(&changed).filter(|&(&new, &old)| new && !old).count();
            (more + 1) as f64 / feature.bits
        };
        let costs = features.iter().map(cost).enumerate();
        let Some((best, _)) = costs.min_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
        let feature = features.remove(best);
        changed.iter_mut().zip(&feature.changed).for_each(|(old, &new)| *old |= new);
        add(&mut part, feature.position, feature.mask);
        if diversity(&walks, &part) >= needed as f64 {
            // Where most transitions change it anyway, all words balance better.
            let often = changed.iter().filter(|&&changed| changed).count() * 4 > steps * 3;
            return if often { whole(width) } else { part };
        }
    }
    whole(width)
}

fn add(part: &mut Part, position: usize, mask: u32) {
    match part.binary_search_by_key(&position, |&(position, _)| position) {
        Ok(index) => part[index].1 |= mask,
        Err(index) => part.insert(index, (position, mask)),
    }
}

/// What a random walk met.
struct Walk {
    /// Its states, each once.
    states: Vec<Vec<u32>>,
    /// Its steps between different states, by the numbers of these.
    steps: Vec<(usize, usize)>,
}

impl Walk {
    /// Begins anew now and then, and where it cannot go on. `None`: it cannot begin, or there is an error.
    fn take(explorer: &mut dyn Explorer, width: usize, number: u64) -> Option<Walk> {
        let (mut rng, mut successors) = (Rng::new(number), Successors::new(width));
        let mut initial = Vec::new();
        explorer.initial(&mut initial).ok()?;
        let mut numbers: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut walk = Walk { states: Vec::new(), steps: Vec::new() };
        let (mut at, mut length) = (walk.number(&mut numbers, &initial), 0);
        for _ in 0..STEPS {
            successors.clear();
            explorer.successors(&walk.states[at], &mut successors).ok()?;
            let source = walk.states[at].as_slice();
            let moves: Vec<&[u32]> =
                successors.iter().map(|(_, target)| target).filter(|&target| target != source).collect();
            if moves.is_empty() || length == LONGEST {
                (at, length) = (0, 0);
                continue;
            }
            let next = walk.number(&mut numbers, moves[rng.index(moves.len())]);
            walk.steps.push((at, next));
            (at, length) = (next, length + 1);
        }
        (!walk.steps.is_empty()).then_some(walk)
    }

    /// The number of a state.
    fn number(&mut self, numbers: &mut FxHashMap<Vec<u32>, usize>, state: &[u32]) -> usize {
        *numbers.entry(state.to_vec()).or_insert_with(|| {
            self.states.push(state.to_vec());
            self.states.len() - 1
        })
    }
}

/// A bit of a state, or a word that has to be taken as a whole.
struct Feature {
    position: usize,
    mask: u32,
    /// How much a walk tells by it, in bits.
    bits: f64,
    /// For each step of the walks, whether the step changes it.
    changed: Vec<bool>,
}

/// Everything that varies in the walks.
fn features(walks: &[Walk], width: usize, names: Option<&Names>) -> Vec<Feature> {
    let masks = |position: usize| match names {
        Some(names) if !names.positions.contains(&position) => (0..32).map(|bit| 1 << bit).collect(),
        _ => vec![u32::MAX],
    };
    let all = (0..width).flat_map(|position| masks(position).into_iter().map(move |mask| (position, mask)));
    let feature = |(position, mask): (usize, u32)| {
        let changes = |walk: &Walk| -> Vec<bool> {
            let value = |number: usize| walk.states[number][position] & mask;
            walk.steps.iter().map(|&(before, after)| value(before) != value(after)).collect()
        };
        let changed: Vec<bool> = walks.iter().flat_map(changes).collect();
        let bits = diversity(walks, &[(position, mask)]).log2();
        (bits > 0.01).then_some(Feature { position, mask, bits, changed })
    };
    all.filter_map(feature).collect()
}

/// How many parts of equal frequency two states of a walk would share as often as they share these.
fn diversity(walks: &[Walk], part: &[(usize, u32)]) -> f64 {
    let shared = |walk: &Walk| {
        let hash = |state: &Vec<u32>| {
            part.iter().fold(0, |hash, &(at, mask)| hash ^ share(at, u64::from(state[at] & mask)))
        };
        let mut hashes: Vec<u64> = walk.states.iter().map(hash).collect();
        hashes.sort_unstable();
        let equal = hashes.chunk_by(|a, b| a == b).map(|equal| (equal.len() * equal.len()) as f64);
        equal.sum::<f64>() / (hashes.len() * hashes.len()) as f64
    };
    walks.len() as f64 / walks.iter().map(shared).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use turnpike_model::{Label, LabelId, StepError};

    use super::*;

    /// Every step changes the first word at random, and one of so many bits of the second.
    struct Switches(u32);

    impl Explorer for Switches {
        fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
            out.extend([0, 0, 7]);
            Ok(())
        }

        fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
            let [count, bits, rest] = *state else { unreachable!("states have three words") };
            let count = count.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (0..self.0).for_each(|bit| out.push(LabelId(bit), &[count, bits ^ 1 << bit, rest]));
            Ok(())
        }

        fn label(&mut self, _: LabelId) -> Label {
            Label::parse("a")
        }

        fn state_values(&mut self, _: &[u32], _: &mut Vec<String>) {}
    }

    #[test]
    fn what_changes_seldom_and_differs_enough_decides() {
        let part = choose(&mut Switches(20), 3, Some(&Names::NONE), 2);
        assert_eq!(part.len(), 1, "{part:?}");
        let (position, mask) = part[0];
        assert_eq!((position, mask >> 20), (1, 0));
        assert!((6..=10).contains(&mask.count_ones()), "2 to the 6 is 64: {mask:b}");
    }

    #[test]
    fn all_words_decide_where_no_part_is_better() {
        // Two bits have four values, and the first word changes with every step.
        assert_eq!(choose(&mut Switches(2), 3, Some(&Names::NONE), 2), whole(3));
        // Bits of names mean nothing, and as a whole the second word changes with every step.
        assert_eq!(choose(&mut Switches(20), 3, None, 2), whole(3));
        assert_eq!(choose(&mut Switches(20), 3, Some(&Names { positions: 0..3, mask: 0 }), 2), whole(3));
        // Walks are too short for so many workers, and there is none without a successor.
        assert_eq!(choose(&mut Switches(20), 3, Some(&Names::NONE), 64), whole(3));
        assert_eq!(choose(&mut Switches(0), 3, Some(&Names::NONE), 2), whole(3));
    }
}
