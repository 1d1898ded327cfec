//! Texts read into trees, one module for each input language. Conditions and queries are read by
//! [`uppaal`], whatever the language of the model.

pub(crate) mod tck;
pub mod uppaal;
