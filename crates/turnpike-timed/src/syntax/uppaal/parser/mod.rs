//! A hand-written parser with error recovery.
//!
//! A function that fails has already reported the error: [`Failed`] carries no data. Callers that
//! can recover (at the next declaration, the next label) handle it.

mod declaration;
mod expression;
mod process;
mod statement;
mod system;
mod types;

pub(super) use declaration::Scope;
pub(super) use process::{exponential_rate, no_initial, probability, uncontrollable};
pub(super) use system::Parts;

use std::ops::Range;

use rustc_hash::FxHashMap;
use turnpike_model::{Diagnostic, Severity};

use super::lexer::{Kind, Token, tokens};
use super::passage::Passage;
use super::tree::{Dialect, HEIGHT, Identifier};

/// The predeclared types, with their smallest and largest values.
pub(crate) const PREDECLARED_TYPES: [(&str, i32, i32); 5] = [
    ("int8_t", -128, 127),
    ("uint8_t", 0, 255),
    ("int16_t", -32768, 32767),
    ("uint16_t", 0, 65535),
    ("int32_t", i32::MIN, i32::MAX),
];

/// Parsing failed, and the error has been reported.
#[derive(Debug)]
pub(super) struct Failed;

/// The result of parsing.
pub(super) type Reading<T> = Result<T, Failed>;

/// Limit on reported errors.
const ERRORS: usize = 20;

/// Limit on reported warnings.
const WARNINGS: usize = 20;

/// The state that the passages of a model share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) dialect: Dialect,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Names by scope, the innermost last, with whether they are types.
    scopes: Vec<FxHashMap<String, bool>>,
}

impl Context {
    pub(super) fn new(dialect: Dialect) -> Self {
        let mut outermost = FxHashMap::default();
        if dialect == Dialect::New {
            outermost.extend(PREDECLARED_TYPES.iter().map(|&(name, ..)| (name.to_owned(), true)));
        }
        Context { dialect, diagnostics: Vec::new(), scopes: vec![outermost, FxHashMap::default()] }
    }

    pub(super) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Whether to stop parsing.
    pub(super) fn is_full(&self) -> bool {
        self.errors() >= ERRORS
    }

    pub(super) fn error(&mut self, diagnostic: Diagnostic) -> Failed {
        if !self.is_full() {
            self.diagnostics.push(diagnostic);
        }
        Failed
    }

    /// Reports a warning only once, however often it occurs.
    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        let known = self.diagnostics.iter().any(|known| known.message == diagnostic.message);
        if !known && self.diagnostics.len() < ERRORS + WARNINGS {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(FxHashMap::default());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    fn declare(&mut self, name: &str, is_type: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), is_type);
        }
    }

    /// Whether a name has been declared, as a type or otherwise.
    fn is_declared(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
    }

    fn is_type(&self, name: &str) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied()).unwrap_or(false)
    }
}

/// The parser of one passage.
pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: u32,
    pub(super) context: &'a mut Context,
}

impl<'a> Parser<'a> {
    pub(super) fn new(passage: &'a Passage, context: &'a mut Context) -> Self {
        let tokens = tokens(passage, context.dialect);
        Parser { tokens, at: 0, depth: 0, context }
    }

    pub(super) fn old(&self) -> bool {
        self.context.dialect == Dialect::Old
    }

    pub(super) fn peek(&self) -> Kind {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    pub(super) fn token(&self) -> &Token<'a> {
        &self.tokens[self.at]
    }

    /// The word at an offset from the cursor, if the token there is one.
    pub(super) fn word_at(&self, ahead: usize) -> Option<&'a str> {
        self.tokens.get(self.at + ahead).filter(|token| token.kind == Kind::Name).map(|token| token.text)
    }

    pub(super) fn bump(&mut self) -> Token<'a> {
        let token = self.tokens[self.at].clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek() == Kind::End
    }

    /// The start of the next token.
    pub(super) fn start(&self) -> usize {
        self.token().span.start
    }

    /// From `start` to the end of the last consumed token.
    pub(super) fn since(&self, start: usize) -> Range<usize> {
        let end = self.at.checked_sub(1).map_or(start, |before| self.tokens[before].span.end);
        start..end.max(start)
    }

    /// The number of consumed tokens.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn expect(&mut self, kind: Kind, expected: &str) -> Reading<Token<'a>> {
        if self.peek() == kind { Ok(self.bump()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn name(&mut self, what: &str) -> Reading<Identifier> {
        if self.peek() == Kind::Name {
            let token = self.bump();
            return Ok(Identifier { name: token.text.to_owned(), span: token.span });
        }
        let token = self.token();
        let keyword = token.text.starts_with(|first: char| first.is_ascii_alphabetic());
        let mut diagnostic = self.expected(what);
        if keyword {
            diagnostic = diagnostic.help("words of the language cannot be names");
        }
        Err(self.context.error(diagnostic))
    }

    /// Expects the end of the passage.
    pub(super) fn finish(&mut self, expected: &str) -> Reading<()> {
        self.expect(Kind::End, expected).map(|_| ())
    }

    /// Reports that something else was expected here.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        let diagnostic = self.expected(expected);
        self.context.error(diagnostic)
    }

    fn expected(&self, expected: &str) -> Diagnostic {
        let token = self.token();
        let place = token.span.clone();
        match token.kind {
            Kind::End => {
                Diagnostic::error(format!("expected {expected}, but the text ends")).at(place, "ends here")
            }
            Kind::OpenComment => Diagnostic::error("this comment does not end")
                .at(place, "begins here")
                .help("comments end with `*/`; they do not nest"),
            Kind::Unknown => Diagnostic::error(format!("unexpected {}", display_token(token.text)))
                .at(place, "not a token"),
            Kind::Text => Diagnostic::unsupported("strings are not supported").at(place, "a string"),
            Kind::OldLessEqual | Kind::OldGreaterEqual if !self.old() => {
                let (wrong, right) =
                    if token.kind == Kind::OldLessEqual { ("=<", "<=") } else { ("=>", ">=") };
                Diagnostic::error(format!("expected {expected}, found `{wrong}`"))
                    .at(place, "an operator of the old syntax")
                    .help(format!("write `{right}`"))
            }
            _ => Diagnostic::error(format!("expected {expected}, found {}", display_token(token.text)))
                .at(place, "unexpected"),
        }
    }

    /// Rejects a construct of the language that turnpike does not support.
    pub(super) fn unsupported(&mut self, construct: &str, place: Range<usize>, help: &str) -> Failed {
        self.context.error(unsupported(construct, place, help))
    }

    /// Parses one nesting level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Reading<T>) -> Reading<T> {
        if self.depth >= HEIGHT {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) -> Failed {
        let place = self.token().span.clone();
        // Continuing would repeat the error for every level.
        self.at = self.tokens.len() - 1;
        self.context.error(
            Diagnostic::error("this is nested too deeply")
                .at(place, format!("more than {HEIGHT} levels"))
                .help("split it: move parts of it into constants or functions"),
        )
    }

    /// Skips the rest of a declaration: past the next `;`, or past a braced block that opens before
    /// it; stops before an unmatched `}`.
    pub(super) fn skip_declaration(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::Semicolon if open == 0 => {
                    self.bump();
                    return;
                }
                Kind::LeftBrace => open += 1,
                Kind::RightBrace if open == 0 => return,
                Kind::RightBrace => {
                    open -= 1;
                    if open == 0 {
                        self.bump();
                        self.eat(Kind::Semicolon);
                        return;
                    }
                }
                Kind::Process | Kind::System if open == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips a block in braces.
    pub(super) fn skip_braces(&mut self) -> Reading<()> {
        self.expect(Kind::LeftBrace, "`{`")?;
        let mut open = 1_usize;
        while open > 0 {
            match self.peek() {
                Kind::End => return Err(self.unexpected("`}`")),
                Kind::LeftBrace => open += 1,
                Kind::RightBrace => open -= 1,
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }
}

/// The error for an unsupported construct.
pub(super) fn unsupported(construct: &str, place: Range<usize>, help: &str) -> Diagnostic {
    let message = format!("{construct} are not supported");
    let diagnostic = Diagnostic::unsupported(message).at(place, "beyond timed automata");
    if help.is_empty() { diagnostic } else { diagnostic.help(help) }
}

/// A token for a message.
fn display_token(text: &str) -> String {
    let short: String = text.chars().take(30).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
