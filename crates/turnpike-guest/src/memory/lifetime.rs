//! The end of memory: blocks that are freed, mappings that are removed, stacks of threads that end.
//!
//! Freeing memory conflicts with every access to it. To the race detector it is a write to all of
//! it. Like plain writes it is a step at code locations that were found to race with other
//! accesses. As a step it works on a *region*; objects know the region that they lie in, so that
//! the kernel sees the conflict whichever part of it is accessed. A block of the heap is a region,
//! and so is the stack of a thread (the code location of its end is that of the thread's function).
//! All mappings together are one: removing a part then conflicts with more than it has to, which
//! costs executions and hides nothing.
//!
//! Synchronisation objects in such memory count as accessed by every thread that uses them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use turnpike_scheduler::{Detail, Finding, Kind, Object, ObjectId, Operation, Site};

use super::logic::heap::Block;
use super::logic::race::{Access, Clocks, How, Race};
use super::{MEMORY, heap, is_instrumented, remember, report, spin, tell, threaded};
use crate::global::Global;
use crate::hook::{hook, real};
use crate::{control, fiber, sites, unseen};

/// Name of the region of all mappings.
const MAPPINGS: u64 = 0x6d61_7070_696e_6773;
/// The largest stack that the first thread is expected to have, which is the system's usual limit.
const FIRST_STACK: usize = 8 << 20;

/// The stack of a thread that has ended.
#[derive(Clone, Copy)]
struct Dead {
    low: usize,
    high: usize,
    thread: u32,
}

struct Lifetimes {
    /// By address.
    dead: Vec<Dead>,
    mappings: Option<ObjectId>,
    /// By thread: the region of its stack.
    stacks: Vec<Option<ObjectId>>,
}

static LIFETIMES: Global<Lifetimes> =
    Global::new(Lifetimes { dead: Vec::new(), mappings: None, stacks: Vec::new() });

/// Whether another thread could observe that memory ends now. If all of them were joined, none can:
/// everything that is left happens after it. What was joined is ordered before this point, so the
/// answer is the same in every schedule.
pub(crate) fn matters() -> bool {
    control::active() && threaded() && control::UNJOINED.load(Ordering::Relaxed) > 1
}

/// Registers a region, with its name for the user.
pub(super) fn register(name: u64, site: Site, called: impl FnOnce() -> String) -> ObjectId {
    let site = sites::user(site);
    let region = control::kernel(|kernel| kernel.register(Object::Region, name, site));
    if control::DETAIL.get() >= Detail::Full {
        let called = called();
        control::kernel(|kernel| kernel.name_object(region, &called));
    }
    region
}

/// The region that an address lies in; none for what is always there.
pub(super) fn region_of(address: u64, site: Site) -> ObjectId {
    if heap::contains(address) {
        return heap::region_of(address, site);
    }
    let place = address as usize;
    if sites::stable(place) != 0 {
        return ObjectId::NONE;
    }
    let own = |thread: &control::Thread| thread.extent.0 <= place && place < thread.extent.1;
    let (owner, first) = control::threads(|threads| {
        let first = threads.first().is_some_and(|first| first.high.wrapping_sub(place) < FIRST_STACK);
        (threads.iter().rposition(own), first)
    });
    match owner {
        Some(thread) => stack(thread as u32, site),
        None if first => ObjectId::NONE,
        None => mappings(site),
    }
}

/// The region of all mappings.
fn mappings(site: Site) -> ObjectId {
    if let Some(known) = LIFETIMES.with(|lifetimes| lifetimes.mappings) {
        return known;
    }
    let region = register(MAPPINGS, site, || String::from("mapped memory"));
    LIFETIMES.with(|lifetimes| lifetimes.mappings = Some(region));
    region
}

/// The region of a thread's stack.
fn stack(thread: u32, site: Site) -> ObjectId {
    let at = thread as usize;
    let known = LIFETIMES.with(|lifetimes| {
        if at >= lifetimes.stacks.len() {
            lifetimes.stacks.resize(at + 1, None);
        }
        lifetimes.stacks[at]
    });
    if let Some(region) = known {
        return region;
    }
    let name = control::kernel(|kernel| kernel.thread_name_hash(turnpike_scheduler::ThreadId(thread)));
    let region = register(name.rotate_left(23) | 1 << 63, site, || report::stack(thread));
    LIFETIMES.with(|lifetimes| lifetimes.stacks[at] = Some(region));
    region
}

/// Places a new synchronisation object in the region of its address. Returns whether it has one, so
/// that its memory may end.
pub(crate) fn place(object: ObjectId, address: usize, site: Site) -> bool {
    let region = region_of(address as u64, site);
    control::kernel(|kernel| kernel.place(object, region));
    region != ObjectId::NONE
}

/// Whether an object that was known at an address lies in the region that is there now.
pub(crate) fn lies_there(object: ObjectId, address: usize, site: Site) -> bool {
    let region = region_of(address as u64, site);
    control::kernel(|kernel| kernel.region(object).unwrap_or(ObjectId::NONE) == region)
}

/// Checks and records that the running thread used a synchronisation object in memory that may end.
#[cold]
pub(crate) fn touched(address: usize, site: Site) {
    heap::check(address as u64, 1, true, site);
    if is_instrumented() && threaded() {
        remember(Access { address: address as u64, size: 1, write: false, how: How::Atomic, site: site.0 });
    }
}

/// Announces that the running thread is about to free memory, and returns when it is its turn.
pub(super) fn give_back(address: u64, size: u64, site: Site, region: impl FnOnce() -> ObjectId) {
    if !matters() || !is_instrumented() {
        return;
    }
    let me = control::me().0;
    // The C library holds locks of its own that no other thread could wait for.
    let foreign = sites::in_c_library(site);
    if !foreign && MEMORY.with(|memory| memory.is_step(me, address, size, true, site)) {
        control::enter(site.0, fiber::stack_pointer());
        let region = region();
        spin(me, |spin| spin.progress());
        control::step(Operation::new(Kind::Free, region, sites::user(site)));
    }
    let mut races: Vec<Race> = Vec::new();
    let whole = Access { address, size, write: true, how: How::Plain, site: site.0 };
    control::kernel(|kernel| {
        let clocks = Clocks { sure: kernel.clock(), perhaps: kernel.doubtful_clock() };
        MEMORY.with(|memory| memory.detector.freed(me, clocks, &whole, |race| races.push(race)));
        if foreign && !races.is_empty() {
            kernel.mark_incomplete();
        }
    });
    tell(races);
}

/// The first step of the running thread that comes after what it does now.
pub(super) fn epoch() -> u32 {
    if !control::active() {
        return 0;
    }
    control::kernel(|kernel| {
        kernel.clock().get(kernel.current().0 as usize).map_or(0, |own| own.saturating_add(1))
    })
}

/// Reports a race if the running thread uses a block that was freed, and nothing orders the two.
pub(super) fn tell_race(block: &Block, address: u64, site: Site, write: bool) {
    if !control::active() || !is_instrumented() {
        return;
    }
    let (me, known) = control::kernel(|kernel| {
        (kernel.current().0, kernel.clock().get(block.freed_by as usize).copied().unwrap_or(0))
    });
    if block.freed_by != me && known < block.epoch {
        let race = Race {
            first: block.freed,
            first_writes: true,
            first_thread: block.freed_by,
            second: site.0,
            second_writes: write,
            address,
            object: false,
            doubtful: false,
        };
        let message = report::race(&race, me);
        let finding = Finding::Race { first: Site(race.first), second: site, message };
        control::kernel(|kernel| kernel.note(finding));
    }
}

/// Ends the lifetime of the running thread's stack: its function has returned.
pub(crate) fn thread_ends() {
    let ((low, high), function) = control::thread(|thread| (thread.extent, thread.start.function));
    if low == 0 || !is_instrumented() {
        return;
    }
    let (me, site) = (control::me().0, Site(function as u64));
    give_back(low as u64, (high - low) as u64, site, || stack(me, site));
    LIFETIMES.with(|lifetimes| {
        let at = lifetimes.dead.partition_point(|other| other.low < low);
        lifetimes.dead.insert(at, Dead { low, high, thread: me });
    });
}

/// Checks an access outside the heap: it is an error on the stack of a thread that has ended.
#[inline]
pub(super) fn check(address: u64, write: bool, site: Site) {
    let place = address as usize;
    let found = LIFETIMES.with(|lifetimes| {
        let at = lifetimes.dead.partition_point(|other| other.low <= place);
        at.checked_sub(1).map(|at| lifetimes.dead[at]).filter(|dead| place < dead.high)
    });
    if let Some(dead) = found {
        heap::fail(&report::after_end(dead.thread, write), site);
    }
}

/// Forgets the ended stacks in memory that is used for something new.
pub(super) fn renew(address: usize, size: usize) {
    LIFETIMES.with(|lifetimes| {
        lifetimes.dead.retain(|dead| dead.high <= address || address + size <= dead.low);
    });
}

const REMAP: Site = Site(MAPPINGS);

/// Announces that memory is unmapped.
fn unmap(address: usize, size: usize, site: Site) {
    let end = address.saturating_add(size);
    give_back(address as u64, (end - address) as u64, site, || mappings(site));
}

/// Code that the program generates reports neither its accesses nor its system calls.
fn note_code(rights: c_int) {
    const EXECUTABLE: c_int = 4;
    if rights & EXECUTABLE != 0 {
        control::uncontrolled(
            "what threads share in code that the program makes itself (memory with PROT_EXEC),",
        );
    }
}

/// Notes a call that changes a mapping as a whole. It is not a step, so its order among accesses is
/// not explored.
fn note_change(what: &str) {
    if matters() {
        control::uncontrolled(&format!("the order of {what} and other threads' accesses to the same memory"));
    }
}

/// Whether advice to the system changes what memory holds.
fn discards(advice: c_int) -> bool {
    const DONT_NEED: c_int = 4;
    const FREE: c_int = 8;
    const REMOVE: c_int = 9;
    const DONT_NEED_LOCKED: c_int = 24;
    matches!(advice, DONT_NEED | FREE | REMOVE | DONT_NEED_LOCKED)
}

/// What is not under control when the same bytes may be at other addresses, or be used as a file.
const SHARED_MAPPING: &str = "what threads share by several addresses of one file or segment (MAP_SHARED)";

/// Whether a mapping shows a file that may be mapped elsewhere, too.
fn is_shared_file(flags: c_int) -> bool {
    const SHARED: c_int = 1;
    const ANONYMOUS: c_int = 0x20;
    flags & SHARED != 0 && flags & ANONYMOUS == 0
}

/// Whether a mapping replaces what was there.
fn replaces(flags: c_int) -> bool {
    const FIXED: c_int = 0x10;
    const UNLESS_TAKEN: c_int = 0x10_0000;
    flags & FIXED != 0 && flags & UNLESS_TAKEN == 0
}

hook! {
    fn sbrk(change: isize; site) -> *mut c_void {
        crate::shared::process(site);
        if change < 0 {
            note_change("sbrk");
        }
        real!(sbrk: fn(isize) -> *mut c_void)(change)
    }
    fn brk(end: usize; site) -> c_int {
        crate::shared::process(site);
        note_change("brk");
        real!(brk: fn(usize) -> c_int)(end)
    }
    fn shmat(id: c_int, address: *const c_void, flags: c_int; site) -> *mut c_void {
        control::uncontrolled(SHARED_MAPPING);
        real!(shmat: fn(c_int, *const c_void, c_int) -> *mut c_void)(id, address, flags)
    }
    fn shmdt(address: *const c_void; site) -> c_int {
        note_change("shmdt");
        real!(shmdt: fn(*const c_void) -> c_int)(address)
    }
    fn madvise(address: usize, size: usize, advice: c_int; site) -> c_int {
        if discards(advice) {
            note_change("madvise");
        }
        real!(madvise: fn(usize, usize, c_int) -> c_int)(address, size, advice)
    }
    fn mprotect(address: usize, size: usize, rights: c_int; site) -> c_int {
        note_code(rights);
        note_change("mprotect");
        unseen::protects(rights);
        real!(mprotect: fn(usize, usize, c_int) -> c_int)(address, size, rights)
    }
    fn pkey_mprotect(address: usize, size: usize, rights: c_int, key: c_int; site) -> c_int {
        note_code(rights);
        note_change("pkey_mprotect");
        unseen::protects(rights);
        real!(pkey_mprotect: fn(usize, usize, c_int, c_int) -> c_int)(address, size, rights, key)
    }
    fn munmap(address: usize, size: usize; site) -> c_int {
        unmap(address, size, site);
        real!(munmap: fn(usize, usize) -> c_int)(address, size)
    }
}

/// Its fifth argument leaves no register for the call site.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn mremap(
    old: usize,
    size: usize,
    new_size: usize,
    flags: c_int,
    to: usize,
) -> *mut c_void {
    if control::active() {
        if size == 0 {
            control::uncontrolled(SHARED_MAPPING);
        }
        unmap(old, size, REMAP);
    }
    let real = real!(mremap: fn(usize, usize, usize, c_int, usize) -> *mut c_void);
    // SAFETY: the caller's arguments.
    unsafe { real(old, size, new_size, flags, to) }
}

/// Maps memory. Its six arguments leave no register for the call site.
macro_rules! map {
    ($name:ident) => {
        #[cfg_attr(embedded, unsafe(no_mangle))]
        unsafe extern "C" fn $name(
            address: usize,
            size: usize,
            rights: c_int,
            flags: c_int,
            file: c_int,
            from: i64,
        ) -> *mut c_void {
            if control::active() {
                note_code(rights);
                if replaces(flags) {
                    note_change("mmap");
                }
                if is_shared_file(flags) {
                    control::uncontrolled(SHARED_MAPPING);
                }
            }
            let real = real!(mmap: fn(usize, usize, c_int, c_int, c_int, i64) -> *mut c_void);
            // SAFETY: the caller's arguments.
            unsafe { real(address, size, rights, flags, file, from) }
        }
    };
}

map!(mmap);
map!(mmap64);
