//! Memory of the guest library itself: size classes over an arena of its own. So the program's heap
//! looks the same with and without the library, and a corrupted heap does not break the library.
//!
//! Only one controlled thread runs at a time, so nothing is locked.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use turnpike_scheduler::Site;

use crate::{control, sys, zygote};

/// Addresses are reserved in pieces of this size; untouched pages cost nothing.
const PIECE: usize = 64 << 20;
const CLASSES: usize = 28;

/// The allocator: powers of two, each with a list of free blocks.
pub(crate) struct Arena {
    /// The part of the newest piece that was never allocated.
    next: Cell<usize>,
    end: Cell<usize>,
    /// By class: the first free block, whose first word is the next one.
    free: [Cell<usize>; CLASSES],
}

// SAFETY: one thread at a time runs code of this library, as in `Global`. Cells, because a fatal
// signal may interrupt the allocator, and the code that then ends the process allocates its
// message.
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Arena { next: Cell::new(0), end: Cell::new(0), free: [const { Cell::new(0) }; CLASSES] }
    }
}

/// Bytes that this library mapped in this execution; they do not count as the program's.
static MAPPED: AtomicU64 = AtomicU64::new(0);
/// Bytes that may be mapped whatever the limit is.
const LEAST: u64 = 64 << 20;

/// Maps memory for this library. It does not count as the program's, but has a limit of its own of
/// the same size.
fn map(size: usize) -> usize {
    if control::active() {
        let memory = control::header().memory;
        let mapped = MAPPED.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        if memory != 0 && mapped > memory.max(LEAST) {
            let message = "recording the execution takes more memory than the option guest-memory allows; \
                           raise it, or cut executions earlier with max-steps";
            control::refuse(message, Site::default());
        }
        zygote::allow(size as u64);
    }
    sys::map(size, -1)
}

fn class_of(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(16);
    size.next_power_of_two().trailing_zeros() as usize
}

// SAFETY: blocks are disjoint, aligned to their power of two, and big enough.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class_of(layout);
        let size = 1usize << class;
        if class >= CLASSES {
            return map(size) as *mut u8;
        }
        let head = self.free[class].get();
        if head != 0 {
            // SAFETY: the first word of a free block is the next one.
            self.free[class].set(unsafe { *(head as *const usize) });
            return head as *mut u8;
        }
        let align = size.min(4096);
        let mut start = (self.next.get() + align - 1) & !(align - 1);
        if start + size > self.end.get() {
            let piece = PIECE.max(size);
            start = map(piece);
            if start == 0 {
                return ptr::null_mut();
            }
            self.end.set(start + piece);
        }
        self.next.set(start + size);
        start as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class_of(layout);
        if class >= CLASSES {
            return;
        }
        // SAFETY: the block came from `alloc`, has at least 16 bytes, and is no longer used.
        unsafe { *(block as *mut usize) = self.free[class].get() };
        self.free[class].set(block as usize);
    }
}

#[cfg_attr(embedded, global_allocator)]
static ARENA: Arena = Arena::new();

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    #[cfg(not(miri))]
    fn blocks_are_aligned_disjoint_and_used_again() {
        let arena = Arena::new();
        let layouts = [(1, 1), (16, 8), (17, 1), (100, 64), (4096, 4096), (5000, 16)]
            .map(|(size, align)| Layout::from_size_align(size, align).expect("a layout"));
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for round in 0..3 {
            for layout in layouts {
                // SAFETY: the size is not zero.
                let block = unsafe { arena.alloc(layout) };
                assert!(!block.is_null() && (block as usize).is_multiple_of(layout.align()));
                // SAFETY: the block has as many bytes as its layout.
                unsafe { block.write_bytes(round, layout.size()) };
                let range = (block as usize, block as usize + layout.size());
                assert!(blocks.iter().all(|other| other.1 <= range.0 || range.1 <= other.0));
                blocks.push(range);
            }
        }
        let layout = layouts[3];
        // SAFETY: a block of this layout, which is not used after it is freed.
        unsafe {
            let block = arena.alloc(layout);
            arena.dealloc(block, layout);
            assert_eq!(arena.alloc(layout), block);
        }
    }
}
