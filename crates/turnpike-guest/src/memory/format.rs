//! `printf` and its relatives. The format decides which memory they read, and what they write is
//! written after everything was read.
//!
//! A function with any number of arguments begins with a stub that makes the list of arguments
//! (`va_list`) that the others are passed, in the form that the calling convention of the processor
//! prescribes.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};

use turnpike_scheduler::Site;

use super::call::export;
use super::library_calls::{ALL, fits, plain_memmove, reads_text, reports_accesses, writes};
use super::logic::conversions::{Conversions, Precision, Takes};
use crate::control;
use crate::hook::real;

/// Arguments that are still to be taken.
#[cfg(target_arch = "x86_64")]
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    general: u32,
    vector: u32,
    stack: *const u64,
    saved: *const u8,
}

#[cfg(target_arch = "x86_64")]
impl Arguments {
    /// Where the stub saved the next general register: there are six, of eight bytes.
    fn saved_word(&mut self) -> Option<*const u64> {
        const END: u32 = 48;
        let at = self.general;
        (at < END).then(|| {
            self.general += 8;
            self.saved.wrapping_add(at as usize) as *const u64
        })
    }

    /// Skips a vector register, if one is left: there are eight, of sixteen bytes.
    fn skip_vector(&mut self) -> bool {
        const END: u32 = 176;
        let left = self.vector < END;
        self.vector += if left { 16 } else { 0 };
        left
    }

    unsafe fn skip_long_real(&mut self) {
        self.skip_on_stack();
    }
}

/// Arguments that are still to be taken.
#[cfg(target_arch = "aarch64")]
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    stack: *const u64,
    general_end: *const u8,
    vector_end: *const u8,
    general: i32,
    vector: i32,
}

#[cfg(target_arch = "aarch64")]
impl Arguments {
    /// Where the stub saved the next general register: they end at `general_end`, and `-general`
    /// bytes are left.
    fn saved_word(&mut self) -> Option<*const u64> {
        let at = self.general;
        (at < 0).then(|| {
            self.general += 8;
            self.general_end.wrapping_offset(at as isize) as *const u64
        })
    }

    /// Skips a vector register, if one is left.
    fn skip_vector(&mut self) -> bool {
        let left = self.vector < 0;
        self.vector += if left { 16 } else { 0 };
        left
    }

    unsafe fn skip_long_real(&mut self) {
        if !self.skip_vector() {
            self.skip_on_stack();
        }
    }
}

/// On both processors.
impl Arguments {
    unsafe fn on_stack(&mut self) -> u64 {
        // SAFETY: the caller passed as many arguments as its format says.
        unsafe {
            let word = *self.stack;
            self.stack = self.stack.add(1);
            word
        }
    }

    /// The next one that is not a floating point number.
    unsafe fn word(&mut self) -> u64 {
        match self.saved_word() {
            // SAFETY: a register that the stub saved.
            Some(saved) => unsafe { *saved },
            // SAFETY: no registers are left, so that the word is on the stack.
            None => unsafe { self.on_stack() },
        }
    }

    unsafe fn skip_real(&mut self) {
        if !self.skip_vector() {
            // SAFETY: no registers are left, so that the number is on the stack.
            unsafe { self.on_stack() };
        }
    }

    /// Numbers of sixteen bytes are aligned on the stack.
    fn skip_on_stack(&mut self) {
        self.stack = ((self.stack as usize).next_multiple_of(16) + 16) as *const u64;
    }
}

/// What a stub leaves on the stack.
#[repr(C)]
pub(super) struct Call {
    arguments: Arguments,
    site: u64,
}

/// Where the text goes.
enum Target {
    Output,
    Stream(*mut c_void),
    Descriptor(c_int),
    /// A message about an error.
    Message(unsafe extern "C" fn(*const c_char, *mut Arguments)),
    /// A message with a status, or one for the system's log with a priority.
    Numbered(c_int, unsafe extern "C" fn(c_int, *const c_char, *mut Arguments)),
    /// Memory. At most `size` bytes are written there, and more than `room` are an error.
    Memory {
        to: *mut c_char,
        size: usize,
        room: usize,
    },
}

/// Reports what is read and written besides the resulting text.
unsafe fn tell_arguments(format: *const c_char, mut arguments: Arguments, site: Site) {
    let mut memory = 0;
    // SAFETY: the caller's format, which ends with a zero byte.
    let text = unsafe {
        reads_text(format, ALL, site);
        CStr::from_ptr(format)
    };
    for conversion in Conversions::of(text.to_bytes()) {
        // SAFETY: the caller passed what its format asks for, and the conversions are in its order.
        unsafe {
            if conversion.width_taken {
                arguments.word();
            }
            let most = match conversion.precision {
                Precision::None => ALL,
                Precision::Is(most) => most,
                Precision::Taken => usize::try_from(arguments.word() as i32).unwrap_or(ALL),
            };
            match conversion.takes {
                Takes::Nothing => {}
                Takes::Word => {
                    arguments.word();
                }
                Takes::Real => arguments.skip_real(),
                Takes::LongReal => arguments.skip_long_real(),
                Takes::Text => {
                    let text = arguments.word() as *const c_char;
                    if !text.is_null() {
                        memory += 1;
                        reads_text(text, most, site);
                    }
                }
                Takes::Count(size) => {
                    writes(arguments.word() as *const c_void, size, site);
                    memory += 1;
                }
                Takes::End => return,
                Takes::Unknown => {
                    return control::uncontrolled("what a format with unusual conversions reads");
                }
            }
        }
    }
    // The C library reads them together, when it makes the text.
    if memory > 1 && super::races_at(site) {
        control::uncontrolled("the order of a printf that reads several texts and other threads' writes");
    }
}

unsafe fn print(
    target: Target,
    flag: c_int,
    format: *const c_char,
    list: *mut Arguments,
    site: Site,
) -> c_int {
    let into_memory =
        real!(__vsnprintf_chk: fn(*mut c_char, usize, c_int, usize, *const c_char, *mut Arguments) -> c_int);
    // SAFETY: the caller's format and arguments.
    unsafe {
        let reported = reports_accesses();
        // Messages about errors need no format.
        if reported && !format.is_null() {
            tell_arguments(format, *list, site);
        }
        match target {
            Target::Output => {
                real!(__vprintf_chk: fn(c_int, *const c_char, *mut Arguments) -> c_int)(flag, format, list)
            }
            Target::Stream(stream) => {
                crate::shared::stream(stream, site);
                let print =
                    real!(__vfprintf_chk: fn(*mut c_void, c_int, *const c_char, *mut Arguments) -> c_int);
                print(stream, flag, format, list)
            }
            Target::Descriptor(file) => {
                real!(__vdprintf_chk: fn(c_int, c_int, *const c_char, *mut Arguments) -> c_int)(
                    file, flag, format, list,
                )
            }
            Target::Message(print) => {
                print(format, list);
                0
            }
            Target::Numbered(number, print) => {
                print(number, format, list);
                0
            }
            Target::Memory { to, size, room } => {
                if !reported && size == ANY {
                    let print = real!(__vsprintf_chk: fn(*mut c_char, c_int, usize, *const c_char, *mut Arguments) -> c_int);
                    return print(to, flag, room, format, list);
                }
                if size != ANY {
                    fits(size, room);
                }
                if !reported {
                    return into_memory(to, size, flag, ALL, format, list);
                }
                let mut again = *list;
                let length = into_memory(core::ptr::null_mut(), 0, flag, ALL, format, &mut again);
                if length < 0 || size == 0 {
                    return length;
                }
                let whole = length as usize + 1;
                let mut text: Vec<u8> = alloc::vec![0; whole];
                into_memory(text.as_mut_ptr() as *mut c_char, whole, flag, ALL, format, list);
                let written = whole.min(size);
                fits(written, room);
                text[written - 1] = 0;
                writes(to as *const c_void, written, site);
                plain_memmove(to as *mut c_void, text.as_ptr() as *const c_void, written);
                length
            }
        }
    }
}

/// Stands for a size that was not given.
const ANY: usize = usize::MAX >> 1;

/// Makes the list of the arguments after the named ones, which take `$bytes` bytes of registers,
/// and passes it as one more argument.
#[cfg(target_arch = "x86_64")]
macro_rules! listed {
    ($imp:ident $bytes:literal $pass:literal) => {
        core::arch::naked_asm!(
            "sub rsp, 216",
            "mov [rsp + 32], rdi",
            "mov [rsp + 40], rsi",
            "mov [rsp + 48], rdx",
            "mov [rsp + 56], rcx",
            "mov [rsp + 64], r8",
            "mov [rsp + 72], r9",
            "movaps [rsp + 80], xmm0",
            "movaps [rsp + 96], xmm1",
            "movaps [rsp + 112], xmm2",
            "movaps [rsp + 128], xmm3",
            "movaps [rsp + 144], xmm4",
            "movaps [rsp + 160], xmm5",
            "movaps [rsp + 176], xmm6",
            "movaps [rsp + 192], xmm7",
            concat!("mov dword ptr [rsp], ", $bytes),
            "mov dword ptr [rsp + 4], 48",
            "lea rax, [rsp + 224]",
            "mov [rsp + 8], rax",
            "lea rax, [rsp + 32]",
            "mov [rsp + 16], rax",
            "mov rax, [rsp + 216]",
            "mov [rsp + 24], rax",
            concat!("mov ", $pass, ", rsp"),
            "call {imp}",
            "add rsp, 216",
            "ret",
            imp = sym $imp,
        )
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! list {
    ($imp:ident $a:ident) => { listed!($imp "8" "rsi") };
    ($imp:ident $a:ident $b:ident) => { listed!($imp "16" "rdx") };
    ($imp:ident $a:ident $b:ident $c:ident) => { listed!($imp "24" "rcx") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { listed!($imp "32" "r8") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { listed!($imp "40" "r9") };
}

#[cfg(target_arch = "aarch64")]
macro_rules! listed {
    ($imp:ident $bytes:literal $pass:literal) => {
        core::arch::naked_asm!(
            "sub sp, sp, 256",
            "stp x0, x1, [sp, 48]",
            "stp x2, x3, [sp, 64]",
            "stp x4, x5, [sp, 80]",
            "stp x6, x7, [sp, 96]",
            "stp q0, q1, [sp, 112]",
            "stp q2, q3, [sp, 144]",
            "stp q4, q5, [sp, 176]",
            "stp q6, q7, [sp, 208]",
            "add x16, sp, 256",
            "add x17, sp, 112",
            "stp x16, x17, [sp]",
            "add x16, sp, 240",
            "str x16, [sp, 16]",
            concat!("mov w16, -64 + ", $bytes),
            "mov w17, -128",
            "stp w16, w17, [sp, 24]",
            "str x30, [sp, 32]",
            concat!("mov ", $pass, ", sp"),
            "bl {imp}",
            "ldr x30, [sp, 32]",
            "add sp, sp, 256",
            "ret",
            imp = sym $imp,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! list {
    ($imp:ident $a:ident) => { listed!($imp "8" "x1") };
    ($imp:ident $a:ident $b:ident) => { listed!($imp "16" "x2") };
    ($imp:ident $a:ident $b:ident $c:ident) => { listed!($imp "24" "x3") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident) => { listed!($imp "32" "x4") };
    ($imp:ident $a:ident $b:ident $c:ident $d:ident $e:ident) => { listed!($imp "40" "x5") };
}

/// Functions with any number of arguments, and their counterparts with a list of them.
macro_rules! prints {
    ($(fn $name:ident, $listed:ident($($arg:ident: $ty:ty),*) $flag:expr, $format:ident => $target:expr;)*) => { $(
        const _: () = {
            #[cfg_attr(embedded, unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
                $crate::hook::jump!(listing "nop")
            }
            #[unsafe(naked)]
            unsafe extern "C" fn listing($($arg: $ty),*) -> c_int {
                list!(imp $($arg)*)
            }
            unsafe extern "C" fn imp($($arg: $ty,)* call: *mut Call) -> c_int {
                // SAFETY: the stub's list; the caller's arguments.
                unsafe { print($target, $flag, $format, &raw mut (*call).arguments, Site((*call).site)) }
            }
            export! {
                fn $listed($($arg: $ty,)* arguments: *mut Arguments; site) -> c_int {
                    print($target, $flag, $format, arguments, site)
                }
            }
        };
    )* };
}

prints! {
    fn warn, vwarn(format: *const c_char) 0, format => Target::Message(real!(vwarn: fn(*const c_char, *mut Arguments)));
    fn warnx, vwarnx(format: *const c_char) 0, format => Target::Message(real!(vwarnx: fn(*const c_char, *mut Arguments)));
    fn err, verr(status: c_int, format: *const c_char) 0, format => Target::Numbered(status, real!(verr: fn(c_int, *const c_char, *mut Arguments)));
    fn errx, verrx(status: c_int, format: *const c_char) 0, format => Target::Numbered(status, real!(verrx: fn(c_int, *const c_char, *mut Arguments)));
    fn syslog, vsyslog(priority: c_int, format: *const c_char) 0, format => Target::Numbered(priority, real!(vsyslog: fn(c_int, *const c_char, *mut Arguments)));
    fn printf, vprintf(format: *const c_char) 0, format => Target::Output;
    fn fprintf, vfprintf(stream: *mut c_void, format: *const c_char) 0, format => Target::Stream(stream);
    fn dprintf, vdprintf(file: c_int, format: *const c_char) 0, format => Target::Descriptor(file);
    fn sprintf, vsprintf(to: *mut c_char, format: *const c_char) 0, format => Target::Memory { to, size: ANY, room: ALL };
    fn snprintf, vsnprintf(to: *mut c_char, size: usize, format: *const c_char) 0, format => Target::Memory { to, size, room: ALL };
    fn __printf_chk, __vprintf_chk(flag: c_int, format: *const c_char) flag, format => Target::Output;
    fn __fprintf_chk, __vfprintf_chk(stream: *mut c_void, flag: c_int, format: *const c_char) flag, format => Target::Stream(stream);
    fn __dprintf_chk, __vdprintf_chk(file: c_int, flag: c_int, format: *const c_char) flag, format => Target::Descriptor(file);
    fn __sprintf_chk, __vsprintf_chk(to: *mut c_char, flag: c_int, room: usize, format: *const c_char) flag, format => Target::Memory { to, size: ANY, room };
}

const _: () = {
    #[cfg_attr(embedded, unsafe(no_mangle))]
    #[unsafe(naked)]
    unsafe extern "C" fn __snprintf_chk(
        to: *mut c_char,
        size: usize,
        flag: c_int,
        room: usize,
        format: *const c_char,
    ) -> c_int {
        crate::hook::jump!(listing "nop")
    }
    #[unsafe(naked)]
    unsafe extern "C" fn listing(
        to: *mut c_char,
        size: usize,
        flag: c_int,
        room: usize,
        format: *const c_char,
    ) -> c_int {
        list!(imp to size flag room format)
    }
    unsafe extern "C" fn imp(
        to: *mut c_char,
        size: usize,
        flag: c_int,
        room: usize,
        format: *const c_char,
        call: *mut Call,
    ) -> c_int {
        let target = Target::Memory { to, size, room };
        // SAFETY: the stub's list; the caller's arguments.
        unsafe { print(target, flag, format, &raw mut (*call).arguments, Site((*call).site)) }
    }
};
