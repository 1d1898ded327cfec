//! A diamond: two counters that grow in any order.
//!
//! ```text
//! X(i,j) = (i+j <  N) -> (tau.X(i+1,j) + tau.X(i,j+1))
//!        + (i+j >= N) -> ( (i+j == N) -> report(j).X(i,j)
//!                        + (j < N)    -> tau.X(i,j+1)
//!                        + (i < N)    -> tau.X(i+1,j) )
//! ```
//!
//! The order of successors is that of the specification: in the first half, `i` grows before `j`,
//! and in the second half, `j` before `i`.

use turnpike_model::label::TAU;
use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "diamond",
    summary: "Two counters that grow in any order; the widest level reports where it is.",
    details: "The diamond structure of the highway search papers: (n+1)^2 states, one deadlock at the far corner. A \
        state with i+j = n has the self-loop report(j), everything else is tau. Order: below the widest level first \
        i, then j; from there on report, then j, then i.",
    parameters: &[ParameterInfo::new("n", 9, (1, 1_000_000), "the largest value of each counter")],
    make: |name, values| model(name, Diamond { n: values[0] as u32 }),
};

const INTERNAL: LabelId = LabelId(0);

struct Diamond {
    n: u32,
}

impl Packed for Diamond {
    fn width(&self) -> usize {
        2
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = names(&["i", "j"]);
        info.actions = names(&["report"]);
        info.measures = measures(&[
            ("i", "the first counter"),
            ("j", "the second counter"),
            ("off-centre", "how far the counters are apart"),
        ]);
        info.suggestions = names(&["action report", "max report.1", "cover report*", "deadlock"]);
    }

    fn arity(&self, _action: &str) -> usize {
        1
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (i, j) = (state[0], state[1]);
        if i + j < self.n {
            out.push(INTERNAL, &[i + 1, j]);
            out.push(INTERNAL, &[i, j + 1]);
            return;
        }
        if i + j == self.n {
            out.push(LabelId(1 + j), &[i, j]);
        }
        if j < self.n {
            out.push(INTERNAL, &[i, j + 1]);
        }
        if i < self.n {
            out.push(INTERNAL, &[i + 1, j]);
        }
    }

    fn label(&self, id: u32) -> String {
        match id.checked_sub(1) {
            None => TAU.to_owned(),
            Some(j) => format!("report({j})"),
        }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        out.extend(state.iter().map(u32::to_string));
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        let (i, j) = (f64::from(state[0]), f64::from(state[1]));
        match index {
            0 => i,
            1 => j,
            2 => (i - j).abs(),
            _ => no_measure(index),
        }
    }
}
