//! Partial-order reduction of the choice list: sleep sets and persistent sets.
//!
//! A choice sleeps if an equivalent execution took it earlier; it stays asleep until a step that it
//! depends on. A set of threads is persistent if nothing that the others may ever do depends on the
//! pending operations of its members: then scheduling only its members is enough. Both leave a
//! shorter list of choices for any policy.

use alloc::vec::Vec;

use super::choices::Run;
use super::objects::Class;
use super::threads::Phase;
use super::{Kernel, Pick};
use crate::bits;
use crate::dependence::{asleep_after, dependent};
use crate::execution::Choice;
use crate::fingerprint::Fingerprint;
use crate::operation::{Kind, ObjectId};
use crate::plan::{Plan, Policy};

/// The plan's reductions, and the sleep set.
#[derive(Debug)]
pub(crate) struct Reducer {
    /// Whether the list of choices is shortened at all.
    pub(super) filters: bool,
    /// Whether there is a sleep set.
    pub(super) active: bool,
    /// Whether all choices of the current state were removed.
    pub(super) hides: bool,
    sleep: bool,
    awake: bool,
    /// Sleeping threads and alternatives.
    asleep: Vec<(u32, u32)>,
    /// The sleep set at the end of the prefix.
    initially: Vec<(u32, u32)>,
    /// Thread name, object name, whether the thread may modify it; sorted.
    table: Option<Vec<(u64, u64, bool)>>,
    /// Members of the set under construction, and of the best one so far, by thread.
    members: Vec<bool>,
    best: Vec<bool>,
    scratch: Vec<Run>,
}

impl Reducer {
    pub(super) const fn new() -> Reducer {
        Reducer {
            filters: false,
            active: false,
            hides: false,
            sleep: false,
            awake: false,
            asleep: Vec::new(),
            initially: Vec::new(),
            table: None,
            members: Vec::new(),
            best: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl Kernel {
    /// Starts an execution.
    pub(super) fn begin_reduction(&mut self, plan: &Plan<'_>) {
        let reducer = &mut self.reduction;
        reducer.sleep = plan.reduction.sleep;
        reducer.asleep.clear();
        self.change_sleepers(plan);
        let reducer = &mut self.reduction;
        match plan.reduction.persistent {
            Some(may) => {
                let table = reducer.table.get_or_insert_default();
                table.clear();
                table.extend_from_slice(&may.entries);
                table.sort_unstable();
            }
            None => reducer.table = None,
        }
        reducer.filters = reducer.sleep || reducer.table.is_some();
        reducer.hides = false;
    }

    /// Who sleeps where the prefix ends is another matter for each plan. Who sleeps by what the steps before left
    /// out is not.
    pub(super) fn change_sleepers(&mut self, plan: &Plan<'_>) {
        let reducer = &mut self.reduction;
        reducer.initially.clear();
        reducer.awake = false;
        if let Policy::Awake { sleep, .. } = plan.policy {
            reducer.awake = true;
            reducer.sleep = false;
            reducer.initially.extend(sleep.iter().map(|&(thread, alternative)| (thread.0, alternative)));
        }
        if !reducer.sleep {
            reducer.asleep.clear();
        }
        reducer.active = reducer.sleep || reducer.awake;
    }

    /// The fingerprint of the state. With sleep sets or bounds it includes the sleep set and the
    /// remaining budget, because the choices depend on them.
    pub fn fingerprint(&self) -> u128 {
        let sum = self.sum.wrapping_add(self.bounds_now());
        if !self.reduction.sleep {
            return sum;
        }
        let asleep = &self.reduction.asleep;
        asleep.iter().fold(sum, |sum, &(t, alternative)| {
            sum.wrapping_add(self.sleeper(t, self.alternative_name(t, alternative)))
        })
    }

    /// The contribution of a sleeping choice to the fingerprint.
    fn sleeper(&self, t: u32, alternative: u64) -> u128 {
        self.thread(t).past.mix_word(alternative << 8 | 0xff).summand()
    }

    fn is_asleep(&self, t: u32, alternative: u32) -> bool {
        self.reduction.asleep.contains(&(t, alternative))
    }

    /// The first choice that is not asleep, among those that are wanted. The sleep set starts at the
    /// end of the prefix.
    pub(crate) fn first_awake(&mut self, wanted: Option<(u32, u32)>) -> Option<Pick> {
        self.fill_initial();
        let (mut found, mut position) = (None, 0);
        self.each_choice(|thread, alternative| {
            let wanted = wanted.is_none_or(|(t, a)| t == thread && (a == alternative || a == Choice::STAY));
            if found.is_none() && wanted && !self.is_asleep(thread, alternative) {
                found = Some(Pick { position, thread, alternative });
            }
            position += 1;
        });
        found
    }

    fn fill_initial(&mut self) {
        if self.taken as usize == self.prefix.len() {
            let mut initially = core::mem::take(&mut self.reduction.initially);
            initially.retain(|&(t, _)| t < self.count && self.thread(t).phase == Phase::Pending);
            self.reduction.asleep.append(&mut initially);
            self.reduction.initially = initially;
        }
    }

    /// Updates the sleep set for a step that is about to be taken: choices before it in the list
    /// fall asleep, and sleepers that depend on it wake up.
    pub(super) fn fall_asleep(&mut self, pick: Pick) {
        let mut asleep = core::mem::take(&mut self.reduction.asleep);
        if self.reduction.sleep {
            let mut position = 0;
            self.each_choice(|t, alternative| {
                if position < pick.position {
                    asleep.push((t, alternative));
                }
                position += 1;
            });
        }
        let step = self.choice(pick.thread, pick.alternative);
        if self.weak.on {
            let after =
                asleep.iter().flat_map(|&(t, alternative)| asleep_after(&self.choice(t, alternative), &step));
            asleep = after.flatten().map(|choice| (choice.thread.0, choice.alternative)).collect();
        } else {
            asleep.retain(|&(t, alternative)| !dependent(&step, &self.choice(t, alternative)));
        }
        self.reduction.asleep = asleep;
    }

    /// The contribution of the sleep set after this step to the fingerprint.
    pub(super) fn sleep_after(&self, pick: Pick) -> u128 {
        if !self.reduction.sleep {
            return 0;
        }
        let step = self.choice(pick.thread, pick.alternative);
        // The position after a write that the step adds.
        let new = || {
            let access = self.access(pick.thread, pick.alternative);
            self.hash_after(pick.thread, 0, &access).bits() as u64
        };
        let mut sum = 0u128;
        let mut add = |t: u32, alternative: u32| {
            for after in asleep_after(&self.choice(t, alternative), &step).into_iter().flatten() {
                let name = if after.alternative == alternative {
                    self.alternative_name(t, alternative)
                } else {
                    new()
                };
                sum = sum.wrapping_add(self.sleeper(t, name));
            }
        };
        for &(t, alternative) in &self.reduction.asleep {
            add(t, alternative);
        }
        let mut position = 0;
        self.each_choice(|t, alternative| {
            if position < pick.position {
                add(t, alternative);
            }
            position += 1;
        });
        sum
    }

    /// Prunes the choices that are redundant.
    pub(super) fn filter_runs(&mut self) {
        let some = !self.runs.is_empty();
        if self.reduction.table.is_some() {
            self.keep_persistent();
        }
        if self.reduction.sleep && !self.reduction.asleep.is_empty() {
            let mut kept = core::mem::take(&mut self.reduction.scratch);
            kept.clear();
            for run in &self.runs {
                for alternative in (0..run.count).map(|i| run.first + i) {
                    if !self.is_asleep(run.thread, alternative) {
                        kept.push(Run { thread: run.thread, first: alternative, count: 1 });
                    }
                }
            }
            self.reduction.scratch = core::mem::replace(&mut self.runs, kept);
        }
        self.reduction.hides = some && self.runs.is_empty();
    }

    /// Keeps the choices of the smallest persistent set that closure under interference finds.
    fn keep_persistent(&mut self) {
        // Timeouts and spurious wake-ups depend on all other steps, so nothing can be pruned.
        if self.runs.iter().any(|run| run.first >= Choice::SPURIOUS) {
            return;
        }
        let (mut members, mut best) =
            (core::mem::take(&mut self.reduction.members), core::mem::take(&mut self.reduction.best));
        let mut least = u32::MAX;
        for run in &self.runs {
            let size = self.close(run.thread, &mut members, least);
            if size < least {
                least = size;
                core::mem::swap(&mut members, &mut best);
            }
        }
        self.runs.retain(|run| best.get(run.thread as usize).copied().unwrap_or(true));
        (self.reduction.members, self.reduction.best) = (members, best);
    }

    /// Closes the set of one thread under interference. Returns its number of choices, or some
    /// number that is at least `enough`.
    fn close(&self, seed: u32, members: &mut Vec<bool>, enough: u32) -> u32 {
        members.clear();
        members.resize(self.count as usize, false);
        members[seed as usize] = true;
        let size = |members: &[bool]| {
            let choices = self.runs.iter().filter(|run| members[run.thread as usize]);
            choices.map(|run| run.count).sum::<u32>()
        };
        let mut grows = true;
        while grows {
            grows = false;
            for p in 0..self.count {
                if !members[p as usize] {
                    continue;
                }
                for q in 0..self.count {
                    if !members[q as usize] && self.thread(q).phase == Phase::Pending && self.interferes(q, p)
                    {
                        members[q as usize] = true;
                        grows = true;
                    }
                }
            }
            if size(members) >= enough {
                return enough;
            }
        }
        size(members)
    }

    /// Whether anything that thread `q` may ever do depends on the pending operation of thread `p`,
    /// or enables it.
    fn interferes(&self, q: u32, p: u32) -> bool {
        let operation = &self.thread(p).pending;
        // A test whether a thread has ended depends on all of its steps.
        if self.may_name(q, self.thread(p).name, false) {
            return true;
        }
        match operation.kind {
            Kind::Exit | Kind::Park => return true,
            Kind::Join | Kind::TryJoin | Kind::Unpark => {
                return operation.argument == u64::from(q) && self.thread(q).phase != Phase::Ended;
            }
            Kind::Toss if operation.object == ObjectId::NONE => return false,
            Kind::Assert | Kind::Message | Kind::End => return false,
            Kind::Yield | Kind::Sleep => return !self.is_ready(p),
            _ => {}
        }
        if operation.kind == Kind::Free && self.may_use_part(q, operation.object) {
            return true;
        }
        let access = self.access(p, 0);
        let reads = self.is_ready(p)
            && access.touches().iter().all(|touch| touch.class() == Class::Read)
            && access.also == Fingerprint::ZERO;
        [operation.object, operation.second].iter().any(|&object| {
            object != ObjectId::NONE && (self.may(q, object, reads) || self.may_free(q, object))
        })
    }

    /// Whether a thread may ever free the region of an object.
    fn may_free(&self, t: u32, object: ObjectId) -> bool {
        self.region(object).is_some_and(|region| self.may(t, region, true))
    }

    /// Whether a thread may ever access an object in a region.
    fn may_use_part(&self, t: u32, region: ObjectId) -> bool {
        let objects = (0..self.objects.len() as u32).map(ObjectId);
        objects.filter(|&object| self.thing(object).within == region).any(|object| self.may(t, object, false))
    }

    /// Checks a step that frees a region against the table: if the table lacks it, the table is
    /// wrong and the search proves nothing.
    #[cold]
    pub(super) fn check_freeing(&mut self, t: u32) {
        let region = self.thread(t).pending.object;
        self.incomplete |= self.reduction.table.is_some() && !self.may(t, region, true);
    }

    fn is_ready(&self, t: u32) -> bool {
        bits::test(&self.ready, self.thread(t).rank)
    }

    /// Whether a thread may ever access an object (modify it, if `modify`). Threads without entries
    /// may do anything.
    fn may(&self, t: u32, object: ObjectId, modify: bool) -> bool {
        let Some(table) = &self.reduction.table else { return true };
        let thread = self.thread(t).name;
        let first = table.partition_point(|&(name, ..)| name < thread);
        table.get(first).is_none_or(|&(name, ..)| name != thread)
            || self.may_name(t, self.thing(object).name, modify)
    }

    /// Whether the table has such an entry.
    fn may_name(&self, t: u32, object: u64, modify: bool) -> bool {
        let Some(table) = &self.reduction.table else { return true };
        let key = (self.thread(t).name, object);
        let first = table.partition_point(|&(name, on, _)| (name, on) < key);
        let entries = table[first..].iter().take_while(|&&(name, on, _)| (name, on) == key);
        entries.into_iter().any(|&(.., writes)| writes || !modify)
    }
}
