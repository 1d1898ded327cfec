//! Finds data races: two accesses to the same byte, at least one of them a write, at least one not
//! atomic, that synchronisation does not order. An operation on a lock or another object is an
//! access to its bytes, which races with all others there but not with another operation.
//!
//! The idea is FastTrack's (Flanagan and Freund, PLDI 2009): an access is remembered as the thread
//! and the value of its clock, and is ordered before the present if the present thread's vector
//! clock has reached that value. An access is forgotten when a later one makes it superfluous:
//! everything that races with the old one races with the new one, or comes after the new one and so
//! after the old one.
//!
//! Clocks count steps. What a thread does invisibly after its step k is ordered before everything
//! that synchronises with its step k + 1 or a later one, and so gets the epoch k + 1. An atomic
//! access is itself the step, and gets k. An operation on an object is reported before its step,
//! and gets k + 1.

use super::shadow::{GRANULE, NOBODY, NONE, Record, SEVERAL, Shadow};

pub(crate) use super::shadow::How;

/// The most records of one cell: beyond it the oldest is forgotten. Only programs with hundreds of
/// threads come near.
const LONGEST: u32 = 128;

/// An access to memory by the running thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// First byte.
    pub address: u64,
    /// How many bytes.
    pub size: u64,
    /// Whether it modifies them.
    pub write: bool,
    /// How they are accessed.
    pub how: How,
    /// Program counter.
    pub site: u64,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// Program counter of the earlier one.
    pub first: u64,
    /// Whether it was a write.
    pub first_writes: bool,
    /// The thread that made it.
    pub first_thread: u32,
    /// Program counter of the later one.
    pub second: u64,
    /// Whether it is a write.
    pub second_writes: bool,
    /// First byte that both touch, of the eight in which they meet.
    pub address: u64,
    /// One of them belongs to an operation on a synchronisation object.
    pub object: bool,
    /// Something may order them.
    pub doubtful: bool,
}

/// What the running thread knows of others, as vector clocks; missing entries are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks<'c> {
    /// What it knows for sure.
    pub sure: &'c [u32],
    /// What it may know at most, if that is more.
    pub perhaps: Option<&'c [u32]>,
}

/// Whether a record comes before what a thread with this clock does now.
fn reaches(clock: &[u32], old: &Record) -> bool {
    clock.get(old.thread as usize).copied().unwrap_or(0) >= old.epoch
}

/// Which memory was accessed, by which thread, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    shadow: Shadow,
}

impl Detector {
    /// Nothing happened yet.
    pub(crate) const fn new() -> Self {
        Detector { shadow: Shadow::new() }
    }

    /// Records an access by `thread`, and reports every race with an earlier access.
    pub(crate) fn access(
        &mut self,
        thread: u32,
        clocks: Clocks<'_>,
        access: &Access,
        mut tell: impl FnMut(Race),
    ) {
        let own = clocks.sure.get(thread as usize).copied().unwrap_or(0);
        let epoch = if access.how == How::Atomic { own } else { own.saturating_add(1) };
        let end = access.address.saturating_add(access.size);
        let mut granule = access.address & !(GRANULE - 1);
        while granule < end {
            let from = access.address.max(granule) - granule;
            let to = end.min(granule + GRANULE) - granule;
            let mask = (0xffu16 << from) as u8 & (0xffu16 >> (GRANULE - to)) as u8;
            let record = Record {
                site: access.site,
                epoch,
                next: NONE,
                thread,
                mask,
                write: access.write,
                how: access.how,
            };
            self.granule(granule, record, clocks, &mut tell);
            granule += GRANULE;
        }
    }

    /// Reports every access that nothing orders before the memory is freed by `thread`. That is not
    /// recorded, because every later access is wrong anyway.
    pub(crate) fn freed(&self, thread: u32, clocks: Clocks<'_>, memory: &Access, mut tell: impl FnMut(Race)) {
        self.shadow.visit(memory.address, memory.size, |granule, record| {
            let first = granule + u64::from(record.mask.trailing_zeros());
            let inside = first < memory.address.saturating_add(memory.size);
            // Operations on objects are recorded once more, as atomic accesses, when they are done.
            let done = record.how != How::Object;
            if inside && done && record.thread != thread && !reaches(clocks.sure, record) {
                tell(Race {
                    first: record.site,
                    first_writes: record.write,
                    first_thread: record.thread,
                    second: memory.site,
                    second_writes: true,
                    address: first.max(memory.address),
                    object: false,
                    doubtful: clocks.perhaps.is_some_and(|clock| reaches(clock, record)),
                });
            }
        });
    }

    /// Whether another thread than `thread` accessed one of the eight-byte units of the range, and
    /// a thread wrote there or is about to.
    pub(crate) fn shared(&self, thread: u32, address: u64, size: u64, write: bool) -> bool {
        let end = address.saturating_add(size);
        let mut granule = address & !(GRANULE - 1);
        while granule < end {
            if let Some(cell) = self.shadow.peek(granule)
                && cell.owner != NOBODY
                && cell.owner != thread
                && (write || cell.written)
            {
                return true;
            }
            granule += GRANULE;
        }
        false
    }

    /// Forgets accesses to memory that is new: they were to something else.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        self.shadow.forget(address, size);
    }

    fn granule(&mut self, address: u64, new: Record, clocks: Clocks<'_>, tell: &mut impl FnMut(Race)) {
        let place = self.shadow.place(address);
        let cell = self.shadow.cell(place);
        let head = cell.head;
        let alone = cell.owner == NOBODY || cell.owner == new.thread;
        if cell.owner == NOBODY {
            cell.owner = new.thread;
        } else if cell.owner != new.thread {
            cell.owner = SEVERAL;
        }
        cell.written |= new.write;
        if head != NONE {
            let latest = self.shadow.record(head);
            // The same thread again, with nothing new: most accesses end here. Where other threads
            // were too, every code location counts, because each that races must become a step.
            let same = latest.thread == new.thread && latest.epoch == new.epoch;
            if same && (alone || latest.site == new.site) && covers(latest, &new) {
                return;
            }
        }
        let (mut at, mut before, mut length) = (head, NONE, 0);
        while at != NONE {
            let old = *self.shadow.record(at);
            let ordered = old.thread == new.thread || reaches(clocks.sure, &old);
            let common = old.mask & new.mask;
            let alike = old.how == new.how && new.how != How::Plain;
            if !ordered && common != 0 && (old.write || new.write) && !alike {
                tell(Race {
                    first: old.site,
                    first_writes: old.write,
                    first_thread: old.thread,
                    second: new.site,
                    second_writes: new.write,
                    address: address + u64::from(common.trailing_zeros()),
                    object: old.how == How::Object || new.how == How::Object,
                    doubtful: clocks.perhaps.is_some_and(|clock| reaches(clock, &old)),
                });
            }
            length += 1;
            let superfluous = ordered && covers(&new, &old);
            if superfluous || length > LONGEST {
                self.unlink(place, before, old.next);
                self.shadow.remove(at);
            } else {
                before = at;
            }
            at = old.next;
        }
        let head = self.shadow.cell(place).head;
        let index = self.shadow.add(Record { next: head, ..new });
        self.shadow.cell(place).head = index;
    }

    fn unlink(&mut self, place: usize, before: u32, next: u32) {
        if before == NONE {
            self.shadow.cell(place).head = next;
        } else {
            self.shadow.link(before, next);
        }
    }
}

/// Whether everything that conflicts with `small` conflicts with `big`, in the same way.
fn covers(big: &Record, small: &Record) -> bool {
    let how = big.how == small.how || big.how == How::Plain && small.how == How::Atomic;
    small.mask & !big.mask == 0 && (big.write || !small.write) && how
}

#[cfg(test)]
mod tests;
