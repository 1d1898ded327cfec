//! The order that an execution's steps must have: happens-before, by vector clocks, and the races it leaves open.
//!
//! A race is a pair of dependent steps of different threads that could have happened the other way round, with nothing
//! between them that already decides it. Unlocking and the locking that it allows are no race: the two cannot be swapped.
//! The race for a mutex is between the two acquisitions.

use rustc_hash::FxHashMap;
use turnpike_model::scheduler::{Choice, Execution, Kind, ThreadId};

use super::access::{Accesses, Class, Place, accesses, conflict, enabled_after};

/// Steps of an execution recorded with full detail, and operations that wait at its end, with their order.
pub(crate) struct Order<'e> {
    execution: &'e Execution,
    /// Steps, then pending operations.
    pub(crate) events: Vec<Choice>,
    accesses: Vec<Accesses>,
    /// How many events are steps.
    pub(crate) steps: usize,
    threads: usize,
    /// For each event and thread: how many of the thread's events are before it (or it).
    clocks: Vec<u32>,
    /// The number of each event among those of its thread, from 1.
    ranks: Vec<u32>,
    /// The event before it of the same thread.
    previous: Vec<Option<usize>>,
    /// The last step of each thread that had ended.
    endings: Vec<Option<usize>>,
}

/// Events that touched a place and that a later one may have to wait for.
#[derive(Default)]
struct Touched {
    exclusive: Option<usize>,
    since: Vec<(usize, Class)>,
}

impl<'e> Order<'e> {
    /// The order of an execution's steps and of the operations that its threads are about to do at the end.
    pub(crate) fn new(execution: &'e Execution) -> Self {
        let steps = execution.steps.len();
        let mut events: Vec<Choice> = execution.steps.iter().map(|step| step.choice).collect();
        events.extend(execution.threads.iter().filter_map(|thread| thread.waits.map(|(choice, _)| choice)));
        let threads = events.iter().map(|event| event.thread.0 as usize + 1).max().unwrap_or(0);
        let threads = threads.max(execution.threads.len());
        let mut order = Order {
            execution,
            accesses: events.iter().map(|event| accesses(execution, event)).collect(),
            steps,
            threads,
            clocks: vec![0; events.len() * threads],
            ranks: Vec::with_capacity(events.len()),
            previous: Vec::with_capacity(events.len()),
            endings: vec![None; threads],
            events,
        };
        order.settle_endings();
        order.settle_clocks();
        order
    }

    fn settle_endings(&mut self) {
        for (index, step) in self.execution.steps.iter().enumerate() {
            let thread = step.choice.thread.0 as usize;
            if self.execution.threads.get(thread).is_some_and(|thread| thread.ended) {
                self.endings[thread] = Some(index);
            }
        }
    }

    fn settle_clocks(&mut self) {
        let mut last: Vec<Option<usize>> = vec![None; self.threads];
        let mut touched: FxHashMap<Place, Touched> = FxHashMap::default();
        for event in 0..self.events.len() {
            let thread = self.events[event].thread.0 as usize;
            // Operations that wait are after all that their threads did, and are seen by nobody.
            let pending = event >= self.steps;
            let before = last[thread];
            self.previous.push(before);
            self.ranks.push(before.map_or(1, |before| self.ranks[before] + 1));
            match before {
                Some(before) => self.join(event, before),
                None => self.join_creation(event),
            }
            for (place, class) in self.accesses[event].into_iter().flatten() {
                let seen = touched.entry(place).or_default();
                let mut after: Vec<usize> = seen.exclusive.into_iter().collect();
                after.extend(
                    seen.since
                        .iter()
                        .filter(|(_, with)| class == Class::Exclusive || *with != class)
                        .map(|(at, _)| *at),
                );
                if !pending {
                    if class == Class::Exclusive {
                        seen.exclusive = Some(event);
                        seen.since.clear();
                    } else {
                        seen.since.push((event, class));
                    }
                }
                for earlier in after {
                    self.join(event, earlier);
                }
            }
            self.join_wakers(event);
            self.clocks[event * self.threads + thread] = self.ranks[event];
            if !pending {
                last[thread] = Some(event);
            }
        }
    }

    /// What `event` is after besides: ends of joined threads, steps that woke it.
    fn join_wakers(&mut self, event: usize) {
        let choice = self.events[event];
        let end = event.min(self.steps);
        match choice.kind {
            Kind::Join | Kind::TryJoin => {
                if let Some(ending) = self.ending_before(choice.argument, event) {
                    self.join(event, ending);
                }
            }
            Kind::Reacquire | Kind::Leave => {
                for earlier in (0..end).rev() {
                    let step = self.events[earlier];
                    if step.object != choice.object {
                        continue;
                    }
                    let wakes = match step.kind {
                        Kind::NotifyOne => step.argument == u64::from(choice.thread.0),
                        Kind::NotifyAll | Kind::FutexWake => true,
                        Kind::Arrive => step.argument == choice.argument,
                        _ => false,
                    };
                    if wakes {
                        self.join(event, earlier);
                        break;
                    }
                    if step.thread == choice.thread {
                        break;
                    }
                }
            }
            _ => {}
        }
        // A thread that ends is after those who saw it alive.
        if event < self.steps && self.endings[choice.thread.0 as usize] == Some(event) {
            for earlier in 0..event {
                if self.sees_alive(earlier, event) {
                    self.join(event, earlier);
                }
            }
        }
    }

    /// Whether `earlier` found that the thread, which ended by `ending`, had not ended.
    fn sees_alive(&self, earlier: usize, ending: usize) -> bool {
        let (one, other) = (&self.events[earlier], &self.events[ending]);
        one.kind == Kind::TryJoin && one.argument == u64::from(other.thread.0)
    }

    fn ending_before(&self, thread: u64, event: usize) -> Option<usize> {
        let ending = *self.endings.get(usize::try_from(thread).ok()?)?;
        ending.filter(|&ending| ending < event)
    }

    /// A thread's first event is after the step that created it.
    fn join_creation(&mut self, event: usize) {
        let thread = self.events[event].thread.0 as usize;
        let born = self.execution.threads.get(thread).map_or(0, |thread| thread.born as usize);
        if born > 0 && born <= event {
            self.join(event, born - 1);
        }
    }

    fn join(&mut self, event: usize, earlier: usize) {
        let (low, high) = self.clocks.split_at_mut(event * self.threads);
        let earlier = &low[earlier * self.threads..(earlier + 1) * self.threads];
        for (own, other) in high[..self.threads].iter_mut().zip(earlier) {
            *own = (*own).max(*other);
        }
    }

    /// Whether `earlier` is before `later` in every order of the steps.
    pub(crate) fn before(&self, earlier: usize, later: usize) -> bool {
        let thread = self.events[earlier].thread.0 as usize;
        self.clocks[later * self.threads + thread] >= self.ranks[earlier]
    }

    /// Whether the order of the two matters.
    fn dependent(&self, earlier: usize, later: usize) -> bool {
        conflict(&self.accesses[earlier], &self.accesses[later])
            || (later < self.steps
                && self.endings[self.events[later].thread.0 as usize] == Some(later)
                && self.sees_alive(earlier, later))
            || (self.events[later].kind == Kind::TryJoin
                && self.ending_before(self.events[later].argument, later) == Some(earlier))
    }

    /// Calls `race` for each step that races with `later`, the latest first.
    pub(crate) fn races(&self, later: usize, mut race: impl FnMut(usize)) {
        let thread = self.events[later].thread;
        // Those that surely decide the order of earlier ones.
        let mut masks: Vec<usize> = Vec::new();
        for earlier in (0..later.min(self.steps)).rev() {
            if self.events[earlier].thread == thread
                || !self.dependent(earlier, later)
                || self.previous[later].is_some_and(|previous| self.before(earlier, previous))
                || masks.iter().any(|&mask| self.before(earlier, mask))
            {
                continue;
            }
            match self.reversible(earlier, later) {
                Some(false) => {}
                None => race(earlier),
                Some(true) => {
                    masks.push(earlier);
                    race(earlier);
                }
            }
        }
    }

    /// Whether `later` could happen without `earlier`.
    fn reversible(&self, earlier: usize, later: usize) -> Option<bool> {
        let end = later.min(self.steps);
        let without = (0..earlier).chain((earlier + 1..end).filter(|&event| !self.before(earlier, event)));
        let steps = without.map(|event| &self.events[event]);
        enabled_after(self.execution, steps, &self.events[later])
    }

    /// The events with which the race is won by `later`: those after `earlier` that do not depend on it, then `later`.
    pub(crate) fn reversal(&self, earlier: usize, later: usize) -> Vec<usize> {
        let end = later.min(self.steps);
        let mut events: Vec<usize> =
            (earlier + 1..end).filter(|&event| !self.before(earlier, event)).collect();
        events.push(later);
        events
    }

    /// The threads that can begin a sequence of events.
    pub(crate) fn initials(&self, sequence: &[usize]) -> Vec<ThreadId> {
        let mut initials: Vec<ThreadId> = Vec::new();
        let mut seen: Vec<ThreadId> = Vec::new();
        for (at, &event) in sequence.iter().enumerate() {
            let thread = self.events[event].thread;
            if seen.contains(&thread) {
                continue;
            }
            seen.push(thread);
            if !sequence[..at].iter().any(|&earlier| self.before(earlier, event)) {
                initials.push(thread);
            }
        }
        initials
    }
}
