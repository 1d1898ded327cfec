//! Copies of the process in the middle of an execution. Later executions that begin with the same
//! steps go on from there, instead of from the start.
//!
//! A copy is the process itself: it forks a child, which goes on with the execution, and waits. To
//! its child it is what the fork server is to it. It answers when the child is gone, takes the next
//! request, and forks again. If the next execution differs already before this point, the copy ends
//! and leaves the request to the process that forked it. So all copies are at steps of the last
//! execution, each is a child of the one before, and the last one waits for the host. Each dies
//! with its parent.
//!
//! A fork shares open files and shared memory with its parent, and copies only one thread of the
//! system. A process with files or shared memory of its own, or with more threads, is not copied,
//! and its steps are executed again.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::image::Map;
use crate::protocol::{self, Header};
use crate::sys::{self, number};
use crate::{control, record, zygote};

/// Steps between two decisions whether a copy is worth it, where the search does not branch.
const EVERY: u32 = 8;
/// A process that cannot be copied is asked again after this many times its processor time.
const POSTPONED: u64 = 2;
/// The most bytes of output that a copy keeps, to print them again.
const MOST_OUTPUT: usize = 64 << 10;
const PAGE: u64 = 4096;

const INPUT: usize = 0;
const OUTPUT: usize = 1;
/// Input, output and errors, as the program finds them at its start.
const STANDARD: usize = 3;

const FROM_HERE: usize = 1;
const FROM_START: usize = 0;
const FROM_END: usize = 2;

const STACK_SIZE: usize = 64 << 10;

/// The upper end of the stack on which `consider` runs.
static STACK: AtomicUsize = AtomicUsize::new(0);
/// Processor time of this execution in the processes before this one, in nanoseconds.
static BEFORE: AtomicU64 = AtomicU64::new(0);
/// How many copies this process descends from.
static LEVEL: AtomicU32 = AtomicU32::new(0);
/// Private memory of these copies, in bytes.
static HELD: AtomicU64 = AtomicU64::new(0);
/// The step before which a copy was last considered.
static ASKED: AtomicU32 = AtomicU32::new(0);
/// The processor time of this process before which it is not copied, in nanoseconds.
static NOT_BEFORE: AtomicU64 = AtomicU64::new(0);
/// What the standard descriptors refer to: device and number of the file.
static BEHIND: [[AtomicU64; 2]; STANDARD] = [const { [AtomicU64::new(0), AtomicU64::new(0)] }; STANDARD];

/// In the fork server: allocates the stack, and notes what the standard descriptors refer to.
pub(crate) fn prepare() {
    let stack: &mut [u64] = alloc::vec![0u64; STACK_SIZE / 8].leak();
    STACK.store((stack.as_ptr_range().end as usize) & !63, Ordering::Relaxed);
    for (fd, known) in BEHIND.iter().enumerate() {
        for (word, value) in known.iter().zip(behind(fd)) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

/// Before a step: makes a copy if one is worth it here.
#[inline(always)]
pub(crate) fn before_step() {
    let header = control::header();
    if header.copies != 0 && control::FIBERS.load(Ordering::Relaxed) {
        // SAFETY: the stack is large enough, and one thread at a time runs code of this library.
        unsafe { turnpike_on_stack(STACK.load(Ordering::Relaxed), consider) };
    }
}

unsafe extern "C" {
    /// Calls `work` on another stack.
    fn turnpike_on_stack(stack: usize, work: extern "C" fn());
}

core::arch::global_asm!(
    ".globl turnpike_on_stack",
    ".hidden turnpike_on_stack",
    ".type turnpike_on_stack, @function",
    "turnpike_on_stack:",
    "push rbp",
    "mov rbp, rsp",
    "mov rsp, rdi",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    "ret",
    ".size turnpike_on_stack, . - turnpike_on_stack",
);

/// Makes a copy if one is worth it here. This runs on a stack of its own: that of the program may
/// be small, and `sites` guesses callers from what is left on it.
extern "C" fn consider() {
    let header = control::header();
    let taken = control::kernel(|kernel| kernel.steps_taken());
    let branches = taken == header.branch;
    if ASKED.swap(taken, Ordering::Relaxed) == taken || !(branches || taken.is_multiple_of(EVERY)) {
        return;
    }
    let (before, spent) = (BEFORE.load(Ordering::Relaxed), zygote::processor_time());
    // Copies where the search does not branch are farther apart the longer the execution is.
    let least = if branches { header.worth / 2 } else { header.worth.max((before + spent) / 4) };
    if spent < least.max(NOT_BEFORE.load(Ordering::Relaxed)) {
        return;
    }
    let level = LEVEL.load(Ordering::Relaxed);
    // The last quarter is reserved for where the search branches.
    let most = if branches { header.copies } else { header.copies - header.copies / 4 };
    if level >= most.min(protocol::MOST_COPIES as u32) {
        return;
    }
    match Here::look(header) {
        Some(here) => keep(header, &here, level, before + spent, taken),
        None => NOT_BEFORE.store(spent * POSTPONED, Ordering::Relaxed),
    }
}

/// State that a fork shares instead of copying.
struct Here {
    note: [u64; 9],
    steps: u32,
    progress: u64,
    input: isize,
    output: Vec<u8>,
}

impl Here {
    /// Records this state; `None` if this process cannot be copied.
    fn look(header: &Header) -> Option<Here> {
        let held = HELD.load(Ordering::Relaxed) + private_memory()?;
        if held > header.copy_memory || !owns_nothing() {
            return None;
        }
        HELD.store(held, Ordering::Relaxed);
        Some(Here {
            note: core::array::from_fn(|at| header.note[at].load(Ordering::Relaxed)),
            steps: header.steps.load(Ordering::Relaxed),
            progress: header.progress.load(Ordering::Relaxed),
            input: sys::syscall(number::LSEEK, INPUT, 0, FROM_HERE, 0, 0, 0),
            output: if header.output == 0 { Vec::new() } else { printed()? },
        })
    }

    /// Restores it in a new child that goes on with another execution.
    fn restore(&self, header: &Header) {
        for (word, value) in header.note.iter().zip(self.note) {
            word.store(value, Ordering::Relaxed);
        }
        header.steps.store(self.steps, Ordering::Relaxed);
        header.progress.store(self.progress, Ordering::Relaxed);
        if self.input >= 0 {
            sys::syscall(number::LSEEK, INPUT, self.input as usize, FROM_START, 0, 0, 0);
        }
        let mut rest = &self.output[..];
        while !rest.is_empty() {
            let written = sys::write(OUTPUT as i32, rest).max(1) as usize;
            rest = &rest[written.min(rest.len())..];
        }
    }
}

/// Becomes a copy. Returns in each child, which goes on with an execution: first the one under way,
/// then each one that the host asks for.
fn keep(header: &Header, here: &Here, level: u32, before: u64, taken: u32) {
    let own = sys::syscall(number::GETPID, 0, 0, 0, 0, 0, 0);
    header.copied_at[level as usize].store(taken, Ordering::Relaxed);
    let mut again = false;
    loop {
        header.kept.store(level + 1, Ordering::Relaxed);
        let pid = sys::fork() as i32;
        if pid == 0 {
            zygote::die_with(own);
            BEFORE.store(before, Ordering::Relaxed);
            LEVEL.store(level + 1, Ordering::Relaxed);
            NOT_BEFORE.store(0, Ordering::Relaxed);
            zygote::limit_time(header);
            if again {
                here.restore(header);
                header.spared.store(before, Ordering::Relaxed);
                record::follow_another();
            }
            return;
        }
        if pid < 0 {
            header.kept.store(level, Ordering::Relaxed);
            if !again {
                return;
            }
            pass_on(header);
        }
        zygote::attend(header, pid);
        header.kept.store(level + 1, Ordering::Relaxed);
        match header.end.load(Ordering::Acquire) {
            protocol::END_PASSED_ON => {}
            // Only the fork server can park more threads.
            protocol::END_MORE_THREADS => sys::exit_group(0),
            _ => {
                sys::write(protocol::FD_ANSWER, b"D");
                if !zygote::await_request() {
                    sys::exit_group(0);
                }
            }
        }
        if header.keep <= level {
            pass_on(header);
        }
        zygote::clear(header);
        again = true;
    }
}

/// Leaves the request to the process that forked this one.
fn pass_on(header: &Header) -> ! {
    header.end.store(protocol::END_PASSED_ON, Ordering::Release);
    sys::exit_group(0)
}

/// Bytes of memory that only this process has.
fn private_memory() -> Option<u64> {
    let text = read_file(c"/proc/self/statm", 128)?;
    let mut numbers = text.split(|byte| !byte.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || Some(numbers.next()?.iter().fold(0u64, |n, digit| n * 10 + u64::from(digit - b'0')));
    let (_size, resident, shared) = (next()?, next()?, next()?);
    Some(resident.saturating_sub(shared) * PAGE)
}

/// Whether the program has nothing that a fork would share.
fn owns_nothing() -> bool {
    (0..STANDARD).all(|fd| BEHIND[fd].iter().map(|word| word.load(Ordering::Relaxed)).eq(behind(fd)))
        && opened_nothing().unwrap_or(false)
        && shares_no_memory().unwrap_or(false)
}

/// Device and number of the file behind a descriptor; 0 if it is not open.
fn behind(fd: usize) -> [u64; 2] {
    let mut status = [0u64; 32];
    let found = sys::syscall(number::FSTAT, fd, status.as_mut_ptr() as usize, 0, 0, 0, 0) >= 0;
    if found { [status[0], status[1]] } else { [0; 2] }
}

/// Whether the only open descriptors are the standard ones and the library's, which must be open.
fn opened_nothing() -> Option<bool> {
    const GETDENTS64: i64 = 217;
    const LENGTH_AT: usize = 16;
    const NAME_AT: usize = 19;
    let fd = open(c"/proc/self/fd")?;
    let mut bytes = alloc::vec![0u8; 8 << 10];
    let (mut own, mut others) = (0, 0);
    loop {
        let got = sys::syscall(GETDENTS64, fd as usize, bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0);
        let Some(mut rest) = usize::try_from(got).ok().and_then(|got| bytes.get(..got)) else {
            sys::close(fd);
            return None;
        };
        if rest.is_empty() {
            break;
        }
        while let (Some(&[low, high]), Some(name)) = (rest.get(LENGTH_AT..LENGTH_AT + 2), rest.get(NAME_AT..))
        {
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if let Some(number) = core::str::from_utf8(name).ok().and_then(|name| name.parse::<i32>().ok()) {
                own += u32::from([protocol::FD_REQUEST, protocol::FD_ANSWER].contains(&number));
                others += u32::from(number >= STANDARD as i32 && number != fd && !protocol::is_own(number));
            }
            rest = &rest[usize::from(u16::from_le_bytes([low, high])).clamp(1, rest.len())..];
        }
    }
    sys::close(fd);
    Some(own == 2 && others == 0)
}

/// Whether no memory but the library's is shared with other processes.
fn shares_no_memory() -> Option<bool> {
    let text = read_file(c"/proc/self/maps", 256 << 10)?;
    let own = [control::shared() as usize, crate::image::place()];
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let map = Map::parse(line)?;
        if map.shared && map.writable && !own.contains(&map.start) {
            return Some(false);
        }
    }
    Some(true)
}

/// What the program printed so far, if it is little.
fn printed() -> Option<Vec<u8>> {
    const PREAD: i64 = 17;
    let length = sys::syscall(number::LSEEK, OUTPUT, 0, FROM_END, 0, 0, 0);
    let mut bytes = alloc::vec![0; usize::try_from(length).ok().filter(|length| *length <= MOST_OUTPUT)?];
    let got = sys::syscall(PREAD, OUTPUT, bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0);
    (got == length).then_some(bytes)
}

fn open(path: &core::ffi::CStr) -> Option<i32> {
    const AT_CWD: isize = -100;
    let fd = sys::syscall(number::OPENAT, AT_CWD as usize, path.as_ptr() as usize, 0, 0, 0, 0);
    i32::try_from(fd).ok().filter(|fd| *fd >= 0)
}

/// A whole file; `None` if it has `most` bytes or more.
fn read_file(path: &core::ffi::CStr, most: usize) -> Option<Vec<u8>> {
    let fd = open(path)?;
    let mut bytes = alloc::vec![0; most];
    let mut length = 0;
    let whole = loop {
        match sys::read(fd, &mut bytes[length..]) {
            0 => break length < most,
            more if more > 0 => length += more as usize,
            _ => break false,
        }
    };
    sys::close(fd);
    bytes.truncate(length);
    whole.then_some(bytes)
}
