//! Loops in a path, so that lists of steps can omit repetitions.

use std::collections::BTreeMap;

/// Shorter paths are not folded.
const SHORTEST: usize = 20;
/// Longer loops are not recognised.
const LONGEST_LOOP: usize = 16;
/// The fewest steps that a fold must omit.
const LEAST_FOLD: usize = 6;

/// The steps that repeat a loop: their number, by the index of the first repeated step. The last
/// iteration of a loop at the end is kept.
pub fn fold_loops<T: PartialEq>(steps: &[T]) -> BTreeMap<usize, usize> {
    let mut folds = BTreeMap::new();
    if steps.len() < SHORTEST {
        return folds;
    }
    let mut at = 0;
    while at < steps.len() {
        let turns = |period: usize| {
            let turn = &steps[at..at + period];
            steps[at..].chunks_exact(period).take_while(|other| *other == turn).count()
        };
        let longest = LONGEST_LOOP.min((steps.len() - at) / 2);
        let folded = |period: usize| {
            let turns = turns(period);
            let ends = at + period * turns == steps.len();
            period * turns.saturating_sub(if ends { 2 } else { 1 })
        };
        let best = (1..=longest)
            .map(|period| (folded(period), period))
            .max_by_key(|&(folded, period)| (folded, usize::MAX - period));
        match best {
            Some((folded, period)) if folded >= LEAST_FOLD => {
                folds.insert(at + period, folded);
                at += period + folded;
            }
            _ => at += 1,
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_turns_are_counted() {
        let folds = |text: &str| fold_loops(text.as_bytes()).into_iter().collect::<Vec<_>>();
        assert_eq!(folds(&format!("s{}e", "ab".repeat(9))), [(3, 16)]);
        assert_eq!(folds(&"a".repeat(30)), [(1, 28)], "the last turn is kept");
        assert_eq!(folds(&"a".repeat(12)), [], "too short to fold");
        assert_eq!(folds("abcdefghijklmnopqrstuvwxyz"), []);
    }
}
