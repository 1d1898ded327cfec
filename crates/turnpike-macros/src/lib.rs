//! The attribute `#[turnpike::test]`.
