//! Diagnostics: problems with an input, for all front-ends. Rendering belongs to the user
//! interface.

use std::fmt;
use std::ops::Range;

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can be used, but probably does not mean what its author intended.
    Warning,
    /// The input cannot be used.
    Error,
}

/// A place in a source text, by byte offsets, with an optional remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the source.
    pub range: Range<usize>,
    /// A remark on that place; may be empty.
    pub note: String,
}

/// A message to the user about an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The position, if the source is available.
    pub span: Option<Span>,
    /// 1-based line, for inputs too large to keep.
    pub line: Option<u64>,
    /// Advice for fixing the problem.
    pub help: Option<String>,
    /// Whether the input is valid, but not supported.
    pub unsupported: bool,
}

impl Diagnostic {
    /// An error without a position.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: None,
            line: None,
            help: None,
            unsupported: false,
        }
    }

    /// An error about an input that is valid, but not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Diagnostic { unsupported: true, ..Self::error(message) }
    }

    /// A warning without a position.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Points at bytes of the source.
    #[must_use]
    pub fn at(mut self, range: Range<usize>, note: impl Into<String>) -> Self {
        self.span = Some(Span { range, note: note.into() });
        self
    }

    /// Points at a line.
    #[must_use]
    pub fn on_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds advice unless there is some already.
    #[must_use]
    pub fn help_if_none(mut self, help: impl Into<String>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    /// Suggests the name that `word` is probably a misspelling of, if one of `names` is near
    /// enough.
    #[must_use]
    pub fn suggest<'a>(self, word: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(word, names) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Suggests the name that `word` is probably a misspelling of, or else lists all `names` after
    /// `intro`, such as "the stores are". Adds nothing if there are no names.
    #[must_use]
    pub fn suggest_or_list<'a>(
        self,
        word: &str,
        names: impl IntoIterator<Item = &'a str>,
        intro: &str,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let suggested = self.suggest(word, names.iter().copied());
        if names.is_empty() {
            return suggested;
        }
        suggested.help_if_none(format!("{intro} {}", names.join(", ")))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// The candidate nearest to `word` by edit distance in characters, ignoring case, if it is near
/// enough to be a misspelling. Ties go to the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).max(1);
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| {
            distance <= limit || (word.len() >= 3 && candidate.starts_with(word))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_nearest_word() {
        let words = ["random", "rdfs", "highway", "bfs"];
        assert_eq!(nearest("higway", words), Some("highway"));
        assert_eq!(nearest("Random", words), Some("random"));
        assert_eq!(nearest("high", words), Some("highway"));
        assert_eq!(nearest("zzzzzz", words), None);
        assert_eq!(nearest("kitten", ["sitting"]), None, "three edits in six letters are too many");
        assert_eq!(nearest("ÉTAT", ["état"]), Some("état"));
        assert_eq!(nearest("bat", ["cat", "rat"]), Some("cat"), "the first of equals");
    }

    #[test]
    fn lists_the_names_when_none_is_near() {
        let help = |word: &str, names: &[&str]| {
            Diagnostic::error("").suggest_or_list(word, names.iter().copied(), "the stores are").help
        };
        assert_eq!(help("exakt", &["exact", "tree"]).as_deref(), Some("did you mean `exact`?"));
        assert_eq!(help("zzz", &["exact", "tree"]).as_deref(), Some("the stores are exact, tree"));
        assert_eq!(help("zzz", &[]), None);
        let error = Diagnostic::error("").suggest("exakt", ["exact"]).help_if_none("declare it first");
        assert_eq!(error.help.as_deref(), Some("did you mean `exact`?"));
        let error = Diagnostic::error("").suggest("zzz", ["exact"]).help_if_none("declare it first");
        assert_eq!(error.help.as_deref(), Some("declare it first"));
    }
}
