//! One process for many executions: its memory is restored after each, instead of forking another.
//!
//! The process is a child of the fork server. Before its first execution it makes an image of its
//! memory (`image`), and continues from there for each request, which it takes from the host
//! itself. That is right only if an execution changes nothing but private memory. So every system
//! call outside this library interrupts the program. Those that are under control and those that
//! change nothing are served. Any other *taints* the process, which then ends with the execution,
//! and the fork server forks another. The same holds for what this library does to the process, and
//! for executions that end in a signal.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::image::{self, Flags, Vault};
use crate::protocol;
use crate::raw::Registers;
use crate::sys::{self, number};
use crate::{control, fiber, modules, raw, zygote};

/// Of the selector: system calls pass.
const ALLOW: u8 = 0;
/// Of the selector: system calls interrupt the program.
const BLOCK: u8 = 1;

/// Whether this process has an image.
static REUSED: AtomicBool = AtomicBool::new(false);

/// Notes that the process can no longer be restored from its image. From now on it does not answer
/// the host, and the program finds no descriptors but its own.
pub(crate) fn taint() {
    if !REUSED.load(Ordering::Relaxed) {
        return;
    }
    let tainted = image::flags().map(|flags| flags.tainted.swap(1, Ordering::Relaxed));
    if tainted == Some(0) {
        close_descriptors();
    }
}

fn close_descriptors() {
    for fd in [protocol::FD_REQUEST, protocol::FD_ANSWER, protocol::FD_PAGES] {
        sys::close(fd);
    }
}

/// In a new child of the fork server: makes an image of it; false if that is impossible. It returns
/// true once for each execution that begins.
pub(crate) fn begin() -> bool {
    let Some(flags) = image::flags() else { return false };
    flags.selector.store(ALLOW, Ordering::Relaxed);
    flags.tainted.store(0, Ordering::Relaxed);
    flags.executions.store(0, Ordering::Relaxed);
    // SAFETY: the child has just been forked, and the program does not run yet.
    let Some(vault) = (unsafe { image::vault() }) else { return false };
    if !image::open_pages() || !watch(flags) || !vault.survey() {
        return false;
    }
    REUSED.store(true, Ordering::Relaxed);
    vault.base = fiber::base();
    vault.spent = 0;
    let (stack, own_stack) = (&raw mut vault.stack, vault.own_stack());
    // SAFETY: the vault's stack is not used yet.
    unsafe { turnpike_keep(stack, own_stack, keep) };
    true
}

/// On the vault's stack: makes the image.
extern "C" fn keep() {
    // SAFETY: `begin` calls it and does not use its own reference afterwards.
    let Some(vault) = (unsafe { image::vault() }) else { return };
    vault.save();
    start(vault);
}

/// Begins an execution.
fn start(vault: &mut Vault) {
    vault.count_faults();
    if let Some(flags) = image::flags() {
        flags.executions.fetch_add(1, Ordering::Relaxed);
        flags.selector.store(BLOCK, Ordering::Relaxed);
    }
}

/// The execution is over, and everything about it is in the shared memory: goes on with the next
/// one if this process can.
pub(crate) fn again() {
    let Some(flags) = image::flags() else { return };
    if !REUSED.load(Ordering::Relaxed) || flags.tainted.load(Ordering::Relaxed) != 0 {
        return;
    }
    flags.selector.store(ALLOW, Ordering::Relaxed);
    // SAFETY: the execution is over, and nothing else uses the vault in this process.
    let Some(vault) = (unsafe { image::vault() }) else { return };
    if vault.learn() {
        // SAFETY: nothing on this stack is used again.
        unsafe { turnpike_leave(vault.own_stack(), next) };
    }
}

/// On the vault's stack: answers, restores the image, and waits for the next request.
extern "C" fn next() {
    // SAFETY: `again` came here by leaving its stack, and so does not use its own reference any
    // more.
    let Some(vault) = (unsafe { image::vault() }) else { sys::exit_group(125) };
    let header = control::header();
    let spent = zygote::processor_time();
    header.cost.store(spent.saturating_sub(vault.spent), Ordering::Relaxed);
    vault.spent = spent;
    header.serving.store(0, Ordering::Release);
    sys::write(protocol::FD_ANSWER, b"D");
    // SAFETY: on the vault's stack; `header` is shared, and what follows are system calls.
    unsafe { vault.restore() };
    if !zygote::await_request() {
        sys::exit_group(0);
    }
    header.serving.store(1, Ordering::Release);
    if !zygote::may_reuse(header) {
        header.end.store(protocol::END_PASSED_ON, Ordering::Release);
        sys::exit_group(0);
    }
    zygote::clear(header);
    zygote::limit_time(header);
    start(vault);
    // SAFETY: the image is restored, with the stack and the thread register of that time.
    unsafe { turnpike_resume(vault.stack, vault.base) };
}

/// Makes the system interrupt the program at each system call outside this library, while the
/// selector says so. Returns whether it does.
fn watch(flags: &Flags) -> bool {
    const SET_SYSCALL_USER_DISPATCH: usize = 59;
    const ON: usize = 1;
    let start = modules::OWN_START.load(Ordering::Relaxed);
    let size = modules::OWN_SIZE.load(Ordering::Relaxed);
    let selector = flags.selector.as_ptr() as usize;
    sys::syscall(number::PRCTL, SET_SYSCALL_USER_DISPATCH, ON, start, size, selector, 0) == 0
}

/// In the handler: the program is about to make a system call.
///
/// # Safety
/// `context` is the system's record of an interrupted thread.
pub(crate) unsafe fn interrupted(context: *mut c_void) {
    let Some(flags) = image::flags() else { return };
    // SAFETY: promised by the caller.
    let registers = unsafe { Registers::of(context) };
    if control::active() && raw::is_watched(registers.rax as u32, registers.rip) {
        // SAFETY: promised by the caller.
        unsafe { raw::divert(context) };
        return;
    }
    if changes_nothing(registers) {
        registers.rax = sys::syscall(
            registers.rax as i64,
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ) as usize;
        return;
    }
    taint();
    flags.selector.store(ALLOW, Ordering::Relaxed);
    // The instruction has two bytes, and is executed again.
    registers.rip -= 2;
}

/// Whether a system call leaves the process as it was, its memory aside.
fn changes_nothing(registers: &Registers) -> bool {
    const WRITEV: usize = 20;
    const FSTAT: usize = 5;
    const LSTAT: usize = 6;
    const STAT: usize = 4;
    const IOCTL: usize = 16;
    const GET_TERMINAL: usize = 0x5401;
    const SCHED_YIELD: usize = 24;
    const GETPID: usize = 39;
    const UNAME: usize = 63;
    const GETTIMEOFDAY: usize = 96;
    const SYSINFO: usize = 99;
    const GETUID: usize = 102;
    const GETGID: usize = 104;
    const GETEUID: usize = 107;
    const GETEGID: usize = 108;
    const GETPPID: usize = 110;
    const GETTID: usize = 186;
    const TIME: usize = 201;
    const CLOCK_GETTIME: usize = 228;
    const CLOCK_GETRES: usize = 229;
    const NEWFSTATAT: usize = 262;
    const GETCPU: usize = 309;
    const GETRANDOM: usize = 318;
    if protocol::is_own(registers.rdi as i32) {
        return false;
    }
    match registers.rax {
        // What executions print is appended to one file.
        1 | WRITEV => registers.rdi == 1 || registers.rdi == 2,
        IOCTL => registers.rsi == GET_TERMINAL,
        FSTAT | LSTAT | STAT | SCHED_YIELD | GETPID | UNAME | GETTIMEOFDAY | SYSINFO | GETUID | GETGID
        | GETEUID | GETEGID | GETPPID | GETTID | TIME | CLOCK_GETTIME | CLOCK_GETRES | NEWFSTATAT
        | GETCPU | GETRANDOM => true,
        _ => false,
    }
}

unsafe extern "C" {
    /// Calls `work` on another stack; where this thread continues is written to `stack` before.
    fn turnpike_keep(stack: *mut usize, other: usize, work: extern "C" fn());
    /// Continues where `turnpike_keep` was called.
    fn turnpike_resume(stack: usize, base: usize) -> !;
    /// Leaves the present stack for ever.
    fn turnpike_leave(stack: usize, work: extern "C" fn()) -> !;
}

core::arch::global_asm!(
    ".globl turnpike_keep",
    ".hidden turnpike_keep",
    ".type turnpike_keep, @function",
    "turnpike_keep:",
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
    "mov rbx, rsp",
    "mov rsp, rsi",
    "call rdx",
    "mov rsp, rbx",
    "2:",
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
    ".size turnpike_keep, . - turnpike_keep",
    ".globl turnpike_resume",
    ".hidden turnpike_resume",
    ".type turnpike_resume, @function",
    "turnpike_resume:",
    "mov rsp, rdi",
    "wrfsbase rsi",
    "jmp 2b",
    ".size turnpike_resume, . - turnpike_resume",
    ".globl turnpike_leave",
    ".hidden turnpike_leave",
    ".type turnpike_leave, @function",
    "turnpike_leave:",
    "mov rsp, rdi",
    "call rsi",
    "ud2",
    ".size turnpike_leave, . - turnpike_leave",
);
