//! One type for every problem with an input, shared by all front-ends. Rendering belongs to the
//! user interface.

use std::fmt;
use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can be used, but probably does not mean what it says.
    Warning,
    /// The input cannot be used.
    Error,
}

/// A place in a source text, by byte offsets, with an optional remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the source.
    pub range: Range<usize>,
    /// What is at that place; may be empty.
    pub note: String,
}

/// Something to tell the user about an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// Where, when the source is at hand.
    pub span: Option<Span>,
    /// 1-based line, for inputs too large to keep.
    pub line: Option<u64>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, message: message.into(), span: None, line: None, help: None }
    }

    /// A warning without a place.
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

/// The candidate nearest to `word` by edit distance, when it is near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| {
            distance <= limit || (word.len() >= 3 && candidate.starts_with(word))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance in characters, with case ignored.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
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
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
