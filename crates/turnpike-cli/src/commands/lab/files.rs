//! Finds and reads experiment files.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::experiment::ExperimentFile;

use super::Experiments;
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

impl Experiments {
    /// Reads the files.
    pub(super) fn read(&self) -> Outcome<Vec<ExperimentFile>> {
        let mut files = self.files.clone();
        if files.is_empty() {
            files = in_folder(Path::new("experiments"))?;
        }
        let read = files.iter().map(|file| ExperimentFile::read(file));
        let mut named: Vec<ExperimentFile> = read.collect::<Result<_, _>>()?;
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
        .map(|ExperimentFile { name, experiment, .. }| {
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
