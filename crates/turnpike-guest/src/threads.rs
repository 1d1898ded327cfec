//! Threads: creating, joining, ending.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{FailureKind, Kind, ObjectId, Site, ThreadId};

use crate::control::{self, Start, Thread};
use crate::hook::{hook, real};
use crate::sys::{EBUSY, EDEADLK, EINVAL, ESRCH, ETIMEDOUT, Timespec};
use crate::{baton, cancel, fiber, keys, memory, process, protocol, signals, sites};

/// The C library's `pthread_self`; it depends on the thread register, so it is right in fibers,
/// too.
pub(crate) fn real_self() -> usize {
    // SAFETY: no arguments.
    unsafe { real!(pthread_self: fn() -> usize)() }
}

/// The newest thread with this handle, which may have been joined.
pub(crate) fn by_handle(handle: usize) -> Option<ThreadId> {
    let found = control::threads(|threads| threads.iter().rposition(|thread| thread.handle == handle))?;
    Some(ThreadId(found as u32))
}

/// Bytes of stack that attributes ask for; 0 = any.
unsafe fn stack_size(attributes: *const c_void) -> usize {
    let mut size = 0;
    if !attributes.is_null() {
        // SAFETY: initialised attributes.
        unsafe {
            real!(pthread_attr_getstacksize: fn(*const c_void, *mut usize) -> c_int)(attributes, &mut size)
        };
    }
    size
}

/// Creates a thread, which runs up to its first visible operation. Returns 0 or an error number.
///
/// # Safety
/// `attributes` are the C library's or null; `start` is callable.
pub(crate) unsafe fn create(attributes: *const c_void, start: Start, site: Site, out: *mut usize) -> c_int {
    memory::tell_operand("pthread_create", attributes, memory::THREAD_ATTRIBUTES, false, site);
    let detached = !attributes.is_null() && {
        let mut how: c_int = 0;
        // SAFETY: initialised attributes.
        unsafe {
            real!(pthread_attr_getdetachstate: fn(*const c_void, *mut c_int) -> c_int)(attributes, &mut how)
        };
        how == 1
    };
    if let Some(library) = sites::loop_library(site) {
        control::refuse(
            &alloc::format!(
                "the program uses OpenMP: threads of {library} wait for each other by means that cannot be controlled"
            ),
            sites::user(site),
        );
    }
    let site = sites::user(site);
    let random = control::thread(|parent| {
        parent.random = crate::random::mix(parent.random);
        crate::random::mix(parent.random ^ 0x517c_c1b7_2722_0a95)
    });
    let mut thread = Thread::new(0, random, start);
    thread.mask = control::thread(|parent| parent.mask);
    if control::FIBERS.load(Ordering::Relaxed) {
        let Some((slot, handle)) = fiber::take() else { control::end_child(protocol::END_MORE_THREADS) };
        thread.handle = handle;
        // SAFETY: initialised attributes, or null.
        thread.fiber = fiber::prepare(slot, unsafe { stack_size(attributes) });
        thread.high = thread.fiber.stack;
        thread.extent = fiber::extent(slot, thread.high);
    } else {
        let error = baton::create(&thread.baton, attributes, &mut thread.handle);
        if error != 0 {
            return error;
        }
    }
    // SAFETY: the caller's variable; written before the thread runs, as the C library does.
    unsafe { memory::put(out, thread.handle, site) };
    thread.detached = detached;
    control::threads(|threads| threads.push(thread));
    control::ALIVE.fetch_add(1, Ordering::Relaxed);
    control::UNJOINED.fetch_add(1, Ordering::Relaxed);
    let (creator, id) = control::kernel(|kernel| {
        let creator = kernel.current();
        let id = kernel.spawn(site);
        if detached {
            kernel.detach(id);
        }
        (creator, id)
    });
    crate::audit::before_step(site);
    control::go_on(creator, turnpike_scheduler::Next::Run(id));
    0
}

/// The running thread's function, from its first frame.
pub(crate) fn run(start: Start) -> ! {
    let high = fiber::stack_pointer();
    control::thread(|thread| thread.high = high);
    if memory::looks_for_unwritten() {
        memory::mark_unwritten();
    }
    // SAFETY: the program's function with its own argument.
    let result = unsafe {
        if start.int {
            let function: unsafe extern "C" fn(usize) -> c_int = core::mem::transmute(start.function);
            function(start.argument) as isize as usize
        } else {
            let function: unsafe extern "C" fn(usize) -> usize = core::mem::transmute(start.function);
            function(start.argument)
        }
    };
    end(result)
}

/// Whether the program asks if threads have ended, or waits for that with a time limit. Then it may
/// see what a thread does last before that has ended, so ending is a step of its own.
static ASKS: AtomicBool = AtomicBool::new(false);

/// Finds out whether the program asks, before control starts.
pub(crate) fn prepare() {
    let asks = crate::modules::any_mentions(&[
        b"\0pthread_tryjoin_np\0",
        b"\0pthread_timedjoin_np\0",
        b"\0pthread_clockjoin_np\0",
    ]);
    ASKS.store(asks, Ordering::Relaxed);
}

/// Ends the running thread.
pub(crate) fn end(result: usize) -> ! {
    crate::once::forget_all();
    keys::destroy_thread_locals();
    crate::mutex::abandon();
    crate::memory::thread_ends();
    control::thread(|thread| thread.result = result);
    if control::ALIVE.load(Ordering::Relaxed) == 1 {
        // The process ends with its last thread.
        process::exit(0);
    }
    if ASKS.load(Ordering::Relaxed) {
        control::simple(Kind::End, ObjectId::NONE, Site::default());
    }
    control::ALIVE.fetch_sub(1, Ordering::Relaxed);
    control::thread(|thread| {
        thread.ended = true;
        if thread.detached {
            release(thread);
        }
    });
    let next = control::kernel(|kernel| kernel.end_thread());
    control::leave(next)
}

/// Releases the slot of a thread that has ended, and that nothing refers to any more.
fn release(thread: &mut Thread) {
    if let Some(slot) = thread.fiber.slot.take() {
        fiber::give_back(slot);
    }
}

/// Waits for a thread. Returns its result, or an error number.
fn join(handle: usize, kind: Kind, deadline: Option<u64>, site: Site) -> Result<usize, c_int> {
    let Some(id) = by_handle(handle) else { return Err(ESRCH) };
    refuse_ended(id, "joins", site);
    if control::thread_of(id, |thread| thread.detached) {
        return Err(EINVAL);
    }
    if id == control::me() {
        return Err(EDEADLK);
    }
    let mut operation = turnpike_scheduler::Operation::new(kind, ObjectId::NONE, sites::user(site));
    operation.argument = id.0.into();
    let outcome = cancel::step(control::limited(operation, deadline));
    if outcome.timed_out {
        cancel::point();
        return Err(ETIMEDOUT);
    }
    if kind == Kind::TryJoin && !outcome.ok {
        return Err(EBUSY);
    }
    refuse_ended(id, "joins", site);
    if control::thread_of(id, |thread| thread.detached) {
        misuse("joins a thread that was detached", site);
    }
    let result = control::thread_of(id, |thread| {
        thread.detached = true;
        thread.joined = true;
        release(thread);
        thread.result
    });
    control::UNJOINED.fetch_sub(1, Ordering::Relaxed);
    Ok(result)
}

/// Fails for a thread that was joined: another thread may already have its handle.
fn refuse_ended(id: ThreadId, verb: &str, site: Site) {
    if control::thread_of(id, |thread| thread.joined) {
        misuse(&alloc::format!("{verb} a thread that was joined already"), site);
    }
}

fn misuse(message: &str, site: Site) -> ! {
    control::fail(FailureKind::Misuse, message, sites::user(site))
}

fn store(joined: Result<usize, c_int>, result: *mut usize, site: Site) -> c_int {
    match joined {
        Ok(value) => {
            // SAFETY: null, or the caller's variable.
            unsafe { memory::put(result, value, site) };
            0
        }
        Err(error) => error,
    }
}

/// Joins a thread for C11, whose results are numbers.
pub(crate) fn join_plain(handle: usize, site: Site) -> Result<usize, c_int> {
    join(handle, Kind::Join, None, site)
}

pub(crate) fn detach(handle: usize, site: Site) -> c_int {
    let Some(id) = by_handle(handle) else { return ESRCH };
    refuse_ended(id, "detaches", site);
    let detached = control::thread_of(id, |thread| {
        let before = core::mem::replace(&mut thread.detached, true);
        if thread.ended && !before {
            release(thread);
        }
        before
    });
    if detached {
        return EINVAL;
    }
    control::kernel(|kernel| kernel.detach(id));
    0
}

// `std::thread::join` and `detach` clear the handle afterwards, in a library that does not report
// its writes. Errors are left to the library, which throws.
hook! {
    fn _ZNSt6thread4joinEv(handle: *mut usize; site) {
        memory::tell_bytes(handle as *const c_void, size_of::<usize>(), false, site);
        match join(*handle, Kind::Join, None, site) {
            Ok(_) => memory::put(handle, 0, site),
            Err(_) => real!(_ZNSt6thread4joinEv: fn(*mut usize))(handle),
        }
    }
    fn _ZNSt6thread6detachEv(handle: *mut usize; site) {
        memory::tell_bytes(handle as *const c_void, size_of::<usize>(), false, site);
        match detach(*handle, site) {
            0 => memory::put(handle, 0, site),
            _ => real!(_ZNSt6thread6detachEv: fn(*mut usize))(handle),
        }
    }
}

hook! {
    fn pthread_create(out: *mut usize, attributes: *const c_void, function: usize, argument: usize; site) -> c_int {
        create(attributes, Start { function, argument, int: false }, site, out)
    }
    fn pthread_join(handle: usize, result: *mut usize; site) -> c_int {
        store(join(handle, Kind::Join, None, site), result, site)
    }
    fn pthread_tryjoin_np(handle: usize, result: *mut usize; site) -> c_int {
        store(join(handle, Kind::TryJoin, None, site), result, site)
    }
    fn pthread_timedjoin_np(handle: usize, result: *mut usize, limit: *const Timespec; site) -> c_int {
        store(join(handle, Kind::Join, Some(crate::time::deadline(crate::time::REALTIME, limit, site)), site), result, site)
    }
    fn pthread_clockjoin_np(handle: usize, result: *mut usize, clock: c_int, limit: *const Timespec; site) -> c_int {
        store(join(handle, Kind::Join, Some(crate::time::deadline(clock, limit, site)), site), result, site)
    }
    fn pthread_detach(handle: usize; site) -> c_int {
        detach(handle, site)
    }
    fn pthread_exit(result: usize; site) {
        crate::cxx::unwind_and_end(result)
    }
    fn pthread_setname_np(handle: usize, name: *const c_char; site) -> c_int {
        memory::tell_text("pthread_setname_np", name, site);
        if let Some(id) = by_handle(handle) {
            let name = process::text(name);
            control::kernel(|kernel| kernel.name_thread(id, &name));
        }
        0
    }
    // Processors and priorities of threads have no effect here, and the system does not know the
    // fibers.
    fn pthread_setaffinity_np(_handle: usize, size: usize, set: *const c_void; site) -> c_int {
        memory::tell_operand("pthread_setaffinity_np", set, size, false, site);
        0
    }
    fn pthread_setschedparam(_handle: usize, _policy: c_int, parameter: *const c_void; site) -> c_int {
        memory::tell_operand("pthread_setschedparam", parameter, size_of::<c_int>(), false, site);
        0
    }
    fn pthread_setschedprio(_handle: usize, _priority: c_int; site) -> c_int { 0 }
    fn pthread_kill(handle: usize, signal: c_int; site) -> c_int {
        match by_handle(handle) {
            None => ESRCH,
            // Also for a thread that has ended.
            Some(_) if signal == 0 => 0,
            Some(id) if id == control::me() => signals::raise(signal),
            Some(id) => signals::send(id, signal, site),
        }
    }
}
