//! Functions that the program calls very often, and that work in the same way in and outside
//! control.
//!
//! The exported symbol is a stub that passes its return address, the site, as one more argument.

#[cfg(target_arch = "x86_64")]
macro_rules! pass_site {
    ($imp:ident) => { $crate::hook::jump!($imp "mov rdi, [rsp]") };
    ($imp:ident $a:ident) => { $crate::hook::jump!($imp "mov rsi, [rsp]") };
    ($imp:ident $a:ident $b:ident) => { $crate::hook::jump!($imp "mov rdx, [rsp]") };
    ($imp:ident $a:ident $b:ident $c:ident) => { $crate::hook::jump!($imp "mov rcx, [rsp]") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { $crate::hook::jump!($imp "mov r8, [rsp]") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { $crate::hook::jump!($imp "mov r9, [rsp]") };
}

#[cfg(target_arch = "aarch64")]
macro_rules! pass_site {
    ($imp:ident) => { $crate::hook::jump!($imp "mov x0, x30") };
    ($imp:ident $a:ident) => { $crate::hook::jump!($imp "mov x1, x30") };
    ($imp:ident $a:ident $b:ident) => { $crate::hook::jump!($imp "mov x2, x30") };
    ($imp:ident $a:ident $b:ident $c:ident) => { $crate::hook::jump!($imp "mov x3, x30") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { $crate::hook::jump!($imp "mov x4, x30") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { $crate::hook::jump!($imp "mov x5, x30") };
}
pub(super) use pass_site;

/// Exports functions; the name after the semicolon is the site.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) $(-> $ret:ty)? $body:block)*) => { $(
        const _: () = {
            #[cfg_attr(embedded, unsafe(no_mangle))]
            #[unsafe(naked)]
            #[allow(improper_ctypes_definitions)]
            unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
                $crate::memory::call::pass_site!(imp $($arg)*)
            }
            #[allow(improper_ctypes_definitions)]
            unsafe extern "C" fn imp($($arg: $ty,)* address: u64) $(-> $ret)? {
                #[allow(unused_variables)]
                let $site = turnpike_scheduler::Site(address);
                #[allow(unused_unsafe)]
                // SAFETY: the caller keeps to the contract of this function.
                unsafe { $body }
            }
        };
    )* };
}
pub(super) use export;
