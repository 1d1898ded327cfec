//! Parses tokens to a tree. Sorts, data and processes are parsed with an explicit stack each, so
//! only memory limits nesting. A declaration with an error is reported and skipped.

mod advice;
mod data;
mod declaration;
mod formula;
mod process;
mod regular;
mod sort;

pub use formula::parse_formula;

use turnpike_model::Diagnostic;

use super::lexer::{self, Kind, NO_PARTNER, Token};
use super::specification::Specification;
use super::structure;
use super::symbol::{Name, Span, Symbols};
use super::tree::{DataId, Tree, Variable};

/// Further errors are not useful.
const MOST_ERRORS: usize = 100;

/// The error is boxed to keep the result small when there is none.
type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Parses a specification. The tree has every declaration that could be parsed; it is the complete
/// specification if and only if no diagnostic is an error. Diagnostics are in source order.
pub fn parse_specification(source: &str) -> (Specification, Vec<Diagnostic>) {
    let mut parser = match Parser::new(source, Symbols::default()) {
        Ok(parser) => parser,
        Err(diagnostic) => return (Specification::default(), vec![*diagnostic]),
    };
    let sections = parser.sections();
    let (tree, diagnostics) = parser.finish();
    (Specification { tree, sections, added_from: u32::MAX }, diagnostics)
}

/// A data expression with a tree of its own.
#[derive(Clone, Debug)]
pub struct DataExpression {
    /// The tree, whose symbols begin with those given to [`parse_data_expression`].
    pub tree: Tree,
    /// The expression.
    pub root: DataId,
}

/// Parses one data expression, such as the value of a flag. Words in `symbols` keep their ids, so
/// that the expression can be checked against a specification. Positions refer to `source`.
pub fn parse_data_expression(source: &str, symbols: &Symbols) -> (Option<DataExpression>, Vec<Diagnostic>) {
    let mut parser = match Parser::new(source, symbols.clone()) {
        Ok(parser) => parser,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    let root = parser.data().and_then(|root| match parser.kind() {
        Kind::End => Ok(root),
        _ => Err(parser.unexpected("an operator or the end of the expression")),
    });
    let root = match root {
        Ok(root) => Some(root),
        Err(diagnostic) => {
            parser.report(*diagnostic, Span::new(0, source.len() as u32));
            None
        }
    };
    let (tree, diagnostics) = parser.finish();
    (root.filter(|_| diagnostics.is_empty()).map(|root| DataExpression { tree, root }), diagnostics)
}

/// The tokens, the current position, and the results so far.
struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    position: usize,
    tree: Tree,
    diagnostics: Vec<Diagnostic>,
    data: data::Stack,
    sorts: sort::Stack,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, symbols: Symbols) -> Parsed<Self> {
        if u32::try_from(source.len()).is_err() {
            return Err(Box::new(Diagnostic::error("texts of 4 GiB and more cannot be read")));
        }
        let mut diagnostics = Vec::new();
        let mut tokens = lexer::tokens(source, &mut diagnostics);
        structure::find(&mut tokens, &mut diagnostics);
        diagnostics.sort_by_key(place);
        diagnostics.truncate(MOST_ERRORS);
        Ok(Parser {
            source,
            tokens,
            position: 0,
            tree: Tree::new(symbols),
            diagnostics,
            data: data::Stack::default(),
            sorts: sort::Stack::default(),
        })
    }

    fn finish(mut self) -> (Tree, Vec<Diagnostic>) {
        self.diagnostics.sort_by_key(place);
        (self.tree, self.diagnostics)
    }

    fn kind(&self) -> Kind {
        self.tokens[self.position].kind
    }

    /// The kind of the token `ahead` tokens from here.
    fn peek(&self, ahead: usize) -> Kind {
        self.tokens.get(self.position + ahead).map_or(Kind::End, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// The previous token, or the start of the text.
    fn previous(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |before| self.tokens[before].span)
    }

    fn text(&self, span: Span) -> &'s str {
        &self.source[span.range()]
    }

    /// Advances past the current token, unless it is the end.
    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.kind() != Kind::End {
            self.position += 1;
        }
        span
    }

    /// Advances past the current token if it has this kind.
    fn accept(&mut self, kind: Kind) -> bool {
        let here = self.kind() == kind;
        if here {
            self.bump();
        }
        here
    }

    fn expect(&mut self, kind: Kind, described: &str) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.bump()) } else { Err(self.unexpected(described)) }
    }

    /// Whether a section starts here. A keyword before `:` or similar tokens is used as a name.
    fn at_section(&self) -> bool {
        let kind = self.kind();
        let used_as_name = match self.peek(1) {
            Kind::Colon | Kind::Comma | Kind::Is => true,
            Kind::Semicolon => kind != Kind::InitKeyword,
            _ => false,
        };
        kind.starts_section() && !used_as_name
    }

    /// A name for a `role`, such as "a sort".
    fn name(&mut self, role: &str) -> Parsed<Name> {
        if self.kind() != Kind::Identifier {
            return Err(self.no_name(role));
        }
        let span = self.bump();
        Ok(Name { symbol: self.tree.symbols.intern(self.text(span)), span })
    }

    /// One or more names with commas between them.
    fn names(&mut self, role: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(role)?];
        while self.accept(Kind::Comma) {
            names.push(self.name(role)?);
        }
        Ok(names)
    }

    /// `x, y: S, z: T`
    fn variables(&mut self, role: &str, variables: &mut Vec<Variable>) -> Parsed<()> {
        loop {
            let names = self.names(role)?;
            self.expect(Kind::Colon, "`:` and a sort")?;
            let sort = self.sort()?;
            variables.extend(names.into_iter().map(|name| Variable { name, sort }));
            if !self.accept(Kind::Comma) {
                return Ok(());
            }
        }
    }

    /// The index after a bracket and its partner, if there is an opening bracket of this kind at
    /// `index`.
    fn after_brackets(&self, index: usize) -> Option<usize> {
        match self.tokens[index].partner {
            NO_PARTNER => None,
            partner => Some(partner as usize + 1),
        }
    }

    /// Records an error, unless there is one for the same stretch of text already.
    fn report(&mut self, diagnostic: Diagnostic, stretch: Span) {
        let within = |other: &Diagnostic| {
            other.span.as_ref().is_some_and(|span| {
                span.range.start >= stretch.range().start && span.range.start < stretch.range().end.max(1)
            })
        };
        if self.diagnostics.len() < MOST_ERRORS && !self.diagnostics.iter().any(within) {
            self.diagnostics.push(diagnostic);
        }
    }
}

fn place(diagnostic: &Diagnostic) -> usize {
    diagnostic.span.as_ref().map_or(usize::MAX, |span| span.range.start)
}
