//! Builds expressions, with obvious simplifications.

use rustc_hash::FxHashSet;

use super::domain::Expressions;
use super::number::{call, number_value, peel};
use super::simplify::Facts;
use super::walk::{conjuncts, disjuncts, same};
use crate::builtin::logic;
use crate::syntax::{Binder, Container, Span};
use crate::typed::{
    Builtin, Expression, ExpressionId, Program, Sort, SortId, SymbolId, SymbolKind, VariableId,
};

/// `true` or `false`.
pub fn boolean(program: &mut Program, value: bool) -> ExpressionId {
    program.add_expression(Expression::Bool(value), SortId::BOOL, Span::default())
}

/// The truth value of a literal.
pub(super) fn truth(program: &Program, id: ExpressionId) -> Option<bool> {
    match *program.expression(id) {
        Expression::Bool(value) => Some(value),
        _ => None,
    }
}

/// A variable as an expression.
pub fn variable(program: &mut Program, variable: VariableId) -> ExpressionId {
    let declared = *program.variable(variable);
    program.add_expression(Expression::Variable(variable), declared.sort, declared.span)
}

/// `left == right`, simplified. Both have the same sort.
pub fn equal(program: &mut Program, left: ExpressionId, right: ExpressionId) -> ExpressionId {
    let facts = Facts::of(program);
    equality(program, &facts, left, right)
}

/// As [`equal`], with given facts. Constructors and lists are compared part by part.
pub(super) fn equality(
    program: &mut Program,
    facts: &Facts,
    left: ExpressionId,
    right: ExpressionId,
) -> ExpressionId {
    let (mut pairs, mut parts) = (vec![(left, right)], Vec::new());
    let mut seen = FxHashSet::default();
    while let Some((left, right)) = pairs.pop() {
        if left == right || !seen.insert((left, right)) {
            continue;
        }
        match compare(program, facts, left, right, &mut pairs) {
            Comparison::Parts => {}
            Comparison::Different => return boolean(program, false),
            Comparison::Open if same(program, left, right) => {}
            Comparison::Open => parts.push(open_equality(program, left, right)),
        }
    }
    all(program, &parts)
}

/// Whether nothing is known about an equality, so that [`equality`] would only build it.
pub(super) fn is_open(program: &Program, facts: &Facts, left: ExpressionId, right: ExpressionId) -> bool {
    matches!(compare(program, facts, left, right, &mut Vec::new()), Comparison::Open)
        && truth(program, left).is_none()
        && truth(program, right).is_none()
        && !same(program, left, right)
}

enum Comparison {
    /// Equal if and only if all the added pairs are.
    Parts,
    Different,
    Open,
}

fn compare(
    program: &Program,
    facts: &Facts,
    left: ExpressionId,
    right: ExpressionId,
    pairs: &mut Vec<(ExpressionId, ExpressionId)>,
) -> Comparison {
    let sort = program.sort_of(left);
    if facts.compares(sort) {
        return Comparison::Open;
    }
    if sort.is_number() {
        return match (number_value(program, left), number_value(program, right)) {
            (Some(one), Some(other)) if one == other => Comparison::Parts,
            (Some(_), Some(_)) => Comparison::Different,
            _ => {
                // If both are converted from the same sort, compare there.
                let (one, other) = (peel(program, left), peel(program, right));
                if one != left && other != right && program.sort_of(one) == program.sort_of(other) {
                    pairs.push((one, other));
                    return Comparison::Parts;
                }
                Comparison::Open
            }
        };
    }
    match (program.expression(left), program.expression(right)) {
        (Expression::Bool(one), Expression::Bool(other)) => {
            if one == other {
                Comparison::Parts
            } else {
                Comparison::Different
            }
        }
        (Expression::List(ones), Expression::List(others)) => {
            if ones.len() != others.len() {
                return Comparison::Different;
            }
            pairs.extend(ones.iter().copied().zip(others.iter().copied()).rev());
            Comparison::Parts
        }
        _ => match (constructor(program, facts, left), constructor(program, facts, right)) {
            (Some((one, ones)), Some((other, others))) => {
                if one != other {
                    return Comparison::Different;
                }
                pairs.extend(ones.iter().copied().zip(others.iter().copied()).rev());
                Comparison::Parts
            }
            _ => Comparison::Open,
        },
    }
}

/// The constructor of a structured sort at the root of an expression, and its fields.
pub(super) fn constructor<'p>(
    program: &'p Program,
    facts: &Facts,
    id: ExpressionId,
) -> Option<(u32, &'p [ExpressionId])> {
    let (symbol, arguments): (SymbolId, &[ExpressionId]) = match program.expression(id) {
        Expression::Symbol(symbol) => (*symbol, &[]),
        Expression::Call { symbol, arguments } => (*symbol, arguments),
        _ => return None,
    };
    let sort = program.sort_of(id);
    match program.symbol(symbol).kind {
        SymbolKind::StructConstructor { index, sort: of } if of == sort && !facts.is_defined(symbol) => {
            Some((index, arguments))
        }
        _ => None,
    }
}

/// An equality without structure. Those of truth values are still simplified.
fn open_equality(program: &mut Program, left: ExpressionId, right: ExpressionId) -> ExpressionId {
    if program.sort_of(left) == SortId::BOOL {
        match (truth(program, left), truth(program, right)) {
            (Some(true), _) => return right,
            (_, Some(true)) => return left,
            (Some(false), _) => return not(program, right),
            (_, Some(false)) => return not(program, left),
            _ => {}
        }
    }
    let span = program.span_of(left);
    call(program, Builtin::Equal, "==", &[left, right], SortId::BOOL, span)
}

/// `!operand`, simplified.
pub fn not(program: &mut Program, operand: ExpressionId) -> ExpressionId {
    let mut domain = Expressions { program, cons: None, sort: SortId::BOOL, span: Span::default() };
    logic::not(&mut domain, &operand).expect("every expression has a negation")
}

/// The conjunction of all parts, simplified; `true` for none.
pub fn all(program: &mut Program, parts: &[ExpressionId]) -> ExpressionId {
    let parts: Vec<ExpressionId> = parts.iter().flat_map(|&part| conjuncts(program, part)).collect();
    join(program, parts, Builtin::And, "&&", true)
}

/// The disjunction of all parts, simplified; `false` for none.
pub fn any(program: &mut Program, parts: &[ExpressionId]) -> ExpressionId {
    let parts: Vec<ExpressionId> = parts.iter().flat_map(|&part| disjuncts(program, part)).collect();
    join(program, parts, Builtin::Or, "||", false)
}

/// Joins with an operator, given its neutral element. The other truth value is absorbing. Nests to
/// the right, as is usual.
fn join(
    program: &mut Program,
    parts: Vec<ExpressionId>,
    builtin: Builtin,
    name: &str,
    neutral: bool,
) -> ExpressionId {
    let mut seen = FxHashSet::default();
    let mut kept = Vec::new();
    for part in parts {
        match truth(program, part) {
            Some(value) if value == neutral => {}
            Some(_) => return part,
            None if seen.insert(part) => kept.push(part),
            None => {}
        }
    }
    let Some(mut whole) = kept.pop() else { return boolean(program, neutral) };
    for part in kept.into_iter().rev() {
        let span = program.span_of(part);
        whole = call(program, builtin, name, &[part, whole], SortId::BOOL, span);
    }
    whole
}

/// A fixed closed expression of a sort that needs no evaluation, for parameters that are not used.
/// `None` if the sort has no constructor and no constant.
pub fn representative(program: &mut Program, sort: SortId) -> Option<ExpressionId> {
    // Built in rounds: terms with few constructors come first, so that recursive sorts terminate. A
    // sort only depends on others through constructors, elements and results, of which there are
    // finitely many.
    let mut known = rustc_hash::FxHashMap::default();
    let mut wanted = vec![sort];
    let mut seen: FxHashSet<SortId> = FxHashSet::default();
    seen.insert(sort);
    let mut next = 0;
    while let Some(&one) = wanted.get(next) {
        next += 1;
        needs(program, one, &mut |other| {
            if seen.insert(other) {
                wanted.push(other);
            }
        });
    }
    loop {
        let mut progress = false;
        for &one in wanted.iter().rev() {
            if !known.contains_key(&one)
                && let Some(found) = represent(program, one, &known)
            {
                known.insert(one, found);
                progress = true;
            }
        }
        if let Some(&found) = known.get(&sort) {
            return Some(found);
        }
        if !progress {
            return None;
        }
    }
}

/// The sorts that values of a sort may contain.
fn needs(program: &Program, sort: SortId, visit: &mut dyn FnMut(SortId)) {
    match program.sorts.get(sort) {
        Sort::Function { codomain, .. } => visit(*codomain),
        Sort::Struct(_) | Sort::Basic(_) => {
            for &symbol in program.constructors(sort) {
                program.signature(symbol).0.iter().for_each(|&one| visit(one));
            }
        }
        _ => {}
    }
}

fn represent(
    program: &mut Program,
    sort: SortId,
    known: &rustc_hash::FxHashMap<SortId, ExpressionId>,
) -> Option<ExpressionId> {
    let span = Span::default();
    let expression = match program.sorts.get(sort).clone() {
        Sort::Bool => Expression::Bool(false),
        Sort::Pos => Expression::Number(program.words.intern("1")),
        Sort::Nat | Sort::Int | Sort::Real => Expression::Number(program.words.intern("0")),
        Sort::Unknown => return None,
        Sort::Container(Container::List, _) => Expression::List(Box::default()),
        Sort::Container(Container::FSet, _) => Expression::Set(Box::default()),
        Sort::Container(Container::FBag, _) => Expression::Bag(Box::default()),
        Sort::Container(container @ (Container::Set | Container::Bag), element) => {
            let (finite, empty) = match container {
                Container::Set => (Container::FSet, Expression::Set(Box::default())),
                _ => (Container::FBag, Expression::Bag(Box::default())),
            };
            let finite = program.sorts.container(finite, element);
            Expression::Upcast(program.add_expression(empty, finite, span))
        }
        Sort::Function { domain, codomain } => {
            let body = *known.get(&codomain)?;
            let first = program.variables.len();
            let variables = domain.iter().enumerate().map(|(index, &one)| {
                let name = program.words.intern(&format!("_{}", first + index));
                program.add_variable(name, one, span)
            });
            Expression::Binder { binder: Binder::Lambda, variables: variables.collect(), body }
        }
        Sort::Struct(_) | Sort::Basic(_) => {
            let constructors = program.constructors(sort).to_vec();
            let made = constructors.iter().find_map(|&symbol| {
                let arguments: Option<Box<[ExpressionId]>> =
                    program.signature(symbol).0.iter().map(|one| known.get(one).copied()).collect();
                Some((symbol, arguments?))
            });
            match made {
                Some((symbol, arguments)) if arguments.is_empty() => Expression::Symbol(symbol),
                Some((symbol, arguments)) => Expression::Call { symbol, arguments },
                None if constructors.is_empty() => Expression::Symbol(constant(program, sort)?),
                None => return None,
            }
        }
    };
    Some(program.add_expression(expression, sort, span))
}

/// The first declared constant of a sort.
fn constant(program: &Program, sort: SortId) -> Option<SymbolId> {
    let found = program.symbols.iter().find(|one| one.kind == SymbolKind::Map && one.sort == sort)?;
    program.symbols_named(found.name).iter().copied().find(|&id| program.symbol(id).sort == sort)
}
