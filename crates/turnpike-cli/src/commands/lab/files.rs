//! Finds and reads experiment files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::experiment::Experiment;
use turnpike_model::Diagnostic;

use super::Experiments;
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// An experiment and its file.
pub(super) struct Named {
    /// The file's name without extension: what results are filed under.
    pub(super) name: String,
    /// The folder that models are relative to.
    pub(super) folder: PathBuf,
    pub(super) experiment: Experiment,
    path: String,
    text: String,
}

impl Named {
    /// A mistake that only running shows, with the place in the file that it quotes.
    pub(super) fn failure(&self, mut diagnostic: Diagnostic) -> Failure {
        let place = quoted(&diagnostic.message).find_map(|word| place(&self.text, word));
        if let Some(place) = place.filter(|_| diagnostic.span.is_none()) {
            diagnostic = diagnostic.at(place, "");
        }
        Failure { source: Some(self.text.clone()), ..Failure::from(diagnostic).in_file(self.path.as_str()) }
    }
}

/// What stands between quotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    ['\'', '`']
        .into_iter()
        .flat_map(|quote| message.split(quote).skip(1).step_by(2))
        .filter(|word| !word.is_empty())
}

/// Where a text stands in another.
fn place(text: &str, word: &str) -> Option<Range<usize>> {
    text.find(word).map(|start| start..start + word.len())
}

impl Experiments {
    /// Reads the files.
    pub(super) fn read(&self) -> Outcome<Vec<Named>> {
        let mut files = self.files.clone();
        if files.is_empty() {
            files = in_folder(Path::new("experiments"))?;
        }
        let mut named: Vec<Named> = files.iter().map(|file| read(file)).collect::<Outcome<_>>()?;
        named.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = named.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(Failure::usage(format!(
                "two experiment files have the name {}, which identifies their results",
                pair[0].name
            )));
        }
        Ok(named)
    }
}

fn in_folder(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|_| {
        Failure::usage("there is no folder `experiments` here; name the experiment files, or create one with `turnpike lab new MODEL`")
    })?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    if files.is_empty() {
        Err(Failure::usage("the folder `experiments` has no .toml files"))
    } else {
        Ok(files)
    }
}

fn read(file: &Path) -> Outcome<Named> {
    let path = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(&path, "read", &error))?;
    let experiment = Experiment::parse(&text).map_err(|diagnostic| Failure {
        source: Some(text.clone()),
        ..Failure::from(diagnostic).in_file(path.as_str())
    })?;
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    Ok(Named { name, folder, experiment, path, text })
}

/// What `turnpike lab list --format json` prints.
#[derive(Serialize, JsonSchema)]
struct ListOutput {
    turnpike: String,
    command: String,
    experiments: Vec<Listed>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    name: String,
    title: String,
    paper: Option<String>,
    models: usize,
    strategies: usize,
    runs: u64,
}

pub(super) fn list(args: &Experiments, format: Format) -> Outcome<()> {
    let listed: Vec<Listed> = args
        .read()?
        .into_iter()
        .map(|Named { name, experiment, .. }| {
            let cells = experiment.cells(false);
            let distinct =
                |names: Vec<&String>| names.into_iter().collect::<std::collections::BTreeSet<_>>().len();
            Listed {
                models: distinct(cells.iter().map(|cell| &cell.model).collect()),
                strategies: distinct(cells.iter().map(|cell| &cell.strategy).collect()),
                runs: cells.iter().map(|cell| cell.runs).sum(),
                name,
                title: experiment.title,
                paper: experiment.paper,
            }
        })
        .collect();
    if format == Format::Json {
        output::json(&ListOutput {
            turnpike: VERSION.into(),
            command: "lab list".into(),
            experiments: listed,
        });
        return Ok(());
    }
    for one in listed {
        output::line(&format!("{}: {}", one.name, one.title));
        output::line(&format!(
            "  models: {}, strategies: {}, runs: {}",
            one.models,
            one.strategies,
            output::grouped(one.runs)
        ));
        if let Some(paper) = one.paper {
            output::line(&format!("  {paper}"));
        }
    }
    Ok(())
}
