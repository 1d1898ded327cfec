//! The tokens of conditions.

use std::ops::Range;

use super::Comparison;
use crate::diagnostic::Diagnostic;
use crate::system::ModelInfo;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Measure(u32),
    True,
    False,
    Plus,
    Minus,
    Times,
    Not,
    And,
    Or,
    Compare(Comparison),
    Open,
    Close,
    End,
}

/// Returns one token after the other.
pub(super) struct Lexer<'a> {
    text: &'a str,
    info: &'a ModelInfo,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, info: &'a ModelInfo) -> Self {
        Lexer { text, info, at: 0 }
    }

    /// The next token and its position.
    pub(super) fn token(&mut self) -> Result<(Token, Range<usize>), Diagnostic> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok((Token::End, start..start)) };
        let (token, length) = if let Some(found) = sign(rest) {
            found
        } else if let Some(found) = self.measure(rest) {
            found
        } else if first.is_ascii_digit() || first == '.' {
            number(rest, start)?
        } else if is_name(first) {
            self.word(rest, start)?
        } else {
            return Err(no_sign(first, start));
        };
        self.at = start + length;
        Ok((token, start..self.at))
    }

    /// The longest name of a measure that occurs here as a whole word. Models choose names freely,
    /// so known names take precedence over all rules.
    fn measure(&self, rest: &str) -> Option<(Token, usize)> {
        let mut best: Option<(Token, usize)> = None;
        for (index, measure) in self.info.measures.iter().enumerate() {
            let name = measure.name.as_str();
            let Some(after) = rest.strip_prefix(name) else { continue };
            // A name continues through a minus only if a letter or digit follows.
            let whole = name_length(after) == 0 && !continues_with_minus(name, after);
            if whole && !name.is_empty() && best.is_none_or(|(_, length)| name.len() > length) {
                best = Some((Token::Measure(index as u32), name.len()));
            }
        }
        best
    }

    fn word(&self, rest: &str, start: usize) -> Result<(Token, usize), Diagnostic> {
        let length = name_length(rest);
        let word = &rest[..length];
        match word {
            "true" => return Ok((Token::True, length)),
            "false" => return Ok((Token::False, length)),
            _ => {}
        }
        let error = Diagnostic::error(format!("`{word}` is not a measure of this model"))
            .at(start..start + length, "unknown name");
        let names = self.info.measures.iter().map(|measure| measure.name.as_str());
        let subtraction = word
            .match_indices('-')
            .find(|&(at, _)| self.info.measure(&word[..at]).is_some())
            .map(|(at, _)| at);
        Err(match (word, subtraction) {
            ("and", _) => error.help("write `&&`"),
            ("or", _) => error.help("write `||`"),
            ("not", _) => error.help("write `!`"),
            (_, Some(at)) => {
                error.help(format!("minus needs blanks around it: `{} - {}`", &word[..at], &word[at + 1..]))
            }
            (_, None) => error
                .suggest_or_list(word, names, "the measures are")
                .help_if_none("this model has no measures"),
        })
    }
}

fn sign(rest: &str) -> Option<(Token, usize)> {
    const SIGNS: [(&str, Token); 15] = [
        ("&&", Token::And),
        ("||", Token::Or),
        ("==", Token::Compare(Comparison::Equal)),
        ("!=", Token::Compare(Comparison::Different)),
        ("<=", Token::Compare(Comparison::LessOrEqual)),
        (">=", Token::Compare(Comparison::GreaterOrEqual)),
        // As printed in states.
        ("=", Token::Compare(Comparison::Equal)),
        ("<", Token::Compare(Comparison::Less)),
        (">", Token::Compare(Comparison::Greater)),
        ("!", Token::Not),
        ("+", Token::Plus),
        ("-", Token::Minus),
        ("*", Token::Times),
        ("(", Token::Open),
        (")", Token::Close),
    ];
    SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)).map(|&(sign, token)| (token, sign.len()))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length in bytes of the name at the start: letters, digits, `_` and `.`, and `-` before
/// another of these.
fn name_length(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let inside = is_name(c)
            || (at > 0 && c == '.')
            || (at > 0 && c == '-' && text[at + 1..].chars().next().is_some_and(is_name));
        if !inside {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Whether `after` continues the word that ends with `name`, as in `x-1`.
fn continues_with_minus(name: &str, after: &str) -> bool {
    let mut rest = after.chars();
    name.chars().next_back().is_some_and(is_name)
        && matches!(rest.next(), Some('-' | '.'))
        && rest.next().is_some_and(is_name)
}

fn number(rest: &str, start: usize) -> Result<(Token, usize), Diagnostic> {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(&byte) = bytes.get(length) {
        // A sign belongs to a number only in its exponent.
        let exponent = matches!(byte, b'+' | b'-')
            && matches!(bytes[length.saturating_sub(1)], b'e' | b'E')
            && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || exponent) {
            break;
        }
        length += 1;
    }
    let place = start..start + length;
    let text = &rest[..length];
    // The standard parser also accepts words such as `inf`. A number here starts with a digit or a
    // point.
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
        Ok(_) => Err(Diagnostic::error(format!("the number `{text}` is too large")).at(place, "")),
        Err(_) => Err(Diagnostic::error(format!("`{text}` is not a number"))
            .at(place, "")
            .help("numbers are written `12`, `0.5` or `1e3`")),
    }
}

fn no_sign(c: char, start: usize) -> Diagnostic {
    let place = start..start + c.len_utf8();
    match c {
        '&' => Diagnostic::error("`&` is not an operator").at(place, "").help("write `&&`"),
        '|' => Diagnostic::error("`|` is not an operator").at(place, "").help("write `||`"),
        _ => Diagnostic::error(format!("`{}` has no meaning in a condition", c.escape_debug()))
            .at(place, "")
            .help("conditions are made of measures, numbers, `+ - *`, comparisons, `&&`, `||`, `!` and parentheses"),
    }
}
