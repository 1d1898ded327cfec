//! Threads that may borrow from the function that creates them.
//!
//! As in the standard library, soundness relies on [`scope`] neither returning nor unwinding before
//! the last of its threads is done with what it borrowed; that includes the teardown of an
//! execution, when threads are unwound one by one.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use turnpike_scheduler::{self as scheduler, Kind, ObjectId, Operation};

use super::handle::Thread;
use super::packet::Packet;
use super::spawn::{Builder, Guest, body};
use crate::context;
use crate::runtime::Body;
use crate::site::{self, Place};

/// A scope in which threads are created.
pub struct Scope<'scope, 'env: 'scope> {
    data: Arc<Data>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

struct Data {
    /// Number of threads that may still use what they borrowed.
    running: AtomicUsize,
    /// Number of threads that panicked and were not joined.
    panicked: AtomicUsize,
    owner: std::thread::Thread,
    /// Threads of the execution that were not joined.
    guests: Mutex<Vec<scheduler::ThreadId>>,
}

/// Runs `f`, in whose scope threads may borrow what outlives the call, and waits for all of them.
///
/// # Panics
///
/// If a thread panicked and was not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        data: Arc::new(Data {
            running: AtomicUsize::new(0),
            panicked: AtomicUsize::new(0),
            owner: std::thread::current(),
            guests: Mutex::default(),
        }),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let holder = context::active().filter(|_| result.is_err());
    if let Some(runtime) = holder {
        runtime.hold_panic(true);
    }
    scope.data.wait(Location::caller());
    if let Some(runtime) = holder {
        runtime.hold_panic(false);
    }
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if scope.data.panicked.load(Ordering::Relaxed) > 0 => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

impl Data {
    fn wait(&self, place: Place) {
        match context::active() {
            None => {
                while self.running.load(Ordering::Acquire) > 0 {
                    std::thread::park();
                }
            }
            Some(runtime) => {
                let joined = catch_unwind(AssertUnwindSafe(|| {
                    if runtime.is_over() {
                        return;
                    }
                    loop {
                        let next = self.guests.lock().unwrap_or_else(PoisonError::into_inner).pop();
                        let Some(id) = next else { break };
                        let operation = Operation::new(Kind::Join, ObjectId::NONE, site::of(place));
                        let _ = runtime.turn(Operation { argument: u64::from(id.0), ..operation });
                    }
                }));
                // No thread is left to join, unless the execution has ended meanwhile or the owner
                // unwinds.
                while self.running.load(Ordering::Acquire) > 0 {
                    runtime.stall();
                }
                if let Err(payload) = joined {
                    resume_unwind(payload);
                }
            }
        }
    }
}

/// Notifies the scope when a thread is done.
struct Running(Arc<Data>);

impl Running {
    fn new(data: &Arc<Data>) -> Self {
        data.running.fetch_add(1, Ordering::Relaxed);
        Running(data.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::Release) == 1 {
            self.0.owner.unpark();
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Creates a thread in the scope.
    ///
    /// # Panics
    ///
    /// If the operating system fails to create it.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }
}

impl Builder {
    /// Creates a thread in a scope.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let running = Running::new(&scope.data);
        let data = scope.data.clone();
        let packet = Arc::new(Packet::new());
        let inner = match context::active() {
            None => {
                let packet = packet.clone();
                let run = move || {
                    let running = running;
                    let result = catch_unwind(AssertUnwindSafe(f));
                    if result.is_err() {
                        running.0.panicked.fetch_add(1, Ordering::Relaxed);
                    }
                    packet.set(result);
                    packet.end();
                    drop(packet);
                    drop(running);
                };
                // SAFETY: the scope does not end before `running` is dropped, which is the last
                // thing the closure does; what it borrowed, and the result unless the handle has
                // it, is gone by then.
                let handle = unsafe { self.real().spawn_unchecked(run) }?;
                let thread = Thread::real(handle.thread().clone());
                Inner::Real(handle, thread)
            }
            Some(runtime) => {
                let run = body(runtime, f, packet.clone());
                let left = packet.clone();
                let run = Box::new(move || {
                    let running = running;
                    let result = run();
                    if left.panicked() {
                        running.0.panicked.fetch_add(1, Ordering::Relaxed);
                    }
                    drop(left);
                    drop(running);
                    result
                });
                // SAFETY: the coroutine runs only while the execution does, and drops `running`
                // last. The scope's `Data::wait` does not return while `running` exists, not even
                // when the execution is torn down: then it blocks forever. So nothing that the
                // closure borrows ends before the closure does.
                let run = unsafe {
                    std::mem::transmute::<
                        Box<dyn FnOnce() -> Result<(), crate::panics::Payload> + 'scope>,
                        Body,
                    >(run)
                };
                let guest = self.start(runtime, Location::caller(), run, packet.clone())?;
                if !runtime.is_over() {
                    data.guests.lock().unwrap_or_else(PoisonError::into_inner).push(guest.id());
                }
                Inner::Guest(guest)
            }
        };
        Ok(ScopedJoinHandle { inner, packet, data, scope: PhantomData })
    }
}

/// A handle for joining a thread of a scope.
pub struct ScopedJoinHandle<'scope, T> {
    inner: Inner<T>,
    packet: Arc<Packet<T>>,
    data: Arc<Data>,
    scope: PhantomData<&'scope ()>,
}

enum Inner<T> {
    Real(std::thread::JoinHandle<()>, Thread),
    Guest(Guest<T>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread's end and returns its result, or the panic that ended it.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        let result = match self.inner {
            Inner::Real(handle, _) => handle.join().and_then(|()| self.packet.take()),
            Inner::Guest(guest) => {
                let id = guest.id();
                let result = guest.join(Location::caller());
                let mut guests = self.data.guests.lock().unwrap_or_else(PoisonError::into_inner);
                guests.retain(|other| *other != id);
                drop(guests);
                result
            }
        };
        if result.is_err() {
            let less = |count: usize| Some(count.saturating_sub(1));
            let _ = self.data.panicked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
        result
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Inner::Real(..) => self.packet.ended(),
            Inner::Guest(guest) => guest.is_finished(Location::caller()),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        match &self.inner {
            Inner::Real(_, thread) => thread,
            Inner::Guest(guest) => &guest.thread,
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("running", &self.data.running).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
