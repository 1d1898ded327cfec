//! Expressions, by precedence climbing.
//!
//! Heights are tracked while trees are built, because a long chain makes a high tree without any
//! nesting. Chains of `&&` and `||` are balanced instead, so a condition may have any number of
//! parts.

use std::ops::Range;

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::tree::{Binary, Expression, ExpressionKind as E, HEIGHT, Quantifier, Step, Type, Unary};
use super::{Failed, Parser, Reading};

/// An expression and its height.
pub(super) struct Tall {
    expression: Expression,
    height: u32,
}

/// Binary operators, and their binding strength.
fn binary(kind: Kind, old: bool) -> Option<(Binary, u8)> {
    Some(match kind {
        Kind::Star => (Binary::Multiply, 11),
        Kind::Slash => (Binary::Divide, 11),
        Kind::Percent => (Binary::Remainder, 11),
        Kind::Plus => (Binary::Add, 10),
        Kind::Minus => (Binary::Subtract, 10),
        Kind::ShiftLeft => (Binary::ShiftLeft, 9),
        Kind::ShiftRight => (Binary::ShiftRight, 9),
        Kind::Minimum => (Binary::Minimum, 8),
        Kind::Maximum => (Binary::Maximum, 8),
        Kind::Less => (Binary::Less, 7),
        Kind::LessEqual => (Binary::LessEqual, 7),
        Kind::GreaterEqual => (Binary::GreaterEqual, 7),
        Kind::Greater => (Binary::Greater, 7),
        Kind::OldLessEqual if old => (Binary::LessEqual, 7),
        Kind::OldGreaterEqual if old => (Binary::GreaterEqual, 7),
        Kind::Equal => (Binary::Equal, 6),
        Kind::NotEqual => (Binary::NotEqual, 6),
        Kind::Ampersand => (Binary::BitAnd, 5),
        Kind::Caret => (Binary::BitXor, 4),
        Kind::Bar => (Binary::BitOr, 3),
        Kind::And => (Binary::And, 2),
        Kind::Or => (Binary::Or, 1),
        Kind::Imply => (Binary::Imply, 1),
        _ => return None,
    })
}

fn assignment(kind: Kind) -> Option<Option<Binary>> {
    Some(match kind {
        Kind::Becomes => None,
        Kind::AddBecomes => Some(Binary::Add),
        Kind::SubtractBecomes => Some(Binary::Subtract),
        Kind::MultiplyBecomes => Some(Binary::Multiply),
        Kind::DivideBecomes => Some(Binary::Divide),
        Kind::RemainderBecomes => Some(Binary::Remainder),
        Kind::BitAndBecomes => Some(Binary::BitAnd),
        Kind::BitOrBecomes => Some(Binary::BitOr),
        Kind::BitXorBecomes => Some(Binary::BitXor),
        Kind::ShiftLeftBecomes => Some(Binary::ShiftLeft),
        Kind::ShiftRightBecomes => Some(Binary::ShiftRight),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression, including assignments.
    pub(in super::super) fn expression(&mut self) -> Reading<Expression> {
        self.tall().map(|tall| tall.expression)
    }

    /// Comma-separated expressions.
    pub(in super::super) fn expressions(&mut self) -> Reading<Vec<Expression>> {
        let mut all = vec![self.expression()?];
        while self.eat(Kind::Comma) {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    /// A guard or an invariant: in the old syntax commas are conjunctions.
    pub(in super::super) fn condition(&mut self) -> Reading<Expression> {
        let first = self.tall()?;
        if !self.old() {
            if self.peek() == Kind::Comma {
                let place = self.token().span.clone();
                return Err(self.context.error(
                    Diagnostic::error("expected one condition, found `,`")
                        .at(place, "unexpected")
                        .help("join conditions with `&&`"),
                ));
            }
            return Ok(first.expression);
        }
        let mut chain = Vec::new();
        flatten(first, Binary::And, &mut chain);
        while self.eat(Kind::Comma) {
            let next = self.tall()?;
            flatten(next, Binary::And, &mut chain);
        }
        self.balance(Binary::And, chain).map(|tall| tall.expression)
    }

    /// A channel or another named object: no operators.
    pub(in super::super) fn reference(&mut self) -> Reading<Expression> {
        let start = self.start();
        let operand = self.operand()?;
        self.postfix(operand, start, false).map(|tall| tall.expression)
    }

    fn tall(&mut self) -> Reading<Tall> {
        self.nested(|parser| {
            let start = parser.start();
            let target = parser.conditional()?;
            let Some(operator) = assignment(parser.peek()) else { return Ok(target) };
            parser.bump();
            let value = parser.tall()?;
            let height = target.height.max(value.height);
            parser.grown(
                start,
                height,
                E::Assign(operator, Box::new(target.expression), Box::new(value.expression)),
            )
        })
    }

    fn conditional(&mut self) -> Reading<Tall> {
        let start = self.start();
        let condition = self.chain(1)?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let then = self.tall()?;
        self.expect(Kind::Colon, "`:` and what holds otherwise")?;
        let otherwise = self.nested(Self::conditional)?;
        let height = condition.height.max(then.height).max(otherwise.height);
        let kind = E::Conditional(
            Box::new(condition.expression),
            Box::new(then.expression),
            Box::new(otherwise.expression),
        );
        self.grown(start, height, kind)
    }

    /// Operands joined by operators that bind at least as tightly as `least`.
    fn chain(&mut self, least: u8) -> Reading<Tall> {
        let start = self.start();
        let mut left = self.prefix()?;
        while let Some((operator, strength)) = binary(self.peek(), self.old())
            && strength >= least
        {
            if matches!(operator, Binary::And | Binary::Or) {
                let same = |kind| binary(kind, false).is_some_and(|(other, _)| other == operator);
                let mut chain = Vec::new();
                flatten(left, operator, &mut chain);
                while same(self.peek()) {
                    self.bump();
                    let right = self.nested(|parser| parser.chain(strength + 1))?;
                    flatten(right, operator, &mut chain);
                }
                left = self.balance(operator, chain)?;
                left.expression.span = self.since(start);
            } else {
                self.bump();
                let right = self.nested(|parser| parser.chain(strength + 1))?;
                let height = left.height.max(right.height);
                let kind = E::Binary(operator, Box::new(left.expression), Box::new(right.expression));
                left = self.grown(start, height, kind)?;
            }
        }
        Ok(left)
    }

    /// A tree of logarithmic height over operands in order.
    fn balance(&mut self, operator: Binary, mut chain: Vec<Tall>) -> Reading<Tall> {
        while chain.len() > 1 {
            let mut shorter = Vec::with_capacity(chain.len().div_ceil(2));
            let mut operands = chain.into_iter();
            while let Some(left) = operands.next() {
                let Some(right) = operands.next() else {
                    shorter.push(left);
                    break;
                };
                let height = left.height.max(right.height);
                let span = left.expression.span.start..right.expression.span.end;
                let kind = E::Binary(operator, Box::new(left.expression), Box::new(right.expression));
                shorter.push(self.grown_at(span, height, kind)?);
            }
            chain = shorter;
        }
        chain.pop().ok_or(Failed)
    }

    fn prefix(&mut self) -> Reading<Tall> {
        let start = self.start();
        let operator = match self.peek() {
            Kind::Minus if self.minimum_follows() => {
                self.bump();
                self.bump();
                return Ok(Tall {
                    expression: Expression { kind: E::Integer(i32::MIN), span: self.since(start) },
                    height: 1,
                });
            }
            Kind::Minus => Unary::Minus,
            Kind::Plus => Unary::Plus,
            Kind::Not => Unary::Not,
            Kind::Increment | Kind::Decrement => {
                let step =
                    if self.bump().kind == Kind::Increment { Step::PreIncrement } else { Step::PreDecrement };
                let operand = self.nested(Self::prefix)?;
                return self.grown(start, operand.height, E::Step(step, Box::new(operand.expression)));
            }
            Kind::Forall => return self.quantified(Quantifier::Forall),
            Kind::Exists => return self.quantified(Quantifier::Exists),
            Kind::Sum => return self.quantified(Quantifier::Sum),
            _ => {
                let operand = self.operand()?;
                return self.postfix(operand, start, true);
            }
        };
        self.bump();
        let operand = self.nested(Self::prefix)?;
        self.grown(start, operand.height, E::Unary(operator, Box::new(operand.expression)))
    }

    /// The smallest integer is the only one without a positive counterpart.
    fn minimum_follows(&self) -> bool {
        let next = self.at + 1;
        self.peek_at(1) == Kind::Integer
            && self.tokens[next].text.trim_start_matches('0') == "2147483648"
            && !matches!(self.peek_at(2), Kind::LeftBracket | Kind::Dot | Kind::Prime)
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Reading<Tall> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParenthesis, "`(` and a variable with its type, as in `(i : int[0,3])`")?;
        let variable = self.name("the name of a variable")?;
        self.expect(Kind::Colon, "`:` and a type")?;
        let (ty, tall) = self.tall_type()?;
        self.expect(Kind::RightParenthesis, "`)`")?;
        self.context.enter();
        self.context.declare(&variable.name, false);
        let body = self.tall();
        self.context.leave();
        let body = body?;
        let kind = E::Quantified(quantifier, variable, Box::new(ty), Box::new(body.expression));
        self.grown(start, tall.max(body.height), kind)
    }

    fn operand(&mut self) -> Reading<Tall> {
        let start = self.start();
        let kind = match self.peek() {
            Kind::Integer => {
                let text = self.token().text;
                let Ok(value) = text.parse() else {
                    let place = self.token().span.clone();
                    return Err(self.context.error(
                        Diagnostic::error("this number is too large")
                            .at(place, "integers have 32 bits")
                            .help("the largest integer is 2147483647"),
                    ));
                };
                E::Integer(value)
            }
            Kind::Float => {
                // The lexer accepts only valid numbers; one that is too large becomes infinite.
                E::Real(self.token().text.parse().unwrap_or(f64::INFINITY))
            }
            Kind::True => E::Bool(true),
            Kind::False => E::Bool(false),
            Kind::Deadlock => E::Deadlock,
            Kind::Name if self.is_dynamic() => {
                let token = self.token().clone();
                let construct = format!("dynamic templates (`{}`)", token.text);
                return Err(self.unsupported(
                    &construct,
                    token.span,
                    "list all processes on the `system` line",
                ));
            }
            Kind::Name => E::Name(self.token().text.to_owned()),
            Kind::LeftParenthesis => {
                self.bump();
                let mut inner = self.tall()?;
                self.expect(Kind::RightParenthesis, "an operator or `)`")?;
                inner.expression.span = self.since(start);
                return Ok(inner);
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        Ok(Tall { expression: Expression { kind, span: self.since(start) }, height: 1 })
    }

    /// Whether this is an expression of dynamic templates: `spawn P(1)`, `foreach (p : P) …`,
    /// `numOf(P)`, `exit()`.
    fn is_dynamic(&self) -> bool {
        match (self.word_at(0), self.peek_at(1), self.peek_at(2)) {
            (Some("spawn"), Kind::Name, _) => true,
            (Some("numOf"), Kind::LeftParenthesis, Kind::Name) => !self.context.is_declared("numOf"),
            (Some("foreach"), Kind::LeftParenthesis, Kind::Name) => self.peek_at(3) == Kind::Colon,
            (Some("exit"), Kind::LeftParenthesis, Kind::RightParenthesis) => {
                !self.context.is_declared("exit")
            }
            _ => false,
        }
    }

    /// Postfix operators after an operand; with `steps`, also `++` and `--`.
    fn postfix(&mut self, mut operand: Tall, start: usize, steps: bool) -> Reading<Tall> {
        loop {
            let mut height = operand.height;
            let inner = |operand: Tall| Box::new(operand.expression);
            let kind = match self.peek() {
                Kind::LeftBracket => {
                    self.bump();
                    let index = self.tall()?;
                    self.expect(Kind::RightBracket, "an operator or `]`")?;
                    height = height.max(index.height);
                    E::Index(inner(operand), Box::new(index.expression))
                }
                Kind::Dot => {
                    self.bump();
                    let field = self.name("the name of a field, a location or a variable")?;
                    E::Field(inner(operand), field)
                }
                Kind::LeftParenthesis => {
                    self.bump();
                    let mut arguments = Vec::new();
                    if self.peek() != Kind::RightParenthesis {
                        loop {
                            let argument = self.tall()?;
                            height = height.max(argument.height);
                            arguments.push(argument.expression);
                            if !self.eat(Kind::Comma) {
                                break;
                            }
                        }
                    }
                    self.expect(Kind::RightParenthesis, "`,` or `)`")?;
                    E::Call(inner(operand), arguments)
                }
                Kind::Prime => {
                    self.bump();
                    E::Rate(inner(operand))
                }
                Kind::Increment if steps => {
                    self.bump();
                    E::Step(Step::PostIncrement, inner(operand))
                }
                Kind::Decrement if steps => {
                    self.bump();
                    E::Step(Step::PostDecrement, inner(operand))
                }
                _ => return Ok(operand),
            };
            operand = self.grown(start, height, kind)?;
        }
    }

    fn grown(&mut self, start: usize, below: u32, kind: E) -> Reading<Tall> {
        let span = self.since(start);
        self.grown_at(span, below, kind)
    }

    fn grown_at(&mut self, span: Range<usize>, below: u32, kind: E) -> Reading<Tall> {
        if below >= HEIGHT {
            return Err(self.too_deep());
        }
        Ok(Tall { expression: Expression { kind, span }, height: below + 1 })
    }

    /// An expression with its height, for types.
    pub(super) fn measured(&mut self) -> Reading<(Expression, u32)> {
        self.tall().map(|tall| (tall.expression, tall.height))
    }

    fn tall_type(&mut self) -> Reading<(Type, u32)> {
        self.nested(Self::measured_type)
    }
}

/// The operands of a chain, from left to right.
fn flatten(tall: Tall, operator: Binary, chain: &mut Vec<Tall>) {
    let height = tall.height;
    match tall.expression.kind {
        E::Binary(same, left, right) if same == operator => {
            for side in [left, right] {
                flatten(Tall { expression: *side, height: height.saturating_sub(1).max(1) }, operator, chain);
            }
        }
        kind => chain.push(Tall { expression: Expression { kind, span: tall.expression.span }, height }),
    }
}
