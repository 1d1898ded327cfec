//! The program's memory: which accesses are steps, which race, and what is wrong with its use of
//! the heap.
//!
//! Code compiled with `-fsanitize=thread` calls a function before each access (`plain`) and instead
//! of each atomic operation (`atomics`): that runtime is this one. No recompilation is needed for
//! the heap: `allocate` and `operators` are the program's `malloc` and `new`.
//!
//! **What is a step.** Atomic operations always are. Plain accesses are steps at code locations
//! that the host names with the plan, because earlier executions found them to race
//! ([`Level::Racy`]); with [`Level::All`] also wherever another thread was before in the same eight
//! bytes, if either of them writes. So a thread's stack, its thread-local storage, what it
//! allocated and has not shared with others, and constants make no steps, without special rules. An
//! access that turns out to be concurrent with an earlier one that was not a step is a race, which
//! is reported: the host adds both locations for the executions that follow, and this one proves
//! nothing. The set never changes within an execution, so that the same plan gives the same
//! execution.
//!
//! While the program has had no second thread, accesses are neither steps nor remembered:
//! everything that later threads do comes after them.
//!
//! **Loops** that wait by reading memory pause now and then, see [`logic::spin`].

mod allocate;
mod atomics;
mod attributes;
mod bits;
mod call;
mod containers;
mod coverage;
mod format;
mod heap;
mod library_calls;
mod lifetime;
pub(crate) mod logic;
mod operators;
mod os;
mod plain;
mod recycle;
mod report;
mod streams;
mod unwritten;

use alloc::vec::Vec;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{
    AtomicValues, Detail, Finding, Kind, Memory as MemoryModel, MemoryOrder, Object, ObjectId, Operation,
    Outcome, Site,
};

use crate::global::Global;
use crate::{audit, control, fiber, modules, sites, state};
use logic::bits::FirstRead;
use logic::objects::{Covered, Objects};
use logic::race::{Access, Clocks, Detector, How, Race};
use logic::spin::{Pause, Spin};
use logic::table::Table;

pub(crate) use atomics::change_word;
pub(crate) use attributes::{
    LOCK as LOCK_ATTRIBUTES, SMALL as SMALL_ATTRIBUTES, THREAD as THREAD_ATTRIBUTES,
};
pub(crate) use heap::{called as name_place, digest_heap, each_block, explain, sweep, used};
pub(crate) use library_calls::prepare as find_library_calls;
pub(crate) use lifetime::thread_ends;
pub(crate) use lifetime::{lies_there, matters as others_may_see, place, touched};
pub(crate) use recycle::confirm as confirm_held;
pub(crate) use unwritten::{looks_for_unwritten, mark_unwritten};

/// What is not under control when two accesses may or may not be ordered.
const UNSEEN: &str =
    "synchronisation by futexes in uninstrumented code, or by storing an atomic value that is there already,";

/// What weak memory does not model.
const MIXED: &str = "weak memory of atomic variables that are accessed in parts or have more than 8 bytes";
const PLAIN: &str =
    "the order in which plain accesses that race reach memory (search for `race` to see them)";

/// Which plain accesses are steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// None.
    Sync,
    /// Those at the locations that the host names.
    Racy,
    /// Also those to memory that several threads use.
    All,
}

/// What is known of the execution's memory. The heap has a state of its own, because it is used
/// before control starts.
struct Memory {
    level: Level,
    /// Code locations that are steps.
    visible: Table<bool>,
    detector: Detector,
    objects: Objects,
    /// Races that were reported, by a mix of both locations.
    reported: Table<bool>,
    /// What writes read first, by code location, where it was looked for; see [`bits`].
    first_reads: Table<Option<Option<FirstRead>>>,
    /// By thread.
    spins: Vec<Spin>,
    /// By object: the bytes that atomic operations of weak memory access.
    extents: Vec<Extent>,
}

/// Which bytes the atomic operations on an object access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// None did so far.
    Unknown,
    /// All of them access these.
    Always { address: u64, size: u64 },
    /// They access different ones.
    Mixed,
}

impl Memory {
    /// Records that an atomic operation accesses these bytes of an object. Returns which ones all
    /// of them access.
    fn extend(&mut self, object: ObjectId, address: u64, size: u64) -> Extent {
        let at = object.0 as usize;
        if at >= self.extents.len() {
            self.extents.resize(at + 1, Extent::Unknown);
        }
        let now = Extent::Always { address, size };
        let extent = &mut self.extents[at];
        match *extent {
            Extent::Unknown => *extent = now,
            known if known != now => *extent = Extent::Mixed,
            _ => {}
        }
        *extent
    }

    fn spin(&mut self, thread: u32) -> &mut Spin {
        let at = thread as usize;
        if at >= self.spins.len() {
            self.spins.resize(at + 1, Spin::new());
        }
        &mut self.spins[at]
    }

    /// Whether a thread's plain access is a step.
    #[inline]
    fn is_step(&self, me: u32, address: u64, size: u64, write: bool, site: Site) -> bool {
        match self.level {
            Level::Sync => false,
            Level::Racy => self.visible.get(site.0).is_some(),
            Level::All => {
                self.visible.get(site.0).is_some() || self.detector.shared(me, address, size, write)
            }
        }
    }
}

static MEMORY: Global<Memory> = Global::new(Memory {
    level: Level::Racy,
    visible: Table::new(),
    detector: Detector::new(),
    objects: Objects::new(),
    reported: Table::new(),
    first_reads: Table::new(),
    spins: Vec::new(),
    extents: Vec::new(),
});

/// What is not under control when an access to more than a word races.
const PARTS: &str =
    "the order of the parts of a large assignment and other threads' accesses to the same memory";

/// What is not under control when a thread accesses the bytes of a lock itself.
const BYTES: &str =
    "what the program finds in the bytes of a mutex or another object that a thread uses meanwhile";

/// Whether some of the program's code calls the functions of `plain`.
static INSTRUMENTED: AtomicBool = AtomicBool::new(false);

/// Releases what interrupted code was using, as far as explaining a crash needs it.
///
/// # Safety
/// That code never goes on.
pub(crate) unsafe fn take_back() {
    // SAFETY: promised by the caller.
    unsafe { heap::take_back_heap() };
}

/// Finds out whether the program or one of its libraries reports its accesses, and reserves the
/// heap's addresses. Call it before control starts and memory is limited.
pub(crate) fn prepare() {
    heap::open();
    if modules::any_instrumented() {
        INSTRUMENTED.store(true, Ordering::Relaxed);
    }
    control::header().instrumented.store(is_instrumented().into(), Ordering::Relaxed);
}

/// Begins an execution, before its first thread runs. `visible` are the code locations whose
/// accesses are steps.
pub(crate) fn begin(level: u64, visible: &[u64]) {
    MEMORY.with(|memory| {
        memory.level = match level {
            0 => Level::Sync,
            1 => Level::Racy,
            _ => Level::All,
        };
        for &site in visible {
            *memory.visible.entry(site) = true;
        }
    });
    heap::begin(control::header().memory);
    if INSTRUMENTED.load(Ordering::Relaxed) {
        control::kernel(|kernel| kernel.keep_clocks(true));
    }
}

/// Code that calls the hooks was loaded. The loader calls this, before threads exist.
fn instrumented() {
    INSTRUMENTED.store(true, Ordering::Relaxed);
    if control::active() {
        control::kernel(|kernel| kernel.keep_clocks(true));
    }
}

/// Whether some code reports its accesses.
pub(crate) fn is_instrumented() -> bool {
    INSTRUMENTED.load(Ordering::Relaxed)
}

/// Forgets what is known of memory that is used for something new: the stack of a new thread, a
/// block that is allocated again.
pub(crate) fn renew(address: usize, size: usize) {
    lifetime::renew(address, size);
    MEMORY.with(|memory| {
        memory.detector.forget(address as u64, size as u64);
        memory.objects.forget(address as u64, size as u64);
    });
}

/// Whether the program ever had a second thread.
pub(crate) fn threaded() -> bool {
    control::threads(|threads| threads.len()) > 1
}

/// Whether accesses here were found to race.
fn races_at(site: Site) -> bool {
    MEMORY.with(|memory| memory.visible.get(site.0).is_some())
}

/// Whether accesses here may be steps.
fn may_step(site: Site) -> bool {
    threaded()
        && MEMORY.with(|memory| match memory.level {
            Level::Sync => false,
            Level::Racy => memory.visible.get(site.0).is_some(),
            Level::All => true,
        })
}

/// Reports bytes that a function of the C library reads or writes for the program.
pub(crate) fn tell_bytes(address: *const c_void, size: usize, write: bool, site: Site) {
    if is_instrumented() {
        access(address as u64, size as u64, write, site);
    }
}

/// Reports what a call reads or writes through a pointer of its caller, besides its own step. Where
/// that races, its order with the step matters, and nothing is proved.
pub(crate) fn tell_operand(what: &str, address: *const c_void, size: usize, write: bool, site: Site) {
    if is_instrumented() && !address.is_null() {
        library_calls::as_a_whole(what, address, size, write, site);
    }
}

/// Like [`tell_operand`], for a text that a call reads.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub(crate) unsafe fn tell_text(what: &str, text: *const c_char, site: Site) {
    if is_instrumented() && !text.is_null() {
        // SAFETY: promised by the caller.
        unsafe { library_calls::text_as_a_whole(what, text, site) };
    }
}

/// Stores a result of a function through a pointer of its caller, unless that is null.
///
/// # Safety
/// `into` is null or points to the caller's variable.
pub(crate) unsafe fn put<T>(into: *mut T, value: T, site: Site) {
    if !into.is_null() {
        tell_bytes(into as *const c_void, size_of::<T>(), true, site);
        // SAFETY: promised by the caller.
        unsafe { *into = value };
    }
}

/// Handles a plain access that the running thread is about to make.
#[inline]
fn access(address: u64, size: u64, write: bool, site: Site) {
    if !control::active() || size == 0 {
        return;
    }
    crate::once::before_access(site);
    let held = recycle::held().filter(|_| !write);
    let mut before = None;
    if threaded() {
        let (me, steps) = control::kernel(|kernel| (kernel.current().0, kernel.steps_taken()));
        if write {
            state::wrote(address);
        }
        let visible = MEMORY.with(|memory| {
            memory.is_step(me, address, size, write, site)
                || memory.spin(me).invisible(site.0, address, write, steps)
        });
        if visible {
            if write {
                before = bits::read_first(address, size, site);
            }
            // What is larger than a word is several accesses, between which others may come.
            if size > 8 && before.is_none() && races_at(site) {
                control::uncontrolled(PARTS);
            }
            let kind = if write { Kind::Write } else { Kind::Read };
            step(kind, address, size, site, MemoryOrder::RELAXED, None, !write, None);
        }
    }
    // Only after the step: another thread may have freed the block before this one's turn.
    heap::check(address, size, write, site);
    if let Some(before) = before {
        before.put_back();
    }
    if threaded() {
        remember(Access { address, size, write, how: How::Plain, site: site.0 });
    }
    if let Some(held) = held {
        recycle::saw_bytes(address, size, &held);
    }
}

/// How the kernel finds out, right before a read-modify-write, what it will do.
struct Peek {
    /// Whether it modifies the variable.
    writes: fn(u64) -> bool,
    argument: u64,
    /// Its memory order if it does not.
    unchanged: MemoryOrder,
}

/// The result of an operation under weak memory.
struct Seen {
    object: ObjectId,
    outcome: Outcome,
}

impl Seen {
    /// The newest value, which the memory holds.
    fn newest(&self) -> u128 {
        control::kernel(|kernel| kernel.newest_value(self.object)).unwrap_or(0).into()
    }
}

/// Announces an operation on memory and returns when it is this thread's turn to do it. Under weak
/// memory, atomic operations pass values, and the result is what they see.
#[allow(clippy::too_many_arguments)]
fn step(
    kind: Kind,
    address: u64,
    size: u64,
    site: Site,
    order: MemoryOrder,
    peek: Option<Peek>,
    reads: bool,
    values: Option<AtomicValues>,
) -> Option<Seen> {
    let (object, second) = objects_of(address, size, site);
    let me = control::me().0;
    control::enter(site.0, fiber::stack_pointer());
    let waits = reads && pause(me, object, site);
    if !reads {
        spin(me, |spin| spin.progress());
    }
    let mut operation = Operation { second, order, ..Operation::new(kind, object, site) };
    if let Some(Peek { writes, argument, unchanged }) = peek {
        operation.writes = Some(writes);
        operation.argument = argument;
        operation.unchanged = unchanged;
    }
    let weak = values.is_some() && has_one_value(address, size, object, second);
    if let Some(values) = values.filter(|_| weak) {
        // Only after the pause, in which others may have written.
        let present = atomics::read(address, size) as u64;
        let awaits_change_of = values.awaits_change_of.filter(|_| waits);
        let values = AtomicValues { present, awaits_change_of, ..values };
        control::kernel(|kernel| kernel.set_values(object, values));
    }
    let outcome = control::step(operation);
    if values.is_none() {
        crate::values::accessed(address, size);
    }
    // Another thread may have accessed a part of the variable meanwhile.
    if weak && has_one_value(address, size, object, second) {
        let same = values.and_then(|values| values.awaits_change_of) == Some(outcome.value);
        if kind == Kind::Update && reads && outcome.ok && !same {
            spin(me, |spin| spin.progress());
        }
        return Some(Seen { object, outcome });
    }
    if let Some(Peek { writes, argument, .. }) = peek
        && reads
        && writes(argument)
    {
        // While it waited, it became more than a read.
        spin(me, |spin| spin.progress());
    }
    None
}

/// Before a read: lets others go first if the thread waits by reading. Returns whether it came back
/// to the same state.
fn pause(me: u32, object: ObjectId, site: Site) -> bool {
    match spin(me, |spin| spin.read(site.0, object.0, state::own)) {
        Pause::None => false,
        // A sleep of length 0 ends when nothing else can happen.
        Pause::Nap => {
            control::with(Kind::Sleep, 0, site);
            false
        }
        Pause::Yield(state) => {
            control::with(Kind::Yield, state, site);
            true
        }
    }
}

/// Whether memory is not sequentially consistent, so that atomic operations need their values.
fn is_weak() -> bool {
    control::kernel(|kernel| kernel.memory() != MemoryModel::Sc)
}

/// Whether an atomic operation under weak memory works on one variable of at most a word, as all
/// others on that variable do. An operation that does not sees only the newest value.
fn has_one_value(address: u64, size: u64, object: ObjectId, second: ObjectId) -> bool {
    let mut one = size <= 8 && second == ObjectId::NONE;
    for object in [object, second].into_iter().filter(|&object| object != ObjectId::NONE) {
        let extent = MEMORY.with(|memory| memory.extend(object, address, size));
        if extent == Extent::Mixed {
            one = false;
            control::kernel(|kernel| kernel.join_writes(object));
        }
    }
    if !one {
        control::uncontrolled(MIXED);
    }
    one
}

/// The object at an address, for functions that are given one.
pub(crate) fn object_at(address: usize, site: Site) -> ObjectId {
    objects_of(address as u64, 1, site).0
}

/// Sets a flag of one byte that instrumented code reads by atomic operations.
pub(crate) fn set_flag(flag: *mut u8, site: Site) {
    if is_instrumented() {
        atomics::store(flag as u64, 1, 1, MemoryOrder::RELEASE, site);
    } else {
        // SAFETY: the caller's flag.
        unsafe { *flag = 1 };
    }
}

/// Sets a word that instrumented code reads by atomic operations.
pub(crate) fn set_word(word: *mut usize, value: usize, site: Site) {
    if is_instrumented() {
        atomics::store(word as u64, 8, value as u128, MemoryOrder::RELEASE, site);
    } else {
        // SAFETY: the caller's word.
        unsafe { *word = value };
    }
}

/// Sets a number that instrumented code reads by atomic operations.
pub(crate) fn set_int(word: *mut i32, value: i32, site: Site) {
    if is_instrumented() {
        atomics::store(word as u64, 4, value as u32 as u128, MemoryOrder::RELEASE, site);
    } else {
        // SAFETY: the caller's number.
        unsafe { *word = value };
    }
}

/// The objects that some bytes belong to.
fn objects_of(address: u64, size: u64, site: Site) -> (ObjectId, ObjectId) {
    let register = || {
        let name = match sites::stable(address as usize) {
            0 => heap::name(address),
            name => name,
        };
        let id = control::kernel(|kernel| kernel.register(Object::Memory, name, site));
        let region = lifetime::region_of(address, site);
        control::kernel(|kernel| kernel.place(id, region));
        if control::DETAIL.get() >= Detail::Full
            && let Some(name) = heap::called(address)
        {
            control::kernel(|kernel| kernel.name_object(id, &name));
        }
        id.0
    };
    let Covered { object, second, more } =
        MEMORY.with(|memory| memory.objects.cover(address, size, register));
    if more {
        control::kernel(|kernel| kernel.mark_incomplete());
    }
    (ObjectId(object), second.map_or(ObjectId::NONE, ObjectId))
}

/// The running thread is about to use the synchronisation object in these bytes. Accesses of the
/// program itself to them are not steps, and would find what turnpike keeps there.
pub(crate) fn uses_object(address: usize, size: usize, site: Site) {
    if is_instrumented() && threaded() {
        let (address, size) = (address as u64, size as u64);
        look_for_races(&Access { address, size, write: true, how: How::Object, site: site.0 });
    }
}

/// Looks for races with an access that the running thread makes now.
fn remember(access: Access) {
    if access.write {
        audit::written(access.address, access.size, Site(access.site));
    }
    look_for_races(&access);
}

fn look_for_races(access: &Access) {
    let mut races: Vec<Race> = Vec::new();
    control::kernel(|kernel| {
        let me = kernel.current().0;
        let clocks = Clocks { sure: kernel.clock(), perhaps: kernel.doubtful_clock() };
        MEMORY.with(|memory| memory.detector.access(me, clocks, access, |race| races.push(race)));
    });
    tell(races);
}

/// Reports races with what the running thread does, each pair of code locations once.
fn tell(races: Vec<Race>) {
    if races.is_empty() {
        return;
    }
    let me = control::me().0;
    if races.iter().any(|race| race.doubtful) {
        // Something that cannot be seen may order them, or may not.
        control::uncontrolled(UNSEEN);
    }
    if races.iter().any(|race| race.object && !race.doubtful) {
        control::uncontrolled(BYTES);
    }
    for race in races.into_iter().filter(|race| !race.doubtful) {
        let (known, visible) = MEMORY.with(|memory| {
            let known = memory.reported.entry(race.first.rotate_left(32) ^ race.second);
            let visible = |site| memory.visible.get(site).is_some();
            (core::mem::replace(known, true), visible(race.first) && visible(race.second))
        });
        if known {
            continue;
        }
        if is_weak() {
            control::uncontrolled(PLAIN);
        }
        let message = report::race(&race, me);
        control::kernel(|kernel| {
            if !visible {
                // Without steps there, other orders of the two were not tried.
                kernel.mark_incomplete();
            }
            kernel.note(Finding::Race { first: Site(race.first), second: Site(race.second), message });
        });
    }
}

/// What is known of a thread that may wait by reading, for as long as `work` takes.
fn spin<R>(thread: u32, work: impl FnOnce(&mut Spin) -> R) -> R {
    MEMORY.with(|memory| work(memory.spin(thread)))
}
