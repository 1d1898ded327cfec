//! Two-phase commit: a transaction manager and `n` resource managers agree to commit or to abort.
//!
//! A working resource manager either prepares and sends a message about it, or aborts on its own.
//! The transaction manager receives the messages, and commits when all resource managers have
//! prepared. Before its decision, it may also abort. Messages are never lost and never consumed, so
//! they may be received again, which is a self-loop.
//!
//! Word 0 contains the resource managers, two bits each. Word 1 contains, from its lowest bit, one
//! bit for each message `Prepared(i)` that was sent, one for each that was received, and two for
//! the decision of the transaction manager, which also says whether its own message was sent. With
//! 15 managers, all bits are used.

use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::lanes::Lanes;
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "two-phase-commit",
    summary: "A transaction manager and resource managers agree on committing or aborting.",
    details: "The classical TLA+ example: 288 states for 3 resource managers, 8832 for 5, 296448 for 7. No state has \
        one manager committed and another aborted: a search for an assertion finds nothing. Order: TmCommit, TmAbort, \
        then by resource manager TmRcvPrepared, RmPrepare, RmChooseToAbort, RmRcvCommit, RmRcvAbort.",
    parameters: &[ParameterInfo::new("n", 7, (1, 15), "the number of resource managers")],
    make: |name, values| model(name, TwoPhaseCommit { n: values[0] as u32 }),
};

type Managers = Lanes<2>;

const WORKING: u32 = 0;
const PREPARED: u32 = 1;
const COMMITTED: u32 = 2;
const ABORTED: u32 = 3;
const MANAGER_STATES: [&str; 4] = ["working", "prepared", "committed", "aborted"];

const UNDECIDED: u32 = 0;
const COMMIT: u32 = 1;
const ABORT: u32 = 2;
const DECISIONS: [&str; 3] = ["init", "committed", "aborted"];

const TM_COMMIT: LabelId = LabelId(0);
const TM_ABORT: LabelId = LabelId(1);
/// The actions of a resource manager. The id of a label is `2 + 5 * manager + action`.
const ACTIONS: [&str; 5] = ["TmRcvPrepared", "RmPrepare", "RmChooseToAbort", "RmRcvCommit", "RmRcvAbort"];
const TM_RCV_PREPARED: u32 = 0;
const RM_PREPARE: u32 = 1;
const RM_CHOOSE_TO_ABORT: u32 = 2;
const RM_RCV_COMMIT: u32 = 3;
const RM_RCV_ABORT: u32 = 4;

/// The position of the decision in word 1, for any number of managers.
const DECISION_SHIFT: u32 = 30;

struct TwoPhaseCommit {
    n: u32,
}

impl TwoPhaseCommit {
    fn all(&self) -> u32 {
        (1 << self.n) - 1
    }

    fn sent(&self, state: &[u32]) -> u32 {
        state[1] & self.all()
    }

    fn received(&self, state: &[u32]) -> u32 {
        state[1] >> self.n & self.all()
    }

    fn decision(&self, state: &[u32]) -> u32 {
        state[1] >> DECISION_SHIFT
    }

    fn count(&self, state: &[u32], wanted: u32) -> f64 {
        (0..self.n as usize).filter(|&i| Managers::get(state, i) == wanted).count() as f64
    }

    fn managers(&self) -> impl Iterator<Item = String> {
        (1..=self.n).map(|i| format!("rm{i}"))
    }

    /// The text of a set of managers, such as `{1,3}`.
    fn set(&self, bits: u32) -> String {
        let members: Vec<String> =
            (0..self.n).filter(|i| bits >> i & 1 == 1).map(|i| (i + 1).to_string()).collect();
        format!("{{{}}}", members.join(","))
    }
}

impl Packed for TwoPhaseCommit {
    fn width(&self) -> usize {
        2
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = names(&["tm", "sent-prepared", "received-prepared"]);
        info.parameters.extend(self.managers());
        info.actions = names(&["TmCommit", "TmAbort"]);
        info.actions.extend(names(&ACTIONS));
        info.measures = measures(&[
            ("committed", "resource managers that committed"),
            ("aborted", "resource managers that aborted"),
            ("prepared", "resource managers that wait for the decision"),
            ("messages", "messages that were sent"),
            ("received", "resource managers that the transaction manager knows to have prepared"),
        ]);
        info.suggestions = names(&["assertion", "action TmCommit", "max committed"]);
    }

    fn arity(&self, action: &str) -> usize {
        usize::from(ACTIONS.contains(&action))
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (sent, received, decision) = (self.sent(state), self.received(state), self.decision(state));
        if decision == UNDECIDED {
            if received == self.all() {
                out.push(TM_COMMIT, &[state[0], state[1] | COMMIT << DECISION_SHIFT]);
            }
            out.push(TM_ABORT, &[state[0], state[1] | ABORT << DECISION_SHIFT]);
        }
        for i in 0..self.n {
            let label = |action: u32| LabelId(2 + 5 * i + action);
            let shift = 2 * i;
            let manager = state[0] >> shift & 3;
            let becoming = |target: u32| state[0] ^ (manager ^ target) << shift;
            if decision == UNDECIDED && sent >> i & 1 == 1 {
                out.push(label(TM_RCV_PREPARED), &[state[0], state[1] | 1 << (self.n + i)]);
            }
            if manager == WORKING {
                out.push(label(RM_PREPARE), &[becoming(PREPARED), state[1] | 1 << i]);
                out.push(label(RM_CHOOSE_TO_ABORT), &[becoming(ABORTED), state[1]]);
            }
            if decision == COMMIT {
                out.push(label(RM_RCV_COMMIT), &[becoming(COMMITTED), state[1]]);
            }
            if decision == ABORT {
                out.push(label(RM_RCV_ABORT), &[becoming(ABORTED), state[1]]);
            }
        }
    }

    fn label(&self, id: u32) -> String {
        match id {
            0 => "TmCommit".to_owned(),
            1 => "TmAbort".to_owned(),
            _ => format!("{}({})", ACTIONS[(id as usize - 2) % 5], (id - 2) / 5 + 1),
        }
    }

    fn components(&self) -> Vec<String> {
        ["tm".to_owned()].into_iter().chain(self.managers()).collect()
    }

    fn takes_part(&self, label: u32) -> Vec<String> {
        let manager = label.checked_sub(2).filter(|action| action % 5 != TM_RCV_PREPARED);
        vec![manager.map_or_else(|| "tm".to_owned(), |action| format!("rm{}", action / 5 + 1))]
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        out.push(DECISIONS[self.decision(state) as usize].to_owned());
        out.push(self.set(self.sent(state)));
        out.push(self.set(self.received(state)));
        out.extend((0..self.n as usize).map(|i| MANAGER_STATES[Managers::get(state, i) as usize].to_owned()));
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        match index {
            0 => self.count(state, COMMITTED),
            1 => self.count(state, ABORTED),
            2 => self.count(state, PREPARED),
            3 => f64::from(self.sent(state).count_ones() + u32::from(self.decision(state) != UNDECIDED)),
            4 => f64::from(self.received(state).count_ones()),
            _ => no_measure(index),
        }
    }

    fn violation(&self, state: &[u32]) -> Option<String> {
        let first = |wanted: u32| (0..self.n as usize).find(|&i| Managers::get(state, i) == wanted);
        let (committed, aborted) = (first(COMMITTED)?, first(ABORTED)?);
        Some(format!("resource manager {} committed while {} aborted", committed + 1, aborted + 1))
    }
}
