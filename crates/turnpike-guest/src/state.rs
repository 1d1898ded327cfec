//! The running thread's own state: what decides, together with what it reads, what it does next.
//!
//! Every stub of a hook saves the registers in which the calling function keeps its variables, and
//! the stack pointer. With the stack above it, random numbers drawn and clocks read, that is the
//! state of the thread as far as its own code is concerned. Writes to other memory are only
//! counted: a thread that writes is never in the same state again. Writes that nothing reports are
//! found by comparing memory (`unseen`). Hidden state of libraries plays no part.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::control;
use crate::unseen::{self, Turn};

/// Words for the saved registers, on every processor.
const COUNT: usize = 20;

/// The caller's stack pointer, then its registers, as of the last call of a hook. Valid up to the
/// next switch.
#[repr(C, align(64))]
pub(crate) struct Registers([AtomicUsize; COUNT]);

pub(crate) static REGISTERS: Registers = Registers([const { AtomicUsize::new(0) }; COUNT]);

/// The naked body of a stub: saves registers, executes the given instructions, and jumps.
#[cfg(target_arch = "x86_64")]
macro_rules! saving {
    ($imp:ident $($instruction:literal)*) => {
        core::arch::naked_asm!(
            "mov [rip + {saved}], rsp",
            "mov [rip + {saved} + 8], rbx",
            "mov [rip + {saved} + 16], rbp",
            "mov [rip + {saved} + 24], r12",
            "mov [rip + {saved} + 32], r13",
            "mov [rip + {saved} + 40], r14",
            "mov [rip + {saved} + 48], r15",
            $($instruction,)*
            "jmp {imp}",
            saved = sym $crate::state::REGISTERS,
            imp = sym $imp,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! saving {
    ($imp:ident $($instruction:literal)*) => {
        core::arch::naked_asm!(
            "adrp x16, {saved}",
            "add x16, x16, :lo12:{saved}",
            "mov x17, sp",
            "stp x17, x19, [x16]",
            "stp x20, x21, [x16, 16]",
            "stp x22, x23, [x16, 32]",
            "stp x24, x25, [x16, 48]",
            "stp x26, x27, [x16, 64]",
            "stp x28, x29, [x16, 80]",
            "stp d8, d9, [x16, 96]",
            "stp d10, d11, [x16, 112]",
            "stp d12, d13, [x16, 128]",
            "stp d14, d15, [x16, 144]",
            $($instruction,)*
            "b {imp}",
            saved = sym $crate::state::REGISTERS,
            imp = sym $imp,
        )
    };
}
pub(crate) use saving;

/// The most words of a stack that are compared: a thread that has more is always in a new state.
const DEEPEST: usize = 8 << 10;

/// A number that distinguishes states of the running thread; odd if nothing else decides what its
/// code does next. Call it in a hook, before any switch: afterwards the registers are another
/// thread's.
pub(crate) fn own() -> u64 {
    let turn = unseen::turn();
    if matches!(turn, Turn::Changed | Turn::Unknown) {
        control::thread(|thread| thread.writes += 1);
    }
    let state = hash();
    unseen::watch(state);
    // Code that does not report its accesses may write anywhere.
    if crate::memory::is_instrumented() && turn != Turn::TooLarge { state } else { (state | 2) & !1 }
}

fn mix(hash: u64, word: u64) -> u64 {
    let hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    hash ^ hash >> 29
}

/// A hash of the thread's registers, its stack, and what it drew, read and wrote.
fn hash() -> u64 {
    let (high, random, clock_reads, writes, mask) = control::thread(|thread| {
        (thread.high, thread.random, thread.clock_reads, thread.writes, thread.mask)
    });
    // The saved registers are used once.
    let stack = REGISTERS.0[0].swap(0, Ordering::Relaxed);
    let words = high.wrapping_sub(stack) / 8;
    let mut hash = random ^ clock_reads.rotate_left(32) ^ writes.rotate_left(48);
    if stack == 0 || words > DEEPEST {
        control::thread(|thread| thread.writes += 1);
        return mix(hash, writes + 1) | 1;
    }
    hash = mix(mix(hash, mask), stack as u64);
    for register in &REGISTERS.0[1..] {
        hash = mix(hash, register.load(Ordering::Relaxed) as u64);
    }
    for word in 0..words {
        // SAFETY: between the caller's stack pointer and the upper end of its stack.
        hash = mix(hash, unsafe { *((stack + word * 8) as *const u64) });
    }
    hash | 1
}

/// Where the caller of the hook is on its stack, before any switch; 0 once `own` has used that.
pub(crate) fn caller() -> usize {
    REGISTERS.0[0].load(Ordering::Relaxed)
}

/// Forgets the saved registers: other threads ran in the middle of the hook, so they are not the
/// running thread's.
pub(crate) fn forget() {
    REGISTERS.0[0].store(0, Ordering::Relaxed);
}

/// What the running thread holds in its registers and on its stack.
pub(crate) struct Held {
    registers: [usize; COUNT],
    high: usize,
}

/// Notes what the running thread holds. Call it in a hook, before any switch.
pub(crate) fn held() -> Held {
    let high = control::thread(|thread| thread.high);
    let mut registers = [0; COUNT];
    for (register, noted) in registers.iter_mut().zip(&REGISTERS.0) {
        *register = noted.load(Ordering::Relaxed);
    }
    // The saved stack pointer was used already; the caller's stack is above the present one.
    if registers[0] == 0 {
        registers[0] = crate::fiber::stack_pointer();
    }
    Held { registers, high }
}

impl Held {
    /// Visits every word; of a very deep stack only the part nearest to the call.
    pub(crate) fn each(&self, mut visit: impl FnMut(u64)) {
        for &register in &self.registers[1..] {
            visit(register as u64);
        }
        let stack = self.registers[0] & !7;
        // On a stack of the program's own making, nothing is known.
        let words = self.high.saturating_sub(stack) / 8;
        for word in 0..words.min(DEEPEST) {
            // SAFETY: between the caller's stack pointer and the upper end of its stack, where only
            // frames of this thread are, none of which has returned since.
            visit(unsafe { *((stack + word * 8) as *const u64) });
        }
    }
}

/// Counts a write of the running thread, unless it is to its own stack, which is compared.
#[inline]
pub(crate) fn wrote(address: u64) {
    control::thread(|thread| {
        if thread.high.wrapping_sub(address as usize) > DEEPEST * 8 {
            thread.writes += 1;
        }
    });
}
