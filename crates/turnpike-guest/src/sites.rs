//! Which addresses belong to the program: its code, for source positions, and its static data, for
//! stable names of objects.

use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_void};

use turnpike_scheduler::Site;

use crate::global::Global;
use crate::sys::{self, PhdrInfo};
use crate::{control, fiber};

struct Ranges {
    /// Code of the program itself, without libraries.
    code: Vec<(usize, usize)>,
    /// Writable data of all modules.
    data: Vec<(usize, usize)>,
    /// Code of the C library and its loader.
    c_library: Vec<(usize, usize)>,
    /// Code of the program that comes from headers of libraries, sorted.
    headers: Vec<(usize, usize)>,
}

static RANGES: Global<Ranges> =
    Global::new(Ranges { code: Vec::new(), data: Vec::new(), c_library: Vec::new(), headers: Vec::new() });

/// Releases the addresses from interrupted code.
///
/// # Safety
/// That code never goes on.
pub(crate) unsafe fn take_back() {
    // SAFETY: promised by the caller.
    unsafe { RANGES.take_back() };
}

pub(crate) fn in_program(address: usize) -> bool {
    RANGES.with(|ranges| ranges.is_user(address))
}

impl Ranges {
    /// Whether the user wrote the code at an address.
    fn is_user(&self, address: usize) -> bool {
        if !within(&self.code, address) {
            return false;
        }
        let behind = self.headers.partition_point(|(start, _)| *start <= address);
        behind.checked_sub(1).is_none_or(|at| address >= self.headers[at].1)
    }
}

unsafe extern "C" fn module(info: *mut PhdrInfo, _: usize, count: *mut c_void) -> c_int {
    const LOAD: u32 = 1;
    // SAFETY: the loader's record of a module; `count` is the variable of `learn`.
    unsafe {
        let first = *(count as *mut usize) == 0;
        *(count as *mut usize) += 1;
        let info = &*info;
        if first {
            learn_headers(info.base);
            crate::parts::learn(info.base);
        }
        let c_library = named(info.name, &["/libc.so", "/libpthread.so", "/ld-linux"]);
        for header in core::slice::from_raw_parts(info.headers, info.count.into()) {
            if header.kind != LOAD {
                continue;
            }
            let start = info.base.wrapping_add(header.address as usize);
            let range = (start, start + header.memory_size as usize);
            if header.flags & 1 != 0 && first {
                RANGES.with(|ranges| ranges.code.push(range));
            }
            if header.flags & 1 != 0 && c_library {
                RANGES.with(|ranges| ranges.c_library.push(range));
            }
            if header.flags & 2 != 0 {
                RANGES.with(|ranges| ranges.data.push(range));
            }
        }
    }
    0
}

/// Learns from the host which code of the program, which was loaded at `base`, comes from headers.
fn learn_headers(base: usize) {
    let header = control::header();
    // SAFETY: the host has put the list there, aligned, and waits.
    let list = unsafe {
        let at = (control::shared() as *const u8).add(header.tape_at as usize);
        core::slice::from_raw_parts(at as *const [u64; 2], header.library_code as usize)
    };
    let loaded = |address: u64| base.wrapping_add(address as usize);
    RANGES.with(|ranges| {
        ranges.headers = list.iter().map(|[start, end]| (loaded(*start), loaded(*end))).collect();
    });
}

/// Whether a module's name contains one of these.
unsafe fn named(name: *const c_char, parts: &[&str]) -> bool {
    if name.is_null() {
        return false;
    }
    // SAFETY: the loader's name of a module.
    let name = unsafe { core::slice::from_raw_parts(name as *const u8, sys::strlen(name)) };
    parts.iter().any(|part| name.windows(part.len()).any(|found| found == part.as_bytes()))
}

/// Whether a call is in the C library's code.
pub(crate) fn in_c_library(site: Site) -> bool {
    RANGES.with(|ranges| within(&ranges.c_library, site.0 as usize))
}

/// The name of the library that runs parallel loops, if this call is in one.
pub(crate) fn loop_library(site: Site) -> Option<&'static str> {
    if in_program(site.0 as usize) {
        return None;
    }
    let mut names = [core::ptr::null::<c_char>(), core::ptr::null(), core::ptr::null(), core::ptr::null()];
    // SAFETY: room for the answer; names of modules stay.
    let name = unsafe {
        if sys::dladdr(site.0 as *const c_void, names.as_mut_ptr()) == 0 || names[0].is_null() {
            return None;
        }
        core::slice::from_raw_parts(names[0] as *const u8, sys::strlen(names[0]))
    };
    ["libgomp", "libomp", "libiomp"]
        .into_iter()
        .find(|known| name.windows(known.len()).any(|part| part == known.as_bytes()))
}

/// Learns where the loaded modules are, before control starts.
pub(crate) fn learn() {
    let mut count = 0usize;
    // SAFETY: the callback keeps to its contract.
    unsafe { sys::dl_iterate_phdr(module, &raw mut count as *mut c_void) };
}

fn within(ranges: &[(usize, usize)], address: usize) -> bool {
    ranges.iter().any(|(start, end)| (*start..*end).contains(&address))
}

/// The address of a static variable, which is the same in all executions; 0 for others.
pub(crate) fn stable(address: usize) -> u64 {
    if RANGES.with(|ranges| within(&ranges.data, address)) { address as u64 } else { 0 }
}

/// The most words of the stack that are searched for a return address of the program.
const DEEP: usize = 1024;

/// The call in the program's own code: `site` itself, or, when that is in a library
/// (`std::thread::join`), the nearest return address on the stack that belongs to the program. A
/// guess, for the user's eyes only.
#[inline(never)]
pub(crate) fn user(site: Site) -> Site {
    if in_program(site.0 as usize) {
        return site;
    }
    let (frame, here) = (control::frame(), fiber::stack_pointer());
    let high = control::thread(|thread| thread.high);
    // Not all calls note their frame: the last one that did may be another thread's.
    search(site, if (here..high).contains(&frame) { frame } else { here })
}

/// Like [`user`], from this stack pointer on.
pub(crate) fn user_above(site: Site, stack: usize) -> Site {
    if in_program(site.0 as usize) { site } else { search(site, stack) }
}

fn search(site: Site, stack: usize) -> Site {
    let mut at = (stack + 7) & !7;
    let end = control::thread(|thread| thread.high).min(at.saturating_add(DEEP * 8));
    RANGES.with(|ranges| {
        while at + 8 <= end {
            // SAFETY: between the stack pointer and the stack's upper end.
            let word = unsafe { *(at as *const usize) };
            at += 8;
            if ranges.is_user(word) && after_call(word) {
                return Site(word as u64);
            }
        }
        site
    })
}

#[cfg(target_arch = "x86_64")]
fn after_call(address: usize) -> bool {
    // SAFETY: in the program's code, some bytes after its start at least.
    let before = unsafe { *((address - 7) as *const [u8; 7]) };
    ends_with_call(&before)
}

/// Whether these bytes end with a `call` instruction: to an address, or through a register or
/// memory, in all their lengths.
#[cfg(target_arch = "x86_64")]
fn ends_with_call(before: &[u8; 7]) -> bool {
    let byte = |back: usize| before[7 - back];
    let indirect = |back: usize| byte(back) == 0xff && (byte(back - 1) >> 3) & 7 == 2;
    byte(5) == 0xe8 || indirect(2) || indirect(3) || indirect(4) || indirect(6) || indirect(7)
}

#[cfg(target_arch = "aarch64")]
fn after_call(address: usize) -> bool {
    if address % 4 != 0 {
        return false;
    }
    // SAFETY: in the program's code.
    let word = unsafe { *((address - 4) as *const u32) };
    word >> 26 == 0x25 || word & 0xffff_fc1f == 0xd63f_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_within_a_range_up_to_its_end() {
        let ranges = [(10, 20), (30, 31)];
        for (address, inside) in [(9, false), (10, true), (19, true), (20, false), (30, true), (31, false)] {
            assert_eq!(within(&ranges, address), inside, "{address}");
        }
        assert!(!within(&[], 0));
    }

    #[test]
    fn parts_of_names_are_found() {
        // SAFETY: the names end with a zero byte, or there is none.
        let named = |name: *const c_char, part: &str| unsafe { named(name, &[part]) };
        assert!(named(c"/lib/x86_64-linux-gnu/libc.so.6".as_ptr(), "/libc.so"));
        assert!(!named(c"/lib/libc-extra.so".as_ptr(), "/libc.so"));
        assert!(!named(core::ptr::null(), "/libc.so"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn calls_are_recognised_in_all_their_lengths() {
        let ending = |code: &[u8]| {
            let mut bytes = [0x90; 7];
            bytes[7 - code.len()..].copy_from_slice(code);
            ends_with_call(&bytes)
        };
        assert!(ending(&[0xe8, 1, 2, 3, 4]), "call to an address");
        assert!(ending(&[0xff, 0xd0]), "call rax");
        assert!(ending(&[0x41, 0xff, 0xd4]), "call r12");
        assert!(ending(&[0xff, 0x50, 0x10]), "call [rax + 16]");
        assert!(ending(&[0xff, 0x54, 0x24, 0x08]), "call [rsp + 8]");
        assert!(ending(&[0xff, 0x15, 1, 2, 3, 4]), "call [rip + …]");
        assert!(ending(&[0xff, 0x94, 0x24, 1, 2, 3, 4]), "call [rsp + …]");
        assert!(!ending(&[0xff, 0xe0]), "jmp rax");
        assert!(!ending(&[0xe9, 1, 2, 3, 4]), "jmp to an address");
        assert!(!ending(&[]), "nothing");
    }
}
