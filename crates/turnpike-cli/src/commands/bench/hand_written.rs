//! The yardstick: a breadth-first search over the philosophers, written for nothing else.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

/// States and transitions of `n` philosophers (at most 21) who take their left fork first. A philosopher is three
/// bits: holds the left fork, holds the right one, has eaten.
pub(super) fn philosophers(n: u32) -> (u64, u64) {
    let all = (1u64 << (3 * n)) - 1;
    let each = 0o111_111_111_111_111_111_111 & all;
    let around = 3 * (n - 1);
    let mut seen = FxHashSet::from_iter([0u64]);
    let mut queue = VecDeque::from([0u64]);
    let mut transitions = 0;
    while let Some(state) = queue.pop_front() {
        let before = (state << 3 | state >> around) & all;
        let after = (state >> 3 | state << around) & all;
        let (left, right) = (state, state >> 1);
        let can_take_left = !left & !right & !(before >> 1);
        let can_take_right = left & !right & !after;
        let mut enabled = (right | can_take_left | can_take_right) & each;
        while enabled != 0 {
            let seat = enabled.trailing_zeros();
            enabled &= enabled - 1;
            let change: u64 = match state >> seat & 7 {
                0b000 | 0b111 => 0b001,
                0b001 => 0b010,
                0b011 => 0b100,
                _ => 0b110,
            };
            let target = state ^ change << seat;
            transitions += 1;
            if seen.insert(target) {
                queue.push_back(target);
            }
        }
    }
    (seen.len() as u64, transitions)
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_the_recurrence() {
        // a(n) = 3 a(n-1) + a(n-2), less one.
        for (n, states) in [(2, 10), (3, 35), (5, 392), (8, 14_158)] {
            assert_eq!(super::philosophers(n).0, states);
        }
    }
}
