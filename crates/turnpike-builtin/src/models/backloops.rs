//! A path to a deadlock, with a path back to the start from each of its nodes.
//!
//! ```text
//! P(n)   = (n <  N) -> tau.P(n+1)
//!        + (n == N) -> tau.delta
//!        + (n > 0 && n <= N) -> Q(n-1,n-1)
//!        + (n == 0) -> tau.P(n)
//! Q(n,m) = (n == 0) -> tau.P(0)
//!        + (n >= 1) -> tau.Q(n-1,m)
//! ```
//!
//! There is no action before `Q(n-1,n-1)`: `P(n)` itself has the first step of that process, so
//! `Q(m,m)` is not a state. Therefore the states are `P(0..=N)`, `Q(0..m,m)` for each `m` in
//! `1..N`, and the deadlock: `(N+1) + N(N-1)/2 + 1`, which is 47 for `N = 9`.

use turnpike_model::label::TAU;
use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "backloops",
    summary: "A single way to a deadlock, with a way back to the start at every node.",
    details: "The back-loop system of the highway search papers: (n+1) + n(n-1)/2 + 1 states, among them one deadlock \
        that the end of the way leads to; 47 for n = 9. All steps are tau. Order: forward, then back, then the \
        self-loop of the start.",
    parameters: &[ParameterInfo::new(
        "n",
        9,
        (1, 1_000_000),
        "the number of the last node before the deadlock",
    )],
    make: |name, values| model(name, Backloops { n: values[0] as u32 }),
};

const INTERNAL: LabelId = LabelId(0);

/// Values of the first word. `[FORWARD, n, 0]` is `P(n)`.
const FORWARD: u32 = 0;
/// `[BACK, n, m]` is `Q(n,m)`.
const BACK: u32 = 1;
/// `[END, 0, 0]` is the deadlock.
const END: u32 = 2;

struct Backloops {
    n: u32,
}

impl Packed for Backloops {
    fn width(&self) -> usize {
        3
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = names(&["process", "n", "m"]);
        info.measures = measures(&[
            ("progress", "how far on the way to the end; 0 on a way back"),
            ("to-start", "steps until the start on a way back; 0 on the way to the end"),
        ]);
        info.suggestions = names(&["deadlock", "max progress", "livelock"]);
    }

    fn arity(&self, _action: &str) -> usize {
        0
    }

    fn initial(&self, state: &mut [u32]) {
        state[0] = FORWARD;
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        /// Adds the only step of `Q(n,m)`.
        fn back(n: u32, m: u32, out: &mut Successors) {
            match n {
                0 => out.push(INTERNAL, &[FORWARD, 0, 0]),
                _ => out.push(INTERNAL, &[BACK, n - 1, m]),
            }
        }
        let (process, n, m) = (state[0], state[1], state[2]);
        match process {
            FORWARD => {
                if n < self.n {
                    out.push(INTERNAL, &[FORWARD, n + 1, 0]);
                } else {
                    out.push(INTERNAL, &[END, 0, 0]);
                }
                if n > 0 {
                    back(n - 1, n - 1, out);
                } else {
                    out.push(INTERNAL, &[FORWARD, 0, 0]);
                }
            }
            BACK => back(n, m, out),
            _ => {}
        }
    }

    fn label(&self, _id: u32) -> String {
        TAU.to_owned()
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        out.push(["P", "Q", "end"][state[0] as usize].to_owned());
        out.extend(state[1..].iter().map(u32::to_string));
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        match (index, state[0]) {
            (0, FORWARD) => f64::from(state[1]),
            (0, END) => f64::from(self.n) + 1.0,
            (1, BACK) => f64::from(state[1]) + 1.0,
            (0 | 1, _) => 0.0,
            _ => no_measure(index),
        }
    }
}
