//! The identity of a thread.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use turnpike_scheduler::{self as scheduler, Kind, ObjectId, Operation};

use crate::context;
use crate::site;

/// A handle to a thread.
#[derive(Clone)]
pub struct Thread(Inner);

#[derive(Clone)]
enum Inner {
    Real(std::thread::Thread),
    Guest(Arc<Guest>),
}

struct Guest {
    epoch: u64,
    id: scheduler::ThreadId,
    name: Option<String>,
}

/// Identifies a thread within its execution, or within the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Real(std::thread::ThreadId),
    Guest(u32),
}

/// The running thread.
pub fn current() -> Thread {
    match context::active() {
        Some(runtime) => runtime.handle(|id, name| Thread::guest(runtime.epoch(), id, name)),
        None => Thread(Inner::Real(std::thread::current())),
    }
}

impl Thread {
    pub(super) fn guest(epoch: u64, id: scheduler::ThreadId, name: Option<String>) -> Self {
        let name = name.or_else(|| (id.0 == 0).then(|| "main".to_owned()));
        Thread(Inner::Guest(Arc::new(Guest { epoch, id, name })))
    }

    pub(super) fn real(thread: std::thread::Thread) -> Self {
        Thread(Inner::Real(thread))
    }

    /// Lets the thread's current or next [`park`](super::park) return.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Inner::Real(thread) => thread.unpark(),
            Inner::Guest(guest) => {
                if let Some(runtime) = context::active()
                    && runtime.epoch() == guest.epoch
                {
                    let operation =
                        Operation::new(Kind::Unpark, ObjectId::NONE, site::of(Location::caller()));
                    let _ = runtime.turn(Operation { argument: u64::from(guest.id.0), ..operation });
                }
            }
        }
    }

    /// Its id.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Inner::Real(thread) => Id::Real(thread.id()),
            Inner::Guest(guest) => Id::Guest(guest.id.0),
        })
    }

    /// Its name, if set.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Inner::Real(thread) => thread.name(),
            Inner::Guest(guest) => guest.name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Real(id) => id.fmt(f),
            // The standard library counts from 1.
            Id::Guest(id) => f.debug_tuple("ThreadId").field(&(u64::from(id) + 1)).finish(),
        }
    }
}

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Id::Real(id) => id.hash(state),
            Id::Guest(id) => id.hash(state),
        }
    }
}
