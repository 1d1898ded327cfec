//! Functions of loaded modules that are made to jump into this library, because calls within a
//! module do not reach a preloaded symbol.
//!
//! Two kinds of modules need it. GLib is linked so that its own calls of `g_mutex_lock` go straight
//! to its own function. And clang puts the thread sanitizer's runtime into the program itself,
//! whose definitions come before all that is preloaded.

use alloc::vec::Vec;
use core::ffi::CStr;

use crate::{glib, modules, sys};

/// Redirects the functions. Call it before control starts, while there is one thread.
pub(crate) fn prepare() {
    runtime();
    for name in glib::NAMES {
        // SAFETY: the name ends with a zero byte.
        let theirs = unsafe { sys::dlsym(sys::RTLD_NEXT, name.as_ptr()) as usize };
        let ours = modules::own(name);
        if theirs != 0 && ours != 0 && theirs != ours {
            redirect(theirs, ours);
        }
    }
}

/// A jump to the address that follows it. Functions begin at multiples of sixteen, so none is
/// shorter.
#[cfg(target_arch = "x86_64")]
fn jump_to(to: usize) -> [u8; 14] {
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0u8];
    code[6..].copy_from_slice(&to.to_le_bytes());
    code
}

/// Makes a function jump to another one. Where its memory cannot be written it stays as it is.
#[cfg(target_arch = "x86_64")]
fn redirect(from: usize, to: usize) {
    const PAGE: usize = 4096;
    if !from.is_multiple_of(16) {
        return;
    }
    let code = jump_to(to);
    let first = from & !(PAGE - 1);
    let length = (from + code.len()).next_multiple_of(PAGE) - first;
    const ALL: usize = 7;
    const READ_AND_EXECUTE: usize = 5;
    sys::note_change();
    if sys::syscall(sys::number::MPROTECT, first, length, ALL, 0, 0, 0) != 0 {
        return;
    }
    for (at, byte) in code.into_iter().enumerate() {
        // Byte by byte, because `memcpy` may be what is replaced.
        // SAFETY: the pages were made writable above, and the only thread is not in this function.
        unsafe { core::ptr::write_volatile((from + at) as *mut u8, byte) };
    }
    sys::syscall(sys::number::MPROTECT, first, length, READ_AND_EXECUTE, 0, 0, 0);
}

/// Does nothing here: what is not patched stays invisible, and its module is reported as such.
#[cfg(target_arch = "aarch64")]
fn redirect(_: usize, _: usize) {}

/// Redirects the functions of a sanitizer's runtime that is part of the program. It is initialised
/// by now, and must not be used again: its idea of threads is not ours.
fn runtime() {
    let Some(program) = modules::all().next() else { return };
    if !program.functions().any(|(name, _)| name == c"__tsan_init") {
        return;
    }
    let taken = program.functions().filter_map(|(name, theirs)| {
        let meant = meant(name)?;
        let ours = match modules::own(meant) {
            // SAFETY: the name ends with a zero byte.
            0 => unsafe { sys::dlsym(sys::RTLD_NEXT, meant.as_ptr()) as usize },
            ours => ours,
        };
        (ours != 0 && ours != theirs).then_some((theirs, ours))
    });
    // All at once: looking up a symbol may allocate memory by one of them and free it by another.
    let taken: Vec<(usize, usize)> = taken.collect();
    for (theirs, ours) in taken {
        redirect(theirs, ours);
    }
}

/// Which function a symbol of the runtime stands for; `None` for the program's own symbols.
fn meant(symbol: &CStr) -> Option<&CStr> {
    let bytes = symbol.to_bytes_with_nul();
    // Names of `new` and `delete`.
    let operator = [&b"_Znw"[..], b"_Zna", b"_Zdl", b"_Zda"].iter().any(|start| bytes.starts_with(start));
    if bytes.starts_with(b"__tsan_") || bytes.starts_with(b"__cxa_guard_") || operator {
        return Some(symbol);
    }
    let prefixes = [&b"___interceptor_"[..], b"__interceptor_"];
    let rest = prefixes.iter().find_map(|prefix| bytes.strip_prefix(*prefix))?;
    CStr::from_bytes_with_nul(rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_the_runtime_stand_for_what_they_replace() {
        assert_eq!(meant(c"__tsan_read4"), Some(c"__tsan_read4"));
        assert_eq!(meant(c"__cxa_guard_release"), Some(c"__cxa_guard_release"));
        assert_eq!(meant(c"__interceptor_pthread_mutex_lock"), Some(c"pthread_mutex_lock"));
        assert_eq!(meant(c"___interceptor_malloc"), Some(c"malloc"));
        assert_eq!(meant(c"_Znwm"), Some(c"_Znwm"));
        assert_eq!(meant(c"_ZdaPvm"), Some(c"_ZdaPvm"));
    }

    #[test]
    fn symbols_of_the_program_stay() {
        for own in [c"main", c"_ZN3fooEv", c"interceptor_malloc", c"_Zn", c""] {
            assert_eq!(meant(own), None);
        }
    }

    /// A page of code is mapped, a function there is redirected, and called.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn a_redirected_function_is_another_one() {
        extern "C" fn other() -> u32 {
            42
        }
        // `mov eax, 7; ret`
        const SEVEN: [u8; 6] = [0xb8, 7, 0, 0, 0, 0xc3];
        let page = sys::map(4096, -1);
        assert_ne!(page, 0);
        // SAFETY: the page is new, and as large as that.
        unsafe { core::ptr::copy_nonoverlapping(SEVEN.as_ptr(), (page + 32) as *mut u8, SEVEN.len()) };
        assert_eq!(sys::syscall(sys::number::MPROTECT, page, 4096, 5, 0, 0, 0), 0);
        // SAFETY: the function that was just written.
        let function: extern "C" fn() -> u32 = unsafe { core::mem::transmute(page + 32) };
        assert_eq!(function(), 7);
        redirect(page + 33, other as *const () as usize);
        assert_eq!(function(), 7, "not where a function can begin");
        redirect(page + 32, other as *const () as usize);
        assert_eq!(function(), 42);
    }
}
