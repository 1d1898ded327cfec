//! Vector clocks of synchronisation, for guests that look for data races.
//!
//! They order less than fingerprints do: only what a program may rely on. Acquiring learns what releasing knew; plain
//! reads and writes that were made visible, tosses and yields order nothing. Atomic operations acquire and release
//! whatever memory order the program asks for.

use alloc::vec::Vec;

use super::access::Access;
use super::{Kernel, NONE};
use crate::execution::Choice;
use crate::operation::{Kind, Object};

/// How many steps of each thread (its creations and its end included) come before.
type Clock = Vec<u32>;

/// What was released to an object.
#[derive(Debug, Default)]
struct Released {
    /// To everybody.
    all: Clock,
    /// Only to writers: by readers.
    readers: Clock,
}

/// The clocks of an execution. Buffers are reused.
#[derive(Debug)]
pub(super) struct Clocks {
    /// From the next execution on.
    pub(super) keep: bool,
    on: bool,
    threads: Vec<Clock>,
    objects: Vec<Released>,
    tokens: Vec<Clock>,
    /// What threads knew that use futexes: their code releases locks unseen.
    waiting: Clock,
    /// What was released by atomic operations and futexes: such code acquires unseen.
    everything: Clock,
}

impl Clocks {
    pub(super) const fn new() -> Self {
        Clocks {
            keep: false,
            on: false,
            threads: Vec::new(),
            objects: Vec::new(),
            tokens: Vec::new(),
            waiting: Vec::new(),
            everything: Vec::new(),
        }
    }

    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.on = self.keep;
        for clock in self.threads.iter_mut().chain(&mut self.tokens) {
            clock.clear();
        }
        self.waiting.clear();
        self.everything.clear();
        for object in &mut self.objects {
            object.all.clear();
            object.readers.clear();
        }
        self.advance(0);
    }

    /// Of one thread.
    pub(super) fn of(&self, t: u32) -> &[u32] {
        self.threads.get(t as usize).map_or(&[], Vec::as_slice)
    }

    /// A thread made a thread.
    pub(super) fn spawned(&mut self, parent: u32, child: u32) {
        if self.on {
            // What the parent does from now on does not come before the child.
            self.advance(parent);
            let known = self.threads[parent as usize].clone();
            join(at(&mut self.threads, child), &known);
        }
    }

    /// A thread ended.
    pub(super) fn ended(&mut self, t: u32) {
        self.advance(t);
    }

    /// A thread is about to wait on a futex or to wake others: it has released what it did before.
    pub(super) fn waits(&mut self, t: u32) {
        if self.on {
            self.advance(t);
            join(&mut self.waiting, &self.threads[t as usize]);
        }
    }

    fn advance(&mut self, t: u32) {
        if self.on {
            let clock = at(&mut self.threads, t);
            if clock.len() <= t as usize {
                clock.resize(t as usize + 1, 0);
            }
            clock[t as usize] += 1;
        }
    }

    fn learn(&mut self, t: u32, from: From) {
        let source = match from {
            From::Everybody(object) => self.objects.get(object).map(|o| &o.all),
            From::Readers(object) => self.objects.get(object).map(|o| &o.readers),
            From::Thread(thread) => {
                // Both are in the same vector.
                let known = self.threads.get(thread).cloned().unwrap_or_default();
                join(at(&mut self.threads, t), &known);
                return;
            }
            From::Token(thread) => self.tokens.get(thread),
        };
        if let Some(source) = source {
            join(at(&mut self.threads, t), source);
        }
    }

    fn object(&mut self, object: usize) -> &mut Released {
        if object >= self.objects.len() {
            self.objects.resize_with(object + 1, Released::default);
        }
        &mut self.objects[object]
    }

    fn tell(&mut self, t: u32, object: usize) {
        let clock = core::mem::take(&mut self.threads[t as usize]);
        join(&mut self.object(object).all, &clock);
        self.threads[t as usize] = clock;
    }

    /// An atomic operation tells what it knows.
    fn publish(&mut self, t: u32, object: usize) {
        self.tell(t, object);
        join(&mut self.everything, &self.threads[t as usize]);
    }

    fn tell_writers(&mut self, t: u32, object: usize) {
        let clock = core::mem::take(&mut self.threads[t as usize]);
        join(&mut self.object(object).readers, &clock);
        self.threads[t as usize] = clock;
    }
}

/// Where knowledge comes from.
enum From {
    Everybody(usize),
    Readers(usize),
    Thread(usize),
    Token(usize),
}

fn at(clocks: &mut Vec<Clock>, t: u32) -> &mut Clock {
    let t = t as usize;
    if t >= clocks.len() {
        clocks.resize_with(t + 1, Vec::new);
    }
    &mut clocks[t]
}

fn join(into: &mut Clock, from: &[u32]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (mine, other) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*other);
    }
}

impl Kernel {
    /// Thread `t` takes its pending step, whose access was computed in the state before.
    #[inline]
    pub(super) fn tick(&mut self, t: u32, alternative: u32, access: &Access) {
        if self.clocks.on {
            self.synchronise(t, alternative, access);
        }
    }

    fn synchronise(&mut self, t: u32, alternative: u32, access: &Access) {
        let operation = self.thread(t).pending;
        let object = operation.object.0 as usize;
        let second = operation.second.0 as usize;
        let other = operation.argument as usize;
        let exclusive = access.first.is_exclusive();
        let free = self.objects.get(object).is_some_and(|thing| thing.owner == NONE);
        let futex = self.objects.get(object).is_some_and(|thing| thing.object == Object::Futex);
        let done = self.has_ended(operation.argument);
        let clocks = &mut self.clocks;
        clocks.advance(t);
        if alternative >= Choice::SPURIOUS {
            return;
        }
        match operation.kind {
            Kind::Lock | Kind::SemWait | Kind::OnceBegin | Kind::Receive => {
                clocks.learn(t, From::Everybody(object));
            }
            Kind::Load => {
                clocks.learn(t, From::Everybody(object));
                join(&mut clocks.threads[t as usize], &clocks.waiting);
            }
            Kind::TryLock | Kind::SemTryWait if exclusive => clocks.learn(t, From::Everybody(object)),
            Kind::TryReceive => clocks.learn(t, From::Everybody(object)),
            Kind::Unlock | Kind::WriteUnlock | Kind::SemPost | Kind::OnceEnd | Kind::Close => {
                clocks.tell(t, object);
            }
            Kind::Store => {
                // Whoever reads this value learns nothing of older ones.
                clocks.object(object).all.clear();
                clocks.publish(t, object);
            }
            Kind::ReadLock => clocks.learn(t, From::Everybody(object)),
            Kind::TryReadLock if free => clocks.learn(t, From::Everybody(object)),
            Kind::ReadUnlock => clocks.tell_writers(t, object),
            Kind::WriteLock => {
                clocks.learn(t, From::Everybody(object));
                clocks.learn(t, From::Readers(object));
            }
            Kind::TryWriteLock if exclusive => {
                clocks.learn(t, From::Everybody(object));
                clocks.learn(t, From::Readers(object));
            }
            Kind::Wait if operation.second != crate::ObjectId::NONE => clocks.tell(t, second),
            Kind::Reacquire if !access.second.is_nothing() => {
                clocks.learn(t, From::Everybody(second));
            }
            Kind::Arrive | Kind::Send => {
                clocks.learn(t, From::Everybody(object));
                clocks.tell(t, object);
            }
            Kind::TrySend => {
                clocks.learn(t, From::Everybody(object));
                if exclusive {
                    clocks.tell(t, object);
                }
            }
            Kind::Update => {
                clocks.learn(t, From::Everybody(object));
                join(&mut clocks.threads[t as usize], &clocks.waiting);
                if exclusive {
                    clocks.publish(t, object);
                }
            }
            // Code that waits on a futex (in a library that tells nothing) acquires locks unseen afterwards: better no
            // race than a false one.
            Kind::FutexWait => join(&mut clocks.threads[t as usize], &clocks.everything),
            Kind::Leave if futex => join(&mut clocks.threads[t as usize], &clocks.everything),
            Kind::Leave => clocks.learn(t, From::Everybody(object)),
            Kind::FutexWake => clocks.publish(t, object),
            Kind::Join => clocks.learn(t, From::Thread(other)),
            Kind::TryJoin if done => clocks.learn(t, From::Thread(other)),
            Kind::Park => clocks.learn(t, From::Token(t as usize)),
            Kind::Unpark => {
                let known = clocks.threads[t as usize].clone();
                join(at(&mut clocks.tokens, operation.argument as u32), &known);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detail, Next, ObjectId, Operation, Plan, Policy, Reduction, Site, ThreadId, Timeouts};

    fn kernel() -> Kernel {
        let mut kernel = Kernel::new();
        kernel.keep_clocks(true);
        kernel.begin(&Plan {
            prefix: &[],
            policy: Policy::Continue,
            max_steps: 100,
            detail: Detail::Positions,
            predict: false,
            reduction: Reduction::default(),
            timeouts: Timeouts::WhenStuck,
            spurious: 0,
        });
        kernel
    }

    /// What thread 0 has seen of its child's steps when both did one operation on an object, the child first.
    fn after(object: Object, child: Kind, main: Kind) -> (u32, u32) {
        let mut kernel = kernel();
        let id = kernel.register(object, 0, Site(0));
        let one = kernel.spawn(Site(0));
        assert_eq!(kernel.clock(), [2], "the creation is known");
        assert_eq!(kernel.announce(Operation::new(child, id, Site(0))), Next::Run(ThreadId(0)));
        let own = kernel.clock()[0];
        let wait = Operation { argument: 0, ..Operation::new(Kind::Park, ObjectId::NONE, Site(0)) };
        assert_eq!(kernel.announce(wait), Next::Run(one));
        assert_eq!(kernel.clock()[1], 1);
        let wake = Operation { argument: 0, ..Operation::new(Kind::Yield, ObjectId::NONE, Site(0)) };
        assert_eq!(kernel.announce(wake), Next::Run(one));
        // The thread that was parked is let go by a token that tells nothing here: taken before the release.
        kernel.threads[0].token = true;
        let rank = kernel.threads[0].rank;
        crate::bits::set(&mut kernel.ready, rank);
        assert_eq!(kernel.end_thread(), Next::Run(ThreadId(0)));
        assert!(kernel.clock().get(1).is_none_or(|&seen| seen == 0));
        let now = Operation::new(main, id, Site(0));
        assert_eq!(kernel.announce(now), Next::Run(ThreadId(0)));
        assert!(kernel.clock()[0] > own);
        let seen = kernel.clock().get(1).copied().unwrap_or(0);
        let join = Operation { argument: 1, ..Operation::new(Kind::Join, ObjectId::NONE, Site(0)) };
        assert_eq!(kernel.announce(join), Next::Run(ThreadId(0)));
        (seen, kernel.clock()[1])
    }

    #[test]
    fn acquiring_learns_what_was_released() {
        let memory = Object::Memory;
        let semaphore = Object::Semaphore { value: 1 };
        for (object, child, main, seen) in [
            (memory, Kind::Store, Kind::Load, 1),
            (memory, Kind::Update, Kind::Update, 1),
            (memory, Kind::Load, Kind::Store, 0),
            (memory, Kind::Store, Kind::Store, 0),
            (memory, Kind::Write, Kind::Read, 0),
            (memory, Kind::Read, Kind::Write, 0),
            (memory, Kind::Write, Kind::Write, 0),
            (semaphore, Kind::SemPost, Kind::SemWait, 1),
            (semaphore, Kind::SemWait, Kind::SemPost, 0),
            (semaphore, Kind::SemPost, Kind::SemGet, 0),
            (Object::RwLock, Kind::ReadLock, Kind::ReadLock, 0),
            (Object::Queue { capacity: 4 }, Kind::Send, Kind::Receive, 1),
        ] {
            // Two steps and the end are known in any case after joining.
            assert_eq!(after(object, child, main), (seen, 3), "{child:?} {main:?}");
        }
    }

    #[test]
    fn without_clocks_there_are_none() {
        let mut kernel = kernel();
        kernel.keep_clocks(false);
        assert!(!kernel.clock().is_empty(), "only from the next execution on");
        let mut out = crate::Execution::default();
        kernel.finish(&mut out);
        let plan = Plan {
            prefix: &[],
            policy: Policy::First,
            max_steps: 9,
            detail: Detail::Positions,
            predict: false,
            reduction: Reduction::default(),
            timeouts: Timeouts::Never,
            spurious: 0,
        };
        kernel.begin(&plan);
        assert!(kernel.clock().is_empty());
    }
}
