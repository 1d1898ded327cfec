use std::fmt;

use serde::{Serialize, Serializer};
use turnpike_model::{Diagnostic, Severity, StepErrorKind, Trace};
use turnpike_search::SearchError;

/// Why a request failed, with the text that its diagnostics refer to.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// The cause of the problem.
    pub kind: ProblemKind,
    /// The file that it is about; may be empty.
    pub origin: String,
    /// The text that diagnostics refer to.
    pub source: Option<String>,
    /// The diagnostics, the most important one first.
    #[serde(serialize_with = "diagnostics")]
    pub diagnostics: Vec<Diagnostic>,
    /// The steps that led to it, if the model itself failed.
    #[serde(serialize_with = "labels")]
    pub trace: Option<Box<Trace>>,
}

/// The cause of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The request or its source is wrong.
    #[default]
    Usage,
    /// A program behaved differently when it was executed again with the same schedule.
    Nondeterministic,
    /// A defect of turnpike.
    Internal,
}

impl Problem {
    /// A single error without a position.
    pub fn new(message: impl Into<String>) -> Self {
        Problem::from(Diagnostic::error(message))
    }

    /// An error in reading or writing a file.
    pub fn file(path: &str, doing: &str, error: &std::io::Error) -> Self {
        Problem::new(format!("cannot {doing} {path}: {error}"))
    }

    /// Sets the file that the diagnostics are about.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.origin = path.into();
        self
    }

    /// Sets the text that the diagnostics refer to.
    #[must_use]
    pub fn in_text(mut self, text: impl Into<String>) -> Self {
        self.source = Some(text.into());
        self
    }

    /// Whether the input is valid, but not supported.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.diagnostics.iter().any(|one| one.unsupported)
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

/// Serialises diagnostics with their byte positions in the text.
pub(crate) fn diagnostics<S: Serializer>(diagnostics: &[Diagnostic], out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "kebab-case")]
    enum Level {
        Warning,
        Error,
    }
    #[derive(Serialize)]
    struct Place<'a> {
        start: usize,
        end: usize,
        note: &'a str,
    }
    #[derive(Serialize)]
    struct Written<'a> {
        severity: Level,
        message: &'a str,
        place: Option<Place<'a>>,
        line: Option<u64>,
        help: Option<&'a str>,
        unsupported: bool,
    }
    let written = |one| {
        let Diagnostic { severity, message, span, line, help, unsupported }: &Diagnostic = one;
        Written {
            severity: match severity {
                Severity::Warning => Level::Warning,
                Severity::Error => Level::Error,
            },
            message,
            place: span.as_ref().map(|span| Place {
                start: span.range.start,
                end: span.range.end,
                note: &span.note,
            }),
            line: *line,
            help: help.as_deref(),
            unsupported: *unsupported,
        }
    };
    out.collect_seq(diagnostics.iter().map(written))
}

fn labels<S: Serializer>(trace: &Option<Box<Trace>>, out: S) -> Result<S::Ok, S::Error> {
    trace.as_ref().map(|trace| trace.labels().collect::<Vec<_>>()).serialize(out)
}
