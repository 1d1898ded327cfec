//! Terms.

use std::cmp::Ordering;
use std::rc::Rc;
use std::str::FromStr;

use dashu_int::IBig;
use dashu_ratio::RBig;

use turnpike_mcrl2::syntax::Binder;
use turnpike_mcrl2::typed::{Expression, ExpressionId, Program, SymbolId, VariableId};

/// The stack that a recursive step on terms needs, and the size of a new segment when less than
/// that is left.
pub(super) const STACK: (usize, usize) = (128 * 1024, 2 * 1024 * 1024);

/// A variable. It is copied where two uses must be distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Var {
    /// The declared variable.
    pub id: VariableId,
    /// The number of the copy; 0 for the variable itself.
    pub copy: u32,
}

/// A term. It does not distinguish the sorts of numbers, and finite sets and bags from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term(Rc<Node>);

/// The kinds of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// `true` or `false`.
    Bool(bool),
    /// A number of any sort.
    Number(RBig),
    /// A variable, which may be free.
    Variable(Var),
    /// `[a, b]`
    List(Vec<Term>),
    /// A set. The base says whether `e` is a member, except for the elements, for which its result
    /// is negated. In normal form, the elements are sorted.
    Set {
        /// The membership of other elements.
        base: Base,
        /// The exceptions.
        elements: Vec<Term>,
    },
    /// A bag. In normal form the entries are sorted. Counts are positive, or may be 0 if there is a
    /// base.
    Bag {
        /// The counts of other elements; 0 if absent.
        base: Option<Term>,
        /// The elements and their counts.
        entries: Vec<(Term, Term)>,
    },
    /// A constant, or a function without arguments.
    Symbol(SymbolId),
    /// A function with its arguments.
    Call(SymbolId, Vec<Term>),
    /// An application of a computed function.
    Apply(Term, Vec<Term>),
    /// `lambda`, `forall` or `exists`.
    Binder(Binder, Vec<Var>, Term),
    /// `{ x: S | body }`; whether it is a bag.
    Comprehension(Var, Term, bool),
    /// `body whr x = e end`
    Where(Vec<(Var, Term)>, Term),
    /// A function update, sorted by key.
    Update(Term, Vec<(Term, Term)>),
    /// A pattern that no normal form matches.
    Never,
}

/// The members of a set, except for its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// No element.
    Nothing,
    /// All elements.
    Everything,
    /// The elements that satisfy this predicate.
    By(Term),
}

impl Term {
    pub(super) fn new(node: Node) -> Term {
        Term(Rc::new(node))
    }

    /// The kind of the term.
    pub(crate) fn node(&self) -> &Node {
        &self.0
    }

    pub(super) fn bool(value: bool) -> Term {
        Term::new(Node::Bool(value))
    }

    pub(super) fn number(value: RBig) -> Term {
        Term::new(Node::Number(value))
    }

    pub(super) fn count(value: usize) -> Term {
        Term::number(RBig::from(IBig::from(value)))
    }

    pub(super) fn call(symbol: SymbolId, arguments: &[&Term]) -> Term {
        Term::new(Node::Call(symbol, arguments.iter().map(|&one| one.clone()).collect()))
    }

    pub(super) fn set(base: Base, elements: Vec<Term>) -> Term {
        Term::new(Node::Set { base, elements })
    }

    /// The truth value, if the term is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match *self.node() {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if the term is one.
    pub(crate) fn as_number(&self) -> Option<&RBig> {
        match self.node() {
            Node::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` for all direct subterms.
    pub(super) fn children<'t>(&'t self, visit: &mut dyn FnMut(&'t Term)) {
        match self.node() {
            Node::Bool(_) | Node::Number(_) | Node::Variable(_) | Node::Symbol(_) | Node::Never => {}
            Node::List(all) | Node::Call(_, all) => all.iter().for_each(visit),
            Node::Set { base, elements } => {
                if let Base::By(function) = base {
                    visit(function);
                }
                elements.iter().for_each(visit);
            }
            Node::Bag { base, entries } => {
                base.iter().for_each(&mut *visit);
                pairs(entries, visit);
            }
            Node::Apply(function, arguments) => {
                visit(function);
                arguments.iter().for_each(visit);
            }
            Node::Binder(_, _, body) | Node::Comprehension(_, body, _) => visit(body),
            Node::Where(definitions, body) => {
                visit(body);
                definitions.iter().for_each(|(_, value)| visit(value));
            }
            Node::Update(base, entries) => {
                visit(base);
                pairs(entries, visit);
            }
        }
    }

    /// Whether a variable occurs, free or bound.
    pub(super) fn mentions(&self, variable: Var) -> bool {
        let mut todo = vec![self];
        while let Some(term) = todo.pop() {
            let here = match term.node() {
                Node::Variable(one) => *one == variable,
                Node::Binder(_, variables, _) => variables.contains(&variable),
                Node::Comprehension(one, ..) => *one == variable,
                Node::Where(definitions, _) => definitions.iter().any(|(one, _)| *one == variable),
                _ => false,
            };
            if here {
                return true;
            }
            term.children(&mut |child| todo.push(child));
        }
        false
    }

    /// Whether a variable occurs free.
    pub(super) fn is_open(&self) -> bool {
        let mut todo = vec![(self, Vec::new())];
        while let Some((term, mut bound)) = todo.pop() {
            match term.node() {
                Node::Variable(one) if !bound.contains(one) => return true,
                Node::Binder(_, variables, _) => bound.extend(variables.iter().copied()),
                Node::Comprehension(one, ..) => bound.push(*one),
                Node::Where(definitions, _) => bound.extend(definitions.iter().map(|(one, _)| *one)),
                _ => {}
            }
            term.children(&mut |child| todo.push((child, bound.clone())));
        }
        false
    }

    /// The number of occurrences of a variable.
    pub(super) fn occurrences(&self, variable: Var) -> usize {
        let (mut count, mut todo) = (0, vec![self]);
        while let Some(term) = todo.pop() {
            count += usize::from(*term.node() == Node::Variable(variable));
            term.children(&mut |child| todo.push(child));
        }
        count
    }

    /// The size of a pattern: its constructors, including those of lists.
    pub(super) fn size(&self) -> usize {
        let (mut size, mut todo) = (0, vec![self]);
        while let Some(term) = todo.pop() {
            size += match term.node() {
                Node::Variable(_) => 0,
                Node::List(elements) => elements.len() + 1,
                _ => 1,
            };
            term.children(&mut |child| todo.push(child));
        }
        size
    }

    /// A total order on terms: numbers by size, `false` before `true`, lists lexicographically,
    /// constructors in order of declaration and then by their fields.
    pub(super) fn compare(&self, other: &Term) -> Ordering {
        stacker::maybe_grow(STACK.0, STACK.1, || match (self.node(), other.node()) {
            (Node::Bool(one), Node::Bool(two)) => one.cmp(two),
            (Node::Number(one), Node::Number(two)) => one.cmp(two),
            (Node::Variable(one), Node::Variable(two)) => one.cmp(two),
            (one, two) => {
                let (ranks, codes) = ((rank(one), rank(two)), (code(one), code(two)));
                ranks.0.cmp(&ranks.1).then(codes.0.cmp(&codes.1)).then_with(|| {
                    let (mut ones, mut twos) = (Vec::new(), Vec::new());
                    self.children(&mut |child| ones.push(child));
                    other.children(&mut |child| twos.push(child));
                    let different = ones.iter().zip(&twos).map(|(one, two)| one.compare(two));
                    different.into_iter().find(|one| one.is_ne()).unwrap_or(ones.len().cmp(&twos.len()))
                })
            }
        })
    }
}

fn pairs<'t>(entries: &'t [(Term, Term)], visit: &mut dyn FnMut(&'t Term)) {
    for (one, other) in entries {
        visit(one);
        visit(other);
    }
}

fn rank(node: &Node) -> u8 {
    match node {
        Node::Number(_) => 0,
        Node::Bool(_) => 1,
        Node::List(_) => 2,
        Node::Set { base: Base::Nothing, .. } => 4,
        Node::Set { base: Base::Everything, .. } => 5,
        Node::Set { .. } => 6,
        Node::Bag { base: None, .. } => 7,
        Node::Bag { .. } => 8,
        Node::Symbol(_) | Node::Call(..) => 9,
        Node::Binder(Binder::Lambda, ..) => 10,
        Node::Binder(..) => 11,
        Node::Update(..) => 12,
        Node::Apply(..) => 13,
        Node::Variable(_) | Node::Comprehension(..) | Node::Where(..) | Node::Never => 14,
    }
}

fn code(node: &Node) -> usize {
    match node {
        Node::Symbol(symbol) | Node::Call(symbol, _) => symbol.index(),
        Node::Binder(_, variables, _) => variables.first().map_or(0, |one| one.id.index()),
        _ => 0,
    }
}

/// The term for an expression, without evaluation.
pub(super) fn of_expression(program: &Program, id: ExpressionId) -> Term {
    let own = |id| Var { id, copy: 0 };
    let all = |ids: &[ExpressionId]| ids.iter().map(|&one| of_expression(program, one)).collect();
    stacker::maybe_grow(STACK.0, STACK.1, || {
        Term::new(match program.expression(id) {
            Expression::Variable(variable) => Node::Variable(own(*variable)),
            Expression::Symbol(symbol) => Node::Symbol(*symbol),
            Expression::Bool(value) => Node::Bool(*value),
            Expression::Number(digits) => {
                Node::Number(RBig::from(IBig::from_str(program.text(*digits)).unwrap_or(IBig::ZERO)))
            }
            Expression::List(elements) => Node::List(all(elements)),
            Expression::Set(elements) => Node::Set { base: Base::Nothing, elements: all(elements) },
            Expression::Bag(pairs) => Node::Bag {
                base: None,
                entries: pairs
                    .iter()
                    .map(|&(one, count)| (of_expression(program, one), of_expression(program, count)))
                    .collect(),
            },
            Expression::Comprehension { variable, body } => {
                let is_bag = program.sort_of(*body).is_number();
                Node::Comprehension(own(*variable), of_expression(program, *body), is_bag)
            }
            Expression::Call { symbol, arguments } => Node::Call(*symbol, all(arguments)),
            Expression::Apply { function, arguments } => {
                Node::Apply(of_expression(program, *function), all(arguments))
            }
            Expression::Upcast(operand) => return of_expression(program, *operand),
            Expression::Binder { binder, variables, body } => Node::Binder(
                *binder,
                variables.iter().map(|&one| own(one)).collect(),
                of_expression(program, *body),
            ),
            Expression::Where { body, definitions } => Node::Where(
                definitions.iter().map(|&(name, value)| (own(name), of_expression(program, value))).collect(),
                of_expression(program, *body),
            ),
        })
    })
}

/// The pattern for an expression, in which [`Node::Never`] cannot match. `None` for a variable
/// applied to arguments.
pub(super) fn of_pattern(program: &Program, id: ExpressionId) -> Option<Term> {
    let all =
        |ids: &[ExpressionId]| ids.iter().map(|&one| of_pattern(program, one)).collect::<Option<Vec<_>>>();
    let node = stacker::maybe_grow(STACK.0, STACK.1, || {
        Some(match program.expression(id) {
            Expression::List(elements) => Node::List(all(elements)?),
            Expression::Call { symbol, arguments } => Node::Call(*symbol, all(arguments)?),
            Expression::Apply { function, arguments } => {
                if let Expression::Variable(_) = program.expression(*function) {
                    return None;
                }
                Node::Apply(of_pattern(program, *function)?, all(arguments)?)
            }
            Expression::Upcast(operand) => match program.expression(*operand) {
                Expression::Variable(_) => Node::Never,
                _ => return of_pattern(program, *operand).map(|term| term.node().clone()),
            },
            Expression::Set(elements) if !elements.is_empty() => Node::Never,
            Expression::Bag(pairs) if !pairs.is_empty() => Node::Never,
            Expression::Comprehension { .. } | Expression::Binder { .. } | Expression::Where { .. } => {
                Node::Never
            }
            _ => of_expression(program, id).node().clone(),
        })
    })?;
    Some(Term::new(node))
}
