//! Whole-text patterns with `*` (any text) and `?` (any one character). Blanks matter only between
//! words: `c(3,*)` matches `c(3, true)`.

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As written.
    text: String,
    /// Without blanks that do not matter.
    parts: Vec<char>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Pattern {}

/// The characters of a text without blanks, but for one wherever blanks separate two words.
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

    /// The text it was made from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches the whole text. Linear apart from stars: the last star is the
    /// only one retried.
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
}

impl std::fmt::Display for Pattern {
    /// The text it was made from.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

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
