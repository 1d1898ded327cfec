//! Threads as fibers on borrowed thread state.
//!
//! For each future thread the fork server starts a real one, which blocks all signals, reports
//! where its thread-local storage and the free part of its stack are, and sleeps for ever. A child
//! of the fork server has a copy of that memory but not the sleeping thread, so it can run a thread
//! of the program there: on that stack, with the thread register set to that storage. `errno`,
//! `pthread_self`, `thread_local` and the C library's caches then behave as in a real thread, and
//! switching costs some twenty instructions.

use alloc::vec::Vec;
use core::arch::{asm, global_asm};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use turnpike_scheduler::ThreadId;

use crate::control;
use crate::global::Global;
use crate::hook::real;
use crate::sys;

/// Where a fiber continues: its stack pointer and its thread register.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context {
    pub stack: usize,
    pub base: usize,
    /// Its place in the pool; the main thread has none.
    pub slot: Option<u32>,
}

/// A parked thread.
pub(crate) struct Slot {
    base: usize,
    stack: usize,
    handle: usize,
    /// The lowest address of the stack.
    low: usize,
    /// Everything above the free part of the stack, as it was when the thread was new, to restore
    /// when the slot is used again.
    pristine: Vec<u8>,
    used: bool,
    /// Another stack, for a thread that asks for a larger one: its address and size.
    large: (usize, usize),
}

/// The parked threads.
pub(crate) struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

static POOL: Global<Pool> = Global::new(Pool { slots: Vec::new(), free: Vec::new() });

/// Whether this processor lets programs set the thread register.
pub(crate) fn possible() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const HWCAP2: i64 = 26;
        const FSGSBASE: u64 = 2;
        // SAFETY: reads the auxiliary vector.
        unsafe { sys::getauxval(HWCAP2) & FSGSBASE != 0 }
    }
    #[cfg(target_arch = "aarch64")]
    true
}

/// The thread register of the running thread.
pub(crate) fn base() -> usize {
    let base: usize;
    // SAFETY: reads the thread register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly));
        #[cfg(target_arch = "aarch64")]
        asm!("mrs {}, tpidr_el0", out(reg) base, options(nostack, nomem));
    }
    base
}

/// The stack pointer, roughly.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let stack: usize;
    // SAFETY: reads the stack pointer.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, rsp", out(reg) stack, options(nostack, nomem));
        #[cfg(target_arch = "aarch64")]
        asm!("mov {}, sp", out(reg) stack, options(nostack, nomem));
    }
    stack
}

#[repr(C)]
struct Parking {
    base: usize,
    stack: usize,
    done: AtomicU32,
}

extern "C" fn park(parking: *mut c_void) -> *mut c_void {
    let all: u64 = !0;
    sys::syscall(sys::number::RT_SIGPROCMASK, 2, &raw const all as usize, 0, 8, 0, 0);
    // SAFETY: the fork server waits for `done` before it frees the record.
    let parking = unsafe { &mut *(parking as *mut Parking) };
    parking.base = base();
    parking.stack = stack_pointer();
    parking.done.store(1, Ordering::Release);
    sys::futex_wake(parking.done.as_ptr());
    static FOREVER: AtomicU32 = AtomicU32::new(0);
    loop {
        sys::futex_wait(FOREVER.as_ptr(), 0);
    }
}

/// Parks threads until there are `count`; false if the system cannot create that many.
pub(crate) fn park_until(count: usize, stack: usize) -> bool {
    while parked() < count {
        let mut attributes = [0u64; 8];
        let mut handle: usize = 0;
        let mut parking = Parking { base: 0, stack: 0, done: AtomicU32::new(0) };
        let attribute = attributes.as_mut_ptr() as *mut c_void;
        let mut low: usize = 0;
        let mut size: usize = 0;
        // SAFETY: the C library's own functions, with memory for its attributes.
        unsafe {
            real!(pthread_attr_init: fn(*mut c_void) -> c_int)(attribute);
            if stack != 0 {
                real!(pthread_attr_setstacksize: fn(*mut c_void, usize) -> c_int)(attribute, stack);
            }
            let create = real!(pthread_create: fn(*mut usize, *mut c_void, usize, *mut c_void) -> c_int);
            if create(&mut handle, attribute, park as *const () as usize, &raw mut parking as *mut c_void)
                != 0
            {
                return false;
            }
            while parking.done.load(Ordering::Acquire) == 0 {
                sys::futex_wait(parking.done.as_ptr(), 0);
            }
            real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(attribute);
            real!(pthread_getattr_np: fn(usize, *mut c_void) -> c_int)(handle, attribute);
            real!(pthread_attr_getstack: fn(*mut c_void, *mut usize, *mut usize) -> c_int)(
                attribute, &mut low, &mut size,
            );
            real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(attribute);
        }
        let length = (low + size).saturating_sub(parking.stack);
        // SAFETY: the upper end of the parked thread's stack, which no thread changes.
        let pristine = unsafe { core::slice::from_raw_parts(parking.stack as *const u8, length) }.to_vec();
        let (base, stack) = (parking.base, parking.stack);
        POOL.with(|pool| {
            pool.free.insert(0, pool.slots.len() as u32);
            pool.slots.push(Slot { base, stack, handle, low, pristine, used: false, large: (0, 0) });
        });
    }
    true
}

/// How many threads are parked.
pub(crate) fn parked() -> usize {
    POOL.with(|pool| pool.slots.len())
}

/// Takes a parked thread. Returns its slot and what `pthread_self` returns there.
pub(crate) fn take() -> Option<(u32, usize)> {
    POOL.with(|pool| {
        let slot = pool.free.pop()?;
        let place = &mut pool.slots[slot as usize];
        if place.used {
            // SAFETY: the thread that ran here has ended. This makes its thread-local storage
            // new again.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    place.pristine.as_ptr(),
                    place.stack as *mut u8,
                    place.pristine.len(),
                )
            };
            crate::memory::renew(place.low, place.stack + place.pristine.len() - place.low);
            if place.large.1 > 0 {
                crate::memory::renew(place.large.0, place.large.1);
            }
        }
        place.used = true;
        Some((slot, place.handle))
    })
}

/// Returns a slot whose thread has ended and was forgotten.
pub(crate) fn give_back(slot: u32) {
    POOL.with(|pool| pool.free.push(slot));
}

/// Room between the parked thread's frame and the fiber's first.
const GAP: usize = 512;
const PAGE: usize = 4096;

/// Prepares the first frame of a new thread, on a stack of at least `size` bytes if there is
/// memory.
pub(crate) fn prepare(slot: u32, size: usize) -> Context {
    POOL.with(|pool| {
        let place = &mut pool.slots[slot as usize];
        let mut top = (place.stack - GAP) & !15;
        if size > top - place.low {
            if place.large.1 < size {
                // The lowest page stays inaccessible, to detect overflows.
                let low = sys::map(size + PAGE, -1);
                if low != 0 {
                    sys::syscall(sys::number::MPROTECT, low, PAGE, 0, 0, 0, 0);
                    place.large = (low + PAGE, size);
                }
            }
            if place.large.1 >= size {
                top = (place.large.0 + place.large.1 - GAP) & !15;
            }
        }
        let frame = top - FRAME;
        // SAFETY: the free part of the parked thread's stack.
        unsafe {
            core::ptr::write_bytes(frame as *mut u8, 0, FRAME);
            initial(frame);
        }
        Context { stack: frame, base: place.base, slot: Some(slot) }
    })
}

/// The memory of the thread that begins at `stack`. It includes the thread-local storage if that is
/// part of the same mapping.
pub(crate) fn extent(slot: u32, stack: usize) -> (usize, usize) {
    POOL.with(|pool| {
        let place = &pool.slots[slot as usize];
        let end = place.stack + place.pristine.len();
        let (low, size) = place.large;
        if (place.low..end).contains(&stack) { (place.low, end) } else { (low, low + size) }
    })
}

/// Switches from the thread `from` to `to`.
pub(crate) fn switch(from: ThreadId, to: ThreadId) {
    let (target, save) = control::threads(|threads| {
        (threads[to.0 as usize].fiber, &raw mut threads[from.0 as usize].fiber.stack)
    });
    crate::signals::switch(Some(from), to);
    // SAFETY: `target` was saved by a switch or prepared; threads are only moved in memory by
    // creations, which the saved pointer does not outlive: it is used before the stacks change.
    unsafe { turnpike_switch(save, target.stack, target.base) };
}

/// The running thread never runs again; `to` goes on.
pub(crate) fn leave(to: ThreadId) -> ! {
    let target = control::thread_of(to, |thread| thread.fiber);
    crate::signals::switch(None, to);
    let mut nowhere = 0usize;
    // SAFETY: `target` was saved by a switch or prepared; what is saved of the running thread is
    // never used.
    unsafe { turnpike_switch(&mut nowhere, target.stack, target.base) };
    unreachable!()
}

extern "C" fn first() -> ! {
    crate::threads::run(control::thread(|thread| thread.start))
}

unsafe extern "C" {
    fn turnpike_switch(save: *mut usize, stack: usize, base: usize);
    fn turnpike_first();
}

#[cfg(target_arch = "x86_64")]
const FRAME: usize = 64;

#[cfg(target_arch = "x86_64")]
unsafe fn initial(frame: usize) {
    // SAFETY: the frame has room for these.
    unsafe {
        asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) frame, options(nostack));
        *((frame + 56) as *mut usize) = turnpike_first as *const () as usize;
    }
}

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl turnpike_switch",
    ".hidden turnpike_switch",
    ".type turnpike_switch, @function",
    "turnpike_switch:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "wrfsbase rdx",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".size turnpike_switch, . - turnpike_switch",
    // The outermost frame of a fiber: unwinders stop here.
    ".globl turnpike_first",
    ".hidden turnpike_first",
    ".type turnpike_first, @function",
    "turnpike_first:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "call {first}",
    "ud2",
    ".cfi_endproc",
    ".size turnpike_first, . - turnpike_first",
    first = sym first,
);

#[cfg(target_arch = "aarch64")]
const FRAME: usize = 160;

#[cfg(target_arch = "aarch64")]
unsafe fn initial(frame: usize) {
    // SAFETY: the frame has room for it: the saved link register.
    unsafe { *((frame + 8) as *mut usize) = turnpike_first as *const () as usize };
}

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl turnpike_switch",
    ".hidden turnpike_switch",
    ".type turnpike_switch, @function",
    "turnpike_switch:",
    "stp x29, x30, [sp, -160]!",
    "stp x19, x20, [sp, 16]",
    "stp x21, x22, [sp, 32]",
    "stp x23, x24, [sp, 48]",
    "stp x25, x26, [sp, 64]",
    "stp x27, x28, [sp, 80]",
    "stp d8, d9, [sp, 96]",
    "stp d10, d11, [sp, 112]",
    "stp d12, d13, [sp, 128]",
    "stp d14, d15, [sp, 144]",
    "mov x9, sp",
    "str x9, [x0]",
    "mov sp, x1",
    "msr tpidr_el0, x2",
    "ldp x19, x20, [sp, 16]",
    "ldp x21, x22, [sp, 32]",
    "ldp x23, x24, [sp, 48]",
    "ldp x25, x26, [sp, 64]",
    "ldp x27, x28, [sp, 80]",
    "ldp d8, d9, [sp, 96]",
    "ldp d10, d11, [sp, 112]",
    "ldp d12, d13, [sp, 128]",
    "ldp d14, d15, [sp, 144]",
    "ldp x29, x30, [sp], 160",
    "ret",
    ".size turnpike_switch, . - turnpike_switch",
    // The outermost frame of a fiber: unwinders stop here.
    ".globl turnpike_first",
    ".hidden turnpike_first",
    ".type turnpike_first, @function",
    "turnpike_first:",
    ".cfi_startproc",
    ".cfi_undefined x30",
    "bl {first}",
    "brk 1",
    ".cfi_endproc",
    ".size turnpike_first, . - turnpike_first",
    first = sym first,
);
