//! Experiment files, and the places in them that mistakes are about.

use std::ops::Range;
use std::path::{Path, PathBuf};

use turnpike_model::Diagnostic;
use turnpike_session::Problem;

use super::Experiment;

/// An experiment and its file.
#[derive(Clone, Debug)]
pub struct ExperimentFile {
    /// The file's name without extension: what results are filed under.
    pub name: String,
    /// The folder that models are relative to.
    pub folder: PathBuf,
    /// The file's text.
    pub text: String,
    /// What the text says.
    pub experiment: Experiment,
    /// The file, as the user calls it.
    path: String,
}

impl ExperimentFile {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<ExperimentFile, Problem> {
        let path = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|error| Problem::file(&path, "read", &error))?;
        let experiment = Experiment::parse(&text)
            .map_err(|diagnostic| Problem::from(diagnostic).in_file(path.as_str()).in_text(text.as_str()))?;
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Ok(ExperimentFile { name: name_of(file), folder, text, experiment, path })
    }

    /// A mistake that only the models show, with the place in the file that it quotes.
    pub fn locate(&self, mut diagnostic: Diagnostic) -> Problem {
        let place = quoted(&diagnostic.message).find_map(|word| find(&self.text, word));
        if let Some(place) = place.filter(|_| diagnostic.span.is_none()) {
            diagnostic = diagnostic.at(place, "");
        }
        Problem::from(diagnostic).in_file(self.path.as_str()).in_text(self.text.as_str())
    }
}

/// The name of the experiment in a file: the file's, without extension.
pub fn name_of(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The texts between quotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    ['\'', '`']
        .into_iter()
        .flat_map(|quote| message.split(quote).skip(1).step_by(2))
        .filter(|word| !word.is_empty())
}

/// Where a text stands in another.
fn find(text: &str, word: &str) -> Option<Range<usize>> {
    text.find(word).map(|start| start..start + word.len())
}
