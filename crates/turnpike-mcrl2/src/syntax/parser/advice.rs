//! Messages for text that does not fit the grammar.

use turnpike_model::Diagnostic;

use super::super::symbol::Span;
use super::{Kind, Parsed, Parser};

/// Advice for comments in the style of other languages.
const COMMENTS: &str = "comments start with `%`";

impl Parser<'_> {
    /// "expected …, found …", with advice that fits what was found.
    pub(super) fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let found = self.found();
        let diagnostic =
            Diagnostic::error(format!("expected {expected}, found {found}")).at(self.span().range(), "");
        Box::new(match self.advice() {
            Some(advice) => diagnostic.help(advice),
            None => diagnostic,
        })
    }

    /// The current token, as written.
    fn found(&self) -> String {
        match self.kind() {
            Kind::End => "the end of the text".to_owned(),
            _ => {
                let text = self.text(self.span());
                let shown: String = text.chars().take(40).collect();
                let dots = if shown.len() < text.len() { "…" } else { "" };
                format!("`{shown}{dots}`")
            }
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.kind() {
            Kind::Is => "`=` defines; to compare, write `==`",
            Kind::Else => {
                "`<>` needs a condition `c -> p` before it, inside the same parentheses and without a `<>` of its own"
            }
            Kind::Reserved => return Some(format!("`{}` is a reserved word", self.text(self.span()))),
            Kind::Colon if self.peek(1) == Kind::Is => "an assignment is written `x = e`",
            Kind::Semicolon if self.previous_kind() == Some(Kind::Semicolon) => "one `;` is enough",
            _ if self.at_foreign_comment() => COMMENTS,
            _ if self.at_section() => "a `;` may be missing before the new section",
            _ => return None,
        };
        Some(advice.to_owned())
    }

    /// Whether a comment in the style of another language begins here.
    fn at_foreign_comment(&self) -> bool {
        self.kind() == Kind::Slash && matches!(self.peek(1), Kind::Slash | Kind::Star)
    }

    /// Expects a bracket after data, with advice about operators that data do not have.
    pub(super) fn expect_after_data(&mut self, kind: Kind, expected: &str) -> Parsed<Span> {
        if self.kind() == kind {
            return Ok(self.bump());
        }
        let mut error = self.unexpected(expected);
        error.help = match self.kind() {
            Kind::Bar => Some("`|` is not an operator on data; disjunction is written `||`".to_owned()),
            Kind::Before | Kind::LeftMerge | Kind::At => {
                Some("this is an operator of processes, not of data".to_owned())
            }
            _ => error.help,
        };
        Err(error)
    }

    fn previous_kind(&self) -> Option<Kind> {
        self.position.checked_sub(1).map(|before| self.tokens[before].kind)
    }

    /// Reports a missing name.
    pub(super) fn no_name(&self, role: &str) -> Box<Diagnostic> {
        let span = self.span();
        let text = self.text(span);
        if text.starts_with(|first: char| first.is_ascii_alphabetic()) && !self.at_section() {
            return Box::new(
                Diagnostic::error(format!("`{text}` is a reserved word and cannot name {role}"))
                    .at(span.range(), "")
                    .help(format!("choose another name, such as `{text}_`")),
            );
        }
        if self.kind() == Kind::Number {
            return Box::new(
                Diagnostic::error(format!("expected the name of {role}, found a number"))
                    .at(span.range(), "")
                    .help("names start with a letter or `_`"),
            );
        }
        self.unexpected(&format!("the name of {role}"))
    }

    /// Reports a missing operand of a process, or an operator that processes do not have.
    pub(super) fn no_process(&self, expected: &str) -> Box<Diagnostic> {
        match self.kind() {
            Kind::Number | Kind::True | Kind::False | Kind::Not | Kind::Minus | Kind::Hash => Box::new(
                Diagnostic::error(format!("expected a process, found data: {}", self.found()))
                    .at(self.span().range(), "")
                    .help("data stands before `->`; with operators it needs parentheses: `(…) -> p`"),
            ),
            kind if is_data_operator(kind) => {
                let help = match self.at_foreign_comment() {
                    true => COMMENTS,
                    false => "a condition with operators needs parentheses: `(…) -> p`",
                };
                Box::new(
                    Diagnostic::error(format!("{} is not an operator on processes", self.found()))
                        .at(self.span().range(), "")
                        .help(help),
                )
            }
            _ => self.unexpected(expected),
        }
    }

    /// Reports two readings of the same text, neither of which is preferred.
    pub(super) fn ambiguous(&self, operator: &str) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(format!("this `{operator}` may belong inside or outside of what precedes it"))
                .at(self.span().range(), "")
                .help("add parentheses"),
        )
    }
}

/// Whether a token is an operator of data but not of processes.
pub(super) fn is_data_operator(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        Implies
            | And
            | Equal
            | NotEqual
            | Less
            | LessEqual
            | Greater
            | GreaterEqual
            | In
            | Div
            | Mod
            | Star
            | Slash
            | Minus
            | Cons
            | Snoc
            | Concat
            | Arrow
            | OpenBracket
            | Whr
    )
}
