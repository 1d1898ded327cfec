//! The list of choices. It is counted, indexed and enumerated without being stored, unless a thread
//! has several alternatives.

use super::Kernel;
use crate::bits;
use crate::execution::Choice;
use crate::plan::Timeouts;

/// Consecutive choices of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) thread: u32,
    /// The first alternative.
    pub(super) first: u32,
    /// The number of alternatives.
    pub(super) count: u32,
}

/// A selected choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    pub(crate) position: u32,
    pub(crate) thread: u32,
    pub(crate) alternative: u32,
}

impl Kernel {
    /// Counts the choices of the current state. All other functions here must be called after it.
    #[inline]
    pub(super) fn count_choices(&mut self) -> u32 {
        self.plain = self.odd == 0 && !self.reduction.filters && !self.allowance.on;
        if self.plain {
            return bits::count(&self.ready);
        }
        self.build_runs();
        if self.reduction.filters {
            self.filter_runs();
        }
        if self.allowance.on {
            self.keep_within_bounds();
        }
        self.runs.iter().map(|run| run.count).sum()
    }

    /// Stores the list as runs, because some thread has several alternatives or may time out.
    fn build_runs(&mut self) {
        let mut runs = core::mem::take(&mut self.runs);
        runs.clear();
        let spurious = self.spurious > 0;
        let stuck = bits::count(&self.ready) == 0;
        let timeouts = match self.timeouts {
            Timeouts::Always => true,
            // Nothing else can happen: waiting threads with a time limit time out.
            Timeouts::WhenStuck => stuck,
            Timeouts::Never => false,
        };
        // If only spurious wake-ups are possible, no wake-up is a choice, too.
        let stays = stuck && !(timeouts && bits::count(&self.timed) > 0);
        for word in 0..self.stride {
            let mut rest = self.ready[word];
            if timeouts {
                rest |= self.timed[word];
            }
            if spurious {
                rest |= self.waiting[word];
            }
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let thread = self.order[word * 64 + bit as usize];
                let is = |set: &[u64]| set[word] >> bit & 1 == 1;
                if is(&self.ready) && self.is_weak(thread) {
                    self.each_alternative(thread, |first| runs.push(Run { thread, first, count: 1 }));
                    continue;
                }
                if is(&self.ready) {
                    let count = if is(&self.several) { self.alternatives(thread) } else { 1 };
                    runs.push(Run { thread, first: 0, count });
                    continue;
                }
                if spurious && is(&self.waiting) {
                    if stays {
                        runs.push(Run { thread, first: Choice::STAY, count: 1 });
                    }
                    runs.push(Run { thread, first: Choice::SPURIOUS, count: 1 });
                }
                if timeouts && is(&self.timed) {
                    runs.push(Run { thread, first: Choice::TIMEOUT, count: 1 });
                }
            }
        }
        self.runs = runs;
    }

    /// The choice at a position. Each random step asks for one, so a call would show.
    #[inline(always)]
    pub(crate) fn at_position(&self, position: u32) -> Option<Pick> {
        let mut left = position;
        if self.plain {
            for (word, &ready) in self.ready.iter().enumerate() {
                let ones = ready.count_ones();
                if left < ones {
                    let rank = word * 64 + bits::select(ready, left) as usize;
                    let thread = self.order[rank];
                    return Some(Pick { position, thread, alternative: self.only_alternative(thread) });
                }
                left -= ones;
            }
            return None;
        }
        for run in &self.runs {
            if left < run.count {
                return Some(Pick { position, thread: run.thread, alternative: run.first + left });
            }
            left -= run.count;
        }
        None
    }

    /// The first choice of a thread, and how many it has.
    pub(crate) fn of_thread(&self, t: u32) -> Option<(Pick, u32)> {
        if self.plain {
            let rank = self.thread(t).rank;
            let (word, bit) = (rank as usize / 64, rank % 64);
            if !bits::test(&self.ready, rank) {
                return None;
            }
            let below = (self.ready[word] & ((1 << bit) - 1)).count_ones();
            let position = bits::count(&self.ready[..word]) + below;
            return Some((Pick { position, thread: t, alternative: self.only_alternative(t) }, 1));
        }
        let (mut position, mut found) = (0, None);
        for run in &self.runs {
            if run.thread == t {
                let (_, count) =
                    found.get_or_insert((Pick { position, thread: t, alternative: run.first }, 0));
                *count += run.count;
            } else if found.is_some() {
                break;
            }
            position += run.count;
        }
        found
    }

    /// The same for a thread id that may be invalid.
    pub(crate) fn of_thread_checked(&self, t: u32) -> Option<(Pick, u32)> {
        if t < self.count { self.of_thread(t) } else { None }
    }

    /// The choice of the same thread with this alternative if there is one, otherwise its first
    /// choice.
    pub(crate) fn with_alternative(&self, first: Pick, alternative: u32) -> Option<Pick> {
        let mut position = 0;
        for run in &self.runs {
            let offset = alternative.wrapping_sub(run.first);
            if !self.plain && run.thread == first.thread && offset < run.count {
                return Some(Pick { position: position + offset, alternative, ..first });
            }
            position += run.count;
        }
        Some(first)
    }

    /// Visits the first choice of each thread that has one, in order.
    #[inline]
    pub(crate) fn each_first(&self, mut visit: impl FnMut(Pick)) {
        if self.plain {
            for (rank, position) in bits::ones(&self.ready).zip(0..) {
                let thread = self.at_rank(rank);
                visit(Pick { position, thread, alternative: self.only_alternative(thread) });
            }
            return;
        }
        let (mut position, mut last) = (0, u32::MAX);
        for run in &self.runs {
            if run.thread != last {
                visit(Pick { position, thread: run.thread, alternative: run.first });
                last = run.thread;
            }
            position += run.count;
        }
    }

    /// The number of choices of a thread that has one.
    #[inline]
    pub(crate) fn count_of(&self, t: u32) -> u32 {
        if self.plain { 1 } else { self.of_thread(t).map_or(0, |(_, count)| count) }
    }

    /// All choices, in order.
    pub(super) fn each_choice(&self, mut visit: impl FnMut(u32, u32)) {
        if self.plain {
            self.each_first(|pick| visit(pick.thread, pick.alternative));
            return;
        }
        for run in &self.runs {
            for i in 0..run.count {
                visit(run.thread, run.first + i);
            }
        }
    }
}
