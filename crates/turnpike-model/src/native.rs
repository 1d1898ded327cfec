//! Models written as ordinary Rust types.
