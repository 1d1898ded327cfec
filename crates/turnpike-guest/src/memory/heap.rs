//! The program's heap under control: memory at fixed addresses, filled when it is freed, checked
//! when it is used.
//!
//! Instrumented code is checked at every access. For other code: what a program frees is filled
//! with [`FREED`], so that a pointer read from it crashes at its first use; the fill is checked
//! when the block's memory is used again and when the program ends, which finds writes; large
//! blocks become inaccessible at once. New blocks are always zero, so that what a program does with
//! memory it did not initialise is at least the same in all executions.

use alloc::string::String;
use turnpike_scheduler::{FailureKind, ObjectId, Site, ThreadId};

use super::logic::heap::{Block, Heap, Misuse, State, Touch};
use super::logic::sizes::PAGE;
use super::{lifetime, os, recycle, report, unwritten};
use crate::global::Global;
use crate::{audit, control, modules, sites, unseen};

/// What freed memory is filled with: no pointer made of it is valid.
pub(super) const FREED: u8 = 0xdd;
/// Blocks of at least this size become inaccessible when they are freed.
const PROTECTED: u64 = 64 << 10;
/// The most bytes of a freed block that are filled and checked.
const FILLED: u64 = 4 << 10;
/// The most bytes that are checked when the program ends.
const SWEPT: u64 = 1 << 20;
/// Where the heap should be; it goes elsewhere if that is taken.
const BASE: usize = 0x2000_0000_0000;
/// How many bytes of addresses to try to reserve, largest first.
const SIZES: [usize; 4] = [1 << 38, 1 << 35, 1 << 32, 1 << 30];

static HEAP: Global<Heap> = Global::new(Heap::new());

/// Takes the heap back from interrupted code.
///
/// # Safety
/// That code never goes on.
pub(super) unsafe fn take_back_heap() {
    // SAFETY: promised by the caller.
    unsafe { HEAP.take_back() };
}

/// Reserves the heap's addresses, if that was not done yet.
#[cold]
pub(super) fn open() {
    if HEAP.with(|heap| heap.is_open()) {
        return;
    }
    for size in SIZES {
        let base = os::reserve(BASE, size);
        if base != 0 {
            HEAP.with(|heap| heap.open(base as u64, size as u64));
            return;
        }
    }
}

/// The heap, for as long as `work` takes.
#[inline]
pub(super) fn with<R>(work: impl FnOnce(&mut Heap) -> R) -> R {
    HEAP.with(work)
}

fn me() -> u32 {
    if control::active() { control::me().0 } else { 0 }
}

/// A block of zeros; 0 when there is no room.
pub(super) fn allocate(size: u64, align: u64, site: Site) -> u64 {
    if !HEAP.with(|heap| heap.is_open()) {
        open();
    }
    let me = me();
    let align = align.max(16);
    let block = recycle::choose(size, align, me, site)
        .or_else(|| HEAP.with(|heap| heap.allocate(size, align, me, site.0)));
    let Some(block) = block else { return 0 };
    recycle::allocated(&block);
    audit::renewed(block.start);
    if block.used {
        if control::active() {
            super::renew(block.start as usize, size as usize);
        }
        // SAFETY: the block is the caller's alone.
        unsafe { core::ptr::write_bytes(block.start as *mut u8, 0, size as usize) };
    }
    block.start
}

/// Begins an execution, in which the program may have `most` bytes more than it has now; 0 = any
/// number.
pub(super) fn begin(most: u64) {
    HEAP.with(|heap| {
        heap.begin();
        heap.limit_to(if most == 0 { u64::MAX } else { most });
    });
}

/// Frees a block.
pub(super) fn free(address: u64, site: Site) {
    if address != 0 {
        announce_free(address, site);
        take_back(address, site);
    }
}

/// Announces that the thread is about to free a block, and returns when it is its turn.
pub(super) fn announce_free(address: u64, site: Site) {
    if !lifetime::matters() {
        return;
    }
    let live = |block: &Block| block.state == State::Live && block.start == address;
    if let Some(block) = HEAP.with(|heap| heap.find(address)).filter(live) {
        lifetime::give_back(address, block.size.max(1), site, || region_of(address, site));
    }
}

/// The scheduler's region of the live block around an address.
pub(super) fn region_of(address: u64, site: Site) -> ObjectId {
    let Some(block) = HEAP.with(|heap| heap.find(address)).filter(|block| block.state == State::Live) else {
        return ObjectId::NONE;
    };
    if block.region != 0 {
        return ObjectId(block.region - 1);
    }
    // The first byte of a block may be an object, too, so the region needs another name.
    let name = name(block.start).rotate_left(17) | 1 << 63;
    let region = lifetime::register(name, site, || report::whole(&block));
    HEAP.with(|heap| heap.set_region(address, region.0));
    region
}

/// Frees a block, when it is the thread's turn.
pub(super) fn take_back(address: u64, site: Site) {
    let (me, epoch) = (me(), lifetime::epoch());
    match HEAP.with(|heap| heap.free(address, me, site.0, epoch)) {
        Ok(block) => {
            poison(&block);
            while let Some(block) = HEAP.with(|heap| heap.release()) {
                verify(&block, site);
                restore(&block);
            }
            recycle::offer(address, site);
        }
        Err(Misuse::Unknown) if !control::active() || foreign(address) => {}
        Err(misuse) => {
            let message = match misuse {
                Misuse::Double(block) => {
                    lifetime::tell_race(&block, address, site, true);
                    report::double_free(&block)
                }
                Misuse::Inside(block) => report::inside(&block, address),
                Misuse::Unknown => report::unknown(address),
            };
            fail(&message, site);
        }
    }
}

/// Whether an address may come from another allocator: the loader's own, which was in use before
/// this one. Misaligned addresses, static variables and variables on stacks do not.
fn foreign(address: u64) -> bool {
    let address = address as usize;
    address.is_multiple_of(16)
        && address >= 1 << 16
        && !HEAP.with(|heap| heap.contains(address as u64))
        && sites::stable(address) == 0
        && stack_of(address).is_none()
}

/// The size of the live block that begins at an address.
pub(super) fn size_of(address: u64) -> Option<u64> {
    let block = HEAP.with(|heap| heap.find(address))?;
    (block.start == address && block.state == State::Live).then_some(block.size)
}

/// Checks an access of the program; one that is wrong ends the execution.
pub(super) fn check(address: u64, size: u64, write: bool, site: Site) {
    if !HEAP.with(|heap| heap.contains(address)) {
        lifetime::check(address, write, site);
        if !write {
            unwritten::check(address, size, site);
        }
        return;
    }
    let message = match HEAP.with(|heap| heap.touch(address, size)) {
        Touch::Fine => return,
        Touch::Freed(block) => {
            lifetime::tell_race(&block, address, site, write);
            report::after_free(&block, address, size, write)
        }
        Touch::Beyond(block) => report::overflow(&block, address, size, write),
    };
    fail(&message, site);
}

/// A digest of the program's blocks and what is in them; `None` if that is more than `most` bytes.
pub(crate) fn digest_heap(hash: u64, most: usize) -> Option<u64> {
    let (mut hash, mut left) = (hash, most as u64);
    HEAP.with(|heap| {
        for block in heap.live().filter(|block| !sites::in_c_library(Site(block.allocated))) {
            left = left.checked_sub(block.size)?;
            let (start, end) = (block.start as usize, (block.start + block.size) as usize);
            // SAFETY: a live block.
            hash = unsafe { unseen::digest_bytes(hash ^ block.start, start, end) };
        }
        Some(hash)
    })
}

/// Visits blocks that the program allocated itself, from start to end.
pub(crate) fn each_block(mut visit: impl FnMut(usize, usize)) {
    HEAP.with(|heap| {
        for block in heap.live().filter(|block| !modules::is_known(block.allocated as usize)) {
            visit(block.start as usize, (block.start + block.size) as usize);
        }
    });
}

/// Checks that the synchronisation object that the program uses at an address is not freed memory.
pub(crate) fn used(address: usize, site: Site) {
    check(address as u64, 1, true, site);
}

/// What is wrong with an access that crashed, if it has to do with the heap.
pub(crate) fn explain(address: usize) -> Option<String> {
    match HEAP.with(|heap| heap.touch(address as u64, 1)) {
        Touch::Fine => None,
        Touch::Freed(block) => Some(report::after_free(&block, address as u64, 1, true)),
        Touch::Beyond(block) => Some(report::overflow(&block, address as u64, 1, true)),
    }
}

/// Looks for writes to freed blocks, when the program is about to end.
pub(crate) fn sweep() -> Option<String> {
    let mut bytes = 0;
    HEAP.with(|heap| {
        for block in heap.quarantined() {
            if let Some(offset) = written(&block) {
                return Some(report::written_after_free(&block, offset));
            }
            bytes += block.size.min(FILLED);
            if bytes > SWEPT {
                break;
            }
        }
        None
    })
}

/// A name for a place in the heap that is the same in all executions; 0 for other memory.
pub(super) fn name(address: u64) -> u64 {
    let Some(block) = HEAP.with(|heap| heap.find(address)) else { return 0 };
    let thread = control::kernel(|kernel| kernel.thread_name_hash(ThreadId(block.thread)));
    let mut hash = thread;
    for part in [u64::from(block.index), address - block.start] {
        hash = (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    hash | 1 << 63
}

/// How to name a place in the heap or on a stack to the user.
pub(crate) fn called(address: u64) -> Option<String> {
    if let Some(block) = HEAP.with(|heap| heap.find(address)) {
        return Some(report::place(&block, address));
    }
    let (thread, below) = stack_of(address as usize)?;
    Some(report::on_stack(thread, below))
}

/// Whether an address is in the heap's range.
pub(super) fn contains(address: u64) -> bool {
    HEAP.with(|heap| heap.contains(address))
}

/// The thread on whose stack an address is, and how far below its first frame.
fn stack_of(address: usize) -> Option<(u32, usize)> {
    const STACK: usize = 8 << 20;
    control::threads(|threads| {
        let found = threads.iter().rposition(|thread| thread.high.wrapping_sub(address) < STACK)?;
        Some((found as u32, threads[found].high - address))
    })
}

pub(super) fn fail(message: &str, site: Site) {
    if control::active() {
        control::fail(FailureKind::Heap, message, site);
    }
}

fn pages(block: &Block) -> (usize, usize) {
    (block.start as usize, (block.size + 1).next_multiple_of(PAGE) as usize)
}

fn poison(block: &Block) {
    if block.size >= PROTECTED {
        let (start, size) = pages(block);
        os::discard(start, size);
        os::protect(start, size, false);
    } else {
        let size = block.size.min(FILLED) as usize;
        // SAFETY: the program gave the block back.
        unsafe { core::ptr::write_bytes(block.start as *mut u8, FREED, size) };
    }
}

/// The first byte of a freed block that was written to.
fn written(block: &Block) -> Option<u64> {
    if block.size >= PROTECTED {
        return None;
    }
    // SAFETY: the block's memory is there.
    let bytes =
        unsafe { core::slice::from_raw_parts(block.start as *const u8, block.size.min(FILLED) as usize) };
    bytes.iter().position(|&byte| byte != FREED).map(|at| at as u64)
}

fn verify(block: &Block, site: Site) {
    if let Some(offset) = written(block) {
        fail(&report::written_after_free(block, offset), site);
    }
}

/// Fails if the freed block at an address, which is about to be reused, was written to.
pub(super) fn verify_freed(address: u64, site: Site) {
    if let Some(block) = HEAP.with(|heap| heap.find(address)) {
        verify(&block, site);
    }
}

fn restore(block: &Block) {
    if block.size >= PROTECTED {
        let (start, size) = pages(block);
        os::protect(start, size, true);
    }
}
