//! All integration tests of this crate: programs made of closures, and C and C++ programs compiled here and run under
//! control.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

#[cfg(target_os = "linux")]
mod corpus;
#[cfg(target_os = "linux")]
mod endings;
mod handover;
#[cfg(target_os = "linux")]
mod isolation;
#[cfg(target_os = "linux")]
mod memory;
mod model;
#[cfg(target_os = "linux")]
mod prefixes;
#[cfg(target_os = "linux")]
mod primitives;
#[cfg(target_os = "linux")]
mod robust;
#[cfg(target_os = "linux")]
mod support;
