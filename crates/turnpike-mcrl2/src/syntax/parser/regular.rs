//! Regular formulas and action formulas share one operator grammar: the connectives of actions bind
//! tighter than those of paths, and parentheses may contain either.

use turnpike_model::Diagnostic;

use super::super::formula::{Action, Connective, Regular, RegularKind};
use super::super::symbol::Span;
use super::super::tree::Data;
use super::{Kind, Parsed, Parser};

/// `+`, then `.`, then the postfix operators, then the connectives of actions.
const CHOICE: u8 = 1;
const SEQUENCE: u8 = 2;
const IMPLIES: u8 = 4;
const OR: u8 = 5;
const AND: u8 = 6;

impl Parser<'_> {
    /// Parses a regular formula with operators of this level or higher.
    pub(super) fn regular(&mut self, level: u8, depth: usize) -> Parsed<Regular> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.regular_from(level, depth))
    }

    fn regular_from(&mut self, level: u8, depth: usize) -> Parsed<Regular> {
        self.too_deep(depth)?;
        let mut left = self.regular_operand(depth)?;
        loop {
            let (operator, found) = match self.kind() {
                Kind::Implies => (Some(Connective::Implies), IMPLIES),
                Kind::BarBar => (Some(Connective::Or), OR),
                Kind::And => (Some(Connective::And), AND),
                Kind::Dot => (None, SEQUENCE),
                // `a++b` means `a+ + b`.
                Kind::Concat if level <= CHOICE => {
                    let span = left.span.to(self.bump());
                    left = Regular { kind: RegularKind::Plus(Box::new(left)), span };
                    let right = self.regular(SEQUENCE, depth + 1)?;
                    let span = left.span.to(right.span);
                    left = Regular { kind: RegularKind::Choice(Box::new(left), Box::new(right)), span };
                    continue;
                }
                Kind::Plus if self.starts_regular(1) => (None, CHOICE),
                Kind::Star | Kind::Plus if level <= SEQUENCE + 1 => {
                    let star = self.kind() == Kind::Star;
                    let span = left.span.to(self.bump());
                    let body = Box::new(left);
                    let kind = if star { RegularKind::Star(body) } else { RegularKind::Plus(body) };
                    left = Regular { kind, span };
                    continue;
                }
                Kind::At => return Err(self.no_time()),
                _ => return Ok(left),
            };
            if found < level {
                return Ok(left);
            }
            self.bump();
            // `+` nests to the left, all others to the right.
            let right = self.regular(if found == CHOICE { SEQUENCE } else { found }, depth + 1)?;
            let span = left.span.to(right.span);
            let kind = match operator {
                Some(operator) => {
                    let (left, right) = (self.as_action(left)?, self.as_action(right)?);
                    RegularKind::Action(Action::Binary(operator, Box::new(left), Box::new(right)))
                }
                None if found == SEQUENCE => RegularKind::Sequence(Box::new(left), Box::new(right)),
                None => RegularKind::Choice(Box::new(left), Box::new(right)),
            };
            left = Regular { kind, span };
        }
    }

    fn no_time(&self) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error("`@` is not supported: formulas do not see time").at(self.span().range(), ""),
        )
    }

    /// Whether an operand starts `ahead` tokens from here. Otherwise a `+` before it is postfix.
    fn starts_regular(&self, ahead: usize) -> bool {
        matches!(
            self.peek(ahead),
            Kind::Identifier
                | Kind::OpenParen
                | Kind::Not
                | Kind::True
                | Kind::False
                | Kind::Tau
                | Kind::Forall
                | Kind::Exists
                | Kind::Reserved
        )
    }

    /// Only sets of single steps can be negated, intersected and so on.
    fn as_action(&self, regular: Regular) -> Parsed<Action> {
        match regular.kind {
            RegularKind::Action(action) => Ok(action),
            _ => Err(Box::new(
                Diagnostic::error("expected a single step here, found paths")
                    .at(regular.span.range(), "")
                    .help("`!`, `&&`, `||`, `=>` and quantifiers apply to actions; join paths by `+`"),
            )),
        }
    }

    fn regular_operand(&mut self, depth: usize) -> Parsed<Regular> {
        self.too_deep(depth)?;
        let start = self.span();
        let action = match self.kind() {
            Kind::OpenParen => {
                self.bump();
                let inner = self.regular(0, depth + 1)?;
                let close = self.expect(Kind::CloseParen, "`)` or an operator on actions")?;
                return Ok(Regular { kind: inner.kind, span: start.to(close) });
            }
            Kind::Not => {
                self.bump();
                let body = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.regular_operand(depth + 1))?;
                Action::Not(Box::new(self.as_action(body)?))
            }
            Kind::True | Kind::False => {
                let value = self.kind() == Kind::True;
                self.bump();
                Action::Data(self.tree.add_data(Data::Bool(value), start))
            }
            Kind::Tau => {
                self.bump();
                Action::Multi(Box::default())
            }
            Kind::Forall | Kind::Exists => {
                let all = self.kind() == Kind::Forall;
                self.bump();
                let variables = self.bound_variables()?;
                let body = self.regular(IMPLIES, depth + 1)?;
                Action::Quantifier { all, variables, body: Box::new(self.as_action(body)?) }
            }
            Kind::Identifier => self.multi_action_with_data()?,
            Kind::Reserved if self.is_word("val") => Action::Data(self.value()?),
            _ => return Err(self.unexpected("an action formula")),
        };
        self.refuse_plain_comparison()?;
        Ok(Regular { kind: RegularKind::Action(action), span: start.to(self.previous()) })
    }

    /// `a(e)|b(f)`
    fn multi_action_with_data(&mut self) -> Parsed<Action> {
        let mut actions = Vec::new();
        loop {
            let name = self.name("an action")?;
            let arguments = if self.accept(Kind::OpenParen) { self.arguments()? } else { Box::default() };
            actions.push((name, arguments));
            if !self.accept(Kind::Bar) {
                return Ok(Action::Multi(actions.into()));
            }
        }
    }

    /// Inside `<…>` a `>` may be a comparison or the end, so comparisons always need `val`.
    fn refuse_plain_comparison(&self) -> Parsed<()> {
        let compares = matches!(
            self.kind(),
            Kind::Equal | Kind::NotEqual | Kind::LessEqual | Kind::GreaterEqual | Kind::Less | Kind::In
        );
        if !compares {
            return Ok(());
        }
        let span: Span = self.span();
        Err(Box::new(
            Diagnostic::error("a comparison among actions needs `val`")
                .at(span.range(), "")
                .help("write `val(x == y)`"),
        ))
    }
}
