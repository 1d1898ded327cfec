//! Timed automata: diagnostics of their own readers, and names by their words.
//!
//! The same word may mean different things in different places; here it is one name, and its declaration is where it
//! stands first. So renaming renames all of them, which changes no meaning when the new word is new to the text.

use std::collections::BTreeMap;

use turnpike_model::Diagnostic;
use turnpike_timed::{tck, uppaal};

use crate::analysis::{Analysis, Kind, Language, Symbol, Use};
use crate::layout::{Piece, pieces};

const TCK: &[&str] = &["system", "process", "location", "event", "clock", "int", "edge", "sync"];
const XTA: &[&str] = &[
    "and",
    "assign",
    "bool",
    "branchpoint",
    "broadcast",
    "chan",
    "clock",
    "commit",
    "const",
    "deadlock",
    "do",
    "double",
    "else",
    "exists",
    "false",
    "for",
    "forall",
    "guard",
    "if",
    "imply",
    "init",
    "int",
    "meta",
    "not",
    "or",
    "priority",
    "process",
    "progress",
    "rate",
    "return",
    "scalar",
    "select",
    "state",
    "struct",
    "sum",
    "sync",
    "system",
    "trans",
    "true",
    "typedef",
    "urgent",
    "void",
    "while",
];
/// Words of a TChecker file that are the names of attributes.
const ATTRIBUTES: &[&str] =
    &["initial", "labels", "invariant", "committed", "urgent", "provided", "do", "nop"];

pub(crate) fn check(language: Language, text: &str) -> Vec<Diagnostic> {
    let outcome = match language {
        Language::Tck => tck::read(text).map(|(_, warnings)| warnings),
        _ => uppaal::read(text, uppaal::Format::Xta, &[]).map(|(_, _, warnings)| warnings),
    };
    outcome.unwrap_or_else(|errors| errors)
}

pub(crate) fn analyse(language: Language, text: &str) -> Analysis {
    let keywords = if language == Language::Tck { TCK } else { XTA };
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut uses = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut before = "";
    for piece in pieces(language, text) {
        let Piece::Word(range) = piece else { continue };
        let word = &text[range.clone()];
        let fixed = keywords.contains(&word) || (language == Language::Tck && ATTRIBUTES.contains(&word));
        if !fixed && !word.starts_with(|first: char| first.is_ascii_digit()) {
            let symbol = *known.entry(word).or_insert_with(|| {
                let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
                symbols.push(Symbol {
                    name: word.to_owned(),
                    kind: kind(before),
                    range: range.clone(),
                    whole: range.clone(),
                    detail: text[start..end].trim().to_owned(),
                    scope: None,
                    elsewhere: false,
                });
                symbols.len() - 1
            });
            uses.push(Use { range: range.clone(), symbol });
        }
        before = word;
    }
    Analysis { diagnostics: check(language, text), symbols, uses, keywords }
}

/// What is declared after this word.
fn kind(before: &str) -> Kind {
    match before {
        "process" => Kind::Process,
        "event" | "chan" => Kind::Action,
        "clock" | "int" | "bool" => Kind::Variable,
        "typedef" => Kind::Sort,
        _ => Kind::Name,
    }
}
