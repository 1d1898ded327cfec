//! The lab as a library: runs experiments into a database, and reads results from it.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! use turnpike_lab::{Happening, How, Lab};
//! use turnpike_lab::experiment::ExperimentFile;
//!
//! # fn main() -> Result<(), turnpike_session::Problem> {
//! let file = ExperimentFile::read(Path::new("mine.toml"))?;
//! let mut lab = Lab::open(Path::new("turnpike-lab.db"))?;
//! let new = lab.run(&[file], &How::default(), &AtomicBool::new(false), &mut |_: Happening<'_>| {})?;
//! let results = lab.results("mine")?;
//! # let _ = (new, results);
//! # Ok(())
//! # }
//! ```

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use turnpike_model::Diagnostic;
use turnpike_session::Problem;

use crate::experiment::{Cell, Experiment, ExperimentFile};
use crate::report::Results;
use crate::runner::{LEAST_RUNS, Missing, Progress, Series};
use crate::selection::Selection;
use crate::store::Store;
use crate::workshop::Bench;

/// The version of turnpike that reports name.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Experiments and their results in one database.
pub struct Lab {
    store: Store,
}

/// Which runs are made, and how.
#[derive(Clone, Debug)]
pub struct How {
    /// Runs that are made at the same time.
    pub jobs: usize,
    /// Factor on the number of runs.
    pub scale: f64,
    /// The cells that are run, by name or pattern ([`Selection`]); all of them when empty.
    pub only: Vec<String>,
    /// Folders of public models, which are used instead of their stand-ins. The first folder that has a
    /// model counts; rows whose model is in none are skipped.
    pub models: Vec<PathBuf>,
    /// Scaling does not go below this number of runs of a cell, unless the experiment itself asks for fewer.
    pub least: u64,
}

impl Default for How {
    fn default() -> Self {
        How {
            jobs: turnpike_session::all_cores(),
            scale: 1.0,
            only: Vec::new(),
            models: Vec::new(),
            least: LEAST_RUNS,
        }
    }
}

/// What happens while experiments are run.
#[derive(Debug)]
pub enum Happening<'a> {
    /// Rows of this experiment are left out, because no folder of public models has their model.
    Skipped(&'a str, Skipped),
    /// Runs of this experiment were made.
    Progress(&'a str, Progress<'a>),
    /// This experiment could not go on. An earlier one failed, too, and is what [`Lab::run`] returns.
    Failed(&'a str, Diagnostic),
}

/// Rows of an experiment whose model is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file that no folder has.
    pub file: String,
    /// The rows.
    pub models: Vec<String>,
}

impl Lab {
    /// Opens a database, and creates it if there is none.
    pub fn open(database: &Path) -> Result<Lab, Problem> {
        Ok(Lab { store: Store::open(database)? })
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Makes the runs that are missing, and keeps the experiments themselves. Nothing is run before all
    /// models are read and all searches are known to be possible. Returns the number of new runs.
    pub fn run(
        &mut self,
        files: &[ExperimentFile],
        how: &How,
        interrupt: &AtomicBool,
        happens: &mut dyn FnMut(Happening<'_>),
    ) -> Result<u64, Problem> {
        let mut chosen = chosen_cells(files, how)?;
        let version = results_version();
        let benches: Vec<Bench> = files
            .iter()
            .map(|file| Bench { folder: file.folder.clone(), public: how.models.clone() })
            .collect();
        for ((file, cells), bench) in files.iter().zip(&mut chosen).zip(&benches) {
            for skipped in leave_out_absent(cells, bench) {
                happens(Happening::Skipped(&file.name, skipped));
            }
        }
        let mut due = Vec::new();
        for ((file, cells), bench) in files.iter().zip(&chosen).zip(&benches) {
            let series = Series { experiment: &file.name, version: &version, cells };
            let missing = Missing::find(series, bench, &mut self.store, how.scale, how.least)
                .map_err(|diagnostic| file.locate(diagnostic))?;
            due.push((file, bench, missing));
        }
        for (file, bench, missing) in &due {
            missing.check(*bench).map_err(|diagnostic| file.locate(diagnostic))?;
        }
        for file in files {
            self.store.keep_experiment(&file.name, &file.text)?;
        }
        let (mut new, mut failed) = (0, None);
        for (file, bench, missing) in due {
            let name = file.name.as_str();
            let made = missing.run(bench, &mut self.store, how.jobs, interrupt, &mut |progress| {
                happens(Happening::Progress(name, progress));
            });
            match made {
                Ok(made) => new += made,
                // The other experiments go on. The first failure is reported at the end.
                Err(diagnostic) if failed.is_none() => failed = Some(file.locate(diagnostic)),
                Err(diagnostic) => happens(Happening::Failed(name, diagnostic)),
            }
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
        }
        failed.map_or(Ok(new), Err)
    }

    /// The results of an experiment as it was run last; `None` when a version of turnpike ran it that
    /// did not keep experiments.
    pub fn results(&self, name: &str) -> Result<Option<Results>, Problem> {
        let Some(text) = self.store.experiment(name)? else { return Ok(None) };
        let experiment = Experiment::parse(&text).map_err(|diagnostic| {
            let origin = format!("the experiment {name} in the database");
            Problem::from(diagnostic).in_file(origin).in_text(text.as_str())
        })?;
        Ok(Some(Results::gather(name, experiment, &self.store)?))
    }

    /// The results that fit the experiment of a file, which may have changed since it was run.
    pub fn results_for(&self, file: &ExperimentFile) -> Result<Results, Problem> {
        Ok(Results::gather(&file.name, file.experiment.clone(), &self.store)?)
    }
}

/// The cells of each file that are to be run.
fn chosen_cells(files: &[ExperimentFile], how: &How) -> Result<Vec<Vec<Cell>>, Diagnostic> {
    let mut cells: Vec<Vec<Cell>> =
        files.iter().map(|file| file.experiment.cells(!how.models.is_empty())).collect();
    let selection = Selection::new(&how.only, cells.iter().flatten())?;
    cells.iter_mut().for_each(|cells| cells.retain(|cell| selection.contains(cell)));
    Ok(cells)
}

/// Leaves out cells whose public model is in no folder, and names them by that model.
fn leave_out_absent(cells: &mut Vec<Cell>, bench: &Bench) -> Vec<Skipped> {
    let mut skipped: Vec<Skipped> = Vec::new();
    cells.retain(|cell| {
        if bench.has(cell) {
            return true;
        }
        let file = &cell.setting.source;
        let index = skipped.iter().position(|one| one.file == *file).unwrap_or_else(|| {
            skipped.push(Skipped { file: file.clone(), models: Vec::new() });
            skipped.len() - 1
        });
        if !skipped[index].models.contains(&cell.model) {
            skipped[index].models.push(cell.model.clone());
        }
        false
    });
    skipped
}

/// What results are filed under: they are made again when the engine gives other ones.
fn results_version() -> String {
    format!("{VERSION}+{}", turnpike_session::RESULTS)
}
