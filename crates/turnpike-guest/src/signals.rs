//! Fatal signals end executions. The handler runs on a stack of its own, because the thread's may
//! have overflowed.

use alloc::format;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Detail, FailureKind, Site, ThreadId};

use crate::hook::real;
#[cfg(target_arch = "x86_64")]
use crate::raw;
use crate::{blocking, control, memory, protocol, sites, sys};

const ILL: usize = 4;
const TRAP: usize = 5;
const ABRT: usize = 6;
const BUS: usize = 7;
const FPE: usize = 8;
const SEGV: usize = 11;
const SYS: usize = 31;
/// Also how the host asks an execution that hangs.
const XCPU: usize = protocol::HANG_SIGNAL as usize;

const STACK: usize = 64 << 10;

/// The kernel's `struct sigaction`.
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    #[cfg(target_arch = "x86_64")]
    restorer: usize,
    mask: u64,
}

#[repr(C)]
struct Stack {
    address: usize,
    flags: i32,
    size: usize,
}

/// Gives the running thread of the system a stack for handlers.
pub(crate) fn alternate_stack() {
    let address = sys::map(STACK, -1);
    if address != 0 {
        let stack = Stack { address, flags: 0, size: STACK };
        sys::syscall(sys::number::SIGALTSTACK, &raw const stack as usize, 0, 0, 0, 0, 0);
    }
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl turnpike_restore",
    ".hidden turnpike_restore",
    "turnpike_restore:",
    "mov eax, 15",
    "syscall",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn turnpike_restore();
}

/// Whether any thread changed its mask.
pub(crate) static MASKED: AtomicBool = AtomicBool::new(false);

/// The signals that the system's thread blocks.
pub(crate) fn mask() -> u64 {
    let mut mask = 0u64;
    sys::syscall(sys::number::RT_SIGPROCMASK, 0, 0, &raw mut mask as usize, 8, 0, 0);
    mask
}

/// From now on, each thread has a mask of its own. Until then, fibers share that of the system's
/// thread.
pub(crate) fn separate_masks() {
    if !MASKED.swap(true, Ordering::Relaxed) {
        let same = mask();
        control::threads(|threads| threads.iter_mut().for_each(|thread| thread.mask = same));
    }
}

/// The running thread sends a signal to itself. While its handler runs, this thread blocks the
/// signal, and the others do not.
pub(crate) fn raise(signal: c_int) -> c_int {
    separate_masks();
    // SAFETY: any number is valid.
    unsafe { real!(raise: fn(c_int) -> c_int)(signal) }
}

/// Installs the mask of the fiber that runs next. The old one is read back, because a handler
/// changes the mask of its thread without a call.
#[inline]
pub(crate) fn switch(from: Option<ThreadId>, to: ThreadId) {
    if MASKED.load(Ordering::Relaxed) {
        const SET: usize = 2;
        let new = control::thread_of(to, |thread| thread.mask);
        let mut old = 0u64;
        let (new, into) = (&raw const new as usize, &raw mut old as usize);
        sys::syscall(sys::number::RT_SIGPROCMASK, SET, new, into, 8, 0, 0);
        if let Some(from) = from {
            control::thread_of(from, |thread| thread.mask = old);
        }
    }
}

/// Sends a signal to another thread. If that one blocks it, it stays pending until the thread
/// unblocks it or asks for it.
pub(crate) fn send(to: ThreadId, signal: c_int, site: Site) -> c_int {
    blocking::announce_signal(site);
    let bit = 1u64.wrapping_shl(signal.wrapping_sub(1) as u32);
    // Only after the step, before which it may have changed its mask.
    let blocked = MASKED.load(Ordering::Relaxed)
        && control::thread_of(to, |thread| thread.mask) & bit != 0
        && mask() & bit == 0;
    if !blocked {
        return raise(signal);
    }
    control::thread_of(to, |thread| thread.pending |= bit);
    0
}

/// Delivers the signals that were sent to the running thread while it blocked them, when it asks
/// for signals or is about to change its mask.
pub(crate) fn arrive() {
    let pending = control::thread(|thread| core::mem::take(&mut thread.pending));
    for signal in (1..=64).filter(|signal| pending & 1u64.wrapping_shl(signal - 1) != 0) {
        // The thread still blocks it, so the system keeps it pending.
        raise(signal as c_int);
    }
}

/// Installs the handler for all fatal signals.
pub(crate) fn install() {
    const SIGINFO: u64 = 4;
    const ONSTACK: u64 = 0x0800_0000;
    const NODEFER: u64 = 0x4000_0000;
    #[cfg(target_arch = "x86_64")]
    const RESTORER: u64 = 0x0400_0000;
    #[cfg(target_arch = "aarch64")]
    const RESTORER: u64 = 0;
    for signal in [ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS, XCPU] {
        let action = Action {
            handler: handler as *const () as usize,
            flags: SIGINFO | ONSTACK | NODEFER | RESTORER,
            #[cfg(target_arch = "x86_64")]
            restorer: turnpike_restore as *const () as usize,
            mask: 0,
        };
        sys::syscall(sys::number::RT_SIGACTION, signal, &raw const action as usize, 0, 8, 0, 0);
    }
}

fn name(signal: usize) -> &'static str {
    match signal {
        ILL => "illegal instruction",
        TRAP => "trap",
        ABRT => "abort",
        BUS => "bus error",
        FPE => "arithmetic error",
        SEGV => "segmentation fault",
        XCPU => "processor time exceeded",
        _ => "bad system call",
    }
}

static HANDLING: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn handler(signal: i32, info: *mut c_void, context: *mut c_void) {
    #[cfg(target_arch = "x86_64")]
    {
        const FILTERED: i32 = 1;
        const INTERRUPTED: i32 = 2;
        // SAFETY: the kernel's records.
        unsafe {
            if signal as usize == SYS && *(info.add(8) as *const i32) == INTERRUPTED {
                crate::reuse::interrupted(context);
                return;
            }
            if signal as usize == SEGV && crate::tsc::serve(info, context) {
                return;
            }
            if signal as usize == SYS && *(info.add(8) as *const i32) == FILTERED && control::active() {
                raw::divert(context);
                return;
            }
        }
    }
    // Whatever happens now, the process is not reused.
    sys::note_change();
    // The default action, for signals outside control and for those inside the handler itself.
    if !control::active() || HANDLING.swap(true, Ordering::Relaxed) {
        let action = Action {
            handler: 0,
            flags: 0,
            #[cfg(target_arch = "x86_64")]
            restorer: 0,
            mask: 0,
        };
        sys::syscall(sys::number::RT_SIGACTION, signal as usize, &raw const action as usize, 0, 8, 0, 0);
        let pid = sys::syscall(sys::number::GETPID, 0, 0, 0, 0, 0, 0);
        sys::syscall(sys::number::KILL, pid as usize, signal as usize, 0, 0, 0, 0);
        return;
    }
    let signal = signal as usize;
    // SAFETY: the kernel's records; the offset of the program counter is fixed by its interface.
    let (address, counter) = unsafe {
        #[cfg(target_arch = "x86_64")]
        const COUNTER: usize = 168;
        #[cfg(target_arch = "aarch64")]
        const COUNTER: usize = 440;
        (*(info.add(16) as *const usize), *(context.add(COUNTER) as *const usize))
    };
    let asked = signal == XCPU && control::header().hangs.load(Ordering::Relaxed) != 0;
    if asked && !control::FIBERS.load(Ordering::Relaxed) {
        // Any thread may get it, not just the one that hangs.
        HANDLING.store(false, Ordering::Relaxed);
        return;
    }
    // SAFETY: the process ends below, whatever the thread was doing.
    unsafe { control::take_back() };
    // A stack that overflowed cannot be copied, and tells nothing.
    if (asked || control::DETAIL.get() == Detail::Stacks)
        && !(matches!(signal, SEGV | BUS) && overflowed(address, stack_of(context)))
    {
        // SAFETY: the kernel's record.
        unsafe { crate::context::note_interrupted(context) };
    }
    // One more: sites are return addresses.
    let site = sites::user_above(Site(counter as u64 + 1), stack_of(context));
    if asked {
        control::hangs(site);
    }
    let what = name(signal);
    let message = match signal {
        SEGV | BUS if overflowed(address, stack_of(context)) => {
            format!("stack overflow ({what} at {address:#x})")
        }
        SEGV | BUS => format!("{what} at address {address:#x}"),
        ABRT => "aborted".into(),
        _ => what.into(),
    };
    control::header().end.store(protocol::END_NONE, Ordering::Relaxed);
    if let Some(message) = memory::explain(address).filter(|_| matches!(signal, SEGV | BUS)) {
        control::fail(FailureKind::Heap, &message, site);
    }
    control::fail(FailureKind::Crash, &message, site)
}

fn stack_of(context: *mut c_void) -> usize {
    #[cfg(target_arch = "x86_64")]
    const STACK_POINTER: usize = 160;
    #[cfg(target_arch = "aarch64")]
    const STACK_POINTER: usize = 432;
    // SAFETY: the kernel's record.
    unsafe { *(context.add(STACK_POINTER) as *const usize) }
}

/// Whether an inaccessible address is close to the stack pointer, so that the stack has overflowed.
fn overflowed(address: usize, stack: usize) -> bool {
    const NEAR: usize = 64 << 10;
    address.wrapping_sub(stack.wrapping_sub(NEAR)) < 2 * NEAR
}
