//! Source-DPOR: every behaviour of a program, by few executions (Abdulla, Aronis, Jonsson and Sagonas 2014).
//!
//! One execution stands for all that differ only in the order of independent steps. After each execution its races are
//! looked at: where two steps could have happened the other way round, a thread that can begin the other order is to be
//! tried at the state before the earlier one. Sleep sets keep what was tried from being tried again after independent
//! steps; an execution in which only sleepers are left is given up.
//!
//! Six things that the algorithm as published does not have:
//! - A thread with alternatives (a toss, the waiter to be woken) is tried with all of them.
//! - A waiting thread that may give up, or wake for no reason, is tried wherever it may.
//! - An operation that waits at the end races with what made it wait.
//! - A failure, or the end of the process, cuts all other threads short. What they were about to do is tried before it;
//!   the step that failed may sleep then, because it would do so again.
//! - An execution that is cut at the bound on steps hides the races behind the cut, and a thread that it never let go. All
//!   states on its way are opened: everything that is enabled there is tried. Sleep sets stay, because executions that
//!   differ in the order of independent steps are equally long. States that were left before had no cut below them.
//! - What some steps do depends on what others are about to do: an offer that succeeds only if somebody waits for it, reading again while a
//!   writer waits. Races of what happened do not show all of that, so states on the way to such a step are opened in the same way.
//!
//! **Guarantee**: all errors within the bound on steps, and one completed execution for each order of dependent steps,
//! unless something was outside control. **Memory**: one execution.

use turnpike_model::scheduler::{Choice, Detail, End, Execution, Kind, Plan, Policy, Reduction, ThreadId};

use super::execute;
use super::order::Order;
use super::summary::Summarise;
use crate::error::Halt;
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
    backtrack: Vec<ThreadId>,
    /// Positions that were tried.
    done: Vec<usize>,
    /// All threads are to be tried.
    open: bool,
}

impl Frame {
    fn has(&self, thread: ThreadId) -> bool {
        self.choices.iter().any(|choice| choice.thread == thread)
    }

    fn sleeps(&self, choice: &Choice) -> bool {
        self.sleep
            .iter()
            .any(|sleeper| (sleeper.thread, sleeper.alternative) == (choice.thread, choice.alternative))
    }

    /// All choices of a thread sleep: what follows it was seen elsewhere.
    fn sleeps_all(&self, thread: ThreadId) -> bool {
        self.choices.iter().filter(|choice| choice.thread == thread).all(|choice| self.sleeps(choice))
    }

    /// Adds one of the threads, unless one is there; one that sleeps costs nothing.
    fn add_one_of(&mut self, threads: &[ThreadId]) {
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
            let wanted = self.open || self.backtrack.contains(&choice.thread);
            wanted && !self.done.contains(at) && !self.sleeps(choice)
        })
    }

    /// Who sleeps after this choice: as they are in this state, because what a step means may change while it sleeps
    /// (of three who close a channel, two are left when one has done so).
    fn sleep_after(&self, taken: usize) -> Vec<Choice> {
        let step = &self.choices[taken];
        let others = self.choices.iter().enumerate().filter(|&(at, _)| at != taken);
        let sleepers = others.filter(|(at, choice)| self.done.contains(at) || self.sleeps(choice));
        sleepers.map(|(_, choice)| *choice).filter(|choice| !choice.depends_on(step)).collect()
    }
}

/// Explores all executions of at most `depth` steps.
pub(crate) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let Some(base) = run.plan else { return Ok(StopReason::Finished) };
    let max_steps = base.max_steps.min(run.max_depth).min(depth);
    let base = Plan { max_steps, detail: Detail::Full, reduction: Reduction::default(), ..base };
    let mut summarise = Summarise::new(run)?;
    let mut execution = Execution::default();
    let mut order = Order::default();
    let mut frames: Vec<Frame> = Vec::new();
    // So many from the root are open because an execution was cut below them, or looked at what others were about to do.
    let mut opened = 0;
    // So many steps of the present execution are those of the order read last.
    let mut ordered = 0;
    let mut cut = false;
    let (mut prefix, mut sleep): (Vec<u32>, Vec<Choice>) = (Vec::new(), Vec::new());
    loop {
        run.admit_execution()?;
        let sleepers: Vec<(ThreadId, u32)> =
            sleep.iter().map(|choice| (choice.thread, choice.alternative)).collect();
        let plan = Plan { prefix: &prefix, policy: Policy::Awake { sleep: &sleepers }, ..base };
        let outcome = execute(&mut *run.explorer, &plan, &mut execution);
        outcome.map_err(|error| run.execution_error(error))?;
        let summary = summarise.of(&mut *run.explorer, &execution);
        run.book_execution(&summary)?;
        summarise.refresh(run);

        extend(&mut frames, &execution, std::mem::take(&mut sleep), prefix.len());
        let same = prefix.len().saturating_sub(1);
        ordered = ordered.min(same);
        if execution.end == End::StepLimit {
            cut = true;
            frames[opened..].iter_mut().for_each(|frame| frame.open = true);
            opened = frames.len();
        } else if execution.steps.iter().any(|step| looks_at_others(&step.choice)) {
            frames[opened..].iter_mut().for_each(|frame| frame.open = true);
            opened = frames.len();
        } else {
            order.read(&execution, ordered);
            ordered = order.steps;
            look_for_races(&mut frames, &execution, &order, same);
        }
        if ends_all(&execution)
            && let Some(frame) = frames.last_mut()
        {
            // The last step depends on whatever others were about to do: all of it is to be tried before.
            frame.open = true;
        }

        // Deepest first.
        loop {
            let Some(frame) = frames.last_mut() else {
                return Ok(match () {
                    () if cut => StopReason::MaxDepth,
                    () if run.counters.executions.incomplete => StopReason::Finished,
                    () => StopReason::Exhausted,
                });
            };
            if let Some(next) = frame.next() {
                frame.taken = next;
                frame.done.push(next);
                sleep = frame.sleep_after(next);
                break;
            }
            frames.pop();
            opened = opened.min(frames.len());
        }
        prefix.clear();
        prefix.extend(frames.iter().map(|frame| frame.taken as u32));
    }
}

/// Adds the states that the execution went through after its prefix.
fn extend(frames: &mut Vec<Frame>, execution: &Execution, mut sleep: Vec<Choice>, prefix: usize) {
    for step in &execution.steps[prefix.min(execution.steps.len())..] {
        let first = step.first_choice as usize;
        let choices = execution.choices[first..first + step.count as usize].to_vec();
        let taken = step.taken as usize;
        let mut backtrack = vec![step.choice.thread];
        // Races show which orders of executed steps to try. That a waiting thread could have given up is no race of
        // steps that happened, so it is tried wherever it is possible.
        let gives_up = choices.iter().filter(|choice| choice.alternative >= Choice::SPURIOUS);
        backtrack.extend(gives_up.map(|choice| choice.thread));
        // Waking up for no reason uses up what another thread may need later, in an execution that has no such step.
        let open = choices.iter().any(|choice| choice.alternative == Choice::SPURIOUS);
        let mut frame = Frame { choices, taken, sleep, backtrack, done: Vec::new(), open };
        sleep = frame.sleep_after(taken);
        frame.done.push(taken);
        frames.push(frame);
    }
}

/// Where steps could have happened the other way round, that is to be tried.
fn look_for_races(frames: &mut [Frame], execution: &Execution, order: &Order, first: usize) {
    // What a failure cut short may have been waiting for the very step that failed.
    let cut_short = ends_all(execution);
    for later in first..order.events.len() {
        if later >= order.steps && !cut_short && !order.is_blocked(execution, later) {
            continue;
        }
        order.races(execution, later, |earlier| {
            if let Some(frame) = frames.get_mut(earlier).filter(|frame| !frame.open) {
                frame.add_one_of(&order.initials(&order.reversal(earlier, later)));
            }
        });
    }
}

/// Whether the last step ended the execution while other threads could go on.
fn ends_all(execution: &Execution) -> bool {
    match execution.end {
        End::Failed(_) | End::Hung => true,
        End::Finished => execution.steps.last().is_some_and(|step| step.choice.kind == Kind::Exit),
        _ => false,
    }
}

/// Whether what a step does depends on what other threads are about to do.
fn looks_at_others(step: &Choice) -> bool {
    match step.kind {
        Kind::TrySend => step.argument >> 32 == 0,
        Kind::ReadLock | Kind::TryReadLock => step.argument & 2 != 0,
        _ => false,
    }
}
