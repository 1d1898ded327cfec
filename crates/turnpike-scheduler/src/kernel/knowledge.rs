//! What threads know of each other's steps, as vector clocks: happens-before as defined by the
//! C++20 memory model, which is also Rust's, and C's except for release sequences (a later store of
//! the same thread ends one here).
//!
//! An atomic variable stores what its current value publishes: a release store publishes everything
//! that its thread knows, a relaxed one only what the thread knew at its last release fence, and a
//! read-modify-write adds to what was published before. An acquiring read learns it; after a
//! relaxed read it is learned at the next acquire fence.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The number of steps of each thread (including its creations, fences and its end) that happen
/// before.
pub(super) type Clock = Vec<u32>;

/// The knowledge of one thread.
#[derive(Debug, Default)]
struct ThreadKnowledge {
    /// Its current knowledge.
    now: Clock,
    /// Its knowledge at its last release fence.
    fenced: Clock,
    /// What its relaxed reads observed, which becomes known at an acquire fence.
    heard: Clock,
    /// What the threads of its last barrier round had published at that time.
    met: Clock,
}

/// What was released to an object.
#[derive(Debug, Default)]
struct Released {
    /// To all threads.
    all: Clock,
    /// Only to writers: by readers.
    readers: Clock,
    /// With each message of a queue.
    messages: VecDeque<Clock>,
}

/// The knowledge of all threads. Buffers are reused.
#[derive(Debug)]
pub(super) struct Knowledge {
    threads: Vec<ThreadKnowledge>,
    objects: Vec<Released>,
    tokens: Vec<Clock>,
    /// The knowledge of threads that use futexes: their code may release locks unobserved.
    pub(super) waiting: Clock,
    /// What atomic operations and futexes released: such code may acquire it unobserved.
    pub(super) everything: Clock,
}

impl Knowledge {
    pub(super) const fn new() -> Self {
        Knowledge {
            threads: Vec::new(),
            objects: Vec::new(),
            tokens: Vec::new(),
            waiting: Vec::new(),
            everything: Vec::new(),
        }
    }

    /// Resets all knowledge.
    pub(super) fn clear(&mut self) {
        for thread in &mut self.threads {
            thread.now.clear();
            thread.fenced.clear();
            thread.heard.clear();
            thread.met.clear();
        }
        for object in &mut self.objects {
            object.all.clear();
            object.readers.clear();
            object.messages.clear();
        }
        self.tokens.iter_mut().for_each(Vec::clear);
        self.waiting.clear();
        self.everything.clear();
    }

    /// Copies another one.
    pub(super) fn copy(&mut self, other: &Knowledge) {
        self.clear();
        for (t, thread) in (0..).zip(&other.threads) {
            let mine = self.thread(t);
            mine.now.clone_from(&thread.now);
            mine.fenced.clone_from(&thread.fenced);
            mine.heard.clone_from(&thread.heard);
            mine.met.clone_from(&thread.met);
        }
        for (object, theirs) in other.objects.iter().enumerate() {
            let mine = self.object(object);
            mine.all.clone_from(&theirs.all);
            mine.readers.clone_from(&theirs.readers);
            mine.messages.clone_from(&theirs.messages);
        }
        self.tokens.clone_from(&other.tokens);
        self.waiting.clone_from(&other.waiting);
        self.everything.clone_from(&other.everything);
    }

    /// The clock of a thread.
    pub(super) fn of(&self, t: u32) -> &[u32] {
        self.threads.get(t as usize).map_or(&[], |thread| thread.now.as_slice())
    }

    /// Counts a step of the thread, of which no other thread knows yet.
    pub(super) fn advance(&mut self, t: u32) {
        let clock = &mut self.thread(t).now;
        if clock.len() <= t as usize {
            clock.resize(t as usize + 1, 0);
        }
        clock[t as usize] += 1;
    }

    fn thread(&mut self, t: u32) -> &mut ThreadKnowledge {
        let t = t as usize;
        if t >= self.threads.len() {
            self.threads.resize_with(t + 1, ThreadKnowledge::default);
        }
        &mut self.threads[t]
    }

    fn object(&mut self, object: usize) -> &mut Released {
        if object >= self.objects.len() {
            self.objects.resize_with(object + 1, Released::default);
        }
        &mut self.objects[object]
    }

    /// Runs `act` with the knowledge of a thread, which is temporarily taken out.
    fn with(&mut self, t: u32, act: impl FnOnce(&mut Knowledge, &mut ThreadKnowledge)) {
        let mut thread = core::mem::take(self.thread(t));
        act(self, &mut thread);
        self.threads[t as usize] = thread;
    }

    /// A thread learns what was released to all threads.
    pub(super) fn acquire(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| join(&mut thread.now, &all.object(object).all));
    }

    /// A thread learns what readers released.
    pub(super) fn acquire_from_readers(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| join(&mut thread.now, &all.object(object).readers));
    }

    /// The last thread has arrived at the barrier at which a thread waits.
    pub(super) fn meet(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| thread.met.clone_from(&all.object(object).all));
    }

    /// The thread leaves the barrier.
    pub(super) fn leave(&mut self, t: u32) {
        let thread = self.thread(t);
        join(&mut thread.now, &thread.met);
    }

    /// A thread releases to all threads.
    pub(super) fn release(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| join(&mut all.object(object).all, &thread.now));
    }

    /// A thread releases to writers.
    pub(super) fn release_to_writers(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| join(&mut all.object(object).readers, &thread.now));
    }

    /// A message carries the knowledge of its sender to the receiver.
    pub(super) fn send(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| all.object(object).messages.push_back(thread.now.clone()));
    }

    /// The oldest message is received.
    pub(super) fn receive(&mut self, t: u32, object: usize) {
        self.with(t, |all, thread| {
            let message = all.object(object).messages.pop_front().unwrap_or_default();
            join(&mut thread.now, &message);
        });
    }

    /// A thread learns everything that another one knows: on creation, or by joining it.
    pub(super) fn learn_from_thread(&mut self, t: u32, other: u32) {
        self.with(t, |all, thread| join(&mut thread.now, all.of(other)));
    }

    /// A thread gives another one its park token.
    pub(super) fn unpark(&mut self, t: u32, other: u32) {
        self.with(t, |all, thread| {
            let other = other as usize;
            if other >= all.tokens.len() {
                all.tokens.resize_with(other + 1, Vec::new);
            }
            join(&mut all.tokens[other], &thread.now);
        });
    }

    /// A thread takes its park token.
    pub(super) fn park(&mut self, t: u32) {
        self.with(t, |all, thread| {
            join(&mut thread.now, all.tokens.get(t as usize).map_or(&[], Vec::as_slice))
        });
    }

    /// A thread reads an atomic variable.
    pub(super) fn read(&mut self, t: u32, object: usize, acquires: bool) {
        self.with(t, |all, thread| {
            let learner = if acquires { &mut thread.now } else { &mut thread.heard };
            join(learner, &all.object(object).all);
        });
    }

    /// A thread reads a write that published `message`.
    pub(super) fn hear(&mut self, t: u32, message: &[u32], acquires: bool) {
        let thread = self.thread(t);
        join(if acquires { &mut thread.now } else { &mut thread.heard }, message);
    }

    /// Adds to `message` what a write of a thread publishes.
    pub(super) fn tell(&mut self, t: u32, releases: bool, message: &mut Clock) {
        let thread = self.thread(t);
        join(message, if releases { &thread.now } else { &thread.fenced });
        self.with(t, |all, _| join(&mut all.everything, message));
    }

    /// A thread stores to an atomic variable: a read of this value learns nothing of older ones.
    pub(super) fn store(&mut self, t: u32, object: usize, releases: bool) {
        self.object(object).all.clear();
        self.update(t, object, releases);
    }

    /// The second half of a read-modify-write: a read of the new value also learns what the old one
    /// published.
    pub(super) fn update(&mut self, t: u32, object: usize, releases: bool) {
        self.with(t, |all, thread| {
            let published = if releases { &thread.now } else { &thread.fenced };
            join(&mut all.object(object).all, published);
            join(&mut all.everything, published);
        });
    }

    /// Whether an update would publish anything new.
    pub(super) fn has_news(&self, t: u32, object: usize, releases: bool) -> bool {
        let Some(thread) = self.threads.get(t as usize) else { return false };
        let published = if releases { &thread.now } else { &thread.fenced };
        let old = self.objects.get(object).map_or(&[][..], |object| object.all.as_slice());
        published.iter().enumerate().any(|(of, steps)| *steps > old.get(of).copied().unwrap_or(0))
    }

    /// The value of a variable is a plain one, which publishes nothing.
    pub(super) fn forget(&mut self, object: usize) {
        self.object(object).all.clear();
    }

    /// A fence.
    pub(super) fn fence(&mut self, t: u32, acquires: bool, releases: bool) {
        let thread = self.thread(t);
        if acquires {
            join(&mut thread.now, &thread.heard);
        }
        if releases {
            // What the fence publishes excludes the thread's later steps.
            self.advance(t);
            let thread = self.thread(t);
            thread.fenced.clone_from(&thread.now);
        }
    }

    /// A thread learns everything that threads released by atomic operations.
    pub(super) fn learn_everything(&mut self, t: u32) {
        self.with(t, |all, thread| join(&mut thread.now, &all.everything));
    }

    /// A thread learns what the threads that use futexes knew.
    pub(super) fn learn_from_waiting(&mut self, t: u32) {
        self.with(t, |all, thread| join(&mut thread.now, &all.waiting));
    }

    /// A thread waits on a futex, or wakes others.
    pub(super) fn publish_to_waiting(&mut self, t: u32) {
        self.with(t, |all, thread| join(&mut all.waiting, &thread.now));
    }
}

pub(super) fn join(into: &mut Clock, from: &[u32]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (mine, other) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*other);
    }
}
