//! Parsers, one module for each input language. Conditions and queries are parsed by [`uppaal`],
//! whatever the language of the model.

pub(crate) mod tck;
pub mod uppaal;
