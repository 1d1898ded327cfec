//! The report: one page that needs no network, and the numbers behind it as CSV.

mod chart;
mod drawing;
mod page;
mod portfolio;
mod results;
mod table;

pub use page::{csv, write};
pub use results::{CellResult, Results};

#[cfg(test)]
mod tests;
