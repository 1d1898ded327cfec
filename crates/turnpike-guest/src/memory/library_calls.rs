//! Functions of the C library that read and write the memory they are given. Compilers do not
//! report the accesses in there, and gcc calls some of them for assignments of structures.
//!
//! Each reports its accesses, as compiled code would, and then does its work. This library's own
//! calls do not count, nor do those in programs that do not report their accesses.

use alloc::format;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use turnpike_scheduler::Site;

use super::access;
use super::call::{export, pass_site};
use crate::hook::real;
use crate::{control, modules, sys};

/// Whether the program reports its accesses to memory.
#[inline(always)]
pub(super) fn reports_accesses() -> bool {
    control::active() && super::is_instrumented()
}

pub(super) fn reads(address: *const c_void, size: usize, site: Site) {
    access(address as u64, size as u64, false, site);
}

pub(super) fn writes(address: *const c_void, size: usize, site: Site) {
    access(address as u64, size as u64, true, site);
}

/// Bytes of a text with its end, but at most `most`.
unsafe fn length(text: *const c_char, most: usize) -> usize {
    // SAFETY: the program's text.
    let length = unsafe { real!(strnlen: fn(*const c_char, usize) -> usize)(text, most) };
    length.saturating_add(1).min(most)
}

/// Reports reading a text as it is when it is this thread's turn. If another thread made it longer
/// meanwhile, all of it is read once more.
pub(super) unsafe fn reads_text(text: *const c_char, most: usize, site: Site) {
    let mut known = 0;
    loop {
        // SAFETY: the program's text.
        let size = unsafe { length(text, most) };
        if size <= known {
            return;
        }
        reads(text as *const c_void, size, site);
        known = size;
    }
}

/// What was read of an operand, without what other threads write there before the next operand is
/// read.
struct Kept {
    address: *const c_void,
    /// Empty if nothing can come in between.
    bytes: Vec<u8>,
}

impl Kept {
    unsafe fn bytes(address: *const c_void, size: usize, site: Site) -> Kept {
        reads(address, size, site);
        let mut bytes = Vec::new();
        if super::may_step(site) {
            // SAFETY: the program's memory.
            bytes.extend_from_slice(unsafe { core::slice::from_raw_parts(address as *const u8, size) });
        }
        Kept { address, bytes }
    }

    unsafe fn text(text: *const c_char, most: usize, site: Site) -> Kept {
        // SAFETY: the program's text.
        unsafe {
            reads_text(text, most, site);
            let mut kept = Kept { address: text as *const c_void, bytes: Vec::new() };
            if super::may_step(site) {
                let size = length(text, most);
                kept.bytes.extend_from_slice(core::slice::from_raw_parts(text as *const u8, size));
                kept.bytes.push(0);
            }
            kept
        }
    }

    fn pointer<T>(&self) -> *const T {
        if self.bytes.is_empty() { self.address.cast() } else { self.bytes.as_ptr().cast() }
    }

    /// The place in the program's memory that corresponds to one in what was kept.
    fn original(&self, found: *mut c_char) -> *mut c_char {
        if found.is_null() {
            return found;
        }
        let at = found as usize - self.pointer::<c_char>() as usize;
        (self.address as usize + at) as *mut c_char
    }
}

pub(super) const ALL: usize = usize::MAX;

/// Functions that report their accesses before the C library's function does its work.
macro_rules! tell {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) -> $ret:ty $body:block)*) => { $(
        export! {
            fn $name($($arg: $ty),*; $site) -> $ret {
                if reports_accesses() {
                    $body
                }
                real!($name: fn($($ty),*) -> $ret)($($arg),*)
            }
        }
    )* };
}
pub(super) use tell;

/// Functions that this library itself needs, or that looking functions up needs. They are found
/// once; before that they work without the C library.
static FOUND: [AtomicUsize; 6] = [const { AtomicUsize::new(0) }; 6];
const NAMES: [&CStr; 6] = [c"memcpy", c"memmove", c"memset", c"memcmp", c"bcmp", c"strlen"];

/// Finds the C library's functions, before control starts.
pub(crate) fn prepare() {
    for (name, place) in NAMES.iter().zip(&FOUND) {
        // SAFETY: the name ends with a zero byte.
        place.store(unsafe { sys::dlsym(sys::RTLD_NEXT, name.as_ptr()) } as usize, Ordering::Relaxed);
    }
}

/// The C library's function, or ours.
macro_rules! found {
    ($index:literal, $plain:ident: fn($($ty:ty),*) -> $ret:ty) => {{
        match FOUND[$index].load(Ordering::Relaxed) {
            0 => $plain as unsafe extern "C" fn($($ty),*) -> $ret,
            // SAFETY: the declaration is the C library's.
            address => core::mem::transmute::<usize, unsafe extern "C" fn($($ty),*) -> $ret>(address),
        }
    }};
}

// Byte by byte, in a way that the compiler does not take for calls of the functions that are being
// defined.

unsafe extern "C" fn copy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    let (target, source) = (to as *mut u8, from as *const u8);
    let backwards = (to as usize).wrapping_sub(from as usize) < size;
    for at in 0..size {
        let at = if backwards { size - 1 - at } else { at };
        // SAFETY: the caller's memory.
        unsafe { target.add(at).write_volatile(source.add(at).read_volatile()) };
    }
    to
}

unsafe extern "C" fn fill(to: *mut c_void, value: c_int, size: usize) -> *mut c_void {
    for at in 0..size {
        // SAFETY: the caller's memory.
        unsafe { (to as *mut u8).add(at).write_volatile(value as u8) };
    }
    to
}

unsafe extern "C" fn compare(one: *const c_void, other: *const c_void, size: usize) -> c_int {
    for at in 0..size {
        // SAFETY: the caller's memory.
        let pair = unsafe {
            ((one as *const u8).add(at).read_volatile(), (other as *const u8).add(at).read_volatile())
        };
        if pair.0 != pair.1 {
            return c_int::from(pair.0) - c_int::from(pair.1);
        }
    }
    0
}

unsafe extern "C" fn measure(text: *const c_char) -> usize {
    let mut length = 0;
    // SAFETY: the caller's text.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}

/// The function itself, for this library's own calls. These must not look like the program's, whose
/// registers the stubs save.
macro_rules! plain {
    ($($name:ident = $index:literal $ours:ident: fn($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => { $(
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            // SAFETY: the caller's arguments.
            unsafe { found!($index, $ours: fn($($ty),*) -> $ret)($($arg),*) }
        }
    )* };
}

plain! {
    plain_memcpy = 0 copy: fn(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
    plain_memmove = 1 copy: fn(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
    plain_memset = 2 fill: fn(to: *mut c_void, value: c_int, size: usize) -> *mut c_void;
    plain_memcmp = 3 compare: fn(one: *const c_void, other: *const c_void, size: usize) -> c_int;
    plain_bcmp = 4 compare: fn(one: *const c_void, other: *const c_void, size: usize) -> c_int;
    plain_strlen = 5 measure: fn(text: *const c_char) -> usize;
}

/// Jumps to one function for this library's own calls, to another for all others.
#[cfg(target_arch = "x86_64")]
macro_rules! unless_own {
    ($others:ident $own:ident) => {
        core::arch::naked_asm!(
            "mov rax, [rsp]",
            "sub rax, [rip + {start}]",
            "cmp rax, [rip + {size}]",
            "jae {others}",
            "jmp {own}",
            start = sym modules::OWN_START,
            size = sym modules::OWN_SIZE,
            others = sym $others,
            own = sym $own,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! unless_own {
    ($others:ident $own:ident) => {
        core::arch::naked_asm!(
            "adrp x16, {start}",
            "ldr x16, [x16, :lo12:{start}]",
            "adrp x17, {size}",
            "ldr x17, [x17, :lo12:{size}]",
            "sub x16, x30, x16",
            "cmp x16, x17",
            "b.lo 2f",
            "b {others}",
            "2:",
            "b {own}",
            start = sym modules::OWN_START,
            size = sym modules::OWN_SIZE,
            others = sym $others,
            own = sym $own,
        )
    };
}

/// Exports functions that this library calls itself.
macro_rules! shared {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) -> $ret:ty, $plain:ident $body:block)*) => { $(
        const _: () = {
            #[cfg_attr(embedded, unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                unless_own!(noting $plain)
            }
            #[unsafe(naked)]
            unsafe extern "C" fn noting($($arg: $ty),*) -> $ret {
                pass_site!(imp $($arg)*)
            }
            unsafe extern "C" fn imp($($arg: $ty,)* address: u64) -> $ret {
                let $site = Site(address);
                // SAFETY: the caller keeps to the contract of this function.
                unsafe {
                    if reports_accesses() {
                        $body
                    }
                    $plain($($arg),*)
                }
            }
        };
    )* };
}

shared! {
    fn memcpy(to: *mut c_void, from: *const c_void, size: usize; site) -> *mut c_void, plain_memcpy {
        reads(from, size, site);
        deliver(to, from, size, site);
        return to;
    }
    fn memmove(to: *mut c_void, from: *const c_void, size: usize; site) -> *mut c_void, plain_memmove {
        reads(from, size, site);
        deliver(to, from, size, site);
        return to;
    }
    fn memset(to: *mut c_void, value: c_int, size: usize; site) -> *mut c_void, plain_memset {
        writes(to, size, site);
    }
    fn memcmp(one: *const c_void, other: *const c_void, size: usize; site) -> c_int, plain_memcmp {
        let one = Kept::bytes(one, size, site);
        reads(other, size, site);
        return plain_memcmp(one.pointer(), other, size);
    }
    fn bcmp(one: *const c_void, other: *const c_void, size: usize; site) -> c_int, plain_bcmp {
        let one = Kept::bytes(one, size, site);
        reads(other, size, site);
        return plain_bcmp(one.pointer(), other, size);
    }
    fn strlen(text: *const c_char; site) -> usize, plain_strlen { reads_text(text, ALL, site); }
}

/// The most bytes that are kept between reading and writing.
const KEPT: usize = 4 << 10;

/// Writes what was read, without what other threads write to the source between the two.
pub(super) unsafe fn deliver(to: *mut c_void, from: *const c_void, size: usize, site: Site) {
    let mut kept = Vec::new();
    if size <= KEPT && super::threaded() {
        // SAFETY: the caller's memory.
        kept.extend_from_slice(unsafe { core::slice::from_raw_parts(from as *const u8, size) });
    }
    writes(to, size, site);
    let source = if kept.is_empty() { from } else { kept.as_ptr() as *const c_void };
    // SAFETY: the caller's memory.
    unsafe { plain_memmove(to, source, size) };
}

/// Copies a text of at most `most` bytes, with an end, to the end of another one or over it.
/// Returns where the copy ends.
unsafe fn deliver_text(
    to: *mut c_char,
    from: *const c_char,
    most: usize,
    append: bool,
    site: Site,
) -> *mut c_char {
    // SAFETY: the caller's texts.
    unsafe {
        reads_text(from, most, site);
        let size = length(from, most.saturating_add(1)) - 1;
        // The end is part of what is written.
        let mut text: Vec<u8> = core::slice::from_raw_parts(from as *const u8, size).to_vec();
        text.push(0);
        let mut target = to;
        if append {
            reads_text(to, ALL, site);
            target = to.add(length(to, ALL) - 1);
        }
        writes(target as *const c_void, size + 1, site);
        plain_memmove(target as *mut c_void, text.as_ptr() as *const c_void, size + 1);
        target.add(size)
    }
}

/// Functions with several operands, each with what it does when accesses are reported.
macro_rules! copies {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) -> $ret:ty $body:block)*) => { $(
        export! {
            fn $name($($arg: $ty),*; $site) -> $ret {
                if !reports_accesses() {
                    return real!($name: fn($($ty),*) -> $ret)($($arg),*);
                }
                $body
            }
        }
    )* };
}

copies! {
    fn __memcpy_chk(to: *mut c_void, from: *const c_void, size: usize, room: usize; site) -> *mut c_void {
        reads(from, size, site);
        if size > room {
            return real!(__memcpy_chk: fn(*mut c_void, *const c_void, usize, usize) -> *mut c_void)(to, from, size, room);
        }
        deliver(to, from, size, site);
        to
    }
    fn __memmove_chk(to: *mut c_void, from: *const c_void, size: usize, room: usize; site) -> *mut c_void {
        reads(from, size, site);
        if size > room {
            return real!(__memmove_chk: fn(*mut c_void, *const c_void, usize, usize) -> *mut c_void)(to, from, size, room);
        }
        deliver(to, from, size, site);
        to
    }
    fn mempcpy(to: *mut c_void, from: *const c_void, size: usize; site) -> *mut c_void {
        reads(from, size, site);
        deliver(to, from, size, site);
        to.add(size)
    }
    fn bcopy(from: *const c_void, to: *mut c_void, size: usize; site) -> () {
        reads(from, size, site);
        deliver(to, from, size, site)
    }
    fn strcpy(to: *mut c_char, from: *const c_char; site) -> *mut c_char {
        deliver_text(to, from, ALL, false, site);
        to
    }
    fn stpcpy(to: *mut c_char, from: *const c_char; site) -> *mut c_char {
        deliver_text(to, from, ALL, false, site)
    }
    fn strcat(to: *mut c_char, from: *const c_char; site) -> *mut c_char {
        deliver_text(to, from, ALL, true, site);
        to
    }
    fn strncat(to: *mut c_char, from: *const c_char, most: usize; site) -> *mut c_char {
        deliver_text(to, from, most, true, site);
        to
    }
    fn strncpy(to: *mut c_char, from: *const c_char, most: usize; site) -> *mut c_char {
        deliver_padded(to, from, most, site);
        to
    }
    fn stpncpy(to: *mut c_char, from: *const c_char, most: usize; site) -> *mut c_char {
        to.add(deliver_padded(to, from, most, site))
    }
    // These end the program if there is not enough room, and else do what their plain versions do.
    fn __strcpy_chk(to: *mut c_char, from: *const c_char, room: usize; site) -> *mut c_char {
        fits(length(from, ALL), room);
        deliver_text(to, from, ALL, false, site);
        to
    }
    fn __stpcpy_chk(to: *mut c_char, from: *const c_char, room: usize; site) -> *mut c_char {
        fits(length(from, ALL), room);
        deliver_text(to, from, ALL, false, site)
    }
    fn __strcat_chk(to: *mut c_char, from: *const c_char, room: usize; site) -> *mut c_char {
        fits(length(to, ALL) - 1 + length(from, ALL), room);
        deliver_text(to, from, ALL, true, site);
        to
    }
    fn __strncat_chk(to: *mut c_char, from: *const c_char, most: usize, room: usize; site) -> *mut c_char {
        fits(length(to, ALL) + length(from, most.saturating_add(1)) - 1, room);
        deliver_text(to, from, most, true, site);
        to
    }
    fn __strncpy_chk(to: *mut c_char, from: *const c_char, most: usize, room: usize; site) -> *mut c_char {
        fits(most, room);
        deliver_padded(to, from, most, site);
        to
    }
    fn __stpncpy_chk(to: *mut c_char, from: *const c_char, most: usize, room: usize; site) -> *mut c_char {
        fits(most, room);
        to.add(deliver_padded(to, from, most, site))
    }
    fn __mempcpy_chk(to: *mut c_void, from: *const c_void, size: usize, room: usize; site) -> *mut c_void {
        fits(size, room);
        reads(from, size, site);
        deliver(to, from, size, site);
        to.add(size)
    }
}

// Functions that compare texts, or look for one in another.
copies! {
    fn strstr(text: *const c_char, wanted: *const c_char; site) -> *mut c_char {
        let text = Kept::text(text, ALL, site);
        reads_text(wanted, ALL, site);
        text.original(real!(strstr: fn(*const c_char, *const c_char) -> *mut c_char)(text.pointer(), wanted))
    }
    fn strpbrk(text: *const c_char, wanted: *const c_char; site) -> *mut c_char {
        let text = Kept::text(text, ALL, site);
        reads_text(wanted, ALL, site);
        text.original(real!(strpbrk: fn(*const c_char, *const c_char) -> *mut c_char)(text.pointer(), wanted))
    }
    fn strcasestr(text: *const c_char, wanted: *const c_char; site) -> *mut c_char {
        let text = Kept::text(text, ALL, site);
        reads_text(wanted, ALL, site);
        text.original(real!(strcasestr: fn(*const c_char, *const c_char) -> *mut c_char)(text.pointer(), wanted))
    }
    fn strspn(text: *const c_char, wanted: *const c_char; site) -> usize {
        let text = Kept::text(text, ALL, site);
        reads_text(wanted, ALL, site);
        real!(strspn: fn(*const c_char, *const c_char) -> usize)(text.pointer(), wanted)
    }
    fn strcspn(text: *const c_char, wanted: *const c_char; site) -> usize {
        let text = Kept::text(text, ALL, site);
        reads_text(wanted, ALL, site);
        real!(strcspn: fn(*const c_char, *const c_char) -> usize)(text.pointer(), wanted)
    }
    fn strcmp(one: *const c_char, other: *const c_char; site) -> c_int {
        let one = Kept::text(one, ALL, site);
        reads_text(other, ALL, site);
        real!(strcmp: fn(*const c_char, *const c_char) -> c_int)(one.pointer(), other)
    }
    fn strcasecmp(one: *const c_char, other: *const c_char; site) -> c_int {
        let one = Kept::text(one, ALL, site);
        reads_text(other, ALL, site);
        real!(strcasecmp: fn(*const c_char, *const c_char) -> c_int)(one.pointer(), other)
    }
    fn strncmp(one: *const c_char, other: *const c_char, most: usize; site) -> c_int {
        let one = Kept::text(one, most, site);
        reads_text(other, most, site);
        real!(strncmp: fn(*const c_char, *const c_char, usize) -> c_int)(one.pointer(), other, most)
    }
    fn strncasecmp(one: *const c_char, other: *const c_char, most: usize; site) -> c_int {
        let one = Kept::text(one, most, site);
        reads_text(other, most, site);
        real!(strncasecmp: fn(*const c_char, *const c_char, usize) -> c_int)(one.pointer(), other, most)
    }
}

/// Ends the program if there is not enough room.
pub(super) fn fits(size: usize, room: usize) {
    if size > room {
        // SAFETY: it has no arguments, and does not return.
        unsafe { real!(__chk_fail: fn())() };
    }
}

/// Copies a text and pads it with zeros to `most` bytes. Returns the length of the text.
unsafe fn deliver_padded(to: *mut c_char, from: *const c_char, most: usize, site: Site) -> usize {
    // SAFETY: the caller's texts.
    unsafe {
        reads_text(from, most, site);
        let size = real!(strnlen: fn(*const c_char, usize) -> usize)(from, most);
        let text: Vec<u8> = core::slice::from_raw_parts(from as *const u8, size).to_vec();
        writes(to as *const c_void, most, site);
        plain_memmove(to as *mut c_void, text.as_ptr() as *const c_void, size);
        plain_memset(to.add(size) as *mut c_void, 0, most - size);
        size
    }
}

tell! {
    fn __memset_chk(to: *mut c_void, _value: c_int, size: usize, _room: usize; site) -> *mut c_void {
        writes(to, size, site);
    }
    fn bzero(to: *mut c_void, size: usize; site) -> () { writes(to, size, site); }
    fn explicit_bzero(to: *mut c_void, size: usize; site) -> () { writes(to, size, site); }
    fn memchr(text: *const c_void, _wanted: c_int, size: usize; site) -> *mut c_void { reads(text, size, site); }
    fn strnlen(text: *const c_char, most: usize; site) -> usize { reads_text(text, most, site); }
    fn strchr(text: *const c_char, _wanted: c_int; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn strrchr(text: *const c_char, _wanted: c_int; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn memrchr(text: *const c_void, _wanted: c_int, size: usize; site) -> *mut c_void { reads(text, size, site); }
    fn index(text: *const c_char, _wanted: c_int; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn rindex(text: *const c_char, _wanted: c_int; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn strchrnul(text: *const c_char, _wanted: c_int; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn atoi(text: *const c_char; site) -> c_int { reads_text(text, ALL, site); }
    fn atol(text: *const c_char; site) -> c_long { reads_text(text, ALL, site); }
    fn atoll(text: *const c_char; site) -> i64 { reads_text(text, ALL, site); }
    fn atof(text: *const c_char; site) -> f64 { reads_text(text, ALL, site); }
    fn strtol(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> c_long { reads_number(text, end, site); }
    fn strtoul(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> c_long { reads_number(text, end, site); }
    fn strtoll(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> i64 { reads_number(text, end, site); }
    fn strtoull(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> i64 { reads_number(text, end, site); }
    fn __isoc23_strtol(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> c_long { reads_number(text, end, site); }
    fn __isoc23_strtoul(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> c_long { reads_number(text, end, site); }
    fn __isoc23_strtoll(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> i64 { reads_number(text, end, site); }
    fn __isoc23_strtoull(text: *const c_char, end: *mut *mut c_char, _base: c_int; site) -> i64 { reads_number(text, end, site); }
    fn strtod(text: *const c_char, end: *mut *mut c_char; site) -> f64 { reads_number(text, end, site); }
    fn strtof(text: *const c_char, end: *mut *mut c_char; site) -> f32 { reads_number(text, end, site); }
    fn basename(text: *const c_char; site) -> *mut c_char { reads_text(text, ALL, site); }
    fn __sched_cpucount(size: usize, set: *const c_void; site) -> c_int { reads(set, size, site); }
    fn _ZSt11_Hash_bytesPKvmm(from: *const c_void, size: usize, _seed: usize; site) -> usize { reads(from, size, site); }
    fn _ZSt15_Fnv_hash_bytesPKvmm(from: *const c_void, size: usize, _seed: usize; site) -> usize { reads(from, size, site); }
    fn perror(text: *const c_char; site) -> () {
        if !text.is_null() {
            reads_text(text, ALL, site);
        }
    }
}

/// Compilers combine the sine and cosine of a number into one call. The number is passed in a
/// vector register, so the site is the third of the other arguments.
macro_rules! sines {
    ($($name:ident $real:ty;)*) => { $(
        const _: () = {
            #[cfg_attr(embedded, unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C" fn $name(angle: $real, sine: *mut $real, cosine: *mut $real) {
                pass_site!(imp sine cosine)
            }
            unsafe extern "C" fn imp(angle: $real, sine: *mut $real, cosine: *mut $real, address: u64) {
                let real = real!($name: fn($real, *mut $real, *mut $real));
                let mut both: [$real; 2] = [0.0; 2];
                let [first, second] = &mut both;
                // SAFETY: room for both, and the caller's variables.
                unsafe {
                    real(angle, first, second);
                    for (into, value) in [(sine, both[0]), (cosine, both[1])] {
                        if reports_accesses() {
                            writes(into as *const c_void, size_of::<$real>(), Site(address));
                        }
                        *into = value;
                    }
                }
            }
        };
    )* };
}

sines! {
    sincos f64;
    sincosf f32;
}

/// Reports that a number is read from a text, and that its end is stored if that is wanted.
unsafe fn reads_number(text: *const c_char, end: *mut *mut c_char, site: Site) {
    // SAFETY: the caller's arguments.
    unsafe { reads_text(text, ALL, site) };
    if !end.is_null() {
        writes(end as *const c_void, size_of::<usize>(), site);
    }
}

/// Reports reading a text for a function that is done as a whole.
pub(super) unsafe fn text_as_a_whole(what: &str, text: *const c_char, site: Site) {
    // SAFETY: the program's text.
    unsafe {
        as_a_whole(what, text as *const c_void, length(text, ALL), false, site);
        reads_text(text, ALL, site);
    }
}

/// Reports an access of a function that is done as a whole, although compiled code would make
/// several accesses. As long as they race with nothing, there is no difference. Where they do,
/// nothing is proved.
pub(super) fn as_a_whole(what: &str, address: *const c_void, size: usize, write: bool, site: Site) {
    if super::races_at(site) {
        control::uncontrolled(&format!("the order of {what} and other threads' accesses to the same memory"));
    }
    access(address as u64, size as u64, write, site);
}
