//! The constant properties of each kind of operation, as a table, because each step looks them up
//! several times.

use crate::operation::{Kind, Object};

/// How an operation waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// It is always enabled.
    Never,
    /// In the first channel of its object.
    First,
    /// In the second one.
    Second,
    /// Depending on its state; or it has alternatives.
    Special,
}

/// The constant properties of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nature {
    /// The kinds of objects that it works on, one bit each; zero = it needs no object.
    pub(super) fits: u16,
    pub(super) waits: Waits,
}

const MUTEX: u16 = 1 << 0;
const RWLOCK: u16 = 1 << 1;
const CONDVAR: u16 = 1 << 2;
const SEMAPHORE: u16 = 1 << 3;
const BARRIER: u16 = 1 << 4;
const ONCE: u16 = 1 << 5;
const QUEUE: u16 = 1 << 6;
const MEMORY: u16 = 1 << 7;
const FUTEX: u16 = 1 << 8;
const REGION: u16 = 1 << 9;
/// The kinds that can be destroyed.
const SYNCHRONISATION: u16 = MUTEX | RWLOCK | CONDVAR | SEMAPHORE | BARRIER | ONCE | FUTEX;

/// The bit of an object's kind.
#[inline]
pub(super) const fn bit(object: &Object) -> u16 {
    match object {
        Object::Mutex { .. } => MUTEX,
        Object::RwLock => RWLOCK,
        Object::Condvar => CONDVAR,
        Object::Semaphore { .. } => SEMAPHORE,
        Object::Barrier { .. } => BARRIER,
        Object::Once => ONCE,
        Object::Queue { .. } => QUEUE,
        Object::Memory => MEMORY,
        Object::Futex => FUTEX,
        Object::Region => REGION,
    }
}

const KINDS: usize = Kind::ALL.len();

static NATURES: [Nature; KINDS] = {
    let mut natures = [Nature { fits: 0, waits: Waits::Special }; KINDS];
    let mut i = 0;
    while i < Kind::ALL.len() {
        let kind = Kind::ALL[i];
        natures[kind as usize] = nature_of(kind);
        i += 1;
    }
    natures
};

/// The constant properties of a kind.
#[inline]
pub(super) fn nature(kind: Kind) -> Nature {
    NATURES[kind as usize]
}

const fn nature_of(kind: Kind) -> Nature {
    use Waits::{First, Never, Second, Special};
    let (fits, waits) = match kind {
        Kind::Lock => (MUTEX, First),
        Kind::TryLock | Kind::Unlock => (MUTEX, Never),
        Kind::ReadLock | Kind::TryReadLock => (RWLOCK, Special),
        Kind::WriteLock => (RWLOCK, Second),
        Kind::TryWriteLock | Kind::ReadUnlock | Kind::WriteUnlock => (RWLOCK, Never),
        Kind::Wait => (CONDVAR, Never),
        Kind::Reacquire => (CONDVAR, Special),
        Kind::NotifyOne => (CONDVAR, Special),
        Kind::NotifyAll => (CONDVAR, Never),
        Kind::SemWait => (SEMAPHORE, First),
        Kind::SemTryWait | Kind::SemPost | Kind::SemGet => (SEMAPHORE, Never),
        Kind::Arrive => (BARRIER, Never),
        Kind::Leave => (QUEUE, Special),
        Kind::OnceBegin => (ONCE, First),
        Kind::OnceEnd => (ONCE, Never),
        Kind::Send => (QUEUE, Second),
        Kind::Receive => (QUEUE, First),
        Kind::TrySend => (QUEUE, Special),
        Kind::TryReceive | Kind::Close => (QUEUE, Never),
        Kind::Load | Kind::Store | Kind::Update | Kind::Read | Kind::Write => (MEMORY | FUTEX, Never),
        Kind::Join | Kind::Park => (0, Special),
        Kind::TryJoin | Kind::Unpark => (0, Never),
        Kind::Yield | Kind::Sleep | Kind::Toss => (0, Special),
        Kind::Assert | Kind::Message | Kind::Exit | Kind::End => (0, Never),
        Kind::FutexWait => (FUTEX, Never),
        Kind::FutexWake => (FUTEX, Special),
        Kind::Destroy | Kind::Initialise => (SYNCHRONISATION, Never),
        Kind::Free => (REGION, Never),
    };
    Nature { fits, waits }
}
