//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod corpus;
mod depth;
mod errors;
mod explorer;
mod expression_text;
mod fuzz_corpus;
mod linear_corpus;
mod linear_text;
mod lint_corpus;
mod lowest_root;
mod micro_conformance;
mod micro_suite;
mod naive;
mod normal_forms;
mod precedence;
mod public_models;
mod round_trip;
mod second_opinion;
mod sorts;
mod sorts_conformance;
mod sorts_corpus;
mod sorts_robust;
mod sorts_support;
