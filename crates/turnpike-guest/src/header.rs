//! The functions of `turnpike.h`. They reach this library as system calls with numbers that no
//! operating system has, through the C library's `syscall`, so that the header needs no library to
//! link with and has no effect without control.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::{c_char, c_long};
use core::sync::atomic::{AtomicU32, Ordering};

use turnpike_scheduler::{FailureKind, Kind, Object, ObjectId, Operation, Site};

use crate::global::Global;
use crate::{control, objects, sites};

/// The first of the numbers; the same as in `turnpike.h`.
pub(crate) const FIRST: c_long = 0x1070_0000;

struct Queue {
    id: ObjectId,
    messages: VecDeque<Vec<u8>>,
}

static QUEUES: Global<Vec<Queue>> = Global::new(Vec::new());

/// The memory of the mutex behind atomic sections.
static ATOMIC: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Serves a call; `None` if the number is unknown.
///
/// # Safety
/// The arguments are what `turnpike.h` passes.
pub(crate) unsafe fn call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    site: Site,
) -> Option<c_long> {
    let site = sites::user(site);
    // SAFETY: the caller promises what `turnpike.h` passes: texts, and buffers with their length.
    unsafe {
        Some(match number - FIRST {
            0 => {
                // The header keeps the answer there.
                crate::audit::reported(a, b);
                1
            }
            1 => toss(a as c_long, site),
            2 => {
                assert(a != 0, b as *const c_char, c as *const c_char, d, site);
                0
            }
            3 => create(a as c_long, site),
            4 => send(a, core::slice::from_raw_parts(b as *const u8, c), site),
            5 => receive(a, Kind::Receive, b as *mut u8, c, site),
            6 => receive(a, Kind::TryReceive, b as *mut u8, c, site),
            7 => mark(a, Kind::Read, site),
            8 => mark(a, Kind::Write, site),
            9 => atomic(Kind::Lock, site),
            10 => atomic(Kind::Unlock, site),
            11 => {
                crate::access::may(a, b != 0);
                0
            }
            13 => {
                crate::access::may_use(queue(a, site, |queue| queue.id), b != 0);
                0
            }
            14 => {
                assume(a != 0, site);
                0
            }
            15 | 16 => {
                crate::parts::mark(number - FIRST == 15);
                0
            }
            12 => {
                control::simple(Kind::Message, ObjectId::NONE, site);
                0
            }
            _ => return None,
        })
    }
}

fn toss(n: c_long, site: Site) -> c_long {
    let argument = n.max(0) as u64;
    let toss = Operation { argument, ..Operation::new(Kind::Toss, ObjectId::NONE, site) };
    control::step(toss).value as c_long
}

unsafe fn assert(holds: bool, text: *const c_char, file: *const c_char, line: usize, site: Site) {
    if holds {
        control::step(Operation { argument: 1, ..Operation::new(Kind::Assert, ObjectId::NONE, site) });
        return;
    }
    // SAFETY: string literals of the program.
    let (text, file) = unsafe { (crate::process::text(text), crate::process::text(file)) };
    let message = format!("assertion failed: {text}, {file}:{line}");
    control::fail(FailureKind::Assertion, &message, site)
}

/// A thread whose assumption does not hold waits for ever. The others go on, so that the search
/// sees what they do, and could have done before. Then the execution ends without a verdict.
fn assume(holds: bool, site: Site) {
    if !holds {
        control::ABANDONED.store(true, Ordering::Relaxed);
        let never = control::kernel(|kernel| kernel.register(Object::Semaphore { value: 0 }, 0, site));
        control::simple(Kind::SemWait, never, site);
    }
}

fn create(capacity: c_long, site: Site) -> c_long {
    let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
    let id = control::kernel(|kernel| kernel.register(Object::Queue { capacity }, 0, site));
    QUEUES.with(|queues| {
        queues.push(Queue { id, messages: VecDeque::new() });
        queues.len() as c_long
    })
}

/// The queue, for as long as `work` takes.
fn queue<R>(handle: usize, site: Site, work: impl FnOnce(&mut Queue) -> R) -> R {
    match QUEUES.with(|queues| queues.get_mut(handle.wrapping_sub(1)).map(work)) {
        Some(result) => result,
        None => control::fail(FailureKind::Misuse, "uses a message queue that was not created", site),
    }
}

fn send(handle: usize, message: &[u8], site: Site) -> c_long {
    let id = queue(handle, site, |queue| queue.id);
    control::simple(Kind::Send, id, site);
    queue(handle, site, |queue| queue.messages.push_back(message.to_vec()));
    0
}

unsafe fn receive(handle: usize, kind: Kind, out: *mut u8, room: usize, site: Site) -> c_long {
    let id = queue(handle, site, |queue| queue.id);
    if !control::simple(kind, id, site).ok {
        return -1;
    }
    let Some(message) = queue(handle, site, |queue| queue.messages.pop_front()) else { return -1 };
    // SAFETY: the caller's buffer.
    unsafe { core::ptr::copy_nonoverlapping(message.as_ptr(), out, message.len().min(room)) };
    message.len() as c_long
}

/// A plain access that the program marks, to make it a step.
fn mark(address: usize, kind: Kind, site: Site) -> c_long {
    let id = crate::access::location(address, site);
    control::simple(kind, id, site);
    0
}

/// Atomic sections exclude each other: one mutex for all, which a thread may enter again.
fn atomic(kind: Kind, site: Site) -> c_long {
    // SAFETY: two words that nothing else uses, and that may be written.
    let id = unsafe {
        objects::of((&raw const ATOMIC).cast_mut().cast(), 8, site, || Object::Mutex { recursive: true })
    };
    control::simple(kind, id, site);
    0
}
