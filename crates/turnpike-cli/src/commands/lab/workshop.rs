//! How the lab searches: the flags of a cell are those of `turnpike search`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args as _, FromArgMatches};
use tempfile::TempDir;
use turnpike_lab::experiment::{Cell, Replacement};
use turnpike_lab::runner::{Job, Workshop};
use turnpike_lab::store::Record;
use turnpike_model::{Diagnostic, Model, hash};
use turnpike_search::{RunReport, SearchOptions, Verdict, run_seed};

use super::compile;
use crate::commands::search;
use crate::failure::Failure;

/// Reads models relative to an experiment's folder, or in the folder of public ones.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) public: Option<PathBuf>,
}

struct Ready {
    model: Arc<dyn Model>,
    options: SearchOptions,
    /// Keeps a changed copy of the model's text, or a compiled program, until the last run is done.
    _folder: Option<TempDir>,
}

impl Bench {
    /// Where the model of a cell is.
    fn path(&self, cell: &Cell) -> String {
        let source = &cell.setting.source;
        if source.starts_with("builtin:") {
            return source.clone();
        }
        let folder = self.public.as_deref().filter(|_| cell.setting.public).unwrap_or(&self.folder);
        folder.join(source).display().to_string()
    }
}

impl Workshop for Bench {
    fn content(&self, cell: &Cell) -> Result<u64, Diagnostic> {
        let path = self.path(cell);
        // Flags that are wrong are told before anything is run.
        search::checked(&parsed(&path, cell)?).map_err(|failure| flat(&failure, cell))?;
        if path.starts_with("builtin:") {
            return Ok(hash::bytes(path.as_bytes()));
        }
        let mut content = changed(text(&path)?, &path, &cell.setting.replace)?;
        if cell.setting.is_program() {
            content += &compile::flags(&cell.setting).join(" ");
        }
        Ok(hash::bytes(content.as_bytes()))
    }

    fn prepare(&self, cell: &Cell) -> Result<Arc<dyn Job>, Diagnostic> {
        let mut path = self.path(cell);
        let setting = &cell.setting;
        let mut folder = None;
        if !setting.replace.is_empty() || setting.is_program() {
            let copy = tempfile::tempdir()
                .map_err(|error| Diagnostic::error(format!("no temporary folder: {error}")))?;
            if !setting.replace.is_empty() {
                let text = changed(text(&path)?, &path, &setting.replace)?;
                let file = copy.path().join(Path::new(&path).file_name().unwrap_or_default());
                path = file.display().to_string();
                std::fs::write(&file, text)
                    .map_err(|error| Diagnostic::error(format!("cannot write {path}: {error}")))?;
            }
            if setting.is_program() {
                path = compile::program(setting, &path, copy.path())?.display().to_string();
            }
            folder = Some(copy);
        }
        let mut args = parsed(&path, cell)?;
        args.running.threads = Some(1);
        let (named, options) = search::prepared(&args).map_err(|failure| flat(&failure, cell))?;
        Ok(Arc::new(Ready { model: named.model, options, _folder: folder }))
    }
}

impl Job for Ready {
    fn run(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<Record>, Diagnostic> {
        let mut options = self.options.clone();
        options.seed = run_seed(self.options.seed, number);
        let outcome = turnpike_search::search(&*self.model, &options, &|_| {}, interrupt);
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let report = outcome.map_err(|error| Diagnostic::error(error.to_string()))?;
        Ok(report.runs.first().map(|run| record(number, run)))
    }
}

fn record(number: u64, run: &RunReport) -> Record {
    let extra = serde_json::json!({
        "extreme": run.extreme,
        "covered": run.covered,
        "generations": run.generations,
    });
    let empty = run.extreme.is_empty() && run.covered.is_empty() && run.generations.is_empty();
    Record {
        number,
        seed: run.seed,
        found: run.verdict == Verdict::Found,
        stop: serde_json::to_value(run.stop)
            .ok()
            .and_then(|stop| stop.as_str().map(str::to_owned))
            .unwrap_or_default(),
        states: run.states,
        considered: run.considered,
        generated: run.generated,
        held: run.held,
        transitions: run.transitions,
        depth: run.depth,
        length: run.witness.as_ref().map(|witness| witness.length as u64),
        original_length: run.witness.as_ref().map(|witness| witness.original_length as u64),
        shorten_states: run.shorten_states + shorten_steps(run),
        executions: run.executions.as_ref().map(|counts| counts.executions),
        seconds: run.seconds,
        extra: (!empty).then(|| extra.to_string()),
    }
}

/// Shortening a schedule is counted in executions: each as many steps as those of the search had in the mean.
fn shorten_steps(run: &RunReport) -> u64 {
    let schedule = run.witness.as_ref().and_then(|witness| witness.schedule.as_ref());
    let spent = schedule.map_or(0, |schedule| schedule.executions);
    run.executions.as_ref().map_or(0, |counts| spent * run.states / counts.executions.max(1))
}

/// The flags of a cell, as `turnpike search` reads them.
fn parsed(path: &str, cell: &Cell) -> Result<search::Args, Diagnostic> {
    let grammar = search::Args::augment_args(clap::Command::new("search").no_binary_name(true));
    let mut words = cell.words();
    words.insert(0, path.to_owned());
    if cell.setting.is_program() {
        words.insert(0, "--program".to_owned());
    }
    let wrong = |error: clap::Error| {
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Diagnostic::error(format!("{} with {}: {message}", cell.model, cell.strategy))
    };
    let matches = grammar.try_get_matches_from(words).map_err(wrong)?;
    search::Args::from_arg_matches(&matches).map_err(wrong)
}

fn text(path: &str) -> Result<String, Diagnostic> {
    let bytes =
        std::fs::read(path).map_err(|error| Diagnostic::error(format!("cannot read {path}: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Applies changes, each of which must fit exactly once.
fn changed(mut text: String, path: &str, changes: &[Replacement]) -> Result<String, Diagnostic> {
    for change in changes {
        let count = text.matches(&change.text).count();
        if count != 1 {
            let message = format!(
                "`{}` stands {count} times in {path}, not exactly once: it cannot be replaced",
                change.text
            );
            return Err(Diagnostic::error(message));
        }
        text = text.replacen(&change.text, &change.with, 1);
    }
    Ok(text)
}

fn flat(failure: &Failure, cell: &Cell) -> Diagnostic {
    let first =
        failure.diagnostics.first().map_or_else(|| "it cannot be searched".into(), ToString::to_string);
    Diagnostic::error(format!("{} with {}: {first}", cell.model, cell.strategy))
}
