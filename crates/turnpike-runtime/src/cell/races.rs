//! Detects unordered accesses of a cell.
//!
//! As in FastTrack, an access is identified by its thread and the number of the thread's next step:
//! it happens before every step of a thread that knows of that step. Vector clocks are equal in all
//! executions that differ only in the order of independent steps, so one of them shows the races of
//! all.

use std::sync::{Mutex, PoisonError};

use crate::context;
use crate::runtime::Runtime;
use crate::site::Place;

/// The accesses of a cell that later ones can race with.
pub(super) struct Accesses(Mutex<History>);

struct History {
    /// The execution that they belong to.
    epoch: u64,
    write: Option<Access>,
    /// The last read of each thread since that write.
    reads: Vec<Access>,
}

#[derive(Clone, Copy)]
struct Access {
    thread: u32,
    /// The step of its thread before which it happened.
    before: u32,
    place: Place,
}

impl Accesses {
    pub(super) const fn new() -> Self {
        Accesses(Mutex::new(History { epoch: 0, write: None, reads: Vec::new() }))
    }

    /// Records an access by the running thread.
    #[track_caller]
    pub(super) fn add(&self, writes: bool, place: Place) {
        let Some(runtime) = context::active().filter(|runtime| !runtime.is_over()) else { return };
        if !runtime.checks_races() {
            return;
        }
        let race = self.0.lock().unwrap_or_else(PoisonError::into_inner).add(runtime, writes, place);
        if let Some((other, other_writes)) = race.filter(|_| !std::thread::panicking()) {
            let [this, that] = [writes, other_writes].map(|writes| if writes { "write" } else { "read" });
            let thread = runtime.thread_name(other.thread);
            let file = other.place.file().rsplit('/').next().unwrap_or_default();
            let (line, column) = (other.place.line(), other.place.column());
            panic!(
                "data race: nothing orders this {this} and the {that} by {thread} at {file}:{line}:{column}"
            );
        }
    }
}

impl History {
    /// Records an access. Returns an earlier one that races with it, and whether that is a write.
    fn add(&mut self, runtime: &Runtime, writes: bool, place: Place) -> Option<(Access, bool)> {
        if self.epoch != runtime.epoch() {
            *self = History { epoch: runtime.epoch(), write: None, reads: Vec::new() };
        }
        let thread = runtime.current().0;
        runtime.with_clock(|clock| {
            let known = |thread: u32| clock.get(thread as usize).copied().unwrap_or(0);
            let races = |other: &&Access| other.thread != thread && known(other.thread) < other.before;
            let write = self.write.as_ref().filter(races).map(|other| (*other, true));
            let read = self.reads.iter().find(races).filter(|_| writes).map(|other| (*other, false));
            let access = Access { thread, before: known(thread) + 1, place };
            if writes {
                self.write = Some(access);
                self.reads.clear();
            } else {
                self.reads.retain(|other| other.thread != thread);
                self.reads.push(access);
            }
            write.or(read)
        })
    }
}
