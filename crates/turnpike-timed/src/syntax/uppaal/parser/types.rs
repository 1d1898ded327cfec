//! Types, array dimensions and parameters.

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::tree::{Dimension, Fields, Identifier, Parameter, Prefix, Type, TypeKind, Variable};
use super::{Parser, Reading};

/// Limit on parameters: it bounds the growth from shared types in hostile inputs.
const PARAMETERS: usize = 256;

impl Parser<'_> {
    /// A type without array dimensions.
    pub(in super::super) fn ty(&mut self) -> Reading<Type> {
        self.nested(Self::measured_type).map(|(ty, _)| ty)
    }

    /// Whether a type starts here. A name is a type if it has been declared as one, or if another
    /// name follows.
    pub(super) fn at_type(&self) -> bool {
        match self.peek() {
            Kind::Name => {
                let named = |name| self.context.is_type(name);
                // `spawn P(1)` looks like a declaration, but is not.
                let followed = self.peek_at(1) == Kind::Name && self.word_at(0) != Some("spawn");
                !self.old() && (followed || self.word_at(0).is_some_and(named))
            }
            kind => is_type_word(kind),
        }
    }

    /// A type, and the height of the highest expression in it.
    pub(super) fn measured_type(&mut self) -> Reading<(Type, u32)> {
        let start = self.start();
        let prefix = self.prefix_words()?;
        let mut height = 0;
        let token = self.token().clone();
        let kind = match token.kind {
            Kind::Int => {
                self.bump();
                if self.peek() == Kind::LeftBracket {
                    self.bump();
                    let (low, first) = self.measured()?;
                    self.expect(Kind::Comma, "`,` and the largest value")?;
                    let (high, second) = self.measured()?;
                    self.expect(Kind::RightBracket, "`]`")?;
                    height = first.max(second);
                    TypeKind::Range(Box::new(low), Box::new(high))
                } else {
                    TypeKind::Int
                }
            }
            Kind::Bool => self.simple(TypeKind::Bool),
            Kind::Clock => self.simple(TypeKind::Clock),
            Kind::Chan => self.simple(TypeKind::Channel),
            Kind::Void => self.simple(TypeKind::Void),
            Kind::Scalar => {
                self.bump();
                self.expect(Kind::LeftBracket, "`[` and the size of the set")?;
                let (size, tall) = self.measured()?;
                self.expect(Kind::RightBracket, "`]`")?;
                height = tall;
                TypeKind::Scalar(Box::new(size))
            }
            Kind::Struct => {
                self.bump();
                TypeKind::Struct(self.fields(&mut height)?)
            }
            Kind::Name if !self.old() => {
                self.bump();
                TypeKind::Name(token.text.to_owned())
            }
            Kind::Double => self.simple(TypeKind::Double),
            Kind::String => return Err(self.unsupported("variables of type `string`", token.span, "")),
            Kind::Hybrid => {
                self.bump();
                self.expect(Kind::Clock, "`clock`")?;
                TypeKind::Hybrid
            }
            _ => return Err(self.unexpected("a type")),
        };
        Ok((Type { prefix, kind, span: self.since(start) }, height))
    }

    fn simple(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    fn prefix_words(&mut self) -> Reading<Prefix> {
        let mut prefix = Prefix::default();
        loop {
            let word = match self.peek() {
                Kind::Const => &mut prefix.constant,
                Kind::Meta => &mut prefix.meta,
                Kind::Urgent => &mut prefix.urgent,
                Kind::Broadcast => &mut prefix.broadcast,
                _ => return Ok(prefix),
            };
            if *word {
                return Err(self.unexpected("a type"));
            }
            *word = true;
            self.bump();
        }
    }

    fn fields(&mut self, height: &mut u32) -> Reading<Vec<Fields>> {
        self.expect(Kind::LeftBrace, "`{` and the fields")?;
        let mut all = Vec::new();
        while !self.eat(Kind::RightBrace) {
            let (ty, tall) = self.nested(Self::measured_type)?;
            *height = (*height).max(tall + 1);
            let mut names = Vec::new();
            loop {
                names.push(self.declared("the name of a field", height)?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::Semicolon, "`,` or `;`")?;
            all.push(Fields { ty, names });
        }
        Ok(all)
    }

    /// A name with array dimensions only.
    fn declared(&mut self, what: &str, height: &mut u32) -> Reading<Variable> {
        let start = self.start();
        let name = self.name(what)?;
        let dimensions = self.measured_dimensions(height)?;
        Ok(Variable { name, dimensions, initial: None, span: self.since(start) })
    }

    /// A name declared by a `typedef`.
    pub(super) fn type_name(&mut self) -> Reading<Variable> {
        let variable = self.declared("a name for the type", &mut 0)?;
        self.context.declare(&variable.name.name, true);
        Ok(variable)
    }

    /// `[4][id_t]`
    pub(super) fn dimensions(&mut self) -> Reading<Vec<Dimension>> {
        self.measured_dimensions(&mut 0)
    }

    fn measured_dimensions(&mut self, height: &mut u32) -> Reading<Vec<Dimension>> {
        let mut all = Vec::new();
        while self.eat(Kind::LeftBracket) {
            let (dimension, tall) = if self.at_type() {
                let (ty, tall) = self.nested(Self::measured_type)?;
                (Dimension::Index(ty), tall)
            } else {
                let (size, tall) = self.measured()?;
                (Dimension::Size(size), tall)
            };
            *height = (*height).max(tall);
            self.expect(Kind::RightBracket, "`]`")?;
            all.push(dimension);
        }
        Ok(all)
    }

    /// Parameters up to `end`, which is not consumed. They belong to the innermost scope.
    pub(in super::super) fn parameters(&mut self, end: Kind) -> Reading<Vec<Parameter>> {
        let mut all: Vec<Parameter> = Vec::new();
        if self.peek() == end {
            return Ok(all);
        }
        loop {
            if all.len() >= PARAMETERS {
                let place = self.token().span.clone();
                let message = format!("there are more than {PARAMETERS} parameters");
                return Err(self.context.error(Diagnostic::error(message).at(place, "too many")));
            }
            let more =
                if self.old() { self.old_parameters(&mut all)? } else { self.new_parameter(&mut all)? };
            if !more {
                return Ok(all);
            }
        }
    }

    /// Parses one parameter; returns whether more follow.
    fn new_parameter(&mut self, all: &mut Vec<Parameter>) -> Reading<bool> {
        let start = self.start();
        let ty = self.ty()?;
        let reference = self.eat(Kind::Ampersand);
        let name = self.parameter_name()?;
        let dimensions = self.dimensions()?;
        all.push(Parameter { ty, reference, name, dimensions, span: self.since(start) });
        Ok(self.eat(Kind::Comma))
    }

    /// `int i, j` or `const k`: several names share a type, and all but constants are references.
    fn old_parameters(&mut self, all: &mut Vec<Parameter>) -> Reading<bool> {
        let ty = self.old_parameter_type()?;
        loop {
            let start = self.start();
            let name = self.parameter_name()?;
            let dimensions = self.dimensions()?;
            let reference = !ty.prefix.constant;
            all.push(Parameter { ty: ty.clone(), reference, name, dimensions, span: self.since(start) });
            if all.len() >= PARAMETERS || !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(self.eat(Kind::Semicolon) || self.peek() == Kind::Comma)
    }

    fn old_parameter_type(&mut self) -> Reading<Type> {
        let start = self.start();
        if self.peek() == Kind::Const && self.peek_at(1) == Kind::Name {
            self.bump();
            return Ok(self.old_constant(start));
        }
        self.ty()
    }

    /// The implicit type of constants in the old syntax.
    pub(super) fn old_constant(&self, start: usize) -> Type {
        let prefix = Prefix { constant: true, ..Prefix::default() };
        Type { prefix, kind: TypeKind::Int, span: self.since(start) }
    }

    fn parameter_name(&mut self) -> Reading<Identifier> {
        let name = self.name("the name of a parameter")?;
        self.context.declare(&name.name, false);
        Ok(name)
    }
}

fn is_type_word(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::Broadcast
            | Kind::Chan
            | Kind::Clock
            | Kind::Const
            | Kind::Double
            | Kind::Hybrid
            | Kind::Int
            | Kind::Meta
            | Kind::Scalar
            | Kind::String
            | Kind::Struct
            | Kind::Urgent
            | Kind::Void
    )
}
