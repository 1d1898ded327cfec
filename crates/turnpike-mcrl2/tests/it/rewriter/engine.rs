//! The rewriter, which applies equations with the just-in-time strategy.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::rules::{Rule, rule};
use super::term::{Base, Node, STACK, Term, Var, of_expression};
use turnpike_mcrl2::syntax::Binder;
use turnpike_mcrl2::typed::{Builtin, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};

/// The default limit for the steps of a normal form.
const STEPS: u64 = 200_000;

/// The equations do not terminate, or not within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfSteps;

pub(super) type Rewritten<T = Term> = Result<T, OutOfSteps>;

/// The normal form of an expression with values of variables. Variables without a value remain.
/// Built-in functions that occur only in the result are added to the program.
pub(crate) fn normal_form(
    program: &mut Program,
    expression: ExpressionId,
    values: &FxHashMap<VariableId, Term>,
) -> Result<Term, OutOfSteps> {
    Rewriter::new(program, STEPS).normal_form(expression, values)
}

/// An argument that is evaluated at most once, on demand.
#[derive(Clone)]
pub(super) struct Lazy(Rc<RefCell<State>>);

enum State {
    Done(Term),
    Pending(Term, Environment),
}

impl Lazy {
    pub(super) fn done(term: Term) -> Lazy {
        Lazy(Rc::new(RefCell::new(State::Done(term))))
    }

    fn pending(term: &Term, environment: &Environment) -> Lazy {
        Lazy(Rc::new(RefCell::new(State::Pending(term.clone(), environment.clone()))))
    }
}

/// The values of variables.
pub(super) type Environment = Rc<FxHashMap<Var, Lazy>>;

/// Rewrites terms of one program.
pub(crate) struct Rewriter<'p> {
    pub(super) program: &'p mut Program,
    pub(super) rules: FxHashMap<SymbolId, Vec<Rc<Rule>>>,
    steps: u64,
    copies: u32,
}

impl std::fmt::Debug for Rewriter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Rewriter").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<'p> Rewriter<'p> {
    /// Creates a rewriter for the equations of a program, with a limit for the steps of all normal
    /// forms together.
    pub(crate) fn new(program: &'p mut Program, steps: u64) -> Self {
        let mut rules: FxHashMap<SymbolId, Vec<Rc<Rule>>> = FxHashMap::default();
        for index in 0..program.equations.len() {
            if let Some((symbol, rule)) = rule(program, index) {
                rules.entry(symbol).or_default().push(Rc::new(rule));
            }
        }
        Rewriter { program, rules, steps, copies: 0 }
    }

    /// The normal form of an expression with values of variables.
    pub(crate) fn normal_form(
        &mut self,
        expression: ExpressionId,
        values: &FxHashMap<VariableId, Term>,
    ) -> Result<Term, OutOfSteps> {
        let term = of_expression(self.program, expression);
        let values = values.iter().map(|(&id, value)| (Var { id, copy: 0 }, Lazy::done(value.clone())));
        self.rewrite(&term, &Rc::new(values.collect()))
    }

    /// A copy of a variable that does not occur yet.
    pub(super) fn copy(&mut self, variable: Var) -> Var {
        self.copies += 1;
        Var { id: variable.id, copy: self.copies }
    }

    pub(super) fn sort_of(&self, variable: Var) -> SortId {
        self.program.variable(variable.id).sort
    }

    /// A built-in function.
    pub(super) fn symbol(
        &mut self,
        builtin: Builtin,
        name: &str,
        domain: &[SortId],
        codomain: SortId,
    ) -> SymbolId {
        let sort = self.program.sorts.function(domain, codomain);
        let name = self.program.words.intern(name);
        self.program.builtin(builtin, name, sort)
    }

    pub(super) fn force(&mut self, lazy: &Lazy) -> Rewritten {
        let (term, environment) = match &*lazy.0.borrow() {
            State::Done(term) => return Ok(term.clone()),
            State::Pending(term, environment) => (term.clone(), environment.clone()),
        };
        let value = self.rewrite(&term, &environment)?;
        *lazy.0.borrow_mut() = State::Done(value.clone());
        Ok(value)
    }

    /// The normal form of a closed term.
    pub(super) fn closed(&mut self, term: &Term) -> Rewritten {
        self.rewrite(term, &Environment::default())
    }

    /// The normal form of a term whose variables have the values of the environment. Other
    /// variables remain.
    // Long because each kind of term has a case.
    pub(super) fn rewrite(&mut self, term: &Term, environment: &Environment) -> Rewritten {
        self.steps = self.steps.checked_sub(1).ok_or(OutOfSteps)?;
        stacker::maybe_grow(STACK.0, STACK.1, || match term.node() {
            Node::Bool(_) | Node::Number(_) | Node::Never => Ok(term.clone()),
            Node::Variable(variable) => match environment.get(variable) {
                Some(lazy) => self.force(lazy),
                None => Ok(term.clone()),
            },
            Node::List(elements) => Ok(Term::new(Node::List(self.all(elements, environment)?))),
            Node::Set { base, elements } => {
                let base = match base {
                    Base::By(function) => self.base(function, environment)?,
                    other => other.clone(),
                };
                let mut elements = self.all(elements, environment)?;
                elements.sort_by(Term::compare);
                elements.dedup();
                Ok(Term::set(base, elements))
            }
            Node::Bag { base, entries } => {
                let base = base.as_ref().map(|one| self.rewrite(one, environment)).transpose()?;
                let entries = self.pairs(entries, environment)?;
                Ok(super::collection::bag(base, entries))
            }
            Node::Symbol(symbol) => self.call(*symbol, &[]),
            Node::Call(symbol, arguments) => {
                let arguments: Vec<Lazy> =
                    arguments.iter().map(|one| Lazy::pending(one, environment)).collect();
                self.call(*symbol, &arguments)
            }
            Node::Apply(function, arguments) => {
                let mut lazies: Vec<Lazy> =
                    arguments.iter().map(|one| Lazy::pending(one, environment)).collect();
                // The rules of a curried function may match all arguments.
                let mut head = function;
                let mut groups = Vec::new();
                while let Node::Apply(inner, arguments) = head.node() {
                    groups.push(arguments);
                    head = inner;
                }
                let (Node::Call(symbol, _) | Node::Symbol(symbol)) = *head.node() else {
                    let function = self.rewrite(function, environment)?;
                    return self.apply(&function, &lazies);
                };
                if let Node::Call(_, arguments) = head.node() {
                    groups.push(arguments);
                }
                let before = groups.iter().rev().flat_map(|group| group.iter());
                let mut all: Vec<Lazy> = before.map(|one| Lazy::pending(one, environment)).collect();
                all.append(&mut lazies);
                self.call(symbol, &all)
            }
            Node::Binder(Binder::Lambda, variables, body) => {
                let (variables, body) = self.below(variables, body, environment)?;
                Ok(Term::new(Node::Binder(Binder::Lambda, variables, body)))
            }
            Node::Binder(binder, variables, body) => {
                self.quantify(*binder == Binder::Exists, variables, body, environment)
            }
            Node::Comprehension(variable, body, is_bag) => {
                let function = Term::new(Node::Binder(Binder::Lambda, vec![*variable], body.clone()));
                if *is_bag {
                    let base = self.rewrite(&function, environment)?;
                    let zero = matches!(base.node(), Node::Binder(_, _, body) if *body == Term::count(0));
                    let base = (!zero).then_some(base);
                    return Ok(Term::new(Node::Bag { base, entries: Vec::new() }));
                }
                Ok(Term::set(self.base(&function, environment)?, Vec::new()))
            }
            Node::Where(definitions, body) => {
                let mut inner = (**environment).clone();
                for (name, value) in definitions {
                    inner.insert(*name, Lazy::pending(value, environment));
                }
                self.rewrite(body, &Rc::new(inner))
            }
            Node::Update(base, entries) => {
                let mut function = self.rewrite(base, environment)?;
                for (key, value) in self.pairs(entries, environment)? {
                    function = self.update(function, key, value)?;
                }
                Ok(function)
            }
        })
    }

    fn all(&mut self, terms: &[Term], environment: &Environment) -> Rewritten<Vec<Term>> {
        terms.iter().map(|one| self.rewrite(one, environment)).collect()
    }

    fn pairs(&mut self, pairs: &[(Term, Term)], environment: &Environment) -> Rewritten<Vec<(Term, Term)>> {
        let one = |(one, other): &(Term, Term)| {
            Ok((self.rewrite(one, environment)?, self.rewrite(other, environment)?))
        };
        pairs.iter().map(one).collect()
    }

    /// A predicate as the base of a set.
    fn base(&mut self, function: &Term, environment: &Environment) -> Rewritten<Base> {
        let function = self.rewrite(function, environment)?;
        Ok(match function.node() {
            Node::Binder(_, _, body) if body.as_bool() == Some(false) => Base::Nothing,
            Node::Binder(_, _, body) if body.as_bool() == Some(true) => Base::Everything,
            _ => Base::By(function),
        })
    }

    /// Rewrites below a binder. The variables are copied to avoid capture, and have their original
    /// names in the result unless those would be ambiguous.
    pub(super) fn below(
        &mut self,
        variables: &[Var],
        body: &Term,
        environment: &Environment,
    ) -> Rewritten<(Vec<Var>, Term)> {
        let copies: Vec<Var> = variables.iter().map(|&one| self.copy(one)).collect();
        let mut inner = (**environment).clone();
        for (&variable, &copy) in variables.iter().zip(&copies) {
            inner.insert(variable, Lazy::done(Term::new(Node::Variable(copy))));
        }
        let body = self.rewrite(body, &Rc::new(inner))?;
        let originals: Vec<Var> = variables.iter().map(|one| Var { id: one.id, copy: 0 }).collect();
        if originals.iter().any(|&one| body.mentions(one)) {
            return Ok((copies, body));
        }
        let body = renamed(&body, &copies, &originals);
        Ok((originals, body))
    }

    /// Applies a function value to arguments.
    pub(super) fn apply(&mut self, function: &Term, arguments: &[Lazy]) -> Rewritten {
        match function.node() {
            Node::Binder(Binder::Lambda, variables, body) => {
                let values = variables.iter().copied().zip(arguments.iter().cloned());
                let body = body.clone();
                self.rewrite(&body, &Rc::new(values.collect()))
            }
            Node::Symbol(symbol) => self.call(*symbol, arguments),
            Node::Call(symbol, _) if !self.is_update(*symbol) => {
                let Node::Call(symbol, first) = function.node() else { return Ok(function.clone()) };
                let mut all: Vec<Lazy> = first.iter().cloned().map(Lazy::done).collect();
                all.extend_from_slice(arguments);
                self.call(*symbol, &all)
            }
            Node::Apply(..) => {
                let mut groups = vec![arguments.to_vec()];
                let mut head = function;
                while let Node::Apply(inner, arguments) = head.node() {
                    groups.push(arguments.iter().cloned().map(Lazy::done).collect());
                    head = inner;
                }
                match head.node() {
                    Node::Call(symbol, first) => {
                        groups.push(first.iter().cloned().map(Lazy::done).collect());
                        let all: Vec<Lazy> = groups.into_iter().rev().flatten().collect();
                        self.call(*symbol, &all)
                    }
                    _ => self.stuck_application(function, arguments),
                }
            }
            Node::Update(base, entries) => {
                let key = self.force(&arguments[0])?;
                let sort = self.key_sort(base);
                for (known, value) in entries {
                    match self.equal(sort, &key, known)? {
                        Some(true) => return Ok(value.clone()),
                        Some(false) => {}
                        None => return self.stuck_application(function, arguments),
                    }
                }
                self.apply(&base.clone(), arguments)
            }
            _ => self.stuck_application(function, arguments),
        }
    }

    fn is_update(&self, symbol: SymbolId) -> bool {
        self.program.symbol(symbol).kind == SymbolKind::Builtin(Builtin::Update)
    }

    fn stuck_application(&mut self, function: &Term, arguments: &[Lazy]) -> Rewritten {
        let arguments = arguments.iter().map(|one| self.force(one)).collect::<Rewritten<Vec<Term>>>()?;
        Ok(Term::new(Node::Apply(function.clone(), arguments)))
    }

    /// Applies a known function to arguments, possibly more than its sort has.
    pub(super) fn call(&mut self, symbol: SymbolId, arguments: &[Lazy]) -> Rewritten {
        if let Some(result) = self.by_rules(symbol, arguments)? {
            return Ok(result);
        }
        let (domain, _) = self.program.signature(symbol);
        let own = domain.len().min(arguments.len());
        if own == 0 {
            return Ok(Term::new(Node::Symbol(symbol)));
        }
        let result = match self.program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => self.builtin(builtin, symbol, &arguments[..own])?,
            _ => self.selected(symbol, &arguments[..own])?,
        };
        let mut result = match result {
            Some(result) => result,
            None => {
                let values =
                    arguments[..own].iter().map(|one| self.force(one)).collect::<Rewritten<Vec<Term>>>()?;
                let stuck = Term::new(Node::Call(symbol, values));
                // No rule matches the remaining arguments either, so they are kept, group by group.
                return self.rest(stuck, self.program.signature(symbol).1, &arguments[own..]);
            }
        };
        let mut rest = &arguments[own..];
        let mut sort = self.program.signature(symbol).1;
        while !rest.is_empty() {
            let (domain, codomain) = self.program.sorts.signature(sort);
            let (group, others) = rest.split_at(domain.len().clamp(1, rest.len()));
            (sort, rest) = (codomain, others);
            result = self.apply(&result, group)?;
        }
        Ok(result)
    }

    fn rest(&mut self, mut function: Term, mut sort: SortId, mut rest: &[Lazy]) -> Rewritten {
        while !rest.is_empty() {
            let (domain, codomain) = self.program.sorts.signature(sort);
            let (group, others) = rest.split_at(domain.len().clamp(1, rest.len()));
            (sort, rest) = (codomain, others);
            function = self.stuck_application(&function, group)?;
        }
        Ok(function)
    }

    /// Projections and recognisers.
    fn selected(&mut self, symbol: SymbolId, arguments: &[Lazy]) -> Rewritten<Option<Term>> {
        let kind = self.program.symbol(symbol).kind.clone();
        if !matches!(kind, SymbolKind::Projection { .. } | SymbolKind::Recogniser { .. }) {
            return Ok(None);
        }
        let operand = self.force(&arguments[0])?;
        let Some((found, fields)) = self.alternative(&operand) else { return Ok(None) };
        Ok(match kind {
            SymbolKind::Recogniser { index, .. } => Some(Term::bool(found == index)),
            SymbolKind::Projection { fields: selected, .. } => selected
                .iter()
                .find(|&&(alternative, _)| alternative == found)
                .and_then(|&(_, position)| fields.get(position as usize).cloned()),
            _ => None,
        })
    }

    /// The alternative of a structured sort that a term matches, with its fields.
    pub(super) fn alternative(&self, term: &Term) -> Option<(u32, Vec<Term>)> {
        let (symbol, fields) = match term.node() {
            Node::Symbol(symbol) => (*symbol, Vec::new()),
            Node::Call(symbol, fields) => (*symbol, fields.clone()),
            _ => return None,
        };
        match self.program.symbol(symbol).kind {
            SymbolKind::StructConstructor { index, .. } => Some((index, fields)),
            _ => None,
        }
    }
}

/// Renames the free variables of a term.
pub(super) fn renamed(term: &Term, from: &[Var], to: &[Var]) -> Term {
    let go = |one: &Term| renamed(one, from, to);
    let all = |terms: &[Term]| terms.iter().map(go).collect();
    let pairs = |pairs: &[(Term, Term)]| pairs.iter().map(|(one, other)| (go(one), go(other))).collect();
    stacker::maybe_grow(STACK.0, STACK.1, || {
        Term::new(match term.node() {
            Node::Variable(variable) => {
                let found = from.iter().position(|one| one == variable);
                Node::Variable(found.map_or(*variable, |index| to[index]))
            }
            Node::Bool(_) | Node::Number(_) | Node::Symbol(_) | Node::Never => return term.clone(),
            Node::List(elements) => Node::List(all(elements)),
            Node::Set { base, elements } => {
                let base = match base {
                    Base::By(function) => Base::By(go(function)),
                    other => other.clone(),
                };
                Node::Set { base, elements: all(elements) }
            }
            Node::Bag { base, entries } => Node::Bag { base: base.as_ref().map(go), entries: pairs(entries) },
            Node::Call(symbol, arguments) => Node::Call(*symbol, all(arguments)),
            Node::Apply(function, arguments) => Node::Apply(go(function), all(arguments)),
            Node::Binder(binder, variables, body) => Node::Binder(*binder, variables.clone(), go(body)),
            Node::Comprehension(variable, body, is_bag) => Node::Comprehension(*variable, go(body), *is_bag),
            Node::Where(definitions, body) => {
                Node::Where(definitions.iter().map(|(name, value)| (*name, go(value))).collect(), go(body))
            }
            Node::Update(base, entries) => Node::Update(go(base), pairs(entries)),
        })
    })
}
