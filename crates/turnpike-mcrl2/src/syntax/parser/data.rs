//! Data expressions: operator precedence parsing with an explicit stack. Every operator on the
//! stack knows the weakest level that its right operand accepts; a weaker operator ends it.
//!
//! A binder extends as far to the right as the operator before it allows: in
//! `a && forall x: S. p || c` the `||` is weaker than `&&`, so it ends the binder too. `whr` is the
//! weakest and takes everything to its left.

use turnpike_model::Diagnostic;

use super::super::operator::{Associativity, BinaryOperator, Binder, UnaryOperator};
use super::super::symbol::{Name, Span};
use super::super::tree::{Assignment, Data, DataId, Variable};
use super::{Kind, Parsed, Parser};

/// The level of the operands of prefix operators, which excludes infix operators.
const PREFIX: u8 = 13;
/// The level of binders.
const BINDER: u8 = 1;

/// An incomplete expression.
enum Frame {
    Paren(Span),
    /// The elements from this index on.
    List(usize, Span),
    Set(usize, Span),
    Bag(usize, Span),
    Comprehension(Variable, Span),
    /// The function, and the index of its first argument.
    Arguments(Operand, usize),
    Key(Operand),
    Value(Operand, DataId),
    /// The body, the previous definitions, and the name being defined.
    Where(Operand, Vec<Assignment>, Name),
    Unary(UnaryOperator, Span),
    Binary(BinaryOperator, Operand),
    Binder(Binder, Box<[Variable]>, Span, u8),
}

impl Frame {
    /// The weakest level accepted on the right; 0 inside brackets.
    fn minimum(&self) -> u8 {
        match self {
            Frame::Unary(..) => PREFIX,
            Frame::Binary(operator, _) => {
                operator.level() + u8::from(operator.associativity() == Associativity::Left)
            }
            Frame::Binder(.., minimum) => *minimum,
            _ => 0,
        }
    }
}

/// A complete expression and its position, including parentheses.
#[derive(Clone, Copy)]
struct Operand {
    id: DataId,
    span: Span,
}

/// Reused between calls, and empty outside of them.
#[derive(Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    items: Vec<DataId>,
}

impl Parser<'_> {
    /// Parses a data expression.
    pub(super) fn data(&mut self) -> Parsed<DataId> {
        self.data.frames.clear();
        self.data.items.clear();
        'operand: loop {
            let Some(mut operand) = self.data_operand()? else { continue };
            loop {
                let kind = self.kind();
                if let Some(operator) = infix(kind) {
                    let left = self.data_reduce(operand, operator.level(), operator.text())?;
                    self.bump();
                    self.data.frames.push(Frame::Binary(operator, left));
                    continue 'operand;
                }
                match kind {
                    Kind::OpenParen => {
                        self.bump();
                        self.data.frames.push(Frame::Arguments(operand, self.data.items.len()));
                        continue 'operand;
                    }
                    Kind::OpenBracket => {
                        self.bump();
                        self.data.frames.push(Frame::Key(operand));
                        continue 'operand;
                    }
                    Kind::Whr => {
                        let body = self.data_reduce(operand, 0, "whr")?;
                        self.bump();
                        let name = self.definition()?;
                        self.data.frames.push(Frame::Where(body, Vec::new(), name));
                        continue 'operand;
                    }
                    _ => {}
                }
                operand = self.data_reduce(operand, 0, "")?;
                operand = match self.data_close(operand)? {
                    Close::Finished => return Ok(operand.id),
                    Close::Operand(operand) => operand,
                    Close::Next => continue 'operand,
                };
            }
        }
    }

    /// Parses the data allowed before `->` and after `@` in a process: names, numbers,
    /// applications, prefix operators, parentheses.
    pub(super) fn data_unit(&mut self) -> Parsed<DataId> {
        let mut prefixes = Vec::new();
        while let Some(operator) = prefix(self.kind()) {
            prefixes.push((operator, self.bump()));
        }
        let mut operand = match self.kind() {
            Kind::OpenParen => {
                let open = self.bump();
                let id = self.data()?;
                let close = self.expect_after_data(Kind::CloseParen, "`)` or an operator")?;
                Operand { id, span: open.to(close) }
            }
            _ => match self.atom()? {
                Some(operand) => operand,
                None => return Err(self.unexpected("a name, a number or an expression in parentheses")),
            },
        };
        while self.accept(Kind::OpenParen) {
            let arguments = self.arguments()?;
            let span = operand.span.to(self.previous());
            operand = self.data_node(Data::Apply { function: operand.id, arguments }, span);
        }
        for (operator, start) in prefixes.into_iter().rev() {
            operand = self.data_node(Data::Unary(operator, operand.id), start.to(operand.span));
        }
        Ok(operand.id)
    }

    /// Parses one or more expressions up to `)`, which is consumed.
    pub(super) fn arguments(&mut self) -> Parsed<Box<[DataId]>> {
        let mut arguments = vec![self.data()?];
        while self.accept(Kind::Comma) {
            arguments.push(self.data()?);
        }
        self.expect_after_data(Kind::CloseParen, "`,`, `)` or an operator")?;
        Ok(arguments.into())
    }

    fn data_node(&mut self, data: Data, span: Span) -> Operand {
        Operand { id: self.tree.add_data(data, span), span }
    }

    /// A name, a number or a truth value.
    fn atom(&mut self) -> Parsed<Option<Operand>> {
        let span = self.span();
        let data = match self.kind() {
            Kind::Identifier => Data::Name(self.tree.symbols.intern(self.text(span))),
            // Leading zeros were reported. The digits are stored without them, as the tree
            // requires.
            Kind::Number => {
                let digits = self.text(span);
                let trimmed = digits.trim_start_matches('0');
                let digits = if trimmed.is_empty() { "0" } else { trimmed };
                Data::Number(self.tree.symbols.intern(digits))
            }
            Kind::True => Data::Bool(true),
            Kind::False => Data::Bool(false),
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some(self.data_node(data, span)))
    }

    /// Parses an operand without operators, or pushes a frame and returns nothing.
    fn data_operand(&mut self) -> Parsed<Option<Operand>> {
        if let Some(operand) = self.atom()? {
            return Ok(Some(operand));
        }
        let span = self.span();
        let items = self.data.items.len();
        let frame = match self.kind() {
            Kind::OpenParen => Frame::Paren(span),
            Kind::OpenBracket if self.peek(1) == Kind::CloseBracket => {
                self.bump();
                let span = span.to(self.bump());
                return Ok(Some(self.data_node(Data::List(Box::default()), span)));
            }
            Kind::OpenBracket => Frame::List(items, span),
            Kind::OpenBrace => return self.brace(span),
            kind => {
                if let Some(operator) = prefix(kind) {
                    Frame::Unary(operator, span)
                } else if let Some(binder) = binder(kind) {
                    self.bump();
                    let mut variables = Vec::new();
                    self.variables("a variable", &mut variables)?;
                    if self.kind() != Kind::Dot {
                        return Err(self.unexpected("`,` or `.` after the variables"));
                    }
                    let minimum = self.data.frames.last().map_or(0, Frame::minimum).max(BINDER);
                    Frame::Binder(binder, variables.into(), span, minimum)
                } else {
                    return Err(self.no_data());
                }
            }
        };
        self.bump();
        self.data.frames.push(frame);
        Ok(None)
    }

    fn no_data(&self) -> Box<Diagnostic> {
        use Kind::*;
        match self.kind() {
            Struct | Bool | Pos | Nat | Int | Real | List | Set | Bag | FSet | FBag | Reserved | Delta
            | Tau | Sum | Dist | Block | Allow | Hide | Rename | Comm => {
                let span = self.span();
                let text = self.text(span);
                Box::new(
                    Diagnostic::error(format!("`{text}` is a reserved word and cannot be part of data"))
                        .at(span.range(), "")
                        .help("expected an expression here"),
                )
            }
            _ => self.unexpected("an expression"),
        }
    }

    /// After `{`: an empty set or bag, a comprehension, or elements.
    fn brace(&mut self, open: Span) -> Parsed<Option<Operand>> {
        let comprehension = self.tokens[self.position].flag;
        self.bump();
        match self.kind() {
            Kind::CloseBrace => {
                let span = open.to(self.bump());
                Ok(Some(self.data_node(Data::Set(Box::default()), span)))
            }
            Kind::Colon if self.peek(1) == Kind::CloseBrace => {
                self.bump();
                let span = open.to(self.bump());
                Ok(Some(self.data_node(Data::Bag(Box::default()), span)))
            }
            Kind::Identifier if comprehension && self.peek(1) == Kind::Colon => {
                let name = self.name("a variable")?;
                self.bump();
                let sort = self.sort()?;
                self.expect(Kind::Bar, "`|` and a condition or a count")?;
                self.data.frames.push(Frame::Comprehension(Variable { name, sort }, open));
                Ok(None)
            }
            _ => {
                self.data.frames.push(Frame::Set(self.data.items.len(), open));
                Ok(None)
            }
        }
    }

    /// `x =` in a `whr` clause.
    fn definition(&mut self) -> Parsed<Name> {
        let name = self.name("a variable")?;
        self.expect(Kind::Is, "`=` and the value of the name")?;
        Ok(name)
    }

    /// Completes the operators before `operand` that bind tighter than `level`.
    fn data_reduce(&mut self, mut operand: Operand, level: u8, operator: &str) -> Parsed<Operand> {
        let mut binder_ended = false;
        while self.data.frames.last().is_some_and(|frame| level < frame.minimum()) {
            operand = match self.data.frames.pop() {
                Some(Frame::Unary(operator, start)) => {
                    self.data_node(Data::Unary(operator, operand.id), start.to(operand.span))
                }
                Some(Frame::Binary(before, left)) => {
                    // In `a == forall x: S. p == c` the last operator fits inside and outside
                    // equally well.
                    if binder_ended && before.level() == level {
                        return Err(self.ambiguous(operator));
                    }
                    let span = left.span.to(operand.span);
                    self.data_node(Data::Binary(before, left.id, operand.id), span)
                }
                Some(Frame::Binder(binder, variables, start, _)) => {
                    binder_ended = true;
                    let data = Data::Binder { binder, variables, body: operand.id };
                    self.data_node(data, start.to(operand.span))
                }
                _ => unreachable!("brackets accept every level"),
            };
        }
        Ok(operand)
    }

    /// Continues after an operand and all its operators, as the enclosing brackets require.
    fn data_close(&mut self, operand: Operand) -> Parsed<Close> {
        let Some(frame) = self.data.frames.pop() else { return Ok(Close::Finished) };
        let comma = self.kind() == Kind::Comma;
        let (frame, finished) = match frame {
            Frame::Paren(open) => {
                let close = self.expect_after_data(Kind::CloseParen, "`)` or an operator")?;
                return Ok(Close::Operand(Operand { id: operand.id, span: open.to(close) }));
            }
            Frame::Arguments(function, first) => {
                self.data.items.push(operand.id);
                if comma {
                    (Frame::Arguments(function, first), None)
                } else {
                    let close = self.expect_after_data(Kind::CloseParen, "`,`, `)` or an operator")?;
                    let arguments = self.data.items.drain(first..).collect();
                    let data = Data::Apply { function: function.id, arguments };
                    return Ok(Close::Operand(self.data_node(data, function.span.to(close))));
                }
            }
            Frame::List(first, open) => {
                self.data.items.push(operand.id);
                if comma {
                    (Frame::List(first, open), None)
                } else {
                    let close = self.expect_after_data(Kind::CloseBracket, "`,`, `]` or an operator")?;
                    (Frame::List(first, open), Some(close))
                }
            }
            Frame::Set(first, open) => {
                self.data.items.push(operand.id);
                if comma {
                    (Frame::Set(first, open), None)
                } else if self.kind() == Kind::Colon && self.data.items.len() == first + 1 {
                    (Frame::Bag(first, open), None)
                } else {
                    let close = self.expect_after_data(Kind::CloseBrace, "`,`, `}` or an operator")?;
                    (Frame::Set(first, open), Some(close))
                }
            }
            Frame::Bag(first, open) => {
                self.data.items.push(operand.id);
                let counted = (self.data.items.len() - first).is_multiple_of(2);
                if counted && !comma {
                    let close = self.expect_after_data(Kind::CloseBrace, "`,`, `}` or an operator")?;
                    (Frame::Bag(first, open), Some(close))
                } else if counted || self.kind() == Kind::Colon {
                    (Frame::Bag(first, open), None)
                } else {
                    return Err(self.unexpected("`:` and a count"));
                }
            }
            Frame::Comprehension(variable, open) => {
                let close = self.expect_after_data(Kind::CloseBrace, "`}` or an operator")?;
                let data = Data::Comprehension { variable, body: operand.id };
                return Ok(Close::Operand(self.data_node(data, open.to(close))));
            }
            Frame::Key(_) if self.kind() != Kind::Arrow => return Err(self.unexpected("`->` and a value")),
            Frame::Key(function) => (Frame::Value(function, operand.id), None),
            Frame::Value(function, key) => {
                let close = self.expect_after_data(Kind::CloseBracket, "`]` or an operator")?;
                let data = Data::Update { function: function.id, key, value: operand.id };
                return Ok(Close::Operand(self.data_node(data, function.span.to(close))));
            }
            Frame::Where(body, mut definitions, name) => {
                definitions.push(Assignment { name, value: operand.id });
                return self.where_close(body, definitions);
            }
            Frame::Unary(..) | Frame::Binary(..) | Frame::Binder(..) => unreachable!("reduced before"),
        };
        let Some(close) = finished else {
            // The token is `,`, `:` or `->`.
            self.bump();
            self.data.frames.push(frame);
            return Ok(Close::Next);
        };
        Ok(Close::Operand(self.finish_enumeration(frame, close)))
    }

    /// A list, set or bag after its last bracket.
    fn finish_enumeration(&mut self, frame: Frame, close: Span) -> Operand {
        let (data, open) = match frame {
            Frame::List(first, open) => (Data::List(self.data.items.drain(first..).collect()), open),
            Frame::Set(first, open) => (Data::Set(self.data.items.drain(first..).collect()), open),
            Frame::Bag(first, open) => {
                let pairs = self.data.items[first..].chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                self.data.items.truncate(first);
                (Data::Bag(pairs), open)
            }
            _ => unreachable!("only enumerations finish here"),
        };
        self.data_node(data, open.to(close))
    }

    /// After a definition of `whr`: another one, or `end`.
    fn where_close(&mut self, body: Operand, definitions: Vec<Assignment>) -> Parsed<Close> {
        if self.accept(Kind::Comma) {
            let name = self.definition()?;
            self.data.frames.push(Frame::Where(body, definitions, name));
            return Ok(Close::Next);
        }
        let end = self.expect_after_data(Kind::EndKeyword, "`,`, `end` or an operator")?;
        let data = Data::Where { body: body.id, definitions: definitions.into() };
        let operand = self.data_node(data, body.span.to(end));
        self.after_where(operand)
    }

    /// `e whr x = 1 end + 2` has no standard reading.
    fn after_where(&mut self, operand: Operand) -> Parsed<Close> {
        let kind = self.kind();
        if infix(kind).is_some() || kind == Kind::OpenParen || kind == Kind::OpenBracket {
            return Err(Box::new(
                Diagnostic::error("nothing but another `whr` can follow `whr … end` directly")
                    .at(self.span().range(), "")
                    .help("put parentheses around the expression with its `whr … end`"),
            ));
        }
        Ok(Close::Operand(operand))
    }
}

/// The continuation after an operand.
enum Close {
    /// The expression is complete.
    Finished,
    /// Brackets were closed, giving this operand.
    Operand(Operand),
    /// Another operand follows.
    Next,
}

fn prefix(kind: Kind) -> Option<UnaryOperator> {
    Some(match kind {
        Kind::Not => UnaryOperator::Not,
        Kind::Minus => UnaryOperator::Minus,
        Kind::Hash => UnaryOperator::Size,
        _ => return None,
    })
}

fn binder(kind: Kind) -> Option<Binder> {
    Some(match kind {
        Kind::Forall => Binder::Forall,
        Kind::Exists => Binder::Exists,
        Kind::Lambda => Binder::Lambda,
        _ => return None,
    })
}

fn infix(kind: Kind) -> Option<BinaryOperator> {
    Some(match kind {
        Kind::Implies => BinaryOperator::Implies,
        Kind::BarBar => BinaryOperator::Or,
        Kind::And => BinaryOperator::And,
        Kind::Equal => BinaryOperator::Equal,
        Kind::NotEqual => BinaryOperator::NotEqual,
        Kind::Less => BinaryOperator::Less,
        Kind::LessEqual => BinaryOperator::LessEqual,
        Kind::GreaterEqual => BinaryOperator::GreaterEqual,
        Kind::Greater => BinaryOperator::Greater,
        Kind::In => BinaryOperator::In,
        Kind::Cons => BinaryOperator::Cons,
        Kind::Snoc => BinaryOperator::Snoc,
        Kind::Concat => BinaryOperator::Concat,
        Kind::Plus => BinaryOperator::Add,
        Kind::Minus => BinaryOperator::Subtract,
        Kind::Slash => BinaryOperator::Divide,
        Kind::Div => BinaryOperator::Div,
        Kind::Mod => BinaryOperator::Mod,
        Kind::Star => BinaryOperator::Multiply,
        Kind::Dot => BinaryOperator::At,
        _ => return None,
    })
}
