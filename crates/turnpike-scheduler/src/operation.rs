//! What threads can do to the objects they share.

/// A thread of one execution, dense from 0 (the main thread) in the order of creation. Ids are only
/// comparable between executions with a common prefix; names ([`crate::ThreadRecord::name`]) always
/// are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// An object of one execution, dense from 0 in the order of registration. Never let a choice or a
/// fingerprint see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// No object.
    pub const NONE: ObjectId = ObjectId(u32::MAX);
}

/// Where in the source an operation stands: opaque here; [`crate::Executor::site`] explains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub u64);

/// What kind of object is registered, with its initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A mutex; a recursive one may be locked again by its owner.
    Mutex {
        /// Whether the owner may lock it again.
        recursive: bool,
    },
    /// A reader-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A counting semaphore.
    Semaphore {
        /// Initial value.
        value: u32,
    },
    /// A barrier.
    Barrier {
        /// How many threads meet.
        count: u32,
    },
    /// One-time initialisation.
    Once,
    /// A FIFO queue; the guest keeps the contents, the kernel the length.
    Queue {
        /// Messages it holds at most; `u32::MAX` = unbounded; 0 = rendezvous.
        capacity: u32,
    },
    /// A memory location or an atomic variable; the guest keeps the value.
    Memory,
    /// A futex word.
    Futex,
    /// A piece of memory with an end: a block of the heap, a mapping, the stack of a thread. Other
    /// objects lie in it ([`crate::Kernel::place`]).
    Region,
}

impl Object {
    /// What is counted, at first.
    pub(crate) fn initial_count(self) -> u32 {
        match self {
            Object::Semaphore { value } => value,
            _ => 0,
        }
    }
}

/// The kinds of visible operations. `object` is the first object, `second` the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Acquire a mutex; enabled when free (or owned by the thread, if recursive).
    Lock,
    /// Acquire a mutex if it is free; `Outcome::ok` says whether.
    TryLock,
    /// Release a mutex.
    Unlock,
    /// Acquire for reading; enabled when there is no writer. `argument` 1 = a writer that waits may
    /// go first: a thread that reads already then has the alternative of waiting behind it, which
    /// is for ever.
    ReadLock,
    /// Acquire for reading if possible. `argument` as above: the alternative is not to succeed.
    TryReadLock,
    /// Acquire for writing; enabled when free.
    WriteLock,
    /// Acquire for writing if possible.
    TryWriteLock,
    /// Release after reading.
    ReadUnlock,
    /// Release after writing; `argument` 1 = and go on reading, so that no writer comes in between.
    WriteUnlock,
    /// Release the mutex `second` and wait on the condition variable `object`: one step. The kernel
    /// then waits, and acquires the mutex again by a [`Kind::Reacquire`] step, before the guest's
    /// thread runs on.
    Wait,
    /// The second half of [`Kind::Wait`], entered by the kernel itself; enabled when notified (or
    /// timed out) and the mutex is free.
    Reacquire,
    /// Wake one waiter: each waiter is an alternative.
    NotifyOne,
    /// Wake all waiters.
    NotifyAll,
    /// Decrement; enabled when positive.
    SemWait,
    /// Decrement if positive.
    SemTryWait,
    /// Increment.
    SemPost,
    /// Read the value, into `Outcome::value`.
    SemGet,
    /// Arrive at a barrier; the last one to arrive goes on (`Outcome::ok` = leader), others wait
    /// for [`Kind::Leave`]. `argument` [`Kind::ANONYMOUS`] = the thread does not look at who the
    /// leader is: it waits for [`Kind::Leave`] in any case, and arrivals of such threads in one
    /// round commute.
    Arrive,
    /// The second half of [`Kind::Arrive`], entered by the kernel itself; enabled when all arrived.
    /// The same for [`Kind::FutexWait`]; enabled when woken. A guest announces it after a
    /// [`Kind::Send`] to a rendezvous queue, with the message's number as `argument`: enabled when
    /// the message was taken (`Outcome::ok`), or no receiver is left.
    Leave,
    /// Enter one-time initialisation: enabled unless another thread is inside; `Outcome::ok` = this
    /// thread initialises.
    OnceBegin,
    /// Initialisation is complete (`argument` 1), or was abandoned (0).
    OnceEnd,
    /// Append a message; enabled when not full, or when no receiver is left (`Outcome::ok` = sent,
    /// `Outcome::value` = the message's number). To a rendezvous queue it is always enabled: the
    /// guest then announces [`Kind::Leave`].
    Send,
    /// Append if not full. To a rendezvous queue: if a receiver waits; one that is about to may
    /// wait already or not yet, which are two alternatives. `Outcome::value` 1 = no receiver is
    /// left.
    TrySend,
    /// Take a message; enabled when not empty, or when no sender is left (`Outcome::ok` = got one).
    Receive,
    /// Take if not empty. `Outcome::ok` = got one; `Outcome::value` 1 = no sender is left.
    TryReceive,
    /// One end of a queue is gone: `argument` 0 = a sender, of which there is one unless
    /// [`crate::Kernel::set_senders`] says otherwise; 1 = the receiver.
    Close,
    /// Atomic read.
    Load,
    /// Atomic write.
    Store,
    /// Atomic read-modify-write. `argument` may hold a hint, see [`Operation::writes`].
    Update,
    /// Plain read that was made visible.
    Read,
    /// Plain write that was made visible.
    Write,
    /// Wait for the end of the thread `argument`.
    Join,
    /// Whether the thread `argument` has ended, in `Outcome::ok`.
    TryJoin,
    /// Wait for the thread's own token.
    Park,
    /// Give the thread `argument` its token.
    Unpark,
    /// Let others go first; spinning threads are disabled until something they read changes.
    ///
    /// `argument` tells states of the thread itself apart (its registers, its stack): only one that
    /// comes back to the same state, having only read, spins. If it is odd, nothing else decides
    /// what the thread does next: waiting for a change then leaves nothing out. With 0 the thread's
    /// state is not known and counts as always the same.
    ///
    /// With an object: the thread has just seen, by a step on the object, that it must wait, and goes
    /// on when the object was modified. It may have a time limit.
    Yield,
    /// Sleep `argument` nanoseconds of virtual time.
    Sleep,
    /// Choose a number from 0 to `argument`, each of them an alternative. With an object: to the
    /// number that [`crate::Kernel::set_count`] gave it last, which is a change of the object.
    Toss,
    /// An assertion was evaluated; `argument` 0 = it failed, which ends the execution.
    Assert,
    /// A message was exchanged, by other means than a queue: counts for fitness only.
    Message,
    /// The process ends while other threads live.
    Exit,
    /// Wait while the futex word is unchanged: a step that checks the word ([`Operation::writes`])
    /// and enters the queue, or goes on with `Outcome::ok` false; then a [`Kind::Leave`] step when
    /// woken. `second` may name the word as a memory object.
    FutexWait,
    /// Wake up to `argument` waiters: each set is an alternative when there are more.
    /// `Outcome::value` = how many.
    FutexWake,
    /// A synchronisation object is destroyed: using it later is an error. Conflicts with every
    /// operation on it. A mutex that is held stays (`Outcome::ok` false).
    Destroy,
    /// A region is given back. Conflicts with every operation on an object that lies in it; the
    /// guest reports what is wrong with a later one.
    Free,
    /// A synchronisation object is initialised, whatever it was before: it begins anew, and whoever
    /// held it holds it no more. Conflicts with every operation on it. An error while threads are in
    /// the queue of a condition variable or at a barrier. See [`crate::Kernel::initialise`].
    Initialise,
}

impl Kind {
    /// See [`Kind::Arrive`].
    pub const ANONYMOUS: u64 = 1;

    /// All kinds, by number.
    pub const ALL: [Kind; 46] = [
        Kind::Lock,
        Kind::TryLock,
        Kind::Unlock,
        Kind::ReadLock,
        Kind::TryReadLock,
        Kind::WriteLock,
        Kind::TryWriteLock,
        Kind::ReadUnlock,
        Kind::WriteUnlock,
        Kind::Wait,
        Kind::Reacquire,
        Kind::NotifyOne,
        Kind::NotifyAll,
        Kind::SemWait,
        Kind::SemTryWait,
        Kind::SemPost,
        Kind::SemGet,
        Kind::Arrive,
        Kind::Leave,
        Kind::OnceBegin,
        Kind::OnceEnd,
        Kind::Send,
        Kind::TrySend,
        Kind::Receive,
        Kind::TryReceive,
        Kind::Close,
        Kind::Load,
        Kind::Store,
        Kind::Update,
        Kind::Read,
        Kind::Write,
        Kind::Join,
        Kind::TryJoin,
        Kind::Park,
        Kind::Unpark,
        Kind::Yield,
        Kind::Sleep,
        Kind::Toss,
        Kind::Assert,
        Kind::Message,
        Kind::Exit,
        Kind::FutexWait,
        Kind::FutexWake,
        Kind::Destroy,
        Kind::Free,
        Kind::Initialise,
    ];

    /// The kind of this number.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(number as usize).copied()
    }
}

/// A visible operation that a thread is about to do.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// The object it works on; [`ObjectId::NONE`] when there is none.
    pub object: ObjectId,
    /// The second object: the mutex of a condition variable, the other variable that a memory
    /// access covers.
    pub second: ObjectId,
    /// See [`Kind`].
    pub argument: u64,
    /// A blocking operation that may time out, which is then an extra alternative
    /// ([`crate::Timeouts`]).
    pub timed: bool,
    /// The virtual time at which a timed operation gives up, and that its thread's clock then
    /// shows.
    pub deadline: u64,
    /// For [`Kind::Update`]: tells, when asked right before the step, whether it will modify the
    /// object: a compare-and-exchange that is going to fail only reads. For [`Kind::FutexWait`]:
    /// whether the word is still the expected one. `None` = yes. The function's argument is
    /// `argument`; it must have no effect.
    pub writes: Option<fn(u64) -> bool>,
    /// Of an atomic operation on memory: what it orders.
    pub order: MemoryOrder,
    /// The same for an update that leaves the value as it is.
    pub unchanged: MemoryOrder,
    /// Where it stands.
    pub site: Site,
}

impl Operation {
    /// An operation on one object.
    pub const fn new(kind: Kind, object: ObjectId, site: Site) -> Self {
        Operation {
            kind,
            object,
            second: ObjectId::NONE,
            argument: 0,
            timed: false,
            deadline: 0,
            writes: None,
            order: MemoryOrder::SEQUENTIAL,
            unchanged: MemoryOrder::SEQUENTIAL,
            site,
        }
    }
}

/// The memory order of an atomic operation or a fence. Data races are judged by it; what reads may
/// see depends on it if the plan says so ([`crate::Memory`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOrder(u8);

impl MemoryOrder {
    /// Orders nothing by itself.
    pub const RELAXED: MemoryOrder = MemoryOrder(0);
    /// Learns what the writer of the value released.
    pub const ACQUIRE: MemoryOrder = MemoryOrder(1);
    /// Publishes what its thread knows to reads that acquire the value.
    pub const RELEASE: MemoryOrder = MemoryOrder(2);
    /// Both.
    pub const BOTH: MemoryOrder = MemoryOrder(3);
    /// Both, and one order of all such operations; that adds nothing as far as races go.
    pub const SEQUENTIAL: MemoryOrder = MemoryOrder(3 | Self::ONE_ORDER);
    const STORES: u8 = 4;
    const ONE_ORDER: u8 = 8;

    /// The order by its number in C, which is also the compilers': relaxed, consume, acquire,
    /// release, both, sequentially consistent. Consuming is acquiring, as for all compilers.
    pub const fn from_c(number: u32) -> MemoryOrder {
        match number {
            0 => MemoryOrder::RELAXED,
            1 | 2 => MemoryOrder::ACQUIRE,
            3 => MemoryOrder::RELEASE,
            4 => MemoryOrder::BOTH,
            _ => MemoryOrder::SEQUENTIAL,
        }
    }

    /// Of an update that leaves the value as it is, but stores it (an exchange of equal values), as
    /// opposed to one that only reads (a compare-and-exchange that fails): reads of the value
    /// acquire from it, too.
    #[must_use]
    pub const fn storing(self) -> MemoryOrder {
        MemoryOrder(self.0 | Self::STORES)
    }

    /// What both do.
    #[must_use]
    pub const fn and(self, other: MemoryOrder) -> MemoryOrder {
        MemoryOrder(self.0 | other.0)
    }

    /// The same of an operation that only reads.
    #[must_use]
    pub const fn reading(self) -> MemoryOrder {
        MemoryOrder(self.0 & !Self::RELEASE.0)
    }

    /// Whether it learns what was released.
    pub const fn acquires(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it publishes what its thread knows.
    pub const fn releases(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether it is sequentially consistent.
    pub const fn is_sequential(self) -> bool {
        self.0 & Self::ONE_ORDER != 0
    }

    /// See [`MemoryOrder::storing`].
    pub const fn stores(self) -> bool {
        self.0 & Self::STORES != 0
    }
}

/// The values of an atomic operation, for weak memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicValues {
    /// What the memory holds.
    pub present: u64,
    /// What [`Kind::Store`] writes; what an update writes is set afterwards
    /// ([`crate::Kernel::set_result`]).
    pub stores: u64,
    /// An update only reads if it finds something else.
    pub expected: Option<u64>,
    /// An update that finds this leaves it, and would be repeated by a loop that waits for another
    /// value: it only reads. Without that turn of the loop the execution is the same.
    pub awaits_change_of: Option<u64>,
}

/// What the thread learns from its operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The alternative that was chosen: the value of a toss, the value of a semaphore; what was read
    /// from weak memory.
    pub value: u64,
    /// Whether it succeeded: a lock was free, a message was there, the thread is the leader.
    pub ok: bool,
    /// It ended because its time was up.
    pub timed_out: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_numbers() {
        for (kind, number) in Kind::ALL.into_iter().zip(0..) {
            assert_eq!(kind as u8, number);
            assert_eq!(Kind::from_number(number), Some(kind));
        }
        assert_eq!(Kind::from_number(Kind::Initialise as u8 + 1), None);
    }
}
