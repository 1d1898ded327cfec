//! The transitions of a tuple of locations, as far as locations determine them: listed once per
//! tuple.
//!
//! What depends on variables (guards, computed channels, the receivers of a broadcast) is left to
//! each state: an initiating edge whose partners depend on them is stored as it is and expanded
//! without a plan. The order is that of the transitions.

use turnpike_model::LabelId;

use super::memo::NO_PROGRAM;
use super::tuple::NO_TUPLE;
use super::walker::Walker;
use crate::compile::tables::Tables;
use crate::network::Sync;

/// Limit on the combinations of edges listed for one synchronisation: guards usually leave few.
const MOST_COMBINATIONS: usize = 64;

/// A label that is not yet known.
pub(super) const NO_LABEL: LabelId = LabelId(u32::MAX);

/// One entry of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// How many of the plan's edges belong to it: they follow those of the previous entry.
    pub(super) count: u32,
    pub(super) kind: Kind,
    /// Another location is committed: it cannot be taken, but evaluating a guard may fail.
    pub(super) barred: bool,
    /// Some guard of an edge contains variables.
    pub(super) guarded: bool,
    /// Locations determine its effect on zones, except for whether time passes.
    pub(super) steady: bool,
    /// What was learnt when it was last taken.
    pub(super) effect: Effect,
}

/// The cached facts about a transition whose effect on zones locations determine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    /// Whether anything but clocks is assigned.
    pub(super) writes: bool,
    pub(super) target: u32,
    pub(super) label: LabelId,
    /// One for each answer to whether time passes in the target.
    pub(super) programs: [u32; 2],
}

impl Effect {
    /// The effect of some edges before they are first taken.
    pub(super) fn unknown(tables: &Tables, steps: &[u32]) -> Effect {
        let numbers = |&step: &u32| tables.steps[step as usize].numbers.as_ref();
        let writes = !steps.iter().all(|step| numbers(step).is_some_and(|numbers| numbers.cells.is_empty()));
        Effect { writes, target: NO_TUPLE, label: NO_LABEL, programs: [NO_PROGRAM; 2] }
    }
}

/// Whether locations determine the effect of some edges on zones, except for whether time passes.
pub(super) fn is_steady(tables: &Tables, steps: &[u32]) -> bool {
    let steady = |&step: &u32| {
        let step = &tables.steps[step as usize];
        step.steady && step.guard.computed.is_empty()
    };
    steps.iter().all(steady)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// These edges are taken together, on a channel if there is one.
    Together(Option<u32>),
    /// A vector of events, expanded without a plan.
    Vector(u32),
    /// An initiating edge, expanded without a plan.
    Start,
}

/// The transitions of a tuple of locations.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) moves: Vec<Move>,
    pub(super) steps: Vec<u32>,
    /// Some initiating edge needs the buckets of receivers.
    pub(super) receivers: bool,
}

/// Edges that are taken together, and the index of each among its choices; a reused buffer.
#[derive(Default)]
struct Combination {
    steps: Vec<u32>,
    digits: Vec<usize>,
}

impl Plan {
    /// Its approximate size in words.
    pub(super) fn size(&self) -> usize {
        self.moves.len() * (size_of::<Move>() / 4) + self.steps.len()
    }

    fn add(&mut self, tables: &Tables, kind: Kind, steps: &[u32], barred: bool) {
        self.steps.extend_from_slice(steps);
        let is_open = |&step: &u32| tables.steps[step as usize].open;
        self.moves.push(Move {
            count: steps.len() as u32,
            kind,
            barred,
            guarded: !steps.iter().all(is_open),
            steady: is_steady(tables, steps),
            effect: Effect::unknown(tables, steps),
        });
    }
}

impl Walker<'_> {
    /// Lists the transitions of the loaded state's locations.
    pub(super) fn make_plan(&mut self) -> Box<Plan> {
        let mut plan = Box::new(Plan::default());
        if self.model.network.by_events() {
            self.plan_events(&mut plan);
        } else {
            plan.receivers = !self.fill_known();
            self.plan_channels(&mut plan);
        }
        plan.moves.shrink_to_fit();
        plan.steps.shrink_to_fit();
        plan
    }

    /// Adds edges that are taken together, unless another location is committed and no guard can
    /// fail to evaluate.
    fn plan_together(&self, plan: &mut Plan, channel: Option<u32>, steps: &[u32]) {
        let barred = !self.leaves_committed(steps);
        let sure = |&step: &u32| self.model.tables.steps[step as usize].sure;
        if !barred || !steps.iter().all(sure) {
            plan.add(&self.model.tables, Kind::Together(channel), steps, barred);
        }
    }

    fn plan_events(&self, plan: &mut Plan) {
        let tables = &self.model.tables;
        let locations = &self.machine.locations;
        let mut ready = tables.voluntary.clone();
        for (process, &location) in locations.iter().enumerate() {
            ready.extend_from_slice(tables.list(&tables.slot(process, location).watched));
        }
        ready.sort_unstable();
        let mut choices: Vec<&[u32]> = Vec::new();
        let mut combination = Combination::default();
        for vector in ready {
            choices.clear();
            let complete = tables.vectors[vector as usize].iter().all(|seat| {
                let list = tables.list(tables.seat(seat, locations[seat.process as usize]));
                choices.extend((!list.is_empty()).then_some(list));
                seat.weak || !list.is_empty()
            });
            if !complete || choices.is_empty() {
                continue;
            }
            combination.steps.clear();
            if !self.plan_product(plan, None, &mut combination, &choices) {
                plan.add(tables, Kind::Vector(vector), &[], false);
            }
        }
        for (process, &location) in locations.iter().enumerate() {
            for &step in tables.list(&tables.slot(process, location).starts) {
                self.plan_together(plan, None, &[step]);
            }
        }
    }

    /// Adds every combination of the choices behind the steps of `combination`, the last choice
    /// varying fastest. Returns false, and adds nothing, if there are too many.
    fn plan_product(
        &self,
        plan: &mut Plan,
        channel: Option<u32>,
        combination: &mut Combination,
        choices: &[&[u32]],
    ) -> bool {
        let count = choices.iter().try_fold(1_usize, |product, list| product.checked_mul(list.len()));
        if count.is_none_or(|count| count > MOST_COMBINATIONS) {
            return false;
        }
        let Combination { steps, digits } = combination;
        digits.clear();
        digits.resize(choices.len(), 0);
        let first = steps.len();
        loop {
            steps.truncate(first);
            steps.extend(choices.iter().zip(&*digits).map(|(list, &digit)| list[digit]));
            self.plan_together(plan, channel, steps);
            let Some(at) = (0..digits.len()).rfind(|&at| digits[at] + 1 < choices[at].len()) else {
                return true;
            };
            digits[at] += 1;
            digits[at + 1..].fill(0);
        }
    }

    fn plan_channels(&self, plan: &mut Plan) {
        let model = self.model;
        let tables = &model.tables;
        let locations = &self.machine.locations;
        // If some receivers' channels depend on the state, so does the set of receivers.
        let unknown = plan.receivers;
        let mut others = Vec::new();
        let mut combination = Combination::default();
        for (process, &location) in locations.iter().enumerate() {
            for &step in tables.list(&tables.slot(process, location).starts) {
                if matches!(model.edge(step).sync, Sync::Internal | Sync::Event(_)) {
                    self.plan_together(plan, None, &[step]);
                    continue;
                }
                let channel = tables.steps[step as usize].channel.filter(|_| !unknown);
                let planned = channel.is_some_and(|channel| {
                    let process_of = |step: u32| tables.steps[step as usize].process as usize;
                    others.clear();
                    others.extend(self.buckets.steps(channel).filter(|&other| process_of(other) != process));
                    if !model.network.channels[channel as usize].broadcast {
                        others.iter().for_each(|&receiver| {
                            self.plan_together(plan, Some(channel), &[step, receiver]);
                        });
                        // Its guard is still evaluated, since that may fail.
                        if others.is_empty() && !tables.steps[step as usize].sure {
                            plan.add(tables, Kind::Together(Some(channel)), &[step], true);
                        }
                        return true;
                    }
                    let choices: Vec<&[u32]> =
                        others.chunk_by(|&one, &other| process_of(one) == process_of(other)).collect();
                    others.iter().all(|&receiver| tables.steps[receiver as usize].open) && {
                        combination.steps.clear();
                        combination.steps.push(step);
                        self.plan_product(plan, Some(channel), &mut combination, &choices)
                    }
                });
                if !planned {
                    plan.receivers = true;
                    plan.add(tables, Kind::Start, &[step], false);
                }
            }
        }
    }
}
