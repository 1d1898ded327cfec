//! Optimal DPOR: covers every behaviour of a program with few executions (Abdulla, Aronis, Jonsson
//! and Sagonas 2014).
//!
//! One execution represents all that differ only in the order of independent steps. After each
//! execution, the search examines its races: if two steps could have happened the other way round,
//! it adds the other order to the [wakeup tree](super::wakeup) of the state before the earlier step.
//! Sleep sets prevent repeating what was tried after independent steps. An execution in which only
//! sleeping threads are left is pruned.
//!
//! An order need not be tried if it commutes with a sleeping step, because what follows that step shows its
//! races, and those are in the tree. This holds as long as the steps of the tree are taken, and as long as
//! every execution shows all of its races. Otherwise only an order that begins with a sleeping step is left
//! out, as source-DPOR does.
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

use super::wakeup::{Node, Reversal, first_way};
use crate::error::Halt;
use crate::follow::summary::Summarise;
use crate::limits::StopReason;
use crate::run::Run;

/// A choice that need not be taken.
#[derive(Clone, Copy)]
struct Sleeper {
    choice: Choice,
    /// Whether all that its executions showed is in the trees of the states since it was taken, so that nothing with
    /// which it commutes needs to be tried.
    complete: bool,
}

/// A state of the current execution.
struct Frame {
    choices: Vec<Choice>,
    /// The position of the choice that was taken last.
    taken: usize,
    sleep: Vec<Sleeper>,
    /// Orders to be tried.
    tree: Vec<Node>,
    /// Threads to be tried with all of their alternatives.
    backtrack: Vec<u32>,
    /// Positions that were tried.
    done: Vec<usize>,
    /// All threads are to be tried.
    open: bool,
}

impl Frame {
    fn of(&self, thread: u32) -> impl Iterator<Item = (usize, &Choice)> {
        self.choices.iter().enumerate().filter(move |(_, choice)| choice.actor == thread)
    }

    fn sleeper(&self, choice: &Choice) -> Option<&Sleeper> {
        let same = |sleeper: &&Sleeper| {
            (sleeper.choice.actor, sleeper.choice.alternative) == (choice.actor, choice.alternative)
        };
        self.sleep.iter().find(same)
    }

    fn sleeps(&self, choice: &Choice) -> bool {
        self.sleeper(choice).is_some()
    }

    /// Adds the reversal of a race with the step taken here, unless what was tried before shows the same.
    /// `complete`: so far all races were looked for.
    fn add(&mut self, reversal: Reversal<'_>, several: &dyn Fn(usize) -> bool, complete: bool) {
        if !self.covers(&reversal, complete) {
            let Frame { choices, tree, .. } = self;
            let at_root = |thread| choices.iter().filter(|choice| choice.actor == thread).count();
            reversal.insert(tree, several, &at_root, complete);
        }
    }

    fn covers(&self, reversal: &Reversal<'_>, complete: bool) -> bool {
        let mut at = 0;
        while let Some(thread) = self.choices.get(at).map(|choice| choice.actor) {
            let (mut asleep, mut all, mut commuting) = (Vec::new(), true, complete);
            for (at, choice) in self.of(thread) {
                let sleeper = self.sleeper(choice);
                if at != self.taken && self.done.contains(&at) || sleeper.is_some() {
                    asleep.push(*choice);
                    commuting &= sleeper.is_none_or(|sleeper| sleeper.complete);
                } else {
                    all = false;
                }
            }
            if reversal.may_begin_with(&asleep, all, commuting) {
                return true;
            }
            // Those of one thread are next to each other.
            at += self.of(thread).count();
        }
        false
    }

    /// Takes the next position; the node that it is of goes to `after`.
    fn advance(&mut self, after: &mut Option<Node>) -> Option<usize> {
        let next = self.next_of_tree(after).or_else(|| {
            (0..self.choices.len()).find(|at| {
                let choice = &self.choices[*at];
                let wanted = self.open || self.backtrack.contains(&choice.actor);
                wanted && !self.done.contains(at) && !self.sleeps(choice)
            })
        })?;
        self.taken = next;
        self.done.push(next);
        Some(next)
    }

    fn next_of_tree(&mut self, after: &mut Option<Node>) -> Option<usize> {
        while !self.tree.is_empty() {
            let node = self.tree.remove(0);
            let thread = node.choice.actor;
            let awake = |&(at, choice): &(usize, &Choice)| {
                node.is(thread, choice.alternative) && !self.done.contains(&at) && !self.sleeps(choice)
            };
            let next = self.of(thread).find(awake).map(|(at, _)| at);
            self.backtrack.push(thread);
            if next.is_some() {
                *after = Some(node);
                return next;
            }
        }
        None
    }

    /// Who sleeps after this choice: as they are in this state, because what a step means may change while it sleeps
    /// (of three who close a channel, two are left when one has done so).
    fn sleep_after(&self, taken: usize, paths: &dyn Paths) -> Vec<Sleeper> {
        let step = &self.choices[taken];
        let others = self.choices.iter().enumerate().filter(|&(at, _)| at != taken);
        let sleepers = others.filter_map(|(at, choice)| match self.sleeper(choice) {
            Some(sleeper) => Some((choice, sleeper.complete)),
            None => self.done.contains(&at).then_some((choice, true)),
        });
        let after = |(choice, complete)| {
            let rest = paths.asleep_after(choice, step).into_iter().flatten();
            rest.map(move |choice| Sleeper { choice, complete })
        };
        sleepers.flat_map(after).collect()
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
    // Whether all executions so far showed all of their races.
    let mut complete = true;
    // How many steps of the current execution are those of the order read last.
    let mut ordered = 0;
    let mut cut = false;
    let (mut prefix, mut sleep): (Vec<u32>, Vec<Sleeper>) = (Vec::new(), Vec::new());
    // What is to be tried after the prefix, and the first way through it.
    let (mut tree, mut way): (Vec<Node>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    loop {
        let sleepers: Vec<(u32, u32)> =
            sleep.iter().map(|sleeper| (sleeper.choice.actor, sleeper.choice.alternative)).collect();
        first_way(&tree, &mut way);
        let chooser = Chooser::Awake { sleep: &sleepers, order: &way };
        let request = Request { prefix: &prefix, chooser, max_steps, detail: Detail::Full, reduced: false };
        let paths = summarise.follow(run, &request)?;
        extend(&mut frames, paths, std::mem::take(&mut sleep), std::mem::take(&mut tree), prefix.len());
        let same = prefix.len().saturating_sub(1);
        ordered = ordered.min(same);
        let cut_short = paths.cuts_others_short();
        let at_limit = paths.end() == PathEnd::StepLimit;
        cut |= at_limit;
        // Giving up depends on all that others do.
        let gives_up = |choice: &Choice| Cause::of(choice.alternative) != Cause::Actor;
        complete &= !frames[same..].iter().any(|frame| frame.choices.iter().any(gives_up));
        if at_limit || paths.looks_at_pending() {
            frames[opened..].iter_mut().for_each(|frame| frame.open = true);
            opened = frames.len();
            complete = false;
        } else {
            let is_pruned = paths.end() == PathEnd::Asleep;
            let order = paths.order(ordered);
            ordered = order.steps();
            // Steps that never came may be in races, and what waits for several threads is in none.
            let waits = || (order.steps()..order.events()).any(|event| order.is_blocked(event));
            complete &= !cut_short && (is_pruned || !waits());
            look_for_races(&mut frames, order, same, cut_short, complete);
        }
        if cut_short && let Some(frame) = frames.last_mut() {
            // The last step depends on whatever others were about to do: all of it is to be tried before.
            frame.open = true;
        }

        // Deepest first.
        let mut node = None;
        let next = loop {
            let Some(frame) = frames.last_mut() else { break None };
            if let Some(next) = frame.advance(&mut node) {
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
        if node.as_ref().is_some_and(|node| node.lacks) {
            forget(&mut sleep);
        }
        tree = node.map_or_else(Vec::new, |node| node.children);
        prefix.clear();
        prefix.extend(frames.iter().map(|frame| frame.taken as u32));
    }
}

/// Some of what sleepers showed may not be in the trees from here on.
fn forget(sleep: &mut [Sleeper]) {
    sleep.iter_mut().for_each(|sleeper| sleeper.complete = false);
}

/// Adds the states that the execution went through after its prefix. `tree` is what is to be tried after the prefix.
fn extend(
    frames: &mut Vec<Frame>,
    paths: &dyn Paths,
    mut sleep: Vec<Sleeper>,
    mut tree: Vec<Node>,
    prefix: usize,
) {
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
        let found = tree.iter().position(|node| node.is(step.actor, step.alternative));
        let node = found.map(|at| tree.remove(at));
        if node.is_none() {
            // Nothing is known yet of what follows.
            forget(&mut sleep);
        }
        let mut frame = Frame { choices, taken, sleep, tree, backtrack, done: Vec::new(), open };
        sleep = frame.sleep_after(taken, paths);
        if node.as_ref().is_some_and(|node| node.lacks) {
            forget(&mut sleep);
        }
        tree = node.map_or_else(Vec::new, |node| node.children);
        frame.done.push(taken);
        frames.push(frame);
    }
}

/// Where steps could have happened the other way round, that is to be tried. What a failure cut short may have been
/// waiting for the very step that failed.
fn look_for_races(
    frames: &mut [Frame],
    order: &dyn StepOrder,
    first: usize,
    cut_short: bool,
    complete: bool,
) {
    for later in first..order.events() {
        if later >= order.steps() && !cut_short && !order.is_blocked(later) {
            continue;
        }
        order.races(later, &mut |earlier| {
            let Some((before, [frame, after @ ..])) =
                frames.split_at_mut_checked(earlier).map(|(b, a)| (b.len(), a))
            else {
                return;
            };
            let several = |event: usize| {
                let (actor, _) = order.event(event);
                let state = event.checked_sub(before + 1).and_then(|at| after.get(at));
                state.is_none_or(|frame| frame.of(actor).count() > 1)
            };
            frame.add(Reversal::new(order, earlier, later), &several, complete);
        });
    }
}
