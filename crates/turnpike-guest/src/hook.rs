//! How functions of the C library are replaced.
//!
//! `hook!` defines the exported symbol as a stub that passes its return address and its stack
//! pointer on as two more arguments (so a hook has four of its own at most): the [`Site`] of the
//! operation, and where the caller's frame begins. The stub jumps to the Rust function. Outside
//! control (before the first fork, in programs that were started without a host) that calls the C
//! library's own function.

use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

#[allow(unused_imports)]
use turnpike_scheduler::Site;

use crate::sys;

/// The C library's function that one of ours replaces.
pub(crate) struct Real {
    /// Ends with a zero byte.
    name: &'static str,
    address: AtomicUsize,
}

impl Real {
    /// The function of a name that ends with a zero byte.
    pub(crate) const fn new(name: &'static str) -> Self {
        Real { name, address: AtomicUsize::new(0) }
    }

    /// Where it is.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        resolve(self.name, &self.address)
    }
}

/// Looks up all functions that `real!` mentions. The fork server does it, because each child would
/// have to do it again: a lookup touches a dozen pages that the child does not need otherwise.
pub(crate) fn prepare() {
    #[cfg(embedded)]
    {
        // The linker defines these for a section whose name is an identifier. Their type is not
        // what is there: only their addresses are used.
        unsafe extern "C" {
            #[link_name = "__start_turnpike_real"]
            static FIRST: u8;
            #[link_name = "__stop_turnpike_real"]
            static END: u8;
        }
        let (first, end) = (&raw const FIRST, &raw const END);
        let count = (end.addr() - first.addr()) / size_of::<Real>();
        // SAFETY: the section has nothing but values of this type, one after the other, which
        // `real!` puts there; all they hold that changes is atomic.
        let functions = unsafe { core::slice::from_raw_parts(first.cast::<Real>(), count) };
        for function in functions {
            // One that does not exist (of a C++ library in a C program) may be loaded later.
            function.address.store(find(function.name) as usize, Ordering::Relaxed);
        }
    }
}

/// The next definition of a symbol after ours, remembered in `cache`.
#[inline]
pub(crate) fn resolve(name: &'static str, cache: &AtomicUsize) -> usize {
    match cache.load(Ordering::Relaxed) {
        0 => look_up(name, cache),
        known => known,
    }
}

#[cold]
fn look_up(name: &'static str, cache: &AtomicUsize) -> usize {
    let found = find(name) as usize;
    if found == 0 {
        sys::write(2, b"turnpike: a function that the program calls does not exist in its C library: ");
        sys::write(2, name.as_bytes());
        sys::write(2, b"\n");
        sys::exit_group(127);
    }
    cache.store(found, Ordering::Relaxed);
    found
}

/// The next definition of a symbol after ours; null if there is none.
pub(crate) fn find(name: &'static str) -> *mut c_void {
    // SAFETY: the name ends with a zero byte.
    unsafe { sys::dlsym(sys::RTLD_NEXT, name.as_ptr() as *const c_char) }
}

/// The C library's function of this name.
macro_rules! real {
    ($name:ident: fn($($ty:ty),*) $(-> $ret:ty)?) => {{
        #[cfg_attr(embedded, unsafe(link_section = "turnpike_real"))]
        static REAL: $crate::hook::Real = $crate::hook::Real::new(concat!(stringify!($name), "\0"));
        let address = REAL.address();
        // SAFETY: the declaration is the C library's.
        #[allow(unused_unsafe)]
        unsafe { core::mem::transmute::<usize, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(address) }
    }};
}
pub(crate) use real;

/// The body of a stub: saves the caller's registers, executes the instructions, and jumps.
macro_rules! jump {
    ($imp:ident $($instruction:literal)*) => {
        $crate::state::saving!($imp $($instruction)*)
    };
}
pub(crate) use jump;

#[cfg(target_arch = "x86_64")]
macro_rules! stub {
    ($imp:ident) => { $crate::hook::jump!($imp "mov rdi, [rsp]" "mov rsi, rsp") };
    ($imp:ident $a:ident) => { $crate::hook::jump!($imp "mov rsi, [rsp]" "mov rdx, rsp") };
    ($imp:ident $a:ident $b:ident) => { $crate::hook::jump!($imp "mov rdx, [rsp]" "mov rcx, rsp") };
    ($imp:ident $a:ident $b:ident $c:ident) => { $crate::hook::jump!($imp "mov rcx, [rsp]" "mov r8, rsp") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { $crate::hook::jump!($imp "mov r8, [rsp]" "mov r9, rsp") };
}

#[cfg(target_arch = "aarch64")]
macro_rules! stub {
    ($imp:ident) => { $crate::hook::jump!($imp "mov x0, x30" "mov x1, sp") };
    ($imp:ident $a:ident) => { $crate::hook::jump!($imp "mov x1, x30" "mov x2, sp") };
    ($imp:ident $a:ident $b:ident) => { $crate::hook::jump!($imp "mov x2, x30" "mov x3, sp") };
    ($imp:ident $a:ident $b:ident $c:ident) => { $crate::hook::jump!($imp "mov x3, x30" "mov x4, sp") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { $crate::hook::jump!($imp "mov x4, x30" "mov x5, sp") };
}
pub(crate) use stub;

/// Replaces functions of the C library; outside control they stay what they are.
macro_rules! hook {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) $(-> $ret:ty)? $body:block)*) => { $(
        $crate::hook::export! {
            fn $name($($arg: $ty),*; $site) $(-> $ret)?
            {
                if !$crate::control::active() {
                    let real = $crate::hook::real!($name: fn($($ty),*) $(-> $ret)?);
                    // SAFETY: the caller's arguments, unchanged.
                    return unsafe { real($($arg),*) };
                }
            }
            $body
        }
    )* };
}
pub(crate) use hook;

/// Functions that only this library has, or that must work in the same way outside control.
macro_rules! own {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) $(-> $ret:ty)? $body:block)*) => { $(
        $crate::hook::export! { fn $name($($arg: $ty),*; $site) $(-> $ret)? {} $body }
    )* };
}
pub(crate) use own;

/// Exports a function: its stub, what it does first, and what it does under control.
macro_rules! export {
    (fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) $(-> $ret:ty)? $first:block $body:block) => {
        const _: () = {
            #[cfg_attr(embedded, unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
                $crate::hook::stub!(imp $($arg)*)
            }
            unsafe extern "C" fn imp($($arg: $ty,)* address: u64, frame: usize) $(-> $ret)? {
                $first
                #[allow(unused_variables)]
                let $site = $crate::control::enter(address, frame);
                #[allow(unused_unsafe)]
                // SAFETY: the caller keeps to the contract of the function that has this name.
                unsafe { $body }
            }
        };
    };
}
pub(crate) use export;
