//! Strongly connected components with one exit each.
//!
//! ```text
//! P           = sum id.      (id <= number)                -> ini(id).SCC(id,1)
//! SCC(id,pos) = sum new_pos. (new_pos <= size && != pos)   -> scc(id).SCC(id,new_pos)
//!             +              (pos == size)                 -> report(id).D(id)
//! D(id)       = delta
//! ```

use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "scc",
    summary: "Strongly connected components with one exit each.",
    details: "The components of the highway search papers: after ini(id) a walk is caught in component id, whose last \
        position alone has the exit report(id) to a deadlock. 1 + number*(size+1) states. Order: by id in the \
        initial state; in a component by new position, the exit last.",
    parameters: &[
        ParameterInfo::new("number", 5, (1, 100_000), "the number of components"),
        ParameterInfo::new("size", 5, (1, 100_000), "the number of states in each component"),
    ],
    make: |name, values| model(name, Components { number: values[0] as u32, size: values[1] as u32 }),
};

const ACTIONS: [&str; 3] = ["ini", "scc", "report"];
const INI: u32 = 0;
const SCC: u32 = 1;
const REPORT: u32 = 2;

/// A state is `[id, position]`: initially `[0, 0]`, and position 0 after the exit of a component.
struct Components {
    number: u32,
    size: u32,
}

fn label(action: u32, id: u32) -> LabelId {
    LabelId((id - 1) * 3 + action)
}

impl Packed for Components {
    fn width(&self) -> usize {
        2
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = names(&["component", "position"]);
        info.actions = names(&ACTIONS);
        info.measures = measures(&[
            ("component", "number of the component; 0 before one was entered"),
            ("position", "position in the component; 0 outside"),
        ]);
        info.suggestions = names(&["cover report*", "action report", "max report.1", "deadlock"]);
    }

    fn arity(&self, _action: &str) -> usize {
        1
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (id, position) = (state[0], state[1]);
        if id == 0 {
            for id in 1..=self.number {
                out.push(label(INI, id), &[id, 1]);
            }
        } else if position != 0 {
            for new_position in (1..=self.size).filter(|&new_position| new_position != position) {
                out.push(label(SCC, id), &[id, new_position]);
            }
            if position == self.size {
                out.push(label(REPORT, id), &[id, 0]);
            }
        }
    }

    fn label(&self, id: u32) -> String {
        format!("{}({})", ACTIONS[id as usize % 3], id / 3 + 1)
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        let show = |value: u32, zero: &str| if value == 0 { zero.to_owned() } else { value.to_string() };
        out.push(show(state[0], "none"));
        out.push(show(state[1], if state[0] == 0 { "none" } else { "left" }));
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        match index {
            0 | 1 => f64::from(state[index]),
            _ => no_measure(index),
        }
    }
}
