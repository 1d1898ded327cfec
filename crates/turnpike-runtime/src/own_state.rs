//! The local state of a spinning thread, which together with what it reads determines what it does
//! next: its registers and its stack.
//!
//! A loop that returns to the same state waits, one that counts its iterations does not. Other
//! memory is ignored: a loop that counts on the heap looks like a waiting one, so an execution with
//! such a loop is incomplete.
#![allow(unsafe_code)]

/// Limit on the words of a stack that are hashed.
const DEEPEST: usize = 8 << 10;

/// A number that identifies the state of the calling thread, whose stack ends at `high`; 0 if it is
/// unknown. Must be called by the code whose state is meant.
#[cfg(all(target_arch = "x86_64", unix))]
#[unsafe(naked)]
pub(crate) extern "C" fn of_caller(high: usize) -> u64 {
    core::arch::naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov rsi, rdi",
        "lea rdi, [rsp + 8]",
        "call {hash}",
        "add rsp, 56",
        "ret",
        hash = sym hash,
    )
}

#[cfg(all(target_arch = "aarch64", unix))]
#[unsafe(naked)]
pub(crate) extern "C" fn of_caller(high: usize) -> u64 {
    core::arch::naked_asm!(
        "sub sp, sp, 160",
        "stp x19, x20, [sp]",
        "stp x21, x22, [sp, 16]",
        "stp x23, x24, [sp, 32]",
        "stp x25, x26, [sp, 48]",
        "stp x27, x28, [sp, 64]",
        "stp x29, x30, [sp, 80]",
        "stp d8, d9, [sp, 96]",
        "stp d10, d11, [sp, 112]",
        "stp d12, d13, [sp, 128]",
        "stp d14, d15, [sp, 144]",
        "mov x1, x0",
        "mov x0, sp",
        "bl {hash}",
        "ldr x30, [sp, 88]",
        "add sp, sp, 160",
        "ret",
        hash = sym hash,
    )
}

/// On other platforms registers are not accessible.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix)))]
pub(crate) fn of_caller(_high: usize) -> u64 {
    let _ = hash;
    0
}

/// Hashes the range between two addresses of the running thread's stack.
extern "C" fn hash(low: *const u64, high: usize) -> u64 {
    let words = high.wrapping_sub(low.addr()) / size_of::<u64>();
    if words > DEEPEST {
        return 0;
    }
    let mut hash = 0u64;
    for at in 0..words {
        // SAFETY: between the stack pointer and the upper end of the stack. Volatile, because some
        // of it is padding, which has some value although the language does not say which.
        let word = unsafe { low.add(at).read_volatile() };
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        hash ^= hash >> 29;
    }
    hash | 2
}
