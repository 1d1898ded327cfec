//! Sentences about memory. `{site:0x…}`, `{address:0x…}` and `{thread:N}` stand for what only the host can name.

use alloc::format;
use alloc::string::String;

use super::logic::heap::Block;
use super::logic::race::Race;

fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

/// Two accesses that nothing orders.
pub fn race(race: &Race, second_thread: u32) -> String {
    format!(
        "data race on {{address:{:#x}}}: {} by {{thread:{}}}, {} by {{thread:{}}}",
        race.address,
        verb(race.first_writes),
        race.first_thread,
        verb(race.second_writes),
        second_thread
    )
}

/// Where a block came from, and where it went.
pub fn history(block: &Block) -> String {
    format!(
        "block of {} bytes that {{thread:{}}} allocated at {{site:{:#x}}} and {{thread:{}}} freed at {{site:{:#x}}}",
        block.size, block.thread, block.allocated, block.freed_by, block.freed
    )
}

/// An access to a block that was freed.
pub fn after_free(block: &Block, address: u64, size: u64, write: bool) -> String {
    format!(
        "use after free: {} of {size} bytes at offset {} of a {}",
        verb(write),
        address.saturating_sub(block.start),
        history(block)
    )
}

/// An access beyond the end of a block.
pub fn overflow(block: &Block, address: u64, size: u64, write: bool) -> String {
    format!(
        "heap buffer overflow: {} of {size} bytes at offset {} of a block of {} bytes that {{thread:{}}} allocated at {{site:{:#x}}}",
        verb(write),
        address.saturating_sub(block.start),
        block.size,
        block.thread,
        block.allocated
    )
}

/// A block that was freed a second time.
pub fn double_free(block: &Block) -> String {
    format!("double free of a {}", history(block))
}

/// Freeing from the middle.
pub fn inside(block: &Block, address: u64) -> String {
    format!(
        "free of an address inside a block: offset {} of a block of {} bytes that {{thread:{}}} allocated at {{site:{:#x}}}",
        address - block.start,
        block.size,
        block.thread,
        block.allocated
    )
}

/// Freeing what was never allocated.
pub fn unknown(address: u64) -> String {
    format!("free of {{address:{address:#x}}}, which was never allocated")
}

/// Somebody wrote into a freed block.
pub fn written_after_free(block: &Block, offset: u64) -> String {
    format!("write after free: at offset {offset} of a {}", history(block))
}
