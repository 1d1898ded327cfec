//! Statements of functions.

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::tree::{Block, Expression, Statement, StatementKind as S};
use super::declaration::Scope;
use super::{Parser, Reading};

impl Parser<'_> {
    /// `{ … }` with its own scope.
    pub(super) fn block(&mut self) -> Reading<Block> {
        let start = self.start();
        self.expect(Kind::LeftBrace, "`{`")?;
        self.context.enter();
        let block = self.block_rest(start);
        self.context.leave();
        block
    }

    fn block_rest(&mut self, start: usize) -> Reading<Block> {
        let mut declarations = Vec::new();
        let mut statements = Vec::new();
        while !self.eat(Kind::RightBrace) {
            if self.peek() == Kind::Typedef || self.at_type() {
                let place = self.token().span.clone();
                let declaration = self.declaration(Scope::Block)?;
                if !statements.is_empty() {
                    let diagnostic = Diagnostic::error("declarations come before the statements of a block")
                        .at(place, "a declaration after a statement")
                        .help("move it to the beginning of the block, or open a new block");
                    return Err(self.context.error(diagnostic));
                }
                declarations.extend(declaration);
            } else {
                statements.push(self.statement()?);
            }
        }
        Ok(Block { declarations, statements, span: self.since(start) })
    }

    fn statement(&mut self) -> Reading<Statement> {
        self.nested(|parser| {
            let start = parser.start();
            let kind = parser.statement_kind()?;
            Ok(Statement { kind, span: parser.since(start) })
        })
    }

    fn boxed(&mut self) -> Reading<Box<Statement>> {
        self.statement().map(Box::new)
    }

    fn statement_kind(&mut self) -> Reading<S> {
        match self.peek() {
            Kind::LeftBrace => self.block().map(S::Block),
            Kind::Semicolon => {
                self.bump();
                Ok(S::Empty)
            }
            Kind::If => {
                self.bump();
                let condition = self.parenthesised()?;
                let then = self.boxed()?;
                let otherwise = if self.eat(Kind::Else) { Some(self.boxed()?) } else { None };
                Ok(S::If { condition, then, otherwise })
            }
            Kind::While => {
                self.bump();
                let condition = self.parenthesised()?;
                Ok(S::While { condition, body: self.boxed()? })
            }
            Kind::Do => {
                self.bump();
                let body = self.boxed()?;
                self.expect(Kind::While, "`while` and a condition")?;
                let condition = self.parenthesised()?;
                self.semicolon()?;
                Ok(S::DoWhile { body, condition })
            }
            Kind::For => self.loop_statement(),
            Kind::Return => {
                self.bump();
                let value = if self.peek() == Kind::Semicolon { None } else { Some(self.expression()?) };
                self.semicolon()?;
                Ok(S::Return(value))
            }
            Kind::Assert => {
                self.bump();
                let condition = self.expression()?;
                self.semicolon()?;
                Ok(S::Assert(condition))
            }
            Kind::Reserved => {
                let token = self.token().clone();
                let construct = format!("`{}` statements", token.text);
                Err(self.unsupported(&construct, token.span, "use `if`, `while` or `return`"))
            }
            _ => {
                let expression = self.expression()?;
                self.semicolon()?;
                Ok(S::Expression(expression))
            }
        }
    }

    fn semicolon(&mut self) -> Reading<()> {
        self.expect(Kind::Semicolon, "an operator or `;`").map(|_| ())
    }

    fn loop_statement(&mut self) -> Reading<S> {
        self.bump();
        self.expect(Kind::LeftParenthesis, "`(`")?;
        if self.peek() == Kind::Name && self.peek_at(1) == Kind::Colon {
            let variable = self.name("a name")?;
            self.bump();
            let ty = self.ty()?;
            self.expect(Kind::RightParenthesis, "`)`")?;
            self.context.enter();
            self.context.declare(&variable.name, false);
            let body = self.boxed();
            self.context.leave();
            return Ok(S::Iterate { variable, ty, body: body? });
        }
        if self.at_type() {
            let place = self.token().span.clone();
            let diagnostic = Diagnostic::error("`for` cannot declare a variable with a value")
                .at(place, "a declaration")
                .help("declare it before the loop, or go through a type as in `for (i : int[0,3])`");
            return Err(self.context.error(diagnostic));
        }
        let initial = self.expressions_before(Kind::Semicolon)?;
        self.expect(Kind::Semicolon, "`,` or `;`")?;
        let condition = self.expressions_before(Kind::Semicolon)?;
        self.expect(Kind::Semicolon, "`,` or `;`")?;
        let step = self.expressions_before(Kind::RightParenthesis)?;
        self.expect(Kind::RightParenthesis, "`,` or `)`")?;
        Ok(S::For { initial, condition, step, body: self.boxed()? })
    }

    fn parenthesised(&mut self) -> Reading<Vec<Expression>> {
        self.expect(Kind::LeftParenthesis, "`(` and a condition")?;
        let condition = self.expressions()?;
        self.expect(Kind::RightParenthesis, "an operator or `)`")?;
        Ok(condition)
    }

    fn expressions_before(&mut self, end: Kind) -> Reading<Vec<Expression>> {
        if self.peek() == end { Ok(Vec::new()) } else { self.expressions() }
    }
}
