//! State that threads share without sharing memory: files, descriptors and directories of the
//! process, streams of the C library, handlers of signals, the environment, the generators of
//! random numbers, and attributes of the process.
//!
//! Calls that look at it or change it are steps as soon as other threads could observe the order.
//! Everything about files is one object, the same that reading and writing descriptors works on:
//! more orders are explored than necessary, and none is missed. Writing to standard output and
//! error is not a step, because a program cannot read there.

use core::ffi::{c_char, c_int, c_long, c_void};
use core::sync::atomic::Ordering;

use turnpike_scheduler::{Detail, Kind, Object, ObjectId, Site};

use crate::global::Global;
use crate::hook::{hook, real};
use crate::{blocking, control, descriptors, memory, random, signals, sites, sys};

unsafe extern "C" {
    static stdout: *mut c_void;
    static stderr: *mut c_void;
    static environ: *const *const c_char;
}

/// Whether another thread may observe when something happens: not if all of them were joined.
fn is_shared() -> bool {
    control::active() && control::UNJOINED.load(Ordering::Relaxed) > 1
}

/// A step before the running thread uses files or descriptors.
pub(crate) fn files(site: Site) {
    if is_shared() {
        let site = sites::user(site);
        control::simple(Kind::Update, blocking::descriptors(site), site);
    }
}

/// A step before it uses a file that a path names.
///
/// # Safety
/// `path` is null or ends with a zero byte.
pub(crate) unsafe fn path(path: *const c_char, site: Site) {
    files(site);
    // SAFETY: promised by the caller.
    unsafe { memory::tell_text("a call with a path", path, site) };
}

/// A step before it uses a stream of the C library.
pub(crate) fn stream(stream: *mut c_void, site: Site) {
    // SAFETY: variables of the C library, which programs set at most at their beginning.
    let standard = unsafe { stream == stdout || stream == stderr };
    if !standard {
        files(site);
        // Closing frees it.
        crate::memory::used(stream as usize, site);
    }
}

/// Other state that all threads share: an object of its own.
struct Shared {
    /// The same in all executions, and different from every other object's.
    name: u64,
    called: &'static str,
    object: Global<Option<ObjectId>>,
}

impl Shared {
    const fn new(name: u64, called: &'static str) -> Self {
        Shared { name, called, object: Global::new(None) }
    }

    fn step(&self, kind: Kind, site: Site) {
        if is_shared() {
            let site = sites::user(site);
            let object = self.object.with(|known| *known.get_or_insert_with(|| self.register(site)));
            control::simple(kind, object, site);
        }
    }

    fn register(&self, site: Site) -> ObjectId {
        control::kernel(|kernel| {
            let object = kernel.register(Object::Memory, self.name, site);
            if control::DETAIL.get() >= Detail::Full {
                kernel.name_object(object, self.called);
            }
            object
        })
    }
}

static ENVIRONMENT: Shared = Shared::new(0x656e_7669_726f_6e6d, "environment");
static GENERATORS: Shared = Shared::new(0x6765_6e65_7261_746f, "random numbers");
static KEYS: Shared = Shared::new(0x6b65_7973_2074_6c73, "keys of thread-specific data");
static PROCESS: Shared = Shared::new(0x7072_6f63_6573_7321, "process");

fn environment(kind: Kind, site: Site) {
    ENVIRONMENT.step(kind, site);
}

/// A step before the running thread changes the environment, which others may read without a call.
fn change_environment(site: Site) {
    environment(Kind::Update, site);
    if !is_shared() {
        return;
    }
    memory::tell_bytes(&raw const environ as *const c_void, size_of::<usize>(), true, site);
    // SAFETY: null, or a list that ends with null; the running thread changes it alone.
    let (list, count) = unsafe {
        let (list, mut count) = (environ, 0);
        while !list.is_null() && !(*list.add(count)).is_null() {
            count += 1;
        }
        (list, count + 1)
    };
    if !list.is_null() {
        memory::tell_bytes(list as *const c_void, count * size_of::<usize>(), true, site);
    }
}

/// A step before the running thread draws from the C library's generators, or seeds them. Each time
/// it leaves them in another state, so a loop that does this is not one that waits.
fn generators(site: Site) {
    random::note_draw();
    GENERATORS.step(Kind::Update, site);
}

/// A step before the running thread uses, creates or deletes a key of thread-specific data.
pub(crate) fn keys(kind: Kind, site: Site) {
    KEYS.step(kind, site);
}

/// A step before the running thread looks at attributes of the process, or changes them.
pub(crate) fn process(site: Site) {
    PROCESS.step(Kind::Update, site);
}

/// Gets the running thread's mask of signals, and changes it if `new` is not null. The system has
/// one mask for all fibers; each fiber's own is restored when it runs again.
unsafe fn mask(how: c_int, new: *const c_void, old: *mut c_void, site: Site) -> c_int {
    const SET: usize = 128;
    if !old.is_null() {
        memory::tell_bytes(old, SET, true, site);
    }
    let change = real!(pthread_sigmask: fn(c_int, *const c_void, *mut c_void) -> c_int);
    memory::tell_operand("a change of the mask of signals", new, size_of::<u64>(), false, site);
    if !new.is_null() {
        signals::separate_masks();
    }
    signals::arrive();
    // SAFETY: the caller's sets.
    let answer = unsafe { change(how, new, old) };
    let mask = signals::mask();
    control::thread(|thread| thread.mask = mask);
    answer
}

/// Whether a command of `fcntl` makes another descriptor.
fn duplicates(what: c_int) -> bool {
    const SAME: c_int = 0;
    const SAME_CLOSED_ON_EXEC: c_int = 1030;
    matches!(what, SAME | SAME_CLOSED_ON_EXEC)
}

hook! {
    fn fcntl(fd: c_int, what: c_int, argument: usize; site) -> c_int {
        files(site);
        let answer = real!(fcntl: fn(c_int, c_int, usize) -> c_int)(fd, what, argument);
        if duplicates(what) { descriptors::copied(fd, answer) } else { answer }
    }
    fn fcntl64(fd: c_int, what: c_int, argument: usize; site) -> c_int {
        files(site);
        let answer = real!(fcntl64: fn(c_int, c_int, usize) -> c_int)(fd, what, argument);
        if duplicates(what) { descriptors::copied(fd, answer) } else { answer }
    }
    fn getenv(name: *const c_char; site) -> *mut c_char {
        environment(Kind::Load, site);
        memory::tell_text("getenv", name, site);
        real!(getenv: fn(*const c_char) -> *mut c_char)(name)
    }
    fn secure_getenv(name: *const c_char; site) -> *mut c_char {
        environment(Kind::Load, site);
        memory::tell_text("secure_getenv", name, site);
        real!(secure_getenv: fn(*const c_char) -> *mut c_char)(name)
    }
    fn setenv(name: *const c_char, value: *const c_char, replace: c_int; site) -> c_int {
        change_environment(site);
        memory::tell_text("setenv", name, site);
        memory::tell_text("setenv", value, site);
        real!(setenv: fn(*const c_char, *const c_char, c_int) -> c_int)(name, value, replace)
    }
    fn unsetenv(name: *const c_char; site) -> c_int {
        change_environment(site);
        memory::tell_text("unsetenv", name, site);
        real!(unsetenv: fn(*const c_char) -> c_int)(name)
    }
    fn putenv(text: *mut c_char; site) -> c_int {
        change_environment(site);
        memory::tell_text("putenv", text, site);
        real!(putenv: fn(*mut c_char) -> c_int)(text)
    }
    fn clearenv(; site) -> c_int {
        change_environment(site);
        real!(clearenv: fn() -> c_int)()
    }
    fn setlocale(category: c_int, locale: *const c_char; site) -> *mut c_char {
        // Too many functions depend on the locale to make each of them a step.
        if is_shared() && !locale.is_null() {
            control::uncontrolled("the moment at which setlocale changes what other threads' calls do");
        }
        process(site);
        real!(setlocale: fn(c_int, *const c_char) -> *mut c_char)(category, locale)
    }
    fn sigprocmask(how: c_int, new: *const c_void, old: *mut c_void; site) -> c_int {
        match mask(how, new, old, site) {
            0 => 0,
            error => sys::fail_with(error),
        }
    }
    fn pthread_sigmask(how: c_int, new: *const c_void, old: *mut c_void; site) -> c_int {
        mask(how, new, old, site)
    }
}

hook! {
    fn raise(signal: c_int; site) -> c_int {
        files(site);
        signals::raise(signal)
    }
    fn sigaction(signal: c_int, new: *const c_void, old: *mut c_void; site) -> c_int {
        const ACTION: usize = 152;
        files(site);
        memory::tell_operand("sigaction", new, ACTION, false, site);
        if !old.is_null() {
            memory::tell_bytes(old, ACTION, true, site);
        }
        real!(sigaction: fn(c_int, *const c_void, *mut c_void) -> c_int)(signal, new, old)
    }
    fn fdopen(fd: c_int, mode: *const c_char; site) -> *mut c_void {
        files(site);
        memory::tell_text("fdopen", mode, site);
        real!(fdopen: fn(c_int, *const c_char) -> *mut c_void)(fd, mode)
    }
    fn tcgetattr(fd: c_int, into: *mut c_void; site) -> c_int {
        files(site);
        memory::tell_bytes(into, ATTRIBUTES, true, site);
        real!(tcgetattr: fn(c_int, *mut c_void) -> c_int)(fd, into)
    }
    fn tcsetattr(fd: c_int, when: c_int, from: *const c_void; site) -> c_int {
        files(site);
        memory::tell_operand("tcsetattr", from, ATTRIBUTES, false, site);
        real!(tcsetattr: fn(c_int, c_int, *const c_void) -> c_int)(fd, when, from)
    }
}

/// Bytes of `struct termios`.
const ATTRIBUTES: usize = 60;

/// Calls about the file that a path names.
macro_rules! about_paths {
    ($(fn $name:ident($at:ident: *const c_char $(, $arg:ident: $ty:ty)*) -> $ret:ty;)*) => { hook! { $(
        fn $name($at: *const c_char $(, $arg: $ty)*; site) -> $ret {
            path($at, site);
            real!($name: fn(*const c_char $(, $ty)*) -> $ret)($at $(, $arg)*)
        }
    )* } };
}

about_paths! {
    fn chdir(at: *const c_char) -> c_int;
    fn chmod(at: *const c_char, mode: u32) -> c_int;
    fn opendir(at: *const c_char) -> *mut c_void;
    fn pathconf(at: *const c_char, name: c_int) -> c_long;
}

/// Calls with a step before them: `files`, `process` or `generators`.
macro_rules! about {
    ($what:ident: $(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => { hook! { $(
        fn $name($($arg: $ty),*; site) -> $ret {
            $what(site);
            real!($name: fn($($ty),*) -> $ret)($($arg),*)
        }
    )* } };
}

about! { files:
    fn closedir(folder: *mut c_void) -> c_int;
    fn fchmod(fd: c_int, mode: u32) -> c_int;
    fn fsync(fd: c_int) -> c_int;
    fn ftruncate(fd: c_int, size: i64) -> c_int;
    fn isatty(fd: c_int) -> c_int;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn lseek64(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn posix_fadvise(fd: c_int, offset: i64, size: i64, advice: c_int) -> c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int;
    fn tmpfile() -> *mut c_void;
    fn umask(mode: u32) -> u32;
    fn signal(signal: c_int, handler: usize) -> usize;
}

about! { process:
    fn getegid() -> u32;
    fn geteuid() -> u32;
    fn getgid() -> u32;
    fn getpgid(pid: c_int) -> c_int;
    fn getpgrp() -> c_int;
    fn getpriority(which: c_int, who: u32) -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn getuid() -> u32;
    fn nice(change: c_int) -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn setpriority(which: c_int, who: u32, priority: c_int) -> c_int;
    fn setsid() -> c_int;
    fn setuid(user: u32) -> c_int;
}

/// Its five arguments leave no register for the call site.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    if control::active() {
        process(Site::default());
    }
    let real = real!(prctl: fn(c_int, usize, usize, usize, usize) -> c_int);
    // SAFETY: the caller's arguments.
    unsafe { real(option, a, b, c, d) }
}

about! { generators:
    fn drand48() -> f64;
    fn lrand48() -> c_long;
    fn mrand48() -> c_long;
    fn rand() -> c_int;
    fn random() -> c_long;
    fn srand(seed: u32) -> ();
    fn srand48(seed: c_long) -> ();
    fn srandom(seed: u32) -> ();
}

/// Calls about streams.
macro_rules! about_streams {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $on:ident -> $ret:ty;)*) => { hook! { $(
        fn $name($($arg: $ty),*; site) -> $ret {
            stream($on, site);
            real!($name: fn($($ty),*) -> $ret)($($arg),*)
        }
    )* } };
}

about_streams! {
    fn clearerr(on: *mut c_void) on -> ();
    fn fclose(on: *mut c_void) on -> c_int;
    fn feof(on: *mut c_void) on -> c_int;
    fn ferror(on: *mut c_void) on -> c_int;
    fn fflush(on: *mut c_void) on -> c_int;
    fn fileno(on: *mut c_void) on -> c_int;
    fn fputc(character: c_int, on: *mut c_void) on -> c_int;
    fn fputc_unlocked(character: c_int, on: *mut c_void) on -> c_int;
    fn fseek(on: *mut c_void, offset: c_long, whence: c_int) on -> c_int;
    fn fseeko(on: *mut c_void, offset: i64, whence: c_int) on -> c_int;
    fn ftell(on: *mut c_void) on -> c_long;
    fn ftello(on: *mut c_void) on -> i64;
    fn putc(character: c_int, on: *mut c_void) on -> c_int;
    fn putc_unlocked(character: c_int, on: *mut c_void) on -> c_int;
    fn rewind(on: *mut c_void) on -> ();
    fn setbuf(on: *mut c_void, buffer: *mut c_char) on -> ();
    fn setbuffer(on: *mut c_void, buffer: *mut c_char, size: usize) on -> ();
    fn setlinebuf(on: *mut c_void) on -> ();
    fn setvbuf(on: *mut c_void, buffer: *mut c_char, mode: c_int, size: usize) on -> c_int;
    fn ungetc(character: c_int, on: *mut c_void) on -> c_int;
}
