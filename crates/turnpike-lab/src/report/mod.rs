//! The report: one page that needs no network, and the numbers behind it as CSV.

mod chart;
mod csv;
mod drawing;
mod page;
mod portfolio;
mod results;
mod table;

pub use csv::runs as csv;
pub use page::write;
pub use results::{CellResult, Results};

#[cfg(test)]
mod tests;
