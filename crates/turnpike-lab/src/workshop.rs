//! How the lab searches: each cell is a request, made from the options that its experiment names.

mod compile;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use turnpike_model::{Diagnostic, hash};
use turnpike_session::{
    Location, Plan, Problem, ProgramSource, Reading, Request, RunReport, Session, Source, Takes, Verdict,
    takes,
};

use crate::experiment::{Cell, Replacement};
use crate::runner::{Job, Workshop};
use crate::store::Record;

/// Reads models relative to an experiment's folder, or in the folder of public ones.
pub struct Bench {
    /// The experiment's folder.
    pub folder: PathBuf,
    /// The folder of public models, if there is one.
    pub public: Option<PathBuf>,
}

struct Ready {
    plan: Plan,
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
        // Options that are wrong are reported before anything is run.
        request(&path, cell)?.search.check().map_err(|problem| flat(&problem, cell))?;
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
        let mut request = request(&path, cell)?;
        request.search.running.threads = Some(1);
        let session = Session::open(&request.source).map_err(|problem| flat(&problem, cell))?;
        let plan = session.plan(&request.search).map_err(|problem| flat(&problem, cell))?;
        Ok(Arc::new(Ready { plan, _folder: folder }))
    }
}

impl Job for Ready {
    fn run(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<Record>, Diagnostic> {
        let outcome = self.plan.run_alone(number, interrupt);
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let run = outcome.map_err(|error| Diagnostic::error(error.to_string()))?;
        Ok(run.map(|run| record(number, &run)))
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

/// The request of a cell whose model is at this path.
pub fn request(path: &str, cell: &Cell) -> Result<Request, Diagnostic> {
    let source = if cell.setting.is_program() {
        let arguments = cell.arguments.iter().map(std::ffi::OsString::from).collect();
        Source::Program(ProgramSource { path: path.into(), arguments, ..ProgramSource::default() })
    } else {
        Source::Model { location: Location::from(path), reading: Reading::default() }
    };
    let mut request = Request::new(source);
    let mut words = cell.flags.iter().map(String::as_str);
    let wrong =
        |error: &Diagnostic| Diagnostic::error(format!("{} with {}: {error}", cell.model, cell.strategy));
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else {
            return Err(wrong(&Diagnostic::error(format!("expected an option, found `{word}`"))));
        };
        let (name, joined) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let value = match (takes(name), joined) {
            (Some(Takes::Switch), Some(_)) => {
                return Err(wrong(&Diagnostic::error(format!("`--{name}` takes no value"))));
            }
            // What is not an option is reported as that.
            (Some(Takes::Switch) | None, None) => "",
            (_, Some(value)) => value,
            (Some(_), None) => {
                words.next().ok_or_else(|| wrong(&Diagnostic::error(format!("`--{name}` needs a value"))))?
            }
        };
        request.set(name, value).map_err(|error| wrong(&error))?;
    }
    Ok(request)
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
                "`{}` occurs {count} times in {path}, but a replacement must match exactly once",
                change.text
            );
            return Err(Diagnostic::error(message));
        }
        text = text.replacen(&change.text, &change.with, 1);
    }
    Ok(text)
}

fn flat(problem: &Problem, cell: &Cell) -> Diagnostic {
    let first =
        problem.diagnostics.first().map_or_else(|| "it cannot be searched".into(), ToString::to_string);
    Diagnostic::error(format!("{} with {}: {first}", cell.model, cell.strategy))
}
