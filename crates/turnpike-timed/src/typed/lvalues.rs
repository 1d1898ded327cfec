//! Objects stored in cells: their position, and access to their parts.

use std::sync::Arc;

use turnpike_model::Diagnostic;

use super::fold::{self, Value};
use super::types::{Class, Type};
use super::{Checker, Outcome, Purpose};
use crate::network::{
    Binary, Cells, ChannelCell, ChannelId, ClockCell, ClockId, Expression, Local, Place, Space,
};
use crate::syntax::uppaal::tree::{self, ExpressionKind};

/// The kind of memory that cells are in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// Variables of the network.
    Global,
    /// Local cells of the edge or the function.
    Local,
    /// Clocks.
    Clock,
    /// Channels.
    Channel,
    /// Constants with these values.
    Constant(Arc<[i32]>),
}

/// A range of cells.
#[derive(Clone, Debug)]
pub(crate) struct Lvalue {
    /// The type stored there.
    pub ty: Type,
    /// Which memory.
    pub memory: Memory,
    /// First cell, without the offset.
    pub base: u32,
    /// Number of cells that the offset can reach.
    pub count: u32,
    /// Added to the first cell.
    pub offset: Option<Expression>,
    /// Whether it cannot be assigned.
    pub read_only: bool,
}

impl Lvalue {
    /// A variable.
    pub(crate) fn new(ty: Type, memory: Memory, base: u32) -> Lvalue {
        let count = ty.cells();
        Lvalue { ty, memory, base, count, offset: None, read_only: false }
    }

    /// Constant values.
    pub(crate) fn constant(ty: Type, values: Vec<i32>) -> Lvalue {
        let mut lvalue = Lvalue::new(ty, Memory::Constant(values.into()), 0);
        lvalue.read_only = true;
        lvalue
    }

    /// The part that starts `skip` cells later.
    pub(crate) fn part(&self, ty: &Type, skip: u32) -> Lvalue {
        let mut part = self.clone();
        part.base += skip;
        part.count = if part.offset.is_none() { ty.cells() } else { part.count.saturating_sub(skip) };
        part.ty = ty.clone();
        part
    }

    /// Integer cells in the network; `None` for constants, clocks and channels.
    pub(crate) fn cells(&self) -> Option<Cells> {
        let space = match self.memory {
            Memory::Global => Space::Global,
            Memory::Local => Space::Local,
            _ => return None,
        };
        Some(Cells { space, base: self.base, count: self.count, offset: self.offset.clone().map(Box::new) })
    }

    /// A clock.
    pub(crate) fn clock(&self) -> ClockCell {
        ClockCell { base: ClockId(self.base), count: self.count, offset: self.offset.clone() }
    }

    /// A channel.
    pub(crate) fn channel(&self) -> ChannelCell {
        ChannelCell { base: ChannelId(self.base), offset: self.offset.clone() }
    }

    /// The single integer cells that it consists of, in order.
    pub(crate) fn each(&self) -> Vec<Lvalue> {
        let mut parts = Vec::new();
        self.ty.each_cell("", &mut |_, ty| {
            let skip = parts.len() as u32;
            parts.push(self.part(ty, skip));
        });
        parts
    }
}

impl Checker<'_> {
    /// The value of a single integer cell.
    pub(crate) fn read(&mut self, lvalue: &Lvalue) -> Value {
        let ty = lvalue.ty.clone();
        let expression = match &lvalue.memory {
            Memory::Constant(values) => {
                let first = lvalue.base as usize;
                match &lvalue.offset {
                    None => {
                        let value = values[first];
                        let ty = if let Type::Int { .. } = ty {
                            Type::Int { low: value, high: value }
                        } else {
                            ty
                        };
                        return Value { ty, expression: Expression::Constant(value) };
                    }
                    Some(offset) => {
                        let last = first + lvalue.count as usize;
                        let part: Arc<[i32]> = if first == 0 && last == values.len() {
                            values.clone()
                        } else {
                            values[first..last].into()
                        };
                        let ty = match (&ty, part.iter().min(), part.iter().max()) {
                            (Type::Int { .. }, Some(&low), Some(&high)) => Type::Int { low, high },
                            _ => ty,
                        };
                        return Value { ty, expression: Expression::Table(part, Box::new(offset.clone())) };
                    }
                }
            }
            memory => {
                self.reads |= *memory == Memory::Global;
                match lvalue.cells() {
                    Some(cells) => Expression::Read(cells),
                    None => Expression::Constant(0),
                }
            }
        };
        Value { ty, expression }
    }

    /// Refuses a number in a question that is not an index of the array. Evaluation would only notice
    /// it in states where the rest of the condition does not decide.
    pub(crate) fn check_asked_index(&self, array: &Lvalue, index: &tree::Expression) -> Outcome<()> {
        let (Type::Array(ty), Purpose::Query) = (&array.ty, self.purpose) else { return Ok(()) };
        let value = match &index.kind {
            ExpressionKind::Integer(value) => i64::from(*value),
            ExpressionKind::Unary(tree::Unary::Minus, inner) => match &inner.kind {
                ExpressionKind::Integer(value) => -i64::from(*value),
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let high = i64::from(ty.low) + i64::from(ty.size) - 1;
        if ty.scalar.is_some() || (i64::from(ty.low)..=high).contains(&value) {
            return Ok(());
        }
        Err(Diagnostic::error(format!("the index {value} is out of range"))
            .at(index.span.clone(), format!("the array has the indices {} to {high}", ty.low)))
    }

    /// An element of an array.
    pub(crate) fn index(&mut self, array: Lvalue, index: Value, place: &Place) -> Outcome<Lvalue> {
        let Type::Array(ty) = &array.ty else {
            return Err(Diagnostic::error("only arrays can be indexed")
                .at(place.clone(), format!("this is {}", array.ty.describe())));
        };
        let ty = ty.clone();
        match (ty.scalar, &index.ty) {
            (None, Type::Int { .. } | Type::Bool) => {}
            (Some(wanted), Type::Scalar { set, .. }) if wanted == *set => {}
            (Some(_), _) => {
                return Err(Diagnostic::error("this array is indexed by scalars")
                    .at(place.clone(), format!("the index is {}", index.ty.describe()))
                    .help("use a value of the scalar type that the array was declared with"));
            }
            (None, _) => {
                return Err(Diagnostic::error("this array is indexed by integers")
                    .at(place.clone(), format!("the index is {}", index.ty.describe())));
            }
        }
        let width = ty.element.cells();
        let high = i64::from(ty.low) + i64::from(ty.size) - 1;
        let inside = |value: i64| (i64::from(ty.low)..=high).contains(&value);
        if let Some(value) = index.known() {
            if inside(value.into()) {
                let skip = (i64::from(value) - i64::from(ty.low)) as u32 * width;
                return Ok(array.part(&ty.element, skip));
            }
            if array.ty.class() != Class::Data || self.purpose == Purpose::Constant {
                return Err(Diagnostic::error(format!("the index {value} is out of range"))
                    .at(place.clone(), format!("the array has the indices {} to {high}", ty.low)));
            }
        }
        let (low, most) = index.ty.range().unwrap_or((i32::MIN, i32::MAX));
        let safe = index.known().is_none() && inside(low.into()) && inside(most.into());
        let mut offset = index;
        if !safe {
            let high = high as i32;
            offset = Value {
                ty: Type::Int { low: ty.low, high },
                expression: Expression::InRange {
                    value: Box::new(offset.expression),
                    low: ty.low,
                    high,
                    place: place.clone(),
                },
            };
        } else if let Type::Scalar { size, .. } = offset.ty {
            offset.ty = Type::Int { low: 0, high: size as i32 - 1 };
        }
        offset = fold::binary(Binary::Subtract, offset, Value::int(ty.low), place);
        offset = fold::binary(Binary::Multiply, offset, Value::int(width as i32), place);
        let mut element = array;
        match element.offset.take() {
            None => element.offset = Some(offset.expression),
            Some(before) => {
                let before = Value { ty: super::types::ANY_INT, expression: before };
                element.offset = Some(fold::binary(Binary::Add, before, offset, place).expression);
            }
        }
        element.ty = ty.element.clone();
        Ok(element)
    }

    /// A field of a struct.
    pub(crate) fn field(&mut self, record: &Lvalue, name: &tree::Identifier) -> Outcome<Lvalue> {
        let Type::Struct(ty) = &record.ty else {
            return Err(Diagnostic::error("only structs have fields")
                .at(name.span.clone(), format!("this is a field of {}", record.ty.describe())));
        };
        match ty.fields.iter().find(|(field, ..)| *field == name.name) {
            Some((_, ty, skip)) => Ok(record.part(ty, *skip)),
            None => {
                let names = ty.fields.iter().map(|(name, ..)| name.as_str());
                Err(Diagnostic::error(format!("the struct has no field `{}`", name.name))
                    .at(name.span.clone(), super::NOT_A_FIELD)
                    .suggest(&name.name, names))
            }
        }
    }

    /// Allocates uninitialised local cells for a type.
    pub(crate) fn allocate(&mut self, name: &str, ty: &Type, place: &Place) -> Outcome<Lvalue> {
        if !self.frame.available {
            return Err(Diagnostic::error("this needs local variables, which are not available here")
                .at(place.clone(), "")
                .help("move the computation into a function"));
        }
        let base = self.frame.locals.len() as u32;
        if ty.cells() > super::types::MOST_CELLS - base.min(super::types::MOST_CELLS) {
            return Err(Diagnostic::error("there are too many local variables").at(place.clone(), ""));
        }
        ty.each_cell(name, &mut |name, ty| {
            let (low, high) = ty.range().unwrap_or((0, 0));
            self.frame.locals.push(Local { name, low, high });
        });
        Ok(Lvalue::new(ty.clone(), Memory::Local, base))
    }
}
