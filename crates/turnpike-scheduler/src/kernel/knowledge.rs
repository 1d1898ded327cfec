//! What threads know of each other's steps, as vector clocks: happens-before as the C++20 memory
//! model defines it, which is Rust's too, and C's up to release sequences (a later store of the
//! same thread ends one here).
//!
//! An atomic variable keeps what its present value tells: a release store tells everything that its
//! thread knows, a relaxed one only what the thread knew at its last release fence, and a
//! read-modify-write adds to what was told before. An acquiring read learns it; after a relaxed one
//! it is learned at the next acquire fence.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many steps of each thread (its creations, fences and its end included) come before.
pub(super) type Clock = Vec<u32>;

/// Of one thread.
#[derive(Debug, Default)]
struct Mind {
    /// What it knows.
    now: Clock,
    /// What it knew at its last release fence.
    fenced: Clock,
    /// What relaxed reads were told: it knows that after an acquire fence.
    heard: Clock,
    /// What those told who met it at a barrier: not what is told later, before it leaves.
    met: Clock,
}

/// What was released to an object.
#[derive(Debug, Default)]
struct Released {
    /// To everybody.
    all: Clock,
    /// Only to writers: by readers.
    readers: Clock,
    /// With each message of a queue.
    messages: VecDeque<Clock>,
}

/// Who knows what. Buffers are reused.
#[derive(Debug)]
pub(super) struct Knowledge {
    minds: Vec<Mind>,
    objects: Vec<Released>,
    tokens: Vec<Clock>,
    /// What threads knew that use futexes: their code may release locks unseen.
    pub(super) waiting: Clock,
    /// What was released by atomic operations and futexes: such code may acquire unseen.
    pub(super) everything: Clock,
}

impl Knowledge {
    pub(super) const fn new() -> Self {
        Knowledge {
            minds: Vec::new(),
            objects: Vec::new(),
            tokens: Vec::new(),
            waiting: Vec::new(),
            everything: Vec::new(),
        }
    }

    /// Nobody knows anything.
    pub(super) fn clear(&mut self) {
        for mind in &mut self.minds {
            mind.now.clear();
            mind.fenced.clear();
            mind.heard.clear();
            mind.met.clear();
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

    /// Becomes the same as another.
    pub(super) fn copy(&mut self, other: &Knowledge) {
        self.clear();
        for (t, mind) in (0..).zip(&other.minds) {
            let mine = self.mind(t);
            mine.now.clone_from(&mind.now);
            mine.fenced.clone_from(&mind.fenced);
            mine.heard.clone_from(&mind.heard);
            mine.met.clone_from(&mind.met);
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

    /// Of one thread.
    pub(super) fn of(&self, t: u32) -> &[u32] {
        self.minds.get(t as usize).map_or(&[], |mind| mind.now.as_slice())
    }

    /// A step of the thread's own, of which nobody else knows yet.
    pub(super) fn advance(&mut self, t: u32) {
        let clock = &mut self.mind(t).now;
        if clock.len() <= t as usize {
            clock.resize(t as usize + 1, 0);
        }
        clock[t as usize] += 1;
    }

    fn mind(&mut self, t: u32) -> &mut Mind {
        let t = t as usize;
        if t >= self.minds.len() {
            self.minds.resize_with(t + 1, Mind::default);
        }
        &mut self.minds[t]
    }

    fn object(&mut self, object: usize) -> &mut Released {
        if object >= self.objects.len() {
            self.objects.resize_with(object + 1, Released::default);
        }
        &mut self.objects[object]
    }

    /// Does something with what a thread knows, which is put aside meanwhile.
    fn with(&mut self, t: u32, act: impl FnOnce(&mut Knowledge, &mut Mind)) {
        let mut mind = core::mem::take(self.mind(t));
        act(self, &mut mind);
        self.minds[t as usize] = mind;
    }

    /// A thread learns what was released to everybody.
    pub(super) fn acquire(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| join(&mut mind.now, &all.object(object).all));
    }

    /// A thread learns what readers released.
    pub(super) fn acquire_from_readers(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| join(&mut mind.now, &all.object(object).readers));
    }

    /// A thread that waits at a barrier may go on: all have come.
    pub(super) fn meet(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| mind.met.clone_from(&all.object(object).all));
    }

    /// And goes on.
    pub(super) fn leave(&mut self, t: u32) {
        let mind = self.mind(t);
        join(&mut mind.now, &mind.met);
    }

    /// A thread tells everybody.
    pub(super) fn release(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| join(&mut all.object(object).all, &mind.now));
    }

    /// A thread tells writers.
    pub(super) fn release_to_writers(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| join(&mut all.object(object).readers, &mind.now));
    }

    /// A message tells whoever receives it.
    pub(super) fn send(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| all.object(object).messages.push_back(mind.now.clone()));
    }

    /// The oldest message is received.
    pub(super) fn receive(&mut self, t: u32, object: usize) {
        self.with(t, |all, mind| {
            let message = all.object(object).messages.pop_front().unwrap_or_default();
            join(&mut mind.now, &message);
        });
    }

    /// A thread learns all that another knows: it was made by it, or joins it.
    pub(super) fn learn_from_thread(&mut self, t: u32, other: u32) {
        self.with(t, |all, mind| join(&mut mind.now, all.of(other)));
    }

    /// A thread gives another its token.
    pub(super) fn unpark(&mut self, t: u32, other: u32) {
        self.with(t, |all, mind| {
            let other = other as usize;
            if other >= all.tokens.len() {
                all.tokens.resize_with(other + 1, Vec::new);
            }
            join(&mut all.tokens[other], &mind.now);
        });
    }

    /// A thread takes its token.
    pub(super) fn park(&mut self, t: u32) {
        self.with(t, |all, mind| join(&mut mind.now, all.tokens.get(t as usize).map_or(&[], Vec::as_slice)));
    }

    /// A thread reads an atomic variable.
    pub(super) fn read(&mut self, t: u32, object: usize, acquires: bool) {
        self.with(t, |all, mind| {
            let learner = if acquires { &mut mind.now } else { &mut mind.heard };
            join(learner, &all.object(object).all);
        });
    }

    /// A thread stores to an atomic variable: whoever reads this value learns nothing of older
    /// ones.
    pub(super) fn store(&mut self, t: u32, object: usize, releases: bool) {
        self.object(object).all.clear();
        self.update(t, object, releases);
    }

    /// The second half of a read-modify-write: whoever reads the new value learns what the old one
    /// told, too.
    pub(super) fn update(&mut self, t: u32, object: usize, releases: bool) {
        self.with(t, |all, mind| {
            let told = if releases { &mind.now } else { &mind.fenced };
            join(&mut all.object(object).all, told);
            join(&mut all.everything, told);
        });
    }

    /// Whether an update would tell what is not told already.
    pub(super) fn has_news(&self, t: u32, object: usize, releases: bool) -> bool {
        let Some(mind) = self.minds.get(t as usize) else { return false };
        let told = if releases { &mind.now } else { &mind.fenced };
        let old = self.objects.get(object).map_or(&[][..], |object| object.all.as_slice());
        told.iter().enumerate().any(|(of, steps)| *steps > old.get(of).copied().unwrap_or(0))
    }

    /// The value of a variable is a plain one, which tells nothing.
    pub(super) fn forget(&mut self, object: usize) {
        self.object(object).all.clear();
    }

    /// A fence.
    pub(super) fn fence(&mut self, t: u32, acquires: bool, releases: bool) {
        let mind = self.mind(t);
        if acquires {
            join(&mut mind.now, &mind.heard);
        }
        if releases {
            // It ends what it tells of: that does not include what the thread does next.
            self.advance(t);
            let mind = self.mind(t);
            mind.fenced.clone_from(&mind.now);
        }
    }

    /// A thread learns what anybody released by atomic operations.
    pub(super) fn learn_everything(&mut self, t: u32) {
        self.with(t, |all, mind| join(&mut mind.now, &all.everything));
    }

    /// A thread learns what those knew who use futexes.
    pub(super) fn learn_from_waiting(&mut self, t: u32) {
        self.with(t, |all, mind| join(&mut mind.now, &all.waiting));
    }

    /// A thread waits on a futex, or wakes others.
    pub(super) fn tell_waiting(&mut self, t: u32) {
        self.with(t, |all, mind| join(&mut all.waiting, &mind.now));
    }
}

fn join(into: &mut Clock, from: &[u32]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (mine, other) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*other);
    }
}
