//! Sort expressions: `#` binds tighter than `->`, which nests to the right. Products are flat lists
//! on a side stack.

use turnpike_model::Diagnostic;

use super::super::operator::{BuiltinSort, Container};
use super::super::symbol::{Name, Span};
use super::super::tree::{Constructor, Field, Sort, SortId};
use super::{Kind, Parsed, Parser};

/// An incomplete sort.
enum Frame {
    Paren(Span),
    Container(Container, Span),
    /// Left of `#`: the index of the first factor and its position.
    Product(usize, u32),
    /// Left of `->`.
    Domain(Box<[SortId]>, u32),
    /// Inside the fields of a constructor.
    Fields(Box<Fields>),
}

struct Fields {
    start: u32,
    finished: Vec<Constructor>,
    name: Name,
    fields: Vec<Field>,
    projection: Option<Name>,
}

/// Reused between calls, and empty outside of them.
#[derive(Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    factors: Vec<SortId>,
}

/// A sort, or a product of several.
struct Operand {
    /// The index of the first factor.
    first: usize,
    span: Span,
}

impl Parser<'_> {
    /// Parses a sort.
    pub(super) fn sort(&mut self) -> Parsed<SortId> {
        let operand = self.sort_operand()?;
        self.single(&operand)
    }

    /// Parses a sort or a product, for actions.
    pub(super) fn sort_product(&mut self) -> Parsed<Box<[SortId]>> {
        let operand = self.sort_operand()?;
        Ok(self.sorts.factors.drain(operand.first..).collect())
    }

    fn sort_operand(&mut self) -> Parsed<Operand> {
        self.sorts.frames.clear();
        self.sorts.factors.clear();
        'operand: loop {
            let Some(mut operand) = self.sort_atom()? else { continue };
            loop {
                match self.kind() {
                    Kind::Hash => {
                        self.bump();
                        let operand = self.join_product(operand);
                        self.sorts.frames.push(Frame::Product(operand.first, operand.span.start));
                        continue 'operand;
                    }
                    Kind::Arrow => {
                        self.bump();
                        let operand = self.join_product(operand);
                        let domain = self.sorts.factors.drain(operand.first..).collect();
                        self.sorts.frames.push(Frame::Domain(domain, operand.span.start));
                        continue 'operand;
                    }
                    _ => {}
                }
                operand = self.finish_function(operand)?;
                operand = match self.sorts.frames.pop() {
                    None => return Ok(operand),
                    Some(Frame::Paren(open)) => {
                        let close = self.expect(Kind::CloseParen, "`)`, `#` or `->`")?;
                        Operand { first: operand.first, span: open.to(close) }
                    }
                    Some(Frame::Container(container, start)) => {
                        let element = self.single(&operand)?;
                        let close = self.expect(Kind::CloseParen, "`)`")?;
                        self.sort_node(Sort::Container(container, element), start.to(close))
                    }
                    Some(Frame::Fields(mut fields)) => {
                        let sort = self.single(&operand)?;
                        fields.fields.push(Field { projection: fields.projection, sort });
                        if self.accept(Kind::Comma) {
                            fields.projection = self.projection()?;
                            self.sorts.frames.push(Frame::Fields(fields));
                            continue 'operand;
                        }
                        self.expect(Kind::CloseParen, "`,` or `)`")?;
                        let Fields { start, mut finished, name, fields, .. } = *fields;
                        let recogniser = self.recogniser()?;
                        finished.push(Constructor { name, fields: fields.into(), recogniser });
                        if self.accept(Kind::Bar) {
                            match self.constructors(start, finished)? {
                                Some(constructors) => self.finish_struct(constructors, start),
                                None => continue 'operand,
                            }
                        } else {
                            self.finish_struct(finished.into(), start)
                        }
                    }
                    Some(Frame::Product(..) | Frame::Domain(..)) => {
                        unreachable!("finish_function removes these")
                    }
                };
            }
        }
    }

    /// Parses an atomic sort. `None` after the start of a composite sort, whose frame was pushed.
    fn sort_atom(&mut self) -> Parsed<Option<Operand>> {
        let span = self.span();
        let sort = match self.kind() {
            Kind::Identifier => Sort::Name(self.name("a sort")?.symbol),
            Kind::OpenParen => {
                self.bump();
                self.sorts.frames.push(Frame::Paren(span));
                return Ok(None);
            }
            Kind::Struct => {
                self.bump();
                match self.constructors(span.start, Vec::new())? {
                    Some(constructors) => Sort::Struct(constructors),
                    None => return Ok(None),
                }
            }
            kind => {
                if let Some(builtin) = builtin(kind) {
                    self.bump();
                    Sort::Builtin(builtin)
                } else if let Some(container) = container(kind) {
                    self.bump();
                    self.expect(Kind::OpenParen, "`(` and the sort of the elements")?;
                    self.sorts.frames.push(Frame::Container(container, span));
                    return Ok(None);
                } else if kind == Kind::Reserved {
                    return Err(self.no_name("a sort"));
                } else {
                    return Err(self.unexpected("a sort"));
                }
            }
        };
        Ok(Some(self.sort_node(sort, span.to(self.previous()))))
    }

    fn sort_node(&mut self, sort: Sort, span: Span) -> Operand {
        let id = self.tree.add_sort(sort, span);
        self.sorts.factors.push(id);
        Operand { first: self.sorts.factors.len() - 1, span }
    }

    fn finish_struct(&mut self, constructors: Box<[Constructor]>, start: u32) -> Operand {
        let span = Span::new(start, self.previous().end);
        self.sort_node(Sort::Struct(constructors), span)
    }

    /// Parses constructors up to the last, or up to the first sort of one with fields.
    fn constructors(
        &mut self,
        start: u32,
        mut finished: Vec<Constructor>,
    ) -> Parsed<Option<Box<[Constructor]>>> {
        loop {
            let name = self.name("a constructor")?;
            if self.accept(Kind::OpenParen) {
                let projection = self.projection()?;
                let fields = Fields { start, finished, name, fields: Vec::new(), projection };
                self.sorts.frames.push(Frame::Fields(Box::new(fields)));
                return Ok(None);
            }
            let recogniser = self.recogniser()?;
            finished.push(Constructor { name, fields: Box::default(), recogniser });
            if !self.accept(Kind::Bar) {
                return Ok(Some(finished.into()));
            }
        }
    }

    /// `p:` before the sort of a field.
    fn projection(&mut self) -> Parsed<Option<Name>> {
        if self.peek(1) != Kind::Colon {
            return Ok(None);
        }
        let name = self.name("a projection")?;
        self.bump();
        Ok(Some(name))
    }

    /// `?r` after a constructor.
    fn recogniser(&mut self) -> Parsed<Option<Name>> {
        if self.accept(Kind::Question) { self.name("a recogniser").map(Some) } else { Ok(None) }
    }

    /// Adds the factors before `operand` to its product.
    fn join_product(&mut self, mut operand: Operand) -> Operand {
        while let Some(&Frame::Product(first, start)) = self.sorts.frames.last() {
            self.sorts.frames.pop();
            operand = Operand { first, span: Span::new(start, operand.span.end) };
        }
        operand
    }

    /// Completes everything that contains `operand` up to the nearest bracket.
    fn finish_function(&mut self, operand: Operand) -> Parsed<Operand> {
        let mut operand = self.join_product(operand);
        while let Some(Frame::Domain(..)) = self.sorts.frames.last() {
            let codomain = self.single(&operand)?;
            if let Some(Frame::Domain(domain, start)) = self.sorts.frames.pop() {
                let span = Span::new(start, operand.span.end);
                operand = self.sort_node(Sort::Function { domain, codomain }, span);
            }
            // Between two `->` everything has been joined.
        }
        Ok(operand)
    }

    /// The one sort of an operand.
    fn single(&mut self, operand: &Operand) -> Parsed<SortId> {
        match self.sorts.factors[operand.first..] {
            [sort] => {
                self.sorts.factors.pop();
                Ok(sort)
            }
            _ => Err(Box::new(
                Diagnostic::error("a product of sorts can only stand before `->`, or as the sort of an action")
                    .at(operand.span.range(), "")
                    .help("for pairs, declare a `struct`; for a function as a factor, add parentheses: `(A -> B) # C`"),
            )),
        }
    }
}

fn builtin(kind: Kind) -> Option<BuiltinSort> {
    Some(match kind {
        Kind::Bool => BuiltinSort::Bool,
        Kind::Pos => BuiltinSort::Pos,
        Kind::Nat => BuiltinSort::Nat,
        Kind::Int => BuiltinSort::Int,
        Kind::Real => BuiltinSort::Real,
        _ => return None,
    })
}

fn container(kind: Kind) -> Option<Container> {
    Some(match kind {
        Kind::List => Container::List,
        Kind::Set => Container::Set,
        Kind::Bag => Container::Bag,
        Kind::FSet => Container::FSet,
        Kind::FBag => Container::FBag,
        _ => return None,
    })
}
