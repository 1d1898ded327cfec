//! Conditions as states are printed: `P(1)=critical, turn=1` for `P(1).critical && turn == 1`.

use turnpike_model::{Diagnostic, Rewriting};

use crate::network::{Network, Process};

/// The most names that one message lists.
const MOST_LISTED: usize = 12;

/// The condition in the syntax of queries.
pub(super) fn rewrite(network: &Network, text: &str) -> Result<Rewriting, Diagnostic> {
    let mut out = Rewriting::default();
    let commas = commas(text);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some((process, length, negated)) = compared_process(network, text, at) {
            let word = word(&rest[length..]);
            if !process.locations.iter().any(|location| location.name == word) {
                return Err(unknown_location(process, word, at + length));
            }
            let not = if negated { "!" } else { "" };
            out.replace(at..at + length + word.len(), &format!("{not}{}.{word}", process.name));
            at += length + word.len();
        } else if rest.starts_with("zone") && compares_zone(text, at) {
            return Err(Diagnostic::error("zones cannot be compared")
                .at(at..at + 4, "this is the zone of a state")
                .help("write conditions on clocks, such as `x <= 5 && y > 2`"));
        } else if is_single_equals(text, at) {
            out.replace(at..at + 1, "==");
            at += 1;
        } else if commas.contains(&at) {
            out.replace(at..at + 1, " &&");
            at += 1;
        } else {
            let length = word(rest).len().max(rest.chars().next().map_or(1, char::len_utf8));
            out.keep(&rest[..length]);
            at += length;
        }
    }
    Ok(out)
}

/// The process whose name begins here if it is compared with something, the length up to what it is
/// compared with, and whether they are to differ.
fn compared_process<'a>(network: &'a Network, text: &str, at: usize) -> Option<(&'a Process, usize, bool)> {
    if text[..at].ends_with(|one: char| is_word(one) || one == '.') {
        return None;
    }
    let rest = &text[at..];
    network.processes.iter().find_map(|process| {
        let behind = rest.strip_prefix(process.name.as_str())?;
        let operator = behind.trim_start();
        let (value, negated) = match (operator.strip_prefix("!="), operator.strip_prefix('=')) {
            (Some(value), _) => (value, true),
            (None, Some(value)) => (value.strip_prefix('=').unwrap_or(value), false),
            (None, None) => return None,
        };
        Some((process, rest.len() - value.trim_start().len(), negated))
    })
}

fn unknown_location(process: &Process, word: &str, at: usize) -> Diagnostic {
    let names = || process.locations.iter().map(|location| location.name.as_str());
    let what = if word.is_empty() { "a location is missing" } else { "not a location" };
    let listed: Vec<&str> = names().take(MOST_LISTED).collect();
    let more = if process.locations.len() > MOST_LISTED { ", …" } else { "" };
    Diagnostic::error(format!("expected a location of `{}`", process.name))
        .at(at..at + word.len(), what)
        .suggest(word, names())
        .help_if_none(format!("its locations are {}{more}", listed.join(", ")))
}

/// Whether the word here is a zone as states print it, and not part of another word.
fn compares_zone(text: &str, at: usize) -> bool {
    let behind = text[at + 4..].trim_start();
    let compares = behind.strip_prefix("==").or(behind.strip_prefix('='));
    !text[..at].ends_with(is_word) && compares.is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// Whether `=` stands here alone, and not as part of another operator.
fn is_single_equals(text: &str, at: usize) -> bool {
    text[at..].starts_with('=')
        && !text[at + 1..].starts_with('=')
        && !text[..at].ends_with(|one: char| "=!<>:+-*/%&|^?".contains(one))
}

/// Where commas outside parentheses separate conditions, as states separate values. Nowhere if the text
/// has operators that bind less tightly than `&&`.
fn commas(text: &str) -> Vec<usize> {
    let looser = ["||", "?", "-->"].iter().any(|operator| text.contains(operator));
    let mut words = text.split(|one| !is_word(one));
    if looser || words.any(|word| ["or", "imply", "forall", "exists", "sum"].contains(&word)) {
        return Vec::new();
    }
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, one) in text.char_indices() {
        match one {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    commas
}

/// The word that begins here.
fn word(text: &str) -> &str {
    &text[..text.find(|one| !is_word(one)).unwrap_or(text.len())]
}

fn is_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Location;

    fn network() -> Network {
        let process = |name: &str| Process {
            name: name.to_owned(),
            locations: ["idle", "critical"]
                .map(|name| Location { name: name.to_owned(), ..Location::default() })
                .into(),
            initial: Vec::new(),
            edges: Vec::new(),
            priority: 0,
        };
        Network { processes: vec![process("P(1)"), process("Q")], ..Network::default() }
    }

    #[test]
    fn what_states_print_is_a_condition() {
        for (text, expected) in [
            ("P(1)=critical", "P(1).critical"),
            ("P(1) == critical && Q!=idle", "P(1).critical && !Q.idle"),
            ("P(1)=idle, Q=critical, n=1, t[2]=-3", "P(1).idle && Q.critical && n==1 && t[2]==-3"),
            ("P(1).idle && x <= 5 && n != 3", "P(1).idle && x <= 5 && n != 3"),
            ("PQ=1 && f(1, 2)", "PQ==1 && f(1, 2)"),
            ("n >= 1 || m == 2", "n >= 1 || m == 2"),
            ("zone_of=1 && zone = 2", "zone_of==1 && zone == 2"),
        ] {
            assert_eq!(rewrite(&network(), text).expect(text).text(), expected);
        }
    }

    #[test]
    fn what_cannot_be_compared_is_explained() {
        for (text, message, place) in [
            ("P(1)=critcal", "did you mean `critical`?", "critcal"),
            ("Q = elsewhere", "its locations are idle, critical", "elsewhere"),
            ("Q=idle, zone=(0<=x)", "write conditions on clocks", "zone"),
        ] {
            let error = rewrite(&network(), text).expect_err(text);
            assert!(error.to_string().contains(message), "{error}");
            assert_eq!(&text[error.span.expect("a place").range], place);
        }
    }
}
