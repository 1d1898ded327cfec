//! Creating and joining threads.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use turnpike_scheduler::{self as scheduler, Kind, ObjectId, Operation};

use super::handle::Thread;
use super::packet::Packet;
use crate::context;
use crate::runtime::{Body, Runtime, Turn};
use crate::site::{self, Place};

/// Creates a thread.
///
/// # Panics
///
/// If the operating system fails to create it, as in the standard library; [`Builder::spawn`]
/// returns an error instead.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// Configures a new thread, with a name or a stack size.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets its name.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the size of its stack in bytes. Inside a check it is a lower bound.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Creates the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(f) }
    }

    /// Creates it, although what it borrows might not live long enough.
    ///
    /// # Safety
    /// As in the standard library: the thread must be joined, or be done with what it borrows,
    /// before that ends. An execution that is over unwinds its threads, the youngest first.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        match context::active() {
            // SAFETY: the caller's promise.
            None => Ok(JoinHandle(Inner::real(unsafe { self.real().spawn_unchecked(f) }?))),
            Some(runtime) => {
                let packet = Arc::new(Packet::new());
                let body = body(runtime, f, packet.clone());
                // SAFETY: the caller's promise.
                let body = unsafe {
                    std::mem::transmute::<Box<dyn FnOnce() -> Result<(), crate::panics::Payload> + '_>, Body>(
                        body,
                    )
                };
                let guest = self.start(runtime, Location::caller(), body, packet)?;
                Ok(JoinHandle(Inner::Guest(guest)))
            }
        }
    }

    /// The standard library's builder with the same settings.
    pub(super) fn real(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }

    /// Creates a thread of the execution.
    pub(super) fn start<T>(
        self,
        runtime: &'static Runtime,
        place: Place,
        body: Body,
        packet: Arc<Packet<T>>,
    ) -> io::Result<Guest<T>> {
        let name = self.name.clone();
        let id = runtime.spawn(self.name, self.stack_size.unwrap_or(0), site::of(place), body)?;
        if id.is_none() {
            packet.end();
        }
        let id = id.unwrap_or(scheduler::ThreadId(u32::MAX));
        let epoch = runtime.epoch();
        Ok(Guest { thread: Thread::guest(epoch, id, name), id, epoch, packet, joined: false })
    }
}

/// The function of a thread of an execution: runs `f` and stores its result in the packet.
pub(super) fn body<'a, F, T>(
    runtime: &'static Runtime,
    f: F,
    packet: Arc<Packet<T>>,
) -> Box<dyn FnOnce() -> Result<(), crate::panics::Payload> + 'a>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    struct End<T>(Arc<Packet<T>>);
    impl<T> Drop for End<T> {
        fn drop(&mut self) {
            self.0.end();
        }
    }
    Box::new(move || {
        let end = End(packet);
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(value) => end.0.set(Ok(value)),
            Err(payload) if runtime.returns_panic_to_joiner(&payload) => end.0.set(Err(payload)),
            Err(payload) => return Err(payload),
        }
        Ok(())
    })
}

/// A handle for joining a thread. Dropping it detaches the thread.
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Real(std::thread::JoinHandle<T>, Thread),
    Guest(Guest<T>),
}

impl<T> Inner<T> {
    fn real(handle: std::thread::JoinHandle<T>) -> Self {
        let thread = Thread::real(handle.thread().clone());
        Inner::Real(handle, thread)
    }
}

/// A thread of an execution that can be joined.
pub(super) struct Guest<T> {
    pub(super) thread: Thread,
    id: scheduler::ThreadId,
    epoch: u64,
    packet: Arc<Packet<T>>,
    joined: bool,
}

impl<T> JoinHandle<T> {
    /// Waits for the thread's end and returns its result, or the panic that ended it.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Inner::Real(handle, _) => handle.join(),
            Inner::Guest(guest) => guest.join(Location::caller()),
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Real(handle, _) => handle.is_finished(),
            Inner::Guest(guest) => guest.is_finished(Location::caller()),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Real(_, thread) => thread,
            Inner::Guest(guest) => &guest.thread,
        }
    }
}

impl<T> Guest<T> {
    pub(super) fn join(mut self, place: Place) -> std::thread::Result<T> {
        self.joined = true;
        if let Some(runtime) = context::active()
            && runtime.epoch() == self.epoch
        {
            let operation = Operation::new(Kind::Join, ObjectId::NONE, site::of(place));
            let operation = Operation { argument: u64::from(self.id.0), ..operation };
            if let Turn::Quiet = runtime.turn(operation) {
                while !self.packet.ended() {
                    runtime.stall();
                }
            }
        }
        self.packet.take()
    }

    pub(super) fn is_finished(&self, place: Place) -> bool {
        if let Some(runtime) = context::active()
            && runtime.epoch() == self.epoch
        {
            runtime.ends_matter();
            let operation = Operation::new(Kind::TryJoin, ObjectId::NONE, site::of(place));
            let operation = Operation { argument: u64::from(self.id.0), ..operation };
            if let Turn::Step(outcome) = runtime.turn(operation) {
                return outcome.ok;
            }
        }
        self.packet.ended()
    }

    /// Its id in the execution.
    pub(super) fn id(&self) -> scheduler::ThreadId {
        self.id
    }
}

impl<T> Drop for Guest<T> {
    fn drop(&mut self) {
        if !self.joined
            && let Some(runtime) = context::active()
            && runtime.epoch() == self.epoch
        {
            runtime.detach(self.id);
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
