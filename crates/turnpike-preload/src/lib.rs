//! The library that is preloaded into C and C++ programs.

#[cfg(test)]
extern crate alloc;

#[cfg(test)]
#[allow(dead_code)]
#[path = "../guest/src/memory/logic/mod.rs"]
mod memory_logic;
