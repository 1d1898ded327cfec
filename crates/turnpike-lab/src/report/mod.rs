//! The report: one page that needs no network, and the numbers behind it as CSV; figures also as files of their own.

mod chart;
mod csv;
mod drawing;
mod page;
mod pictures;
mod portfolio;
mod published;
mod results;
mod table;

pub use csv::runs as csv;
pub use page::write;
pub use pictures::write as write_figures;
pub use results::{CellResult, Results};

#[cfg(test)]
mod tests;
