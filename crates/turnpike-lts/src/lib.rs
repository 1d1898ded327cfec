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
pub use drawing::{MAX_DRAWN_STATES, MAX_DRAWN_TRANSITIONS, dot, order_layers, spread, svg};
pub use model::LtsModel;
pub use outgoing::Outgoing;
pub use reduction::{
    Comparison, DEFAULT_LIMIT, DIVERGENCE, Difference, Distinction, Equivalence, Explosion, Formula, Move,
    Partition, Preorder, Reason, Side, UnknownEquivalence, UnknownPreorder, compare, partition, reduce,
    refines,
};
pub use shapes::{Point, Shapes, escape_xml};
pub use system::{Lts, Transition};
