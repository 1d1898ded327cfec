//! Type-checks expression trees and lowers them to expressions and constraints.

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use crate::network::{
    Binary, Cells, ClockAtom, ClockCell, ClockId, Constraint, Expression, Local, Place, Space, Unary,
};
use crate::syntax::tck::lines::Word;
use crate::syntax::tck::tree::{Node, Tree};

/// Limit on the conditions joined by `&&` into one value.
const CONJUNCTION: usize = 500;

/// Limit on the errors that come with a suggestion.
const SUGGESTIONS: usize = 50;

/// An error that has been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong;

pub(super) type Result<T> = std::result::Result<T, Wrong>;

/// A clock or variable of the file.
#[derive(Clone, Debug)]
pub(super) struct Global {
    /// Whether it is a clock rather than an integer.
    pub clock: bool,
    /// Its first cell or clock.
    pub base: u32,
    /// Number of cells.
    pub size: u32,
    /// Smallest and largest value; unused for clocks.
    pub range: (i32, i32),
    /// Whether something mentions it.
    pub used: bool,
    /// The place of its name.
    pub place: Place,
}

/// The state while an attribute is lowered.
pub(super) struct Lower<'a, 'd> {
    /// Clocks and integers by name.
    pub globals: &'d mut FxHashMap<&'a str, Global>,
    /// Where errors and warnings go.
    pub diagnostics: &'d mut Vec<Diagnostic>,
    /// Visible local variables: name, first cell, size.
    pub visible: Vec<(&'a str, u32, u32)>,
    /// Local cells of the edge.
    pub locals: Vec<Local>,
}

/// The value of a term.
pub(super) enum Value {
    Number(Expression),
    Truth,
    Clock(ClockCell),
    Difference(ClockCell, ClockCell),
    Sum(ClockCell, Expression),
}

/// A variable found by name.
pub(super) enum Found {
    Cells(Space, u32, u32),
    Clocks(u32, u32),
}

impl<'a> Lower<'a, '_> {
    pub(super) fn wrong<T>(&mut self, diagnostic: Diagnostic) -> Result<T> {
        self.diagnostics.push(diagnostic);
        Err(Wrong)
    }

    /// Adds a condition to a constraint.
    pub(super) fn constraint(&mut self, tree: &Tree<'a>, out: &mut Constraint) -> Result<()> {
        match &tree.node {
            Node::And(parts) => {
                // Reports all errors, not only the first.
                let results: Vec<_> = parts.iter().map(|part| self.constraint(part, out)).collect();
                results.into_iter().collect()
            }
            Node::Compare(relations, operands) => {
                for (relation, pair) in relations.iter().zip(operands.windows(2)) {
                    self.comparison(*relation, &pair[0], &pair[1], &tree.place, out)?;
                }
                Ok(())
            }
            _ => {
                let condition = self.truth(tree)?;
                push_condition(condition, out);
                Ok(())
            }
        }
    }

    fn comparison(
        &mut self,
        relation: Binary,
        left: &Tree<'a>,
        right: &Tree<'a>,
        place: &Place,
        out: &mut Constraint,
    ) -> Result<()> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let place = place.clone();
        let (minuend, subtrahend, bound, relation) = match (a, b) {
            (Value::Number(a), Value::Number(b)) => {
                push_condition(binary(relation, a, b, place), out);
                return Ok(());
            }
            (Value::Clock(x), Value::Number(bound)) => (x, None, bound, relation),
            (Value::Difference(x, y), Value::Number(bound)) => (x, Some(y), bound, relation),
            (Value::Number(bound), Value::Clock(x)) => (x, None, bound, mirrored(relation)),
            (Value::Number(bound), Value::Difference(x, y)) => (x, Some(y), bound, mirrored(relation)),
            (Value::Clock(x), Value::Clock(y)) => (x, Some(y), Expression::Constant(0), relation),
            (Value::Truth, _) => return self.not_a_number(left),
            (_, Value::Truth) => return self.not_a_number(right),
            _ => {
                return self.wrong(
                    Diagnostic::error("clocks cannot be compared like this")
                        .at(place, "")
                        .help("a clock or a difference of two clocks is compared with an integer: `x < 5`, `x - y >= n`; or two clocks with each other"),
                );
            }
        };
        let upper = |strict: bool| ClockAtom {
            when: None,
            left: Some(minuend.clone()),
            right: subtrahend.clone(),
            strict,
            bound: bound.clone(),
            place: place.clone(),
        };
        let lower = |strict: bool| ClockAtom {
            when: None,
            left: subtrahend.clone(),
            right: Some(minuend.clone()),
            strict,
            bound: negated(bound.clone()),
            place: place.clone(),
        };
        match relation {
            Binary::Less => out.clocks.push(upper(true)),
            Binary::LessEqual => out.clocks.push(upper(false)),
            Binary::Greater => out.clocks.push(lower(true)),
            Binary::GreaterEqual => out.clocks.push(lower(false)),
            Binary::Equal => out.clocks.extend([upper(false), lower(false)]),
            _ => {
                return self.wrong(
                    Diagnostic::error("`!=` cannot be used with clocks")
                        .at(place, "")
                        .help("use two edges, one with `<` and one with `>`"),
                );
            }
        }
        Ok(())
    }

    /// A condition without clocks, as 0 or 1.
    pub(super) fn truth(&mut self, tree: &Tree<'a>) -> Result<Expression> {
        match &tree.node {
            Node::Not(operand) => {
                let operand = self.truth(operand)?;
                Ok(match operand {
                    Expression::Constant(value) => Expression::Constant(i32::from(value == 0)),
                    other => Expression::Unary(Unary::Not, Box::new(other)),
                })
            }
            Node::And(parts) => {
                let mut conditions = Vec::new();
                self.conjuncts(parts, &mut conditions)?;
                if conditions.len() > CONJUNCTION {
                    return self.wrong(
                        Diagnostic::error(format!("more than {CONJUNCTION} conditions are joined here"))
                            .at(tree.place.clone(), ""),
                    );
                }
                Ok(conjunction(conditions, &tree.place))
            }
            Node::Compare(..) => {
                let conditions = self.comparisons(tree)?;
                Ok(conjunction(conditions, &tree.place))
            }
            _ => self.number(tree),
        }
    }

    /// The one or two comparisons of a tree, without clocks.
    fn comparisons(&mut self, tree: &Tree<'a>) -> Result<Vec<Expression>> {
        let mut constraint = Constraint::default();
        self.constraint(tree, &mut constraint)?;
        if constraint.clocks.is_empty() {
            // Conditions that always hold were omitted.
            return Ok(constraint.data);
        }
        self.wrong(
            Diagnostic::error("clocks cannot be compared here")
                .at(tree.place.clone(), "this is a condition on clocks")
                .help("conditions on clocks can neither be negated with `!` nor decide an `if` or `while`; they can only be joined by `&&` in `provided` and `invariant`"),
        )
    }

    fn conjuncts(&mut self, parts: &[Tree<'a>], out: &mut Vec<Expression>) -> Result<()> {
        for part in parts {
            match &part.node {
                Node::And(inner) => self.conjuncts(inner, out)?,
                Node::Compare(..) => out.extend(self.comparisons(part)?),
                _ => out.push(self.truth(part)?),
            }
        }
        Ok(())
    }

    /// An integer.
    pub(super) fn number(&mut self, tree: &Tree<'a>) -> Result<Expression> {
        match self.value(tree)? {
            Value::Number(number) => Ok(number),
            Value::Truth => self.not_a_number(tree),
            Value::Clock(_) | Value::Difference(..) | Value::Sum(..) => self.wrong(
                Diagnostic::error("a clock cannot be used as an integer")
                    .at(tree.place.clone(), "this is a clock")
                    .help("clocks can only be compared (`x < 5`, `x - y <= 3`) and assigned (`x = 0`, `x = y + 2`)"),
            ),
        }
    }

    pub(super) fn not_a_number<T>(&mut self, tree: &Tree<'a>) -> Result<T> {
        self.wrong(
            Diagnostic::error("a condition cannot be used as an integer")
                .at(tree.place.clone(), "this is a condition")
                .help("write `(if condition then 1 else 0)`"),
        )
    }

    pub(super) fn value(&mut self, tree: &Tree<'a>) -> Result<Value> {
        Ok(match &tree.node {
            Node::Number(number) => match i32::try_from(*number) {
                Ok(number) => Value::Number(Expression::Constant(number)),
                Err(_) => {
                    return self.wrong(
                        Diagnostic::error("this number does not fit into 32 bits").at(tree.place.clone(), ""),
                    );
                }
            },
            Node::Minus(operand) => {
                if let Node::Number(number) = operand.node {
                    // At most 2^31, so its negation fits.
                    return Ok(Value::Number(Expression::Constant(
                        i32::try_from(-number).unwrap_or(i32::MIN),
                    )));
                }
                Value::Number(negated(self.number(operand)?))
            }
            Node::Name(name) => match self.find(name)? {
                Found::Cells(space, base, 1) => Value::Number(Expression::Read(Cells::fixed(space, base))),
                Found::Clocks(base, 1) => Value::Clock(ClockCell::fixed(ClockId(base))),
                _ => return self.whole_array(name),
            },
            Node::Index(name, index) => match self.find(name)? {
                Found::Cells(space, base, size) => {
                    Value::Number(Expression::Read(self.cell(space, base, size, index)?))
                }
                Found::Clocks(base, size) => Value::Clock(self.clock(base, size, index)?),
            },
            Node::Arithmetic(operator, operands) => {
                let [left, right] = &**operands;
                self.arithmetic(*operator, left, right, &tree.place)?
            }
            Node::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = self.truth(condition);
                let then = self.number(then);
                let otherwise = self.number(otherwise);
                Value::Number(match (condition?, then?, otherwise?) {
                    (Expression::Constant(0), _, otherwise) => otherwise,
                    (Expression::Constant(_), then, _) => then,
                    (condition, then, otherwise) => {
                        Expression::Conditional(Box::new([condition, then, otherwise]))
                    }
                })
            }
            Node::Not(_) | Node::Compare(..) | Node::And(_) => Value::Truth,
        })
    }

    fn arithmetic(
        &mut self,
        operator: Binary,
        left: &Tree<'a>,
        right: &Tree<'a>,
        place: &Place,
    ) -> Result<Value> {
        let (a, b) = (self.value(left), self.value(right));
        Ok(match (operator, a?, b?) {
            (_, Value::Truth, _) => return self.not_a_number(left),
            (_, _, Value::Truth) => return self.not_a_number(right),
            (_, Value::Number(a), Value::Number(b)) => Value::Number(binary(operator, a, b, place.clone())),
            (Binary::Subtract, Value::Clock(x), Value::Clock(y)) => Value::Difference(x, y),
            (Binary::Add, Value::Clock(x), Value::Number(n))
            | (Binary::Add, Value::Number(n), Value::Clock(x)) => Value::Sum(x, n),
            _ => {
                return self.wrong(
                    Diagnostic::error("this cannot be computed with clocks")
                        .at(place.clone(), "")
                        .help("only `x - y` may be compared with an integer, and only an integer may be added to a clock in an assignment: `x = y + 2`"),
                );
            }
        })
    }

    pub(super) fn find(&mut self, name: &Word<'a>) -> Result<Found> {
        if let Some(&(_, base, size)) = self.visible.iter().rev().find(|&&(local, ..)| local == name.text) {
            return Ok(Found::Cells(Space::Local, base, size));
        }
        if let Some(global) = self.globals.get_mut(name.text) {
            global.used = true;
            return Ok(if global.clock {
                Found::Clocks(global.base, global.size)
            } else {
                Found::Cells(Space::Global, global.base, global.size)
            });
        }
        let locals = self.visible.iter().map(|&(name, ..)| name);
        let error = Diagnostic::error(format!("there is no clock or variable `{}`", name.text))
            .at(name.place.clone(), "");
        let known = self.globals.keys().copied().chain(locals);
        let error = suggest(error, self.diagnostics, name, known);
        self.wrong(error)
    }

    pub(super) fn whole_array<T>(&mut self, name: &Word<'a>) -> Result<T> {
        self.wrong(
            Diagnostic::error(format!("`{}` is an array and has no single value", name.text))
                .at(name.place.clone(), "")
                .help(format!("choose one of its cells: `{}[0]`", name.text)),
        )
    }

    /// An index: a constant, or an expression with a range check.
    pub(super) fn index(&mut self, size: u32, index: &Tree<'a>) -> Result<Expression> {
        let high = i32::try_from(size - 1).unwrap_or(i32::MAX);
        match self.number(index)? {
            Expression::Constant(number) if !(0..=high).contains(&number) => self.wrong(
                Diagnostic::error(format!("the index {number} is out of range"))
                    .at(index.place.clone(), "")
                    .help(format!("this array has the indices 0 to {high}")),
            ),
            Expression::Constant(number) => Ok(Expression::Constant(number)),
            value => {
                Ok(Expression::InRange { value: Box::new(value), low: 0, high, place: index.place.clone() })
            }
        }
    }

    pub(super) fn cell(&mut self, space: Space, base: u32, size: u32, index: &Tree<'a>) -> Result<Cells> {
        Ok(match self.index(size, index)? {
            Expression::Constant(number) => Cells::fixed(space, base + number.unsigned_abs()),
            offset => Cells { space, base, count: size, offset: Some(Box::new(offset)) },
        })
    }

    pub(super) fn clock(&mut self, base: u32, size: u32, index: &Tree<'a>) -> Result<ClockCell> {
        Ok(match self.index(size, index)? {
            Expression::Constant(number) => ClockCell::fixed(ClockId(base + number.unsigned_abs())),
            offset => ClockCell { base: ClockId(base), count: size, offset: Some(offset) },
        })
    }
}

/// Suggests the most similar name. Only for the first errors, since comparing with all names takes
/// time.
pub(super) fn suggest<'n>(
    error: Diagnostic,
    diagnostics: &[Diagnostic],
    word: &Word<'_>,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    if diagnostics.len() >= SUGGESTIONS {
        return error;
    }
    // Sorted, so that ties are resolved deterministically.
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    error.suggest(word.text, known)
}

/// The name of a cell: arrays of one cell are written without index.
pub(super) fn cell_name(name: &str, size: u32, cell: u32) -> String {
    if size == 1 { name.to_owned() } else { format!("{name}[{cell}]") }
}

/// Adds a condition unless it always holds.
fn push_condition(condition: Expression, out: &mut Constraint) {
    if !matches!(condition, Expression::Constant(value) if value != 0) {
        out.data.push(condition);
    }
}

/// A short-circuiting conjunction; conditions that always hold are omitted, and so is everything
/// after one that never holds.
fn conjunction(mut conditions: Vec<Expression>, place: &Place) -> Expression {
    if let Some(never) = conditions.iter().position(|condition| *condition == Expression::Constant(0)) {
        conditions.truncate(never + 1);
    }
    conditions
        .into_iter()
        .filter(|condition| !matches!(condition, Expression::Constant(value) if *value != 0))
        .reduce(|left, right| Expression::Binary(Binary::And, Box::new(left), Box::new(right), place.clone()))
        .unwrap_or(Expression::Constant(1))
}

fn mirrored(relation: Binary) -> Binary {
    match relation {
        Binary::Less => Binary::Greater,
        Binary::LessEqual => Binary::GreaterEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterEqual => Binary::LessEqual,
        other => other,
    }
}

/// `-e`
fn negated(expression: Expression) -> Expression {
    match expression {
        Expression::Constant(value) if value != i32::MIN => Expression::Constant(-value),
        other => Expression::Unary(Unary::Minus, Box::new(other)),
    }
}

/// Folds constants; what cannot be folded is an error when the transition is evaluated.
fn binary(operator: Binary, left: Expression, right: Expression, place: Place) -> Expression {
    if let (Expression::Constant(a), Expression::Constant(b)) = (&left, &right)
        && let Ok(value) = operator.apply(*a, *b)
    {
        return Expression::Constant(value);
    }
    Expression::Binary(operator, Box::new(left), Box::new(right), place)
}
