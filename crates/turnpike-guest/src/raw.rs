//! System calls that the program makes by the instruction itself, past the C library: the kernel
//! sends a signal instead, and they are served here like those through `syscall`.
//!
//! A filter lets calls from the C library, the loader and this library pass, and from other code
//! those that neither wait nor begin or end anything. The handler returns to a stub, on the stack
//! of the thread, below what compilers may keep there (the red zone). The stub saves all registers,
//! serves the call, which may let other threads run, and returns the answer after the instruction.
//! Registers are those of x86-64.

use alloc::format;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

use turnpike_scheduler::Site;

use crate::sys::{self, number};
use crate::{control, futex, modules, process, sites};

/// One instruction of a filter.
#[repr(C)]
struct Instruction {
    code: u16,
    yes: u8,
    no: u8,
    value: u32,
}

#[repr(C)]
struct Filter {
    length: u16,
    instructions: *const Instruction,
}

/// Calls that wait, or begin or end something, or look at what is not the same in all executions. A
/// thread that makes one of them by itself escapes from control.
const CALLS: [u32; 63] = [
    0, 1, 3, 7, 11, 19, 20, 23, 24, 25, 34, 35, 39, 42, 43, 44, 45, 46, 47, 56, 57, 58, 59, 60, 61, 62, 65,
    70, 72, 73, 96, 128, 130, 186, 200, 201, 202, 208, 220, 228, 230, 231, 232, 234, 242, 243, 247, 270, 271,
    281, 288, 299, 307, 318, 322, 426, 435, 441, 449, 454, 455, 456, 462,
];

/// Code whose calls pass, from start to end; unused entries are empty.
static PASSES: [[AtomicUsize; 2]; 8] = [const { [const { AtomicUsize::new(0) }; 2] }; 8];
static WATCHES: AtomicBool = AtomicBool::new(false);

/// Whether the kernel reports a call that is about to be made by the instruction before `place`.
pub(crate) fn is_watched(call: u32, place: usize) -> bool {
    let passes = |[start, end]: &[AtomicUsize; 2]| (start.load(Relaxed)..end.load(Relaxed)).contains(&place);
    WATCHES.load(Relaxed) && CALLS.contains(&call) && !PASSES.iter().any(passes)
}

/// Makes the kernel report the program's own system calls, from now on and in all children. Returns
/// whether it does.
pub(crate) fn watch() -> bool {
    const LOAD: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const TRAP: u32 = 0x0003_0000;
    const NUMBER: u32 = 0;
    const COUNTER_LOW: u32 = 8;
    const COUNTER_HIGH: u32 = 12;
    let ranges = modules::callers();
    // Comparisons are of 32 bits.
    if ranges.is_empty() || ranges.iter().any(|(start, end)| start >> 32 != end >> 32) {
        return false;
    }
    if ranges.len() > PASSES.len() {
        return false;
    }
    for ((start, end), [first, last]) in ranges.iter().zip(&PASSES) {
        first.store(*start, Relaxed);
        last.store(*end, Relaxed);
    }
    let plain = |code, value| Instruction { code, yes: 0, no: 0, value };
    let mut filter = alloc::vec![plain(LOAD, NUMBER)];
    let count = CALLS.len();
    for (at, call) in CALLS.into_iter().enumerate() {
        // Past the next return, which is for all other calls.
        filter.push(Instruction { code: JUMP_EQUAL, yes: (count - at) as u8, no: 0, value: call });
    }
    filter.push(plain(RETURN, ALLOW));
    for (start, end) in ranges {
        filter.push(plain(LOAD, COUNTER_HIGH));
        filter.push(Instruction { code: JUMP_EQUAL, yes: 0, no: 4, value: (start >> 32) as u32 });
        filter.push(plain(LOAD, COUNTER_LOW));
        filter.push(Instruction { code: JUMP_AT_LEAST, yes: 0, no: 2, value: start as u32 });
        filter.push(Instruction { code: JUMP_AT_LEAST, yes: 1, no: 0, value: end as u32 });
        filter.push(plain(RETURN, ALLOW));
    }
    filter.push(plain(RETURN, TRAP));
    let filter = Filter { length: filter.len() as u16, instructions: filter.leak().as_ptr() };
    const NO_NEW_PRIVILEGES: usize = 38;
    const SET_FILTER: usize = 1;
    sys::syscall(number::PRCTL, NO_NEW_PRIVILEGES, 1, 0, 0, 0, 0);
    // Some containers do not allow it.
    let watches = sys::syscall(number::SECCOMP, SET_FILTER, 0, &raw const filter as usize, 0, 0, 0) == 0;
    WATCHES.store(watches, Relaxed);
    watches
}

/// The kernel's record of the registers of an interrupted thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    pub r8: usize,
    pub r9: usize,
    pub r10: usize,
    pub r11: usize,
    pub r12: usize,
    pub r13: usize,
    pub r14: usize,
    pub r15: usize,
    pub rdi: usize,
    pub rsi: usize,
    pub rbp: usize,
    pub rbx: usize,
    pub rdx: usize,
    pub rax: usize,
    pub rcx: usize,
    pub rsp: usize,
    pub rip: usize,
    pub flags: usize,
}

impl Registers {
    /// The registers in the kernel's record of an interrupted thread.
    ///
    /// # Safety
    /// `context` is such a record, and nothing else uses it.
    pub(crate) unsafe fn of<'a>(context: *mut core::ffi::c_void) -> &'a mut Registers {
        /// Where registers begin in the record.
        const AT: usize = 40;
        // SAFETY: promised by the caller; the place is fixed by the kernel's interface.
        unsafe { &mut *(context.add(AT) as *mut Registers) }
    }
}

/// In the handler: makes the thread go on in the stub.
///
/// # Safety
/// `context` is the kernel's record of an interrupted thread.
pub(crate) unsafe fn divert(context: *mut core::ffi::c_void) {
    const RED_ZONE: usize = 128;
    // SAFETY: the caller promises the kernel's record, in which the registers have a fixed place;
    // the stack has room below the red zone, or ends with a fault here.
    unsafe {
        let registers = core::ptr::from_mut(Registers::of(context));
        let saved = (((*registers).rsp - RED_ZONE - size_of::<Registers>()) & !15) as *mut Registers;
        *saved = *registers;
        (*registers).rdi = saved as usize;
        (*registers).rsp = saved as usize;
        (*registers).rip = stub as *const () as usize;
    }
}

/// Saves what functions may change, serves the call, and returns to the instruction after it. `rcx`
/// and `r11` are lost in every system call.
#[unsafe(naked)]
unsafe extern "C" fn stub() {
    core::arch::naked_asm!(
        "mov rbx, rdi",
        "sub rsp, 4096",
        "and rsp, -64",
        // The header of the area must be zero.
        "xor eax, eax",
        "lea rdi, [rsp + 512]",
        "mov ecx, 8",
        "cld",
        "rep stosq",
        // Everything up to the large vector registers.
        "mov eax, 0xe7",
        "xor edx, edx",
        "xsave64 [rsp]",
        "mov rdi, rbx",
        "call {serve}",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "mov r8, [rbx]",
        "mov r9, [rbx + 8]",
        "mov r10, [rbx + 16]",
        "mov r12, [rbx + 32]",
        "mov r13, [rbx + 40]",
        "mov r14, [rbx + 48]",
        "mov r15, [rbx + 56]",
        "mov rdi, [rbx + 64]",
        "mov rsi, [rbx + 72]",
        "mov rbp, [rbx + 80]",
        "mov rdx, [rbx + 96]",
        "mov rax, [rbx + 104]",
        "mov rcx, [rbx + 128]",
        "push qword ptr [rbx + 136]",
        "popfq",
        "mov r11, [rbx + 120]",
        "mov rbx, [rbx + 88]",
        "mov rsp, r11",
        "jmp rcx",
        serve = sym serve,
    );
}

/// Serves a call like the C library's `syscall`, except that errors are negative error numbers.
unsafe extern "C" fn serve(saved: &mut Registers) {
    let call = saved.rax as i64;
    let site = control::enter(saved.rip as u64, saved.rsp);
    // SAFETY: the C library's `errno`, which a raw call does not touch; the caller's arguments.
    unsafe {
        let errno = sys::__errno_location();
        let before = *errno;
        let served =
            futex::serve(call, [saved.rdi, saved.rsi, saved.rdx, saved.r10, saved.r8, saved.r9], site);
        let answer = match served {
            Some(-1) => -(*errno as isize),
            Some(answer) => answer as isize,
            None => past_control(call, saved, site),
        };
        *errno = before;
        saved.rax = answer as usize;
    }
}

unsafe fn past_control(call: i64, saved: &Registers, site: Site) -> isize {
    const CLONE3: i64 = 435;
    const EXECVEAT: i64 = 322;
    match call {
        56..=59 | CLONE3 | EXECVEAT => process::refuse_process("by a system call of its own", site),
        60 => control::refuse("the program ends a thread by a system call of its own", sites::user(site)),
        _ => {}
    }
    sys::note_change();
    control::uncontrolled(&format!("system call {call} at {{site:{:#x}}}", site.0));
    sys::syscall(call, saved.rdi, saved.rsi, saved.rdx, saved.r10, saved.r8, saved.r9)
}
