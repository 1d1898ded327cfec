//! Constant folding. It only does what holds for every normal form: an operation that might be
//! stuck stays as it is, and functions with equations, even built-in ones, are left to their
//! equations. The exception is constants, such as `eqn size = 8;`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dashu_int::ops::Abs;
use dashu_ratio::RBig;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::build::{boolean, constructor, equality, is_open, not, truth};
use super::domain::Expressions;
use super::number::{is_value, literal, number_value, peel};
use super::walk::{map_children, reachable, same};
use crate::builtin::{Domain, list, logic, number};
use crate::syntax::{Binder, Span};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind};

/// Larger constants are not expanded.
const LARGEST_CONSTANT: usize = 256;
/// Powers with larger exponents are not computed.
const LARGEST_EXPONENT: u32 = 4096;

/// Facts about the equations that simplification needs. Computed once for a set of equations.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    fingerprint: u64,
    /// Symbols with equations.
    defined: FxHashSet<SymbolId>,
    /// Whether `|>` has equations.
    rewrites_cons: bool,
    /// Sorts with equations for `==`.
    compared: FxHashSet<SortId>,
    /// Constants and their values.
    constants: FxHashMap<SymbolId, ExpressionId>,
}

impl Facts {
    /// The facts about the current equations of a program.
    pub(crate) fn of(program: &mut Program) -> Arc<Facts> {
        let mut hasher = FxHasher::default();
        for equation in &program.equations {
            (equation.condition, equation.left, equation.right).hash(&mut hasher);
        }
        let fingerprint = hasher.finish();
        if let Some(facts) = &program.facts
            && facts.fingerprint == fingerprint
        {
            return facts.clone();
        }
        let mut facts = Facts { fingerprint, ..Facts::default() };
        facts.find_defined(program);
        facts.find_constants(program);
        let facts = Arc::new(facts);
        program.facts = Some(facts.clone());
        facts
    }

    /// Whether a symbol has equations.
    pub(super) fn is_defined(&self, symbol: SymbolId) -> bool {
        self.defined.contains(&symbol)
    }

    /// Whether equations define equality at a sort.
    pub(super) fn compares(&self, sort: SortId) -> bool {
        self.compared.contains(&sort)
    }

    fn find_defined(&mut self, program: &Program) {
        for equation in &program.equations {
            let mut head = equation.left;
            while let Expression::Apply { function, .. } = *program.expression(head) {
                head = function;
            }
            if let Expression::Symbol(symbol) | Expression::Call { symbol, .. } = *program.expression(head) {
                self.defined.insert(symbol);
                match program.symbol(symbol).kind {
                    SymbolKind::Builtin(Builtin::Equal) => {
                        self.compared.extend(program.signature(symbol).0.first());
                    }
                    SymbolKind::Builtin(Builtin::Cons) => self.rewrites_cons = true,
                    _ => {}
                }
            }
        }
    }

    /// Finds constants whose only equation gives their value, possibly by other constants.
    fn find_constants(&mut self, program: &mut Program) {
        let mut open: Vec<(SymbolId, ExpressionId)> = Vec::new();
        let mut rules: FxHashMap<SymbolId, u32> = FxHashMap::default();
        for equation in &program.equations {
            if let Expression::Symbol(symbol) = *program.expression(equation.left) {
                *rules.entry(symbol).or_insert(0) += 1;
                let is_map = program.symbol(symbol).kind == SymbolKind::Map;
                if is_map && equation.condition.is_none() {
                    open.push((symbol, equation.right));
                }
            }
        }
        open.retain(|(symbol, _)| rules[symbol] == 1);
        let mut waiting: FxHashSet<SymbolId> = open.iter().map(|&(symbol, _)| symbol).collect();
        loop {
            let before = open.len();
            open.retain(|&(symbol, right)| {
                let nodes = reachable(program, &[right]);
                let ready = nodes.iter().all(|&id| match program.expression(id) {
                    Expression::Symbol(used) => !waiting.contains(used),
                    _ => true,
                });
                if !ready {
                    return true;
                }
                waiting.remove(&symbol);
                let value = with_facts(program, self, right);
                let small = reachable(program, &[value]).len() <= LARGEST_CONSTANT;
                if small && is_value(program, value, &self.defined) {
                    self.constants.insert(symbol, value);
                }
                false
            });
            if open.len() == before {
                return;
            }
        }
    }
}

/// An equal expression that is no larger: constants are folded, constructors compared, projections
/// and conditionals resolved.
pub fn simplify(program: &mut Program, root: ExpressionId) -> ExpressionId {
    let facts = Facts::of(program);
    with_facts(program, &facts, root)
}

fn with_facts(program: &mut Program, facts: &Facts, root: ExpressionId) -> ExpressionId {
    let mut results: FxHashMap<ExpressionId, ExpressionId> = FxHashMap::default();
    for id in reachable(program, &[root]) {
        let old = program.expression(id);
        let mut changed = false;
        old.for_each_child(|child| changed |= results.get(&child).is_some_and(|&new| new != child));
        let new = map_children(old, |child| results.get(&child).copied().unwrap_or(child));
        let (sort, span) = (program.sort_of(id), program.span_of(id));
        let result = match fold(program, facts, &new, sort, span) {
            Some(folded) => folded,
            None if changed => program.add_expression(new, sort, span),
            None => id,
        };
        if result != id {
            results.insert(id, result);
        }
    }
    results.get(&root).copied().unwrap_or(root)
}

/// Simplifies a node with simplified children; `None` if it stays as it is.
fn fold(
    program: &mut Program,
    facts: &Facts,
    expression: &Expression,
    sort: SortId,
    span: Span,
) -> Option<ExpressionId> {
    match expression {
        Expression::Symbol(symbol) => facts.constants.get(symbol).copied(),
        &Expression::Upcast(operand) => {
            if let Some(value) = number_value(program, operand) {
                return Some(literal(program, &value, sort, span));
            }
            let Expression::Upcast(inner) = *program.expression(operand) else { return None };
            Some(program.add_expression(Expression::Upcast(inner), sort, span))
        }
        Expression::Call { symbol, arguments } => fold_call(program, facts, *symbol, arguments, sort, span),
        Expression::Apply { function, arguments } => {
            let Expression::Symbol(symbol) = *program.expression(*function) else { return None };
            if let Some(folded) = fold_call(program, facts, symbol, arguments, sort, span) {
                return Some(folded);
            }
            let call = Expression::Call { symbol, arguments: arguments.clone() };
            Some(program.add_expression(call, sort, span))
        }
        Expression::Binder { binder: Binder::Forall | Binder::Exists, body, .. }
        | Expression::Where { body, .. } => truth(program, *body).map(|_| *body),
        _ => None,
    }
}

fn fold_call(
    program: &mut Program,
    facts: &Facts,
    symbol: SymbolId,
    arguments: &[ExpressionId],
    sort: SortId,
    span: Span,
) -> Option<ExpressionId> {
    // Equality takes the user's equations into account itself.
    let kind = &program.symbol(symbol).kind;
    if facts.is_defined(symbol) && *kind != SymbolKind::Builtin(Builtin::Equal) {
        return None;
    }
    match kind {
        SymbolKind::Projection { fields, .. } => {
            let (index, parts) = constructor(program, facts, arguments[0])?;
            let &(_, position) = fields.iter().find(|&&(alternative, _)| alternative == index)?;
            parts.get(position as usize).copied()
        }
        SymbolKind::Recogniser { index, .. } => {
            let index = *index;
            let (found, _) = constructor(program, facts, arguments[0])?;
            Some(boolean(program, found == index))
        }
        SymbolKind::Builtin(builtin) => match *builtin {
            Builtin::Equal | Builtin::NotEqual => fold_equality(program, facts, *builtin, arguments),
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual => {
                fold_order(program, *builtin, arguments)
            }
            Builtin::If | Builtin::Not | Builtin::And | Builtin::Or | Builtin::Implies => {
                fold_logic(program, *builtin, arguments)
            }
            Builtin::Cons
            | Builtin::Snoc
            | Builtin::Concat
            | Builtin::At
            | Builtin::Size
            | Builtin::In
            | Builtin::Head
            | Builtin::Tail
            | Builtin::RHead
            | Builtin::RTail => fold_list(program, facts, *builtin, arguments, sort, span),
            builtin => fold_number(program, builtin, arguments, sort, span),
        },
        _ => None,
    }
}

fn fold_equality(
    program: &mut Program,
    facts: &Facts,
    builtin: Builtin,
    arguments: &[ExpressionId],
) -> Option<ExpressionId> {
    let (left, right) = (arguments[0], arguments[1]);
    if is_open(program, facts, left, right) {
        return None;
    }
    let equality = equality(program, facts, left, right);
    Some(if builtin == Builtin::Equal { equality } else { not(program, equality) })
}

fn fold_order(program: &mut Program, builtin: Builtin, arguments: &[ExpressionId]) -> Option<ExpressionId> {
    let (left, right) = (arguments[0], arguments[1]);
    let strict = matches!(builtin, Builtin::Less | Builtin::Greater);
    let swapped = matches!(builtin, Builtin::Greater | Builtin::GreaterEqual);
    let holds = if let (Some(one), Some(other)) = (number_value(program, left), number_value(program, right))
    {
        let (small, large) = if swapped { (other, one) } else { (one, other) };
        if strict { small < large } else { small <= large }
    } else if same(program, left, right) {
        !strict
    } else {
        return None;
    };
    Some(boolean(program, holds))
}

fn fold_logic(program: &mut Program, builtin: Builtin, arguments: &[ExpressionId]) -> Option<ExpressionId> {
    let domain = &mut Expressions { program, cons: None, sort: SortId::BOOL, span: Span::default() };
    match *arguments {
        // An irreducible negation must not be built again.
        [operand] if domain.truth(&operand).is_none() => domain.operand_of_negation(&operand),
        [operand] => logic::not(domain, &operand),
        [condition, then, otherwise] => logic::conditional(domain, &condition, &then, &otherwise),
        [left, right] => logic::connective(domain, builtin, &left, &right),
        _ => None,
    }
}

fn fold_list(
    program: &mut Program,
    facts: &Facts,
    builtin: Builtin,
    arguments: &[ExpressionId],
    sort: SortId,
    span: Span,
) -> Option<ExpressionId> {
    let is_empty = |program: &Program, id| match program.expression(peel(program, id)) {
        Expression::List(elements) | Expression::Set(elements) => elements.is_empty(),
        Expression::Bag(pairs) => pairs.is_empty(),
        _ => false,
    };
    let cons = (!facts.rewrites_cons).then_some(Builtin::Cons);
    let domain = &mut Expressions { program, cons, sort, span };
    match builtin {
        Builtin::Size => {
            let size = match list::length(domain, &arguments[0]) {
                (length, true) => length,
                _ if is_empty(domain.program, arguments[0]) => 0,
                _ => return None,
            };
            Some(domain.count(size))
        }
        Builtin::In => is_empty(domain.program, arguments[1]).then(|| domain.bool(false)),
        _ => list::apply(domain, builtin, arguments),
    }
}

fn fold_number(
    program: &mut Program,
    builtin: Builtin,
    arguments: &[ExpressionId],
    sort: SortId,
    span: Span,
) -> Option<ExpressionId> {
    if !sort.is_number() {
        return None;
    }
    let left = number_value(program, *arguments.first()?)?;
    let value = match arguments.get(1) {
        Some(&right) => {
            let right = number_value(program, right)?;
            if builtin == Builtin::Exp && right.clone().abs() > RBig::from(LARGEST_EXPONENT) {
                return None;
            }
            number::binary(builtin, left, right)?
        }
        None if builtin == Builtin::Sqrt => return None,
        None => number::unary(builtin, left)?,
    };
    let whole = value.is_int();
    let is_done = match builtin {
        // A negative literal or a literal fraction is in its final form.
        Builtin::Negate => whole && is_literal(program, arguments[0], SortId::POS),
        Builtin::Divide => !whole && is_reduced(program, arguments, &value),
        _ => false,
    };
    (number::fits(sort, &value) && !is_done).then(|| literal(program, &value, sort, span))
}

fn is_literal(program: &Program, id: ExpressionId, sort: SortId) -> bool {
    matches!(program.expression(id), Expression::Number(_)) && program.sort_of(id) == sort
}

/// Whether a quotient has the form that [`literal`] produces.
fn is_reduced(program: &Program, arguments: &[ExpressionId], value: &RBig) -> bool {
    let sort = if *value > RBig::ZERO { SortId::POS } else { SortId::INT };
    program.sort_of(arguments[0]) == sort
        && is_literal(program, arguments[1], sort)
        && number_value(program, arguments[0]).is_some_and(|up| up == RBig::from(value.numerator().clone()))
}
