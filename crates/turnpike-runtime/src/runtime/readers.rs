//! Readers that wait while holding a read lock.
//!
//! The standard library does not specify whether a waiting writer blocks readers. Here it does not,
//! so all orders of reads and writes are explored. The only thing that another policy could add is
//! a deadlock: a thread holds a read lock and waits for a second thread, which wants to read as
//! well and waits behind a writer, which waits for the first. Where that could happen it is
//! reported, and the check proves nothing.

use std::cell::{Cell, RefCell};

use turnpike_scheduler::{Kind, ObjectId, Operation, ThreadId};

use super::Runtime;

/// The use of read locks in an execution.
#[derive(Default)]
pub(crate) struct Readers {
    /// How many threads hold a read lock now.
    count: Cell<u32>,
    seen: RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    reading: Vec<(ThreadId, ObjectId)>,
    read: Vec<(ThreadId, ObjectId)>,
    /// The threads that did something that may block while holding a read lock.
    waited: Vec<(ThreadId, ObjectId)>,
    written: Vec<ObjectId>,
}

impl Seen {
    /// Whether one thread waited while holding a read lock that another one acquired, and a third
    /// one wrote.
    fn matters(&self, lock: ObjectId) -> bool {
        let waited = self.waited.iter().filter(|(_, other)| *other == lock);
        let by_another =
            |thread: ThreadId| self.read.iter().any(|&(other, on)| on == lock && other != thread);
        self.written.contains(&lock) && waited.copied().any(|(thread, _)| by_another(thread))
    }
}

impl Readers {
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.get() != 0
    }

    pub(crate) fn clear(&self) {
        self.count.set(0);
        self.seen.replace(Seen::default());
    }
}

fn insert<T: PartialEq>(list: &mut Vec<T>, new: T) {
    if !list.contains(&new) {
        list.push(new);
    }
}

impl Runtime {
    /// The running thread is about to acquire a read lock.
    pub(crate) fn wants_to_read(&self, lock: ObjectId) {
        insert(&mut self.readers.seen.borrow_mut().read, (self.current.get(), lock));
        self.report_if_blocking(lock);
    }

    /// The running thread is about to acquire a write lock.
    pub(crate) fn wants_to_write(&self, lock: ObjectId) {
        insert(&mut self.readers.seen.borrow_mut().written, lock);
        self.report_if_blocking(lock);
    }

    /// The running thread has acquired a read lock.
    pub(crate) fn reads(&self, lock: ObjectId) {
        self.readers.count.set(self.readers.count.get() + 1);
        self.readers.seen.borrow_mut().reading.push((self.current.get(), lock));
    }

    /// The running thread releases a read lock.
    pub(crate) fn stops_reading(&self, lock: ObjectId) {
        let mut seen = self.readers.seen.borrow_mut();
        let reader = (self.current.get(), lock);
        if let Some(at) = seen.reading.iter().rposition(|other| *other == reader) {
            seen.reading.swap_remove(at);
            self.readers.count.set(self.readers.count.get() - 1);
        }
    }

    /// Records an operation of the running thread that may block while it holds a read lock.
    pub(super) fn reader_waits(&self, operation: &Operation) {
        use Kind::*;
        let waits = matches!(
            operation.kind,
            Lock | ReadLock
                | WriteLock
                | Join
                | Receive
                | Send
                | Wait
                | Reacquire
                | Park
                | SemWait
                | Arrive
                | Leave
                | OnceBegin
                | Yield
        );
        if !waits {
            return;
        }
        let me = self.current.get();
        let mut seen = self.readers.seen.borrow_mut();
        let held: Vec<ObjectId> =
            seen.reading.iter().filter(|(thread, _)| *thread == me).map(|&(_, lock)| lock).collect();
        for &lock in &held {
            insert(&mut seen.waited, (me, lock));
        }
        drop(seen);
        for lock in held {
            self.report_if_blocking(lock);
        }
    }

    fn report_if_blocking(&self, lock: ObjectId) {
        if self.readers.seen.borrow().matters(lock) {
            self.uncontrolled(
                "whether a reader waits behind a writer that waits, while another reader waits for it,",
            );
        }
    }
}
