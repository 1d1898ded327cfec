//! Expressions that can be solved for their open variables once their value is known: `x`, `x + k`,
//! `c(x, y)`, `x |> l`.

use crate::syntax::Container;
use crate::typed::{
    Builtin, Expression, ExpressionId, Program, Sort, SortId, SymbolId, SymbolKind, VariableId,
};

use super::linear_form::{mentions, sum};
use super::literal::builtin;

/// The deepest nesting of patterns.
const MAX_DEPTH: usize = 200;
/// The most parts of a pattern that bind something.
const MAX_PARTS: usize = 1000;

/// The test for whether a value of a larger sort belongs to the sort of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    Any,
    /// An integer of at least this.
    From(i64),
    /// An integer.
    Whole,
    /// A finite set.
    Set,
    /// A finite bag.
    Bag,
}

impl Kind {
    /// The kind of numbers that belong to a sort.
    pub(super) fn of_number(sort: SortId) -> Kind {
        match sort {
            SortId::POS => Kind::From(1),
            SortId::NAT => Kind::From(0),
            SortId::INT => Kind::Whole,
            _ => Kind::Any,
        }
    }
}

/// A pattern, over expressions and variables in planning, over code and slots in running.
#[derive(Clone, Debug)]
pub(super) enum Pattern<E, V> {
    /// An open variable.
    Bind(V, Kind),
    /// A known expression, or one whose variables are bound further left.
    Equal(E),
    /// `constant + factor * known + … + factor * variable`
    Sum { constant: i64, known: Vec<(i64, E)>, factor: i64, variable: V, kind: Kind },
    /// A constructor of a structured sort, whose constructors are `all`.
    Constructor { symbol: SymbolId, all: Box<[SymbolId]>, fields: Vec<Pattern<E, V>> },
    /// A list with these first elements. It ends after them if there is no `tail`.
    List { elements: Vec<Pattern<E, V>>, tail: Option<Box<Pattern<E, V>>> },
    /// A value of a smaller sort.
    Within(Kind, Box<Pattern<E, V>>),
}

impl<E, V: Copy> Pattern<E, V> {
    /// The pattern with its expressions and variables replaced.
    pub(super) fn map<F, W>(
        &self,
        expression: &mut impl FnMut(&E) -> F,
        variable: &mut impl FnMut(V) -> W,
    ) -> Pattern<F, W> {
        match self {
            Pattern::Bind(open, kind) => Pattern::Bind(variable(*open), *kind),
            Pattern::Equal(known) => Pattern::Equal(expression(known)),
            Pattern::Sum { constant, known, factor, variable: open, kind } => Pattern::Sum {
                constant: *constant,
                known: known.iter().map(|(factor, part)| (*factor, expression(part))).collect(),
                factor: *factor,
                variable: variable(*open),
                kind: *kind,
            },
            Pattern::Constructor { symbol, all, fields } => Pattern::Constructor {
                symbol: *symbol,
                all: all.clone(),
                fields: fields.iter().map(|field| field.map(expression, variable)).collect(),
            },
            Pattern::List { elements, tail } => Pattern::List {
                elements: elements.iter().map(|element| element.map(expression, variable)).collect(),
                tail: tail.as_ref().map(|tail| Box::new(tail.map(expression, variable))),
            },
            Pattern::Within(kind, body) => Pattern::Within(*kind, Box::new(body.map(expression, variable))),
        }
    }

    /// Collects the variables that it binds, from left to right.
    pub(super) fn bound(&self, into: &mut Vec<V>) {
        match self {
            Pattern::Bind(variable, _) | Pattern::Sum { variable, .. } => into.push(*variable),
            Pattern::Equal(_) => {}
            Pattern::Constructor { fields, .. } => fields.iter().for_each(|field| field.bound(into)),
            Pattern::List { elements, tail } => {
                elements.iter().for_each(|element| element.bound(into));
                if let Some(tail) = tail {
                    tail.bound(into);
                }
            }
            Pattern::Within(_, body) => body.bound(into),
        }
    }
}

/// A pattern over expressions.
pub(super) type Draft = Pattern<ExpressionId, VariableId>;

/// Builds patterns.
pub(super) struct Patterns<'a> {
    pub(super) program: &'a Program,
    /// Constructors that equations rewrite. They cannot occur in patterns.
    pub(super) rewritten: &'a [SymbolId],
    /// The variables that are not bound yet. Patterns remove those that they bind.
    pub(super) open: Vec<VariableId>,
    /// The number of parts so far.
    pub(super) parts: usize,
}

impl Patterns<'_> {
    /// The expression as a pattern for its value; `None` if it cannot be solved for an open
    /// variable.
    pub(super) fn find(&mut self, id: ExpressionId, depth: usize) -> Option<Draft> {
        if !mentions(self.program, id, &self.open) {
            return Some(Pattern::Equal(id));
        }
        self.parts += 1;
        if depth > MAX_DEPTH || self.parts > MAX_PARTS {
            return None;
        }
        let program = self.program;
        if let Expression::Variable(variable) = program.expression(id) {
            self.open.retain(|open| open != variable);
            return Some(Pattern::Bind(*variable, Kind::Any));
        }
        let sort = program.sort_of(id);
        if sort.is_number() {
            let sum = sum(program, id, &self.open)?;
            let &[(factor, variable)] = sum.open.as_slice() else { return None };
            self.open.retain(|open| *open != variable);
            let kind = Kind::of_number(program.variable(variable).sort);
            let (constant, known) = (sum.constant, sum.known);
            return Some(if (constant, known.len(), factor) == (0, 0, 1) {
                Pattern::Bind(variable, kind)
            } else {
                Pattern::Sum { constant, known, factor, variable, kind }
            });
        }
        match program.expression(id) {
            Expression::Upcast(body) => {
                let kind = match program.sorts.get(sort) {
                    Sort::Container(Container::Set, _) => Kind::Set,
                    Sort::Container(Container::Bag, _) => Kind::Bag,
                    _ => return None,
                };
                let body = self.find(*body, depth + 1)?;
                Some(Pattern::Within(kind, Box::new(body)))
            }
            Expression::List(elements) => {
                let elements =
                    elements.iter().map(|&element| self.find(element, depth + 1)).collect::<Option<_>>()?;
                Some(Pattern::List { elements, tail: None })
            }
            Expression::Call { symbol, arguments } => match program.symbol(*symbol).kind {
                SymbolKind::StructConstructor { sort, .. } if !self.rewritten.contains(symbol) => {
                    let fields =
                        arguments.iter().map(|&field| self.find(field, depth + 1)).collect::<Option<_>>()?;
                    let all = program.constructors(sort).into();
                    Some(Pattern::Constructor { symbol: *symbol, all, fields })
                }
                SymbolKind::Builtin(Builtin::Cons) => {
                    let mut elements = Vec::new();
                    let mut rest = id;
                    while let Some((Builtin::Cons, &[element, tail])) = builtin(program, rest) {
                        elements.push(self.find(element, depth + 1)?);
                        rest = tail;
                    }
                    let tail = self.find(rest, depth + 1)?;
                    Some(Pattern::List { elements, tail: Some(Box::new(tail)) })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The constructors that some equation rewrites, and the sorts whose equality is defined by
/// equations.
pub(super) fn find_redefined(program: &Program) -> (Vec<SymbolId>, Vec<SortId>) {
    let (mut constructors, mut sorts) = (Vec::new(), Vec::new());
    for equation in &program.equations {
        let symbol = match program.expression(equation.left) {
            Expression::Symbol(symbol) | Expression::Call { symbol, .. } => *symbol,
            _ => continue,
        };
        match program.symbol(symbol).kind {
            SymbolKind::Constructor | SymbolKind::StructConstructor { .. } => constructors.push(symbol),
            SymbolKind::Builtin(Builtin::Equal) => sorts.push(program.signature(symbol).0[0]),
            _ => {}
        }
    }
    (constructors, sorts)
}
