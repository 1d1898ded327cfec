//! Messages about memory. `{site:0x…}` and `{address:0x…}` stand for what only the host can name.

use alloc::format;
use alloc::string::String;

use turnpike_scheduler::ThreadId;

use super::heap;
use super::logic::heap::{Block, EARLY};
use super::logic::race::Race;
use crate::control;

fn thread(id: u32) -> String {
    control::kernel(|kernel| kernel.thread_name(ThreadId(id)))
}

/// A number of bytes, in the singular or plural.
fn bytes(size: u64) -> String {
    if size == 1 { "1 byte".into() } else { format!("{size} bytes") }
}

fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

/// Two accesses that nothing orders.
pub(super) fn race(race: &Race, second: u32) -> String {
    format!(
        "data race on {}: {} by {}, {} by {}",
        heap::called(race.address).unwrap_or_else(|| format!("{{address:{:#x}}}", race.address)),
        verb(race.first_writes),
        thread(race.first_thread),
        verb(race.second_writes),
        thread(second)
    )
}

/// Where a block came from.
fn made(block: &Block) -> String {
    format!(
        "block of {} that {} allocated at {{site:{:#x}}}",
        bytes(block.size),
        thread(block.thread),
        block.allocated
    )
}

/// Where a block came from, and where it went.
fn history(block: &Block) -> String {
    format!("{} and {} freed at {{site:{:#x}}}", made(block), thread(block.freed_by), block.freed)
}

/// An access to a block that was freed.
pub(super) fn after_free(block: &Block, address: u64, size: u64, write: bool) -> String {
    let offset = address.saturating_sub(block.start);
    format!("use after free: {} of {} at offset {offset} of a {}", verb(write), bytes(size), history(block))
}

/// An access beyond the end of a block.
pub(super) fn overflow(block: &Block, address: u64, size: u64, write: bool) -> String {
    let offset = address.saturating_sub(block.start);
    format!(
        "heap buffer overflow: {} of {} at offset {offset} of a {}",
        verb(write),
        bytes(size),
        made(block)
    )
}

/// A block that was freed a second time.
pub(super) fn double_free(block: &Block) -> String {
    format!("double free of a {}", history(block))
}

/// Freeing an address inside a block.
pub(super) fn inside(block: &Block, address: u64) -> String {
    format!("free of an address inside a block: offset {} of a {}", address - block.start, made(block))
}

/// Freeing what was never allocated.
pub(super) fn unknown(address: u64) -> String {
    format!("free of {{address:{address:#x}}}, which was never allocated")
}

/// A freed block was written to.
pub(super) fn written_after_free(block: &Block, offset: u64) -> String {
    format!("write after free: at offset {offset} of a {}", history(block))
}

/// A name for a place on a thread's stack.
pub(super) fn on_stack(id: u32, below: usize) -> String {
    format!("stack of {}-{below}", thread(id))
}

/// A name for a block.
pub(super) fn whole(block: &Block) -> String {
    match block.index.checked_sub(EARLY) {
        Some(early) => format!("early block {early}"),
        None => format!("block {} of {}", block.index, thread(block.thread)),
    }
}

/// A name for a thread's stack.
pub(super) fn stack(id: u32) -> String {
    format!("stack of {}", thread(id))
}

/// An access to the stack of a thread that has ended.
pub(super) fn after_end(id: u32, write: bool) -> String {
    format!("use after the end of a thread: {} of the stack of {}, which has ended", verb(write), thread(id))
}

/// A read of what was never written.
pub(super) fn unwritten(id: u32, size: u64) -> String {
    format!("read of {} of the stack of {} that were never written", bytes(size), thread(id))
}

/// A name for a place in a block.
pub(super) fn place(block: &Block, address: u64) -> String {
    format!("{}+{}", whole(block), address.saturating_sub(block.start))
}
