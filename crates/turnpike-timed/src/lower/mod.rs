//! Lowers syntax trees to networks, one module for each input language.

pub(crate) mod tck;
pub(crate) mod uppaal;
