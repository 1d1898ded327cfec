//! Transition labels: a text and its actions.

/// A label of a model. Ids are consecutive and start from 0. They depend on the order of
/// exploration, so choices must not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The id as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The internal action's text.
pub const TAU: &str = "tau";

/// One action of a multi-action: a name and the texts of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Name, without arguments.
    pub name: String,
    /// Argument texts, trimmed.
    pub arguments: Vec<String>,
}

/// A parsed label: `a(1,[2,3])|b` has the actions `a` with two arguments and `b` with none; `tau`
/// has no actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The whole text, as printed.
    pub text: String,
    /// The actions, in the order of the text.
    pub actions: Vec<Action>,
}

impl Label {
    /// Parses the text of a label. Any text is a label; with unbalanced brackets it is a single
    /// plain name.
    pub fn parse(text: &str) -> Label {
        let actions = if text == TAU {
            Vec::new()
        } else {
            match split_top_level(text, '|') {
                Some(parts) if parts.iter().all(|part| !part.trim().is_empty()) => {
                    parts.into_iter().map(parse_action).collect()
                }
                _ => vec![Action { name: text.to_owned(), arguments: Vec::new() }],
            }
        };
        Label { text: text.to_owned(), actions }
    }

    /// Whether this is the internal action.
    pub fn is_internal(&self) -> bool {
        self.actions.is_empty()
    }

    /// The names without arguments, joined with `|`; `tau` for the internal action.
    pub fn name(&self) -> String {
        if self.actions.is_empty() {
            return TAU.to_owned();
        }
        self.actions.iter().map(|action| action.name.as_str()).collect::<Vec<_>>().join("|")
    }

    /// Whether one of the actions has this name. `tau` names the internal action.
    pub fn has_action(&self, name: &str) -> bool {
        if self.actions.is_empty() {
            name == TAU
        } else {
            self.actions.iter().any(|action| action.name == name)
        }
    }
}

fn parse_action(text: &str) -> Action {
    let text = text.trim();
    let plain = || Action { name: text.to_owned(), arguments: Vec::new() };
    let Some(open) = text.find('(') else { return plain() };
    let Some(inner) = text[open + 1..].strip_suffix(')') else { return plain() };
    let Some(arguments) = split_top_level(inner, ',') else { return plain() };
    Action {
        name: text[..open].trim_end().to_owned(),
        arguments: arguments.into_iter().map(|argument| argument.trim().to_owned()).collect(),
    }
}

/// Splits at separators outside brackets; `None` if the brackets are unbalanced.
fn split_top_level(text: &str, separator: char) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<(String, Vec<String>)> {
        Label::parse(text).actions.into_iter().map(|a| (a.name, a.arguments)).collect()
    }

    #[test]
    fn splits_multi_actions() {
        let s = str::to_owned;
        assert_eq!(shape("tau"), vec![]);
        assert_eq!(shape("a"), vec![(s("a"), vec![])]);
        assert_eq!(
            shape("a(1,[2,3])|b(f(x|y))"),
            vec![(s("a"), vec![s("1"), s("[2,3]")]), (s("b"), vec![s("f(x|y)")])]
        );
        assert_eq!(Label::parse("a(1)|b").name(), "a|b");
        assert_eq!(Label::parse("tau").name(), "tau");
    }

    #[test]
    fn odd_texts_are_plain_names() {
        for text in ["", "a(", ")b", "a||b", "x) | (y"] {
            assert_eq!(shape(text), vec![(text.to_owned(), vec![])]);
        }
    }
}
