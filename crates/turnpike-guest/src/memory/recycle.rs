//! Freed addresses that are allocated again.
//!
//! Here a freed block is not reused for long, so that later uses of it are caught. Other allocators
//! reuse its address at once, and a program may depend on that without touching freed memory: it
//! compares an old pointer with a new one (the ABA problem).
//!
//! A thread could do so if a block was freed, another of its size was allocated afterwards, and the
//! thread then
//!
//! - compares and exchanges with the address of the freed block,
//! - reads that address from memory, or
//! - reads the address of the newer block from memory, and its registers or its stack hold the older
//!   one, which another thread freed, before that and still at the thread's next call of this
//!   library. (Most of what is held at first is overwritten by what is read.)
//!
//! Such an execution proves nothing, and names the code locations of the two calls. The host makes
//! them steps of all executions that follow, on one object for each size, and at such an allocation
//! it is a choice whether the block is new or any that was freed at such a location.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Detail, Finding, Kind, MemoryOrder, Object, ObjectId, Operation, Site};

use super::heap;
use super::logic::heap::{Block, State};
use super::logic::sizes::{CLASSES, class_of};
use super::{MEMORY, is_instrumented, spin, threaded};
use crate::global::Global;
use crate::protocol::RECYCLES;
use crate::{control, fiber, sites, state};

/// A name for the object of the first size.
const ALLOCATOR: u64 = 0x616c_6c6f_6361_7400;
/// The most freed blocks that an allocation chooses from.
const MOST: usize = 4;
/// The bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;

struct Recycler {
    /// Freed blocks that may come back, by address and time of the call; the last one comes first.
    offered: Vec<(u64, u32)>,
    /// By class.
    objects: [Option<ObjectId>; CLASSES.len() + 1],
    /// Threads that held the address of a freed block when they read that of a newer one.
    holders: Vec<Holder>,
}

struct Holder {
    thread: u32,
    freed: Block,
    allocated: u64,
    class: usize,
}

static RECYCLER: Global<Recycler> =
    Global::new(Recycler { offered: Vec::new(), objects: [None; CLASSES.len() + 1], holders: Vec::new() });

/// Whether any block was allocated while another of its size was in quarantine.
static POSSIBLE: AtomicBool = AtomicBool::new(false);
/// Whether there are holders.
static HOLDERS: AtomicBool = AtomicBool::new(false);

/// What the running thread holds, if it matters. Call it in a hook, before any switch.
#[inline]
pub(super) fn held() -> Option<state::Held> {
    if !POSSIBLE.load(Ordering::Relaxed) {
        return None;
    }
    confirm();
    Some(state::held())
}

/// When the running thread calls this library: checks whether it still holds the freed addresses
/// that it held at its last read.
#[inline]
pub(crate) fn confirm() {
    if HOLDERS.load(Ordering::Relaxed) && control::active() {
        confirm_holders();
    }
}

#[cold]
fn confirm_holders() {
    let me = control::me().0;
    let mut own: Vec<Holder> = Vec::new();
    RECYCLER.with(|recycler| {
        own.extend(recycler.holders.extract_if(.., |holder| holder.thread == me));
        HOLDERS.store(!recycler.holders.is_empty(), Ordering::Relaxed);
    });
    if own.is_empty() {
        return;
    }
    let held = state::held();
    for holder in own {
        let block = &holder.freed;
        let mut still = false;
        held.each(|word| still |= (word & ADDRESS).wrapping_sub(block.start) < block.size.max(1));
        if still {
            suspect(block, holder.allocated, holder.class);
        }
    }
}

/// Notes that a block was allocated.
pub(super) fn allocated(block: &Block) {
    if is_instrumented() && control::active() && threaded() && heap::with(|heap| heap.rests_like(block.start))
    {
        POSSIBLE.store(true, Ordering::Relaxed);
    }
}

/// The block that a word may be the address of. Programs keep flags in the bits that addresses do
/// not need.
fn block_of(word: u64) -> Option<Block> {
    heap::with(|heap| heap.find(word & ADDRESS))
}

/// Notes that the running thread has read this word, while it held `held`.
#[cold]
pub(super) fn saw(word: u64, held: &state::Held) {
    match block_of(word) {
        Some(block) if block.state == State::Freed => compares(word),
        Some(newer) => {
            let me = control::me().0;
            let class = heap::with(|heap| heap.class_at(newer.start));
            let mut older = Vec::new();
            held.each(|word| {
                if let Some(block) = block_of(word)
                    && block.state == State::Freed
                    && block.freed_by != me
                    && block.died < newer.born
                    && heap::with(|heap| heap.class_at(block.start)) == class
                {
                    older.push(block);
                }
            });
            if !older.is_empty() {
                HOLDERS.store(true, Ordering::Relaxed);
            }
            let allocated = newer.allocated;
            RECYCLER.with(|recycler| {
                recycler.holders.extend(older.into_iter().map(|freed| Holder {
                    thread: me,
                    freed,
                    allocated,
                    class,
                }));
            });
        }
        None => {}
    }
}

/// Notes that the running thread has read these bytes.
pub(super) fn saw_bytes(address: u64, size: u64, held: &state::Held) {
    const MOST_WORDS: u64 = 64;
    if size < 8 {
        return;
    }
    for word in 0..(size / 8).min(MOST_WORDS) {
        // SAFETY: the program reads these bytes, too.
        saw(unsafe { core::ptr::read_unaligned((address + word * 8) as *const u64) }, held);
    }
}

/// Notes that the running thread compares memory with this word.
pub(super) fn compares(word: u64) {
    if !POSSIBLE.load(Ordering::Relaxed) {
        return;
    }
    let Some(block) = block_of(word).filter(|block| block.state == State::Freed) else { return };
    let class = heap::with(|heap| heap.class_at(block.start));
    let newer: Vec<u64> =
        heap::with(|heap| heap.born_after(class, block.died).map(|newer| newer.allocated).collect());
    for allocated in newer {
        suspect(&block, allocated, class);
    }
}

/// Reports that something may depend on whether the block that was allocated there has the address
/// of the freed one.
fn suspect(freed: &Block, allocated: u64, class: usize) {
    let foreign = [freed.freed, allocated].iter().any(|&site| sites::in_c_library(Site(site)));
    if foreign || class == CLASSES.len() {
        control::uncontrolled(&alloc::format!(
            "whether memory that was freed at {{site:{:#x}}} is handed out again",
            freed.freed
        ));
    } else if !(recycles(Site(freed.freed)) && recycles(Site(allocated))) {
        control::kernel(|kernel| {
            kernel.mark_incomplete();
            kernel.note(Finding::Reuse { freed: Site(freed.freed), allocated: Site(allocated) });
        });
    }
}

/// Whether a call there is a step because of what this module noticed.
fn recycles(site: Site) -> bool {
    MEMORY.with(|memory| memory.visible.get(site.0 | RECYCLES).is_some())
}

/// The object that stands for the free blocks of a class.
fn object_of(class: usize, site: Site) -> ObjectId {
    let register = || {
        let site = sites::user(site);
        control::kernel(|kernel| {
            let object = kernel.register(Object::Memory, ALLOCATOR + class as u64, site);
            if control::DETAIL.get() >= Detail::Full {
                kernel.name_object(object, "allocator");
            }
            object
        })
    };
    RECYCLER.with(|recycler| *recycler.objects[class].get_or_insert_with(register))
}

/// A step that changes which blocks of a class are free. It is relaxed, because a program must not
/// rely on an allocator for ordering.
fn step(kind: Kind, object: ObjectId, site: Site) -> usize {
    control::enter(site.0, fiber::stack_pointer());
    spin(control::me().0, |spin| spin.progress());
    let (order, unchanged) = (MemoryOrder::RELAXED, MemoryOrder::RELAXED);
    let operation = Operation { order, unchanged, ..Operation::new(kind, object, sites::user(site)) };
    control::step(operation).value as usize
}

/// Blocks of a class that may come back, the last one first, as most allocators do. Those that
/// left the quarantine otherwise are forgotten.
fn offered(class: usize) -> Vec<u64> {
    RECYCLER.with(|recycler| {
        heap::with(|heap| {
            recycler.offered.retain(|&(address, died)| {
                let same = |block: Block| block.state == State::Freed && block.died == died;
                heap.find(address).is_some_and(same)
            });
            let like = |address: &u64| heap.class_at(*address) == class;
            recycler.offered.iter().rev().map(|offer| offer.0).filter(like).collect()
        })
    })
}

/// Passes the number of blocks that the next allocation chooses from to the scheduler.
fn count(class: usize, object: ObjectId) {
    let count = offered(class).len();
    control::kernel(|kernel| {
        if count > MOST {
            kernel.mark_incomplete();
        }
        kernel.set_count(object, count.min(MOST) as u32);
    });
}

/// A block was freed: from now on its address may come back.
pub(super) fn offer(address: u64, site: Site) {
    if !control::active() || !threaded() || !recycles(site) {
        return;
    }
    let (class, block) = heap::with(|heap| (heap.class_at(address), heap.find(address)));
    let Some(block) = block else { return };
    let object = object_of(class, site);
    step(Kind::Update, object, site);
    RECYCLER.with(|recycler| recycler.offered.push((address, block.died)));
    count(class, object);
}

/// Allocates `size` bytes where a freed block was, if one of those that may come back is chosen.
pub(super) fn choose(size: u64, align: u64, thread: u32, site: Site) -> Option<Block> {
    if !control::active() || !threaded() || !recycles(site) {
        return None;
    }
    let class = class_of(size.checked_add(1)?, align)?;
    let object = object_of(class, site);
    let chosen = step(Kind::Toss, object, site).checked_sub(1)?;
    let address = *offered(class).get(chosen)?;
    heap::verify_freed(address, site);
    let block = heap::with(|heap| heap.allocate_again(address, size, thread, site.0));
    count(class, object);
    block
}
