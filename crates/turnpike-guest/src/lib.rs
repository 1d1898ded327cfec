//! The library that is preloaded into C and C++ programs: it puts their threads under turnpike's
//! scheduler.
//!
//! Its constructor turns the process into a fork server (`zygote`). Each child runs the program
//! once: functions that synchronise, create threads, tell the time or end the process are replaced
//! (`hook`). They announce what they are about to do to the kernel (`control`), which decides which
//! thread runs next. Threads are fibers on the stacks of parked threads (`fiber`), or real threads
//! of which one runs at a time (`baton`).
//!
//! Neither the standard library nor the program's heap is used: `heap` has its own memory.
//!
//! The crate is compiled twice. Cargo compiles it as an ordinary member of the workspace, for its
//! tests, for lints, and for the host, which shares [`protocol`], [`tape`], [`dump`] and [`wire`]
//! with it. The build script of `turnpike-preload` compiles it with `--cfg embedded` as the library
//! to preload. Only then does it define `malloc` and its like, a constructor, an allocator and a
//! panic handler.

#![no_std]
// Taking the place of the C library means working on raw memory; every block says why it is sound.
#![allow(unsafe_code)]
// Only the embedded library exports what it replaces, under its name in C. Elsewhere the
// replacements are ordinary functions that nothing calls.
#![cfg_attr(not(embedded), allow(dead_code, non_snake_case))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod dump;
pub mod protocol;
pub mod tape;
pub mod wire;

// `supported` is set by the build script: Linux with the GNU C library, on x86-64 and AArch64.
#[cfg(supported)]
mod access;
#[cfg(supported)]
mod audit;
#[cfg(supported)]
mod baton;
#[cfg(supported)]
mod context;
#[cfg(supported)]
mod control;
#[cfg(all(supported, target_arch = "x86_64"))]
mod copies;
#[cfg(supported)]
mod entry;
#[cfg(supported)]
mod fiber;
#[cfg(supported)]
mod global;
#[cfg(supported)]
mod heap;
#[cfg(supported)]
mod hook;
#[cfg(all(supported, target_arch = "x86_64"))]
mod image;
#[cfg(supported)]
mod modules;
#[cfg(supported)]
mod objects;
#[cfg(supported)]
mod parts;
#[cfg(supported)]
mod patch;
#[cfg(all(supported, target_arch = "x86_64"))]
mod raw;
#[cfg(supported)]
mod record;
#[cfg(all(supported, target_arch = "x86_64"))]
mod reuse;
#[cfg(supported)]
mod signals;
#[cfg(supported)]
mod sites;
#[cfg(supported)]
mod state;
#[cfg(supported)]
mod sys;
#[cfg(all(supported, target_arch = "x86_64"))]
mod tsc;
#[cfg(supported)]
mod unseen;
#[cfg(supported)]
mod zygote;

// The replaced functions, one topic per file.
#[cfg(supported)]
mod barrier;
#[cfg(supported)]
mod blocking;
#[cfg(supported)]
mod c11;
#[cfg(supported)]
mod cancel;
#[cfg(supported)]
mod cond;
#[cfg(supported)]
mod cxx;
#[cfg(supported)]
mod descriptors;
#[cfg(supported)]
mod futex;
#[cfg(supported)]
mod glib;
#[cfg(supported)]
mod header;
#[cfg(supported)]
mod identity;
#[cfg(supported)]
mod keys;
#[cfg(supported)]
mod memory;
#[cfg(supported)]
mod mutex;
#[cfg(supported)]
mod once;
#[cfg(supported)]
mod overlay;
#[cfg(supported)]
mod process;
#[cfg(supported)]
mod random;
#[cfg(supported)]
mod returned;
#[cfg(supported)]
mod rwlock;
#[cfg(supported)]
mod semaphore;
#[cfg(supported)]
mod shared;
#[cfg(supported)]
mod sockets;
#[cfg(supported)]
mod stdio;
#[cfg(supported)]
mod threads;
#[cfg(supported)]
mod time;
#[cfg(supported)]
mod timers;
#[cfg(supported)]
mod values;

#[cfg(embedded)]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    control::broken(info)
}

// Nothing unwinds here, but the compiler's own library mentions these. They must not be seen from
// outside: C++ programs have the real ones.
#[cfg(embedded)]
core::arch::global_asm!(
    ".globl _Unwind_Resume",
    ".hidden _Unwind_Resume",
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "_Unwind_Resume:",
    "rust_eh_personality:",
    ".long 0",
);
