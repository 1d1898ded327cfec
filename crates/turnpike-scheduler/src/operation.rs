//! The operations of threads on shared objects.

/// A thread of one execution; ids start at 0 (the main thread) and follow the order of creation.
/// Ids are comparable only between executions with a common prefix; names
/// ([`crate::ThreadRecord::name`]) always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// An object of one execution; ids start at 0 and follow the order of registration. Choices and
/// fingerprints must not depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The absence of an object.
    pub const NONE: ObjectId = ObjectId(u32::MAX);
}

/// A source position: opaque here; [`crate::Executor::site`] resolves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub u64);

/// The kind of a registered object, with its initial value.
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
        /// Number of threads per round.
        count: u32,
    },
    /// One-time initialisation.
    Once,
    /// A FIFO queue; the guest keeps the contents, the kernel the length.
    Queue {
        /// Maximal number of messages; `u32::MAX` = unbounded; 0 = rendezvous.
        capacity: u32,
    },
    /// A memory location or an atomic variable; the guest keeps the value.
    Memory,
    /// A futex word.
    Futex,
    /// A piece of memory with a limited lifetime: a heap block, a mapping, a thread's stack. Other
    /// objects lie in it ([`crate::Kernel::place`]).
    Region,
}

impl Object {
    /// The initial value of the counter.
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
    /// Acquire a mutex if it is free; `Outcome::ok` is the result.
    TryLock,
    /// Release a mutex.
    Unlock,
    /// Acquire for reading; enabled when there is no writer. `argument` 1 = waiting writers may go
    /// first: a thread that already reads then has the alternative of waiting behind the writer,
    /// forever.
    ReadLock,
    /// Acquire for reading if possible. `argument` as above: the alternative is to fail.
    TryReadLock,
    /// Acquire for writing; enabled when free.
    WriteLock,
    /// Acquire for writing if possible.
    TryWriteLock,
    /// Release after reading.
    ReadUnlock,
    /// Release after writing; `argument` 1 = downgrade to reading, so that no writer comes in
    /// between.
    WriteUnlock,
    /// Release the mutex `second` and wait on the condition variable `object`, in one step. The
    /// kernel then waits, and reacquires the mutex by a [`Kind::Reacquire`] step before the guest's
    /// thread continues.
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
    /// Arrive at a barrier; the last thread to arrive continues (`Outcome::ok` = leader), others
    /// wait for [`Kind::Leave`]. `argument` [`Kind::ANONYMOUS`] = the thread ignores which one is
    /// the leader: it waits for [`Kind::Leave`] in any case, and arrivals of such threads in one
    /// round commute.
    Arrive,
    /// The second half of [`Kind::Arrive`], entered by the kernel itself; enabled when all have
    /// arrived. Likewise for [`Kind::FutexWait`]; enabled when woken. A guest announces it after a
    /// [`Kind::Send`] to a rendezvous queue, with the message's number as `argument`: enabled when
    /// the message was taken (`Outcome::ok`), or no receiver is left.
    Leave,
    /// Enter one-time initialisation: enabled unless another thread is inside; `Outcome::ok` = this
    /// thread initialises.
    OnceBegin,
    /// Initialisation is complete (`argument` 1) or abandoned (0).
    OnceEnd,
    /// Append a message; enabled when not full, or when no receiver is left (`Outcome::ok` = sent,
    /// `Outcome::value` = the message's number). To a rendezvous queue it is always enabled: the
    /// guest then announces [`Kind::Leave`].
    Send,
    /// Append if not full. To a rendezvous queue: if a receiver waits. A receiver that is about to
    /// wait may or may not be waiting yet, which gives two alternatives. `Outcome::value` 1 = no
    /// receiver is left.
    TrySend,
    /// Take a message; enabled when not empty, or when no sender is left (`Outcome::ok` = received
    /// one).
    Receive,
    /// Take if not empty. `Outcome::ok` = received one; `Outcome::value` 1 = no sender is left.
    TryReceive,
    /// One end of a queue is dropped: `argument` 0 = a sender, of which there is one unless
    /// [`crate::Kernel::set_senders`] was called; 1 = the receiver.
    Close,
    /// Atomic read.
    Load,
    /// Atomic write.
    Store,
    /// Atomic read-modify-write. `argument` may contain a hint, see [`Operation::writes`].
    Update,
    /// Plain read that was made visible.
    Read,
    /// Plain write that was made visible.
    Write,
    /// Wait for the end of the thread `argument`.
    Join,
    /// Whether the thread `argument` has ended, in `Outcome::ok`.
    TryJoin,
    /// Wait for the thread's own park token.
    Park,
    /// Give the thread `argument` its park token.
    Unpark,
    /// Let other threads go first; spinning threads are disabled until something they read changes.
    ///
    /// `argument` identifies the thread's own state (its registers, its stack): only a thread that
    /// returns to the same state, having only read, spins. If it is odd, the state is complete:
    /// waiting for a change then excludes nothing. With 0 the thread's state is unknown and counts
    /// as always the same.
    ///
    /// With an object: by its last step, on the object, the thread has found that it must wait, and
    /// continues when the object is modified. It may have a time limit.
    Yield,
    /// Sleep `argument` nanoseconds of virtual time.
    Sleep,
    /// Choose a number from 0 to `argument`, each an alternative. With an object: up to the number
    /// last set by [`crate::Kernel::set_count`], which counts as a change of the object.
    Toss,
    /// An assertion was evaluated; `argument` 0 = it failed, which ends the execution.
    Assert,
    /// A message was exchanged by other means than a queue: counts for fitness only.
    Message,
    /// The process ends while other threads live.
    Exit,
    /// Wait while the futex word is unchanged: a step that checks the word ([`Operation::writes`])
    /// and enters the queue, or continues with `Outcome::ok` false; then a [`Kind::Leave`] step
    /// when woken. `second` may name the word as a memory object.
    FutexWait,
    /// Wake up to `argument` waiters: each set is an alternative if there are more.
    /// `Outcome::value` = the number of woken waiters.
    FutexWake,
    /// Destroy a synchronisation object: later uses are errors. Conflicts with every operation on
    /// it. A mutex that is held stays (`Outcome::ok` false).
    Destroy,
    /// Free a region. Conflicts with every operation on an object in it; the guest reports errors
    /// in later ones.
    Free,
    /// Initialise a synchronisation object, whatever its state: no thread holds it afterwards.
    /// Conflicts with every operation on it. An error while threads are in the queue of a condition
    /// variable or at a barrier. See [`crate::Kernel::initialise`].
    Initialise,
    /// The thread is done and about to end: announced where a program asks whether threads have
    /// ended ([`Kind::TryJoin`], or [`Kind::Join`] with a time limit).
    End,
}

impl Kind {
    /// See [`Kind::Arrive`].
    pub const ANONYMOUS: u64 = 1;

    /// All kinds, by number.
    pub const ALL: [Kind; 47] = [
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
        Kind::End,
    ];

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(number as usize).copied()
    }
}

/// A visible operation that a thread is about to do.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The kind.
    pub kind: Kind,
    /// The object it works on, or [`ObjectId::NONE`].
    pub object: ObjectId,
    /// The second object: the mutex of a condition variable, or the other variable that a memory
    /// access covers.
    pub second: ObjectId,
    /// See [`Kind`].
    pub argument: u64,
    /// Whether a blocking operation may time out, which is an additional alternative
    /// ([`crate::Timeouts`]).
    pub timed: bool,
    /// The virtual time at which a timed operation times out, and to which the thread's clock then
    /// advances.
    pub deadline: u64,
    /// For [`Kind::Update`]: evaluated right before the step, says whether it will modify the
    /// object (a compare-and-exchange that is going to fail only reads). For [`Kind::FutexWait`]:
    /// whether the word is still the expected one. `None` = yes. The function is called with
    /// `argument` and must not have effects.
    pub writes: Option<fn(u64) -> bool>,
    /// The memory order of an atomic operation.
    pub order: MemoryOrder,
    /// The memory order of an update that leaves the value unchanged.
    pub unchanged: MemoryOrder,
    /// The source position.
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

/// The memory order of an atomic operation or a fence. It determines data races, and with
/// [`crate::Memory`] also what reads may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOrder(u8);

impl MemoryOrder {
    /// Orders nothing by itself.
    pub const RELAXED: MemoryOrder = MemoryOrder(0);
    /// Acquires what the writer of the value released.
    pub const ACQUIRE: MemoryOrder = MemoryOrder(1);
    /// Releases what its thread knows to reads that acquire the value.
    pub const RELEASE: MemoryOrder = MemoryOrder(2);
    /// Both.
    pub const BOTH: MemoryOrder = MemoryOrder(3);
    /// Both, and a total order of all such operations, which is irrelevant for races.
    pub const SEQUENTIAL: MemoryOrder = MemoryOrder(3 | Self::ONE_ORDER);
    const STORES: u8 = 4;
    const ONE_ORDER: u8 = 8;

    /// The order with this number in C and in compilers: relaxed, consume, acquire, release, both,
    /// sequentially consistent. Consume is treated as acquire, as in all compilers.
    pub const fn from_c(number: u32) -> MemoryOrder {
        match number {
            0 => MemoryOrder::RELAXED,
            1 | 2 => MemoryOrder::ACQUIRE,
            3 => MemoryOrder::RELEASE,
            4 => MemoryOrder::BOTH,
            _ => MemoryOrder::SEQUENTIAL,
        }
    }

    /// The order of an update that stores an unchanged value (an exchange of equal values), as
    /// opposed to one that only reads (a compare-and-exchange that fails): reads of the value also
    /// acquire from it.
    #[must_use]
    pub const fn storing(self) -> MemoryOrder {
        MemoryOrder(self.0 | Self::STORES)
    }

    /// The part common to both.
    #[must_use]
    pub const fn and(self, other: MemoryOrder) -> MemoryOrder {
        MemoryOrder(self.0 | other.0)
    }

    /// The order of an operation that only reads.
    #[must_use]
    pub const fn reading(self) -> MemoryOrder {
        MemoryOrder(self.0 & !Self::RELEASE.0)
    }

    /// Whether it acquires.
    pub const fn acquires(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it releases.
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
    /// The current content of the memory.
    pub present: u64,
    /// The value that [`Kind::Store`] writes; the value that an update writes is set afterwards
    /// ([`crate::Kernel::set_result`]).
    pub stores: u64,
    /// An update that finds another value only reads.
    pub expected: Option<u64>,
    /// An update that finds this value leaves it unchanged, and a loop that waits for another value
    /// would repeat it: it only reads. Without that iteration the execution is the same.
    pub awaits_change_of: Option<u64>,
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The chosen alternative: the value of a toss, the value of a semaphore, the value read from
    /// weak memory.
    pub value: u64,
    /// Whether it succeeded: a lock was free, a message was available, the thread is the leader.
    pub ok: bool,
    /// Whether it timed out.
    pub timed_out: bool,
}
