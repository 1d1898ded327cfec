//! Types with known sizes, and their resolution from the source.

use std::sync::Arc;

use turnpike_model::Diagnostic;

use super::{Checker, Entity, Outcome, Wanted};
use crate::network::Place;
use crate::syntax::uppaal::tree;

/// A type. Values are ranges of cells of one kind: integers, clocks or channels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// The result of functions without one.
    Void,
    /// Integers from `low` to `high`; for expressions, the range of possible values.
    Int {
        /// Smallest.
        low: i32,
        /// Largest.
        high: i32,
    },
    /// 0 or 1.
    Bool,
    /// An element of an unordered set: 0 to `size - 1`.
    Scalar {
        /// Which set.
        set: u32,
        /// Number of elements.
        size: u32,
    },
    /// A clock.
    Clock,
    /// A channel.
    Channel {
        /// As declared.
        urgent: bool,
        /// As declared.
        broadcast: bool,
    },
    /// An array with one dimension; its elements may be arrays.
    Array(Arc<ArrayType>),
    /// A record.
    Struct(Arc<StructType>),
    /// A number that is not tracked, and has no cells.
    Real(Real),
}

/// The kinds of numbers that are not tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Real {
    /// `double`
    Double,
    /// `hybrid clock`
    Hybrid,
    /// The cost of priced automata.
    Cost,
}

/// An array type.
#[derive(Debug, PartialEq)]
pub(crate) struct ArrayType {
    /// Smallest index.
    pub low: i32,
    /// Number of elements.
    pub size: u32,
    /// The scalar set of the indices, if any.
    pub scalar: Option<u32>,
    /// Type of the elements.
    pub element: Type,
}

/// A struct type.
#[derive(Debug, PartialEq)]
pub(crate) struct StructType {
    /// Name, type and first cell of each field.
    pub fields: Vec<(String, Type, u32)>,
    /// Cells of all fields.
    pub cells: u32,
}

/// The kind of cells that a value consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Integers.
    Data,
    /// Clocks.
    Clock,
    /// Channels.
    Channel,
}

/// Limit on the cells of any object.
pub(crate) const MOST_CELLS: u32 = 1 << 20;

/// The range of a plain `int`.
pub(crate) const PLAIN_INT: Type = Type::Int { low: -32768, high: 32767 };

/// Every 32-bit number.
pub(crate) const ANY_INT: Type = Type::Int { low: i32::MIN, high: i32::MAX };

impl Type {
    /// Number of cells.
    pub(crate) fn cells(&self) -> u32 {
        match self {
            Type::Void | Type::Real(_) => 0,
            Type::Array(array) => array.size * array.element.cells(),
            Type::Struct(record) => record.cells,
            _ => 1,
        }
    }

    /// The kind of its cells.
    pub(crate) fn class(&self) -> Class {
        match self {
            Type::Clock => Class::Clock,
            Type::Channel { .. } => Class::Channel,
            Type::Array(array) => array.element.class(),
            _ => Class::Data,
        }
    }

    /// Smallest and largest value, for types with a single integer cell.
    pub(crate) fn range(&self) -> Option<(i32, i32)> {
        match *self {
            Type::Int { low, high } => Some((low, high)),
            Type::Bool => Some((0, 1)),
            Type::Scalar { size, .. } => Some((0, size as i32 - 1)),
            _ => None,
        }
    }

    /// Whether values can be copied cell by cell: ranges may differ.
    pub(crate) fn fits(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Int { .. } | Type::Bool, Type::Int { .. } | Type::Bool) => true,
            (Type::Scalar { set: left, .. }, Type::Scalar { set: right, .. }) => left == right,
            (Type::Clock, Type::Clock) | (Type::Real(_), Type::Real(_)) => true,
            // An argument must be at least as permissive as the parameter: a parameter declared
            // urgent accepts a non-urgent channel, and one declared as broadcast accepts a
            // handshake channel.
            (Type::Channel { .. }, Type::Channel { .. }) => self.capability() <= other.capability(),
            (Type::Array(left), Type::Array(right)) => {
                left.size == right.size
                    && left.scalar == right.scalar
                    && left.element.fits(&right.element)
                    && left.element.capability() == right.element.capability()
            }
            (Type::Struct(left), Type::Struct(right)) => {
                left.fields.len() == right.fields.len()
                    && left.fields.iter().zip(&right.fields).all(|(a, b)| a.0 == b.0 && a.1.fits(&b.1))
            }
            _ => false,
        }
    }

    /// The permissiveness of a channel: clock guards require a non-urgent channel, and on receiving
    /// edges one without broadcast. Constant for all other types.
    fn capability(&self) -> u8 {
        match self {
            Type::Channel { urgent: true, .. } => 0,
            Type::Channel { broadcast: true, .. } => 1,
            _ => 2,
        }
    }

    /// Calls `visit` with the name and type of each cell, in order.
    pub(crate) fn each_cell(&self, name: &str, visit: &mut impl FnMut(String, &Type)) {
        match self {
            Type::Void | Type::Real(_) => {}
            Type::Array(array) => {
                for index in 0..array.size {
                    let index = i64::from(array.low) + i64::from(index);
                    array.element.each_cell(&format!("{name}[{index}]"), visit);
                }
            }
            Type::Struct(record) => {
                for (field, ty, _) in &record.fields {
                    ty.each_cell(&format!("{name}.{field}"), visit);
                }
            }
            _ => visit(name.to_owned(), self),
        }
    }

    /// Whether it consists only of values that are not tracked.
    pub(crate) fn is_all_real(&self) -> bool {
        match self {
            Type::Real(_) => true,
            Type::Array(array) => array.element.is_all_real(),
            Type::Struct(record) => record.fields.iter().all(|(_, ty, _)| ty.is_all_real()),
            _ => false,
        }
    }

    /// The kind of a part that is not tracked, if there is one.
    pub(crate) fn real_part(&self) -> Option<Real> {
        match self {
            Type::Real(kind) => Some(*kind),
            Type::Array(array) => array.element.real_part(),
            Type::Struct(record) => record.fields.iter().find_map(|(_, ty, _)| ty.real_part()),
            _ => None,
        }
    }

    /// The default initial values: 0, or the smallest value if 0 is out of range.
    pub(crate) fn defaults(&self) -> Vec<i32> {
        let mut values = Vec::new();
        self.each_cell("", &mut |_, ty| values.push(ty.default_value()));
        values
    }

    /// The default initial value of a single cell.
    pub(crate) fn default_value(&self) -> i32 {
        self.range().map_or(0, |(low, high)| if low <= 0 && 0 <= high { 0 } else { low })
    }

    /// A description for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Type::Void => "nothing".into(),
            &PLAIN_INT => "an integer".into(),
            Type::Int { low, high } if (*low, *high) == (i32::MIN, i32::MAX) => "an integer".into(),
            Type::Int { low, high } => format!("an integer from {low} to {high}"),
            Type::Bool => "a truth value".into(),
            Type::Scalar { size, .. } => format!("one of {size} scalars"),
            Type::Clock => "a clock".into(),
            Type::Channel { urgent: true, broadcast: true } => "an urgent broadcast channel".into(),
            Type::Channel { urgent: true, .. } => "an urgent channel".into(),
            Type::Channel { broadcast: true, .. } => "a broadcast channel".into(),
            Type::Channel { .. } => "a channel".into(),
            Type::Array(array) => {
                let size = array.size;
                match &array.element {
                    Type::Clock => format!("an array of {size} clocks"),
                    Type::Channel { urgent: true, broadcast: true } => {
                        format!("an array of {size} urgent broadcast channels")
                    }
                    Type::Channel { urgent: true, .. } => format!("an array of {size} urgent channels"),
                    Type::Channel { broadcast: true, .. } => format!("an array of {size} broadcast channels"),
                    Type::Channel { .. } => format!("an array of {size} channels"),
                    Type::Int { .. } => format!("an array of size {size}"),
                    other => format!("an array of size {size}, each element {}", other.describe()),
                }
            }
            Type::Struct(record) => format!("a struct of {} fields", record.fields.len()),
            Type::Real(Real::Double) => "a `double`".into(),
            Type::Real(Real::Hybrid) => "a hybrid clock".into(),
            Type::Real(Real::Cost) => "the cost".into(),
        }
    }
}

/// A type with its prefixes, including those from a named type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    /// The type.
    pub ty: Type,
    /// `const`
    pub constant: bool,
    /// `meta`
    pub meta: bool,
    /// `int` without a range.
    pub unbounded: bool,
}

impl Checker<'_> {
    /// Resolves a type with its array dimensions.
    pub(crate) fn declared(&mut self, ty: &tree::Type, dimensions: &[tree::Dimension]) -> Outcome<Declared> {
        let plain = self.declared_type(ty)?;
        self.with_dimensions(plain, dimensions, &ty.span)
    }

    /// An array type for each dimension.
    pub(crate) fn with_dimensions(
        &mut self,
        mut declared: Declared,
        dimensions: &[tree::Dimension],
        place: &Place,
    ) -> Outcome<Declared> {
        for dimension in dimensions.iter().rev() {
            if declared.ty == Type::Void {
                return Err(Diagnostic::error("there are no arrays of `void`").at(place.clone(), ""));
            }
            let (low, size, scalar, place) = match dimension {
                tree::Dimension::Size(size) => {
                    let value = self.constant(size)?;
                    if value < 1 {
                        return Err(Diagnostic::error(format!("an array cannot have the size {value}"))
                            .at(size.span.clone(), "this is the size"));
                    }
                    (0, value as u32, None, &size.span)
                }
                tree::Dimension::Index(ty) => {
                    let (index, low, high) = self.domain(ty)?;
                    let size = i64::from(high) - i64::from(low) + 1;
                    let scalar = match index {
                        Type::Scalar { set, .. } => Some(set),
                        _ => None,
                    };
                    (low, u32::try_from(size).unwrap_or(u32::MAX), scalar, &ty.span)
                }
            };
            let cells = u64::from(size) * u64::from(declared.ty.cells());
            if cells > u64::from(MOST_CELLS) {
                return Err(Diagnostic::error(format!("an array of {cells} cells is too large"))
                    .at(place.clone(), format!("at most {MOST_CELLS} cells are supported")));
            }
            declared.unbounded = false;
            declared.ty = Type::Array(Arc::new(ArrayType { low, size, scalar, element: declared.ty }));
        }
        Ok(declared)
    }

    /// Declares the names of a `typedef`.
    pub(crate) fn typedef(&mut self, typedef: &tree::Typedef) -> Outcome<()> {
        let shared = self.declared(&typedef.ty, &[])?;
        for name in &typedef.names {
            let declared = self.with_dimensions(shared.clone(), &name.dimensions, &name.span)?;
            self.declare(&name.name, Entity::Type(declared))?;
        }
        Ok(())
    }

    /// The values of a type to iterate over.
    pub(crate) fn domain(&mut self, ty: &tree::Type) -> Outcome<(Type, i32, i32)> {
        let declared = self.declared_type(ty)?;
        match declared.ty.range() {
            Some((low, high)) => Ok((declared.ty, low, high)),
            None => Err(Diagnostic::error("the values of this type cannot be enumerated")
                .at(ty.span.clone(), format!("this is {}", declared.ty.describe()))
                .help("use a bounded integer such as int[0,3], or a set of scalars")),
        }
    }

    fn declared_type(&mut self, ty: &tree::Type) -> Outcome<Declared> {
        let prefix = ty.prefix;
        let mut declared =
            Declared { ty: Type::Void, constant: prefix.constant, meta: prefix.meta, unbounded: false };
        if prefix.urgent || prefix.broadcast {
            let channel = match &ty.kind {
                tree::TypeKind::Channel => true,
                tree::TypeKind::Name(name) => {
                    matches!(
                        self.lookup(name, &ty.span),
                        Some(Entity::Type(Declared { ty: Type::Channel { .. }, .. }))
                    )
                }
                _ => false,
            };
            if !channel {
                let word = if prefix.urgent { "urgent" } else { "broadcast" };
                return Err(Diagnostic::error(format!("only channels can be `{word}`"))
                    .at(ty.span.clone(), "this is not a channel"));
            }
        }
        declared.ty = match &ty.kind {
            tree::TypeKind::Int => {
                declared.unbounded = true;
                // Constants take no space in states, so any value is allowed.
                if prefix.constant { ANY_INT } else { PLAIN_INT }
            }
            tree::TypeKind::Range(low, high) => {
                let (from, to) = (self.constant(low)?, self.constant(high)?);
                if from > to {
                    return Err(Diagnostic::error(format!("the range from {from} to {to} is empty"))
                        .at(ty.span.clone(), "no value fits"));
                }
                Type::Int { low: from, high: to }
            }
            tree::TypeKind::Bool => Type::Bool,
            tree::TypeKind::Clock => Type::Clock,
            tree::TypeKind::Channel => Type::Channel { urgent: prefix.urgent, broadcast: prefix.broadcast },
            tree::TypeKind::Void => Type::Void,
            tree::TypeKind::Double => {
                self.warn_about(Real::Double, &ty.span);
                Type::Real(Real::Double)
            }
            tree::TypeKind::Hybrid => {
                self.warn_about(Real::Hybrid, &ty.span);
                Type::Real(Real::Hybrid)
            }
            tree::TypeKind::Scalar(size) => {
                let value = self.constant(size)?;
                if !(1..=MOST_CELLS as i32).contains(&value) {
                    return Err(Diagnostic::error(format!("a set of {value} scalars is not possible"))
                        .at(size.span.clone(), format!("from 1 to {MOST_CELLS} are supported")));
                }
                self.state.scalars += 1;
                Type::Scalar { set: self.state.scalars, size: value as u32 }
            }
            tree::TypeKind::Struct(fields) => self.struct_type(fields, &ty.span)?,
            tree::TypeKind::Name(name) => {
                let named = self.named_type(name, &ty.span)?;
                declared.constant |= named.constant;
                declared.meta |= named.meta;
                declared.unbounded = named.unbounded;
                match named.ty {
                    Type::Channel { urgent, broadcast } => Type::Channel {
                        urgent: urgent || prefix.urgent,
                        broadcast: broadcast || prefix.broadcast,
                    },
                    other => other,
                }
            }
        };
        if (declared.constant || declared.meta) && declared.ty.class() != Class::Data {
            return Err(Diagnostic::error("clocks and channels can be neither `const` nor `meta`")
                .at(ty.span.clone(), ""));
        }
        Ok(declared)
    }

    /// The type that a name refers to.
    fn named_type(&mut self, name: &str, place: &Place) -> Outcome<Declared> {
        match self.lookup(name, place) {
            Some(Entity::Type(named)) => Ok(named),
            Some(other) => Err(Diagnostic::error(format!("`{name}` is not a type"))
                .at(place.clone(), format!("this is {}", other.describe()))),
            None if matches!(name, "uint32_t" | "int64_t" | "uint64_t" | "float") => Err(Diagnostic::error(
                format!("UPPAAL has no type `{name}`"),
            )
            .at(place.clone(), "not predeclared")
            .help("int8_t, uint8_t, int16_t, uint16_t, int32_t and double are; integers have 32 bits with a sign")),
            None => Err(self.unknown(name, place, Wanted::Type, |e| matches!(e, Entity::Type(_)))),
        }
    }

    fn struct_type(&mut self, groups: &[tree::Fields], place: &Place) -> Outcome<Type> {
        let mut fields: Vec<(String, Type, u32)> = Vec::new();
        let mut cells = 0u32;
        for group in groups {
            let plain = self.declared_type(&group.ty)?;
            for field in &group.names {
                let name = &field.name;
                let ty = self.with_dimensions(plain.clone(), &field.dimensions, &field.span)?.ty;
                if ty.class() != Class::Data || ty == Type::Void {
                    return Err(Diagnostic::error(
                        "the fields of a struct are integers, truth values, arrays or structs",
                    )
                    .at(name.span.clone(), format!("this is {}", ty.describe())));
                }
                if fields.iter().any(|(other, ..)| *other == name.name) {
                    return Err(Diagnostic::error(format!("the field `{}` exists already", name.name))
                        .at(name.span.clone(), ""));
                }
                let size = ty.cells();
                fields.push((name.name.clone(), ty, cells));
                cells += size;
                if cells > MOST_CELLS {
                    return Err(Diagnostic::error("this struct is too large")
                        .at(place.clone(), format!("at most {MOST_CELLS} cells are supported")));
                }
            }
        }
        Ok(Type::Struct(Arc::new(StructType { fields, cells })))
    }
}
