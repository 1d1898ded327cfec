//! Plans an enumeration: binds one variable after another, each in the cheapest way at that point.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::compile::evaluator::{Code, Rules, Scope};
use crate::syntax::Span;
use crate::typed::expression::{self, Substitution};
use crate::typed::{Expression, ExpressionId, Program, SortId, SymbolId, VariableId};
use crate::value::Value;

use super::choice::{Choice, Choices, DraftBound};
use super::finite::{LIST_LIMIT, Sizes, obstacle};
use super::linear_form::{least, mentions};
use super::literal::{Literal, alternatives, split};
use super::narrow::Narrowing;
use super::pattern::{Draft, find_redefined};
use super::step::{Bound, SlotPattern, Step, Test};
use super::unfold::extensible;
use super::values::list;

/// The most branches of a plan.
const MAX_BRANCHES: usize = 256;

pub(super) struct Planner<'a> {
    rules: &'a Arc<Rules>,
    pub(super) program: Cow<'a, Program>,
    pub(super) scope: &'a mut Scope,
    pub(super) sizes: Sizes,
    lists: FxHashMap<SortId, Option<Arc<[Value]>>>,
    pub(super) rewritten: Vec<SymbolId>,
    equalities: Vec<SortId>,
    branches: usize,
    /// Whether one solution is enough.
    witness: bool,
    /// For variables that stand for fields, the caller's variable that they belong to.
    roots: FxHashMap<VariableId, VariableId>,
    /// The truth value that each of the caller's conditions must have.
    signs: FxHashMap<ExpressionId, bool>,
}

/// The state of planning: what is still to be bound and tested.
#[derive(Clone, Debug, Default)]
struct Rest {
    open: Vec<VariableId>,
    literals: Vec<Literal>,
    /// Alternatives that earlier branches cover.
    exclusions: Vec<Vec<(ExpressionId, bool)>>,
    /// Variables to be built from a constructor and the variables of its fields.
    builds: Vec<(VariableId, SymbolId, Vec<VariableId>)>,
    avoid: Vec<ExpressionId>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(rules: &'a Arc<Rules>, program: &'a Program, scope: &'a mut Scope) -> Self {
        let (rewritten, equalities) = find_redefined(program);
        Planner {
            rules,
            program: Cow::Borrowed(program),
            scope,
            sizes: Sizes::default(),
            lists: FxHashMap::default(),
            rewritten,
            equalities,
            branches: 1,
            witness: false,
            roots: FxHashMap::default(),
            signs: FxHashMap::default(),
        }
    }

    /// Plans for all solutions.
    pub(super) fn plan(
        mut self,
        variables: &[VariableId],
        conditions: &[(ExpressionId, bool)],
        witness: bool,
    ) -> Vec<Step> {
        let mut rest = Rest { open: variables.to_vec(), ..Rest::default() };
        let infinite = self.many(variables);
        for &(condition, holds) in conditions {
            for (origin, holds) in split(&self.program, condition, holds) {
                self.signs.insert(origin, holds);
                let literal = Literal { expression: origin, holds, origin, partial: false };
                rest.literals.extend(self.unfold_literal(literal, &infinite));
            }
        }
        self.witness = witness;
        if witness {
            let literals = &rest.literals;
            rest.open.retain(|&variable| {
                literals.iter().any(|literal| mentions(&self.program, literal.expression, &[variable]))
            });
        }
        for &variable in variables {
            self.scope.slot(variable);
        }
        self.steps(rest)
    }

    /// Those variables with too many values to list.
    fn many(&mut self, variables: &[VariableId]) -> Vec<VariableId> {
        let mut many = variables.to_vec();
        many.retain(|&variable| {
            let size = self.sizes.of(&self.program, self.program.variable(variable).sort);
            size.is_none_or(|size| size > LIST_LIMIT)
        });
        many
    }

    /// The program, for additions.
    pub(super) fn extend(&mut self) -> &mut Program {
        if let Cow::Borrowed(program) = self.program {
            self.program = Cow::Owned(extensible(self.rules, program));
        }
        self.program.to_mut()
    }

    /// The caller's variable that a variable belongs to.
    fn root(&self, variable: VariableId) -> VariableId {
        self.roots.get(&variable).copied().unwrap_or(variable)
    }

    pub(super) fn code(&mut self, id: ExpressionId) -> Code {
        self.rules.compile(&self.program, id, self.scope)
    }

    fn steps(&mut self, rest: Rest) -> Vec<Step> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.steps_of(rest))
    }

    fn steps_of(&mut self, mut rest: Rest) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            self.tests(&mut rest, &mut steps);
            if rest.open.is_empty() {
                for (variable, symbol, fields) in rest.builds.iter().rev() {
                    let slot = self.scope.slot(*variable);
                    let fields = fields.iter().map(|&field| self.scope.slot(field)).collect();
                    steps.push(Step::Build { slot, symbol: *symbol, fields });
                }
                return steps;
            }
            if let Some(choice) = self.choices(&rest).best(false) {
                self.take(choice, &mut rest, &mut steps);
                continue;
            }
            if let Some(branches) = self.disjunction(&rest) {
                let branches = branches.into_iter().map(|branch| self.steps(branch).into()).collect();
                steps.push(Step::Branches(branches));
                return steps;
            }
            if let Some(choice) = self.choices(&rest).best(true) {
                self.take(choice, &mut rest, &mut steps);
                continue;
            }
            if let Some(branches) = self.constructors(&rest) {
                let branches = branches.into_iter().map(|branch| self.steps(branch).into()).collect();
                steps.push(Step::Branches(branches));
                return steps;
            }
            let narrowed: Vec<VariableId> = rest
                .open
                .iter()
                .copied()
                .filter(|&variable| {
                    obstacle(&self.program, self.program.variable(variable).sort).is_none()
                        && rest
                            .literals
                            .iter()
                            .any(|one| mentions(&self.program, one.expression, &[variable]))
                })
                .collect();
            if narrowed.is_empty() {
                let variable = rest.open[0];
                let sort = self.program.variable(variable).sort;
                let reason = obstacle(&self.program, sort).unwrap_or_else(|| {
                    format!(
                        "nothing bounds it, and sort {} has infinitely many values",
                        self.program.sort_text(sort)
                    )
                });
                steps.push(Step::Endless { variable: self.root(variable), reason });
                return steps;
            }
            let mut narrowing = self.narrowing(&rest, &narrowed);
            let once = !self.witness && narrowing.search_once(self.scope.size());
            let narrowing = Arc::new(narrowing);
            steps.push(Step::Narrow(Arc::clone(&narrowing)));
            rest.open.retain(|variable| !narrowed.contains(variable));
            if once {
                let mut literals = std::mem::take(&mut rest.literals);
                literals.retain(|literal| {
                    let free = expression::free_variables(&self.program, literal.expression);
                    let independent = free.iter().all(|variable| narrowed.contains(variable));
                    if independent {
                        steps.push(Step::Unsettled(Arc::clone(&narrowing), self.test(literal)));
                    }
                    !independent
                });
                rest.literals = literals;
            }
        }
    }

    fn choices<'b>(&'b mut self, rest: &'b Rest) -> Choices<'b> {
        Choices {
            program: &self.program,
            rewritten: &self.rewritten,
            equalities: &self.equalities,
            sizes: &mut self.sizes,
            open: &rest.open,
            literals: &rest.literals,
            avoid: &rest.avoid,
        }
    }

    fn test(&mut self, literal: &Literal) -> Test {
        let whole = literal.partial.then(|| {
            let holds = self.signs.get(&literal.origin).copied().unwrap_or(true);
            (self.code(literal.origin), holds)
        });
        let (holds, origin) = (literal.holds, literal.origin);
        Test { code: self.code(literal.expression), holds, origin, whole }
    }

    /// Adds tests for all literals and exclusions whose variables are bound by now.
    fn tests(&mut self, rest: &mut Rest, steps: &mut Vec<Step>) {
        let mut literals = std::mem::take(&mut rest.literals);
        literals.retain(|literal| {
            let open = mentions(&self.program, literal.expression, &rest.open);
            if !open {
                steps.push(Step::Test(self.test(literal)));
            }
            open
        });
        rest.literals = literals;
        let mut exclusions = std::mem::take(&mut rest.exclusions);
        exclusions.retain(|parts| {
            let open = parts.iter().any(|&(part, _)| mentions(&self.program, part, &rest.open));
            if !open {
                let parts = parts.iter().map(|&(part, holds)| (self.code(part), holds)).collect();
                steps.push(Step::Unless(parts));
            }
            open
        });
        rest.exclusions = exclusions;
    }

    fn slots(&mut self, draft: &Draft) -> SlotPattern {
        let (rules, program) = (self.rules, &self.program);
        let scope = std::cell::RefCell::new(&mut *self.scope);
        draft.map(&mut |&id| rules.compile(program, id, &mut scope.borrow_mut()), &mut |variable| {
            scope.borrow_mut().slot(variable)
        })
    }

    /// Adds the step of a choice.
    fn take(&mut self, choice: Choice, rest: &mut Rest, steps: &mut Vec<Step>) {
        let mut bound = Vec::new();
        match choice {
            Choice::Solve { literal, value, pattern } => {
                pattern.bound(&mut bound);
                let literal = rest.literals.remove(literal);
                let (value, test) = (self.code(value), self.test(&literal));
                steps.push(Step::Solve { value, pattern: self.slots(&pattern), test });
            }
            Choice::Root { literal, pattern } => {
                pattern.bound(&mut bound);
                let literal = rest.literals.remove(literal);
                let test = self.test(&literal);
                steps.push(Step::Root { pattern: self.slots(&pattern), test });
            }
            Choice::Truth { literal, variable } => {
                bound.push(variable);
                let literal = rest.literals.remove(literal);
                let values = Arc::new([Value::bool(literal.holds)]);
                steps.push(Step::Values { slot: self.scope.slot(variable), values });
            }
            Choice::Member { literal, collection, pattern, certain } => {
                pattern.bound(&mut bound);
                let otherwise = (!certain).then(|| {
                    let mut without = rest.clone();
                    without.avoid.push(rest.literals[literal].expression);
                    self.steps(without).into()
                });
                let literal = rest.literals.remove(literal);
                let (collection, test) = (self.code(collection), self.test(&literal));
                steps.push(Step::Member { collection, pattern: self.slots(&pattern), test, otherwise });
            }
            Choice::Interval { variable, lower, upper } => {
                bound.push(variable);
                let slot = self.scope.slot(variable);
                let least = least(self.program.variable(variable).sort);
                let exact: Vec<usize> = lower
                    .iter()
                    .chain(&upper)
                    .filter(|bound| bound.exact)
                    .map(|bound| bound.literal)
                    .collect();
                let [lower, upper] = [lower, upper].map(|side| self.bounds(side, &rest.literals));
                steps.push(Step::Interval { slot, lower, upper, least });
                let mut index = 0;
                rest.literals.retain(|_| {
                    index += 1;
                    !exact.contains(&(index - 1))
                });
            }
            Choice::Values { variable } => {
                let sort = self.program.variable(variable).sort;
                match self.values(sort) {
                    Some(values) => steps.push(Step::Values { slot: self.scope.slot(variable), values }),
                    None => {
                        let sort = self.program.sort_text(sort);
                        let reason = format!("the values of sort {sort} have no normal form");
                        steps.push(Step::Endless { variable: self.root(variable), reason });
                    }
                }
                bound.push(variable);
            }
        }
        rest.open.retain(|variable| !bound.contains(variable));
    }

    fn bounds(&mut self, drafts: Vec<DraftBound>, literals: &[Literal]) -> Vec<Bound> {
        let compile = |draft: DraftBound| Bound {
            factor: draft.factor,
            constant: draft.constant,
            known: draft.known.into_iter().map(|(factor, part)| (factor, self.code(part))).collect(),
            strict: draft.strict,
            origin: literals[draft.literal].origin,
        };
        drafts.into_iter().map(compile).collect()
    }

    /// All values of a sort with at most [`LIST_LIMIT`] of them.
    pub(super) fn values(&mut self, sort: SortId) -> Option<Arc<[Value]>> {
        if !self.lists.contains_key(&sort) {
            let values = list(self.rules, &self.program, &self.rewritten, sort);
            self.lists.insert(sort, values.map(Arc::from));
        }
        self.lists[&sort].clone()
    }

    /// Branches for the first disjunction in which some side allows a variable to be enumerated.
    fn disjunction(&mut self, rest: &Rest) -> Option<Vec<Rest>> {
        for index in 0..rest.literals.len() {
            let literal = rest.literals[index];
            let sides = alternatives(&self.program, literal.expression, literal.holds);
            if sides.len() < 2 || self.branches + sides.len() > MAX_BRANCHES {
                continue;
            }
            let mut branches = Vec::new();
            for (number, side) in sides.iter().enumerate() {
                let mut branch = rest.clone();
                let parts = side.iter().map(|&(expression, holds)| Literal {
                    expression,
                    holds,
                    origin: literal.origin,
                    partial: true,
                });
                branch.literals.splice(index..=index, parts);
                branch.exclusions.extend_from_slice(&sides[..number]);
                branches.push(branch);
            }
            if branches.iter().any(|branch| self.choices(branch).best(false).is_some()) {
                self.branches += branches.len();
                return Some(branches);
            }
        }
        None
    }

    /// Branches for the first variable of a structured sort that is not recursive: one for each
    /// constructor, with variables for its fields.
    fn constructors(&mut self, rest: &Rest) -> Option<Vec<Rest>> {
        let position = rest.open.iter().position(|&variable| {
            let sort = self.program.variable(variable).sort;
            let constructors = self.program.constructors(sort);
            self.program.sorts.structure(sort).is_some()
                && self.branches + constructors.len() <= MAX_BRANCHES
                && constructors.iter().all(|symbol| !self.rewritten.contains(symbol))
                && (self.sizes.of(&self.program, sort).is_some_and(|size| size > LIST_LIMIT)
                    || rest.literals.iter().any(|one| mentions(&self.program, one.expression, &[variable])))
                && !recursive(&self.program, sort)
        })?;
        let variable = rest.open[position];
        let sort = self.program.variable(variable).sort;
        let (name, root) = (self.program.variable(variable).name, self.root(variable));
        let constructors = self.program.constructors(sort).to_vec();
        self.branches += constructors.len();
        let mut branches = Vec::new();
        'constructors: for symbol in constructors {
            let sorts = self.program.signature(symbol).0.to_vec();
            let program = self.extend();
            let fields: Vec<VariableId> =
                sorts.iter().map(|&sort| program.add_variable(name, sort, Span::default())).collect();
            self.roots.extend(fields.iter().map(|&field| (field, root)));
            let program = self.extend();
            let arguments: Box<[ExpressionId]> =
                fields.iter().map(|&field| expression::variable(program, field)).collect();
            let value = if arguments.is_empty() {
                Expression::Symbol(symbol)
            } else {
                Expression::Call { symbol, arguments }
            };
            let value = program.add_expression(value, sort, Span::default());
            let with = Substitution::from_iter([(variable, value)]);
            let mut branch = rest.clone();
            branch.open.splice(position..=position, fields.iter().copied());
            branch.builds.push((variable, symbol, fields));
            let replace = |program: &mut Program, id: ExpressionId| {
                if !mentions(program, id, &[variable]) {
                    return id;
                }
                let replaced = expression::substitute(program, id, &with);
                expression::simplify(program, replaced)
            };
            for (part, _) in branch.exclusions.iter_mut().flatten() {
                *part = replace(program, *part);
            }
            for literal in &mut branch.literals {
                literal.expression = replace(program, literal.expression);
            }
            // Now that the constructor is known, equations may apply.
            let many = self.many(&branch.open);
            let mut literals = Vec::new();
            for literal in std::mem::take(&mut branch.literals) {
                for (expression, holds) in split(&self.program, literal.expression, literal.holds) {
                    literals.extend(self.unfold_literal(Literal { expression, holds, ..literal }, &many));
                }
            }
            let is_false =
                |one: &Literal| *self.program.expression(one.expression) == Expression::Bool(!one.holds);
            if literals.iter().any(is_false) {
                continue 'constructors;
            }
            branch.literals = literals;
            branches.push(branch);
        }
        Some(branches)
    }

    fn narrowing(&mut self, rest: &Rest, variables: &[VariableId]) -> Narrowing {
        let choices = self.choices(rest);
        let sums = choices.sums();
        let drafts: Vec<_> = variables.iter().map(|&variable| choices.bounds(&sums, variable)).collect();
        let mut bounds = Vec::new();
        for ((lower, upper), &variable) in drafts.into_iter().zip(variables) {
            let sides = [lower, upper].map(|side| self.bounds(side, &rest.literals));
            bounds.push((sides, self.root(variable)));
        }
        let literals: Vec<(ExpressionId, bool)> =
            rest.literals.iter().map(|literal| (literal.expression, literal.holds)).collect();
        Narrowing::new(self.rules, &self.program, self.scope, variables, &rest.open, &literals, bounds)
    }
}

/// Whether values of a sort can contain values of the same sort.
fn recursive(program: &Program, sort: SortId) -> bool {
    use crate::typed::Sort;
    let (mut seen, mut todo) = (Vec::new(), vec![sort]);
    while let Some(next) = todo.pop() {
        let below: Vec<SortId> = match program.sorts.get(next) {
            Sort::Container(_, element) => vec![*element],
            Sort::Function { domain, codomain } => domain.iter().copied().chain([*codomain]).collect(),
            _ => {
                let constructors = program.constructors(next).iter();
                constructors.flat_map(|&symbol| program.signature(symbol).0.iter().copied()).collect()
            }
        };
        for part in below {
            if part == sort {
                return true;
            }
            if !seen.contains(&part) {
                seen.push(part);
                todo.push(part);
            }
        }
    }
    false
}
