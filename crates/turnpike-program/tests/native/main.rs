//! C and C++ programs, compiled here and run under control.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

mod support;

mod corpus;
mod endings;
mod memory;
mod primitives;
mod robust;
