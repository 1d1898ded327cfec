//! One execution of a Rust program: its threads as coroutines, and the loop that switches between
//! them.
//!
//! Threads run on the OS thread that called the executor, one at a time. A thread announces each
//! visible operation to the [`Kernel`]; if the answer is another thread, it suspends itself and the
//! loop resumes that one.
//!
//! **Unwinding.** While a thread unwinds (after a panic) nothing is scheduled: its operations take
//! effect immediately, and are reported to the kernel when the thread continues after
//! `catch_unwind`; if the panic leaves the thread, the execution has failed anyway. An operation
//! that would have to wait while unwinding ends the execution with that panic.
//!
//! **Teardown.** When an execution is over, each remaining thread is resumed once more, youngest
//! first, and unwinds with a private payload, so that memory and guards are released. Destructors
//! may use all primitives; one that has to wait lets the other threads unwind first. Threads that
//! wait forever are forgotten, with their stacks.

mod clock;
mod handles;
mod polling;
mod races;
mod readers;
mod unwinding;

pub(crate) use polling::{Awaited, Polling, Resumed, Why};

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use turnpike_scheduler::{
    AtomicValues, Detail, End, Execution, Finding, Kernel, Kind, Memory, MemoryOrder, Next, Object, ObjectId,
    Operation, Outcome, Plan, Site, ThreadId, ThreadStack,
};

use crate::context;
use crate::fiber::{Exit, Fiber, StackPool};
use crate::options::{GuestOptions, Panics};
use crate::panics::{PanicRecord, Payload, Teardown};
use crate::site::{self, Place};
use crate::stack;
use crate::thread::{Locals, Thread};
use crate::watchdog::Pulse;

/// A thread's function. The error is a panic that joining the thread will not return.
pub(crate) type Body = Box<dyn FnOnce() -> Result<(), Payload>>;

/// The result of requesting an operation.
#[derive(Clone, Copy)]
pub(crate) enum Turn {
    /// It was scheduled and the kernel performed it.
    Step(Outcome),
    /// The thread unwinds: perform it now, without blocking (see [`Runtime::stall`]).
    Quiet,
}

/// The state of a thread that the kernel does not manage.
#[derive(Default)]
struct ThreadState {
    name: Option<String>,
    handle: Option<Thread>,
    locals: Locals,
    /// Operations performed while unwinding, not yet reported to the kernel.
    deferred: Vec<Operation>,
    panic: Option<Box<PanicRecord>>,
    /// A panic was caught by a scope, which resumes it when its threads have ended.
    held: bool,
    /// The teardown payload was thrown, or the thread was unwinding when teardown began.
    unwinding: bool,
    /// How often that payload was thrown.
    thrown: u32,
    watch: clock::Watch,
    /// What is known about the future that it polls.
    polling: polling::Polling,
    /// Its function has returned.
    ending: bool,
    /// How often it used a thread-local value, or yielded in an unknown state.
    changes: u64,
    /// Its call stack, if recorded.
    stack: Vec<u64>,
}

/// The current execution, or the remains of the last one.
pub(crate) struct Runtime {
    kernel: RefCell<Kernel>,
    epoch: Cell<u64>,
    current: Cell<ThreadId>,
    next: Cell<Next>,
    /// The execution is over.
    teardown: Cell<bool>,
    /// The execution is over, or operations were deferred.
    special: Cell<bool>,
    quiet_operations: Cell<u32>,
    alive: Cell<u32>,
    exit: Exit,
    incoming: RefCell<Option<Fiber>>,
    /// Where objects were created: the hash of the position, and how many followed the first one.
    makers: RefCell<Vec<(Place, u64, u64)>>,
    /// The number of tasks so far.
    tasks: Cell<u64>,
    /// The number of objects so far, for each kind that only this crate knows.
    kinds: RefCell<Vec<(&'static str, u32)>>,
    threads: RefCell<Vec<ThreadState>>,
    fibers: RefCell<Vec<Fiber>>,
    stacks: StackPool,
    options: GuestOptions,
    /// The payload of the panic that ended the execution.
    payload: RefCell<Option<Payload>>,
    backtrace: RefCell<Option<String>>,
    forgotten: Cell<u32>,
    /// Number of threads that are dropping the last of several references.
    dropping: Cell<u32>,
    /// Whether the program could observe how references are counted.
    counts: Cell<bool>,
    /// Whether the program asked whether a thread has ended.
    ends: Cell<bool>,
    /// Whether a cell was used.
    cells: Cell<bool>,
    readers: readers::Readers,
    handles: handles::Handles,
    pulse: Arc<Pulse>,
    /// Whether stacks are recorded.
    shows_stacks: Cell<bool>,
    /// Whether memory is not sequentially consistent.
    weak: Cell<bool>,
    /// Whether an atomic operation requested a weaker order than it got.
    weaker_orders: Cell<bool>,
}

impl Runtime {
    pub(crate) fn new(options: GuestOptions) -> Self {
        // A nested check counts as progress of the outer one.
        let pulse = context::active().map_or_else(Arc::default, |outer| Arc::clone(&outer.pulse));
        if let Some(watch) = &options.watch {
            watch.add(&pulse);
        }
        Runtime {
            kernel: RefCell::new(Kernel::new()),
            epoch: Cell::new(0),
            current: Cell::new(ThreadId(0)),
            next: Cell::new(Next::End),
            teardown: Cell::new(false),
            special: Cell::new(false),
            quiet_operations: Cell::new(0),
            alive: Cell::new(0),
            exit: Exit::default(),
            incoming: RefCell::default(),
            makers: RefCell::default(),
            tasks: Cell::new(0),
            kinds: RefCell::default(),
            threads: RefCell::default(),
            fibers: RefCell::default(),
            stacks: StackPool::new(options.stack_size),
            options,
            payload: RefCell::default(),
            backtrace: RefCell::default(),
            forgotten: Cell::new(0),
            dropping: Cell::new(0),
            counts: Cell::new(false),
            ends: Cell::new(false),
            cells: Cell::new(false),
            readers: readers::Readers::default(),
            handles: handles::Handles::default(),
            pulse,
            shows_stacks: Cell::new(false),
            weak: Cell::new(false),
            weaker_orders: Cell::new(false),
        }
    }

    pub(crate) fn options(&self) -> &GuestOptions {
        &self.options
    }

    /// Unique for each execution of the process; 0 for no execution.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// The payload of the panic that ended the last execution.
    pub(crate) fn take_payload(&self) -> Option<Payload> {
        self.payload.borrow_mut().take()
    }

    /// The backtrace of that panic, if recorded.
    pub(crate) fn backtrace(&self) -> Option<String> {
        self.backtrace.borrow().clone()
    }

    /// The number of threads that could not be unwound, in all executions.
    pub(crate) fn forgotten(&self) -> u32 {
        self.forgotten.get()
    }

    // --- requests of threads ---------------------------------------------------------------------

    /// A visible operation of the running thread.
    #[inline]
    pub(crate) fn turn(&self, operation: Operation) -> Turn {
        if std::thread::panicking() || self.special.get() {
            return self.special_turn(operation);
        }
        Turn::Step(self.step(operation))
    }

    /// Whether memory is not sequentially consistent, so that atomic operations need their values.
    #[inline]
    pub(crate) fn is_weak(&self) -> bool {
        self.weak.get()
    }

    /// An atomic operation of the running thread under weak memory. `None` if it is performed
    /// immediately on the newest value, because the thread unwinds or has unwound.
    pub(crate) fn turn_with(&self, operation: Operation, values: AtomicValues) -> Option<Outcome> {
        if std::thread::panicking() || self.special.get() {
            let _ = self.special_turn(operation);
            return None;
        }
        self.kernel.borrow_mut().set_values(operation.object, values);
        Some(self.step(operation))
    }

    /// Sets the value that the running thread's read-modify-write leaves.
    pub(crate) fn set_result(&self, object: ObjectId, value: u64) {
        self.kernel.borrow_mut().set_result(object, value);
    }

    /// The newest value of a variable under weak memory.
    pub(crate) fn newest_value(&self, object: ObjectId) -> u64 {
        self.kernel.borrow().newest_value(object).unwrap_or(0)
    }

    /// A fence of the running thread.
    pub(crate) fn fence(&self, order: MemoryOrder) {
        if !self.teardown.get() {
            self.kernel.borrow_mut().fence(order);
        }
    }

    #[inline]
    fn step(&self, operation: Operation) -> Outcome {
        self.pulse.beat();
        if self.shows_stacks.get() {
            self.note_stack();
        }
        if self.dropping.get() != 0 {
            self.counts_matter("the thread that drops the last reference");
        }
        if self.readers.any() {
            self.reader_waits(&operation);
        }
        let next = self.kernel.borrow_mut().announce(operation);
        if next != Next::Run(self.current.get()) {
            self.switch(next);
        }
        self.kernel.borrow().outcome()
    }

    /// Records the stack of the running thread.
    #[cold]
    fn note_stack(&self) {
        if let Ok(mut threads) = self.threads.try_borrow_mut()
            && let Some(thread) = threads.get_mut(self.current.get().0 as usize)
        {
            thread.stack.clear();
            stack::walk(self.stack_end(), |address, _| {
                thread.stack.push(address as u64);
                thread.stack.len() < stack::DEEPEST
            });
        }
    }

    /// The stacks of threads that have not ended.
    fn hand_out_stacks(&self, out: &mut Execution) {
        let mut threads = self.threads.borrow_mut();
        for (thread, id) in threads.iter_mut().zip(0..) {
            let ended = out.threads.get(id as usize).is_some_and(|record| record.ended);
            if !ended && !thread.stack.is_empty() {
                let addresses = std::mem::take(&mut thread.stack);
                out.stacks.push(ThreadStack { thread: ThreadId(id), addresses });
            }
        }
    }

    /// Lets `next` run until it is the running thread's turn again. Unwinds if that never happens.
    #[inline]
    fn switch(&self, next: Next) {
        let me = self.current.get();
        self.next.set(next);
        self.exit.suspend();
        self.current.set(me);
        if self.teardown.get() {
            self.unwind();
        }
    }

    fn fail(&self, thread: ThreadId, record: &PanicRecord) -> Next {
        self.backtrace.replace(record.backtrace.clone());
        self.kernel.borrow_mut().fail(record.failure(thread))
    }

    /// Records a panic of the running thread, as the hook saw it.
    pub(crate) fn record_panic(&self, record: PanicRecord) {
        if self.shows_stacks.get() && !self.teardown.get() {
            self.note_stack();
        }
        if let Ok(mut threads) = self.threads.try_borrow_mut()
            && let Some(thread) = threads.get_mut(self.current.get().0 as usize)
        {
            thread.panic = Some(Box::new(match thread.panic.take() {
                // It cannot be distinguished from a panic after a caught one, so both are kept.
                Some(first) => record.after(*first),
                None => record,
            }));
        }
    }

    /// A scope holds back a panic of the running thread until its threads have ended, or releases
    /// it.
    pub(crate) fn hold_panic(&self, held: bool) {
        if let Some(thread) = self.threads.borrow_mut().get_mut(self.current.get().0 as usize) {
            thread.held = held;
        }
    }

    /// A panic that a scope holds back explains a deadlock.
    fn explain_deadlock(&self, out: &mut Execution) {
        if out.end != End::Deadlock {
            return;
        }
        let threads = self.threads.borrow();
        let held = threads.iter().enumerate().find(|(_, thread)| thread.held);
        if let Some((id, record)) = held.and_then(|(id, thread)| Some((id, thread.panic.as_deref()?))) {
            self.backtrace.replace(record.backtrace.clone());
            out.end = End::Failed(record.failure(ThreadId(id as u32)));
        }
    }

    /// The process is about to abort: returns the record of the execution so far, and the first
    /// panic.
    pub(crate) fn abort_report(&self) -> Option<(Execution, PanicRecord)> {
        let mut execution = Execution::default();
        self.kernel.try_borrow_mut().ok()?.finish(&mut execution);
        let threads = self.threads.try_borrow().ok()?;
        let record = threads.get(self.current.get().0 as usize)?.panic.as_deref()?.clone();
        Some((execution, record))
    }

    /// The name of the running thread and the steps so far, for a signal handler; false if the
    /// kernel is in use. Does not allocate.
    pub(crate) fn describe_running(&self, name: &mut dyn fmt::Write, step: impl FnMut(u32)) -> bool {
        let Ok(kernel) = self.kernel.try_borrow() else { return false };
        kernel.positions().for_each(step);
        kernel.write_thread_name(self.current.get(), name).is_ok()
    }

    /// Registers an object created at this position, unless the execution is over.
    pub(crate) fn register(&self, object: Object, created_at: Place) -> Option<ObjectId> {
        if self.teardown.get() {
            return None;
        }
        let name = self.name_of_next(created_at);
        Some(self.kernel.borrow_mut().register(object, name, site::of(created_at)))
    }

    /// The name of the next object created at a position: of the position, and of how many objects
    /// from there were used before. The first one, which is usually the only one, thus has the same
    /// name in all executions.
    fn name_of_next(&self, created_at: Place) -> u64 {
        let mut makers = self.makers.borrow_mut();
        match makers.iter_mut().find(|(place, ..)| std::ptr::eq(*place, created_at)) {
            Some((_, hash, count)) => {
                *count += 1;
                (*hash ^ *count).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1)
            }
            None => {
                let hash = site::hash(created_at);
                makers.push((created_at, hash, 0));
                hash
            }
        }
    }

    /// Sets the number of senders that hold a queue.
    pub(crate) fn set_senders(&self, queue: ObjectId, senders: usize) {
        if !self.teardown.get() {
            let senders = u32::try_from(senders).unwrap_or(u32::MAX);
            self.kernel.borrow_mut().set_senders(queue, senders);
        }
    }

    /// Reports something that the scheduler does not control.
    pub(crate) fn uncontrolled(&self, what: &str) {
        if !self.teardown.get() {
            self.kernel.borrow_mut().note(Finding::Uncontrolled(what.to_owned()));
        }
    }

    /// Records that the program can observe how references are counted.
    #[cold]
    pub(crate) fn counts_matter(&self, what: &str) {
        // With a single thread there is only one order.
        if self.threads.borrow().len() < 2 {
            return;
        }
        self.counts.set(true);
        if !(self.options.counts || self.options.races) {
            self.uncontrolled(what);
        }
    }

    /// Records that the program asks whether a thread has ended.
    pub(crate) fn ends_matter(&self) {
        self.ends.set(true);
        if !self.options.ends {
            self.uncontrolled("the moment at which a thread ends");
        }
    }

    /// Whether it asked, in any execution so far.
    pub(crate) fn ends_mattered(&self) -> bool {
        self.ends.get()
    }

    /// Whether it could, in any execution so far.
    pub(crate) fn counts_mattered(&self) -> bool {
        self.counts.get()
    }

    /// Whether changes of reference counts are steps now.
    pub(crate) fn sees_counts(&self) -> bool {
        (self.options.counts || self.options.races) && !self.teardown.get() && self.threads.borrow().len() > 1
    }

    /// Drops the last of several references.
    pub(crate) fn drop_shared<T>(&self, last: T) {
        struct Leave<'a>(&'a Cell<u32>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get().saturating_sub(1));
            }
        }
        if self.options.counts || self.options.races || self.threads.borrow().len() < 2 {
            return drop(last);
        }
        self.dropping.set(self.dropping.get() + 1);
        let _leave = Leave(&self.dropping);
        drop(last);
    }

    /// Sets the name of an object for the user.
    pub(crate) fn name_object(&self, object: ObjectId, name: &str) {
        self.kernel.borrow_mut().name_object(object, name);
    }

    /// Whether the execution is over, so that only destructors run.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.teardown.get()
    }

    /// Creates a thread and runs it up to its first visible operation. `None` if the execution is
    /// over.
    pub(crate) fn spawn(
        &'static self,
        name: Option<String>,
        stack_size: usize,
        site: Site,
        body: Body,
    ) -> std::io::Result<Option<ThreadId>> {
        while std::thread::panicking() && !self.teardown.get() {
            self.stall();
        }
        if self.teardown.get() {
            return Ok(None);
        }
        if self.special.get() {
            self.announce_deferred();
        }
        let (stack, pooled) = self.stacks.take(stack_size)?;
        let id = {
            let mut kernel = self.kernel.borrow_mut();
            let id = kernel.spawn(site);
            if let Some(name) = &name {
                kernel.name_thread(id, name);
            }
            id
        };
        self.threads.borrow_mut().push(ThreadState { name, ..ThreadState::default() });
        self.alive.set(self.alive.get() + 1);
        self.incoming.replace(Some(self.fiber(stack, pooled, body)));
        self.switch(Next::Run(id));
        Ok(Some(id))
    }

    /// Records that the thread will not be joined.
    pub(crate) fn detach(&self, thread: ThreadId) {
        if !self.teardown.get() {
            self.kernel.borrow_mut().detach(thread);
        }
    }

    /// The name given to the running thread, and its handle, created by `make` on first use.
    pub(crate) fn handle(&self, make: impl FnOnce(ThreadId, Option<String>) -> Thread) -> Thread {
        let me = self.current.get();
        let mut threads = self.threads.borrow_mut();
        let thread = &mut threads[me.0 as usize];
        let name = &thread.name;
        thread.handle.get_or_insert_with(|| make(me, name.clone())).clone()
    }

    /// The running thread's local values.
    pub(crate) fn locals<R>(&self, f: impl FnOnce(&mut Locals) -> R) -> R {
        let thread = &mut self.threads.borrow_mut()[self.current.get().0 as usize];
        thread.changes += 1;
        f(&mut thread.locals)
    }

    /// The upper end of the running thread's stack.
    pub(crate) fn stack_end(&self) -> usize {
        self.exit.stack_end()
    }

    /// The state of the running thread, including what its stack does not show. Even, because
    /// memory that is not inspected may influence the thread: a loop that counts on the heap. So a
    /// loop that appears to wait proves nothing.
    pub(crate) fn state_of_thread(&self, stack: u64) -> u64 {
        let mut threads = self.threads.borrow_mut();
        let thread = &mut threads[self.current.get().0 as usize];
        if stack == 0 {
            thread.changes += 1;
        }
        stack.wrapping_add(thread.changes.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & !1 | 2
    }

    // --- the loop --------------------------------------------------------------------------------

    fn fiber(&'static self, stack: corosensei::stack::DefaultStack, pooled: bool, body: Body) -> Fiber {
        Fiber::new(stack, pooled, move |yielder| {
            self.exit.enter(yielder);
            self.root(body);
        })
    }

    /// The whole life of a thread.
    fn root(&self, body: Body) {
        let me = self.current.get();
        let result = catch_unwind(AssertUnwindSafe(|| {
            body()?;
            // Destructors of thread-local values are part of the thread.
            Locals::destroy(|take| self.locals(take));
            if self.special.get() {
                self.announce_deferred();
            }
            if me == ThreadId(0) && self.options.exit_with_main && self.alive.get() > 1 {
                let _ = self.turn(Operation::new(Kind::Exit, ObjectId::NONE, Site(0)));
            }
            if self.options.ends && self.alive.get() > 1 {
                let _ = self.turn(Operation::new(Kind::End, ObjectId::NONE, Site(0)));
            }
            Ok(())
        }));
        let failed = match result {
            Ok(Ok(())) => None,
            Ok(Err(payload)) | Err(payload) => Some(payload),
        };
        self.alive.set(self.alive.get().saturating_sub(1));
        let over = self.teardown.get();
        match failed {
            None if over => {}
            None => {
                let next = self.kernel.borrow_mut().end_thread();
                self.next.set(next);
            }
            Some(payload) => {
                if !payload.is::<Teardown>() {
                    if !over {
                        let record = self.threads.borrow_mut()[me.0 as usize].panic.take();
                        let record = record.unwrap_or_else(|| Box::new(PanicRecord::of_payload(&payload)));
                        let next = self.fail(me, &record);
                        self.next.set(next);
                    }
                    self.payload.borrow_mut().get_or_insert(payload);
                }
                self.begin_teardown();
                self.threads.borrow_mut()[me.0 as usize].ending = true;
                // Panics of destructors add nothing to the failure.
                let _ = catch_unwind(AssertUnwindSafe(|| Locals::destroy(|take| self.locals(take))));
            }
        }
    }

    /// Executes the program once.
    pub(crate) fn execute(
        &'static self,
        epoch: u64,
        plan: &Plan<'_>,
        body: Body,
        out: &mut Execution,
    ) -> std::io::Result<()> {
        let (stack, pooled) = self.stacks.take(0)?;
        let _beating = self.pulse.begin();
        self.epoch.set(epoch);
        self.kernel.borrow_mut().keep_clocks(self.options.races);
        self.kernel.borrow_mut().begin(plan);
        self.shows_stacks.set(plan.detail == Detail::Stacks);
        self.weak.set(plan.memory != Memory::Sc);
        self.teardown.set(false);
        self.special.set(false);
        self.quiet_operations.set(0);
        self.dropping.set(0);
        self.readers.clear();
        self.handles.clear();
        self.makers.borrow_mut().clear();
        self.tasks.set(0);
        self.kinds.borrow_mut().clear();
        self.alive.set(1);
        self.payload.replace(None);
        self.backtrace.replace(None);
        self.threads.borrow_mut().push(ThreadState::default());

        let mut fibers = self.fibers.take();
        fibers.push(self.fiber(stack, pooled, body));
        let mut running = 0;
        loop {
            self.current.set(ThreadId(running as u32));
            fibers[running].resume();
            if let Some(fiber) = self.incoming.take() {
                fibers.push(fiber);
            }
            match self.next.get() {
                Next::Run(thread) => running = thread.0 as usize,
                Next::End => break,
            }
        }
        self.kernel.borrow_mut().finish(out);
        self.explain_deadlock(out);
        self.explain_waits(out);
        if self.shows_stacks.replace(false) {
            self.hand_out_stacks(out);
        }
        self.unwind_rest(&mut fibers);
        let mut threads = self.threads.borrow_mut();
        for (fiber, thread) in fibers.drain(..).zip(threads.drain(..)) {
            if !fiber.ended() {
                std::mem::forget(thread.locals);
            }
            fiber.recycle(&self.stacks);
        }
        drop(threads);
        self.fibers.replace(fibers);
        Ok(())
    }

    /// Whether joining a thread returns the panic that left it.
    pub(crate) fn returns_panic_to_joiner(&self, payload: &Payload) -> bool {
        self.options.panics == Panics::Join && !payload.is::<Teardown>() && !self.teardown.get()
    }
}
