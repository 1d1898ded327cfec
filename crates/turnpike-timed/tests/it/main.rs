//! All integration tests of this crate, in one binary: linking takes longer than running most of
//! them.

mod alphabets;
mod combinations;
mod exact_zones;
mod explorer;
mod fuzz_corpus;
mod obstacles;
mod pairs;
mod participants;
mod public_files;
mod quick_corpus;
mod regions;
mod stopwatches;
mod tck_convert;
mod tck_corpus;
mod tck_fuzz_corpus;
mod tck_round_trip;
mod tck_support;
mod uppaal_corpus;
mod uppaal_files;
mod zone_graph;
mod zone_graph_corpus;
