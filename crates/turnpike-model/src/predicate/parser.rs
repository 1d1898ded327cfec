//! Compiles conditions to instructions. Each level of the grammar is a function. The results on the
//! stack have a kind, so that the same parentheses serve conditions and values.

use std::ops::Range;

use super::Op;
use super::lexer::{Lexer, Token};
use crate::diagnostic::Diagnostic;
use crate::system::ModelInfo;

/// The deepest nesting of parentheses and prefix signs. Each level takes a few calls, so this
/// bounds the stack of the parsing thread.
const MAX_DEPTH: usize = 200;

pub(super) fn parse(text: &str, info: &ModelInfo) -> Result<(Vec<Op>, usize), Diagnostic> {
    let mut lexer = Lexer::new(text, info);
    let (token, place) = lexer.token()?;
    let mut parser = Parser { lexer, token, place, code: Vec::new(), height: 0, highest: 0, depth: 0 };
    if parser.token == Token::End {
        return Err(Diagnostic::error("a condition is missing")
            .at(parser.place, "")
            .help("for instance, compare a measure with a number: `name >= 2`"));
    }
    let whole = parser.or()?;
    parser.condition(&whole)?;
    match parser.token {
        Token::End => Ok((parser.code, parser.highest)),
        Token::Close => Err(Diagnostic::error("this `)` has no `(`").at(parser.place, "")),
        _ => Err(Diagnostic::error("an operator is missing before this").at(parser.place, "")),
    }
}

/// The meaning of a piece of text.
struct Piece {
    kind: Kind,
    place: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Condition,
    Value,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token and its position.
    token: Token,
    place: Range<usize>,
    code: Vec<Op>,
    /// The height of the machine's stack after the code so far, and its maximum.
    height: usize,
    highest: usize,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Range<usize>, Diagnostic> {
        let (token, place) = self.lexer.token()?;
        self.token = token;
        Ok(std::mem::replace(&mut self.place, place))
    }

    /// Adds an instruction that changes the height of the stack by `change`.
    fn emit(&mut self, op: Op, change: isize) {
        self.code.push(op);
        self.height = self.height.wrapping_add_signed(change);
        self.highest = self.highest.max(self.height);
    }

    fn or(&mut self) -> Result<Piece, Diagnostic> {
        self.joined(Token::Or, Self::and, Op::OrElse)
    }

    fn and(&mut self) -> Result<Piece, Diagnostic> {
        self.joined(Token::And, Self::not, Op::AndElse)
    }

    /// Conditions joined by one operator. Every operand except the last jumps to the end if it
    /// decides the result.
    fn joined(
        &mut self,
        operator: Token,
        operand: fn(&mut Self) -> Result<Piece, Diagnostic>,
        jump: fn(u32) -> Op,
    ) -> Result<Piece, Diagnostic> {
        let mut whole = operand(self)?;
        let mut jumps = Vec::new();
        while self.token == operator {
            self.condition(&whole)?;
            self.advance()?;
            jumps.push(self.code.len());
            self.emit(jump(0), -1);
            let next = operand(self)?;
            self.condition(&next)?;
            whole = Piece { kind: Kind::Condition, place: whole.place.start..next.place.end };
        }
        for at in jumps {
            self.code[at] = jump(self.code.len() as u32);
        }
        Ok(whole)
    }

    fn not(&mut self) -> Result<Piece, Diagnostic> {
        if self.token != Token::Not {
            return self.comparison();
        }
        let start = self.advance()?;
        let inner = self.deeper(&start, Self::not)?;
        self.condition(&inner)?;
        self.emit(Op::Not, 0);
        Ok(Piece { kind: Kind::Condition, place: start.start..inner.place.end })
    }

    fn comparison(&mut self) -> Result<Piece, Diagnostic> {
        let left = self.sum()?;
        let Token::Compare(comparison) = self.token else { return Ok(left) };
        self.value(&left)?;
        self.advance()?;
        let right = self.sum()?;
        self.value(&right)?;
        if let Token::Compare(_) = self.token {
            return Err(Diagnostic::error("comparisons cannot be chained")
                .at(self.place.clone(), "")
                .help("write each one by itself: `1 < x && x < 3`"));
        }
        self.emit(Op::Compare(comparison), -1);
        Ok(Piece { kind: Kind::Condition, place: left.place.start..right.place.end })
    }

    fn sum(&mut self) -> Result<Piece, Diagnostic> {
        let mut whole = self.product()?;
        loop {
            let op = match self.token {
                Token::Plus => Op::Add,
                Token::Minus => Op::Subtract,
                _ => return Ok(whole),
            };
            whole = self.operation(whole, op, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Piece, Diagnostic> {
        let mut whole = self.single()?;
        while self.token == Token::Times {
            whole = self.operation(whole, Op::Multiply, Self::single)?;
        }
        Ok(whole)
    }

    fn operation(
        &mut self,
        left: Piece,
        op: Op,
        operand: fn(&mut Self) -> Result<Piece, Diagnostic>,
    ) -> Result<Piece, Diagnostic> {
        self.value(&left)?;
        self.advance()?;
        let right = operand(self)?;
        self.value(&right)?;
        self.emit(op, -1);
        Ok(Piece { kind: Kind::Value, place: left.place.start..right.place.end })
    }

    fn single(&mut self) -> Result<Piece, Diagnostic> {
        let (kind, op) = match self.token {
            Token::Number(value) => (Kind::Value, Op::Number(value)),
            Token::Measure(index) => (Kind::Value, Op::Measure(index)),
            Token::True => (Kind::Condition, Op::Number(1.0)),
            Token::False => (Kind::Condition, Op::Number(0.0)),
            Token::Minus => {
                let start = self.advance()?;
                let inner = self.deeper(&start, Self::single)?;
                self.value(&inner)?;
                self.emit(Op::Negate, 0);
                return Ok(Piece { kind: Kind::Value, place: start.start..inner.place.end });
            }
            Token::Open => {
                let open = self.advance()?;
                let inner = self.deeper(&open, Self::or)?;
                if self.token != Token::Close {
                    return Err(match self.token {
                        Token::End => Diagnostic::error("this `(` is never closed").at(open, ""),
                        _ => {
                            Diagnostic::error("an operator is missing before this").at(self.place.clone(), "")
                        }
                    });
                }
                let close = self.advance()?;
                return Ok(Piece { kind: inner.kind, place: open.start..close.end });
            }
            Token::Not => {
                return Err(Diagnostic::error("`!` cannot stand here")
                    .at(self.place.clone(), "")
                    .help("`!` negates a whole condition: put the condition in parentheses"));
            }
            _ => {
                return Err(Diagnostic::error("a number or a measure is missing before this")
                    .at(self.place.clone(), ""));
            }
        };
        self.emit(op, 1);
        let place = self.advance()?;
        Ok(Piece { kind, place })
    }

    fn deeper(
        &mut self,
        place: &Range<usize>,
        inner: fn(&mut Self) -> Result<Piece, Diagnostic>,
    ) -> Result<Piece, Diagnostic> {
        if self.depth == MAX_DEPTH {
            return Err(Diagnostic::error(format!(
                "the condition is nested more than {MAX_DEPTH} levels deep"
            ))
            .at(place.clone(), ""));
        }
        self.depth += 1;
        let piece = inner(self);
        self.depth -= 1;
        piece
    }

    fn condition(&self, piece: &Piece) -> Result<(), Diagnostic> {
        match piece.kind {
            Kind::Condition => Ok(()),
            Kind::Value => Err(Diagnostic::error("this is a number, but a condition is needed")
                .at(piece.place.clone(), "")
                .help("compare it, for instance `… > 0`")),
        }
    }

    fn value(&self, piece: &Piece) -> Result<(), Diagnostic> {
        match piece.kind {
            Kind::Value => Ok(()),
            Kind::Condition => Err(Diagnostic::error("this is a condition, but a number is needed")
                .at(piece.place.clone(), "")
                .help("conditions are joined with `&&` and `||`, and negated with `!`")),
        }
    }
}
