//! Readers that wait while they read.
//!
//! The standard library does not say whether a writer that waits lets readers in. Here it does, and
//! so all orders of reading and writing are tried. The one thing that another policy could add is a
//! deadlock: a thread reads and waits for a second one, which wants to read as well and waits
//! behind a writer, which waits for the first. Where that could happen it is reported, and nothing is
//! proved.

use std::cell::{Cell, RefCell};

use turnpike_scheduler::{Kind, ObjectId, Operation, ThreadId};

use super::Runtime;

/// What an execution did with locks for reading.
#[derive(Default)]
pub(crate) struct Readers {
    /// How many read now.
    count: Cell<u32>,
    seen: RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    reading: Vec<(ThreadId, ObjectId)>,
    read: Vec<(ThreadId, ObjectId)>,
    /// The threads that did something that may block while they held a read lock.
    waited: Vec<(ThreadId, ObjectId)>,
    written: Vec<ObjectId>,
}

impl Seen {
    /// Whether one thread waited while it read what another one read, and a third one wrote.
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
    /// The running thread is about to read.
    pub(crate) fn wants_to_read(&self, lock: ObjectId) {
        insert(&mut self.readers.seen.borrow_mut().read, (self.current.get(), lock));
        self.judge(lock);
    }

    /// The running thread is about to write.
    pub(crate) fn wants_to_write(&self, lock: ObjectId) {
        insert(&mut self.readers.seen.borrow_mut().written, lock);
        self.judge(lock);
    }

    /// The running thread reads.
    pub(crate) fn reads(&self, lock: ObjectId) {
        self.readers.count.set(self.readers.count.get() + 1);
        self.readers.seen.borrow_mut().reading.push((self.current.get(), lock));
    }

    /// It does not read any more.
    pub(crate) fn stops_reading(&self, lock: ObjectId) {
        let mut seen = self.readers.seen.borrow_mut();
        let reader = (self.current.get(), lock);
        if let Some(at) = seen.reading.iter().rposition(|other| *other == reader) {
            seen.reading.swap_remove(at);
            self.readers.count.set(self.readers.count.get() - 1);
        }
    }

    /// The running thread does something: if it can have to wait, while it reads, that is noted.
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
            self.judge(lock);
        }
    }

    fn judge(&self, lock: ObjectId) {
        if self.readers.seen.borrow().matters(lock) {
            self.uncontrolled(
                "whether a reader waits behind a writer that waits, while another reader waits for it,",
            );
        }
    }
}
