//! A network of three buffers, each with a propagation time and a channel delay, and a merge that
//! collects messages.
//!
//! ```text
//! X(i,now) = s_offer with now in place i . ( X(i,now) + sum t. send(now,delay,t) . X(i,t+propagation) )
//! Y(now,todo) = (todo > 0) -> r_offer(t1,t2,t3) .
//!                 ( some offer <= now -> sum t,d. (t <= now) -> receive(t,d,now+d) . Y(now+d+5,todo-1)
//!                                     <> sum t,d. (t == min) -> receive(t,d,t+d)   . Y(t+d+5,todo-1) )
//!             <> report(now) . delta
//! ```
//!
//! An offer is one step of all four processes, and a transfer is one step of the merge and a
//! buffer. A round is an offer and a transfer. After the last round comes the report, so every path
//! has 2N + 2 states for N messages.
//!
//! The state need not record whether a buffer is at its first line or waits after its offer: the
//! buffer that sent last is at most 3 earlier than the merge, and any other is at least 2 (the
//! third buffer), 7 (the first) or 10 (the second) earlier, so the times determine which one sent
//! last. For the same reason some buffer is always ready, and the branch that waits for the
//! earliest one is never taken. It is here because the specification has it.
//!
//! Each message adds 10, 15 or 7 to the total, depending on its buffer. The third buffer, which is
//! ready only 5 after the merge, never sends twice in a row. Therefore the total is at most 15 N,
//! and at least 8.5 N for even N, or 8.5 N - 1.5 for odd N.

use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::interner::Interner;
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "buffers",
    summary: "Three buffers push messages through channels into a merge, which reports the total time.",
    details: "The network of buffers of the highway search papers: propagation times 5, 2, 10, channel delays 5, 10, \
        2, and 5 for the merge. Each message takes an offer and a transfer, then comes report(total), so every path \
        has 2*messages + 2 states. For 100 messages the total lies between 850 and 1500. Order: by buffer.",
    parameters: &[ParameterInfo::new("messages", 100, (0, 1_000_000), "the number of messages to transfer")],
    make: |name, values| model(name, Buffers { messages: values[0] as u32, labels: Interner::default() }),
};

/// Propagation time and channel delay of each buffer.
const BUFFERS: [(u32, u32); 3] = [(5, 5), (2, 10), (10, 2)];
/// Propagation time of the merge.
const MERGE: u32 = 5;

const ACTIONS: [&str; 3] = ["offer", "transfer", "report"];
const OFFER: u32 = 0;
const TRANSFER: u32 = 1;
const REPORT: u32 = 2;

/// The words of a state after the times of the buffers, which are words 0 to 2.
const NOW: usize = 3;
const TODO: usize = 4;
const PHASE: usize = 5;

const OFFERING: u32 = 0;
const TRANSFERRING: u32 = 1;
const DONE: u32 = 2;

struct Buffers {
    messages: u32,
    labels: Interner,
}

impl Buffers {
    fn label(&self, action: u32, [a, b, c]: [u32; 3]) -> LabelId {
        self.labels.id([action, a, b, c])
    }
}

impl Packed for Buffers {
    fn width(&self) -> usize {
        6
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = names(&["buffer1", "buffer2", "buffer3", "now", "todo", "phase"]);
        info.actions = names(&ACTIONS);
        info.measures = measures(&[
            ("now", "the merge's time"),
            ("todo", "messages still to be transferred"),
            ("spread", "time between the earliest and the latest buffer"),
            ("pace", "the merge's time for each message so far; 0 before the first"),
        ]);
        info.suggestions = names(&["max report.1", "min report.1", "action report"]);
    }

    fn arity(&self, action: &str) -> usize {
        if action == ACTIONS[REPORT as usize] { 1 } else { 3 }
    }

    fn initial(&self, state: &mut [u32]) {
        state[TODO] = self.messages;
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let times = [state[0], state[1], state[2]];
        let now = state[NOW];
        match state[PHASE] {
            OFFERING if state[TODO] == 0 => {
                out.push_edited(self.label(REPORT, [now, 0, 0]), state, |target| target[PHASE] = DONE);
            }
            OFFERING => {
                out.push_edited(self.label(OFFER, times), state, |target| target[PHASE] = TRANSFERRING);
            }
            TRANSFERRING => {
                let earliest = times[0].min(times[1]).min(times[2]);
                let some_is_ready = earliest <= now;
                for (index, (propagation, delay)) in BUFFERS.into_iter().enumerate() {
                    let time = times[index];
                    let may_send = if some_is_ready { time <= now } else { time == earliest };
                    if may_send {
                        let arrival = if some_is_ready { now } else { time } + delay;
                        let label = self.label(TRANSFER, [time, delay, arrival]);
                        out.push_edited(label, state, |target| {
                            target[index] = arrival + propagation;
                            target[NOW] = arrival + MERGE;
                            target[TODO] -= 1;
                            target[PHASE] = OFFERING;
                        });
                    }
                }
            }
            _ => {}
        }
    }

    fn label(&self, id: u32) -> String {
        let [action, a, b, c] = self.labels.key(id);
        let name = ACTIONS[action as usize];
        if action == REPORT { format!("{name}({a})") } else { format!("{name}({a},{b},{c})") }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        out.extend(state[..PHASE].iter().map(u32::to_string));
        out.push(["offer", "transfer", "done"][state[PHASE] as usize].to_owned());
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        let buffers = &state[..BUFFERS.len()];
        match index {
            0 => f64::from(state[NOW]),
            1 => f64::from(state[TODO]),
            2 => {
                let earliest = buffers.iter().min().copied().unwrap_or(0);
                let latest = buffers.iter().max().copied().unwrap_or(0);
                f64::from(latest - earliest)
            }
            3 => match self.messages - state[TODO] {
                0 => 0.0,
                transferred => f64::from(state[NOW]) / f64::from(transferred),
            },
            _ => no_measure(index),
        }
    }
}
