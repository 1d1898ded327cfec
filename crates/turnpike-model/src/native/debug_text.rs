//! Parses the outermost level of the text that `#[derive(Debug)]` writes. Other texts are kept as
//! they are.

/// The outermost shape of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DebugText<'a> {
    /// `Name`
    Name(&'a str),
    /// `Name(a, b)`, or `(a, b)` with an empty name
    Tuple { name: &'a str, fields: Vec<&'a str> },
    /// `Name { x: a, y: b }`
    Struct { name: &'a str, fields: Vec<(&'a str, &'a str)> },
    /// `"text"`, without quotes and escapes
    Text(String),
    /// Anything else.
    Other(&'a str),
}

impl<'a> DebugText<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let name_end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (name, rest) = text.split_at(name_end);
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return DebugText::Other(text);
        }
        if rest.is_empty() {
            return if name.is_empty() { DebugText::Other(text) } else { DebugText::Name(name) };
        }
        if let Some(inner) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))
            && let Some(fields) = split_fields(inner)
        {
            return DebugText::Tuple { name, fields };
        }
        if let Some(inner) = rest.strip_prefix(" { ").and_then(|rest| rest.strip_suffix(" }"))
            && !name.is_empty()
            && let Some(fields) = split_fields(inner)
        {
            let pairs: Option<Vec<_>> = fields.iter().map(|field| field.split_once(": ")).collect();
            if let Some(fields) = pairs {
                return DebugText::Struct { name, fields };
            }
        }
        if text.starts_with('"')
            && let Some(inner) = unquoted(text)
        {
            return DebugText::Text(inner);
        }
        DebugText::Other(text)
    }
}

/// Splits at commas outside brackets, strings and characters; `None` if those are unbalanced.
fn split_fields(text: &str) -> Option<Vec<&str>> {
    let mut fields = Vec::new();
    let (mut depth, mut start, mut at) = (0u32, 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            quote @ (b'"' | b'\'') => at = closing_quote(bytes, at, quote)?,
            b',' if depth == 0 => {
                fields.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = text[start..].trim();
    // One-element tuples end with a comma, and empty ones have no fields.
    if !last.is_empty() {
        fields.push(last);
    }
    (depth == 0).then_some(fields)
}

/// The position of the closing quote for the one at `open`.
fn closing_quote(bytes: &[u8], open: usize, quote: u8) -> Option<usize> {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The content of a string literal, if all its escapes are simple ones.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return None,
            '\\' => out.push(match rest.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                plain @ ('"' | '\'' | '\\') => plain,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes() {
        let tuple = |name, fields: &[&'static str]| DebugText::Tuple { name, fields: fields.to_vec() };
        assert_eq!(DebugText::parse("Tick"), DebugText::Name("Tick"));
        assert_eq!(DebugText::parse("Send(1, [2, 3])"), tuple("Send", &["1", "[2, 3]"]));
        assert_eq!(DebugText::parse("(5,)"), tuple("", &["5"]));
        assert_eq!(DebugText::parse("()"), tuple("", &[]));
        assert_eq!(DebugText::parse(r#"A("x, \")", ',')"#), tuple("A", &[r#""x, \")""#, "','"]));
        let fields = vec![("to", "1"), ("data", "{2: \"a: b\"}")];
        assert_eq!(
            DebugText::parse("D { to: 1, data: {2: \"a: b\"} }"),
            DebugText::Struct { name: "D", fields }
        );
        assert_eq!(DebugText::parse(r#""a\"b\n""#), DebugText::Text("a\"b\n".to_owned()));
        for other in
            ["", "12", "-1", "[1, 2]", "A(1", "A)1(", "{1, 2}", "A { 1 }", "\"\\u{1}\"", "'x'", "A { ", "1.5"]
        {
            assert_eq!(DebugText::parse(other), DebugText::Other(other), "{other}");
        }
    }

    #[derive(Debug)]
    #[allow(dead_code, reason = "read through Debug")]
    struct Nested {
        text: String,
        sign: char,
        list: Vec<(i8, Option<String>)>,
    }

    proptest! {
        #[test]
        fn derived_texts_are_parsed(text in any::<String>(), sign in any::<char>(), list in any::<Vec<(i8, Option<String>)>>()) {
            let nested = Nested { text, sign, list };
            let whole = format!("{nested:?}");
            let (text, sign, list) = (format!("{:?}", nested.text), format!("{:?}", nested.sign), format!("{:?}", nested.list));
            let fields = vec![("text", text.as_str()), ("sign", sign.as_str()), ("list", list.as_str())];
            prop_assert_eq!(DebugText::parse(&whole), DebugText::Struct { name: "Nested", fields });
        }

        #[test]
        fn any_text_has_a_shape(text in any::<String>()) {
            let _ = DebugText::parse(&text);
        }
    }
}
