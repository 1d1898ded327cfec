//! The protocol between host and guest: the shared memory, the descriptors and the bytes on the
//! pipes.
//!
//! This file is compiled into both. The shared memory is one file mapping: a [`Header`], the plan
//! of the next execution, and the tape on which the guest records as it goes. The host requests an
//! execution by one byte on the request pipe. When everything about it is in the header, one byte
//! answers: from the child that executed it, or from the fork server when the child is gone.

use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

/// The preloaded library. Like those that follow, it is open in the program at its start. The fork
/// server closes the descriptors that it no longer needs, a child the others.
pub const FD_LIBRARY: i32 = 900;
/// The shared memory.
pub const FD_SHARED: i32 = 901;
/// Where requests arrive.
pub const FD_REQUEST: i32 = 902;
/// Where answers go.
pub const FD_ANSWER: i32 = 903;
/// In a process that is reused: the table of its pages.
pub const FD_PAGES: i32 = 904;

/// Whether a descriptor is not the program's.
pub fn is_own(fd: i32) -> bool {
    (FD_LIBRARY..=FD_PAGES).contains(&fd)
}

/// The environment variable by which the library knows that it has a host. It holds the size of the
/// shared memory in bytes, and ranges of the program's variables to ignore.
pub const ENVIRONMENT: &str = "TURNPIKE_GUEST";

/// A bit of a code location among the racy ones: freeing and allocating there are steps, because
/// freed addresses may come back.
pub const RECYCLES: u64 = 1 << 63;

/// The version of the layout. Increment it with every change.
pub const VERSION: u32 = 7;

/// Threads are fibers on the stacks and thread-local storage of parked threads, switched in user
/// space.
pub const THREADS_FIBERS: u32 = 1;
/// Threads are threads of the operating system, of which one runs at a time.
pub const THREADS_SYSTEM: u32 = 2;

/// The child has not reported how it ended.
pub const END_NONE: u32 = 0;
/// The end is on the tape.
pub const END_TAPE: u32 = 1;
/// The child needs more threads than are parked; the fork server parks more and runs it again.
pub const END_MORE_THREADS: u32 = 2;
/// The program did what cannot be controlled; `text` says what.
pub const END_REFUSED: u32 = 3;

/// The process does not execute this request: the fork server must fork another.
pub const END_PASSED_ON: u32 = 4;

/// The signal (`SIGXCPU`) by which the host asks an execution that hangs where it is.
pub const HANG_SIGNAL: i32 = 24;

/// At the start, a line of [`Header::text`] names a library that cannot be looked into, or, after
/// this mark, code that may call the system by itself without being seen.
pub const CALLER: &str = "!";

/// What a finding of trial executions about memory that the search cannot follow begins with.
pub const AUDIT: &str = "audit: ";

/// The most copies of a process that wait at the same time.
pub const MOST_COPIES: usize = 32;

/// Bytes of [`Header::text`].
pub const TEXT: usize = 4096;
/// Where the plan begins.
pub const PLAN_AT: usize = 8192;

/// The first page of the shared memory.
#[repr(C)]
pub struct Header {
    /// Written by the host: [`VERSION`].
    pub version: u32,
    /// Written by the host: [`THREADS_FIBERS`], [`THREADS_SYSTEM`] or 0 = what the processor
    /// allows.
    pub threads_wanted: u32,
    /// Written by the guest: which of the two it is.
    pub threads: AtomicU32,
    /// Threads to park at the start.
    pub pool: u32,
    /// Threads to park at most.
    pub pool_limit: u32,
    /// Bytes of a parked thread's stack; 0 = the program's own default.
    pub stack: u32,
    /// Bytes that an execution may map beyond what the program has at its start; 0 = unlimited.
    pub memory: u64,
    /// Processor seconds of an execution; 0 = unlimited.
    pub seconds: u64,
    /// Whether a process may be used for many executions, if nothing but its memory changes.
    pub reuse: u32,
    /// Whether the next execution must have a process of its own.
    pub fresh: u32,
    /// How many copies of its process the next execution may leave for later ones to go on from,
    /// including those that there are already; 0 = none.
    pub copies: u32,
    /// How many of the copies that there are lie on the path of the next execution.
    pub keep: u32,
    /// The number of steps after which it leaves the path of the execution before it.
    pub branch: u32,
    /// Processor time that a copy must spare, in nanoseconds.
    pub worth: u64,
    /// Bytes of memory that copies may keep.
    pub copy_memory: u64,
    /// Whether buffered output is written at the end of the execution.
    pub output: u32,
    /// Bytes of the plan, which begins at [`PLAN_AT`].
    pub plan_length: u32,
    /// Where the tape begins.
    pub tape_at: u64,
    /// Bytes of the tape.
    pub tape_length: u64,
    /// Which plain accesses are steps: 0 none, 1 those at racy code locations, 2 all to memory that
    /// several threads use.
    pub memory_level: u64,
    /// How many code locations, eight bytes each, follow the plan (at the next multiple of eight).
    pub racy_sites: u64,
    /// Whether the next execution looks for writes that nothing reports.
    pub audit: u64,
    /// At the start: how many pieces of the program's code belong to libraries, such as functions
    /// of C++ headers. In the place of the tape are the first address of each and the one after its
    /// last, as in the file, sorted.
    pub library_code: u64,
    /// The function during whose calls threads are scheduled: its first address in the file and the
    /// one after its last; 0 = none.
    pub around: [u64; 2],
    /// Written by the guest: whether some code reports its memory accesses.
    pub instrumented: AtomicU32,
    /// Written by the guest: whether an atomic operation asked for a weaker order than sequential
    /// consistency.
    pub weaker_orders: AtomicU32,
    /// Counts announcements, for the host's watchdog.
    pub progress: AtomicU64,
    /// Steps taken, up to the last announcement.
    pub steps: AtomicU32,
    /// The last step, see the tape's note.
    pub note: [AtomicU64; 9],
    /// Written by the guest: how many copies there are.
    pub kept: AtomicU32,
    /// After how many steps each was made.
    pub copied_at: [AtomicU32; MOST_COPIES],
    /// Processor time of the execution, in nanoseconds, after the last copy.
    pub cost: AtomicU64,
    /// Processor time that the copy spared, if the execution went on from one; in nanoseconds.
    pub spared: AtomicU64,
    /// Bytes of the record; 0 = it did not fit.
    pub tape_used: AtomicU64,
    /// Written by the guest: whether a request has been taken and not been answered.
    pub serving: AtomicU32,
    /// The child that runs, or waits for the next request; 0 = none.
    pub child: AtomicI32,
    /// Children so far.
    pub children: AtomicU32,
    /// One of `END_…`.
    pub end: AtomicU32,
    /// The child's wait status.
    pub status: AtomicI32,
    /// Bytes of `text`.
    pub text_length: AtomicU32,
    /// The thread that is to blame.
    pub thread: AtomicU32,
    /// The code location of that.
    pub site: AtomicU64,
    /// Written by the host: the execution hangs, and must say where when it gets [`HANG_SIGNAL`].
    pub hangs: AtomicU32,
    /// Written by the host: an execution stops where it ends, for a debugger to look at.
    pub hold: u32,
    /// Written by the guest: the system's number of the thread that ended the execution.
    pub ended_by: AtomicI32,
    /// A message for the user; at the start, lines about libraries.
    pub text: [u8; TEXT],
}
