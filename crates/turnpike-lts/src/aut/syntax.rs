//! Parses the two kinds of lines in an `.aut` file. Allocates nothing unless a line is invalid.

use turnpike_model::Diagnostic;

use super::AutHeader;
use crate::system::{no_states, out_of_range};

/// A transition line with a label that is not interned yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawTransition<'a> {
    pub(super) from: u32,
    pub(super) label: RawLabel<'a>,
    pub(super) to: u32,
}

/// A label as it occurs in the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawLabel<'a> {
    /// The text between the quotes, taken literally: there are no escapes.
    Quoted(&'a [u8]),
    /// A label without quotes. Blanks inside are ignored.
    Bare(&'a [u8]),
}

/// Parses `des (initial,transitions,states)`.
pub(super) fn parse_header(line: &[u8]) -> Result<AutHeader, Diagnostic> {
    let line = line.trim_ascii();
    let Some(rest) = line.strip_prefix(b"des") else {
        return Err(wrong(
            line,
            format!("an .aut file starts with a header, but this line is {}", shown(line)),
        )
        .help("the first line must read `des (initial,transitions,states)`, such as `des (0,12,7)`"));
    };
    let rest = rest.trim_ascii();
    if rest.is_empty() {
        return Err(Diagnostic::error(
            "the header has no numbers: the run that wrote this file was interrupted",
        )
        .help("generate the file again and let the run end; the numbers are filled in last"));
    }
    let malformed = || {
        wrong(line, format!("the header is malformed: {}", shown(line)))
            .help("it must read `des (initial,transitions,states)`, such as `des (0,12,7)`")
    };
    let fields = rest.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).ok_or_else(malformed)?;
    let mut fields = fields.split(|&byte| byte == b',');
    let (Some(initial), Some(transitions), Some(states), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(malformed());
    };
    let initial = state_number(initial, "initial state")?;
    let transitions = match number(transitions) {
        Number::Is(count) => count,
        Number::TooLarge => return Err(too_large(transitions, "number of transitions", 64)),
        Number::No => return Err(malformed()),
    };
    let states = match number(states) {
        Number::Is(count) => u32::try_from(count).map_err(|_| too_large(states, "number of states", 32))?,
        Number::TooLarge => return Err(too_large(states, "number of states", 32)),
        Number::No => return Err(malformed()),
    };
    if states == 0 {
        return Err(no_states());
    }
    if initial >= states {
        return Err(out_of_range("the initial state", initial, states));
    }
    Ok(AutHeader { initial, transitions, states })
}

/// Parses `(from,label,to)`. `line` has no blanks at its ends.
///
/// The label is everything between the first and the last comma. A quoted label may therefore
/// contain quotes, commas and parentheses: its closing quote is the one before optional blanks, a
/// comma, the target and `)`.
#[inline]
pub(super) fn parse_transition(line: &[u8]) -> Result<RawTransition<'_>, Diagnostic> {
    let Some(inner) = line.strip_prefix(b"(") else { return Err(not_a_transition(line)) };
    let Some(inner) = inner.strip_suffix(b")") else { return Err(unclosed(line)) };
    let Some(first) = inner.iter().position(|&byte| byte == b',') else { return Err(not_a_transition(line)) };
    let Some(last) = inner.iter().rposition(|&byte| byte == b',') else { return Err(not_a_transition(line)) };
    if first == last {
        return Err(not_a_transition(line));
    }
    let from = state_number(&inner[..first], "source state")?;
    let label = raw_label(inner[first + 1..last].trim_ascii(), line)?;
    let to = state_number(&inner[last + 1..], "target state")?;
    Ok(RawTransition { from, label, to })
}

#[inline]
fn raw_label<'a>(text: &'a [u8], line: &[u8]) -> Result<RawLabel<'a>, Diagnostic> {
    if let Some(opened) = text.strip_prefix(b"\"") {
        return match opened.strip_suffix(b"\"") {
            Some(label) => Ok(RawLabel::Quoted(label)),
            None => Err(wrong(line, format!("the quoted label is not closed: {}", shown(line))).help(
                "a label that starts with `\"` ends with `\"`, right before the comma and the target state",
            )),
        };
    }
    if text.is_empty() {
        return Err(wrong(line, format!("the label is missing: {}", shown(line)))
            .help("write a label between the commas; an empty one is written `\"\"`"));
    }
    if text.contains(&b'"') {
        return Err(wrong(
            line,
            format!("the label has a quote, but does not start with one: {}", shown(line)),
        )
        .help("put the whole label in double quotes"));
    }
    if text.contains(&b',') {
        return Err(wrong(line, format!("a label without quotes cannot contain a comma: {}", shown(line)))
            .help("put the label in double quotes, such as `(0,\"a(1,2)\",3)`"));
    }
    Ok(RawLabel::Bare(text))
}

#[inline]
fn state_number(field: &[u8], role: &str) -> Result<u32, Diagnostic> {
    match number(field) {
        Number::Is(value) if value <= u64::from(u32::MAX) => Ok(value as u32),
        Number::Is(_) | Number::TooLarge => Err(too_large(field, role, 32)),
        Number::No => Err(not_a_state(field, role)),
    }
}

enum Number {
    Is(u64),
    TooLarge,
    No,
}

/// A decimal number, possibly surrounded by blanks.
#[inline]
fn number(field: &[u8]) -> Number {
    let field = field.trim_ascii();
    if field.is_empty() || !field.iter().all(u8::is_ascii_digit) {
        return Number::No;
    }
    let digit = |byte: u8| u64::from(byte - b'0');
    if field.len() <= 19 {
        return Number::Is(field.iter().fold(0, |value, &byte| value * 10 + digit(byte)));
    }
    field
        .iter()
        .try_fold(0u64, |value, &byte| value.checked_mul(10)?.checked_add(digit(byte)))
        .map_or(Number::TooLarge, Number::Is)
}

#[cold]
fn too_large(field: &[u8], role: &str, bits: u32) -> Diagnostic {
    Diagnostic::error(format!("the {role} {} does not fit in {bits} bits", shown(field.trim_ascii())))
}

#[cold]
fn not_a_state(field: &[u8], role: &str) -> Diagnostic {
    let field = field.trim_ascii();
    let words: Vec<&[u8]> = field.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let fraction = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'/');
    if words.len() >= 3 && field.contains(&b'/') && words.iter().all(|word| fraction(word)) {
        return Diagnostic::error(format!(
            "the {role} is a probability distribution ({}); probabilistic systems are not supported",
            shown(field)
        ))
        .help("only plain transition systems can be read: each transition has one target");
    }
    if field.is_empty() {
        return Diagnostic::error(format!("the {role} is missing"))
            .help("a transition reads `(from,\"label\",to)`");
    }
    wrong(field, format!("the {role} is not a number: {}", shown(field)))
        .help("states are written as numbers; a transition reads `(from,\"label\",to)`")
}

#[cold]
fn not_a_transition(line: &[u8]) -> Diagnostic {
    wrong(line, format!("this is not a transition: {}", shown(line)))
        .help("a transition reads `(from,\"label\",to)`")
}

#[cold]
fn unclosed(line: &[u8]) -> Diagnostic {
    wrong(line, format!("the transition does not end with `)`: {}", shown(line)))
        .help("a transition reads `(from,\"label\",to)`, alone on its line; the file may have been cut short")
}

/// Bytes that are not text are reported before other problems with the line.
#[cold]
fn wrong(line: &[u8], message: String) -> Diagnostic {
    if std::str::from_utf8(line).is_err() { not_utf8() } else { Diagnostic::error(message) }
}

#[cold]
pub(super) fn not_utf8() -> Diagnostic {
    Diagnostic::error("this line is not UTF-8 text")
        .help("convert the file to UTF-8; binary .lts and .lps files must be converted to .aut first")
}

/// A short piece of input for a message, in back quotes.
#[cold]
pub(super) fn shown(bytes: &[u8]) -> String {
    const LIMIT: usize = 40;
    // At most four bytes per character, and one character more than is shown, to determine whether
    // any are omitted.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (LIMIT + 1))]);
    let mut out = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == LIMIT {
            out.push('…');
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(line: &str) -> (u32, String, u32) {
        match parse_transition(line.as_bytes()) {
            Ok(RawTransition { from, label: RawLabel::Quoted(label), to }) => {
                (from, String::from_utf8_lossy(label).into_owned(), to)
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refused(line: &str) -> String {
        parse_transition(line.as_bytes()).expect_err(line).to_string()
    }

    fn header_refused(line: &str) -> String {
        parse_header(line.as_bytes()).expect_err(line).to_string()
    }

    #[test]
    fn reads_headers() {
        let header = AutHeader { initial: 0, transitions: 12, states: 7 };
        for line in
            ["des (0,12,7)", "des(0,12,7)", "  des \t( 0 , 12 ,7 )   ", "des (0,12,7)\r", "des (00,012,7)"]
        {
            assert_eq!(parse_header(line.as_bytes()), Ok(header), "{line}");
        }
    }

    #[test]
    fn refuses_headers() {
        assert!(header_refused("(0,\"a\",1)").contains("starts with a header"));
        assert!(header_refused("des      ").contains("interrupted"));
        assert!(header_refused("des").contains("interrupted"));
        for line in ["des (0,1)", "des (0,1,2,3)", "des 0,1,2", "des (0,1,2) x", "des (0,-1,2)", "des (0,1,)"]
        {
            assert!(header_refused(line).contains("malformed"), "{line}");
        }
        assert!(header_refused("des (0,0,0)").contains("at least one state"));
        assert!(header_refused("des (3,0,3)").contains("the initial state is 3, but the states are 0 to 2"));
        assert!(header_refused("des (0,1,4294967296)").contains("does not fit in 32 bits"));
        assert!(header_refused("des (0,99999999999999999999,1)").contains("does not fit in 64 bits"));
        assert!(header_refused("des (0 1/2 1,2,3)").contains("probabilistic"));
        assert_eq!(parse_header(b"des (0,1,\xff)").expect_err("bytes").message, not_utf8().message);
    }

    #[test]
    fn reads_transitions() {
        assert_eq!(quoted(r#"(0,"a",1)"#), (0, "a".to_owned(), 1));
        assert_eq!(quoted(r#"( 0 , "a b" , 1 )"#), (0, "a b".to_owned(), 1));
        assert_eq!(quoted(r#"(0," a ",1)"#), (0, " a ".to_owned(), 1));
        assert_eq!(quoted(r#"(0,"f("x",1)",2)"#), (0, r#"f("x",1)"#.to_owned(), 2));
        assert_eq!(quoted(r#"(0,"",2)"#), (0, String::new(), 2));
        assert_eq!(quoted(r#"(0,""",2)"#), (0, "\"".to_owned(), 2));
        assert_eq!(quoted(r#"(0,"a\",2)"#), (0, "a\\".to_owned(), 2));
        assert_eq!(quoted(r#"(4294967295,"a",0000000000000000000000001)"#), (u32::MAX, "a".to_owned(), 1));
        assert_eq!(
            parse_transition(b"(3, a b ,4)"),
            Ok(RawTransition { from: 3, label: RawLabel::Bare(b"a b"), to: 4 })
        );
    }

    #[test]
    fn refuses_transitions() {
        assert!(refused(r#"(0,"a,1)"#).contains("not closed"));
        assert!(refused(r#"(0,",1)"#).contains("not closed"));
        assert!(refused(r#"(0,"a"b,1)"#).contains("not closed"));
        assert!(refused(r#"(0,a",1)"#).contains("does not start with one"));
        assert!(refused("(0,,1)").contains("label is missing"));
        assert!(refused("(0,a(1,2),3)").contains("cannot contain a comma"));
        assert!(refused(r#"(0,"a",)"#).contains("target state is missing"));
        assert!(refused(r#"(x,"a",1)"#).contains("source state is not a number: `x`"));
        assert!(refused(r#"(-1,"a",1)"#).contains("not a number"));
        assert!(refused(r#"(0,"a",1"#).contains("does not end with `)`"));
        assert!(refused(r#"(0,"a",1) x"#).contains("does not end with `)`"));
        assert!(refused("(0)").contains("not a transition"));
        assert!(refused("(0,1)").contains("not a transition"));
        assert!(refused("hello").contains("not a transition"));
        assert!(refused(r#"(0,"a",4294967296)"#).contains("does not fit in 32 bits"));
        assert!(refused(r#"(0,"a",99999999999999999999999)"#).contains("does not fit in 32 bits"));
        assert!(refused(r#"(0,"a",1 1/3 2)"#).contains("probabilistic"));
        assert_eq!(parse_transition(b"(0,\xff,1").expect_err("bytes").message, not_utf8().message);
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(shown(b"a\x00b\x1b"), "`a\\u{0}b\\u{1b}`");
        let long = shown(&[b'x'; 1000]);
        assert_eq!(long.chars().count(), 43);
        assert!(long.ends_with("…`"));
    }
}
