//! The library that is preloaded into C and C++ programs: it puts their threads under turnpike's scheduler.
//!
//! Its constructor turns the process into a fork server (`zygote`). Each child runs the program once: functions that
//! synchronise, create threads, tell the time or end the process are replaced (`hook`), and announce what they are about to do
//! to the kernel (`control`), which says which thread runs on. Threads are fibers on the stacks of parked threads
//! (`fiber`), or real threads of which one runs at a time (`baton`).
//!
//! Neither the standard library nor the program's heap is used: `heap` has its own memory.

#![no_std]
#![allow(clippy::missing_safety_doc)]

extern crate alloc;

mod access;
mod baton;
mod control;
mod entry;
mod fiber;
mod heap;
mod hook;
mod modules;
mod objects;
mod patch;
mod protocol;
#[cfg(target_arch = "x86_64")]
mod raw;
mod record;
mod signals;
mod sites;
mod state;
mod sys;
mod tape;
mod wire;
mod zygote;

// What is replaced, one idea a file.
mod barrier;
mod blocking;
mod c11;
mod cancel;
mod cond;
mod cxx;
mod futex;
mod glib;
mod header;
mod identity;
mod keys;
mod memory;
mod mutex;
mod once;
mod process;
mod random;
mod rwlock;
mod semaphore;
mod stdio;
mod threads;
mod time;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    control::broken(info)
}

// Nothing unwinds here, but the compiler's own library mentions these. They must not be seen from outside: C++ programs have
// the real ones.
core::arch::global_asm!(
    ".globl _Unwind_Resume",
    ".hidden _Unwind_Resume",
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "_Unwind_Resume:",
    "rust_eh_personality:",
    ".long 0",
);
