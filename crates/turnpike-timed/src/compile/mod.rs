//! A network made ready to be explored: constants made small, bounds of clocks by location, edges
//! by location, and the bits of a state.

pub mod analysis;
pub(crate) mod layout;
pub(crate) mod scale;
pub(crate) mod tables;
