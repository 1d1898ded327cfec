//! Writes that nothing reports: by assembler, by functions without the sanitizer, by what compilers
//! expand in place. A loop that makes one in each turn only looks like one that waits.
//!
//! While a thread may be waiting, the variables of the program and its heap are compared before and
//! after all that it does by itself. No other thread runs meanwhile, so this thread made every
//! change, and whether there is one does not depend on the schedule. Its own stack is compared
//! elsewhere (`state`). Blocks of the C library, such as buffers of streams, do not count: their
//! contents do not influence what the program does.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::{control, memory, modules};

/// The most bytes that are compared; a program that has more may change something unseen.
const MOST: usize = 4 << 20;
/// How many times a thread whose state is always new is watched, in each cycle.
const PATIENCE: u32 = 24;
/// Times that make a cycle.
const CYCLE: u32 = 96;

/// What is known of a thread that may be waiting.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watch {
    /// It is watched.
    on: bool,
    /// The digest of memory when it began to run again.
    digest: u64,
    /// It has changed something.
    changed: bool,
    /// Its state at the last query.
    state: u64,
    /// How often in a row its state was new.
    differed: u32,
}

/// What a thread changed since the last query of its state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing.
    Clean,
    Changed,
    /// It was not watched.
    Unknown,
    /// There is too much memory to compare.
    TooLarge,
}

/// Whether the program made memory unreadable: then memory cannot be compared.
static UNREADABLE: AtomicBool = AtomicBool::new(false);

/// Notes that the rights of some memory change.
pub(crate) fn protects(rights: c_int) {
    const READ: c_int = 1;
    if rights & READ == 0 {
        UNREADABLE.store(true, Ordering::Relaxed);
    }
}

/// Whether some thread is watched.
static ON: AtomicBool = AtomicBool::new(false);

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// A digest of the bytes from `start` to `end`.
///
/// # Safety
/// The memory is readable.
pub(crate) unsafe fn digest_bytes(mut hash: u64, start: usize, end: usize) -> u64 {
    let (first, last) = (start.next_multiple_of(8), end & !7);
    for at in (first..last.max(first)).step_by(8) {
        // SAFETY: within the caller's memory.
        hash = mix(hash, unsafe { (at as *const u64).read_volatile() });
    }
    // The ends, byte by byte.
    for at in (start..first.min(end)).chain(last.max(start.max(first).min(end))..end) {
        // SAFETY: within the caller's memory.
        hash = mix(hash, unsafe { (at as *const u8).read_volatile() }.into());
    }
    hash
}

/// A digest of all that the program can write, apart from stacks; `None` if that is too much.
fn digest() -> Option<u64> {
    if UNREADABLE.load(Ordering::Relaxed) {
        return None;
    }
    let (mut hash, mut left) = (0, MOST);
    let fits = modules::each_data(|start, end| {
        left = left.checked_sub(end - start)?;
        // SAFETY: variables of a module that is loaded.
        hash = unsafe { digest_bytes(hash, start, end) };
        Some(())
    });
    fits?;
    let (start, end) = modules::thread_local();
    left = left.checked_sub(end - start)?;
    // SAFETY: the running thread's own variables.
    hash = unsafe { digest_bytes(hash, start, end) };
    memory::digest_heap(hash, left)
}

fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && control::thread(|thread| thread.watch.on)
}

/// Before a switch: notes what the running thread changed, if it is watched.
pub(crate) fn before_step() {
    if is_on() {
        let now = digest();
        control::thread(|thread| thread.watch.changed |= now != Some(thread.watch.digest));
    }
}

/// After a switch: notes what the running thread finds, if it is watched.
pub(crate) fn after_step() {
    if is_on() {
        let now = digest();
        control::thread(|thread| match now {
            Some(now) => thread.watch.digest = now,
            None => thread.watch.on = false,
        });
    }
}

/// What the running thread changed since the last query of its state.
pub(crate) fn turn() -> Turn {
    let watch = control::thread(|thread| thread.watch);
    if !watch.on && watch.differed >= PATIENCE {
        return Turn::Unknown;
    }
    match digest() {
        None => Turn::TooLarge,
        Some(_) if !watch.on => Turn::Unknown,
        Some(now) if watch.changed || now != watch.digest => Turn::Changed,
        Some(_) => Turn::Clean,
    }
}

/// Notes that the running thread is in this state, and watches what it does next, unless its state
/// is new each time.
pub(crate) fn watch(state: u64) {
    let differed = control::thread(|thread| {
        let differed = if thread.watch.state == state { 0 } else { thread.watch.differed + 1 };
        differed % CYCLE
    });
    let now = if differed < PATIENCE { digest() } else { None };
    ON.store(true, Ordering::Relaxed);
    control::thread(|thread| {
        let (on, digest) = (now.is_some(), now.unwrap_or(0));
        thread.watch = Watch { on, digest, changed: false, state, differed };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let mut bytes = [7u8; 64];
        let start = bytes.as_ptr() as usize;
        for (from, to) in [(0, 64), (3, 61), (1, 7), (5, 5), (9, 15), (8, 16)] {
            // SAFETY: within the array.
            let before = unsafe { digest_bytes(1, start + from, start + to) };
            for (at, inside) in (0..64).map(|at| (at, (from..to).contains(&at))) {
                bytes[at] = 9;
                // SAFETY: within the array.
                let after = unsafe { digest_bytes(1, start + from, start + to) };
                assert_eq!(after != before, inside, "{at} in {from}..{to}");
                bytes[at] = 7;
            }
        }
    }
}
