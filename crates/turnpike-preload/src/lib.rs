//! The library that is preloaded into C and C++ programs, embedded, and what its host needs to talk
//! to it.
//!
//! The library itself is the crate `turnpike-guest`: Rust without the standard library, compiled by
//! the build script together with the scheduler's kernel. See its first lines for the idea.
//! Programs that want to say more than plain C can include [`HEADER`].

/// The library, an ELF file; empty where it does not work (see [`SUPPORTED`]).
pub static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libturnpike_guest.so"));

/// The library's own name for the loader, with room for that of the library that a program wants
/// instead.
pub const NAME: &str = "libturnpike_in_place_of_the_sanitizers_library.so";

/// Whether the library works here: on Linux, on x86-64 and AArch64, in programs that use the GNU C library.
pub const SUPPORTED: bool = cfg!(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// The C header for programs under test.
pub static HEADER: &str = include_str!("../include/turnpike.h");

pub use turnpike_guest::{dump, protocol, tape, wire};
