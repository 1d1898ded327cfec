//! Raw system calls, and the few declarations of the C library that the guest library needs.
//!
//! Raw calls touch neither `errno` nor any lock of the C library, so they are safe at every point
//! of the program.

use core::arch::asm;
use core::ffi::{c_char, c_int, c_long, c_void};

/// `time_t` and nanoseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Timespec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

/// `struct timeval`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Timeval {
    pub seconds: i64,
    pub microseconds: i64,
}

/// `struct pollfd`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PollFd {
    pub fd: c_int,
    pub events: i16,
    pub revents: i16,
}

/// `struct rlimit`.
#[repr(C)]
pub(crate) struct Rlimit {
    pub soft: u64,
    pub hard: u64,
}

#[cfg(target_arch = "x86_64")]
#[allow(dead_code)]
pub(crate) mod number {
    pub(crate) const READ: i64 = 0;
    pub(crate) const WRITE: i64 = 1;
    pub(crate) const CLOSE: i64 = 3;
    pub(crate) const FSTAT: i64 = 5;
    pub(crate) const MMAP: i64 = 9;
    pub(crate) const MPROTECT: i64 = 10;
    pub(crate) const LSEEK: i64 = 8;
    pub(crate) const RT_SIGACTION: i64 = 13;
    pub(crate) const RT_SIGPROCMASK: i64 = 14;
    pub(crate) const GETPID: i64 = 39;
    pub(crate) const GETPPID: i64 = 110;
    pub(crate) const CLOCK_GETTIME: i64 = 228;
    pub(crate) const CLONE: i64 = 56;
    pub(crate) const WAIT4: i64 = 61;
    pub(crate) const KILL: i64 = 62;
    pub(crate) const SIGALTSTACK: i64 = 131;
    pub(crate) const PRCTL: i64 = 157;
    pub(crate) const SECCOMP: i64 = 317;
    pub(crate) const GETTID: i64 = 186;
    pub(crate) const TGKILL: i64 = 234;
    pub(crate) const IOCTL: i64 = 16;
    pub(crate) const FCNTL: i64 = 72;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const EXIT_GROUP: i64 = 231;
    pub(crate) const SCHED_YIELD: i64 = 24;
    pub(crate) const OPENAT: i64 = 257;
    pub(crate) const READLINKAT: i64 = 267;
    pub(crate) const FACCESSAT: i64 = 269;
    pub(crate) const SENDFILE: i64 = 40;
    pub(crate) const MEMFD_CREATE: i64 = 319;
    pub(crate) const PPOLL: i64 = 271;
    pub(crate) const PRLIMIT64: i64 = 302;
    pub(crate) const PROCESS_VM_READV: i64 = 310;
    pub(crate) const GETRANDOM: i64 = 318;
}

#[cfg(target_arch = "aarch64")]
#[allow(dead_code)]
pub mod number {
    pub const READ: i64 = 63;
    pub const WRITE: i64 = 64;
    pub const CLOSE: i64 = 57;
    pub const FSTAT: i64 = 80;
    pub const MMAP: i64 = 222;
    pub const MPROTECT: i64 = 226;
    pub const LSEEK: i64 = 62;
    pub const RT_SIGACTION: i64 = 134;
    pub const RT_SIGPROCMASK: i64 = 135;
    pub const GETPID: i64 = 172;
    pub const GETPPID: i64 = 173;
    pub const CLOCK_GETTIME: i64 = 113;
    pub const CLONE: i64 = 220;
    pub const WAIT4: i64 = 260;
    pub const KILL: i64 = 129;
    pub const SIGALTSTACK: i64 = 132;
    pub const PRCTL: i64 = 167;
    pub const GETTID: i64 = 178;
    pub const TGKILL: i64 = 131;
    pub const IOCTL: i64 = 29;
    pub const FCNTL: i64 = 25;
    pub const FUTEX: i64 = 98;
    pub const EXIT_GROUP: i64 = 94;
    pub const SCHED_YIELD: i64 = 124;
    pub const OPENAT: i64 = 56;
    pub const READLINKAT: i64 = 78;
    pub const FACCESSAT: i64 = 48;
    pub const SENDFILE: i64 = 71;
    pub const MEMFD_CREATE: i64 = 279;
    pub const PPOLL: i64 = 73;
    pub const PRLIMIT64: i64 = 261;
    pub const PROCESS_VM_READV: i64 = 270;
    pub const GETRANDOM: i64 = 278;
}

/// A system call with up to six arguments; the answer is the kernel's (negative = error number).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn syscall(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let answer: isize;
    // SAFETY: the calling convention of the kernel; what the call does is the caller's business.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => answer, in("rdi") a, in("rsi") b, in("rdx") c,
             in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    answer
}

/// A system call with up to six arguments; the answer is the kernel's (negative = error number).
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn syscall(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let answer: isize;
    // SAFETY: the calling convention of the kernel; what the call does is the caller's business.
    unsafe {
        asm!("svc 0", in("x8") n, inlateout("x0") a as isize => answer, in("x1") b, in("x2") c,
             in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    answer
}

pub(crate) fn exit_group(status: i32) -> ! {
    loop {
        syscall(number::EXIT_GROUP, status as usize, 0, 0, 0, 0, 0);
    }
}

/// Stops the process with all its threads until a debugger lets it go on. Any process of the user
/// may be that debugger.
pub(crate) fn wait_for_debugger() {
    const SET_PTRACER: usize = 0x5961_6d61;
    const STOP: usize = 19;
    syscall(number::PRCTL, SET_PTRACER, usize::MAX, 0, 0, 0, 0);
    let process = syscall(number::GETPID, 0, 0, 0, 0, 0, 0);
    // To this thread, so that it stops before it goes on.
    let thread = syscall(number::GETTID, 0, 0, 0, 0, 0, 0);
    syscall(number::TGKILL, process as usize, thread as usize, STOP, 0, 0, 0);
}

pub(crate) fn read(fd: i32, buffer: &mut [u8]) -> isize {
    syscall(number::READ, fd as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0)
}

pub(crate) fn write(fd: i32, bytes: &[u8]) -> isize {
    syscall(number::WRITE, fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0)
}

pub(crate) fn close(fd: i32) {
    syscall(number::CLOSE, fd as usize, 0, 0, 0, 0, 0);
}

/// Private anonymous memory, or the shared file `fd`; 0 on failure.
pub(crate) fn map(length: usize, fd: i32) -> usize {
    note_change();
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;
    const SHARED: usize = 1;
    let flags = if fd < 0 { PRIVATE_ANONYMOUS_NORESERVE } else { SHARED };
    let answer = syscall(number::MMAP, 0, length, READ_WRITE, flags, fd as usize, 0);
    if answer < 0 && answer > -4096 { 0 } else { answer as usize }
}

/// Notes that the process is about to change in a way that restoring its memory does not undo.
pub(crate) fn note_change() {
    #[cfg(target_arch = "x86_64")]
    crate::reuse::taint();
}

/// Copies this process's memory from `address` on, as far as it exists, and returns how many bytes.
/// Unlike a read, that does not fault where there is no memory.
pub(crate) fn copy_own_memory(address: usize, out: &mut [u8]) -> usize {
    let to = [out.as_mut_ptr() as usize, out.len()];
    let from = [address, out.len()];
    let pid = syscall(number::GETPID, 0, 0, 0, 0, 0, 0) as usize;
    let (to, from) = (to.as_ptr() as usize, from.as_ptr() as usize);
    let copied = syscall(number::PROCESS_VM_READV, pid, to, 1, from, 1, 0);
    usize::try_from(copied).unwrap_or(0).min(out.len())
}

/// Forks by the system call itself: the C library's wrapper would reuse the stacks of the other
/// threads.
pub(crate) fn fork() -> isize {
    const SIGCHLD: usize = 17;
    syscall(number::CLONE, SIGCHLD, 0, 0, 0, 0, 0)
}

/// Waits for a child. Returns its status word, and the processor time that it used in nanoseconds.
pub(crate) fn wait_for(pid: i32) -> (i32, u64) {
    let mut status: i32 = 0;
    // Seconds and microseconds in user and in system mode come first.
    let mut usage = [0u64; 18];
    let usage_at = usage.as_mut_ptr() as usize;
    loop {
        let answer = syscall(number::WAIT4, pid as usize, &raw mut status as usize, 0, usage_at, 0, 0);
        if answer != -4 {
            let [s, us, more_s, more_us, ..] = usage;
            return (status, (s + more_s) * 1_000_000_000 + (us + more_us) * 1000);
        }
    }
}

pub(crate) fn futex_wait(word: *const u32, value: u32) {
    syscall(number::FUTEX, word as usize, 128, value as usize, 0, 0, 0);
}

pub(crate) fn futex_wake(word: *const u32) {
    syscall(number::FUTEX, word as usize, 129, 1, 0, 0, 0);
}

/// Where the module that contains an address begins; 0 if none does.
pub(crate) fn module_of(address: usize) -> usize {
    // The module's file and beginning, the symbol's name and address.
    let mut info = [core::ptr::null(); 4];
    // SAFETY: room for the loader's answer.
    let known = unsafe { dladdr(address as *const c_void, info.as_mut_ptr()) };
    if known == 0 { 0 } else { info[1] as usize }
}

pub(crate) const ESRCH: c_int = 3;
pub(crate) const EINTR: c_int = 4;
pub(crate) const EOWNERDEAD: c_int = 130;
pub(crate) const ENOTRECOVERABLE: c_int = 131;
pub(crate) const ENOENT: c_int = 2;
pub(crate) const EEXIST: c_int = 17;
pub(crate) const ECHILD: c_int = 10;
pub(crate) const EAGAIN: c_int = 11;
pub(crate) const EBUSY: c_int = 16;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const EPERM: c_int = 1;
pub(crate) const EDEADLK: c_int = 35;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const ETIMEDOUT: c_int = 110;

pub(crate) const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

unsafe extern "C" {
    pub(crate) fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(crate) fn dladdr(address: *const c_void, info: *mut *const c_char) -> c_int;
    pub(crate) fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub(crate) fn getauxval(kind: c_long) -> u64;
    pub(crate) fn __errno_location() -> *mut c_int;
    pub(crate) fn getenv(name: *const c_char) -> *mut c_char;
    pub(crate) fn unsetenv(name: *const c_char) -> c_int;
    pub(crate) fn strlen(text: *const c_char) -> usize;
    pub(crate) fn fflush(stream: *mut c_void) -> c_int;
    pub(crate) fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*mut PhdrInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub(crate) static mut environ: *mut *mut c_char;
}

/// `struct dl_phdr_info`, the part that is used.
#[repr(C)]
pub(crate) struct PhdrInfo {
    pub base: usize,
    pub name: *const c_char,
    pub headers: *const Phdr,
    pub count: u16,
}

/// A program header.
#[repr(C)]
pub(crate) struct Phdr {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

/// Sets the C library's `errno` and returns -1, as most functions do.
pub(crate) fn fail_with(error: c_int) -> c_int {
    // SAFETY: `errno` of the running thread.
    unsafe { *__errno_location() = error };
    -1
}
