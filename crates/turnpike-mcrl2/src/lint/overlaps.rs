//! Finds equations that disagree. The order of equations has no meaning, so if two of them apply to
//! a term, both must have the same result. This is undecidable: the lint searches for small values
//! for which both equations apply and the results differ, and only warns if it finds some.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::diagnostic::Diagnostic;

use super::patterns::head;
use super::samples::samples;
use super::unify::unify;
use crate::compile::evaluator::{Code, Machine, Rules, Scope, prepare};
use crate::typed::expression::{
    Substitution, free_variables, reachable, rename, same, simplify, substitute, text, variable,
};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};
use crate::value::Value;

/// The number of examples to try for a pair of equations.
const TRIES: usize = 200;
/// The step limit of each evaluation.
const STEPS: u64 = 3_000;
/// The number of pairs of equations to try for one function.
const PAIRS: usize = 5_000;

/// Two equations that apply to the same terms.
struct Overlap {
    first: usize,
    second: usize,
    left: ExpressionId,
    conditions: Vec<ExpressionId>,
    rights: [ExpressionId; 2],
    free: Vec<VariableId>,
}

/// An example of a disagreement: values for the variables of the overlap, and the two results.
struct Example {
    overlap: usize,
    values: Vec<ExpressionId>,
    results: [String; 2],
}

/// Warnings about equations that disagree, at most one for each.
pub(super) fn overlaps(program: &Program) -> Vec<Diagnostic> {
    let mut copy = program.clone();
    let overlaps = candidates(&mut copy);
    if overlaps.is_empty() {
        return Vec::new();
    }
    let choices: Vec<Vec<Vec<ExpressionId>>> =
        overlaps.iter().map(|overlap| choices(&mut copy, overlap)).collect();
    prepare(&mut copy);
    let mut trial = Trial::new(Arc::new(copy));
    let mut reported = FxHashSet::default();
    let mut examples = Vec::new();
    for (index, (overlap, choices)) in overlaps.iter().zip(&choices).enumerate() {
        if !reported.contains(&overlap.second)
            && let Some((values, results)) = trial.example(overlap, choices)
        {
            reported.insert(overlap.second);
            examples.push(Example { overlap: index, values, results });
        }
    }
    let mut copy = Arc::unwrap_or_clone(trial.program);
    examples.into_iter().map(|one| diagnostic(&mut copy, &overlaps[one.overlap], one)).collect()
}

fn diagnostic(program: &mut Program, overlap: &Overlap, example: Example) -> Diagnostic {
    let with = overlap.free.iter().copied().zip(example.values).collect();
    let mut instance = substitute(program, overlap.left, &with);
    if let Expression::Call { symbol, .. } = *program.expression(instance)
        && program.symbol(symbol).kind == SymbolKind::Map
    {
        instance = simplify(program, instance);
    }
    let (one, other) = (&program.equations[overlap.first], &program.equations[overlap.second]);
    let condition = one.condition.map_or(String::new(), |one| format!("{} -> ", text(program, one)));
    let rule = format!("{condition}{} = {}", text(program, one.left), text(program, one.right));
    let [first, second] = example.results.map(short);
    let (instance, rule) = (short(text(program, instance)), short(rule));
    let message =
        format!("this equation disagrees with another: {instance} is {second} here, but {first} by {rule}");
    Diagnostic::warning(message)
        .at(other.span.range(), "")
        .help("the order of equations means nothing: add conditions, so that only one of them applies")
}

/// Shortens a text to fit on a line.
fn short(text: String) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn candidates(program: &mut Program) -> Vec<Overlap> {
    let mut groups: FxHashMap<SymbolId, Vec<usize>> = FxHashMap::default();
    let mut order = Vec::new();
    for (index, equation) in program.equations.iter().enumerate() {
        let head = head(program, equation.left);
        if let Expression::Symbol(symbol) | Expression::Call { symbol, .. } = *program.expression(head) {
            let group = groups.entry(symbol).or_default();
            if group.is_empty() {
                order.push(symbol);
            }
            group.push(index);
        }
    }
    let mut found = Vec::new();
    for symbol in order {
        let group = &groups[&symbol];
        if group.len() < 2 {
            continue;
        }
        let parts: Vec<[Option<ExpressionId>; 3]> =
            group.iter().map(|&index| apart(program, index)).collect();
        let pairs = (0..group.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        for (first, second) in pairs.take(PAIRS) {
            let ([one_condition, one_left, one_right], [other_condition, other_left, other_right]) =
                (parts[first], parts[second]);
            let (Some(one_left), Some(one_right), Some(other_left), Some(other_right)) =
                (one_left, one_right, other_left, other_right)
            else {
                continue;
            };
            let Some(unifier) = unify(program, vec![(one_left, other_left)]) else { continue };
            let mut instance = |id: ExpressionId| {
                let id = substitute(program, id, &unifier);
                simplify(program, id)
            };
            let rights = [instance(one_right), instance(other_right)];
            let conditions: Vec<ExpressionId> =
                one_condition.into_iter().chain(other_condition).map(&mut instance).collect();
            let left = substitute(program, one_left, &unifier);
            let impossible =
                conditions.iter().any(|&one| *program.expression(one) == Expression::Bool(false));
            if impossible || same(program, rights[0], rights[1]) {
                continue;
            }
            let mut free: Vec<VariableId> = free_variables(program, left);
            free.extend(rights.iter().chain(&conditions).flat_map(|&one| free_variables(program, one)));
            free.sort_unstable();
            free.dedup();
            found.push(Overlap {
                first: group[first],
                second: group[second],
                left,
                conditions,
                rights,
                free,
            });
        }
    }
    found
}

/// The condition, left and right side of an equation with fresh variables. `None` for an equation
/// that is never used.
fn apart(program: &mut Program, index: usize) -> [Option<ExpressionId>; 3] {
    let equation = program.equations[index].clone();
    let left: FxHashSet<VariableId> = free_variables(program, equation.left).into_iter().collect();
    let mut others = free_variables(program, equation.right);
    others.extend(equation.condition.into_iter().flat_map(|one| free_variables(program, one)));
    if others.iter().any(|one| !left.contains(one)) || has_functions(program, equation.left) {
        return [None; 3];
    }
    let mut left: Vec<VariableId> = left.into_iter().collect();
    left.sort_unstable();
    let mut names = Substitution::default();
    for one in left {
        let fresh = rename(program, one);
        let fresh = variable(program, fresh);
        names.insert(one, fresh);
    }
    let condition = equation.condition.map(|one| substitute(program, one, &names));
    let sides = [equation.left, equation.right].map(|one| substitute(program, one, &names));
    [condition, Some(sides[0]), Some(sides[1])]
}

/// Whether a left side has patterns that are built-in functions. These only match stuck terms,
/// which samples never are.
fn has_functions(program: &Program, left: ExpressionId) -> bool {
    let head = head(program, left);
    reachable(program, &[left]).into_iter().any(|id| match *program.expression(id) {
        Expression::Call { symbol, .. } if id != head => match program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => builtin != Builtin::Cons,
            _ => false,
        },
        _ => false,
    })
}

/// Values to try for the variables of an overlap.
fn choices(program: &mut Program, overlap: &Overlap) -> Vec<Vec<ExpressionId>> {
    let near: Vec<ExpressionId> =
        overlap.conditions.iter().chain(&overlap.rights).chain([&overlap.left]).copied().collect();
    let sorts: Vec<SortId> = overlap.free.iter().map(|&one| program.variable(one).sort).collect();
    sorts.into_iter().map(|sort| samples(program, sort, &near)).collect()
}

/// Evaluates the sides of equations for chosen values.
struct Trial {
    program: Arc<Program>,
    rules: Arc<Rules>,
    machine: Machine,
}

impl Trial {
    fn new(program: Arc<Program>) -> Trial {
        let rules = Rules::new(Arc::clone(&program));
        let mut machine = Machine::new(Arc::clone(&rules));
        machine.set_step_limit(STEPS);
        Trial { program, rules, machine }
    }

    /// Values with which both equations apply, and the two different results as text.
    fn example(
        &mut self,
        overlap: &Overlap,
        choices: &[Vec<ExpressionId>],
    ) -> Option<(Vec<ExpressionId>, [String; 2])> {
        // All combinations if there are few, otherwise some that are spread evenly. None if some
        // variable has no sample.
        let total = choices.iter().fold(1usize, |total, values| total.saturating_mul(values.len()));
        if total == 0 {
            return None;
        }
        let choices: Vec<Vec<(ExpressionId, Option<Value>)>> = choices
            .iter()
            .map(|values| values.iter().map(|&value| (value, self.value(value))).collect())
            .collect();
        let mut scope = Scope::default();
        for &variable in &overlap.free {
            scope.slot(variable);
        }
        let mut compile = |&side: &ExpressionId| self.rules.compile(&self.program, side, &mut scope);
        let conditions: Vec<Code> = overlap.conditions.iter().map(&mut compile).collect();
        let rights = overlap.rights.each_ref().map(compile);
        (0..total.min(TRIES)).find_map(|attempt| {
            let mut number = if total <= TRIES { attempt } else { attempt.wrapping_mul(7919) % total };
            let mut row = choices.iter().map(|values| {
                let value = values[number % values.len()];
                number /= values.len();
                value
            });
            let (values, arguments): (Vec<ExpressionId>, Vec<Option<Value>>) = row.by_ref().unzip();
            let arguments: Vec<Value> = arguments.into_iter().collect::<Option<_>>()?;
            let base = self.machine.enter(scope.size());
            self.machine.fill(base, &arguments);
            let results = self.disagreement(&conditions, &rights, base);
            self.machine.leave(base);
            self.machine.heap.reset();
            Some((values, results?))
        })
    }

    /// The value of a closed expression, kept alive across resets of the heap.
    fn value(&mut self, expression: ExpressionId) -> Option<Value> {
        let mut scope = Scope::default();
        let code = self.rules.compile(&self.program, expression, &mut scope);
        let base = self.machine.enter(scope.size());
        let value = self.machine.evaluate(&code, base);
        self.machine.leave(base);
        value.ok().map(|value| self.machine.heap.keep(value))
    }

    fn disagreement(&mut self, conditions: &[Code], rights: &[Code; 2], base: usize) -> Option<[String; 2]> {
        for condition in conditions {
            if self.machine.evaluate(condition, base).ok()? != Value::TRUE {
                return None;
            }
        }
        let first = self.machine.evaluate(&rights[0], base).ok()?;
        let second = self.machine.evaluate(&rights[1], base).ok()?;
        if self.machine.heap.same(first, second) {
            return None;
        }
        let program = self.rules.program();
        Some([first, second].map(|value| self.machine.heap.print(&program, &*self.rules, value)))
    }
}
