//! Functions of loaded modules that are made to jump into this library: calls within a module reach
//! neither a preloaded symbol nor any other.
//!
//! Two kinds of modules need it. GLib is linked so that its own calls of `g_mutex_lock` go straight
//! to its own function. And clang puts the thread sanitizer's runtime into the program itself,
//! whose definitions come before all that is preloaded.

use alloc::vec::Vec;
use core::ffi::CStr;

use crate::{glib, modules, sys};

/// Takes functions over. Before control starts, while there is one thread.
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

/// Makes a function jump to another one. Where its memory cannot be written it stays as it is.
#[cfg(target_arch = "x86_64")]
fn redirect(from: usize, to: usize) {
    const PAGE: usize = 4096;
    // A jump to the address that follows. Functions begin at multiples of sixteen, so that none is
    // shorter.
    const LENGTH: usize = 14;
    if !from.is_multiple_of(16) {
        return;
    }
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0u8];
    code[6..].copy_from_slice(&to.to_le_bytes());
    let first = from & !(PAGE - 1);
    let length = (from + LENGTH).next_multiple_of(PAGE) - first;
    const ALL: usize = 7;
    const READ_AND_EXECUTE: usize = 5;
    if sys::syscall(sys::number::MPROTECT, first, length, ALL, 0, 0, 0) != 0 {
        return;
    }
    for (at, byte) in code.into_iter().enumerate() {
        // SAFETY: one thread, which is not in this function. One by one: copying may be what is
        // replaced.
        unsafe { core::ptr::write_volatile((from + at) as *mut u8, byte) };
    }
    sys::syscall(sys::number::MPROTECT, first, length, READ_AND_EXECUTE, 0, 0, 0);
}

/// Not here: what is not taken over stays invisible, and its module is told as such.
#[cfg(target_arch = "aarch64")]
fn redirect(_: usize, _: usize) {}

/// Takes the functions of a runtime over that is part of the program. It has begun by now, and must
/// not be used again: its idea of threads is not ours.
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
    // All at once: looking symbols up may allocate memory by one of them and free it by another.
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
    if bytes.starts_with(b"__tsan_") || operator {
        return Some(symbol);
    }
    let prefixes = [&b"___interceptor_"[..], b"__interceptor_"];
    let rest = prefixes.iter().find_map(|prefix| bytes.strip_prefix(*prefix))?;
    CStr::from_bytes_with_nul(rest).ok()
}
