//! Futexes through the C library's `syscall`: C++20's waiting atomics, and all of Rust's standard
//! library.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use alloc::collections::BTreeMap;
use alloc::format;

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Site};

use crate::global::Global;
use crate::hook::real;
use crate::sys::{self, EAGAIN, ENOSYS, ETIMEDOUT, Timespec, fail_with};
use crate::{control, header, identity, memory, modules, process, random, sites, time};

static ADDRESS: AtomicU64 = AtomicU64::new(0);
static FRAME: AtomicUsize = AtomicUsize::new(0);

static WORDS: Global<BTreeMap<usize, ObjectId>> = Global::new(BTreeMap::new());

/// The word of a futex belongs to the program, so its object is found by address.
fn of(word: usize, site: Site) -> ObjectId {
    let register = || {
        let (name, site) = (sites::stable(word), sites::user(site));
        control::kernel(|kernel| kernel.register(Object::Futex, name, site))
    };
    WORDS.with(|words| *words.entry(word).or_insert_with(register))
}

/// Seven arguments leave no register for the return address, so the stub puts it into a static.
#[cfg_attr(embedded, unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn syscall(
    n: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "mov rax, [rsp]",
        "mov [rip + {address}], rax",
        "mov [rip + {frame}], rsp",
        "jmp {imp}",
        address = sym ADDRESS,
        frame = sym FRAME,
        imp = sym imp,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "adrp x8, {address}",
        "str x30, [x8, :lo12:{address}]",
        "adrp x8, {frame}",
        "mov x9, sp",
        "str x9, [x8, :lo12:{frame}]",
        "b {imp}",
        address = sym ADDRESS,
        frame = sym FRAME,
        imp = sym imp,
    );
}

unsafe extern "C" fn imp(n: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    let real = real!(syscall: fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long);
    if !control::active() {
        // SAFETY: the caller's arguments.
        return unsafe { real(n, a, b, c, d, e, f) };
    }
    let site = control::enter(ADDRESS.load(Ordering::Relaxed), FRAME.load(Ordering::Relaxed));
    // SAFETY: the caller's arguments.
    unsafe { serve(n, [a, b, c, d, e, f], site).unwrap_or_else(|| real(n, a, b, c, d, e, f)) }
}

/// Serves a system call with the results of the C library's `syscall`: -1 and `errno` for errors.
/// `None` for calls that the operating system must serve.
///
/// # Safety
/// The arguments are valid for the system call.
pub(crate) unsafe fn serve(n: c_long, arguments: [usize; 6], site: Site) -> Option<c_long> {
    let [a, b, c, d, e, f] = arguments;
    Some(match n {
        sys::number::FUTEX => futex(
            Call { word: a, operation: b as c_int, value: c as u32, timeout: d, second: e, last: f as u32 },
            site,
        ),
        sys::number::EXIT_GROUP => process::leave(a as c_int, site),
        sys::number::SCHED_YIELD => {
            control::simple(Kind::Yield, ObjectId::NONE, sites::user(site));
            0
        }
        sys::number::GETRANDOM => {
            // SAFETY: the caller's buffer.
            unsafe { random::fill(a as *mut u8, b) };
            b as c_long
        }
        sys::number::GETPID => identity::PID.into(),
        sys::number::GETTID => c_long::from(identity::PID) + c_long::from(control::me().0),
        // SAFETY: the caller's arguments.
        _ => return unsafe { header::call(n, a, b, c, d, site) },
    })
}

/// Whether the word still has the value that the waiting thread expects. The kernel asks right
/// before the step.
fn unchanged(thread: u64) -> bool {
    let (word, value) = control::threads(|threads| threads[thread as usize].expects);
    // SAFETY: the program's word.
    unsafe { (*(word as *const AtomicU32)).load(Ordering::SeqCst) == value }
}

/// The arguments of a futex call.
#[derive(Clone, Copy)]
struct Call {
    word: usize,
    operation: c_int,
    value: u32,
    /// A time limit, or how many waiters of the second word to wake or move.
    timeout: usize,
    second: usize,
    /// A set of bits, what to do with the second word, or the expected value of the first one.
    last: u32,
}

fn wake(word: usize, count: u64, site: Site) -> c_long {
    let id = of(word, site);
    let operation = Operation { argument: count, ..Operation::new(Kind::FutexWake, id, sites::user(site)) };
    control::step(operation).value as c_long
}

/// `FUTEX_WAKE_OP`: changes the second word, wakes up waiters of the first one, and, depending on
/// the old value of the second one, also waiters of that.
fn change_and_wake(call: Call, site: Site) -> c_long {
    control::uncontrolled("the moment at which a futex operation changes a word and wakes up threads");
    let signed = |bits: u32| (bits << 20).cast_signed() >> 20;
    let operand = match call.last >> 28 & 8 {
        0 => signed(call.last >> 12),
        _ => 1i32.wrapping_shl(call.last >> 12),
    };
    // SAFETY: the caller's word.
    let Some(old) = (unsafe { memory::change_word(call.second, call.last >> 28 & 7, operand, site) }) else {
        return fail_with(ENOSYS).into();
    };
    let (old, limit) = (old.cast_signed(), signed(call.last));
    let also = match call.last >> 24 & 15 {
        0 => old == limit,
        1 => old != limit,
        2 => old < limit,
        3 => old <= limit,
        4 => old > limit,
        _ => old >= limit,
    };
    let woken = wake(call.word, call.value.into(), site);
    if also { woken + wake(call.second, call.timeout as u64, site) } else { woken }
}

fn futex(call: Call, site: Site) -> c_long {
    let Call { word, operation, value, timeout, .. } = call;
    const WAIT: c_int = 0;
    const WAKE: c_int = 1;
    const REQUEUE: c_int = 3;
    const REQUEUE_IF: c_int = 4;
    const CHANGE_AND_WAKE: c_int = 5;
    const WAIT_BITSET: c_int = 9;
    const WAKE_BITSET: c_int = 10;
    const FLAGS: c_int = 128 | 256;
    if let Some(module) = modules::opaque_caller(site) {
        // Such a lock is never seen while it is taken and released without waiting.
        control::uncontrolled(&format!(
            "a lock of {module} that waits by futex, as long as nobody has to wait,"
        ));
    }
    let sets = matches!(operation & !FLAGS, WAIT_BITSET | WAKE_BITSET);
    if sets && call.last != u32::MAX {
        control::uncontrolled("which waiters a futex operation with a set of bits wakes up");
    }
    let id = of(word, site);
    let site = sites::user(site);
    match operation & !FLAGS {
        WAIT | WAIT_BITSET => {
            control::thread(|thread| thread.expects = (word, value));
            // Instrumented code changes the word by steps of its own.
            let second =
                if memory::is_instrumented() { memory::object_at(word, site) } else { ObjectId::NONE };
            let wait = Operation {
                second,
                argument: control::me().0.into(),
                writes: Some(unchanged),
                ..Operation::new(Kind::FutexWait, id, site)
            };
            let limit = timeout as *const Timespec;
            // `FUTEX_WAIT` takes a duration, `FUTEX_WAIT_BITSET` a point in time.
            // SAFETY: the program's limit, or null.
            let deadline = (!limit.is_null()).then(|| unsafe {
                if operation & !FLAGS == WAIT {
                    time::after(limit, site)
                } else {
                    time::deadline(if operation & 256 != 0 { time::REALTIME } else { 1 }, limit, site)
                }
            });
            let outcome = control::step(control::limited(wait, deadline));
            if outcome.timed_out {
                fail_with(ETIMEDOUT).into()
            } else if outcome.ok {
                0
            } else {
                fail_with(EAGAIN).into()
            }
        }
        WAKE | WAKE_BITSET => wake(word, value.into(), site),
        CHANGE_AND_WAKE => change_and_wake(call, site),
        REQUEUE | REQUEUE_IF => {
            // SAFETY: the caller's word.
            let present = unsafe { (*(word as *const AtomicU32)).load(Ordering::SeqCst) };
            if operation & !FLAGS == REQUEUE_IF && present != call.last {
                control::uncontrolled("the moment at which a futex operation compares a word");
                return fail_with(EAGAIN).into();
            }
            // Waiters may wake up spuriously, so those that would be moved wake up instead.
            control::uncontrolled("which threads wait on after a futex operation that moves them");
            let moved = u64::try_from(timeout).unwrap_or(u64::MAX);
            wake(word, u64::from(value).saturating_add(moved), site)
        }
        _ => {
            control::uncontrolled("a futex operation other than waiting and waking");
            fail_with(ENOSYS).into()
        }
    }
}
