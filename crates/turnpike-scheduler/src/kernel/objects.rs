//! Objects: their state, and the threads that wait for them.
//!
//! Each object has three *channels*, sets of threads whose pending operation waits for it. Whether
//! a channel is open is a function of the object's state, so a change enables or disables all of
//! its threads with a few machine words.

use super::nature::{self, Waits, nature};
use super::{Kernel, NONE};
pub(super) use crate::dependence::Class;
use crate::fingerprint::{self, Fingerprint};
use crate::operation::{Kind, Object, ObjectId, Operation, Site};

/// Channels of an object.
pub(super) const CHANNELS: usize = 3;
/// Threads that wait for the object: lockers, readers, receivers, waiters of a condition variable.
pub(super) const FIRST: usize = 0;
/// Writers, senders.
pub(super) const SECOND: usize = 1;
/// Spinning threads that read it.
pub(super) const WATCH: usize = 2;

/// The history of an accessed item, as far as fingerprints depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Hash of the last exclusive step, or of all steps before the current group.
    pub(super) before: Fingerprint,
    /// Sum over the current group of steps that commute with each other.
    pub(super) group: u128,
    /// The class of that group.
    pub(super) class: Class,
}

impl Cell {
    pub(super) const NEW: Cell = Cell { before: Fingerprint::ZERO, group: 0, class: Class::Exclusive };

    /// The past that a step of this class depends on.
    #[inline]
    pub(super) fn seen_by(&self, class: Class) -> Fingerprint {
        if self.group != 0 && class != self.class {
            self.before.mix(Fingerprint::from_bits(self.group))
        } else {
            self.before
        }
    }

    /// Records a step of this class with this hash.
    #[inline]
    pub(super) fn touch(&mut self, class: Class, hash: Fingerprint) {
        if class == Class::Exclusive {
            self.before = hash;
            self.group = 0;
        } else {
            if class != self.class {
                self.before = self.seen_by(class);
                self.group = 0;
            }
            self.group = self.group.wrapping_add(hash.summand());
        }
        self.class = class;
    }
}

/// An object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thing {
    pub(super) object: Object,
    /// The thread that holds or initialises it.
    pub(super) owner: u32,
    /// Depth of locking, number of readers, value, messages, or arrivals.
    pub(super) count: u32,
    /// Where the owner acquired it.
    pub(super) held: Site,
    /// Number of messages taken from a queue, or of notifications.
    pub(super) round: u64,
    /// Initialised; or no sender is left.
    pub(super) done: bool,
    /// No receiver is left.
    pub(super) closed: bool,
    /// Number of remaining senders of a queue.
    pub(super) senders: u32,
    /// Counts modifications, for spinning threads.
    pub(super) version: u32,
    /// Whether spinning threads watch it.
    pub(super) watched: bool,
    pub(super) cell: Cell,
    /// For a queue: the log of its messages.
    pub(super) log: u32,
    /// Virtual time of the last release, and of the last release by a reader.
    pub(super) time: [u64; 2],
    pub(super) name: u64,
    pub(super) site: Site,
    /// Whether it was created there; otherwise it was first used there.
    pub(super) created: bool,
    /// Whether it was destroyed.
    pub(super) gone: bool,
    /// The region in which it lies.
    pub(super) within: ObjectId,
}

impl Thing {
    /// Whether the threads of a channel are enabled.
    pub(super) fn open(&self, channel: usize) -> bool {
        match (self.object, channel) {
            (Object::Mutex { .. }, FIRST) => self.owner == NONE,
            (Object::RwLock, FIRST) => self.owner == NONE,
            (Object::RwLock, SECOND) => self.owner == NONE && self.count == 0,
            (Object::Semaphore { .. }, FIRST) => self.count > 0,
            (Object::Once, FIRST) => self.owner == NONE,
            (Object::Queue { .. }, FIRST) => self.count > 0 || self.done,
            (Object::Queue { capacity }, SECOND) => capacity == 0 || self.count < capacity || self.closed,
            _ => false,
        }
    }
}

impl Thing {
    /// Whether the next message to a bounded queue takes the place of an older one.
    pub(super) fn needs_room(&self) -> bool {
        match self.object {
            Object::Queue { capacity } => {
                capacity != 0 && self.round + u64::from(self.count) >= u64::from(capacity)
            }
            _ => false,
        }
    }
}

impl Kernel {
    #[inline]
    pub(super) fn thing(&self, object: ObjectId) -> &Thing {
        &self.objects[object.0 as usize]
    }

    #[inline]
    pub(super) fn thing_mut(&mut self, object: ObjectId) -> &mut Thing {
        &mut self.objects[object.0 as usize]
    }

    /// Registers an object.
    pub(super) fn add_object(&mut self, object: Object, name: u64, site: Site) -> ObjectId {
        let id = ObjectId(u32::try_from(self.objects.len()).unwrap_or(NONE));
        let maker = self.current;
        let name = if name != 0 {
            name
        } else {
            let thread = self.thread_mut(maker);
            thread.objects += 1;
            fingerprint::name(thread.name, 0x1_0000_0000 | u64::from(thread.objects))
        };
        let count = object.initial_count();
        let log = match object {
            Object::Queue { .. } => self.logs.add(),
            _ => NONE,
        };
        self.objects.push(Thing {
            object,
            owner: NONE,
            count,
            held: Site(0),
            round: 0,
            done: false,
            closed: false,
            senders: 1,
            version: 0,
            watched: false,
            cell: Cell::NEW,
            log,
            time: [0; 2],
            name,
            site,
            created: true,
            gone: false,
            within: ObjectId::NONE,
        });
        self.channels.resize(self.objects.len() * CHANNELS * self.stride, 0);
        id
    }

    /// The threads of a channel, by rank.
    #[inline]
    pub(super) fn channel(&self, object: ObjectId, channel: usize) -> &[u64] {
        let start = (object.0 as usize * CHANNELS + channel) * self.stride;
        &self.channels[start..start + self.stride]
    }

    #[inline]
    pub(super) fn channel_mut(&mut self, object: ObjectId, channel: usize) -> &mut [u64] {
        let start = (object.0 as usize * CHANNELS + channel) * self.stride;
        &mut self.channels[start..start + self.stride]
    }

    /// Updates the ready threads after a change of the object's state.
    #[inline]
    pub(super) fn refresh(&mut self, object: ObjectId, channel: usize) {
        let open = self.thing(object).open(channel);
        let start = (object.0 as usize * CHANNELS + channel) * self.stride;
        for (ready, &waiting) in self.ready.iter_mut().zip(&self.channels[start..start + self.stride]) {
            if open {
                *ready |= waiting;
            } else {
                *ready &= !waiting;
            }
        }
    }

    /// The channel in which the pending operation of a thread waits, if it can block on an object.
    #[inline]
    pub(super) fn waits_in(&self, t: u32) -> Option<(ObjectId, usize)> {
        let operation = &self.thread(t).pending;
        match nature(operation.kind).waits {
            Waits::Never => None,
            Waits::First if operation.kind == Kind::Lock && self.owns(t, operation.object) => None,
            Waits::First => Some((operation.object, FIRST)),
            Waits::Second => Some((operation.object, SECOND)),
            Waits::Special => self.waits_specially(t),
        }
    }

    /// Whether a mutex is recursive and owned by the thread.
    #[inline]
    fn owns(&self, t: u32, object: ObjectId) -> bool {
        let mutex = self.thing(object);
        mutex.owner == t && mutex.object == (Object::Mutex { recursive: true })
    }

    fn waits_specially(&self, t: u32) -> Option<(ObjectId, usize)> {
        let thread = self.thread(t);
        let operation = &thread.pending;
        match operation.kind {
            Kind::ReadLock => (!thread.behind).then_some((operation.object, FIRST)),
            Kind::Reacquire if !thread.woken => Some((operation.object, FIRST)),
            Kind::Reacquire => (operation.second != ObjectId::NONE).then_some((operation.second, FIRST)),
            Kind::Leave if !thread.woken && self.thing(operation.object).log == NONE => {
                Some((operation.object, FIRST))
            }
            _ => None,
        }
    }

    /// Why the operation does not fit its objects; `None` if it does.
    #[inline]
    pub(super) fn misfit(&self, operation: &Operation) -> Option<&'static str> {
        let fits = nature(operation.kind).fits;
        let kind_of =
            |id: ObjectId| self.objects.get(id.0 as usize).map_or(0, |thing| nature::bit(&thing.object));
        if fits == 0 {
            let named = matches!(operation.kind, Kind::Join | Kind::TryJoin | Kind::Unpark);
            let missing = named && self.named_thread(operation.argument).is_none();
            return missing.then_some("there is no such thread");
        }
        if fits & kind_of(operation.object) == 0 {
            return Some("the operation does not fit the object");
        }
        if operation.second != ObjectId::NONE {
            let second = match operation.kind {
                Kind::Wait => nature(Kind::Lock).fits,
                Kind::Load | Kind::Store | Kind::Update | Kind::Read | Kind::Write => fits,
                // Any kind of existing object is allowed.
                _ => u16::MAX,
            };
            if second & kind_of(operation.second) == 0 {
                return Some("the operation does not fit its second object");
            }
        }
        (operation.kind == Kind::Reacquire).then_some("only the scheduler itself enters this operation")
    }
}
