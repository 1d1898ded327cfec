//! Values that must be known before the system runs: sizes, ranges, initial values; and functions
//! of constants, by executing them without a state (decision 0150).

use turnpike_model::Diagnostic;

use super::fold::has_effects;
use super::types::Type;
use super::{Checker, Operand, Outcome, Purpose};
use crate::evaluate::Machine;
use crate::network::{Expression, Place};
use crate::syntax::uppaal::tree;

/// Limit on loop iterations and calls for a constant.
const STEPS: u32 = 5_000_000;
/// The same for calls that may also be evaluated later.
const FEW_STEPS: u32 = 100_000;

/// Local cells for bound variables, which have no declaration.
const SPARE_LOCALS: usize = 64;

impl Checker<'_> {
    /// The value of a constant expression.
    pub(crate) fn constant(&mut self, expression: &tree::Expression) -> Outcome<i32> {
        let value = self.with_purpose(Purpose::Constant, |this| this.number(expression))?;
        self.known(&value.expression, &expression.span)
    }

    fn known(&self, expression: &Expression, place: &Place) -> Outcome<i32> {
        if let Expression::Constant(value) = expression {
            return Ok(*value);
        }
        let locals = self.frame.locals.len() + SPARE_LOCALS;
        match Machine::without_state(&self.network, STEPS, locals).value(expression) {
            Ok(value) => Ok(value),
            Err(_) => Err(Diagnostic::error("the value must be known before the system runs")
                .at(place.clone(), "this has no value, or depends on the state")
                .help("use constants, and functions that read nothing but constants")),
        }
    }

    /// The cells that an initialiser assigns to a value of a type.
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

    /// The constant cells of an expression of this type.
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

    /// The result of a call with constant arguments, if it can be computed now.
    pub(crate) fn execute_call(&self, call: &Expression) -> Option<i32> {
        // Unless a constant is required, the call can as well be evaluated later.
        let steps = if self.purpose == Purpose::Constant { STEPS } else { FEW_STEPS };
        Machine::without_state(&self.network, steps, 0).value(call).ok()
    }
}

/// The elements or fields that a list initialises: type, first cell, and initialiser.
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

/// Whether an offset may be evaluated twice.
pub(crate) fn repeatable(offset: Option<&Expression>) -> bool {
    !offset.is_some_and(has_effects)
}
