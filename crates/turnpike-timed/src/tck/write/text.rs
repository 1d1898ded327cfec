//! Expressions and conditions as text.

use super::names::Layout;
use super::simplify::{Refusal, is_truth, refusal};
use crate::compile::analysis::range;
use crate::network::{Binary, Cells, ClockAtom, ClockCell, Expression, Local, Network, Place, Space, Unary};

type Result<T> = std::result::Result<T, Refusal>;

/// Limit on the cells that an index selects from if they do not form an array.
const CHAIN: u32 = 64;

/// How tightly the context binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Sum,
    Product,
    Single,
}

/// Writes simplified expressions.
pub(super) struct Text<'a> {
    pub(super) network: &'a Network,
    pub(super) globals: &'a Layout,
    pub(super) clocks: &'a Layout,
    /// The named local cells.
    pub(super) frame: &'a Layout,
    /// Their ranges.
    pub(super) locals: &'a [Local],
    pub(super) place: &'a Place,
}

impl Text<'_> {
    fn layout(&self, space: Space) -> &Layout {
        match space {
            Space::Global => self.globals,
            Space::Local => self.frame,
        }
    }

    /// The name of a fixed cell.
    pub(super) fn cell(&self, space: Space, cell: u32) -> Result<String> {
        match self.layout(space).cells.get(cell as usize) {
            Some(name) if !name.is_empty() => Ok(name.clone()),
            _ => Err(refusal("a local variable in this place", self.place)),
        }
    }

    /// The array and the index of a cell that depends on variables; `None` if the cells do not form
    /// an array.
    pub(super) fn element(
        &self,
        layout: &Layout,
        base: u32,
        count: u32,
        offset: &Expression,
    ) -> Result<Option<String>> {
        // A single cell may have an index, too.
        let single = layout.cells.get(base as usize).filter(|name| count == 1 && !name.is_empty());
        let single = single.map(|name| (name.as_str(), 0, 1));
        let Some((name, start, length)) = layout.array(base, count).or(single) else { return Ok(None) };
        // The format checks array indices itself.
        let offset = match offset {
            Expression::InRange { value, low: 0, high, .. }
                if start == 0 && i64::from(*high) + 1 == i64::from(length) =>
            {
                value
            }
            other => other,
        };
        let index = self.number(offset, Level::Sum)?;
        Ok(Some(match start {
            0 => format!("{name}[{index}]"),
            _ => format!("{name}[{start}+{}]", self.number(offset, Level::Product)?),
        }))
    }

    /// The targets of an assignment, for each value of an index: text of the condition (empty:
    /// always) and of the cell.
    pub(super) fn targets(&self, cells: &Cells) -> Result<Vec<(String, String)>> {
        let Some(offset) = &cells.offset else {
            return Ok(vec![(String::new(), self.cell(cells.space, cells.base)?)]);
        };
        if let Some(text) = self.element(self.layout(cells.space), cells.base, cells.count, offset)? {
            return Ok(vec![(String::new(), text)]);
        }
        let index = self.choice(offset, cells.count)?;
        (0..cells.count)
            .map(|cell| Ok((format!("{index}=={cell}"), self.cell(cells.space, cells.base + cell)?)))
            .collect()
    }

    /// An index that selects by comparisons: it must be certain to stay in range, since nothing
    /// checks it.
    fn choice(&self, offset: &Expression, count: u32) -> Result<String> {
        if count > CHAIN {
            return Err(refusal(
                "an array with this many cells of different initial values or ranges",
                self.place,
            ));
        }
        let (low, high) = range(self.network, self.locals, offset);
        let bare = match offset {
            Expression::InRange { value, .. } => {
                let (low, high) = range(self.network, self.locals, value);
                (low >= 0 && high < i64::from(count)).then_some(&**value)
            }
            other => (low >= 0 && high < i64::from(count)).then_some(other),
        };
        match bare {
            Some(index) => self.number(index, Level::Sum),
            None => Err(refusal(
                "an index that may leave its range, of cells that do not form an array,",
                self.place,
            )),
        }
    }

    fn select_cell(&self, offset: &Expression, cells: &[String]) -> Result<String> {
        let count = u32::try_from(cells.len()).unwrap_or(u32::MAX);
        let index = self.choice(offset, count)?;
        let Some((last, others)) = cells.split_last() else {
            return Err(refusal("an empty array", self.place));
        };
        let mut text = last.clone();
        for (number, cell) in others.iter().enumerate().rev() {
            text = format!("(if {index}=={number} then {cell} else {text})");
        }
        Ok(text)
    }

    /// An integer.
    pub(super) fn number(&self, expression: &Expression, level: Level) -> Result<String> {
        Ok(match expression {
            Expression::Constant(value) if *value < 0 && level > Level::Sum => format!("({value})"),
            Expression::Constant(value) => value.to_string(),
            Expression::Read(cells) => match &cells.offset {
                None => self.cell(cells.space, cells.base)?,
                Some(offset) => {
                    match self.element(self.layout(cells.space), cells.base, cells.count, offset)? {
                        Some(text) => text,
                        None => {
                            let names: Result<Vec<String>> = (cells.base
                                ..cells.base + cells.count.min(CHAIN + 1))
                                .map(|cell| self.cell(cells.space, cell))
                                .collect();
                            self.select_cell(offset, &names?)?
                        }
                    }
                }
            },
            Expression::Table(table, index) => {
                let values: Vec<String> =
                    table.iter().take(CHAIN as usize + 1).map(|value| parenthesised(*value)).collect();
                self.select_cell(index, &values)?
            }
            Expression::Unary(Unary::Minus, operand) => {
                let text = format!("-{}", self.number(operand, Level::Single)?);
                if level > Level::Sum { format!("({text})") } else { text }
            }
            Expression::Binary(operator, left, right, place) if !is_truth(expression) => {
                self.arithmetic(*operator, left, right, level, place)?
            }
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                format!(
                    "(if {} then {} else {})",
                    self.condition(condition)?,
                    self.number(then, Level::Sum)?,
                    self.number(otherwise, Level::Sum)?
                )
            }
            Expression::InRange { value, low, high, place } => {
                let (least, most) = range(self.network, self.locals, value);
                if least < i64::from(*low) || most > i64::from(*high) {
                    return Err(refusal("an index of a nested array that may leave its range", place));
                }
                self.number(value, level)?
            }
            // `a || b` short-circuits.
            Expression::Binary(Binary::Or, left, right, _) => {
                format!("(if {} then 1 else {})", self.condition(left)?, self.zero_or_one(right)?)
            }
            truth if is_truth(truth) => format!("(if {} then 1 else 0)", self.condition(truth)?),
            _ => return Err(refusal("this expression", self.place)),
        })
    }

    fn zero_or_one(&self, expression: &Expression) -> Result<String> {
        match expression {
            Expression::Binary(Binary::Or, ..) => self.number(expression, Level::Sum),
            other => Ok(format!("(if {} then 1 else 0)", self.condition(other)?)),
        }
    }

    fn arithmetic(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        level: Level,
        place: &Place,
    ) -> Result<String> {
        let (symbol, binds) = match operator {
            Binary::Add => ('+', Level::Sum),
            Binary::Subtract => ('-', Level::Sum),
            Binary::Multiply => ('*', Level::Product),
            Binary::Divide => ('/', Level::Product),
            Binary::Remainder => ('%', Level::Product),
            Binary::Minimum | Binary::Maximum => {
                let (a, b) = (self.number(left, Level::Sum)?, self.number(right, Level::Sum)?);
                let relation = if operator == Binary::Minimum { '<' } else { '>' };
                return Ok(format!("(if {a}{relation}{b} then {a} else {b})"));
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                let power = match right {
                    Expression::Constant(bits @ 0..31) => 1i32 << bits,
                    _ => return Err(refusal("a shift by a number that is not constant", place)),
                };
                if operator == Binary::ShiftRight && range(self.network, self.locals, left).0 < 0 {
                    return Err(refusal("a shift of a number that may be negative", place));
                }
                let symbol = if operator == Binary::ShiftLeft { '*' } else { '/' };
                let text = format!("{}{symbol}{power}", self.number(left, Level::Product)?);
                return Ok(if level > Level::Product { format!("({text})") } else { text });
            }
            Binary::BitAnd => return Err(refusal("the operator `&`", place)),
            Binary::BitOr => return Err(refusal("the operator `|`", place)),
            _ => return Err(refusal("the operator `^`", place)),
        };
        let tighter = if binds == Level::Sum { Level::Product } else { Level::Single };
        let text = format!("{}{symbol}{}", self.number(left, binds)?, self.number(right, tighter)?);
        Ok(if level > binds { format!("({text})") } else { text })
    }

    /// A conjunction.
    pub(super) fn condition(&self, expression: &Expression) -> Result<String> {
        let mut parts = Vec::new();
        self.conjuncts(expression, &mut parts)?;
        Ok(parts.join("&&"))
    }

    /// The conjuncts of a condition.
    pub(super) fn conjuncts(&self, expression: &Expression, out: &mut Vec<String>) -> Result<()> {
        match expression {
            Expression::Binary(Binary::And, left, right, _) => {
                self.conjuncts(left, out)?;
                self.conjuncts(right, out)
            }
            other => {
                let text = self.atom(other)?;
                out.push(text);
                Ok(())
            }
        }
    }

    fn atom(&self, expression: &Expression) -> Result<String> {
        match expression {
            Expression::Binary(operator, left, right, _) if relation(*operator).is_some() => {
                let symbol = relation(*operator).unwrap_or_default();
                Ok(format!("{}{symbol}{}", self.number(left, Level::Sum)?, self.number(right, Level::Sum)?))
            }
            Expression::Unary(Unary::Not, operand) => match &**operand {
                Expression::Binary(operator, ..) if relation(*operator).is_some() => {
                    Ok(format!("!({})", self.atom(operand)?))
                }
                Expression::Unary(Unary::Not, _) => Ok(format!("!{}", self.atom(operand)?)),
                other if is_truth(other) && !matches!(other, Expression::Constant(_)) => {
                    Ok(format!("{}==0", self.number(other, Level::Sum)?))
                }
                other => Ok(format!("!{}", self.number(other, Level::Single)?)),
            },
            other => self.number(other, Level::Sum),
        }
    }

    /// A clock.
    pub(super) fn clock(&self, clock: &ClockCell) -> Result<String> {
        match &clock.offset {
            None => match self.clocks.cells.get(clock.base.0 as usize) {
                Some(name) => Ok(name.clone()),
                None => Err(refusal("a clock that does not exist", self.place)),
            },
            Some(Expression::Constant(index)) => {
                let cell = i64::from(clock.base.0) + i64::from(*index);
                match usize::try_from(cell).ok().and_then(|cell| self.clocks.cells.get(cell)) {
                    Some(name) => Ok(name.clone()),
                    None => Err(refusal("a clock that does not exist", self.place)),
                }
            }
            Some(offset) => match self.element(self.clocks, clock.base.0, clock.count, offset)? {
                Some(text) => Ok(text),
                None => Err(refusal("a choice between clocks that do not form an array", self.place)),
            },
        }
    }

    /// The conditions on clocks; pairs of bounds become equalities again.
    pub(super) fn atoms(&self, atoms: &[ClockAtom], out: &mut Vec<String>) -> Result<()> {
        let mut at = 0;
        while let Some(atom) = atoms.get(at) {
            at += 1;
            if let Some(next) = atoms.get(at)
                && !atom.strict
                && !next.strict
                && atom.left.is_some()
                && (&atom.left, &atom.right) == (&next.right, &next.left)
                && next.bound == minus(&atom.bound)
            {
                at += 1;
                out.push(self.clock_atom(atom, "==")?);
                continue;
            }
            out.push(self.clock_atom(atom, if atom.strict { "<" } else { "<=" })?);
        }
        Ok(())
    }

    fn clock_atom(&self, atom: &ClockAtom, symbol: &str) -> Result<String> {
        Ok(match (&atom.left, &atom.right) {
            (None, None) => format!("0{symbol}{}", self.number(&atom.bound, Level::Sum)?),
            (Some(x), None) => format!("{}{symbol}{}", self.clock(x)?, self.number(&atom.bound, Level::Sum)?),
            (Some(x), Some(y)) => {
                format!(
                    "{}-{}{symbol}{}",
                    self.clock(x)?,
                    self.clock(y)?,
                    self.number(&atom.bound, Level::Sum)?
                )
            }
            (None, Some(x)) => {
                let symbol = if atom.strict { ">" } else { ">=" };
                let bound = match &atom.bound {
                    Expression::Unary(Unary::Minus, bound) => (**bound).clone(),
                    other => minus(other),
                };
                format!("{}{symbol}{}", self.clock(x)?, self.number(&bound, Level::Sum)?)
            }
        })
    }
}

fn parenthesised(value: i32) -> String {
    if value < 0 { format!("({value})") } else { value.to_string() }
}

fn minus(expression: &Expression) -> Expression {
    match expression {
        Expression::Constant(value) if *value != i32::MIN => Expression::Constant(-value),
        other => Expression::Unary(Unary::Minus, Box::new(other.clone())),
    }
}

fn relation(operator: Binary) -> Option<&'static str> {
    Some(match operator {
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::GreaterEqual => ">=",
        Binary::Greater => ">",
        _ => return None,
    })
}
