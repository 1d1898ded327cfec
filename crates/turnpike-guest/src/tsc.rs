//! The processor's time stamp counter. Code of the program that reads it gets virtual time, as from
//! other clocks: a loop that waits for it ends, and the same schedule gives the same execution.
//!
//! The kernel makes the instructions `rdtsc` and `rdtscp` fault, and the handler of that signal
//! emulates them. Code of the C library and of the kernel's own module gets the real counter.

use core::ffi::c_void;

use crate::raw::Registers;
use crate::{control, modules, sys, time};

const SET_COUNTER: usize = 26;
const ALLOWED: usize = 1;
const FAILS: usize = 2;

/// Makes reading the counter fault from now on, in this process and its children.
pub(crate) fn trap() {
    sys::syscall(sys::number::PRCTL, SET_COUNTER, FAILS, 0, 0, 0, 0);
}

/// In the handler of a segmentation fault: emulates an instruction that reads the counter, and
/// continues after it. False if the fault has another cause.
///
/// # Safety
/// `info` and `context` are the kernel's records of a signal.
pub(crate) unsafe fn serve(info: *const c_void, context: *mut c_void) -> bool {
    /// The code of faults that are not about an address.
    const FROM_KERNEL: i32 = 0x80;
    // SAFETY: the kernel's records. The processor has just read the instruction.
    unsafe {
        if *(info.add(8) as *const i32) != FROM_KERNEL {
            return false;
        }
        let registers = Registers::of(context);
        let code = core::slice::from_raw_parts(registers.rip as *const u8, 3);
        let (length, processor) = match code {
            [0x0f, 0x31, _] => (2, false),
            [0x0f, 0x01, 0xf9] => (3, true),
            _ => return false,
        };
        let value =
            if control::active() && !modules::is_known(registers.rip) { time::ticks() } else { real() };
        registers.rax = value as u32 as usize;
        registers.rdx = (value >> 32) as usize;
        if processor {
            registers.rcx = 0;
        }
        registers.rip += length;
    }
    true
}

fn real() -> u64 {
    sys::syscall(sys::number::PRCTL, SET_COUNTER, ALLOWED, 0, 0, 0, 0);
    // SAFETY: reading is allowed now.
    let value = unsafe { core::arch::x86_64::_rdtsc() };
    trap();
    value
}
