//! What code compiled with `-fsanitize=thread` calls instead of each atomic operation.
//!
//! Each is a step, and steps are done one after the other. The memory order, always the last
//! argument, decides what races and, under weak memory, which values may be seen: then the
//! scheduler knows all values, and the memory holds the newest.
//!
//! A read-modify-write that is about to leave the value as it is, such as a compare-and-exchange
//! that fails or an attempt to take a spin lock that is held, counts as a read.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use turnpike_scheduler::{AtomicValues, Kind, MemoryOrder, Site};

use super::call::export;
use super::logic::race::{Access, How};
use super::{Peek, heap, is_weak, recycle, remember, step, tell_bytes, threaded};
use crate::control;
use crate::state::Held;

/// What a read-modify-write does.
#[derive(Clone, Copy)]
enum Rule {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    /// Exchange if the value is this one.
    Compare(u128),
}

/// A read-modify-write that waits for its turn.
struct Update {
    address: u64,
    bytes: u64,
    rule: Rule,
    operand: u128,
    order: MemoryOrder,
    /// Of a compare-and-exchange that fails.
    failure: MemoryOrder,
}

impl Update {
    /// The value it leaves where it finds `old`.
    fn new_value(&self, old: u128) -> u128 {
        let operand = self.operand;
        let new = match self.rule {
            Rule::Exchange => operand,
            Rule::Add => old.wrapping_add(operand),
            Rule::Sub => old.wrapping_sub(operand),
            Rule::And => old & operand,
            Rule::Or => old | operand,
            Rule::Xor => old ^ operand,
            Rule::Nand => !(old & operand),
            Rule::Compare(expected) if expected == old => operand,
            Rule::Compare(_) => old,
        };
        if self.bytes == 16 { new } else { new & ((1 << (self.bytes * 8)) - 1) }
    }

    /// Its memory order when it leaves the value as it is.
    fn unchanged(&self) -> MemoryOrder {
        match self.rule {
            Rule::Compare(expected) if expected != self.operand => self.failure,
            // It fails, or stores what is there already.
            Rule::Compare(_) if self.order.releases() => self.failure.and(MemoryOrder::RELEASE).storing(),
            Rule::Compare(_) => self.failure.storing(),
            _ => self.order.storing(),
        }
    }

    fn expected(&self) -> Option<u64> {
        match self.rule {
            Rule::Compare(expected) => Some(expected as u64),
            _ => None,
        }
    }

    /// Adds what decides whether it modifies the variable, which the scheduler must know.
    fn describe(&self, values: AtomicValues) -> AtomicValues {
        let awaits_change_of = matches!(self.rule, Rule::Exchange).then_some(self.operand as u64);
        AtomicValues { expected: self.expected(), awaits_change_of, ..values }
    }

    fn writes(&self) -> bool {
        let old = read(self.address, self.bytes);
        self.new_value(old) != old
    }

    /// Performs it, and returns the value it found.
    fn run(&self, site: Site) -> u128 {
        let held = recycle::held();
        let old = self.run_step(site);
        if let Some(held) = held {
            if let Some(expected) = self.expected() {
                recycle::compares(expected);
            }
            saw(old, self.bytes, &held);
        }
        old
    }

    fn run_step(&self, site: Site) -> u128 {
        if control::active() {
            let values = values(0).map(|values| self.describe(values));
            // Under weak memory it may see another value than the newest.
            let reads = !self.writes()
                || values.is_some_and(|values| values.expected.or(values.awaits_change_of).is_some());
            let peek =
                Peek { writes: peek, argument: self as *const Update as u64, unchanged: self.unchanged() };
            let (address, bytes) = (self.address, self.bytes);
            let seen = step(Kind::Update, address, bytes, site, self.order, Some(peek), reads, values);
            if let Some(seen) = seen {
                let old = u128::from(seen.outcome.value);
                done(address, bytes, seen.outcome.ok, site);
                if seen.outcome.ok {
                    let new = self.new_value(old) as u64;
                    control::kernel(|kernel| kernel.set_result(seen.object, new));
                    write(address, bytes, seen.newest());
                }
                return old;
            }
            done(address, bytes, self.writes(), site);
        }
        macro_rules! with {
            ($atomic:ty, $value:ty) => {{
                // SAFETY: the program's atomic variable.
                let variable = unsafe { &*(self.address as *const $atomic) };
                let new = |old| Some(self.new_value(u128::from(old)) as $value);
                let old = variable.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new);
                old.map_or_else(u128::from, u128::from)
            }};
        }
        match self.bytes {
            1 => with!(AtomicU8, u8),
            2 => with!(AtomicU16, u16),
            4 => with!(AtomicU32, u32),
            8 => with!(AtomicU64, u64),
            _ => {
                let old = read(self.address, self.bytes);
                write(self.address, self.bytes, self.new_value(old));
                old
            }
        }
    }
}

/// Asked by the kernel right before the step: whether it will modify the variable.
fn peek(update: u64) -> bool {
    // SAFETY: on the stack of the thread that waits for its turn.
    unsafe { &*(update as *const Update) }.writes()
}

pub(super) fn read(address: u64, bytes: u64) -> u128 {
    // SAFETY: the program's atomic variable.
    unsafe {
        match bytes {
            1 => (*(address as *const AtomicU8)).load(Ordering::SeqCst).into(),
            2 => (*(address as *const AtomicU16)).load(Ordering::SeqCst).into(),
            4 => (*(address as *const AtomicU32)).load(Ordering::SeqCst).into(),
            8 => (*(address as *const AtomicU64)).load(Ordering::SeqCst).into(),
            // One thread runs at a time.
            _ => core::ptr::read_volatile(address as *const u128),
        }
    }
}

fn write(address: u64, bytes: u64, value: u128) {
    // SAFETY: the program's atomic variable.
    unsafe {
        match bytes {
            1 => (*(address as *const AtomicU8)).store(value as u8, Ordering::SeqCst),
            2 => (*(address as *const AtomicU16)).store(value as u16, Ordering::SeqCst),
            4 => (*(address as *const AtomicU32)).store(value as u32, Ordering::SeqCst),
            8 => (*(address as *const AtomicU64)).store(value as u64, Ordering::SeqCst),
            _ => core::ptr::write_volatile(address as *mut u128, value),
        }
    }
}

/// What the scheduler must know of an atomic operation under weak memory.
fn values(stores: u64) -> Option<AtomicValues> {
    is_weak().then(|| AtomicValues { stores, ..AtomicValues::default() })
}

/// Checks and records an access that the running thread performs.
fn done(address: u64, size: u64, write: bool, site: Site) {
    heap::check(address, size, write, site);
    if threaded() {
        remember(Access { address, size, write, how: How::Atomic, site: site.0 });
    }
}

/// Notes that the running thread found this value, which may be a pointer.
fn saw(value: u128, bytes: u64, held: &Held) {
    if bytes >= 8 {
        recycle::saw(value as u64, held);
        recycle::saw((value >> 64) as u64, held);
    }
}

fn load(address: u64, bytes: u64, order: c_int, site: Site) -> u128 {
    let held = recycle::held();
    let value = load_step(address, bytes, order, site);
    if let Some(held) = held {
        saw(value, bytes, &held);
    }
    value
}

fn load_step(address: u64, bytes: u64, order: c_int, site: Site) -> u128 {
    if control::active() {
        let values = values(0);
        let seen = step(Kind::Load, address, bytes, site, order_of(order), None, true, values);
        done(address, bytes, false, site);
        if let Some(seen) = seen {
            return seen.outcome.value.into();
        }
    }
    read(address, bytes)
}

pub(super) fn store(address: u64, bytes: u64, value: u128, order: MemoryOrder, site: Site) {
    if control::active() {
        let values = values(value as u64);
        let seen = step(Kind::Store, address, bytes, site, order, None, false, values);
        done(address, bytes, true, site);
        if let Some(seen) = seen {
            return write(address, bytes, seen.newest());
        }
    }
    write(address, bytes, value);
}

/// The order that the compiler passes, perhaps with hints for the processor in higher bits.
fn order_of(order: c_int) -> MemoryOrder {
    let order = MemoryOrder::from_c(order as u32 & 0x7fff);
    if !order.is_sequential() && control::active() {
        control::header().weaker_orders.store(1, Ordering::Relaxed);
    }
    order
}

fn update(address: u64, bytes: u64, rule: Rule, operand: u128, order: c_int, site: Site) -> u128 {
    let order = order_of(order);
    Update { address, bytes, rule, operand, order, failure: order }.run(site)
}

/// Compares and exchanges, and returns the value it found.
fn compare(address: u64, bytes: u64, values: (u128, u128), order: c_int, failure: c_int, site: Site) -> u128 {
    let (rule, operand) = (Rule::Compare(values.0), values.1);
    let (order, failure) = (order_of(order), order_of(failure));
    // A failed exchange stores nothing, so it cannot release.
    let failure = failure.reading();
    Update { address, bytes, rule, operand, order, failure }.run(site)
}

/// Changes a word as `FUTEX_WAKE_OP` does. Returns its old value; `None` for an unknown operation.
///
/// # Safety
/// `word` is a word of the program.
pub(crate) unsafe fn change_word(word: usize, operation: u32, operand: i32, site: Site) -> Option<u32> {
    const ORDER: c_int = 5;
    let operand = operand.cast_unsigned();
    let (rule, operand) = match operation {
        0 => (Rule::Exchange, operand),
        1 => (Rule::Add, operand),
        2 => (Rule::Or, operand),
        3 => (Rule::And, !operand),
        4 => (Rule::Xor, operand),
        _ => return None,
    };
    Some(update(word as u64, 4, rule, operand.into(), ORDER, site) as u32)
}

macro_rules! atomics {
    ($($ty:ty, $bytes:literal: $load:ident $store:ident $exchange:ident $strong:ident $weak:ident $val:ident
       $($fetch:ident $rule:ident)*;)*) => { $(
        export! {
            fn $load(at: u64, order: c_int; site) -> $ty { load(at, $bytes, order, site) as $ty }
            fn $store(at: u64, value: $ty, order: c_int; site) {
                store(at, $bytes, value.into(), order_of(order), site)
            }
            fn $exchange(at: u64, value: $ty, order: c_int; site) -> $ty {
                update(at, $bytes, Rule::Exchange, value.into(), order, site) as $ty
            }
            fn $strong(at: u64, expected: *mut $ty, value: $ty, order: c_int, failure: c_int; site) -> c_int {
                tell_bytes(expected as *const c_void, $bytes, false, site);
                let wanted = *expected;
                let old = compare(at, $bytes, (wanted.into(), value.into()), order, failure, site) as $ty;
                if old != wanted {
                    tell_bytes(expected as *const c_void, $bytes, true, site);
                    *expected = old;
                }
                c_int::from(old == wanted)
            }
            fn $weak(at: u64, expected: *mut $ty, value: $ty, order: c_int, failure: c_int; site) -> c_int {
                tell_bytes(expected as *const c_void, $bytes, false, site);
                let wanted = *expected;
                let old = compare(at, $bytes, (wanted.into(), value.into()), order, failure, site) as $ty;
                if old != wanted {
                    tell_bytes(expected as *const c_void, $bytes, true, site);
                    *expected = old;
                }
                c_int::from(old == wanted)
            }
            fn $val(at: u64, expected: $ty, value: $ty, order: c_int, failure: c_int; site) -> $ty {
                compare(at, $bytes, (expected.into(), value.into()), order, failure, site) as $ty
            }
            $(fn $fetch(at: u64, value: $ty, order: c_int; site) -> $ty {
                update(at, $bytes, Rule::$rule, value.into(), order, site) as $ty
            })*
        }
    )* };
}

atomics! {
    u8, 1: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
        __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val
        __tsan_atomic8_fetch_add Add __tsan_atomic8_fetch_sub Sub __tsan_atomic8_fetch_and And
        __tsan_atomic8_fetch_or Or __tsan_atomic8_fetch_xor Xor __tsan_atomic8_fetch_nand Nand;
    u16, 2: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak __tsan_atomic16_compare_exchange_val
        __tsan_atomic16_fetch_add Add __tsan_atomic16_fetch_sub Sub __tsan_atomic16_fetch_and And
        __tsan_atomic16_fetch_or Or __tsan_atomic16_fetch_xor Xor __tsan_atomic16_fetch_nand Nand;
    u32, 4: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak __tsan_atomic32_compare_exchange_val
        __tsan_atomic32_fetch_add Add __tsan_atomic32_fetch_sub Sub __tsan_atomic32_fetch_and And
        __tsan_atomic32_fetch_or Or __tsan_atomic32_fetch_xor Xor __tsan_atomic32_fetch_nand Nand;
    u64, 8: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak __tsan_atomic64_compare_exchange_val
        __tsan_atomic64_fetch_add Add __tsan_atomic64_fetch_sub Sub __tsan_atomic64_fetch_and And
        __tsan_atomic64_fetch_or Or __tsan_atomic64_fetch_xor Xor __tsan_atomic64_fetch_nand Nand;
}

/// The value of 128 bits that was passed in two registers.
#[cfg(target_arch = "x86_64")]
fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(target_arch = "x86_64")]
macro_rules! wide_updates {
    ($($name:ident $rule:ident)*) => { $(
        export! {
            fn $name(at: u64, low: u64, high: u64, order: c_int; site) -> u128 {
                update(at, 16, Rule::$rule, wide(low, high), order, site)
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
wide_updates! {
    __tsan_atomic128_exchange Exchange
    __tsan_atomic128_fetch_add Add
    __tsan_atomic128_fetch_sub Sub
    __tsan_atomic128_fetch_and And
    __tsan_atomic128_fetch_or Or
    __tsan_atomic128_fetch_xor Xor
    __tsan_atomic128_fetch_nand Nand
}

#[cfg(target_arch = "x86_64")]
export! {
    fn __tsan_atomic128_load(at: u64, order: c_int; site) -> u128 { load(at, 16, order, site) }
    fn __tsan_atomic128_store(at: u64, low: u64, high: u64, order: c_int; site) {
        store(at, 16, wide(low, high), order_of(order), site)
    }
}

/// Six or seven arguments leave no register for the return address, so the stub packs it and both
/// memory orders into one register.
#[cfg(target_arch = "x86_64")]
fn unpack(packed: u64) -> (c_int, c_int, Site) {
    ((packed >> 48 & 0xf) as c_int, (packed >> 56 & 0xf) as c_int, Site(packed & 0xffff_ffff_ffff))
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn compare_wide(
    at: u64,
    expected: *mut u128,
    low: u64,
    high: u64,
    _order: c_int,
    packed: u64,
) -> c_int {
    let (order, failure, site) = unpack(packed);
    // SAFETY: the caller's variable.
    let wanted = unsafe { *expected };
    let old = compare(at, 16, (wanted, wide(low, high)), order, failure, site);
    // SAFETY: the caller's variable, which it lets this function write.
    unsafe { *expected = old };
    c_int::from(old == wanted)
}

#[cfg(target_arch = "x86_64")]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn compare_wide_value(
    at: u64,
    low: u64,
    high: u64,
    new_low: u64,
    new_high: u64,
    packed: u64,
) -> u128 {
    let (order, failure, site) = unpack(packed);
    compare(at, 16, (wide(low, high), wide(new_low, new_high)), order, failure, site)
}

#[cfg(target_arch = "x86_64")]
macro_rules! wide_compare {
    ($($name:ident)*) => { $(
        #[cfg_attr(embedded, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            crate::hook::jump!(compare_wide
                "mov eax, r8d"
                "and eax, 15"
                "shl rax, 48"
                "and r9d, 15"
                "shl r9, 56"
                "or r9, rax"
                "or r9, [rsp]"
            );
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
wide_compare! { __tsan_atomic128_compare_exchange_strong __tsan_atomic128_compare_exchange_weak }

#[cfg(target_arch = "x86_64")]
#[cfg_attr(embedded, unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_val() {
    crate::hook::jump!(compare_wide_value
        "and r9d, 15"
        "shl r9, 48"
        "mov eax, [rsp + 8]"
        "and eax, 15"
        "shl rax, 56"
        "or r9, rax"
        "or r9, [rsp]"
    );
}

/// Steps are totally ordered already, but fences also decide what races.
#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_atomic_thread_fence(order: c_int) {
    if control::active() {
        control::kernel(|kernel| kernel.fence(order_of(order)));
    }
}

/// There are no signal handlers between steps.
#[cfg_attr(embedded, unsafe(no_mangle))]
extern "C" fn __tsan_atomic_signal_fence() {}
