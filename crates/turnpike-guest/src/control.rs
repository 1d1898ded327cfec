//! The execution under way: the kernel, the program's threads, and the only place where control
//! passes from one thread to another.
//!
//! Exactly one controlled thread runs at a time, so nothing is locked: see [`Global`].

use alloc::vec::Vec;
use core::ffi::c_void;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use turnpike_scheduler::{
    Detail, End, Failure, FailureKind, Finding, Kernel, Kind, Next, ObjectId, Operation, Outcome, Site,
    ThreadId,
};

use crate::global::Global;
use crate::protocol::{self, Header};
use crate::{audit, baton, context, dump, fiber, record, sys, tape, unseen};

/// What the library knows of one thread; the kernel has the rest.
pub(crate) struct Thread {
    /// What `pthread_self` returns in it.
    pub handle: usize,
    /// Where it continues, if it is a fiber.
    pub fiber: fiber::Context,
    /// Where it waits, if it is a thread of the system.
    pub baton: baton::Turn,
    /// What it returned.
    pub result: usize,
    /// Its function has returned.
    pub ended: bool,
    /// It was detached or joined.
    pub detached: bool,
    /// It was joined.
    pub joined: bool,
    /// Values of `pthread_key_t`s.
    pub keys: Vec<usize>,
    /// Destructors of thread-local objects, last one first.
    pub destructors: Vec<(unsafe extern "C" fn(*mut c_void), usize)>,
    /// State of its random numbers, which depend on nothing that other threads do.
    pub random: u64,
    /// How often it read a clock; each read takes a microsecond of virtual time.
    pub clock_reads: u64,
    /// Writes to memory that is not its stack.
    pub writes: u64,
    /// One-time initialisations that it is in, with the stack pointer of each.
    pub onces: Vec<(ObjectId, usize)>,
    /// `pthread_cleanup_push` buffers, innermost last.
    pub cleanups: Vec<usize>,
    /// The futex that it waits for, and the value that it expects there.
    pub expects: (usize, u32),
    /// `pthread_cancel` was called for it.
    pub cancelled: bool,
    /// It does not allow cancellation now.
    pub keeps_on: bool,
    /// It is in an operation that cancellation interrupts.
    pub cancellable: bool,
    /// The upper end of its stack.
    pub high: usize,
    /// The memory of its stack, which ends with it; empty for the first thread.
    pub extent: (usize, usize),
    /// The signals that it blocks.
    pub mask: u64,
    /// The blocked signals that were sent to it.
    pub pending: u64,
    /// Where it is, if stacks are recorded.
    pub registers: context::Registers,
    /// What it was created to do.
    pub start: Start,
    /// Notices what it changes while it may be waiting.
    pub watch: unseen::Watch,
}

/// A thread's function.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    pub function: usize,
    pub argument: usize,
    /// It returns an `int` (C11), not a pointer.
    pub int: bool,
}

impl Thread {
    pub(crate) fn new(handle: usize, random: u64, start: Start) -> Self {
        Thread {
            handle,
            fiber: fiber::Context::default(),
            baton: baton::Turn::new(),
            result: 0,
            ended: false,
            detached: false,
            joined: false,
            keys: Vec::new(),
            destructors: Vec::new(),
            random,
            clock_reads: 0,
            writes: 0,
            onces: Vec::new(),
            cleanups: Vec::new(),
            cancelled: false,
            keeps_on: false,
            cancellable: false,
            high: 0,
            extent: (0, 0),
            expects: (0, 0),
            mask: 0,
            pending: 0,
            registers: [0; dump::REGISTERS],
            start,
            watch: unseen::Watch::default(),
        }
    }
}

/// A thread that is about to end the process.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    pub thread: ThreadId,
    pub status: i32,
    pub site: Site,
}

static KERNEL: Global<Kernel> = Global::new(Kernel::new());
static THREADS: Global<Vec<Thread>> = Global::new(Vec::new());
/// Threads whose function has not returned.
pub(crate) static ALIVE: AtomicU32 = AtomicU32::new(0);
/// Threads that have not been joined.
pub(crate) static UNJOINED: AtomicU32 = AtomicU32::new(1);
/// Whether threads are fibers, and not threads of the operating system.
pub(crate) static FIBERS: AtomicBool = AtomicBool::new(false);
/// How much is recorded.
pub(crate) static DETAIL: Global<Detail> = Global::new(Detail::Positions);
/// Threads that are about to end the process, when that is a step.
pub(crate) static EXITS: Global<Vec<Exit>> = Global::new(Vec::new());
/// An assumption of the program does not hold, so threads that wait for ever are not an error.
pub(crate) static ABANDONED: AtomicBool = AtomicBool::new(false);
/// Threads that wait for something outside.
pub(crate) static WAITING_OUTSIDE: AtomicU32 = AtomicU32::new(0);
/// What threads declared that they may touch: the name hashes of the thread and the object, and
/// whether it may modify the object.
pub(crate) static DECLARED: Global<Vec<(u64, u64, bool)>> = Global::new(Vec::new());

static HEADER: AtomicPtr<Header> = AtomicPtr::new(core::ptr::null_mut());

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether a controlled execution is under way in this process.
#[inline(always)]
pub(crate) fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Starts control, after the kernel has begun the execution.
pub(crate) fn activate() {
    ACTIVE.store(true, Ordering::Relaxed);
}

static FRAME: AtomicUsize = AtomicUsize::new(0);

/// Notes where the caller of a hook is on its stack.
#[inline(always)]
pub(crate) fn enter(address: u64, frame: usize) -> Site {
    FRAME.store(frame, Ordering::Relaxed);
    Site(address)
}

/// Where the innermost call of a hook by the running thread is on its stack. Valid up to the next
/// switch.
#[inline(always)]
pub(crate) fn frame() -> usize {
    FRAME.load(Ordering::Relaxed)
}

/// The kernel, for as long as `work` takes.
#[inline(always)]
#[track_caller]
pub(crate) fn kernel<R>(work: impl FnOnce(&mut Kernel) -> R) -> R {
    KERNEL.with(work)
}

/// All threads, by their numbers, for as long as `work` takes.
#[inline(always)]
#[track_caller]
pub(crate) fn threads<R>(work: impl FnOnce(&mut Vec<Thread>) -> R) -> R {
    THREADS.with(work)
}

/// The thread with a number, for as long as `work` takes.
#[inline(always)]
#[track_caller]
pub(crate) fn thread_of<R>(id: ThreadId, work: impl FnOnce(&mut Thread) -> R) -> R {
    THREADS.with(|threads| work(&mut threads[id.0 as usize]))
}

/// The running thread's record, for as long as `work` takes.
#[inline(always)]
#[track_caller]
pub(crate) fn thread<R>(work: impl FnOnce(&mut Thread) -> R) -> R {
    thread_of(me(), work)
}

/// The running thread.
#[inline(always)]
#[track_caller]
pub(crate) fn me() -> ThreadId {
    KERNEL.with(|kernel| kernel.current())
}

/// Where the shared memory is.
pub(crate) fn shared() -> *mut Header {
    HEADER.load(Ordering::Relaxed)
}

/// Sets where the shared memory is.
///
/// # Safety
/// It holds a [`Header`] and stays mapped.
pub(crate) unsafe fn set_shared(header: *mut Header) {
    HEADER.store(header, Ordering::Relaxed);
}

/// The shared memory.
#[inline(always)]
pub(crate) fn header() -> &'static Header {
    // SAFETY: `set_shared` comes before everything else that the constructor does. Only the text is
    // written by other means than atomics, and never through a reference.
    unsafe { &*shared() }
}

/// Writes into the text of the shared memory, truncated to fit. Returns the number of bytes.
pub(crate) fn write_text(at: usize, bytes: &[u8]) -> usize {
    let length = bytes.len().min(protocol::TEXT.saturating_sub(at));
    // SAFETY: within the text, which only this function writes and only the host reads, and not
    // before it has been answered.
    unsafe {
        let text = (&raw mut (*shared()).text) as *mut u8;
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), text.add(at), length);
    }
    length
}

/// Releases what interrupted code was using, so that code which ends the process can use it.
///
/// # Safety
/// The interrupted code never goes on.
pub(crate) unsafe fn take_back() {
    // SAFETY: promised by the caller, for everything that code which ends the process uses.
    unsafe {
        KERNEL.take_back();
        THREADS.take_back();
        DETAIL.take_back();
        EXITS.take_back();
        DECLARED.take_back();
        crate::values::take_back();
        crate::sites::take_back();
        crate::memory::take_back();
    }
}

/// Announces an operation of the running thread and returns when it has been done.
pub(crate) fn step(operation: Operation) -> Outcome {
    #[cfg(target_arch = "x86_64")]
    crate::copies::before_step();
    crate::once::forget_unwound();
    crate::memory::confirm_held();
    crate::values::look();
    context::note();
    unseen::before_step();
    audit::before_step(operation.site);
    let (me, next) = kernel(|kernel| (kernel.current(), kernel.announce(operation)));
    note();
    go_on(me, next);
    unseen::after_step();
    crate::objects::used(operation.object, operation.site);
    if operation.kind == Kind::Wait {
        crate::objects::used(operation.second, operation.site);
    }
    kernel(|kernel| kernel.outcome())
}

/// Notes in the shared memory how far the execution has come, in case it dies without a report.
fn note() {
    let header = header();
    kernel(|kernel| {
        tape::Note::new(kernel.last_step(), kernel.current(), kernel.fingerprint()).store(&header.note);
        header.steps.store(kernel.steps_taken(), Ordering::Relaxed);
    });
    header.progress.store(header.progress.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// An operation on one object.
pub(crate) fn simple(kind: Kind, object: ObjectId, site: Site) -> Outcome {
    step(Operation::new(kind, object, site))
}

/// An operation with an argument and no object.
pub(crate) fn with(kind: Kind, argument: u64, site: Site) -> Outcome {
    step(Operation { argument, ..Operation::new(kind, ObjectId::NONE, site) })
}

/// The operation with a time limit, if there is one.
pub(crate) fn limited(operation: Operation, deadline: Option<u64>) -> Operation {
    match deadline {
        Some(deadline) => Operation { timed: true, deadline, ..operation },
        None => operation,
    }
}

/// Switches from the thread `from` to the next one, if that is another.
pub(crate) fn go_on(from: ThreadId, next: Next) {
    match next {
        Next::Run(to) if to == from => {}
        Next::Run(to) => {
            if FIBERS.load(Ordering::Relaxed) {
                fiber::switch(from, to);
            } else {
                baton::switch(from, to);
            }
        }
        Next::End => finish(),
    }
}

/// Leaves the running thread, which has ended, for the next one.
pub(crate) fn leave(next: Next) -> ! {
    audit::before_step(Site(0));
    note();
    match next {
        Next::Run(to) => {
            if FIBERS.load(Ordering::Relaxed) {
                fiber::leave(to)
            } else {
                baton::leave(to)
            }
        }
        Next::End => finish(),
    }
}

/// Ends the execution. Everything is on the tape.
pub(crate) fn finish() -> ! {
    ACTIVE.store(false, Ordering::Relaxed);
    record::end();
    end_child(protocol::END_TAPE)
}

/// Ends the execution with a failure of the running thread.
pub(crate) fn fail(kind: FailureKind, message: &str, site: Site) -> ! {
    // SAFETY: the process ends here.
    unsafe { take_back() };
    context::note();
    kernel(|kernel| {
        let thread = kernel.current();
        kernel.fail(Failure { kind, message: message.into(), thread, site });
    });
    finish()
}

/// Records that something is not under control, for the report.
pub(crate) fn uncontrolled(what: &str) {
    kernel(|kernel| kernel.note(Finding::Uncontrolled(what.into())));
}

/// Ends the execution because the program cannot be executed under control; `what` says why.
pub(crate) fn refuse(what: &str, site: Site) -> ! {
    ACTIVE.store(false, Ordering::Relaxed);
    // SAFETY: the process ends here.
    unsafe { take_back() };
    tell(what, site);
    end_child(protocol::END_REFUSED)
}

/// Ends the execution as hung: the running thread does nothing visible, here.
pub(crate) fn hangs(site: Site) -> ! {
    let hint = if crate::memory::is_instrumented() {
        ""
    } else {
        " (waiting for memory to change is seen with -fsanitize=thread)"
    };
    // SAFETY: the process ends here.
    unsafe { take_back() };
    let thread = kernel(|kernel| kernel.thread_name(kernel.current()));
    uncontrolled(&alloc::format!("what {thread} does at {{site:{:#x}}}{hint}", site.0));
    kernel(|kernel| kernel.stop(End::Hung));
    finish()
}

fn tell(what: &str, site: Site) {
    let thread = me().0;
    let header = header();
    let length = write_text(0, what.as_bytes());
    header.text_length.store(length as u32, Ordering::Relaxed);
    header.thread.store(thread, Ordering::Relaxed);
    header.site.store(site.0, Ordering::Relaxed);
}

/// Ends the child process.
pub(crate) fn end_child(end: u32) -> ! {
    ACTIVE.store(false, Ordering::Relaxed);
    if header().output != 0 {
        // SAFETY: no stream is locked, because threads are switched only outside the C library.
        unsafe { sys::fflush(core::ptr::null_mut()) };
    }
    if header().hold != 0 {
        let thread = sys::syscall(sys::number::GETTID, 0, 0, 0, 0, 0, 0);
        header().ended_by.store(thread as i32, Ordering::Relaxed);
        header().end.store(end, Ordering::Release);
        sys::wait_for_debugger();
    }
    header().end.store(end, Ordering::Release);
    #[cfg(target_arch = "x86_64")]
    if end == protocol::END_TAPE {
        crate::reuse::again();
    }
    sys::exit_group(0)
}

/// This library itself panicked, which is a bug here: tells the host.
pub(crate) fn broken(info: &core::panic::PanicInfo<'_>) -> ! {
    ACTIVE.store(false, Ordering::Relaxed);
    struct Text([u8; 512], usize);
    impl Write for Text {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            let room = &mut self.0[self.1..];
            let length = text.len().min(room.len());
            room[..length].copy_from_slice(&text.as_bytes()[..length]);
            self.1 += length;
            Ok(())
        }
    }
    let mut text = Text([0; 512], 0);
    let _ = write!(text, "turnpike's library failed: {info}");
    if !shared().is_null() {
        let header = header();
        let length = write_text(0, &text.0[..text.1]);
        header.text_length.store(length as u32, Ordering::Relaxed);
        header.end.store(protocol::END_REFUSED, Ordering::Release);
    } else {
        sys::write(2, &text.0[..text.1]);
    }
    sys::exit_group(126)
}
