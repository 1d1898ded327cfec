#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod aut;
mod drawing;
mod gzip;
mod model;
mod outgoing;
mod reduction;
mod shapes;
mod system;
pub mod trace;

pub use aut::{
    AutDialect, AutFileWriter, AutHeader, AutReader, AutWriter, read_lts, read_lts_file, write_lts,
    write_lts_file,
};
pub use drawing::{MAX_DRAWN_STATES, MAX_DRAWN_TRANSITIONS, dot, svg};
pub use model::LtsModel;
pub use outgoing::Outgoing;
pub use reduction::{
    Comparison, DIVERGENCE, Difference, Equivalence, Move, Partition, Side, UnknownEquivalence, compare,
    partition, reduce,
};
pub use shapes::{Point, Shapes, escape_xml};
pub use system::{Lts, Transition};
