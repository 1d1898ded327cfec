//! The order that the steps of an execution must have: happens-before, by vector clocks, and the
//! races that it leaves open.
//!
//! A race is a pair of dependent steps of different threads that could have happened the other way
//! round, with nothing between them that already decides it. Unlocking and the locking that it
//! allows are not a race: the two cannot be swapped. The race for a mutex is between the two
//! acquisitions.
//!
//! Under weak memory a read races with a later write of the variable that nothing else orders after
//! it: the read could have seen the write.

mod enabled;

use turnpike_model::paths::{self, Known, StepOrder};
use turnpike_scheduler::{Choice, Execution, Kind, Object, ObjectId, contend, dependent, may_depend};

use crate::paths::{pack, unpack};
use enabled::enabled_after;

/// Steps of an execution recorded with full detail, and operations that wait at its end, with their
/// order.
#[derive(Clone, Default)]
pub(crate) struct Order {
    /// Steps, then pending operations.
    events: Vec<Choice>,
    /// How many events are steps.
    steps: usize,
    /// By object id.
    objects: Vec<Object>,
    /// For each event and thread: how many of the thread's events are before it, itself included.
    clocks: Vec<Vec<u32>>,
    /// The number of each event among those of its thread, from 1.
    ranks: Vec<u32>,
    /// The event before it of the same thread.
    previous: Vec<Option<usize>>,
    /// The last step of each thread.
    last: Vec<Option<usize>>,
    /// Whether each thread had ended.
    ended: Vec<bool>,
    /// Number of steps before the creation of each thread.
    born: Vec<u32>,
}

impl Order {
    /// Reads an execution whose first `same` steps are those of the previous one.
    pub(crate) fn read(&mut self, execution: &Execution, same: usize) {
        let same = same.min(self.steps);
        self.events.truncate(same);
        self.clocks.truncate(same);
        self.ranks.truncate(same);
        self.previous.truncate(same);
        self.steps = execution.steps.len();
        self.objects.clear();
        self.objects.extend(execution.objects.iter().map(|record| record.object));
        self.events.extend(execution.steps[same..].iter().map(|step| step.choice));
        self.events
            .extend(execution.threads.iter().filter_map(|thread| thread.waits.map(|(choice, _)| choice)));
        self.last.clear();
        self.last.resize(execution.threads.len(), None);
        self.ended.clear();
        self.ended.extend(execution.threads.iter().map(|thread| thread.ended));
        self.born.clear();
        self.born.extend(execution.threads.iter().map(|thread| thread.born));
        for event in 0..self.steps {
            let thread = self.thread(event);
            if thread >= self.last.len() {
                self.last.resize(thread + 1, None);
                self.ended.resize(thread + 1, false);
            }
        }
        let last = std::mem::take(&mut self.last);
        let mut latest = last.clone();
        for event in 0..self.steps {
            latest[self.thread(event)] = Some(event);
        }
        self.last = latest;
        let mut before = last;
        for event in 0..same {
            before[self.thread(event)] = Some(event);
        }
        for event in same..self.events.len() {
            let thread = self.thread(event);
            let previous = before.get(thread).copied().flatten();
            self.place(execution, event, previous);
            if event < self.steps {
                before[thread] = Some(event);
            }
        }
    }

    fn thread(&self, event: usize) -> usize {
        self.events[event].thread.0 as usize
    }

    /// Computes the clock of an event. Operations that wait are after all that their threads did,
    /// and before nothing.
    fn place(&mut self, execution: &Execution, event: usize, previous: Option<usize>) {
        let thread = self.thread(event);
        let mut clock = match previous {
            Some(previous) => self.clocks[previous].clone(),
            None => {
                // A thread's first event is after the step that created it.
                let born = execution.threads.get(thread).map_or(0, |thread| thread.born as usize);
                let creation = born.checked_sub(1).filter(|&creation| creation < event);
                creation.map_or_else(Vec::new, |creation| self.clocks[creation].clone())
            }
        };
        // Events before one that was already joined need not be joined again.
        for earlier in (0..event.min(self.steps)).rev() {
            let by = self.thread(earlier);
            let known = clock.get(by).is_some_and(|&count| count >= self.ranks[earlier]);
            if !known && by != thread && self.dependent(earlier, event) {
                let other = &self.clocks[earlier];
                if clock.len() < other.len() {
                    clock.resize(other.len(), 0);
                }
                for (own, other) in clock.iter_mut().zip(other) {
                    *own = (*own).max(*other);
                }
            }
        }
        let rank = previous.map_or(1, |previous| self.ranks[previous] + 1);
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] = rank;
        self.clocks.push(clock);
        self.ranks.push(rank);
        self.previous.push(previous);
    }

    /// Whether the order of two events of different threads matters. Joining depends only on the
    /// last step of a thread. Asking whether a thread has ended depends on all of its steps:
    /// another one may be the last where a step sees something else.
    fn dependent(&self, earlier: usize, later: usize) -> bool {
        let (one, other) = (&self.events[earlier], &self.events[later]);
        for (join, event, step) in [(one, later, other), (other, earlier, one)] {
            let joins = join.kind == Kind::Join
                && join.alternative < Choice::SPURIOUS
                && join.argument == u64::from(step.thread.0);
            if joins && !matches!(step.kind, Kind::Join | Kind::TryJoin | Kind::Exit) {
                return self.ends(event);
            }
        }
        dependent(one, other)
    }

    /// Whether a step is the last one of a thread that ended.
    fn ends(&self, event: usize) -> bool {
        let thread = self.thread(event);
        event < self.steps && self.ended[thread] && self.last[thread] == Some(event)
    }

    /// Whether `later` could happen without `earlier`.
    fn reversible(&self, earlier: usize, later: usize) -> Option<bool> {
        let end = later.min(self.steps);
        let without = (0..earlier).chain((earlier + 1..end).filter(|&event| !self.before(earlier, event)));
        let steps = without.map(|event| &self.events[event]);
        enabled_after(&self.objects, steps, &self.events[earlier], &self.events[later])
    }
}

/// The objects that a step works on.
fn objects(choice: &Choice) -> impl Iterator<Item = ObjectId> {
    let [first, other] = choice.within;
    [choice.object, choice.second, first, other].into_iter().filter(|&object| object != ObjectId::NONE)
}

impl StepOrder for Order {
    fn events(&self) -> usize {
        self.events.len()
    }

    fn steps(&self) -> usize {
        self.steps
    }

    fn event(&self, event: usize) -> (u32, u32) {
        (self.events[event].thread.0, self.events[event].alternative)
    }

    fn choice(&self, event: usize) -> paths::Choice {
        pack(&self.events[event])
    }

    fn may_conflict(&self, choice: &paths::Choice, event: usize, sure: bool, known: Known) -> bool {
        let (one, other) = (unpack(choice), &self.events[event]);
        let beyond = |choice: &Choice| {
            choice.thread.0 >= known.actors || objects(choice).any(|object| object.0 >= known.objects)
        };
        dependent(&one, other)
            || contend(&one, other) == Some(true)
            || contend(other, &one) == Some(true)
            || !sure && may_depend(&one, other)
            || known != Known::ALL && (beyond(&one) || beyond(other))
    }

    fn known_at(&self, step: usize) -> Known {
        let born = |thread: usize| self.born.get(thread).map_or(0, |&born| born as usize);
        let actors = (0..self.last.len()).take_while(|&thread| born(thread) <= step).count();
        // The next operations of threads are known in that state, too.
        let is_next = |event: usize| {
            self.thread(event) < actors && self.previous[event].is_none_or(|previous| previous < step)
        };
        let events = (0..self.events.len()).filter(|&event| event < step || is_next(event));
        let objects = events.flat_map(|event| objects(&self.events[event])).map(|object| object.0 + 1).max();
        Known { actors: actors as u32, objects: objects.unwrap_or(0) }
    }

    fn before(&self, earlier: usize, later: usize) -> bool {
        self.clocks[later].get(self.thread(earlier)).is_some_and(|&count| count >= self.ranks[earlier])
    }

    fn races(&self, later: usize, race: &mut dyn FnMut(usize)) {
        let thread = self.events[later].thread;
        // The end of the process races with everything, but an earlier end shows nothing new.
        if self.events[later].kind == Kind::Exit {
            return;
        }
        // Steps that surely decide the order of earlier ones.
        let mut masks: Vec<usize> = Vec::new();
        for earlier in (0..later.min(self.steps)).rev() {
            if self.events[earlier].thread == thread
                || self.previous[later].is_some_and(|previous| self.before(earlier, previous))
                || masks.iter().any(|&mask| self.before(earlier, mask))
            {
                continue;
            }
            if let Some(contend) = contend(&self.events[earlier], &self.events[later]) {
                if contend {
                    race(earlier);
                }
                continue;
            }
            if !self.before(earlier, later) || !self.dependent(earlier, later) {
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

    fn is_blocked(&self, pending: usize) -> bool {
        let operation = &self.events[pending];
        enabled_after(&self.objects, self.events[..self.steps].iter(), operation, operation) != Some(true)
    }
}
