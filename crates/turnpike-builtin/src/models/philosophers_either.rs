//! Dining philosophers who toss a coin for the fork they take first.
//!
//! ```text
//! loop: toss a coin
//!       wait for the first fork, wait for the second fork     (left, right or right, left by the coin)
//!       signal the left fork, signal the right fork
//! ```
//!
//! These five steps are the visible ones of a round. Each side of the coin is a choice. All choices
//! are in one list, ordered by philosopher and then by coin, so that a choice has the same meaning
//! in neighbouring states.
//!
//! In the plain variant, 0 means left first for each philosopher. In the parity variant,
//! philosopher `p` takes the left fork first exactly when the coin equals `p % 2`. The graph is the
//! same, but there a search that chooses the same side for all philosophers finds no
//! deadlock.
//!
//! A philosopher is four bits, eight are in a word. The bits say which forks are held, and which
//! fork comes first until the second one is taken. There are two kinds of deadlock: all
//! philosophers hold the left fork, or all of them hold the right fork and want the left one.

use turnpike_model::{LabelId, ModelInfo, StuckComponent, Successors};

use super::philosophers::{one_with_fork, seats_and_forks};
use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::lanes::Lanes;
use crate::packed::{Packed, fork_text, measures, model, names, no_measure, waits};

const PARAMETERS: &[ParameterInfo] =
    &[ParameterInfo::new("n", 17, (2, 10_000), "the number of philosophers")];

pub(crate) const EITHER: BuiltinInfo = BuiltinInfo {
    name: "philosophers-either",
    summary: "Dining philosophers who toss a coin for the fork they take first.",
    details: "The system PHIL of the paper on genetic search: toss, wait twice, signal left, signal right. a(n) - 1 \
        states, where a(0) = 2, a(1) = 6 and a(n) = 6 a(n-1) + a(n-2); two deadlocks, 2n steps away. Order: by \
        philosopher; coin 0 before 1, and 0 means left fork first.",
    parameters: PARAMETERS,
    make: |name, values| model(name, Tossing { n: values[0] as usize, parity: false }),
};

pub(crate) const PARITY: BuiltinInfo = BuiltinInfo {
    name: "philosophers-parity",
    summary: "The same, but what the coin means depends on the parity of the philosopher's number.",
    details: "The variant of PHIL that misleads queue-bounded best-first search: philosopher p takes the left fork \
        first when the coin equals p % 2. The graph is that of philosophers-either, with other labels and another \
        order: by philosopher, coin 0 before 1.",
    parameters: PARAMETERS,
    make: |name, values| model(name, Tossing { n: values[0] as usize, parity: true }),
};

type Seats = Lanes<4>;

const LEFT: u32 = 0b0001;
const RIGHT: u32 = 0b0010;
const LEFT_FIRST: u32 = 0b0100;
const RIGHT_FIRST: u32 = 0b1000;

const THINKING: u32 = 0;
const WANTS_LEFT: u32 = LEFT_FIRST;
const WANTS_RIGHT: u32 = RIGHT_FIRST;
const HAS_LEFT: u32 = LEFT_FIRST | LEFT;
const HAS_RIGHT: u32 = RIGHT_FIRST | RIGHT;
const HAS_BOTH: u32 = LEFT | RIGHT;
const RETURNS_RIGHT: u32 = RIGHT;

/// The number of kinds of labels. The id of a label is `6 * philosopher + kind`.
const KINDS: u32 = 6;
const TOSS_0: u32 = 0;
const TOSS_1: u32 = 1;
const WAIT_LEFT: u32 = 2;
const WAIT_RIGHT: u32 = 3;
const SIGNAL_LEFT: u32 = 4;
const SIGNAL_RIGHT: u32 = 5;

struct Tossing {
    n: usize,
    parity: bool,
}

impl Tossing {
    fn before(&self, p: usize) -> usize {
        if p == 0 { self.n - 1 } else { p - 1 }
    }

    fn after(&self, p: usize) -> usize {
        if p + 1 == self.n { 0 } else { p + 1 }
    }

    /// The state of a philosopher after a toss. The parity is that of the philosopher's displayed
    /// number, `p + 1`.
    fn decision(&self, p: usize, coin: u32) -> u32 {
        let left_first = if self.parity { coin == (p as u32 + 1) % 2 } else { coin == 0 };
        if left_first { WANTS_LEFT } else { WANTS_RIGHT }
    }

    /// Calls `step` with the kind and the new bits for each step of philosopher `p`.
    #[inline]
    fn steps(&self, state: &[u32], p: usize, mut step: impl FnMut(u32, u32)) {
        let left_is_free = || Seats::get(state, self.before(p)) & RIGHT == 0;
        let right_is_free = || Seats::get(state, self.after(p)) & LEFT == 0;
        match Seats::get(state, p) {
            THINKING => {
                step(TOSS_0, self.decision(p, 0));
                step(TOSS_1, self.decision(p, 1));
            }
            WANTS_LEFT if left_is_free() => step(WAIT_LEFT, HAS_LEFT),
            WANTS_RIGHT if right_is_free() => step(WAIT_RIGHT, HAS_RIGHT),
            HAS_LEFT if right_is_free() => step(WAIT_RIGHT, HAS_BOTH),
            HAS_RIGHT if left_is_free() => step(WAIT_LEFT, HAS_BOTH),
            HAS_BOTH => step(SIGNAL_LEFT, RETURNS_RIGHT),
            RETURNS_RIGHT => step(SIGNAL_RIGHT, THINKING),
            _ => {}
        }
    }

    fn count(&self, state: &[u32], test: impl Fn(u32) -> bool) -> f64 {
        (0..self.n).filter(|&p| test(Seats::get(state, p))).count() as f64
    }
}

/// What a philosopher with these bits is doing.
fn position(seat: u32) -> &'static str {
    match seat {
        THINKING => "thinking",
        WANTS_LEFT => "wants-left",
        WANTS_RIGHT => "wants-right",
        HAS_LEFT => "has-left",
        HAS_RIGHT => "has-right",
        HAS_BOTH => "has-both",
        _ => "returns-right",
    }
}

impl Packed for Tossing {
    fn width(&self) -> usize {
        Seats::words(self.n)
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = seats_and_forks(self.n);
        info.actions = names(&["toss", "wait", "signal"]);
        info.measures = measures(&[
            (
                "waiting",
                "philosophers who hold the first fork and want the second; all of them in a deadlock",
            ),
            ("agreement", "how many more wait for one side than for the other"),
            ("holding-one", "philosophers who hold exactly one fork"),
            ("eating", "philosophers who hold both forks"),
            ("enabled", "choices: steps of all philosophers, both sides of a coin counted"),
        ]);
        info.suggestions = names(&["deadlock", "max waiting", "min enabled"]);
    }

    fn arity(&self, _action: &str) -> usize {
        2
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for p in 0..self.n {
            self.steps(state, p, |kind, seat| {
                out.push_edited(LabelId(p as u32 * KINDS + kind), state, |target| {
                    Seats::set(target, p, seat)
                });
            });
        }
    }

    fn label(&self, id: u32) -> String {
        let (p, kind) = ((id / KINDS) as usize, id % KINDS);
        let (left, right) = (p + 1, self.after(p) + 1);
        let philosopher = p + 1;
        match kind {
            TOSS_0 | TOSS_1 => format!("toss({philosopher},{kind})"),
            WAIT_LEFT => format!("wait({philosopher},{left})"),
            WAIT_RIGHT => format!("wait({philosopher},{right})"),
            SIGNAL_LEFT => format!("signal({philosopher},{left})"),
            _ => format!("signal({philosopher},{right})"),
        }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        let seat = |p: usize| Seats::get(state, p);
        out.extend((0..self.n).map(|p| position(seat(p)).to_owned()));
        out.extend((0..self.n).map(|fork| {
            let before = self.before(fork);
            fork_text([(fork, seat(fork) & LEFT != 0), (before, seat(before) & RIGHT != 0)])
        }));
    }

    fn components(&self) -> Vec<String> {
        seats_and_forks(self.n)
    }

    fn takes_part(&self, label: u32) -> Vec<String> {
        let (seat, kind) = (label / KINDS, label % KINDS);
        let fork = match kind {
            TOSS_0 | TOSS_1 => None,
            WAIT_LEFT | SIGNAL_LEFT => Some(seat),
            _ => Some(self.after(seat as usize) as u32),
        };
        one_with_fork(seat, fork)
    }

    fn waiting(&self, state: &[u32]) -> Vec<StuckComponent> {
        let waiting = |p: usize| {
            let (before, after) = (self.before(p), self.after(p));
            let seat = Seats::get(state, p);
            let (kind, fork, holder, taken) = match seat {
                WANTS_LEFT | HAS_RIGHT => (WAIT_LEFT, p, before, Seats::get(state, before) & RIGHT),
                WANTS_RIGHT | HAS_LEFT => (WAIT_RIGHT, after, after, Seats::get(state, after) & LEFT),
                _ => return None,
            };
            let action = self.label(p as u32 * KINDS + kind);
            let [own, holder] = [p, holder].map(|seat| format!("philosopher{}", seat + 1));
            (taken != 0).then(|| waits(own, position(seat), action, format!("fork{}", fork + 1), holder))
        };
        (0..self.n).filter_map(waiting).collect()
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        let waiting = |side: u32| self.count(state, |seat| seat == side);
        match index {
            0 => waiting(HAS_LEFT) + waiting(HAS_RIGHT),
            1 => (waiting(HAS_LEFT) - waiting(HAS_RIGHT)).abs(),
            2 => self.count(state, |seat| (seat & HAS_BOTH).count_ones() == 1),
            3 => self.count(state, |seat| seat == HAS_BOTH),
            4 => {
                let mut enabled = 0;
                for p in 0..self.n {
                    self.steps(state, p, |_, _| enabled += 1);
                }
                f64::from(enabled)
            }
            _ => no_measure(index),
        }
    }
}
