//! Groups equations by function, orders them, and computes which arguments a function is strict in.

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::number;
use super::node::Test;
use crate::typed::{Builtin, Equation, Expression, ExpressionId, Program, SymbolId, SymbolKind, VariableId};
use crate::value::{Head, Heap, Value};

/// The shape that a value must have.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Variable(VariableId),
    Test(Test, Vec<Pattern>),
}

/// An equation whose left side can match.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) patterns: Vec<Pattern>,
    pub(super) condition: Option<ExpressionId>,
    pub(super) right: ExpressionId,
}

/// The rules of a function for one number of arguments, in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) symbol: SymbolId,
    pub(super) arity: usize,
    pub(super) rules: Vec<Rule>,
}

impl Group {
    /// Whether these are rules for the built-in `if`.
    pub(super) fn is_if(&self, program: &Program) -> bool {
        self.arity == 3 && program.symbol(self.symbol).kind == SymbolKind::Builtin(Builtin::If)
    }
}

/// Properties of a function that its callers rely on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Parameters that may be passed unevaluated, as a bit set.
    pub(super) lazy: u64,
    /// For functions equivalent to `if`: the positions of condition, first and second choice.
    pub(super) conditional: Option<[u8; 3]>,
}

/// The functions that have rules.
#[derive(Debug, Default)]
pub(super) struct FunctionTable {
    pub(super) groups: Vec<Group>,
    shapes: Vec<Shape>,
    /// Indices of groups by symbol and number of arguments.
    index: FxHashMap<(SymbolId, usize), u32>,
    arities: FxHashMap<SymbolId, usize>,
    least: FxHashMap<SymbolId, usize>,
}

impl FunctionTable {
    pub(super) fn new(program: &Program, heap: &mut Heap) -> FunctionTable {
        let mut known = FunctionTable::default();
        let heads: Vec<_> = program.equations.iter().map(|one| left_side(program, one.left)).collect();
        // A symbol with rules of its own cannot occur in a pattern, so these symbols must be known
        // before patterns are read.
        let rewritten: FxHashSet<SymbolId> =
            heads.iter().flatten().filter(|(_, all)| all.is_empty()).map(|&(symbol, _)| symbol).collect();
        for (equation, head) in program.equations.iter().zip(heads) {
            let Some((symbol, arguments)) = head else { continue };
            let Some(rule) = rule(program, heap, &rewritten, equation, &arguments) else { continue };
            let arity = arguments.len();
            let index = *known.index.entry((symbol, arity)).or_insert_with(|| {
                known.groups.push(Group { symbol, arity, rules: Vec::new() });
                known.groups.len() as u32 - 1
            });
            known.groups[index as usize].rules.push(rule);
            known.arities.insert(symbol, program.signature(symbol).0.len());
            let least = known.least.entry(symbol).or_insert(arity);
            *least = arity.min(*least);
        }
        for group in &mut known.groups {
            order(program, group);
        }
        known.shapes = vec![Shape::default(); known.groups.len()];
        for (shape, group) in known.shapes.iter_mut().zip(&known.groups) {
            // User rules for `if` only apply to conditions that are neither true nor false.
            shape.conditional =
                if group.is_if(program) { Some([0, 1, 2]) } else { conditional(program, group) };
        }
        known.find_needs(program);
        known
    }

    /// The rules for a symbol on its own.
    pub(super) fn nullary(&self, symbol: SymbolId) -> Option<u32> {
        self.index.get(&(symbol, 0)).copied()
    }

    /// The rules for a function with its arguments.
    pub(super) fn function(&self, symbol: SymbolId) -> Option<u32> {
        let &arity = self.arities.get(&symbol)?;
        self.index.get(&(symbol, arity)).copied()
    }

    /// The rules for a function with this number of arguments, which several applications may pass.
    pub(super) fn curried(&self, symbol: SymbolId, arity: usize) -> Option<u32> {
        self.index.get(&(symbol, arity)).copied()
    }

    /// The smallest number of arguments that a symbol has rules for. These rules are tried first.
    pub(super) fn least(&self, symbol: SymbolId) -> Option<usize> {
        self.least.get(&symbol).copied()
    }

    /// Whether a symbol has rules for any number of arguments.
    pub(super) fn has_rules(&self, symbol: SymbolId) -> bool {
        self.arities.contains_key(&symbol)
    }

    pub(super) fn shape(&self, function: u32) -> Shape {
        self.shapes[function as usize]
    }

    /// Computes the parameters that every evaluation needs, as a greatest fixed point: all are
    /// needed until a rule shows otherwise.
    fn find_needs(&mut self, program: &Program) {
        let mut needed: Vec<u64> = vec![u64::MAX; self.groups.len()];
        loop {
            let mut changed = false;
            for (index, group) in self.groups.iter().enumerate() {
                let mut all = u64::MAX;
                for rule in &group.rules {
                    let mut parameters: FxHashMap<VariableId, u64> = FxHashMap::default();
                    let mut found = 0;
                    for (place, pattern) in group.patterns_of(rule) {
                        match pattern {
                            Pattern::Variable(variable) => {
                                let places = parameters.entry(*variable).or_default();
                                *places |= 1 << place;
                            }
                            Pattern::Test(..) => found |= 1 << place,
                        }
                    }
                    // Parameters that are the same variable are compared.
                    for places in parameters.values().filter(|places| places.count_ones() > 1) {
                        found |= places;
                    }
                    let mut needs = Needs {
                        program,
                        known: self,
                        needed: &needed,
                        parameters: &parameters,
                        memo: FxHashMap::default(),
                    };
                    if let Some(condition) = rule.condition {
                        found |= needs.of(condition);
                    }
                    found |= needs.of(rule.right);
                    all &= found;
                }
                if all != needed[index] {
                    needed[index] = all;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for (index, group) in self.groups.iter().enumerate() {
            let parameters = if group.arity >= 64 { u64::MAX } else { (1 << group.arity) - 1 };
            self.shapes[index].lazy = !needed[index] & parameters;
        }
    }
}

impl Group {
    /// The patterns of the first 64 parameters. Later parameters are always evaluated.
    fn patterns_of<'a>(&self, rule: &'a Rule) -> impl Iterator<Item = (usize, &'a Pattern)> + use<'a> {
        rule.patterns.iter().enumerate().take(64)
    }
}

/// Computes which parameters the evaluation of an expression is certain to need.
struct Needs<'a> {
    program: &'a Program,
    known: &'a FunctionTable,
    needed: &'a [u64],
    parameters: &'a FxHashMap<VariableId, u64>,
    memo: FxHashMap<ExpressionId, u64>,
}

impl Needs<'_> {
    fn of(&mut self, id: ExpressionId) -> u64 {
        if let Some(&found) = self.memo.get(&id) {
            return found;
        }
        let found = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.of_fresh(id));
        self.memo.insert(id, found);
        found
    }

    fn any(&mut self, ids: &[ExpressionId]) -> u64 {
        ids.iter().fold(0, |found, &id| found | self.of(id))
    }

    fn of_fresh(&mut self, id: ExpressionId) -> u64 {
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => self.parameters.get(variable).copied().unwrap_or(0),
            Expression::Symbol(_) | Expression::Bool(_) | Expression::Number(_) => 0,
            Expression::List(all) | Expression::Set(all) => self.any(all),
            Expression::Bag(pairs) => {
                pairs.iter().fold(0, |found, &(one, count)| found | self.of(one) | self.of(count))
            }
            Expression::Upcast(of) => self.of(*of),
            // Captured variables are evaluated when the closure is created.
            Expression::Comprehension { .. } | Expression::Binder { .. } => {
                let free = crate::typed::expression::free_variables(program, id);
                free.iter().fold(0, |found, one| found | self.parameters.get(one).copied().unwrap_or(0))
            }
            Expression::Where { body, definitions } => {
                definitions.iter().fold(self.of(*body), |found, &(_, value)| found | self.of(value))
            }
            Expression::Apply { function, arguments } => {
                let below = self.of(*function);
                below | self.any(arguments)
            }
            Expression::Call { symbol, arguments } => self.of_call(*symbol, arguments),
        }
    }

    fn of_call(&mut self, symbol: SymbolId, arguments: &[ExpressionId]) -> u64 {
        if self.known.nullary(symbol).is_some() {
            return self.any(arguments);
        }
        if let Some(function) = self.known.function(symbol) {
            if let Some([condition, then, otherwise]) = self.known.shape(function).conditional {
                let [condition, then, otherwise] =
                    [condition, then, otherwise].map(|index| self.of(arguments[index as usize]));
                return condition | (then & otherwise);
            }
            let needed = self.needed[function as usize];
            return arguments
                .iter()
                .enumerate()
                .filter(|&(index, _)| index >= 64 || needed >> index & 1 == 1)
                .fold(0, |found, (_, &id)| found | self.of(id));
        }
        match (&self.program.symbol(symbol).kind, arguments) {
            (SymbolKind::Builtin(Builtin::If), &[condition, then, otherwise]) => {
                let (then, otherwise) = (self.of(then), self.of(otherwise));
                self.of(condition) | (then & otherwise)
            }
            (SymbolKind::Builtin(Builtin::And | Builtin::Or | Builtin::Implies), &[left, _]) => self.of(left),
            _ => self.any(arguments),
        }
    }
}

/// The function that an equation defines, and the arguments of all its applications.
fn left_side(program: &Program, mut left: ExpressionId) -> Option<(SymbolId, Vec<ExpressionId>)> {
    let mut groups: Vec<&[ExpressionId]> = Vec::new();
    loop {
        match program.expression(left) {
            Expression::Apply { function, arguments } => {
                groups.push(arguments);
                left = *function;
            }
            Expression::Call { symbol, arguments } => {
                groups.push(arguments);
                return Some((*symbol, groups.into_iter().rev().flatten().copied().collect()));
            }
            Expression::Symbol(symbol) => {
                return Some((*symbol, groups.into_iter().rev().flatten().copied().collect()));
            }
            _ => return None,
        }
    }
}

/// `None` if it can never be used.
fn rule(
    program: &Program,
    heap: &mut Heap,
    rewritten: &FxHashSet<SymbolId>,
    equation: &Equation,
    arguments: &[ExpressionId],
) -> Option<Rule> {
    let patterns: Option<Vec<Pattern>> =
        arguments.iter().map(|&id| pattern(program, heap, rewritten, equation, id)).collect();
    let patterns = patterns?;
    let mut bound = FxHashMap::default();
    patterns.iter().for_each(|one| count_pattern(one, &mut bound));
    for root in equation.condition.into_iter().chain([equation.right]) {
        for variable in crate::typed::expression::free_variables(program, root) {
            let declared = equation.variables.contains(&(variable.index() as u32));
            if declared && !bound.contains_key(&variable) {
                return None;
            }
        }
    }
    Some(Rule { patterns, condition: equation.condition, right: equation.right })
}

fn pattern(
    program: &Program,
    heap: &mut Heap,
    rewritten: &FxHashSet<SymbolId>,
    equation: &Equation,
    id: ExpressionId,
) -> Option<Pattern> {
    let word = |value| Some(Pattern::Test(Test::Word(value), Vec::new()));
    let below = |heap: &mut Heap, ids: &[ExpressionId]| -> Option<Vec<Pattern>> {
        ids.iter()
            .map(|&id| {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    pattern(program, heap, rewritten, equation, id)
                })
            })
            .collect()
    };
    match program.expression(id) {
        Expression::Variable(variable) => {
            equation.variables.contains(&(variable.index() as u32)).then_some(Pattern::Variable(*variable))
        }
        Expression::Bool(value) => word(Value::bool(*value)),
        Expression::Number(digits) => {
            let value = number(heap, program.text(*digits));
            word(heap.keep(value))
        }
        Expression::Symbol(symbol) => {
            if rewritten.contains(symbol) {
                return None;
            }
            let value = heap.make(Head::Symbol(*symbol), &[]);
            word(heap.keep(value))
        }
        Expression::List(all) => {
            let mut list = Pattern::Test(Test::Word(Value::NIL), Vec::new());
            for element in below(heap, all)?.into_iter().rev() {
                list = Pattern::Test(Test::Head(Head::Cons, 2), vec![element, list]);
            }
            Some(list)
        }
        Expression::Set(all) if all.is_empty() => word(Value::EMPTY_SET),
        Expression::Bag(all) if all.is_empty() => word(Value::EMPTY_BAG),
        // A value never has a conversion of a variable at its root.
        Expression::Upcast(of) => match program.expression(*of) {
            Expression::Variable(_) => None,
            _ => below(heap, &[*of])?.pop(),
        },
        Expression::Call { symbol, arguments } => {
            let head = match program.symbol(*symbol).kind {
                SymbolKind::Builtin(Builtin::Cons) => Head::Cons,
                SymbolKind::Builtin(Builtin::Negate) => {
                    let Expression::Number(digits) = program.expression(skip_upcast(program, arguments[0]))
                    else {
                        return None;
                    };
                    let value = number(heap, program.text(*digits));
                    let value = heap.negate(value)?;
                    return word(heap.keep(value));
                }
                SymbolKind::Builtin(_) => return None,
                _ => Head::Symbol(*symbol),
            };
            let below = below(heap, arguments)?;
            Some(Pattern::Test(Test::Head(head, arguments.len() as u32), below))
        }
        _ => None,
    }
}

fn skip_upcast(program: &Program, mut id: ExpressionId) -> ExpressionId {
    while let Expression::Upcast(of) = program.expression(id) {
        id = *of;
    }
    id
}

fn count_pattern(pattern: &Pattern, count: &mut FxHashMap<VariableId, u32>) {
    let mut todo = vec![pattern];
    while let Some(pattern) = todo.pop() {
        match pattern {
            Pattern::Variable(variable) => *count.entry(*variable).or_default() += 1,
            Pattern::Test(_, below) => todo.extend(below),
        }
    }
}

/// The number of tests that a pattern makes.
fn tests(pattern: &Pattern) -> usize {
    let (mut count, mut todo) = (0, vec![pattern]);
    while let Some(pattern) = todo.pop() {
        if let Pattern::Test(_, below) = pattern {
            count += 1;
            todo.extend(below);
        }
    }
    count
}

fn count_expression(program: &Program, root: ExpressionId, count: &mut FxHashMap<VariableId, u32>) {
    let mut todo = vec![root];
    let mut budget = 100_000;
    while let Some(id) = todo.pop()
        && budget > 0
    {
        budget -= 1;
        let expression = program.expression(id);
        if let Expression::Variable(variable) = expression {
            *count.entry(*variable).or_default() += 1;
        }
        expression.for_each_child(|child| todo.push(child));
    }
}

/// Orders rules by how many evaluated arguments they need, whatever their order in the text.
fn order(program: &Program, group: &mut Group) {
    let mut waiting: Vec<(FxHashSet<usize>, Rule)> = Vec::new();
    for rule in group.rules.drain(..) {
        let (mut left, mut right) = (FxHashMap::default(), FxHashMap::default());
        rule.patterns.iter().for_each(|one| count_pattern(one, &mut left));
        count_expression(program, rule.right, &mut right);
        let mut condition = FxHashMap::default();
        if let Some(id) = rule.condition {
            count_expression(program, id, &mut condition);
        }
        let needs = rule.patterns.iter().enumerate().filter(|(_, pattern)| match pattern {
            Pattern::Variable(variable) => {
                condition.contains_key(variable)
                    || left.get(variable).is_some_and(|&times| times > 1)
                    || right.get(variable).is_some_and(|&times| times > 1)
            }
            Pattern::Test(..) => true,
        });
        waiting.push((needs.map(|(index, _)| index).collect(), rule));
    }
    while !waiting.is_empty() {
        let (mut ready, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(needs, _)| needs.is_empty());
        // Among rules that need the same arguments, the more general ones come first.
        ready.sort_by_key(|(_, rule)| rule.patterns.iter().map(tests).sum::<usize>());
        group.rules.extend(ready.into_iter().map(|(_, rule)| rule));
        waiting = rest;
        let wanted = (0..group.arity)
            .max_by_key(|&index| {
                let times = waiting.iter().filter(|(needs, _)| needs.contains(&index)).count();
                (times, usize::MAX - index)
            })
            .unwrap_or(0);
        for (needs, _) in &mut waiting {
            needs.remove(&wanted);
        }
    }
}

/// Whether a function is equivalent to `if`: one rule for `true` and one for `false`, each with a
/// parameter as its result.
fn conditional(program: &Program, group: &Group) -> Option<[u8; 3]> {
    let [first, second] = &group.rules[..] else { return None };
    if group.arity != 3 || first.condition.is_some() || second.condition.is_some() {
        return None;
    }
    let choice = |rule: &Rule| -> Option<(Value, usize, usize)> {
        let mut tested = None;
        let mut variables = Vec::new();
        for (index, pattern) in rule.patterns.iter().enumerate() {
            match pattern {
                Pattern::Test(Test::Word(value), _) if value.as_bool().is_some() && tested.is_none() => {
                    tested = Some((*value, index));
                }
                Pattern::Variable(variable) if !variables.contains(variable) => variables.push(*variable),
                _ => return None,
            }
        }
        let (value, index) = tested?;
        let Expression::Variable(result) = program.expression(rule.right) else { return None };
        let result = rule
            .patterns
            .iter()
            .position(|pattern| matches!(pattern, Pattern::Variable(variable) if variable == result))?;
        Some((value, index, result))
    };
    let (one, other) = (choice(first)?, choice(second)?);
    let (yes, no) = if one.0 == Value::TRUE { (one, other) } else { (other, one) };
    let right = yes.0 == Value::TRUE && no.0 == Value::FALSE && yes.1 == no.1 && yes.2 != no.2;
    right.then_some([yes.1 as u8, yes.2 as u8, no.2 as u8])
}
