//! Resolves names in state expressions as states print them: `Station(3) == First`,
//! `Station(3).count == 2`.
//!
//! The data language has no such names, so they are replaced by identifiers, and locations by
//! numbers, before parsing. Errors are mapped back to the text of the user.

use std::ops::Range;

use turnpike_model::{Diagnostic, Rewriting};

use crate::lower::Parameter;

/// The most names that one message lists.
const MOST_LISTED: usize = 12;

/// A state expression in the data language.
#[derive(Debug, Default)]
pub(super) struct Translation(Rewriting);

/// The identifier that stands for a parameter.
pub(super) fn identifier(index: usize) -> String {
    format!("parameter'{index}'")
}

/// Whether the name of a parameter can be parsed without being replaced.
pub(super) fn is_plain(parameter: &Parameter) -> bool {
    parameter.locations.is_none() && parameter.name.chars().all(is_word)
}

/// Replaces the names of parameters, and locations that they are compared with.
pub(super) fn translate(parameters: &[Parameter], text: &str) -> Result<Translation, Diagnostic> {
    let mut out = Rewriting::default();
    let mut commas = Commas::of(text);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some((index, length)) = find_parameter(parameters, text, at) else {
            // States print `n=3, m=4`, which is accepted as input, too.
            let length = if is_single_equals(text, at) {
                out.replace(at..at + 1, "==");
                1
            } else if commas.join(rest) {
                out.replace(at..at + 1, " && ");
                1
            } else {
                let length = unit_length(rest);
                commas.pass(rest, at);
                out.keep(&rest[..length]);
                length
            };
            at += length;
            continue;
        };
        let parameter = &parameters[index];
        out.replace(at..at + length, &identifier(index));
        at += length;
        let Some(locations) = &parameter.locations else { continue };
        let Some(operator) = comparison(&text[at..]) else {
            return Err(no_comparison(parameters, parameter, text, at - length..at));
        };
        match text[at..at + operator].trim() {
            "=" => out.replace(at..at + operator, " == "),
            _ => out.keep(&text[at..at + operator]),
        }
        at += operator;
        let Some((location, length)) = find_location(locations, &text[at..]) else {
            return Err(unknown_location(parameter, locations, text, at));
        };
        out.replace(at..at + length, &location.to_string());
        at += length;
    }
    commas.finish()?;
    Ok(Translation(out))
}

/// Commas between conditions, as states print values: `n=3, m=4`.
struct Commas {
    /// Whether the text declares variables, so that commas may stand between these.
    declares: bool,
    /// The number of open brackets.
    depth: usize,
    joined: bool,
    /// An operator that binds less tightly than `&&`, outside brackets.
    looser: Option<Range<usize>>,
}

impl Commas {
    fn of(text: &str) -> Self {
        let is_declaration = |word: &str| ["whr", "lambda", "exists", "forall"].contains(&word);
        let declares = text.split(|one| !is_word(one)).any(is_declaration);
        Commas { declares, depth: 0, joined: false, looser: None }
    }

    /// Whether a comma that joins conditions begins here.
    fn join(&mut self, rest: &str) -> bool {
        let joins = rest.starts_with(',') && self.depth == 0 && !self.declares;
        self.joined |= joins;
        joins
    }

    /// Goes past what begins at `at`.
    fn pass(&mut self, rest: &str, at: usize) {
        match rest.chars().next() {
            Some('(' | '[' | '{') => self.depth += 1,
            Some(')' | ']' | '}') => self.depth = self.depth.saturating_sub(1),
            _ if self.depth == 0 && (rest.starts_with("||") || rest.starts_with("=>")) => {
                self.looser = Some(at..at + 2);
            }
            _ => {}
        }
    }

    fn finish(self) -> Result<(), Diagnostic> {
        let Some(place) = self.looser.filter(|_| self.joined) else { return Ok(()) };
        Err(Diagnostic::error("conditions that are separated by commas cannot contain this operator")
            .at(place, "needs parentheses")
            .help("put the condition in parentheses, or write `&&` for the commas"))
    }
}

/// The error about a component that stands at this place without being compared.
fn no_comparison(
    parameters: &[Parameter],
    component: &Parameter,
    text: &str,
    place: Range<usize>,
) -> Diagnostic {
    if let Some(rest) = text[place.end..].strip_prefix('.') {
        let length = rest.find(|one| !is_word(one)).unwrap_or(rest.len());
        let word = &rest[..length];
        let start = format!("{}.", component.name);
        let own = || parameters.iter().filter_map(|one| one.name.strip_prefix(&start));
        let error = Diagnostic::error(format!("`{}` has no parameter `{word}`", component.name))
            .at(place.end + 1..place.end + 1 + length, "not a parameter");
        let error = error.suggest(word, own());
        let listed: Vec<&str> = own().take(MOST_LISTED).collect();
        return match listed.is_empty() {
            true => error,
            false => error.help_if_none(format!("its parameters are {}", listed.join(", "))),
        };
    }
    let example = component.locations.iter().flatten().next().map_or("", String::as_str);
    Diagnostic::error(format!("`{}` must be compared with a location", component.name))
        .at(place, "this is a component")
        .help(format!("write `{} == {example}`", component.name))
}

impl Translation {
    pub(super) fn text(&self) -> &str {
        self.0.text()
    }

    /// Maps a diagnostic about the translation to the original text.
    pub(super) fn restore(&self, parameters: &[Parameter], mut diagnostic: Diagnostic) -> Diagnostic {
        let rename = |text: &mut String| {
            for (index, parameter) in parameters.iter().enumerate() {
                let identifier = identifier(index);
                if text.contains(&identifier) {
                    *text = text.replace(&identifier, &parameter.name);
                }
            }
        };
        rename(&mut diagnostic.message);
        diagnostic.help.iter_mut().for_each(rename);
        if let Some(span) = &mut diagnostic.span {
            rename(&mut span.note);
            span.range = self.0.restore(span.range.clone());
        }
        diagnostic
    }
}

/// The parameter whose name begins here, with or without its component, and the length of that
/// text.
fn find_parameter(parameters: &[Parameter], text: &str, at: usize) -> Option<(usize, usize)> {
    let before = text[..at].trim_end().chars().next_back();
    let joined = text[..at].chars().next_back().is_some_and(is_word);
    if joined || before == Some('.') {
        return None;
    }
    let rest = &text[at..];
    let mut best: Option<(usize, usize)> = None;
    for (index, parameter) in parameters.iter().enumerate() {
        let mut consider = |name: &str| {
            if let Some(length) = match_name(rest, name)
                && best.is_none_or(|(_, known)| known < length)
            {
                best = Some((index, length));
            }
        };
        match is_plain(parameter) {
            true => consider(&format!("{}.{}", parameter.component, parameter.name)),
            false => consider(&parameter.name),
        }
    }
    best
}

/// The length of the text that matches a name, ignoring white space between its parts.
fn match_name(text: &str, name: &str) -> Option<usize> {
    let length = match_spaced(text, name)?;
    let ends_in_word = name.chars().next_back().is_some_and(is_word);
    let goes_on = text[length..].chars().next().is_some_and(is_word);
    (!(ends_in_word && goes_on)).then_some(length)
}

/// The length of the text that matches a pattern, ignoring white space unless it separates two
/// words.
fn match_spaced(text: &str, pattern: &str) -> Option<usize> {
    let mut at = 0;
    let mut last: Option<char> = None;
    for wanted in pattern.chars().filter(|one| !one.is_whitespace()) {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let found = rest[blank..].chars().next()?;
        let splits_word = blank > 0 && is_word(found) && last.is_some_and(is_word);
        let spaced = splits_word && !pattern.contains(' ');
        if found != wanted || spaced || (last.is_none() && blank > 0) {
            return None;
        }
        at += blank + found.len_utf8();
        last = Some(found);
    }
    Some(at)
}

/// Whether there is a single `=` here. After `whr` it defines a variable instead.
fn is_single_equals(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 1..].chars().next();
    text[at..].starts_with('=')
        && !matches!(before, Some('=' | '!' | '<' | '>'))
        && !matches!(after, Some('=' | '>'))
        && !text.split(|one| !is_word(one)).any(|word| word == "whr")
}

/// The length of `==`, `=` or `!=` with the white space around it.
fn comparison(text: &str) -> Option<usize> {
    let operator = text.trim_start();
    let (two, one) = (["==", "!="], operator.strip_prefix('=').filter(|rest| !rest.starts_with('>')));
    let rest = two.iter().find_map(|two| operator.strip_prefix(two)).or(one)?;
    Some(text.len() - rest.trim_start().len())
}

/// The longest location whose name begins here, and the length of that text.
fn find_location(locations: &[String], text: &str) -> Option<(usize, usize)> {
    let ends = |length: usize| {
        let rest = text[length..].trim_start();
        rest.is_empty() || ["&&", "||", "=>", ")", "==", "!=", ","].iter().any(|one| rest.starts_with(one))
    };
    let matches = locations.iter().enumerate().filter_map(|(index, location)| {
        match_spaced(text, location).filter(|&length| ends(length)).map(|length| (index, length))
    });
    matches.max_by_key(|&(_, length)| length)
}

fn unknown_location(parameter: &Parameter, locations: &[String], text: &str, at: usize) -> Diagnostic {
    let rest = &text[at..];
    let length = ["&&", "||", "=>", ")"].iter().filter_map(|one| rest.find(one)).min().unwrap_or(rest.len());
    let word = rest[..length].trim();
    let what = if word.is_empty() { "a location is missing".to_owned() } else { "not a location".to_owned() };
    let listed: Vec<&str> = locations.iter().take(MOST_LISTED).map(String::as_str).collect();
    let more = if locations.len() > MOST_LISTED { ", …" } else { "" };
    Diagnostic::error(format!("expected a location of `{}`", parameter.name))
        .at(at..at + word.len(), what)
        .suggest(word, locations.iter().map(String::as_str))
        .help_if_none(format!("its locations are: {}{more}", listed.join(", ")))
}

/// Suggests a name of the state for an error, or lists the names. A suggestion of the data language
/// stays, unless the word refers to a component.
pub(super) fn suggest(parameters: &[Parameter], text: &str, error: Diagnostic) -> Diagnostic {
    let names = || parameters.iter().map(|parameter| parameter.name.as_str());
    let word = error.span.as_ref().map_or("", |span| name_at(text, span.range.start));
    let error = match &error.help {
        Some(_) if !word.contains(['(', '.']) => error,
        _ => error.suggest(word, names()),
    };
    let listed: Vec<&str> = names().take(MOST_LISTED).collect();
    let more = if parameters.len() > MOST_LISTED { ", …" } else { "" };
    match listed.is_empty() {
        true => error,
        false => error.help_if_none(format!("parameters are {}{more}", listed.join(", "))),
    }
}

/// The name that begins here, as states print names: `Station(3).count`.
fn name_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let word = rest.find(|one| !is_word(one)).unwrap_or(rest.len());
    let arguments = match rest[word..].starts_with('(') {
        true => rest[word..].find(')').map_or(0, |end| end + 1),
        false => 0,
    };
    let end = word + arguments;
    let field = match rest[end..].strip_prefix('.') {
        Some(field) => 1 + field.find(|one| !is_word(one)).unwrap_or(field.len()),
        None => 0,
    };
    &rest[..end + field]
}

/// The length of the word or the character that begins here.
fn unit_length(text: &str) -> usize {
    let word = text.find(|one| !is_word(one)).unwrap_or(text.len());
    word.max(text.chars().next().map_or(0, char::len_utf8))
}

fn is_word(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_' || one == '\''
}
