//! The turnpike command line.
fn main() {}
