//! Process expressions: operator precedence parsing with an explicit stack, as for data. It is
//! known in advance whether a condition has an else branch. If it has one, its then branch ends at
//! `<>` as if it were in brackets.

use turnpike_model::Diagnostic;

use super::super::operator::{Associativity, ProcessOperator};
use super::super::symbol::{Name, Span};
use super::super::tree::{Assignment, CommRule, DataId, MultiAction, Process, ProcessId, Renaming, Variable};
use super::advice::is_data_operator;
use super::{Kind, Parsed, Parser};

/// The level of `sum` and `dist`.
const SUM: u8 = 2;
/// The level of conditions.
const CONDITION: u8 = 5;
/// The level of `@`.
const AT: u8 = 8;

/// An incomplete expression.
enum Frame {
    Paren(Span),
    /// After `block({…},` and similar operators.
    Around(Around, Span),
    /// Between `c ->` and its `<>`, with the level of the enclosing expression.
    Then(DataId, u32, u8),
    Binary(ProcessOperator, Operand),
    /// With a weight for `dist`.
    Sum(Box<[Variable]>, Option<DataId>, Span, u8),
    If(DataId, Option<ProcessId>, u32, u8),
}

/// The operators written like functions.
enum Around {
    Block(Box<[Name]>),
    Hide(Box<[Name]>),
    Allow(Box<[MultiAction]>),
    Rename(Box<[Renaming]>),
    Comm(Box<[CommRule]>),
}

impl Frame {
    /// The weakest level accepted on the right; 0 inside brackets.
    fn minimum(&self) -> u8 {
        match self {
            Frame::Binary(operator, _) => {
                operator.level() + u8::from(operator.associativity() == Associativity::Left)
            }
            Frame::Sum(.., minimum) | Frame::If(.., minimum) => *minimum,
            Frame::Paren(_) | Frame::Around(..) | Frame::Then(..) => 0,
        }
    }
}

/// A complete expression and its position, including parentheses.
#[derive(Clone, Copy)]
struct Operand {
    id: ProcessId,
    span: Span,
}

impl Parser<'_> {
    /// Parses a process expression.
    pub(super) fn process(&mut self) -> Parsed<ProcessId> {
        let mut frames = Vec::new();
        'operand: loop {
            let Some(mut operand) = self.process_operand(&mut frames)? else { continue };
            loop {
                if let Some(operator) = infix(self.kind()) {
                    let left =
                        self.process_reduce(&mut frames, operand, operator.level(), operator.text())?;
                    self.bump();
                    frames.push(Frame::Binary(operator, left));
                    continue 'operand;
                }
                if self.kind() == Kind::At {
                    operand = self.process_reduce(&mut frames, operand, AT, "@")?;
                    self.bump();
                    let time = self.data_unit()?;
                    let span = operand.span.to(self.previous());
                    operand = self.process_node(Process::At { process: operand.id, time }, span);
                    continue;
                }
                operand = self.process_reduce(&mut frames, operand, 0, "")?;
                operand = match frames.pop() {
                    None if is_data_operator(self.kind()) => {
                        return Err(self.no_process("`;` or an operator"));
                    }
                    None => return Ok(operand.id),
                    Some(Frame::Paren(open)) => {
                        let close = self.close_process("`)` or an operator")?;
                        Operand { id: operand.id, span: open.to(close) }
                    }
                    Some(Frame::Around(around, start)) => {
                        let close = self.close_process("`)` or an operator")?;
                        self.around(around, operand.id, start.to(close))
                    }
                    Some(Frame::Then(condition, start, minimum)) => {
                        if self.kind() != Kind::Else {
                            return Err(self.no_process("`<>` or an operator"));
                        }
                        self.bump();
                        frames.push(Frame::If(condition, Some(operand.id), start, minimum.max(CONDITION)));
                        continue 'operand;
                    }
                    Some(Frame::Binary(..) | Frame::Sum(..) | Frame::If(..)) => {
                        unreachable!("reduced before")
                    }
                };
            }
        }
    }

    fn close_process(&mut self, expected: &str) -> Parsed<Span> {
        if self.kind() == Kind::CloseParen { Ok(self.bump()) } else { Err(self.no_process(expected)) }
    }

    fn process_node(&mut self, process: Process, span: Span) -> Operand {
        Operand { id: self.tree.add_process(process, span), span }
    }

    /// Whether data and `->` follow: prefix operators, one word or parentheses, arguments, arrow.
    fn at_condition(&self) -> bool {
        let mut index = self.position;
        while let Kind::Not | Kind::Minus | Kind::Hash = self.tokens[index].kind {
            index += 1;
        }
        index = match self.tokens[index].kind {
            Kind::Identifier | Kind::Number | Kind::True | Kind::False => index + 1,
            Kind::OpenParen => match self.after_brackets(index) {
                Some(after) => after,
                None => return false,
            },
            _ => return false,
        };
        while self.tokens[index].kind == Kind::OpenParen {
            match self.after_brackets(index) {
                Some(after) => index = after,
                None => return false,
            }
        }
        self.tokens[index].kind == Kind::Arrow
    }

    /// Parses an operand without operators, or pushes a frame and returns nothing.
    fn process_operand(&mut self, frames: &mut Vec<Frame>) -> Parsed<Option<Operand>> {
        let span = self.span();
        let around = frames.last().map_or(0, Frame::minimum);
        if self.at_condition() {
            let condition = self.data_unit()?;
            let otherwise = self.tokens[self.position].flag;
            self.expect(Kind::Arrow, "`->`")?;
            frames.push(if otherwise {
                Frame::Then(condition, span.start, around)
            } else {
                Frame::If(condition, None, span.start, around.max(CONDITION))
            });
            return Ok(None);
        }
        let frame = match self.kind() {
            Kind::Identifier => return self.action().map(Some),
            Kind::Delta | Kind::Tau => {
                let process = if self.kind() == Kind::Delta { Process::Delta } else { Process::Tau };
                self.bump();
                return Ok(Some(self.process_node(process, span)));
            }
            Kind::OpenParen => {
                self.bump();
                Frame::Paren(span)
            }
            Kind::Sum => {
                self.bump();
                let mut variables = Vec::new();
                self.variables("a variable", &mut variables)?;
                self.expect(Kind::Dot, "`,` or `.` after the variables of the sum")?;
                Frame::Sum(variables.into(), None, span, around.max(SUM))
            }
            Kind::Dist => {
                self.bump();
                let mut variables = Vec::new();
                self.variables("a variable", &mut variables)?;
                self.expect(Kind::OpenBracket, "`,` or `[` and a probability after the variables")?;
                let weight = self.data()?;
                self.expect(Kind::CloseBracket, "`]` or an operator")?;
                self.expect(Kind::Dot, "`.` after the probability")?;
                Frame::Sum(variables.into(), Some(weight), span, around.max(SUM))
            }
            Kind::Block | Kind::Hide | Kind::Allow | Kind::Rename | Kind::Comm => {
                let around = self.action_set()?;
                self.expect(Kind::Comma, "`,` and a process")?;
                Frame::Around(around, span)
            }
            _ => return Err(self.no_process("a process")),
        };
        frames.push(frame);
        Ok(None)
    }

    /// `a`, `a(e, …)`, `P()` or `P(x = e, …)`
    fn action(&mut self) -> Parsed<Operand> {
        let name = self.name("an action or a process")?;
        if !self.accept(Kind::OpenParen) {
            return Ok(self.process_node(Process::Action { name, arguments: Box::default() }, name.span));
        }
        let empty = self.kind() == Kind::CloseParen;
        let process = if empty || (self.kind() == Kind::Identifier && self.peek(1) == Kind::Is) {
            let assignments = self.several(empty, |parser| {
                let name = parser.name("a parameter")?;
                parser.expect(Kind::Is, "`=` and the value of the parameter")?;
                Ok(Assignment { name, value: parser.data()? })
            })?;
            self.expect(Kind::CloseParen, "`,`, `)` or an operator")?;
            Process::Call { name, assignments }
        } else {
            Process::Action { name, arguments: self.arguments()? }
        };
        let span = name.span.to(self.previous());
        Ok(self.process_node(process, span))
    }

    /// Parses `block({…}` and similar operators.
    fn action_set(&mut self) -> Parsed<Around> {
        let operator = self.kind();
        let keyword = self.bump();
        self.expect(Kind::OpenParen, "`({` and names of actions")?;
        let open = self.expect(Kind::OpenBrace, "`{` and names of actions")?;
        let empty = self.kind() == Kind::CloseBrace;
        let around = match operator {
            Kind::Block | Kind::Hide if empty => {
                let word = self.text(keyword);
                return Err(Box::new(
                    Diagnostic::error(format!("`{word}` needs at least one action"))
                        .at(open.to(self.span()).range(), "")
                        .help(format!("without actions, leave `{word}` away")),
                ));
            }
            Kind::Block => Around::Block(self.names("an action")?.into()),
            Kind::Hide => Around::Hide(self.names("an action")?.into()),
            Kind::Allow => Around::Allow(
                self.several(empty, |parser| Ok(MultiAction { names: parser.multi_action(false)? }))?,
            ),
            Kind::Rename => Around::Rename(self.several(empty, |parser| {
                let from = parser.name("an action")?;
                parser.expect(Kind::Arrow, "`->` and the new name")?;
                Ok(Renaming { from, to: parser.name("an action")? })
            })?),
            _ => Around::Comm(self.several(empty, |parser| {
                let from = parser.multi_action(true)?;
                parser.expect(Kind::Arrow, "`|` or `->` and the resulting action")?;
                if parser.kind() == Kind::Tau {
                    return Err(Box::new(
                        Diagnostic::error("actions cannot communicate to `tau`")
                            .at(parser.span().range(), "")
                            .help("communicate to an action and hide that"),
                    ));
                }
                Ok(CommRule { from, to: parser.name("an action")? })
            })?),
        };
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        Ok(around)
    }

    /// Parses elements separated by commas.
    fn several<T>(&mut self, empty: bool, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Box<[T]>> {
        let mut all = Vec::new();
        if !empty {
            all.push(one(self)?);
            while self.accept(Kind::Comma) {
                all.push(one(self)?);
            }
        }
        Ok(all.into())
    }

    /// `a|b|c`
    fn multi_action(&mut self, at_least_two: bool) -> Parsed<Box<[Name]>> {
        let mut names = vec![self.name("an action")?];
        while (at_least_two && names.len() < 2) || self.kind() == Kind::Bar {
            self.expect(Kind::Bar, "`|`: at least two actions communicate")?;
            names.push(self.name("an action")?);
        }
        Ok(names.into())
    }

    fn around(&mut self, around: Around, body: ProcessId, span: Span) -> Operand {
        let process = match around {
            Around::Block(actions) => Process::Block { actions, body },
            Around::Hide(actions) => Process::Hide { actions, body },
            Around::Allow(actions) => Process::Allow { actions, body },
            Around::Rename(renamings) => Process::Rename { renamings, body },
            Around::Comm(rules) => Process::Comm { rules, body },
        };
        self.process_node(process, span)
    }

    /// Completes the operators before `operand` that bind tighter than `level`.
    fn process_reduce(
        &mut self,
        frames: &mut Vec<Frame>,
        mut operand: Operand,
        level: u8,
        operator: &str,
    ) -> Parsed<Operand> {
        // Whether a prefix was ended that could have contained the operator.
        let mut prefix_ended = false;
        while frames.last().is_some_and(|frame| level < frame.minimum()) {
            operand = match frames.pop() {
                Some(Frame::Binary(before, left)) => {
                    // In `a << sum x: S. b << c` the last operator fits inside and outside equally
                    // well.
                    if prefix_ended && before.level() == level {
                        return Err(self.ambiguous(operator));
                    }
                    let span = left.span.to(operand.span);
                    self.process_node(Process::Binary(before, left.id, operand.id), span)
                }
                Some(Frame::Sum(variables, weight, start, _)) => {
                    prefix_ended |= level >= SUM;
                    let body = operand.id;
                    let process = match weight {
                        None => Process::Sum { variables, body },
                        Some(weight) => Process::Dist { variables, weight, body },
                    };
                    self.process_node(process, start.to(operand.span))
                }
                Some(Frame::If(condition, then, start, _)) => {
                    prefix_ended |= level >= CONDITION;
                    let (then, otherwise) = match then {
                        None => (operand.id, None),
                        Some(then) => (then, Some(operand.id)),
                    };
                    let span = Span::new(start, operand.span.end);
                    self.process_node(Process::If { condition, then, otherwise }, span)
                }
                _ => unreachable!("brackets accept every level"),
            };
        }
        Ok(operand)
    }
}

fn infix(kind: Kind) -> Option<ProcessOperator> {
    Some(match kind {
        Kind::Plus => ProcessOperator::Choice,
        Kind::BarBar => ProcessOperator::Parallel,
        Kind::LeftMerge => ProcessOperator::LeftMerge,
        Kind::Before => ProcessOperator::Before,
        Kind::Dot => ProcessOperator::Sequence,
        Kind::Bar => ProcessOperator::Synchronise,
        _ => return None,
    })
}
