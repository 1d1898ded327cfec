//! Where threads are, for the host to show: their registers, taken when they announce an operation,
//! fail or are interrupted, and their stacks, copied at the end.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::Detail;

use crate::control;
use crate::dump::{self, DEEPEST, REGISTERS};
use crate::sys;

/// See [`dump::Dump::registers`].
pub(crate) type Registers = [usize; REGISTERS];

/// The registers of the failing thread came from a signal, and must not be overwritten.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Notes where the running thread is, if that is wanted.
#[inline]
pub(crate) fn note() {
    if control::DETAIL.get() == Detail::Stacks && !INTERRUPTED.load(Ordering::Relaxed) {
        let mut registers = [0; REGISTERS];
        // SAFETY: room for all registers that are kept.
        unsafe { capture(&mut registers) };
        control::thread(|thread| thread.registers = registers);
    }
}

/// Notes where a signal interrupted the running thread.
///
/// # Safety
/// `context` is what the kernel passed to the handler.
pub(crate) unsafe fn note_interrupted(context: *const c_void) {
    #[cfg(target_arch = "x86_64")]
    const PLACES: [usize; 8] = [168, 160, 128, 120, 72, 80, 88, 96];
    #[cfg(target_arch = "aarch64")]
    const PLACES: [usize; 13] = [440, 432, 336, 344, 352, 360, 368, 376, 384, 392, 400, 408, 416];
    let mut registers = [0; REGISTERS];
    for (register, place) in registers.iter_mut().zip(PLACES) {
        // SAFETY: the kernel's record, whose offsets are fixed by its interface.
        *register = unsafe { *(context.add(place) as *const usize) };
    }
    // Past the start of the instruction, as a return address is past its call.
    registers[0] += 1;
    INTERRUPTED.store(true, Ordering::Relaxed);
    control::thread(|thread| thread.registers = registers);
}

/// Writes all threads that have not ended into `out`, and returns the number of bytes.
pub(crate) fn write(mut out: &mut [u8]) -> usize {
    let mut written = 0;
    let count = control::threads(|threads| threads.len());
    for index in 0..count {
        let (ended, registers, high) = control::threads(|threads| {
            let thread = &threads[index];
            (thread.ended, thread.registers, thread.high)
        });
        let stack = registers[1];
        if ended || stack == 0 || high <= stack {
            continue;
        }
        let length = (high - stack).min(DEEPEST);
        let copy = |room: &mut [u8]| sys::copy_own_memory(stack, room);
        let Some(more) = dump::write(index as u32, &registers, length, out, copy) else { break };
        written += more;
        out = &mut out[more..];
    }
    written
}

/// Stores where it was called from, and the registers that a callee must preserve.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn capture(out: &mut Registers) {
    core::arch::naked_asm!(
        "mov rax, [rsp]",
        "mov [rdi], rax",
        "lea rax, [rsp + 8]",
        "mov [rdi + 8], rax",
        "mov [rdi + 16], rbx",
        "mov [rdi + 24], rbp",
        "mov [rdi + 32], r12",
        "mov [rdi + 40], r13",
        "mov [rdi + 48], r14",
        "mov [rdi + 56], r15",
        "ret",
    )
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn capture(out: &mut Registers) {
    core::arch::naked_asm!(
        "mov x9, sp",
        "stp x30, x9, [x0]",
        "stp x19, x20, [x0, 16]",
        "stp x21, x22, [x0, 32]",
        "stp x23, x24, [x0, 48]",
        "stp x25, x26, [x0, 64]",
        "stp x27, x28, [x0, 80]",
        "str x29, [x0, 96]",
        "ret",
    )
}
