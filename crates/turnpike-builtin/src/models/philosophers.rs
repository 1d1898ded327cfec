//! Dining philosophers who all take their left fork first.
//!
//! ```text
//! Phil(p) = lock(p,p) . lock(p,p+1) . eat(p) . free(p,p) . free(p,p+1) . Phil(p)
//! ```
//!
//! Fork `p` is the left fork of philosopher `p` and the right fork of the philosopher before. Forks
//! are not stored: their owners follow from the states of the philosophers, which are three bits
//! each, ten in a word.
//!
//! | bits (ate, right, left) | holds | next step |
//! |---|---|---|
//! | 000 | nothing | `lock(p,p)`, if the philosopher before does not hold it |
//! | 001 | left | `lock(p,p+1)`, if the next philosopher does not hold it |
//! | 011 | both | `eat(p)` |
//! | 111 | both | `free(p,p)` |
//! | 110 | right | `free(p,p+1)` |
//!
//! Each philosopher has at most one step. Whether it is enabled is computed for all ten
//! philosophers of a word at once.

use turnpike_model::{LabelId, ModelInfo, StuckComponent, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::lanes::Lanes;
use crate::packed::{Packed, fork_text, measures, model, names, no_measure, waits};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "philosophers",
    summary: "Dining philosophers who all take their left fork first.",
    details: "The philosophers of the highway search papers, as in the mCRL2 examples: lock the left fork, lock the \
        right one, eat, free the left one, free the right one. a(n) - 1 states, where a(0) = 2, a(1) = 3 and a(n) = \
        3 a(n-1) + a(n-2): 14158 for n = 8. One deadlock: everyone holds the left fork. Order: by philosopher, each \
        has at most one step.",
    parameters: &[ParameterInfo::new("n", 5, (2, 10_000), "the number of philosophers")],
    make: |name, values| model(name, Philosophers::new(values[0] as usize)),
};

type Seats = Lanes<3>;

const LEFT: u32 = 0b001;
const RIGHT: u32 = 0b010;
const ATE: u32 = 0b100;

/// Bit 0 of each of the ten seats in a word.
const EACH: u32 = 0o11_1111_1111;

/// The number of steps in a round. The id of a label is `5 * philosopher + step`.
const STEPS: u32 = 5;
/// The next step of a philosopher in each state.
const NEXT: [u8; 8] = {
    let mut next = [0; 8];
    next[0] = 0;
    next[LEFT as usize] = 1;
    next[(LEFT | RIGHT) as usize] = 2;
    next[(LEFT | RIGHT | ATE) as usize] = 3;
    next[(RIGHT | ATE) as usize] = 4;
    next
};
/// The bits that each step changes.
const CHANGE: [u32; STEPS as usize] = [LEFT, RIGHT, ATE, LEFT, RIGHT | ATE];
const STATE_NAMES: [&str; STEPS as usize] = ["thinking", "has-left", "has-both", "has-eaten", "has-right"];

struct Philosophers {
    n: usize,
    words: usize,
    /// The position of the last philosopher's seat in the last word.
    last: u32,
}

impl Philosophers {
    fn new(n: usize) -> Self {
        let (_, last) = Seats::place(n - 1);
        Philosophers { n, words: Seats::words(n), last }
    }

    /// Bit 0 of each seat of word `index` whose philosopher has a step.
    #[inline]
    fn enabled(&self, state: &[u32], index: usize) -> u32 {
        let word = state[index];
        let is_last = index + 1 == self.words;
        let (top, seats) = if is_last { (self.last, EACH & ((2 << self.last) - 1)) } else { (27, EACH) };
        // The neighbours on other words. The first word and the last one are neighbours.
        let before = if index == 0 { state[self.words - 1] >> self.last } else { state[index - 1] >> 27 };
        let after = if is_last { state[0] } else { state[index + 1] };
        let left_is_taken = word << 3 | before & (LEFT | RIGHT | ATE);
        let right_is_taken = word >> 3 | (after & LEFT) << top;

        let (left, right) = (word, word >> 1);
        let waits_for_left = !(left | right);
        let waits_for_right = left & !right;
        // A philosopher with the right fork eats or puts down forks, which is always possible.
        (right | waits_for_left & !(left_is_taken >> 1) | waits_for_right & !right_is_taken) & seats
    }

    /// The number of seats for which `test` of their word sets bit 0. The unused seats of the last
    /// word are zero.
    fn count(&self, state: &[u32], test: impl Fn(u32) -> u32) -> f64 {
        let count: u32 = state.iter().map(|&word| (test(word) & EACH).count_ones()).sum();
        f64::from(count)
    }
}

/// The names of `n` philosophers and their forks.
pub(super) fn seats_and_forks(n: usize) -> Vec<String> {
    let named = |kind: &'static str| (1..=n).map(move |number| format!("{kind}{number}"));
    named("philosopher").chain(named("fork")).collect()
}

/// A philosopher and perhaps a fork, counted from 0, as participants of a step.
pub(super) fn one_with_fork(seat: u32, fork: Option<u32>) -> Vec<String> {
    let fork = fork.map(|fork| format!("fork{}", fork + 1));
    [format!("philosopher{}", seat + 1)].into_iter().chain(fork).collect()
}

impl Packed for Philosophers {
    fn width(&self) -> usize {
        self.words
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = seats_and_forks(self.n);
        info.actions = names(&["lock", "eat", "free"]);
        info.measures = measures(&[
            ("waiting", "philosophers who hold only the left fork; all of them in the deadlock"),
            ("holding-one", "philosophers who hold exactly one fork"),
            ("eating", "philosophers who hold both forks"),
            ("enabled", "philosophers who can take a step"),
        ]);
        info.suggestions = names(&["deadlock", "max waiting", "action eat"]);
    }

    fn arity(&self, action: &str) -> usize {
        if action == "eat" { 1 } else { 2 }
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for index in 0..self.words {
            let word = state[index];
            let mut enabled = self.enabled(state, index);
            let first = (index * Seats::PER_WORD) as u32;
            while enabled != 0 {
                let shift = enabled.trailing_zeros();
                enabled &= enabled - 1;
                let step = NEXT[(word >> shift & 7) as usize];
                let label = LabelId((first + shift / 3) * STEPS + u32::from(step));
                let changed = word ^ CHANGE[step as usize] << shift;
                out.push_edited(label, state, |target| target[index] = changed);
            }
        }
    }

    fn label(&self, id: u32) -> String {
        let (seat, step) = (id / STEPS, id % STEPS);
        let philosopher = seat + 1;
        let right = (seat + 1) % self.n as u32 + 1;
        match step {
            0 => format!("lock({philosopher},{philosopher})"),
            1 => format!("lock({philosopher},{right})"),
            2 => format!("eat({philosopher})"),
            3 => format!("free({philosopher},{philosopher})"),
            _ => format!("free({philosopher},{right})"),
        }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        let seat = |p: usize| Seats::get(state, p);
        out.extend((0..self.n).map(|p| STATE_NAMES[usize::from(NEXT[seat(p) as usize])].to_owned()));
        out.extend((0..self.n).map(|fork| {
            let before = (fork + self.n - 1) % self.n;
            fork_text([(fork, seat(fork) & LEFT != 0), (before, seat(before) & RIGHT != 0)])
        }));
    }

    fn components(&self) -> Vec<String> {
        seats_and_forks(self.n)
    }

    fn takes_part(&self, label: u32) -> Vec<String> {
        let (seat, step) = (label / STEPS, label % STEPS);
        let fork = match step {
            2 => None,
            0 | 3 => Some(seat),
            _ => Some((seat + 1) % self.n as u32),
        };
        one_with_fork(seat, fork)
    }

    fn waiting(&self, state: &[u32]) -> Vec<StuckComponent> {
        let waiting = |p: usize| {
            let (before, after) = ((p + self.n - 1) % self.n, (p + 1) % self.n);
            let step = NEXT[Seats::get(state, p) as usize];
            let (fork, holder, taken) = match step {
                0 => (p, before, Seats::get(state, before) & RIGHT),
                1 => (after, after, Seats::get(state, after) & LEFT),
                _ => return None,
            };
            let action = self.label(p as u32 * STEPS + u32::from(step));
            let [own, holder] = [p, holder].map(|seat| format!("philosopher{}", seat + 1));
            let at = STATE_NAMES[usize::from(step)];
            (taken != 0).then(|| waits(own, at, action, format!("fork{}", fork + 1), holder))
        };
        (0..self.n).filter_map(waiting).collect()
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        match index {
            0 => self.count(state, |word| word & !(word >> 1)),
            1 => self.count(state, |word| word ^ word >> 1),
            2 => self.count(state, |word| word & word >> 1),
            3 => f64::from((0..self.words).map(|index| self.enabled(state, index).count_ones()).sum::<u32>()),
            _ => no_measure(index),
        }
    }
}
