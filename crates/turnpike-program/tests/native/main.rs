//! C and C++ programs, compiled here and run under control.
#![cfg(target_os = "linux")]

mod support;

mod corpus;
mod memory;
mod primitives;
mod robust;
