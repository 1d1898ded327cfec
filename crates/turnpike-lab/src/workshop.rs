//! How the lab searches: each cell is a request, made from the options that its experiment names.

mod compile;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tempfile::TempDir;
use turnpike_model::{Diagnostic, hash};
use turnpike_session::{
    Location, Plan, Problem, ProgramSource, Reading, Request, RunReport, Search, Session, Source, Takes,
    Verdict, strategy, takes,
};

use crate::experiment::{Cell, Replacement, Setting};
use crate::runner::{Job, Workshop};
use crate::store::Record;

/// Reads models relative to an experiment's folder, or in the folders of public ones.
pub struct Bench {
    /// The experiment's folder.
    pub folder: PathBuf,
    /// The folders of public models; the first one that has a model counts.
    pub public: Vec<PathBuf>,
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
        if is_builtin(source) {
            return source.clone();
        }
        let path = self.public_path(cell).unwrap_or_else(|| self.folder.join(source));
        path.display().to_string()
    }

    /// Where a public model is; `None` when it is in none of the folders, or is not one.
    fn public_path(&self, cell: &Cell) -> Option<PathBuf> {
        let folders = self.public.iter().filter(|_| cell.setting.public);
        folders.map(|folder| folder.join(&cell.setting.source)).find(|path| path.is_file())
    }

    /// Whether the model of a cell is there. Only a public one may be absent: for any other, the error
    /// comes when it is read.
    pub(crate) fn has(&self, cell: &Cell) -> bool {
        !cell.setting.public || self.public_path(cell).is_some()
    }
}

fn is_builtin(source: &str) -> bool {
    matches!(Location::from(source), Location::Builtin(_))
}

impl Workshop for Bench {
    fn content(&self, cell: &Cell) -> Result<u64, Diagnostic> {
        let path = self.path(cell);
        let search = request(&path, cell)?.search;
        // Options that are wrong are reported before anything is run.
        search.check().map_err(|problem| flat(&problem, cell))?;
        let mut content = if is_builtin(&path) {
            hash::bytes(path.as_bytes())
        } else {
            let mut content = changed(text(&path)?, &path, &cell.setting.replace)?;
            if cell.setting.is_program() {
                content += &compile::flags(&cell.setting).join(" ");
            }
            hash::bytes(content.as_bytes())
        };
        // Results of a strategy that is part of this program count as long as the program is the same.
        if search.strategy.name.as_deref().is_some_and(strategy::is_registered) {
            content = hash::mix(content, hash_of_program()?);
        }
        Ok(content)
    }

    fn check(&self, cells: &[&Cell]) -> Result<(), Diagnostic> {
        // The cells of a row stand together and have their source in common, most often.
        let mut last: Option<(&Setting, Source, Opened)> = None;
        for cell in cells {
            let Request { source, search } = request(&self.path(cell), cell)?;
            let opened = match last.take() {
                Some((setting, known, opened)) if *setting == cell.setting && known == source => opened,
                _ => self.open(cell)?,
            };
            opened
                .session
                .plan(&search)
                .and_then(|plan| plan.check())
                .map_err(|problem| flat(&problem, cell))?;
            last = Some((&cell.setting, source, opened));
        }
        Ok(())
    }

    fn prepare(&self, cell: &Cell) -> Result<Arc<dyn Job>, Diagnostic> {
        let Opened { session, mut search, folder } = self.open(cell)?;
        search.running.threads = Some(1);
        let plan = session.plan(&search).map_err(|problem| flat(&problem, cell))?;
        Ok(Arc::new(Ready { plan, _folder: folder }))
    }
}

/// Hash of the file that this process executes.
fn hash_of_program() -> Result<u64, Diagnostic> {
    static HASH: OnceLock<u64> = OnceLock::new();
    if let Some(hash) = HASH.get() {
        return Ok(*hash);
    }
    let bytes = std::env::current_exe()
        .and_then(std::fs::read)
        .map_err(|error| Diagnostic::error(format!("cannot read this program's own file: {error}")))?;
    Ok(*HASH.get_or_init(|| hash::bytes(&bytes)))
}

/// A cell's model that was read.
struct Opened {
    session: Session,
    search: Search,
    /// Keeps a changed copy of the model's text, or a compiled program.
    folder: Option<TempDir>,
}

impl Bench {
    /// Reads the model of a cell, after its changes.
    fn open(&self, cell: &Cell) -> Result<Opened, Diagnostic> {
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
        let Request { source, search } = request(&path, cell)?;
        let session = Session::open(&source).map_err(|problem| flat(&problem, cell))?;
        Ok(Opened { session, search, folder })
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
    let wrong = |error: &Diagnostic| of_cell(error, cell);
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

/// Applies changes. Each must fit exactly once, unless it is about a word.
fn changed(mut text: String, path: &str, changes: &[Replacement]) -> Result<String, Diagnostic> {
    for change in changes {
        if change.words {
            text = rename(&text, &change.text, &change.with).ok_or_else(|| {
                Diagnostic::error(format!("the word `{}` does not occur in {path}", change.text))
            })?;
            continue;
        }
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

/// Changes a word wherever it stands alone; `None` when it stands nowhere.
fn rename(text: &str, word: &str, with: &str) -> Option<String> {
    let joins =
        |neighbour: Option<char>| neighbour.is_some_and(|it| it.is_alphanumeric() || "_'".contains(it));
    let (mut renamed, mut rest) = (String::new(), 0);
    for (start, _) in text.match_indices(word).filter(|_| !word.is_empty()) {
        let end = start + word.len();
        if joins(text[..start].chars().next_back()) || joins(text[end..].chars().next()) {
            continue;
        }
        renamed.push_str(&text[rest..start]);
        renamed.push_str(with);
        rest = end;
    }
    renamed.push_str(&text[rest..]);
    (rest > 0).then_some(renamed)
}

/// The most important part of a problem with a cell. A formula or condition among the flags is quoted, so that it
/// is found in the experiment.
fn flat(problem: &Problem, cell: &Cell) -> Diagnostic {
    let mut error = of_cell(&problem.clone().into_diagnostic(), cell);
    if let Some(text) = problem.source.as_deref()
        && !text.trim().is_empty()
        && cell.flags.iter().any(|flag| flag.ends_with(text))
        && !error.message.contains('`')
    {
        error.message.push_str(&format!(" in `{text}`"));
    }
    error
}

/// What is wrong, and which cell it is about. Its place is one in a model, and so is left out.
fn of_cell(wrong: &Diagnostic, cell: &Cell) -> Diagnostic {
    let place = wrong.line.map_or(String::new(), |line| format!("line {line}: "));
    let error = Diagnostic::error(format!("{}: {place}{}", cell.name(), wrong.message));
    Diagnostic { help: wrong.help.clone(), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_renamed_where_they_stand_alone() {
        let text = "max: Nat; maximal, b_max, max' = S(max,max)";
        assert_eq!(
            rename(text, "max", "most").as_deref(),
            Some("most: Nat; maximal, b_max, max' = S(most,most)")
        );
        assert_eq!(rename(text, "min", "least"), None);
    }
}
