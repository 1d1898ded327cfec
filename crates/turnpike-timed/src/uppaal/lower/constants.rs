//! What must be known before the system runs: sizes, ranges, initial values; and functions of constants, by executing them.

use turnpike_model::Diagnostic;

use super::fold::has_effects;
use super::types::Type;
use super::{Lowerer, Operand, Outcome, Purpose};
use crate::network::{
    Binary, Cells, Expression, Function, Local, Place, Quantifier, Space, Statement, Unary,
};
use crate::uppaal::syntax::tree;

impl Lowerer<'_> {
    /// A number that is known now.
    pub(crate) fn constant(&mut self, expression: &tree::Expression) -> Outcome<i32> {
        let value = self.with_purpose(Purpose::Constant, |this| this.number(expression))?;
        self.known(&value.expression, &expression.span)
    }

    fn known(&self, expression: &Expression, place: &Place) -> Outcome<i32> {
        if let Expression::Constant(value) = expression {
            return Ok(*value);
        }
        let mut machine = Machine::new(&self.network.functions);
        let mut frame = vec![0; self.frame.locals.len() + 64];
        match machine.evaluate(expression, &mut frame) {
            Some(value) => Ok(value),
            None => Err(Diagnostic::error("the value must be known before the system runs")
                .at(place.clone(), "it has none, or depends on the state")
                .help("use constants, and functions that read nothing but constants")),
        }
    }

    /// The cells that an initialiser gives to something of a type.
    pub(crate) fn initial(&mut self, ty: &Type, initial: &tree::Initializer) -> Outcome<Vec<i32>> {
        match initial {
            tree::Initializer::Value(expression) => self.constant_cells(ty, expression),
            tree::Initializer::List { items, span } => {
                let mut cells = ty.defaults();
                for (part, skip, item) in parts(ty, items, span)? {
                    let values = self.initial(&part, item)?;
                    let from = skip as usize;
                    cells[from..from + values.len()].copy_from_slice(&values);
                }
                Ok(cells)
            }
        }
    }

    /// The known cells of an expression of this type.
    pub(crate) fn constant_cells(&mut self, ty: &Type, expression: &tree::Expression) -> Outcome<Vec<i32>> {
        let place = &expression.span;
        if let Type::Real(_) = ty {
            self.ignored(expression)?;
            return Ok(Vec::new());
        }
        let operand = self.with_purpose(Purpose::Constant, |this| this.operand(expression))?;
        if matches!(ty, Type::Array(_) | Type::Struct(_)) {
            let Operand::Lvalue(lvalue) = operand else {
                return Err(
                    Diagnostic::error(format!("the value must be {}", ty.describe())).at(place.clone(), "")
                );
            };
            if !ty.fits(&lvalue.ty) {
                return Err(Diagnostic::error(format!("the value must be {}", ty.describe()))
                    .at(place.clone(), format!("this is {}", lvalue.ty.describe())));
            }
            let mut kinds = Vec::new();
            ty.each_cell("", &mut |_, ty| kinds.push(ty.clone()));
            let mut cells = Vec::new();
            for (part, kind) in lvalue.each().iter().zip(&kinds) {
                let value = self.read(part);
                cells.push(in_range(kind, self.known(&value.expression, place)?, place)?);
            }
            return Ok(cells);
        }
        let value = self.value_of(operand, place)?;
        match (ty, &value.ty) {
            (Type::Scalar { set: a, .. }, Type::Scalar { set: b, .. }) if a == b => {}
            (Type::Scalar { .. }, _) | (_, Type::Scalar { .. }) => {
                return Err(Diagnostic::error(format!("the value must be {}", ty.describe()))
                    .at(place.clone(), format!("this is {}", value.ty.describe())));
            }
            _ => {}
        }
        let known = self.known(&value.expression, place)?;
        Ok(vec![in_range(ty, known, place)?])
    }

    /// The result of a call with known arguments, if it can be found now.
    pub(crate) fn executed(&self, call: &Expression) -> Option<i32> {
        let mut machine = Machine::new(&self.network.functions);
        if self.purpose != Purpose::Constant {
            // It may as well be computed when it is needed.
            machine.steps = 100_000;
        }
        machine.evaluate(call, &mut [])
    }
}

/// The elements or fields that a list gives values to: type, first cell, and what is given.
pub(crate) fn parts<'i>(
    ty: &Type,
    items: &'i [(Option<tree::Identifier>, tree::Initializer)],
    place: &Place,
) -> Outcome<Vec<(Type, u32, &'i tree::Initializer)>> {
    let count = |what: &str, size: usize| {
        if items.len() == size {
            return Ok(());
        }
        let message = format!("the {what}, but {} values are given", items.len());
        Err(Diagnostic::error(message).at(place.clone(), ""))
    };
    let mut list = Vec::new();
    match ty {
        Type::Array(array) => {
            count(&format!("array has {} elements", array.size), array.size as usize)?;
            for (index, (name, item)) in items.iter().enumerate() {
                if let Some(name) = name {
                    return Err(Diagnostic::error("elements of an array have no names")
                        .at(name.span.clone(), "remove it"));
                }
                list.push((array.element.clone(), index as u32 * array.element.cells(), item));
            }
        }
        Type::Struct(record) => {
            count(&format!("struct has {} fields", record.fields.len()), record.fields.len())?;
            let mut given = vec![false; items.len()];
            for (position, (name, item)) in items.iter().enumerate() {
                let index = match name {
                    None => position,
                    Some(name) => {
                        record.fields.iter().position(|(field, ..)| *field == name.name).ok_or_else(|| {
                            Diagnostic::error(format!("the struct has no field `{}`", name.name))
                                .at(name.span.clone(), "not a field")
                        })?
                    }
                };
                let (name, ty, skip) = &record.fields[index];
                if std::mem::replace(&mut given[index], true) {
                    return Err(
                        Diagnostic::error(format!("the field `{name}` is given twice")).at(place.clone(), "")
                    );
                }
                list.push((ty.clone(), *skip, item));
            }
        }
        _ => {
            return Err(Diagnostic::error("one value is needed here")
                .at(place.clone(), format!("this is a list, for {}", ty.describe())));
        }
    }
    Ok(list)
}

/// A value as it is stored in a cell.
pub(crate) fn in_range(ty: &Type, value: i32, place: &Place) -> Outcome<i32> {
    if *ty == Type::Bool {
        return Ok(i32::from(value != 0));
    }
    match ty.range() {
        Some((low, high)) if !(low..=high).contains(&value) => {
            Err(Diagnostic::error(format!("the value {value} is out of range"))
                .at(place.clone(), format!("must be from {low} to {high}")))
        }
        _ => Ok(value),
    }
}

/// Executes functions that touch nothing but their own cells. Whatever goes wrong, or takes too long, gives `None`.
struct Machine<'n> {
    functions: &'n [Function],
    /// Ranges of the cells at hand; those beyond may hold anything.
    locals: &'n [Local],
    steps: u32,
}

/// How a statement ends.
enum Flow {
    Next,
    Return(i32),
}

impl<'n> Machine<'n> {
    fn new(functions: &'n [Function]) -> Self {
        Machine { functions, locals: &[], steps: 10_000_000 }
    }

    fn step(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    fn cell(&mut self, cells: &Cells, frame: &mut [i32]) -> Option<usize> {
        if cells.space == Space::Global {
            return None;
        }
        let offset = match &cells.offset {
            None => 0,
            Some(offset) => u32::try_from(self.evaluate(offset, frame)?).ok()?,
        };
        let cell = (cells.base + offset) as usize;
        (cell < frame.len()).then_some(cell)
    }

    fn assign(&mut self, cell: usize, value: i32, frame: &mut [i32]) -> Option<()> {
        let fits = self.locals.get(cell).is_none_or(|local| (local.low..=local.high).contains(&value));
        fits.then(|| frame[cell] = value)
    }

    fn evaluate(&mut self, expression: &Expression, frame: &mut [i32]) -> Option<i32> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.evaluate_inner(expression, frame))
    }

    fn evaluate_inner(&mut self, expression: &Expression, frame: &mut [i32]) -> Option<i32> {
        self.step()?;
        Some(match expression {
            Expression::Constant(value) => *value,
            Expression::Read(cells) => {
                let cell = self.cell(cells, frame)?;
                frame[cell]
            }
            Expression::Table(values, index) => {
                *values.get(usize::try_from(self.evaluate(index, frame)?).ok()?)?
            }
            Expression::Unary(Unary::Minus, operand) => self.evaluate(operand, frame)?.checked_neg()?,
            Expression::Unary(Unary::Not, operand) => i32::from(self.evaluate(operand, frame)? == 0),
            Expression::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                let first = self.evaluate(left, frame)? != 0;
                if first == (*operator == Binary::Or) {
                    i32::from(first)
                } else {
                    i32::from(self.evaluate(right, frame)? != 0)
                }
            }
            Expression::Binary(operator, left, right, _) => {
                let (left, right) = (self.evaluate(left, frame)?, self.evaluate(right, frame)?);
                operator.apply(left, right).ok()?
            }
            Expression::Conditional(parts) => {
                let [test, yes, no] = &**parts;
                if self.evaluate(test, frame)? != 0 {
                    self.evaluate(yes, frame)?
                } else {
                    self.evaluate(no, frame)?
                }
            }
            Expression::InRange { value, low, high, .. } => {
                let value = self.evaluate(value, frame)?;
                (*low..=*high).contains(&value).then_some(value)?
            }
            Expression::Quantified { quantifier, local, low, high, body } => {
                let mut sum = 0i32;
                for value in *low..=*high {
                    *frame.get_mut(*local as usize)? = value;
                    let one = self.evaluate(body, frame)?;
                    match quantifier {
                        Quantifier::ForAll if one == 0 => return Some(0),
                        Quantifier::Exists if one != 0 => return Some(1),
                        Quantifier::Sum => sum = sum.checked_add(one)?,
                        _ => {}
                    }
                }
                match quantifier {
                    Quantifier::ForAll => 1,
                    Quantifier::Exists => 0,
                    Quantifier::Sum => sum,
                }
            }
            Expression::Call { function, arguments, .. } => {
                let function = self.functions.get(function.0 as usize)?;
                if function.shared {
                    return self.body(function, frame);
                }
                let mut own: Vec<i32> = function
                    .locals
                    .iter()
                    .map(|local| if local.low <= 0 && 0 <= local.high { 0 } else { local.low })
                    .collect();
                for (cell, argument) in arguments.iter().enumerate() {
                    let value = self.evaluate(argument, frame)?;
                    let local = function.locals.get(cell)?;
                    own[cell] = (local.low..=local.high).contains(&value).then_some(value)?;
                }
                let outer = std::mem::replace(&mut self.locals, &function.locals);
                let result = self.body(function, &mut own);
                self.locals = outer;
                result?
            }
            Expression::Assign { target, value, .. } => {
                let cell = self.cell(target, frame)?;
                let value = self.evaluate(value, frame)?;
                self.assign(cell, value, frame)?;
                value
            }
            Expression::Sequence(parts) => {
                self.evaluate(&parts[0], frame)?;
                self.evaluate(&parts[1], frame)?
            }
            Expression::At(..) => return None,
        })
    }

    fn body(&mut self, function: &Function, frame: &mut [i32]) -> Option<i32> {
        match (self.run(&function.body, frame)?, function.result) {
            (Flow::Return(value), Some((low, high))) => (low..=high).contains(&value).then_some(value),
            (Flow::Next, Some(_)) => None,
            (Flow::Return(_) | Flow::Next, None) => Some(0),
        }
    }

    fn run(&mut self, statements: &[Statement], frame: &mut [i32]) -> Option<Flow> {
        for statement in statements {
            self.step()?;
            match statement {
                Statement::Assign { target, value, .. } => {
                    let cell = self.cell(target, frame)?;
                    let value = self.evaluate(value, frame)?;
                    self.assign(cell, value, frame)?;
                }
                Statement::Copy { target, source, count, .. } => {
                    let (to, from) = (self.cell(target, frame)?, self.cell(source, frame)?);
                    let count = *count as usize;
                    if to + count > frame.len() || from + count > frame.len() {
                        return None;
                    }
                    let values = frame[from..from + count].to_vec();
                    for (skip, value) in values.into_iter().enumerate() {
                        self.assign(to + skip, value, frame)?;
                    }
                }
                Statement::Clock { .. } => return None,
                Statement::Evaluate(expression) => {
                    self.evaluate(expression, frame)?;
                }
                Statement::If(test, yes, no) => {
                    let branch = if self.evaluate(test, frame)? != 0 { yes } else { no };
                    if let Flow::Return(value) = self.run(branch, frame)? {
                        return Some(Flow::Return(value));
                    }
                }
                Statement::While(test, body, _) => {
                    while self.evaluate(test, frame)? != 0 {
                        if let Flow::Return(value) = self.run(body, frame)? {
                            return Some(Flow::Return(value));
                        }
                    }
                }
                Statement::For { local, low, high, body } => {
                    for value in *low..=*high {
                        *frame.get_mut(*local as usize)? = value;
                        if let Flow::Return(value) = self.run(body, frame)? {
                            return Some(Flow::Return(value));
                        }
                    }
                }
                Statement::Return(None) => return Some(Flow::Return(0)),
                Statement::Return(Some(value)) => return Some(Flow::Return(self.evaluate(value, frame)?)),
                Statement::Assert(test, _) => {
                    if self.evaluate(test, frame)? == 0 {
                        return None;
                    }
                }
            }
        }
        Some(Flow::Next)
    }
}

/// Whether an offset may be computed twice.
pub(crate) fn repeatable(offset: Option<&Expression>) -> bool {
    !offset.is_some_and(has_effects)
}
