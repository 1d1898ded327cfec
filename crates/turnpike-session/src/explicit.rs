//! Explicit transition systems: `.aut` files.

use std::path::Path;

use turnpike_lts::{Lts, read_lts, read_lts_file};

use crate::problem::Problem;
use crate::source::{Location, Reading, check_exists, unknown_format};

/// Reads an explicit transition system from a file or standard input.
pub fn read_system(location: &Location, reading: &Reading) -> Result<Lts, Problem> {
    let name = location.to_string();
    reading.refuse_specification_options(&name, false)?;
    if let Some(setting) = reading.settings.first() {
        let message = format!("{name} has no parameters to set, but got `{setting}`");
        return Err(Problem::new(message));
    }
    let outcome = match location {
        Location::File(path) => {
            check_exists(path)?;
            if reading.format_of(location).is_none() {
                return Err(unknown_format(path));
            }
            read_lts_file(Path::new(path), reading.dialect())
        }
        _ => read_lts(location.read()?.as_slice(), reading.dialect()),
    };
    outcome.map_err(|diagnostic| Problem::from(diagnostic).in_file(name))
}
