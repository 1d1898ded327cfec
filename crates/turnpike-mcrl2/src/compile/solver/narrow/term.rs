//! Conditions and equations in the form that narrowing evaluates.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::compile::evaluator::{Code, Rules, Scope};
use crate::syntax::Binder;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};

/// An index into [`Terms`], where children come first.
pub(super) type TermId = usize;

#[derive(Clone, Debug)]
pub(super) enum Term {
    /// A place of the candidate.
    Place(usize),
    /// A variable of an equation, a quantifier or `whr`.
    Local(usize),
    /// An expression without unknown parts: an index into the code.
    Known(usize),
    /// A constructor.
    Constructor(SymbolId, Box<[TermId]>),
    /// `[a, b]`
    List(Box<[TermId]>),
    /// `{a, b}`
    Set(Box<[TermId]>),
    /// `{a: n, b: m}`, elements and counts in turn.
    Bag(Box<[TermId]>),
    /// A built-in function, with the sort of its result.
    Builtin(Builtin, SymbolId, Box<[TermId]>, SortId),
    /// Whether a value begins with a constructor.
    Recognise(SymbolId, TermId),
    /// A projection: for each constructor that has the field, its position.
    Project(SymbolId, Box<[(SymbolId, usize)]>, TermId, SortId),
    /// A function with equations.
    Function(SymbolId, Box<[TermId]>, SortId),
    /// A function value with arguments.
    Apply(TermId, Box<[TermId]>, SortId),
    /// Binds local variables.
    Let(Box<[(usize, TermId)]>, TermId),
    /// `exists`, or `forall`.
    Quantifier { exists: bool, variables: Box<[(usize, SortId)]>, body: TermId },
    /// An arbitrary value of a sort.
    Unknown(SortId),
}

/// The pattern that an argument must match for an equation to apply.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Bind(usize),
    /// The same value as an earlier variable.
    Same(usize),
    Constructor(SymbolId, Box<[Shape]>),
    Nil,
    Cons(Box<[Shape; 2]>),
    /// A known value: an index into the code.
    Known(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) shapes: Box<[Shape]>,
    pub(super) condition: Option<TermId>,
    pub(super) right: TermId,
    pub(super) locals: usize,
}

/// Terms, and the equations of the functions that they call. Functions without an entry are treated
/// as unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) terms: Vec<Term>,
    pub(super) codes: Vec<Code>,
    pub(super) rules: FxHashMap<SymbolId, Vec<Rule>>,
    /// The constructors met that no equation rewrites, and whether they are of a structured sort,
    /// where different constructors make different values.
    pub(super) free: FxHashMap<SymbolId, bool>,
}

pub(super) struct Compiler<'a> {
    pub(super) lookup: &'a Arc<Rules>,
    pub(super) program: &'a Program,
    pub(super) scope: &'a mut Scope,
    pub(super) places: &'a [VariableId],
    pub(super) open: &'a [VariableId],
    pub(super) terms: Terms,
    equations: FxHashMap<SymbolId, Vec<usize>>,
    /// Functions with equations that narrowing does not support.
    unsupported: Vec<SymbolId>,
    todo: Vec<SymbolId>,
    /// The free variables of expressions, memoized.
    free: FxHashMap<ExpressionId, Rc<[VariableId]>>,
}

/// Numbers the variables of the current equation or literal.
#[derive(Default)]
pub(super) struct Locals {
    names: Vec<VariableId>,
}

impl Locals {
    fn add(&mut self, variable: VariableId) -> usize {
        self.find(variable).unwrap_or_else(|| {
            self.names.push(variable);
            self.names.len() - 1
        })
    }

    fn find(&self, variable: VariableId) -> Option<usize> {
        self.names.iter().position(|name| *name == variable)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn new(
        lookup: &'a Arc<Rules>,
        program: &'a Program,
        scope: &'a mut Scope,
        places: &'a [VariableId],
        open: &'a [VariableId],
    ) -> Self {
        let mut equations: FxHashMap<SymbolId, Vec<usize>> = FxHashMap::default();
        let mut unsupported = Vec::new();
        for (index, equation) in program.equations.iter().enumerate() {
            let mut left = equation.left;
            let mut curried = false;
            while let Expression::Apply { function, .. } = program.expression(left) {
                (left, curried) = (*function, true);
            }
            if let Expression::Symbol(symbol) | Expression::Call { symbol, .. } = program.expression(left) {
                equations.entry(*symbol).or_default().push(index);
                if curried {
                    unsupported.push(*symbol);
                }
            }
        }
        let terms = Terms::default();
        let (todo, free) = (Vec::new(), FxHashMap::default());
        Compiler { lookup, program, scope, places, open, terms, equations, unsupported, todo, free }
    }

    /// The free variables of an expression, memoized.
    fn free(&mut self, id: ExpressionId) -> Rc<[VariableId]> {
        if let Some(known) = self.free.get(&id) {
            return known.clone();
        }
        let mut children = Vec::new();
        let expression = self.program.expression(id);
        expression.for_each_child(|child| children.push(child));
        let mut all: Vec<VariableId> = Vec::new();
        if let Expression::Variable(variable) = expression {
            all.push(*variable);
        }
        for child in children {
            let below = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.free(child));
            let bound = |variable: &VariableId| match expression {
                Expression::Binder { variables, .. } => variables.contains(variable),
                Expression::Comprehension { variable: bound, .. } => bound == variable,
                Expression::Where { body, definitions } => {
                    *body == child && definitions.iter().any(|(bound, _)| bound == variable)
                }
                _ => false,
            };
            all.extend(below.iter().filter(|&variable| !bound(variable)));
        }
        all.sort_unstable();
        all.dedup();
        let all: Rc<[VariableId]> = all.into();
        self.free.insert(id, all.clone());
        all
    }

    fn add(&mut self, term: Term) -> TermId {
        self.terms.terms.push(term);
        self.terms.terms.len() - 1
    }

    fn code(&mut self, id: ExpressionId) -> usize {
        self.terms.codes.push(self.lookup.compile(self.program, id, self.scope));
        self.terms.codes.len() - 1
    }

    /// Compiles a condition of the caller. Also returns its number of local variables.
    pub(super) fn literal(&mut self, id: ExpressionId) -> (TermId, usize) {
        let mut locals = Locals::default();
        let term = self.term(id, &mut locals);
        (term, locals.len())
    }

    /// Compiles the equations of all functions met and returns the terms.
    pub(super) fn finish(mut self) -> Terms {
        while let Some(symbol) = self.todo.pop() {
            if self.terms.rules.contains_key(&symbol) || self.unsupported.contains(&symbol) {
                continue;
            }
            self.terms.rules.insert(symbol, Vec::new());
            let indices = self.equations.get(&symbol).cloned().unwrap_or_default();
            let rules: Option<Vec<Rule>> = indices.iter().map(|&index| self.rule(index)).collect();
            match rules {
                Some(mut rules) => {
                    // More general rules are tried first, as in the evaluator.
                    rules.sort_by_key(|rule| {
                        rule.shapes.iter().filter(|shape| !matches!(shape, Shape::Bind(_))).count()
                    });
                    self.terms.rules.insert(symbol, rules);
                }
                None => {
                    self.terms.rules.remove(&symbol);
                    self.unsupported.push(symbol);
                }
            }
        }
        self.terms
    }

    fn rule(&mut self, index: usize) -> Option<Rule> {
        let equation = self.program.equations[index].clone();
        let mut locals = Locals::default();
        let arguments = match self.program.expression(equation.left) {
            Expression::Call { arguments, .. } => arguments.clone(),
            _ => Box::default(),
        };
        let shapes =
            arguments.iter().map(|&argument| self.shape(argument, &mut locals, 0)).collect::<Option<_>>()?;
        let condition = equation.condition.map(|condition| self.term(condition, &mut locals));
        let right = self.term(equation.right, &mut locals);
        Some(Rule { shapes, condition, right, locals: locals.len() })
    }

    fn shape(&mut self, id: ExpressionId, locals: &mut Locals, depth: usize) -> Option<Shape> {
        if depth > 100 {
            return None;
        }
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => Some(match locals.find(*variable) {
                Some(known) => Shape::Same(known),
                None => Shape::Bind(locals.add(*variable)),
            }),
            Expression::Number(_) | Expression::Bool(_) => Some(Shape::Known(self.code(id))),
            Expression::List(elements) => {
                let mut list = Shape::Nil;
                let shapes: Vec<Shape> = elements
                    .iter()
                    .map(|&element| self.shape(element, locals, depth + 1))
                    .collect::<Option<_>>()?;
                if shapes.len() > 100 {
                    return None;
                }
                for shape in shapes.into_iter().rev() {
                    list = Shape::Cons(Box::new([shape, list]));
                }
                Some(list)
            }
            Expression::Symbol(symbol) => {
                self.constructor(*symbol).then(|| Shape::Constructor(*symbol, Box::default()))
            }
            Expression::Call { symbol, arguments } => {
                if let SymbolKind::Builtin(Builtin::Cons) = program.symbol(*symbol).kind {
                    let first = self.shape(arguments[0], locals, depth + 1)?;
                    let rest = self.shape(arguments[1], locals, depth + 1)?;
                    return Some(Shape::Cons(Box::new([first, rest])));
                }
                if !self.constructor(*symbol) {
                    return None;
                }
                let fields = arguments
                    .iter()
                    .map(|&argument| self.shape(argument, locals, depth + 1))
                    .collect::<Option<_>>()?;
                Some(Shape::Constructor(*symbol, fields))
            }
            _ => None,
        }
    }

    /// Whether a symbol is a constructor that no equation rewrites.
    fn constructor(&mut self, symbol: SymbolId) -> bool {
        if self.equations.contains_key(&symbol) {
            return false;
        }
        match self.program.symbol(symbol).kind {
            SymbolKind::StructConstructor { .. } => {
                self.terms.free.insert(symbol, true);
                true
            }
            SymbolKind::Constructor => {
                self.terms.free.insert(symbol, false);
                true
            }
            _ => false,
        }
    }

    fn term(&mut self, id: ExpressionId, locals: &mut Locals) -> TermId {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.term_of(id, locals))
    }

    fn all(&mut self, ids: &[ExpressionId], locals: &mut Locals) -> Box<[TermId]> {
        ids.iter().map(|&id| self.term(id, locals)).collect()
    }

    fn term_of(&mut self, id: ExpressionId, locals: &mut Locals) -> TermId {
        let (program, sort) = (self.program, self.program.sort_of(id));
        let free = self.free(id);
        if !free.iter().any(|variable| self.open.contains(variable) || locals.names.contains(variable)) {
            let code = self.code(id);
            return self.add(Term::Known(code));
        }
        let term = match program.expression(id) {
            Expression::Variable(variable) => match locals.find(*variable) {
                Some(local) => Term::Local(local),
                None => match self.places.iter().position(|place| place == variable) {
                    Some(place) => Term::Place(place),
                    None => Term::Unknown(sort),
                },
            },
            Expression::Upcast(body) => return self.term(*body, locals),
            Expression::List(elements) => Term::List(self.all(elements, locals)),
            Expression::Set(elements) => Term::Set(self.all(elements, locals)),
            Expression::Bag(pairs) => {
                let flat: Vec<ExpressionId> =
                    pairs.iter().flat_map(|&(element, count)| [element, count]).collect();
                Term::Bag(self.all(&flat, locals))
            }
            Expression::Call { symbol, arguments } => {
                let terms = self.all(arguments, locals);
                self.call(*symbol, terms, sort)
            }
            Expression::Apply { function, arguments } => {
                let terms = self.all(arguments, locals);
                match program.expression(*function) {
                    Expression::Binder { binder: Binder::Lambda, variables, body } => {
                        let pairs =
                            variables.iter().map(|&variable| locals.add(variable)).zip(terms).collect();
                        Term::Let(pairs, self.term(*body, locals))
                    }
                    _ => Term::Apply(self.term(*function, locals), terms, sort),
                }
            }
            Expression::Where { body, definitions } => {
                let values: Vec<TermId> =
                    definitions.iter().map(|&(_, value)| self.term(value, locals)).collect();
                let pairs =
                    definitions.iter().map(|&(variable, _)| locals.add(variable)).zip(values).collect();
                Term::Let(pairs, self.term(*body, locals))
            }
            Expression::Binder { binder, variables, body } if *binder != Binder::Lambda => {
                let variables = variables
                    .iter()
                    .map(|&variable| (locals.add(variable), program.variable(variable).sort))
                    .collect();
                let body = self.term(*body, locals);
                Term::Quantifier { exists: *binder == Binder::Exists, variables, body }
            }
            _ => Term::Unknown(sort),
        };
        self.add(term)
    }

    fn call(&mut self, symbol: SymbolId, terms: Box<[TermId]>, sort: SortId) -> Term {
        let program = self.program;
        // When its arguments are known, it is evaluated like any other call.
        self.lookup.make_callable(program, symbol);
        match &program.symbol(symbol).kind {
            SymbolKind::Constructor | SymbolKind::StructConstructor { .. } => {
                if self.constructor(symbol) {
                    Term::Constructor(symbol, terms)
                } else {
                    Term::Function(symbol, terms, sort)
                }
            }
            SymbolKind::Recogniser { sort: of, index } => {
                Term::Recognise(program.constructors(*of)[*index as usize], terms[0])
            }
            SymbolKind::Projection { sort: of, fields } => {
                let constructors = program.constructors(*of);
                let fields = fields
                    .iter()
                    .map(|&(index, position)| (constructors[index as usize], position as usize))
                    .collect();
                Term::Project(symbol, fields, terms[0], sort)
            }
            SymbolKind::Builtin(builtin) if !self.equations.contains_key(&symbol) => {
                Term::Builtin(*builtin, symbol, terms, sort)
            }
            SymbolKind::Builtin(_) => Term::Function(symbol, terms, sort),
            SymbolKind::Map => {
                self.todo.push(symbol);
                Term::Function(symbol, terms, sort)
            }
        }
    }
}
