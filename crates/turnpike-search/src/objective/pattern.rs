//! Whole-text patterns with `*` (any text) and `?` (any one character).

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// Any text is a pattern.
    pub fn new(text: &str) -> Self {
        Pattern(text.chars().collect())
    }

    /// Whether the pattern matches the whole text. Linear apart from stars: the last star is the only one retried.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut in_pattern) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.0.get(in_pattern) {
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
        self.0[in_pattern..].iter().all(|&c| c == '*')
    }
}

impl std::fmt::Display for Pattern {
    /// The text it was made from.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|&c| std::fmt::Write::write_char(f, c))
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
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} on {text}");
        }
    }
}
