use std::fmt;

use turnpike_model::{Diagnostic, StepErrorKind, Trace};
use turnpike_search::SearchError;

/// Why a request cannot be carried out, with the text that diagnostics point into.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Whose problem it is.
    pub kind: ProblemKind,
    /// What it is about: a file name, or nothing.
    pub origin: String,
    /// The text that diagnostics point into.
    pub source: Option<String>,
    /// What is wrong, the most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// The steps that led to it, when the model itself failed.
    pub trace: Option<Box<Trace>>,
}

/// Whose problem something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProblemKind {
    /// The request or its source is wrong.
    #[default]
    Usage,
    /// A program did something else when it was executed again with the same schedule.
    Nondeterministic,
    /// A defect of turnpike.
    Internal,
}

impl Problem {
    /// One sentence without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Problem::from(Diagnostic::error(message))
    }

    /// A file that cannot be read or written.
    pub fn file(path: &str, doing: &str, error: &std::io::Error) -> Self {
        Problem::new(format!("cannot {doing} {path}: {error}"))
    }

    /// Names the file that the diagnostics are about.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.origin = path.into();
        self
    }

    /// Names the text that the diagnostics point into.
    #[must_use]
    pub fn in_text(mut self, text: impl Into<String>) -> Self {
        self.source = Some(text.into());
        self
    }

    /// Whether the input is understood, but cannot be handled. Front-ends end such messages alike.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.diagnostics.iter().any(|one| one.message.contains("not supported"))
    }

    /// The most important diagnostic.
    pub fn into_diagnostic(self) -> Diagnostic {
        let first = self.diagnostics.into_iter().next();
        first.unwrap_or_else(|| Diagnostic::error("the request cannot be carried out"))
    }

    /// Several diagnostics about one text.
    pub fn of_text(origin: &str, text: String, diagnostics: Vec<Diagnostic>) -> Self {
        Problem { diagnostics, ..Problem::new("").in_file(origin).in_text(text) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.first().map_or(Ok(()), |first| write!(f, "{first}"))
    }
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Problem {
            kind: ProblemKind::Usage,
            origin: String::new(),
            source: None,
            diagnostics: vec![diagnostic],
            trace: None,
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let message = error.to_string();
        match error {
            SearchError::Usage(diagnostic) => diagnostic.into(),
            SearchError::Step { error, trace, .. } => Problem {
                kind: match error.kind {
                    StepErrorKind::Nondeterministic => ProblemKind::Nondeterministic,
                    _ => ProblemKind::Usage,
                },
                trace: Some(trace),
                ..Problem::new(message)
            },
            SearchError::Nondeterministic(_) => {
                Problem { kind: ProblemKind::Nondeterministic, ..Problem::new(message) }
            }
            _ => Problem { kind: ProblemKind::Internal, ..Problem::new(message) },
        }
    }
}
