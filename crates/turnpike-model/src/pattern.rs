//! Whole-text patterns with `*` (any text) and `?` (any character). Blanks only matter between
//! words: `c(3,*)` matches `c(3, true)`.

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The pattern as written.
    text: String,
    /// Its characters without irrelevant blanks.
    parts: Vec<char>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Pattern {}

/// The characters of a text, with a single blank between words and no others.
fn squeezed(text: &str, wild: &str) -> Vec<char> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || wild.contains(c);
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        if blank && word(c) && out.last().is_some_and(|&last| word(last)) {
            out.push(' ');
        }
        blank = false;
        out.push(c);
    }
    out
}

impl Pattern {
    /// Any text is a pattern.
    pub fn new(text: &str) -> Self {
        Pattern { text: text.to_owned(), parts: squeezed(text, "*?") }
    }

    /// The original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches the whole text. Fast, because only the last star is retried.
    pub fn matches(&self, text: &str) -> bool {
        let text = squeezed(text, "");
        let (mut at, mut in_pattern) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.parts.get(in_pattern) {
                Some('*') => {
                    retry = Some((in_pattern, at));
                    in_pattern += 1;
                }
                Some(&c) if c == '?' || c == text[at] => {
                    at += 1;
                    in_pattern += 1;
                }
                _ => {
                    let Some((star, from)) = retry else { return false };
                    retry = Some((star, from + 1));
                    in_pattern = star + 1;
                    at = from + 1;
                }
            }
        }
        self.parts[in_pattern..].iter().all(|&c| c == '*')
    }

    /// Whether the pattern has wildcards.
    pub fn is_open(&self) -> bool {
        self.parts.iter().any(|c| matches!(c, '*' | '?'))
    }

    /// Whether the pattern matches some text that concatenates these parts, choosing one
    /// alternative for each.
    pub(crate) fn matches_some<'a>(
        &self,
        parts: impl IntoIterator<Item = Vec<Vec<Piece<'a>>>>,
        separator: char,
    ) -> bool {
        let mut reached = Reached::start(self);
        for (index, alternatives) in parts.into_iter().enumerate() {
            if index > 0 {
                reached.read_char(separator);
            }
            let begun = std::mem::replace(&mut reached, Reached::nowhere(self));
            for alternative in alternatives {
                let mut one = begun.clone();
                alternative.iter().for_each(|piece| one.read(piece));
                reached.join(&one);
            }
        }
        reached.is_end()
    }

    /// Whether the pattern matches some text that consists of one or more of these parts, in any
    /// order and with repetition, joined by a separator.
    pub fn matches_some_sequence<T: AsRef<str>>(&self, parts: &[T], separator: char) -> bool {
        let parts: Vec<[Piece<'_>; 1]> = parts.iter().map(|part| [Piece::Text(part.as_ref())]).collect();
        let parts: Vec<&[Piece<'_>]> = parts.iter().map(|part| &part[..]).collect();
        self.matches_some_parts(&parts, separator)
    }

    /// As [`Pattern::matches_some_sequence`], for parts made of pieces.
    pub(crate) fn matches_some_parts(&self, parts: &[&[Piece<'_>]], separator: char) -> bool {
        let mut starts = Reached::start(self);
        loop {
            let mut after = starts.clone();
            for part in parts {
                let mut reached = starts.clone();
                part.iter().for_each(|piece| reached.read(piece));
                if reached.is_end() {
                    return true;
                }
                reached.read_char(separator);
                after.join(&reached);
            }
            if after.places == starts.places {
                return false;
            }
            starts = after;
        }
    }
}

/// A piece of a partially known text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// Any text.
    Any,
}

/// The set of positions in a pattern that a match may have reached.
#[derive(Clone)]
struct Reached<'a> {
    parts: &'a [char],
    /// For each position, including the end.
    places: Vec<bool>,
}

impl<'a> Reached<'a> {
    fn nowhere(pattern: &'a Pattern) -> Self {
        Reached { parts: &pattern.parts, places: vec![false; pattern.parts.len() + 1] }
    }

    fn start(pattern: &'a Pattern) -> Self {
        let mut reached = Reached::nowhere(pattern);
        reached.places[0] = true;
        reached.skip_stars();
        reached
    }

    fn read(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Text(text) => squeezed(text, "").into_iter().for_each(|c| self.read_char(c)),
            // Any text leads from a position to every later one.
            Piece::Any => {
                let first = self.places.iter().position(|&place| place);
                first.into_iter().for_each(|first| self.places[first..].fill(true));
            }
        }
    }

    fn read_char(&mut self, c: char) {
        let mut next = vec![false; self.places.len()];
        for (at, &part) in self.parts.iter().enumerate().filter(|&(at, _)| self.places[at]) {
            match part {
                '*' => next[at] = true,
                part if part == '?' || part == c => next[at + 1] = true,
                _ => {}
            }
        }
        self.places = next;
        self.skip_stars();
    }

    /// A star may match nothing.
    fn skip_stars(&mut self) {
        for (at, &part) in self.parts.iter().enumerate() {
            self.places[at + 1] |= self.places[at] && part == '*';
        }
    }

    fn join(&mut self, other: &Self) {
        self.places.iter_mut().zip(&other.places).for_each(|(place, &more)| *place |= more);
    }

    fn is_end(&self) -> bool {
        self.places.last() == Some(&true)
    }
}

impl std::fmt::Display for Pattern {
    /// The original text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Piece};

    #[test]
    fn matches_texts_that_are_known_in_part() {
        let call = [Piece::Text("report"), Piece::Text("("), Piece::Any, Piece::Text(")")];
        for (pattern, expected) in [
            ("report(12)", true),
            ("report( 1, [2, 3] )", true),
            ("report", false),
            ("report(", false),
            ("repost(*)", false),
            ("*(3)", true),
            ("re?ort*", true),
            ("*", true),
            ("", false),
            ("*x", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches_some([vec![call.to_vec()]], '|'), expected, "{pattern}");
        }
        for (pattern, expected) in
            [("a", true), ("a|b", true), ("b | a | b", true), ("a|c", false), ("a|", false), ("*|?", true)]
        {
            assert_eq!(Pattern::new(pattern).matches_some_sequence(&["a", "b"], '|'), expected, "{pattern}");
        }
        assert!(!Pattern::new("*").matches_some_sequence::<&str>(&[], '|'));
    }

    /// The known texts of a pattern include all texts that it matches.
    #[test]
    fn agrees_with_matching_known_texts() {
        let alphabet = ['a', 'b', '|', '*', '?', '('];
        let word = |mut number: usize, base: usize| {
            let mut text = String::new();
            while number > 0 {
                text.push(alphabet[number % base]);
                number /= base;
            }
            text
        };
        for text in (0..200).map(|number| word(number, 3)) {
            for pattern in (0..2000).map(|number| word(number, 6)) {
                let pattern = Pattern::new(&pattern);
                let found = pattern.matches_some([vec![vec![Piece::Text(&text)]]], '|');
                assert_eq!(pattern.matches(&text), found, "{pattern} on {text}");
            }
        }
    }

    #[test]
    fn matches_whole_texts() {
        for (pattern, text, expected) in [
            ("error", "error", true),
            ("error", "errors", false),
            ("report(*)", "report(12)", true),
            ("report(?)", "report(12)", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("a*ab", "aaab", true),
            ("c(3,*)", "c(3, true)", true),
            ("c( 3 , * )", "c(3, true)", true),
            ("c(3, true)|d", "c(3,true)|d", true),
            ("a(1/2)", "a(1 / 2)", true),
            ("a b", "a  b", true),
            ("a b", "ab", false),
            ("a ?", "a b", true),
            ("report (*)", "report(1, [2, 3])", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} on {text}");
        }
    }
}
