//! Functions that the program calls very often, and that work in the same way in and outside control.
//!
//! The exported symbol is a stub that passes its return address, the site, as one more argument.

#[cfg(target_arch = "x86_64")]
macro_rules! pass_site {
    ($imp:ident) => { core::arch::naked_asm!("mov rdi, [rsp]", "jmp {}", sym $imp) };
    ($imp:ident $a:ident) => { core::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym $imp) };
    ($imp:ident $a:ident $b:ident) => { core::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident) => { core::arch::naked_asm!("mov rcx, [rsp]", "jmp {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { core::arch::naked_asm!("mov r8, [rsp]", "jmp {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { core::arch::naked_asm!("mov r9, [rsp]", "jmp {}", sym $imp) };
}

#[cfg(target_arch = "aarch64")]
macro_rules! pass_site {
    ($imp:ident) => { core::arch::naked_asm!("mov x0, x30", "b {}", sym $imp) };
    ($imp:ident $a:ident) => { core::arch::naked_asm!("mov x1, x30", "b {}", sym $imp) };
    ($imp:ident $a:ident $b:ident) => { core::arch::naked_asm!("mov x2, x30", "b {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident) => { core::arch::naked_asm!("mov x3, x30", "b {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { core::arch::naked_asm!("mov x4, x30", "b {}", sym $imp) };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { core::arch::naked_asm!("mov x5, x30", "b {}", sym $imp) };
}
pub(super) use pass_site;

/// Exports functions; the name after the semicolon is the site.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $ty:ty),*; $site:ident) $(-> $ret:ty)? $body:block)*) => { $(
        const _: () = {
            #[unsafe(no_mangle)]
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
