//! Explicit transition systems: `.aut` files.

use std::path::Path;
use std::sync::Arc;

use turnpike_lts::{Lts, LtsModel, read_lts, read_lts_file};

use crate::front_end::{FRONT_ENDS, FrontEnd, Read, refuse_options_of_others};
use crate::problem::Problem;
use crate::session::{Document, Size};
use crate::source::{Location, Reading, check_exists, unknown_format};

pub(crate) static AUT: FrontEnd = FrontEnd {
    name: "aut",
    doc: "Explicit transition system, Aldebaran text, plain or gzipped",
    extensions: &[".aut", ".aut.gz"],
    options: &[],
    called: ("an explicit transition system", "explicit transition systems"),
    read: Read::Document(open),
};

fn open(location: &Location, reading: &Reading) -> Result<Document, Problem> {
    let name = location.to_string();
    let system = read_system(location, reading)?;
    let size = Size { states: u64::from(system.states), transitions: system.transitions.len() as u64 };
    let model =
        LtsModel::new(&name, system).map_err(|diagnostic| Problem::from(diagnostic).in_file(name.clone()))?;
    Ok(Document::Model { model: Arc::new(model), size: Some(size) })
}

/// Reads an explicit transition system from a file or standard input.
pub fn read_system(location: &Location, reading: &Reading) -> Result<Lts, Problem> {
    let name = location.to_string();
    refuse_options_of_others(&name, reading, AUT.options)?;
    if let Some(setting) = reading.settings.first() {
        let message = format!("{name} has no parameters to set, but got `{setting}`");
        return Err(Problem::new(message));
    }
    let outcome = match location {
        Location::File(path) => {
            check_exists(path)?;
            if reading.format_of(location).is_none() {
                return Err(unknown_format(path, FRONT_ENDS));
            }
            read_lts_file(Path::new(path), reading.dialect())
        }
        _ => read_lts(location.read()?.as_slice(), reading.dialect()),
    };
    outcome.map_err(|diagnostic| Problem::from(diagnostic).in_file(name))
}
