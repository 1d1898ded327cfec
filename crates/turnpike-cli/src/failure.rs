//! Errors on their way to the user: a sentence, a place, advice; as text or as the one JSON object.

use std::process::ExitCode;

use serde_json::json;
use turnpike_model::Diagnostic;
use turnpike_search::SearchError;

use crate::cli::Format;
use crate::exit::Exit;
use crate::output::{self, VERSION};

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What the diagnostic is about: a file name, or nothing.
    pub(crate) origin: String,
    /// The source text, when the diagnostic points into it.
    pub(crate) source: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A usage error without a place.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::from(Diagnostic::error(message))
    }

    /// An input or output file that cannot be used.
    pub(crate) fn file(path: &str, doing: &str, error: &std::io::Error) -> Self {
        Failure::from(Diagnostic::error(format!("cannot {doing} {path}: {error}")))
    }

    /// Names the file that the diagnostics are about.
    #[must_use]
    pub(crate) fn in_file(mut self, path: impl Into<String>) -> Self {
        self.origin = path.into();
        self
    }

    /// Prints the error and gives the exit code.
    pub(crate) fn report(&self, command: &str, format: Format) -> ExitCode {
        match format {
            Format::Human => {
                for diagnostic in &self.diagnostics {
                    output::diagnostic(&self.origin, self.source.as_deref(), diagnostic);
                }
            }
            Format::Json => {
                let errors: Vec<_> = self
                    .diagnostics
                    .iter()
                    .map(|d| json!({"message": d.message, "line": d.line, "help": d.help}))
                    .collect();
                output::json(&json!({
                    "turnpike": VERSION,
                    "command": command,
                    "model": if self.origin.is_empty() { None } else { Some(&self.origin) },
                    "error": self.diagnostics.first().map(|d| d.message.clone()),
                    "errors": errors,
                }));
            }
        }
        self.exit.into()
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure { exit: Exit::Usage, origin: String::new(), source: None, diagnostics: vec![diagnostic] }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Usage(diagnostic) => diagnostic.into(),
            SearchError::Step { .. } => Failure::usage(error.to_string()),
            _ => Failure { exit: Exit::Internal, ..Failure::usage(error.to_string()) },
        }
    }
}

/// A command line that cannot be parsed; clap has the words. Help and version are not errors.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Printing fails only when nobody reads: nothing to be done about it.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Clean.into() }
}
