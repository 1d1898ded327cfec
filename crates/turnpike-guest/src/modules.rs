//! The modules that are loaded: the program, its libraries, and this one among them.
//!
//! A module is *opaque* when it was not compiled with `-fsanitize=thread`, so that neither its
//! accesses to memory nor its atomic operations are seen, and is not one of the few whose
//! synchronisation is replaced here. Whatever threads share in such a module is invisible, so that
//! nothing is proved while one is loaded.
//!
//! The loader's list is read without the loader's lock, which a thread holds that was switched from
//! inside `dlopen`: one thread runs at a time, and the list is consistent at every switch.

use alloc::format;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use turnpike_scheduler::Site;

use crate::control;
use crate::global::Global;
use crate::hook::{hook, real};
use crate::protocol::{CALLER, TEXT};
use crate::sys::{self, PhdrInfo};

/// The public part of the loader's `struct link_map`.
#[repr(C)]
pub(crate) struct Module {
    bias: usize,
    name: *const c_char,
    dynamic: *const [u64; 2],
    next: *const Module,
}

/// The loader's `struct r_debug`, its first part.
#[repr(C)]
struct Loader {
    version: c_int,
    first: *const Module,
}

unsafe extern "C" {
    static _r_debug: Loader;
    /// This module's own.
    static _DYNAMIC: [u64; 2];
}

/// Modules of the GNU C library and of the compilers' runtimes. What they synchronise by is
/// replaced (threads, locks, guards of statics, futexes through `syscall`), or is never held while
/// another thread runs (locks of streams and of the loader).
const KNOWN: [&str; 12] = [
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libmvec.so.1",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
    "linux-vdso.so.1",
];

const STRINGS: u64 = 5;
const STRINGS_SIZE: u64 = 10;

impl Module {
    /// The file name without folders; empty for the program itself.
    pub(crate) fn name(&self) -> &'static str {
        if self.name.is_null() {
            return "";
        }
        // SAFETY: the loader's text, which stays as long as the module.
        let path = unsafe { CStr::from_ptr(self.name) }.to_str().unwrap_or("?");
        path.rsplit('/').next().unwrap_or(path)
    }

    fn is_opaque(&self) -> bool {
        !self.is_own() && !KNOWN.contains(&self.name()) && !self.is_instrumented()
    }

    /// Whether it is this library.
    fn is_own(&self) -> bool {
        core::ptr::eq(self.dynamic, &raw const _DYNAMIC)
    }

    /// The value of a tag in its dynamic section.
    pub(crate) fn tagged(&self, tag: u64) -> Option<usize> {
        let mut entry = self.dynamic;
        if entry.is_null() {
            return None;
        }
        // SAFETY: a dynamic section ends with a zero tag.
        unsafe {
            while (*entry)[0] != 0 {
                if (*entry)[0] == tag {
                    return Some((*entry)[1] as usize);
                }
                entry = entry.add(1);
            }
        }
        None
    }

    /// The functions that it defines for others, and where they are.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&'static CStr, usize)> {
        const SYMBOLS: u64 = 6;
        const HASHES: u64 = 0x6fff_fef5;
        const FUNCTION: u8 = 2;
        let bias = self.bias;
        let strings = self.pointer(STRINGS).unwrap_or(0);
        let symbols = self.pointer(SYMBOLS).unwrap_or(0) as *const Symbol;
        // SAFETY: the module's own tables, as the loader found them.
        let count = self.pointer(HASHES).map_or(0, |hashes| unsafe { count(hashes as *const u32) });
        (0..count).filter_map(move |at| {
            // SAFETY: below the number of symbols that the module's hash table knows, and names are
            // offsets into its strings.
            unsafe {
                let symbol = &*symbols.add(at);
                let name = CStr::from_ptr((strings + symbol.name as usize) as *const c_char);
                let defined = symbol.section != 0 && symbol.info & 15 == FUNCTION;
                defined.then(|| (name, bias.wrapping_add(symbol.value as usize)))
            }
        })
    }

    /// An address of its dynamic section. The loader of the C library has made it absolute, except
    /// in the kernel's module.
    pub(crate) fn pointer(&self, tag: u64) -> Option<usize> {
        self.tagged(tag).filter(|address| *address != 0 && *address >= self.bias)
    }

    /// Whether it calls the hooks of `memory`: their names are among its dynamic strings.
    fn is_instrumented(&self) -> bool {
        self.mentions(b"\0__tsan_init\0")
    }

    /// Whether a name, between zero bytes, is among its dynamic strings.
    fn mentions(&self, name: &[u8]) -> bool {
        let (Some(strings), Some(size)) = (self.pointer(STRINGS), self.tagged(STRINGS_SIZE)) else {
            return false;
        };
        // SAFETY: the module's own strings.
        let strings = unsafe { core::slice::from_raw_parts(strings as *const u8, size) };
        strings.windows(name.len()).any(|part| part == name)
    }
}

/// An entry of a table of symbols.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// How many symbols there are, by where the last chain of the hash table ends.
unsafe fn count(hashes: *const u32) -> usize {
    // SAFETY: four words, a filter of words of eight bytes, buckets, chains.
    unsafe {
        let (buckets, first, filter) = (*hashes, *hashes.add(1), *hashes.add(2));
        let table = hashes.add(4 + 2 * filter as usize);
        let Some(mut last) = (0..buckets).map(|at| *table.add(at as usize)).max() else { return 0 };
        if last < first {
            return first as usize;
        }
        let chains = table.add(buckets as usize);
        while *chains.add((last - first) as usize) & 1 == 0 {
            last += 1;
        }
        last as usize + 1
    }
}

/// All modules, the program itself first, in the order of their loading.
pub(crate) fn all() -> impl Iterator<Item = &'static Module> {
    // SAFETY: the loader's list, see above.
    let mut next = unsafe { _r_debug.first };
    core::iter::from_fn(move || {
        // SAFETY: null, or the loader's record.
        let module = unsafe { next.as_ref() }?;
        next = module.next;
        Some(module)
    })
}

/// What this library defines under a name; 0 if it does not.
pub(crate) fn own(name: &CStr) -> usize {
    let Some(own) = all().find(|module| module.is_own()) else { return 0 };
    own.functions().find(|(known, _)| *known == name).map_or(0, |(_, address)| address)
}

/// Whether some module other than this one reports its accesses to memory.
pub(crate) fn any_instrumented() -> bool {
    all().any(|module| !module.is_own() && module.is_instrumented())
}

/// Whether the program or a library of its own mentions one of these names.
pub(crate) fn any_mentions(names: &[&[u8]]) -> bool {
    all()
        .filter(|module| !module.is_own() && !KNOWN.contains(&module.name()))
        .any(|module| names.iter().any(|name| module.mentions(name)))
}

/// How many modules there were at the start.
static FIRST: AtomicUsize = AtomicUsize::new(0);

/// The opaque libraries from a number on. The host inspects the program itself.
fn opaque(from: usize) -> impl Iterator<Item = &'static str> {
    all()
        .enumerate()
        .filter(move |(at, module)| *at >= from.max(1) && module.is_opaque())
        .map(|(_, module)| module.name())
}

/// Reports the opaque libraries of the start to the host, a line each, before control starts.
pub(crate) fn tell() {
    FIRST.store(all().count(), Ordering::Relaxed);
    // SAFETY: the callback keeps to its contract.
    unsafe { sys::dl_iterate_phdr(learn_code, core::ptr::null_mut()) };
    tell_lines("", opaque(0));
}

/// Reports to the host which modules could make system calls by themselves, because these are not
/// seen. The lines begin with a mark.
pub(crate) fn tell_callers() {
    UNWATCHED.store(true, Ordering::Relaxed);
    CODES.with(|codes| {
        let callers = codes.iter().filter(|code| !code.own && !KNOWN.contains(&code.name) && code.calls());
        tell_lines(CALLER, callers.map(|code| code.name));
    });
}

/// Appends lines to the report for the host.
fn tell_lines(mark: &str, names: impl Iterator<Item = &'static str>) {
    let header = control::header();
    let mut used = header.text_length.load(Ordering::Relaxed) as usize;
    for name in names {
        for part in [mark, name, "\n"] {
            if used + part.len() > TEXT {
                return;
            }
            used += control::write_text(used, part.as_bytes());
        }
        header.text_length.store(used as u32, Ordering::Relaxed);
    }
}

/// Whether system calls that modules make by themselves go unseen.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// Notes opaque libraries that were loaded since the start.
pub(crate) fn note_new() {
    let first = FIRST.load(Ordering::Relaxed);
    for name in opaque(first) {
        control::uncontrolled(&format!(
            "what threads share in {name}, which the program loads itself and which was not compiled with -fsanitize=thread,"
        ));
    }
    if UNWATCHED.load(Ordering::Relaxed) {
        for module in all().skip(first.max(1)).filter(|module| !KNOWN.contains(&module.name())) {
            control::uncontrolled(&format!(
                "what {}, which the program loads itself, asks of the system by itself",
                module.name()
            ));
        }
    }
}

/// Code of one module.
struct Code {
    start: usize,
    end: usize,
    name: &'static str,
    opaque: bool,
    own: bool,
    readable: bool,
}

impl Code {
    /// Its instructions, if they can be read.
    fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: loaded, and readable.
        let read = || unsafe { core::slice::from_raw_parts(self.start as *const u8, self.end - self.start) };
        self.readable.then(read)
    }

    /// Whether there could be an instruction that reads the processor's counter, rdtsc or rdtscp.
    #[cfg(target_arch = "x86_64")]
    fn reads_counter(&self) -> bool {
        let reads = |three: &[u8]| matches!(three, [0x0f, 0x31, _] | [0x0f, 0x01, 0xf9]);
        self.bytes().is_none_or(|bytes| bytes.windows(3).any(reads))
    }

    /// Whether there could be an instruction that calls the system. Its bytes may also be part of
    /// another instruction, but without them there is none.
    fn calls(&self) -> bool {
        let Some(bytes) = self.bytes() else { return true };
        #[cfg(target_arch = "x86_64")]
        // syscall, sysenter, int 0x80
        return bytes.windows(2).any(|two| matches!(two, [0x0f, 0x05 | 0x34] | [0xcd, 0x80]));
        #[cfg(target_arch = "aarch64")]
        // svc
        return bytes.chunks_exact(4).any(|word| {
            u32::from_le_bytes([word[0], word[1], word[2], word[3]]) & 0xffe0_001f == 0xd400_0001
        });
    }
}

static CODES: Global<Vec<Code>> = Global::new(Vec::new());

/// Variables of the program and its libraries, from start to end.
static DATA: Global<Vec<(usize, usize)>> = Global::new(Vec::new());

/// Visits the variables of all modules but the known ones, as long as `visit` returns `Some`.
pub(crate) fn each_data(mut visit: impl FnMut(usize, usize) -> Option<()>) -> Option<()> {
    DATA.with(|data| data.iter().try_for_each(|&(start, end)| visit(start, end)))
}

/// Variables of the sanitizer's runtime inside the program, from start to end in its file. There
/// are many, and nothing uses them.
static RUNTIME: Global<Vec<(usize, usize)>> = Global::new(Vec::new());

/// Notes a range of variables that the host found not to be the program's.
pub(crate) fn ignore(start: usize, end: usize) {
    RUNTIME.with(|ranges| ranges.push((start, end)));
}

/// Where the runtime's variables are in a program that is loaded at `base`.
fn runtime_data(base: usize) -> Vec<(usize, usize)> {
    let at = |address: usize| base.wrapping_add(address);
    RUNTIME.with(|ranges| ranges.iter().map(|&(start, end)| (at(start), at(end))).collect())
}

/// Bytes of the program's own thread-local variables, in each thread.
static THREAD_LOCAL: AtomicUsize = AtomicUsize::new(0);

/// The program's thread-local variables of the running thread, from start to end.
#[cfg(target_arch = "x86_64")]
pub(crate) fn thread_local() -> (usize, usize) {
    let end: usize;
    // SAFETY: reads the first word of the thread's record, which is its own address.
    unsafe { core::arch::asm!("mov {}, fs:0", out(reg) end, options(nostack, readonly, pure)) };
    (end - THREAD_LOCAL.load(Ordering::Relaxed), end)
}

#[cfg(target_arch = "aarch64")]
pub(crate) fn thread_local() -> (usize, usize) {
    (0, 0)
}

/// Variables without what only the loader writes: pointers to functions that it binds late, and
/// variables of libraries that it moved here.
static OWN_DATA: Global<Vec<(usize, usize)>> = Global::new(Vec::new());

/// Visits the variables of all modules but the known ones, as far as they are their own.
pub(crate) fn each_variable(mut visit: impl FnMut(usize, usize)) {
    OWN_DATA.with(|data| data.iter().for_each(|&(start, end)| visit(start, end)));
}

impl Module {
    /// Writable ranges that are not variables of the module's own.
    fn foreign_data(&self) -> Vec<(usize, usize)> {
        const LATE_SIZE: u64 = 2;
        const LATE: u64 = 3;
        const SYMBOLS: u64 = 6;
        const RELOCATIONS: u64 = 7;
        const RELOCATIONS_SIZE: u64 = 8;
        #[cfg(target_arch = "x86_64")]
        const COPY: u64 = 5;
        #[cfg(target_arch = "aarch64")]
        const COPY: u64 = 1024;
        /// Bytes of a relocation with an addend.
        const ENTRY: usize = 24;
        const POINTER: usize = 8;
        let mut foreign = Vec::new();
        if let (Some(start), Some(size)) = (self.pointer(LATE), self.tagged(LATE_SIZE)) {
            foreign.push((start, start + (size / ENTRY + 3) * POINTER));
        }
        let table = (self.pointer(RELOCATIONS), self.tagged(RELOCATIONS_SIZE), self.pointer(SYMBOLS));
        if let (Some(relocations), Some(size), Some(symbols)) = table {
            for at in (0..size / ENTRY).map(|number| relocations + number * ENTRY) {
                // SAFETY: an entry of the module's table, whose symbol is in its table of symbols.
                let [place, info] = unsafe { *(at as *const [u64; 2]) };
                if info as u32 as u64 == COPY {
                    // SAFETY: as above.
                    let symbol = unsafe { &*(symbols as *const Symbol).add((info >> 32) as usize) };
                    let start = self.bias.wrapping_add(place as usize);
                    foreign.push((start, start + symbol.size as usize));
                }
            }
        }
        foreign.sort_unstable();
        foreign
    }
}

/// What is left of a range without others, which are sorted.
fn subtract((mut start, end): (usize, usize), others: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut left = Vec::new();
    for &(from, to) in others {
        if from >= end || to <= start {
            continue;
        }
        if from > start {
            left.push((start, from));
        }
        start = to;
    }
    if start < end {
        left.push((start, end));
    }
    left
}

unsafe extern "C" fn learn_code(info: *mut PhdrInfo, _: usize, _: *mut c_void) -> c_int {
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    const THREAD: u32 = 7;
    const EXECUTABLE: u32 = 1;
    const WRITABLE: u32 = 2;
    const READABLE: u32 = 4;
    // SAFETY: the loader's record of a module; before control starts.
    unsafe {
        let info = &*info;
        let headers = core::slice::from_raw_parts(info.headers, info.count.into());
        let at = |address: u64| info.base.wrapping_add(address as usize);
        let dynamic = headers.iter().find(|header| header.kind == DYNAMIC).map(|header| at(header.address));
        let Some(module) = all().find(|module| Some(module.dynamic as usize) == dynamic) else { return 0 };
        let (name, opaque, own) = (module.name(), module.is_opaque(), module.is_own());
        if !own && !KNOWN.contains(&name) {
            let data = headers.iter().filter(|header| header.kind == LOAD && header.flags & WRITABLE != 0);
            let data = data.map(|header| (at(header.address), at(header.address + header.memory_size)));
            let runtime = if name.is_empty() { runtime_data(info.base) } else { Vec::new() };
            let mut foreign = module.foreign_data();
            foreign.extend(&runtime);
            foreign.sort_unstable();
            for range in data {
                DATA.with(|known| known.extend(subtract(range, &runtime)));
                OWN_DATA.with(|known| known.extend(subtract(range, &foreign)));
            }
        }
        if name.is_empty()
            && let Some(header) = headers.iter().find(|header| header.kind == THREAD)
        {
            // The program's own variables come right before the thread's record.
            let size = header.memory_size.next_multiple_of(header.align.max(1));
            THREAD_LOCAL.store(size as usize, Ordering::Relaxed);
        }
        let name = if name.is_empty() { "the program" } else { name };
        for header in headers.iter().filter(|header| header.kind == LOAD && header.flags & EXECUTABLE != 0) {
            let (start, end) = (at(header.address), at(header.address + header.memory_size));
            let readable = header.flags & READABLE != 0;
            CODES.with(|codes| codes.push(Code { start, end, name, opaque, own, readable }));
            if own {
                OWN_START.store(start, Ordering::Relaxed);
                OWN_SIZE.store(end - start, Ordering::Relaxed);
            }
        }
    }
    0
}

/// Where this library's own code begins.
pub(crate) static OWN_START: AtomicUsize = AtomicUsize::new(0);
/// Bytes of this library's own code.
pub(crate) static OWN_SIZE: AtomicUsize = AtomicUsize::new(0);

/// Code that may make system calls by itself, from start to end: this library's, the C library's,
/// the loader's and the kernel's. Empty if one of the first two is not among them.
#[cfg(target_arch = "x86_64")]
pub(crate) fn callers() -> Vec<(usize, usize)> {
    const CALLERS: [&str; 4] = ["libc.so.6", "libpthread.so.0", "librt.so.1", "linux-vdso.so.1"];
    CODES.with(|codes| {
        if !codes.iter().any(|code| code.own) || !codes.iter().any(|code| code.name == CALLERS[0]) {
            return Vec::new();
        }
        let calls =
            |code: &&Code| code.own || CALLERS.contains(&code.name) || code.name.starts_with("ld-linux");
        codes.iter().filter(calls).map(|code| (code.start, code.end)).collect()
    })
}

/// Whether the program or a library of its own may read the processor's counter.
#[cfg(target_arch = "x86_64")]
pub(crate) fn read_counter() -> bool {
    CODES.with(|codes| {
        codes.iter().any(|code| !code.own && !KNOWN.contains(&code.name) && code.reads_counter())
    })
}

/// Whether there is code of this library, the C library or one of the others that are known.
pub(crate) fn is_known(address: usize) -> bool {
    CODES.with(|codes| {
        let here = codes.iter().find(|code| (code.start..code.end).contains(&address));
        here.is_some_and(|code| code.own || KNOWN.contains(&code.name))
    })
}

/// The opaque module that a call comes from, if it does.
pub(crate) fn opaque_caller(site: Site) -> Option<&'static str> {
    CODES.with(|codes| match codes.iter().find(|code| (code.start..code.end).contains(&(site.0 as usize))) {
        Some(code) => code.opaque.then_some(code.name),
        None => Some("code that was loaded later"),
    })
}

hook! {
    fn dlclose(handle: *mut c_void; site) -> c_int {
        // The module will be gone at the end, so it is reported now.
        note_new();
        real!(dlclose: fn(*mut c_void) -> c_int)(handle)
    }
    fn dlmopen(space: isize, name: *const c_char, flags: c_int; site) -> *mut c_void {
        control::uncontrolled("dlmopen: what it loads has a C library of its own, which");
        real!(dlmopen: fn(isize, *const c_char, c_int) -> *mut c_void)(space, name, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_without_others_keep_the_rest() {
        assert_eq!(subtract((10, 20), &[]), [(10, 20)]);
        assert_eq!(subtract((10, 20), &[(0, 5), (12, 14), (13, 16), (19, 30)]), [(10, 12), (16, 19)]);
        assert_eq!(subtract((10, 20), &[(5, 25)]), []);
    }
}
