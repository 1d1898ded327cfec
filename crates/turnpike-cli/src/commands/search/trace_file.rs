//! `--trace FILE`: checked before the search, written after it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use turnpike_lts::trace::{self, TraceFormat};
use turnpike_model::{Step, Trace};
use turnpike_session::{Evidence, Findings, FormulaAnswer, FormulaReply, Problem, Shape, Source};

use super::human;

use crate::failure::{Failure, Outcome};
use crate::known_programs;

/// A file that can be written.
pub(crate) struct TraceFile {
    path: PathBuf,
}

impl TraceFile {
    /// Makes sure, before anything is searched, that the witness can be kept.
    pub(crate) fn prepare(path: &Path) -> Outcome<Self> {
        TraceFormat::of_path(path)?;
        writable(path)?;
        Ok(TraceFile { path: path.to_owned() })
    }

    /// The file as the user named it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes what was found, if anything, and reports the files. With `--all` every further
    /// witness has a file of its own: `w.json`, `w-2.json`. Of many runs, the shortest witness is
    /// kept. Numbers go on behind the files of `earlier` searches.
    pub(crate) fn write_after(
        &self,
        earlier: usize,
        findings: &Findings,
        source: &Source,
    ) -> Result<Vec<String>, Problem> {
        let mut files = Vec::new();
        for (index, witness) in findings.best_witnesses().iter().enumerate() {
            let path = self.numbered(earlier + index + 1);
            // What cannot be written down is only not remembered.
            let mut written = witness.trace.clone();
            written.source = serde_json::to_string(source).unwrap_or_default();
            written.notes = human::notes(findings, witness, false);
            if let Some(incident) = findings.incident(witness) {
                written.stuck = incident.stuck_components();
            }
            trace::write_file(&written, &path)?;
            known_programs::remember(source);
            files.push(path.display().to_string());
        }
        Ok(files)
    }

    /// Writes what shows the verdict on a formula, if anything does: a path as a trace, with or without a
    /// loop, and anything with branches as a system of its own, which decides the formula by itself. So
    /// is everything when steps are not those of a model that can be named.
    pub(crate) fn write_evidence(
        &self,
        earlier: usize,
        answer: &FormulaAnswer,
        model: Option<(&str, u64)>,
    ) -> Result<Vec<String>, Problem> {
        let Ok(FormulaReply { evidence: Some(evidence), .. }) = &answer.reply else { return Ok(Vec::new()) };
        let mut path = self.numbered(earlier + 1);
        let is_trace = evidence.is_plain() && path.extension().is_none_or(|extension| extension != "aut");
        if let Some(model) = model.filter(|_| is_trace) {
            trace::write_file(&trace_of(evidence, model), &path)?;
        } else {
            path.set_extension("aut");
            let name = path.display().to_string();
            std::fs::write(&path, evidence.to_aut())
                .map_err(|error| Problem::file(&name, "write", &error))?;
        }
        Ok(vec![path.display().to_string()])
    }

    fn numbered(&self, number: usize) -> PathBuf {
        if number == 1 {
            return self.path.clone();
        }
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (stem, extension) = (part(self.path.file_stem()), part(self.path.extension()));
        self.path.with_file_name(format!("{stem}-{number}.{extension}"))
    }
}

/// A path that shows a verdict, as a trace of the model.
fn trace_of(evidence: &Evidence, (model, fingerprint): (&str, u64)) -> Trace {
    let step =
        |edge: &&turnpike_session::Edge| Step { choice: Some(edge.choice), ..Step::new(edge.label.clone()) };
    let loop_start = match evidence.shape() {
        Shape::Lasso { stem, .. } => Some(stem),
        Shape::Path(_) | Shape::Branching => None,
    };
    let steps = evidence.path().iter().map(step).collect();
    Trace { model: model.to_owned(), fingerprint, loop_start, steps, ..Trace::default() }
}

/// Refuses a path that cannot be written, without changing what is there.
pub(crate) fn writable(path: &Path) -> Outcome<()> {
    let exists = path.exists();
    let opened = OpenOptions::new().append(true).create(!exists).open(path);
    match opened {
        Ok(_) if exists => Ok(()),
        // The probe leaves nothing behind; should removing fail, the file is written in a moment anyway.
        Ok(_) => std::fs::remove_file(path).or(Ok(())),
        Err(error) => Err(Failure::file(&path.display().to_string(), "write", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("w.json");
        assert!(writable(&path).is_ok() && !path.exists());
        std::fs::write(&path, "precious").expect("writes");
        assert!(writable(&path).is_ok());
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "precious");
        assert!(writable(folder.path()).is_err());
        assert!(writable(&folder.path().join("no/such/w.json")).is_err());
    }

    #[test]
    fn further_witnesses_are_numbered() {
        let file = TraceFile { path: PathBuf::from("out/w.json") };
        assert_eq!(file.numbered(1), Path::new("out/w.json"));
        assert_eq!(file.numbered(2), Path::new("out/w-2.json"));
    }
}
