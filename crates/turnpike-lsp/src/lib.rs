//! A language server: what an editor asks about `.mcrl2`, `.mcf`, `.tck`, `.xta` and `.ta` files.
//!
//! A text becomes an [`Analysis`]: its diagnostics, the names declared in it, and where they are used. Every
//! answer is read off that, so a language is one function from text to analysis. Positions of the protocol count
//! UTF-16 units; everything else here counts bytes (`text`).

#![forbid(unsafe_code)]

mod analysis;
mod answers;
mod formula;
mod layout;
mod mcrl2;
mod related;
mod server;
#[cfg(test)]
mod tests;
mod text;
mod timed;

pub use analysis::{Analysis, Kind, Language, Symbol, Use};
pub use layout::format;
pub use server::{ServeError, serve};
