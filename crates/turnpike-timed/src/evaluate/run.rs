//! The evaluator itself: a tree walk.

use super::operator::{apply, fit};
use super::{Fault, Machine, Outcome, Source, start};
use crate::network::{
    Binary, Cells, ClockCell, ClockId, ClockValue, Expression, Function, FunctionId, Place, Quantifier,
    Space, Statement, Unary,
};
use crate::zone::Bound;

/// Budget of loop iterations and calls per edge; beyond it, the edge counts as non-terminating.
pub const STEPS: u32 = 10_000_000;

/// The place of expressions without a place.
const NOWHERE: &Place = &(0..0);

/// Trees come from files and can be deep.
const RED_ZONE: usize = 64 << 10;
const MORE_STACK: usize = 1 << 20;

/// How a statement ends.
enum Flow {
    Next,
    Return(i32),
}

impl Machine<'_> {
    /// The value of an expression.
    #[inline]
    pub fn value(&mut self, expression: &Expression) -> Outcome<i32> {
        match expression {
            Expression::Constant(value) => Ok(*value),
            Expression::Read(Cells { space, base, offset: None, .. }) => self.read(*space, *base as usize),
            Expression::Binary(operator, left, right, place)
                if !matches!(operator, Binary::And | Binary::Or) =>
            {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                apply(*operator, left, right, place)
            }
            // Elements of arrays, and their indices.
            Expression::Read(cells) => {
                let at = self.cell(cells, 1)?;
                self.read(cells.space, at)
            }
            Expression::InRange { value, low, high, place } => {
                let value = self.operand(value)?;
                in_range(value, *low, *high, place)
            }
            other => self.compound(other),
        }
    }

    /// Evaluates a subexpression. Simple ones, such as `i + 1`, are evaluated without a stack
    /// check.
    #[inline]
    fn operand(&mut self, expression: &Expression) -> Outcome<i32> {
        if let Some(value) = self.leaf(expression) {
            return Ok(value);
        }
        if let Expression::Binary(operator, left, right, place) = expression
            && !matches!(operator, Binary::And | Binary::Or)
            && let (Some(left), Some(right)) = (self.leaf(left), self.leaf(right))
        {
            return apply(*operator, left, right, place);
        }
        self.compound(expression)
    }

    /// The value of a number or a variable.
    #[inline]
    fn leaf(&self, expression: &Expression) -> Option<i32> {
        match expression {
            Expression::Constant(value) => Some(*value),
            Expression::Read(Cells { space, base, offset: None, .. }) => self.find(*space, *base as usize),
            _ => None,
        }
    }

    fn compound(&mut self, expression: &Expression) -> Outcome<i32> {
        if stacker::remaining_stack().is_some_and(|left| left < RED_ZONE) {
            return stacker::grow(MORE_STACK, || self.tree(expression));
        }
        self.tree(expression)
    }

    fn tree(&mut self, expression: &Expression) -> Outcome<i32> {
        Ok(match expression {
            Expression::Constant(value) => *value,
            Expression::Read(cells) => {
                let at = self.cell(cells, 1)?;
                self.read(cells.space, at)?
            }
            Expression::Table(table, index) => {
                let index = self.value(index)?;
                match usize::try_from(index).ok().and_then(|index| table.get(index)) {
                    Some(&value) => value,
                    None => {
                        let message = format!("index {index} is outside 0..{}", table.len());
                        return Err(Fault::range(message, NOWHERE));
                    }
                }
            }
            Expression::Unary(Unary::Minus, operand) => fit(-i64::from(self.value(operand)?), NOWHERE)?,
            Expression::Unary(Unary::Not, operand) => i32::from(self.value(operand)? == 0),
            Expression::Binary(Binary::And, left, right, _) => {
                i32::from(self.value(left)? != 0 && self.value(right)? != 0)
            }
            Expression::Binary(Binary::Or, left, right, _) => {
                i32::from(self.value(left)? != 0 || self.value(right)? != 0)
            }
            Expression::Binary(operator, left, right, place) => {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                apply(*operator, left, right, place)?
            }
            Expression::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                if self.value(condition)? != 0 { self.value(yes)? } else { self.value(no)? }
            }
            Expression::InRange { value, low, high, place } => {
                in_range(self.value(value)?, *low, *high, place)?
            }
            Expression::Quantified { quantifier, local, low, high, body } => {
                return self.quantified(*quantifier, *local, *low, *high, body);
            }
            Expression::Call { function, arguments, place } => {
                return self.call(*function, arguments, place);
            }
            Expression::Assign { target, value, place } => {
                let at = self.cell(target, 1)?;
                let value = self.value(value)?;
                self.write(target.space, at, value, place)?;
                value
            }
            Expression::Sequence(parts) => {
                let [first, second] = &**parts;
                self.value(first)?;
                self.value(second)?
            }
            Expression::At(process, location) => {
                let at = self.locations.get(process.0 as usize).ok_or_else(Fault::no_state)?;
                i32::from(*at == location.0)
            }
        })
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: u32,
        low: i32,
        high: i32,
        body: &Expression,
    ) -> Outcome<i32> {
        let mut sum = 0_i64;
        for bound in low..=high {
            self.step(NOWHERE)?;
            self.set_local(local, bound)?;
            let value = self.value(body)?;
            match quantifier {
                Quantifier::ForAll if value == 0 => return Ok(0),
                Quantifier::Exists if value != 0 => return Ok(1),
                Quantifier::ForAll | Quantifier::Exists => {}
                Quantifier::Sum => sum += i64::from(value),
            }
        }
        match quantifier {
            Quantifier::ForAll => Ok(1),
            Quantifier::Exists => Ok(0),
            Quantifier::Sum => fit(sum, NOWHERE),
        }
    }

    fn call(&mut self, id: FunctionId, arguments: &[Expression], place: &Place) -> Outcome<i32> {
        self.step(place)?;
        let network = self.network;
        let function = &network.functions[id.0 as usize];
        if function.shared {
            let flow = stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.block(&function.body))?;
            return result(function, flow, place);
        }
        let frame = self.frames.len();
        for (argument, local) in arguments.iter().zip(&function.locals) {
            let value = self.value(argument)?;
            if value < local.low || value > local.high {
                let (name, function) = (&local.name, &function.name);
                let range = format!("{}..{}", local.low, local.high);
                let message = format!("argument {name} of {function} is {value}, which is outside {range}");
                return Err(Fault::range(message, place));
            }
            self.frames.push(value);
        }
        self.frames.extend(function.locals.iter().skip(arguments.len()).map(start));
        let (base, scope) = (self.base, self.scope);
        (self.base, self.scope) = (frame, &function.locals);
        let flow = stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.block(&function.body))?;
        (self.base, self.scope) = (base, scope);
        self.frames.truncate(frame);
        result(function, flow, place)
    }

    /// Executes statements.
    pub fn execute(&mut self, statements: &[Statement]) -> Outcome<()> {
        self.block(statements).map(|_| ())
    }

    fn block(&mut self, statements: &[Statement]) -> Outcome<Flow> {
        for statement in statements {
            if let Flow::Return(value) = self.statement(statement)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    fn nested(&mut self, statements: &[Statement]) -> Outcome<Flow> {
        stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.block(statements))
    }

    fn statement(&mut self, statement: &Statement) -> Outcome<Flow> {
        match statement {
            Statement::Assign { target, value, place } => {
                // Left to right, as in constants: in `a[i++] = i` the index comes first.
                let at = self.cell(target, 1)?;
                let value = self.value(value)?;
                self.write(target.space, at, value, place)?;
            }
            Statement::Copy { target, source, count, place } => {
                let to = self.cell(target, *count)?;
                let from = self.cell(source, *count)?;
                let mut buffer = std::mem::take(&mut self.buffer);
                buffer.clear();
                let mut copied = Ok(());
                for at in from..from + *count as usize {
                    copied = copied.and(self.read(source.space, at).map(|value| buffer.push(value)));
                }
                let write = |(at, &value)| self.write(target.space, to + at, value, place);
                let copied = copied.and_then(|()| buffer.iter().enumerate().try_for_each(write));
                self.buffer = buffer;
                copied?;
            }
            Statement::Clock { clock, value, place } => self.assign_clock(clock, value, place)?,
            Statement::Evaluate(expression) => {
                self.value(expression)?;
            }
            Statement::If(condition, yes, no) => {
                let chosen = if self.value(condition)? != 0 { yes } else { no };
                return self.nested(chosen);
            }
            Statement::While(condition, body, place) => {
                return stacker::maybe_grow(RED_ZONE, MORE_STACK, || {
                    while self.value(condition)? != 0 {
                        self.step(place)?;
                        if let Flow::Return(value) = self.block(body)? {
                            return Ok(Flow::Return(value));
                        }
                    }
                    Ok(Flow::Next)
                });
            }
            Statement::For { local, low, high, body } => {
                return stacker::maybe_grow(RED_ZONE, MORE_STACK, || {
                    for value in *low..=*high {
                        self.step(NOWHERE)?;
                        self.set_local(*local, value)?;
                        if let Flow::Return(value) = self.block(body)? {
                            return Ok(Flow::Return(value));
                        }
                    }
                    Ok(Flow::Next)
                });
            }
            Statement::Return(value) => {
                let value = match value {
                    Some(value) => self.value(value)?,
                    None => 0,
                };
                return Ok(Flow::Return(value));
            }
            Statement::Assert(condition, place) => {
                if self.value(condition)? == 0 {
                    return Err(Fault::new("an assertion of the model fails", place));
                }
            }
        }
        Ok(Flow::Next)
    }

    fn assign_clock(&mut self, clock: &ClockCell, value: &ClockValue, place: &Place) -> Outcome<()> {
        let ClockId(clock) = self.clock(clock, place)?;
        if self.assigned.is_empty() {
            return Err(Fault::no_state());
        }
        let source = match value {
            ClockValue::Constant(value) => Source { clock: None, offset: self.value(value)? },
            ClockValue::Clock(from, more) => {
                let more = self.value(more)?;
                let from = self.clock(from, place)?;
                let source = self.origin(from.0);
                let offset = fit(i64::from(source.offset) + i64::from(more), place)?;
                Source { clock: source.clock, offset }
            }
        };
        let name = || &self.network.clocks[clock as usize];
        if source.offset < 0 {
            let message = match source.clock {
                None => format!("clock {} would be {}: clocks are never negative", name(), source.offset),
                Some(_) => format!("clock {} would be set back, which could make it negative", name()),
            };
            return Err(Fault::range(message, place));
        }
        if source.offset >= Bound::LIMIT {
            let message = format!("{} is too large a value for clock {}", source.offset, name());
            return Err(Fault::range(message, place));
        }
        if !self.assigned[clock as usize] {
            self.assigned[clock as usize] = true;
            self.touched.push(clock);
        }
        self.sources[clock as usize] = source;
        Ok(())
    }

    /// The first of `count` cells, which all belong to one variable.
    #[inline]
    fn cell(&mut self, cells: &Cells, count: u32) -> Outcome<usize> {
        let offset = match cells.offset.as_deref() {
            None => 0,
            Some(Expression::InRange { value, low, high, place }) => {
                in_range(self.operand(value)?, *low, *high, place)?
            }
            Some(offset) => self.operand(offset)?,
        };
        if offset < 0 || u64::from(offset as u32) + u64::from(count) > u64::from(cells.count) {
            let message = format!("offset {offset} is outside a variable of {} cells", cells.count);
            return Err(Fault::range(message, NOWHERE));
        }
        Ok(cells.base as usize + offset as usize)
    }

    #[inline]
    fn read(&self, space: Space, at: usize) -> Outcome<i32> {
        self.find(space, at).ok_or_else(Fault::no_state)
    }

    /// The content of a cell; `None` for variables if there is no state.
    #[inline]
    fn find(&self, space: Space, at: usize) -> Option<i32> {
        match space {
            Space::Global => self.cells.get(at).copied(),
            Space::Local => self.frames.get(self.base + at).copied(),
        }
    }

    fn write(&mut self, space: Space, at: usize, value: i32, place: &Place) -> Outcome<()> {
        let outside = |name: &str, low: i32, high: i32| {
            Fault::range(format!("{name} would be {value}, which is outside {low}..{high}"), place)
        };
        match space {
            Space::Global => {
                let variable = &self.network.variables[at];
                if value < variable.low || value > variable.high {
                    return Err(outside(&variable.name, variable.low, variable.high));
                }
                let cell = self.cells.get_mut(at).ok_or_else(Fault::no_state)?;
                let old = std::mem::replace(cell, value);
                if old != value {
                    self.trail.push((at as u32, old));
                }
            }
            Space::Local => {
                if let Some(local) = self.scope.get(at)
                    && (value < local.low || value > local.high)
                {
                    return Err(outside(&local.name, local.low, local.high));
                }
                self.set_local(at as u32, value)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn set_local(&mut self, local: u32, value: i32) -> Outcome<()> {
        let cell = self.frames.get_mut(self.base + local as usize).ok_or_else(Fault::no_state)?;
        *cell = value;
        Ok(())
    }

    #[inline]
    fn step(&mut self, place: &Place) -> Outcome<()> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => {
                Err(Fault::new(format!("no end after {STEPS} steps: this loop may not terminate"), place))
            }
        }
    }
}

/// Returns an index if it is within the bounds.
#[inline]
fn in_range(value: i32, low: i32, high: i32, place: &Place) -> Outcome<i32> {
    if value < low || value > high {
        return Err(Fault::range(format!("index {value} is outside {low}..{high}"), place));
    }
    Ok(value)
}

/// The return value of a function whose body ended with `flow`.
fn result(function: &Function, flow: Flow, place: &Place) -> Outcome<i32> {
    let value = match flow {
        Flow::Return(value) => value,
        Flow::Next => 0,
    };
    match function.result {
        Some((low, high)) if value < low || value > high => {
            let message = format!("{} returns {value}, which is outside {low}..{high}", function.name);
            Err(Fault::range(message, place))
        }
        _ => Ok(value),
    }
}
