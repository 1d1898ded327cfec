//! The baseline: a breadth-first search over the philosophers alone, as fast as a page of Rust can
//! make it.

use std::collections::VecDeque;
use std::hint::black_box;

use rustc_hash::{FxHashMap, FxHashSet};

/// The successors of a state of `n` philosophers (at most 21) who take their left fork first, with seat and step. A
/// philosopher is three bits: holds the left fork, holds the right one, has eaten.
#[inline]
fn successors(n: u32, state: u64, mut found: impl FnMut(u32, u64, u64)) {
    let all = (1u64 << (3 * n)) - 1;
    let each = 0o111_111_111_111_111_111_111 & all;
    let around = 3 * (n - 1);
    let before = (state << 3 | state >> around) & all;
    let after = (state >> 3 | state << around) & all;
    let (left, right) = (state, state >> 1);
    let can_take_left = !left & !right & !(before >> 1);
    let can_take_right = left & !right & !after;
    let mut enabled = (right | can_take_left | can_take_right) & each;
    while enabled != 0 {
        let seat = enabled.trailing_zeros();
        enabled &= enabled - 1;
        let step = state >> seat & 7;
        let change: u64 = match step {
            0b000 | 0b111 => 0b001,
            0b001 => 0b010,
            0b011 => 0b100,
            _ => 0b110,
        };
        found(seat, step, state ^ change << seat);
    }
}

/// Numbers of states and transitions, and nothing else.
pub(super) fn philosophers(n: u32) -> (u64, u64) {
    let mut seen = FxHashSet::from_iter([0u64]);
    let mut queue = VecDeque::from([0u64]);
    let mut transitions = 0;
    while let Some(state) = queue.pop_front() {
        successors(n, state, |_, _, target| {
            transitions += 1;
            if seen.insert(target) {
                queue.push_back(target);
            }
        });
    }
    (seen.len() as u64, transitions)
}

/// The same work as generating: states are numbered and transitions counted by label.
pub(super) fn numbered(n: u32) -> (u64, u64) {
    let mut ids: FxHashMap<u64, u32> = FxHashMap::from_iter([(0, 0)]);
    let mut queue = VecDeque::from([0u64]);
    let mut counts = vec![0u64; 8 * n as usize];
    while let Some(state) = queue.pop_front() {
        successors(n, state, |seat, step, target| {
            counts[(seat / 3 * 8) as usize + step as usize] += 1;
            let next = ids.len() as u32;
            let id = *ids.entry(target).or_insert_with(|| {
                queue.push_back(target);
                next
            });
            // The number would go to a file; here it must only not be optimised away.
            black_box(id);
        });
    }
    (ids.len() as u64, counts.iter().sum())
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_the_recurrence() {
        // a(n) = 3 a(n-1) + a(n-2), less one.
        for (n, states) in [(2, 10), (3, 35), (5, 392), (8, 14_158)] {
            assert_eq!(super::philosophers(n).0, states);
            assert_eq!(super::numbered(n), super::philosophers(n));
        }
    }
}
