//! Bounds on preemptions and delays, and the part of an execution in which threads are scheduled.
//!
//! Without any cost the thread of the last step goes on while it can; when it waits, yields or has
//! ended, the next one in the order of names does. A *preemption* leaves a thread that could have
//! gone on. A *delay* passes over one thread in that round, so that going to the third thread costs
//! two. Choices that cost more than is left are left out of the list. Outside of the part that is
//! scheduled, all that is left is the first choice without a cost.
//!
//! The choices of a state then depend on the last thread and on what is left, so both belong to its
//! fingerprint.

use super::{Kernel, NONE, Pick};
use crate::bits;
use crate::fingerprint::Fingerprint;
use crate::plan::Plan;
use crate::policy::Way;

/// No bound.
const UNBOUNDED: u32 = u32::MAX;
/// Preemptions are at most two to this power choices apart, as long as chance decides on them.
const LARGEST_GAP: u64 = 16;

/// What an execution may still spend.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Whether anything is bounded.
    pub(super) on: bool,
    /// Whether a choice was left out.
    pub(super) left_out: bool,
    preemptions: u32,
    delays: u32,
    /// Whether threads are scheduled between marks only.
    around: bool,
    /// Whether a marked part was ever entered.
    pub(super) entered: bool,
    /// How many marked parts are open.
    open: u32,
    /// The same before the last step, which is when the fingerprint is made.
    open_before: u32,
    /// Preemptions that chance passes over before the next one.
    gap: Option<u64>,
}

impl Allowance {
    pub(super) const fn new() -> Allowance {
        Allowance {
            on: false,
            left_out: false,
            preemptions: UNBOUNDED,
            delays: UNBOUNDED,
            around: false,
            entered: false,
            open: 0,
            open_before: 0,
            gap: None,
        }
    }

    fn is_outside(&self) -> bool {
        self.around && self.open == 0
    }
}

impl Kernel {
    pub(super) fn begin_bounds(&mut self, plan: &Plan<'_>) {
        let bounds = plan.bounds;
        self.allowance = Allowance {
            on: bounds.preemptions.is_some() || bounds.delays.is_some() || bounds.around,
            preemptions: bounds.preemptions.unwrap_or(UNBOUNDED),
            delays: bounds.delays.unwrap_or(UNBOUNDED),
            around: bounds.around,
            ..Allowance::new()
        };
    }

    /// The current thread enters a part in which threads are scheduled, if only such parts are.
    pub fn open_part(&mut self) {
        self.allowance.open = self.allowance.open.saturating_add(1);
        self.allowance.entered = true;
    }

    /// It leaves the part.
    pub fn close_part(&mut self) {
        self.allowance.open = self.allowance.open.saturating_sub(1);
    }

    /// The thread of the last step, if it could go on and does not offer to wait.
    fn going_on(&self) -> Option<u32> {
        let ready = self.last != NONE && bits::test(&self.ready, self.thread(self.last).rank);
        (ready && !self.is_yielding(self.last)).then_some(self.last)
    }

    /// The number of threads with choices, and the place among them of the one that goes on.
    fn round(&self) -> (u32, u32) {
        let first = match (self.last, self.going_on()) {
            (NONE, _) => 0,
            (_, Some(last)) => self.thread(last).rank,
            (last, None) => self.thread(last).rank + 1,
        };
        let (mut threads, mut start) = (0, None);
        self.each_first(|pick| {
            if start.is_none() && self.thread(pick.thread).rank >= first {
                start = Some(threads);
            }
            threads += 1;
        });
        (threads, start.unwrap_or(0))
    }

    /// Leaves out the choices that cost more than is left.
    pub(super) fn keep_within_bounds(&mut self) {
        let (threads, start) = self.round();
        let going_on = self.going_on();
        let allowance = &self.allowance;
        let (outside, delays) = (allowance.is_outside(), allowance.delays);
        let preempts = allowance.preemptions > 0;
        let before: u32 = self.runs.iter().map(|run| run.count).sum();
        let (mut place, mut previous) = (NONE, NONE);
        self.runs.retain_mut(|run| {
            let first = run.thread != previous;
            if first {
                place = place.wrapping_add(1);
                previous = run.thread;
            }
            if outside {
                run.count = 1;
                return first && place == start;
            }
            let delay = (place + threads - start) % threads;
            delay <= delays && (preempts || going_on.is_none_or(|last| last == run.thread))
        });
        let after: u32 = self.runs.iter().map(|run| run.count).sum();
        self.allowance.left_out |= after < before;
    }

    /// Preemptions and delays that a choice of the present state costs. Of the threads in the round,
    /// only the last ones were left out, so that the places of the others are as before.
    fn cost(&self, thread: u32) -> (u32, u32) {
        if self.allowance.is_outside() {
            return (0, 0);
        }
        let (threads, start) = self.round();
        let (mut place, mut found) = (0, start);
        self.each_first(|pick| {
            if pick.thread == thread {
                found = place;
            }
            place += 1;
        });
        let delays = (found + threads - start) % threads.max(1);
        (self.going_on().is_some_and(|last| last != thread).into(), delays)
    }

    /// What is left behind a choice.
    fn left_after(&self, thread: u32) -> (u32, u32) {
        let (preemptions, delays) = self.cost(thread);
        let less = |left: u32, cost: u32| if left == UNBOUNDED { left } else { left.saturating_sub(cost) };
        (less(self.allowance.preemptions, preemptions), less(self.allowance.delays, delays))
    }

    /// A step of this thread is about to be taken.
    pub(super) fn spend(&mut self, thread: u32) {
        let left = self.left_after(thread);
        (self.allowance.preemptions, self.allowance.delays) = left;
        self.allowance.open_before = self.allowance.open;
    }

    /// What bounds add to the fingerprint of the present state.
    pub(super) fn bounds_now(&self) -> u128 {
        let Allowance { on, preemptions, delays, open_before, .. } = self.allowance;
        if !on || self.last == NONE {
            return 0;
        }
        self.bounds_summand(self.last, (preemptions, delays), open_before)
    }

    /// What they add behind a choice of the present state.
    pub(super) fn bounds_after(&self, pick: Pick) -> u128 {
        if !self.allowance.on {
            return 0;
        }
        self.bounds_summand(pick.thread, self.left_after(pick.thread), self.allowance.open)
    }

    fn bounds_summand(&self, last: u32, (preemptions, delays): (u32, u32), open: u32) -> u128 {
        let left = u64::from(preemptions) << 32 | u64::from(delays);
        let last = Fingerprint::START.mix_word(self.thread(last).name);
        last.mix_word(left).mix_word(open.into()).summand()
    }

    /// Where chance would spend everything within the first steps, it lets the last thread go on for
    /// a while: preemptions are then as likely early as late, whatever the length of the execution.
    pub(crate) fn choose_to_go_on(&mut self) -> Option<Pick> {
        let Allowance { on, preemptions, delays, .. } = self.allowance;
        let bounded = on && (preemptions != UNBOUNDED || delays != UNBOUNDED);
        if !bounded || !matches!(self.way, Way::Uniform | Way::Pos | Way::Weighted) {
            return None;
        }
        let (first, _) = self.of_thread(self.going_on()?)?;
        let gap = match self.allowance.gap {
            Some(gap) => gap,
            None => {
                let largest = 1 << self.random.below(LARGEST_GAP + 1);
                self.random.below(largest)
            }
        };
        self.allowance.gap = gap.checked_sub(1);
        if gap == 0 {
            return None;
        }
        self.choose_alternative(first)
    }
}
