//! Walks in numbered portions, made ahead by several threads with the result of one.
//!
//! Every helper has a run of its own: a view, counters and a monitor. A portion in which anything but
//! walking happens (an objective is met, a step fails, a limit is reached) is thrown away. The caller
//! books the portions in their order, and makes those that are missing itself. So whatever ends a
//! search happens on one thread, in one order.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Halt;
use crate::event::EventSink;
use crate::objective::Counted;
use crate::run::{Control, Counters, Run};

/// Helpers hear of nothing, and say nothing.
const SILENT: &EventSink<'static> = &|_| {};

/// A helper: its run, and what it needs to make a portion.
pub(crate) struct Helper<'m, H> {
    run: Run<'m>,
    tools: H,
}

/// What a portion counted.
pub(crate) struct Portion {
    counters: Counters,
    counted: Counted,
}

/// As many helpers as the run has threads; none if it has one, or if what it looks for depends on
/// what other walks met.
pub(crate) fn helpers<'m, H>(
    run: &Run<'m>,
    tools: impl Fn(&mut Run<'m>) -> Result<H, Halt>,
) -> Result<Vec<Helper<'m, H>>, Halt> {
    let apart = run.paths.is_none() && !run.is_concrete() && run.view.monitor.can_be_shared();
    let count = if apart && run.team.threads > 1 { run.team.threads } else { 0 };
    let helper = |_| {
        let control = Control { events: SILENT, interrupt: run.control.interrupt };
        let mut own = Run::new(run.model, run.options, run.objectives, run.number, run.seed, control)?;
        let tools = tools(&mut own)?;
        own.looks_ahead = true;
        Ok(Helper { run: own, tools })
    };
    (0..count).map(helper).collect()
}

/// Makes the portions with these numbers, as far as they are needed: `None` stands for one that the
/// caller has to make.
pub(crate) fn portions<H: Send>(
    helpers: &mut [Helper<'_, H>],
    wanted: Range<u64>,
    make: &(dyn Fn(&mut Run<'_>, &mut H, u64) -> Result<(), Halt> + Sync),
) -> Vec<Option<Portion>> {
    let count = (wanted.end - wanted.start) as usize;
    let (next, last) = (AtomicUsize::new(0), AtomicUsize::new(count));
    let mut portions: Vec<Option<Portion>> = (0..count).map(|_| None).collect();
    let made = Mutex::new(&mut portions);
    std::thread::scope(|scope| {
        for Helper { run, tools } in helpers {
            let (next, last, made, first) = (&next, &last, &made, wanted.start);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    // What comes after a portion that may end the search is perhaps not needed.
                    if index >= last.load(Ordering::Relaxed) {
                        return;
                    }
                    run.counters = Counters::default();
                    let whole = make(run, tools, first + index as u64).is_ok();
                    let counted = run.view.monitor.take_counted();
                    if !whole {
                        last.fetch_min(index, Ordering::Relaxed);
                        return;
                    }
                    let counters = std::mem::take(&mut run.counters);
                    made.lock().unwrap_or_else(PoisonError::into_inner)[index] =
                        Some(Portion { counters, counted });
                }
            });
        }
    });
    portions
}

impl Portion {
    /// Books it, unless the limits do not admit all of it.
    pub(crate) fn book(&self, run: &mut Run<'_>) -> Result<bool, Halt> {
        if self.counters.states > run.states_left() {
            return Ok(false);
        }
        run.look_for_interrupt()?;
        run.look_at_the_clock()?;
        run.counters.states += self.counters.states;
        run.counters.transitions += self.counters.transitions;
        run.counters.depth = run.counters.depth.max(self.counters.depth);
        run.view.monitor.add_counted(&self.counted);
        Ok(true)
    }
}
