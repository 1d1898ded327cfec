//! How the process ends: exits are steps while other threads live, failed assertions and aborts are
//! failures, and new processes are refused.
//!
//! Handlers that the program registered for its exit run as its own code, under control. Ours was
//! registered first, so it runs last, and is where the process really ends.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use turnpike_scheduler::{Detail, FailureKind, Kind, Object, ObjectId, Site};

use crate::control::Exit;
use crate::hook::{hook, own, real};
use crate::{audit, control, fiber, keys, memory, objects, shared, sites};

static STATUS: AtomicI32 = AtomicI32::new(0);
static SITE: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn on_exit(handler: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

own! {
    // The C library has this function in its static part only. But programs that are linked with
    // the thread sanitizer's library expect it from a shared library.
    fn atexit(handler: usize; site) -> c_int {
        register_handler(handler, site)
    }
}

/// Handlers run in the reverse order of their registration, so registering one is a step.
fn register_handler(handler: usize, site: Site) -> c_int {
    shared::process(site);
    // SAFETY: a handler without parameters ignores the argument.
    unsafe { real!(__cxa_atexit: fn(usize, usize, usize) -> c_int)(handler, 0, 0) }
}

/// Registers the handlers that run last, before the program registers its own.
pub(crate) fn prepare() {
    // SAFETY: both handlers keep to their contracts.
    unsafe {
        on_exit(last, core::ptr::null_mut());
        type Handler = unsafe extern "C" fn(*mut c_void);
        real!(__cxa_at_quick_exit: fn(Handler, *mut c_void) -> c_int)(last_quick, core::ptr::null_mut());
    }
}

unsafe extern "C" fn last(status: c_int, _: *mut c_void) {
    if control::active() {
        end(status);
    }
}

unsafe extern "C" fn last_quick(_: *mut c_void) {
    if control::active() {
        end(STATUS.load(Ordering::Relaxed));
    }
}

/// Only one thread runs exit handlers: another that calls `exit` meanwhile waits for ever, as in
/// newer C libraries. It matters which one is first, so this is a step. The same thread may come
/// again, from a handler.
pub(crate) fn begin_exit(site: Site) {
    static LEAVING: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
    if control::ALIVE.load(Ordering::Relaxed) > 1 {
        // SAFETY: two words that nothing else uses, and that may be written.
        let id = unsafe {
            objects::of((&raw const LEAVING).cast_mut().cast(), 8, site, || Object::Mutex { recursive: true })
        };
        if control::DETAIL.get() >= Detail::Full {
            control::kernel(|kernel| kernel.name_object(id, "exit"));
        }
        control::simple(Kind::Lock, id, site);
    }
    audit::stop();
}

/// Ends the process by the C library's function, with all handlers.
pub(crate) fn exit(status: c_int) -> ! {
    keys::destroy_objects();
    let exit = real!(exit: fn(c_int));
    audit::stop();
    // SAFETY: any status is valid.
    unsafe { exit(status) };
    end(status)
}

/// Ends the process.
fn end(status: c_int) -> ! {
    let site = Site(SITE.load(Ordering::Relaxed));
    if let Some(message) = memory::sweep() {
        control::fail(FailureKind::Heap, &message, site);
    }
    if control::ALIVE.load(Ordering::Relaxed) > 1 {
        control::enter(site.0, fiber::stack_pointer());
        let thread = control::me();
        control::EXITS.with(|exits| exits.push(Exit { thread, status: status & 0xff, site }));
        control::simple(Kind::Exit, ObjectId::NONE, site);
    }
    let status = status & 0xff;
    if status != 0 {
        control::fail(FailureKind::Crash, &format!("exited with status {status}"), site);
    }
    control::kernel(|kernel| kernel.end_thread());
    control::finish()
}

/// Ends the process without handlers.
pub(crate) fn leave(status: c_int, site: Site) -> ! {
    note_exit(status, site);
    end(status)
}

fn note_exit(status: c_int, site: Site) {
    STATUS.store(status, Ordering::Relaxed);
    SITE.store(sites::user(site).0, Ordering::Relaxed);
}

/// A string of the program, or `?`.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Cow<'a, str> {
    if text.is_null() {
        return Cow::Borrowed("?");
    }
    // SAFETY: a string of the program.
    String::from_utf8_lossy(unsafe { CStr::from_ptr(text) }.to_bytes())
}

pub(crate) fn refuse_process(what: &str, site: Site) -> ! {
    control::refuse(
        &format!("the program starts another process ({what}), which cannot be controlled"),
        sites::user(site),
    )
}

hook! {
    fn exit(status: c_int; site) {
        begin_exit(sites::user(site));
        note_exit(status, site);
        crate::process::exit(status)
    }
    // What `atexit` of the C library's static part calls, and the initialisation of variables that
    // have a destructor.
    fn __cxa_atexit(handler: usize, argument: usize, module: usize; site) -> c_int {
        shared::process(site);
        real!(__cxa_atexit: fn(usize, usize, usize) -> c_int)(handler, argument, module)
    }
    // What `at_quick_exit` of the C library's static part calls.
    fn __cxa_at_quick_exit(handler: usize, module: usize; site) -> c_int {
        shared::process(site);
        real!(__cxa_at_quick_exit: fn(usize, usize) -> c_int)(handler, module)
    }
    fn _exit(status: c_int; site) {
        leave(status, site)
    }
    fn _Exit(status: c_int; site) {
        leave(status, site)
    }
    fn quick_exit(status: c_int; site) {
        begin_exit(sites::user(site));
        note_exit(status, site);
        real!(quick_exit: fn(c_int))(status);
    }
    fn abort(; site) {
        control::fail(FailureKind::Crash, "aborted", sites::user(site))
    }
    fn __assert_fail(expression: *const c_char, file: *const c_char, line: u32, function: *const c_char; site) {
        let message = format!("assertion failed: {}, {}:{line}, {}", text(expression), text(file), text(function));
        control::fail(FailureKind::Assertion, &message, sites::user(site))
    }
    fn __assert(expression: *const c_char, file: *const c_char, line: c_int; site) {
        let message = format!("assertion failed: {}, {}:{line}", text(expression), text(file));
        control::fail(FailureKind::Assertion, &message, sites::user(site))
    }
    fn __assert_perror_fail(error: c_int, file: *const c_char, line: u32, function: *const c_char; site) {
        let message = format!("assertion failed: error {error}, {}:{line}, {}", text(file), text(function));
        control::fail(FailureKind::Assertion, &message, sites::user(site))
    }

    fn fork(; site) -> c_int { refuse_process("fork", site) }
    fn vfork(; site) -> c_int { refuse_process("vfork", site) }
    fn _Fork(; site) -> c_int { refuse_process("fork", site) }
    fn execve(_path: usize, _arguments: usize, _environment: usize; site) -> c_int { refuse_process("execve", site) }
    fn execv(_path: usize, _arguments: usize; site) -> c_int { refuse_process("execv", site) }
    fn execvp(_path: usize, _arguments: usize; site) -> c_int { refuse_process("execvp", site) }
    fn execvpe(_path: usize, _arguments: usize, _environment: usize; site) -> c_int { refuse_process("execvpe", site) }
    fn fexecve(_file: c_int, _arguments: usize, _environment: usize; site) -> c_int { refuse_process("fexecve", site) }
    fn system(_command: *const c_char; site) -> c_int { refuse_process("system", site) }
    fn popen(_command: *const c_char, _mode: *const c_char; site) -> usize { refuse_process("popen", site) }
    fn posix_spawn(_pid: usize, _path: usize, _actions: usize, _attributes: usize; site) -> c_int { refuse_process("posix_spawn", site) }
    fn posix_spawnp(_pid: usize, _path: usize, _actions: usize, _attributes: usize; site) -> c_int { refuse_process("posix_spawnp", site) }
    fn clone(_function: usize, _stack: usize, _flags: c_int, _argument: usize; site) -> c_int { refuse_process("clone", site) }
}
