use turnpike_model::Diagnostic;

/// Why a source cannot be used, with the text that diagnostics point into.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What it is about: a file name, or nothing.
    pub origin: String,
    /// The text that diagnostics point into.
    pub source: Option<String>,
    /// What is wrong, the most important first.
    pub diagnostics: Vec<Diagnostic>,
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

    /// Several diagnostics about one text.
    pub fn of_text(origin: &str, text: String, diagnostics: Vec<Diagnostic>) -> Self {
        Problem { origin: origin.to_owned(), source: Some(text), diagnostics }
    }
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Problem { origin: String::new(), source: None, diagnostics: vec![diagnostic] }
    }
}
