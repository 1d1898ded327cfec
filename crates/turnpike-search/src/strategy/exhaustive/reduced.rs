//! Source-DPOR: covers every behaviour of a program with few executions (Abdulla, Aronis, Jonsson
//! and Sagonas 2014).
//!
//! One execution represents all that differ only in the order of independent steps. After each
//! execution, the search examines its races: if two steps could have happened the other way round,
//! it schedules a thread that can begin the other order at the state before the earlier step. Sleep
//! sets prevent repeating what was tried after independent steps. An execution in which only
//! sleeping threads are left is pruned.
//!
//! Seven extensions of the published algorithm:
//! - A thread with alternatives (a toss, the waiter to be woken) is tried with all of them.
//! - A waiting thread that may time out, or wake up spuriously, is tried wherever it may.
//! - An operation that waits at the end races with what made it wait.
//! - A failure, or the end of the process, cuts all other threads short. What they were about to do
//!   is tried before it. The failing step may sleep then, because it would fail again.
//! - An execution that is cut at the bound on steps hides the races after the cut, and threads that
//!   it never ran. All states on its path are opened: everything that is enabled there is tried.
//!   Sleep sets stay valid, because executions that differ in the order of independent steps are
//!   equally long. States that were left before had no cut below them.
//! - The effect of some steps depends on what other threads are about to do: an offer that succeeds
//!   only if a thread waits for it, reading again while a writer waits. Races among executed steps
//!   do not show all of that, so states on the path to such a step are opened in the same way.
//! - Under weak memory a read and a later write commute, unless the write was read; but the read
//!   could have seen the write, so they race all the same.
//!
//! **Guarantee**: all errors within the bound on steps, and one completed execution for each order
//! of dependent steps, unless something was outside control. **Memory**: one execution.

use turnpike_model::paths::{Cause, Choice, Chooser, Detail, PathEnd, Paths, Request, StepOrder};

use crate::error::Halt;
use crate::follow::summary::Summarise;
use crate::limits::StopReason;
use crate::run::Run;

/// A state of the current execution.
struct Frame {
    choices: Vec<Choice>,
    /// The position of the choice that was taken last.
    taken: usize,
    /// Choices that need not be taken here.
    sleep: Vec<Choice>,
    /// Threads to be tried.
    backtrack: Vec<u32>,
    /// Positions that were tried.
    done: Vec<usize>,
    /// All threads are to be tried.
    open: bool,
}

impl Frame {
    fn has(&self, thread: u32) -> bool {
        self.choices.iter().any(|choice| choice.actor == thread)
    }

    fn sleeps(&self, choice: &Choice) -> bool {
        self.sleep
            .iter()
            .any(|sleeper| (sleeper.actor, sleeper.alternative) == (choice.actor, choice.alternative))
    }

    /// All choices of a thread sleep: what follows it was seen elsewhere.
    fn sleeps_all(&self, thread: u32) -> bool {
        self.choices.iter().filter(|choice| choice.actor == thread).all(|choice| self.sleeps(choice))
    }

    /// Adds one of the threads, unless one is there; one that sleeps costs nothing.
    fn add_one_of(&mut self, threads: &[u32]) {
        if threads.iter().any(|thread| self.backtrack.contains(thread)) {
            return;
        }
        let enabled = || threads.iter().copied().filter(|&thread| self.has(thread));
        let chosen = enabled().find(|&thread| self.sleeps_all(thread)).or_else(|| enabled().next());
        self.backtrack.extend(chosen);
    }

    /// The next position to be tried.
    fn next(&self) -> Option<usize> {
        (0..self.choices.len()).find(|at| {
            let choice = &self.choices[*at];
            let wanted = self.open || self.backtrack.contains(&choice.actor);
            wanted && !self.done.contains(at) && !self.sleeps(choice)
        })
    }

    /// Takes the next position.
    fn advance(&mut self) -> Option<usize> {
        let next = self.next()?;
        self.taken = next;
        self.done.push(next);
        Some(next)
    }

    /// Who sleeps after this choice: as they are in this state, because what a step means may change while it sleeps
    /// (of three who close a channel, two are left when one has done so).
    fn sleep_after(&self, taken: usize, paths: &dyn Paths) -> Vec<Choice> {
        let step = &self.choices[taken];
        let others = self.choices.iter().enumerate().filter(|&(at, _)| at != taken);
        let sleepers = others.filter(|(at, choice)| self.done.contains(at) || self.sleeps(choice));
        sleepers.flat_map(|(_, choice)| paths.asleep_after(choice, step)).flatten().collect()
    }
}

/// Explores all executions of at most `depth` steps.
pub(crate) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info() else { return Ok(StopReason::Finished) };
    if info.bounded {
        return super::bounded::search(run, depth);
    }
    let max_steps = info.max_steps.min(run.view.max_depth).min(depth);
    let mut summarise = Summarise::new(run)?;
    let mut frames: Vec<Frame> = Vec::new();
    // How many from the root are open because an execution was cut below them, or looked at what
    // others were about to do.
    let mut opened = 0;
    // How many steps of the current execution are those of the order read last.
    let mut ordered = 0;
    let mut cut = false;
    let (mut prefix, mut sleep): (Vec<u32>, Vec<Choice>) = (Vec::new(), Vec::new());
    loop {
        let sleepers: Vec<(u32, u32)> =
            sleep.iter().map(|choice| (choice.actor, choice.alternative)).collect();
        let chooser = Chooser::Awake { sleep: &sleepers };
        let request = Request { prefix: &prefix, chooser, max_steps, detail: Detail::Full, reduced: false };
        let paths = summarise.follow(run, &request)?;
        extend(&mut frames, paths, std::mem::take(&mut sleep), prefix.len());
        let same = prefix.len().saturating_sub(1);
        ordered = ordered.min(same);
        let cut_short = paths.cuts_others_short();
        if paths.end() == PathEnd::StepLimit {
            cut = true;
            frames[opened..].iter_mut().for_each(|frame| frame.open = true);
            opened = frames.len();
        } else if paths.looks_at_pending() {
            frames[opened..].iter_mut().for_each(|frame| frame.open = true);
            opened = frames.len();
        } else {
            let order = paths.order(ordered);
            ordered = order.steps();
            look_for_races(&mut frames, order, same, cut_short);
        }
        if cut_short && let Some(frame) = frames.last_mut() {
            // The last step depends on whatever others were about to do: all of it is to be tried before.
            frame.open = true;
        }

        // Deepest first.
        let next = loop {
            let Some(frame) = frames.last_mut() else { break None };
            if let Some(next) = frame.advance() {
                break Some(next);
            }
            frames.pop();
        };
        opened = opened.min(frames.len());
        let Some(next) = next else {
            return Ok(match () {
                () if cut => StopReason::MaxDepth,
                () if run.counters.executions.incomplete => StopReason::Finished,
                () => StopReason::Exhausted,
            });
        };
        sleep = frames[frames.len() - 1].sleep_after(next, paths);
        prefix.clear();
        prefix.extend(frames.iter().map(|frame| frame.taken as u32));
    }
}

/// Adds the states that the execution went through after its prefix.
fn extend(frames: &mut Vec<Frame>, paths: &dyn Paths, mut sleep: Vec<Choice>, prefix: usize) {
    for at in prefix.min(paths.len())..paths.len() {
        let step = paths.step(at);
        let mut choices = Vec::with_capacity(step.count as usize);
        paths.choices(at, &mut choices);
        let taken = step.taken as usize;
        let mut backtrack = vec![step.actor];
        // Races show which orders of executed steps to try. A waiting thread that could have given
        // up is not in a race with steps that happened, so that is tried wherever it is possible.
        let gives_up = choices.iter().filter(|choice| Cause::of(choice.alternative) != Cause::Actor);
        backtrack.extend(gives_up.map(|choice| choice.actor));
        // Waking up for no reason uses up what another thread may need later, in an execution that has no such step.
        let open = choices.iter().any(|choice| Cause::of(choice.alternative) == Cause::Nothing);
        let mut frame = Frame { choices, taken, sleep, backtrack, done: Vec::new(), open };
        sleep = frame.sleep_after(taken, paths);
        frame.done.push(taken);
        frames.push(frame);
    }
}

/// Where steps could have happened the other way round, that is to be tried. What a failure cut short may have been
/// waiting for the very step that failed.
fn look_for_races(frames: &mut [Frame], order: &dyn StepOrder, first: usize, cut_short: bool) {
    for later in first..order.events() {
        if later >= order.steps() && !cut_short && !order.is_blocked(later) {
            continue;
        }
        order.races(later, &mut |earlier| {
            if let Some(frame) = frames.get_mut(earlier).filter(|frame| !frame.open) {
                frame.add_one_of(&order.initials(&order.reversal(earlier, later)));
            }
        });
    }
}
