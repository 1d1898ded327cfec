//! Pieces of a text, and a formatter that tidies blanks. It never moves a line break or a comment, and changes nothing
//! but blanks: the pieces before and after are the same.

use std::ops::Range;

use crate::analysis::Language;

/// A piece of a text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A name or number.
    Word(Range<usize>),
    /// A comment.
    Comment(Range<usize>),
    /// A letter that is part of neither.
    Sign(Range<usize>),
}

/// Splits a text.
pub(crate) fn pieces(language: Language, text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        if letter.is_whitespace() {
            at += letter.len_utf8();
        } else if let Some(length) = comment(language, rest) {
            found.push(Piece::Comment(at..at + length));
            at += length;
        } else if letter.is_alphanumeric() || letter == '_' {
            let part = |one: char| {
                one.is_alphanumeric()
                    || one == '_'
                    || (one == '\'' && matches!(language, Language::Mcrl2 | Language::Formula))
            };
            let length = rest.find(|one| !part(one)).unwrap_or(rest.len());
            found.push(Piece::Word(at..at + length));
            at += length;
        } else {
            found.push(Piece::Sign(at..at + letter.len_utf8()));
            at += letter.len_utf8();
        }
    }
    found
}

/// The length of the comment that a text begins with.
fn comment(language: Language, text: &str) -> Option<usize> {
    let line = || text.find('\n').unwrap_or(text.len());
    match language {
        Language::Mcrl2 | Language::Formula => text.starts_with('%').then(line),
        Language::Tck => text.starts_with('#').then(line),
        Language::Uppaal if text.starts_with("//") => Some(line()),
        Language::Uppaal if text.starts_with("/*") => Some(text.find("*/").map_or(text.len(), |end| end + 2)),
        Language::Uppaal => None,
    }
}

/// The text with tidy blanks: none at the ends of lines, one after a comma and none before it or before a semicolon, at
/// most one empty line in a row, and a line break at the end.
pub fn format(language: Language, text: &str) -> String {
    let comments: Vec<Range<usize>> = pieces(language, text)
        .into_iter()
        .filter_map(|piece| if let Piece::Comment(range) = piece { Some(range) } else { None })
        .collect();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut empty) = (0, 0);
    for line in text.split('\n') {
        let (start, end) = (at, at + line.len());
        at = end + 1;
        // A comment over several lines is left as it is.
        let inside = comments.iter().any(|one| one.start < start && start < one.end);
        let comment = comments.iter().find(|one| (start..=end).contains(&one.start));
        let code = start..comment.map_or(end, |one| one.start);
        let tidy = match (inside, comment) {
            (true, _) => line.trim_end().to_owned(),
            (false, None) => tidy(language, &text[code]).trim_end().to_owned(),
            (false, Some(comment)) => {
                // Blanks before a comment line comments up.
                format!("{}{}", tidy(language, &text[code]), text[comment.start..end].trim_end())
            }
        };
        empty = if tidy.is_empty() { empty + 1 } else { 0 };
        if empty < 2 && !(tidy.is_empty() && out.is_empty()) {
            out.push_str(&tidy);
            out.push('\n');
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// A line without comments, its blanks tidied. Those at the beginning and the end stay.
fn tidy(language: Language, line: &str) -> String {
    // In TChecker files blanks within a line are the author's: lines are split at colons.
    if language == Language::Tck {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if matches!(letter, ',' | ';') {
            let kept = out.trim_end().len();
            if kept > 0 {
                out.truncate(kept);
            }
        }
        out.push(letter);
        if letter == ',' && letters.peek().is_some_and(|next| !next.is_whitespace()) {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_tidied_and_nothing_else() {
        let before =
            "\n\nact a ,b:Nat ; % one,two  \n\n\n\nproc P(n:Nat)=a(n ,1).P( n );\t\n  % last   \ninit P(0);";
        let after = "act a, b:Nat; % one,two\n\nproc P(n:Nat)=a(n, 1).P( n );\n  % last\ninit P(0);\n";
        assert_eq!(format(Language::Mcrl2, before), after);
        assert_eq!(format(Language::Mcrl2, after), after);
        let comment = "int x; /* a ,b\n   c ,d */ int y ,z;\n";
        assert_eq!(format(Language::Uppaal, comment), comment);
        assert_eq!(format(Language::Tck, "clock:1:x  \n\n\nevent:a ,b"), "clock:1:x\n\nevent:a ,b\n");
    }

    #[test]
    fn words_and_comments_are_told_apart() {
        let text = "a' + b % c";
        let words: Vec<&str> = pieces(Language::Mcrl2, text)
            .iter()
            .filter_map(
                |piece| if let Piece::Word(range) = piece { Some(&text[range.clone()]) } else { None },
            )
            .collect();
        assert_eq!(words, ["a'", "b"]);
    }
}
